"""Shares of yes, and means and rates corrected for a judge's error, with intervals that hold for small n.

The interval of a share is that of a mean of hits and misses (`stats/intervals.py`): quantiles of two beta
distributions, with four fifths of one more count at the near end and a fifth at the far one.

A judge labels everything, people a small random part. Prediction-powered inference takes the judge's
mean over everything and adds its mean error on people's labels; a weight on the judge, chosen from the labels, keeps a
bad judge from making the estimate worse than the labels alone. Rogan and Gladen's formula inverts the rate
of a judge of known sensitivity and specificity.

Reference: A. Angelopoulos, J. Duchi, T. Zrnic: PPI++: Efficient prediction-powered inference, 2023; W. J. Rogan,
B. Gladen: Estimating prevalence from the results of a screening test, Am. J. Epidemiology 1978; J. Hajek: comment
in Foundations of statistical inference, 1971 (means weighted by sampling probabilities).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankproof.core.arrays import Array, distinct
from rankproof.document.model import Displayable
from rankproof.errors import DataError, check_number
from rankproof.stats.distributions import NORMAL, quantile, t_quantile
from rankproof.stats.intervals import ENDS_OF_HITS

ALIKE = 1e-9
"""Labels that are all alike leave no more of a spread than this, but for rounding."""
USELESS = 1e-9
"""A judge whose sensitivity and specificity add up to no more than 1 and this says nothing."""


@dataclass(frozen=True, slots=True)
class Corrected(Displayable):
    """An estimate with its standard error and interval."""

    value: float
    low: float
    high: float
    error: float
    """The standard error."""
    power: float
    """The weight of the judge: 0 the labels alone, 1 plain prediction-powered inference."""
    n: int
    """Labels behind it."""
    method: str


@dataclass(frozen=True, slots=True)
class Labelled:
    """Units that people labelled: their labels, the judge's, and the probability of being drawn."""

    truth: Array
    said: Array
    place: Array
    """For each unit the place, in what the judge says of everything, of the group it belongs to."""
    probability: Array
    """The probability with which it was drawn; all alike where the draw was uniform."""


@dataclass(frozen=True, slots=True)
class Side:
    """One system: the judge's value of every group, and the labels of units within the groups."""

    everywhere: Array
    labels: Labelled
    units: float | None = None
    """How many units there are in all; None: a group is a unit."""

    @property
    def scale(self) -> float:
        """The weight of a unit in the mean over groups."""
        return 1.0 if self.units is None else self.units / len(self.everywhere)

    def parts(self, of: str) -> Array:
        """One number a group, whose mean is the estimate and whose spread is its error.

        Of "truth" they are those of the labels alone; of "said", what the judge adds to them: its value of the
        group, less what it says of the labelled units.
        """
        labels, groups = self.labels, np.asarray(self.everywhere, dtype=np.float64)
        own = of == "truth"
        values = (labels.truth if own else -labels.said) * self.scale
        share = 1 / labels.probability
        share = share / share.sum()
        mean = float(share @ values)
        parts = np.full(len(groups), mean) if own else groups + mean
        np.add.at(parts, labels.place, len(groups) * share * (values - mean))
        return parts


def check_labels(truth: Array, said: Array, place: Array | None = None, probability: Array | None = None) -> Labelled:
    """Labels, checked; without places each is a group of its own, the first ones of everything."""
    truth, said = np.asarray(truth, dtype=np.float64), np.asarray(said, dtype=np.float64)
    where = np.arange(len(truth)) if place is None else np.asarray(place, dtype=np.intp)
    chance = np.ones(len(truth)) if probability is None else np.asarray(probability, dtype=np.float64)
    if not len(truth) == len(said) == len(where) == len(chance):
        raise DataError(
            "labels: got columns of different lengths, expected one line a label. Next: give a value for every label."
        )
    if len(truth) < 2:
        raise DataError(f"labels: got {len(truth)}, expected at least 2. Next: label more by hand.")
    if not ((chance > 0) & (chance <= 1)).all():
        raise DataError(
            "labels: got a sampling probability outside 0 to 1, expected above 0 and at most 1."
            " Next: give each label the share by which it was drawn."
        )
    return Labelled(truth, said, where, chance)


def corrected_mean(
    everywhere: Array,
    labels: Labelled,
    *,
    units: float | None = None,
    power: float | None = None,
    level: float = 0.95,
    limits: tuple[float, float] = (0.0, 1.0),
) -> Corrected:
    """The mean over groups, corrected by labels of units within them (a group of one unit is that unit).

    `everywhere` is the judge's value of every group, the labelled ones among them; a group's value is the sum
    over its units, of which there are `units` in all (as many as groups where nothing is said). `power` None
    chooses the weight of the judge that makes the error least.

    Formula: w F + (units / groups) mean(truth - w said), F the judge's mean over all groups; the mean over
    labels is weighted by 1 / probability, and the error is that of groups drawn at random, linearised.

    >>> labels = check_labels(np.array([1.0, 0, 0, 1]), np.array([1.0, 1, 0, 1]))
    >>> found = corrected_mean(np.array([1.0, 1, 0, 1, 1, 1, 0, 1]), labels, power=1)
    >>> found.value
    0.5
    """
    return _corrected([(1.0, Side(everywhere, labels, units))], power, level, limits)


def corrected_difference(
    one: Side,
    other: Side,
    *,
    power: float | None = None,
    level: float = 0.95,
    limits: tuple[float, float] = (-1.0, 1.0),
) -> Corrected:
    """The mean of one system minus that of another over the same groups, corrected as `corrected_mean` does.

    What a group gives to both, and a label that counts for both, is taken off before the error is made: what the
    judge is off by alike on both sides costs nothing.

    >>> said, truth = np.array([1.0, 1, 0, 1, 1, 0, 1, 1]), np.array([1.0, 0, 0, 1])
    >>> one, other = Side(said, check_labels(truth, said[:4])), Side(said, check_labels(truth, said[:4]))
    >>> corrected_difference(one, other, power=1).value
    0.0
    """
    if len(one.everywhere) != len(other.everywhere):
        raise DataError(
            f"difference: got {len(one.everywhere)} and {len(other.everywhere)} groups, expected the same ones. "
            "Next: give both sides of every group."
        )
    return _corrected([(1.0, one), (-1.0, other)], power, level, limits)


def _corrected(
    sides: Sequence[tuple[float, Side]], power: float | None, level: float, limits: tuple[float, float]
) -> Corrected:
    """The sum of corrected means, each with its sign."""
    if power is not None:
        check_number("power", power, least=0, most=1, advice="give one; 0 uses the labels alone")
    own, judge = (np.sum([sign * each.parts(of) for sign, each in sides], axis=0) for of in ("truth", "said"))
    weight = power
    if weight is None:  # that at which the spread of the sum is least
        spread, together = float(judge.var()), float(np.mean((own - own.mean()) * (judge - judge.mean())))
        weight = min(max(-together / spread, 0.0), 1.0) if spread > 0 else 1.0
    parts = own + weight * judge
    drawn = len(distinct(np.concatenate([each.labels.place for _, each in sides])))
    seen, unseen = _errors(parts, drawn, [each for _, each in sides])
    error, tail = math.hypot(seen, unseen), (1 - level) / 2
    half = error * t_quantile(1 - tail, max(drawn - 1, 1))
    if seen <= ALIKE * unseen:  # of n labels that all agree, a share of 1 - tail^(1/n) may be off: an exact bound
        half = max(half, unseen * drawn * (1 - tail ** (1 / drawn)))
    least, most = limits
    value = min(max(float(parts.mean()), least), most)
    ends = max(value - half, least), min(value + half, most)
    counts = [len(each.labels.truth) for _, each in sides]
    method = f"PPI++ with {' and '.join(f'{n:,}' for n in counts)} labels, weight of the judge {weight:.2f}"
    return Corrected(value, *ends, error, weight, sum(counts), method)


def _errors(parts: Array, drawn: int, sides: Sequence[Side]) -> tuple[float, float]:
    """The standard error that the labels show, and that of a judge with one more error than was seen.

    Without the second, a few labels that happen to agree with the judge would make it infallible.
    """
    seen = float(parts.var()) / len(parts) * drawn / max(drawn - 1, 1)
    once_more = sum((each.scale * _size(each.labels) / len(each.labels.truth)) ** 2 for each in sides)
    return math.sqrt(seen), math.sqrt(once_more)


def _size(labels: Labelled) -> float:
    """The weight of a unit that the judge or a person says yes to; 1 if there is none."""
    sizes = np.maximum(np.abs(labels.truth), np.abs(labels.said))
    return math.sqrt(float(np.mean(sizes[sizes > 0] ** 2))) if (sizes > 0).any() else 1.0


def rogan_gladen(
    rate: float, n: int, hits: tuple[int, int], rejections: tuple[int, int], level: float = 0.95
) -> Corrected:
    """The true rate behind a judge's, from its sensitivity and specificity, each with the error of its count.

    `rate` is the share of `n` that the judge says yes to; `hits` (yes, of all that people say yes to) give the
    sensitivity, `rejections` (no, of all that people say no to) the specificity.

    Formula: (rate + specificity - 1) / (sensitivity + specificity - 1), kept from 0 to 1; the interval is that
    of the delta method, in which each count has one yes and one no more than were seen, so that a share of 0 or
    1 from a few labels is not taken for certain.

    >>> found = rogan_gladen(0.45, 1000, (80, 100), (170, 200))
    >>> round(found.value, 4), round(found.low, 2), round(found.high, 2)
    (0.4615, 0.38, 0.55)
    """
    if not 0 <= rate <= 1 or n < 1:
        raise DataError(
            f"rate: got {rate!r} of {n}, expected a share of at least 1. Next: give a share that labels at least one."
        )
    if not (hits[1] and rejections[1]):
        raise DataError("people say yes to all labelled pairs, or no to all, so no rate follows. Next: label more.")
    sensitivity, specificity = hits[0] / hits[1], rejections[0] / rejections[1]
    tells = sensitivity + specificity - 1
    if tells <= USELESS:
        raise DataError(
            f"the judge says yes as often where people say no (sensitivity {sensitivity:.3f}, specificity "
            f"{specificity:.3f}), so no rate follows from its own. Next: take another judge."
        )
    value = (rate + specificity - 1) / tells
    # The standard error by the first-order expansion in rate, sensitivity and specificity.
    (a, a_spread), (b, b_spread) = _smoothed(*hits), _smoothed(*rejections)
    between = max(a + b - 1, USELESS)
    true = min(max((rate + b - 1) / between, 0.0), 1.0)
    error = math.sqrt(rate * (1 - rate) / n + true**2 * a_spread + (1 - true) ** 2 * b_spread) / between
    half = error * NORMAL.inv_cdf((1 + level) / 2)
    value, low, high = (min(max(each, 0.0), 1.0) for each in (value, value - half, value + half))
    return Corrected(value, low, high, error, 1.0, hits[1] + rejections[1], "Rogan-Gladen, delta method")


def _smoothed(yes: int, n: int) -> tuple[float, float]:
    """A share and its variance, with one yes and one no added."""
    share = (yes + 1) / (n + 2)
    return share, share * (1 - share) / (n + 2)


@dataclass(frozen=True, slots=True)
class Share(Displayable):
    """A share with the ends of its interval; NaN, from 0 to 1, if nothing was counted."""

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
    ends, counts, tail = np.array([0.0, 1.0]), np.array([n - yes, yes], dtype=np.float64), (1 - level) / 2
    near = np.array([ENDS_OF_HITS, 1 - ENDS_OF_HITS])
    low = 0.0 if yes == 0 else quantile(ends, counts + near, tail)
    high = 1.0 if yes == n else quantile(ends, counts + near[::-1], 1 - tail)
    return Share(yes / n, min(low, yes / n), max(high, yes / n), yes, n)
