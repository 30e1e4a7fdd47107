"""Scores of rankings on one scale, and the methods that use them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankproof.bench.fusion.pool import FromZero, candidates, lengths, reduce_lists, row_counts, row_sums, share
from rankproof.core.hits import Array
from rankproof.document.numbers import setting
from rankproof.errors import DataError


def min_max(score: Array, query: Array) -> Array:
    """From 0 for the lowest score of a list to 1 for its highest; equal scores become 1.

    Formula: (s - min) / (max - min).
    Range: 0 to 1.
    Reference: J. H. Lee: Analyses of multiple evidence combination, SIGIR 1997.

    >>> min_max(np.array([[8.0], [4.0], [6.0]]), np.array([0, 0, 0])).T.tolist()
    [[1.0, 0.0, 0.5]]
    """
    low, high = reduce_lists(np.fmin, score, query), reduce_lists(np.fmax, score, query)
    return share(score - low, high - low, 1.0)


def by_max(score: Array, query: Array) -> Array:
    """As a share of the highest score of the list, which must be above 0; scores that are all 0 stay so.

    Formula: s / max.
    Range: up to 1; from 0 if no score is negative.
    Reference: J. H. Lee: Combining multiple evidence from different properties of weighting schemes, SIGIR 1995.

    >>> by_max(np.array([[8.0], [4.0], [6.0]]), np.array([0, 0, 0])).T.tolist()
    [[1.0, 0.5, 0.75]]
    """
    high = reduce_lists(np.fmax, score, query)
    if ((high <= 0) & (score < 0)).any():
        raise DataError(
            f"{setting('normalise', 'max')}: a list has negative scores and none above 0, so there is no share of the "
            f"highest. Next: {setting('normalise', 'min-max')}."
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
    raised = score - reduce_lists(np.fmin, score, query)
    total = reduce_lists(np.add, np.nan_to_num(raised), query)
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
    away = score - reduce_lists(np.add, np.nan_to_num(score) / n, query)
    # in units of the largest, whose squares are neither too large nor too small for a float
    away = share(away, reduce_lists(np.fmax, abs(away), query), 0.0)
    equal = reduce_lists(np.fmax, score, query) == reduce_lists(np.fmin, score, query)
    deviation = np.sqrt(reduce_lists(np.add, np.nan_to_num(away**2), query) / n)
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

BY_RANK = ("rank", "borda")
"""The normalisations that make scores out of ranks."""


def comb_sum(score: Array) -> Array:
    """CombSUM: the sum of the scores.

    Formula: sum of s over the rankings that returned the document.
    Range: the number of rankings times that of the scores.
    Reference: E. A. Fox, J. A. Shaw: Combination of multiple searches, TREC-2, 1993.

    >>> comb_sum(np.array([[1.0, 0.5], [0.75, np.nan]])).tolist()
    [1.5, 0.75]
    """
    return row_sums(score)


def comb_mnz(score: Array) -> Array:
    """CombMNZ: the sum of the scores, times the number of rankings that returned the document.

    Formula: N * sum of s.
    Range: the square of the number of rankings times that of the scores.
    Reference: E. A. Fox, J. A. Shaw, 1993, as for combsum.

    >>> comb_mnz(np.array([[1.0, 0.5], [0.75, np.nan]])).tolist()
    [3.0, 0.75]
    """
    return row_counts(score) * row_sums(score)


def comb_gmnz(score: Array, *, gamma: FromZero = 1) -> Array:
    """CombGMNZ: CombSUM (gamma 0) to CombMNZ (gamma 1) and beyond.

    Formula: N^gamma * sum of s.
    Range: from that of combsum to that of combmnz.
    Reference: J. H. Lee: Analyses of multiple evidence combination, SIGIR 1997.

    >>> comb_gmnz(np.array([[1.0, 0.5], [0.75, np.nan]]), gamma=2).tolist()
    [6.0, 0.75]
    """
    return row_counts(score) ** gamma * row_sums(score)


def comb_min(score: Array) -> Array:
    """CombMIN: the lowest score among the rankings that returned the document.

    Formula: min of s.
    Range: that of the scores.
    Reference: E. A. Fox, J. A. Shaw, 1993, as for combsum.

    >>> comb_min(np.array([[1.0, 0.5], [0.75, np.nan]])).tolist()
    [0.5, 0.75]
    """
    return np.asarray(np.fmin.reduce(score, axis=1))


def comb_max(score: Array) -> Array:
    """CombMAX: the highest score among the rankings that returned the document.

    Formula: max of s.
    Range: that of the scores.
    Reference: E. A. Fox, J. A. Shaw, 1993, as for combsum.

    >>> comb_max(np.array([[1.0, 0.5], [0.75, np.nan]])).tolist()
    [1.0, 0.75]
    """
    return np.asarray(np.fmax.reduce(score, axis=1))


def comb_med(score: Array) -> Array:
    """CombMED: the median score among the rankings that returned the document.

    Formula: median of s; the mean of the middle two where their number is even.
    Range: that of the scores.
    Reference: E. A. Fox, J. A. Shaw, 1993, as for combsum.

    >>> comb_med(np.array([[1.0, 0.5, 0.0], [0.75, np.nan, 0.25]])).tolist()
    [0.5, 0.5]
    """
    ascending, number = np.sort(score, axis=1), row_counts(score)
    row = np.arange(len(score))
    return np.asarray((ascending[row, (number - 1) // 2] + ascending[row, number // 2]) / 2)


def comb_anz(score: Array) -> Array:
    """CombANZ: the mean score over the rankings that returned the document.

    Formula: sum of s / N.
    Range: that of the scores.
    Reference: E. A. Fox, J. A. Shaw, 1993, as for combsum.

    >>> comb_anz(np.array([[1.0, 0.5], [0.75, np.nan]])).tolist()
    [0.75, 0.75]
    """
    return row_sums(score) / row_counts(score)


def weighted_sum(score: Array, weights: Array) -> Array:
    """Weighted sum: CombSUM with a weight for each ranking.

    Formula: sum of w s over the rankings that returned the document.
    Range: the sum of w times that of the scores.
    Reference: C. C. Vogt, G. W. Cottrell: Fusion via a linear combination of scores, Information Retrieval 1999.

    >>> weighted_sum(np.array([[1.0, 0.5], [0.75, np.nan]]), np.array([0.5, 1.0])).tolist()
    [1.0, 0.375]
    """
    return row_sums(weights * score)


def wmnz(score: Array, weights: Array) -> Array:
    """WMNZ: the sum of the scores, times the weights of the rankings that returned the document.

    Formula: (sum of w) * (sum of s), both over the rankings that returned the document.
    Range: the sum of w times that of combsum.
    Reference: S. Wu, F. Crestani: Data fusion with estimated weights, CIKM 2002.

    >>> wmnz(np.array([[1.0, 0.5], [0.75, np.nan]]), np.array([0.5, 1.0])).tolist()
    [2.25, 0.375]
    """
    return row_sums(score) * row_sums(np.where(np.isnan(score), np.nan, weights))


def mixed(score: Array, weights: Array) -> Array:
    """Mixed: between the weighted sum and its product with the number of rankings.

    Formula: sqrt(N) * sum of w s.
    Range: sqrt(number of rankings) times that of weighted-sum.
    Reference: S. Wu, F. Crestani: Data fusion with estimated weights, CIKM 2002.

    >>> mixed(np.array([[1.0, 0.5], [0.75, np.nan]]), np.array([0.5, 1.0])).round(4).tolist()
    [1.4142, 0.375]
    """
    return np.sqrt(row_counts(score)) * row_sums(weights * score)
