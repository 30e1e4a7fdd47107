"""Bootstrap intervals of means of differences.

Up to 1,000 queries by a bias-corrected and accelerated (BCa) bootstrap; above by its second-order expansion,
which agrees with it and needs no resampling.

Reference: B. Efron: Better bootstrap confidence intervals, JASA 1987; P. Hall: The bootstrap and Edgeworth
expansion, Springer 1992.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from statistics import NormalDist

import numpy as np

from rankproof.core.hits import Array
from rankproof.stats.intervals import Interval

RESAMPLES = 10_000
"""Resamples of a bootstrap: the ends then move by less than 2 % of the interval's width from seed to seed."""

MOST_RESAMPLED = 1_000
"""Up to this many queries are resampled; with more the expansion is as good."""

AT_ONCE = 1 << 18
"""Values drawn at a time: what stays in the processor's cache."""

SAME = 1e-12
"""Means nearer than this (relative to the values) are equal but for rounding."""

CLOSED_FORM = f"BCa in closed form (over {MOST_RESAMPLED:,} queries)"
NORMAL = NormalDist()


def intervals(
    columns: Sequence[Array], rng: np.random.Generator, level: float = 0.95, resamples: int = RESAMPLES
) -> list[Interval]:
    """The interval of the mean of each column; queries are resampled once for all.

    >>> found = intervals([np.array([0.2, 0.4, 0.4, 0.9, 1.0])], np.random.default_rng(0))[0]
    >>> round(found.low, 1), round(found.high, 1), found.method
    (0.3, 0.9, 'BCa bootstrap, 10,000 resamples')
    """
    ready = [np.sort(column) for column in columns]
    seed = int(rng.integers(1 << 62))
    means = _resampled_means([each for each in ready if _resampled(each)], seed, resamples)
    return [_interval(each, next(means) if _resampled(each) else None, level) for each in ready]


def _resampled(values: Array) -> bool:
    return 1 < len(values) <= MOST_RESAMPLED and values[0] != values[-1]


def _interval(values: Array, means: Array | None, level: float) -> Interval:
    """The interval of sorted values; `means` of resamples where there are any."""
    n = len(values)
    if means is not None:
        return Interval(*_bca_ends(values, means, level), f"BCa bootstrap, {len(means):,} resamples", n)
    if n < 2:
        return Interval(math.nan, math.nan, "one query has no interval" if n else "no queries", n)
    if values[0] == values[-1]:
        return Interval(float(values[0]), float(values[0]), f"all {n:,} values are equal", n)
    return Interval(*_analytic_ends(values, level), CLOSED_FORM, n)


# --- by resampling ---------------------------------------------------------------------------------


def percentile(
    values: Array, rng: np.random.Generator, level: float = 0.95, resamples: int = RESAMPLES
) -> Interval:
    """The middle `level` of the means of resamples: the plain bootstrap interval."""
    means = next(_resampled_means([np.sort(values)], int(rng.integers(1 << 62)), resamples))
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return Interval(low, high, f"percentile bootstrap, {resamples:,} resamples", len(values))


def _resampled_means(columns: Sequence[Array], seed: int, resamples: int) -> Iterator[Array]:
    """For each column the means of its resamples; columns of one length share the draws."""
    means: dict[int, Array] = {}
    for n in {len(column) for column in columns}:
        same = [i for i, column in enumerate(columns) if len(column) == n]
        drawn = _draws(n, resamples, np.random.default_rng([seed, n]))
        rows = [[columns[i][draw].mean(axis=1) for i in same] for draw in drawn]
        means |= {i: np.concatenate(parts) for i, parts in zip(same, zip(*rows, strict=True), strict=True)}
    return (means[i] for i in range(len(columns)))


def _draws(n: int, resamples: int, rng: np.random.Generator) -> Iterable[Array]:
    """Places of resampled values, one resample a line, some lines at a time."""
    lines = max(1, AT_ONCE // n)
    for start in range(0, resamples, lines):
        yield rng.integers(0, n, (min(lines, resamples - start), n), dtype=np.int32)


def _bca_ends(values: Array, means: Array, level: float) -> tuple[float, float]:
    center, slack = values.mean(), SAME * float(np.abs(values).max())
    below = (means < center - slack).mean() + (np.abs(means - center) <= slack).mean() / 2
    edge = 0.5 / len(means)
    bias = NORMAL.inv_cdf(min(max(float(below), edge), 1 - edge))
    ends = [_adjusted(sign * _z(level), bias, _skew(values)) for sign in (-1, 1)]
    low, high = np.quantile(means, [NORMAL.cdf(end) for end in ends]).tolist()
    return low, high


def _z(level: float) -> float:
    return NORMAL.inv_cdf((1 + level) / 2)


def _skew(values: Array) -> float:
    """The skewness of the mean over 6: the acceleration of BCa."""
    off = values - values.mean()
    return float((off**3).sum() / (6 * (off**2).sum() ** 1.5))


def _adjusted(z: float, bias: float, acceleration: float) -> float:
    return bias + (bias + z) / (1 - acceleration * (bias + z))


# --- in closed form ----------------------------------------------------------------------------------


def _analytic_ends(values: Array, level: float) -> tuple[float, float]:
    """What BCa comes to with many values: the bootstrap's quantiles by their Cornish-Fisher expansion.

    With s the skewness of the mean, quantile w of the resampled means is mean + error * (w + s/6 (w^2 - 1)),
    and both the bias and the acceleration are s/6. The ends are kept within the values seen, as a bootstrap's are.
    """
    skew, error = _skew(values), float(values.std()) / math.sqrt(len(values))
    ends = [_adjusted(sign * _z(level), skew, skew) for sign in (-1, 1)]
    low, high = (float(values.mean()) + error * (w + skew * (w * w - 1)) for w in ends)
    return max(low, float(values[0])), min(high, float(values[-1]))
