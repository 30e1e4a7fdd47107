"""A command that reads questions and writes JSON Lines is a retriever."""

from __future__ import annotations

import os
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from rankproof import Benchmark

QUESTIONS = {"q1": "one", "q2": "two\nlines", "q3": "drei ü"}
HEAD = "import json, sys\nasked = [json.loads(line) for line in sys.stdin]\n"


def run(folder: Path, body: str, **options: Any) -> Any:
    path = folder / "find it.py"
    path.write_text(HEAD + body)
    words = shlex.join([sys.executable, str(path)])
    return Benchmark(QUESTIONS).run("command", words, k=3, **options)


def test_questions_go_in_and_results_come_out(tmp_path: Path) -> None:
    made = run(
        tmp_path,
        "for each in reversed(asked):\n"
        "    results = [[each['question'], each['k']], ['d1', 1]]\n"
        "    print(json.dumps({'id': each['id'], 'results': results}))\n",
    )
    assert made.ranking == {name: {text: 3.0, "d1": 1.0} for name, text in QUESTIONS.items()}
    assert "asked in batches" in str(made)


@pytest.mark.parametrize(
    "line",
    [
        "json.dumps(['d1', 'd2'])",
        "json.dumps({'results': ['d1', 'd2']})",
        "json.dumps({'documents': [{'id': 'd1', 'score': 2}, {'id': 'd2', 'score': 1}]})",
        "json.dumps({'ids': ['d1', 'd2']})",
        "json.dumps({'id': int(each['id']), 'hits': [['d1', 0.5], ['d2', 0.1]]})",
    ],
)
def test_lines_may_have_several_forms(tmp_path: Path, line: str) -> None:
    made = run(tmp_path, f"for each in asked:\n    print({line})\n")
    assert [list(found) for found in made.ranking.values()] == [["d1", "d2"]] * 3
    assert made.failures == {}


def test_a_bad_line_is_a_failure_of_its_question_only(tmp_path: Path) -> None:
    made = run(
        tmp_path,
        "print(json.dumps({'id': '0', 'results': ['d1']}))\nprint('half a {')\n"
        "print(json.dumps({'id': '2', 'answer': 42}))\n",
    )
    assert made.ranking["q1"] == {"d1": 1.0}
    assert "no valid JSON in the output: 'half a {'" in made.failures["q2"]
    assert "expected the results under 'results'" in made.failures["q3"]


def test_questions_without_a_line_failed(tmp_path: Path) -> None:
    made = run(tmp_path, "print(json.dumps({'id': '1', 'results': []}))\n")
    assert made.failures == dict.fromkeys(["q1", "q3"], "no line for this question in the output")
    assert made.ranking["q2"] == {}


def test_a_command_that_fails_says_how(tmp_path: Path) -> None:
    made = run(tmp_path, "sys.exit('no index here')\n")
    assert set(made.failures.values()) == {"exit code 1: no index here"}
    made = run(tmp_path, "print(json.dumps({'id': '0', 'results': ['d1']}))\nsys.exit('disk full')\n")
    assert made.failures == dict.fromkeys(["q2", "q3"], "exit code 1: disk full")


def test_a_command_that_hangs_is_ended(tmp_path: Path) -> None:
    began = time.monotonic()
    survived = tmp_path / "survived"
    body = f"import pathlib, time\ntime.sleep(1.5)\npathlib.Path({str(survived)!r}).touch()\n"
    made = run(tmp_path, body, timeout=0.1)
    assert time.monotonic() - began < 1.4
    assert set(made.failures) == set(QUESTIONS)
    time.sleep(1.5)
    assert not survived.exists()


@pytest.mark.skipif(os.name != "posix", reason="process groups are POSIX")
def test_what_a_command_started_is_ended_with_it(tmp_path: Path) -> None:
    ready, survived = tmp_path / "ready", tmp_path / "survived"
    for patience in (0.2, 2.0, 10.0):  # on a busy machine a shell may take long to begin
        inner = f"touch {shlex.quote(str(ready))}; sleep {patience + 1}; touch {shlex.quote(str(survived))}"
        words = shlex.join(["sh", "-c", f"sh -c {shlex.quote(inner)}; true"])
        made = Benchmark(QUESTIONS).run("command", words, timeout=patience)
        assert set(made.failures) == set(QUESTIONS)
        if ready.exists():
            break
    time.sleep(1.5)
    assert ready.exists()
    assert not survived.exists()


def test_a_log_between_the_answers_does_no_harm(tmp_path: Path) -> None:
    body = "print('loading')\nfor each in asked:\n    print(json.dumps([each['question']]))\nprint('done')\n"
    assert run(tmp_path, body).ranking == {name: {text: 1.0} for name, text in QUESTIONS.items()}


def test_two_lines_for_a_question_are_not_one(tmp_path: Path) -> None:
    body = "for name in '0112':\n    print(json.dumps({'id': name, 'results': ['d1']}))\n"
    assert run(tmp_path, body).failures == {"q2": "two lines for this question"}


def test_a_command_can_be_given_a_few_questions_at_once(tmp_path: Path) -> None:
    made = run(tmp_path, "for each in asked:\n    print(json.dumps([f'of-{len(asked)}']))\n", batch=2)
    assert [list(found) for found in made.ranking.values()] == [["of-2"], ["of-2"], ["of-1"]]
