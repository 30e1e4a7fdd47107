"""Python with -OO drops docstrings and asserts: what is shown and what is found stay the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
from rankproof.cli import run
from rankproof.cli import COMMANDS
for words in [
    *([name, "--help"] for name in COMMANDS if name != "trec_eval"),
    ["--help"], ["questions", "draw", "--help"], ["history", "export", "--help"],
    ["measures", "--full"], ["measures", "nDCG"], ["measures", "--judged"], ["profiles"], ["profiles", "ranx"],
    ["measures", "rrf"], ["evaluate", "j.tsv", "a.run"], ["compare", "j.tsv", "a.run", "b.run"],
    ["audit", "j.tsv", "a.run"], ["diagnose", "j.tsv", "a.run"], ["report", "j.tsv", "a.run", "b.run"],
    ["explain", "j.tsv", "a.run", "q1"], ["gate", "j.tsv", "a.run", "b.run"], ["fuse", "a.run", "b.run"],
    ["evaluate", "j.tsv", "nowhere.run"], ["evaluate", "j.tsv", "a.run", "-m", "nDGC"],
    ["evaluate", "--profile", "trec_eval", "j.tsv", "a.run", "-m", "P@0"],
]:
    print("==", *words, run(words))
"""


def shown(folder: Path, *flags: str) -> str:
    done = subprocess.run([sys.executable, *flags, "-c", CODE], cwd=folder, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


@pytest.mark.slow
def test_everything_is_shown_as_without_it(tmp_path: Path) -> None:
    (tmp_path / "j.tsv").write_text("".join(f"q{n} 0 d{n % 5} {1 + n % 2}\n" for n in range(1, 12)))
    for name, step in (("a", 2), ("b", 3)):
        rows = (f"q{n} Q0 d{(n + step * k) % 5} {k + 1} {5 - k} {name}\n" for n in range(1, 12) for k in range(4))
        (tmp_path / f"{name}.run").write_text("".join(rows))
    plain = shown(tmp_path)
    assert len(plain) > 20_000
    assert shown(tmp_path, "-OO") == plain
