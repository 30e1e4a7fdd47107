"""Grades and scores at the ends of what numbers can hold."""

from __future__ import annotations

import warnings

import pytest

from rankproof import audit, evaluate, explain
from rankproof.errors import DataError


@pytest.mark.parametrize("ranking", [["b", "a"], ["b"], []])
def test_a_gain_beyond_any_number_is_an_error(ranking: list[str]) -> None:
    with pytest.raises(DataError, match="the grade is 2000, expected at most 1000"):
        evaluate({"q": {"a": 2000, "b": 1}}, {"q": ranking}, "nDCG(gain='exp')@10")


def test_high_grades_have_a_gain_as_long_as_it_is_a_number() -> None:
    assert evaluate({"q": {"a": 1000, "b": 1}}, {"q": ["a", "b"]}, "nDCG(gain='exp')@10").means == {
        "nDCG(gain='exp')@10": 1.0
    }


def test_scores_beyond_single_precision_are_equal_there_without_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = evaluate({"q": {"a": 1}}, {"q": {"a": 1.7e308, "b": 1e300}}, "RR", profile="trec_eval-9")
    assert scores["RR"] == 0.5


@pytest.mark.parametrize(("scores", "flat"), [((1e999, 1e999), True), ((1.7e308, -1.7e308), False)])
def test_the_audit_takes_scores_without_a_difference(scores: tuple[float, float], flat: bool) -> None:
    rows = [("q", "a", scores[0]), ("q", "b", scores[1])]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = " ".join(str(audit({"q": {"a": 1}}, rows)).split())
    assert ("all documents have the same score" in found) == flat


@pytest.mark.parametrize(
    ("measure", "value"), [("ERR", 0.5), ("nERR", 0.5), ("ERR(top_grade=3)", 0.125 + 0.875**2 / 2)]
)
def test_err_takes_grades_beyond_what_a_power_can_say(measure: str, value: float) -> None:
    judged = {"q": {"a": 5000, "b": 1}}
    found = explain(judged, {"q": ["b", "a"]}, "q", measure)
    assert found.value == pytest.approx(value, abs=1e-9)
    assert found.own.steps[-1].value == found.value
