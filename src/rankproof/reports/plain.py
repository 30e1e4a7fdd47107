"""A report without pictures: summary and tables in markdown or LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rankproof.comparing.words import probability, signed
from rankproof.comparing.words import span as difference_span
from rankproof.document.numbers import score, short_span
from rankproof.reports.content import BUCKETS, Content, System
from rankproof.reports.queries import between
from rankproof.reports.summary import methods, said, size
from rankproof.scoring import latex as tex
from rankproof.scoring import markdown as md
from rankproof.scoring.tables import sentence

Table = tuple[str, Sequence[str], Sequence[Sequence[str]]]
"""Heading, headings of columns, rows: plain text in every cell."""


def markdown(content: Content) -> str:
    """The report in markdown."""
    lines = [f"# {md.escape(content.title)}", "", f"{size(content)}.", ""]
    for each in said(content):
        lines += [md.escape(each), ""]
    for title, headings, rows in tables(content):
        cells = [[md.escape(cell) for cell in row] for row in rows]
        lines += [f"## {md.escape(title)}", "", *md.table([md.escape(each) for each in headings], cells), ""]
    lines += _list(
        "Audit",
        [f"{found.severity}: {about(content, on)}{sentence(found)}" for found, on in content.findings],
    )
    lines += _list(
        "Definitions", [f"{each.name}: {each.title} {each.formula}" for each in content.definitions]
    )
    return "\n".join(lines + _list("Conventions", [*content.conventions, *methods(content)])).rstrip() + "\n"


def _list(heading: str, items: Sequence[str]) -> list[str]:
    return [f"## {heading}", "", *(f"- {md.escape(each)}" for each in items or ["Nothing to report."]), ""]


def about(content: Content, systems: Sequence[str]) -> str:
    """The systems a finding is about, where it is not about all."""
    return "" if len(systems) == len(content.systems) else f"{', '.join(systems)}: "


def latex(content: Content) -> str:
    """The tables in LaTeX: floats with captions; a dagger marks what is better or worse than the baseline."""
    lines = [
        "% needs: booktabs, textcomp",
        *(f"% {tex.escape(each)}" for each in (*said(content), *methods(content))),
    ]
    for title, headings, rows in tables(content):
        body = tex.table([*map(tex.escape, headings)], [[_marked(cell) for cell in row] for row in rows])
        caption = rf"\caption{{{tex.escape(title)}}}"
        lines += ["", r"\begin{table}", r"\centering", caption, *body, r"\end{table}"]
    return "\n".join(lines) + "\n"


def _marked(cell: str) -> str:
    return f"{cell}$^\\dagger$" if cell in ("better", "worse") else tex.escape(cell)


# --- the tables ------------------------------------------------------------------------------------


def tables(content: Content) -> Iterator[Table]:
    """Every table of the report that has something to say."""
    yield _means(content)
    if content.comparison is not None:
        yield _differences(
            content, f"Differences to {content.comparison['baseline']}", lambda row: not row["slice"]
        )
    if content.splits:
        yield _losses(content)
    headings = ("system", *(between(*each) for each in BUCKETS), "not found")
    yield (
        "Relevant documents by rank",
        headings,
        [(n, *map(str, counts)) for n, counts in content.buckets.items()],
    )
    if content.systems[0].slices and content.comparison is not None:
        yield _differences(
            content, f"Groups of queries, {content.measure}", lambda row: _decides(content, row)
        )
    if content.duels:
        yield duels(content)


def _decides(content: Content, row: Any) -> bool:
    return bool(row["slice"]) and row["measure"] == content.measure


def _means(content: Content) -> Table:
    headings = ("system", *(each.name for each in content.definitions))
    rows = [
        (each.name, *(f"{score(b.mean)} {short_span(b.low, b.high)}" for b in each.bars))
        for each in content.systems
    ]
    return "Means", headings, rows


def _differences(content: Content, title: str, wanted: Callable[[Any], bool]) -> Table:
    rows = [
        (
            row["slice"] or row["measure"],
            row["system"],
            signed(row["difference"]),
            difference_span(row["low"], row["high"]),
            probability(row["p_corrected"]),
            f"{row['wins']}/{row['losses']}",
            row["verdict"],
        )
        for row in (content.comparison or {"rows": []})["rows"]
        if wanted(row)
    ]
    return title, ("of", "system", "difference", "interval", "p", "won/lost", "verdict"), rows


def _losses(content: Content) -> Table:
    rows = [_lost(each, i) for i in content.splits for each in content.systems]
    return (
        "Where it is lost",
        ("measure", "system", "reached", "ranked too low", "never found", "ceiling"),
        rows,
    )


def _lost(system: System, i: int) -> Sequence[str]:
    bar = system.bars[i]
    parts = (bar.mean, bar.ranked_too_low, bar.never_found, bar.ceiling)
    return (bar.measure, system.name, *map(score, parts))


def duels(content: Content) -> Table:
    """Every system against every other: on how many queries it wins, and loses."""
    names = [each.name for each in content.systems]
    rows = [
        (
            name,
            *(
                "" if name == other else f"{won}/{lost}"
                for other, (won, lost) in zip(names, pairs, strict=True)
            ),
        )
        for name, pairs in zip(names, content.duels, strict=True)
    ]
    return "Queries won/lost", ("system", *names), rows
