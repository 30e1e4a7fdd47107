"""The smallest difference that these queries can show, estimated from the observed differences.

`stats/paired.py` is about a known spread and normal values. Here the differences themselves show the form of a true
one. As many queries would change as did; if the changed ones are hits and misses, the difference comes from more
hits lost (or won), else the changed ones change by more. The power is that of sign flips, which need enough changed
queries to find anything: six for p = .05. If too few changed, no size is named, and the reason is given.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache

import numpy as np

from rankproof.core.arrays import Array
from rankproof.stats.confidence import Ends, possible_range
from rankproof.stats.distributions import NORMAL, beta_share, log_choose, shifted_t_above, t_quantile
from rankproof.stats.paired import SAME, differences, step_of

POWER = 0.82
"""The power behind "detectable": in the middle of the .75 to .9 that the simulations require."""
FEWEST = 5
"""With fewer moved queries, they say too little about future ones."""
PLANNED = 10
"""With fewer moved queries, they say too little to plan by."""
RARE, MANY = 0.25, 20
"""If fewer than the first share of the queries moved, by sizes of any kind, as many as the second must have: how
often a difference is found depends on the shape of few moves, which they do not show. Values near 1 with 14 of 200
moved were found in .92 one way and in .73 the other."""
STEPS = 8
"""Steps to the mean of a number that is only looked at above a limit: the third digit."""
NODES, REACH = 12, 5.0
"""Numbers of moved queries over which a power is averaged, and how far from the usual, in standard deviations."""
OF_HITS = 32, 4.0
"""The same of hits, whose power rises in steps."""
EXACT = 3e-3
"""How exactly the smallest difference is found: its third digit."""
DOUBT = 1.5
"""Standard errors by which fewer queries may move than did; with those, too, something must be found."""
SURE = 1 - 1e-9
"""A power that doubt about the spread cannot lower."""
MOST = 10**9
"""A difference that needs more queries than this cannot be shown in practice."""


@dataclass(frozen=True, slots=True)
class Detection:
    """The smallest true difference that is found four times out of five, or why none can be named."""

    value: float | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Moves:
    """How the differences moved: all that a power is computed from."""

    n: int
    moved: float
    """The share of queries that moved; of hits and misses the share that would move without a difference."""
    spread: float
    """The standard deviation of those that moved, around their mean; of hits and misses the size of one."""
    hits: bool
    """Whether all that moved moved alike, up or down, as hits and misses do."""
    step: float
    """The grid that differences lie on, 0 if there is none."""
    seen: int = MOST
    """How many moved queries all of that is known from."""
    doubt: float = 0.5
    """The relative variance of the spread, times their number: (kurtosis - 1) / 4, and no less than if normal."""

    @classmethod
    def of(cls, row: Array, end: float = 1.0) -> Moves:
        """The moves of some differences; a hit is worth `end`."""
        sizes = np.abs(row[row != 0])
        n, m = len(row), len(sizes)
        if not m:
            return cls(n, 0.0, 0.0, False, 0.0)
        largest = float(sizes.max())
        alike = float(np.ptp(sizes)) <= SAME * largest
        if alike and m < n and largest >= end * (1 - SAME):
            gained = int((row > 0).sum())
            # What goes one way beyond chance is the difference itself, and no part of the usual coming and going.
            # Of m moves that come and go alike the square of what remains is m on average.
            beyond = math.sqrt(max(0, (2 * gained - m) ** 2 - m))
            return cls(n, (m - beyond) / n, largest, True, largest, m)
        moved = np.sort(row[row != 0])
        # Steps of one size, all one way, would have no spread at all; others of that size may go the other way.
        spread = largest if alike and m < n else float(moved.std(ddof=1)) if m > 1 else 0.0
        off = (moved - moved.mean()) ** 2
        kurtosis = float(np.mean(off**2) / np.mean(off) ** 2) if off.any() else 0.0
        return cls(n, m / n, spread, False, step_of(row), m, max(0.5, (kurtosis - 1) / 4))

    def power(self, difference: float, n: int, alpha: float, sides: int) -> float:
        """How often sign flips find a true difference of this size with n queries."""
        if self.hits:
            more = min(difference / self.spread, 1 - self.moved / 2)
            gone = min(1.0, self.moved + more)
            lost = min(1.0, (self.moved / 2 + more) / gone) if gone else 0.0
            power = _averaged(n, gone, lambda m: _more_lost(m, lost, alpha, sides), *OF_HITS)
            usual = self.moved / gone if gone else 0.0
            # The relative variance of the spread, as far as it comes from the share that moves anyway.
            doubt = usual**2 * (1 - self.moved) / (4 * self.seen)
            return _unsure(power, more * math.sqrt(n / gone) if gone else 0.0, doubt)
        less = max(0.0, difference - self.step / n) / self.moved
        if not self.spread:
            return _averaged(n, self.moved, lambda m: float(m >= fewest_moved(alpha, sides)))
        doubt = self.doubt / max(1, self.seen - 1)
        return _averaged(n, self.moved, lambda m: _moved_further(m, less / self.spread, alpha, sides, doubt))

    def fewer(self) -> Moves:
        """The same with as few moved queries as may well be."""
        error = math.sqrt(self.moved * (1 - self.moved) / self.n)
        return self if self.hits else replace(self, moved=max(self.moved - DOUBT * error, 1 / self.n))

    def planned_power(self, difference: float, n: int, alpha: float, sides: int) -> float:
        """The same where n is planned: averaged over a share of moved queries one standard error lower and higher."""
        error = math.sqrt((1 - self.moved) / self.seen)
        if self.hits or not error:
            return self.power(difference, n, alpha, sides)
        shares = (min(1.0, self.moved * (1 + each)) for each in (-error, error))
        return sum(replace(self, moved=each).power(difference, n, alpha, sides) for each in shares) / 2


def detectable(
    values: Array, alpha: float, sides: int = 2, beyond: float = 0.0, power: float = POWER, ends: Ends | None = None
) -> Detection:
    """The smallest true difference that these queries show four times out of five; the estimate must reach `beyond`.

    `ends` are the least and the greatest difference that a query can have, as `difference_interval` takes them.

    >>> detectable(np.append(np.zeros(13), [0.5, -0.2]), 0.05).note
    'only 2 of 15 queries changed: too few to say what could be seen'
    >>> round(detectable(np.random.default_rng(0).normal(0, 1, 34), 0.05).value, 1)
    0.4
    """
    row = differences(values)
    m, moves = int(np.count_nonzero(row)), Moves.of(row, max(map(abs, possible_range(row, ends))))
    rare = m < RARE * len(row) and not moves.hits
    if m < FEWEST or (rare and m < MANY):
        return Detection(None, too_few_sentence(m, len(row)))
    if not moves.spread:
        return Detection(None, f"all {m:,} queries changed by the same: how much they vary cannot be seen")
    if rare:
        moves = replace(moves, moved=_usually_moved(m) / len(row))
    value = _smallest(moves, alpha, sides, power)
    if value is None:
        return Detection(None, f"{too_few_sentence(m, len(row), '')}, and p must reach {alpha:.2g}")
    if beyond:
        wide = float(row.std(ddof=1)) / math.sqrt(len(row))
        value = max(value, beyond + NORMAL.inv_cdf(power) * wide)
    return Detection(value)


def _usually_moved(m: int) -> float:
    """How many queries move on average, if nothing is named unless `MANY` do: m is large by that choice alone.

    What is called detectable near that limit was found in .93 without it: fewer move, and these further. At most one
    standard deviation less is believed, as m itself says little about such a mean just above the limit.
    """
    usual = float(m)
    for _ in range(STEPS):
        wide = math.sqrt(usual)
        beyond = (MANY - 0.5 - usual) / wide
        usual = max(m - math.sqrt(m), m - wide * NORMAL.pdf(beyond) / NORMAL.cdf(-beyond))
    return usual


def too_few_sentence(moved: int, n: int, end: str = ": too few to say what could be seen") -> str:
    """That too few queries changed, in words."""
    return f"only {moved:,} of {n:,} queries changed{end}" if moved else f"none of {n:,} queries changed{end}"


@lru_cache(maxsize=4096)
def _smallest(moves: Moves, alpha: float, sides: int, power: float) -> float | None:
    # A difference so large that it is always found, if enough queries move.
    most = moves.spread * (1.0 if moves.hits else 100.0 * moves.moved)
    if moves.fewer().power(most, moves.n, alpha, sides) < power:
        return None
    high = min(most, moves.spread / math.sqrt(moves.n))
    while high < most and moves.power(high, moves.n, alpha, sides) < power:
        high = min(most, 2 * high)
    low = high / 2
    while low and moves.power(low, moves.n, alpha, sides) >= power:
        low, high = low / 2, low
    while high - low > EXACT * high:
        middle = (low + high) / 2
        enough = moves.power(middle, moves.n, alpha, sides) >= power
        low, high = (low, middle) if enough else (middle, high)
    return high


def needed_or_why(
    values: Array, difference: float, alpha: float, sides: int = 2, power: float = POWER, ends: Ends | None = None
) -> tuple[int | None, str]:
    """How many queries show a true difference of this size four times out of five; if none can be named, the reason.

    >>> needed_or_why(np.random.default_rng(0).normal(0, 1, 34), 0.5, 0.05)
    (24, '')
    >>> needed_or_why(np.append(np.zeros(13), [0.5, -0.2]), 0.1, 0.05)
    (None, 'only 2 of 15 queries changed: too few to plan by')
    """
    row = differences(values)
    m = int(np.count_nonzero(row))
    if m < PLANNED and m < len(row):
        return None, too_few_sentence(m, len(row), ": too few to plan by")
    if not difference:
        return None, "no difference was seen"
    if m < FEWEST:
        return None, f"{len(row):,} queries are too few to plan by"
    farthest = max(map(abs, possible_range(row, ends)))
    moves = Moves.of(row, farthest)
    if m < len(row) and not moves.hits and 2 * abs(difference) > moves.moved * farthest:
        return None, too_few_sentence(m, len(row), ": too few for so large a difference")
    found = _needed(moves, abs(difference), alpha, sides, power)
    return found, "" if found else f"more than {MOST:,} queries"


@lru_cache(maxsize=4096)
def _needed(moves: Moves, difference: float, alpha: float, sides: int, enough: float) -> int | None:
    def power(n: int) -> float:
        return moves.planned_power(difference, n, alpha, sides)

    # Powers of two around the usual formula, then a straight line of normal quantiles between both ends.
    usual = math.sqrt(moves.moved) * moves.spread * (NORMAL.inv_cdf(alpha / sides) - 1) / difference
    at_low, low = 0.0, 1 << max(0, min(round(2 * math.log2(max(1.0, abs(usual)))), MOST.bit_length() - 2))
    while low > 1 and (at_low := power(low)) >= enough:
        low //= 2
    while (at_high := power(2 * low)) < enough:
        low, at_low = 2 * low, at_high
        if 2 * low > MOST:
            return None
    step = max(1, low >> 12)
    return low + step * _first(lambda k: power(low + k * step), low // step, at_low, at_high, enough)


def _first(power: Callable[[int], float], last: int, at_first: float, at_last: float, enough: float) -> int:
    """The first k in 1 .. last with enough power, by a straight line of normal quantiles and now and then by halves."""
    first, low, high, turn = 0, _probit(at_first), _probit(at_last), 0
    while last - first > 1:
        turn += 1
        share = (_probit(enough) - low) / (high - low) if turn % 3 else 0.5
        aim = math.ceil(first + (last - first) * share) - (turn % 3 == 2)  # the other side is usually near
        middle = min(last - 1, max(first + 1, aim))
        found = power(middle)
        if found < enough:
            first, low = middle, _probit(found)
        else:
            last, high = middle, _probit(found)
    return last


def _probit(power: float) -> float:
    return NORMAL.inv_cdf(min(1 - 1e-12, max(1e-12, power)))


def _averaged(n: int, share: float, power: Callable[[int], float], nodes: int = NODES, reach: float = REACH) -> float:
    """A power over the numbers of queries that move, if each does with the same chance."""
    return power(n) if share >= 1 else sum(weight * power(m) for m, weight in _numbers(n, share, nodes, reach))


@lru_cache(maxsize=256)
def _numbers(n: int, share: float, nodes: int, reach: float) -> list[tuple[int, float]]:
    """How many of n queries may move, and how likely each of these numbers is beside the others."""
    middle, wide = n * share, math.sqrt(n * share * (1 - share))
    low, high = max(0, math.floor(middle - reach * wide)), min(n, math.ceil(middle + reach * wide))
    last = min(nodes, high - low + 1) - 1
    numbers = sorted({round(low + (high - low) * i / last) for i in range(last + 1)})
    logs = [log_choose(n, m) + m * math.log(share) + (n - m) * math.log1p(-share) for m in numbers]
    most = max(logs)
    weights = [math.exp(each - most) for each in logs]
    total = sum(weights)
    return [(m, weight / total) for m, weight in zip(numbers, weights, strict=True)]


def fewest_moved(alpha: float, sides: int = 2) -> int:
    """The fewest moved queries of which sign flips can find anything.

    >>> fewest_moved(0.05), fewest_moved(0.001)
    (6, 11)
    """
    return math.ceil(math.log2(sides / alpha))


@cache
def _least_lost(m: int, level: float) -> int:
    """How many of m must go the same way for a p at or below `level` on that side; m + 1 if none is enough."""
    # The normal distribution is off by one or two: from there in growing steps, then by halves.
    low, high, step = m // 2, m + 1, 1
    middle = min(m, max(low + 1, round(m / 2 - NORMAL.inv_cdf(level) * math.sqrt(m) / 2)))
    while high - low > 1:
        enough = beta_share(0.5, middle, m - middle + 1) <= level
        low, high = (low, middle) if enough else (middle, high)
        near = middle - step if enough else middle + step
        step *= 2
        middle = near if low < near < high else (low + high) // 2
    return high


@lru_cache(maxsize=1 << 16)
def _more_lost(m: int, lost: float, alpha: float, sides: int) -> float:
    """How often the sign test finds that of m moved hits this share is lost."""
    least = _least_lost(m, alpha / sides)
    return beta_share(lost, least, m - least + 1) if least <= m else 0.0


def _unsure(power: float, shift: float, doubt: float, wide: float = 1.0) -> float:
    """A power averaged over what the spread, known from few queries, may be: its relative variance is `doubt`.

    `wide` is the variance of the statistic that is shifted.
    """
    return power if power > SURE else NORMAL.cdf(_probit(power) / math.sqrt(1 + shift * shift * doubt / wide))


def _moved_further(m: int, shift: float, alpha: float, sides: int, doubt: float) -> float:
    """How often sign flips of m differences with this mean, in standard deviations, find it: nearly as t does."""
    if m < fewest_moved(alpha, sides):
        return 0.0
    # p comes in steps of 2^-m: the level that can be reached is below alpha.
    patterns = 2.0 ** min(m, 60)
    level = math.floor(alpha / sides * patterns) / patterns
    t, further = t_quantile(1 - level, m - 1), shift * math.sqrt(m)
    return _unsure(shifted_t_above(t, m - 1, further), further, doubt, 1 + t * t / (2 * (m - 1)))
