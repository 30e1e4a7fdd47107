"""Running totals within each query, and what they come to at a given rank."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankproof.core.hits import Array, Hits


def running_total(h: Hits, values: Array, combine: Callable[[Array, Array], Array] = np.add) -> Array:
    """For each row `values` combined over the rows of its query up to and with it.

    Queries are never mixed, so that a large sum in one costs no digits in the next: pairs are combined,
    then pairs of pairs, as often as the longest query needs.
    """
    total = np.array(values, dtype=np.float64)
    step, longest = 1, int(h.nth.max(initial=0))
    while step < longest:
        joined = combine(total[step:], total[:-step])
        total[step:] = np.where(h.nth[step:] > step, joined, total[step:])
        step *= 2
    return total


def earlier_total(h: Hits, totals: Array, start: float) -> Array:
    """For each row the running total of the row before it in its query; `start` for the first."""
    return np.where(h.nth > 1, np.append(start, totals)[:-1], start)


def down_to(h: Hits, totals: Array, query: Array, rank: Array) -> Array:
    """The running total of `query` at `rank`: that of its last row down to there, 0 where there is none."""
    width = int(max(h.rank.max(initial=0), rank.max(initial=0))) + 1
    row = np.searchsorted(h.query * width + h.rank, query * width + rank, side="right") - 1
    inside = row >= h.starts[query]
    return np.where(inside, np.append(totals, 0.0)[np.where(inside, row, -1)], 0.0)


def so_far(group: Array) -> Array:
    """For each row how many earlier rows are of the same group."""
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    begins = np.searchsorted(ordered, ordered)
    count = np.empty(len(group), dtype=np.intp)
    count[order] = np.arange(len(group)) - begins
    return count


def positive_rows(h: Hits) -> Hits:
    """The rows with a grade (or gain) above 0."""
    return h.relevant(np.nextafter(0, 1))
