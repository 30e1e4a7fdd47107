"""Real files, and the command line run in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from rankproof.cli import run
from tests.shell import own_modules

# q1 and q2 of the worked examples: MAP .4333, MRR .6667, nDCG@5 .6076, P@5 .4, R@5 .8333
JUDGMENTS = """\
q1 0 d1 1
q1 0 d2 1
q1 0 d4 1
q2 0 d1 1
q2 0 d2 1
"""
FIRST = """\
q1 Q0 d1 1 5 first
q1 Q0 d3 2 4 first
q1 Q0 d5 3 3 first
q1 Q0 d2 4 2 first
q1 Q0 d7 5 1 first
q2 Q0 d6 1 5 first
q2 Q0 d8 2 4 first
q2 Q0 d1 3 3 first
q2 Q0 d9 4 2 first
q2 Q0 d2 5 1 first
"""
SECOND = FIRST.replace("first", "second").replace("q2 Q0 d6 1 5", "q2 Q0 d6 1 0")
TIED = """\
q1 Q0 d1 1 1 tied
q1 Q0 d9 2 1 tied
q1 Q0 d2 3 0 tied
q2 Q0 d2 1 1 tied
"""


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with judgments and rankings, which is also where we stand."""
    for name, text in {
        "judgments.txt": JUDGMENTS,
        "first.run": FIRST,
        "second.run": SECOND,
        "tied.run": TIED,
    }.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def rankproof(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line as a user would, and get what came of it."""

    def call(*arguments: str) -> Outcome:
        capsys.readouterr()
        with own_modules(Path.cwd()):
            code = run(list(arguments))
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call
