"""Answers are kept as they come: a run that was killed goes on from there and ends the same."""

from __future__ import annotations

import _thread
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from functools import partial
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import pytest

from rankproof import Benchmark
from rankproof.errors import DataError, UsageError
from rankproof.store.answers import open_answers
from tests.database import database

QUESTIONS = {f"q{n}": f"question {n}" for n in range(60)}
RELEVANT = {name: [f"d{name[1:]}"] for name in QUESTIONS}

SLOW = """
import time
def find(text):
    with open("calls.txt", "a") as calls:
        calls.write(text + "\\n")
    time.sleep(0.02)
    number = int(text.split()[1])
    return [(f"d{number + i}", 1 / (i + 3)) for i in range(5)]
"""
COMMAND = ["run", "--retriever", "slow_search:find", "--queries", "questions.tsv", "-k", "4", "-o", "out.run"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "slow_search.py").write_text(SLOW)
    (tmp_path / "questions.tsv").write_text("".join(f"{name}\t{text}\n" for name, text in QUESTIONS.items()))
    return tmp_path


def started(folder: Path, *more: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "rankproof", *COMMAND, *more]
    return subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finished(folder: Path, *more: str) -> str:
    process = started(folder, *more)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 0, errors
    return (folder / "out.run").read_text()


def calls(folder: Path) -> list[str]:
    path = folder / "calls.txt"
    return path.read_text().split("\n")[:-1] if path.exists() else []


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.01)


@pytest.mark.slow
@pytest.mark.parametrize(("signal_", "code"), [(signal.SIGKILL, -9), (signal.SIGINT, 130)])
def test_a_run_that_was_stopped_goes_on_and_ends_the_same(folder: Path, signal_: int, code: int) -> None:
    whole = finished(folder)
    (folder / "out.run").unlink()
    (folder / "calls.txt").unlink()
    process = started(folder)
    wait_for(lambda: len(calls(folder)) >= 20)
    process.send_signal(signal_)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == code
    if signal_ == signal.SIGINT:
        assert "the same command goes on from there" in errors
    assert not (folder / "out.run").exists()
    before = len(calls(folder))
    assert before < 60
    assert finished(folder) == whole
    again = calls(folder)[before:]
    assert len(again) < 60 - 10, "most of what was answered before is not asked again"
    assert set(calls(folder)) == set(QUESTIONS.values())
    assert not list(folder.glob("*.answers*")), "nothing is left behind"


@pytest.mark.slow
def test_fresh_asks_everything_again(folder: Path) -> None:
    process = started(folder)
    wait_for(lambda: len(calls(folder)) >= 20)
    process.kill()
    process.communicate()
    before = len(calls(folder))
    finished(folder, "--fresh")
    assert len(calls(folder)) == before + 60


class Counting:
    def __init__(self, settings: dict[str, Any] | None = None) -> None:
        self.calls = 0
        if settings is not None:
            self.settings = settings

    def __call__(self, text: str) -> list[str]:
        self.calls += 1
        return [f"d{text.split()[1]}"]


def run(retriever: Any, cache: Path, name: str = "run", k: int = 10, corpus: Any = None, **more: Any) -> Any:
    return Benchmark(QUESTIONS, RELEVANT, corpus).run(name, retriever, k, cache=cache, **more)


def test_what_is_kept_is_not_asked_again(tmp_path: Path) -> None:
    counting, cache = Counting({"index": "v1"}), tmp_path / "answers.db"
    first = run(counting, cache)
    second = run(counting, cache, name="another name")
    assert counting.calls == 60
    assert second.ranking == first.ranking
    assert second.latencies == first.latencies
    assert "60 of them known from before" in " ".join(str(second).split())
    with database(cache) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_other_settings_another_k_and_another_corpus_are_asked_anew(tmp_path: Path) -> None:
    cache = tmp_path / "answers.db"
    first, other = Counting({"index": "v1"}), Counting({"index": "v2"})
    corpus = {f"d{n}": "text" for n in range(60)}
    run(first, cache)
    run(other, cache)
    assert (first.calls, other.calls) == (60, 60)
    run(first, cache, k=5)
    assert first.calls == 120
    run(first, cache, corpus=corpus)
    assert first.calls == 180
    run(first, cache, corpus={**corpus, "d60": "more"})
    assert first.calls == 240
    run(first, cache, corpus=corpus)
    assert first.calls == 240


@pytest.mark.parametrize(
    ("one", "other"),
    [(date(2024, 1, 1), date(2025, 1, 1)), ({"a"}, {"b"}), (Path("v1"), Path("v2")), (np.int64(1), np.int64(2))],
)
def test_settings_that_json_has_no_form_for_are_told_apart(tmp_path: Path, one: Any, other: Any) -> None:
    counting, cache = Counting(), tmp_path / "answers.db"
    for value, calls in ((one, 60), (other, 120), (one, 120)):
        run(counting, cache, settings={"since": [value]})
        assert counting.calls == calls


def test_a_date_and_a_path_that_a_function_is_bound_to_are_told_apart(tmp_path: Path) -> None:
    counting = Counting()
    for n, value in enumerate((date(2024, 1, 1), date(2025, 1, 1), Path("v1"), Path("v2")), 1):
        run(partial(lambda bound, text: counting(text), value), tmp_path / "answers.db")
        assert counting.calls == 60 * n


def test_what_has_no_settings_is_known_by_the_name_of_the_run_too(tmp_path: Path) -> None:
    counting, cache = Counting(), tmp_path / "answers.db"
    run(counting, cache, name="before")
    run(counting, cache, name="before")
    assert counting.calls == 60
    run(counting, cache, name="after")
    assert counting.calls == 120
    run(counting, cache, name="after", settings={"index": "v3"})
    assert counting.calls == 180


def test_failures_are_not_kept(tmp_path: Path) -> None:
    state = {"broken": True}

    def search(text: str) -> list[str]:
        if state["broken"] and text == "question 3":
            raise ValueError("boom")
        return ["d3"]

    assert list(run(search, tmp_path / "a.db").failures) == ["q3"]
    state["broken"] = False
    again = run(search, tmp_path / "a.db")
    assert again.failures == {}
    assert sum(row.remembered for row in again.rows) == 59


@pytest.mark.parametrize("timeout", [None, 5])
def test_ctrl_c_keeps_what_is_answered(tmp_path: Path, timeout: float | None) -> None:
    calls: list[str] = []

    def search(text: str) -> list[str]:
        calls.append(text)
        if len(calls) == 30:
            _thread.interrupt_main()
            time.sleep(0.5 if timeout else 0)
        return ["d1"]

    with pytest.raises(KeyboardInterrupt):
        run(search, tmp_path / "a.db", timeout=timeout)
    assert 29 <= len(calls) <= 31
    again = run(search, tmp_path / "a.db", timeout=timeout)
    assert sum(row.remembered for row in again.rows) in (29, 30)
    assert again.failures == {}


def test_oddities_are_the_same_when_remembered(tmp_path: Path) -> None:
    def search(text: str) -> list[tuple[str, float]]:
        return [("d1", 0.1), ("d2", 0.2), ("d1", 0.3), ("d3", 0.4)]

    first = run(search, tmp_path / "a.db", k=2)
    second = run(search, tmp_path / "a.db", k=2)
    assert first.notes == second.notes
    assert first.ranking == second.ranking
    assert any("distances" in each for each in second.notes)


def test_a_file_of_another_kind_is_left_alone(tmp_path: Path) -> None:
    text, other = tmp_path / "notes.txt", tmp_path / "other.db"
    text.write_text("not a database, but long enough to be looked at as one" * 20)
    with database(other) as connection:
        connection.execute("CREATE TABLE theirs (id TEXT)")
    connection.close()
    for path in (text, other):
        before = path.read_bytes()
        with pytest.raises(DataError, match="cache of answers"):
            run(Counting(), path)
        assert path.read_bytes() == before
    with pytest.raises(UsageError, match="Next: name a file that can be written, with cache="):
        run(Counting(), tmp_path / "no" / "folder.db")


def test_many_may_begin_with_one_file_at_the_same_moment(tmp_path: Path) -> None:
    together = Barrier(8)

    def begin(path: Path) -> None:
        together.wait()
        with open_answers(path) as answers:
            answers.put([("key", "answer")])

    with ThreadPoolExecutor(8) as pool:
        for number in range(40):
            assert list(pool.map(begin, [tmp_path / f"{number}.db"] * 8)) == [None] * 8


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="two processes at one file are tried on POSIX")
def test_two_runs_at_one_file_do_not_disturb_each_other(folder: Path) -> None:
    one, two = (
        started(folder, "--cache", "shared.db"),
        started(folder, "--cache", "shared.db", "--name", "two"),
    )
    for process in (one, two):
        _, errors = process.communicate(timeout=30)
        assert process.returncode == 0, errors
    with database(folder / "shared.db") as connection:
        assert connection.execute("SELECT count(*) FROM answers").fetchone() == (120,)
    connection.close()
