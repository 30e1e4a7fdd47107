"""Rankings to combine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankproof.bench.fusion import METHODS

WEIGHTS = {"one": 0.5, "two": 0.25, "three": 1.0}


@pytest.fixture
def settings_of() -> Any:
    """What a method cannot do without: weights, or judgments to learn from."""

    def settings(name: str, judgments: Any) -> dict[str, Any]:
        method = METHODS[name]
        given: dict[str, Any] = {"weights": WEIGHTS} if method.weighted else {}
        return given | ({"judgments": judgments} if method.learn else {})

    return settings


@pytest.fixture
def rankings() -> dict[str, dict[str, dict[str, float]]]:
    """Three rankings of eight queries, each with holes and some equal scores."""
    rng = np.random.default_rng(5)
    docs = [f"d{i:02}" for i in range(30)]

    def ranking() -> dict[str, dict[str, float]]:
        found = {}
        for query in range(8):
            chosen = rng.choice(docs, size=rng.integers(3, 25), replace=False).tolist()
            found[f"q{query}"] = {doc: float(rng.integers(-20, 60)) / 4 for doc in chosen}
        return found

    return {name: ranking() for name in WEIGHTS}


@pytest.fixture
def judgments() -> dict[str, dict[str, int]]:
    rng = np.random.default_rng(6)
    return {f"q{q}": {f"d{d:02}": int(rng.integers(0, 3)) for d in rng.choice(30, 12, replace=False)} for q in range(8)}
