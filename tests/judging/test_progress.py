"""Long runs say on standard error how far they are, whoever judges."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from rankproof import judge, progress
from rankproof.judging import run
from rankproof.judging.run import count_of

ROWS = [{"query": f"What is {i}?", "contexts": [f"It is {i}."]} for i in range(6)]


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Told without waiting for the first second."""
    monkeypatch.setattr(progress, "FIRST", 0.0)
    monkeypatch.setattr(progress, "EVERY", {True: 0.0, False: 0.0})


def steps(pattern: str, told: str) -> list[str]:
    """How far it was said to be, each step once; it never goes back."""
    found = re.findall(pattern, told, re.MULTILINE)
    assert found == sorted(found)
    return list(dict.fromkeys(found))


@pytest.mark.parametrize("who", ["lexical", lambda relation, left, right: 3])
@pytest.mark.usefixtures("at_once")
def test_any_judge_tells_how_far_it_is_and_how_long_it_takes(who: Any, capsys: pytest.CaptureFixture[str]) -> None:
    judge(ROWS, "context_precision", judge=who)
    told = capsys.readouterr().err
    assert steps(r": (\d) of 6 samples", told) == ["1", "2", "3", "4", "5", "6"]
    assert steps(r": (\d) of 6 samples, about \d+ s to go", told) == ["2", "3", "4", "5"]


@pytest.mark.usefixtures("at_once")
def test_how_long_it_takes_is_not_told_where_the_size_is_not_known(
    capsys: pytest.CaptureFixture[str],
) -> None:
    judge(iter(ROWS), "context_precision")
    told = capsys.readouterr().err
    assert steps(r"lexical: (\d) samples$", told) == ["1", "2", "3", "4", "5", "6"]
    assert "to go" not in told


@pytest.mark.usefixtures("at_once")
def test_progress_is_that_of_all_samples_not_of_those_judged_together(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "BATCH", 2)
    judge(ROWS, "context_precision", judge=lambda relation, left, right: 3)
    assert steps(r": (\d) of 6", capsys.readouterr().err) == ["1", "2", "3", "4", "5", "6"]


def test_a_short_run_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    judge(ROWS, "context_precision")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("ending", ["", "\n"])
def test_lines_are_counted_without_reading_them_as_samples(ending: str, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)) + ending)
    assert count_of(path) == count_of(str(path)) == len(ROWS)
    assert count_of(tmp_path / "none.jsonl") is None
