"""The errors of an audit that can be told of queries spread over workers: from numbers that add up."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from rankproof.core.audit.finding import Finding, FindingCase
from rankproof.core.audit.grades import none_relevant, strictest
from rankproof.core.audit.queries import (
    BEYOND_CHANCE,
    CERTAIN,
    FAR_BETTER,
    FROM_THE_END,
    LONG,
    all_scores_equal,
    both_ways_round,
    flat_rankings,
    no_common_documents,
    no_common_queries,
    places_from_the_middle,
    turned_round,
)
from rankproof.core.hits import Array
from rankproof.core.measure import Measure
from rankproof.core.rules import is_unanswered


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
    }
    if case.conventions.unjudged != "relevant" and len(hits.grade):
        least = 1 if hits.top_grade >= 1 else float(np.nextafter(0, 1))
        sums["below the middle"], sums["by chance"] = places_from_the_middle(hits, least)
        sums["nDCG"], sums["nDCG backwards"] = both_ways_round(hits)
    return sums


def errors_in_sums(
    sums: Mapping[str, float], n: int, measures: Sequence[Measure], queries: Sequence[str]
) -> Iterator[Finding]:
    """What makes the numbers of `n` queries wrong; `queries` are examples. Sums that are not there say nothing."""
    if "with relevant" not in sums:
        return
    if not sums["with relevant"]:
        yield none_relevant(n, strictest(measures))
    if not sums["answered"]:
        yield no_common_queries(n, queries[:2], ())
    elif not sums["judged found"] and (sums["shown"] or sums["unanswered"] < n):
        yield no_common_documents(round(sums["documents"]), (), ())
    if sums["flat"] and sums["flat"] == sums["of several"]:
        yield all_scores_equal(round(sums["flat"]), round(sums["of several"]), queries[:0])
    chance = sums.get("by chance", 0.0)
    lead = sums["below the middle"] / math.sqrt(chance) if chance > 0 else 0.0
    if lead > max(CERTAIN, BEYOND_CHANCE) and sums["shown"] >= LONG * n:
        there, back = sums["nDCG"] / n, sums["nDCG backwards"] / n
        if back > FAR_BETTER * there:
            yield turned_round(True, n, FROM_THE_END, there, back)
