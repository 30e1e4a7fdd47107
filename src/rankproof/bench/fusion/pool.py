"""Everything that some rankings returned: one row for each document of each query, one column for each ranking."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Annotated, TypeAlias

import numpy as np

from rankproof.core.hits import Array
from rankproof.core.judgments import Judgments
from rankproof.core.measure import ParameterKind
from rankproof.core.table import Rankings, RankingTable
from rankproof.document.model import Displayable
from rankproof.errors import DataError, check_whole, shorten, warn_caller
from rankproof.io.mappings import MappingRankings
from rankproof.io.values import are_integers, judged_kinds

FromZero: TypeAlias = Annotated[
    float,
    ParameterKind("a number of at least 0", lambda v: isinstance(v, Real) and 0 <= float(v) < float("inf"), float),
]
WholeFromZero: TypeAlias = Annotated[
    int, ParameterKind("a whole number of at least 0", lambda v: hasattr(v, "__index__") and int(v) >= 0, int)
]


def row_sums(parts: Array) -> Array:
    """The sum of each row, smallest first, so that no order of the rankings makes a difference.

    >>> row_sums(np.array([[0.5, np.nan], [1.0, 2.0]])).tolist()
    [0.5, 3.0]
    """
    return np.asarray(np.nansum(np.sort(parts, axis=1), axis=1))


def row_counts(parts: Array) -> Array:
    """How many rankings returned each document.

    >>> row_counts(np.array([[0.5, np.nan], [1.0, 2.0]])).tolist()
    [1, 2]
    """
    return np.asarray(np.count_nonzero(~np.isnan(parts), axis=1))


def column_means(parts: Array) -> Array:
    """The mean of each column, the same whatever the order of the rows."""
    return np.asarray(np.sort(parts, axis=0).sum(axis=0) / len(parts))


def share(part: Array, whole: Array, otherwise: Array | float) -> Array:
    """`part / whole`, and `otherwise` where the whole is 0; NaN stays NaN.

    >>> share(np.array([1.0, 1.0, np.nan]), np.array([2.0, 0.0, 0.0]), 1.0).tolist()
    [0.5, 1.0, nan]
    """
    some = whole > 0
    return np.where(some, part / np.where(some, whole, 1.0), otherwise + 0.0 * part)


def query_starts(query: Array) -> Array:
    """Where the rows of each query begin."""
    return np.flatnonzero(np.diff(query, prepend=-1))


def reduce_lists(reduce: np.ufunc, values: Array, query: Array) -> Array:
    """`reduce` over the rows of each query, column by column, repeated at every row.

    >>> reduce_lists(np.fmax, np.array([[1.0], [3.0], [2.0]]), np.array([0, 0, 1])).tolist()
    [[3.0], [3.0], [2.0]]
    """
    begins = query_starts(query)
    return np.repeat(reduce.reduceat(values, begins, axis=0), np.diff(np.append(begins, len(query))), axis=0)


def lengths(parts: Array, query: Array) -> Array:
    """How many documents each ranking returned for the query of each row."""
    return reduce_lists(np.add, (~np.isnan(parts)).astype(np.float64), query)


def candidates(query: Array) -> Array:
    """How many documents there are for the query of each row, over all rankings; one column."""
    return reduce_lists(np.add, np.ones((len(query), 1)), query)


def look_up(table: Array, rank: Array, beyond: float = 0.0) -> Array:
    """For each document the entry of the table (one row a rank) that belongs to its rank.

    >>> look_up(np.array([[0.5], [0.25]]), np.array([[2.0], [1.0], [3.0], [np.nan]])).T.tolist()
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


Kinds = tuple[bool | None, bool | None]
"""Whether the ids of queries, and of documents, are integers; None if there are none."""


@dataclass(frozen=True, eq=False)
class ScorePool(Displayable):
    """The rows stand query after query, the documents of one query by id, the highest first (the rule for ties)."""

    names: tuple[str, ...]
    """The names of the rankings; a column each."""
    queries: tuple[str, ...]
    """The queries with documents, in the order in which they first come."""
    docs: Sequence[str]
    query: Array
    """The query of each row, as an index."""
    rank: Array
    """The rank, from 1, of each row's document in each ranking; NaN where it was not returned."""
    score: Array
    """Its score; NaN where it was not returned, or where the ranking has no scores."""
    unscored: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    """The queries that are answered with no document by all."""
    kinds: Kinds = (None, None)

    def of(self, queries: Collection[str]) -> ScorePool:
        """The pool of these queries alone."""
        kept = [i for i, query in enumerate(self.queries) if query in queries]
        number = np.full(len(self.queries), -1)
        number[kept] = np.arange(len(kept))
        rows = np.flatnonzero(number[self.query] >= 0)
        return replace(
            self.rows(rows),
            queries=tuple(self.queries[i] for i in kept),
            query=number[self.query[rows]],
            empty=tuple(query for query in self.empty if query in queries),
        )

    def rows(self, rows: Array) -> ScorePool:
        """The pool of these rows alone."""
        docs = [self.docs[row] for row in rows.tolist()]
        return replace(self, docs=docs, query=self.query[rows], rank=self.rank[rows], score=self.score[rows])

    def order_documents(self, values: Array) -> dict[str, dict[str, float]]:
        """`{query: {document: value}}`, the highest value first, equal ones by document id, the highest first."""
        found: dict[str, dict[str, float]] = {query: {} for query in (*self.queries, *self.empty)}
        order = np.lexsort((np.arange(len(values)), -values, self.query))
        rows = zip(self.query[order].tolist(), order.tolist(), values[order].tolist(), strict=True)
        for query, row, value in rows:
            found[self.queries[query]][self.docs[row]] = value
        return found


def pool_of(tables: Mapping[str, RankingTable], depth: int | None = None) -> ScorePool:
    """The pool of rankings, each cut to its `depth` best documents.

    >>> pool = pool_of({"one": RankingTable(["q", "q"], ["a", "b"]), "two": RankingTable(["q"], ["b"])})
    >>> pool.docs, pool.rank.tolist()
    (['b', 'a'], [[2.0, 1.0], [1.0, nan]])
    """
    queries, query, docs, places = _laid_out(tables.values())
    rank = np.full((len(docs), len(tables)), np.nan)
    score = rank.copy()
    for column, (table, (source, row)) in enumerate(zip(tables.values(), places, strict=True)):
        _check_once(table, source, row)
        rank[row, column] = _ranks(_keys(table)[source], row, query)
        if table.score is not None:
            score[row, column] = table.score[source]
    known = set(queries)
    whole = ScorePool(
        names=tuple(tables),
        queries=queries,
        docs=docs,
        query=query,
        rank=rank,
        score=score,
        unscored=tuple(name for name, table in tables.items() if table.score is None and len(table)),
        empty=tuple(dict.fromkeys(name for each in tables.values() for name in each.empty if name not in known)),
    )
    if depth is None:
        return whole
    # Without documents that are below the depth in every ranking.
    above = rank <= depth
    cut = replace(whole, rank=np.where(above, rank, np.nan), score=np.where(above, score, np.nan))
    return cut.rows(np.flatnonzero(above.any(axis=1)))


def _laid_out(tables: Iterable[RankingTable]) -> tuple[tuple[str, ...], Array, list[str], list[tuple[Array, Array]]]:
    """The queries, the query and the document of each row, and for each table which of its rows goes where."""
    rows_of = [table.by_query() for table in tables]
    names = [list(table.doc) for table in tables]
    queries = tuple(dict.fromkeys(query for rows in rows_of for query, own in rows.items() if own))
    docs: list[str] = []
    counts: list[int] = []
    places: list[tuple[list[int], list[int]]] = [([], []) for _ in names]
    for query in queries:
        own = [rows.get(query, []) for rows in rows_of]
        union = {each[row] for each, rows in zip(names, own, strict=True) for row in rows}
        at = {doc: place for place, doc in enumerate(sorted(union, reverse=True), start=len(docs))}
        for (source, target), each, rows in zip(places, names, own, strict=True):
            source.extend(rows)
            target.extend(at[each[row]] for row in rows)
        docs.extend(at)
        counts.append(len(at))
    arrays = [(np.array(s, dtype=np.intp), np.array(t, dtype=np.intp)) for s, t in places]
    return queries, np.repeat(np.arange(len(queries)), counts), docs, arrays


def _keys(table: RankingTable) -> Array:
    """The values that order the rows of a table, the highest first: scores, ranks, or their places."""
    if table.score is None:
        return -np.arange(len(table), dtype=np.float64) if table.rank is None else -table.rank
    if np.isnan(table.score).any():
        row = int(np.flatnonzero(np.isnan(table.score))[0])
        line = "" if table.line is None else f", line {table.line[row]}"
        raise DataError(
            f"{table.source}{line}: query {shorten(table.query[row])}, document {shorten(table.doc[row])}: the score "
            "is NaN, which has no place in an order. Next: drop the document or give it a score."
        )
    return table.score


def _ranks(key: Array, row: Array, query: Array) -> Array:
    """The rank of each document within its query; among equals the earlier row of the pool comes first."""
    order = np.lexsort((row, -key, query[row]))
    own = query[row][order]
    rank = np.zeros(len(row))
    rank[order] = np.arange(1, len(row) + 1) - np.searchsorted(own, own)
    return rank


def _check_once(table: RankingTable, source: Array, row: Array) -> None:
    """A document may come once a query."""
    order = np.argsort(row, kind="stable")
    again = np.flatnonzero(np.diff(row[order]) == 0)
    if len(again):
        first, second = source[order[again[0] : again[0] + 2]].tolist()
        lines = "" if table.line is None else f" (lines {table.line[first]} and {table.line[second]})"
        raise DataError(
            f"{table.source}: query {shorten(table.query[first])} has document {shorten(table.doc[first])} "
            f"twice{lines}, expected it once. Next: keep the better of the two."
        )


def open_pool(
    loaded: Mapping[str, Rankings], depth: int | None = None, judgments: Judgments | None = None
) -> ScorePool:
    """The pool of the rankings; their ids, and those of the judgments, must be of one kind."""
    if depth is not None:
        depth = check_whole("depth", depth, advice="give one, like 10")
    kinds = _same_kinds(loaded, judgments)
    pool = pool_of({name: _table(each) for name, each in loaded.items()}, depth)
    _check_shared(pool)
    return replace(pool, kinds=kinds)


def _table(ranking: Rankings) -> RankingTable:
    """The ranking as columns; an order alone where one of its queries has no scores."""
    table = ranking.table()
    if table.score is None or not isinstance(ranking, MappingRankings):
        return table
    lists = (each for each in ranking.mapping.values() if not isinstance(each, Mapping) and len(each))
    bare = any(not isinstance(each[0], (tuple, list)) for each in lists)
    return replace(table, score=None, rank=-table.score) if bare else table


def _check_shared(pool: ScorePool) -> None:
    """An error if no query is in two of the rankings; of a single one a note."""
    if len(pool.names) == 1:
        warn_caller(f"only one ranking, {pool.names[0]!r}, so there is nothing to combine it with")
        return
    if not len(pool.docs) or (lengths(pool.rank, pool.query) > 0).sum(axis=1).max() > 1:
        return
    examples = [
        f"{name!r} has {shorten(pool.queries[int(pool.query[rows[0]])])}"
        for name, column in zip(pool.names, pool.rank.T, strict=True)
        if len(rows := np.flatnonzero(~np.isnan(column)))
    ]
    raise DataError(
        f"rankings: no query is in two of them, so there is nothing to combine: {', '.join(examples[:3])}. "
        "Next: check that they answer the same queries, with ids written the same way."
    )


def _same_kinds(loaded: Mapping[str, Rankings], judgments: Judgments | None) -> Kinds:
    """Whether ids are integers; an error where some are and others are text."""
    known: list[bool | None] = [None, None] if judgments is None else list(judged_kinds(judgments))
    for name, each in loaded.items():
        for i, kind in enumerate(_kinds(each)):
            if kind is not None and known[i] is not None and kind != known[i]:
                ours, others = ("integers", "text") if kind else ("text", "integers")
                raise DataError(
                    f"ranking {name!r}, {('queries', 'documents')[i]}: got ids that are {ours} where the others are "
                    f"{others}. Next: give all as text, written the same way."
                )
            known[i] = kind if known[i] is None else known[i]
    return known[0], known[1]


def _kinds(ranking: Rankings) -> Kinds:
    if not isinstance(ranking, MappingRankings):
        return getattr(ranking, "integer_ids", (False, False))
    lists = [
        each
        for each in ranking.mapping.values()
        if hasattr(each, "__iter__") and getattr(each, "ndim", None) != 0 and len(each)
    ]
    firsts = (next(iter(each)) for each in lists)
    docs = [doc[0] if isinstance(doc, (tuple, list)) and doc else doc for doc in firsts]
    return are_integers(ranking.mapping, f"{ranking.source}, queries"), are_integers(
        docs, f"{ranking.source}, documents"
    )
