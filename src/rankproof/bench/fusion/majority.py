"""Condorcet: documents ordered by majorities of the rankings."""

from __future__ import annotations

from functools import cmp_to_key

import numpy as np

from rankproof.bench.fusion.arrays import starts
from rankproof.core.hits import Array

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
    begins = starts(query)
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
