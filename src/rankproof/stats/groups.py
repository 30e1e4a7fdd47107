"""Two groups of queries side by side: is one kind of query served worse than the others?

Reference: E. J. G. Pitman: Significance tests which may be applied to samples from any populations, 1937;
B. L. Welch: The generalization of Student's problem when several different variances are involved, 1947.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rankproof.core.hits import Array
from rankproof.stats.distributions import t_above, t_quantile
from rankproof.stats.paired import SAME, check_share, finite

REGROUPED = 10_000
"""Random regroupings behind a p-value."""
MOST_REGROUPED = 500
"""Up to this many queries are regrouped; with more, Welch's t says the same."""
AT_ONCE = 1 << 20
"""Values drawn at a time."""


@dataclass(frozen=True, slots=True)
class Gap:
    """How much one group's mean is above the other's."""

    difference: float
    low: float
    high: float
    """The ends of the interval; NaN where a group has fewer than two values."""
    p: float
    """How often groups of these sizes drawn at random differ at least as much."""
    n: int
    others: int
    method: str


def gap(inside: Array, outside: Array, rng: np.random.Generator, level: float = 0.95) -> Gap:
    """The difference of two groups' means, its interval by Welch's t, and p by random regrouping.

    >>> found = gap(np.array([0.0, 0.1, 0.2, 0.1]), np.array([0.9, 1.0, 0.8, 0.9]), np.random.default_rng(0))
    >>> round(found.difference, 2), found.p < 0.05, found.high < 0
    (-0.8, True, True)
    """
    check_share("level", level)
    first, second = np.sort(finite(inside, "one group")), np.sort(finite(outside, "the other group"))
    n, others = len(first), len(second)
    if not n or not others:
        return Gap(math.nan, math.nan, math.nan, 1.0, n, others, "one group is empty")
    difference = float(first.mean() - second.mean())
    error, df = _error(first, second)
    reach = t_quantile((1 + level) / 2, df) * error if math.isfinite(df) else math.nan
    p, method = _p(first, second, difference, error, df, rng)
    return Gap(difference, difference - reach, difference + reach, p, n, others, method)


def _error(first: Array, second: Array) -> tuple[float, float]:
    """The standard error of the difference, and its degrees of freedom; NaN where a spread is unknown."""
    if min(len(first), len(second)) < 2:
        return math.nan, math.nan
    parts = [float(each.var(ddof=1)) / len(each) for each in (first, second)]
    if not sum(parts):
        return 0.0, float(len(first) + len(second) - 2)
    sizes = (len(first) - 1, len(second) - 1)
    return math.sqrt(sum(parts)), sum(parts) ** 2 / sum(
        part**2 / size for part, size in zip(parts, sizes, strict=True)
    )


def _p(
    first: Array, second: Array, difference: float, error: float, df: float, rng: np.random.Generator
) -> tuple[float, str]:
    pooled = np.concatenate([first, second])
    if float(np.ptp(pooled)) <= SAME * float(np.abs(pooled).max()):
        return 1.0, "all values are equal"
    if len(pooled) > MOST_REGROUPED and error:
        return min(1.0, 2 * t_above(abs(difference) / error, df)), "Welch's t"
    extreme = _extreme(np.sort(pooled), len(first), abs(difference), rng)
    return (extreme + 1) / (REGROUPED + 1), f"{REGROUPED:,} random regroupings"


def _extreme(pooled: Array, n: int, size: float, rng: np.random.Generator) -> int:
    """How many random groups of `n` differ from the others by at least `size`."""
    total, others, count = float(pooled.sum()), len(pooled) - n, 0
    lines = max(1, AT_ONCE // len(pooled))
    for start in range(0, REGROUPED, lines):
        drawn = rng.random((min(lines, REGROUPED - start), len(pooled)))
        sums = pooled[np.argpartition(drawn, n - 1, axis=1)[:, :n]].sum(axis=1)
        off = np.abs(sums / n - (total - sums) / others)
        count += int((off >= size - SAME * max(1.0, abs(total))).sum())
    return count
