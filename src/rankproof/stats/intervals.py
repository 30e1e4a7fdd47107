"""Confidence intervals of means over queries.

The queries are weighted at random (the Bayesian bootstrap), and with them one query that was not seen, part of it
at either end of what the measure can be: ten hits of ten do not prove that the eleventh is a hit. The quantiles of
the weighted mean are worked out, not drawn (`stats/distributions.py`): one method for any number of queries, without a
seed. What was simulated: `docs/statistics.md`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankproof.core.arrays import distinct
from rankproof.core.hits import Array
from rankproof.core.scoring import FLOOR
from rankproof.document.display import Displayable
from rankproof.errors import check_number
from rankproof.stats.distributions import quantile

Bounds = tuple[float, float]
"""The least and the greatest value that a measure can have; infinite where there is none."""

UNIT: Bounds = (0.0, 1.0)

METHOD = "Bayesian bootstrap, part of a query at either end of the range"
GUESSED = "Bayesian bootstrap, ends of the range guessed from the values"

ENDS, ENDS_OF_TIES = 0.5, 0.8
"""How much of the unseen query lies at the end that is asked for, the rest at the other: half of it is Jeffreys'
interval for hits, whose coverage falls to .87 where all values lie on two; four fifths keep it above .93 there,
where all of it (Clopper and Pearson) would be a tenth wider."""

DIGITS = 12
"""Values that are equal up to here are equal but for rounding."""

ATOMS, OUTERMOST = 128, 24
"""More different values than this are taken together with their neighbours, but for the outermost ones."""


@dataclass(frozen=True, slots=True)
class Interval(Displayable):
    """Where the mean lies, with the level's confidence; NaN where nothing can be said."""

    low: float
    high: float
    method: str
    """How it was made, in words."""
    n: int
    """The number of queries behind it."""


def interval(
    values: Array,
    rng: np.random.Generator | None = None,
    level: float = 0.95,
    average: str = "mean",
    resamples: int | None = None,
    *,
    bounds: Bounds = UNIT,
) -> Interval:
    """The confidence interval of the mean, the sum or the geometric mean of `values`.

    `bounds` are what a query can score. An infinite one, or one that a value lies beyond, is guessed: as far
    outside the values as they lie apart. `rng` and `resamples` are no longer used, as nothing is drawn.

    >>> found = interval(np.array([0.2, 0.4, 0.4, 0.9, 1.0]))
    >>> round(found.low, 2), round(found.high, 2)
    (0.32, 0.82)
    """
    return intervals([values], rng, level, [average], resamples, bounds=[bounds])[0]


def intervals(
    columns: Sequence[Array],
    rng: np.random.Generator | None = None,
    level: float = 0.95,
    averages: Sequence[str] | None = None,
    resamples: int | None = None,
    *,
    bounds: Sequence[Bounds] | None = None,
) -> list[Interval]:
    """The intervals of several columns, each as `interval` gives it."""
    del rng, resamples
    check_number("level", level, above=0, below=1, advice="give a share, like 0.95")
    kinds = averages or ["mean"] * len(columns)
    ranges = bounds or [UNIT] * len(columns)
    return [
        _of_average(np.sort(np.round(np.asarray(column, dtype=np.float64), DIGITS)), level, kind, ends)
        for column, kind, ends in zip(columns, kinds, ranges, strict=True)
    ]


def interval_of_hits(yes: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """The interval of `yes` hits among `n` of them, of which one is enough; the same as that of their mean."""
    ends, counts, tail = np.array([0.0, 1.0]), np.array([n - yes, yes], dtype=np.float64), (1 - level) / 2
    near = np.array([ENDS_OF_TIES, 1 - ENDS_OF_TIES])
    low = 0.0 if yes == 0 else quantile(ends, counts + near, tail)
    high = 1.0 if yes == n else quantile(ends, counts + near[::-1], 1 - tail)
    return min(low, yes / n), max(high, yes / n)


def _of_average(values: Array, level: float, average: str, bounds: Bounds) -> Interval:
    """The interval of sorted values: of their mean, of the sum, or by logarithms of the geometric mean."""
    n = len(values)
    if average == "geometric":
        found = _interval(np.log(np.maximum(values, FLOOR)), level, (math.log(FLOOR), _log(bounds[1])))
        made = f"{found.method}{_of('logarithms', found)}"
        return Interval(math.exp(found.low), math.exp(found.high), made, n)
    found = _interval(values, level, bounds)
    if average == "sum":
        return Interval(found.low * n, found.high * n, f"{found.method}{_of('mean, times n', found)}", n)
    return found


def _log(bound: float) -> float:
    return math.log(bound) if bound < math.inf else math.inf


def _of(what: str, found: Interval) -> str:
    return f", of the {what}" if math.isfinite(found.low) else ""


def _interval(values: Array, level: float, bounds: Bounds) -> Interval:
    """The interval of the mean of sorted values."""
    n = len(values)
    if n < 2:
        return Interval(math.nan, math.nan, "one query has no interval" if n else "no queries", n)
    least, most = float(values[0]), float(values[-1])
    apart = most - least
    low = bounds[0] if -math.inf < bounds[0] <= least else least - apart
    high = bounds[1] if most <= bounds[1] < math.inf else most + apart
    guessed = (low, high) != tuple(bounds)
    if guessed and apart == 0:
        return Interval(math.nan, math.nan, f"all {n:,} values are equal, and the measure has no bound", n)
    share = _share_at_ends(values)
    near = ENDS + (ENDS_OF_TIES - ENDS) * share * share
    atoms, counts = _atoms(values)
    mean, tail = float(atoms @ counts) / n, (1 - level) / 2
    seen_and_ends = np.concatenate([[low], atoms, [high]])
    below = (
        low if most == low else quantile(seen_and_ends, np.concatenate([[near], counts, [1 - near]]), tail)
    )
    above = (
        high
        if least == high
        else quantile(seen_and_ends, np.concatenate([[1 - near], counts, [near]]), 1 - tail)
    )
    return Interval(min(below, mean), max(above, mean), GUESSED if guessed else METHOD, n)


def _share_at_ends(values: Array) -> float:
    """The share of sorted values that lie on the least or the greatest one; two of them always do."""
    n = len(values)
    if n < 3 or values[0] == values[-1]:
        return 1.0
    on_least = int(np.searchsorted(values, values[0], side="right"))
    on_most = n - int(np.searchsorted(values, values[-1], side="left"))
    return (on_least + on_most - 2) / (n - 2)


def _atoms(values: Array) -> tuple[Array, Array]:
    """The different values of sorted ones and how often each stands; of too many, neighbours are one, at their mean.

    128 of them lose about a ten thousandth of the variance.
    """
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1]))
    if len(starts) > ATOMS:
        m = len(starts)
        middle = np.linspace(OUTERMOST, m - OUTERMOST, ATOMS - 2 * OUTERMOST).astype(np.intp)
        starts = starts[distinct(np.concatenate([np.arange(OUTERMOST), middle, np.arange(m - OUTERMOST, m)]))]
    counts = np.diff(np.append(starts, len(values))).astype(np.float64)
    return np.add.reduceat(values, starts) / counts, counts
