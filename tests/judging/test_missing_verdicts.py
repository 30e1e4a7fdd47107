"""Nobody is shown a 1.0 that nobody measured: whatever verdicts are missing or broken."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankproof import judge
from rankproof.judging.metrics.registry import METRICS, PEERS
from rankproof.stats.intervals import interval

CONTEXTS = ["Alpha is one. Beta is two.", "Gamma is three.", "Delta is four. Alpha is one."]
ROW = {
    "id": "s",
    "question": "What are the letters?",
    "contexts": CONTEXTS,
    "reference": "Alpha is one. Gamma is three. Omega is last.",
    "answer": "Alpha is one [1]. Delta is four [3]. Sigma is six [2].",
    "reference_contexts": [*CONTEXTS[:2], "Omega is last."],
    "nuggets": [
        {"text": "Alpha is one.", "importance": "vital"},
        {"text": "Pi is pi.", "importance": "okay"},
    ],
}
VALUES = {"R": [0, 1, 2, 3], "S": [-1, 0, 1], "Q": [0, 1], "A": [0, 1, 2, 3]}
OURS = [
    *METRICS,
    "P(rel=2)@2",
    "RR",
    "ERR",
    "AP(denominator='found')",
    "nDCG(ideal='returned')",
    "nDCG@3",
    "R@2",
]


def verdict_on(seed: int, relation: str, left: str, right: str) -> int:
    """Always the same for the same pair."""
    import zlib

    known = VALUES[relation]
    return known[zlib.crc32(f"{seed}{relation}{left}{right}".encode()) % len(known)]


BROKEN = [None, 7, -9, "maybe", 1.5, float("nan"), [], {"value": 1, "quote": "not in the text"}]


def judged(seed: int, spoil: Any, metrics: Any, **how: Any) -> Any:
    """Scores by verdicts drawn by a seed; `spoil(n)` says what stands in the place of the n-th, or Ellipsis."""
    numbers: dict[tuple[str, str, str], int] = {}

    def said(relation: str, left: str, right: str) -> Any:
        number = numbers.setdefault((relation, left, right), len(numbers))
        broken = spoil(number)
        return verdict_on(seed, relation, left, right) if broken is ... else broken

    return judge([ROW], metrics, judge=said, **how)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    spoiled=st.dictionaries(st.integers(0, 60), st.sampled_from(BROKEN), max_size=60),
    complete=st.sampled_from([1.0, 0.5]),
)
def test_no_score_rises_above_its_bound(seed: int, spoiled: dict[int, Any], complete: float) -> None:
    whole = judged(seed, lambda n: ..., OURS)
    part = judged(seed, lambda n: spoiled.get(n, ...), OURS, complete=complete)
    for name in part:
        true, column = whole.column(name), part.column(name)
        if part.bounds(name) is None:
            assert math.isnan(part[name])
            continue
        low, high = part.bounds(name)
        if not math.isnan(part[name]):
            assert low - 1e-9 <= part[name] <= high + 1e-9, name
        # What is true lies between the bounds; what is open cannot move it out of them.
        if whole.bounds(name) is not None and true.counted.any():
            assert low - 1e-9 <= true.mean <= high + 1e-9, name
        if part.coverage[name] < 1 and complete == 1.0:
            assert not column.counted.any(), f"{name} counts a sample that is not settled"
        if column.counted.any() and complete == 1.0:
            assert part[name] == pytest.approx(true.mean), name


@pytest.mark.parametrize("name", list(METRICS))
def test_without_a_single_verdict_nothing_is_measured(name: str) -> None:
    scores = judged(0, lambda n: None, name)
    if METRICS[name].measure.spec.name == "context_entity_recall":  # entities need no judge
        assert scores[name] == judged(0, lambda n: ..., name)[name]
        assert scores.coverage[name] == 1
        return
    assert math.isnan(scores[name])
    repeated = 1 / 5 if name == "context_relevance" else 0  # a statement said twice says nothing new: a rule
    assert scores.coverage[name] == repeated
    low, high = scores.bounds(name)
    assert low < high, "what nobody judged could be anything"


@pytest.mark.first_is_quick
@pytest.mark.parametrize("peer", PEERS)
def test_the_formulas_of_others_do_not_rise_either(peer: str) -> None:
    whole = judged(3, lambda n: ..., list(PEERS[peer]), compat=peer)
    open_ones = 0
    for missing in range(20):
        part = judged(3, lambda n, at=missing: None if n == at else ..., list(PEERS[peer]), compat=peer)
        for name in part:
            if part.bounds(name) is None:
                assert math.isnan(part[name]), name
                continue
            low, high = part.bounds(name)
            assert math.isnan(whole[name]) or low - 1e-9 <= whole[name] <= high + 1e-9
            if math.isnan(part[name]):
                open_ones += 1
                assert part.coverage[name] < 1, f"{name} is settled and not shown"
            else:
                assert part[name] == whole[name], f"{name} is shown, so the lost verdict cannot matter"
    assert open_ones, "no lost verdict left anything open"


def test_two_verdicts_of_six_are_no_perfect_faithfulness() -> None:
    claims = [f"Fact {letter} holds." for letter in "ABCDEF"]
    row = {"answer": " ".join(claims), "contexts": ["A text."]}
    scores = judge([row], "faithfulness", judge=lambda r, left, right: 1 if left in claims[:2] else None)
    assert math.isnan(scores["faithfulness"])
    assert scores.coverage["faithfulness"] == pytest.approx(2 / 6)
    assert scores.bounds("faithfulness") == (pytest.approx(2 / 6), 1.0)
    assert "1.0000  " not in str(scores).splitlines()[2]


def test_two_verdicts_of_five_are_no_perfect_precision() -> None:
    row = {"question": "Why?", "contexts": [f"Text {i}." for i in range(5)]}
    known = set(row["contexts"][:2])
    scores = judge([row], "context_precision", judge=lambda r, q, text: True if text in known else None)
    assert math.isnan(scores["context_precision"])
    # At worst the last alone is relevant beside the first two.
    assert scores.bounds("context_precision") == (pytest.approx((2 + 3 / 5) / 3), 1.0)


def test_a_grade_of_seven_is_unmeasured() -> None:
    row = {"question": "Why?", "contexts": ["Text 1.", "Text 2."]}
    scores = judge([row], "context_precision, ERR, P@2", judge=lambda *pair: 7)
    assert all(math.isnan(scores[name]) for name in scores)
    assert [piece.reason for piece in scores.verdicts] == ["got 7, expected one of 0, 1, 2, 3"] * 2


def test_a_mean_lies_within_what_is_possible_for_all() -> None:
    rows = [{"id": "full", "answer": "Fact A holds.", "contexts": ["x."]}]
    rows.append({"id": "half", "answer": "Fact B fails. Fact C is open.", "contexts": ["x."]})
    known = {"Fact A holds.": 1, "Fact B fails.": 0}
    scores = judge(rows, "faithfulness", judge=lambda r, claim, text: known.get(claim))
    low, high = scores.bounds("faithfulness")
    assert (low, high) == (0.5, 0.75)
    assert scores["faithfulness"] == 0.75  # not 1.0, though the only settled sample has it


def test_why_a_metric_is_open_is_told_of_its_own_pairs() -> None:
    sample = {
        "question": "q",
        "contexts": ["Version 2.10 fixes the login bug."],
        "answer": "Version 2.1 fixes the bug.",
    }
    scores = judge([sample], "faithfulness")  # that the answer is too short to tell whether it abstains is beside it
    assert list(scores.column("faithfulness").why) == ["not settled: shared words leave it open"]


def test_an_interval_goes_with_a_mean_that_the_bounds_have_moved() -> None:
    """Where all that is wrong is settled and the rest is open, the settled samples are no sample of all."""
    answers = {"It is red. It is big.": 0, "It is blue. It is far.": 1}
    said = {"It is blue.": 1, "It is far.": 1, "It is old.": None}
    rows = [
        {"answer": answer, "reference": "It is blue. It is far. It is old."} for answer in answers for _ in range(10)
    ]

    def careful(relation: str, left: str, right: str) -> int | None:
        return 0 if "red" in left + right else said.get(left, 1)

    scores = judge(rows, "answer_correctness", judge=careful)
    low, high = scores.interval("answer_correctness")
    settled = interval(np.zeros(10))
    mean = scores.bounds("answer_correctness")[0]
    assert scores["answer_correctness"] == mean == pytest.approx(0.4)
    assert (low, high) == pytest.approx((settled.low + mean, settled.high + mean))
