"""A report of ten systems and a thousand queries is little work, and can be mailed."""

from __future__ import annotations

import numpy as np
import pytest

from rankproof import report
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
