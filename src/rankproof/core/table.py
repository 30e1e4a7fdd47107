"""A whole ranking as columns, and the list of one query as it was scored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankproof.core.arrays import Array
from rankproof.core.hits import Hits
from rankproof.core.judgments import Judgments
from rankproof.core.rules import Conventions, comparable_scores, drop_repeats, order_equals
from rankproof.document.display import Displayable
from rankproof.errors import DataError, shorten

if TYPE_CHECKING:
    from rankproof.core.join import Block


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


@dataclass(frozen=True, slots=True)
class ExplainedLine(Displayable):
    """One document of the ranking."""

    rank: int | None
    """None: it was taken out of the ranking."""
    document: str
    score: float | None = None
    tied: bool = False
    """Whether others have the same score."""
    grade: float | None = None
    """None: nobody judged it."""
    adds: float | None = None
    """What it adds to the number."""


def listing(
    table: RankingTable,
    query: str,
    judgments: Judgments,
    hits: Hits,
    conventions: Conventions,
    adds: Mapping[int, float],
) -> Iterator[ExplainedLine]:
    """The documents of the query, best first; `hits` is the query alone, `adds` what each rank adds."""
    own = [row for row, each in enumerate(table.query) if each == query]
    rows = _in_order(table, _once_each(table, own, conventions), conventions)
    ranks, grades = _ranks(judgments, hits), judgments.of(query)
    if conventions.unjudged == "skip":
        placed = [(ranks.get(str(table.doc[row])), row) for row in rows]
    else:
        placed = list(enumerate(_at_their_ranks(table, rows, ranks), start=1))
    compared = None if table.score is None else comparable_scores(table.score, conventions)
    scores = {row: None if compared is None else float(compared[row]) for row in rows}
    times = Counter(scores.values())
    for rank, row in placed:
        doc, score = str(table.doc[row]), scores[row]
        tied = score is not None and times[score] > 1
        yield ExplainedLine(rank, doc, score, tied, grades.get(doc), None if rank is None else adds.get(rank))


def best_first(table: RankingTable, conventions: Conventions) -> dict[str, list[str]]:
    """The documents of every query as they were scored, best first, each once.

    >>> best_first(RankingTable(["q", "q"], ["a", "b"], np.array([1.0, 2.0])), Conventions())
    {'q': ['b', 'a']}
    """
    rows = {query: _once_each(table, own, conventions) for query, own in table.by_query().items()}
    return {query: [str(table.doc[row]) for row in _in_order(table, own, conventions)] for query, own in rows.items()}


def missed_documents(judgments: Judgments, query: str, hits: Hits) -> list[tuple[str, float]]:
    """The documents with a grade above 0 that the ranking does not hold, the best first."""
    found = _ranks(judgments, hits)
    left = [(doc, grade) for doc, grade in judgments.of(query).items() if grade > 0 and doc not in found]
    return sorted(left, key=lambda pair: -pair[1])


def _ranks(judgments: Judgments, hits: Hits) -> dict[str, int]:
    pairs = zip(hits.doc.tolist(), hits.rank.tolist(), strict=True)
    return {judgments.doc_ids[doc]: rank for doc, rank in pairs if doc >= 0}


def _once_each(table: RankingTable, rows: list[int], conventions: Conventions) -> list[int]:
    """Of a document that comes twice, the row that the convention keeps; an error was said before."""
    rule = "best" if conventions.duplicates == "best" else "first"
    return drop_repeats(table.doc, rows, rule, lambda row: _key(table, row))


def _key(table: RankingTable, row: int) -> float:
    if table.score is not None:
        return float(table.score[row])
    return -float(row if table.rank is None else table.rank[row])


def _in_order(table: RankingTable, rows: list[int], conventions: Conventions) -> list[int]:
    """The rows best first, by the score or the rank column and the rule for equal scores."""
    if table.rank is not None and (conventions.ties == "rank" or table.score is None):
        return sorted(rows, key=table.rank.__getitem__)
    if table.score is None:
        return rows
    rows = [rows[i] for i in order_equals([str(table.doc[row]) for row in rows], conventions.ties)]
    values = (-comparable_scores(table.score[rows], conventions)).tolist()
    return [rows[i] for i in sorted(range(len(rows)), key=values.__getitem__)]


def _at_their_ranks(table: RankingTable, rows: list[int], ranks: Mapping[str, int]) -> list[int]:
    """Judged documents where they were scored, the others in the places left, in their order."""
    at = {ranks[str(table.doc[row])]: row for row in rows if str(table.doc[row]) in ranks}
    others = iter([row for row in rows if str(table.doc[row]) not in ranks])
    return [at[rank] if rank in at else next(others) for rank in range(1, len(rows) + 1)]


AT_ONCE = 1 << 20
"""So many documents are compared at once with those found."""
SMALL = 64
"""Rankings up to this long are compared document by document; longer ones with many hits are searched."""


def ranks_in(block: Block, judgments: Judgments, conventions: Conventions) -> tuple[Array, Array | None, Array | None]:
    """The rank of each judged document found, and the first and last it could have among equals.

    Without these two where no document found has an equal.
    """
    score, found = comparable_scores(block.score, conventions), comparable_scores(block.found, conventions)
    if np.count_nonzero(np.isnan(score)):
        raise _not_a_number(block, judgments)
    above, equal = _count_above(block, score, found)
    first = above + 1
    if equal is None:
        return first, None, None
    tied = (equal > 1).nonzero()[0]
    if not len(tied):
        return first, None, None
    if conventions.ties == "rank":
        query = judgments.query_ids[block.query[block.ranking[tied[0]]]]
        raise DataError(
            f"query {shorten(query)}: two documents stand at the same rank, so ties='rank' has no order to take. "
            "Next: correct the rank column, or choose ties='trec'."
        )
    rank = first.copy()
    rank[tied] += _places_in_tie(block, score, found, tied, judgments, conventions.ties)
    return rank, first, above + equal


def _count_above(block: Block, score: Array, found: Array) -> tuple[Array, Array | None]:
    """How many documents of its ranking score higher than each one found, and how many the same.

    The latter is None if no two scores are equal.
    """
    if not len(found):
        return np.zeros(0, dtype=np.intp), None
    length = (block.start[1:] - block.start[:-1]).take(block.ranking)
    ends = length.cumsum()
    if ends[-1] <= SMALL * len(found) + 4 * len(score):
        return _count_by_comparing(block, score, found, length, ends)
    return _count_by_searching(block, score, found)


def _count_by_comparing(
    block: Block, score: Array, found: Array, length: Array, ends: Array
) -> tuple[Array, Array | None]:
    falling = _falling(block, score)
    if ends[-1] > AT_ONCE and len(found) == 1:  # one ranking, so large that no copy is made
        own = score[block.start[block.ranking[0]] : block.start[block.ranking[0] + 1]]
        beaten = np.array([np.count_nonzero(own > found[0])])
        return beaten, None if falling else np.array([np.count_nonzero(own == found[0])])
    begins = ends - length
    row = np.arange(ends[-1]) + (block.start.take(block.ranking) - begins).repeat(length)
    other, own = score.take(row), found.repeat(length)
    above = np.add.reduceat((other > own).astype(np.intp), begins)
    if falling:
        return above, None
    level = np.add.reduceat((other >= own).astype(np.intp), begins)
    return above, level - above


def _falling(block: Block, score: Array) -> bool:
    """Whether every ranking comes best first, as most do, and without equal scores."""
    falls = np.empty(len(score) + 1, dtype=np.bool_)
    np.less(score[1:], score[:-1], out=falls[1:-1])
    falls[block.start] = True  # where a ranking begins there is nothing to fall from; the last one is the end
    return bool(np.count_nonzero(falls) == len(falls))


def _count_by_searching(block: Block, score: Array, found: Array) -> tuple[Array, Array | None]:
    above, level = np.zeros(len(found), dtype=np.intp), np.zeros(len(found), dtype=np.intp)
    order = block.ranking.argsort(kind="stable")  # which is fast where they are in order
    bounds = np.searchsorted(block.ranking[order], np.arange(len(block.query) + 1))
    low, wanted, falling = -score, -found, _falling(block, score)
    for g in np.flatnonzero(np.diff(bounds)):
        mine = order[bounds[g] : bounds[g + 1]]
        mine = mine[found[mine].argsort()]  # values in order are found twice as fast
        ascending = low[block.start[g] : block.start[g + 1]]
        if not falling:
            ascending.sort()
            level[mine] = ascending.searchsorted(wanted[mine], side="right")
        above[mine] = ascending.searchsorted(wanted[mine])
    return above, None if falling else level - above


def _places_in_tie(block: Block, score: Array, found: Array, tied: Array, judgments: Judgments, rule: str) -> Array:
    """How many of its equals stand before each tied document, by the rule."""
    ranking, value = block.ranking[tied], found[tied]
    order = np.lexsort((value, ranking))
    ranking, value = ranking[order], value[order]
    new = np.append(True, (ranking[1:] != ranking[:-1]) | (value[1:] != value[:-1]))
    own = _ids_at(judgments.doc_ids, block.judged[tied[order]])
    begin = np.flatnonzero(new)
    places: list[int] = []
    for some in _at_once((block.start[1:] - block.start[:-1])[ranking[begin]]):
        rows, count = _equals(block, score, ranking[begin[some]], value[begin[some]])
        names, ends = block.ids(rows), count.cumsum()
        last = np.append(begin, len(new))[some.stop]
        bounds = [*begin[some].tolist(), int(last)]
        for group, end in enumerate(ends.tolist()):
            equals = names[end - int(count[group]) : end]
            place = {equals[i]: place for place, i in enumerate(order_equals(equals, rule))}
            places += [place[name] for name in own[bounds[group] : bounds[group + 1]]]
    found_places = np.empty(len(tied), dtype=np.intp)
    found_places[order] = places
    return found_places


def _ids_at(ids: Sequence[str], places: Array) -> list[str]:
    """Some of the ids; those that are kept as bytes are made text together."""
    some: Callable[[Array], list[str]] | None = getattr(ids, "some", None)
    return [ids[at] for at in places.tolist()] if some is None else some(places)


def _at_once(length: Array) -> Iterator[slice]:
    """Groups of these lengths, so many at a time that together they are not too long."""
    ends = length.cumsum()
    begin = 0
    while begin < len(length):
        before = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(ends.searchsorted(before + AT_ONCE, side="right")))
        yield slice(begin, end)
        begin = end


def _equals(block: Block, score: Array, ranking: Array, value: Array) -> tuple[Array, Array]:
    """The rows of each of these rankings with the score that stands beside it, and how many they are."""
    start = block.start[ranking]
    if len(ranking) == 1:  # which may be so long that no copy is made
        rows = int(start[0]) + np.flatnonzero(score[int(start[0]) : int(block.start[ranking[0] + 1])] == value[0])
        return rows, np.array([len(rows)])
    length = block.start[ranking + 1] - start
    ends = length.cumsum()
    row = np.arange(ends[-1]) + (start - (ends - length)).repeat(length)
    equal = score.take(row) == value.repeat(length)
    return row[equal], np.add.reduceat(equal, ends - length, dtype=np.intp)


def _not_a_number(block: Block, judgments: Judgments) -> DataError:
    row = int(np.flatnonzero(np.isnan(block.score))[0])
    ranking = int(np.searchsorted(block.start, row, side="right")) - 1
    query, doc = judgments.query_ids[block.query[ranking]], block.ids(np.array([row]))[0]
    return DataError(
        f"query {shorten(query)}, document {shorten(doc)}: the score is NaN, which has no place in an order. "
        "Next: drop the document or give it a score."
    )
