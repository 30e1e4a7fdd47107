"""Confidence intervals of means over queries.

The queries get random weights (the Bayesian bootstrap), together with one unseen query, part of it
at either end of the measure's range: ten hits of ten do not prove that the eleventh is a hit. The quantiles of
the weighted mean are computed, not drawn (`stats/distributions.py`): one method for any number of queries, without a
seed. The simulations are in `docs/statistics.md`.

At the end of the module are bootstrap intervals, which `difference_interval` offers by name: up to 1,000 queries by a
bias-corrected and accelerated (BCa) bootstrap; above by its second-order expansion, which agrees with it and needs no
resampling.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rankproof.core.arrays import FLOOR, KEPT, LARGEST, Array, distinct, finite_row, round_to_digits
from rankproof.document.model import Displayable
from rankproof.errors import check_number, check_whole, explain_calls
from rankproof.progress import draw_in_lots
from rankproof.stats.distributions import NORMAL, quantile

if TYPE_CHECKING:
    from rankproof.core.mergeable_summaries import ValueSummary

Bounds = tuple[float, float]
"""The least and the greatest value that a measure can have; infinite if there is none."""
UNIT: Bounds = (0.0, 1.0)
METHOD = "Bayesian bootstrap, part of a query at either end of the range"
GUESSED = "Bayesian bootstrap, ends of the range guessed from the values"
ENDS, ENDS_OF_HITS = 0.5, 0.8
"""How much of the unseen query lies at the end that is asked for, the rest at the other: half of it is Jeffreys'
interval for hits, whose coverage falls to .87 where all values lie on two; four fifths keep it above .93 there,
where all of it (Clopper and Pearson) would be a tenth wider."""
UNLIKE_HITS = 3.0
"""How soon values no longer count as hits: by exp(-3 d), d as in `_unlike_hits`. With 3 hits that differ a little
(.98 to 1) are covered as hits are, and values like nDCG near 1 are given intervals a tenth narrower."""
MANY = 4000
"""Different values that are never taken for hits; no more than a summary keeps."""
REACH, TAIL = 2.3, 0.9
"""How far a range without an end goes beyond n values, in shares of the distance between them divided by sqrt(n), as
more queries show more of it; and by which power of the lopsidedness of the values it goes further on the side of their
long tail. With ten queries that covers .937 of lognormal and of gamma values of shape .3; 1.9 covers .926, and normal
values then have intervals a tenth narrower."""
ATOMS, OUTERMOST = 128, 24
"""More different values than this are taken together with their neighbours, but for the outermost ones."""
ONE_QUERY = "one query has no interval"


@dataclass(frozen=True, slots=True)
class Interval(Displayable):
    """The confidence interval of a mean; NaN if nothing can be said."""

    low: float
    high: float
    method: str
    """How it was made, in words."""
    n: int
    """The number of queries behind it."""


def interval(values: Array, level: float = 0.95, average: str = "mean", *, bounds: Bounds = UNIT) -> Interval:
    """The confidence interval of the mean, the sum or the geometric mean of `values`.

    `bounds` are what a query can score. An infinite one, or one that a value lies beyond, is guessed: some of the
    distance between the values outside of them, less with more queries, further where they have a long tail.

    >>> found = interval(np.array([0.2, 0.4, 0.4, 0.9, 1.0]))
    >>> round(found.low, 2), round(found.high, 2)
    (0.3, 0.83)
    """
    return _of_average(_Seen.of(finite_row(values), average), level, average, bounds)


def interval_of(summary: ValueSummary, level: float = 0.95, *, bounds: Bounds = UNIT) -> Interval:
    """The interval of values of which only a summary is left: the same, to the bit, as of the values themselves.

    >>> from rankproof.core.mergeable_summaries import ValueSummary
    >>> values = np.array([0.2, 0.4, 0.4, 0.9, 1.0])
    >>> interval_of(ValueSummary.of(values[:2]) + ValueSummary.of(values[2:])) == interval(values)
    True
    """
    return _of_average(_Seen.in_summary(summary), level, summary.average, bounds)


@dataclass(frozen=True, slots=True)
class _Seen:
    """The different values with their counts; of too many what the summary keeps of them."""

    n: int
    values: Array
    counts: Array
    summary: ValueSummary | None = None

    @classmethod
    def of(cls, column: Array, average: str) -> _Seen:
        """The summary of a column of values."""
        values = np.sort(round_to_digits(column))
        starts = np.flatnonzero(np.append(True, values[1:] != values[:-1])) if len(values) else values[:0]
        if len(starts) > KEPT and float(np.abs(values[[0, -1]]).max()) <= LARGEST:
            from rankproof.core.mergeable_summaries import ValueSummary  # of few values there is no need

            return cls.in_summary(ValueSummary.of(column, average))
        starts = starts.astype(np.intp)
        counts = np.diff(np.append(starts, len(values))).astype(np.float64)
        return cls(len(values), values[starts], counts)

    @classmethod
    def in_summary(cls, summary: ValueSummary) -> _Seen:
        """What a summary keeps of its values; of too many different ones the first and the last."""
        if summary.table is not None:
            values, counts = summary.table
            return cls(summary.n, values, counts.astype(np.float64))
        return cls(summary.n, np.array(summary.ends), np.array(summary.on_ends, dtype=np.float64), summary)

    def logarithms(self) -> _Seen:
        """The same of the logarithms of the values, none of them below the floor."""
        values = np.maximum(self.values, FLOOR)
        starts: Array = np.flatnonzero(np.append(True, values[1:] != values[:-1]))[: len(values)]
        counts = np.add.reduceat(self.counts, starts) if len(starts) else self.counts
        return replace(self, values=np.log(values[starts]), counts=counts)


def _of_average(seen: _Seen, level: float, average: str, bounds: Bounds) -> Interval:
    """The interval of values: of their mean, of the sum, or by logarithms of the geometric mean."""
    check_number("level", level, above=0, below=1, advice="give a share, like 0.95")
    n, of = seen.n, ""
    if average == "geometric":
        most = math.log(bounds[1]) if bounds[1] < math.inf else math.inf
        found = _interval(seen.logarithms(), level, (math.log(FLOOR), most))
        low, high, of = math.exp(found.low), math.exp(found.high), ", of the logarithms"
    else:
        found = _interval(seen, level, bounds)
        low, high = found.low, found.high
        if average == "sum":
            low, high, of = low * n, high * n, ", of the mean, times n"
    return Interval(low, high, found.method + (of if math.isfinite(low) else ""), n)


def _interval(seen: _Seen, level: float, bounds: Bounds) -> Interval:
    """The interval of the mean of the values that were seen."""
    n = seen.n
    if n < 2:
        return Interval(math.nan, math.nan, ONE_QUERY if n else "no queries", n)
    least, most = float(seen.values[0]), float(seen.values[-1])
    apart = most - least
    if seen.summary is None:
        atoms, counts = joined_neighbours(seen.values, seen.counts)
        mean = float(atoms @ counts) / n
    else:
        atoms, counts = _two_atoms(seen.summary)
        mean = seen.summary.powers[0].mean
    low = bounds[0] if -math.inf < bounds[0] <= least else least - _reach(mean - least, most - mean, n)
    high = bounds[1] if most <= bounds[1] < math.inf else most + _reach(most - mean, mean - least, n)
    guessed = (low, high) != tuple(bounds)
    if guessed and apart == 0:
        return Interval(math.nan, math.nan, f"all {n:,} values are equal, and the measure has no bound", n)
    like_hits = math.exp(-UNLIKE_HITS * _unlike_hits(atoms, counts))
    # It fades out with the number of different values: of thousands a summary keeps no more than three moments.
    like_hits *= max(0.0, 1 - max(0, len(seen.values) - 2) / MANY) if seen.summary is None else 0.0
    near, tail = ENDS + (ENDS_OF_HITS - ENDS) * like_hits, (1 - level) / 2
    # A guessed end says how far the mean may lie on its side; nothing is known of the other one.
    far = 0.0 if guessed else 1 - near
    below, above, values = low, high, np.concatenate([[low], atoms, [high]])
    if most != low:
        below = quantile(values, np.concatenate([[near], counts, [far]]), tail)
    if least != high:
        above = quantile(values, np.concatenate([[far], counts, [near]]), 1 - tail)
    return Interval(min(below, mean), max(above, mean), GUESSED if guessed else METHOD, n)


def _reach(this_side: float, other_side: float, n: int) -> float:
    """How far the range is taken to go beyond values that reach so far from their mean on either side."""
    apart = this_side + other_side
    if not apart:
        return 0.0
    return REACH / math.sqrt(n) * apart * math.pow(max(1.0, this_side / max(other_side, 1e-12 * apart)), TAIL)


def _unlike_hits(atoms: Array, counts: Array) -> float:
    """By how much the kurtosis is more than the least that goes with the skewness: 0 of two values, and of no others.

    Few values look more like hits than many of their kind, so n / (n - 2) makes up for it.
    """
    n = float(counts.sum())
    off = atoms - counts @ atoms / n
    square, third, fourth = (float((counts * off**k).sum()) / n for k in (2, 3, 4))
    if n < 3 or not square:
        return 0.0
    beyond: float = (fourth / square**2 - third**2 / square**3 - 1) * n / (n - 2)
    return max(beyond, 0.0)


def joined_neighbours(values: Array, counts: Array) -> tuple[Array, Array]:
    """Different values in ascending order and how often each stands; of too many, neighbours are one, at their mean.

    128 of them lose about a ten thousandth of the variance.
    """
    m = len(values)
    if m <= ATOMS:
        return values, counts
    middle = np.linspace(OUTERMOST, m - OUTERMOST, ATOMS - 2 * OUTERMOST).astype(np.intp)
    starts = distinct(np.concatenate([np.arange(OUTERMOST), middle, np.arange(m - OUTERMOST, m)]))
    together = np.add.reduceat(counts, starts)
    return np.add.reduceat(values * counts, starts) / together, together


NOISE = 1e-13
"""A third moment this much smaller than the values is due to rounding."""


def _two_atoms(summary: ValueSummary) -> tuple[Array, Array]:
    """Two values, and how often each stands, with the mean, the variance and the skewness of all (Gauss's quadrature).

    Of more than 4,096 different values no more than these three matter, and they follow from sums, so that parts that
    were never in one place give the same interval. Atoms for neighbours lose what few values far out add.
    """
    n, (first, second, third) = summary.n, (each.exact for each in summary.powers)
    mean = first / n
    variance = float(second / n - mean * mean)
    cube = float(third / n - 3 * mean * second / n + 2 * mean**3)
    size = max(map(abs, summary.ends)) if summary.average != "geometric" else -math.log(FLOOR)
    spread = math.sqrt(max(0.0, variance))
    skew = cube / spread**3 if spread and abs(cube) > NOISE * size**3 else 0.0
    root = math.sqrt(skew * skew + 4)
    high_share = (1 - skew / root) / 2
    off = np.array([skew - root, skew + root]) * (spread / 2)
    return float(mean) + off, n * np.array([1 - high_share, high_share])


# --- bootstrap: BCa and percentile -----------------------------------------------------------------------------

RESAMPLES = 10_000
"""Resamples of a bootstrap: the ends then move by less than 2 % of the interval's width from seed to seed."""
MOST_RESAMPLED = 1_000
"""Up to this many queries are resampled; with more the expansion is as good."""
AT_ONCE = 1 << 18
"""Values drawn at a time: as many as stay in the processor's cache."""
SAME = 1e-12
"""Means nearer than this (relative to the values) are equal but for rounding."""


def settled_interval(row: Array) -> Interval | None:
    """The interval for which nothing is drawn: of one query there is none, and of equal values it has no width."""
    n = len(row)
    if n < 2:
        return Interval(math.nan, math.nan, ONE_QUERY if n else "no queries", n)
    if float(np.ptp(row)) > SAME * float(np.abs(row).max()):
        return None
    return Interval(float(row.min()), float(row.max()), f"all {n:,} values are equal", n)


@explain_calls
def bca_interval(values: Array, rng: np.random.Generator, level: float = 0.95, resamples: int = RESAMPLES) -> Interval:
    """The interval of the mean, by resamples or their limit.

    >>> found = bca_interval(np.array([0.2, 0.4, 0.4, 0.9, 1.0]), np.random.default_rng(0))
    >>> round(found.low, 1), round(found.high, 1), found.method
    (0.3, 0.9, 'BCa bootstrap, 10,000 resamples')
    """
    ordered = _to_resample(values, level, resamples)
    if (settled := settled_interval(ordered)) is not None:
        return settled
    n = len(ordered)
    if n > MOST_RESAMPLED:
        return Interval(*_analytic_ends(ordered, level), f"BCa in closed form (over {MOST_RESAMPLED:,} queries)", n)
    means = _resampled_means(ordered, rng, resamples)
    return Interval(*_bca_ends(ordered, means, level), f"BCa bootstrap, {resamples:,} resamples", n)


@explain_calls
def percentile(values: Array, rng: np.random.Generator, level: float = 0.95, resamples: int = RESAMPLES) -> Interval:
    """The middle `level` of the means of resamples: the plain bootstrap interval."""
    ordered = _to_resample(values, level, resamples)
    if (settled := settled_interval(ordered)) is not None:
        return settled
    means = _resampled_means(ordered, rng, resamples)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return Interval(low, high, f"percentile bootstrap, {resamples:,} resamples", len(ordered))


def _to_resample(values: Array, level: float, resamples: int) -> Array:
    """The values, smallest first, if an interval of their mean can be drawn."""
    check_number("level", level, above=0, below=1, advice="give a share, like 0.95")
    check_whole("resamples", resamples)
    return np.sort(finite_row(values))


def _resampled_means(ordered: Array, rng: np.random.Generator, resamples: int) -> Array:
    n, means = len(ordered), []
    for draws in draw_in_lots(resamples, AT_ONCE // n):
        means.append(ordered[rng.integers(0, n, (draws, n), dtype=np.int32)].mean(axis=1))
    return np.concatenate(means)


def _bca_ends(values: Array, means: Array, level: float) -> tuple[float, float]:
    center, slack = values.mean(), SAME * float(np.abs(values).max())
    below = (means < center - slack).mean() + (np.abs(means - center) <= slack).mean() / 2
    edge = 0.5 / len(means)
    bias = NORMAL.inv_cdf(min(max(float(below), edge), 1 - edge))
    low, high = np.quantile(means, [NORMAL.cdf(end) for end in _adjusted(level, bias, _skew(values))]).tolist()
    return low, high


def _skew(values: Array) -> float:
    """The skewness of the mean over 6: the acceleration of BCa."""
    off = values - values.mean()
    return float((off**3).sum() / (6 * (off**2).sum() ** 1.5))


def _adjusted(level: float, bias: float, acceleration: float) -> list[float]:
    """Both ends as quantiles of a normal variable, moved by the bias and the acceleration."""
    z = NORMAL.inv_cdf((1 + level) / 2)
    return [bias + (bias + end) / (1 - acceleration * (bias + end)) for end in (-z, z)]


def _analytic_ends(values: Array, level: float) -> tuple[float, float]:
    """The limit of BCa with many values: the bootstrap's quantiles by their Cornish-Fisher expansion.

    With s the skewness of the mean, quantile w of the resampled means is mean + error * (w + s/6 (w^2 - 1)),
    and both the bias and the acceleration are s/6. The ends are kept within the values seen, as a bootstrap's are.
    """
    skew, error = _skew(values), float(values.std()) / math.sqrt(len(values))
    ends = _adjusted(level, skew, skew)
    low, high = (float(values.mean()) + error * (w + skew * (w * w - 1)) for w in ends)
    return max(low, float(values[0])), min(high, float(values[-1]))


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
    ordered, tail = np.sort(finite_row(list(values))), (1 - level) / 2
    n, found = len(ordered), []
    for share in shares if n else ():
        below = _at_most(n, share)
        # The low end is the last value that the true quantile undercuts with probability `tail` at most, and so on.
        low = int(np.searchsorted(below, tail, side="right"))
        high = int(np.searchsorted(below, 1 - tail, side="left")) + 1
        least = float(ordered[low - 1]) if low >= 1 else None
        most = float(ordered[high - 1]) if high <= n else None
        # Between two values of a small sample the usual estimate may leave the interval, which it never may.
        value = max(float(np.quantile(ordered, share)), -math.inf if least is None else least)
        found.append(Quantile(share, value if most is None else min(value, most), least, most, n))
    return found


def _at_most(n: int, share: float) -> Array:
    """The chance of at most 0, 1, ... n hits in n draws."""
    i = np.arange(1, n + 1)
    logs = np.concatenate([[0.0], np.cumsum(np.log((n - i + 1) / i))])
    hits = np.arange(n + 1)
    return np.cumsum(np.exp(logs + hits * math.log(share) + (n - hits) * math.log1p(-share)))
