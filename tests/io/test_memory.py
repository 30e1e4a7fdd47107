"""What a query and what a document cost in memory, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("resource")

READ = """
import resource, sys
from rankproof import evaluate
evaluate(*sys.argv[1:], "RR")["RR"]
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024))
"""


def peak(folder: Path, judged: list[str], ranked: list[str]) -> int:
    (folder / "judged").write_text("".join(judged))
    (folder / "ranked").write_text("".join(ranked))
    words = [sys.executable, "-c", READ, str(folder / "judged"), str(folder / "ranked")]
    return int(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def many_queries(folder: Path, count: int) -> int:
    names = range(count)
    return peak(folder, [f"q{i} 0 d{i} 1\n" for i in names], [f"q{i} Q0 d{i} 1 1.5 t\n" for i in names])


def many_documents(folder: Path, count: int) -> int:
    ranked = [f"q1 Q0 d{i} {i + 1} {count - i}.5 t\n" for i in range(count)]
    return peak(folder, ["q1 0 d7 1\n"], ranked)


@pytest.mark.slow
@pytest.mark.parametrize(("of", "most"), [(many_queries, 450), (many_documents, 240)])
def test_what_one_more_costs_is_bounded(of, most: int, tmp_path: Path) -> None:
    few, many = 100_000, 400_000
    assert of(tmp_path, many) - of(tmp_path, few) < most * (many - few)
