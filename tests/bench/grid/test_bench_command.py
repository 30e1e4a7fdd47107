"""`rankproof bench`: the table on standard output, other forms on request, work kept when it is stopped."""

from __future__ import annotations

import json
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.shell import rankproof

BENCH = """benchmark = "sample"
k = [5, 10]

[retrievers]
words = "keyword"
dense = "lsa"
"""

BUILDER = """import time
def build(corpus):
    time.sleep(0.3)
    ids = sorted(corpus)
    return lambda text: ids[:10]

def broken(corpus):
    raise OSError("no index here")

def scores(question, texts):
    return [-len(text) for text in texts]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "bench.toml").write_text(BENCH)
    (tmp_path / "mine.py").write_text(BUILDER)
    return tmp_path


def read(path: Path) -> Any:
    return json.loads(path.read_text())


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, CompletedProcess[str]]:
    """A folder in which the bench has run once, and what it said."""
    folder = tmp_path_factory.mktemp("bench")
    (folder / "bench.toml").write_text(BENCH)
    return folder, rankproof(folder, "bench", "bench.toml")


def test_the_table_fits_the_screen_and_nothing_is_said_beside_it(
    done: tuple[Path, CompletedProcess[str]],
) -> None:
    folder, ran = done
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "Best of 4 configurations on the 30 questions that choose: dense / k=10" in ran.stdout
    assert "On the 30 questions held out" in " ".join(ran.stdout.split())
    assert max(map(len, ran.stdout.splitlines())) <= 80
    assert (folder / "bench.cache").is_file()


def test_a_second_run_answers_from_what_was_kept(done: tuple[Path, CompletedProcess[str]]) -> None:
    folder, first = done
    assert rankproof(folder, "bench", "bench.toml").stdout == first.stdout
    assert (folder / "bench.cache").is_file()


def test_one_that_is_stopped_says_where_its_answers_are(folder: Path) -> None:
    (folder / "mine.py").write_text("import os, signal\ndef find(q):\n    os.kill(os.getpid(), signal.SIGINT)\n")
    (folder / "bench.toml").write_text(BENCH.replace('"lsa"', '"mine:find"'))
    ran = rankproof(folder, "bench", "bench.toml")
    assert (ran.returncode, ran.stdout) == (130, "")
    assert "the answers so far are in bench.cache, and the same command goes on from there" in ran.stderr


def test_no_cache_writes_no_file(folder: Path) -> None:
    (folder / "bench.toml").write_text(BENCH.replace('dense = "lsa"\n', ""))
    assert rankproof(folder, "bench", "bench.toml", "--no-cache").returncode == 0
    assert not (folder / "bench.cache").exists()


@pytest.mark.slow
def test_the_ending_of_a_file_says_the_format(done: tuple[Path, CompletedProcess[str]]) -> None:
    folder, _ = done
    for name in ("out.html", "out.md", "out.json", "out.csv", "out.jsonl", "out.txt"):
        ran = rankproof(folder, "bench", "bench.toml", "-o", name)
        assert (ran.returncode, ran.stdout) == (0, ""), ran.stderr
    page = (folder / "out.html").read_text()
    assert page.startswith("<!doctype html>") or page.lower().startswith("<!doctype")
    assert "<script" not in page
    assert "dense / k=10" in page
    assert page.count("<circle") == 4
    assert page.count('class="dot best"') == sum(row["front"] for row in read(folder / "out.json")["rows"])
    data = json.loads((folder / "out.json").read_text())
    lines = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    assert [row["name"] for row in data["rows"]] == [line["configuration"] for line in lines]
    assert len((folder / "out.csv").read_text().splitlines()) == 5
    assert "| dense / k=10 |" in (folder / "out.md").read_text()
    assert "Best of 4" in (folder / "out.txt").read_text()


@pytest.mark.slow
def test_an_index_is_made_before_the_clock_runs_and_one_that_cannot_be_made_fails_alone(folder: Path) -> None:
    more = (
        'mine = { kind = "built", call = "mine:build" }\nbroken = { kind = "built", call = "mine:broken" }\n'
        '[rerankers]\nnone = "none"\nshort = { kind = "call", call = "mine:scores", depth = 5 }\n'
    )
    (folder / "bench.toml").write_text(BENCH + more)
    data = json.loads(rankproof(folder, "bench", "bench.toml", "-f", "json").stdout)
    rows = {row["name"]: row for row in data["rows"]}
    assert rows["mine / none / k=5"]["p95"] < 0.05
    assert "no index here" in rows["broken / none / k=5"]["failure"]
    assert rows["words / short / k=10"]["means"] != rows["words / none / k=10"]["means"]
    assert len(rows) == 4 * 2 * 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BENCH.replace("keyword", "keywrod"), "bench.toml, retrievers.words.kind: got 'keywrod'"),
        ("retrievers = 5\n", "expected a table"),
        (
            BENCH + 'mine = { kind = "built", call = "mine:biuld" }\n',
            "mine has no 'biuld'. Did you mean 'build'?",
        ),
        (BENCH + 'mine = { kind = "call", call = "no-such-program" }\n', "no-such-program"),
    ],
)
def test_a_mistake_ends_with_one_message_and_code_2(folder: Path, text: str, words: str) -> None:
    (folder / "bench.toml").write_text(text)
    ran = rankproof(folder, "bench", "bench.toml")
    assert (ran.returncode, ran.stdout) == (2, "")
    assert words in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1


def test_an_unknown_format_is_refused_before_anything_runs(folder: Path) -> None:
    ran = rankproof(folder, "bench", "bench.toml", "-f", "tabel")
    assert ran.returncode == 2
    assert "Did you mean 'table'?" in ran.stderr
    assert not (folder / "bench.cache").exists()


def test_a_file_that_is_no_cache_is_left_alone(folder: Path) -> None:
    (folder / "bench.cache").write_text("my notes")
    ran = rankproof(folder, "bench", "bench.toml")
    assert ran.returncode == 3
    assert (folder / "bench.cache").read_text() == "my notes"
