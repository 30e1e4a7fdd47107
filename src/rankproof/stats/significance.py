"""Paired differences: tests other than sign flips, effect sizes, and the number of queries that the t test needs.

The tests (Student's t, Wilcoxon's signed ranks, the bootstrap) take the differences of two systems (first minus second,
one per query) and return an `Outcome`. None returns NaN: with too little data, p is 1 or an exact sign-flip p,
and the note says why.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from rankproof.core.arrays import Array, finite_row
from rankproof.errors import DataError, UsageError, check_whole, explain_calls
from rankproof.progress import draw_in_lots
from rankproof.stats.distributions import NORMAL, log_choose, shifted_t_above, solve, t_above, t_quantile
from rankproof.stats.paired import (
    SAME,
    Alternative,
    Outcome,
    check_alpha,
    check_alternative,
    check_share,
    differences,
    exact_p,
    is_constant,
    paired_differences,
    total,
    towards,
)

EXACT_RANKS = 50
"""Up to this many differences that are not 0 the distribution of the rank sum is counted."""
AT_ONCE = 1 << 20
"""Values drawn at a time: 8 MB of numbers."""


def paired_t(values: Array, alternative: Alternative = "two-sided") -> Outcome:
    """Student's paired t test: the mean difference in units of its standard error.

    Formula: mean / (sd / sqrt(n)), against t with n - 1 degrees of freedom.
    Reference: Student: The probable error of a mean, Biometrika 1908.

    >>> found = paired_t(np.array([0.1, 0.2, 0.3, 0.4, 0.5]))
    >>> round(found.statistic, 3), round(found.p, 4)
    (4.243, 0.0132)
    """
    check_alternative(alternative)
    row = differences(values)
    if is_constant(row):
        return _without_variance(row, alternative)
    t = total(row) / len(row) / (float(row.std(ddof=1)) / math.sqrt(len(row)))
    above = t_above(towards(t, alternative), len(row) - 1)
    return Outcome(t, min(1.0, 2 * above) if alternative == "two-sided" else above, len(row), "paired t")


def _without_variance(row: Array, alternative: Alternative) -> Outcome:
    """All differences equal: t has no error to divide by, but their signs can still be counted."""
    n, level = len(row), float(row[len(row) // 2])
    if n == 1 or not level:
        note = "all differences are 0" if not level else "one query has no variance, so t says nothing"
        return Outcome(0.0, 1.0, n, "paired t", note)
    p = {"two-sided": 2.0, "greater": float(level > 0), "less": float(level < 0)}[alternative] * 0.5**n or 1.0
    note = "all differences are equal, so t is undefined: p is that of exact sign flips"
    return Outcome(level, p, n, "sign flips, all counted", note)


def wilcoxon(values: Array, alternative: Alternative = "two-sided") -> Outcome:
    """Wilcoxon's signed-rank test: are larger differences more often on one side?

    Formula: W = sum of the ranks (by size, ties sharing their mean rank) of the differences above 0; those of 0 are
        left out. Up to 50 differences its distribution under random signs is counted, ties and all; above, a normal
        distribution with corrections for ties and continuity.
    Reference: F. Wilcoxon: Individual comparisons by ranking methods, Biometrics 1945.

    >>> wilcoxon(np.array([0.1, 0.2, 0.3, 0.4, 0.5])).p
    0.0625
    """
    check_alternative(alternative)
    row = differences(values)
    kept = row[row != 0]
    ranks, left = np.sign(kept) * mean_ranks(np.abs(kept)), len(row) - len(kept)
    note = f"differences of 0 left out: {left:,}" if left else ""
    if not len(ranks):
        return Outcome(0.0, 1.0, len(row), "Wilcoxon signed ranks", "all differences are 0")
    method, p = _rank_p(ranks, alternative)
    return Outcome(float(ranks[ranks > 0].sum()), p, len(row), f"Wilcoxon signed ranks, {method}", note)


def mean_ranks(sizes: Array) -> Array:
    """Ranks from 1; values nearer than rounding share the mean of their ranks."""
    order = np.argsort(sizes, kind="stable")
    ordered = sizes[order]
    starts = np.diff(ordered, prepend=-np.inf) > SAME * np.abs(ordered).max(initial=0.0)
    group = np.cumsum(starts) - 1
    first, size = np.flatnonzero(starts), np.bincount(group)
    ranks = np.empty(len(sizes))
    ranks[order] = (first + (size + 1) / 2)[group]
    return ranks


def _rank_p(ranks: Array, alternative: str) -> tuple[str, float]:
    p = exact_p(ranks, alternative) if len(ranks) <= EXACT_RANKS else None
    if p is not None:
        return "all counted", p
    seen, both = towards(total(ranks), alternative), alternative == "two-sided"
    # W moves by whole ranks, their signed total by twice that: half a step is 1. The spread of the signed ranks is
    # sqrt(sum of squares), which holds the tie correction.
    near = max(0.0, seen - 1) if both else seen - 1
    above = NORMAL.cdf(-near / math.sqrt(float((ranks**2).sum())))
    return "normal", min(1.0, 2 * above) if both else above


@explain_calls
def bootstrap(
    values: Array, rng: np.random.Generator, alternative: Alternative = "two-sided", resamples: int = 10_000
) -> Outcome:
    """The bootstrap test: how often resamples of differences shifted to mean 0 give a t as extreme.

    Reference: B. Efron, R. Tibshirani: An introduction to the bootstrap, 1993, algorithm 16.2; T. Sakai:
    Evaluating evaluation metrics based on the bootstrap, SIGIR 2006.

    >>> found = bootstrap(np.arange(1.0, 21.0), np.random.default_rng(0))
    >>> found.p < 0.001
    True
    """
    check_alternative(alternative)
    check_whole("resamples", resamples)
    row = differences(values)
    n, seed = len(row), int(rng.integers(1 << 62))
    if is_constant(row):
        return _without_variance(row, alternative)
    mean, t = total(row) / n, paired_t(row).statistic
    # Less their mean, and turned so that it does not matter which system came first.
    centered = np.sort(row - mean if mean >= 0 else mean - row)
    seen = towards(t, alternative)
    # They are turned so that their mean is not below 0; what is drawn must be turned back with them.
    turn = -1.0 if (t < 0) != (alternative == "less") else 1.0
    own, extreme = np.random.default_rng([seed, n]), 0
    for draws in draw_in_lots(resamples, AT_ONCE // n):
        resampled = centered[own.integers(0, n, (draws, n))]
        # A resample of one value over and over has no error: it is extreme unless its mean is 0 too.
        with np.errstate(divide="ignore", invalid="ignore"):
            ts = resampled.mean(axis=1) / (resampled.std(axis=1) / math.sqrt(n - 1))
        drawn = np.nan_to_num(ts, nan=0.0)
        reach = np.abs(drawn) if alternative == "two-sided" else drawn * turn
        extreme += int((reach >= seen - SAME * max(1.0, abs(seen))).sum())
    return Outcome(t, (extreme + 1) / (resamples + 1), n, f"bootstrap of t, {resamples:,} resamples")


def hypergeometric_logs(drawn: int, good: int, whole: int, least: int = 0) -> list[float]:
    """The logarithms of the chances that `least`, `least` + 1, ... of so many drawn are among the good.

    >>> [round(math.exp(each), 3) for each in hypergeometric_logs(2, 3, 5)]
    [0.1, 0.6, 0.3]
    """
    bad, ways = whole - good, log_choose(whole, drawn)
    return [log_choose(good, k) + log_choose(bad, drawn - k) - ways for k in range(least, min(drawn, good) + 1)]


COHEN = ((0.2, "negligible"), (0.5, "small"), (0.8, "medium"), (math.inf, "large"))
"""Words for standardised differences. J. Cohen: Statistical power analysis, 1988."""
ROMANO = ((0.147, "negligible"), (0.33, "small"), (0.474, "medium"), (math.inf, "large"))
"""Words for Cliff's delta. J. Romano and others: Appropriate statistics for ordinal level data, 2006."""


@dataclass(frozen=True, slots=True)
class EffectSize:
    """How large a difference is; `value` is None if it cannot be computed, and the note says why."""

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
    if is_constant(row):
        return _constant(row, "d_z")
    return _sized(total(row) / len(row) / float(row.std(ddof=1)), COHEN, len(row), "d_z")


def hedges_g(a: Array, b: Array) -> EffectSize:
    """The difference of the means in standard deviations of the systems' own values, corrected for small n.

    Formula: (mean(a) - mean(b)) / sqrt((var(a) + var(b)) / 2) * J, with J = Gamma(f/2) / (sqrt(f/2) Gamma((f-1)/2)) and
        f = 2n - 2.
    Reference: L. V. Hedges: Distribution theory for Glass's estimator of effect size, J. Educational Stat. 1981.

    >>> round(hedges_g(np.array([2.0, 3.0, 4.0]), np.array([1.0, 2.0, 3.0])).value, 4)
    0.7979
    """
    off, n = np.sort(paired_differences(a, b)), len(a)
    if not n:
        raise DataError("Hedges' g: got no queries. Next: check that the two systems share queries.")
    first, second = np.sort(finite_row(a)), np.sort(finite_row(b))
    if is_constant(first) and is_constant(second):
        return _constant(off, "Hedges' g")
    spread = math.sqrt((float(first.var(ddof=1)) + float(second.var(ddof=1))) / 2)
    free = 2 * n - 2
    unbiased = math.exp(math.lgamma(free / 2) - math.lgamma((free - 1) / 2)) / math.sqrt(free / 2)
    return _sized(total(off) / n / spread * unbiased, COHEN, n, "Hedges' g")


def cliffs_delta(a: Array, b: Array) -> EffectSize:
    """How much more often a value of one system is above one of the other than below it, over all pairs.

    Formula: (pairs with a above b - pairs with a below b) / all pairs; from -1 to 1, blind to which query is which.
    Reference: N. Cliff: Dominance statistics: ordinal analyses to answer ordinal questions, Psych. Bulletin 1993.

    >>> cliffs_delta(np.array([2.0, 3.0]), np.array([1.0, 2.0])).value
    0.75
    """
    first, second = finite_row(a), np.sort(finite_row(b))
    if not len(first) or not len(second):
        raise DataError("Cliff's delta: got no values of one system. Next: check what it answered.")
    below, not_above = (np.searchsorted(second, first, side).sum() for side in ("left", "right"))
    pairs = len(first) * len(second)
    return _sized(float(below - (pairs - not_above)) / pairs, ROMANO, len(first), "Cliff's delta")


def _sized(value: float, scale: tuple[tuple[float, str], ...], n: int, method: str) -> EffectSize:
    return EffectSize(value, next(word for limit, word in scale if abs(value) < limit), n, method)


def _constant(row: Array, method: str) -> EffectSize:
    if not np.any(row):
        return EffectSize(0.0, "negligible", len(row), method, "all differences are 0")
    note = "one query has no spread" if len(row) == 1 else "nothing varies: no spread to divide by"
    return EffectSize(None, "unknown", len(row), method, note)


ALPHA = 0.05
POWER = 0.8
MANY = 10_000
"""From here on the normal distribution is exact to a query in thousands."""
MOST = 1e12
"""A difference that needs more queries than this cannot be shown in practice."""


def spread(values: Array) -> float | None:
    """The standard deviation of differences; None of fewer than two."""
    row = differences(values)
    return float(row.std(ddof=1)) if len(row) > 1 else None


@explain_calls
def smallest_detectable(
    spread: float, n: int, alpha: float = ALPHA, power: float = POWER, sides: int = 2
) -> float | None:
    """The smallest true difference that n queries show with this power; None with fewer than two queries.

    >>> round(smallest_detectable(1.0, 34), 3)
    0.495
    """
    _check(spread, alpha, power, sides)
    check_whole("queries", n, least=0)
    return None if n < 2 else spread / math.sqrt(n) * _shift_needed(n, alpha, power, sides)


@explain_calls
def queries_needed(
    difference: float, spread: float, alpha: float = ALPHA, power: float = POWER, sides: int = 2
) -> int | None:
    """How many queries show a true difference of this size with this power; None if no number does.

    >>> queries_needed(0.5, 1.0)
    34
    """
    _check(spread, alpha, power, sides)
    if not math.isfinite(difference):
        raise DataError(
            f"difference: got {difference}, expected a finite number. Next: give the difference of the means."
        )
    if not difference or not spread:
        return 2 if difference else None
    size = abs(difference) / spread
    root = (NORMAL.inv_cdf(1 - alpha / sides) + NORMAL.inv_cdf(power)) / size
    if root > MOST**0.5:
        return None
    if root**2 > MANY:
        return math.ceil(root**2)
    n = max(2, math.floor(root**2))  # which is off by two or three
    while _power(size * math.sqrt(n), n, alpha, sides) < power:
        n += 1
    while n > 2 and _power(size * math.sqrt(n - 1), n - 1, alpha, sides) >= power:
        n -= 1
    return n


@cache
def _shift_needed(n: int, alpha: float, power: float, sides: int) -> float:
    return solve(lambda shift: _power(shift, n, alpha, sides) >= power, 1.0)


def _power(shift: float, n: int, alpha: float, sides: int) -> float:
    """How often t goes beyond the critical one when its mean is shifted, on both sides if both are tested."""
    t = t_quantile(1 - alpha / sides, n - 1)
    wrong_side = shifted_t_above(t, n - 1, -shift) if sides == 2 else 0.0
    return shifted_t_above(t, n - 1, shift) + wrong_side


def _check(spread: float, alpha: float, power: float, sides: int) -> None:
    check_alpha(alpha)
    check_power(power, alpha)
    if sides not in (1, 2):
        raise UsageError(f"sides: got {sides!r}, expected 1 or 2. Next: choose one of them.")
    if not (math.isfinite(spread) and spread >= 0):
        raise DataError(
            f"spread: got {spread}, expected a standard deviation, 0 or above."
            " Next: give the spread of the differences, query by query."
        )


def check_power(power: float, alpha: float) -> None:
    """Refuse a power that is not a share, or not above alpha."""
    check_share("power", power)
    if power <= alpha:
        raise UsageError(f"power: got {power}, expected more than alpha, {alpha}. Next: give a power like 0.8.")
