"""Two systems of which only a summary of the differences is left: how large, how sure, and could it be chance.

While there are few different values, all are known, and the answers are those of `compare`. Of more the sums of their
powers are left: all that Student's interval, its correction for skewness, and the normal form of sign flips need.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rankproof.core.merge import ValueSummary
from rankproof.document.display import Displayable
from rankproof.errors import DataError, check_number
from rankproof.stats.confidence import CAUTION, ValueSample, bent, lower_bound
from rankproof.stats.distributions import NORMAL, t_above, t_quantile
from rankproof.stats.paired import COHEN, EffectSize
from rankproof.stats.power import smallest_detectable

ENOUGH = 1000
"""From so many queries on the normal form of the sign flips is near their own."""


@dataclass(frozen=True, slots=True)
class SummedDifference(Displayable):
    """What a summary of paired differences says."""

    difference: float
    """The mean difference."""
    low: float
    high: float
    """The interval, as `compare` makes it."""
    p: float
    """Sign flips, by their normal form: how often random signs move the mean as far."""
    p_t: float
    """Student's t."""
    effect: EffectSize
    """The mean difference in standard deviations of the differences."""
    detectable: float | None
    """The difference that would be found with a chance of 80 % at 5 %; None: nothing varies."""
    n: int
    note: str = ""

    def equivalent(self, margin: float) -> bool:
        """Whether the interval lies within the margin: at 1e8 queries this is the question, as nothing is exactly 0."""
        check_number(
            "margin", margin, above=0, advice="give the largest difference that does not matter, like 0.01"
        )
        return -margin < self.low and self.high < margin


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
    low, high = _ends(differences, value, float((third - 3 * mean * second + 2 * n * mean**3) / n), level)
    note = "" if n >= ENOUGH else "so few queries: `compare` counts the sign flips instead"
    if differences.least == differences.most:
        effect = EffectSize(None if value else 0.0, "unknown" if value else "negligible", n, "d_z")
        p = 2.0 ** (1 - n) if value else 1.0
        return SummedDifference(value, low, high, p, p, effect, None, n, f"all {n:,} differences are equal")
    d_z = value / spread
    return SummedDifference(
        difference=value,
        low=low,
        high=high,
        p=min(1.0, 2 * NORMAL.cdf(-abs(float(first)) / math.sqrt(float(second)))),
        p_t=min(1.0, 2 * t_above(abs(d_z) * math.sqrt(n), n - 1)),
        effect=EffectSize(d_z, next(word for limit, word in COHEN if abs(d_z) < limit), n, "d_z"),
        detectable=smallest_detectable(spread, n),
        n=n,
        note=note,
    )


def _ends(differences: ValueSummary, mean: float, cube: float, level: float) -> tuple[float, float]:
    """The ends of the interval: with what was not seen where few queries carry the spread, else Student's."""
    alpha, n = (1 - level) / 2, differences.n
    if differences.table is not None:
        values, counts = differences.table
        sample, most = ValueSample(values, counts.astype(np.float64)), max(1.0, float(np.abs(values).max()))
        return lower_bound(sample, alpha, -most), -lower_bound(sample.negate(), alpha, -most)
    squares = float(differences.powers[1].exact) / n - mean * mean
    skew = cube / squares**1.5 / math.sqrt(n) * n / (n + CAUTION)
    t, error = t_quantile(1 - alpha, n - 1), math.sqrt(squares / (n - 1))
    return mean - error * max(t, bent(t, skew)), mean + error * max(t, bent(t, -skew))
