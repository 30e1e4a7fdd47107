"""The range of a measure if any of the documents nobody judged were relevant, for measures whose divisor
changes with them.

For m such documents the best places are the first m unjudged ranks and the worst the last m: moving a relevant
document up never hurts. So the bounds are the extremes over m, and every m is computed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rankproof.core.arrays import gains
from rankproof.core.conventions import fill_unjudged
from rankproof.core.expected_and_extreme_values import ap_divisor
from rankproof.core.hits import Array, Hits, PerQuery, ratio

Ends = tuple[PerQuery, PerQuery]


def seen_down_to(hits: Hits, k: int | None) -> Hits:
    """The rankings as if they ended at rank `k`."""
    return hits if k is None else replace(hits.top(k), retrieved=np.minimum(hits.retrieved, k))


class _Gaps(NamedTuple):
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


def ap_bounds(
    h: Hits, grade: float, k: int | None = None, rel: float = 1, denominator: str = "all", **_: object
) -> Ends:
    """The extremes of average precision over which unjudged documents are relevant.

    What one more of them adds grows, gap by gap, in both directions. So from the top the highest value is
    at the end of a gap, and from the end of the ranking the values fall to one lowest point and rise again.
    """
    shown = seen_down_to(h, k)
    good = (shown.grade >= rel).astype(np.float64)
    gaps = _gaps(shown, good)
    start = shown.sum(good * shown.through(good) / shown.rank)
    found, wanted = shown.sum(good), h.ideal.relevant(rel).count()
    beyond = np.zeros(h.n) if denominator == "found" else h.unjudged - shown.unjudged

    def value(query: Array, gained: Array, added: Array) -> Array:
        divisor = ap_divisor(denominator, k, found[query] + added, wanted[query] + added)
        return ratio(start[query] + gained, divisor)

    return _lowest(gaps, beyond, value), _highest(gaps, value)


Value = Callable[[Array, Array, Array], Array]
"""From queries, what their unjudged documents add to the sum, and their number, to the measure."""


def _highest(gaps: _Gaps, value: Value) -> PerQuery:
    """The best over ranks filled from the top, up to the end of each gap."""
    harmonic = _harmonic(gaps)
    wrong = gaps.judged - gaps.relevant
    gained = gaps.length * (1 + gaps.below) - wrong * (harmonic[gaps.end] - harmonic[gaps.start])
    added = _running(gaps.query, gaps.length)
    return _extreme(np.maximum, gaps.query, value(gaps.query, _running(gaps.query, gained), added), value)


def _lowest(gaps: _Gaps, beyond: PerQuery, value: Value) -> PerQuery:
    """The worst over ranks filled from the end: in each gap the lowest point is found by halving."""
    harmonic = _harmonic(gaps)
    summed = np.cumsum(harmonic)
    lower = _rest(gaps.query, harmonic[gaps.end] - harmonic[gaps.start])

    def gained(count: Array) -> Array:
        above = gaps.end - count
        each = harmonic[gaps.end] - harmonic[above]
        pairs = count * harmonic[gaps.end] - (summed[gaps.end] - summed[above])
        return np.asarray((gaps.relevant + 1) * each + count * (gaps.below + lower) + pairs)

    before = _rest(gaps.query, gained(gaps.length))
    added = _rest(gaps.query, gaps.length) + beyond[gaps.query]

    def at(count: Array) -> Array:
        return value(gaps.query, before + gained(count), added + count)

    return _extreme(np.minimum, gaps.query, at(_where_lowest(at, gaps.length)), value)


def _extreme(choose: np.ufunc, query: Array, values: Array, value: Value) -> PerQuery:
    """For each query the extreme of the values of its gaps, and of that with nothing filled."""
    begins = _begins(query)
    none = np.zeros(len(begins))
    return np.asarray(choose(choose.reduceat(values, begins), value(np.arange(len(begins)), none, none)))


def _where_lowest(at: Callable[[Array], Array], length: Array) -> Array:
    """For each gap the count up to `length` at which a value that falls, then rises, is lowest."""
    low, high = np.zeros_like(length), length
    while bool((low < high).any()):
        middle = (low + high) // 2
        falling = at(np.minimum(middle + 1, length)) < at(middle)
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


def recall_bounds(
    h: Hits, grade: float, k: int | None = None, rel: float = 1, denominator: str = "all", **_: object
) -> Ends:
    """Recall is highest with all unjudged documents of the top k relevant, lowest with all after it."""
    shown = seen_down_to(h, k)
    found = shown.relevant(rel).count()
    wanted = (h if denominator == "returned" else h.ideal).relevant(rel).count()
    cap = k if k is not None and denominator == "min" else np.inf
    low = ratio(found, np.minimum(wanted + h.unjudged - shown.unjudged, cap))
    high = ratio(found + shown.unjudged, np.minimum(wanted + shown.unjudged, cap))
    return low, high


def rr_bounds(h: Hits, grade: float, k: int | None = None, rel: float = 1, **_: object) -> Ends:
    """The reciprocal rank is highest with the first unjudged document relevant."""
    good = h.relevant(rel).top(k)
    low = good.sum((good.nth == 1) / good.rank)
    place = h.keep(h.rank == h.nth).count() + 1
    reached = place <= (h.retrieved if k is None else np.minimum(h.retrieved, k))
    return low, np.maximum(low, np.where(reached, 1 / place, 0.0))


def ndcg_bounds(
    h: Hits,
    grade: float,
    k: int | None = None,
    gain: object = "linear",
    ideal: str = "all",
    rel: float = 0,
    **_: object,
) -> Ends:
    """The extremes of nDCG over which unjudged documents are relevant, at one grade."""
    cut = seen_down_to(h, k)
    rows, beyond = fill_unjudged(cut, grade), h.unjudged - cut.unjudged
    is_new, query = rows.doc < 0, rows.query
    new, found = is_new.astype(np.float64), gains(rows.grade, gain)
    gained = (found if rel <= 0 else np.where(rows.grade >= rel, found, 0.0)) / np.log2(rows.rank + 1)
    best = _Ideals.of(h, float(gains(np.array([grade]), gain)[0]), None if ideal == "uncut" else k, gain, rel)
    start = rows.sum(gained * (1 - new))

    def to_cut(values: Array) -> Array:
        return rows.sum(values)[query] - rows.before(values)  # from each row on

    low = ratio(start[query] + to_cut(gained * new), best.with_more(to_cut(new) + beyond[query], query))
    high = ratio(start[query] + rows.through(gained * new), best.with_more(rows.through(new), query))
    every = np.arange(h.n)
    least, most = (ratio(start, best.with_more(count, every)) for count in (beyond, np.zeros(h.n)))
    np.minimum.at(least, query[is_new], low[is_new])
    np.maximum.at(most, query[is_new], high[is_new])
    return least, most


class _Ideals(NamedTuple):
    """The DCG of each query's ideal order, and what it becomes with more documents of one gain."""

    gain: float
    """What each further document gains."""
    head: PerQuery
    """The DCG of the documents that gain at least as much, and how many they are."""
    ahead: Array
    behind: list[PerQuery]
    """The gains of the documents that come after them, one array a place."""
    k: float

    @classmethod
    def of(cls, h: Hits, more: float, k: int | None, gain: object, rel: float) -> _Ideals:
        best = (h.judged if rel <= 0 else h.judged.relevant(rel)).valued(gain).ideal
        before = best.keep(best.grade >= more)
        after = best.keep((best.grade < more) & (best.grade > 0))
        behind = [np.zeros(h.n) for _ in range(int(after.nth.max(initial=0)))]
        for i, gained in enumerate(behind):
            row = after.keep(after.nth == i + 1)
            gained[row.query] = row.grade
        head = before.top(k)
        discounted = head.sum(head.grade / np.log2(head.rank + 1))
        return cls(more, discounted, before.count(), behind, np.inf if k is None else k)

    def with_more(self, count: Array, query: Array) -> Array:
        """The ideal DCG of `query` with `count` more documents."""
        ahead = self.ahead[query]
        added = _discounts(np.minimum(ahead + count, self.k)) - _discounts(np.minimum(ahead, self.k))
        total: Array = self.head[query] + self.gain * added
        for i, gained in enumerate(self.behind):
            rank = ahead + count + i + 1
            total = total + np.where(rank <= self.k, gained[query] / np.log2(rank + 1), 0.0)
        return total


def _discounts(count: Array) -> Array:
    """The sum of 1 / log2(rank + 1) over ranks 1 to each count."""
    last = int(count.max(initial=0))
    total = np.append(0.0, np.cumsum(1 / np.log2(np.arange(2, last + 2))))
    return total[count.astype(np.intp)]
