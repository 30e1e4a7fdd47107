"""A report of ten systems and a thousand queries is little work, and can be mailed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rankproof import report
from tests.memory import MOST_HELD, needs_kernel_count
from tests.work import calls

pytestmark = pytest.mark.slow

QUERIES, SYSTEMS, DEPTH = 1_000, 10, 100


def ranking(rng: np.random.Generator, strength: float) -> dict[str, dict[str, float]]:
    """Scores that lean to the documents judged best, `d0` to `d9`, the more the stronger the system."""
    scores = rng.normal(size=(QUERIES, DEPTH))
    scores[:, :10] += strength
    return {f"q{i}": {f"d{j}": score for j, score in enumerate(row)} for i, row in enumerate(scores.tolist())}


def test_a_large_report_is_small_and_little_work() -> None:
    rng = np.random.default_rng(7)
    judged = {f"q{i}": {f"d{j}": int(j < 10) + int(j < 3) for j in range(30)} for i in range(QUERIES)}
    systems = {f"system {i}": ranking(rng, i / 10) for i in range(SYSTEMS)}
    pages: list[str] = []
    assert calls(lambda: pages.append(report(judged, systems).html())) < 1_000_000  # one a ranked document
    assert len(pages[0].encode()) < 3_000_000


REPORT = f"""{MOST_HELD}
import sys
from rankproof import compare, report
files = "q.tsv", {{"a": "a.run", "b": "b.run"}}
compare(*files, "RR")
before = most_held()
print(len(report(*files, "RR").html()), most_held() - before)
"""


@needs_kernel_count
def test_the_lists_on_the_page_are_all_that_is_read_of_large_runs(tmp_path: Path) -> None:
    """Two runs of 600,000 lines, of which some ten queries are shown."""
    (tmp_path / "q.tsv").write_text("".join(f"q{q}\t0\td{q}-{q % 90}\t1\n" for q in range(3000)))
    for name, best in (("a", 0), ("b", 1)):
        lines = (f"q{q} Q0 d{q}-{(d + best) % 200} {d + 1} {200 - d} {name}\n" for q in range(3000) for d in range(200))
        (tmp_path / f"{name}.run").write_text("".join(lines))
    ran = subprocess.run([sys.executable, "-c", REPORT], cwd=tmp_path, capture_output=True, text=True, check=True)
    page, more = map(int, ran.stdout.split())
    assert page > 10_000
    assert more < 70_000_000, ran.stdout
