"""The distribution of a mean under random weights: how far it could be moved by what was not seen.

With weights from a Dirichlet distribution (a share of each value, as large as its count on average), the weighted
mean of some values is the mean they could as well have had: the Bayesian bootstrap. With one more value at the end
of the possible range, its quantile at alpha is Gaffke's lower bound of the true mean; for hits and misses
that is exactly the bound of Clopper and Pearson.

Nothing is drawn. A mean with such weights lies below c where sum k_i (v_i - c) falls below 0 for independent gamma
variables with shapes k_i; that chance is an integral of their transform along a path through its saddle point,
which the trapezoidal rule gives to ten digits.

Reference: D. B. Rubin: The Bayesian bootstrap, Annals of Statistics 1981; N. Gaffke: Three test statistics for a
nonparametric one-sided hypothesis on the mean of a nonnegative variable, Math. Methods of Statistics 2005;
E. Learned-Miller, P. Thomas: A new confidence interval for the mean of a bounded random variable, 2020.
"""

from __future__ import annotations

import math

import numpy as np

from rankproof.core.hits import Array
from rankproof.stats.distributions import NORMAL

NODES = 48
"""Points of the trapezoidal rule: more change no digit that is shown."""
FAR = 6.0
"""Where it ends, in units of the saddle's width, as an area hyperbolic sine."""
RISE = 1.0
"""So much more than at the saddle point, as a logarithm, shows that the transform does not fall along a path."""
STEPS = 100
LEAST, EPSILON = 1e-300, 1e-16


def share_below(values: Array, counts: Array, point: float) -> float:
    """How often the mean of `values` with Dirichlet weights of these `counts` lies below `point`.

    One hit among ten, and the beta distribution says the same:

    >>> round(share_below(np.array([0.0, 1.0]), np.array([9.0, 1.0]), 0.25), 6)
    0.924915
    """
    if point > np.average(values, weights=counts):  # the smaller of both chances is the accurate one
        return 1 - share_below(-values, counts, -point)
    off = values - point
    moving = off != 0
    off, shapes = off[moving], counts[moving]
    if not (off < 0).any():
        return 0.0
    if not (off > 0).any():
        return 1.0
    saddle = _saddle(off, shapes)
    tilted = off / (1 - off * saddle)
    width = 1 / math.sqrt(float((shapes * tilted**2).sum()) + 1 / saddle**2)
    # The path bends as that of steepest descent does, so that the transform falls off and does not turn.
    skew = width**3 * (float((shapes * tilted**3).sum()) - 1 / saddle**3)
    bend = min(1.0, max(-1.0, 2 / 3 * skew))
    u = np.linspace(0.0, FAR, NODES)
    for share in (1.0, 0.5, 0.0):  # far out, what many small values add may grow along a bent path
        turn = share * bend
        s = saddle + width * (turn * (np.cosh(u) - 1) + 1j * np.sinh(u))
        along = width * (turn * np.sinh(u) + 1j * np.cosh(u))
        logs = (shapes[:, None] * np.log(1 - off[:, None] * s)).sum(axis=0) + np.log(-s)
        if not turn or logs.real.min() > logs.real[0] - RISE:
            break
    height = (np.exp(-logs) * along).imag
    return min(1.0, max(0.0, float(height.sum() - height[0] / 2) * float(u[1]) / math.pi))


def _saddle(off: Array, shapes: Array) -> float:
    """The lowest point of the transform over -s, for s between the pole below and 0: Newton, kept between both."""
    low, high = 1 / float(off.min()), 0.0
    s = low / 2
    for _ in range(STEPS):
        tilted = off / (1 - off * s)
        slope = float((shapes * tilted).sum()) - 1 / s
        low, high = (low, s) if slope > 0 else (s, high)
        new = s - slope / (float((shapes * tilted**2).sum()) + 1 / s**2)
        new = new if low < new < high else (low + high) / 2
        if abs(new - s) <= 1e-10 * abs(s):
            break
        s = new
    return s


def quantile(values: Array, counts: Array, share: float) -> float:
    """The point below which the mean with Dirichlet weights lies with this chance.

    No loss among 50, and one at the end: the bound of Clopper and Pearson.

    >>> round(quantile(np.array([-1.0, 0.0]), np.array([1.0, 50.0]), 0.05), 4), round(0.05 ** (1 / 50) - 1, 4)
    (-0.0582, -0.0582)
    """
    low, high = float(values.min()), float(values.max())
    wanted, size = NORMAL.inv_cdf(share), float(counts.sum())
    mean = float(np.average(values, weights=counts))
    slope = math.sqrt(float(np.average((values - mean) ** 2, weights=counts)) / (size + 1))
    point = mean + slope * wanted
    # On the scale of normal quantiles the distribution is nearly a line: secants, kept between both ends.
    seen: tuple[float, float] | None = None
    for _ in range(STEPS):
        point = point if low < point < high else (low + high) / 2
        found = NORMAL.inv_cdf(min(max(share_below(values, counts, point), LEAST), 1 - EPSILON)) - wanted
        low, high = (point, high) if found < 0 else (low, point)
        if seen is not None and found != seen[1] and point != seen[0]:
            slope = (point - seen[0]) / (found - seen[1])
        seen = point, found
        if abs(found) < 1e-9 or high - low <= 1e-12 * max(abs(low), abs(high)):
            break
        point -= slope * found
    return point
