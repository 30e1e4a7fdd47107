"""The formulas of other tools, held against the tools themselves on sixty tables of verdicts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rankproof import judge
from rankproof.errors import UsageError
from rankproof.judging.metrics.registry import PEERS, parse
from rankproof.judging.verdicts import Relation

pytestmark = pytest.mark.cover

GOLDEN = Path(__file__).resolve().parents[2] / "golden"
CASES = json.loads((GOLDEN / "judged_cases.json").read_text())
TOOLS = {
    tool: json.loads((GOLDEN / f"judged_{tool}.json").read_text())
    for tool in ("ragas", "deepeval", "ragchecker", "mlflow", "promptfoo")
}
WITHOUT_ARITHMETIC = {
    "ragas": {"context_entity_recall"},  # has golden values of its own, below
    "mlflow": {"retrieval_sufficiency", "retrieval_groundedness", "correctness", "relevance_to_query"},
}
LETTERS = ("Anna", "Bert", "Carl", "Dora", "Emil", "Fred")


def texts(case: dict[str, Any]) -> dict[str, Any]:
    """A sample whose claims and statements are as many as the table has."""
    return {
        "question": "Who is there?",
        "answer": " ".join(f"{name} answers it." for name in LETTERS[: len(case["answer_by_contexts"])]),
        "reference": " ".join(f"{name} refers there." for name in LETTERS[: len(case["reference_by_contexts"])]),
        "contexts": [
            " ".join(f"{name} stands in {place}." for name in LETTERS[: len(row)])
            for place, row in enumerate(case["statements_bear"])
        ],
    }


def judge_of(case: dict[str, Any], row: dict[str, Any]) -> Any:
    """A judge that reads its verdicts off the table."""

    def said(relation: str, left: str, right: str) -> int:
        if relation == Relation.CONTEXT_ANSWERS:
            return int(case["grades"][row["contexts"].index(right)])
        if relation == Relation.STATEMENT_BEARS and "stands" in right:
            place = int(right.rstrip(".").rpartition(" ")[2])
            return int(case["statements_bear"][place][LETTERS.index(right.split()[0])])
        if relation == Relation.STATEMENT_BEARS:
            return int(case["answer_bears"][LETTERS.index(right.split()[0])])
        if relation == Relation.ANSWER_ADDRESSES:
            return 3
        place = LETTERS.index(left.split()[0])
        side = "answer" if "answers" in left else "reference"
        if right in row["contexts"]:
            return int(case[f"{side}_by_contexts"][place][row["contexts"].index(right)])
        return int(case["answer_by_reference" if side == "answer" else "reference_by_answer"][place])

    return said


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    "some", [slice(4), pytest.param(slice(4, None), marks=pytest.mark.slow)], ids=["four", "others"]
)
def test_our_formulas_give_what_the_tool_gives(tool: str, some: slice) -> None:
    for name, expected in list(TOOLS[tool]["cases"].items())[some]:
        row = texts(CASES[name])
        scores = judge([row], list(expected), judge=judge_of(CASES[name], row), compat=tool)
        got = {parse(each, tool).name: each for each in expected}
        for ours, theirs in got.items():
            value = 0.0 if scores.column(ours).why else scores[ours]
            assert value == pytest.approx(expected[theirs], abs=1e-12), f"{name}: {theirs}"


@pytest.mark.parametrize("tool", TOOLS)
def test_every_formula_of_a_tool_is_held_against_it(tool: str) -> None:
    known = {parse(name, tool).spec.name for name in next(iter(TOOLS[tool]["cases"].values()))}
    assert set(PEERS[tool]) - known == WITHOUT_ARITHMETIC.get(tool, set())


@pytest.mark.parametrize("tool", TOOLS)
def test_the_title_of_a_formula_says_what_it_counts(tool: str) -> None:
    titles = {name: each.measure.spec.title for name, each in PEERS[tool].items()}
    assert len(set(titles.values())) == len(titles)
    for name, title in titles.items():
        assert len(title.split()) > 5, f"{name}: {title}"


def test_ragas_entity_recall() -> None:
    golden = json.loads((GOLDEN / "ragas.json").read_text())["cases"]["entities 0"]
    row = {"reference": "It was Brazil, Brasília, April 21 1960.", "contexts": ["Brasília is in Brazil."]}
    ours = judge([row], "context_entity_recall", compat="ragas", judge=lambda *pair: None)
    assert ours["context_entity_recall"] == pytest.approx(golden["context_entity_recall"], abs=1e-15)


@pytest.mark.parametrize("holds", [True, False])
def test_mlflow_asks_whether_all_of_it_holds(holds: bool) -> None:
    """One claim of two decides for the answer and for the reference; of an answer grade 2 and 3 are relevant."""
    row = {"question": "Why?", "answer": "Anna answers it. Bert answers it.", "contexts": ["Text one.", "Text two."]}
    expected = {"reference": "Carl refers there. Dora refers there."}

    def said(relation: str, left: str, right: str) -> int:
        if relation == Relation.ANSWER_ADDRESSES:
            return 2 if holds else 1
        return int(holds) if left.startswith(("Bert", "Dora")) else int(right != "Text one.")

    names = sorted(WITHOUT_ARITHMETIC["mlflow"])
    for facts in (expected, {"nuggets": ["Carl refers there.", "Dora refers there."]}):
        assert judge([row | facts], names, judge=said, compat="mlflow").means == dict.fromkeys(names, float(holds))
    scores = judge([row], names, judge=said, compat="mlflow")
    assert {name for name in names if scores.column(name).why} == {"correctness", "retrieval_sufficiency"}
    silent = judge([row | {"answer": ""}], "retrieval_groundedness", judge=said, compat="mlflow")
    assert silent.column("retrieval_groundedness").why


def test_an_empty_answer_has_no_share_of_its_claims() -> None:
    """What does not count its claims is measured: nothing of the reference is in it, and it contradicts nothing."""
    row = {"question": "Why?", "answer": "", "reference": "Carl refers there.", "contexts": ["Text one."]}
    measured = {}
    for tool, peers in PEERS.items():
        names = [name for name, each in peers.items() if "answer" in each.needs]
        scores = judge([row], names, judge=lambda *pair: 1, compat=tool)
        measured |= {(tool, name): scores[name] for name in names if not scores.column(name).why}
    nothing = [("ragas", "factual_correctness"), ("ragchecker", "recall"), ("ragchecker", "context_utilization")]
    nothing += [("mlflow", "correctness"), ("mlflow", "relevance_to_query")]
    assert measured == {**dict.fromkeys(nothing, 0.0), ("deepeval", "hallucination"): 1.0}


def test_where_the_tools_differ_on_the_same_verdicts() -> None:
    row = {
        "question": "Why?",
        "answer": "Anna answers it. Bert answers it.",
        "contexts": ["Text one.", "Text two."],
    }
    row["reference"] = "Carl refers there."

    def said(relation: str, left: str, right: str) -> int:
        if relation == Relation.CONTEXT_ANSWERS:
            return 3 if right == "Text two." else 0
        return {"Anna answers it.": 1, "Bert answers it.": 0}.get(left, 1)

    found = {
        tool: judge([row], "faithfulness", judge=said, compat=tool)["faithfulness"]
        for tool in ("ragas", "deepeval", "ragchecker")
    }
    assert found == {"ragas": 0.5, "deepeval": 1.0, "ragchecker": 0.5}
    precision = {
        tool: judge([row], "context_precision", judge=said, compat=tool).means
        for tool in ("ragas", "ragchecker", "deepeval")
    }
    assert precision["deepeval"] == {"contextual_precision": 0.5}
    assert precision["ragas"]["context_precision"] == pytest.approx(0.5)
    assert precision["ragchecker"] == {"context_precision": 1.0}


@pytest.mark.parametrize(
    ("compat", "metrics", "said"),
    [
        ("ragass", "faithfulness", "compat: got 'ragass', expected one of .* Did you mean 'ragas'"),
        ("promptfoo", "faithfulnes", "promptfoo has no formula called 'faithfulnes' here, only"),
        ("ragass", None, "compat: got 'ragass'"),
    ],
)
def test_unknown_tools_and_formulas(compat: str, metrics: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        judge([{"question": "a"}], metrics, judge=lambda *pair: None, compat=compat)


def test_without_metrics_a_tool_gives_all_it_has() -> None:
    scores = judge([{"question": "a", "contexts": ["x."]}], judge=lambda *pair: True, compat="mlflow")
    assert list(scores) == list(PEERS["mlflow"])
    assert scores["retrieval_relevance"] == 1.0
