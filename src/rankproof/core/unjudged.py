"""What a document nobody judged counts as: nothing, not there, or relevant."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankproof.core.arrays import runs
from rankproof.core.conventions import Conventions
from rankproof.core.hits import Array, Hits


def unjudged_as(hits: Hits, conventions: Conventions) -> Hits:
    """The hits with documents nobody judged left as they are, taken out, or counted as relevant."""
    if conventions.unjudged == "skip":
        return condensed(hits)
    if conventions.unjudged == "relevant":
        return filled(hits, conventions.unjudged_grade)
    return hits


def condensed(hits: Hits) -> Hits:
    """The rankings without the documents nobody judged; the others keep their ties."""
    first, last = None, None
    if hits.first is not None:
        start, end = runs(hits.query, hits.first)
        first, last = hits.nth[start], hits.nth[end - 1]
    retrieved = hits.count().astype(np.intp)
    return replace(hits, rank=hits.nth, first=first, last=last, retrieved=retrieved)


def filled(hits: Hits, grade: float) -> Hits:
    """The hits with a row of `grade` at every rank that holds a document nobody judged."""
    query, rank = _empty_places(hits)
    new = np.full(len(rank), -1, dtype=np.intp)
    query_all, rank_all = np.append(hits.query, query), np.append(hits.rank, rank)
    order = np.lexsort((rank_all, query_all))
    first, last = _tied_places(hits, query_all[order], rank_all[order])
    return replace(
        hits,
        query=query_all[order],
        rank=rank_all[order],
        grade=np.append(hits.grade, np.full(len(rank), float(grade)))[order],
        doc=np.append(hits.doc, new)[order],
        first=first,
        last=last,
        doubtful=None if hits.doubtful is None else np.append(hits.doubtful, new >= 0)[order],
        pool=_enlarged(hits.pool, query, grade),
    )


def _empty_places(hits: Hits) -> tuple[Array, Array]:
    """The (query, rank) of every document nobody judged."""
    begins = np.append(0, np.cumsum(hits.retrieved))
    empty = np.ones(begins[-1], dtype=bool)
    empty[begins[hits.query] + hits.rank - 1] = False
    query = np.repeat(np.arange(hits.n), hits.retrieved)[empty]
    return query, (np.arange(begins[-1]) - np.repeat(begins[:-1], hits.retrieved) + 1)[empty]


def _tied_places(hits: Hits, query: Array, rank: Array) -> tuple[Array | None, Array | None]:
    """The first and last rank of each (query, rank), where a judged document shares its score with others.

    Ties of documents nobody judged among themselves need none: they all get the same grade.
    """
    if hits.first is None or hits.last is None or len(hits.first) == 0:
        return None, None
    width = int(hits.retrieved.max(initial=0)) + 1
    tied = np.unique(np.stack([hits.query * width + hits.first, hits.query * width + hits.last]), axis=1)
    place = query * width + rank
    at = np.maximum(np.searchsorted(tied[0], place, side="right") - 1, 0)
    inside = (tied[0][at] <= place) & (place <= tied[1][at])
    return np.where(inside, tied[0][at] % width, rank), np.where(inside, tied[1][at] % width, rank)


def _enlarged(pool: Hits | None, query: Array, grade: float) -> Hits | None:
    if pool is None:
        return None
    query_all = np.append(pool.query, query)
    order = np.argsort(query_all, kind="stable")
    larger = replace(
        pool,
        query=query_all[order],
        rank=np.zeros(len(order), dtype=np.intp),
        grade=np.append(pool.grade, np.full(len(query), float(grade)))[order],
        doc=np.append(pool.doc, np.full(len(query), -1, dtype=np.intp))[order],
    )
    return replace(larger, rank=larger.nth, retrieved=larger.count().astype(np.intp))
