"""`agreement`: how alike two rankings of the same queries are, judgments or not."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankproof.core.measure import Measure
from rankproof.core.names import parse_all
from rankproof.core.scoring import Column
from rankproof.core.table import RankingTable
from rankproof.errors import DataError, UsageError
from rankproof.io.load import load_ranking
from rankproof.scoring.evaluate import Measures
from rankproof.scoring.scores import Scores

DEFAULT_MEASURES = "RBO, Jaccard@10, Tau"


def agreement(ranking: Any, other: Any, measures: Measures | None = None) -> Scores:
    """Measures between two rankings, over the queries that both answer.

    Equal scores are ordered by document id, descending, as in `evaluate`.

    >>> scores = agreement({"q": ["a", "b", "c"]}, {"q": ["b", "a", "d"]}, "Jaccard@3")
    >>> scores["Jaccard@3"]
    0.5
    """
    asked = _pair_measures(parse_all(DEFAULT_MEASURES if measures is None else measures))
    mine, theirs = (ordered(load_ranking(each).table()) for each in (ranking, other))
    both = [query for query in mine if query in theirs]
    if not both:
        raise DataError(
            "the two rankings answer no query in common. Next: check that their query ids are alike."
        )
    columns = {each.name: Column(each, _values(each, both, mine, theirs), None) for each in asked}
    return Scores(queries=tuple(both), columns=columns)


def ordered(table: RankingTable) -> dict[str, list[str]]:
    """The document ids of each query, best first."""
    return {query: _best_first(table, rows) for query, rows in table.by_query().items()}


def _best_first(table: RankingTable, rows: list[int]) -> list[str]:
    score = table.score
    if score is None:
        return [table.doc[row] for row in rows]
    by_id = sorted(rows, key=lambda row: table.doc[row], reverse=True)
    return [table.doc[row] for row in sorted(by_id, key=lambda row: -score[row])]


def _values(
    measure: Measure, queries: list[str], mine: dict[str, list[str]], theirs: dict[str, list[str]]
) -> Any:
    return np.array([measure(mine[query], theirs[query]) for query in queries], dtype=np.float64)


def _pair_measures(measures: list[Measure]) -> list[Measure]:
    for each in measures:
        if each.spec.kind != "pair":
            raise UsageError(
                f"{each}: this measure needs judgments. Next: use evaluate, or ask for RBO or Jaccard@10."
            )
    return measures
