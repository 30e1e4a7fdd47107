"""Quantiles of a sample with intervals from its own order: no shape of the distribution is assumed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankproof.core.hits import Array
from rankproof.display import Displayable


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
