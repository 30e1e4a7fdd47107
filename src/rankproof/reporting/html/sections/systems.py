"""Every system on every measure, with its interval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rankproof.reporting.comparison import probability, signed
from rankproof.reporting.comparison import span as difference_span
from rankproof.reporting.differences import verdict
from rankproof.reporting.html.charts import whiskers
from rankproof.reporting.html.content import Content
from rankproof.reporting.html.markup import Child, Markup, el, fold, ident, join, table
from rankproof.reporting.html.page import Section
from rankproof.reporting.html.svg import figure
from rankproof.reporting.numbers import score, share, span

HEADINGS = ("measure", "system", "mean", "verdict", "interval", "difference", "interval", "p", "won / lost")

MOST = 24
"""Rows of a table up to which it is shown as a whole."""

PAIRED = (
    " Overlapping lines do not mean that two systems are equal, as both see the same queries; the table says "
    "what the paired test says."
)


def section(content: Content) -> Section:
    """A picture for each measure, and under them the table."""
    lead = el(
        "p",
        f"A dot is the mean over queries, the line its {share(content.level)} interval: where the mean could "
        "well lie with other queries of the same kind.",
        PAIRED if content.comparison else None,
    )
    pictures = el("div", *(_picture(content, i) for i in range(len(content.definitions))), cls="grid")
    return Section("systems", "Systems", join([lead, pictures, values(content)]))


def _picture(content: Content, i: int) -> Markup:
    rows = [(each.name, content.role(each.name), each.bars[i]) for each in content.systems]
    name = content.definitions[i].name
    better = "more is better" if content.definitions[i].higher else "less is better"
    return figure(join([name, el("small", better)]), whiskers(name, rows))


def values(content: Content) -> Markup:
    """The numbers behind the pictures; with a baseline also the differences to it. A long table is folded."""
    count = len(content.definitions)
    if content.comparison is not None and count > 1 and count * len(content.systems) > MOST:
        return join(
            [_values(content, range(1)), fold("The other measures", _values(content, range(1, count)))]
        )
    return _values(content, range(count))


def _values(content: Content, which: Iterable[int]) -> Markup:
    rows = [row for i in which for row in _rows(content, i)]
    if content.comparison is None:
        return table("Means and what limits them", ("measure", "mean", "interval", "ceiling"), rows)
    caption = f"Means, and differences to {content.comparison['baseline']} query by query"
    return table(caption, HEADINGS, rows, words=(0, 1, 3), grouped=True)


def _rows(content: Content, i: int) -> list[list[Child]]:
    rows: list[list[Child]] = []
    for system in content.systems:
        bar = system.bars[i]
        mean, ends = score(bar.mean), span(bar.low, bar.high)
        if content.comparison is None:
            rows.append([bar.measure, mean, ends, score(bar.ceiling)])
        else:
            decided, *compared = against(content.comparison, system.name, bar.measure)
            rows.append([bar.measure, ident(system.name), mean, decided, ends, *compared])
    return rows


def against(comparison: Mapping[str, Any], system: str, measure: str, group: str = "") -> list[Child]:
    """Verdict, difference, interval, p and won / lost of one system on one measure."""
    if system == comparison["baseline"]:
        return ["baseline", "", "", "", ""]
    wanted = (system, measure, group)
    for row in comparison["rows"]:
        if (row["system"], row["measure"], row["slice"]) == wanted:
            ends = difference_span(row["low"], row["high"])
            p, decided = probability(row["p_corrected"]), decision(row, comparison["margin"])
            return [decided, signed(row["difference"]), ends, p, f"{row['wins']} / {row['losses']}"]
    return ["not compared", "", "", "", ""]


def decision(row: Mapping[str, Any], margin: float | None) -> Markup:
    """A verdict, told apart by its word first and its look second, and under it what would give one."""
    word, _, more = verdict(row, margin).partition(": ")
    said = el("span", word, cls={"better": "up", "worse": "down"}.get(word))
    return join([said, el("small", more)]) if more else said
