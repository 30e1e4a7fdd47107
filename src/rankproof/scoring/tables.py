"""Parts of every table of scores: columns, findings, rankings side by side, notes below; and their records."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from rankproof.core.arrays import by_key
from rankproof.core.audit.queries import UNANSWERED
from rankproof.core.conventions import FEWEST_TO_DECIDE
from rankproof.core.names import find
from rankproof.core.scoring import ScoreRow, Summary
from rankproof.document.model import Block, Column, Paragraph, Table
from rankproof.document.numbers import ABSENT, count, estimate_text, first_of, is_wide, score, share, span
from rankproof.document.terminal import cut_names
from rankproof.stats.intervals import GUESSED

if TYPE_CHECKING:
    from rankproof.core.explanation import Explained, ExplainedCase, ExplainedLine
    from rankproof.core.scoring import Pair
    from rankproof.document.model import Record

COUNTS = ("n", "missing")
TEXTS = (
    *("ranking", "query", "slice", "measure", "interval", "note", "reason", "profile", "conventions"),
    *("warnings", "errors"),
)
"""The fields of records that are counts or text; the others are numbers."""
Values = dict[str, dict[str, dict[str, float]]]
"""`{ranking: {measure: {query: value}}}`."""
Reasons = dict[str, dict[str, dict[str, str]]]
"""The same, with why a query has no value in its place."""
UNBOUNDED = "no bound is known, so the interval assumes that other queries lie beyond these by a share of their range"


class TableField(NamedTuple):
    """One column: its heading, and how a row fills it."""

    heading: str
    """In lines, so that a narrow column can have a long heading."""
    cell: Callable[[ScoreRow], str]
    empty: tuple[str, ...] = (ABSENT,)
    """What says nothing: a column with nothing else is left out."""


FIELDS = (
    TableField(
        "estimate, with its\n95 % interval",
        lambda row: ABSENT if row.estimate is None else estimate_text(*row.estimate),
    ),
    TableField("mean", lambda row: score(row.shown), empty=()),
    TableField("95 % interval", lambda row: _interval(row)),
    TableField("corrected", lambda row: score(row.corrected)),
    TableField(
        "95 % interval with\nthe judge's error",
        lambda row: ABSENT if row.corrected_ends is None else span(*row.corrected_ends),
    ),
    TableField("ceiling", lambda row: score(row.ceiling)),
    TableField("never\nfound", lambda row: score(row.never_found), (ABSENT, score(0))),
    TableField("ranked\ntoo low", lambda row: score(row.ranked_too_low), (ABSENT, score(0))),
    TableField("n", lambda row: count(row.n), empty=()),
    TableField("equal scores in\nany other order", lambda row: _bounds(row.ties)),
    TableField("judged", lambda row: share(row.coverage)),
    TableField("with the rest at\nworst and best", lambda row: _bounds(row.possible)),
    TableField("if the unjudged\nwere relevant", lambda row: _bounds(row.unjudged)),
)


def _interval(row: ScoreRow) -> str:
    """The interval of a mean; if there is an estimate, its own, which says more than that of the decided samples."""
    return span(*row.ends) if row.estimate is None else ABSENT


def _bounds(pair: tuple[float, float] | None) -> str:
    return span(*pair) if pair is not None and is_wide(pair) else ABSENT


def telling_columns(rows: Sequence[ScoreRow]) -> list[TableField]:
    """The columns in which at least one row has a value."""
    return [each for each in FIELDS if any(each.cell(row) not in each.empty for row in rows)]


def size(summary: Summary) -> str:
    """How much was measured.

    >>> size(Summary("", [], queries=2, documents=1, tied=0))
    '2 queries, 1 judged document.'
    """
    queries = count(summary.queries, *summary.nouns)
    judged = f", {count(summary.documents, 'judged document')}" if summary.documents else ""
    return f"{queries}{judged}."


def tied_sentence(summary: Summary) -> str:
    """How much depends on the order of equal scores."""
    if summary.tied is None:
        return "No judged document was found." if summary.documents else ""
    if not summary.tied:
        return "No judged document found shares its score."
    return f"{share(summary.tied)} of the judged documents found share their score with others."


def unjudged_sentence(summary: Summary) -> str:
    """How much of what was shown nobody judged; empty if no measure has a cut-off."""
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


def intervals(rows: Iterable[ScoreRow]) -> str:
    """How the intervals of one ranking or several were made; if it differs, for which measures."""
    methods = by_key((row.method, row.measure) for row in rows if row.method and not row.thin)
    if len(methods) == 1:
        return f"Intervals: {next(iter(methods))}."
    listed = "; ".join(f"{method} ({', '.join(dict.fromkeys(names))})" for method, names in methods.items())
    return f"Intervals: {listed}." if listed else ""


def notes(rows: Sequence[ScoreRow]) -> list[str]:
    """Notes beside single numbers, once for all measures that share one."""
    said = by_key(
        (each, row.measure)
        for row in rows
        for each in (AVERAGES.get(average(row.measure)), _thin(row), row.note)
        if each
    )
    return [*(f"{', '.join(names)}: {each}." for each, names in said.items()), *unbounded_notes(rows)]


def unbounded_notes(rows: Iterable[ScoreRow]) -> list[str]:
    """What the intervals of measures without a bound assume; empty if every measure has one."""
    names = dict.fromkeys(row.measure for row in rows if row.method.startswith(GUESSED) and not row.thin)
    return [f"{', '.join(names)}: {UNBOUNDED}."] if names else []


def _thin(row: ScoreRow) -> str:
    if not row.thin:
        return ""
    return (
        f"no mean, as only {row.n:,} of {count(row.measurable or 0, 'sample')} could be measured, and those that "
        "can are not like the rest; the bounds are what is known"
    )


AVERAGES = {"sum": "the sum over queries, not a mean", "geometric": "the geometric mean over queries"}
"""Values in the column of means that are not arithmetic means."""


def average(name: str) -> str:
    """How a measure makes one number of many; "mean" for one that is not known here."""
    measure = find(name.partition("@")[0].partition("(")[0])
    return "mean" if measure is None else measure.spec.average


def sentences_under(summary: Summary) -> list[str]:
    """Every sentence under the table of one ranking, without the findings."""
    first = f"{size(summary)} {tied_sentence(summary)} {unjudged_sentence(summary)}".strip()
    said = [first, summary.apart, *summary.said, *notes(summary.rows)]
    return [each for each in (*said, f"{definitions(summary)} {intervals(summary.rows)}".strip()) if each]


DISTRUST = "Do not trust these numbers:"
"""The heading of the errors of an audit, above the numbers that are wrong."""
LEGEND = "best mean, if it and the worst are outside each other's interval; not a claim that the difference is real"


def best_means(summaries: Sequence[Summary], summary: Summary) -> set[str]:
    """The measures on which this ranking has the best mean, as far as the table shows and can tell.

    Nothing is marked with fewer than 10 queries, nor if the lowest mean is not clearly below it.
    """
    won = set()
    for i, row in enumerate(summary.rows):
        rows = [each.rows[i] for each in summaries]
        if any(math.isnan(each.shown) for each in rows):
            continue  # one has no mean, so none is best
        rows.sort(key=lambda each: each.shown, reverse=row.higher)
        if score(row.shown) == score(rows[0].shown) != score(rows[-1].shown) and _apart(rows[0], rows[-1]):
            won.add(row.measure)
    return won


def _apart(one: ScoreRow, other: ScoreRow) -> bool:
    """Whether two means tell anything: each is of enough queries, and outside the interval of the other."""
    for row, mean in ((one, other.shown), (other, one.shown)):
        low, high = row.ends
        if row.n < FEWEST_TO_DECIDE or low is None or high is None or low <= mean <= high:
            return False
    return True


def kinds_of(rows: Sequence[Record]) -> dict[str, type]:
    """The types of the fields: text, a count, or a number."""
    return {name: str if name in TEXTS else int if name in COUNTS else float for row in rows[:1] for name in row}


def records(summaries: Sequence[Summary]) -> list[dict[str, Any]]:
    """One record for each measure of each ranking, and of each slice of it.

    >>> summary = Summary("a.run", [ScoreRow("RR", 0.5, n=2)], queries=2, documents=3, tied=0.0)
    >>> [(r["ranking"], r["slice"], r["measure"], r["mean"]) for r in records([summary])]
    [('a.run', None, 'RR', 0.5)]
    """
    wrong = {summary.name: _told(summary, "error") for summary in summaries}
    return [
        _record(summary, group, row) | ({"errors": wrong[summary.name]} if any(wrong.values()) else {})
        for summary in summaries
        for group, rows in [(None, summary.rows), *summary.slices.items()]
        for row in rows
    ]


def _record(summary: Summary, group: str | None, row: ScoreRow) -> dict[str, Any]:
    return {
        "ranking": summary.name,
        "slice": group,
        "measure": row.measure,
        "mean": None if math.isnan(row.mean) else row.mean,
        "n": row.n,
        "low": row.low,
        "high": row.high,
        "interval": row.method,
        "ceiling": row.ceiling,
        **_ends("ties", row.ties),
        **_ends("unjudged", row.unjudged),
        "never_found": row.never_found,
        "ranked_too_low": row.ranked_too_low,
        **({} if row.coverage is None else _judged(row)),
        "note": row.note,
        "profile": summary.profile,
        "conventions": "; ".join(each.partition(":")[0] for each in summary.conventions),
        **({"missing": sum(x.count for x in summary.findings if x.kind in UNANSWERED)} if row.coverage is None else {}),
        "warnings": _told(summary, "warning"),
    }


def _told(summary: Summary, severity: str) -> str:
    return " ".join(str(each) for each in summary.findings if each.severity == severity)


def _judged(row: ScoreRow) -> dict[str, Any]:
    return {
        "coverage": row.coverage,
        "measurable": row.measurable,
        **_ends("possible", row.possible),
        "estimate": None if row.estimate is None else row.estimate[0],
        **_ends("estimate", None if row.estimate is None else row.estimate[1:]),
        "corrected": row.corrected,
        **_ends("corrected", row.corrected_ends),
    }


def _ends(name: str, pair: Pair | None) -> dict[str, Any]:
    low, high = pair or (None, None)
    return {f"{name}_low": low, f"{name}_high": high}


def query_records(values: Values, reasons: Reasons | None = None) -> list[dict[str, Any]]:
    """One record for each query, measure and ranking; with reasons those too that have no value.

    >>> query_records({"a.run": {"RR": {"q1": 0.5}}})
    [{'ranking': 'a.run', 'query': 'q1', 'measure': 'RR', 'value': 0.5}]
    """
    found: list[dict[str, Any]] = [
        {"ranking": ranking, "query": query, "measure": measure, "value": value}
        for ranking, measures in values.items()
        for measure, by_query in measures.items()
        for query, value in by_query.items()
    ]
    if reasons is None:
        return found
    return [{**each, "reason": None} for each in found] + [
        {"ranking": ranking, "query": query, "measure": measure, "value": None, "reason": reason}
        for ranking, measures in reasons.items()
        for measure, by_query in measures.items()
        for query, reason in by_query.items()
    ]


TOP = 10
"""Documents listed of each ranking."""
MISSED = 3
"""Documents named that were not found."""


def case_blocks(case: ExplainedCase, text: str | None = None) -> list[Block]:
    """The query, its values, and the first documents of each list with their grades."""
    told = "" if text is None else f": {text}"
    measure = case.sides[0][1].measure
    called = cut_names([name for name, _ in case.sides], 24)
    values = ", ".join(f"{called[name]} {score(own.value)}" for name, own in case.sides)
    lines = list(zip_longest(*(own.lines[:TOP] for _, own in case.sides)))
    columns = [
        column for n, (name, _) in enumerate(case.sides) for column in _listed(name, [each[n] for each in lines])
    ]
    table = Table(columns, f"{case.query}{told} ({case.why}; {measure} {values})", shrink=range(2, len(columns), 3))

    def missed(own: Explained) -> str:
        docs = cut_names([doc for doc, _ in own.missed[:MISSED]], 30)
        return first_of(own.missed, MISSED, lambda pair: f"{docs[pair[0]]} ({pair[1]:g})")

    return [table, *(Paragraph(f"not in {called[name]}: {missed(own)}") for name, own in case.sides if own.missed)]


def _listed(name: str, lines: Sequence[ExplainedLine | None]) -> list[Column]:
    ranks = ["" if each is None else ABSENT if each.rank is None else str(each.rank) for each in lines]
    grades = ["" if each is None else ABSENT if each.grade is None else f"{each.grade:g}" for each in lines]
    documents = ["" if each is None else each.document for each in lines]
    return [Column("rank", ranks, True), Column("grade", grades, True), Column(name, documents)]
