"""Verdict, p and interval of one row never contradict each other: tiny n, ties, one-way losses, mixed denominators."""

from __future__ import annotations

import numpy as np
import pytest

from rankproof import compare, gate

Found = list[tuple[int, int]]


def drawn(rng: np.random.Generator, n: int) -> tuple[Found, Found]:
    """Relevant documents found of those there are, for two systems: changes are rare or dense, one-way or both."""
    there = rng.integers(1, rng.choice([2, 4, 8]), n)
    before = rng.binomial(there, rng.choice([0.2, 0.7, 1.0]))
    moved = rng.random(n) < rng.choice([0.0, 0.1, 0.5, 1.0])
    after = np.where(moved, rng.binomial(there, rng.choice([0.0, 0.3, 0.7, 1.0])), before)
    one_way = rng.choice([-1, 0, 1])
    after = np.minimum(after, before) if one_way < 0 else np.maximum(after, before) if one_way else after
    return (
        list(zip(before.tolist(), there.tolist(), strict=True)),
        list(zip(after.tolist(), there.tolist(), strict=True)),
    )


def ranked(found: Found) -> dict[str, list[str]]:
    return {f"q{i}": [f"d{j}" for j in range(hits)] + ["none"] for i, (hits, _) in enumerate(found)}


@pytest.mark.slow
def test_verdict_p_and_interval_never_contradict_each_other() -> None:
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(150):
        n, alpha, margin = (
            int(rng.choice([1, 2, 5, 9, 10, 14, 25, 60])),
            float(rng.choice([0.01, 0.05, 0.2])),
            0.1,
        )
        first, second = drawn(rng, n)
        judged = {f"q{i}": {f"d{j}": 1 for j in range(there)} for i, (_, there) in enumerate(first)}
        one, two = ranked(first), ranked(second)
        settings = {"alpha": alpha, "margin": margin, "permutations": 500}
        found = compare(judged, {"one": one, "two": two}, "R@10, Success@1", **settings)
        mirrored = compare(judged, {"two": two, "one": one}, "R@10, Success@1", **settings)
        for row, back in zip(found, mirrored, strict=True):
            told = (first, second, alpha, row)
            low, high = (-1.0, 1.0) if row.low is None or row.high is None else (row.low, row.high)
            assert low <= row.difference <= high, told
            assert 0 < row.p <= row.p_corrected <= 1, told
            assert {row.verdict, back.verdict} in ({"better", "worse"}, {"unclear"}, {"equivalent"}), told
            assert (back.p_corrected, back.low, back.high) == (
                row.p_corrected,
                None if row.high is None else -row.high,
                None if row.low is None else -row.low,
            ), told
            if row.p_corrected > alpha:
                assert low <= 0 <= high, told
                assert row.verdict in ("unclear", "equivalent"), told
            elif n > 1:
                assert low > 0 or high < 0, told
                assert row.verdict != "unclear" or n < 10, told
            if row.verdict in ("better", "worse"):
                assert n >= 10, told
                assert (row.difference > 0) == (row.verdict == "better"), told
            if row.verdict == "equivalent":
                assert -margin < low <= high < margin, told
                assert n >= 10, told
            seen.add(row.verdict)
        for row in gate(judged, one, two, "R@10, Success@1", alpha=alpha, margin=margin):
            if row.check != "difference":
                continue
            told = (first, second, alpha, row)
            low, high = -1.0 if row.low is None else row.low, 1.0 if row.high is None else row.high
            assert low <= row.difference <= high, told
            assert (row.outcome == "pass") == (low > -margin and n >= 10), told
            if row.p is not None and n > 1:
                assert (row.p <= alpha) == (high < 0), told
            if row.outcome == "fail":
                assert n >= 10, told
                assert row.p <= alpha, told
                assert row.difference <= -margin, told
            elif n >= 10 and row.p is not None and row.outcome != "pass":
                assert row.p > alpha or row.difference > -margin, told
            seen.add(row.outcome)
    assert seen == {"better", "worse", "unclear", "equivalent", "pass", "fail", "inconclusive"}
