"""Orders of equal scores: the mean, the best and the worst value of a measure over them.

A mean is exact if the measure is a sum over documents, if a closed form is known, or if the orders can be
enumerated; otherwise it is estimated from seeded orders, and the note says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple
from zlib import crc32

import numpy as np

from rankproof.core.arrays import distinct, run_rows
from rankproof.core.hits import Array, Hits, PerQuery, ratio
from rankproof.core.measure import Measure, known_extremes, seen_by
from rankproof.document.numbers import count

COUNTED_OUT = 2_000
"""A query with up to this many different orders is counted out; beyond it they are drawn."""

DRAWN = 1_000
"""Orders drawn: the mean of a value of 0 to 1 then has a standard error below .016 in one query."""

ROWS_AT_ONCE = 1_000_000
"""Rows worked on at a time, so that a ranking with one score for everything fits into memory."""


def by_id(name: str) -> tuple[int, str]:
    """The key by which equals are listed, whatever order they came in: ids as a reader counts them.

    >>> sorted(["q10", "q9", "q1"], key=by_id)
    ['q1', 'q9', 'q10']
    """
    return len(name), name


class Orders(NamedTuple):
    """Several orders of some queries, side by side."""

    queries: Array
    """Which queries these are."""
    begins: Array
    """Where the orders of each begin."""
    exact: Array
    """Whether they are all there are (True) or drawn (False)."""
    hits: Hits
    """The hits, each order a query."""

    def mean(self, values: Array) -> Array:
        """The mean of `values` (one an order) for each query."""
        total: Array = np.add.reduceat(values, self.begins)
        return total / np.diff(np.append(self.begins, self.hits.n))


class Tie(NamedTuple):
    """One run of equal scores, as far as it was judged."""

    rows: Array
    """Its rows, numbered within the query; those of one kind together."""
    first: int
    size: int
    """How many documents share the score, judged or not."""
    kinds: tuple[int, ...]
    """How many rows there are of each kind; rows of one kind change places without effect."""

    @property
    def orders(self) -> int:
        """In how many ways the tie can be ordered that differ in kind."""
        ways, left = 1, self.size
        for size in self.kinds:
            ways, left = ways * math.comb(left, size), left - size
        return ways


def tied_orders(measure: Measure, hits: Hits, names: Sequence[str]) -> Iterator[Orders]:
    """The orders of every query with ties, in parts, down to the cut-off of the measure.

    Equal grades are one kind, but for measures of aspects. `names` are those of the queries.
    """
    if hits.first is None or hits.last is None:
        return
    k = None if measure.spec.divides_by == "returned" else measure.cutoff
    kind = hits.doc if measure.spec.aspects else hits.grade
    weight = np.diff(hits.starts) + (0 if hits.pool is None else np.diff(hits.pool.starts))
    queries: list[int] = []
    ranks: list[tuple[Array, bool]] = []
    size = 0
    for query in distinct(hits.query[hits.first != hits.last]).tolist():
        queries.append(query)
        ranks.append(_ranks(hits, kind, query, names[query]))
        size += len(ranks[-1][0]) * int(weight[query])
        if size >= ROWS_AT_ONCE:
            yield _together(hits, queries, ranks, k)
            queries, ranks, size = [], [], 0
    if queries:
        yield _together(hits, queries, ranks, k)


def _together(hits: Hits, queries: list[int], ranks: list[tuple[Array, bool]], k: int | None) -> Orders:
    counts = np.array([len(each) for each, _ in ranks])
    chosen = np.array(queries)
    copies = hits.select(np.repeat(chosen, counts))
    rank = np.concatenate([each.ravel() for each, _ in ranks])
    placed = replace(copies, rank=rank, first=None, last=None).top(k)
    return Orders(
        queries=chosen,
        begins=np.cumsum(counts) - counts,
        exact=np.array([exact for _, exact in ranks]),
        hits=placed.keep(np.lexsort((placed.rank, placed.query))),
    )


def _ranks(hits: Hits, kind: Array, query: int, name: str) -> tuple[Array, bool]:
    """The ranks of the query's rows in each order (one order a line), and whether these are all orders."""
    ties = list(_ties(hits, kind, query))
    ways = [tie.orders for tie in ties]
    exact = math.prod(ways) <= COUNTED_OUT
    if exact:
        which = np.unravel_index(np.arange(math.prod(ways)), ways)
        places = [arrangements(tie.size, tie.kinds)[at] for tie, at in zip(ties, which, strict=True)]
    else:
        # The draws depend on the name alone: whatever else is scored, and in whatever order, they are the same.
        rng = np.random.default_rng(crc32(name.encode("utf-8", "surrogatepass")))
        places = [draw_places(tie.size, len(tie.rows), DRAWN, rng) for tie in ties]
    ranks = np.tile(hits.rank[hits.starts[query] : hits.starts[query + 1]], (len(places[0]), 1))
    for tie, place in zip(ties, places, strict=True):
        ranks[:, tie.rows] = tie.first + place
    return ranks, exact


def _ties(hits: Hits, kind: Array, query: int) -> Iterator[Tie]:
    begin, end = int(hits.starts[query]), int(hits.starts[query + 1])
    first, last = hits.first[begin:end], hits.last[begin:end]  # type: ignore[index]
    for start in distinct(first[first != last]).tolist():
        rows = np.flatnonzero(first == start)
        rows = rows[np.argsort(kind[begin + rows], kind="stable")]
        kinds = np.unique(kind[begin + rows], return_counts=True)[1]
        yield Tie(rows, start, int(last[rows[0]]) - start + 1, tuple(kinds.tolist()))


@lru_cache(maxsize=256)
def arrangements(size: int, kinds: tuple[int, ...]) -> Array:
    """Every way to place rows of several kinds on `size` places, one way a line.

    >>> arrangements(3, (1, 1)).tolist()
    [[0, 1], [0, 2], [1, 0], [1, 2], [2, 0], [2, 1]]
    """
    if not kinds:
        return np.zeros((1, 0), dtype=np.intp)
    chosen = np.array(list(combinations(range(size), kinds[0])), dtype=np.intp)
    free = np.ones((len(chosen), size), dtype=bool)
    np.put_along_axis(free, chosen, False, axis=1)
    left = np.nonzero(free)[1].reshape(len(chosen), size - kinds[0])
    rest = arrangements(size - kinds[0], kinds[1:])
    later = left[:, rest].reshape(len(chosen) * len(rest), -1)
    return np.hstack([np.repeat(chosen, len(rest), axis=0), later])


def draw_places(size: int, count: int, times: int, rng: np.random.Generator) -> Array:
    """`times` random draws of `count` different places out of `size`, one draw a line."""
    if count * 8 > size:
        return rng.permuted(np.tile(np.arange(size), (times, 1)), axis=1)[:, :count]
    places = np.zeros((times, count), dtype=np.intp)
    for i in range(count):
        # the place among those still free: step over each taken one, the lowest first
        place = rng.integers(0, size - i, times)
        for taken in np.sort(places[:, :i], axis=1).T:
            place += place >= taken
        places[:, i] = place
    return places


def expected_rr(h: Hits, k: int | None = None, rel: float = 1, scores: str = "any", threshold: str = "rel") -> PerQuery:
    """The mean of 1 / rank of the first relevant document: it stands in the first tie that holds one.

    With r relevant in a tie of s, the first of them is at place i of the tie with probability
    C(s - i, r - 1) / C(s, r).
    """
    good = h.with_scores(scores).relevant(rel, threshold)
    # For each query the first rank, the size and the number of relevant rows of the tie that leads.
    lead, (starts, ends) = good.nth == 1, _span(good)
    first, size = np.zeros(h.n, dtype=np.intp), np.zeros(h.n, dtype=np.intp)
    first[good.query[lead]] = starts[lead]
    size[good.query[lead]] = (ends - starts + 1)[lead]
    count = np.bincount(good.query[starts == first[good.query]], minlength=h.n)
    chance, total = ratio(count, size), np.zeros(h.n)
    for i in range(int(size.max(initial=0))):
        rank = first + i
        total += np.where(rank <= (np.inf if k is None else k), ratio(chance, rank), 0.0)
        chance = chance * np.maximum(ratio(size - count - i, size - 1 - i), 0.0)
    return total


def expected_ap(
    h: Hits, k: int | None = None, rel: float = 1, denominator: str = "all", scores: str = "any", threshold: str = "rel"
) -> PerQuery:
    """The mean of average precision: a relevant document at place i of a tie of s with r relevant has
    (i - 1)(r - 1)/(s - 1) of the others before it, in the mean.

    Not for `denominator='found'` with a cut, if the divisor depends on the order.
    """
    good = h.with_scores(scores).relevant(rel, threshold)
    first, last = _span(good)
    leads = (good.nth == 1) | (np.diff(first, prepend=0) != 0)
    at = np.flatnonzero(leads)
    count = np.diff(np.append(at, len(first)))
    size = (last - first + 1)[at]
    tie = np.repeat(np.arange(len(at)), size)
    place = np.arange(len(tie)) - np.repeat(np.cumsum(size) - size, size)
    rank = first[at][tie] + place
    above = (good.nth[at] - 1)[tie] + ratio(place * (count - 1)[tie], (size - 1)[tie])
    value = (count / size)[tie] * (above + 1) / rank * (rank <= (np.inf if k is None else k))
    total = np.bincount(good.query[at][tie], weights=value, minlength=h.n)
    wanted = h.judged.relevant(rel, threshold).count()
    return ratio(total, ap_divisor(denominator, k, good.count(), wanted))


def ap_divisor(denominator: str, k: int | None, found: Array, wanted: Array) -> Array:
    """What average precision divides by, from how many relevant documents were found and how many there are."""
    if denominator == "found":
        return found
    if denominator == "all" or k is None:
        return wanted
    return np.minimum(wanted, k) if denominator == "min" else np.full(len(wanted), float(k))


def expected_bpref(h: Hits, rel: float = 1) -> PerQuery:
    """The mean of bpref: of the n judged non-relevant documents in its tie, a relevant one has 0 to n above
    it, each number as likely as the others."""
    good, bad, pool = h.relevant(rel), h.keep(not_relevant(h, rel)), h.judged
    wanted, unwanted = h.ideal.relevant(rel).count(), pool.keep(not_relevant(pool, rel)).count()
    # For each good row the number of bad rows in earlier ties of its query, and in its own.
    first, other = _span(good)[0], _span(bad)[0]
    width = int(max(first.max(initial=0), other.max(initial=0))) + 1
    keys = bad.query * width + other
    low = np.searchsorted(keys, good.query * width + first, side="left")
    high = np.searchsorted(keys, good.query * width + first, side="right")
    before, beside = low - bad.starts[good.query], high - low
    cap = wanted[good.query]
    free = np.clip(cap - before, 0, beside + 1)
    above = (free * before + free * (free - 1) / 2 + (beside + 1 - free) * cap) / (beside + 1)
    return ratio(good.sum(1 - ratio(above, np.minimum(unwanted[good.query], cap))), wanted)


def not_relevant(h: Hits, rel: float) -> Array:
    """Which rows were judged and found wanting; a negative grade is no such judgment."""
    return (h.grade >= 0) & (h.grade < rel)


def _span(h: Hits) -> tuple[Array, Array]:
    """The first and last rank each row could have."""
    return (h.rank, h.rank) if h.first is None or h.last is None else (h.first, h.last)


# --- the mean over all orders -----------------------------------------------------------------------


def expected_values(measure: Measure, hits: Hits, names: Sequence[str]) -> tuple[PerQuery, str]:
    """The means over all orders, and what must be said beside them."""
    if measure.spec.additive:
        parts = _parts(hits)
        some = [hits] if len(parts) == 1 else map(hits.select, parts)
        return np.concatenate([measure(seen_by(measure, spread_ties(each))) for each in some]), ""
    if measure.spec.expected is not None and measure.steady:
        return measure.spec.expected(seen_by(measure, hits), **measure.params), ""
    return _averaged(measure, hits, names)


def spread_ties(hits: Hits) -> Hits:
    """Each tied row at every rank it could have, weighted: sums become means over all tie orders."""
    return hits.once("spread", lambda: _spread(hits))


def _spread(hits: Hits) -> Hits:
    if hits.first is None or hits.last is None:
        return hits
    # One row for each grade within a tie, as such rows change places without effect; with aspects every row.
    kind = hits.grade if hits.facets is None and hits.aspect is None else np.arange(len(hits.grade))
    order = np.lexsort((kind, hits.first, hits.query))
    new = np.any([np.diff(column[order]) != 0 for column in (hits.query, hits.first, kind)], axis=0)
    starts = np.append(0, np.flatnonzero(new) + 1)[: len(order)]
    alike, alike_count = order[starts], np.diff(np.append(starts, len(order)))
    first, places = hits.first[alike], hits.last[alike] - hits.first[alike] + 1
    rows, weight = hits.keep(np.repeat(alike, places)), np.repeat(alike_count / places, places)
    return replace(rows, rank=run_rows(first, places), weight=weight, first=None, last=None).in_order()


def _parts(hits: Hits) -> list[Array]:
    """The queries in runs whose rows, spread, come to ROWS_AT_ONCE or little more."""
    if hits.first is None or hits.last is None:
        return [np.arange(hits.n)]
    rows = np.bincount(hits.query, weights=hits.last - hits.first + 1, minlength=hits.n)
    part = (np.cumsum(rows) - rows) // ROWS_AT_ONCE
    return np.split(np.arange(hits.n), np.flatnonzero(np.diff(part)) + 1)


def _averaged(measure: Measure, hits: Hits, names: Sequence[str]) -> tuple[PerQuery, str]:
    means = measure(seen_by(measure, hits)).copy()
    errors = np.zeros(hits.n)
    estimated = 0
    for orders in tied_orders(measure, hits, names):
        values = measure(seen_by(measure, orders.hits))
        mean, square = orders.mean(values), orders.mean(values**2)
        means[orders.queries] = mean
        variance = np.maximum(square - mean**2, 0.0)
        errors[orders.queries] = np.where(orders.exact, 0.0, variance / (DRAWN - 1))
        estimated += int((~orders.exact).sum())
    if not estimated:
        return means, ""
    error = float(np.sqrt(errors.sum())) / hits.n
    return means, (
        f"{count(estimated, 'query')} with too many orders of equal scores to go through: estimated from "
        f"{DRAWN:,} seeded orders each; standard error of the mean {error:.1g}"
    )


# --- the best and the worst order --------------------------------------------------------------------


def extreme_values(measure: Measure, hits: Hits, rule: str, names: Sequence[str]) -> tuple[PerQuery, str]:
    """The best or the worst values over all orders, and what must be said beside them."""
    low, high, searched = extremes(measure, hits, names)
    values = high if (rule == "best") == measure.spec.higher else low
    if not searched:
        return values, ""
    return values, (
        f"no order of equal scores is known to be {rule}: for {count(searched, 'query')} it is the {rule} of "
        f"{DRAWN:,} seeded orders, and a {'better' if rule == 'best' else 'worse'} one may exist"
    )


def extremes(measure: Measure, hits: Hits, names: Sequence[str]) -> tuple[PerQuery, PerQuery, int]:
    """The lowest and highest values over orders of equal scores, and how many queries were only searched."""
    known = known_extremes(measure, hits)
    if known is not None:
        return *known, 0
    low = measure(seen_by(measure, hits)).copy()
    high = low.copy()
    searched = 0
    for orders in tied_orders(measure, hits, names):
        values = measure(seen_by(measure, orders.hits))
        low[orders.queries] = np.minimum.reduceat(values, orders.begins)
        high[orders.queries] = np.maximum.reduceat(values, orders.begins)
        searched += int((~orders.exact).sum())
    return low, high, searched
