"""The findings that need the whole ranking: every document, score and rank of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from rankproof.core.audit.case import Case
from rankproof.core.audit.finding import Audit, Finding, count_of, few
from rankproof.core.audit.ids import affixes, twins
from rankproof.core.audit.joined import audit_hits
from rankproof.core.audit.queries import all_scores_equal, no_common_documents, no_common_queries
from rankproof.core.audit.thresholds import EXAMPLES, SCALE, SCALE_ROWS, SELF_FOUND
from rankproof.core.conventions import Conventions
from rankproof.core.hits import Array, Hits
from rankproof.core.join import Census
from rankproof.core.judgments import Judgments
from rankproof.core.measure import Measure
from rankproof.core.table import RankingTable
from rankproof.errors import shorten

ByQuery = dict[str, list[int]]


def audit_full(
    judgments: Judgments,
    hits: Hits,
    table: RankingTable,
    census: Census | None = None,
    measures: Sequence[Measure] = (),
    conventions: Conventions | None = None,
) -> Audit:
    """Everything that can be said: `audit_hits`, and what the whole ranking shows.

    `hits` may be joined with `duplicates='first'`, so that a ranking with duplicates can be looked at.
    """
    case = Case(judgments, hits, census or Census(), measures, conventions or Conventions())
    rows = table.by_query()
    known = {each.kind: each for each in audit_hits(judgments, hits, case.census, measures, case.conventions)}
    whole = chain(
        _meeting(case, table, rows),
        _duplicates(table, rows),
        _constant(table, rows),
        _contradicting_ranks(table, rows),
        _scores_are_grades(table),
        _returned_themselves(table, rows),
    )
    return Audit.of({**known, **{each.kind: each for each in whole}}.values())


# --- ids ---------------------------------------------------------------------------------------------------


def _meeting(case: Case, table: RankingTable, rows: ByQuery) -> Iterator[Finding]:
    """Whether the ids of both sides meet, and what keeps them apart where they do not."""
    judged = case.judgments
    if not set(judged.queries) & set(rows):
        yield no_common_queries(judged.queries, list(rows))
    judged_docs, ranked_docs = set(judged.docs), set(table.doc)
    if not judged_docs & ranked_docs:
        yield no_common_documents(case, list(table.doc[:2]))
    for left, right in ((set(judged.queries), set(rows)), (judged_docs, ranked_docs)):
        yield from twins(left, right)
        apart = None if left & right else affixes(left, right)
        if apart is not None:
            yield apart


def _returned_themselves(table: RankingTable, rows: ByQuery) -> Iterator[Finding]:
    """Rankings that hold a document with the id of the query."""
    same = [q for q, found in rows.items() if any(table.doc[row] == q for row in found)]
    if same:
        often = len(same) >= max(2, SELF_FOUND * len(rows))
        yield Finding(
            "warning" if often else "note",
            "returned-themselves",
            len(same),
            f"A document with the query's own id in {len(same):,} of {count_of(len(rows), 'ranking')}.",
            few(same),
            "take each query's own document out of its ranking, if the queries are documents themselves.",
        )


# --- rows --------------------------------------------------------------------------------------------------


def _duplicates(table: RankingTable, rows: ByQuery) -> Iterator[Finding]:
    """Documents that stand twice in one ranking."""
    repeats = [again for query, found in rows.items() for again in _repeated(query, found, table)]
    if repeats:
        yield Finding(
            "error",
            "duplicate-documents",
            len(repeats),
            f"{count_of(len(repeats), 'document comes', 'documents come')} again in the same ranking.",
            tuple(_where(table, *each) for each in repeats[:EXAMPLES]),
            "find out why; to go on, keep one of each with duplicates='first' or 'best'.",
        )


def _repeated(query: str, rows: list[int], table: RankingTable) -> Iterator[tuple[str, int, int]]:
    """The query, the row where a document came first, and the row where it comes again."""
    seen: dict[str, int] = {}
    for row in rows:
        first = seen.setdefault(table.doc[row], row)
        if first != row:
            yield query, first, row


def _where(table: RankingTable, query: str, first: int, again: int) -> str:
    lines = "" if table.line is None else f" (lines {table.line[first]} and {table.line[again]})"
    return f"document {shorten(table.doc[first], 40)} of query {shorten(query, 40)}{lines}"


def _constant(table: RankingTable, rows: ByQuery) -> Iterator[Finding]:
    """Rankings in which every document has one score."""
    if table.score is None:
        return
    several = {query: found for query, found in rows.items() if len(found) > 1}
    flat = [query for query, found in several.items() if np.ptp(table.score[found]) == 0]
    if flat:
        yield all_scores_equal(flat, len(several))


def _contradicting_ranks(table: RankingTable, rows: ByQuery) -> Iterator[Finding]:
    """Rank columns that order documents otherwise than their scores do."""
    if table.score is None or table.rank is None:
        return
    wrong = [query for query, found in rows.items() if _contradicts(table.rank[found], table.score[found])]
    if wrong:
        yield Finding(
            "warning",
            "ranks-against-scores",
            len(wrong),
            f"The rank column of {len(wrong):,} of {count_of(len(rows), 'ranking')} puts a document above "
            "one with a higher score.",
            few(wrong),
            "find out which is right: scores decide, unless ties='rank' is set.",
        )


def _contradicts(rank: Array, score: Array) -> bool:
    order = np.lexsort((-score, rank))
    return bool((np.diff(score[order]) > 0).any())


def _scores_are_grades(table: RankingTable) -> Iterator[Finding]:
    """Rankings that may be judgments: no other scores than the steps of a grading scale."""
    if table.score is None or len(table) < SCALE_ROWS:
        return
    values = np.unique(table.score)
    listed = ", ".join(f"{value:g}" for value in values[: len(SCALE)])
    if len(values) > 1 and np.isin(values, np.array(SCALE)).all():
        yield Finding(
            "warning",
            "ranking-looks-like-judgments",
            len(values),
            f"The ranking has no other scores than {listed}, like the grades of judgments.",
            (),
            "check the order of the two: judgments come first, the ranking second.",
        )
