"""What training queries say of each ranking: how likely a document is relevant where it puts it."""

from __future__ import annotations

import numpy as np

from rankproof.bench.fusion.arrays import averaged, lengths, share
from rankproof.core.hits import Array


def looked_up(table: Array, rank: Array, beyond: float = 0.0) -> Array:
    """For each document the entry of the table (one row a rank) that belongs to its rank.

    >>> looked_up(np.array([[0.5], [0.25]]), np.array([[2.0], [1.0], [3.0], [np.nan]])).T.tolist()
    [[0.25, 0.5, 0.0, nan]]
    """
    place = np.where(np.isnan(rank), 0, rank - 1).astype(np.intp)
    inside = place < len(table)
    found = table[np.minimum(place, len(table) - 1), np.arange(rank.shape[1])]
    return np.where(np.isnan(rank), np.nan, np.where(inside, found, beyond))


def times_at(rank: Array, deepest: int) -> Array:
    """How many documents each ranking has at each rank down to the deepest, over all queries."""
    columns = [column[column <= deepest].astype(np.intp) for column in rank.T]
    return np.array([np.bincount(each, minlength=deepest + 1)[1:] for each in columns]).T


def depth_of(rank: Array) -> int:
    """The length of the longest list."""
    return int(np.nanmax(rank, initial=1))


def chance_by_rank(rank: Array, relevant: Array) -> Array:
    """The share of relevant documents among those at each rank; one row a rank."""
    deepest = depth_of(rank)
    return share(times_at(rank[relevant], deepest), times_at(rank, deepest), 0.0)


def precision_between(bounds: list[int], rank: Array, query: Array, relevant: Array) -> Array:
    """The mean over queries of the precision between each bound and the next; one row a rank."""
    sizes = np.diff(bounds)
    hits = np.add.reduceat(times_at(rank[relevant], bounds[-1]), bounds[:-1], axis=0)
    precision = hits / (sizes[:, None] * len(np.unique(query)))
    return np.repeat(precision, sizes, axis=0)


def segment_of(rank: Array, query: Array, segments: int) -> tuple[Array, Array]:
    """The segment (from 1) in which each document stands, of equally many in every list, and its size."""
    length = lengths(rank, query)
    size = np.maximum(np.ceil(length / segments), 1)
    segment = np.floor((rank - 1) / size) + 1
    return segment, np.minimum(size, length - (segment - 1) * size)


def chance_by_segment(segments: int, rank: Array, query: Array, relevant: Array) -> Array:
    """The mean over queries of the precision in each segment of a list; one row a segment."""
    segment, size = segment_of(rank, query, segments)
    queries, number = np.unique(query, return_inverse=True)
    columns = []
    for own, each in zip(segment.T, size.T, strict=True):
        found = relevant & ~np.isnan(own)
        cell = number[found] * segments + own[found].astype(np.intp) - 1
        # all documents of a cell have the same size, so the division comes last and once
        hits = np.bincount(cell, minlength=len(queries) * segments)
        sizes = np.ones(len(hits))
        sizes[cell] = each[found]
        columns.append(averaged((hits / sizes).reshape(-1, segments)))
    return np.array(columns).T


def mean_average_precision(rank: Array, query: Array, relevant: Array, judged: Array) -> Array:
    """The mean average precision of each ranking; `judged` is the number of relevant documents of each query."""
    each = [_average_precision(own, query, relevant, judged) for own in rank.T]
    return averaged(np.array(each).T)


def _average_precision(rank: Array, query: Array, relevant: Array, judged: Array) -> Array:
    """The average precision of one ranking for each query."""
    hit = np.flatnonzero(relevant & ~np.isnan(rank))
    hit = hit[np.lexsort((rank[hit], query[hit]))]
    own = query[hit]
    nth = np.arange(1, len(hit) + 1) - np.searchsorted(own, own)
    total = np.bincount(own, weights=nth / rank[hit], minlength=len(judged))
    return share(total, judged, 0.0)
