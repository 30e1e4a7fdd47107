"""A year of changes under the documented workflow: how early creep is seen, and how often it is red for nothing.

    python -m benchmarks.creep [YEARS]

A change is merged unless the gate fails (what is inconclusive is let through). Queries have values between 0 and 1;
a change moves a share of them at random, by about as much as a changed ranking does, and all by the drift.
"""

from __future__ import annotations

import sys

import numpy as np

from rankproof.comparing.gate_decision import FAIL, decide
from rankproof.core.hits import Array

QUERIES, CHANGES, DRIFT = 100, 250, 0.004
MARGIN, ANCHOR_MARGIN, ALPHA = 0.01, 0.02, 0.01
MOVED, BY = 0.3, 0.1
"""The share of the queries that a change moves, and the standard deviation of by how much."""


def changed(values: Array, rng: np.random.Generator, drift: float, moved: float = MOVED) -> Array:
    """The values after one change; no value leaves the range of a measure."""
    jitter = rng.normal(0, BY, len(values)) * (rng.random(len(values)) < moved)
    found: Array = np.clip(values + jitter - jitter.mean() - drift, 0, 1)
    return found


def red(baseline: Array, candidate: Array, anchor: Array | None, seed: int, margin: float = MARGIN) -> bool:
    """Whether the gate fails, against the baseline and, where there is one, the anchor."""
    columns, margins = [candidate - baseline], [margin]
    if anchor is not None:
        columns, margins = [*columns, candidate - anchor], [*margins, ANCHOR_MARGIN]
    found = decide(columns, margins, np.random.default_rng(seed), ALPHA, permutations=5_000)
    return any(each.outcome == FAIL for each in found)


def first_red(rng: np.random.Generator, changes: int, anchored: bool) -> int:
    """After how many merged changes of the drift the gate is red for the first time."""
    release = rng.beta(2, 1, QUERIES)
    current = release
    for number in range(1, changes + 1):
        candidate = changed(current, rng, DRIFT)
        if red(current, candidate, release if anchored else None, number):
            return number
        current = candidate
    return changes + 1


def creep(rng: np.random.Generator, changes: int = CHANGES, years: int = 20) -> tuple[list[int], list[int]]:
    """The first red of each year without an anchor, and with one."""
    return (
        [first_red(rng, changes, False) for _ in range(years)],
        [first_red(rng, changes, True) for _ in range(years)],
    )


def no_change(rng: np.random.Generator, changes: int = CHANGES, years: int = 20) -> list[int]:
    """How often each year is red when the questions' values move but no change has an effect on others like them.

    The anchor is renewed each 50 changes, as at a release.
    """
    found = []
    for _ in range(years):
        truth = rng.beta(2, 1, QUERIES)
        reds, main, release = 0, truth, truth
        for number in range(changes):
            candidate = np.clip(truth + rng.normal(0, BY, QUERIES) * (rng.random(QUERIES) < MOVED), 0, 1)
            if red(main, candidate, release, number):
                reds += 1
            else:
                main = candidate
            if number % 50 == 49:
                release = main
        found.append(reds)
    return found


def main() -> None:
    """Print both tables."""
    rng, years = np.random.default_rng(0), int(sys.argv[1]) if len(sys.argv) > 1 else 20
    alone, anchored = creep(rng, years=years)
    never = sum(each > CHANGES for each in alone)
    print(f"{QUERIES} queries, {CHANGES} changes of -{DRIFT}, margin {MARGIN}, anchor {ANCHOR_MARGIN}, alpha {ALPHA}")
    print(f"without an anchor: first red after {np.median(alone):.0f} (median); never in {never} of {years} years")
    print(f"with an anchor: first red after {np.median(anchored):.0f} (median), {max(anchored)} at most")
    reds = no_change(rng, years=years)
    print(f"changes that change nothing: {np.mean(reds):.1f} red a year on average, {max(reds)} at most")


if __name__ == "__main__":
    main()
