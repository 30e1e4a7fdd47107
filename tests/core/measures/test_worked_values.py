"""Values worked out by hand: what a textbook reader would get with pencil and paper."""

from __future__ import annotations

from typing import Any

import pytest

from rankproof import evaluate, explain

ONE = "q"


def value(judged: Any, ranking: list[str], measure: str, **conventions: Any) -> float:
    return evaluate({ONE: judged}, {ONE: ranking}, measure, **conventions)[measure]


def docs(text: str) -> list[str]:
    return text.split()


def graded(grades: list[float]) -> dict[str, float]:
    """Documents d1, d2, ... with these grades."""
    return {f"d{i}": grade for i, grade in enumerate(grades, 1)}


def returned(count: int) -> list[str]:
    return [f"d{i}" for i in range(1, count + 1)]


SIMPLE = [
    ("1 3 6 7", "1 2 3 4 5", {"P": 0.40, "R": 0.50, "F1": 0.444}),
    ("1 3 6", "1 5 3 2 4", {"P@1": 1, "R@1": 1 / 3, "P@3": 2 / 3, "R@3": 2 / 3, "P@5": 0.4, "R@5": 2 / 3}),
    ("cnn bert rnn", "x cnn bert rnn tr", {"P@5": 0.6, "R@5": 1}),
    ("a b c", "a b c d e", {"P@5": 0.6, "R@5": 1}),
    ("a b r3 r4 r5 r6", "a b x y", {"AP": 0.3333}),
    ("a b r3 r4 r5 r6", "x y z a b", {"AP": 0.1083}),
    (
        "a b c",
        "a x b",
        {"AP(denominator='min')@2": 1 / 2, "AP(denominator='k')@2": 1 / 2, "AP(denominator='k')": 5 / 9},
    ),
    ("a", "a x b", {"AP(denominator='min')@2": 1, "AP(denominator='k')@2": 1 / 2, "AP(denominator='min')": 1}),
    ("chunk1", "chunk1 x y", {"context_precision": 1.0}),
    ("s1 s2", "s1 s2 s3", {"context_relevance": 0.6667}),
]


@pytest.mark.parametrize(("relevant", "ranking", "expected"), SIMPLE)
def test_sets(relevant: str, ranking: str, expected: dict[str, float]) -> None:
    scores = evaluate({ONE: docs(relevant)}, {ONE: docs(ranking)}, list(expected))
    for measure, known in expected.items():
        assert scores[measure] == pytest.approx(known, abs=6e-4 if measure == "F1" else 5e-5), measure


@pytest.mark.parametrize(("firsts", "known"), [((2, 1, None), 0.5), ((1, 2, 4), 0.583)])
def test_mean_reciprocal_rank(firsts: tuple[int | None, ...], known: float) -> None:
    relevant = {f"q{i}": ["good"] for i in range(len(firsts))}
    ranking = {
        f"q{i}": ["good" if rank == first else f"x{rank}" for rank in range(1, 6)] for i, first in enumerate(firsts)
    }
    assert evaluate(relevant, ranking, "MRR")["MRR"] == pytest.approx(known, abs=5e-4)


@pytest.mark.parametrize(
    ("grades", "measure", "known"),
    [
        ([3, 2, 3, 0, 1], "nDCG", 0.9724),
        ([3, 2, 3, 0, 1], "nDCG(gain='exp')", 0.9575),
        ([0, 1, 0, 3, 2], "nDCG", 0.5663),
        ([3, 2, 0], "ERR(top_grade=3)", 0.8984),
        ([0, 3], "ERR(top_grade=3)", 0.4375),
    ],
)
def test_grades_in_returned_order(grades: list[float], measure: str, known: float) -> None:
    assert value(graded(grades), returned(len(grades)), measure) == pytest.approx(known, abs=5e-5)


def test_a_relevant_document_that_is_not_returned() -> None:
    judged = {"a": 1, "b": 0, "c": 3, "d": 2, "e": 0, "f": 3}
    assert value(judged, docs("a b c d e"), "nDCG@5") == pytest.approx(0.5316, abs=5e-5)


def test_dcg_and_its_ideal() -> None:
    judged = {"a": 2, "x": 0, "b": 2, "c": 1}
    assert value(judged, docs("a x b"), "DCG") == pytest.approx(3, abs=5e-4)
    assert value(judged, docs("a x b c"), "DCG") == pytest.approx(3.431, abs=5e-4)
    assert value(judged, docs("a b c x"), "DCG") == pytest.approx(3.762, abs=5e-4)
    assert value(judged, docs("a x b c"), "nDCG@4") == pytest.approx(0.9120, abs=5e-5)


def test_grade_3_at_rank_2_and_grade_1_at_rank_4() -> None:
    judged = {"a": 3, "b": 1}
    assert value(judged, docs("x a y b"), "DCG") == pytest.approx(2.323, abs=5e-4)
    assert value(judged, docs("a b x y"), "DCG") == pytest.approx(3.631, abs=5e-4)
    assert value(judged, docs("x a y b"), "nDCG") == pytest.approx(0.6399, abs=5e-5)


def test_mean_average_precision() -> None:
    relevant = {"q1": ["a"], "q2": ["a"], "q3": ["a", "b", "c"]}
    ranking = {"q1": docs("x a"), "q2": docs("x a"), "q3": docs("x y z a b")}
    scores = evaluate(relevant, ranking, "AP")
    assert list(scores.per_query["AP"].values()) == pytest.approx([0.5, 0.5, 0.2167], abs=5e-5)
    assert scores["MAP"] == pytest.approx(0.4056, abs=5e-5)


def test_the_accuracy_trap() -> None:
    relevant, ranking = [f"r{i}" for i in range(6)], docs("r0 r1 x y z")
    known = {"Accuracy": 0.9993, "P": 0.40, "R": 0.3333, "F1": 0.3636, "TP": 2, "FP": 3, "FN": 4, "TN": 9991}
    for measure, expected in known.items():
        assert value(relevant, ranking, measure, corpus_size=10_000) == pytest.approx(expected, abs=5e-5), measure


TWO = {
    "P@1": 0.5, "P@3": 0.3333, "P@5": 0.4, "R@1": 0.1667, "R@3": 0.4167, "R@5": 0.8333, "F1@3": 0.3667, "F1@5": 0.5357,
    "Hit@1": 0.5, "Hit@3": 1, "MAP": 0.4333, "MRR": 0.6667, "nDCG@5": 0.6076, "nDCG(ideal='top')@5": 0.7105,
    "nDCG@3": 0.3879, "nDCG(ideal='top')@3": 0.75, "nDCG(ideal='returned')@3": 0.4599,
}  # fmt: skip


@pytest.mark.parametrize(("measure", "known"), TWO.items())
def test_two_queries(measure: str, known: float) -> None:
    relevant = {"q1": docs("d1 d2 d4"), "q2": docs("d1 d2")}
    ranking = {"q1": docs("d1 d3 d5 d2 d7"), "q2": docs("d6 d8 d1 d9 d2")}
    assert evaluate(relevant, ranking, measure)[measure] == pytest.approx(known, abs=6e-5)


RETRIEVERS = {
    "A": ("ml1 other ml2 py1 rag1", {"MRR": 0.4833, "P@5": 0.2667, "R@5": 0.8333, "Hit@5": 1, "nDCG@5": 0.5235,
                                     "nDCG(ideal='top')@5": 0.5791}),
    "B": ("other ml1 rag1 py1 ml2", {"MRR": 0.3611, "P@5": 0.2667, "R@5": 0.8333, "Hit@5": 1, "nDCG@5": 0.4627,
                                     "nDCG(ideal='top')@5": 0.5182}),
}  # fmt: skip


@pytest.mark.parametrize("name", RETRIEVERS)
def test_two_retrievers(name: str) -> None:
    relevant = {"ml": docs("ml1 ml2"), "py": docs("py1 py3"), "rag": ["rag1"]}
    ranking, known = RETRIEVERS[name]
    scores = evaluate(relevant, {query: docs(ranking) for query in relevant}, list(known))
    for measure, expected in known.items():
        assert scores[measure] == pytest.approx(expected, abs=5e-5), measure


def test_context_recall_counts_unsupported_claims() -> None:
    evidence = {"chunk1": {"claim 1": 1, "claim 2": 1, "claim 4": 0}, "chunk2": {"claim 3": 1, "claim 4": 0}}
    assert value(evidence, docs("chunk1 chunk2"), "context_recall") == 0.75
    assert value(evidence, docs("chunk1"), "context_recall") == 0.5
    assert value(evidence, docs("chunk1 chunk2"), "StRecall") == 1


def test_entity_recall() -> None:
    evidence = {"context": {"Brazil": 1, "Brasília": 1, "April 21 1960": 0}}
    assert value(evidence, ["context"], "context_entity_recall") == pytest.approx(0.6667, abs=5e-5)


def test_a_goal_is_reached_by_thirds_that_add_up_to_it() -> None:
    """2 2 1 1 of 3 come to 2 at rank 4, though 2/3 + 2/3 + 1/3 + 1/3 falls short of it in floating point."""
    judged, run = {"q": {"a": 2, "b": 2, "c": 1, "d": 1, "e": 3}}, {"q": ["a", "b", "c", "d", "x", "y"]}
    found = evaluate(judged, run, "BPM(T=2)@10")
    assert found["BPM(T=2)@10"] == pytest.approx(0.5)
    assert explain(judged, run, "q", "BPM(T=2)@10").value == pytest.approx(0.5)
    for top in range(2, 60):
        for goal in (1, 2, 3):
            steps = [f"d{i}" for i in range(goal * top)]
            judged = {"q": {**dict.fromkeys(steps, 1), "best": top}}
            value = evaluate(judged, {"q": [*steps, "x", "y"]}, f"BPM(T={goal})@500")[f"BPM(T={goal})@500"]
            assert value == pytest.approx(1 / top), (top, goal)
