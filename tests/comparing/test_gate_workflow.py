"""The workflow for GitHub Actions on the docs' page is run: its shell lines, in a real repository, with real commands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "gate.md"
yaml = pytest.importorskip("yaml")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="the workflow's lines are for a POSIX shell"),
]

SEARCH = """
def find(text):
    number = int(text.split()[-1])
    found = f"d{{number}}"
    return [found, "x", "y"] if number % 10 < {good} else ["x", found, "y"] if number % 10 < 9 else ["x"]
"""


def workflow() -> dict[str, Any]:
    (body,) = re.findall(r"^```yaml\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    found: dict[str, Any] = yaml.safe_load(body)
    return found


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def repository(folder: Path, branch: int) -> Path:
    """A repository with a release as anchor, and a branch whose search is changed."""
    repo = folder / "repo"
    repo.mkdir()
    (repo / "search.py").write_text(SEARCH.format(good=6))
    lines = [f'{{"id": "q{i}", "text": "question {i}"}}' for i in range(100)]
    (repo / "queries.jsonl").write_text("\n".join(lines) + "\n")
    (repo / "judgments.tsv").write_text("".join(f"q{i}\td{i}\t1\n" for i in range(100)))
    run(repo, "rankproof run --retriever search:find --queries queries.jsonl -o release.run")
    run(repo, "rankproof evaluate judgments.tsv release.run -m nDCG@10 --save release-1")
    (repo / "release.run").unlink()
    git(repo, "init", "-q", "-b", "main")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "first")
    git(repo, "checkout", "-qb", "change")
    (repo / "search.py").write_text(SEARCH.format(good=branch))
    git(repo, "commit", "-qam", "change", "--allow-empty")
    return repo


def run(folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    env = {**os.environ, "PATH": paths, "GITHUB_ACTIONS": "true", "PYTHONDONTWRITEBYTECODE": "1"}
    env.pop("GITHUB_STEP_SUMMARY", None)
    return subprocess.run(
        ["bash", "-e", "-c", line],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(("branch", "code", "says"), [(6, 0, "PASS"), (9, 0, "PASS"), (1, 1, "FAIL")])
def test_the_workflow_of_the_page_runs(branch: int, code: int, says: str, tmp_path: Path) -> None:
    repo = repository(tmp_path, branch)
    steps = workflow()["jobs"]["gate"]["steps"]
    ran = None
    for step in steps:
        if step.get("uses", "").startswith("actions/checkout") and "with" in step:
            assert step["with"]["ref"] == "${{ github.base_ref }}"
            git(repo, "worktree", "add", step["with"]["path"], "main")
        elif "run" in step and not step["run"].startswith("pip "):
            assert ran is None or ran.returncode == 0
            ran = run(repo / step.get("working-directory", "."), step["run"])
    assert ran is not None
    assert ran.returncode == code, ran.stdout + ran.stderr
    assert says in ran.stdout or "::warning" in ran.stderr


def test_the_workflow_uses_options_that_there_are() -> None:
    gates = [step["run"] for step in workflow()["jobs"]["gate"]["steps"] if "rankproof gate" in step.get("run", "")]
    assert len(gates) == 1
    assert {"--allow-inconclusive", "--anchor", "--alpha"} <= set(gates[0].split())
