"""The commands; labelling in a real terminal."""

from __future__ import annotations

import json
import os
import select
import sys
import time
from pathlib import Path

import pytest

from rankproof import sample
from rankproof.io.load import load_judgments
from tests.shell import rankproof

pytestmark = pytest.mark.cover

SAMPLE = sample.folder()
COMMAND = [sys.executable, "-m", "rankproof"]


def run(*words: object, stdin: str = "", code: int = 0) -> tuple[str, str]:
    done = rankproof(Path.cwd(), *map(str, words), stdin=stdin)
    assert done.returncode == code, done.stderr
    return done.stdout, done.stderr


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    path = tmp_path / "pool.jsonl"
    _, told = run("pool", SAMPLE / "keyword.run", SAMPLE / "dense.run", "--depth", 3, "--budget", 120, "-o", path)
    assert "120 of them to judge, by depth" in told
    return path


def test_from_runs_to_judgments_in_three_commands(pool: Path, tmp_path: Path) -> None:
    labels, judgments = tmp_path / "labels.jsonl", tmp_path / "judgments.tsv"
    shown, _ = run(
        *("label", pool, "--who", "ana", "-o", labels),
        *("--queries", SAMPLE / "queries.jsonl", "--corpus", SAMPLE / "documents.jsonl"),
        stdin="3\n0\n2\n\ns\nq\n",
    )
    assert "How" in shown
    assert "4 of 120 judged by ana." in shown
    assert max(map(len, shown.splitlines())) <= 80
    run("label", pool, "--who", "ben", "-o", labels, stdin="3\n1\n2\n")
    told, _ = run("label", pool, "-o", labels, "--agreement")
    assert "ana, ben" in told
    old = tmp_path / "old.tsv"
    old.write_text("q01 0 account-twofactor-01 1\nelsewhere 0 d1 2\n")
    run("label", pool, "-o", labels, "--qrels", judgments, "--add-to", old)
    known = load_judgments(judgments).as_dict()
    assert known["elsewhere"] == {"d1": 2}
    assert known["q01"]["account-twofactor-01"] == 3
    scored, _ = run("evaluate", judgments, SAMPLE / "dense.run", "-m", "P@1", "--format", "json")
    assert json.loads(scored)


@pytest.mark.slow
def test_keys_in_a_real_terminal(pool: Path, tmp_path: Path) -> None:
    pty = pytest.importorskip("pty", reason="this system has no pseudo terminals")
    labels = tmp_path / "labels.jsonl"
    child, terminal = pty.fork()
    if child == 0:  # pragma: no cover
        os.execv(COMMAND[0], [*COMMAND, "label", str(pool), "--who", "ana", "-o", str(labels)])
    _until(terminal, "> ")
    for key in ("3", "x", "0", "u", "s", "1"):
        _press(terminal, key, "> ")
    _press(terminal, "q", "judged by ana.")
    assert os.waitpid(child, 0)[1] == 0
    made = [json.loads(line) for line in labels.read_text().splitlines()]
    assert [(each["what"], each["grade"]) for each in made] == [
        *(("graded", 3), ("graded", 0), ("undone", None), ("skipped", None), ("graded", 1)),
    ]
    assert made[1]["document"] == made[2]["document"] == made[3]["document"]


def _press(terminal: int, key: str, mark: str) -> None:
    """Press a key, and wait until it is answered."""
    os.write(terminal, key.encode())
    assert mark in _shown(terminal, mark, 60)


def _until(terminal: int, mark: str) -> None:
    assert mark in _shown(terminal, mark, 30)


def _shown(terminal: int, mark: str, seconds: float) -> str:
    """What the terminal shows, up to the mark where it comes."""
    shown, end = "", time.monotonic() + seconds
    while mark not in shown and time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            shown += os.read(terminal, 4096).decode("utf-8", "replace")
    return shown


def test_no_labels_are_no_judgments(pool: Path, tmp_path: Path) -> None:
    _, told = run("label", pool, "-o", tmp_path / "none.jsonl", "--qrels", tmp_path / "j.tsv", code=3)
    assert "Next: judge first" in told


def test_questions_are_drawn_checked_and_split(tmp_path: Path) -> None:
    questions, judgments = tmp_path / "questions.jsonl", tmp_path / "judgments.tsv"
    _, told = run(
        *(
            "questions",
            "draw",
            SAMPLE / "documents.jsonl",
            "-n",
            20,
            "-o",
            questions,
            "--qrels",
            judgments,
        )
    )
    assert "\n20 questions: " in told
    _, told = run("questions", "draw", SAMPLE / "documents.jsonl", "-n", 500, "-o", tmp_path / "many.jsonl")
    assert "500 were requested; there is one per document" in told
    found, _ = run("questions", "check", questions, judgments, "--corpus", SAMPLE / "documents.jsonl")
    assert "error" not in found
    split, _ = run("questions", "split", questions, "tune=0.25", "test=0.75", "--by", f"{questions}:source")
    assert sorted(line.split("\t")[1] for line in split.splitlines()) == ["test"] * 15 + ["tune"] * 5
    for shares in (("tune=0.5", "tune=0.5"), ("tune",), ("tune=x", "test=1")):
        run("questions", "split", questions, *shares, code=2)


def test_a_check_that_finds_errors_ends_with_3(tmp_path: Path) -> None:
    questions = tmp_path / "q.jsonl"
    questions.write_text('{"_id": "a", "text": "Is it free?"}\n{"_id": "b", "text": "is it free"}\n')
    judgments = tmp_path / "j.tsv"
    judgments.write_text("a 0 d1 1\nb 0 d1 1\n")
    shown, _ = run("questions", "check", questions, judgments, "-f", "json", code=3)
    assert [each["kind"] for each in json.loads(shown)] == ["duplicate-questions"]


def test_the_number_of_questions_needed_is_said() -> None:
    shown, _ = run(
        *("questions", "needed", SAMPLE / "judgments.tsv", SAMPLE / "keyword.run", SAMPLE / "dense.run"),
        *("--difference", 0.05),
    )
    assert shown.startswith("A difference of 0.05 in nDCG@10 needs ")


def test_a_function_writes_questions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "asks_of_pages.py").write_text("def write(page):\n    return f'What about {page.id}?'\n")
    words = ("questions", "draw", SAMPLE / "documents.jsonl", "-n", 3)
    shown, told = run(*words, "--ask", "asks_of_pages:write")
    assert [json.loads(line)["text"].startswith("What about ") for line in shown.splitlines()] == [True] * 3
    assert told.startswith("3 questions: 3 by callable.")
    assert run(*words, "--ask", "asks_of_pages.py:write") == (shown, told)
    _, told = run(*words, "--ask", "asks_of_pages:wirte", code=2)
    assert "--ask: asks_of_pages has no 'wirte'. Did you mean 'write'?" in told
    _, told = run("questions", "draw", SAMPLE / "documents.jsonl", "-n", 1, "--ask", "asks_of_pages:write")
    assert told.startswith("1 question: ")
    _, told = run("questions", "draw", SAMPLE / "documents.jsonl", "-n", 500, "--ask", "asks_of_pages:write")
    assert "500 were requested; asks_of_pages:write wrote no more." in told
