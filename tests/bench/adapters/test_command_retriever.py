"""A command that reads questions and writes JSON Lines is a retriever."""

from __future__ import annotations

import os
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from rankproof import Benchmark
from rankproof.bench.adapters.command import words_of

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
    assert "Latencies are the times between answers" in str(made)


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
    assert "not valid JSON in the output: 'half a {'" in made.failures["q2"]
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


@pytest.mark.slow
def test_a_command_that_hangs_is_ended(tmp_path: Path) -> None:
    made = run(tmp_path, "import time\ntime.sleep(300)\n", timeout=0.1)
    assert set(made.failures) == set(QUESTIONS)
    end = time.monotonic() + 30
    while still_there := [p for p in Path("/proc").glob("[0-9]*/cmdline") if str(tmp_path) in command_line(p)]:
        assert time.monotonic() < end, still_there
        time.sleep(0.05)


def command_line(path: Path) -> str:
    try:
        return path.read_bytes().decode(errors="replace")
    except OSError:  # it ended meanwhile
        return ""


@pytest.mark.slow
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


# --- each answer counts as it comes ---------------------------------------------------------------

SERVE = """import json, os, sys, time
for line in sys.stdin:
    each = json.loads(line)
    text = each["question"]
    {body}
    print(json.dumps({{"id": each["id"], "results": [text]}}){flush})
"""


def serve(folder: Path, questions: list[str], body: str = "pass", flush: str = ", flush=True", **options: Any) -> Any:
    """A command that answers line by line, and what it does with some of the questions before."""
    path = folder / "serve.py"
    path.write_text(SERVE.format(body=body, flush=flush))
    words = shlex.join([sys.executable, str(path)])
    asked = {f"q{n}": text for n, text in enumerate(questions)}
    return Benchmark(asked).run("command", words, k=3, **options)


def answered(made: Any, questions: list[str]) -> set[str]:
    found = {name: [questions[int(name[1:])]] for name in made.ranking if name not in made.failures}
    assert {name: list(made.ranking[name]) for name in found} == found
    return {each[0] for each in found.values()}


@pytest.mark.slow
def test_times_are_those_of_the_questions(tmp_path: Path) -> None:
    made = serve(tmp_path, ["a", "slow", "b", "c"], "time.sleep(2 if text == 'slow' else 0)")
    seconds = {row.question: row.seconds for row in made.rows}
    assert seconds["q1"] >= 1.9
    assert max(seconds["q2"], seconds["q3"]) < 1.5


@pytest.mark.first_is_quick(2)
@pytest.mark.parametrize("flush", ["", ", flush=True"])
@pytest.mark.parametrize("bad", [["b"], ["a"], ["f"], ["b", "c"], ["a", "d", "f"]])
def test_a_crash_is_a_failure_of_its_question_only(tmp_path: Path, bad: list[str], flush: str) -> None:
    questions = ["a", "b", "c", "d", "e", "f"]
    made = serve(tmp_path, questions, f"text in {bad} and sys.exit(f'no {{text}}')", flush)
    assert answered(made, questions) == set(questions) - set(bad)
    assert made.failures == {f"q{questions.index(each)}": f"exit code 1: no {each}" for each in bad}


@pytest.mark.first_is_quick(3)
@pytest.mark.parametrize("last", ["", "sys.stdout.write('{half'), sys.stdout.flush(), "])
@pytest.mark.parametrize("bad", [["b"], ["a"], ["f"], ["b", "c"], ["a", "d", "f"]])
def test_an_end_without_an_error_is_a_failure_of_its_question_only(tmp_path: Path, bad: list[str], last: str) -> None:
    questions = ["a", "b", "c", "d", "e", "f"]
    made = serve(tmp_path, questions, f"text in {bad} and ({last}os._exit(0))")
    assert answered(made, questions) == set(questions) - set(bad)
    assert made.failures.keys() == {f"q{questions.index(each)}" for each in bad}


@pytest.mark.slow
@pytest.mark.parametrize("bad", [["a"], ["c"], ["b", "c"]])
def test_a_hang_is_a_failure_of_its_question_only(tmp_path: Path, bad: list[str]) -> None:
    questions = ["a", "b", "c", "d"]
    made = serve(tmp_path, questions, f"text in {bad} and time.sleep(60)", timeout=0.7)
    assert answered(made, questions) == set(questions) - set(bad)
    assert all("no answer within 0.7 s" in each for each in made.failures.values())
    assert len(made.failures) == len(bad)


@pytest.mark.slow
def test_the_timeout_counts_from_the_last_answer(tmp_path: Path) -> None:
    questions = list("abcdefgh")
    made = serve(tmp_path, questions, "time.sleep(0.2)", timeout=1.2)
    assert made.failures == {}
    assert made.seconds > 1.3


@pytest.mark.slow
def test_a_command_that_answers_at_the_end_finds_the_question_at_fault(tmp_path: Path) -> None:
    body = (
        "if any(each['question'] == 'bad' for each in asked):\n    sys.exit('bad question')\n"
        "for each in asked:\n    print(json.dumps({'id': each['id'], 'results': [each['question']]}))\n"
    )
    path = tmp_path / "find it.py"
    path.write_text(HEAD + body)
    texts = [*"abcdefg", "bad", *"hij"]
    made = Benchmark(dict(enumerate(texts))).run("command", shlex.join([sys.executable, str(path)]))
    assert {texts[int(name)] for name in made.failures} == {"bad"}
    assert {name: list(found) for name, found in made.ranking.items() if found} == {
        str(n): [text] for n, text in enumerate(texts) if text != "bad"
    }


def test_a_command_that_never_works_is_given_up(tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    body = f"open({str(starts)!r}, 'a').write('x')\nsys.exit('no index')\n"
    (tmp_path / "find it.py").write_text("import sys\n" + body)
    words = shlex.join([sys.executable, str(tmp_path / "find it.py")])
    made = Benchmark({f"q{n}": "x" for n in range(50)}).run("command", words)
    assert set(made.failures.values()) == {"exit code 1: no index"}
    assert len(starts.read_text()) <= 5


def test_logs_and_ids_in_one_output(tmp_path: Path) -> None:
    body = (
        "print('[INFO] loading')\nprint(json.dumps({'level': 'info', 'msg': 'loaded'}))\nprint('{half')\n"
        "for each in asked:\n    print(json.dumps({'id': each['id'], 'results': [each['question']]}))\n"
        "    print('[2024-01-01 12:00:00] done', 42)\nprint(7)\n"
    )
    assert run(tmp_path, body).ranking == {name: {text: 1.0} for name, text in QUESTIONS.items()}


def test_lines_without_ids_that_do_not_fit_are_no_answers(tmp_path: Path) -> None:
    body = "print(json.dumps(['d1']))\nprint('an error')\nprint('another')\nprint(json.dumps(['d3']))\n"
    made = run(tmp_path, body)
    assert set(made.failures) == set(QUESTIONS)
    made = run(tmp_path, "for n in range(4):\n    print(json.dumps([f'd{n}']))\n")
    assert "4 lines without ids for 3 questions" in made.failures["q1"]
    made = run(tmp_path, "print(json.dumps(['d1']))\nprint('an error')\nprint(json.dumps(['d3']))\n")
    assert made.failures == {"q2": "not valid JSON in the output: 'an error'"}
    assert made.ranking["q3"] == {"d3": 1.0}


def test_what_fails_is_asked_again_where_retries_say_so(tmp_path: Path) -> None:
    first = tmp_path / "first"
    body = f"(text == 'b' and not os.path.exists({str(first)!r}) and (open({str(first)!r}, 'w').close(), sys.exit('once')))"
    made = serve(tmp_path, ["a", "b", "c"], body, retries=1, backoff=0.01)
    assert made.failures == {}
    assert [row.attempts for row in made.rows] == [1, 2, 1]


def test_a_command_is_paced(tmp_path: Path) -> None:
    made = serve(tmp_path, list("abcdef"), rate=10)
    assert made.failures == {}
    assert made.seconds >= 0.5


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX")
def test_a_kill_keeps_what_was_answered(tmp_path: Path) -> None:
    path = tmp_path / "serve.py"
    path.write_text(SERVE.format(body="open('asked', 'a').write('x'); time.sleep(0.1)", flush=", flush=True"))
    (tmp_path / "q.tsv").write_text("".join(f"q{n}\t{n}\n" for n in range(20)))
    words = [
        sys.executable,
        "-m",
        "rankproof",
        "run",
        "--retriever",
        shlex.join([sys.executable, "serve.py"]),
    ]
    words += ["--queries", "q.tsv", "-o", "my.run"]
    first = subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    kept = tmp_path / "my.run.answers"
    end = time.monotonic() + 30
    while count_of(kept) < 4 and time.monotonic() < end:
        time.sleep(0.05)
    first.send_signal(signal.SIGKILL)
    first.wait()
    known = count_of(kept)
    assert 4 <= known < 20
    time.sleep(0.5)  # the program ends when nobody reads what it writes
    before = len((tmp_path / "asked").read_text())
    subprocess.run(words, cwd=tmp_path, capture_output=True, check=True)
    assert (tmp_path / "my.run").read_text().count("\n") == 20
    assert len((tmp_path / "asked").read_text()) - before == 20 - known


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (r"C:\tools\find.exe --index C:\new\data", [r"C:\tools\find.exe", "--index", r"C:\new\data"]),
        (r'"C:\Program Files\py.exe" "D:\my find.py"', [r"C:\Program Files\py.exe", r"D:\my find.py"]),
        (r'\\server\share\find.exe "a b\" c', [r"\\server\share\find.exe", "a b\\", "c"]),
        (r'find.exe "" x""y', ["find.exe", "", "xy"]),
        ("find.exe 'a b'\t\t c ", ["find.exe", "'a", "b'", "c"]),
        (r'C:\a" "b\find.exe', [r"C:\a b\find.exe"]),
    ],
)
def test_windows_paths_stay_as_they_are(line: str, words: list[str]) -> None:
    assert words_of(line, windows=True) == words


def test_an_open_quote_is_an_error() -> None:
    with pytest.raises(ValueError, match="closing"):
        words_of('"C:\\tools', windows=True)


def count_of(path: Path) -> int:
    if not path.exists():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            (number,) = database.execute("SELECT count(*) FROM answers").fetchone()
    except sqlite3.OperationalError:
        return 0
    return int(number)
