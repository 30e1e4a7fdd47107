"""A whole ranking as columns, and the list of one query as it was scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankproof.core.explained import Line
from rankproof.core.hits import Array, Hits
from rankproof.core.judgments import Judgments
from rankproof.core.measure import Measure
from rankproof.core.paper import derive
from rankproof.core.rules import Conventions
from rankproof.document.display import Displayable


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


def listing(
    table: RankingTable,
    query: str,
    judgments: Judgments,
    hits: Hits,
    conventions: Conventions,
    adds: Mapping[int, float],
) -> Iterator[Line]:
    """The documents of the query, best first; `hits` is the query alone, `adds` what each rank adds."""
    rows = _in_order(table, _once_each(table, _rows_of(table, query), conventions), conventions)
    ranks, grades = _ranks(judgments, hits), judgments.of(query)
    if conventions.unjudged == "skip":
        placed = [(ranks.get(str(table.doc[row])), row) for row in rows]
    else:
        placed = list(enumerate(_at_their_ranks(table, rows, ranks), start=1))
    scores = {row: _score(table, row, conventions) for row in rows}
    times = Counter(scores.values())
    for rank, row in placed:
        doc, score = str(table.doc[row]), scores[row]
        tied = score is not None and times[score] > 1
        yield Line(rank, doc, score, tied, grades.get(doc), None if rank is None else adds.get(rank))


def best_first(table: RankingTable, conventions: Conventions) -> dict[str, list[str]]:
    """The documents of every query as they were scored, best first, each once.

    >>> best_first(RankingTable(["q", "q"], ["a", "b"], np.array([1.0, 2.0])), Conventions())
    {'q': ['b', 'a']}
    """
    rows = {query: _once_each(table, own, conventions) for query, own in table.by_query().items()}
    return {
        query: [str(table.doc[row]) for row in _in_order(table, own, conventions)]
        for query, own in rows.items()
    }


def missed(judgments: Judgments, query: str, hits: Hits) -> list[tuple[str, float]]:
    """The documents with a grade above 0 that the ranking does not hold, the best first."""
    found = _ranks(judgments, hits)
    left = [(doc, grade) for doc, grade in judgments.of(query).items() if grade > 0 and doc not in found]
    return sorted(left, key=lambda pair: -pair[1])


def ideal(measure: Measure, judgments: Judgments, hits: Hits) -> Iterator[Line]:
    """The documents with a grade above 0, the best first, and what each would add there."""
    best = replace(hits.ideal, corpus=hits.corpus)
    adds = derive(measure, best).parts
    for rank, doc, grade in zip(best.rank.tolist(), best.doc.tolist(), best.grade.tolist(), strict=True):
        if grade > 0:
            yield Line(rank, judgments.docs[doc], grade=grade, adds=adds.get(rank))


def _ranks(judgments: Judgments, hits: Hits) -> dict[str, int]:
    pairs = zip(hits.doc.tolist(), hits.rank.tolist(), strict=True)
    return {judgments.docs[doc]: rank for doc, rank in pairs if doc >= 0}


def _rows_of(table: RankingTable, query: str) -> list[int]:
    return [row for row, each in enumerate(table.query) if each == query]


def _once_each(table: RankingTable, rows: list[int], conventions: Conventions) -> list[int]:
    """Of a document that comes twice, the row that the convention keeps."""
    kept: dict[str, int] = {}
    for row in rows:
        doc = str(table.doc[row])
        better = doc not in kept or (
            conventions.duplicates == "best" and _key(table, row) > _key(table, kept[doc])
        )
        if better:
            kept[doc] = row
    return sorted(kept.values())


def _key(table: RankingTable, row: int) -> float:
    if table.score is not None:
        return float(table.score[row])
    return -float(row if table.rank is None else table.rank[row])


def _score(table: RankingTable, row: int, conventions: Conventions) -> float | None:
    """The score as it is compared; None where there is none."""
    if table.score is None:
        return None
    return float(np.float32(table.score[row]) if conventions.precision == "float32" else table.score[row])


def _in_order(table: RankingTable, rows: list[int], conventions: Conventions) -> list[int]:
    """The rows best first, by the score or the rank column and the rule for equal scores."""
    if table.rank is not None and (conventions.ties == "rank" or table.score is None):
        return sorted(rows, key=lambda row: _number(table.rank, row))
    if table.score is None:
        return rows
    if conventions.ties != "input":
        rows = sorted(rows, key=lambda row: str(table.doc[row]), reverse=conventions.ties != "id")
    return sorted(rows, key=lambda row: -(_score(table, row, conventions) or 0.0))


def _number(column: object, row: int) -> float:
    return float(column[row])  # type: ignore[index]


def _at_their_ranks(table: RankingTable, rows: list[int], ranks: Mapping[str, int]) -> list[int]:
    """Judged documents where they were scored, the others in the places left, in their order."""
    at = {ranks[str(table.doc[row])]: row for row in rows if str(table.doc[row]) in ranks}
    others = iter([row for row in rows if str(table.doc[row]) not in ranks])
    return [at[rank] if rank in at else next(others) for rank in range(1, len(rows) + 1)]
