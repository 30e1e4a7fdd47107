"""Scores as text for people: aligned tables of at most 80 columns, and under them what to know.

Colour is an addition for terminals; nothing is said by it alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rankproof.core.summary import Row, Summary
from rankproof.display import width
from rankproof.reporting import facts
from rankproof.reporting.blocks import binned, spark
from rankproof.reporting.columns import telling
from rankproof.reporting.data import Values, queries_in
from rankproof.reporting.findings import DISTRUST, finding_lines
from rankproof.reporting.numbers import count, score
from rankproof.reporting.side_by_side import legend, side_by_side
from rankproof.reporting.tables import GAP, WIDTH, Column, cut, table, wrap

if TYPE_CHECKING:
    from rankproof.core.audit import Finding


def text(summaries: Sequence[Summary], colour: bool = False) -> str:
    """The table of one ranking, or of several side by side, with everything that belongs under it.

    What makes the numbers wrong stands above them, where nobody reads past it.
    """
    wrong = _findings(summaries, colour, "error")
    above = [DISTRUST, *wrong, ""] if wrong else []
    lines = one(summaries[0], colour) if len(summaries) == 1 else several(summaries, colour)
    return "\n".join([*above, *lines]) + "\n"


def one(summary: Summary, colour: bool = False) -> list[str]:
    """Everything about one ranking."""
    heading = [cut(summary.name, 80), ""] if summary.name else []
    lines = heading + measures(summary.rows)
    if summary.slices:
        lines += ["", *slices(summary)]
    lines += ["", *_wrapped(facts.under(summary))]
    return lines + _under([summary], colour)


def measures(rows: Sequence[Row]) -> list[str]:
    """The table: a line a measure, with the columns that say something."""
    names = Column("measure", [row.measure for row in rows])
    return table([names, *(Column(f.heading, [f.cell(row) for row in rows], True) for f in telling(rows))])


def slices(summary: Summary) -> list[str]:
    """The means of each slice: a line a slice, a column a measure."""
    groups = list(summary.slices.values())
    columns = [Column("slice", list(summary.slices))]
    for i, row in enumerate(summary.rows):
        columns.append(Column(row.measure, [score(rows[i].shown) for rows in groups], True))
        if any(rows[i].corrected is not None for rows in groups):
            columns.append(Column("corrected", [score(rows[i].corrected) for rows in groups], True))
    return table([*columns, Column("n", [count(max(row.n for row in rows)) for rows in groups], True)])


def several(summaries: Sequence[Summary], colour: bool = False) -> list[str]:
    """Several rankings side by side, and under them what they share and where they differ."""
    lines = [*side_by_side(summaries), ""]
    if said := legend(summaries):
        lines += [said, ""]
    for summary in summaries:
        if summary.slices:
            lines += [cut(summary.name, 80), "", *slices(summary), ""]
    lines += _wrapped([facts.size(summaries[0]), *_of_each(summaries), *_shared(summaries)])
    return lines + _under(summaries, colour)


def _of_each(summaries: Sequence[Summary]) -> list[str]:
    """What differs from ranking to ranking."""
    said = []
    for summary in summaries:
        told = [
            facts.tied(summary) if summary.tied else "",
            facts.unjudged(summary),
            *facts.notes(summary.rows),
        ]
        if any(told):
            said.append(f"{cut(summary.name, 40)}: {' '.join(filter(None, told))}")
    return said


def _shared(summaries: Sequence[Summary]) -> list[str]:
    rows = [row for summary in summaries for row in summary.rows]
    return list(
        dict.fromkeys([f"{facts.definitions(each)} {facts.methods(rows)}".strip() for each in summaries])
    )


def queries(values: Values) -> str:
    """The value of every query: a table for each ranking, a line a query, a column a measure."""
    parts = []
    for ranking, by_measure in values.items():
        ids = queries_in(by_measure)
        columns = [Column("query", ids)]
        for name, by_query in by_measure.items():
            columns.append(Column(name, [score(by_query.get(query)) for query in ids], True))
        heading = [cut(ranking, 80), ""] if len(values) > 1 else []
        parts.append("\n".join([*heading, *table(columns), *spread(by_measure)]) + "\n")
    return "\n".join(parts)


def spread(by_measure: Mapping[str, Mapping[str, float]]) -> list[str]:
    """The values of each measure from the lowest to the highest, as a line of blocks; no line for one query.

    >>> spread({"RR": {"q1": 1.0, "q2": 0.25, "q3": 0.0}})[2:]
    ['·▂█  RR']
    """
    drawn = {cut(name, 24): sorted(values.values()) for name, values in by_measure.items() if len(values) > 1}
    if not drawn:
        return []
    room = WIDTH - len(GAP) - max(map(width, drawn))
    lines = [f"{spark(binned(row, room))}{GAP}{name}" for name, row in drawn.items()]
    return ["", "From the lowest value to the highest:", *lines]


def _wrapped(paragraphs: Sequence[str]) -> list[str]:
    return [line for each in paragraphs if each for line in wrap(each)]


def _under(summaries: Sequence[Summary], colour: bool) -> list[str]:
    found = _findings(summaries, colour, "warning")
    return ["", "Before you trust these numbers:", *found] if found else []


def _findings(summaries: Sequence[Summary], colour: bool, severity: str) -> list[str]:
    """The findings of a severity, each once, with the rankings it is about where there are several."""
    about: dict[Finding, list[str]] = {}
    for summary in summaries:
        for finding in (each for each in summary.findings if each.severity == severity):
            about.setdefault(finding, []).append(cut(summary.name, 40))
    lines: list[str] = []
    for finding, names in about.items():
        which = ", ".join(names) if len(names) < len(summaries) else "every run"
        where = f"{which}: " if len(summaries) > 1 else ""
        lines += finding_lines(finding, colour, where)
    return lines
