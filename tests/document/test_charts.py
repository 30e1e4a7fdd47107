"""The pictures of pages."""

from __future__ import annotations

import re

import numpy as np
import pytest

from rankproof.document.charts import LEFT, RIGHT, Dot, scatter
from rankproof.document.numbers import ticks


def test_names_in_the_picture_of_quality_and_latency_do_not_cover_each_other() -> None:
    rng = np.random.default_rng(5)
    dots = [
        Dot(f"configuration {i}" * (1 + i % 3), float(at), float(quality), bool(i % 2))
        for i, (at, quality) in enumerate(rng.random((60, 2)))
    ]
    drawn = str(scatter("nDCG@10", dots))
    found = re.findall(r'<text x="([\d.]+)" y="([\d.]+)" class="small( end)?"><title>([^<]+)</title>([^<]+)<', drawn)
    assert len(found) > 5
    best = max((dot for dot in dots if dot.front), key=lambda dot: dot.quality)
    assert best.name in {name for *_, name, _ in found}
    boxes = []
    for x, y, end, _, shown in found:
        wide = 6.2 * len(shown)
        start = float(x) - wide if end else float(x)
        assert start >= LEFT, shown
        assert start + wide <= RIGHT, shown
        boxes.append((start, start + wide, float(y)))
    for i, (start, end, y) in enumerate(boxes):
        assert not any(abs(y - h) < 11 and start < e and s < end for s, e, h in boxes[:i])
    places = [tuple(map(float, at)) for at in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawn)]
    for start, end, y in boxes:
        assert not any(abs(y - 4 - h) < 10 and start < x < end for x, h in places)


@pytest.mark.parametrize(("low", "high"), [(0.02, 0.85), (0.41, 0.59), (0.1, 0.1001), (3, 1700)])
def test_an_axis_has_two_numbers_at_least(low: float, high: float) -> None:
    for about in (1, 2, 3, 4):
        found = ticks(low, high, about)
        assert len(found) > 1
        assert low <= min(found) < max(found) <= high
