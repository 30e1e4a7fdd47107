"""A quoted pattern stands for the files that match it, each of them a system."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.shell import rankproof


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "j.tsv").write_text("".join(f"q{n} 0 d1 1\n" for n in range(12)))
    (tmp_path / "runs").mkdir()
    for night in ("2026-01", "2026-02", "2026-10", "2025-12"):
        rows = (f"q{n} Q0 d{1 + (n + int(night[-1])) % 2} 1 0.5 t\n" for n in range(12))
        (tmp_path / "runs" / f"{night}.run").write_text("".join(rows))
    return tmp_path


@pytest.mark.parametrize("words", [("evaluate",), ("compare",), ("leaderboard",), ("report",)])
def test_each_file_is_a_system(folder: Path, words: tuple[str, ...]) -> None:
    done = rankproof(folder, *words, "j.tsv", "runs/2026-*.run", "-m", "RR@10")
    assert done.returncode == 0, done.stderr
    assert all(f"2026-{night}.run" in done.stdout for night in ("01", "02", "10"))
    assert "2025-12" not in done.stdout


def test_a_pattern_without_a_file_is_an_error(folder: Path) -> None:
    done = rankproof(folder, "evaluate", "j.tsv", "runs/2027-*.run")
    assert done.returncode == 2
    assert "no file matches" in done.stderr


def test_a_file_of_that_very_name_is_itself(folder: Path) -> None:
    (folder / "a[1].run").write_text((folder / "runs" / "2026-01.run").read_text())
    assert rankproof(folder, "evaluate", "j.tsv", "a[1].run").returncode == 0


SINGLE = {
    "gate": ("gate", "j.tsv", "runs/2025-12.run", "{}"),
    "gate, baseline": ("gate", "j.tsv", "{}", "runs/2025-12.run"),
    "audit": ("audit", "j.tsv", "{}"),
    "diagnose": ("diagnose", "j.tsv", "{}"),
    "explain": ("explain", "j.tsv", "{}", "q1"),
    "beside": ("explain", "j.tsv", "runs/2025-12.run", "q1", "--beside", "{}", "-o", "x.html"),
    "rank": ("rank", "{}", "-o", "ranked"),
    "needed": ("questions", "needed", "j.tsv", "runs/2025-12.run", "{}", "--difference", "0.1"),
}


@pytest.mark.parametrize("words", SINGLE.values(), ids=list(SINGLE))
def test_where_one_ranking_is_expected_several_files_are_not_taken_as_one(folder: Path, words: tuple[str, ...]) -> None:
    done = rankproof(folder, *(each.format("runs/2026-*.run") for each in words))
    assert done.returncode == 2, done.stdout
    assert "runs/2026-*.run: matches 3 rankings (2026-01.run, 2026-02.run, 2026-10.run), expected one" in done.stderr
    assert "--duplicates" not in done.stderr


@pytest.mark.parametrize("words", SINGLE.values(), ids=list(SINGLE))
def test_parts_of_one_table_are_taken_as_one(folder: Path, words: tuple[str, ...]) -> None:
    for half in (0, 1):
        rows = (f"q{n} Q0 d1 1 0.5 t\nq{n} Q0 d2 2 0.4 t\n" for n in range(6 * half, 6 * half + 6))
        (folder / f"part-0000{half}.run").write_text("".join(rows))
    done = rankproof(folder, *(each.format("part-*.run") for each in words))
    assert done.returncode in (0, 1, 4), done.stderr
    assert "matches" not in done.stderr
