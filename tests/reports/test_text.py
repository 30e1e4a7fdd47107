"""The report and the comparison in 80 columns: charts of characters, lists side by side, names of any length."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from rankproof import History, compare, compare_scores, evaluate, report, sample
from rankproof.cli import run
from rankproof.document.terminal import bin_means, in_ascii, interval, parts, spark, waterfall, width
from rankproof.errors import UsageError

MEASURES = "nDCG@10, R@10, FirstRel"


def test_no_value_is_drawn_as_nothing_and_none_is_higher_than_the_top() -> None:
    assert spark([0, 1e-9, 0.5, 1, 1.0000001], 1) == "·▁▄██"
    assert spark([]) == ""
    assert spark([0, 0]) == "··"


def test_bins_keep_the_mean_and_every_value() -> None:
    values = [float(i) for i in range(1000)]
    drawn = bin_means(values, 60)
    assert len(drawn) == 60
    assert drawn == sorted(drawn)
    assert sum(drawn) / 60 == pytest.approx(499.5, abs=1)


def test_a_waterfall_has_as_many_steps_as_there_is_room_for() -> None:
    assert waterfall([-1, -0.5, 0, 0.5, 1], 1) == "█▄|·▄█"
    assert len(waterfall([i / 500 - 1 for i in range(1000)], 1, 40)) == 40
    assert waterfall([0, 0], 1) == "|··"


def test_pieces_of_a_bar_add_up() -> None:
    assert parts([1 / 3, 1 / 3, 1 / 3], 10) == "███▒▒▒▒░░░"
    assert len(parts([0.5, 0.3, 0.4], 10)) == 10


def test_an_interval_without_width_is_a_point() -> None:
    assert interval(0.5, 0.5, 0.5, (0.5, 0.5), 9) == "●"


@pytest.mark.slow
@pytest.mark.parametrize("longest", [3, 12, 40, 200])
def test_every_line_fits_and_the_verdict_stays_beside_its_system(longest: int) -> None:
    runs = sample.rankings()
    systems = {f"{name}-{'x' * longest}": runs[name] for name in ("keyword", "dense")}
    found = compare(sample.judgments(), systems, MEASURES, by=sample.kinds())
    lines = found.format(worst=2).splitlines()
    assert max(map(width, lines)) <= 80
    assert [line for line in lines if line.strip().startswith("dense") and line.endswith("better")]
    assert max(map(width, report(sample.judgments(), systems, MEASURES).format("full").splitlines())) <= 80


def test_long_names_leave_won_and_lost_queries_in_one_row() -> None:
    ranked = {f"{name}-{'x' * 20}": {"q": [name]} for name in ("one", "two", "six")}
    shown = report({"q": {"one": 1}}, ranked, "RR").format("full").partition("Queries won/lost")[2]
    assert len(re.findall(r"^two-x+ +0/1 +0/0$", shown, re.MULTILINE)) == 1


def test_the_lists_show_why_a_query_moved() -> None:
    judged = {f"q{i}": {"good": 2, "fair": 1} for i in range(3)}
    old = {query: ["good", "fair"] for query in judged}
    new = {"q0": ["x", "good"], "q1": ["good", "fair"], "q2": ["fair", "good"]}
    found = compare(judged, {"old": old, "new": new}, "nDCG@2")
    (worst, *others) = found.cases(5)
    assert worst.query == "q0"
    assert [line.document for line in worst.sides[1][1].lines] == ["x", "good"]
    assert [each.query for each in others] == ["q2"]
    text = found.format(worst=5)
    assert "1      2  good" in text
    assert "1      -  x" in text
    assert "not in new: fair (1)" in text


def test_where_less_is_better_a_lower_value_is_won() -> None:
    judged = {"q0": {"a": 1}, "q1": {"a": 1}}
    old, new = {"q0": ["a"], "q1": ["x", "a"]}, {"q0": ["x", "y", "a"], "q1": ["a"]}
    found = compare(judged, {"old": old, "new": new}, "FirstRel")
    assert [(each.query, each.why) for each in found.cases(1)] == [
        ("q0", "lost 2.0000"),
        ("q1", "won 1.0000"),
    ]
    assert "█|▄" in str(found)


def test_lists_need_rankings_and_a_number(folder: Path) -> None:
    runs = sample.rankings()
    for name in runs:
        History().save(evaluate(sample.judgments(), runs[name], "nDCG@10"), name)
    with pytest.raises(UsageError, match="no rankings behind these scores"):
        History().compare(*runs).cases(1)
    scores = {name: evaluate(sample.judgments(), each, "nDCG@10") for name, each in runs.items()}
    with pytest.raises(UsageError, match="cases: got 0, expected a whole number of at least 1"):
        compare_scores(scores).cases(0)
    with pytest.raises(UsageError, match="Did you mean 'dense'"):
        compare_scores(scores).cases(1, "dens")


@pytest.mark.slow
def test_without_an_output_the_report_is_printed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "judgments.tsv", "keyword.run", "dense.run", "-m", "nDCG@10"]) == 0
    printed = capsys.readouterr().out
    run(["report", "judgments.tsv", "keyword.run", "dense.run", "-m", "nDCG@10", "-o", "a.txt"])
    assert Path("a.txt").read_text() == printed
    headings = [
        a for a, b in zip(printed.splitlines(), printed.splitlines()[1:], strict=False) if b and not b.strip("-")
    ]
    assert headings == [
        "Systems",
        "Differences",
        "Where it is lost",
        "How far down",
        "Where the relevant documents stand",
        "Queries won/lost",
        "Queries to look at",
        "Audit",
        "Definitions",
    ]


def test_one_system_without_judged_documents_found_has_a_report_too() -> None:
    assert "Differences" not in report({"q": {"a": 1}}, {"one": {"q": ["x"]}}, "RR").format("full")


@pytest.mark.slow
def test_a_stream_without_blocks_gets_plain_characters(folder: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "rankproof",
            "compare",
            "judgments.tsv",
            "keyword.run",
            "dense.run",
            "-m",
            "RR",
            "--full",
        ],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
    )
    assert done.returncode == 0
    assert b"#" in done.stdout
    assert b"\\u" not in done.stdout
    assert in_ascii("▁█·") == "_#'"
