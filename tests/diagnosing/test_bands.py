"""Bands: the published cuts, on the share of what could be reached."""

from __future__ import annotations

import pytest

from rankproof import diagnose
from rankproof.diagnosing.symptoms import band, in_words, regime_of, word_of

CUTS = {
    "P@5": (0.30, 0.50, 0.70),
    "R@5": (0.40, 0.60, 0.80),
    "Success@5": (0.60, 0.80, 0.90),
    "RR@10": (0.40, 0.60, 0.80),
    "nDCG@5": (0.40, 0.60, 0.80),
}


@pytest.mark.parametrize(("measure", "cuts"), CUTS.items())
def test_each_band_begins_at_its_cut_and_ends_below_the_next(measure: str, cuts: tuple[float, float, float]) -> None:
    for cut, below, above in zip(
        cuts, ("poor", "acceptable", "good"), ("acceptable", "good", "excellent"), strict=True
    ):
        assert word_of(measure, cut - 0.001) == below
        assert word_of(measure, cut) == above
    assert word_of(measure, 1.0) == "excellent"
    assert word_of(measure, 0.0) == "poor"


def test_the_share_of_the_ceiling_is_banded_and_both_are_kept() -> None:
    found = band("P@5", 0.2, 0.2)
    assert (found.word, found.value, found.ceiling, found.share) == ("excellent", 0.2, 0.2, 1.0)
    assert band("P@5", 0.2, 1.0).word == "poor"


def test_nothing_to_reach_has_no_band() -> None:
    found = band("RR", 0.0, 0.0)
    assert (found.word, found.share, found.said) == ("", None, "")


@pytest.mark.parametrize(
    ("rr", "words"),
    [
        (1.0, "always first"),
        (0.9, "mostly first"),
        (0.5, "about second"),
        (0.33, "about third"),
        (0.25, "about fourth"),
        (0.1, "about tenth"),
        (1 / 12, "about 12th"),
        (0.01, "hardly ever found"),
    ],
)
def test_mrr_is_said_in_words(rr: float, words: str) -> None:
    assert in_words(rr) == words


def test_a_perfect_ranking_of_single_answers_is_excellent_although_p5_is_one_fifth() -> None:
    judged = {f"q{i}": {f"d{i}": 1} for i in range(12)}
    found = diagnose(judged, {query: list(docs) for query, docs in judged.items()})
    words = {each.measure: each.word for each in found.bands}
    assert set(words.values()) == {"excellent"}
    p5 = next(each for each in found.bands if each.measure == "P@5")
    assert (p5.value, p5.ceiling) == (pytest.approx(0.2), pytest.approx(0.2))
    assert "0.2000" in str(found)
    assert "excellent" in str(found)


@pytest.mark.parametrize(
    ("ranking", "regime"),
    [
        (["a", "b", "c", "d", "e"], "high precision, high recall"),
        (["x1", "x2", "x3", "a", "x4"], "low precision, low recall"),
    ],
)
def test_the_regime_follows_precision_and_recall(ranking: list[str], regime: str) -> None:
    judged = {f"q{i}": dict.fromkeys("abcde", 1) for i in range(3)}
    found = diagnose(judged, dict.fromkeys(judged, ranking))
    assert found.regime is not None
    assert found.regime.name == regime


def test_many_relevant_documents_of_which_few_fit_are_high_precision_with_a_recall_that_is_its_ceiling() -> None:
    judged = {f"q{i}": {f"d{j}": 1 for j in range(20)} for i in range(3)}
    found = diagnose(judged, {query: [f"d{j}" for j in range(20)] for query in judged})
    assert found.regime is not None
    assert found.regime.name == "high precision, high recall"  # five of twenty is all that fits
    lost = diagnose(judged, {query: [f"d{j}" for j in range(5)] for query in judged}).regime
    assert lost is not None
    assert lost.name == "high precision, low recall"
    assert "never found" in lost.feels
    missing = diagnose(judged, {query: ["d0", "d1", "d2"] for query in judged})
    assert missing.regime is not None
    assert missing.regime.precision == "high"


def test_one_answer_that_is_found_late_among_noise_is_low_precision_high_recall() -> None:
    judged = {f"q{i}": {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1} for i in range(3)}
    half = {query: ["a", "x", "b", "y", "z"] for query in judged}
    assert diagnose(judged, half).regime.name == "low precision, low recall"  # type: ignore[union-attr]
    few = {f"q{i}": {"a": 1, "b": 1} for i in range(3)}
    found = diagnose(few, {query: ["x", "a", "y", "z", "b"] for query in few})
    assert found.regime is not None
    assert found.regime.recall == "high"


def test_what_is_acceptable_is_not_called_noise() -> None:
    bands = [band("P@5", value, 0.31) for value in (0.13, 0.05)]
    acceptable, poor = (regime_of(each, band("R@5", 0.5, 1.0)) for each in bands)
    assert acceptable is not None
    assert poor is not None
    assert acceptable.name == poor.name == "low precision, low recall"
    assert "acceptable, not good" in acceptable.feels
    assert "mostly noise" in poor.feels
