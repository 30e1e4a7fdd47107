"""`rankproof demo`: the whole story in screenfuls, and a report where it says."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.shell import rankproof

pytestmark = [pytest.mark.cover, pytest.mark.slow]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, CompletedProcess[str]]:
    """The folder in which the demo ran, and what it said."""
    folder = tmp_path_factory.mktemp("demo")
    return folder, rankproof(folder, "demo")


def test_the_whole_story_in_order_on_a_screen_of_80_columns(told: tuple[Path, CompletedProcess[str]]) -> None:
    _, ran = told
    assert (ran.returncode, ran.stderr) == (0, "")
    steps = ["Cut", "Index", "Measure", "Is one better", "What is wrong", "How one of these", "Show it"]
    places = [ran.stdout.index(f"{n}. {step}") for n, step in enumerate(steps, start=1)]
    assert places == sorted(places)
    assert max(map(len, ran.stdout.splitlines())) <= 80
    assert max(ran.stdout.count("\n", *part) for part in pairwise(places)) <= 60
    assert "rankproof-demo.html" in ran.stdout


def test_the_report_is_one_page_in_the_folder_one_is_in(told: tuple[Path, CompletedProcess[str]]) -> None:
    folder, _ = told
    assert [path.name for path in folder.iterdir()] == ["rankproof-demo.html"]
    page = (folder / "rankproof-demo.html").read_text()
    assert "hybrid" in page
    assert "<script" not in page


@pytest.mark.no_cover
def test_the_report_goes_where_it_is_told_or_nowhere(tmp_path: Path) -> None:
    assert rankproof(tmp_path, "demo", "--no-report").returncode == 0
    assert list(tmp_path.iterdir()) == []
    assert rankproof(tmp_path, "demo", "-o", "mine.md").returncode == 0
    assert (tmp_path / "mine.md").read_text().startswith("# rankproof demo")


def test_a_report_in_no_known_format_is_refused(tmp_path: Path) -> None:
    assert rankproof(tmp_path, "demo", "-o", "mine.docx").returncode == 2
    assert list(tmp_path.iterdir()) == []
