"""Methods that read scores: they assume that the scores of all rankings are on one scale."""

from __future__ import annotations

import numpy as np

from rankproof.bench.fusion.arrays import FromZero, added, counted
from rankproof.core.hits import Array


def comb_sum(score: Array) -> Array:
    """CombSUM: the sum of the scores.

    Formula: sum of s over the rankings that returned the document.

    Range: the number of rankings times that of the scores.

    Reference: E. A. Fox, J. A. Shaw: Combination of multiple searches, TREC-2, 1993.

    >>> comb_sum(np.array([[1.0, 0.5], [0.75, np.nan]])).tolist()
    [1.5, 0.75]
    """
    return added(score)


def comb_mnz(score: Array) -> Array:
    """CombMNZ: the sum of the scores, times the number of rankings that returned the document.

    Formula: N * sum of s.

    Range: the square of the number of rankings times that of the scores.

    Reference: E. A. Fox, J. A. Shaw, 1993, as for combsum.

    >>> comb_mnz(np.array([[1.0, 0.5], [0.75, np.nan]])).tolist()
    [3.0, 0.75]
    """
    return counted(score) * added(score)


def comb_gmnz(score: Array, *, gamma: FromZero = 1) -> Array:
    """CombGMNZ: CombSUM (gamma 0) to CombMNZ (gamma 1) and beyond.

    Formula: N^gamma * sum of s.

    Range: from that of combsum to that of combmnz.

    Reference: J. H. Lee: Analyses of multiple evidence combination, SIGIR 1997.

    >>> comb_gmnz(np.array([[1.0, 0.5], [0.75, np.nan]]), gamma=2).tolist()
    [6.0, 0.75]
    """
    return counted(score) ** gamma * added(score)


def comb_min(score: Array) -> Array:
    """CombMIN: the lowest score among the rankings that returned the document.

    Formula: min of s.

    Range: that of the scores.

    Reference: E. A. Fox, J. A. Shaw, 1993, as for combsum.

    >>> comb_min(np.array([[1.0, 0.5], [0.75, np.nan]])).tolist()
    [0.5, 0.75]
    """
    lowest: Array = np.fmin.reduce(score, axis=1)
    return lowest


def comb_max(score: Array) -> Array:
    """CombMAX: the highest score among the rankings that returned the document.

    Formula: max of s.

    Range: that of the scores.

    Reference: E. A. Fox, J. A. Shaw, 1993, as for combsum.

    >>> comb_max(np.array([[1.0, 0.5], [0.75, np.nan]])).tolist()
    [1.0, 0.75]
    """
    highest: Array = np.fmax.reduce(score, axis=1)
    return highest


def comb_med(score: Array) -> Array:
    """CombMED: the median score among the rankings that returned the document.

    Formula: median of s; the mean of the middle two where their number is even.

    Range: that of the scores.

    Reference: E. A. Fox, J. A. Shaw, 1993, as for combsum.

    >>> comb_med(np.array([[1.0, 0.5, 0.0], [0.75, np.nan, 0.25]])).tolist()
    [0.5, 0.5]
    """
    ascending, number = np.sort(score, axis=1), counted(score)
    row = np.arange(len(score))
    middle: Array = (ascending[row, (number - 1) // 2] + ascending[row, number // 2]) / 2
    return middle


def comb_anz(score: Array) -> Array:
    """CombANZ: the mean score over the rankings that returned the document.

    Formula: sum of s / N.

    Range: that of the scores.

    Reference: E. A. Fox, J. A. Shaw, 1993, as for combsum.

    >>> comb_anz(np.array([[1.0, 0.5], [0.75, np.nan]])).tolist()
    [0.75, 0.75]
    """
    return added(score) / counted(score)


def weighted_sum(score: Array, weights: Array) -> Array:
    """Weighted sum: CombSUM with a weight for each ranking.

    Formula: sum of w s over the rankings that returned the document.

    Range: the sum of w times that of the scores.

    Reference: C. C. Vogt, G. W. Cottrell: Fusion via a linear combination of scores, Information Retrieval 1999.

    >>> weighted_sum(np.array([[1.0, 0.5], [0.75, np.nan]]), np.array([0.5, 1.0])).tolist()
    [1.0, 0.375]
    """
    return added(weights * score)


def wmnz(score: Array, weights: Array) -> Array:
    """WMNZ: the sum of the scores, times the weights of the rankings that returned the document.

    Formula: (sum of w) * (sum of s), both over the rankings that returned the document.

    Range: the sum of w times that of combsum.

    Reference: S. Wu, F. Crestani: Data fusion with estimated weights, CIKM 2002.

    >>> wmnz(np.array([[1.0, 0.5], [0.75, np.nan]]), np.array([0.5, 1.0])).tolist()
    [2.25, 0.375]
    """
    return added(score) * added(np.where(np.isnan(score), np.nan, weights))


def mixed(score: Array, weights: Array) -> Array:
    """Mixed: between the weighted sum and its product with the number of rankings.

    Formula: sqrt(N) * sum of w s.

    Range: sqrt(number of rankings) times that of weighted-sum.

    Reference: S. Wu, F. Crestani: Data fusion with estimated weights, CIKM 2002.

    >>> mixed(np.array([[1.0, 0.5], [0.75, np.nan]]), np.array([0.5, 1.0])).round(4).tolist()
    [1.4142, 0.375]
    """
    return np.sqrt(counted(score)) * added(weights * score)
