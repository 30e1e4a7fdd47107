"""A ranking's table query by query, for looking at every row of a large one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rankproof.core.contrary import contrary
from rankproof.core.hits import Array
from rankproof.core.table import RankingTable
from rankproof.errors import shorten


@dataclass(frozen=True, eq=False)
class WholeRankings:
    """The rows of a table, gathered by query."""

    table: RankingTable
    queries: list[str]
    """The queries in the order they appear."""
    code: Array
    """Which query each row of the table belongs to."""
    order: Array
    """The rows query by query, each query's in the order they stand."""
    start: Array
    """Where each query begins in `order`; one more entry than there are queries."""

    @property
    def sizes(self) -> Array:
        """How many documents each ranking holds."""
        return np.diff(self.start)

    def repeats(self) -> Iterator[tuple[int, int]]:
        """For each document that comes again in its ranking: the row where it came first, and this one."""
        docs = self.table.doc
        for begin, end in zip(self.start[:-1].tolist(), self.start[1:].tolist(), strict=True):
            rows = self.order[begin:end].tolist()
            if len({docs[row] for row in rows}) < len(rows):
                yield from _repeats([(docs[row], row) for row in rows])

    def where(self, first: int, again: int) -> str:
        """A repeated document in words."""
        table = self.table
        lines = "" if table.line is None else f" (lines {table.line[first]} and {table.line[again]})"
        return f"document {shorten(table.doc[again], 40)} of query {shorten(table.query[again], 40)}{lines}"

    def flat(self) -> list[str]:
        """The queries of rankings with several documents and one score."""
        several = np.flatnonzero(self.sizes > 1)
        if self.table.score is None or not len(several):
            return []
        score, filled = self.table.score[self.order], self.start[:-1][self.sizes > 0]
        same = np.ones(len(self.queries), dtype=bool)
        same[self.sizes > 0] = np.maximum.reduceat(score, filled) == np.minimum.reduceat(score, filled)
        return [self.queries[i] for i in several[same[several]].tolist()]

    def contradicting(self) -> list[str]:
        """The queries whose rank column puts a document above one with a higher score."""
        score, rank = self.table.score, self.table.rank
        if score is None or rank is None:
            return []
        return [self.queries[i] for i in contrary(self.code, score, rank).tolist()]


def gathered(table: RankingTable) -> WholeRankings:
    """The table with its rows gathered by query."""
    index = {query: i for i, query in enumerate(dict.fromkeys((*table.empty, *table.query)))}
    code = np.fromiter(map(index.__getitem__, table.query), dtype=np.intp, count=len(table))
    sizes = np.bincount(code, minlength=len(index))
    return WholeRankings(
        table=table,
        queries=list(index),
        code=code,
        order=np.argsort(code, kind="stable"),
        start=np.append(0, np.cumsum(sizes)),
    )


def _repeats(docs: list[tuple[str, int]]) -> Iterator[tuple[int, int]]:
    seen: dict[str, int] = {}
    for doc, row in docs:
        first = seen.setdefault(doc, row)
        if first != row:
            yield first, row
