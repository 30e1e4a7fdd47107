"""Which test at which number of queries: how often each calls two systems different that are equal in the mean.

    python benchmarks/large_n.py > table.md

Differences of measures are no bell curves: most are 0, and some more queries lose than gain, each a little less. Their
mean is exactly 0, so whoever finds a difference in the mean raises a false alarm.
Fixed seed; a few minutes on one core.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np

from rankproof.core.mergeable_summaries import ValueSummary
from rankproof.stats.differences import summed_difference
from rankproof.stats.distributions import NORMAL

SEED, TRIALS, ALPHA, MARGIN = 20261122, 400, 0.05, 0.005
SIZES = (50, 200, 1_000, 10_000, 100_000)


def skewed(rng: np.random.Generator, n: int, shift: float = 0.0) -> np.ndarray:
    """60 % of the queries do not change, 21 % lose a little, 19 % gain a little more each: the mean is `shift`."""
    kind = rng.random(n)
    lost, won = -rng.exponential(0.05, n), rng.exponential(0.05 * 0.21 / 0.19, n)
    changed = np.where(kind < 0.6, 0.0, np.where(kind < 0.81, lost, won))
    return np.where(changed == 0, 0.0, changed + shift / 0.4)


def symmetric(rng: np.random.Generator, n: int, shift: float = 0.0) -> np.ndarray:
    changed = np.where(rng.random(n) < 0.6, 0.0, rng.laplace(0, 0.08, n))
    return np.where(changed == 0, 0.0, changed + shift / 0.4)


def wilcoxon(values: np.ndarray) -> float:
    """Signed ranks by their normal form, zeros left out; there are no ties among the others."""
    left = values[values != 0]
    n = len(left)
    rank = np.empty(n)
    rank[np.abs(left).argsort()] = np.arange(1, n + 1)
    total = float(rank[left > 0].sum()) - n * (n + 1) / 4
    return 2 * NORMAL.cdf(-abs(total) / math.sqrt(n * (n + 1) * (2 * n + 1) / 24))


def sign(values: np.ndarray) -> float:
    n, up = int(np.count_nonzero(values)), int(np.count_nonzero(values > 0))
    return 2 * NORMAL.cdf(-max(0.0, abs(up - n / 2) - 0.5) / math.sqrt(n / 4))


def shares(make: Callable[..., np.ndarray], n: int, shift: float = 0.0) -> list[float]:
    """Of all trials the share in which each test finds a difference, then that of intervals within the margin."""
    rng = np.random.default_rng([SEED, n])
    counts = np.zeros(5)
    for _ in range(TRIALS):
        values = make(rng, n, shift)
        found = summed_difference(ValueSummary.of(values))
        alarms = (
            found.p_t < ALPHA,
            found.p < ALPHA,
            wilcoxon(values) < ALPHA,
            sign(values) < ALPHA,
            found.equivalent(MARGIN),
        )
        counts += alarms
    return (counts / TRIALS).tolist()


def main() -> None:
    cases = (
        ("No difference in the mean, differences skewed", skewed, 0.0),
        ("No difference in the mean, differences symmetric", symmetric, 0.0),
        ("A difference of 0.001, which does not matter", skewed, 0.001),
    )
    for title, make, shift in cases:
        print(f"\n**{title}**\n")
        print("| queries | t test | sign flips (our default) | Wilcoxon | sign test | within the margin of 0.005 |")
        print("|---|---|---|---|---|---|")
        for n in SIZES:
            print(
                f"| {n:,} | " + " | ".join(f"{each:.1%}" for each in shares(make, n, shift)) + " |",
                flush=True,
            )
            print(title, n, file=sys.stderr)


if __name__ == "__main__":
    main()
