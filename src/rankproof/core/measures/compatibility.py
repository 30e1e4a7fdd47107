"""Compatibility: how near a ranking comes to the best order of all relevant documents."""

from __future__ import annotations

import numpy as np

from rankproof.core.hits import Array, Hits, PerQuery, ratio
from rankproof.core.measure import measure
from rankproof.core.measures.running import so_far
from rankproof.core.parameters import Count, Grade, Persistence


def higher_graded(h: Hits, rows: Hits) -> Array:
    """For each row how many documents of the ideal order `h` of its query have a higher grade."""
    levels = np.unique(np.append(h.grade, rows.grade))
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
