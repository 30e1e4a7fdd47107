"""The ranks that scores give: how many documents of a ranking stand above each judged one, and beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankproof.core.arrays import Array
from rankproof.core.judgments import Judgments
from rankproof.core.rules import Conventions
from rankproof.errors import DataError, shorten

if TYPE_CHECKING:
    from rankproof.core.join import Block

SMALL = 64
"""Rankings up to this long are compared document by document; longer ones with many hits are searched."""


def ranks_in(
    block: Block, judgments: Judgments, conventions: Conventions
) -> tuple[Array, Array | None, Array | None]:
    """The rank of each judged document found, and the first and last it could have among equals.

    Without these two where no document found has an equal.
    """
    score, found = compared(block.score, conventions), compared(block.found, conventions)
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
        raise _same_rank(judgments.queries[block.query[block.ranking[tied[0]]]])
    rank = first.copy()
    rank[tied] += _places_in_tie(block, score, found, tied, judgments, conventions.ties)
    return rank, first, above + equal


def compared(score: Array, conventions: Conventions) -> Array:
    """The scores in the precision in which they are compared."""
    if conventions.precision != "float32":
        return score
    with np.errstate(over="ignore"):  # beyond single precision is infinite there too
        return score.astype(np.float32)


def _count_above(block: Block, score: Array, found: Array) -> tuple[Array, Array | None]:
    """How many documents of its ranking score higher than each one found, and how many the same.

    The latter is None where no two scores are equal.
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
    begins = ends - length
    row = np.arange(ends[-1]) + (block.start.take(block.ranking) - begins).repeat(length)
    other, own = score.take(row), found.repeat(length)
    above = np.add.reduceat((other > own).astype(np.intp), begins)
    if _falling(block, score):
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
    order = _in_order_of(block.ranking)
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


def _in_order_of(ranking: Array) -> Array:
    if bool((ranking[1:] >= ranking[:-1]).all()):
        return np.arange(len(ranking))
    return np.argsort(ranking, kind="stable")


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
