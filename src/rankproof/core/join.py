"""The join of rankings and judgments, which applies every convention about order, once.

Readers pass blocks of rankings (`Block`, or `Ordered` if a reader has already proved the order); the
result is `Hits`, sorted by query and rank, with the ranks a row could have among equal scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from rankproof.core.arrays import FEW, distinct, join_parts, narrow
from rankproof.core.conventions import Conventions, comparable_scores, order_equals, same_rank, unjudged_as
from rankproof.core.hits import QUERIES, Array, Hits, PackedHits
from rankproof.core.judgments import Judgments
from rankproof.document.model import Displayable
from rankproof.document.numbers import setting
from rankproof.errors import DataError, shorten

SPARSE = 16
"""Where one in so many documents is judged, or more, many found ones are ordered by place, else by a sort."""
AT_ONCE = 1 << 18
"""The number of rows processed at a time, as intermediate arrays are wide."""
DENSE = 1 << 24
"""A place for each of so many documents is made at most."""


@dataclass(frozen=True, eq=False, slots=True)
class Block(Displayable):
    """Some rankings with their scores, side by side, and the judged documents among them."""

    query: Array
    """Which query of the judgments each ranking answers; a query appears in one block only."""
    start: Array
    """Where each ranking begins in `score`; one more entry than `query`."""
    score: Array
    """The score of every document, ranking after ranking (float64; NaN is an error).
    Under `ties='rank'` readers give minus the rank column here and in `found`."""
    ranking: Array
    """For each judged document found: which ranking of this block it stands in."""
    judged: Array
    """For each judged document found: which judgment it is (an index into the judgments' table)."""
    found: Array
    """For each judged document found: its score."""
    ids: Callable[[Array], list[str]]
    """The document ids of the given rows of `score`; asked only where scores are equal."""


@dataclass(frozen=True, eq=False, slots=True)
class Ordered(Displayable):
    """Some rankings whose judged documents have their ranks already."""

    query: Array
    length: Array
    """How many documents each ranking holds."""
    ranking: Array
    judged: Array
    rank: Array
    """For each judged document found: its rank, from 1."""
    first: Array | None = None
    last: Array | None = None
    """The first and the last rank it could have among equal scores; None: no scores are equal."""
    doubtful: Array | None = None
    """Which of them score 0 or less; None: none does."""


@dataclass
class Census(Displayable):
    """Observations of a reader: counts and examples, for the audit."""

    extra: int = 0
    """Queries of the ranking that nobody judged."""
    extra_examples: list[str] = field(default_factory=list)
    dropped: int = 0
    """Documents dropped because they came twice."""
    comments: int = 0
    """Lines that begin with `#` and were passed over."""
    ranks: int = 0
    """Rankings of which some ranks were held against their scores."""
    ranks_contrary: int = 0
    """Those of them in which a rank puts a document above one with a higher score."""
    lists: int = 0
    """Rankings of several documents whose scores were looked at in the order in which they were given."""
    rising: int = 0
    """Those of them in which next to no score is below the one before."""
    rises: int = 0
    """How often a score is above the one before."""
    falls: int = 0
    """How often it is below."""
    notes: list[str] = field(default_factory=list)
    """Guesses: the columns, the format."""
    left_out: list[str] = field(default_factory=list)
    """Files that could not be read and were left out with `damaged="skip"`; each with its error."""
    made_by: list[str] = field(default_factory=list)
    """How the ranking is called, if a machine made the judgments: a model among these may be the judge's."""


def join(
    judgments: Judgments, blocks: Iterable[Block | Ordered], conventions: Conventions, census: Census | None = None
) -> Hits:
    """The judged documents that the rankings found, under the conventions."""
    n = len(judgments.query_ids)
    retrieved, answered = np.zeros(n, dtype=np.intp), np.zeros(n, dtype=bool)
    rows: dict[str, list[Any]] = {name: [] for name in ("rank", "first", "last", "judged", "doubtful")}
    for block in blocks:
        if census is not None and isinstance(block, Block):
            note_scores(block.score, block.start[:-1], census)
        ordered = block if isinstance(block, Ordered) else rank_block(block, judgments, conventions)
        retrieved[ordered.query] = ordered.length
        answered[ordered.query] = True
        for name, parts in rows.items():
            parts.append(getattr(ordered, name))
    return unjudged_as(_hits(judgments, rows, retrieved, answered, conventions), conventions)


MOSTLY = 10
"""A ranking rises where less than one step in so many falls: answers of two indexes put together have one fall."""


def note_scores(score: Array, start: Array, census: Census) -> None:
    """Count the rankings in which the scores rise, and the steps up and down within all; each begins at its `start`."""
    census.lists += len(start)
    if len(score) < 2:
        return
    up = np.append(False, score[1:] > score[:-1])
    begin = start[start < len(score)]
    up[begin] = False
    rises = int(np.count_nonzero(up))
    if not rises:
        census.falls += len(score) - len(begin)
        return
    down = np.append(False, score[1:] < score[:-1])
    down[begin] = False
    census.rises += rises
    census.falls += int(np.count_nonzero(down))
    ups, downs = (np.add.reduceat(steps, begin, dtype=np.intp) for steps in (up, down))
    census.rising += int(np.count_nonzero((ups > 0) & (MOSTLY * downs <= ups)))


def rank_block(block: Block, judgments: Judgments, conventions: Conventions) -> Ordered:
    """The rankings of a block with the ranks that the scores, and among equals the tie rule, give."""
    score, found = comparable_scores(block.score, conventions), comparable_scores(block.found, conventions)
    if np.count_nonzero(np.isnan(score)):
        raise _not_a_number(block, judgments)
    above, equal = _count_above(block, score, found)
    length, low, first = block.start[1:] - block.start[:-1], doubtful_scores(block.found, conventions), above + 1
    tied = above[:0] if equal is None else (equal > 1).nonzero()[0]
    if equal is None or not len(tied):
        return Ordered(block.query, length, block.ranking, block.judged, first, doubtful=low)
    if conventions.ties == "rank":
        query = judgments.query_ids[block.query[block.ranking[tied[0]]]]
        other = setting("ties", "trec")
        raise DataError(f"query {shorten(query)}: {same_rank()}. Next: correct the rank column, or choose {other}.")
    rank = first.copy()
    rank[tied] += _places_in_tie(block, score, found, tied, judgments, conventions.ties)
    return Ordered(block.query, length, block.ranking, block.judged, rank, first, above + equal, low)


def doubtful_scores(score: Array, conventions: Conventions) -> Array | None:
    """Which scores are 0 or less; None if none is, or where ranks stand in their place."""
    if conventions.ties == "rank":
        return None
    low: Array = comparable_scores(score, conventions) <= 0
    return low if np.count_nonzero(low) else None


def _hits(
    judgments: Judgments, rows: dict[str, list[Any]], retrieved: Array, answered: Array, conventions: Conventions
) -> Hits:
    many = len(judgments.query_ids) > QUERIES
    first, last = (_where_any(rows[name], rows["rank"], many) for name in ("first", "last"))
    none = (np.zeros(len(part), dtype=np.bool_) for part in rows["rank"])
    doubtful = _where_any(rows["doubtful"], none, many=True)
    rank, doc = (_taken(rows[name], many) for name in ("rank", "judged"))
    order = _by_place(judgments.query, doc, rank, retrieved)
    # One column at a time: of many queries they take much of all memory.
    rank, doc = rank.take(order), doc.take(order)
    kind: Any = Hits
    if many:  # what follows from the judgment of a row is not kept beside it
        kind, doc = PackedHits, narrow(doc)
    return kind(  # type: ignore[no-any-return]
        query=partial(_looked_up, judgments.query, doc) if many else judgments.query.take(doc),
        rank=rank,
        grade=partial(_looked_up, judgments.grade, doc) if many else judgments.grade.take(doc),
        doc=doc,
        n=len(judgments.query_ids),
        retrieved=retrieved,
        pool=judgments.pool,
        first=None if first is None else first.take(order),
        last=None if last is None else last.take(order),
        doubtful=None if doubtful is None else doubtful.take(order),
        facets=judgments.facets,
        answered=answered,
        corpus_size=conventions.corpus_size,
    )


def _looked_up(table: Array, doc: Array, rows: slice) -> Array:
    """Some rows of a column that a table has for the judgment of each row."""
    return table.take(doc[rows])


def _taken(parts: list[Array], many: bool) -> Array:
    """A column as one, its parts let go; of many queries as narrow as it came."""
    whole = join_parts(parts)
    parts.clear()
    return whole if many else whole.astype(np.intp, copy=False)


def _where_any(parts: list[Array | None], otherwise: Iterable[Array], many: bool) -> Array | None:
    """A column that not every block has: None if none has it, else with what stands for it in the others."""
    if not [part for part in parts if part is not None]:
        return None
    known = [other if part is None else part for part, other in zip(parts, otherwise, strict=True)]
    parts.clear()
    return _taken(known, many)


def _by_place(query: Array, doc: Array, rank: Array, retrieved: Array) -> Array:
    """The order by query, then rank; no place in a ranking holds two documents. `query` is that of each judgment."""
    ends = retrieved.cumsum()
    total = int(ends[-1]) if len(ends) else 0
    begins, place = ends - retrieved, np.empty(len(rank), np.intp if total >> 31 else np.int32)
    for at in range(0, len(rank), AT_ONCE):
        some = slice(at, at + AT_ONCE)
        place[some] = begins.take(query.take(doc[some])) + rank[some] - 1
    if len(place) <= FEW or total > min(SPARSE * len(place), DENSE):
        return place.argsort(kind="stable")  # which is faster where they are nearly in order
    row = np.full(total, -1, dtype=np.int32)
    row[place] = np.arange(len(place), dtype=np.int32)
    return row[row >= 0]


COMPARED = 1 << 20
"""So many documents are compared at once with those found."""
SMALL = 64
"""Rankings up to this long are compared document by document; longer ones with many hits are searched."""


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
    if ends[-1] > COMPARED and len(found) == 1:  # one ranking, so large that no copy is made
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
    ids, judged = judgments.doc_ids, block.judged[tied[order]]
    # Ids that are kept as bytes are made text together.
    own = ids.some(judged) if hasattr(ids, "some") else [ids[at] for at in judged.tolist()]
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


def _at_once(length: Array) -> Iterator[slice]:
    """Groups of these lengths, so many at a time that together they are not too long."""
    ends = length.cumsum()
    begin = 0
    while begin < len(length):
        before = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(ends.searchsorted(before + COMPARED, side="right")))
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


SAMPLE = 1000
"""So many rows say whether ranks and scores agree, at next to no cost."""


def contrary_groups(group: Array, score: Array, rank: Array) -> Array:
    """The groups whose ranks put a row above one with a higher score.

    >>> contrary_groups(np.array([0, 0, 1, 1]), np.array([2.0, 1.0, 1.0, 2.0]), np.array([1, 2, 1, 2]))
    array([1])
    """
    order = np.lexsort((-score, rank, group))
    rises = (score[order][1:] > score[order][:-1]) & (np.diff(group[order]) == 0)
    return distinct(group[order][1:][rises])


def note_ranks(group: Array, score: Array, rank: Array, census: Census) -> None:
    """Count how many of these rankings have ranks, and how many have them against their scores."""
    if not np.isnan(rank).any():
        census.ranks = len(distinct(group))
        census.ranks_contrary = len(contrary_groups(group, score, rank))
