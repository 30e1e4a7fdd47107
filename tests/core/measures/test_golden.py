"""Values that other tools gave for the same inputs, kept as data (see tests/golden)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rankproof import evaluate
from rankproof.core.names import parse

GOLDEN = Path(__file__).resolve().parents[2] / "golden"


def cases(tool: str) -> list[tuple[str, dict[str, Any]]]:
    made = json.loads((GOLDEN / f"{tool}.json").read_text(encoding="utf-8"))["cases"]
    return [(name, each) for name, each in made.items()]


@pytest.mark.first_is_quick
@pytest.mark.parametrize(("name", "case"), cases("ndeval"))
def test_as_ndeval(name: str, case: dict[str, Any]) -> None:
    """ndeval gives NaN or leaves a query at 0 where nothing is relevant; ours is 0."""
    for theirs, known in case["per_query"].items():
        measure = parse(theirs)
        settings = {s: case[s] for s in ("alpha", "beta") if s in measure.spec.parameters}
        ours = str(measure.with_params(settings))
        found = evaluate(case["judgments"], case["run"], ours).per_query[ours]
        for query, value in known.items():
            assert found[query] == pytest.approx(value or 0.0, abs=1e-9), (theirs, query)


@pytest.mark.parametrize(("name", "case"), cases("cwl_eval"))
def test_as_cwl_eval(name: str, case: dict[str, Any]) -> None:
    for measure, known in case["per_query"].items():
        found = evaluate(case["judgments"], case["run"], measure).per_query[str(parse(measure))]
        for query, value in known.items():
            assert found[query] == pytest.approx(value, abs=1e-9), (measure, query)
