"""A whole ranking as columns, and its documents query by query."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from rankproof.core.arrays import Array
from rankproof.core.conventions import USUAL, Conventions, comparable_scores, drop_repeats, order_equals
from rankproof.core.hits import Hits
from rankproof.core.judgments import Judgments
from rankproof.document.model import Displayable

if TYPE_CHECKING:
    from rankproof.core.join import Block, Census, Ordered


@dataclass(frozen=True, eq=False)
class RankingTable(Displayable):
    """Every document of a ranking, judged or not, one row each, in the order the source has them.

    >>> table = RankingTable(query=["q1", "q1"], doc=["a", "b"], source="an example")
    >>> table.by_query()
    {'q1': [0, 1]}
    """

    query: Sequence[str]
    """The query id of each row; the rows of one query need not stand together."""
    doc: Sequence[str]
    """The document id of each row."""
    score: Array | None = None
    """The score of each row (float64); None: the source has none, and its own order is the ranking."""
    rank: Array | None = None
    """The rank column of each row (float64), if the source has one."""
    line: Array | None = None
    """The line of the source each row was read from, if it has lines."""
    source: str = "ranking"
    """What the ranking was read from, for messages."""
    empty: tuple[str, ...] = ()
    """The queries that are answered with no document at all."""

    def __len__(self) -> int:
        """How many rows there are."""
        return len(self.doc)

    def by_query(self) -> dict[str, list[int]]:
        """The rows of each query, in the order they stand; a query without documents has none."""
        rows: dict[str, list[int]] = {query: [] for query in self.empty}
        for row, query in enumerate(self.query):
            rows.setdefault(query, []).append(row)
        return rows

    def take(self, rows: Sequence[int]) -> RankingTable:
        """Some of the rows."""
        query, doc = ([column[row] for row in rows] for column in (self.query, self.doc))
        score, rank = (None if each is None else each[rows] for each in (self.score, self.rank))
        return RankingTable(query, doc, score, rank, source=self.source)


class Rankings(Protocol):
    """A source of rankings: it reads them in blocks, however large the whole is."""

    @property
    def source(self) -> str:
        """What the rankings are read from, for messages."""

    def table(self) -> RankingTable:
        """Every row, judged or not."""

    def part(self, rows: int) -> RankingTable:
        """About so many rows from all over it, the first of many queries, at little cost however large it is."""

    def blocks(self, judgments: Judgments, conventions: Conventions, census: Census) -> Iterator[Block | Ordered]:
        """The rankings of judged queries, each query once."""


PLACES = 50
"""So many places of a long table stand for all of it: queries of one kind often stand together."""


def part_of(table: RankingTable, rows: int) -> RankingTable:
    """About so many rows from all over a table; the table itself, if it has no more.

    >>> part_of(RankingTable(["q"] * 200, [f"d{i}" for i in range(200)]), 100).doc[:3]
    ['d0', 'd1', 'd4']
    """
    if len(table) <= rows:
        return table
    length, step = max(1, rows // PLACES), len(table) / PLACES
    taken = [row for place in range(PLACES) for row in range(int(place * step), int(place * step) + length)]
    return replace(table.take(taken), empty=table.empty)


def best_first(table: RankingTable, conventions: Conventions = USUAL) -> dict[str, list[str]]:
    """The documents of every query as they were scored, best first, each once.

    >>> import numpy as np
    >>> best_first(RankingTable(["q", "q"], ["a", "b"], np.array([1.0, 2.0])))
    {'q': ['b', 'a']}
    """
    rows = defaultdict(lambda: array("q"), {query: array("q") for query in table.empty})
    for row, query in enumerate(table.query):
        rows[query].append(row)  # as `by_query`, in a fifth of the memory of lists
    ordered = ((query, rows_in_order(table, own.tolist(), conventions)) for query, own in rows.items())
    return {query: [str(table.doc[row]) for row in own] for query, own in ordered}


def rows_in_order(table: RankingTable, rows: list[int], conventions: Conventions) -> list[int]:
    """The rows of one query best first, by the score or the rank column and the rule for equal scores.

    Of a document that comes twice, the row that the convention keeps; an error was said before.
    """
    if table.score is not None:
        worth = table.score.__getitem__
    else:
        worth = (lambda row: -row) if table.rank is None else (lambda row: -table.rank[row])
    rows = drop_repeats(table.doc, rows, "best" if conventions.duplicates == "best" else "first", worth)
    if table.rank is not None and (conventions.ties == "rank" or table.score is None):
        return sorted(rows, key=table.rank.__getitem__)
    if table.score is None:
        return rows
    rows = [rows[i] for i in order_equals([str(table.doc[row]) for row in rows], conventions.ties)]
    values = (-comparable_scores(table.score[rows], conventions)).tolist()
    return [rows[i] for i in sorted(range(len(rows)), key=values.__getitem__)]


def missed_documents(judgments: Judgments, query: str, hits: Hits) -> list[tuple[str, float]]:
    """The documents with a grade above 0 that the ranking does not hold, the best first."""
    found = ranks_found(judgments, hits)
    left = [(doc, grade) for doc, grade in judgments.of(query).items() if grade > 0 and doc not in found]
    return sorted(left, key=lambda pair: -pair[1])


def ranks_found(judgments: Judgments, hits: Hits) -> dict[str, int]:
    """The judged documents that the ranking of one query holds, with their ranks."""
    pairs = zip(hits.doc.tolist(), hits.rank.tolist(), strict=True)
    return {judgments.doc_ids[doc]: rank for doc, rank in pairs if doc >= 0}
