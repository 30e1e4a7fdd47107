"""A pool: the documents that several systems returned for each query, to be judged by people.

Whatever no system returned is not judged and counts as not relevant, so a pool of several different
systems, as deep as the work allows, is fair to all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rankproof.display import Displayable
from rankproof.errors import DataError, UsageError


class Item(NamedTuple):
    """One document to be judged for one query."""

    query: str
    document: str


@dataclass(frozen=True)
class Pool(Displayable):
    """Items by query, each with the rank that each system gave it."""

    systems: tuple[str, ...]
    ranks: Mapping[str, Mapping[str, Mapping[str, int]]]
    """The rank, counted from 1, by query, document and system."""
    order: str = "depth"
    """How the items of a query are gone through; see `rankproof.bench.testset.orders`."""
    per_query: int | None = None
    """At most so many of a query are judged; None: all."""
    wrong: tuple[str, ...] = ()
    """What the audit says of the judgments that were left out, if their ids do not meet those of the rankings."""

    def _in_one_line(self) -> str:
        systems = ", ".join(self.systems)
        return f"<Pool of {len(self):,} documents for {len(self.ranks):,} queries, from {systems}>"

    def __iter__(self) -> Iterator[Item]:
        return (Item(query, document) for query, found in self.ranks.items() for document in found)

    def __len__(self) -> int:
        return sum(map(len, self.ranks.values()))

    @property
    def work(self) -> int:
        """How many judgments it asks for."""
        cut = self.per_query
        return sum(len(found) if cut is None else min(cut, len(found)) for found in self.ranks.values())


def pooled(rankings: Mapping[str, Mapping[str, Sequence[str]]], depth: int) -> Pool:
    """The best `depth` documents of each system for each query.

    >>> pool = pooled({"keyword": {"q1": ["a", "b"]}, "dense": {"q1": ["b", "c"]}}, depth=2)
    >>> {document: dict(ranks) for document, ranks in pool.ranks["q1"].items()}
    {'a': {'keyword': 1}, 'b': {'keyword': 2, 'dense': 1}, 'c': {'dense': 2}}
    """
    if depth < 1:
        raise UsageError(f"depth: got {depth}, expected 1 or more. Next: give one, like 10.")
    ranks: dict[str, dict[str, dict[str, int]]] = {}
    for system, ranking in rankings.items():
        for query, documents in ranking.items():
            found = ranks.setdefault(query, {})
            for rank, document in enumerate(documents[:depth], start=1):
                found.setdefault(document, {})[system] = rank
    if not any(ranks.values()):
        raise DataError("the rankings hold no document, so there is nothing to judge. Next: check them.")
    return Pool(tuple(rankings), ranks)
