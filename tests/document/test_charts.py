"""The pictures of pages."""

from __future__ import annotations

import re

import numpy as np

from rankproof.document.charts import LEFT, RIGHT, Dot, scatter


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
