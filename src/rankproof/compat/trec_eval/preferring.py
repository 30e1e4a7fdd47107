"""Preference measures of trec_eval (`-R prefs`, `-R qrels_prefs`) for a topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import attrgetter

import numpy as np

from rankproof.compat.trec_eval.lines import Judged
from rankproof.compat.trec_eval.parameters import Column
from rankproof.compat.trec_eval.results import Series
from rankproof.core.names import parse
from rankproof.core.preferences import Group, Order, Preferences, group


def preference_series(
    columns: Sequence[Column], topics: Mapping[str, Sequence[Judged]], rankings: Mapping[str, Sequence[str]]
) -> list[Series]:
    """The columns for topics with their judgments, given the documents retrieved in order."""
    known = [preferences(rows, rankings.get(topic, ())) for topic, rows in topics.items()]
    return [
        Series(column, [preference_value(column.entry.name, each) for each in known]) for column in columns
    ]


def preference_value(name: str, known: Preferences) -> float:
    """The value of the measure that trec_eval calls `name`."""
    measure = parse(name)
    return float(measure.spec.function(known, **measure.params))


def preferences(rows: Sequence[Judged], ranking: Sequence[str]) -> Preferences:
    """What the judges of a topic prefer, its documents numbered by their rank in the ranking.

    >>> rows = [Judged("t", "j", "", "a", 1), Judged("t", "j", "", "b", 0)]
    >>> preference_value("prefs_simp", preferences(rows, ["b", "x", "a"]))
    0.0
    """
    judged = {row.document for row in rows}
    retrieved = [document for document in ranking if document in judged]
    missed = sorted(judged.difference(retrieved))
    number = {document: place for place, document in enumerate([*retrieved, *missed])}
    by_judge = groupby(sorted(rows, key=attrgetter("judge", "part")), key=attrgetter("judge"))
    return Preferences([_group(list(own), number) for _, own in by_judge], len(retrieved))


def _group(rows: Sequence[Judged], number: Mapping[str, int]) -> Group:
    return group(
        [_order(list(part), number) for _, part in groupby(rows, key=attrgetter("part"))], len(number)
    )


def _order(rows: Sequence[Judged], number: Mapping[str, int]) -> Order:
    return Order(np.array([number[row.document] for row in rows]), np.array([row.level for row in rows]))
