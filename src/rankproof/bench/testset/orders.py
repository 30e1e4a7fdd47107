"""In which order the items of a query are judged, so that the first labels tell most.

An order is a function from the ranks that the systems gave the documents of one query, and the grades given
so far, to the document that comes next (None when all are judged). Nothing else is remembered, so that a
session can be interrupted, undone and resumed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

Ranks: TypeAlias = Mapping[str, Mapping[str, int]]
"""The rank by document and system."""
Grades: TypeAlias = Mapping[str, int]
"""The grades given so far by document, in the order they were given."""
Order: TypeAlias = Callable[[Ranks, Grades], str | None]

MEMORY = 0.9
"""How much of what is known of a system stays when its next document is judged."""


def by_depth(ranks: Ranks, grades: Grades) -> str | None:
    """What stands highest in any system comes first; among those, what most systems have.

    >>> by_depth({"a": {"x": 2}, "b": {"x": 3, "y": 1}}, {})
    'b'
    """
    return _first(ranks, grades, lambda found: (min(found.values()), -len(found), sum(found.values())))


def round_robin(ranks: Ranks, grades: Grades) -> str | None:
    """The systems take turns, each giving its best document that is not judged yet.

    >>> ranks = {"a": {"x": 1, "y": 1}, "b": {"x": 2}, "c": {"y": 2}}
    >>> round_robin(ranks, {}), round_robin(ranks, {"a": 0})
    ('a', 'c')
    """
    systems = _systems(ranks)
    judged: set[str] = set()
    turn = 0
    while len(judged) < len(ranks):
        best = _best_of(systems[turn % len(systems)], ranks, judged)
        if best is not None and best not in grades:
            return best
        judged |= {best} if best is not None else set()
        turn += 1
    return None


def informative(ranks: Ranks, grades: Grades) -> str | None:
    """What the systems disagree on most comes first: what all rank alike cannot tell them apart.

    The weight of a document is the difference between the largest and the smallest discount, 1 / log2(rank + 1),
    that it has in any system (0 where a system does not have it): what it can move in a difference of DCG.

    Reference: B. Carterette, J. Allan, R. Sitaraman: Minimal test collections for retrieval evaluation, SIGIR 2006.

    >>> informative({"a": {"x": 1, "y": 1}, "b": {"x": 2}}, {})
    'b'
    """
    n = len(_systems(ranks))

    def spread(found: Mapping[str, int]) -> float:
        discounts = [1 / math.log2(rank + 1) for rank in found.values()]
        return max(discounts) - (min(discounts) if len(discounts) == n else 0.0)

    return _first(ranks, grades, lambda found: (-spread(found), min(found.values())))


def bandit(ranks: Ranks, grades: Grades) -> str | None:
    """The system that has been finding relevant documents gives the next one.

    Each system is an arm. Its worth is (relevant + 1) / (judged + 2) over its judged documents, older ones
    counting less, each by a factor `MEMORY` for every later one; a judged document counts for every system
    that returned it. Known to find relevant documents with far fewer judgments than going by depth.

    Reference: D. E. Losada, J. Parapar, A. Barreiro: Multi-armed bandits for adjudicating documents in
    pooling-based evaluation of information retrieval systems, Information Processing & Management 2017.

    >>> ranks = {"a": {"x": 1}, "b": {"x": 2}, "c": {"y": 1}, "d": {"y": 2}}
    >>> bandit(ranks, {}), bandit(ranks, {"a": 0}), bandit(ranks, {"a": 0, "c": 3})
    ('a', 'c', 'd')
    """
    open_systems = [each for each in _systems(ranks) if _best_of(each, ranks, grades) is not None]
    if not open_systems:
        return None
    best = max(open_systems, key=lambda system: _worth(system, ranks, grades))
    return _best_of(best, ranks, grades)


ORDERS: dict[str, Order] = {
    "depth": by_depth,
    "round-robin": round_robin,
    "informative": informative,
    "bandit": bandit,
}


def _worth(system: str, ranks: Ranks, grades: Grades) -> float:
    relevant = judged = 0.0
    for document, grade in grades.items():
        if system in ranks.get(document, ()):
            relevant = MEMORY * relevant + (grade > 0)
            judged = MEMORY * judged + 1
    return (relevant + 1) / (judged + 2)


def _systems(ranks: Ranks) -> list[str]:
    return list(dict.fromkeys(system for found in ranks.values() for system in found))


def _best_of(system: str, ranks: Ranks, judged: Mapping[str, int] | set[str]) -> str | None:
    """The system's best document that is not judged."""
    left = [(found[system], name) for name, found in ranks.items() if system in found and name not in judged]
    return min(left)[1] if left else None


def _first(ranks: Ranks, grades: Grades, key: Callable[[Mapping[str, int]], tuple[float, ...]]) -> str | None:
    """The unjudged document with the smallest key; equal ones by their id."""
    left = [(key(found), name) for name, found in ranks.items() if name not in grades]
    return min(left)[1] if left else None
