"""Fusion against ranx, on golden values; where it differs from the published method, the difference is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rankproof import fuse
from tests.each import with_each

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "ranx_fusion.json").read_text(encoding="utf-8"))
WEIGHTS = GOLDEN["weights"]

HOW: dict[str, dict[str, Any]] = {
    "rrf": {},
    "rrf k=5": {"k": 5},
    "isr": {},
    "log-isr": {},
    "logn-isr": {},
    "rbc": {},
    "borda": {},
    "borda weighted": {"weights": WEIGHTS},
    "condorcet": {},
    "condorcet weighted": {"weights": WEIGHTS},
    "combgmnz": {"gamma": 0.5},
    "weighted-sum": {"weights": WEIGHTS},
    "wmnz": {"weights": WEIGHTS},
    "mixed": {"weights": WEIGHTS},
    "bayesfuse": {},
    "mapfuse": {},
    "posfuse": {},
    "probfuse": {"segments": 7},
    "segfuse": {"sizes": "ranx"},
    "slidefuse": {"window": 3},
    **{f"comb{name}": {} for name in ("sum", "mnz", "min", "max", "med", "anz")},
    **{f"combmnz {name}": {"normalise": name} for name in ("min-max", "max", "sum", "rank", "borda")},
    "combmnz zmuv": {"normalise": "z-score"},
}
LEARN = {"bayesfuse", "mapfuse", "posfuse", "probfuse", "segfuse", "slidefuse"}
BY_MAJORITY = {"condorcet", "condorcet weighted"}


def ours(what: str, case: dict[str, Any]) -> dict[str, dict[str, float]]:
    judgments = case["judgments"] if what in LEARN else None
    return fuse(case["runs"], what.split()[0], judgments=judgments, **HOW[what])


@pytest.mark.parametrize("name", GOLDEN["cases"])
def test_nothing_that_ranx_gave_is_left_out(name: str) -> None:
    assert set(GOLDEN["cases"][name]) == set(HOW)


@with_each("name", GOLDEN["inputs"])
@pytest.mark.parametrize("what", sorted(set(HOW) - BY_MAJORITY))
def test_scores_are_those_of_ranx(what: str, name: str) -> None:
    found, expected = ours(what, GOLDEN["inputs"][name]), GOLDEN["cases"][name][what]
    assert found.keys() == expected.keys()
    for query, docs in expected.items():
        assert found[query] == pytest.approx(docs, rel=1e-9, abs=1e-12), query
