"""What a user's code prints is not in the results."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PRINTING = """
import os, subprocess, sys
print("importing")
os.write(1, b"by the descriptor\\n")
def find(text):
    print("asked", text)
    sys.stdout.flush()
    os.write(1, b"by the descriptor\\n")
    subprocess.run([sys.executable, "-c", "print('by a child')"])
    return ["d1", "d2"]
async def later(text):
    print("asked", text)
    return ["d1", "d2"]
def write(document):
    print("writing")
    return "why is it so?"
"""


def shell(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "own.py").write_text(PRINTING)
    (folder / "q.tsv").write_text("q1\twhen\nq2\twhere\n")
    (folder / "j.tsv").write_text("q1 0 d1 1\nq2 0 d1 1\n")
    (folder / "docs.tsv").write_text("d1\tthe third blue elephant\nd2\ta small green kettle\n")
    (folder / "bench.toml").write_text(
        'corpus = "docs.tsv"\nquestions = "q.tsv"\njudgments = "j.tsv"\n[retrievers]\nmine = "own.py:find"\n'
        'words = "keyword"\n'
    )
    code = [sys.executable, "-m", "rankproof", *words]
    return subprocess.run(code, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("function", ["find", "later"])
@pytest.mark.parametrize("options", [(), ("--timeout", "0"), ("--concurrency", "2")])
def test_a_retriever_that_prints_writes_nothing_into_the_ranking(
    tmp_path: Path, function: str, options: tuple[str, ...]
) -> None:
    done = shell(tmp_path, "run", "--retriever", f"own.py:{function}", "--queries", "q.tsv", *options)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [(line[0], line[2]) for line in lines] == [(q, d) for q in ("q1", "q2") for d in ("d1", "d2")]
    for word in ("asked", "when", "where"):  # two calls at once may write between each other's words
        assert word in done.stderr
    assert "importing" in done.stderr


@pytest.mark.slow
def test_nor_into_other_results(tmp_path: Path) -> None:
    grid = shell(tmp_path, "bench", "bench.toml", "-f", "json", "--no-cache")
    assert json.loads(grid.stdout)["winner"]
    drawn = shell(tmp_path, "questions", "draw", "docs.tsv", "--ask", "own.py:write")
    assert [json.loads(line)["text"] for line in drawn.stdout.splitlines()] == ["why is it so?"] * 2
    scored = shell(tmp_path, "--import", "own.py", "evaluate", "j.tsv", "j.tsv", "-f", "json")
    assert "importing" not in scored.stdout
