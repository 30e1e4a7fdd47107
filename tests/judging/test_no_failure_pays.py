"""Nobody gains by failing: whatever becomes of a sample, no mean over all of them rises, and what is lost is told."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from rankproof import compare_scores, gate_scores, judge, leaderboard
from rankproof.judging.metrics.registry import METRICS
from rankproof.judging.verdicts import Relation

Row = dict[str, Any]
N = 12
LOW = {"hallucination_rate", "contradiction_rate", "redundancy", "smallest_k", "noise_sensitivity"}
"""Less is better; so it is their high end that no failure may lower."""
NEITHER = {"self_knowledge"}
"""Neither more nor less of it is better."""
NAMES = [
    *(set(METRICS) - NEITHER),
    "P@2",
    "RR",
    "ERR",
    "DCG@3",
    "nDCG(ideal='returned')",
    "AP(denominator='found')",
    "R@2",
]


def rows() -> list[Row]:
    return [
        {
            "id": f"s{i}",
            "question": f"What holds of item {i}?",
            "contexts": [f"Item {i} is red. It is tall.", f"Item {i} costs nothing.", f"Boats of {i} sail."],
            "reference": f"Item {i} is red. Item {i} costs nothing.",
            "reference_contexts": [f"Item {i} is red. It is tall.", f"Item {i} is old."],
            "answer": f"Item {i} is red [1]. Item {i} costs nothing [2].",
            "nuggets": [f"Item {i} is red.", f"Item {i} costs nothing."],
        }
        for i in range(N)
    ]


def fair(relation: str, left: str, right: str) -> Any:
    """Goes by words for claims, always the same for the same pair, and knows an abstention."""
    if relation == Relation.ANSWER_ADDRESSES:
        return -1 if "know" in right else 3
    if relation == Relation.CONTEXT_ANSWERS:
        return 3 if "red" in right else 2 if "costs" in right else 0
    if relation == Relation.STATEMENT_BEARS:
        return int("Boats" not in right)
    claim = left.rstrip(".")
    return int(claim in right) or -(zlib.crc32(f"{left}{right}".encode()) % 9 == 0)


FAILURES: dict[str, Callable[[Row], Row]] = {
    "nothing retrieved": lambda row: row | {"contexts": []},
    "contexts null": lambda row: row | {"contexts": None},
    "contexts left out": lambda row: {name: row[name] for name in row if name != "contexts"},
    "blank contexts": lambda row: row | {"contexts": ["", " \n", "\u200b"]},
    "a blank in the place of the best": lambda row: row | {"contexts": ["...", *row["contexts"][1:]]},
    "headings only": lambda row: row | {"contexts": ["# Boats"]},
    "empty answer": lambda row: row | {"answer": ""},
    "answer of marks": lambda row: row | {"answer": "--"},
    "answer null": lambda row: row | {"answer": None},
    "answer left out": lambda row: {name: row[name] for name in row if name != "answer"},
    "abstains": lambda row: row | {"answer": "I don't know."},
    "everything gone": lambda row: {name: row[name] for name in row if name not in ("answer", "contexts")},
}


@pytest.mark.first_is_quick
@pytest.mark.parametrize("failure", FAILURES)
def test_a_failed_sample_raises_no_number(failure: str) -> None:
    whole = judge(rows(), NAMES, judge=fair)
    failed = [FAILURES[failure](row) if i % 3 == 0 else row for i, row in enumerate(rows())]
    found = judge(failed, NAMES, judge=fair)
    told = " ".join(each.message for each in found.audit)
    for name in found:
        column = found.column(name)
        low, high = found.bounds(name)
        before = whole[name]
        if name in LOW:
            assert column.lost or high >= before - 1e-9, name
        else:
            assert low <= before + 1e-9, f"{name}: even at worst it is more than before"
            if len(column.counting) == N:
                assert found[name] <= before + 1e-9, name
        if len(column.counting) < N:
            assert found.coverage[name] < 1, name
            assert name in told, f"nothing is said of {name}"
            assert sum(found.unmeasured[name].values()) == N - len(column.counting), name
    zeros = {
        "contexts": ["context_precision", "context_recall", "context_relevance", "P@2", "RR"],
        "answer": ["completeness", "answer_correctness", "answer_relevance"],
    }
    gone = [field for field in zeros if not FAILURES[failure](rows()[0]).get(field)]
    for name in (name for field in gone for name in zeros[field]):
        assert len(found.column(name).counting) == N, name
        assert found.values(name)["s0"] == 0, name


@pytest.mark.first_is_quick(2)
@pytest.mark.parametrize(
    "abstention",
    [
        "I don't know.",
        "Das weiß ich leider nicht.",
        "Je ne sais pas.",
        "No lo sé.",
        "我不知道。",
        "Я не знаю.",
    ],
)
def test_an_abstention_is_not_correct_in_any_language(abstention: str) -> None:
    half = [row | {"answer": abstention} if i % 2 else row for i, row in enumerate(rows())]
    found = judge(half, "answer_correctness, answer_relevance, faithfulness")
    for name in ("answer_correctness", "answer_relevance"):
        assert found.values(name)["s1"] == 0
    assert found.bounds("faithfulness")[0] <= 0.5
    assert found.coverage["faithfulness"] <= 0.5


def test_few_that_are_left_make_no_decision() -> None:
    whole = judge(rows(), "faithfulness, context_recall", judge=fair)
    few = [row if i < 2 else row | {"answer": ""} for i, row in enumerate(rows())]
    left = judge(few, "faithfulness, context_recall", judge=fair)
    assert left.thin("faithfulness")
    assert left.coverage["faithfulness"] == pytest.approx(2 / 12)
    found = compare_scores({"whole": whole, "left": left})
    text = " ".join(str(found).split())
    assert "12 queries (fewer for faithfulness 2), compared with whole" in text
    assert "faithfulness: 2 of 12 queries have a value in both left and whole" in text
    assert "same value on every query" not in text
    assert found.row("left", "faithfulness").verdict == "unclear"
    assert gate_scores(whole, left, "faithfulness").outcome == "inconclusive"
    again = type(left).from_dict(json.loads(json.dumps(left.to_dict())))
    assert again.coverage["faithfulness"] == left.coverage["faithfulness"]
    assert [each.message for each in again.audit] == [each.message for each in left.audit]


def test_who_abstains_where_it_is_hard_does_not_lead() -> None:
    def hard(relation: str, left: str, right: str) -> Any:
        odd = relation == Relation.TEXT_SUPPORTS and int("".join(filter(str.isdigit, left)) or 0) % 2
        return 0 if odd else fair(relation, left, right)

    plain = judge(rows(), "faithfulness", judge=hard)
    sly = [row | {"answer": "I don't know."} if i % 4 == 1 else row for i, row in enumerate(rows())]
    clever = judge(sly, "faithfulness", judge=hard)
    board = leaderboard({"plain": plain, "clever": clever})
    assert board.means["plain"] == board.means["clever"]
    assert (board.queries, board.left_out) == (9, 3)
    assert "3 queries without a value in some system" in str(board)


def test_what_is_said_twice_counts_once() -> None:
    row = rows()[0]
    noisy = row | {"contexts": [row["contexts"][0], row["contexts"][2]]}
    doubled = row | {"contexts": [row["contexts"][0], f" {row['contexts'][0]}\n"]}
    names = ["context_precision", "P@2", "DCG@2", "context_relevance", "context_recall"]
    one, two = judge([noisy], names, judge=fair), judge([doubled], names, judge=fair)
    assert all(two[name] <= one[name] for name in names)
    assert {name for name in names if two[name] == one[name]} == {*names} - {"context_relevance"}


def test_what_a_sample_lacks_is_told_in_one_order() -> None:
    """Without it each process has an order of its own, so that two reports of one judging differ."""
    rows = [{"query": "q?"}, {"query": "q?", "contexts": ["a b."], "answer": "a b."}]
    assert list(judge(rows, "faithfulness", judge="lexical").emptied) == ["answer", "contexts"]


@pytest.mark.slow
def test_a_mean_over_what_is_left_never_stands_alone_in_any_face() -> None:
    """A system that is silent where it would err has a higher mean: n and the bounds stand beside it everywhere."""

    def rows(silent: str | None) -> list[dict[str, Any]]:
        found = []
        for i in range(24):
            said = f"The stated fact number {i} surely holds in every case."
            wrong = f"A wrong statement number {i} is made up by somebody else." if silent is None else silent
            found.append({"id": f"s{i}", "query": f"q{i}?", "contexts": [said], "answer": said if i % 3 else wrong})
        return found

    def reader(relation: str, left: str, right: str) -> int:
        if relation == Relation.ANSWER_ADDRESSES:
            return -1 if "not know" in right else 3
        return 1 if left in right else 0

    honest = judge(rows(None), "faithfulness", judge=reader)
    for silent in ("", "I do not know the answer to this question."):
        sly = judge(rows(silent), "faithfulness", judge=reader)
        assert (sly["faithfulness"], honest["faithfulness"]) == (1.0, pytest.approx(2 / 3))
        assert sly.bounds("faithfulness") == pytest.approx((2 / 3, 1.0))
        both = {"honest": honest, "sly": sly}
        compared = compare_scores(both)
        assert compared.row("sly", "faithfulness").difference == 0
        told = "sly, faithfulness: 1.0000 is a mean over 16 of 24 samples; with the rest at worst and at best it is"
        faces = {
            "judge": str(sly),
            "compare": str(compared),
            "compare, markdown": compared.format("markdown"),
            "leaderboard": str(leaderboard(both, measure="faithfulness")),
            "leaderboard, json": leaderboard(both, measure="faithfulness").format("json"),
            "gate": str(gate_scores(honest, sly)),
        }
        for face, text in faces.items():
            plain = " ".join(text.replace("candidate,", "sly,").split())
            assert face == "judge" or told in plain, face
            assert face != "judge" or ("[0.6667, 1.0000]" in plain and "16 of 24" in plain)
        row = json.loads(compared.format("json"))[0]
        assert (row["n"], row["mean"], row["possible_high"]) == (16, 1.0, 1.0)
        assert (row["coverage"], row["possible_low"]) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
        for form in ("json", "jsonl", "csv"):
            assert all(each in sly.format(form) for each in ("0.66666", "coverage")), form
        assert gate_scores(honest, sly).outcome == "inconclusive"
        assert "16" in sly.html()
        assert "0.6667, 1.0000" in sly.html()
    assert not any("is a mean over" in note for note in compare_scores({"a": honest, "b": honest}).notes)
