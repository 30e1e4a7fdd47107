"""What soft verdicts do to an interval: each sample's value is not known, only expected."""

from __future__ import annotations

import math
from statistics import NormalDist

from rankproof.api.tally import JudgedColumn

STRONGEST, INDEPENDENT = "strongest", "independent"
"""What counts of soft verdicts on several contexts: the strongest, or all of them, as if each were apart."""


def widened(column: JudgedColumn, low: float, high: float, level: float) -> tuple[float, float]:
    """The interval of a mean, with the variance of soft verdicts added on both sides, within what can be."""
    if not column.softness or not math.isfinite(high - low):
        return low, high
    reach = NormalDist().inv_cdf((1 + level) / 2) ** 2 * column.softness
    down, up = (math.sqrt((end - column.mean) ** 2 + reach) for end in (low, high))
    most = 1.0 if column.counting.max() <= 1 else math.inf
    return max(column.mean - down, 0.0), min(column.mean + up, most)


def method_of(column: JudgedColumn, method: str, independent: bool = False) -> str:
    """How the interval was made."""
    if not column.softness:
        return method
    how = "each apart" if independent else "of several contexts the strongest"
    return f"{method}, with the spread of soft verdicts ({how})"
