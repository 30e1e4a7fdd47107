"""Effect sizes: how large a difference is, whatever the number of queries."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rankproof.core.hits import Array
from rankproof.errors import DataError
from rankproof.stats.paired import constant, differences, finite, paired, total

COHEN = ((0.2, "negligible"), (0.5, "small"), (0.8, "medium"), (math.inf, "large"))
"""Words for standardised differences. J. Cohen: Statistical power analysis, 1988."""

ROMANO = ((0.147, "negligible"), (0.33, "small"), (0.474, "medium"), (math.inf, "large"))
"""Words for Cliff's delta. J. Romano and others: Appropriate statistics for ordinal level data, 2006."""


@dataclass(frozen=True, slots=True)
class EffectSize:
    """How large a difference is; `value` is None where it cannot be computed, and the note says why."""

    value: float | None
    words: str
    """negligible, small, medium, large, or "unknown"."""
    n: int
    method: str
    note: str = ""


def d_z(values: Array) -> EffectSize:
    """The mean difference in standard deviations of the differences: what a paired test sees.

    Formula: mean(d) / sd(d), with n - 1 in sd.

    Reference: J. Cohen: Statistical power analysis for the behavioral sciences, 1988.

    >>> round(d_z(np.array([0.1, 0.2, 0.3])).value, 6)
    2.0
    """
    row = differences(values)
    if constant(row):
        return _constant(row, "d_z")
    return _sized(total(row) / len(row) / float(row.std(ddof=1)), COHEN, len(row), "d_z")


def hedges_g(a: Array, b: Array) -> EffectSize:
    """The difference of the means in standard deviations of the systems' own values, corrected for small n.

    Formula: (mean(a) - mean(b)) / sqrt((var(a) + var(b)) / 2) * J, with J = Gamma(f/2) / (sqrt(f/2)
    Gamma((f-1)/2)) and f = 2n - 2.

    Reference: L. V. Hedges: Distribution theory for Glass's estimator of effect size, J. Educational Stat.
    1981.

    >>> round(hedges_g(np.array([2.0, 3.0, 4.0]), np.array([1.0, 2.0, 3.0])).value, 4)
    0.7979
    """
    off, n = np.sort(paired(a, b)), len(a)
    if not n:
        raise DataError("Hedges' g: got no queries. Next: check that the two systems share queries.")
    first, second = np.sort(finite(a)), np.sort(finite(b))
    if constant(first) and constant(second):
        return _constant(off, "Hedges' g")
    spread = math.sqrt((float(first.var(ddof=1)) + float(second.var(ddof=1))) / 2)
    return _sized(total(off) / n / spread * _unbiased(2 * n - 2), COHEN, n, "Hedges' g")


def _unbiased(df: int) -> float:
    return math.exp(math.lgamma(df / 2) - math.lgamma((df - 1) / 2)) / math.sqrt(df / 2)


def cliffs_delta(a: Array, b: Array) -> EffectSize:
    """How much more often a value of one system is above one of the other than below it, over all pairs.

    Formula: (pairs with a above b - pairs with a below b) / all pairs; from -1 to 1, blind to which query is
    which.

    Reference: N. Cliff: Dominance statistics: ordinal analyses to answer ordinal questions, Psych. Bulletin
    1993.

    >>> cliffs_delta(np.array([2.0, 3.0]), np.array([1.0, 2.0])).value
    0.75
    """
    first, second = finite(a), np.sort(finite(b))
    if not len(first) or not len(second):
        raise DataError("Cliff's delta: got no values of one system. Next: check what it answered.")
    below = np.searchsorted(second, first, "left").sum()
    not_above = np.searchsorted(second, first, "right").sum()
    pairs = len(first) * len(second)
    return _sized(float(below - (pairs - not_above)) / pairs, ROMANO, len(first), "Cliff's delta")


def _sized(value: float, scale: tuple[tuple[float, str], ...], n: int, method: str) -> EffectSize:
    words = next(word for limit, word in scale if abs(value) < limit)
    return EffectSize(value, words, n, method)


def _constant(row: Array, method: str) -> EffectSize:
    if not np.any(row):
        return EffectSize(0.0, "negligible", len(row), method, "all differences are 0")
    note = "one query has no spread" if len(row) == 1 else "nothing varies: no spread to divide by"
    return EffectSize(None, "unknown", len(row), method, note)
