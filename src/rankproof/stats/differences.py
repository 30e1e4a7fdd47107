"""Intervals of the mean difference of two systems on the same queries.

Differences are turned so that their mean is not below 0 before anything is drawn: the interval of b - a is
that of a - b mirrored, to the last digit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from rankproof.core.hits import Array
from rankproof.errors import one_of
from rankproof.stats.bca import RESAMPLES, intervals, percentile
from rankproof.stats.distributions import t_quantile
from rankproof.stats.intervals import Interval
from rankproof.stats.paired import check_count, check_share, constant, differences, total

Method = Literal["bca", "percentile", "t"]
"""How an interval is made: two bootstraps, or Student's t."""


def difference_interval(
    values: Array,
    rng: np.random.Generator,
    level: float = 0.95,
    method: Method = "bca",
    resamples: int = RESAMPLES,
) -> Interval:
    """The interval of the mean of paired differences.

    A one-sided bound at alpha is an end of the interval at level 1 - 2 alpha.

    >>> found = difference_interval(np.array([0.1, 0.0, 0.2, 0.3]), np.random.default_rng(0), method="t")
    >>> round(found.low, 3), round(found.high, 3)
    (-0.055, 0.355)
    """
    return difference_intervals([values], rng, level, method, resamples)[0]


def difference_intervals(
    columns: Sequence[Array],
    rng: np.random.Generator,
    level: float = 0.95,
    method: Method = "bca",
    resamples: int = RESAMPLES,
) -> list[Interval]:
    """The intervals of several columns, each as `difference_interval` gives it."""
    if method not in get_args(Method):
        raise one_of("method", method, get_args(Method))
    check_share("level", level)
    check_count("resamples", resamples)
    rows = [differences(column) for column in columns]
    turned = [total(row) < 0 for row in rows]
    upright = [np.sort(-row) if turn else row for row, turn in zip(rows, turned, strict=True)]
    found = _intervals(upright, rng, level, method, resamples)
    return [_mirrored(each) if turn else each for each, turn in zip(found, turned, strict=True)]


def _intervals(
    rows: Sequence[Array], rng: np.random.Generator, level: float, method: Method, resamples: int
) -> list[Interval]:
    if method == "t":
        return [t_interval(row, level) for row in rows]
    if method == "bca":
        return intervals(rows, rng, level, resamples=resamples)
    seed = int(rng.integers(1 << 62))
    return [_percentile(row, np.random.default_rng([seed, len(row)]), level, resamples) for row in rows]


def _percentile(row: Array, rng: np.random.Generator, level: float, resamples: int) -> Interval:
    return percentile(row, rng, level, resamples) if not constant(row) else _degenerate(row)


def t_interval(values: Array, level: float = 0.95) -> Interval:
    """Student's interval of a mean: mean +- t sd / sqrt(n)."""
    row = differences(values)
    if constant(row):
        return _degenerate(row)
    mean, error = total(row) / len(row), float(row.std(ddof=1)) / math.sqrt(len(row))
    reach = t_quantile((1 + level) / 2, len(row) - 1) * error
    return Interval(mean - reach, mean + reach, "Student's t", len(row))


def _degenerate(row: Array) -> Interval:
    """One query says nothing about others; equal values, as far as they go, say one thing."""
    if len(row) == 1:
        return Interval(math.nan, math.nan, "one query has no interval", 1)
    return Interval(float(row[0]), float(row[-1]), f"all {len(row):,} values are equal", len(row))


def _mirrored(found: Interval) -> Interval:
    return Interval(-found.high, -found.low, found.method, found.n)
