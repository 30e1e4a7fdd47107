"""A user's own measure on the command line: everywhere ours are."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rankproof.core.names import REGISTRY, forget

DECLARED = '''
"""A measure of ours."""
from rankproof import measure
from rankproof.core.hits import Hits, PerQuery
from rankproof.core.measure import Cutoff


@measure("Grades", also=("grades",))
def grades(h: Hits, k: Cutoff = None) -> PerQuery:
    """The grades shown, added up."""
    return h.top(k).sum(h.top(k).grade)
'''


@pytest.fixture
def own(files: Path) -> Iterator[str]:
    """A file that declares a measure."""
    (files / "own.py").write_text(DECLARED)
    yield "own.py"
    if "Grades" in REGISTRY:
        forget("Grades")


@pytest.mark.parametrize(
    "command",
    [
        ("evaluate", "judgments.txt", "first.run", "-m", "grades@2"),
        ("compare", "judgments.txt", "first.run", "second.run", "-m", "Grades@2"),
        ("explain", "judgments.txt", "first.run", "q1", "-m", "Grades@2"),
        ("gate", "judgments.txt", "first.run", "first.run", "-m", "Grades@2"),
        ("report", "judgments.txt", "first.run", "-m", "Grades@2", "-o", "page.html"),
        ("measures", "Grades"),
    ],
    ids=lambda command: command[0],
)
def test_every_command_knows_it(command: tuple[str, ...], rankproof: Any, own: str, files: Path) -> None:
    done = rankproof("--import", own, *command)
    assert "unknown measure" not in done.err
    said = (files / "page.html").read_text() if command[0] == "report" else done.out
    assert "Grades" in said


def test_what_was_saved_by_it_says_what_to_import(rankproof: Any, own: str) -> None:
    words = ("--import", own, "evaluate", "judgments.txt", "first.run", "-m", "Grades@2", "--save", "mine")
    assert rankproof(*words).code == 0
    forget("Grades")
    done = rankproof("show", "mine")
    assert done.code == 2
    assert "unknown measure 'Grades'" in done.err
    assert "'rankproof --import FILE'" in done.err


def test_the_variable_names_it_too(rankproof: Any, own: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKPROOF_IMPORT", own)
    done = rankproof("evaluate", "judgments.txt", "first.run", "-m", "Grades@2", "-f", "csv")
    assert (done.code, "Grades@2" in done.out) == (0, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import nothing_of_this_name", "own.py cannot be imported: ModuleNotFoundError: No module named"),
        ("1 / 0", "own.py cannot be imported: ZeroDivisionError: division by zero. Next: correct it"),
        ("def (", "own.py cannot be imported: SyntaxError"),
        (
            DECLARED.replace('"Grades"', '"AP"'),
            "a measure named 'AP' exists already. Next: choose another name.",
        ),
    ],
)
def test_code_that_does_not_run_is_told(text: str, said: str, rankproof: Any, files: Path) -> None:
    (files / "own.py").write_text(text)
    done = rankproof("--import", "own.py", "measures")
    assert done.code == 2
    assert said in done.err


def test_a_file_or_module_that_is_not_there_is_told(rankproof: Any, files: Path) -> None:
    assert "there is no file absent.py" in rankproof("--import", "absent.py", "measures").err
    assert "there is no module 'absent_module' here" in rankproof("--import", "absent_module", "measures").err


@pytest.mark.parametrize("place", ["own:vectors", "own.py:vectors", "./own.py:vectors"])
def test_a_file_that_declares_measures_may_hold_the_embedder_too(
    place: str, rankproof: Any, own: str, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "own", raising=False)
    with open(own, "a") as file:
        file.write("\n\ndef vectors(texts):\n    return [[1.0, float(len(each))] for each in texts]\n")
    (files / "asked.jsonl").write_text('{"_id": "q1", "text": "Where?"}\n{"_id": "q2", "text": "When is it?"}\n')
    done = rankproof("--import", own, "drift", "asked.jsonl", "asked.jsonl", "--embed", place)
    assert "exists already" not in done.err
    assert done.code in (0, 3), done.err
