"""A whole ranking as columns: what the audit, `convert` and the measures between two rankings read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankproof.core.hits import Array
from rankproof.display import Displayable


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
    """The rank column of each row (float64), where the source has one."""
    line: Array | None = None
    """The line of the source each row was read from, where it has lines."""
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
    query, doc = ([column[row] for row in taken] for column in (table.query, table.doc))
    return RankingTable(query, doc, source=table.source, empty=table.empty)
