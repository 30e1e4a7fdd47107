"""`pool`: the documents that several systems returned for each query, to be judged by people.

Whatever no system returned is not judged and counts as not relevant, so a pool of several different
systems, as deep as the work allows, is fair to all of them.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, cycle
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from rankproof.core.table import best_first
from rankproof.document.model import Displayable
from rankproof.document.numbers import count
from rankproof.errors import DataError, UsageError, check_one_of, check_whole, reason, shorten
from rankproof.io.load import Columns, load_judgments, load_rankings, warn_of_left_out, with_columns
from rankproof.scoring.evaluate import evaluate

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
    judged: set[str] = set()
    turns = cycle(_systems(ranks))
    while len(judged) < len(ranks):
        best = _best_of(next(turns), ranks, judged)
        if best is not None and best not in grades:
            return best
        judged |= {best} if best is not None else set()
    return None


def most_informative(ranks: Ranks, grades: Grades) -> str | None:
    """Documents on which the systems disagree most come first: those that all rank equally cannot separate them.

    The weight of a document is the difference between the largest and the smallest discount, 1 / log2(rank + 1),
    that it has in any system (0 if a system does not have it): what it can move in a difference of DCG.

    Reference: B. Carterette, J. Allan, R. Sitaraman: Minimal test collections for retrieval evaluation, SIGIR 2006.

    >>> most_informative({"a": {"x": 1, "y": 1}, "b": {"x": 2}}, {})
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
    able = [each for each in _systems(ranks) if _best_of(each, ranks, grades) is not None]
    best = max(able, key=lambda system: _worth(system, ranks, grades), default=None)
    return None if best is None else _best_of(best, ranks, grades)


ORDERS: dict[str, Order] = {
    "depth": by_depth,
    "round-robin": round_robin,
    "informative": most_informative,
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


class Item(NamedTuple):
    """One document to be judged for one query."""

    query: str
    document: str


GRADES = {
    1: "0 does not help, 1 helps",
    2: "0 does not help, 1 helps in part, 2 answers it",
    3: "0 does not help, 1 is related, 2 answers in part, 3 answers it",
}
"""The meaning of the grades, by the highest one."""


def meaning_of_grades(highest: int) -> str:
    """The meaning of the grades up to this one in words."""
    return GRADES.get(highest, f"0 does not help, up to {highest} answers it best")


@dataclass(frozen=True)
class Pool(Displayable):
    """Items by query, each with the rank that each system gave it."""

    systems: tuple[str, ...]
    ranks: Mapping[str, Mapping[str, Mapping[str, int]]]
    """The rank, counted from 1, by query, document and system."""
    order: str = "depth"
    """The order of the items of a query; see `rankproof.bench.testset.pool`."""
    per_query: int | None = None
    """The most documents of a query to judge; None for all."""
    wrong: tuple[str, ...] = ()
    """What the audit says of the judgments that were left out, if their ids do not meet those of the rankings."""

    def _in_one_line(self) -> str:
        systems = ", ".join(self.systems)
        return f"<Pool of {count(len(self), 'document')} for {count(len(self.ranks), 'query')}, from {systems}>"

    def __iter__(self) -> Iterator[Item]:
        return (Item(query, document) for query, found in self.ranks.items() for document in found)

    def __len__(self) -> int:
        return sum(map(len, self.ranks.values()))

    @property
    def work(self) -> int:
        """The number of judgments it needs."""
        cut = self.per_query
        return sum(len(found) if cut is None else min(cut, len(found)) for found in self.ranks.values())


def pool_rankings(rankings: Mapping[str, Mapping[str, Sequence[str]]], depth: int) -> Pool:
    """The best `depth` documents of each system for each query.

    >>> pool = pool_rankings({"keyword": {"q1": ["a", "b"]}, "dense": {"q1": ["b", "c"]}}, depth=2)
    >>> {document: dict(ranks) for document, ranks in pool.ranks["q1"].items()}
    {'a': {'keyword': 1}, 'b': {'keyword': 2, 'dense': 1}, 'c': {'dense': 2}}
    """
    check_whole("depth", depth, advice="give one, like 10")
    ranks: dict[str, dict[str, dict[str, int]]] = {}
    for system, ranking in rankings.items():
        for query, documents in ranking.items():
            found = ranks.setdefault(query, {})
            for rank, document in enumerate(documents[:depth], start=1):
                found.setdefault(document, {})[system] = rank
    if not any(ranks.values()):
        raise DataError("the rankings hold no document, so there is nothing to judge. Next: check them.")
    return Pool(tuple(rankings), ranks)


@with_columns
def pool(
    systems: Any,
    depth: int = 10,
    *,
    order: str = "depth",
    budget: int | None = None,
    judgments: Any = None,
    damaged: str = "error",
    columns: Columns = None,
) -> Pool:
    """The documents to judge: the best `depth` of every ranking, for each query.

    `systems` is `{name: ranking}` or a list of rankings. `order` says which come first: depth, round-robin,
    informative (what the systems disagree on most) or bandit (what finds relevant documents). `budget` is how
    many judgments there may be; every query gets the same share of it. Pairs in `judgments` are left
    out, and with `damaged="skip"` files of a folder that cannot be read.

    >>> to_judge = pool({"keyword": {"q1": ["a", "b"]}, "dense": {"q1": ["b", "c"]}}, judgments={"q1": {"a": 0}})
    >>> [item.document for item in to_judge]
    ['b', 'c']
    """
    check_one_of("order", order, ORDERS)
    opened = load_rankings(systems, damaged)
    tables = {name: best_first(each.table()) for name, each in opened.items()}
    warn_of_left_out(opened.values())
    made = pool_rankings(tables, depth)
    if judgments is not None:
        judged = load_judgments(judgments)
        scores = {name: evaluate(judged, each, "P@10", duplicates="first") for name, each in opened.items()}
        wrong = tuple(f"{name}: {each}" for name, found in scores.items() for each in found.wrong)
        made = replace(unjudged_pool(made, judged.as_dict()), wrong=wrong)
    if len(tables) > 1 and sum(map(len, tables.values())) == len(set().union(*tables.values())):
        apart = (
            "None of the queries is in two of the rankings, so each is pooled from one system alone. "
            "Next: check that they answer the same queries, with ids written the same way."
        )
        made = replace(made, wrong=(*made.wrong, apart))
    if budget is not None:
        queries = len(made.ranks)
        if budget < max(1, queries):
            raise UsageError(
                f"budget: got {budget}, expected at least one judgment for each of the {queries} queries. "
                "Next: raise it, or pool fewer queries."
            )
        # What one query does not need is not given to others.
        made = replace(made, per_query=budget // queries if queries else None)
    return replace(made, order=order)


def unjudged_pool(made: Pool, known: Mapping[str, Mapping[str, float]]) -> Pool:
    """The pool without what is judged already."""
    ranks = {
        query: {doc: each for doc, each in found.items() if doc not in known.get(query, {})}
        for query, found in made.ranks.items()
    }
    return replace(made, ranks={query: found for query, found in ranks.items() if found})


VERSION = 1


def pool_lines(pool: Pool) -> Iterator[str]:
    """The lines of the file, each with its end."""
    head = {"pool": VERSION, "order": pool.order, "per_query": pool.per_query, "systems": list(pool.systems)}
    items = (
        {"query": query, "document": document, "ranks": dict(ranks)}
        for query, found in pool.ranks.items()
        for document, ranks in found.items()
    )
    yield from (json.dumps(record, ensure_ascii=False) + "\n" for record in chain([head], items))


MAKE = "Next: make the pool with 'rankproof pool'."


def read_pool(path: str | os.PathLike[str]) -> Pool:
    """The pool that a file holds."""
    try:
        lines = Path(path).read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read ({reason(error)}). Next: name a file of 'rankproof pool'.") from error
    numbered = ((f"{path}, line {n}", line) for n, line in enumerate(lines, 1) if line.strip())
    records = [(where, _record(line, where)) for where, line in numbered]
    head = records[0][1] if records else {}
    cut = head.get("per_query")
    known = head.get("pool") == VERSION and head.get("order") in ORDERS
    if not known or not isinstance(head.get("systems"), list) or not (cut is None or type(cut) is int):
        raise DataError(f"{path}: not a pool of version {VERSION}: its first line says how it is gone through. {MAKE}")
    ranks: dict[str, dict[str, dict[str, int]]] = {}
    for where, record in records[1:]:
        query, document, found = record.get("query"), record.get("document"), record.get("ranks")
        named = isinstance(query, str) and isinstance(document, str)
        if not (named and isinstance(found, dict) and all(type(rank) is int and rank > 0 for rank in found.values())):
            raise DataError(f"{where}: got {shorten(record)}, expected query, document, and ranks by system. {MAKE}")
        ranks.setdefault(str(query), {})[str(document)] = found
    return Pool(tuple(head["systems"]), ranks, head["order"], cut)


def _record(line: str, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError:
        record = None
    if not isinstance(record, dict):
        raise DataError(f"{where}: got {shorten(line)}, expected a JSON record of a pool. {MAKE}")
    return record
