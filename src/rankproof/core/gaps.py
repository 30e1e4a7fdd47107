"""The bounds of average precision over which of the documents nobody judged are relevant.

A ranking of a thousand documents with three judged ones has four gaps; the bounds are worked out gap by gap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from rankproof.core.hits import Array, Hits, PerQuery, ratio

Ends = tuple[PerQuery, PerQuery]


def seen_down_to(hits: Hits, k: int | None) -> Hits:
    """The rankings as if they ended at rank `k`."""
    return hits if k is None else replace(hits.top(k), retrieved=np.minimum(hits.retrieved, k))


@dataclass(frozen=True, eq=False)
class _Gaps:
    """The runs of unjudged ranks between judged documents, down to the cut; a gap may be empty."""

    query: Array
    start: Array
    """The rank before the gap, and the last rank of it."""
    end: Array
    judged: Array
    """How many judged documents stand above the gap, and how many of them are relevant."""
    relevant: Array
    below: Array
    """The sum of 1 / rank over relevant documents below the gap."""

    @property
    def length(self) -> Array:
        """How many ranks the gap has."""
        return self.end - self.start


def _gaps(h: Hits, good: Array) -> _Gaps:
    """The gaps of rankings already cut; `good` says which rows are relevant."""
    every = np.arange(h.n)
    order = np.argsort(np.append(every, h.query), kind="stable")
    query, start = np.append(every, h.query)[order], np.append(np.zeros_like(every), h.rank)[order]
    end = np.append(start[1:], 1) - 1
    last = np.append(query[1:] != query[:-1], True)
    end[last] = h.retrieved
    below = h.sum(good / h.rank)[h.query] - h.through(good / h.rank)
    return _Gaps(
        query=query,
        start=start,
        end=end,
        judged=np.append(np.zeros(h.n), h.nth)[order],
        relevant=np.append(np.zeros(h.n), h.through(good))[order],
        below=np.append(h.sum(good / h.rank), below)[order],
    )


def ap_bounds(h: Hits, grade: float, k: int | None = None, rel: float = 1, denominator: str = "all") -> Ends:
    """The extremes of average precision over which unjudged documents are relevant.

    What one more of them adds grows, gap by gap, in both directions. So from the top the highest value is
    at the end of a gap, and from the end of the ranking the values fall to one lowest point and rise again.
    """
    shown = seen_down_to(h, k)
    good = (shown.grade >= rel).astype(np.float64)
    gaps = _gaps(shown, good)
    start = shown.sum(good * shown.through(good) / shown.rank)
    found = denominator == "found"
    wanted = shown.sum(good) if found else h.ideal.relevant(rel).count()
    beyond = np.zeros(h.n) if found else h.unjudged - shown.unjudged
    cap = k if k is not None and denominator == "min" else np.inf

    def value(query: Array, gained: Array, added: Array) -> Array:
        return ratio(start[query] + gained, np.minimum(wanted[query] + added, cap))

    return _lowest(gaps, beyond, value), _highest(gaps, value)


Value = Callable[[Array, Array, Array], Array]
"""From queries, what their unjudged documents add to the sum, and their number, to the measure."""


def _highest(gaps: _Gaps, value: Value) -> PerQuery:
    """The best over ranks filled from the top, up to the end of each gap."""
    harmonic = _harmonic(gaps)
    wrong = gaps.judged - gaps.relevant
    gained = gaps.length * (1 + gaps.below) - wrong * (harmonic[gaps.end] - harmonic[gaps.start])
    added = _running(gaps.query, gaps.length)
    ends = value(gaps.query, _running(gaps.query, gained), added)
    begins = _begins(gaps.query)
    none = np.zeros(len(begins))
    best: PerQuery = np.maximum.reduceat(ends, begins)
    return np.maximum(best, value(np.arange(len(begins)), none, none))


def _lowest(gaps: _Gaps, beyond: PerQuery, value: Value) -> PerQuery:
    """The worst over ranks filled from the end: in each gap the lowest point is found by halving."""
    harmonic = _harmonic(gaps)
    summed = np.cumsum(harmonic)
    lower = _rest(gaps.query, harmonic[gaps.end] - harmonic[gaps.start])

    def gained(count: Array) -> Array:
        above = gaps.end - count
        each = harmonic[gaps.end] - harmonic[above]
        pairs = count * harmonic[gaps.end] - (summed[gaps.end] - summed[above])
        total: Array = (gaps.relevant + 1) * each + count * (gaps.below + lower) + pairs
        return total

    before = _rest(gaps.query, gained(gaps.length))
    added = _rest(gaps.query, gaps.length) + beyond[gaps.query]

    def at(count: Array) -> Array:
        return value(gaps.query, before + gained(count), added + count)

    begins = _begins(gaps.query)
    none = np.zeros(len(begins))
    least: PerQuery = np.minimum.reduceat(at(_where_lowest(at, gaps.length)), begins)
    return np.minimum(least, value(np.arange(len(begins)), none, none))


def _where_lowest(at: Callable[[Array], Array], length: Array) -> Array:
    """For each gap the count up to `length` at which a value that falls, then rises, is lowest."""
    low, high = np.zeros_like(length), length
    while bool((low < high).any()):
        middle = (low + high) // 2
        falling = (low < high) & (at(np.minimum(middle + 1, length)) < at(middle))
        low, high = np.where(falling, middle + 1, low), np.where(falling, high, middle)
    return low


def _harmonic(gaps: _Gaps) -> Array:
    """1 + 1/2 + ... + 1/n for every n up to the longest ranking."""
    longest = int(gaps.end.max(initial=0))
    return np.append(0.0, np.cumsum(1 / np.arange(1, longest + 1)))


def _begins(query: Array) -> Array:
    return np.flatnonzero(np.append(True, np.diff(query) != 0)) if len(query) else query


def _running(query: Array, values: Array) -> Array:
    """For each gap the sum of `values` over the gaps of its query up to and with it."""
    total = np.cumsum(values)
    before: Array = (total - values)[_begins(query)]
    return total - before[query]


def _rest(query: Array, values: Array) -> Array:
    """For each gap the sum of `values` over the gaps of its query after it."""
    total: Array = np.bincount(query, weights=values)
    return total[query] - _running(query, values)
