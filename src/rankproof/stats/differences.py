"""Intervals of the mean difference of two systems, and whether they are the same within a margin.

Each end is a lower bound (of the differences, and of the differences turned round) at half of what the level leaves:
`stats/confidence.py` says how. The interval of b - a is that of a - b mirrored, to the last digit, and nothing is
drawn, unless another method is asked for.

Bootstrap intervals come first: up to 1,000 queries by a bias-corrected and accelerated (BCa) bootstrap; above by its
second-order expansion, which agrees with it and needs no resampling.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from rankproof.core.hits import Array
from rankproof.core.merge import ValueSummary
from rankproof.document.display import Displayable
from rankproof.errors import DataError, check_number, check_whole, one_of
from rankproof.stats.confidence import CAUTION, ValueSample, bent, chance_below, lower_bound, safe_bound
from rankproof.stats.distributions import NORMAL, t_above, t_quantile
from rankproof.stats.flips import TINY, sign_flip
from rankproof.stats.intervals import Interval
from rankproof.stats.paired import (
    COHEN,
    EffectSize,
    Outcome,
    check_share,
    differences,
    is_constant,
    smallest_detectable,
    total,
)

RESAMPLES = 10_000
"""Resamples of a bootstrap: the ends then move by less than 2 % of the interval's width from seed to seed."""

MOST_RESAMPLED = 1_000
"""Up to this many queries are resampled; with more the expansion is as good."""

AT_ONCE = 1 << 18
"""Values drawn at a time: what stays in the processor's cache."""

SAME = 1e-12
"""Means nearer than this (relative to the values) are equal but for rounding."""

CLOSED_FORM = f"BCa in closed form (over {MOST_RESAMPLED:,} queries)"


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
    means = _resampled_means([each for each in ready if _is_resampled(each)], seed, resamples)
    return [_interval(each, next(means) if _is_resampled(each) else None, level) for each in ready]


def _is_resampled(values: Array) -> bool:
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


UNSEEN = "rare changes that these queries need not show are not ruled out"
"""Why a difference whose interval lies within the margin is not shown to be smaller."""


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

    At alpha, `difference_interval` at level 1 - 2 alpha then lies inside the margins. The reverse holds where
    `ValueSample.doubt` is `rarity`: with 100 queries and more, unless a few of them carry the variance. Else an
    interval inside the margins is not enough: whoever claims that nothing changed must also rule out the rare
    changes that so few queries need not show (`safe_bound`). `ends` are the least and the greatest difference that
    a query can have.

    >>> import numpy as np
    >>> row = np.array([0.01, -0.02, 0.0, 0.02, 0.01])
    >>> equivalence(np.tile(row, 20), margin=0.05).p < 0.01, equivalence(np.tile(row, 4), margin=0.05).p < 0.05
    (True, False)
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


ENOUGH = 1000
"""From so many queries on the normal form of the sign flips is near their own; of fewer all values are known."""
FEW, TO_TELL = 10, 20
"""Queries below which nothing is decided, and moved queries that say what could be seen, if they are no quarter."""


@dataclass(frozen=True, slots=True)
class SummedDifference(Displayable):
    """What a summary of paired differences says."""

    difference: float
    """The mean difference."""
    low: float
    high: float
    """The interval, as `compare` makes it: without 0 exactly where p finds a difference."""
    p: float
    """Sign flips, by their normal form from 1,000 queries on: how often random signs move the mean as far."""
    p_t: float
    """Student's t."""
    effect: EffectSize
    """The mean difference in standard deviations of the differences."""
    detectable: float | None
    """The difference that would be found with a chance of 80 % at 5 %; None: too little varies to say so."""
    n: int
    note: str = ""
    farthest: float = math.inf
    """The largest difference, either way, that is not ruled out with what so few queries need not show."""

    def equivalent(self, margin: float) -> bool:
        """Whether the interval lies within the margin: at 1e8 queries this is the question, as nothing is exactly 0."""
        check_number(
            "margin", margin, above=0, advice="give the largest difference that does not matter, like 0.01"
        )
        return self.n >= FEW and max(-self.low, self.high, self.farthest) < margin


def summed_difference(differences: ValueSummary, level: float = 0.95) -> SummedDifference:
    """What is to be said of paired differences by their summary.

    >>> import numpy as np
    >>> found = summed_difference(ValueSummary.of(np.tile([0.1, 0.0, 0.2, -0.1], 25)))
    >>> round(found.difference, 3), round(found.low, 3), round(found.high, 3), round(found.p, 5)
    (0.05, 0.028, 0.072, 4e-05)
    """
    check_number("level", level, above=0, below=1, advice="give a share, like 0.95")
    n = differences.n
    if differences.average != "mean":
        raise DataError(
            f"differences: got a summary of a {differences.average}, expected differences query by query. "
            "Next: compare measures that are means."
        )
    if n < 2:
        raise DataError(
            f"differences: got {n} queries, expected two or more. Next: check which queries both answer."
        )
    first, second, third = (each.exact for each in differences.powers[:3])
    mean = first / n
    value, spread = float(mean), math.sqrt(max(0.0, float((second - first * mean) / (n - 1))))
    cube, alpha = float((third - 3 * mean * second + 2 * n * mean**3) / n), 1 - level
    ends, farthest = _ends(differences, value, cube, alpha)
    least, most = differences.least, differences.most
    if most - least <= SAME * max(abs(least), abs(most)):
        effect = EffectSize(None if value else 0.0, "unknown" if value else "negligible", n, "d_z")
        p = max(TINY, 2.0 ** (1 - n)) if value else 1.0
        low, high = agree_with_test(ends, value, p, alpha)
        said = f"all {n:,} differences are equal"
        return SummedDifference(value, low, high, p, p, effect, None, n, said, farthest)
    moved, d_z = n, value / spread
    if differences.table is None or n >= ENOUGH:
        p = max(TINY, min(1.0, 2 * NORMAL.cdf(-abs(float(first)) / math.sqrt(float(second)))))
    if differences.table is not None:
        values, counts = differences.table
        moved = int(counts[values != 0].sum())
        if n < ENOUGH:
            p = sign_flip(np.repeat(values, counts.astype(int)), np.random.default_rng(0)).p
    low, high = agree_with_test(ends, value, p, alpha)
    return SummedDifference(
        difference=value,
        low=low,
        high=high,
        p=p,
        p_t=max(TINY, min(1.0, 2 * t_above(abs(d_z) * math.sqrt(n), n - 1))),
        effect=EffectSize(d_z, next(word for limit, word in COHEN if abs(d_z) < limit), n, "d_z"),
        detectable=smallest_detectable(spread, n) if moved >= min(TO_TELL, max(FEW, n / 4)) else None,
        n=n,
        note=f"fewer than {FEW} queries decide nothing" if n < FEW else "",
        farthest=farthest,
    )


def _ends(differences: ValueSummary, mean: float, cube: float, alpha: float) -> tuple[Ends, float]:
    """The ends of the interval: with what was not seen where few queries carry the spread, else Student's; and the
    largest difference that a claim of none must reckon with."""
    n = differences.n
    if differences.table is not None:
        values, counts = differences.table
        sample, most = ValueSample(values, counts.astype(np.float64)), max(1.0, float(np.abs(values).max()))
        both = sample, sample.negate()
        low, high = (lower_bound(each, alpha / 2, -most) for each in both)
        return (low, -high), -min(safe_bound(each, alpha / 2, -most) for each in both)
    squares = float(differences.powers[1].exact) / n - mean * mean
    skew = cube / squares**1.5 / math.sqrt(n) * n / (n + CAUTION)
    t, error = t_quantile(1 - alpha / 2, n - 1), math.sqrt(squares / (n - 1))
    low, high = mean - error * max(t, bent(t, skew)), mean + error * max(t, bent(t, -skew))
    return (low, high), max(-low, high)
