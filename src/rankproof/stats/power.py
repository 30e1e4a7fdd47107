"""How small a difference these queries can show, and how many queries a wanted difference needs.

By the exact power of the paired t test (noncentral t); sign flips have nearly the same. Spread is the
standard deviation of the differences (n - 1 below), from this comparison or one like it. Step is the grid that
differences lie on (1 for hits and misses, 0 where they move freely): a test of what comes in steps finds less than t
does, by about one step in the total (a correction for continuity).

Reference: J. Cohen: Statistical power analysis for the behavioral sciences, 1988; T. Sakai: Topic set size
design, Information Retrieval Journal 2016.
"""

from __future__ import annotations

import math
from functools import cache

from rankproof.core.hits import Array
from rankproof.errors import DataError, UsageError, check_whole
from rankproof.stats.distributions import NORMAL, shifted_t_above, solve, t_quantile
from rankproof.stats.paired import check_alpha, check_share, differences

ALPHA = 0.05
POWER = 0.8
MANY = 10_000
"""From here on the normal distribution is exact to a query in thousands."""
MOST = 1e12
"""A difference that needs more queries than this is as good as none."""


def spread(values: Array) -> float | None:
    """The standard deviation of differences; None of fewer than two."""
    row = differences(values)
    return float(row.std(ddof=1)) if len(row) > 1 else None


def power(difference: float, spread: float, n: int, alpha: float = ALPHA, sides: int = 2) -> float:
    """How often the test finds a true difference of this size with n queries.

    >>> import numpy as np
    >>> round(power(0.5, 1.0, 34), 3)
    0.808
    """
    _check(spread, alpha, sides)
    check_whole("queries", n, least=2)
    if not spread:
        return 1.0 if difference else alpha
    return _power(abs(difference) / spread * math.sqrt(n), n, _critical(n, alpha, sides), sides)


def smallest_detectable(
    spread: float, n: int, alpha: float = ALPHA, power: float = POWER, sides: int = 2, step: float = 0.0
) -> float | None:
    """The smallest true difference that n queries show with this power; None with fewer than two queries.

    >>> round(smallest_detectable(1.0, 34), 3), round(smallest_detectable(1.0, 34, step=0.5), 3)
    (0.495, 0.51)
    """
    _check(spread, alpha, sides)
    check_whole("queries", n, least=0)
    check_power(power, alpha)
    if n < 2:
        return None
    return spread / math.sqrt(n) * _shift_needed(n, alpha, power, sides) + (step / n if spread else 0.0)


def queries_needed(
    difference: float,
    spread: float,
    alpha: float = ALPHA,
    power: float = POWER,
    sides: int = 2,
    step: float = 0.0,
) -> int | None:
    """How many queries show a true difference of this size with this power; None where no number does.

    >>> queries_needed(0.5, 1.0), queries_needed(0.5, 1.0, step=0.5)
    (34, 36)
    """
    _check(spread, alpha, sides)
    check_power(power, alpha)
    if not math.isfinite(difference):
        raise DataError(
            f"difference: got {difference}, expected a finite number. Next: give the difference of the means."
        )
    if not difference:
        return None
    size = abs(difference) / spread if spread else math.inf
    root = (NORMAL.inv_cdf(1 - alpha / sides) + NORMAL.inv_cdf(power)) / size
    if root > MOST**0.5:
        return None
    # n queries are enough where n - lost / size reaches root * sqrt(n).
    lost = step / spread if spread else 0.0
    guess = ((root + math.sqrt(root**2 + 4 * lost / size)) / 2) ** 2
    return math.ceil(guess) if guess > MANY else _fewest(size, lost, guess, alpha, power, sides)


def _fewest(size: float, lost: float, guess: float, alpha: float, power: float, sides: int) -> int:
    """The smallest n from 2 on with enough power; the normal distribution's guess is off by two or three."""

    def enough(n: int) -> bool:
        if math.isinf(size):
            return True
        shift = (size - lost / n) * math.sqrt(n)
        return _power(shift, n, _critical(n, alpha, sides), sides) >= power

    n = max(2, math.floor(guess))
    while not enough(n):
        n += 1
    while n > 2 and enough(n - 1):
        n -= 1
    return n


@cache
def _shift_needed(n: int, alpha: float, power: float, sides: int) -> float:
    t = _critical(n, alpha, sides)
    return solve(lambda shift: _power(shift, n, t, sides) >= power, 1.0)


def _critical(n: int, alpha: float, sides: int) -> float:
    return t_quantile(1 - alpha / sides, n - 1)


def _power(shift: float, n: int, t: float, sides: int) -> float:
    """How often t goes beyond the critical one when its mean is shifted, on both sides if both are tested."""
    wrong_side = shifted_t_above(t, n - 1, -shift) if sides == 2 else 0.0
    return shifted_t_above(t, n - 1, shift) + wrong_side


def _check(spread: float, alpha: float, sides: int) -> None:
    check_alpha(alpha)
    if sides not in (1, 2):
        raise UsageError(f"sides: got {sides!r}, expected 1 or 2. Next: choose one of them.")
    if not (math.isfinite(spread) and spread >= 0):
        raise DataError(
            f"spread: got {spread}, expected a standard deviation, 0 or above."
            " Next: give the spread of the differences, query by query."
        )


def check_power(power: float, alpha: float) -> None:
    """Refuse a power that is no share, or that chance alone has."""
    check_share("power", power)
    if power <= alpha:
        raise UsageError(
            f"power: got {power}, expected more than alpha, {alpha}. Next: give a power like 0.8."
        )
