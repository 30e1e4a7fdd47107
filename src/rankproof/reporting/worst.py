"""The queries that a ranking answers worst, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rankproof.reporting.numbers import count, score
from rankproof.reporting.tables import Column, cut, table

Listed = Sequence[tuple[str, float]]


def worst(measure: str, by_ranking: Mapping[str, Listed]) -> str:
    """A table for each ranking, the worst query first.

    >>> print(worst("RR", {"my.run": [("q2", 0.0), ("q7", 0.5)]}))
    my.run: the 2 queries with the worst RR
    <BLANKLINE>
    query      RR
    -----  ------
    q2     0.0000
    q7     0.5000
    <BLANKLINE>
    """
    return "\n".join(_one(measure, cut(name, 30), listed) for name, listed in by_ranking.items())


def _one(measure: str, name: str, listed: Listed) -> str:
    head = f"{name}: the {count(len(listed), 'query', 'queries')} with the worst {measure}"
    queries = Column("query", [cut(query, 60) for query, _ in listed])
    values = Column(measure, [score(value) for _, value in listed], True)
    return "\n".join([head, "", *table([queries, values])]) + "\n"
