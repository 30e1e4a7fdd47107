"""The audit of a whole ranking, every document, score and rank of it.

For queries that are spread over workers, errors are found from numbers that add up.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain
from unicodedata import normalize

import numpy as np

from rankproof.core.arrays import distinct
from rankproof.core.audit import (
    EXAMPLES,
    SCALE_ROWS,
    Audit,
    Finding,
    FindingCase,
    Severity,
    WholeRankings,
    few_examples,
    gather_queries,
)
from rankproof.core.audit.hit_checks import audit_hits, misspelt_ids, none_relevant, strictest, with_spelling
from rankproof.core.audit.ids import JOINED, misspelt_between
from rankproof.core.audit.queries import (
    CERTAIN,
    FAR_BETTER,
    FROM_THE_END,
    LONG,
    all_scores_equal,
    both_ways_round,
    contradicting_ranks,
    flat_rankings,
    nothing_common,
    places_from_the_middle,
    turned_round,
)
from rankproof.core.audit.spelling import side_by_side
from rankproof.core.conventions import is_unanswered, keep_one
from rankproof.core.hits import Array
from rankproof.core.join import contrary_groups
from rankproof.core.judgments import Judgments
from rankproof.core.measure import Measure
from rankproof.core.table import RankingTable
from rankproof.document.numbers import count
from rankproof.errors import shorten

SELF_FOUND = 0.1
"""Numbered queries and documents share ids by accident now and then, not in a tenth of the queries."""
SCALE = range(-2, 6)
"""The grades that judgments use; a ranking with no other scores may be judgments."""
AT_ONCE = 1000
"""The number of queries whose rows are sorted at once: sorting all of them takes several times their room."""


def audit_full(case: FindingCase, table: RankingTable) -> Audit:
    """All findings: those of `audit_hits`, and those of the whole ranking.

    The hits may be joined with `duplicates='first'`, so that a ranking with duplicates can be looked at.
    """
    return explain_unmet(audit_hits(case), case, table, CHECKS)


Check = Callable[[WholeRankings], Iterator[Finding]]


def explain_unmet(found: Audit, case: FindingCase, table: RankingTable, checks: Sequence[Check] = ()) -> Audit:
    """The audit with what keeps two sides apart and examples of both, and with what the checks find."""
    whole, spelt = gather_queries(table), list(misspelt_ids(case, table))
    more = chain(_meeting(case.judgments, whole, bool(spelt)), *(check(whole) for check in checks))
    return Audit.of(with_spelling({each.kind: each for each in (*found, *more)}.values(), spelt))


def _meeting(judged: Judgments, whole: WholeRankings, explained: bool) -> Iterator[Finding]:
    """Whether the ids of both sides meet, and what keeps them apart if that is not explained."""
    asked, docs = judged.sampled_from or judged.query_ids, judged.doc_ids
    for noun, own, every, ranked in (
        ("query", judged.query_ids, asked, whole.queries),
        ("document", docs, docs, whole.table.doc),
    ):
        if set(own).isdisjoint(ranked) and (ranked or noun == "query"):
            yield nothing_common(noun, len(own), own, ranked)
            apart = None if explained else misspelt_between(every, ranked, JOINED)
            yield from () if apart is None else (apart,)
        yield from _unicode_twins(set(every), ranked)


def _unicode_twins(judged: Set[str], ranked: Iterable[str]) -> Iterator[Finding]:
    """Ids that look like those of the other side, but are stored in another Unicode form."""
    known = {normalize("NFC", each): each for each in judged if not each.isascii()}
    twins = {each: known.get(normalize("NFC", each)) for each in ranked if not each.isascii() and each not in judged}
    pairs = [side_by_side(one, other) for other, one in twins.items() if one is not None]
    if pairs:
        ids = count(len(pairs), "id looks", "ids look")
        message = f"{ids} alike in judgments and ranking, but are stored in different Unicode forms."
        advice = "bring the ids of both sides into one Unicode form; they are compared as they are."
        yield Finding("note", "unicode-forms", len(pairs), message, tuple(pairs[:EXAMPLES]), advice)


def _returned_themselves(whole: WholeRankings) -> Iterator[Finding]:
    """Rankings that hold a document with the id of the query."""
    table, n = whole.table, len(whole.queries)
    same = list(dict.fromkeys(q for q, d in zip(table.query, table.doc, strict=True) if q == d))
    if same:
        message = f"A document with the query's own id in {len(same):,} of {count(n, 'ranking')}."
        advice = "take each query's own document out of its ranking, if the queries are documents themselves."
        severity: Severity = "warning" if len(same) >= max(2, SELF_FOUND * n) else "note"
        yield Finding(severity, "returned-themselves", len(same), message, few_examples(same), advice)


def _duplicates(whole: WholeRankings) -> Iterator[Finding]:
    """Documents that stand twice in one ranking."""
    table, repeats = whole.table, []
    for _, rows in whole:
        if len({table.doc[row] for row in rows}) < len(rows):
            first = {table.doc[row]: row for row in reversed(rows)}
            repeats += [(first[table.doc[row]], row) for row in rows if first[table.doc[row]] != row]

    def where(first: int, again: int) -> str:
        lines = "" if table.line is None else f" (lines {table.line[first]} and {table.line[again]})"
        return f"document {shorten(table.doc[again], 40)} of query {shorten(table.query[again], 40)}{lines}"

    if repeats:
        message = f"{count(len(repeats), 'document comes', 'documents come')} again in the same ranking."
        advice = f"find out why; to go on, {keep_one()}"
        examples = tuple(where(*each) for each in repeats[:EXAMPLES])
        yield Finding("error", "duplicate-documents", len(repeats), message, examples, advice)


def _constant(whole: WholeRankings) -> Iterator[Finding]:
    """Rankings in which every document has one score."""
    several = np.flatnonzero(whole.sizes > 1)
    if whole.table.score is None or not len(several):
        return
    score, filled = whole.table.score[whole.order], whole.start[:-1][whole.sizes > 0]
    same = np.ones(len(whole.queries), dtype=bool)
    same[whole.sizes > 0] = np.maximum.reduceat(score, filled) == np.minimum.reduceat(score, filled)
    if flat := [whole.queries[i] for i in several[same[several]].tolist()]:
        yield all_scores_equal(len(flat), len(several), flat)


def _contradicting_ranks(whole: WholeRankings) -> Iterator[Finding]:
    """Rank columns that order documents otherwise than their scores do."""
    score, rank = whole.table.score, whole.table.rank
    if score is None or rank is None:
        return
    wrong = [
        whole.queries[i]
        for rows in np.split(whole.order, whole.start[:-1:AT_ONCE])
        for i in contrary_groups(whole.code[rows], score[rows], rank[rows]).tolist()
    ]
    if wrong:
        yield contradicting_ranks(
            len(wrong), f"{len(wrong):,} of {count(len(whole.queries), 'ranking')}", few_examples(wrong)
        )


def _scores_are_grades(whole: WholeRankings) -> Iterator[Finding]:
    """Rankings that may be judgments: no other scores than the steps of a grading scale."""
    score = whole.table.score
    if score is None or len(score) < SCALE_ROWS or not np.isin(score, np.array(SCALE)).all():
        return
    values = distinct(score)
    if len(values) > 1:
        listed = ", ".join(f"{value:g}" for value in values)
        message = f"The ranking has no other scores than {listed}, like the grades of judgments."
        advice = "check the order of the two: judgments come first, the ranking second."
        yield Finding("warning", "ranking-looks-like-judgments", len(values), message, (), advice)


CHECKS = (_duplicates, _constant, _contradicting_ranks, _scores_are_grades, _returned_themselves)


# --- from numbers that add up -----------------------------------------------------------------------

IN_FRACTIONS = ", if all grades are below 1"
"""Ends the names of sums over parts where the grades of all that was found are: they count if that holds everywhere."""


def sums_for_audit(case: FindingCase) -> dict[str, Array]:
    """What some of the queries come to; the sums over all of them are what `errors_in_sums` reads."""
    hits, judgments, answered = case.hits, case.judgments, case.answered
    relevant = judgments.grade >= strictest(case.measures)
    sums = {
        "answered": answered,
        "unanswered": is_unanswered(hits, case.conventions),
        "with relevant": np.bincount(judgments.query[relevant], minlength=case.n) > 0,
        "flat": flat_rankings(hits),
        "of several": hits.retrieved > 1,
        "shown": hits.retrieved,
        "judged found": hits.doc >= 0,
        "whole grades": hits.grade >= 1,
    }
    if case.conventions.unjudged != "relevant" and len(hits.grade):
        where, least = ("", 1.0) if sums["whole grades"].any() else (IN_FRACTIONS, float(np.nextafter(0, 1)))
        sums[f"below the middle{where}"], sums[f"by chance{where}"] = places_from_the_middle(hits, least)
        sums["nDCG"], sums["nDCG backwards"] = both_ways_round(hits)
    return sums


def errors_in_sums(
    sums: Mapping[str, float], n: int, measures: Sequence[Measure], queries: Sequence[str]
) -> Iterator[Finding]:
    """What makes the numbers of `n` queries wrong; `queries` are examples. Sums that are not there say nothing."""
    if "with relevant" not in sums:
        return
    if not sums["with relevant"]:
        yield none_relevant(n, measures)
    if not sums["answered"]:
        yield nothing_common("query", n, queries)
    elif not sums["judged found"] and (sums["shown"] or sums["unanswered"] < n):
        yield nothing_common("document", round(sums["documents"]), ())
    if sums["flat"] and sums["flat"] == sums["of several"]:
        yield all_scores_equal(round(sums["flat"]), round(sums["of several"]), queries[:0])
    where = "" if sums.get("whole grades", 1) else IN_FRACTIONS
    chance = sums.get(f"by chance{where}", 0.0)
    lead = sums[f"below the middle{where}"] / math.sqrt(chance) if chance > 0 else 0.0
    if lead > CERTAIN and sums["shown"] >= LONG * n:
        there, back = sums["nDCG"] / n, sums["nDCG backwards"] / n
        if back > FAR_BETTER * there:
            yield turned_round(True, n, FROM_THE_END, there, back)
