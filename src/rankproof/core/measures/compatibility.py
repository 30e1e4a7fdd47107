"""Compatibility: how near a ranking comes to the best order of all relevant documents."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

import numpy as np

from rankproof.core.arrays import distinct
from rankproof.core.hits import Array, Hits, PerQuery, ratio
from rankproof.core.measure import measure
from rankproof.core.measures.running import so_far
from rankproof.core.paper import Case, Found, Step, Term, Written, at_least, parts, quotient, sum_step, writes
from rankproof.core.parameters import Count, Grade, Persistence


def higher_graded(h: Hits, rows: Hits) -> Array:
    """For each row how many documents of the ideal order `h` of its query have a higher grade."""
    levels = distinct(np.append(h.grade, rows.grade))
    width = len(levels) + 1
    order = h.query * width + len(levels) - np.searchsorted(levels, h.grade)
    own = rows.query * width + len(levels) - np.searchsorted(levels, rows.grade)
    return np.searchsorted(order, own) - h.starts[rows.query]


@measure("Compat", also=("compatibility", "Compatibility"))
def compatibility(h: Hits, rel: Grade = 1, p: Persistence = 0.95, depth: Count = 1000) -> PerQuery:
    """Rank-biased overlap of the ranking with the ideal order that is most like it, as a share of the best.

    Formula: RBO(ranking, ideal) / RBO(ideal, ideal) with RBO = sum over depths d of p^(d-1) |shared in both
    top d| / d; ideal: the relevant documents by falling grade, within a grade as the ranking has them.

    Range: 0 to 1.

    Perfect: 1, when the relevant documents come first, by falling grade.

    Worst: 0, when no relevant document is found.

    Blind to: how far apart grades are, only their order counts.

    Use: for preferences and many fine grades, where a gain for each grade would be made up.

    Reference: C. L. A. Clarke, A. Vtyurina, M. D. Smucker: Assessing top-k preferences, ACM TOIS 2021.

    >>> from rankproof import evaluate
    >>> round(evaluate({"q": {"a": 2, "b": 1}}, {"q": ["b", "a"]}, "Compat(p=0.5)")["Compat(p=0.5)"], 4)
    0.4359
    """
    ideal, good = h.ideal.relevant(rel), h.relevant(rel).top(depth)
    above = higher_graded(ideal, good)
    place = above + 1 + so_far(good.query * (len(ideal.query) + 1) + above)
    shared = ideal.top(depth)
    weights = p ** np.arange(depth) / np.arange(1, depth + 1)
    rest = np.append(np.cumsum(weights[::-1])[::-1], 0.0)
    met = rest[np.minimum(np.maximum(place, good.rank), depth + 1) - 1]
    return ratio(good.sum(met), shared.sum(rest[shared.rank - 1]))


@writes(compatibility)
def compatibility_on_paper(c: Case, rel: float, p: float, depth: int) -> Written:
    """The overlap with the ideal order most like the ranking, by that of the ideal order with itself."""
    terms = [_met(each, place, p, depth) for each, place in _places(c, rel, depth)]
    own = sum_step("found", "each is shared by both from the deeper of its two places m on: S(m)", terms)
    ranks = range(1, min(len(c.wanted(rel)), depth) + 1)
    says = f"the ideal order with itself: all that are {at_least(rel)}, by falling grade"
    best = sum_step("denominator", says, [Term(f"S({rank})", _weight(rank, p, depth)) for rank in ranks])
    weights = Step("gain", f"S(m) = sum over depths d = m to {depth:,} of {p:g}^(d-1) / d")
    end = quotient("result", "the one divided by the other", own.number, best.number)
    return Written((weights, own, best, end), parts(own, best.number))


def _places(c: Case, rel: float, depth: int) -> Iterator[tuple[Found, int]]:
    """Each document found with its place in the ideal order: by grade, then as the ranking has them."""
    above = Counter[float]()
    for each in c.relevant(rel, depth):
        better = len([other for other in c.wanted(rel) if other.grade > each.grade])
        above[each.grade] += 1
        yield each, better + above[each.grade]


def _met(each: Found, place: int, p: float, depth: int) -> Term:
    first = max(each.rank, place)
    return Term(f"place {place} of the ideal: S({first})", _weight(first, p, depth), each.rank, each.doc)


def _weight(first: int, p: float, depth: int) -> float:
    return math.fsum(p ** (d - 1) / d for d in range(first, depth + 1))
