"""Every metric against plain code over complete tables of verdicts, and what becomes of it where verdicts are lost."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Any

import pytest

from rankproof import judge
from rankproof.judging.metrics.registry import METRICS

QUESTION = "Why?"


@dataclass
class World:
    """One sample, and what a judge would say of every pair of its texts."""

    contexts: list[str]
    answer: list[str]
    reference: list[str]
    verdicts: dict[tuple[str, str, str], int]

    @property
    def row(self) -> dict[str, Any]:
        texts = {"answer": " ".join(self.answer), "reference": " ".join(self.reference)}
        return {"id": "s", "question": QUESTION, "contexts": self.contexts, **texts}

    def supported(self, claim: str, text: str) -> bool:
        return self.verdicts["S", claim, text] == 1

    def by_contexts(self, claim: str, k: int | None = None) -> bool:
        return any(self.supported(claim, each) for each in self.contexts[:k])


def world(seed: int) -> World:
    draw = random.Random(seed)
    made = {
        name: [f"{name} {chr(65 + i)} holds." for i in range(draw.randint(1, 4))]
        for name in ("Context", "Answer", "Reference")
    }
    contexts, answer, reference = made.values()
    told = World(contexts, answer, reference, {})
    for claims, other in ((answer, "reference"), (reference, "answer")):
        for claim in claims:
            for text in (*contexts, told.row[other]):
                told.verdicts["S", claim, text] = draw.choice([-1, 0, 1])
    for text in contexts:
        told.verdicts["R", QUESTION, text] = draw.choice([0, 1, 2, 3])
        told.verdicts["Q", QUESTION, text] = draw.choice([0, 1])
    told.verdicts["A", QUESTION, told.row["answer"]] = draw.choice([-1, 0, 1, 2, 3])
    return told


def share(parts: list[bool]) -> float | None:
    return sum(parts) / len(parts) if parts else None


def retrieval(w: World) -> dict[str, float | None]:
    grades = [w.verdicts["R", QUESTION, text] for text in w.contexts]
    ranks = [rank for rank, grade in enumerate(grades, 1) if grade >= 2]
    shows = [{claim for claim in w.reference if w.supported(claim, text)} for text in w.contexts]
    new = [found - set().union(*shows[:place]) for place, found in enumerate(shows)]
    useful = [place for place, found in enumerate(shows) if found]
    cascade, err = 1.0, 0.0
    for rank, grade in enumerate(grades, 1):
        stop = (2**grade - 1) / 8
        err, cascade = err + cascade * stop / rank, cascade * (1 - stop)
    ideal = sum(g / math.log2(i + 1) for i, g in enumerate(sorted(grades, reverse=True), 1))
    dcg = sum(g / math.log2(i + 1) for i, g in enumerate(grades, 1))
    return {
        "context_precision": sum((n + 1) / rank for n, rank in enumerate(ranks)) / len(ranks) if ranks else 0.0,
        "context_recall": share([w.by_contexts(claim) for claim in w.reference]),
        "context_recall@2": share([w.by_contexts(claim, 2) for claim in w.reference]),
        "nugget_recall": share([w.by_contexts(claim) for claim in w.reference]),
        "context_relevance": share([w.verdicts["Q", QUESTION, text] == 1 for text in w.contexts]),
        "marginal_gain@1": len(new[0]) / len(w.reference),
        "marginal_gain@2": len(new[1]) / len(w.reference) if len(new) > 1 else 0.0,
        "redundancy": share([not new[place] for place in useful]),
        "smallest_k": max(place + 1.0 for place, found in enumerate(new) if found) if useful else None,
        "P(rel=2)@3": len([rank for rank in ranks if rank <= 3]) / 3,
        "RR(rel=2)": 1 / ranks[0] if ranks else 0.0,
        "ERR": err,
        "nDCG(ideal='returned')": dcg / ideal if ideal else 0.0,
    }


def generation(w: World) -> dict[str, float | None]:
    reference, answer = w.row["reference"], w.row["answer"]
    grade = w.verdicts["A", QUESTION, answer]
    good = [w.verdicts["R", QUESTION, text] >= 2 for text in w.contexts]
    right = {claim: w.supported(claim, reference) for claim in w.answer}
    told = {claim: w.by_contexts(claim) for claim in w.answer}
    against = {c: any(w.verdicts["S", c, text] == -1 for text in w.contexts) for c in w.answer}
    by = {
        kind: {
            claim: any(w.supported(claim, text) for text, yes in zip(w.contexts, good, strict=True) if yes is kind)
            for claim in w.answer
        }
        for kind in (True, False)
    }
    used = [
        any(w.supported(claim, text) for claim in w.answer) for text, yes in zip(w.contexts, good, strict=True) if yes
    ]
    precision, recall = share(list(right.values())), share([w.supported(c, answer) for c in w.reference])
    assert precision is not None
    assert recall is not None
    found: dict[str, float | None] = {
        "faithfulness": share(list(told.values())),
        "hallucination_rate": share([not told[c] for c in w.answer]),
        "contradiction_rate": share([against[c] and not told[c] for c in w.answer]),
        "self_knowledge": share([right[c] and not told[c] for c in w.answer]),
        "answer_precision": precision,
        "answer_correctness": 2 * precision * recall / (precision + recall) if precision + recall else 0.0,
        "answer_relevance": grade / 3,
        "context_utilisation": share(used),
        "noise_sensitivity_relevant": share([not right[c] and by[True][c] for c in w.answer]),
        "noise_sensitivity_irrelevant": share([not right[c] and by[False][c] and not by[True][c] for c in w.answer]),
    }
    whatever: dict[str, float | None] = {
        "completeness": recall,
        "abstention_quality": float(any(good) != (grade == -1)),
    }
    if grade != -1:
        return whatever | found
    nothing = {"answer_correctness": 0.0, "answer_relevance": 0.0}
    nothing |= {"context_utilisation": 0.0} if used else {}
    return whatever | dict.fromkeys(found) | nothing


@pytest.mark.parametrize("seed", range(12))
def test_metrics_are_what_plain_code_makes_of_the_same_verdicts(seed: int) -> None:
    w = world(seed)
    expected = retrieval(w) | generation(w)
    scores = judge([w.row], list(expected), judge=lambda *pair: w.verdicts[pair])
    for name, value in expected.items():
        assert math.isnan(scores[name]) if value is None else scores[name] == pytest.approx(value), name


def test_a_cut_leaves_the_contexts_below_it_out() -> None:
    cut = [name for name, each in METRICS.items() if "k" in each.measure.params]
    for seed in range(6):
        w = world(seed)
        found = judge([w.row], [f"{name}@2" for name in cut], judge=lambda *pair, w=w: w.verdicts[pair])
        first = w.row | {"contexts": w.contexts[:2]}
        expected = judge([first], cut, judge=lambda *pair, w=w: w.verdicts[pair])
        for name in cut:
            assert found[f"{name}@2"] == pytest.approx(expected[name], nan_ok=True), (seed, name)


def asked_by(w: Any, name: str) -> set[tuple[str, ...]]:
    """The pairs that a metric alone asks about."""
    pairs = set()

    def heard(*pair: str) -> Any:
        pairs.add(pair)
        return w.verdicts[pair]

    judge([w.row], name, judge=heard)
    return pairs


@pytest.mark.first_is_quick(2)
@pytest.mark.parametrize("seed", range(12))
def test_lost_verdicts_leave_the_true_value_within_the_bounds_and_make_none_up(seed: int) -> None:
    w, draw = world(seed), random.Random(seed)
    expected = retrieval(w) | generation(w)
    asked = {name: asked_by(w, name) for name in expected}
    for lost in (0.1, 0.5, 0.9):
        gone = {pair for pair in w.verdicts if draw.random() < lost}
        scores = judge(
            [w.row], list(expected), judge=lambda *pair, gone=gone: None if pair in gone else w.verdicts[pair]
        )
        for name, value in expected.items():
            if value is not None and not asked[name] & gone:
                assert scores[name] == pytest.approx(value), f"{name} lost nothing"
            if not math.isnan(scores[name]):
                assert scores[name] == pytest.approx(value), name
                assert scores.coverage[name] == 1, name
            if value is not None:
                low, high = scores.bounds(name)
                assert low - 1e-9 <= value <= high + 1e-9, name


def test_no_metric_by_verdicts_is_left_out() -> None:
    tried = {name.partition("@")[0] for name in (*retrieval(world(0)), *generation(world(0)))}
    apart = {"context_entity_recall", "citation_precision", "citation_recall", "noise_sensitivity"}
    apart |= {"nugget_score", "support_precision", "support_recall"}  # tests/judging/test_trec_rag.py
    assert set(METRICS) - apart <= tried
