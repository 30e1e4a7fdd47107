"""`rankproof calibrate` and `judge --stress`, as they are typed: by keys at a terminal, by lines from a pipe."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rankproof import Verdicts
from rankproof.cli import run

pytestmark = pytest.mark.cover

COMMAND = [sys.executable, "-m", "rankproof"]
SAMPLES = [
    {
        "id": f"s{i}",
        "query": f"Where is tower {i}?",
        "contexts": [f"Where is tower {i}? Tower {i} is in town {i}."],
    }
    for i in range(70)
]


@pytest.fixture(scope="module")
def judged_samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with samples that were judged."""
    made = tmp_path_factory.mktemp("judged")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        Path("s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in SAMPLES))
        assert run(["judge", "s.jsonl", "-m", "P@2", "--ledger", "v.db"]) == 0
    return made


@pytest.fixture
def shell(folder: Callable[[], Path], judged_samples: Path, capsys: Any) -> Callable[[str], tuple[int, str, str]]:
    """The command line in a folder of one's own with samples that were judged."""

    def call(words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(words.split())
        said = capsys.readouterr()
        return code, said.out, said.err

    shutil.copytree(judged_samples, folder(), dirs_exist_ok=True)
    return call


class Terminal:
    """A person at a terminal: what is on the screen, and the keys that are pressed."""

    def __init__(self, words: str) -> None:
        self.parent, child = pty.openpty()
        self.running = subprocess.Popen([*COMMAND, *words.split()], stdin=child, stdout=child, stderr=child)
        os.close(child)
        self.screen = ""

    def until(self, text: str, times: int = 1) -> None:
        """Wait until a text has been shown so often."""
        while self.screen.count(text) < times:
            self.screen += os.read(self.parent, 65536).decode(errors="replace")

    def press(self, keys: str) -> None:
        """Press keys, each when it is asked for."""
        for key in keys:
            before = self.screen.count("> ")
            os.write(self.parent, key.encode())
            if key != "q":
                self.until("> ", before + 1)

    def end(self) -> int:
        """What the command returned, once it ended."""
        try:
            while part := os.read(self.parent, 65536):
                self.screen += part.decode(errors="replace")
        except OSError:  # the other side is closed
            pass
        os.close(self.parent)
        return self.running.wait(timeout=60)


@contextmanager
def terminal(words: str) -> Iterator[Terminal]:
    found = Terminal(words)
    try:
        yield found
    finally:
        if found.running.poll() is None:
            found.running.kill()
            found.running.wait()


def labels(who: str = "ana") -> list[int | None]:
    return [each.value for each in Verdicts("v.db").where(judge=f"human:{who}")]


@pytest.mark.slow
def test_keys_label_skip_undo_and_quit_and_the_next_time_it_goes_on(shell: Any) -> None:
    with terminal("calibrate v.db --who ana -n 6") as person:
        person.until("> ")
        assert "1 of 6  R" in person.screen
        assert "question:" in person.screen
        person.press("3")
        person.press("0")
        assert len(labels()) == 2  # each is in the ledger before the next question
        person.press("u")
        assert len(labels()) == 1
        person.press("1")
        person.press("s")
        person.press("x")
        assert "s skip   u undo   q quit" in person.screen
        person.press("q")
        assert person.end() == 0
        assert "2 of 6 pairs labelled by ana." in person.screen
        assert "kappa" in person.screen
    with terminal("calibrate v.db --who ana -n 6") as person:
        person.until("> ")
        assert "3 of 6  R" in person.screen
        person.press("222")
        time.sleep(0.05)
        os.write(person.parent, b"2")
        assert person.end() == 0
        assert "6 of 6 pairs labelled by ana." in person.screen
    assert sorted(value for value in labels() if value is not None) == [1, 2, 2, 2, 2, 3]


@pytest.mark.slow
def test_no_label_is_lost_when_it_is_killed(shell: Any) -> None:
    with terminal("calibrate v.db --who ana -n 6") as person:
        person.until("> ")
        person.press("30")
        person.running.send_signal(signal.SIGKILL)
        person.running.wait(timeout=30)
        os.close(person.parent)
    time.sleep(0.05)
    assert sorted(value for value in labels() if value is not None) == [0, 3]


@pytest.mark.slow
def test_what_the_judge_says_is_not_shown_to_the_person(shell: Any) -> None:
    with terminal("calibrate v.db --who ana -n 2") as person:
        person.until("> ")
        shown = person.screen
        person.press("q")
        person.end()
    assert "lexical" not in shown


@pytest.mark.slow
def test_labels_come_from_a_pipe_and_correct_the_scores(shell: Any) -> None:
    lines = "3\n0\n" * 40
    done = subprocess.run(
        [*COMMAND, "calibrate", "v.db", "--who", "ana", "-n", "60"],
        input=lines,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "60 of 60 drawn pairs labelled." in done.stdout
    assert "drawn pairs labelled" not in done.stderr
    out = shell("judge s.jsonl -m P@2 --ledger v.db")[1]
    assert "corrected" in out
    assert "PPI++ with 60 labels" in " ".join(out.split())
    csv = shell("judge s.jsonl -m P@2 --ledger v.db -f csv")[1]
    assert {"corrected", "corrected_low", "corrected_high"} <= set(csv.splitlines()[0].split(","))


@pytest.mark.slow
def test_support_has_a_key_for_contradiction(folder: Callable[[], Path]) -> None:
    folder()
    row = {
        "query": "q?",
        "contexts": ["The tower is in Paris."],
        "reference": "The tower is in Paris. It is not red.",
    }
    Path("s.jsonl").write_text(json.dumps(row) + "\n")
    command = [*COMMAND, "calibrate", "s.jsonl", "--ledger", "v.db", "--who", "ana", "--relation", "S"]
    subprocess.run([*command, "-m", "context_recall"], input="c\n-\n", capture_output=True, text=True, check=True)
    assert set(labels()) == {-1}


def test_a_report_asks_nothing_and_is_plain_where_asked_for(shell: Any) -> None:
    assert "No drawn pair has a label yet" in shell("calibrate v.db --report")[1]
    code, out, _ = shell("calibrate v.db --report -f json")
    assert (code, json.loads(out)["relations"]) == (0, {})


def test_drift_and_stress_from_the_shell(shell: Any) -> None:
    code, out, _ = shell("calibrate v.db --drift -n 20")
    assert code == 0
    assert "20 fixed pairs asked again" in out
    assert "Nothing changed." in out
    code, out, _ = shell("judge s.jsonl -m P@2 --stress -f json")
    assert code == 0
    rates = json.loads(out)["rates"]
    assert {way: each["R"]["yes"] for way, each in rates.items()} == dict.fromkeys(rates, 0)
    assert "in another order" in shell("judge s.jsonl -m P@2 --stress")[1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("calibrate nowhere.db", "nowhere.db"),
        ("calibrate v.db --ledger v.db", "is a ledger itself"),
        ("calibrate v.db -f cvs", "format"),
        ("calibrate v.db --judge openai:m", "no verdicts of 'openai:m'"),
        ("calibrate v.db -n 0", "n: got 0"),
        ("calibrate v.db --whole", "needs the samples"),
    ],
)
def test_wrong_words_are_met_with_a_sentence(shell: Any, words: str, said: str) -> None:
    code, out, err = shell(words)
    assert (code, out) == (2, "") or (code == 1 and not out)
    assert said in err
    assert "Traceback" not in err
