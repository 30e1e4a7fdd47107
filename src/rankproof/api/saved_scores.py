"""`Scores` as plain data, and back: what JSON files and the history hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from rankproof.core.conventions import Conventions
from rankproof.core.names import parse
from rankproof.core.scoring import Column

if TYPE_CHECKING:
    from rankproof.api.scores import Scores


def as_data(scores: Scores) -> dict[str, Any]:
    """Everything about the scores as plain data that JSON can hold."""
    return {
        "queries": list(scores.queries),
        "rows": {name: scores.row(name).to_dict() for name in scores.columns},
        "per_query": {name: scores.values(name) for name in scores.columns},
        "names": scores.names,
        "groups": {name: [scores.queries[i] for i in rows.tolist()] for name, rows in scores.groups.items()},
        "facts": scores.facts,
        "definition": scores.definition,
        "audit": scores.audit.to_dict(),
    }


def read_back(data: Mapping[str, Any], kind: type[Scores]) -> Scores:
    """Scores of that kind as `as_data` wrote them."""
    queries = tuple(data["queries"])
    index = {query: i for i, query in enumerate(queries)}
    return kind(
        queries=queries,
        columns={name: _column(name, values, index) for name, values in data["per_query"].items()},
        conventions=Conventions(**data["definition"]["conventions"]),
        groups={name: np.array([index[q] for q in each]) for name, each in data["groups"].items()},
        names=dict(data["names"]),
        stored=json.loads(json.dumps(dict(data))),
    )


def _column(name: str, values: Mapping[str, float], index: Mapping[str, int]) -> Column:
    column = np.zeros(len(index))
    counted = np.zeros(len(index), dtype=bool)
    for query, value in values.items():
        column[index[query]], counted[index[query]] = value, True
    return Column(parse(name), column, None if counted.all() else counted)
