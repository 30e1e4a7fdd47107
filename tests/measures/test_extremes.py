"""Values beyond all use, in every parameter of every measure and in the data: a number, or an error in words."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from rankproof import evaluate, explain
from rankproof.core.measure import REGISTRY
from rankproof.core.names import find
from rankproof.errors import DataError, UsageError
from tests.each import with_each
from tests.shell import rankproof

find("P")  # every measure is declared
NAMES = [name for name, measure in REGISTRY.items() if measure.spec.kind == "ranking"]
VALUES = (
    10**30, 10**18, 10**12, 10**9, 2**63, 2**31, 1100, 3.7, 1e200, 1e308, -1e308, 1e-320, 0, -1, -0.0, float("inf"),
    float("nan"), True, "x", [1], {}, {1: 1e308, 2: float("inf")},
)  # fmt: skip
DATA = (
    ({"q": {"a": 1, "b": 2, "c": 0}, "r": {"a": 1}}, {"q": {"a": 2.0, "b": 1.0, "z": 0.5}, "r": ["x", "a"]}),
    ({"q": {"a": 1100, "b": 2}}, {"q": ["a", "b"]}),
    ({"q": {"a": 1e300, "b": 1e308, "c": -1e308}}, {"q": {"a": 1e308, "b": -1e308}}),
    ({"q": {"a": 5e-324}}, {"q": ["b", "a"]}),
    ({"q": {"a": -3}}, {"q": ["b", "a"]}),
)


@with_each("name", NAMES)
def test_every_parameter_takes_any_value_or_says_what_it_expects(name: str) -> None:
    measure = REGISTRY[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for parameter in measure.spec.parameters:
            for value in VALUES:
                try:
                    asked = measure.with_params({parameter: value})
                except UsageError:
                    continue
                scores = evaluate(*DATA[0], asked, corpus=100)
                assert str(scores.summary())
                assert explain(*DATA[0], "q", asked, corpus=100).value == scores.per_query[asked.name]["q"]


@with_each("name", NAMES)
def test_grades_and_scores_of_any_size_are_numbers_or_an_error_that_names_them(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told: list[str] = []
        for judged, run in DATA:
            for settings in ({}, {"ties": "expected"}, {"unjudged": "relevant", "unjudged_grade": 1e15}):
                try:
                    scores = evaluate(judged, run, name, corpus=100, **settings)  # type: ignore[arg-type]
                    assert str(scores.summary())
                except DataError as refused:
                    told.append(str(refused))
        assert all("query 'q'" in each or "grade" in each for each in told)


def test_a_grade_beyond_exponential_gain_is_told_with_its_place() -> None:
    with pytest.raises(DataError, match=r"query 'r', document 'x': the grade is 1100"):
        evaluate({"q": {"a": 1}, "r": {"w": 3, "x": 1100}}, {"q": ["a"]}, "nDCG(gain='exp')@10")


def test_the_shell_answers_in_words(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("q1 0 d1 1\n")
    (tmp_path / "r").write_text("q1 Q0 d1 1 1 t\n")
    for name in (
        "P@" + "1" + "0" * 30, "F(beta=1e200)", f"SDCG@{10**18}", f"Compat(depth={10**12})", "F(beta=1e-300)",
        f"BPM@{10**12}", "RBP(p=1e-320)", "INST(T=1e300)", "RprecMult(multiple=1e300)", "P@1e400", "Q(beta=1e308)",
    ):  # fmt: skip
        done = rankproof(tmp_path, "evaluate", "q", "r", "-m", name)
        assert done.returncode in (0, 2, 3), name
        if done.returncode:
            assert done.stderr.startswith("rankproof: ")
            assert "Next: " in done.stderr
        assert not any(
            word in done.stderr for word in ("Traceback", "Warning", "OverflowError", "MemoryError")
        )
