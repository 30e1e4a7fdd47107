"""What stands under a table: what was measured, how, and what is wrong with the data. One sentence each."""

from __future__ import annotations

from collections.abc import Sequence

from rankproof.core.names import find
from rankproof.core.summary import Row, Summary
from rankproof.reporting.numbers import count, share


def size(summary: Summary) -> str:
    """How much was measured.

    >>> size(Summary("", [], queries=2, documents=1, tied=0))
    '2 queries, 1 judged document.'
    """
    queries = count(summary.queries, *summary.nouns)
    judged = f", {count(summary.documents, 'judged document')}" if summary.documents else ""
    return f"{queries}{judged}."


def tied(summary: Summary) -> str:
    """How much hangs on the order of equal scores."""
    if summary.tied is None:
        return "No judged document was found." if summary.documents else ""
    if not summary.tied:
        return "No judged document found shares its score."
    return f"{share(summary.tied)} of the judged documents found share their score with others."


def unjudged(summary: Summary) -> str:
    """How much of what was shown nobody judged; empty where no measure has a cut-off."""
    if not summary.unjudged:
        return ""
    if not any(summary.unjudged.values()):
        return f"Every document in the top {max(summary.unjudged)} was judged."
    listed = ", ".join(f"{share(part)} of the top {k:,}" for k, part in summary.unjudged.items())
    return f"Not judged: {listed}."


def definitions(summary: Summary) -> str:
    """The conventions in one line.

    >>> definitions(Summary("", [], 1, 1, 0, conventions=["ties=trec: by id", "missing=zero: 0"]))
    'Conventions: ties trec; missing zero.'
    """
    said = "; ".join(each.partition(":")[0].replace("=", " ") for each in summary.conventions)
    profile = f"profile {summary.profile}; " if summary.profile else ""
    return f"Conventions: {profile}{said}." if profile or said else ""


def intervals(rows: Sequence[Row]) -> str:
    """How the intervals were made; where it differs, for which measures."""
    methods: dict[str, list[str]] = {}
    for row in rows:
        if row.method and not row.thin:
            methods.setdefault(row.method, []).append(row.measure)
    if len(methods) == 1:
        return f"Intervals: {next(iter(methods))}."
    listed = "; ".join(f"{method} ({', '.join(names)})" for method, names in methods.items())
    return f"Intervals: {listed}." if listed else ""


def methods(rows: Sequence[Row]) -> str:
    """How the intervals of several rankings were made."""
    made = dict.fromkeys(row.method for row in rows if row.method)
    return f"Intervals: {'; '.join(made)}." if made else ""


def notes(rows: Sequence[Row]) -> list[str]:
    """What must be said beside single numbers, once for all measures of which the same is to be said."""
    said: dict[str, list[str]] = {}
    for row in rows:
        for each in (AVERAGES.get(average(row.measure)), _thin(row), row.note):
            if each:
                said.setdefault(each, []).append(row.measure)
    return [f"{', '.join(names)}: {each}." for each, names in said.items()]


def _thin(row: Row) -> str:
    """Why a mean is not shown."""
    if not row.thin:
        return ""
    return (
        f"no mean, as only {row.n:,} of {count(row.measurable or 0, 'sample')} could be measured, and those that "
        "can are not like the rest; the bounds are what is known"
    )


AVERAGES = {"sum": "the sum over queries, no mean", "geometric": "the geometric mean over queries"}
"""What is called a mean in the table and is none."""


def average(name: str) -> str:
    """How a measure makes one number of many; "mean" for one that is not known here."""
    measure = find(name.partition("@")[0].partition("(")[0])
    return "mean" if measure is None else measure.spec.average


def under(summary: Summary) -> list[str]:
    """Every sentence under the table of one ranking, without the findings."""
    first = f"{size(summary)} {tied(summary)} {unjudged(summary)}".strip()
    said = [first, *summary.said, *notes(summary.rows)]
    return [each for each in (*said, f"{definitions(summary)} {intervals(summary.rows)}".strip()) if each]
