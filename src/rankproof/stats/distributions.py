"""The distributions of t and F, on the standard library: by the continued fraction of the incomplete beta.

Reference: W. J. Lentz: Generating Bessel functions in Mie scattering calculations using continued fractions,
Applied Optics 1976; Abramowitz and Stegun: Handbook of Mathematical Functions, 26.5.8.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, lru_cache
from itertools import count
from statistics import NormalDist

import numpy as np

from rankproof.core.hits import Array

NORMAL = NormalDist()
HALF_ROOT = math.sqrt(0.5)
TINY = 1e-300
ENOUGH = 1e-15
NODES = 200
"""Points of the quadrature behind the noncentral t."""
FEWER_NODES, MANY = 40, 100
"""As many do from so many degrees of freedom on, where nothing is steep and 8 standard deviations hold all."""
FEW = 3
"""Degrees of freedom below which a quantile of t is found by halving alone."""
STEPS, CLOSE = 20, 1e-9
"""The most steps to a quantile of t, and how small the last one is."""


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
    # Wallace's approximation, then Newton's steps on both logarithms: two or three where halving takes fifty.
    z = NORMAL.inv_cdf(share)
    t = math.sqrt(df * math.expm1(z * z * (df - 5 / 6) / (df - 2 / 3 + 0.1 / df) ** 2))
    peak = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - math.log(df * math.pi) / 2
    for _ in range(STEPS):
        found = t_above(t, df)
        density = math.exp(peak - (df + 1) / 2 * math.log1p(t * t / df))
        step = found * math.log(found / above) / (density * t)
        t *= math.exp(step)
        if abs(step) <= CLOSE:  # the next step would be its square
            break
    return t


def f_above(f: float, df1: float, df2: float) -> float:
    """How often F with these degrees of freedom lies above `f`.

    >>> round(f_above(4.96, 1, 10), 2)
    0.05
    """
    return beta_share(df2 / (df2 + df1 * f), df2 / 2, df1 / 2)


def shifted_t_above(t: float, df: int, shift: float) -> float:
    """How often a noncentral t lies above `t`: Phi(shift - t s), averaged over s = sqrt(chi-squared / df)."""
    points, weights = _chi(df)
    erfc, at, start = math.erfc, t * HALF_ROOT, shift * HALF_ROOT
    return float(np.dot(weights, [erfc(at * s - start) for s in points])) / 2


@lru_cache(maxsize=4096)
def _chi(df: int) -> tuple[list[float], Array]:
    """Points of s = sqrt(chi-squared / df) with their probabilities."""
    nodes, weights = _nodes(NODES if df < MANY else FEWER_NODES)
    width = (12 if df < MANY else 8) / math.sqrt(2 * df)
    low, high = max(0.0, 1 - width), 1 + width
    s = low + (high - low) * (nodes + 1) / 2
    height = (df - 1) * np.log(s) - df * (s * s - 1) / 2
    mass = weights * np.exp(height)
    return s.tolist(), mass / mass.sum()


@cache
def _nodes(number: int) -> tuple[Array, Array]:
    """Points and weights of the quadrature from -1 to 1: the same for every df, and costly to make."""
    return np.polynomial.legendre.leggauss(number)


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
