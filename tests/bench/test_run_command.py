"""`rankproof run`: a thin skin that writes a ranking, says what failed, and ends with the right code."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from rankproof import evaluate
from tests import shell

SEARCH = """
def find(text):
    if text.startswith("boom"):
        raise ValueError("no index")
    return [("d1", 0.5), ("d2", 0.25)]
def broken(text):
    return None
async def later(text, k):
    return [f"d{n}" for n in range(k)]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "own_search.py").write_text(SEARCH)
    (tmp_path / "questions.tsv").write_text("q1\tRefund?\nq2\tboom\nq3\tHours?\n")
    (tmp_path / "judged.tsv").write_text("q1 0 d1 1\nq2 0 d1 1\n")
    (tmp_path / "docs.jsonl").write_text('{"_id": "d1", "text": "x"}\n{"_id": "d9", "text": ""}\n')
    return tmp_path


def run(folder: Path, *words: str) -> CompletedProcess[str]:
    return shell.rankproof(folder, "run", *words)


USUAL = ("--retriever", "own_search:find", "--queries", "questions.tsv")


def test_a_ranking_is_written_and_failures_are_told(folder: Path) -> None:
    ran = run(folder, *USUAL, "-o", "my.run", "--details", "rows.jsonl", "--corpus", "docs.jsonl")
    assert (ran.returncode, ran.stdout) == (0, "")
    assert (folder / "my.run").read_text() == (
        "q1 Q0 d1 1 0.5 rankproof\nq1 Q0 d2 2 0.25 rankproof\nq3 Q0 d1 1 0.5 rankproof\nq3 Q0 d2 2 0.25 rankproof\n"
    )
    told = " ".join(ran.stderr.split())
    assert "1 question failed and counts as a miss ('q2'): ValueError: no index" in told
    assert "1 of 2 documents have no text" in told
    assert "not in the corpus ('d2'; the corpus has 'd1', ...)" in told
    assert "the same command asks only the questions that failed" in told
    assert evaluate(folder / "judged.tsv", folder / "my.run")["RR@10"] == 0.5
    rows = [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]
    assert [(row["query_id"], row["found"], row["failure"]) for row in rows] == [
        ("q1", 2, None),
        ("q2", 0, "ValueError: no index"),
        ("q3", 2, None),
    ]


def test_standard_output_gets_the_ranking_and_nothing_else(folder: Path) -> None:
    ran = run(folder, *USUAL, "-k", "1")
    assert ran.stdout == "q1 Q0 d1 1 0.5 rankproof\nq3 Q0 d1 1 0.5 rankproof\n"
    assert "up to 1 document each" in ran.stderr
    ran = run(folder, *USUAL, "--to", "json", "-k", "1")
    assert json.loads(ran.stdout) == {"q1": {"d1": 0.5}, "q2": {}, "q3": {"d1": 0.5}}


def test_with_judgments_the_scores_are_printed(folder: Path) -> None:
    ran = run(folder, *USUAL, "--judgments", "judged.tsv", "-o", "my.run", "--name", "mine")
    assert ran.returncode == 0
    assert ran.stdout.startswith("mine: 2 questions")
    assert "RR@10" in ran.stdout
    assert "1 of 3 questions were not asked" in " ".join(ran.stdout.split())
    assert "Conventions: ties trec" in ran.stdout
    assert "More with" not in ran.stdout
    assert max(map(len, ran.stdout.splitlines())) <= 80


def test_limits_are_options(folder: Path) -> None:
    options = ("--concurrency", "2", "--timeout", "0", "--retries", "1", "--backoff", "0.01", "--rate", "500")
    ran = run(folder, "--retriever", "own_search.py:later", "--queries", "questions.tsv", "-k", "2", *options)
    assert ran.returncode == 0, ran.stderr
    assert "q1 Q0 d0 1 2 rankproof" in ran.stdout


def test_if_every_question_fails_so_does_the_command(folder: Path) -> None:
    ran = run(folder, "--retriever", "own_search:broken", "--queries", "questions.tsv", "-o", "my.run")
    assert ran.returncode == 3
    assert "got None (NoneType), expected a list of documents" in " ".join(ran.stderr.split())


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (
            ("--retriever", "own_search:fnid", "--queries", "questions.tsv"),
            2,
            "own_search has no 'fnid'. Did you mean",
        ),
        (("--retriever", "nothing:find", "--queries", "questions.tsv"), 2, "there is no module 'nothing'"),
        (("--retriever", "own_search:find", "--queries", "question.tsv"), 2, "Did you mean 'questions.tsv'"),
        (("--retriever", "own_search:find", "--queries", "docs.jsonl"), 3, "without words"),
        ((*USUAL, "-o", "my.rnu"), 2, "does not say which format to write"),
        ((*USUAL, "-o", "no/folder/my.run"), 2, "there is no folder"),
        ((*USUAL, "--concurrency", "0"), 2, "concurrency: got 0"),
        ((*USUAL, "-k", "0"), 2, "k: got 0"),
        (("--queries", "questions.tsv"), 2, "--retriever"),
    ],
)
def test_errors_say_what_to_do_and_end_with_their_code(
    folder: Path, words: tuple[str, ...], code: int, message: str
) -> None:
    ran = run(folder, *words)
    assert ran.returncode == code
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr
    assert ran.stdout == ""


def test_a_run_is_scored_by_measures_that_need_no_more_than_it_has(folder: Path) -> None:
    ran = run(folder, *USUAL, "--judgments", "judged.tsv", "-k", "10", "-o", "my.run")
    assert "R@10" in ran.stdout
    assert "R@100" not in ran.stdout + ran.stderr


def test_latencies_of_a_few_answers_are_not_shown_as_those_of_the_run(folder: Path) -> None:
    (folder / "questions.tsv").write_text("q1\tboom\nq2\tboom again\nq3\tHours?\n")
    ran = run(folder, *USUAL, "-o", "my.run")
    assert ran.returncode == 0
    assert "p50" not in ran.stderr
    assert "Only 1 of 3 questions were answered" in ran.stderr


def test_a_missing_script_is_told_without_a_riddle(folder: Path) -> None:
    words = ("--retriever", f"{sys.executable} no_such_file.py", "--queries", "questions.tsv")
    ran = run(folder, *words, "-o", "my.run")
    assert ran.returncode == 3
    assert "no_such_file.py" in ran.stderr
    assert "no question was answered" in ran.stderr
    assert "timeout" not in ran.stderr


def test_ids_that_the_format_cannot_hold_are_met_before_a_question_is_asked(folder: Path) -> None:
    (folder / "own_search.py").write_text("def find(text):\n    open('asked', 'w').close()\n    return ['d1']\n")
    (folder / "words.csv").write_text("question,topic\nHow long does a refund take?,money\n")
    done = run(folder, "--retriever", "own_search:find", "--queries", "words.csv", "-o", "my.run")
    assert done.returncode == 3
    assert "words.csv: the id 'How long does a refund take?' cannot be written as TREC" in done.stderr
    assert not (folder / "asked").exists()
    assert run(folder, "--retriever", "own_search:find", "--queries", "words.csv", "-o", "my.csv").returncode == 0
