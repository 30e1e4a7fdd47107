"""Normalisations: the scores of each ranking of each query brought to one scale."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankproof.bench.fusion.arrays import candidates, each_list, lengths, share
from rankproof.core.hits import Array
from rankproof.errors import DataError


def min_max(score: Array, query: Array) -> Array:
    """From 0 for the lowest score of a list to 1 for its highest; equal scores become 1.

    Formula: (s - min) / (max - min).

    Range: 0 to 1.

    Reference: J. H. Lee: Analyses of multiple evidence combination, SIGIR 1997.

    >>> min_max(np.array([[8.0], [4.0], [6.0]]), np.array([0, 0, 0])).T.tolist()
    [[1.0, 0.0, 0.5]]
    """
    low, high = each_list(np.fmin, score, query), each_list(np.fmax, score, query)
    return share(score - low, high - low, 1.0)


def by_max(score: Array, query: Array) -> Array:
    """As a share of the highest score of the list, which must be above 0; scores that are all 0 stay so.

    Formula: s / max.

    Range: up to 1; from 0 where no score is negative.

    Reference: J. H. Lee: Combining multiple evidence from different properties of weighting schemes, SIGIR 1995.

    >>> by_max(np.array([[8.0], [4.0], [6.0]]), np.array([0, 0, 0])).T.tolist()
    [[1.0, 0.5, 0.75]]
    """
    high = each_list(np.fmax, score, query)
    if ((high <= 0) & (score < 0)).any():
        raise DataError(
            "normalise='max': a list has negative scores and none above 0, so there is no share of the highest. "
            "Next: normalise='min-max'."
        )
    return share(score, high, 0.0)


def by_sum(score: Array, query: Array) -> Array:
    """As a share of all scores of the list, counted from the lowest one; equal scores share equally.

    Formula: (s - min) / sum of (s - min).

    Range: 0 to 1; a list sums to 1.

    Reference: M. Montague, J. A. Aslam: Relevance score normalization for metasearch, CIKM 2001.

    >>> by_sum(np.array([[8.0], [4.0], [6.0]]), np.array([0, 0, 0])).round(4).T.tolist()
    [[0.6667, 0.0, 0.3333]]
    """
    raised = score - each_list(np.fmin, score, query)
    total = each_list(np.add, np.nan_to_num(raised), query)
    return share(raised, total, 1 / np.maximum(lengths(score, query), 1))


def z_score(score: Array, query: Array) -> Array:
    """In standard deviations above the mean of the list; equal scores become 0.

    Formula: (s - mean) / sd, with the sd of the whole list (divided by n).

    Range: -sqrt(n - 1) to sqrt(n - 1).

    Reference: M. Montague, J. A. Aslam: Relevance score normalization for metasearch, CIKM 2001 (ZMUV).

    >>> z_score(np.array([[8.0], [4.0], [6.0]]), np.array([0, 0, 0])).round(4).T.tolist()
    [[1.2247, -1.2247, 0.0]]
    """
    n = np.maximum(lengths(score, query), 1)
    away = score - each_list(np.add, np.nan_to_num(score) / n, query)
    # in units of the largest, whose squares are neither too large nor too small for a float
    away = share(away, each_list(np.fmax, abs(away), query), 0.0)
    equal = each_list(np.fmax, score, query) == each_list(np.fmin, score, query)
    deviation = np.sqrt(each_list(np.add, np.nan_to_num(away**2), query) / n)
    return share(away, np.where(equal, 0.0, deviation), 0.0)


def by_rank(rank: Array, query: Array) -> Array:
    """By rank alone, from 1 for the first document of a list down to 1 / n for the last; needs no scores.

    Formula: 1 - (rank - 1) / n.

    Range: 1 / n to 1.

    Reference: J. H. Lee: Analyses of multiple evidence combination, SIGIR 1997.

    >>> by_rank(np.array([[1.0], [4.0], [2.0], [3.0]]), np.zeros(4, dtype=int)).T.tolist()
    [[1.0, 0.25, 0.75, 0.5]]
    """
    return 1 - (rank - 1) / np.maximum(lengths(rank, query), 1)


def by_borda(rank: Array, query: Array) -> Array:
    """By Borda points as a share of the most; documents that a list did not return share what it left over.

    Formula: 1 - (rank - 1) / c for c candidates; 1/2 - (n - 1) / (2 c) where it was not returned.

    Range: 1 / c to 1, for lists that are not empty.

    Reference: M. E. Renda, U. Straccia: Web metasearch: rank vs. score based rank aggregation methods, SAC 2003.

    >>> by_borda(np.array([[1.0], [2.0], [np.nan], [np.nan]]), np.zeros(4, dtype=int)).T.tolist()
    [[1.0, 0.75, 0.375, 0.375]]
    """
    all_of_it = candidates(query)
    left = 1 / 2 - (lengths(rank, query) - 1) / (2 * all_of_it)
    return np.where(np.isnan(rank), left, 1 - (rank - 1) / all_of_it)


NORMALISATIONS: dict[str, Callable[[Array, Array], Array]] = {
    "min-max": min_max,
    "max": by_max,
    "sum": by_sum,
    "z-score": z_score,
    "rank": by_rank,
    "borda": by_borda,
}
"""Every normalisation by name."""

BY_RANK = ("rank", "borda")
"""Those that make scores out of ranks."""
