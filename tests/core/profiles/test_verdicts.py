"""The verdict arithmetic of the judges of text: the same verdicts give the same scores."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from rankproof import evaluate

GOLDEN = Path(__file__).parents[2] / "golden"
EXACT = 1e-9


def golden(tool: str) -> dict[str, Any]:
    return json.loads((GOLDEN / f"{tool}.json").read_text(encoding="utf-8"))


JUDGED = [
    ("ragas", "context_precision", "AP"),
    ("ragas", "non_llm_context_precision", "context_precision"),
    ("deepeval", "contextual_precision", "AP"),
    ("deepeval", "contextual_relevancy", "context_relevance"),
]


@pytest.mark.parametrize(("tool", "key", "ours"), JUDGED)
def test_verdicts_on_chunks_count_as_the_judges_count_them(tool: str, key: str, ours: str) -> None:
    given = [each for each in golden(tool)["cases"].values() if each.get("verdicts")]
    for each in given:
        chunks = [f"c{place}" for place in range(len(each["verdicts"]))]
        judged = {"q": dict(zip(chunks, each["verdicts"], strict=True))}
        found = evaluate(judged, {"q": chunks}, ours, profile=tool)[ours]
        assert math.isclose(found, each[key], abs_tol=EXACT), each
    assert len(given) > 30


@pytest.mark.parametrize(("tool", "key"), [("ragas", "context_recall"), ("deepeval", "contextual_recall")])
def test_claims_count_as_the_judges_count_them(tool: str, key: str) -> None:
    given = [each for each in golden(tool)["cases"].values() if each.get("verdicts")]
    for each in given:
        claims = {f"claim {place}": verdict for place, verdict in enumerate(each["verdicts"])}
        found = evaluate({"q": {"chunk": claims}}, {"q": ["chunk"]}, "StRecall", profile=tool)["StRecall"]
        assert math.isclose(found, each[key], abs_tol=EXACT), each
    assert len(given) > 30


def test_entities_count_as_ragas_counts_them() -> None:
    given = [each for each in golden("ragas")["cases"].values() if "context_entity_recall" in each]
    for each in given:
        wanted = {entity: int(entity in each["contexts"]) for entity in each["reference"]}
        if len(wanted) < len(each["reference"]) or not wanted:
            continue  # it counts an entity named twice as two, and we refuse a question without entities
        found = evaluate({"q": {"chunk": wanted}}, {"q": ["chunk"]}, "context_entity_recall", profile="ragas")
        assert math.isclose(found["context_entity_recall"], each["context_entity_recall"], abs_tol=1e-8), each
    assert len(given) == 5
