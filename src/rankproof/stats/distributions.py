"""Distributions: those of t, and that of a mean under random weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, lru_cache
from itertools import count
from statistics import NormalDist

import numpy as np

from rankproof.core.arrays import Array

NORMAL = NormalDist()
HALF_ROOT = math.sqrt(0.5)
TINY = 1e-300
ENOUGH = 1e-15
NODES = 200
"""Points of the quadrature behind the noncentral t."""
FEWER_NODES, SMOOTH = 40, 20
"""As many do from so many degrees of freedom on, if nothing is steep and 8 standard deviations hold all."""
FEWEST_NODES, MANY = 8, 100
"""And so few, of a normal variable that chi-squared is a series of, from here on: that is off by less than 1e-8."""
FEW = 3
"""Degrees of freedom below which a quantile of t is found by halving alone."""


def log_choose(n: int, k: int) -> float:
    """The logarithm of the number of ways to choose k of n; minus infinity if there is none."""
    if not 0 <= k <= n:
        return -math.inf
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def beta_share(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function I_x(a, b).

    >>> round(beta_share(0.5, 2.0, 3.0), 4)
    0.6875
    """
    if x <= 0 or x >= 1:
        return float(x >= 1)
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_share(1 - x, b, a)
    front = a * math.log(x) + b * math.log1p(-x) - (math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b))
    return math.exp(front) / (a * _beta_fraction(x, a, b))


def _beta_fraction(x: float, a: float, b: float) -> float:
    """1 + t1 / (1 + t2 / (1 + ...)), from the front until it no longer moves.

    A power is worked out from some thousand of these: two terms a turn, and nothing is called.
    """
    value = numerator = 1.0
    inverse = 0.0
    for m in count(1):
        term = -(a + m - 1) * (a + b + m - 1) * x / ((a + 2 * m - 2) * (a + 2 * m - 1))
        below = 1 + term * inverse
        numerator = 1 + term / numerator
        inverse = 1 / (below if below > TINY or below < -TINY else TINY)
        numerator = numerator if numerator > TINY or numerator < -TINY else TINY
        value *= numerator * inverse
        if abs(numerator * inverse - 1) < ENOUGH:
            break
        term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        below = 1 + term * inverse
        numerator = 1 + term / numerator
        inverse = 1 / (below if below > TINY or below < -TINY else TINY)
        numerator = numerator if numerator > TINY or numerator < -TINY else TINY
        value *= numerator * inverse
        if abs(numerator * inverse - 1) < ENOUGH:
            break
    return value


def t_above(t: float, df: float) -> float:
    """How often Student's t with `df` degrees of freedom lies above `t`.

    >>> round(t_above(2.228, 10), 3)
    0.025
    """
    # Near the middle from the other end, where df / (df + t * t) would round to 1.
    if abs(t) < 1:
        both = 1 - beta_share(t * t / (df + t * t), 0.5, df / 2)
    else:
        both = beta_share(df / (df + t * t), df / 2, 0.5)
    return both / 2 if t >= 0 else 1 - both / 2


@lru_cache(maxsize=4096)
def t_quantile(share: float, df: float) -> float:
    """The t with `share` of Student's distribution below it.

    >>> round(t_quantile(0.975, 10), 3)
    2.228
    """
    if share < 0.5:
        return -t_quantile(1 - share, df)
    above = 1 - share
    if share == 0.5:
        return 0.0
    if df < FEW or not above:
        return solve(lambda t: t_above(t, df) <= above, 1.0)
    # An approximation, then Newton's steps on both logarithms: one or two where halving takes fifty.
    z = NORMAL.inv_cdf(share)
    t = math.sqrt(df * math.expm1(z * z * (df - 5 / 6) / (df - 2 / 3 + 0.1 / df) ** 2))  # Wallace's
    if df >= MANY:
        t, last = _t_series(z, df)
        if last <= CLOSE:
            return t
    peak = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - math.log(df * math.pi) / 2
    for _ in range(STEPS):
        found = t_above(t, df)
        density = math.exp(peak - (df + 1) / 2 * math.log1p(t * t / df))
        step = found * math.log(found / above) / (density * t)
        t *= math.exp(step)
        if abs(step) <= CLOSE:  # the next step would be its square
            break
    return t


def _t_series(z: float, df: float) -> tuple[float, float]:
    """The t that corresponds to a normal quantile, by the expansion of Cornish and Fisher, and its last term."""
    square = z * z
    terms = (
        z * (square + 1) / 4,
        z * ((5 * square + 16) * square + 3) / 96,
        z * (((3 * square + 19) * square + 17) * square - 15) / 384,
        z * ((((79 * square + 776) * square + 1482) * square - 1920) * square - 945) / 92160,
    )
    last = terms[3] / df**4
    return z + ((terms[2] / df + terms[1]) / df + terms[0]) / df + last, abs(last)


@lru_cache(maxsize=1 << 14)
def shifted_t_above(t: float, df: int, shift: float) -> float:
    """How often a noncentral t lies above `t`: Phi(shift - t s), averaged over s = sqrt(chi-squared / df)."""
    erfc, at, start = math.erfc, t * HALF_ROOT, shift * HALF_ROOT
    return sum([weight * erfc(at * s - start) for s, weight in _chi(df)]) / 2


@lru_cache(maxsize=4096)
def _chi(df: int) -> list[tuple[float, float]]:
    """Points of s = sqrt(chi-squared / df) with their probabilities."""
    if df >= MANY:
        series, weights = _normal_nodes()
        powers = (1 / math.sqrt(df)) ** np.arange(len(series))
        return list(zip(np.sqrt(powers @ series).tolist(), weights.tolist(), strict=True))
    nodes, weights = _nodes(NODES if df < SMOOTH else FEWER_NODES)
    width = (12 if df < SMOOTH else 8) / math.sqrt(2 * df)
    low, high = max(0.0, 1 - width), 1 + width
    s = low + (high - low) * (nodes + 1) / 2
    height = (df - 1) * np.log(s) - df * (s * s - 1) / 2
    mass = weights * np.exp(height)
    return list(zip(s.tolist(), (mass / mass.sum()).tolist(), strict=True))


@cache
def _nodes(number: int) -> tuple[Array, Array]:
    """Points and weights of the quadrature from -1 to 1: the same for every df, and costly to make."""
    return np.polynomial.legendre.leggauss(number)


@cache
def _normal_nodes() -> tuple[Array, Array]:
    """What the powers of 1 / sqrt(df) are multiplied by in chi-squared / df, at points of a normal variable z.

    Reference: H. Goldberg, H. Levine: Approximate formulas for the percentage points and normalization of t and
    chi-squared, Annals of Mathematical Statistics 1946.
    """
    z, weights = np.polynomial.hermite_e.hermegauss(FEWEST_NODES)
    square = z * z
    series = (
        np.ones_like(z),
        z * math.sqrt(2),
        (square - 1) * (2 / 3),
        z * (square - 7) / (9 * math.sqrt(2)),
        ((-6 * square - 14) * square + 32) / 405,
        z * ((9 * square + 256) * square - 433) / (4860 * math.sqrt(2)),
        (((12 * square - 243) * square - 923) * square + 1472) / 25515,
    )
    return np.array(series), weights / weights.sum()


def solve(reached: Callable[[float], bool], start: float) -> float:
    """The smallest positive x at which `reached` (false, then true) holds, by doubling and halving."""
    low, high = 0.0, start
    while not reached(high):
        low, high = high, high * 2
    while high - low > 1e-14 * high:
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


# The distribution of a mean under random weights: how far it could be moved by what was not seen.
#
# With weights from a Dirichlet distribution (a share of each value, as large as its count on average), the weighted
# mean of some values is the mean they could as well have had: the Bayesian bootstrap. With one more value at the end
# of the possible range, its quantile at alpha is Gaffke's lower bound of the true mean; for hits and misses
# that is exactly the bound of Clopper and Pearson.
#
# Nothing is drawn. A mean with such weights lies below c where sum k_i (v_i - c) falls below 0 for independent gamma
# variables with shapes k_i; that chance is an integral of their transform along a path through its saddle point,
# which the trapezoidal rule gives to six digits and more.
#
# Reference: D. B. Rubin: The Bayesian bootstrap, Annals of Statistics 1981; N. Gaffke: Three test statistics for a
# nonparametric one-sided hypothesis on the mean of a nonnegative variable, Math. Methods of Statistics 2005;
# H. Daniels: Tail probability approximations, Int. Statistical Review 1987; E. Learned-Miller, P. Thomas: A new
# confidence interval for the mean of a bounded random variable, 2020.

STEP, AT_ONCE, MOST = 0.25, 12, 96
"""Between the places at which the transform is added up (half of it changes no digit shown), how many of them at a
time, and how many in all."""
RISE = 0.3
"""So much more than at the saddle point, as a logarithm, shows that the transform does not fall along a path."""
STEPS, CLOSE = 60, 1e-9
"""The most steps to a quantile or a saddle point, and how small the last one to a quantile of t is."""
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
    if not ((off < 0).any() and (off > 0).any()):
        return float((off < 0).any())
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
    at, slope = root(
        lambda at: z - _normal_quantile(atoms, counts, math.exp(at)), math.log(max(width, 0.01)),
        LEAST_LOG, MOST_LOG,
    )  # fmt: skip
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
        pull = counts * tilted
        slope = float(pull.sum()) - 1 / s
        low, high = (low, s) if slope > 0 else (s, high)
        new = s - slope / (float(pull @ tilted) + 1 / s**2)
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
    square = tilted * tilted
    width = 1 / math.sqrt(float(counts @ square) + 1 / s**2)
    bend = min(1.0, max(-1.0, 2 / 3 * width**3 * (float(counts @ (square * tilted)) - 1 / s**3)))
    height = math.exp(-float(counts @ np.log(stretch)))
    # Far out, what many small values add may grow along a bent path; along a straight one it falls.
    totals = (_along(tilted * width, counts, s / width, turn) for turn in (bend, bend / 2, 0.0))
    total = next(each for each in totals if each is not None)
    return min(1.0, max(0.0, height * total * STEP / math.pi))


@cache
def _path() -> list[tuple[Array, Array, Array]]:
    """The places of a path, some at a time: how far it has bent, how high it is, and how fast it rises."""
    u = STEP * (np.arange(MOST) + 0.5).reshape(-1, AT_ONCE)
    return list(zip(np.cosh(u) - 1, np.sinh(u), np.cosh(u), strict=True))


def _along(tilted: Array, counts: Array, s: float, bend: float) -> float | None:
    """The sum of the transform along one path, as a share of what it is at `s`; None if it rises."""
    total, highest = 0.0, 0.0
    for rise, y, turn in _path():
        x = bend * rise
        real, imaginary = 1 - np.multiply.outer(x, tilted), np.multiply.outer(y, tilted)
        size = np.log(real * real + imaginary * imaginary) @ counts / -2
        if bend and size.max() > RISE:
            return None
        angle = np.arctan2(imaginary, real) @ counts
        parts = np.exp(size + 1j * angle) * (bend * y + 1j * turn) / -(s + x + 1j * y)
        sizes = np.abs(parts)
        total, highest = total + float(parts.imag.sum()), max(highest, float(sizes.max()))
        if sizes[-1] < 1e-10 * highest:
            break
    return total


def root(function: Callable[[float], float], start: float, low: float, high: float) -> tuple[float, float]:
    """Where a falling function is 0, by secants kept within what is known to hold it, and its slope there."""
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
