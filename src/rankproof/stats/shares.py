"""Shares with their intervals: k of n, where n may be small and k may be 0 or n.

A share is the mean of hits and misses, so its interval is that of such a mean (`stats.intervals`): quantiles of two
beta distributions, with four fifths of one more count at the near end and a fifth at the far one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from rankproof.display import Displayable
from rankproof.errors import DataError
from rankproof.stats.intervals import interval_of_hits


@dataclass(frozen=True, slots=True)
class Share(Displayable):
    """A share with the ends of its interval; NaN, from 0 to 1, where nothing was counted."""

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
