"""Shares, quantiles and two groups of queries, with intervals that hold for small n.

A share is the mean of hits and misses, so its interval is that of such a mean (`stats.intervals`): quantiles of two
beta distributions, with four fifths of one more count at the near end and a fifth at the far one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankproof.core.hits import Array
from rankproof.document.model import Displayable
from rankproof.errors import DataError
from rankproof.progress import with_share
from rankproof.stats.distributions import t_above, t_quantile
from rankproof.stats.intervals import Bounds, interval, interval_of_hits
from rankproof.stats.paired import SAME, check_share, finite_row


@dataclass(frozen=True, slots=True)
class Share(Displayable):
    """A share with the ends of its interval; NaN, from 0 to 1, if nothing was counted."""

    value: float
    low: float
    high: float
    yes: int
    n: int


def share_of(yes: int, n: int, level: float = 0.95) -> Share:
    """The share `yes / n` with the interval of a mean of hits, which is never empty and never leaves 0 to 1.

    >>> found = share_of(0, 50)
    >>> round(found.low, 4), round(found.high, 4)
    (0.0, 0.0629)
    """
    if not 0 <= yes <= n:
        raise DataError(
            f"share: got {yes} of {n}, expected a count from 0 to {n}. Next: give a count within the whole."
        )
    if n == 0:
        return Share(math.nan, 0.0, 1.0, 0, 0)
    low, high = interval_of_hits(yes, n, level)
    return Share(yes / n, low, high, yes, n)


@dataclass(frozen=True, slots=True)
class Quantile(Displayable):
    """The value below which a share of all lies, and where the true one is to be expected."""

    share: float
    value: float
    low: float | None
    """None: so few values do not say."""
    high: float | None
    n: int


def quantiles(values: Sequence[float], shares: Sequence[float], level: float = 0.95) -> list[Quantile]:
    """Each quantile with its interval at that level.

    The ends of an interval are values of the sample: the number of values below the true quantile is binomial,
    whatever the distribution. Where no value is far enough out, that end is None.

    >>> [(q.value, q.low, q.high) for q in quantiles(range(1, 101), [0.5, 0.99])]
    [(50.5, 40.0, 61.0), (99.01, 97.0, None)]
    """
    ordered = np.sort(np.asarray(list(values), dtype=np.float64))
    return [_quantile(ordered, share, level) for share in shares] if len(ordered) else []


def _quantile(ordered: Array, share: float, level: float) -> Quantile:
    n = len(ordered)
    below = _at_most(n, share)
    tail = (1 - level) / 2
    # The low end is the last value that the true quantile undercuts with probability `tail` at most, and so on.
    low = int(np.searchsorted(below, tail, side="right"))
    high = int(np.searchsorted(below, 1 - tail, side="left")) + 1
    least = float(ordered[low - 1]) if low >= 1 else None
    most = float(ordered[high - 1]) if high <= n else None
    # Between two values of a small sample the usual estimate may leave the interval, which it never may.
    value = max(float(np.quantile(ordered, share)), -math.inf if least is None else least)
    return Quantile(share, value if most is None else min(value, most), least, most, n)


def _at_most(n: int, share: float) -> Array:
    """The chance of at most 0, 1, ... n hits in n draws."""
    i = np.arange(1, n + 1)
    logs = np.concatenate([[0.0], np.cumsum(np.log((n - i + 1) / i))])
    hits = np.arange(n + 1)
    return np.cumsum(np.exp(logs + hits * math.log(share) + (n - hits) * math.log1p(-share)))


REGROUPED = 10_000
"""Random regroupings behind a p-value."""
MOST_REGROUPED = 500
"""Up to this many queries are regrouped; with more, Welch's t says the same."""
AT_ONCE = 1 << 20
"""Values drawn at a time."""


@dataclass(frozen=True, slots=True)
class Gap:
    """The difference of two groups' means."""

    difference: float
    low: float
    high: float
    """The ends of the interval; NaN where a group has fewer than two values."""
    p: float
    """How often groups of these sizes drawn at random differ at least as much."""
    n: int
    others: int
    method: str


def gap(
    inside: Array, outside: Array, rng: np.random.Generator, level: float = 0.95, bounds: Bounds | None = None
) -> Gap:
    """The difference of two groups' means, its interval, and p by random regrouping.

    With `bounds`, what a query can score, the interval is made of those of both means, which know of what so few
    queries need not show; without, it is Welch's t.

    Reference: G. Zou, A. Donner: Construction of confidence limits about effect measures, Statistics in Medicine 2008.

    >>> found = gap(np.array([0.0, 0.1, 0.2, 0.1]), np.array([0.9, 1.0, 0.8, 0.9]), np.random.default_rng(0))
    >>> round(found.difference, 2), found.p < 0.05, found.high < 0
    (-0.8, True, True)
    >>> found = gap(np.zeros(10), np.ones(10), np.random.default_rng(0), bounds=(0.0, 1.0))
    >>> round(found.low, 2), round(found.high, 2)
    (-1.0, -0.61)
    """
    check_share("level", level)
    first, second = np.sort(finite_row(inside, "one group")), np.sort(finite_row(outside, "the other group"))
    n, others = len(first), len(second)
    if not n or not others:
        return Gap(math.nan, math.nan, math.nan, 1.0, n, others, "one group is empty")
    difference = float(first.mean() - second.mean())
    error, df = _error(first, second)
    p, method = _p(first, second, difference, error, df, rng)
    if bounds is None:
        below = above = t_quantile((1 + level) / 2, df) * error if math.isfinite(df) else math.nan
    else:
        mine, theirs = (interval(each, level=level, bounds=bounds) for each in (first, second))
        below = math.hypot(first.mean() - mine.low, theirs.high - second.mean())
        above = math.hypot(mine.high - first.mean(), second.mean() - theirs.low)
    return Gap(difference, difference - below, difference + above, p, n, others, method)


def _error(first: Array, second: Array) -> tuple[float, float]:
    """The standard error of the difference, and its degrees of freedom; NaN where a spread is unknown."""
    if min(len(first), len(second)) < 2:
        return math.nan, math.nan
    parts = [float(each.var(ddof=1)) / len(each) for each in (first, second)]
    if not sum(parts):
        return 0.0, float(len(first) + len(second) - 2)
    sizes = (len(first) - 1, len(second) - 1)
    return math.sqrt(sum(parts)), sum(parts) ** 2 / sum(part**2 / size for part, size in zip(parts, sizes, strict=True))


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
    for start in with_share("drawing", range(0, REGROUPED, lines)):
        drawn = rng.random((min(lines, REGROUPED - start), len(pooled)))
        sums = pooled[np.argpartition(drawn, n - 1, axis=1)[:, :n]].sum(axis=1)
        off = np.abs(sums / n - (total - sums) / others)
        count += int((off >= size - SAME * max(1.0, abs(total))).sum())
    return count
