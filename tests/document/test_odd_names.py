"""Names with anything in them stay names: markdown, LaTeX, JUnit and HTML keep their form."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import pytest

import rankproof
from rankproof import Benchmark, compare, evaluate, gate, report
from rankproof.document.formats import as_text, check
from rankproof.document.formats.markup import MARK
from rankproof.document.model import Table
from rankproof.document.numbers import score
from rankproof.scoring.tables import case_blocks
from rankproof.scoring.words import scores as words
from rankproof.scoring.words import worst_queries

NAMES = (
    "<b>bold</b>",
    "a|b",
    "`code`",
    "two\nlines",
    "\x00\x08\x1b[31m",
    "*star* _low_ [x](y)",
    "$x_1$ & 50% #~^\\",
    "x" * 10_000,
)
JUDGED = {f"q{i}": {"a": 1} for i in range(40)}
RUNS = {name: {q: ["a"] if (i + n) % 3 else ["x", "a"] for i, q in enumerate(JUDGED)} for n, name in enumerate(NAMES)}
CELL = re.compile(r"(?<!\\)\|")


def check_markdown(text: str) -> None:
    """Every row of a table has as many cells as its heading, and no name makes a tag, code or a link."""
    lines = text.splitlines()
    for above, rule in pairwise(lines):
        if rule.startswith("|") and set(rule) <= set("|-: "):
            wide = len(CELL.findall(above))
            for row in lines[lines.index(rule) + 1 :]:
                if not row.startswith("|"):
                    break
                assert len(CELL.findall(row)) == wide, row[:200]
    assert not re.search(r"(?<!\\)<b>|(?<!\\)`code|(?<!\\)\[x\]", text)
    assert text.replace("\n", "").isprintable()


def results() -> list[Any]:
    groups = {q: NAMES[i % 3] for i, q in enumerate(JUDGED)}
    compared = compare(JUDGED, RUNS, "RR,nDCG@10", by=groups)
    passed = gate(JUDGED, RUNS[NAMES[0]], RUNS[NAMES[1]], "RR", by=groups)
    scores = {name: evaluate(JUDGED, run, "RR", by=groups) for name, run in RUNS.items()}
    bench = Benchmark()
    for query in JUDGED:
        bench.add_query(query, query, ["a"])
    for name in NAMES[:3]:
        bench.run(name, lambda text: ["a"], progress=False)
    return [compared, passed, rankproof.leaderboard(scores), bench.compare("RR"), *scores.values()]


@pytest.mark.slow
def test_markdown_of_odd_names_is_a_table_with_these_names() -> None:
    for each in results():
        check_markdown(each.format("markdown"))
    check_markdown(report(JUDGED, RUNS, "RR", by={q: NAMES[i % 4] for i, q in enumerate(JUDGED)}).markdown())


@pytest.mark.first_is_quick(2)
@pytest.mark.parametrize("name", NAMES)
def test_junit_is_well_formed_whatever_a_group_is_called(name: str) -> None:
    groups = {q: name if i % 2 else "other" for i, q in enumerate(JUDGED)}
    found = gate(JUDGED, RUNS[NAMES[0]], RUNS[NAMES[1]], "RR", by=groups, floors={"RR": 1.0})
    suite = ElementTree.fromstring(found.format("junit"))
    assert int(suite.get("tests") or 0) == len(suite.findall("testcase")) == len(found.rows)


def test_latex_marks_what_is_significant_and_the_best_where_it_is_told_apart() -> None:
    good = {q: ["a"] for q in JUDGED}
    poor = {q: ["x", "y", "a"] for q in JUDGED}
    same = {q: ["x", "a"] for q in JUDGED}
    middle = same | {"q0": ["a"]}
    runs = {"middle": same, "good": good, "poor": poor, "alike": middle}
    lines = compare(JUDGED, runs, "RR", baseline="middle").format("latex").splitlines()
    row = {name: next(line for line in lines if f" {name} &" in line) for name in runs}
    assert r"\textbf{1.0000}$^{\dagger}$" in row["good"]
    assert r"$^{\ddagger}$" in row["poor"]
    assert "dagger" not in row["alike"] + row["middle"]
    assert "textbf" not in row["alike"] + row["middle"] + row["poor"]
    best = compare(JUDGED, {"good": good, "poor": poor}, "RR").format("latex")
    assert r"\textbf{1.0000} &" in best
    untold = compare(JUDGED, {"one": same, "two": middle}, "RR").format("latex")
    assert "textbf" not in untold


def test_of_equal_best_means_all_are_marked() -> None:
    good = {q: ["a"] if i % 9 else ["x", "a"] for i, q in enumerate(JUDGED)}
    other = {q: ["a"] if i % 9 != 1 else ["x", "a"] for i, q in enumerate(JUDGED)}  # the same mean by other queries
    poor = {q: ["x", "y", "z", "a"] for q in JUDGED}
    runs = {"poor": poor, "good": good, "other": other, "equal": dict(good)}
    lines = compare(JUDGED, runs, "RR").format("latex").splitlines()
    marked = [name for name in runs if r"\textbf{" in next(line for line in lines if f" {name} &" in line)]
    assert marked == ["good", "other", "equal"]
    summaries = [evaluate(JUDGED, run, "RR").summary(name) for name, run in runs.items()]
    (mean,) = {score(evaluate(JUDGED, runs[name], "RR")["RR"]) for name in marked}
    for form, mark in (
        ("latex", rf"\textbf{{{mean}}}"),
        ("markdown", f"{mean}{MARK}"),
        ("table", f"{mean}*"),
    ):
        assert as_text(words(summaries), check(form)).count(mark) == len(marked), form
    assert len(re.findall(f"(?:<b>|<strong>|bold[^>]*>){mean}", as_text(words(summaries), check("html")))) == 3


def test_frames_are_of_the_library_of_the_caller() -> None:
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    judged = {"query": ["q1", "q1", "q2"], "doc": ["a", "b", "a"], "grade": [1, 0, 1]}
    ranked = {"query": ["q1", "q1", "q2"], "doc": ["a", "b", "a"], "score": [1.0, 0.5, 0.5]}
    makers = {pd.DataFrame: pd.DataFrame, pl.DataFrame: pl.DataFrame, pa.Table: pa.table}
    for kind, make in makers.items():
        plain = {"q1": {"a": 1}, "q2": {"a": 1}}
        for pair in ((make(judged), make(ranked)), (make(judged), plain), (plain, make(ranked))):
            scores = evaluate(*pair, "RR", by={"q1": "one", "q2": "two"})
            assert isinstance(scores.frame(), kind)
            assert isinstance(scores.slices["one"].frame(), kind)
            assert isinstance(scores.frame("polars"), pl.DataFrame)
    assert isinstance(evaluate(pl.DataFrame(judged), pd.DataFrame(ranked), "RR").frame(), pd.DataFrame)


def test_names_that_are_cut_stay_apart_in_sentences() -> None:
    one, two = (f"{'retrieval-with-reranking-' * 2}{end}{'-of-the-year' * 3}" for end in ("alpha", "beta"))
    runs = {one: {q: ["x", "a"] for q in list(JUDGED)[1:]}, two: {q: ["a"] for q in list(JUDGED)[2:]}}
    summaries = [evaluate(JUDGED, run, "RR").summary(name) for name, run in runs.items()]
    worst = [each for each in worst_queries("RR", {name: [("q1", 0.0)] for name in runs}) if isinstance(each, Table)]
    first = [case_blocks(case)[0] for case in compare(JUDGED, runs, "RR").cases(1)]
    told = [*worst, *(each for each in first if isinstance(each, Table))]
    assert len(told) > 2
    for text in (as_text(words(summaries), check("full")), "".join(each.caption for each in told)):
        assert "alpha" in text
        assert "beta" in text
