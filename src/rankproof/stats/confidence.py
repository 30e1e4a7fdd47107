"""A lower bound of a true mean difference that holds for dense changes and for rare ones; and confidence sequences.

If many queries contribute to the spread, Student's bound is right with a correction for skewness, and a little more for
a tail that a small sample may miss. If few do, the observed losses say little about unseen ones:
Gaffke's bound takes one more query into account, at the worst end a difference can have, and is that of Clopper and
Pearson for hits and misses (no loss among n queries leaves one of up to 1 - alpha^(1/n) possible). Between both the
bound slides with the effective number of queries that differ from the usual one: (sum of |d - median|)^2 / sum of
(d - median)^2. This is the number of changed queries if all changed alike, two thirds of n for normal differences, and
1 for a single large loss among many tiny changes.

A sample that looks dense may lack the rare losses only because it is small: of 12 queries of which one in eleven loses
a third, one sample in three shows no loss. Claims that nothing was lost (the gate's pass, equivalence) use
`safe_bound`, which trusts the apparent density of a sample the more the larger it is.

No bound can rule out failures so rare that 100 queries show none, in data that look dense without them.

Reference: N. J. Johnson: Modified t tests and confidence intervals for asymmetrical populations, JASA 1978; P. Hall:
On the removal of skewness by transformation, J. Royal Statistical Society B 1992; for Gaffke's bound see
`stats/distributions.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankproof.core.arrays import Array, finite_row
from rankproof.errors import DataError, check_number
from rankproof.stats.distributions import EPSILON, NORMAL, quantile, root, share_below, t_above, t_quantile
from rankproof.stats.paired import check_share, is_constant

Ends = tuple[float, float]
"""The least and the greatest difference that a query can have."""
FEW, MANY = 0.1, 0.5
"""Effective shares of queries: up to the first changes are rare, from the second on dense."""
TRUSTED = 50, 100
"""Up to the first number of queries no sample shows how rare losses are; from the second on it is trusted to. One in 33
shows up in 95 of 100 samples of a hundred; with 50 it may be one in 17 that was never seen."""
SETTLED = 15.0
"""The effective number at which what was seen counts as much as what was not."""
TAIL = 6
"""Queries that carry the variance, n / kurtosis, at which half of the weight goes to what was not seen: losses with a
long tail (lognormal) passed a drop of the margin in .09 of the samples of 100 without it, in .045 with it."""
FALL = 4
"""How fast the unseen loses its weight: to a hundredth at three times that number."""
NEARLY = 0.01
"""Less weight than this counts as 0."""
CAUTION = 10
"""Queries at which half of the skewness seen is believed."""
TAIL_UNSEEN = 2.0
"""Student's t is taken 1 + this / n times: 1.2 with ten queries, 1.04 with 50. Samples of a long tail that show none of
it look dense and narrow; no rule as wide where changes are dense covered clearly more (`docs/small-samples.md`)."""


@dataclass(frozen=True, eq=False)
class ValueSample:
    """Differences as values with their counts, which need not be whole numbers."""

    values: Array
    counts: Array

    @classmethod
    def of(cls, row: Array) -> ValueSample:
        """The sample of a row of differences; those equal but for rounding are one."""
        row = np.full(len(row), float(np.sort(row)[len(row) // 2])) if is_constant(row) else row
        values, counts = np.unique(row, return_counts=True)
        return cls(values, counts.astype(np.float64))

    @cached_property
    def n(self) -> float:
        """The number of queries."""
        return float(self.counts.sum())

    @cached_property
    def mean(self) -> float:
        """The mean difference."""
        return float((self.values * self.counts).sum()) / self.n

    @cached_property
    def error(self) -> float:
        """The standard error of the mean."""
        squares = float((self.counts * (self.values - self.mean) ** 2).sum())
        return math.sqrt(squares / (self.n - 1) / self.n)

    def negate(self) -> ValueSample:
        """The same with all signs changed."""
        return ValueSample(-self.values[::-1], self.counts[::-1])

    def of_size(self, n: float) -> ValueSample:
        """A sample of this many queries, with the same shares."""
        return ValueSample(self.values, self.counts * (n / self.n))

    def with_one(self, value: float) -> ValueSample:
        """One query more."""
        return ValueSample(np.append(self.values, value), np.append(self.counts, 1.0))

    @cached_property
    def effective(self) -> float:
        """How many queries carry the spread around the usual difference."""
        off = np.abs(self.values - self._median)
        squares = float((self.counts * off**2).sum())
        return float((self.counts * off).sum()) ** 2 / squares if squares else 0.0

    @cached_property
    def _median(self) -> float:
        reached = np.cumsum(self.counts) / self.n
        low, high = np.searchsorted(reached, [0.5 - 1e-12, 0.5 + 1e-12])
        return float(self.values[low] + self.values[min(high, len(self.values) - 1)]) / 2

    @cached_property
    def rarity(self) -> float:
        """The weight of what was not seen: 1 if few queries carry the spread, 0 if many do."""
        effective = self.effective
        share = (MANY - effective / max(1.0, self.n - 1)) / (MANY - FEW)
        return _faded(effective / SETTLED, min(1.0, max(0.0, share)))

    @cached_property
    def doubt(self) -> float:
        """The weight of what was not seen where a claim of no loss rests on it: however dense so few queries look,
        and with more where a few carry the variance, as then a longer tail may be unseen."""
        first, last = TRUSTED
        square, fourth = (float((self.counts * (self.values - self._median) ** k).sum()) for k in (2, 4))
        tail = _faded(square * square / fourth / TAIL) if fourth else 1.0
        return max(self.rarity, tail, min(1.0, (last - self.n) / (last - first)))

    @cached_property
    def skew(self) -> float:
        """The skewness of the mean, shrunk by how little so few queries tell of it."""
        off = self.values - self.mean
        square = float((off * off * self.counts).sum()) / self.n
        cube = float((off**3 * self.counts).sum()) / self.n
        return cube / square**1.5 / math.sqrt(self.n) * self.n / (self.n + CAUTION) if square else 0.0


def _faded(number: float, most: float = 1.0) -> float:
    """The weight of what was not seen: half of the most at 1, none from three times that on."""
    weight = most / (1 + number**FALL)
    return min(1.0, max(0.0, (weight - NEARLY) / (1 - 2 * NEARLY)))


def possible_range(row: Array, ends: Ends | None = None) -> Ends:
    """The differences a query can have: `ends` if given, else -1 to 1, or as far as seen."""
    if ends is not None:
        return ends
    most = max(1.0, float(np.abs(row).max(initial=0.0)))
    return -most, most


def lower_bound(sample: ValueSample, alpha: float, end: float) -> float:
    """What the true mean lies above, but for a chance of alpha; no difference can lie below `end`.

    >>> lossless = ValueSample.of(np.zeros(50))
    >>> round(lower_bound(lossless, 0.05, -1.0), 4)
    -0.0582
    """
    return _bound(sample, alpha, end, sample.rarity)


def safe_bound(sample: ValueSample, alpha: float, end: float) -> float:
    """The same for a claim that nothing was lost: few queries that look dense are not trusted to be.

    It never lies above the other: what is claimed is never beyond the interval beside it.

    >>> alike = ValueSample.of(np.linspace(-0.02, 0.02, 30))
    >>> round(lower_bound(alike, 0.05, -1.0), 3), round(safe_bound(alike, 0.05, -1.0), 3)
    (-0.004, -0.095)
    """
    return min(_bound(sample, alpha, end, rare) for rare in {sample.rarity, sample.doubt})


def _bound(sample: ValueSample, alpha: float, end: float, rare: float) -> float:
    """Student's bound, and with the weight `rare` Gaffke's."""
    end = min(end, float(sample.values.min()))
    dense = max(sample.mean - sample.error * t_reach(sample.n, alpha, sample.skew), end) if rare < 1 else 0.0
    unseen = sample.with_one(end)
    return (1 - rare) * dense + rare * quantile(unseen.values, unseen.counts, alpha) if rare else dense


def chance_below(sample: ValueSample, point: float, end: float) -> float:
    """The smallest alpha at which the safe bound lies above `point`: the p of a mean at or below it.

    >>> round(chance_below(ValueSample.of(np.zeros(50)), -0.0582, -1.0), 3)
    0.05
    """
    if point <= min(end, float(sample.values.min())):
        return 0.0
    return max(_chance_below(sample, point, end, rare) for rare in {sample.rarity, sample.doubt})


def _chance_below(sample: ValueSample, point: float, end: float, rare: float) -> float:
    """The smallest alpha at which the bound with this weight of what was not seen lies above `point`."""
    chances = []
    if rare:
        unseen = sample.with_one(min(end, float(sample.values.min())))
        chances.append(share_below(unseen.values, unseen.counts, point))
    if rare < 1:
        t, wider = (sample.mean - point) / sample.error, 1 + TAIL_UNSEEN / sample.n
        most = min(t, _straightened(t, sample.skew))
        chances.append(t_above(min(most, most / wider), sample.n - 1))
    # What stands between two bounds lies above the point where both do, and below it where both do.
    low, high = (NORMAL.inv_cdf(min(max(each, EPSILON), 1 - EPSILON)) for each in (min(chances), max(chances)))
    if high - low < 1e-6:
        return max(chances)

    def below(z: float) -> float:
        return (point - _bound(sample, NORMAL.cdf(z), end, rare)) / sample.error

    return NORMAL.cdf(root(below, (low + high) / 2, low, high)[0])


def t_reach(n: float, alpha: float, skew: float) -> float:
    """Standard errors from the mean of n differences down to Student's bound: more for what so few need not show, and
    where their skewness asks for it."""
    t = t_quantile(1 - alpha, n - 1)
    t += max(t, 0.0) * TAIL_UNSEEN / n
    if abs(skew) < 1e-9:
        return t
    return max(t, 3 / skew * (float(np.cbrt(1 + skew * (t - skew / 6))) - 1))  # what `_straightened` turns into t


def _straightened(t: float, skew: float) -> float:
    """Hall's transformation: t of a skewed sample as one of a symmetric one, cubic so that it always rises."""
    return t + skew / 3 * t * t + skew * skew / 27 * t**3 + skew / 6


def smallest_margin(n: int, alpha: float = 0.05, worst: float = 1.0) -> float:
    """The smallest margin that n queries can pass where no loss is seen; one query loses `worst` at most.

    With more than 50 queries, if most of them change, and each by little, a smaller one can pass.

    >>> round(smallest_margin(50), 3), round(smallest_margin(300), 3)
    (0.058, 0.01)
    """
    return worst * (1 - alpha ** (1 / n)) if n else worst


NO_MARGIN = 1e-15
"""No practical number of queries lets so small a share of the worst loss pass."""


def queries_for_margin(margin: float, alpha: float = 0.05, worst: float = 1.0) -> int | None:
    """How many queries without a loss make a margin pass; None if no number does.

    >>> queries_for_margin(0.01), queries_for_margin(0.06)
    (299, 49)
    """
    if margin >= worst:
        return 1
    share = margin / worst
    return math.ceil(math.log(alpha) / math.log1p(-share)) if share > NO_MARGIN else None


def agree_with_test(ends: Ends, mean: float, p: float, alpha: float, sides: int = 2) -> Ends:
    """An interval that leaves 0 out where the test finds a difference, and holds 0 if it finds none.

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


# --- intervals that hold at every look: a test may be looked at each day, and ended at any time ------------

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


def normal_mixture(value: float, error: float, planned: float, level: float = 0.95, null: float = 0.0) -> Anytime:
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
    reach = math.sqrt(variance * (variance + spread) / spread * math.log((variance + spread) / (variance * alpha**2)))
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
    row = finite_row(values)
    if row.size and not (row.min() >= 0 and row.max() <= 1):
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
    row = finite_row(values)
    return math.exp(-max(_stake(row, _sizes(row, 1 - level), null), 0.0)) if row.size else 1.0


def _sizes(row: Array, alpha: float) -> Array:
    """The size of the bet at each value, by the spread of those before it."""
    n = np.arange(1, len(row) + 1)
    mean = (0.5 + np.cumsum(row)) / (n + 1)
    variance = (0.25 + np.cumsum((row - mean) ** 2)) / (n + 1)
    before = np.concatenate([[0.25], variance[:-1]])
    return np.asarray(np.sqrt(2 * math.log(2 / alpha) / (before * n * np.log(n + 1))))


def _stake(row: Array, size: Array, mean: float) -> float:
    """The logarithm of the stake after bets against a mean, half on more and half on less."""
    up = np.minimum(size, BOLDEST / max(mean, 1e-9))
    down = np.minimum(size, BOLDEST / max(1 - mean, 1e-9))
    more, less = np.log1p(up * (row - mean)).sum(), np.log1p(-down * (row - mean)).sum()
    return float(np.logaddexp(more, less) - math.log(2))
