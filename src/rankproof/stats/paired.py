"""Two systems on the same queries: their differences, checked, how large they are, how small a difference these queries
can show, and how many queries a wanted difference needs.

Every function of this package that draws at random puts its data into one order first (differences by size,
tables by rows), so that the same generator gives the same answer in whatever order the queries came.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from rankproof._moved import old_names
from rankproof.core.hits import Array
from rankproof.errors import DataError, UsageError, check_number, check_whole, one_of
from rankproof.stats.distributions import NORMAL, shifted_t_above, solve, t_quantile

Alternative = Literal["two-sided", "greater", "less"]
"""What a test looks for: any difference, one above 0, one below 0."""
SAME = 1e-12
"""Differences nearer than this (relative to the largest value) are equal but for rounding."""
TINIEST = 1e-150
"""Differences smaller than this count as 0: their squares would be, and no spread could be told from none."""
SMALLEST_ALPHA = 1e-12
"""Below it, 1 - alpha / tests would round to 1 if there are many tests, and no interval has that level."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a test."""

    statistic: float
    p: float
    """How often pure chance gives a statistic at least as extreme."""
    n: int
    """The number of queries behind it."""
    method: str
    """The test, in words."""
    note: str = ""
    """The limits of the answer, if there are any."""


def paired_differences(a: Array, b: Array) -> Array:
    """The differences a - b of two systems' values on the same queries; those within rounding of 0 are 0.

    >>> paired_differences(np.array([0.5, 0.3]), np.array([0.25, 0.1 + 0.2])).tolist()
    [0.25, 0.0]
    """
    first, second = finite_row(a, "first values"), finite_row(b, "second values")
    if len(first) != len(second):
        raise DataError(
            f"paired values: got {len(first):,} and {len(second):,}, expected as many of each system. "
            "Next: keep the queries that both have, or count the missing ones as 0."
        )
    off = first - second
    slack = max(SAME * max(_largest(first), _largest(second)), TINIEST)
    return np.where(np.abs(off) <= slack, 0.0, off)


def finite_row(values: Array, what: str = "values") -> Array:
    """The values as one row of finite numbers."""
    row = np.asarray(values, dtype=np.float64)
    if row.ndim != 1:
        raise DataError(
            f"{what}: got {row.ndim} dimensions, expected one number a query. Next: give one list of numbers a system."
        )
    bad = np.flatnonzero(~np.isfinite(row))
    if len(bad):
        raise DataError(
            f"{what}: got {row[bad[0]]} at position {bad[0]:,} ({len(bad):,} such in all), expected numbers. "
            "Next: leave those queries out of both systems, or say what they count as."
        )
    return row


def differences(values: Array) -> Array:
    """Finite differences, smallest first; no queries at all are an error."""
    row = np.sort(finite_row(values, "differences"))
    if not len(row):
        raise DataError("differences: got none. Next: check that the two systems share queries.")
    return row


def grid(values: Array, names: str = "systems") -> Array:
    """A table of finite numbers, a line a query and a column a system, at least two of each."""
    table = np.asarray(values, dtype=np.float64, order="C")
    if table.ndim != 2 or min(table.shape) < 2:
        raise DataError(
            f"table: got the shape {table.shape}, expected 2 queries by 2 {names} or more."
            " Next: give more queries or systems."
        )
    if not np.isfinite(table).all():
        line, column = np.argwhere(~np.isfinite(table))[0]
        raise DataError(
            f"table: got {table[line, column]} at [{line}, {column}], expected finite numbers."
            " Next: leave out the query, or score it."
        )
    return table


def by_query(systems: Mapping[str, Array]) -> Array:
    """The values of systems as a table: a line a query, a column a system."""
    columns = {name: finite_row(values, f"values of {name!r}") for name, values in systems.items()}
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(
            f"systems: got values for {lengths} queries, expected as many of each system."
            " Next: score all systems on the same queries."
        )
    return grid(np.column_stack(list(columns.values())) if columns else np.empty((0, 0)))


def check_alternative(alternative: str) -> None:
    """Refuse an unknown alternative."""
    if alternative not in get_args(Alternative):
        raise one_of("alternative", alternative, get_args(Alternative))


def check_share(what: str, value: float) -> None:
    """Refuse what is not strictly between 0 and 1."""
    check_number(what, value, above=0, below=1, advice="give a share, like 0.05")


def check_alpha(alpha: object, most: float = 1) -> None:
    """Refuse an error rate that is not below its maximum, or so small that 1 - alpha is 1 once it is shared out."""
    check_number("alpha", alpha, least=SMALLEST_ALPHA, below=most, advice="leave it out for 0.05")


def total(row: Array) -> float:
    """The sum, rounded once, so the same in every order."""
    return math.fsum(row.tolist())


def is_constant(row: Array) -> bool:
    """Whether all values are equal but for rounding."""
    return float(np.ptp(row)) <= SAME * _largest(row)


def _largest(row: Array) -> float:
    return float(np.abs(row).max(initial=0.0))


COHEN = ((0.2, "negligible"), (0.5, "small"), (0.8, "medium"), (math.inf, "large"))
"""Words for standardised differences. J. Cohen: Statistical power analysis, 1988."""
ROMANO = ((0.147, "negligible"), (0.33, "small"), (0.474, "medium"), (math.inf, "large"))
"""Words for Cliff's delta. J. Romano and others: Appropriate statistics for ordinal level data, 2006."""


@dataclass(frozen=True, slots=True)
class EffectSize:
    """How large a difference is; `value` is None if it cannot be computed, and the note says why."""

    value: float | None
    words: str
    """negligible, small, medium, large, or "unknown"."""
    n: int
    method: str
    note: str = ""


def d_z(values: Array) -> EffectSize:
    """The mean difference in standard deviations of the differences: what a paired test sees.

    Formula: mean(d) / sd(d), with n - 1 in sd.

    Reference: J. Cohen: Statistical power analysis for the behavioral sciences, 1988.

    >>> round(d_z(np.array([0.1, 0.2, 0.3])).value, 6)
    2.0
    """
    row = differences(values)
    if is_constant(row):
        return _constant(row, "d_z")
    return _sized(total(row) / len(row) / float(row.std(ddof=1)), COHEN, len(row), "d_z")


def hedges_g(a: Array, b: Array) -> EffectSize:
    """The difference of the means in standard deviations of the systems' own values, corrected for small n.

    Formula: (mean(a) - mean(b)) / sqrt((var(a) + var(b)) / 2) * J, with J = Gamma(f/2) / (sqrt(f/2)
    Gamma((f-1)/2)) and f = 2n - 2.

    Reference: L. V. Hedges: Distribution theory for Glass's estimator of effect size, J. Educational Stat.
    1981.

    >>> round(hedges_g(np.array([2.0, 3.0, 4.0]), np.array([1.0, 2.0, 3.0])).value, 4)
    0.7979
    """
    off, n = np.sort(paired_differences(a, b)), len(a)
    if not n:
        raise DataError("Hedges' g: got no queries. Next: check that the two systems share queries.")
    first, second = np.sort(finite_row(a)), np.sort(finite_row(b))
    if is_constant(first) and is_constant(second):
        return _constant(off, "Hedges' g")
    spread = math.sqrt((float(first.var(ddof=1)) + float(second.var(ddof=1))) / 2)
    free = 2 * n - 2
    unbiased = math.exp(math.lgamma(free / 2) - math.lgamma((free - 1) / 2)) / math.sqrt(free / 2)
    return _sized(total(off) / n / spread * unbiased, COHEN, n, "Hedges' g")


def cliffs_delta(a: Array, b: Array) -> EffectSize:
    """How much more often a value of one system is above one of the other than below it, over all pairs.

    Formula: (pairs with a above b - pairs with a below b) / all pairs; from -1 to 1, blind to which query is
    which.

    Reference: N. Cliff: Dominance statistics: ordinal analyses to answer ordinal questions, Psych. Bulletin
    1993.

    >>> cliffs_delta(np.array([2.0, 3.0]), np.array([1.0, 2.0])).value
    0.75
    """
    first, second = finite_row(a), np.sort(finite_row(b))
    if not len(first) or not len(second):
        raise DataError("Cliff's delta: got no values of one system. Next: check what it answered.")
    below = np.searchsorted(second, first, "left").sum()
    not_above = np.searchsorted(second, first, "right").sum()
    pairs = len(first) * len(second)
    return _sized(float(below - (pairs - not_above)) / pairs, ROMANO, len(first), "Cliff's delta")


def _sized(value: float, scale: tuple[tuple[float, str], ...], n: int, method: str) -> EffectSize:
    words = next(word for limit, word in scale if abs(value) < limit)
    return EffectSize(value, words, n, method)


def _constant(row: Array, method: str) -> EffectSize:
    if not np.any(row):
        return EffectSize(0.0, "negligible", len(row), method, "all differences are 0")
    note = "one query has no spread" if len(row) == 1 else "nothing varies: no spread to divide by"
    return EffectSize(None, "unknown", len(row), method, note)


if not TYPE_CHECKING:
    __getattr__ = old_names(
        __name__, {"paired": "paired_differences", "finite": "finite_row", "constant": "is_constant"}
    )


ALPHA = 0.05
POWER = 0.8
MANY = 10_000
"""From here on the normal distribution is exact to a query in thousands."""
MOST = 1e12
"""A difference that needs more queries than this cannot be shown in practice."""


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
    return _power(abs(difference) / spread * math.sqrt(n), n, t_quantile(1 - alpha / sides, n - 1), sides)


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
    difference: float, spread: float, alpha: float = ALPHA, power: float = POWER, sides: int = 2, step: float = 0.0
) -> int | None:
    """How many queries show a true difference of this size with this power; None if no number does.

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
        shift = (size - lost / n) * math.sqrt(n)
        return math.isinf(size) or _power(shift, n, t_quantile(1 - alpha / sides, n - 1), sides) >= power

    n = max(2, math.floor(guess))
    while not enough(n):
        n += 1
    while n > 2 and enough(n - 1):
        n -= 1
    return n


@cache
def _shift_needed(n: int, alpha: float, power: float, sides: int) -> float:
    t = t_quantile(1 - alpha / sides, n - 1)
    return solve(lambda shift: _power(shift, n, t, sides) >= power, 1.0)


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
    """Refuse a power that is not a share, or not above alpha."""
    check_share("power", power)
    if power <= alpha:
        raise UsageError(f"power: got {power}, expected more than alpha, {alpha}. Next: give a power like 0.8.")
