"""The tables of a comparison: what differs by how much, and beside it how often and what could be shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankproof.document.numbers import ABSENT, count, score
from rankproof.document.terminal import GAP, Column, cut, page_width, table, wrap
from rankproof.scoring.markdown import escape

View = Mapping[str, Any]
Line = Mapping[str, Any]
Cells = Sequence[tuple[str, ...]]
HEADINGS = ("measure", "system", "mean", "difference", "interval", "p", "verdict")
DETAILS = ("measure", "system", "won/tied/lost", "effect", "detectable", "p alone", "queries needed")
"""The second table: how often, in standard deviations, and what so many queries can show."""
WORDS = {"measure", "system", "verdict"}
"""The columns that are no numbers."""


def tables(view: View) -> list[str]:
    """Two tables for all queries and two for each group, all laid out alike."""
    groups = dict.fromkeys(each["slice"] for each in view["rows"])
    made = {
        group: (columns_of(HEADINGS, cells(view, group)), columns_of(DETAILS, details(view, group)))
        for group in groups
    }
    lay = table if all(fits(each) for pair in made.values() for each in pair) else narrow
    return [
        line
        for group, (first, second) in made.items()
        for line in [*wrap(heading(view, group)), "", *lay(first), "", *lay(second), ""]
    ]


def markdown_table(view: View, group: str) -> list[str]:
    """One table with the columns of both, and the verdict in full."""
    headings = (*HEADINGS[:-1], *DETAILS[2:-1], HEADINGS[-1])
    compared = [each for _, same in _measures(view, group) for each in same]
    more = iter(zip(details(view, group), compared, strict=True))
    rows = []
    for row in cells(view, group):
        if row[-1] == "baseline":
            rows.append((*row[:-1], *("" for _ in DETAILS[2:-1]), row[-1]))
        else:
            detail, each = next(more)
            rows.append((*row[:-1], *detail[2:-1], verdict(each, view["margin"])))
    rule = "| " + " | ".join(["---"] * len(headings)) + " |"
    return [_markdown(headings), rule, *map(_markdown, rows)]


def _markdown(row: tuple[str, ...]) -> str:
    return "| " + " | ".join(map(escape, row)) + " |"


def heading(view: View, group: str) -> str:
    """What a table is about."""
    sizes = {name: [each["n"] for each in same] for name, same in _measures(view, group)}
    most = max(max(each) for each in sizes.values())
    fewer = [f"{name} {min(each):,}" for name, each in sizes.items() if min(each) < most]
    where = f"{group}: " if group else ""
    of_which = f" (fewer for {', '.join(fewer)})" if fewer else ""
    return f"{where}{count(most, 'query', 'queries')}{of_which}, compared with {view['baseline']}"


def cells(view: View, group: str) -> list[tuple[str, ...]]:
    """The first table's rows: under each measure the baseline, then the systems."""
    lines: list[tuple[str, ...]] = []
    for measure, same in _measures(view, group):
        if not group:
            mean = score(view["means"][measure])
            lines.append((measure, f"{view['baseline']}", mean, "", "", "", "baseline"))
        lines += [_line(measure if group and not i else "", each) for i, each in enumerate(same)]
    return lines


def details(view: View, group: str) -> list[tuple[str, ...]]:
    """The second table's rows: under each measure the systems."""
    return [
        _detail("" if i else measure, each)
        for measure, same in _measures(view, group)
        for i, each in enumerate(same)
    ]


def _measures(view: View, group: str) -> list[tuple[str, list[Line]]]:
    rows = [each for each in view["rows"] if each["slice"] == group]
    names = dict.fromkeys(each["measure"] for each in rows)
    return [(name, [each for each in rows if each["measure"] == name]) for name in names]


def _line(label: str, row: Line) -> tuple[str, ...]:
    return (
        label,
        row["system"],
        score(row["mean"]),
        signed(row["difference"]),
        span(row["low"], row["high"]),
        probability(row["p_corrected"]),
        short_verdict(row),
    )


def _detail(label: str, row: Line) -> tuple[str, ...]:
    return (
        label,
        row["system"],
        f"{row['wins']}/{row['ties']}/{row['losses']}",
        ABSENT if row["effect"] is None else f"{row['effect']:+.2f}",
        score(row["detectable"]),
        probability(row["p"]),
        ABSENT if row["queries_needed"] is None else f"{row['queries_needed']:,}",
    )


def short_verdict(row: Line) -> str:
    """The verdict in a word or three."""
    if row["verdict"] != "unclear":
        return str(row["verdict"])
    return "cannot tell yet" if row["wins"] or row["losses"] or row.get("note") else "the same"


def verdict(row: Line, margin: float | None = None) -> str:
    """The verdict as a person would say it.

    >>> row = {"verdict": "unclear", "wins": 3, "losses": 2, "queries_needed": 615}
    >>> verdict(row), verdict({"verdict": "equivalent"}, 0.02)
    ('cannot tell yet: needs about 615 queries', 'equivalent within 0.02')
    """
    if row["verdict"] == "equivalent" and margin is not None:
        return f"equivalent within {margin:g}"
    short = short_verdict(row)
    needed = row["queries_needed"] if short == "cannot tell yet" else None
    return short if needed is None else f"{short}: needs about {count(needed, 'query', 'queries')}"


def columns_of(headings: Sequence[str], rows: Cells) -> list[Column]:
    """The columns of a table of rows."""
    return [
        Column(name, list(column), name not in WORDS)
        for name, column in zip(headings, zip(*rows, strict=True), strict=True)
    ]


def lay_out(columns: Sequence[Column]) -> list[str]:
    """The table, each measure on a line of its own where it does not fit otherwise."""
    return table(columns) if fits(columns) else narrow(columns)


def fits(columns: Sequence[Column]) -> bool:
    """Whether a table needs no more than the page has."""
    return sum(each.width + len(GAP) for each in columns) - len(GAP) <= page_width()


def narrow(columns: Sequence[Column]) -> list[str]:
    """The same with each measure on a line of its own, so that the last column stays beside its system."""
    rows: list[tuple[str, ...]] = []
    for measure, system, *others in zip(*(each.cells for each in columns), strict=True):
        rows += [(measure, *("" for _ in others))] if measure else []
        rows.append((f"  {system}", *others))
    first, *rest = columns_of([each.heading for each in columns[1:]], rows)
    room = page_width() - sum(each.width + len(GAP) for each in rest)
    return table([Column(first.heading, [cut(each, room) for each in first.cells]), *rest])


PAIRS = ("measure", "system", "against", "difference", "interval", "p", "verdict")


def pair_heading(view: View) -> str:
    """What the table of all pairs is about."""
    over = count(len(view["pairs"]), "comparison")
    return f"Every pair of systems, corrected over {over} ({view['correction']}):"


def pair_cells(view: View) -> list[tuple[str, ...]]:
    """The rows of the table of all pairs."""
    return [
        (
            *(each["measure"], each["system"], each["baseline"], signed(each["difference"])),
            *(span(each["low"], each["high"]), probability(each["p_corrected"]), short_verdict(each)),
        )
        for each in view["pairs"]
    ]


def pair_lines(view: View) -> list[str]:
    """Every system against every other, under a heading; nothing where that was not asked for."""
    if not view.get("pairs"):
        return []
    columns = [
        Column(name, [cut(cell, 20) for cell in cells], name in ("difference", "interval", "p"))
        for name, cells in zip(PAIRS, zip(*pair_cells(view), strict=True), strict=True)
    ]
    return [*wrap(pair_heading(view)), "", *table(columns), ""]


def corrected_lines(rows: Sequence[Line]) -> list[str]:
    """Raw and corrected differences side by side, under a heading; nothing where none was corrected."""
    told = [each for each in rows if each.get("corrected") is not None and each["difference"] is not None]
    if not told:
        return []
    ends = [(each["corrected_low"], each["corrected_high"]) for each in told]
    columns = [
        Column("measure", [cut(_placed(each), 40) for each in told]),
        Column("system", [cut(each["system"], 20) for each in told]) if "system" in told[0] else None,
        Column("by the judge", [signed(each["difference"]) for each in told], True),
        Column("corrected", [signed(each["corrected"]) for each in told], True),
        Column("interval with\nthe judge's error", [span(*each) for each in ends], True),
    ]
    found = table([each for each in columns if each is not None])
    return [*wrap("Differences with the judge's error taken out (PPI++):"), "", *found, ""]


def corrected_sentences(rows: Sequence[Line]) -> list[str]:
    """The same in words, for formats whose tables have no room for it."""
    return [
        f"{_placed(each)}{', ' + each['system'] if 'system' in each else ''}: {signed(each['difference'])} by the "
        f"judge, {signed(each['corrected'])} {span(each['corrected_low'], each['corrected_high'])} with its "
        "error taken out."
        for each in rows
        if each.get("corrected") is not None and each["difference"] is not None
    ]


def _placed(row: Line) -> str:
    return f"{row['measure']} ({row['slice']})" if row["slice"] else str(row["measure"])


def signed(value: float) -> str:
    """A difference with its sign.

    >>> signed(0.1184), signed(-0.02), signed(0.0)
    ('+0.1184', '-0.0200', '0.0000')
    """
    return f"{value:+.4f}" if abs(value) >= 0.00005 else f"{0:.4f}"


def span(low: float | None, high: float | None) -> str:
    """The ends of a difference's interval, in little room.

    >>> span(0.0362, 0.2128), span(-0.0801, 0.0208), span(None, None)
    ('[+.036, +.213]', '[-.080, +.021]', '-')
    """
    if low is None or high is None:
        return ABSENT
    ends = [
        f"{each:+.3f}".replace("0.", ".", 1) if abs(each) < 0.9995 else f"{each:+.2f}" for each in (low, high)
    ]
    return f"[{ends[0]}, {ends[1]}]"


def probability(p: float) -> str:
    """A p-value: three decimals, and never a 0.

    >>> probability(0.0421), probability(0.00002), probability(1.0)
    ('.042', '<.001', '1.000')
    """
    return "<.001" if p < 0.001 else "1.000" if p >= 0.9995 else f"{p:.3f}"[1:]
