"""Judged scores as plain data, and back: all but the verdicts, which are in the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rankproof.api.judged import JudgedScores
from rankproof.api.judged_trust import plain
from rankproof.judging.trust.checked import Checked
from rankproof.judging.trust.estimates import Estimate
from rankproof.judging.verdicts import Account


def beside(scores: JudgedScores) -> dict[str, Any]:
    """What judged scores hold that others do not."""
    return {
        "judged": {name: scores.column(name).to_dict() for name in scores.columns},
        "judges": scores.judges,
        "settings": scores.settings,
        "corrections": plain(scores.corrections),
        "estimates": {name: each.to_dict() for name, each in scores.estimates.items()},
        "checked": {name: each.to_dict() for name, each in scores.checked.items()},
    }


def read_back(data: Mapping[str, Any]) -> JudgedScores:
    """Judged scores as they were written."""
    queries = tuple(data["queries"])
    index = {query: i for i, query in enumerate(queries)}
    found = JudgedScores(
        queries=queries,
        columns={},
        groups={name: np.array([index[q] for q in each]) for name, each in data["groups"].items()},
        names=dict(data["names"]),
        judges=list(data["judges"]),
        settings=dict(data["settings"]),
        samples=data["definition"]["fingerprint"],
        account=Account(**data["facts"]["account"]),
        by=dict(data["facts"]["by"]),
        checked={name: Checked.from_dict(each) for name, each in data.get("checked", {}).items()},
        estimates={name: Estimate(**each) for name, each in data.get("estimates", {}).items()},
        stored=dict(data),
    )
    for name in data["judged"]:
        values = data["per_query"].get(name, {})
        column = np.array([values.get(query, 0.0) for query in queries], dtype=np.float64)
        found.put(name, column, np.array([query in values for query in queries], dtype=bool), "")
    return found
