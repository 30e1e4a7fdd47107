"""Who asks for accuracy is shown what returning nothing would score, and what counts instead."""

from __future__ import annotations

import pytest

from rankproof import evaluate

RELEVANT = {"q": [f"r{i}" for i in range(6)]}
RANKING = {"q": ["r0", "x", "y", "r1", "z"]}  # 2 right, 3 wrong, 4 missed of 10,000


def test_the_trap_is_shown_with_the_numbers_that_count() -> None:
    scores = evaluate(RELEVANT, RANKING, "Accuracy", corpus_size=10_000)
    assert scores["Accuracy"] == pytest.approx(0.9993)
    found = scores.audit.of_kind("accuracy-trap")
    assert found is not None
    assert found.severity == "warning"
    for number in ("0.9993", "0.9994", "P is 0.400", "R is 0.333", "F1 is 0.364"):
        assert number in str(found)
    assert "returning nothing" in " ".join(str(scores).split())


def test_a_cut_off_is_followed() -> None:
    found = evaluate(RELEVANT, RANKING, "Accuracy@2", corpus_size=10_000).audit.of_kind("accuracy-trap")
    assert found is not None
    assert "P@2 is 0.500" in found.message


def test_where_showing_nothing_would_be_wrong_it_is_a_note() -> None:
    found = evaluate(RELEVANT, RANKING, "Accuracy", corpus_size=12).audit.of_kind("accuracy-trap")
    assert found is not None
    assert found.severity == "note"
    assert "0.5000" in found.message


def test_who_does_not_ask_is_not_bothered() -> None:
    assert evaluate(RELEVANT, RANKING, "P, R", corpus_size=10_000).audit.of_kind("accuracy-trap") is None
