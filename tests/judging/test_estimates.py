"""Estimates: what they count, what narrows them, and that they do not hang on order, size or a way through a file."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

from rankproof import judge
from rankproof.judging import trust as estimates
from rankproof.judging.labelling import calibrate
from rankproof.judging.lexical_judge import likelihood
from rankproof.judging.metrics.counting import outcomes
from rankproof.judging.trust import FREEDOM, GRID, SPREAD, shifts
from rankproof.judging.verdicts import Ask, Relation
from rankproof.sample import corpus, queries
from rankproof.scoring.scores import Scores
from rankproof.stats.distributions import t_quantile

pytestmark = pytest.mark.cover

FOUR = "context_precision, context_recall, context_entity_recall, context_relevance"


def samples(n: int = 12, contexts: int = 3) -> list[dict]:
    """Questions of the embedded sample with documents that somebody may have retrieved."""
    texts = [each["text"] for each in corpus().values()]
    return [
        {
            "id": query,
            "question": text,
            "contexts": [texts[(i * 7 + j * 11) % len(texts)] for j in range(contexts)],
            "reference": "It is said that " + texts[(i * 7) % len(texts)].split(". ")[0] + ".",
            "answer": texts[(i * 7 + 11) % len(texts)].split(". ")[0] + ".",
        }
        for i, (query, text) in enumerate(list(queries().items())[:n])
    ]


@pytest.mark.slow
def test_a_first_run_without_a_key_gives_context_metrics_with_an_interval() -> None:
    scores = judge(samples(), FOUR)
    for name in ("context_precision", "context_recall", "context_relevance"):
        found = scores.estimate(name)
        assert found is not None
        assert 0 <= found.low <= found.value <= found.high <= 1
        low, high = scores.bounds(name)
        assert found.high - found.low < high - low
        assert found.n == 12
        assert found.expected > 0
    # Entities are found by rules: there is nothing to estimate.
    assert scores.estimate("context_entity_recall") is None
    assert scores.coverage["context_entity_recall"] == 1


def test_one_pair_counts_by_its_probability() -> None:
    question, chunk = "When does the museum open?", "The museum opens at nine."
    found = judge([{"question": question, "contexts": [chunk]}] * 3, "P@1").estimate("P@1")
    assert found is not None
    # All shifts together move the mean a little towards one half.
    assert found.value == pytest.approx(likelihood(Ask(Relation.CONTEXT_ANSWERS, question, chunk)), abs=0.06)


def test_each_way_in_which_pairs_fall_is_worked_out_once_and_no_text_read_again(monkeypatch) -> None:
    ways = []

    def counted(measure, cases):
        ways.append(len(cases))
        return outcomes(measure, cases)

    monkeypatch.setattr(estimates, "outcomes", counted)
    monkeypatch.setattr(estimates, "likelihood", lambda ask: pytest.fail(f"read again: {ask}"))
    assert judge(samples(contexts=2), "P@2").estimate("P@2") is not None
    assert 2 <= max(ways) <= 2**2


def test_verdicts_of_people_and_models_leave_nothing_to_estimate() -> None:
    scores = judge(samples(), "context_recall, faithfulness", judge=lambda relation, left, right: left in right)
    assert scores.estimates == {}
    assert scores.estimate("faithfulness") is None


def test_what_asks_for_more_than_a_yes_has_no_estimate() -> None:
    scores = judge(samples(), "contradiction_rate, faithfulness")
    assert list(scores.estimates) == ["faithfulness"]
    assert judge(samples(), "faithfulness", compat="ragas").estimates == {}


@pytest.mark.slow
def test_the_order_of_samples_does_not_matter() -> None:
    rows = samples()
    first = judge(rows, FOUR).estimates
    assert judge(random.Random(3).sample(rows, len(rows)), FOUR).estimates == first


@pytest.mark.slow
def test_of_many_samples_a_part_drawn_by_lot_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = samples(60)
    whole = judge(rows, "context_recall").estimate("context_recall")
    monkeypatch.setattr(estimates, "MOST", 30)
    part = judge(rows, "context_recall").estimate("context_recall")
    assert (whole.n, part.n) == (60, 30)
    assert part.value == pytest.approx(whole.value, abs=0.12)
    assert part.low < whole.value < part.high


@pytest.mark.slow
def test_it_is_saved_printed_and_written_to_files(tmp_path: Path) -> None:
    scores = judge(samples(), FOUR)
    back = Scores.from_dict(json.loads(json.dumps(scores.to_dict())))
    assert back.estimates == scores.estimates
    assert "estimate, with its" in str(scores)
    rows = json.loads(scores.format("json"))
    assert "estimate_low" in json.dumps(rows)


def test_shifts_without_labels_are_those_of_students_t() -> None:
    places = np.array([0.025, 0.1, 0.5, 0.9, 0.975])
    for relation, (spread, collections) in SPREAD.items():
        scale = spread * np.sqrt(1 + 1 / collections)
        wanted = [scale * t_quantile(place, FREEDOM) for place in places]
        assert shifts(relation, places) == pytest.approx(wanted, abs=0.02)


def test_labels_narrow_the_shift_and_draw_it_to_the_truth() -> None:
    """Labels drawn from pairs whose probabilities are off by a known shift: it is found, as often as is said."""
    rng, off = np.random.default_rng(5), -1.0
    held, widths = 0, []
    for _ in range(100):
        stated = rng.uniform(0.1, 0.9, 30)
        truth = rng.random(30) < 1 / (1 + np.exp(-(np.log(stated / (1 - stated)) + off)))
        low, high = shifts("S", np.array([0.025, 0.975]), list(zip(stated.tolist(), truth.tolist(), strict=True)))
        held += low <= off <= high
        widths.append(high - low)
    assert held >= 90
    assert np.mean(widths) < 0.65 * np.ptp(shifts(Relation.TEXT_SUPPORTS, np.array([0.025, 0.975])))
    assert np.abs(GRID).max() > 10


@pytest.mark.slow
def test_a_handful_of_labels_narrows_the_estimate(tmp_path: Path) -> None:
    rows, ledger = samples(40), tmp_path / "verdicts.db"
    before = judge(rows, "context_recall", ledger=ledger).estimate("context_recall")
    calibrate(ledger, lambda ask: int(likelihood(ask) > 0.5), judge="lexical", who="ana", n=20)
    after = judge(rows, "context_recall", ledger=ledger).estimate("context_recall")
    assert after.labels > 0
    assert after.high - after.low < before.high - before.low


def test_an_abstention_widens_an_estimate_and_doubtful_contexts_do_not_add_up() -> None:
    rows = [
        {
            "id": f"s{i}",
            "query": f"What holds of item {i}?",
            "contexts": [f"Item {i} was painted in red colours."],
            "answer": f"Item {i} is red.",
        }
        for i in range(12)
    ]
    whole = judge(rows, "faithfulness").estimate("faithfulness")
    shy = [row | {"answer": "I don't know."} if i % 2 else row for i, row in enumerate(rows)]
    half = judge(shy, "faithfulness").estimate("faithfulness")
    assert whole is not None
    assert half is not None
    assert half.low <= whole.low
    assert half.high >= 0.5
    padded = [row | {"contexts": [f"{row['contexts'][0][:-1]}, says {n}." for n in "abcdefgh"]} for row in rows]
    one = [row | {"contexts": row["contexts"][:1]} for row in padded]
    alone, many = (judge(each, "faithfulness").estimate("faithfulness") for each in (one, padded))
    assert alone is not None
    assert many is not None
    assert many.value <= alone.value + 0.05
