"""Confidence intervals of means over queries.

The queries are weighted at random (the Bayesian bootstrap), and with them one query that was not seen, part of it
at either end of what the measure can be: ten hits of ten do not prove that the eleventh is a hit. The quantiles of
the weighted mean are worked out, not drawn: one method for any number of queries, without a seed.

Reference: D. Rubin: The Bayesian bootstrap, Annals of Statistics 1981; N. Gaffke: Three test statistics for a
nonparametric one-sided hypothesis on the mean of a nonnegative variable, Math. Methods of Statistics 2005; H. Daniels:
Tail probability approximations, Int. Statistical Review 1987. What was simulated: `docs/statistics.md`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from rankproof.core.hits import Array
from rankproof.core.scoring import FLOOR
from rankproof.display import Displayable
from rankproof.errors import UsageError, is_number

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

STEP, AT_ONCE = 0.25, 12
"""Between the places at which a tail is integrated (half of it changes no digit shown), and how many at a time."""

NORMAL = NormalDist()


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
    if not is_number(level) or not 0 < level < 1:
        raise UsageError(
            f"level: got {level!r}, expected a number above 0 and below 1, like 0.95."
            " Next: give a share, like 0.95."
        )
    kinds = averages or ["mean"] * len(columns)
    ranges = bounds or [UNIT] * len(columns)
    return [
        _of_average(np.sort(np.round(np.asarray(column, dtype=np.float64), DIGITS)), level, kind, ends)
        for column, kind, ends in zip(columns, kinds, ranges, strict=True)
    ]


def interval_of_hits(yes: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """The interval of `yes` hits among `n` of them, of which one is enough; the same as that of their mean."""
    counts, tail = np.array([n - yes, yes], dtype=np.float64), (1 - level) / 2
    atoms = np.array([0.0, 1.0])
    low = 0.0 if yes == 0 else _quantile(atoms, counts, ENDS_OF_TIES, tail)
    high = 1.0 if yes == n else 1 - _quantile(atoms, counts[::-1], ENDS_OF_TIES, tail)
    return min(low, yes / n), max(high, yes / n)


def _of_average(values: Array, level: float, average: str, bounds: Bounds) -> Interval:
    """The interval of sorted values: of their mean, of the sum, or by logarithms of the geometric mean."""
    n = len(values)
    if average == "geometric":
        found = _interval(np.log(np.maximum(values, FLOOR)), level, (math.log(FLOOR), _log(bounds[1])))
        return Interval(math.exp(found.low), math.exp(found.high), f"{found.method}{_of('logarithms', n)}", n)
    found = _interval(values, level, bounds)
    if average == "sum":
        return Interval(found.low * n, found.high * n, f"{found.method}{_of('mean, times n', n)}", n)
    return found


def _log(bound: float) -> float:
    return math.log(bound) if bound < math.inf else math.inf


def _of(what: str, n: int) -> str:
    return f", of the {what}" if n > 1 else ""


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
    atoms, weights = _atoms(values)
    mean = float(atoms @ weights) / n
    tail = (1 - level) / 2
    span = high - low
    below = low + span * _quantile((atoms - low) / span, weights, near, tail)
    above = high - span * _quantile((high - atoms[::-1]) / span, weights[::-1], near, tail)
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
        starts = starts[
            np.unique(np.concatenate([np.arange(OUTERMOST), middle, np.arange(m - OUTERMOST, m)]))
        ]
    counts = np.diff(np.append(starts, len(values))).astype(np.float64)
    return np.add.reduceat(values, starts) / counts, counts


# --- quantiles of a mean with random weights --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Saddle:
    """A place of the weighted mean, given by a point at `width` outside the range, and what its tail is made of.

    The weights are gamma variables, so the mean lies below `place` if a sum of gammas is positive, whose
    cumulant function K is known; `width` is what its saddlepoint is about.
    """

    atoms: Array
    weights: Array
    place: float
    width: float

    @classmethod
    def at(cls, atoms: Array, weights: Array, width: float) -> _Saddle:
        pull = weights / (atoms + width)
        return cls(atoms, weights, float(pull @ atoms / pull.sum()), width)

    @property
    def exponent(self) -> float:
        """K at the saddlepoint."""
        return -float(self.weights @ np.log1p((self.atoms - self.place) / (self.place + self.width)))

    @property
    def deviate(self) -> float:
        """The standard normal deviate with the same tail, by the formula of Lugannani and Rice as
        Barndorff-Nielsen writes it."""
        root = math.sqrt(max(-2 * self.exponent, 1e-300))
        off = (self.atoms - self.place) / (self.atoms + self.width)
        return root + math.log(math.sqrt(self.weights @ (off * off)) / root) / root

    @property
    def tail(self) -> float:
        """The probability of a mean below `place`: an integral along a hyperbola through the saddlepoint that
        bends as the path of steepest descent does, so that nothing oscillates."""
        reach = (self.place - self.atoms) * (self.place + self.width) / (self.atoms + self.width)
        s = 1 / (self.place + self.width)
        scale = 1 / math.sqrt(float(self.weights @ (reach * reach)) + 1 / (s * s))
        bend = min(max(4 / 3 * scale**3 * float(self.weights @ reach**3), -1.0), 1.0)
        for share in (1.0, 0.5, 0.0):  # far out, what many small atoms add may grow along a bent path
            total = self._along(reach, scale, s, share * bend)
            if total is not None and total > 0:
                return math.exp(self.exponent) * total * STEP / math.pi
        return NORMAL.cdf(-self.deviate)

    def _along(self, reach: Array, scale: float, s: float, bend: float) -> float | None:
        """The integral along one path; None where it does not fall off."""
        total, highest = 0.0, 0.0
        for start in range(0, 5 * AT_ONCE, AT_ONCE):
            steps = STEP * (np.arange(start, start + AT_ONCE) + 0.5)
            off = scale * (bend * (np.cosh(steps) - 1) + 1j * np.sinh(steps))
            along = scale * (bend * np.sinh(steps) + 1j * np.cosh(steps))
            real, imaginary = 1 - np.outer(off.real, reach), -np.outer(off.imag, reach)
            size = np.log(real * real + imaginary * imaginary) @ self.weights / -2
            if size.max() > 1:  # it is 0 at the saddlepoint, and falls
                return None
            angle = np.arctan2(imaginary, real) @ self.weights
            parts = np.exp(size - 1j * angle) * along / (s + off)
            total, highest = total + float(parts.imag.sum()), max(highest, float(np.abs(parts).max()))
            if abs(parts[-1]) < 1e-10 * highest:
                return total
        return None


def _quantile(atoms: Array, weights: Array, near: float, tail: float) -> float:
    """The place from 0 to 1 below which the weighted mean lies with probability `tail`.

    `near` of a query lies at 0, the rest of it at 1.
    """
    if atoms[-1] <= 0:
        return 0.0
    atoms, weights = np.concatenate([[0.0], atoms, [1.0]]), np.concatenate([[near], weights, [1 - near]])
    total, z = float(weights.sum()), -NORMAL.inv_cdf(tail)
    mean = float(weights @ atoms) / total
    spread = math.sqrt(float(weights @ (atoms - mean) ** 2))
    start = math.log(max(spread / z - mean, 0.01))
    found, slope = _root(lambda at: _Saddle.at(atoms, weights, math.exp(at)).deviate - z, start)
    if z > 0.5:
        turn = -slope * NORMAL.pdf(z) / tail
        for _ in range(9):
            off = math.log(_Saddle.at(atoms, weights, math.exp(found)).tail / tail)
            found -= off / turn
            if abs(off) < 1e-4:
                break
    return _Saddle.at(atoms, weights, math.exp(found)).place


def _root(function: Callable[[float], float], start: float) -> tuple[float, float]:
    """Where a falling function is 0, by secants kept within what is known to hold it, and its slope there."""
    low, high = -70.0, 12.0
    at, value = start, function(start)
    other = at + (0.2 if value > 0 else -0.2)
    slope = -1.0
    for _ in range(60):
        low, high = (max(low, at), high) if value > 0 else (low, min(high, at))
        if not low < other < high:
            other = (low + high) / 2
        seen = function(other)
        if seen != value:
            slope = (seen - value) / (other - at)
        at, value = other, seen
        if abs(value) < 1e-9 or high - low < 1e-12:
            break
        other = at - value / slope
    return at, slope
