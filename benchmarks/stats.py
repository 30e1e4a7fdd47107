"""How fast are the paired randomisation tests? Ours for all pairs and measures at once, scipy's one by one.

    python benchmarks/stats.py [--pairs 3] [--permutations 100000] [--ranx env/bin/python]

5 systems (10 pairs), 9 measures, 1,000 queries. scipy is timed on a few pairs and multiplied out; both sides test
the same differences, and their p-values are compared. Values lie on no grid, so nothing is counted instead of drawn.
With --ranx the python of an environment that holds ranx runs `stats_ranx.py` beside it.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.stats import permutation_test

from rankproof.stats.paired import sign_flips

SYSTEMS, MEASURES, QUERIES = 5, 9, 1000


def columns(seed: int = 1) -> list[np.ndarray]:
    """The differences of every pair of systems by every measure."""
    rng = np.random.default_rng(seed)
    quality = rng.random((QUERIES, 1, MEASURES)) + 0.003 * np.arange(SYSTEMS)[:, None]
    values = np.clip(quality + rng.normal(0, 0.2, (QUERIES, SYSTEMS, MEASURES)), 0, 1)
    return [values[:, i, m] - values[:, j, m] for i, j in combinations(range(SYSTEMS), 2) for m in range(MEASURES)]


def mean_difference(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
    return np.mean(x - y, axis=axis)


def scipys(difference: np.ndarray, permutations: int) -> float:
    """The same test by scipy, as its manual has it for paired samples."""
    return permutation_test(
        (difference, np.zeros_like(difference)), mean_difference, permutation_type="samples", vectorized=True,
        n_resamples=permutations, batch=1000, rng=np.random.default_rng(2),
    ).pvalue  # fmt: skip


def ranxs(python: str) -> float:
    """Seconds of one test by ranx, in its own environment."""
    script = Path(__file__).with_name("stats_ranx.py")
    return float(subprocess.run([python, script], capture_output=True, text=True, check=True).stdout.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=3, help="pairs that scipy is timed on")
    parser.add_argument("--permutations", type=int, default=100_000)
    parser.add_argument("--ranx", help="the python of an environment with ranx")
    asked = parser.parse_args()
    data = columns()

    start = time.perf_counter()
    ours = sign_flips(data, np.random.default_rng(1), permutations=asked.permutations)
    took = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)

    start = time.perf_counter()
    theirs = [scipys(each, asked.permutations) for each in data[: asked.pairs]]
    each = (time.perf_counter() - start) / asked.pairs

    apart = max(abs(mine.p - other) for mine, other in zip(ours, theirs, strict=False))
    print(f"{len(data)} tests x {QUERIES:,} queries x {asked.permutations:,} permutations")
    print(f"rankproof  {took:8.2f} s for all; peak memory of the process {memory:.0f} MB")
    print(f"scipy      {each * len(data):8.2f} s for all, from {asked.pairs} tests of {each:.2f} s each")
    print(f"ratio      {each * len(data) / took:8.1f} x; largest gap between p-values {apart:.4f}")
    if asked.ranx:
        each = ranxs(asked.ranx)
        print(f"ranx       {each * len(data):8.2f} s for all, from tests of {each:.2f} s each")
        print(f"ratio      {each * len(data) / took:8.1f} x")


if __name__ == "__main__":
    main()
