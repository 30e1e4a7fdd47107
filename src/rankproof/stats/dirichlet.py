"""The distribution of a mean under random weights: how far it could be moved by what was not seen.

With weights from a Dirichlet distribution (a share of each value, as large as its count on average), the weighted
mean of some values is the mean they could as well have had: the Bayesian bootstrap. With one more value at the end
of the possible range, its quantile at alpha is Gaffke's lower bound of the true mean; for hits and misses
that is exactly the bound of Clopper and Pearson.

Nothing is drawn. A mean with such weights lies below c where sum k_i (v_i - c) falls below 0 for independent gamma
variables with shapes k_i; that chance is an integral of their transform along a path through its saddle point,
which the trapezoidal rule gives to six digits and more.

Reference: D. B. Rubin: The Bayesian bootstrap, Annals of Statistics 1981; N. Gaffke: Three test statistics for a
nonparametric one-sided hypothesis on the mean of a nonnegative variable, Math. Methods of Statistics 2005;
H. Daniels: Tail probability approximations, Int. Statistical Review 1987; E. Learned-Miller, P. Thomas: A new
confidence interval for the mean of a bounded random variable, 2020.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from rankproof.core.hits import Array
from rankproof.stats.distributions import NORMAL

STEP, AT_ONCE, MOST = 0.25, 12, 96
"""Between the places at which the transform is added up (half of it changes no digit shown), how many of them at a
time, and how many in all."""
RISE = 0.3
"""So much more than at the saddle point, as a logarithm, shows that the transform does not fall along a path."""
STEPS = 60
"""The most steps to a saddle point."""
CENTRAL = 0.5
"""Up to this normal quantile the distribution is nearly that of a normal variable."""
FAR = 1e3
"""A point so many ranges outside the values has its saddle at their mean."""
LEAST, EPSILON = 1e-300, 1e-16
LEAST_LOG, MOST_LOG = -70.0, 12.0
"""Where the logarithm of such a distance is looked for."""


def share_below(values: Array, counts: Array, point: float) -> float:
    """How often the mean of `values` with Dirichlet weights of these `counts` lies below `point`.

    One hit among ten, and the beta distribution says the same:

    >>> round(share_below(np.array([0.0, 1.0]), np.array([9.0, 1.0]), 0.25), 6)
    0.924915
    """
    if point * counts.sum() > values @ counts:  # the smaller of both chances is the accurate one
        return 1 - share_below(-values, counts, -point)
    off = values - point
    moving = off != 0
    off, counts = off[moving], counts[moving]
    if not (off < 0).any():
        return 0.0
    if not (off > 0).any():
        return 1.0
    return _tail(off, counts, _saddle(off, counts))


def quantile(values: Array, counts: Array, share: float) -> float:
    """The point below which the mean with Dirichlet weights lies with this chance.

    No loss among 50, and one at the end: the bound of Clopper and Pearson.

    >>> round(quantile(np.array([-1.0, 0.0]), np.array([1.0, 50.0]), 0.05), 4), round(0.05 ** (1 / 50) - 1, 4)
    (-0.0582, -0.0582)
    """
    values, counts = values[counts > 0], counts[counts > 0]
    low, high = float(values.min()), float(values.max())
    if low == high:
        return low
    atoms, z = (values - low) / (high - low), NORMAL.inv_cdf(share)
    mean = float(atoms @ counts) / float(counts.sum())
    spread = math.sqrt(float(counts @ (atoms - mean) ** 2))
    middle = _normal_quantile(atoms, counts, FAR)
    if z < min(middle, -CENTRAL):
        return low + (high - low) * _far_below(atoms, counts, share, spread / -z - mean)
    if z > max(middle, CENTRAL):
        return high - (high - low) * _far_below(1 - atoms, counts, 1 - share, spread / z - 1 + mean)
    return low + (high - low) * _central(atoms, counts, z, spread / (float(counts.sum()) + 1))


def _far_below(atoms: Array, counts: Array, share: float, width: float) -> float:
    """A quantile far below the mean of atoms from 0 to 1; its saddle belongs to a point about `width` below 0."""
    z = NORMAL.inv_cdf(share)
    at, slope = _root(
        lambda at: z - _normal_quantile(atoms, counts, math.exp(at)), math.log(max(width, 0.01))
    )
    turn = -slope * NORMAL.pdf(z) / share
    for _ in range(9):
        found = share_below(atoms, counts, _place(atoms, counts, math.exp(at)))
        off = math.log(max(found, LEAST) / share)
        at = min(max(at - off / turn, LEAST_LOG), MOST_LOG)
        if abs(off) < 1e-4:  # the next step would be its square
            return _place(atoms, counts, math.exp(at))
    # An end far beyond all values puts a shoulder into the distribution, on which such steps go astray.
    return _central(atoms, counts, z, 0.0)


def _central(atoms: Array, counts: Array, z: float, slope: float) -> float:
    """A quantile near the mean: on the scale of normal quantiles the distribution is nearly a line there, so by
    secants, kept between both ends."""
    low, high, place = 0.0, 1.0, float(atoms @ counts) / float(counts.sum())
    seen: tuple[float, float] | None = None
    for _ in range(STEPS):
        place = place if low < place < high else (low + high) / 2
        found = NORMAL.inv_cdf(min(max(share_below(atoms, counts, place), LEAST), 1 - EPSILON)) - z
        low, high = (place, high) if found < 0 else (low, place)
        if seen is not None and found != seen[1] and place != seen[0]:
            slope = (place - seen[0]) / (found - seen[1])
        seen = place, found
        if abs(found) < 1e-6:
            break
        place -= slope * found
    return place


def _place(atoms: Array, counts: Array, width: float) -> float:
    """The place whose saddle point belongs to a point `width` below 0: from 0, if the width is 0, to the mean."""
    pull = counts / (atoms + width)
    return float(pull @ atoms / pull.sum())


def _normal_quantile(atoms: Array, counts: Array, width: float) -> float:
    """The normal quantile with about as much below it as lies below that place: the formula of Lugannani and Rice,
    as Barndorff-Nielsen writes it."""
    place = _place(atoms, counts, width)
    exponent = -float(counts @ np.log1p((atoms - place) / (place + width)))
    root = math.sqrt(max(-2 * exponent, LEAST))
    tilted = (atoms - place) / (atoms + width)
    return -root - math.log(math.sqrt(counts @ (tilted * tilted)) / root) / root


def _saddle(off: Array, counts: Array) -> float:
    """The lowest point of the transform over -s, for s between the pole below and 0: Newton, kept between both."""
    low, high = 1 / float(off.min()), 0.0
    s = low / 2
    for _ in range(STEPS):
        tilted = off / (1 - off * s)
        slope = float(counts @ tilted) - 1 / s
        low, high = (low, s) if slope > 0 else (s, high)
        new = s - slope / (float(counts @ tilted**2) + 1 / s**2)
        new = new if low < new < high else (low + high) / 2
        if abs(new - s) <= 1e-3 * abs(s):  # any point near the saddle will do
            break
        s = new
    return s


def _tail(off: Array, counts: Array, s: float) -> float:
    """The chance of a mean below the point that the values are `off` from: an integral along a hyperbola through
    `s` that bends as the path of steepest descent does, so that nothing oscillates."""
    stretch = 1 - off * s
    tilted = off / stretch
    width = 1 / math.sqrt(float(counts @ tilted**2) + 1 / s**2)
    bend = min(1.0, max(-1.0, 2 / 3 * width**3 * (float(counts @ tilted**3) - 1 / s**3)))
    height = math.exp(-float(counts @ np.log(stretch)))
    # Far out, what many small values add may grow along a bent path; along a straight one it falls.
    totals = (_along(tilted * width, counts, s / width, turn) for turn in (bend, bend / 2, 0.0))
    total = next(each for each in totals if each is not None)
    return min(1.0, max(0.0, height * total * STEP / math.pi))


def _along(tilted: Array, counts: Array, s: float, bend: float) -> float | None:
    """The sum of the transform along one path, as a share of what it is at `s`; None if it rises."""
    total, highest = 0.0, 0.0
    for start in range(0, MOST, AT_ONCE):
        u = STEP * (np.arange(start, start + AT_ONCE) + 0.5)
        x, y = bend * (np.cosh(u) - 1), np.sinh(u)
        real, imaginary = 1 - np.outer(x, tilted), -np.outer(y, tilted)
        size = np.log(real * real + imaginary * imaginary) @ counts / -2
        if bend and size.max() > RISE:
            return None
        angle = np.arctan2(imaginary, real) @ counts
        parts = np.exp(size - 1j * angle) * (bend * y + 1j * np.cosh(u)) / -(s + x + 1j * y)
        total, highest = total + float(parts.imag.sum()), max(highest, float(np.abs(parts).max()))
        if abs(parts[-1]) < 1e-10 * highest:
            break
    return total


def _root(function: Callable[[float], float], start: float) -> tuple[float, float]:
    """Where a falling function is 0, by secants kept within what is known to hold it, and its slope there."""
    low, high = LEAST_LOG, MOST_LOG
    at, value = start, function(start)
    other = at + (0.2 if value > 0 else -0.2)
    slope = -1.0
    for _ in range(STEPS):
        low, high = (max(low, at), high) if value > 0 else (low, min(high, at))
        if not low < other < high:
            other = (low + high) / 2
        seen = function(other)
        if seen != value:
            slope = (seen - value) / (other - at)
        at, value = other, seen
        if abs(value) < 1e-6 or high - low < 1e-12:
            break
        other = at - value / slope
    return at, slope
