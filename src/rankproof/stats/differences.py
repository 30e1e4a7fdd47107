"""Intervals of the mean difference of two systems, and whether they are the same within a margin.

Each end is a lower bound (of the differences, and of the differences turned round) at half of what the level leaves:
`stats/confidence.py` says how. The interval of b - a is that of a - b mirrored, to the last digit, and nothing is
drawn, unless another method is asked for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from rankproof.core.hits import Array
from rankproof.errors import check_number, check_whole, one_of
from rankproof.stats.bca import RESAMPLES, intervals, percentile
from rankproof.stats.confidence import ValueSample, chance_below, lower_bound
from rankproof.stats.distributions import NORMAL, t_quantile
from rankproof.stats.intervals import Interval
from rankproof.stats.paired import Outcome, check_share, differences, is_constant, total

Method = Literal["adaptive", "bca", "percentile", "t"]
"""How an interval is made: with what was not seen, by two bootstraps, or by Student's t."""

Ends = tuple[float, float]
"""The least and the greatest difference that a query can have."""


def difference_interval(
    values: Array,
    rng: np.random.Generator | None = None,
    level: float = 0.95,
    method: Method = "adaptive",
    resamples: int = RESAMPLES,
    ends: Ends | None = None,
) -> Interval:
    """The interval of the mean of paired differences.

    A one-sided bound at alpha is an end of the interval at level 1 - 2 alpha. `ends` are the least and the greatest
    difference that a query can have: without them -1 and 1, or the largest difference seen where one is larger.

    >>> found = difference_interval(np.array([0.1, 0.0, 0.2, 0.3]), method="t")
    >>> round(found.low, 3), round(found.high, 3)
    (-0.055, 0.355)
    >>> found = difference_interval(np.zeros(20))
    >>> round(found.low, 3), round(found.high, 3)
    (-0.168, 0.168)
    """
    return difference_intervals([values], rng, level, method, resamples, [ends])[0]


def difference_intervals(
    columns: Sequence[Array],
    rng: np.random.Generator | None = None,
    level: float = 0.95,
    method: Method = "adaptive",
    resamples: int = RESAMPLES,
    ends: Sequence[Ends | None] | None = None,
) -> list[Interval]:
    """The intervals of several columns, each as `difference_interval` gives it."""
    if method not in get_args(Method):
        raise one_of("method", method, get_args(Method))
    check_share("level", level)
    check_whole("resamples", resamples)
    rows = [differences(column) for column in columns]
    if method == "adaptive":
        limits = ends or [None] * len(rows)
        return [adaptive_interval(row, level, each) for row, each in zip(rows, limits, strict=True)]
    if method == "t":
        return [t_interval(row, level) for row in rows]
    turned = [total(row) < 0 for row in rows]
    upright = [np.sort(-row) if turn else row for row, turn in zip(rows, turned, strict=True)]
    found = _resampled(upright, rng or np.random.default_rng(0), level, method, resamples)
    return [
        Interval(-each.high, -each.low, each.method, each.n) if turn else each
        for each, turn in zip(found, turned, strict=True)
    ]


def adaptive_interval(row: Array, level: float = 0.95, ends: Ends | None = None) -> Interval:
    """Student's interval where many queries carry the spread, one with what was not seen where few do."""
    if len(row) == 1:
        return _degenerate(row)
    sample, alpha = ValueSample.of(row), (1 - level) / 2
    least, most = possible_range(row) if ends is None else ends
    low, high = lower_bound(sample, alpha, least), -lower_bound(sample.negate(), alpha, -most)
    rare = sample.rarity
    made = "Student's t, corrected for skewness" if rare < 1 else "Gaffke's bounds"
    return Interval(low, high, made if rare in (0, 1) else "Student's t towards Gaffke's bounds", len(row))


def possible_range(row: Array) -> Ends:
    """The differences a query can have, as far as the differences themselves say: -1 to 1, or as far as seen."""
    most = max(1.0, float(np.abs(row).max(initial=0.0)))
    return -most, most


def agree_with_test(ends: Ends, mean: float, p: float, alpha: float, sides: int = 2) -> Ends:
    """An interval that leaves 0 out where the test finds a difference, and holds 0 where it finds none.

    Two valid methods can part near 0, as can a p that was corrected for many rows and the interval of one.
    The test decides: an interval without the values on the far side of what it rejects is as valid as both are.
    The new end is that of the test itself, mean (1 - z(alpha) / z(p)); without a finding it is 0.

    Reference: O. S. Miettinen: Estimability and estimation in case-referent studies, American J. Epidemiology 1976.

    >>> agree_with_test((-0.01, 0.3), 0.15, 0.2, 0.05), agree_with_test((0.01, 0.3), 0.15, 0.2, 0.05)
    ((-0.01, 0.3), (0.0, 0.3))
    >>> low, _ = agree_with_test((-0.01, 0.3), 0.15, 0.04, 0.05)
    >>> round(low, 4)
    0.0068
    """
    low, high = ends
    if p > alpha or not mean:
        return min(low, 0.0), max(high, 0.0)
    nearest = mean * (1 - NORMAL.inv_cdf(alpha / sides) / NORMAL.inv_cdf(p / sides))
    nearest = nearest or math.copysign(math.ulp(abs(mean)), mean)
    if mean > 0:
        return (low if low > 0 else nearest), high
    return low, (high if high < 0 else nearest)


def _resampled(
    rows: Sequence[Array], rng: np.random.Generator, level: float, method: Method, resamples: int
) -> list[Interval]:
    if method == "bca":
        return intervals(rows, rng, level, resamples=resamples)
    seed = int(rng.integers(1 << 62))
    return [_percentile(row, np.random.default_rng([seed, len(row)]), level, resamples) for row in rows]


def _percentile(row: Array, rng: np.random.Generator, level: float, resamples: int) -> Interval:
    return percentile(row, rng, level, resamples) if not is_constant(row) else _degenerate(row)


def t_interval(values: Array, level: float = 0.95) -> Interval:
    """Student's interval of a mean: mean +- t sd / sqrt(n)."""
    row = differences(values)
    if is_constant(row):
        return _degenerate(row)
    mean, error = total(row) / len(row), float(row.std(ddof=1)) / math.sqrt(len(row))
    reach = t_quantile((1 + level) / 2, len(row) - 1) * error
    return Interval(mean - reach, mean + reach, "Student's t", len(row))


def _degenerate(row: Array) -> Interval:
    """One query says nothing about others; equal values, as far as they go, say one thing."""
    if len(row) == 1:
        return Interval(math.nan, math.nan, "one query has no interval", 1)
    return Interval(float(row[0]), float(row[-1]), f"all {len(row):,} values are equal", len(row))


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Whether a mean difference is ruled out to lie outside -margin to margin."""

    difference: float
    margin: float
    p: float
    """The larger of the two p-values: at or below alpha, the systems are equivalent within the margin."""
    above_low: Outcome
    """Is the difference above -margin?"""
    below_high: Outcome
    """Is it below the margin?"""
    n: int
    method: str
    note: str = ""


def equivalence(values: Array, margin: float, ends: Ends | None = None) -> Equivalence:
    """Two one-sided tests that the mean of paired differences lies within the margin of 0.

    At alpha it agrees with `difference_interval` at level 1 - 2 alpha lying inside the margins. `ends` are the least
    and the greatest difference that a query can have, as there.

    >>> import numpy as np
    >>> found = equivalence(np.array([0.01, -0.02, 0.0, 0.02, 0.01]), margin=0.05)
    >>> found.p < 0.01
    True
    """
    check_number(
        "margin", margin, above=0, advice="give the largest difference that does not matter, like 0.01"
    )
    row = differences(values)
    mean, n = total(row) / len(row), len(row)
    least, most = possible_range(row) if ends is None else ends
    sample = ValueSample.of(row)
    note = "one query says nothing of others" if n == 1 else ""
    ps = [1.0, 1.0] if n == 1 else [chance_below(sample, -margin, least),
                                    chance_below(sample.negate(), -margin, -most)]  # fmt: skip
    low, high = (Outcome(mean, p, n, "bound with what was not seen", note) for p in ps)
    worse = max(low, high, key=lambda each: each.p)
    return Equivalence(mean, margin, worse.p, low, high, n, f"two one-sided tests ({worse.method})", note)
