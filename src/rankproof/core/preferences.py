"""Preference judgments: which of two documents a person would rather see first, and how to count them.

A preference "i before j" is fulfilled when i stands above j, or when only i was retrieved. Each
measure takes a scope: 'all' pairs; 'implied', without pairs of which neither document was retrieved;
'retrieved', only pairs of which both were.

Reference: B. Carterette, P. Bennett, D. Chickering, S. Dumais: Here or there: preference judgments
for relevance, ECIR 2008; the counting is that of trec_eval by C. Buckley.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from rankproof.core.hits import Array
from rankproof.errors import DataError, UsageError, is_number, shorten

Scope: TypeAlias = Literal["all", "implied", "retrieved"]


class Order(NamedTuple):
    """One partial order of a judge: documents (numbers) and the level each was given."""

    document: Array
    level: Array


@dataclass(frozen=True, eq=False)
class Group:
    """What one judge prefers: `prefers[i, j]` says that document i should stand before j."""

    prefers: Array
    level: Array
    """The level of each document; NaN for one the judge said nothing about."""
    total: bool = True
    """Whether the judge gave one order of all documents, rather than several partial ones."""


@dataclass(frozen=True, eq=False)
class Preferences:
    """The preferences of all judges of a query over its judged documents.

    Documents are numbered by rank; the first `retrieved` of them were retrieved, the others not.
    """

    groups: Sequence[Group]
    retrieved: int


class Tally(NamedTuple):
    """How many preferences there are, and how many of them a ranking fulfils."""

    fulfilled: int
    possible: int

    @property
    def ratio(self) -> float:
        """Fulfilled / possible; 0 where nothing is possible."""
        return self.fulfilled / self.possible if self.possible else 0.0


def group(orders: Sequence[Order], documents: int) -> Group:
    """One judge's preferences among `documents` documents, with what follows from them.

    >>> first, second = np.array([0, 1]), np.array([1, 2])
    >>> levels = np.array([2, 1])
    >>> bool(group([Order(first, levels), Order(second, levels)], 3).prefers[0, 2])
    True
    """
    prefers = np.zeros((documents, documents), dtype=bool)
    level = np.full(documents, np.nan)
    for order in orders:
        _check_level(level[order.document], order.level)
        level[order.document] = order.level
        prefers[np.ix_(order.document, order.document)] |= order.level[:, None] > order.level[None, :]
    if len(orders) > 1:
        _add_transitive(prefers)
    return Group(prefers, level, total=len(orders) == 1)


def by_levels(*judges: Sequence[float | None], retrieved: int | None = None) -> Preferences:
    """Preferences of judges who gave levels to documents in rank order; None for one not looked at.

    >>> by_levels([1, 0], retrieved=1).groups[0].prefers.tolist()
    [[False, True], [False, False]]
    """
    for levels in judges or (None,):
        if (
            isinstance(levels, str)
            or not isinstance(levels, Sequence)
            or len(levels) != len(judges[0])
            or not all(each is None or _is_level(each) for each in levels)
        ):
            raise UsageError(
                f"by_levels: got {shorten(levels)}, expected for each judge a list of as many finite numbers, None for "
                "a document not looked at. Next: give one list for each judge."
            )
    size = len(judges[0])
    if retrieved is not None and (not isinstance(retrieved, int) or not 0 <= retrieved <= size):
        raise UsageError(
            f"by_levels: retrieved is {shorten(retrieved)}, expected a whole number from 0 to {size}. "
            "Next: say how many of the documents were retrieved."
        )
    return Preferences([_levelled(levels) for levels in judges], size if retrieved is None else retrieved)


def _is_level(value: object) -> bool:
    try:
        return is_number(value) and math.isfinite(float(value))  # type: ignore[arg-type]
    except OverflowError:
        return False


def _levelled(levels: Sequence[float | None]) -> Group:
    given = [(document, level) for document, level in enumerate(levels) if level is not None]
    documents = np.array([document for document, _ in given], dtype=np.intp)
    known = np.array([level for _, level in given], dtype=np.float64)
    return group([Order(documents, known)], len(levels))


def _check_level(known: Array, given: Array) -> None:
    if bool((((known > 0) & (given == 0)) | ((known == 0) & (given > 0))).any()):
        raise DataError(
            "preferences: one judge calls a document not relevant (level 0) in one place and relevant in "
            "another. Next: give it level 0 in all of the judge's groups, or in none."
        )


def _add_transitive(prefers: Array) -> None:
    """If i before j and j before k, then i before k (Warshall's algorithm)."""
    for j in np.flatnonzero(prefers.any(axis=0) & prefers.any(axis=1)):
        prefers |= prefers[:, j, None] & prefers[None, j, :]
    if bool(prefers.diagonal().any()):
        raise DataError(
            "preferences: one judge prefers a document to itself, going round in a circle. "
            "Next: put contradicting preferences into different judgment groups."
        )


# --- counting -------------------------------------------------------------------------------------


def tally(prefers: Array, retrieved: int, scope: Scope = "all") -> Tally:
    """Fulfilled and possible preferences within the scope."""
    shown = prefers[:retrieved, :retrieved] if scope == "retrieved" else prefers[:retrieved]
    possible = np.count_nonzero(shown if scope == "retrieved" else prefers)
    if scope == "implied":
        possible -= np.count_nonzero(prefers[retrieved:, retrieved:])
    return Tally(int(np.count_nonzero(np.triu(shown, 1))), int(possible))
