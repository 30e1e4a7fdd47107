"""A mean over few of the samples is not shown as if it were the answer."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from rankproof import History, compare_scores, gate_scores, judge, leaderboard
from rankproof.cli import run
from rankproof.errors import DataError
from rankproof.judging.judged_scores import JudgedScores
from rankproof.judging.words import WORTH

PAGE = Path(__file__).resolve().parents[2] / "docs" / "lexical-judge.md"
ROWS = [{"id": f"s{i}", "query": f"What is {i}?", "contexts": [f"It is {i}."]} for i in range(10)]

WORDS = [
    {"query": "black ice service", "contexts": ["The black ice service is free."]},
    *({"query": f"get rid of {i}", "contexts": ["Go to Profile, Pass, Cancel."]} for i in range(3)),
]
"""One context has all words of its question; of the others words cannot tell."""


def settling(settled: int) -> Callable[[str, str, str], int | None]:
    """A judge that can tell of the first samples only."""
    return lambda relation, left, right: 3 if int(re.findall(r"\d", left)[0]) < settled else None


def scored(settled: int) -> JudgedScores:
    return judge(ROWS, "context_precision", judge=settling(settled))


@pytest.mark.parametrize(("settled", "shown"), [(1, False), (4, False), (5, True), (10, True)])
def test_a_mean_is_shown_from_half_of_the_samples_on(settled: int, shown: bool) -> None:
    scores = scored(settled)
    (line,) = (line for line in str(scores).splitlines() if line.startswith("context_precision  "))
    assert ("1.0000 " in line.partition("[")[0]) == shown
    assert ("no mean, as only" in " ".join(str(scores).split())) != shown
    assert scores["context_precision"] == 1.0


def test_the_bounds_stand_where_the_mean_does_not() -> None:
    said = " ".join(str(scored(1)).split())
    assert "context_precision - 1 10 % [0.1000, 1.0000]" in said
    assert "only 1 of 10 samples could be measured" in said


def test_what_has_no_value_whatever_is_judged_does_not_make_a_mean_thin() -> None:
    empty = [{"id": f"e{i}", "query": "What?", "contexts": []} for i in range(10)]
    said = str(judge([*ROWS, *empty], "context_precision", judge=settling(6)))
    assert "no mean" not in said


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_no_format_for_people_shows_it(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in WORDS))
    assert run(["judge", str(tmp_path / "s.jsonl"), "-m", "context_precision", "-f", form]) == 0
    row = next(
        line for line in capsys.readouterr().out.splitlines() if re.match(r"[^\w%]*context.{1,2}precision", line)
    )
    assert "0.2500, 1.0000" in row
    assert re.search(r"[\s&|]-[\s&|]", row)


def test_files_for_machines_hold_it_with_how_many_it_is_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in WORDS))
    assert run(["judge", str(tmp_path / "s.jsonl"), "-m", "context_precision", "-f", "csv"]) == 0
    (record,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (record["mean"], record["n"], record["measurable"]) == ("1.0", "1", "4")


def test_what_lexical_verdicts_are_worth_stands_beside_them_as_the_page_has_it() -> None:
    assert "nine in ten" in WORTH
    assert "nine in ten" in PAGE.read_text(encoding="utf-8")
    assert WORTH in " ".join(str(judge(WORDS, "context_precision")).split())
    assert WORTH not in " ".join(str(scored(10)).split())


def few(n: int = 40) -> JudgedScores:
    """Two samples of forty that could be measured, both perfect."""
    rows = [{"id": f"q{i}", "contexts": [f"c{i}."], "answer": f"It is {i}."} for i in range(n)]
    return judge(rows, "faithfulness", judge=lambda r, claim, t: 1 if claim in ("It is 0.", "It is 1.") else None)


def test_neither_comparison_nor_gate_nor_leaderboard_shows_a_mean_of_so_few() -> None:
    compared = compare_scores({"a": few(), "b": few()})
    row = compared.row("b", "faithfulness")
    assert (row.mean, row.verdict) == (None, "unclear")
    gated = gate_scores(few(), few(), floors={"faithfulness": 0.9})
    assert gated.outcome == "inconclusive"
    for form in (str, lambda each: each.format("markdown"), lambda each: each.format("json")):
        assert "1.0000" not in form(compared)
        assert "1.0000" not in form(gated)
        assert '"candidate": 1.0' not in form(gated)
    assert "No winner on faithfulness: fewer than half of the samples could be measured" in " ".join(
        str(compared).split()
    )
    with pytest.raises(DataError, match="fewer than half of the samples could be measured by faithfulness"):
        leaderboard({"a": few(), "b": few()})


def test_enough_of_them_is_compared_as_ever() -> None:
    rows = [{"id": f"q{i}", "contexts": [f"c{i}."], "answer": f"It is {i}."} for i in range(12)]
    whole = judge(rows, "faithfulness", judge=lambda *pair: 1)
    assert compare_scores({"a": whole, "b": whole}).row("b", "faithfulness").mean == 1.0


def test_a_history_keeps_its_values_and_lists_no_such_mean(tmp_path: Path) -> None:
    history = History(tmp_path / "history.db")
    history.save(few(), "thin")
    (entry,) = history.entries()
    assert entry.means == {}
    assert list(history.scores("thin").values("faithfulness").values()) == [1.0, 1.0]
    assert history.scores("thin").thin("faithfulness")
    history.export_to(tmp_path / "thin.jsonl")
    other = History(tmp_path / "other.db")
    assert other.import_from(tmp_path / "thin.jsonl") == ["thin"]
    assert other.scores("thin").thin("faithfulness")
