"""Methods that read ranks: they need no scores, and rankings on any scale can meet."""

from __future__ import annotations

from functools import cmp_to_key

import numpy as np

from rankproof.bench.fusion.pool import FromZero, candidates, lengths, query_starts, row_counts, row_sums
from rankproof.core.hits import Array
from rankproof.core.parameters import Persistence, Share

AT_ONCE = 1 << 21
"""Pairs of documents compared at a time."""

DUST = 1e-9
"""Of all the weight: a smaller majority is none, but rounding."""


def condorcet(rank: Array, query: Array, weights: Array) -> Array:
    """Condorcet: a document stands above another if the rankings that say so outweigh those that say the opposite.

    Formula: c - p for the document at place p = 0, 1, ... of c candidates, in an order where each document beats
    the next or is equal to it. A ranking that returned one of two documents puts it above the other; one that
    returned neither says nothing. Where majorities run in a circle, who wins most often begins; then the
    tie rule decides.

    Range: 1 to c.

    Reference: M. Montague, J. A. Aslam: Condorcet fusion for improved retrieval, CIKM 2002.

    >>> ranks = np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 1.0], [3.0, 3.0, 2.0]])
    >>> condorcet(ranks, np.array([0, 0, 0]), np.ones(3)).tolist()
    [2.0, 3.0, 1.0]
    """
    places = np.where(np.isnan(rank), np.inf, rank)
    begins = query_starts(query)
    points = np.zeros(len(rank))
    for begin, end in zip(begins, np.append(begins[1:], len(rank)), strict=True):
        order = _order(places[begin:end], weights)
        points[begin + np.array(order)] = np.arange(len(order), 0, -1)
    return points


def _order(places: Array, weights: Array) -> list[int]:
    """The documents of one query, the winner first.

    They are sorted by their wins first, which is the right order already where majorities make no circle.
    """
    wins = _wins(places, weights)
    by_wins = np.argsort(-wins, kind="stable").tolist()
    rows, shares = places.tolist(), weights.tolist()
    least = DUST * float(weights.sum())

    def after(one: int, other: int) -> int:
        margin = _margin(rows[one], rows[other], shares)
        if abs(margin) <= least:
            return int(wins[other] - wins[one]) or one - other
        return -1 if margin > 0 else 1

    return sorted(by_wins, key=cmp_to_key(after))


def _margin(one: list[float], other: list[float], weights: list[float]) -> float:
    """By how much the rankings that put one above the other outweigh those that do the opposite."""
    return sum(
        (mine < theirs) * weight - (mine > theirs) * weight
        for mine, theirs, weight in zip(one, other, weights, strict=True)
    )


def _wins(places: Array, weights: Array) -> Array:
    """How many others each document beats, less how many beat it."""
    least = DUST * float(weights.sum())
    step = max(1, AT_ONCE // len(places))
    parts = []
    for first in range(0, len(places), step):
        own = places[first : first + step]
        margin = np.zeros((len(own), len(places)))
        for mine, theirs, weight in zip(own.T, places.T, weights, strict=True):
            margin += weight * (mine[:, None] < theirs)
            margin -= weight * (mine[:, None] > theirs)
        parts.append((margin > least).sum(axis=1) - (margin < -least).sum(axis=1))
    return np.concatenate(parts)


def rrf(rank: Array, weights: Array, *, k: FromZero = 60) -> Array:
    """Reciprocal rank fusion: each ranking adds the reciprocal of the rank, put off by a constant.

    Formula: sum over rankings of w / (k + rank).

    Range: 0 to (sum of w) / (k + 1).

    Reference: G. V. Cormack, C. L. A. Clarke, S. Buettcher: Reciprocal rank fusion outperforms Condorcet and
    individual rank learning methods, SIGIR 2009.

    >>> rrf(np.array([[1.0, 2.0], [2.0, np.nan]]), np.ones(2), k=0).tolist()
    [1.5, 0.5]
    """
    return row_sums(weights / (k + rank))


def isr(rank: Array) -> Array:
    """Inverse square rank: the inverse squares of the ranks, times the number of rankings.

    Formula: N * sum over rankings of 1 / rank^2, where N rankings returned the document.

    Range: 0 to (number of rankings)^2.

    Reference: A. Mourão, F. Martins, J. Magalhães: Multimodal medical information retrieval with unsupervised
    rank fusion, Computerized Medical Imaging and Graphics 2015.

    >>> isr(np.array([[1.0, 2.0], [2.0, np.nan]])).tolist()
    [2.5, 0.25]
    """
    return row_counts(rank) * row_sums(1 / rank**2)


def log_isr(rank: Array) -> Array:
    """Inverse square rank with the logarithm of the number of rankings: what one alone returned gets 0.

    Formula: ln(N) * sum over rankings of 1 / rank^2.

    Range: 0 to S ln(S) for S rankings.

    Reference: A. Mourão, F. Martins, J. Magalhães, 2015, as for isr.

    >>> log_isr(np.array([[1.0, 2.0], [2.0, np.nan]])).round(4).tolist()
    [0.8664, 0.0]
    """
    return np.log(row_counts(rank)) * row_sums(1 / rank**2)


def logn_isr(rank: Array, *, sigma: Share = 0.01) -> Array:
    """Inverse square rank with a logarithm that leaves a little to what one ranking alone returned.

    Formula: ln(N + sigma) * sum over rankings of 1 / rank^2.

    Range: 0 to S ln(S + sigma) for S rankings.

    Reference: A. Mourão, F. Martins, J. Magalhães, 2015, as for isr.

    >>> logn_isr(np.array([[1.0, 2.0], [2.0, np.nan]]), sigma=1.0).round(4).tolist()
    [1.3733, 0.1733]
    """
    return np.log(row_counts(rank) + sigma) * row_sums(1 / rank**2)


def rbc(rank: Array, weights: Array, *, phi: Persistence = 0.8) -> Array:
    """Rank-biased centroids: the attention of a reader who goes on to the next document with probability phi.

    Formula: sum over rankings of w (1 - phi) phi^(rank - 1).

    Range: 0 to (sum of w) (1 - phi).

    Reference: P. Bailey, A. Moffat, F. Scholer, P. Thomas: Retrieval consistency in the presence of query
    variations, SIGIR 2017.

    >>> rbc(np.array([[1.0, 2.0], [2.0, np.nan]]), np.ones(2), phi=0.5).tolist()
    [0.75, 0.25]
    """
    return row_sums(weights * (1 - phi) * phi ** (rank - 1))


def borda(rank: Array, query: Array, weights: Array) -> Array:
    """Borda count: of c candidates the first gets c points, the next c - 1, and so on.

    Formula: sum over rankings of w (c - rank + 1), where c documents were returned by any ranking; those that a
    ranking of n did not return share its other points: w (c - n + 1) / 2 each.

    Range: 0 to c times the sum of w.

    Reference: J. A. Aslam, M. Montague: Models for metasearch, SIGIR 2001.

    >>> borda(np.array([[1.0, 2.0], [2.0, 1.0], [np.nan, 3.0]]), np.array([0, 0, 0]), np.ones(2)).tolist()
    [5.0, 5.0, 2.0]
    """
    all_of_it = candidates(query)
    left = (all_of_it - lengths(rank, query) + 1) / 2
    return row_sums(weights * np.where(np.isnan(rank), left, all_of_it - rank + 1))
