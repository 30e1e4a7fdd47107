"""Intervals and p-values that hold at every look: a test may be looked at each day, and ended whenever one likes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rankproof.core.hits import Array
from rankproof.errors import DataError, check_number
from rankproof.stats.paired import check_share

POINTS = 201
"""Means that a betting interval is made of."""
BOLDEST = 0.5
"""The largest share of what it has that a bet puts at risk."""


@dataclass(frozen=True)
class Anytime:
    """An estimate with an interval and a p-value that hold at all looks together."""

    value: float
    low: float
    high: float
    p: float


def normal_mixture(
    value: float, error: float, planned: float, level: float = 0.95, null: float = 0.0
) -> Anytime:
    """The interval of an estimate with this standard error, as often as it is looked at.

    `planned` is the standard error that is expected at the end: there the interval is at its tightest, wherever else
    it is valid all the same; it must not be chosen anew at each look. Valid for large samples.

    Reference: I. Waudby-Smith et al.: Time-uniform central limit theory and asymptotic confidence sequences, Annals of
    Statistics 52 (2024); R. Johari et al.: Always valid inference, Operations Research 70 (2022).

    >>> found = normal_mixture(0.31, 0.1, 0.1)
    >>> round(found.low, 3), round(found.p, 3)
    (0.006, 0.042)
    """
    check_share("level", level)
    check_number("error", error, above=0, advice="give the standard error of the estimate")
    check_number("planned", planned, above=0, advice="give the standard error at the planned end")
    alpha = 1 - level
    spread = planned**2 * (-2 * math.log(alpha) + math.log(1 - 2 * math.log(alpha)))
    variance = error**2
    reach = math.sqrt(
        variance * (variance + spread) / spread * math.log((variance + spread) / (variance * alpha**2))
    )
    evidence = spread * (value - null) ** 2 / (2 * variance * (variance + spread))
    evidence += 0.5 * math.log(variance / (variance + spread))
    return Anytime(value, value - reach, value + reach, math.exp(-max(evidence, 0.0)))


def betting(values: Array, level: float = 0.95, null: float = 0.5) -> Anytime:
    """The mean of values from 0 to 1, in their order, with an interval that holds at every look, exactly.

    A gambler bets against each possible mean by what was seen before; a mean against which the stake has grown to
    1 / alpha is ruled out. No distribution is assumed, only that the next value has that mean given those before.

    Reference: I. Waudby-Smith and A. Ramdas: Estimating means of bounded random variables by betting, JRSS B 86 (2024).

    >>> found = betting(np.array([1.0] * 30 + [0.0] * 2))
    >>> found.low > 0.5, found.p < 0.05
    (True, True)
    """
    check_share("level", level)
    row = np.asarray(values, dtype=np.float64)
    if row.size and not (np.isfinite(row).all() and row.min() >= 0 and row.max() <= 1):
        raise DataError("betting: got values outside 0 to 1. Next: divide by the largest possible value.")
    if not row.size:
        return Anytime(math.nan, 0.0, 1.0, 1.0)
    alpha = 1 - level
    size = _sizes(row, alpha)
    grid = np.linspace(0, 1, POINTS)
    alive = np.array([_stake(row, size, mean_) < math.log(1 / alpha) for mean_ in grid])
    kept = grid[alive] if alive.any() else np.array([float(row.mean())])
    step = 1 / (POINTS - 1)
    low, high = max(float(kept[0]) - step, 0.0), min(float(kept[-1]) + step, 1.0)
    value = min(max(float(row.mean()), low), high)
    return Anytime(value, low, high, betting_p(row, null, level))


def betting_p(values: Array, null: float = 0.5, level: float = 0.95) -> float:
    """The p-value alone."""
    row = np.asarray(values, dtype=np.float64)
    return math.exp(-max(_stake(row, _sizes(row, 1 - level), null), 0.0)) if row.size else 1.0


def _sizes(row: Array, alpha: float) -> Array:
    """How boldly to bet at each value, by the spread of those before it."""
    n = np.arange(1, len(row) + 1)
    mean = (0.5 + np.cumsum(row)) / (n + 1)
    variance = (0.25 + np.cumsum((row - mean) ** 2)) / (n + 1)
    before = np.concatenate([[0.25], variance[:-1]])
    return np.asarray(np.sqrt(2 * math.log(2 / alpha) / (before * n * np.log(n + 1))))


def _stake(row: Array, size: Array, mean: float) -> float:
    """The logarithm of what bets against a mean, half on more and half on less, have come to."""
    up = np.minimum(size, BOLDEST / max(mean, 1e-9))
    down = np.minimum(size, BOLDEST / max(1 - mean, 1e-9))
    more, less = np.log1p(up * (row - mean)).sum(), np.log1p(-down * (row - mean)).sum()
    return float(np.logaddexp(more, less) - math.log(2))
