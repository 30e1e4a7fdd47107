"""The tables of a comparison: what differs by how much, and beside it how often and what could be shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankproof.document.model import Block, Column, Table
from rankproof.document.numbers import ABSENT, count, score

View = Mapping[str, Any]
Line = Mapping[str, Any]
HEADINGS = ("measure", "system", "mean", "difference", "interval", "p", "verdict")
DETAILS = ("measure", "system", "won/tied/lost", "effect", "detectable", "p alone", "queries needed")
"""The second table: how often, in standard deviations, and what so many queries can show."""


def heading(view: View, group: str) -> str:
    """What a table is about."""
    sizes = {name: [each["n"] for each in same] for name, same in by_measure(view, group)}
    most = max(max(each) for each in sizes.values())
    fewer = [f"{name} {min(each):,}" for name, each in sizes.items() if min(each) < most]
    where = f"{group}: " if group else ""
    of_which = f" (fewer for {', '.join(fewer)})" if fewer else ""
    return f"{where}{count(most, 'query', 'queries')}{of_which}, compared with {view['baseline']}"


def cells(view: View, group: str) -> list[tuple[str, ...]]:
    """The first table's rows: under each measure the baseline, then the systems."""
    lines: list[tuple[str, ...]] = []
    for measure, same in by_measure(view, group):
        if not group:
            mean = score(view["means"][measure])
            lines.append((measure, f"{view['baseline']}", mean, "", "", "", "baseline"))
        lines += [_line(measure if group and not i else "", each) for i, each in enumerate(same)]
    return lines


def details(view: View, group: str) -> list[tuple[str, ...]]:
    """The second table's rows: under each measure the systems."""
    return [
        _detail("" if i else measure, each)
        for measure, same in by_measure(view, group)
        for i, each in enumerate(same)
    ]


def by_measure(view: View, group: str) -> list[tuple[str, list[Line]]]:
    """The rows of a group of queries, measure by measure."""
    rows = [each for each in view["rows"] if each["slice"] == group]
    names = dict.fromkeys(each["measure"] for each in rows)
    return [(name, [each for each in rows if each["measure"] == name]) for name in names]


def _line(label: str, row: Line) -> tuple[str, ...]:
    return (
        label,
        row["system"],
        score(row["mean"]),
        signed_number(row["difference"]),
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


PAIRS = ("measure", "system", "against", "difference", "interval", "p", "verdict")


def pair_heading(view: View) -> str:
    """What the table of all pairs is about."""
    over = count(len(view["pairs"]), "comparison")
    return f"Every pair of systems, corrected over {over} ({view['correction']}):"


def pair_cells(view: View) -> list[tuple[str, ...]]:
    """The rows of the table of all pairs."""
    return [
        (
            *(each["measure"], each["system"], each["baseline"], signed_number(each["difference"])),
            *(span(each["low"], each["high"]), probability(each["p_corrected"]), short_verdict(each)),
        )
        for each in view["pairs"]
    ]


def corrected_table(rows: Sequence[Line]) -> list[Block]:
    """Raw and corrected differences side by side; nothing where none was corrected."""
    told = [each for each in rows if each.get("corrected") is not None and each["difference"] is not None]
    if not told:
        return []
    ends = [(each["corrected_low"], each["corrected_high"]) for each in told]
    placed = [f"{x['measure']} ({x['slice']})" if x["slice"] else str(x["measure"]) for x in told]
    columns = [
        Column("measure", placed, most=40),
        *([Column("system", [each["system"] for each in told], most=20)] if "system" in told[0] else []),
        Column("by the judge", [signed_number(each["difference"]) for each in told], True),
        Column("corrected", [signed_number(each["corrected"]) for each in told], True),
        Column("interval with\nthe judge's error", [span(*each) for each in ends], True),
    ]
    return [Table(columns, "Differences with the judge's error taken out (PPI++):")]


def signed_number(value: float) -> str:
    """A difference with its sign.

    >>> signed_number(0.1184), signed_number(-0.02), signed_number(0.0)
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
