"""Values beyond all use, in every parameter of every measure and in the data: a number, or an error in words."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankproof import agreement, evaluate, evaluate_spans, explain
from rankproof.core.judgments import by_levels
from rankproof.core.names import REGISTRY, find, parse
from rankproof.errors import DataError, RankproofError, UsageError
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


@pytest.mark.slow
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
                scores = evaluate(*DATA[0], asked, corpus_size=100)
                assert str(scores.summary())
                assert explain(*DATA[0], "q", asked, corpus_size=100).value == scores.per_query[asked.name]["q"]


@pytest.mark.slow
@with_each("name", NAMES)
def test_grades_and_scores_of_any_size_are_numbers_or_an_error_that_names_them(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told: list[str] = []
        for judged, run in DATA:
            for settings in ({}, {"ties": "expected"}, {"unjudged": "relevant", "unjudged_grade": 1e15}):
                try:
                    scores = evaluate(judged, run, name, corpus_size=100, **settings)  # type: ignore[arg-type]
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
        assert not any(word in done.stderr for word in ("Traceback", "Warning", "OverflowError", "MemoryError"))


PAIRS = [name for name, measure in REGISTRY.items() if measure.spec.kind == "pair"]
SPANS = [name for name, measure in REGISTRY.items() if measure.spec.kind == "span"]
PREFERENCES = [name for name, measure in REGISTRY.items() if measure.spec.kind == "preference"]
BEYOND: tuple[Any, ...] = (
    *VALUES, None, 10**400, 10**5000, -(10**5000), {1: 10**400}, {10**5000: 1}, 1j, b"x", "9" * 5000, 5e-324, 1e-17,
    1 - 1e-16, object(), (1,),
)  # fmt: skip
CORPUS = {"d1": "Refunds within 30 days. Fees are low.", "d2": "Open from nine."}
JUDGED = {"q": [("d1", 15, 22), ("d1", 0, 5)], "r": [("d2", 0, 4, 2)]}
CHUNKS = {"q": ["d1#0-23", "d1#24-37"], "r": ["d1", "d2"]}


def told(ask: Callable[[], Any]) -> None:
    """A value, or an error in words: nothing that Python or NumPy says by itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        said = "Next: "
        try:
            str(ask())
        except RankproofError as refused:
            said = str(refused)
        assert "Next: " in said
        assert len(said) < 1000


@pytest.mark.slow
@with_each("name", list(REGISTRY))
def test_every_parameter_of_every_kind_of_measure_is_checked(name: str) -> None:
    measure = REGISTRY[name]
    one, other = {"q": ["a", "b", "c"], "r": ["a"]}, {"q": ["b", "a", "z"], "r": ["x"]}
    for parameter in measure.spec.parameters:
        for value in BEYOND:
            given = {parameter: value}
            told(lambda given=given: measure.with_params(given))  # type: ignore[misc]
            if name in PAIRS:
                told(lambda given=given: agreement(one, other, measure(**given)).summary())  # type: ignore[misc]
                told(lambda given=given: measure(one["q"], other["q"], **given))  # type: ignore[misc]
            if name in SPANS:
                told(lambda given=given: evaluate_spans(JUDGED, CHUNKS, CORPUS, measure(**given)).summary())  # type: ignore[misc]
            if name in PREFERENCES:
                told(lambda given=given: measure(by_levels([2, 1, None], [1, 2, 0]), **given))  # type: ignore[misc]


def test_a_parameter_of_a_call_replaces_that_of_the_measure() -> None:
    overlap = REGISTRY["Overlap"]
    one, other = ["a", "b", "c"], ["a", "x", "b"]
    assert (overlap @ 1)(one, other, k=None) == overlap(one, other) != (overlap @ 1)(one, other)


@with_each("p", (5e-324, 1e-320, 1e-12, 1 - 1e-12))
def test_rank_biased_overlap_stays_within_its_range(p: float) -> None:
    rbo = REGISTRY["RBO"]
    first = rbo(["a", "b"], ["a", "c"], p=p)
    assert 0 <= first <= 1
    assert rbo(["a", "b"], ["a", "b"], p=p) == pytest.approx(1)
    if p < 0.5:
        assert first == pytest.approx(1), "the first document alone counts"


def test_spans_of_any_kind_are_numbers_or_an_error() -> None:
    huge: tuple[Any, ...] = (
        10**30,
        10**400,
        10**5000,
        -1,
        0.5,
        1e300,
        float("inf"),
        float("nan"),
        "x",
        True,
        None,
        1j,
    )
    rows: list[Any] = [[("d1", each, 3)] for each in huge]
    rows += [[("d1", 0, each)] for each in huge]
    rows += [[("d1", 0, 5, each)] for each in (*huge, 5e-324, 1e308, -1e308)]
    rows += [[("d1", 0)], ["d1"], [], 5, None, [("d1", 3, 3)], [("zz", 0, 3)]]
    for row in rows:
        told(lambda row=row: evaluate_spans({"q": row}, {"q": ["d1#0-23"]}, CORPUS))  # type: ignore[misc]
    for name in (
        "d1#0-" + "9" * 30,
        "d1#" + "0" * 5000 + "-3",
        "d1#1" + "0" * 5000 + "-3",
        "d1#5-3",
        "d1#x-y",
        "#0-3",
    ):
        told(lambda name=name: evaluate_spans(JUDGED, {"q": [name]}, CORPUS))  # type: ignore[misc]
    for place in (*(("d1", 0, each) for each in huge), ("d1",), "x", None):
        told(lambda place=place: evaluate_spans(JUDGED, {"q": ["c"]}, CORPUS, chunks={"c": place}))  # type: ignore[misc]
    for made in ([(0, 10**30)], 5, [("a", "b")], [(3, 1)], [(0, float("nan"))], [5], None, [(0, 2**63)]):
        told(lambda made=made: evaluate_spans(JUDGED, CHUNKS, CORPUS, tokens=lambda text: made))  # type: ignore[misc]


def test_two_rankings_of_any_kind_are_numbers_or_an_error() -> None:
    lists: tuple[Any, ...] = (
        {"a": 1e308, "b": -1e308}, {"a": 5e-324}, {"a": float("nan")}, {"a": float("inf")}, {"a": 10**400}, {"a": "x"},
        [], ["a", "a"], [None], 5, None,
    )  # fmt: skip
    for name in PAIRS:
        for each in lists:
            told(lambda name=name, each=each: agreement({"q": each}, {"q": ["a", "b"]}, name))  # type: ignore[misc]
        for pair in (([], []), (5, 6), ("ab", "ba"), (["a"],), ({"a": 1}, ["a"])):
            told(lambda name=name, pair=pair: REGISTRY[name](*pair))  # type: ignore[misc]


def test_preferences_of_any_kind_are_numbers_or_an_error() -> None:
    levels: tuple[Any, ...] = (
        [], [None], [None, None], [1e308, -1e308], [5e-324, 0], [True, False], [float("nan"), 1], [float("inf"), 1],
        [10**400, 1], ["x", 1], 5, None, "ab", [[1]], [1j, 2],
    )  # fmt: skip
    for name in PREFERENCES:
        for given in levels:
            for retrieved in (None, 0, 1, 10**12, -1, 1.5, "x", 10**400):
                told(lambda given=given, r=retrieved, name=name: REGISTRY[name](by_levels(given, retrieved=r)))  # type: ignore[misc, arg-type]
        told(lambda name=name: REGISTRY[name](by_levels()))  # type: ignore[misc]
        told(lambda name=name: REGISTRY[name](by_levels([1, 2], [1])))  # type: ignore[misc]
        told(lambda name=name: REGISTRY[name]({"q": 1}))  # type: ignore[misc]
        assert REGISTRY[name](by_levels([None, None])) == 0, "no preference"
        huge = by_levels([1e308, np.float32(2), 1])
        assert REGISTRY[name](huge) == REGISTRY[name](by_levels([3, 2, 1])), "any finite level, of any size"


LONG = "9" * 5000
WRITTEN = (
    f"P@{LONG}", f"Tau@{LONG}", f"RBO(p={LONG})", f"SpanP(budget={LONG})", "SpanF(beta=1e999)", "SpanP(rel=nan)",
    "RBO(p=1e-9999)", "Jaccard@-1", "Jaccard@1e5", f"Overlap@{'0' * 5000}", f"nDCG(gain={{1:{LONG}}})", "(" * 3000,
    "P(" * 3000, f"P@{'-' * 3000}1", f"RBO(p={'-' * 100_000}1)", f"RBO(p={'[' * 5000}", "P@\0", "RBO(p=1e308j)",
    f"RBO(p=0x{'f' * 9999})", f"Prefs(scope={LONG})",
)  # fmt: skip


def test_any_name_is_a_measure_or_an_error() -> None:
    for name in WRITTEN:
        told(lambda name=name: parse(name))  # type: ignore[misc]


@pytest.mark.slow
def test_the_shell_answers_in_words_for_measures_of_every_kind(tmp_path: Path) -> None:
    (tmp_path / "spans.tsv").write_text("q1\td1\t0\t4\n")
    (tmp_path / "chunks").write_text("q1 Q0 d1#0-4 1 1 t\n")
    (tmp_path / "docs.jsonl").write_text('{"_id": "d1", "text": "word thing"}\n')
    for name in (*WRITTEN, f"SpanP@{10**18}", "SpanF(beta=1e-300)", "SpanR(budget=1)", "SpanIoU(rel=1e15)"):
        for line in (["spans", "spans.tsv", "chunks", "--corpus", "docs.jsonl", "-m"], ["measures"]):
            if "\0" in name:
                continue  # no command line holds one
            done = rankproof(tmp_path, *line, name)
            assert done.returncode in (0, 2, 3), (line, name[:50])
            assert not done.returncode or done.stderr.startswith("rankproof: ")
            assert not any(word in done.stderr for word in ("Traceback", "Warning", "OverflowError", "MemoryError"))
    for level in ("1e400", "nan", "inf", "x", "-1e308", "9" * 400):
        (tmp_path / "prefs").write_text(f"q1 0 1 d1 {level}\nq1 0 1 d2 1\n")
        (tmp_path / "run").write_text("q1 Q0 d1 1 1 t\n")
        done = rankproof(tmp_path, "trec_eval", "-R", "prefs", "-m", "prefs_simp", "prefs", "run")
        assert done.returncode in (0, 2), level
        assert not any(word in done.stderr for word in ("Traceback", "Warning", "OverflowError", "ValueError"))
