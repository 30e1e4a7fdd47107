"""Intervals of the mean difference of two systems, and whether they are the same within a margin.

Each end is a lower bound (of the differences, and of their negatives) at half of the error level:
`stats/confidence.py` says how. The interval of b - a is that of a - b mirrored, to the last digit, and nothing is
drawn, unless another method is chosen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from rankproof.core.arrays import Array
from rankproof.core.conventions import FEWEST_TO_DECIDE, TOO_FEW_TO_DECIDE
from rankproof.core.mergeable_summaries import ValueSummary
from rankproof.document.model import Displayable
from rankproof.errors import DataError, check_number, check_one_of, check_whole
from rankproof.stats.confidence import (
    CAUTION,
    Ends,
    ValueSample,
    agree_with_test,
    chance_below,
    lower_bound,
    possible_range,
    safe_bound,
    t_reach,
)
from rankproof.stats.distributions import NORMAL, t_above, t_quantile
from rankproof.stats.intervals import ONE_QUERY, RESAMPLES, SAME, Interval, bca_interval, percentile, settled_interval
from rankproof.stats.paired import TINY, check_share, differences, sign_flip, total
from rankproof.stats.significance import COHEN, EffectSize, smallest_detectable

Method = Literal["adaptive", "bca", "percentile", "t"]
"""The method of an interval: by Gaffke's bound for unseen losses, by two bootstraps, or by Student's t."""


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
    check_one_of("method", method, get_args(Method))
    check_share("level", level)
    check_whole("resamples", resamples)
    row = differences(values)
    n = len(row)
    if method == "adaptive" and n == 1:
        return Interval(math.nan, math.nan, ONE_QUERY, 1)
    if method == "adaptive":  # Student's if many queries carry the spread, Gaffke's for unseen values if few do
        sample, alpha = ValueSample.of(row), (1 - level) / 2
        least, most = possible_range(row, ends)
        low, high = lower_bound(sample, alpha, least), -lower_bound(sample.negate(), alpha, -most)
        made = "Student's t, corrected for skewness" if sample.rarity < 1 else "Gaffke's bounds"
        return Interval(low, high, made if sample.rarity in (0, 1) else "Student's t towards Gaffke's bounds", n)
    if method == "t":
        if (settled := settled_interval(row)) is not None:
            return settled
        mean, reach = total(row) / n, t_quantile((1 + level) / 2, n - 1) * (float(row.std(ddof=1)) / math.sqrt(n))
        return Interval(mean - reach, mean + reach, "Student's t", n)
    # What is drawn is drawn for differences whose total is not below 0, and turned back.
    turned = total(row) < 0
    seed = int((rng or np.random.default_rng(0)).integers(1 << 62))
    drawn_by = bca_interval if method == "bca" else percentile
    found = drawn_by(np.sort(-row) if turned else row, np.random.default_rng([seed, n]), level, resamples)
    return replace(found, low=-found.high, high=-found.low) if turned else found


UNSEEN = "rare changes that these queries need not show are not ruled out"
"""Why a difference whose interval lies within the margin is not shown to be smaller."""


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Whether a mean difference is ruled out to lie outside -margin to margin."""

    difference: float
    margin: float
    p: float
    """The larger of the two p-values: at or below alpha, the systems are equivalent within the margin."""
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
    check_number("margin", margin, above=0, advice="give the largest difference that does not matter, like 0.01")
    row = differences(values)
    mean, n, method = total(row) / len(row), len(row), "two one-sided tests (bound with what was not seen)"
    if n == 1:
        return Equivalence(mean, margin, 1.0, n, method, "one query says nothing of others")
    least, most = possible_range(row, ends)
    sample = ValueSample.of(row)
    p = max(chance_below(sample, -margin, least), chance_below(sample.negate(), -margin, -most))
    return Equivalence(mean, margin, p, n, method)


ENOUGH = 1000
"""From so many moved queries on the normal form of the sign flips is near their own; of fewer all values are known."""
TO_TELL = 20
"""Moved queries that say what could be seen, if they are no quarter."""


@dataclass(frozen=True, slots=True)
class SummedDifference(Displayable):
    """The results that follow from a summary of paired differences."""

    difference: float
    """The mean difference."""
    low: float
    high: float
    """The interval, as `compare` makes it: without 0 exactly where p finds a difference."""
    p: float
    """Sign flips, by their normal form from 1,000 moved queries on: how often random signs move the mean as far."""
    p_t: float
    """Student's t."""
    effect: EffectSize
    """The mean difference in standard deviations of the differences."""
    detectable: float | None
    """The difference that would be found with a chance of 80 % at 5 %; None: too little varies to say so."""
    n: int
    note: str = ""
    farthest: float = math.inf
    """The largest difference, either way, that is not ruled out, allowing for what few queries may miss."""

    def equivalent(self, margin: float) -> bool:
        """Whether the interval lies within the margin: at 1e8 queries this is the question, as nothing is exactly 0."""
        check_number("margin", margin, above=0, advice="give the largest difference that does not matter, like 0.01")
        return self.n >= FEWEST_TO_DECIDE and max(-self.low, self.high, self.farthest) < margin


def summed_difference(differences: ValueSummary, level: float = 0.95) -> SummedDifference:
    """The interval and the test of paired differences, from their summary.

    >>> import numpy as np
    >>> found = summed_difference(ValueSummary.of(np.tile([0.1, 0.0, 0.2, -0.1], 25)))
    >>> round(found.difference, 3), round(found.low, 3), round(found.high, 3), round(found.p, 5)
    (0.05, 0.027, 0.073, 4e-05)
    """
    check_number("level", level, above=0, below=1, advice="give a share, like 0.95")
    n = differences.n
    if differences.average != "mean":
        raise DataError(
            f"differences: got a summary of a {differences.average}, expected differences query by query. "
            "Next: compare measures that are means."
        )
    if n < 2:
        raise DataError(f"differences: got {n} queries, expected two or more. Next: check which queries both answer.")
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
    d_z = value / spread
    # Of too many different values for a table nearly all moved.
    values, counts = differences.table or (np.empty(0), np.empty(0, dtype=int))
    moved = int(counts[values != 0].sum()) if len(values) else n
    if moved < ENOUGH:
        kept = np.where(values != 0, counts, 0) if n >= ENOUGH else counts  # zeros change no p, and may be millions
        p = sign_flip(np.repeat(values, kept.astype(int)), np.random.default_rng(0)).p
    else:
        p = max(TINY, min(1.0, 2 * NORMAL.cdf(-abs(float(first)) / math.sqrt(float(second)))))
    low, high = agree_with_test(ends, value, p, alpha)
    return SummedDifference(
        difference=value,
        low=low,
        high=high,
        p=p,
        p_t=max(TINY, min(1.0, 2 * t_above(abs(d_z) * math.sqrt(n), n - 1))),
        effect=EffectSize(d_z, next(word for limit, word in COHEN if abs(d_z) < limit), n, "d_z"),
        detectable=smallest_detectable(spread, n) if moved >= min(TO_TELL, max(FEWEST_TO_DECIDE, n / 4)) else None,
        n=n,
        note=TOO_FEW_TO_DECIDE if n < FEWEST_TO_DECIDE else "",
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
    error = math.sqrt(squares / (n - 1))
    low, high = mean - error * t_reach(n, alpha / 2, skew), mean + error * t_reach(n, alpha / 2, -skew)
    return (low, high), max(-low, high)
