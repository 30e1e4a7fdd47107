"""The join: rankings meet judgments, and every convention about order lives here once.

Readers hand over blocks of rankings (`Block`, or `Ordered` where a reader has already proved the order);
out comes `Hits`, sorted by query and rank, with the ranks a row could have among equal scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from rankproof.core.conventions import Conventions
from rankproof.core.hits import Array, Hits
from rankproof.core.judgments import Judgments
from rankproof.core.table import RankingTable
from rankproof.core.unjudged import unjudged_as
from rankproof.errors import DataError, shorten

SPARSE = 16
"""Where one in so many documents is judged, or more, the found ones are ordered by place, else by a sort."""
EXACT = 2.0**53
"""Below this every whole number is a number of double precision; from here on neighbours become equal."""

SMALL = 64
"""Rankings up to this long are compared document by document; longer ones with many hits are sorted."""


@dataclass(frozen=True, eq=False, slots=True)
class Block:
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
class Ordered:
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
class Census:
    """What a reader noticed on its way: counts and examples, for the audit."""

    extra: int = 0
    """Queries of the ranking that nobody judged."""
    extra_examples: list[str] = field(default_factory=list)
    dropped: int = 0
    """Documents dropped because they came twice."""
    huge: int = 0
    """Scores so large that whole numbers next to each other become equal."""
    infinite: int = 0
    """Scores that are infinite."""
    notes: list[str] = field(default_factory=list)
    """What was taken as what: the guessed columns, the format."""


class Rankings(Protocol):
    """A source of rankings: it reads them in blocks, however large the whole is."""

    @property
    def source(self) -> str:
        """What the rankings are read from, for messages."""

    def table(self) -> RankingTable:
        """Every row, judged or not."""

    def blocks(
        self, judgments: Judgments, conventions: Conventions, census: Census
    ) -> Iterator[Block | Ordered]:
        """The rankings of judged queries, each query once."""


@dataclass
class _Rows:
    """The columns of Hits as they come in, block by block."""

    query: list[Array] = field(default_factory=list)
    rank: list[Array] = field(default_factory=list)
    first: list[Array] = field(default_factory=list)
    last: list[Array] = field(default_factory=list)
    judged: list[Array] = field(default_factory=list)
    doubtful: list[Array] = field(default_factory=list)


def join(
    judgments: Judgments,
    blocks: Iterable[Block | Ordered],
    conventions: Conventions,
    census: Census | None = None,
) -> Hits:
    """The judged documents that the rankings found, under the conventions."""
    n = len(judgments.queries)
    retrieved, answered, rows = np.zeros(n, dtype=np.intp), np.zeros(n, dtype=bool), _Rows()
    for block in blocks:
        if census is not None and isinstance(block, Block):
            note_extremes(block.score, census)
        ordered = block if isinstance(block, Ordered) else ranked(block, judgments, conventions)
        retrieved[ordered.query] = ordered.length
        answered[ordered.query] = True
        _add(rows, ordered)
    hits = _hits(judgments, rows, retrieved, answered, conventions)
    return unjudged_as(hits, conventions)


def note_extremes(score: Array, census: Census) -> None:
    """Count the scores that double precision cannot tell from their neighbours."""
    if len(score) and (score.max() >= EXACT or score.min() <= -EXACT):
        infinite = int(np.isinf(score).sum())
        census.infinite += infinite
        census.huge += int((np.abs(score) >= EXACT).sum()) - infinite


def _add(rows: _Rows, ordered: Ordered) -> None:
    rows.query.append(ordered.query[ordered.ranking])
    rows.rank.append(ordered.rank)
    rows.first.append(ordered.rank if ordered.first is None else ordered.first)
    rows.last.append(ordered.rank if ordered.last is None else ordered.last)
    rows.judged.append(ordered.judged)
    none = np.zeros(len(ordered.rank), dtype=np.bool_)
    rows.doubtful.append(none if ordered.doubtful is None else ordered.doubtful)


def ranked(block: Block, judgments: Judgments, conventions: Conventions) -> Ordered:
    """The rankings of a block with the ranks that the scores, and among equals the tie rule, give."""
    rank, first, last = _ranks(block, judgments, conventions)
    length = block.start[1:] - block.start[:-1]
    low = doubtful(block.found, conventions)
    return Ordered(block.query, length, block.ranking, block.judged, rank, first, last, low)


def doubtful(score: Array, conventions: Conventions) -> Array | None:
    """Which scores are 0 or less; None where none is, or where ranks stand in their place."""
    if conventions.ties == "rank":
        return None
    low: Array = _compared(score, conventions) <= 0
    return low if low.any() else None


def _hits(
    judgments: Judgments, rows: _Rows, retrieved: Array, answered: Array, conventions: Conventions
) -> Hits:
    query, rank, judged = _whole(rows.query), _whole(rows.rank), _whole(rows.judged)
    order = _by_place(query, rank, retrieved)
    first, last = _whole(rows.first), _whole(rows.last)
    tied, low = bool((first != last).any()), _whole(rows.doubtful)
    return Hits(
        query=query[order],
        rank=rank[order],
        grade=judgments.grade[judged[order]],
        doc=judged[order],
        n=len(judgments.queries),
        retrieved=retrieved,
        pool=judgments.pool,
        first=first[order] if tied else None,
        last=last[order] if tied else None,
        doubtful=low[order] if low.any() else None,
        facets=judgments.facets,
        answered=answered,
        corpus=conventions.corpus,
    )


def _whole(parts: list[Array]) -> Array:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.intp)


def _by_place(query: Array, rank: Array, retrieved: Array) -> Array:
    """The order by query, then rank; no place in a ranking holds two documents."""
    begins = retrieved.cumsum() - retrieved
    place = begins[query] + rank - 1
    total = int(retrieved.sum())
    if total > SPARSE * len(place):
        return np.argsort(place)
    row = np.full(total, -1, dtype=np.intp)
    row[place] = np.arange(len(place))
    return row[row >= 0]


# --- ranks ------------------------------------------------------------------------------------


def _ranks(block: Block, judgments: Judgments, conventions: Conventions) -> tuple[Array, Array, Array]:
    """The rank of each judged document found, and the first and last it could have among equals."""
    score, found = _compared(block.score, conventions), _compared(block.found, conventions)
    if np.isnan(score).any():
        raise _not_a_number(block, judgments)
    above, equal = _count_above(block, score, found)
    first, last = above + 1, above + equal
    rank = first.copy()
    tied = (equal > 1).nonzero()[0]
    if len(tied) and conventions.ties == "rank":
        raise _same_rank(judgments.queries[block.query[block.ranking[tied[0]]]])
    if len(tied):
        rank[tied] += _places_in_tie(block, score, found, tied, judgments, conventions.ties)
    return rank, first, last


def _compared(score: Array, conventions: Conventions) -> Array:
    if conventions.precision != "float32":
        return score
    with np.errstate(over="ignore"):  # beyond single precision is infinite there too
        return score.astype(np.float32)


def _count_above(block: Block, score: Array, found: Array) -> tuple[Array, Array]:
    """How many documents of its ranking score higher than each one found, and how many the same."""
    length = (block.start[1:] - block.start[:-1])[block.ranking]
    if length.sum() <= SMALL * len(found) + 4 * len(score):
        return _count_by_comparing(block, score, found, length)
    return _count_by_sorting(block, score, found)


def _count_by_comparing(block: Block, score: Array, found: Array, length: Array) -> tuple[Array, Array]:
    if not len(found):
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
    ends = length.cumsum()
    begins = ends - length
    row = np.arange(ends[-1]) + np.repeat(block.start[block.ranking] - begins, length)
    other, own = score[row], np.repeat(found, length)
    above = np.add.reduceat((other > own).view(np.int8), begins, dtype=np.intp)
    level = np.add.reduceat((other >= own).view(np.int8), begins, dtype=np.intp)
    return above, level - above


def _count_by_sorting(block: Block, score: Array, found: Array) -> tuple[Array, Array]:
    above, level = np.zeros(len(found), dtype=np.intp), np.zeros(len(found), dtype=np.intp)
    order = _in_order_of(block.ranking)
    bounds = np.searchsorted(block.ranking[order], np.arange(len(block.query) + 1))
    for g in np.flatnonzero(np.diff(bounds)):
        mine = order[bounds[g] : bounds[g + 1]]
        mine = mine[found[mine].argsort()]  # values in order are found twice as fast
        ascending = _ascending(score[block.start[g] : block.start[g + 1]])
        left = np.searchsorted(ascending, found[mine], side="left")
        level[mine] = len(ascending) - left
        above[mine] = level[mine] - _times_equal(ascending, found[mine], left)
    return above, level - above


def _in_order_of(ranking: Array) -> Array:
    if bool((ranking[1:] >= ranking[:-1]).all()):
        return np.arange(len(ranking))
    return np.argsort(ranking, kind="stable")


def _ascending(score: Array) -> Array:
    """The scores in ascending order; most rankings come in descending order and need no sort."""
    return score[::-1] if bool((score[1:] <= score[:-1]).all()) else np.sort(score)


def _times_equal(ascending: Array, values: Array, left: Array) -> Array | int:
    """How often each value stands in the sorted array, where its first place is `left`."""
    if bool((ascending[1:] != ascending[:-1]).all()):
        return 1
    return np.searchsorted(ascending, values, side="right") - left


def _places_in_tie(
    block: Block, score: Array, found: Array, tied: Array, judgments: Judgments, rule: str
) -> Array:
    """How many of its equals stand before each tied document, by the rule."""
    places = np.zeros(len(tied), dtype=np.intp)
    known: dict[tuple[int, float], dict[str, int]] = {}
    for i, hit in enumerate(tied.tolist()):
        key = (int(block.ranking[hit]), float(found[hit]))
        if key not in known:
            known[key] = _order_of_equals(block, score, *key, rule)
        places[i] = known[key][judgments.docs[block.judged[hit]]]
    return places


def _order_of_equals(block: Block, score: Array, ranking: int, value: float, rule: str) -> dict[str, int]:
    start, end = int(block.start[ranking]), int(block.start[ranking + 1])
    names = block.ids(start + np.flatnonzero(score[start:end] == value))
    if rule != "input":
        names = sorted(names, reverse=rule != "id")
    return {name: place for place, name in enumerate(names)}


def _same_rank(query: str) -> DataError:
    return DataError(
        f"query {shorten(query)}: two documents stand at the same rank, so ties='rank' has no order to take. "
        "Next: mend the rank column, or choose ties='trec'."
    )


def _not_a_number(block: Block, judgments: Judgments) -> DataError:
    row = int(np.flatnonzero(np.isnan(block.score))[0])
    ranking = int(np.searchsorted(block.start, row, side="right")) - 1
    query, doc = judgments.queries[block.query[ranking]], block.ids(np.array([row]))[0]
    return DataError(
        f"query {shorten(query)}, document {shorten(doc)}: the score is NaN, which has no place in an order. "
        "Next: drop the document or give it a score."
    )
