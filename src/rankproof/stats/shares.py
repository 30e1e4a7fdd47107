"""Shares with their intervals: k of n, where n may be small and k may be 0 or n.

Reference: E. B. Wilson: Probable inference, the law of succession, and statistical inference, JASA 1927.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

from rankproof.display import Displayable
from rankproof.errors import DataError


@dataclass(frozen=True, slots=True)
class Share(Displayable):
    """A share with the ends of its interval; NaN, from 0 to 1, where nothing was counted."""

    value: float
    low: float
    high: float
    yes: int
    n: int


def share_of(yes: int, n: int, level: float = 0.95) -> Share:
    """The share `yes / n` with Wilson's interval, which is never empty and never leaves 0 to 1.

    >>> found = share_of(0, 50)
    >>> round(found.low, 4), round(found.high, 4)
    (0.0, 0.0713)
    """
    if not 0 <= yes <= n:
        raise DataError(
            f"share: got {yes} of {n}, expected a count from 0 to {n}. Next: give a count within the whole."
        )
    if n == 0:
        return Share(math.nan, 0.0, 1.0, 0, 0)
    z2 = NormalDist().inv_cdf((1 + level) / 2) ** 2
    center = (yes + z2 / 2) / (n + z2)
    half = math.sqrt(z2 * (yes * (n - yes) / n + z2 / 4)) / (n + z2)
    low, high = (0.0 if yes == 0 else center - half), (1.0 if yes == n else center + half)
    return Share(yes / n, low, high, yes, n)
