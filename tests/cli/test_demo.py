"""`rankproof demo`: the whole story in screenfuls, and a report where it says."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path


def demo(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rankproof", "demo", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_the_whole_story_in_order_on_a_screen_of_80_columns(tmp_path: Path) -> None:
    ran = demo(tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    steps = ["Cut", "Index", "Measure", "Is one better", "What is wrong", "How one of these", "Show it"]
    places = [ran.stdout.index(f"{n}. {step}") for n, step in enumerate(steps, start=1)]
    assert places == sorted(places)
    assert max(map(len, ran.stdout.splitlines())) <= 80
    assert max(ran.stdout.count("\n", *part) for part in pairwise(places)) <= 60
    page = (tmp_path / "rankproof-demo.html").read_text()
    assert "rankproof-demo.html" in ran.stdout
    assert "hybrid" in page
    assert "<script" not in page
    assert [path.name for path in tmp_path.iterdir()] == ["rankproof-demo.html"]


def test_the_report_goes_where_it_is_told_or_nowhere(tmp_path: Path) -> None:
    assert demo(tmp_path, "--no-report").returncode == 0
    assert list(tmp_path.iterdir()) == []
    assert demo(tmp_path, "-o", "mine.md").returncode == 0
    assert (tmp_path / "mine.md").read_text().startswith("# rankproof demo")
    assert demo(tmp_path, "-o", "mine.docx").returncode == 2
