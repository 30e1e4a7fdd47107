"""Measures over preference judgments: which of two documents a person would rather see first.

A preference "i before j" is fulfilled when i stands above j, or when only i was retrieved. Each
measure takes a scope: 'all' pairs; 'implied', without pairs of which neither document was retrieved;
'retrieved', only pairs of which both were.

Reference: B. Carterette, P. Bennett, D. Chickering, S. Dumais: Here or there: preference judgments
for relevance, ECIR 2008; the counting is that of trec_eval by C. Buckley.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from rankproof.core.hits import Array
from rankproof.errors import DataError

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


def _tallies(p: Preferences, scope: Scope) -> list[Tally]:
    return [tally(g.prefers, p.retrieved, scope) for g in p.groups]


def possible(p: Preferences) -> float:
    """The number of preferences, whether their documents were retrieved or not."""
    return float(sum(t.possible for t in _tallies(p, "all")))


def fulfilled(p: Preferences, scope: Scope = "implied") -> float:
    """The number of preferences that the ranking fulfils."""
    return float(sum(t.fulfilled for t in _tallies(p, scope)))


# --- measures -------------------------------------------------------------------------------------


def preference_ratio(p: Preferences, scope: Scope = "all") -> float:
    """Fulfilled preferences / possible preferences; contradicting ones count each.

    >>> judge = group([Order(np.array([0, 1, 2]), np.array([1, 2, 0]))], 3)
    >>> round(preference_ratio(Preferences([judge], retrieved=3)), 4)
    0.6667
    """
    counts = _tallies(p, scope)
    return Tally(sum(t.fulfilled for t in counts), sum(t.possible for t in counts)).ratio


def pair_ratio(p: Preferences, scope: Scope = "all") -> float:
    """The mean over document pairs of the share of judges (of those who prefer one) that are content."""
    votes = np.sum([g.prefers for g in p.groups], axis=0, dtype=np.int64)
    above, below = np.triu(votes, 1), np.triu(votes.T, 1)
    asked = above + below
    pairs = np.count_nonzero(_within(asked, p.retrieved, scope))
    shown = _within(asked, p.retrieved, "retrieved" if scope == "retrieved" else "implied")
    content = np.divide(above, asked, out=np.zeros(asked.shape), where=shown > 0)
    return float(content.sum()) / pairs if pairs else 0.0


def _within(pairs: Array, retrieved: int, scope: Scope) -> Array:
    """The upper triangle `pairs` with the pairs out of scope set to 0."""
    if scope == "all":
        return pairs
    kept = pairs.copy()
    kept[retrieved:] = 0
    if scope == "retrieved":
        kept[:, retrieved:] = 0
    return kept


def group_ratio(p: Preferences, scope: Scope = "all") -> float:
    """The mean over judges of fulfilled / possible: every judge counts the same."""
    return sum(t.ratio for t in _tallies(p, scope)) / len(p.groups)


def balanced_group_ratio(p: Preferences, scope: Scope = "all") -> float:
    """`group_ratio` with as many not relevant documents for each judge as there are relevant ones.

    Where a judge has fewer, each that lacks counts as one more that stands below all relevant ones
    retrieved; where more, only the best ranked are kept. Scope: 'all' or 'retrieved'. 0 for a query with
    a judge who then has no preference at all.
    """
    counts = [_balanced(g, p.retrieved, scope) for g in p.groups]
    return sum(t.ratio for t in counts) / len(counts) if all(t.possible for t in counts) else 0.0


def _balanced(g: Group, retrieved: int, scope: Scope) -> Tally:
    size = retrieved if scope == "retrieved" else len(g.level)
    relevant, not_relevant = _count(g, size, _relevant), _count(g, size, _not_relevant)
    if relevant < not_relevant:
        return tally(_with_fewer(g, relevant, size), min(retrieved, size), scope)
    lacking = relevant - not_relevant
    fulfilled, possible = tally(g.prefers, retrieved, scope)
    found, everywhere = _count(g, retrieved, _relevant), _count(g, len(g.level), _relevant)
    return Tally(fulfilled + found * lacking, possible + everywhere * lacking)


def _relevant(g: Group) -> Array:
    return g.level > 0


def _not_relevant(g: Group) -> Array:
    """Level 0; in a total order below 0 as well."""
    return (g.level <= 0) if g.total else (g.level == 0)


def _count(g: Group, size: int, what: Callable[[Group], Array]) -> int:
    return int(np.count_nonzero(what(g)[:size]))


def _with_fewer(g: Group, keep: int, size: int) -> Array:
    """The preferences with only the best ranked not relevant documents kept."""
    return _total_with_fewer(g, keep) if g.total else _partial_with_fewer(g, size)


def _total_with_fewer(g: Group, keep: int) -> Array:
    """Every document before the `keep` best ranked of the lowest level.

    That pairs those also with each other and with the dropped ones: trec_eval's way, kept so that
    figures can be compared.
    """
    lowest = g.level == np.nanmin(g.level)
    prefers: Array = g.prefers & ~lowest[None, :]
    prefers[np.ix_(~np.isnan(g.level), np.flatnonzero(lowest)[:keep])] = True
    return prefers


def _partial_with_fewer(g: Group, size: int) -> Array:
    """No preferences of or over not relevant documents after as many as there are relevant ones."""
    wanted = np.ones(size, dtype=bool)
    wanted[np.flatnonzero(_not_relevant(g)[:size])[_count(g, len(g.level), _relevant) :]] = False
    prefers: Array = g.prefers[:size, :size] & wanted[:, None] & wanted[None, :]
    return prefers
