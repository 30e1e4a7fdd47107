"""Groups and their means: the comparison of two groups of queries, and the variance of a whole design.

The variance is split between factors, their interactions, questions and the residual. Every part is the explained
share of all squares, so that the parts add up to everything, even if some combinations are missing. If factors overlap,
as in an unbalanced design, each gets its mean contribution over all orders of inclusion.

Reference: R. H. Lindeman, P. F. Merenda, R. Z. Gold: Introduction to bivariate and multivariate analysis, 1980.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np

from rankproof.core.arrays import Array, as_numbers, finite_row, round_to_digits
from rankproof.errors import DataError, explain_calls
from rankproof.progress import draw_in_lots
from rankproof.stats.distributions import beta_share
from rankproof.stats.intervals import UNIT, Bounds, interval, joined_neighbours
from rankproof.stats.paired import SAME, TINY, rising_root


@dataclass(frozen=True, slots=True)
class Source:
    """One line of the table of an analysis of variance."""

    squares: float
    df: int
    mean_square: float
    share: float
    """The share of all variance that comes from here."""
    f: float | None = None
    """None for the rest, and where nothing is left to compare with."""
    p: float | None = None


@dataclass(frozen=True, slots=True)
class Anova:
    """The variance due to systems, to queries, and to neither."""

    systems: Source
    queries: Source
    rest: Source
    n: int
    note: str = ""


def anova(values: Array) -> Anova:
    """The analysis of a table with one line per query and one column per system, one value in each cell.

    Formula: F = (squares of systems / (m - 1)) / (squares of the rest / ((m - 1)(n - 1))), queries alike.

    >>> found = anova(np.array([[0.25, 0.5], [0.5, 1.0], [0.0, 0.0]]))
    >>> round(found.systems.f, 6), round(found.queries.share, 3)
    (3.0, 0.783)
    """
    table = grid(values)
    n, m = table.shape
    # One order of summation, whatever order the queries and systems came in.
    center = np.sort(table, axis=None).mean()
    by_system = np.sort(table, axis=0).mean(axis=0) - center
    by_query = np.sort(table, axis=1).mean(axis=1) - center
    left = table - center - by_system - by_query[:, None]
    squares = [_squares(by_system) * n, _squares(by_query) * m, _squares(left)]
    noise = (SAME * float(np.abs(table).max())) ** 2 * table.size
    systems, queries, rest = (0.0 if each <= noise else each for each in squares)
    whole, free = systems + queries + rest, (m - 1) * (n - 1)

    def source(part: float, df: int, tested: bool = True) -> Source:
        mean_square, share = part / df, part / whole if whole else 0.0
        if not (tested and rest):
            return Source(part, df, mean_square, share)
        f = mean_square / (rest / free)
        p = beta_share(free / (free + df * f), free / 2, df / 2)  # how often F lies above f
        return Source(part, df, mean_square, share, f, p)

    same = "systems are off by the same on every query" if systems else "all systems are equal on every query"
    note = "" if rest else f"{same}: nothing is left to compare with, so F is undefined"
    return Anova(source(systems, m - 1), source(queries, n - 1), source(rest, free, tested=False), n, note)


def _squares(values: Array) -> float:
    return float((np.sort(values, axis=None) ** 2).sum())


NOISE = 1e-12
"""A smaller share is what rounding leaves."""
QUESTIONS, OTHERS, REST = "questions", "other interactions", "rest"


def shares_of(values: Array, levels: Mapping[str, Sequence[str | None]]) -> dict[str, float]:
    """The share of all squares that each part explains; `values` has a line per question, a column per configuration.

    `levels` has for each factor its level in each column, None where it plays no part: a factor explains only what
    differs between its levels, not whether it plays a part, which another factor decides. The largest interaction
    of two factors is named, what else configurations differ by is `other interactions`; what differs by question
    and configuration is the rest.

    >>> table = np.array([[0.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0]])
    >>> found = shares_of(table, {"a": ["x", "x", "y", "y"], "b": ["u", "v", "u", "v"]})
    >>> {name: round(share, 3) for name, share in found.items() if share}
    {'a': 0.667, 'b': 0.167, 'questions': 0.167}
    """
    n, m = values.shape
    center = values.mean()
    whole = float(((values - center) ** 2).sum())
    if whole <= NOISE * max(1.0, float((values**2).sum())):
        return {}
    means = values.mean(axis=0) - center
    tables = {factor: _dummies(given) for factor, given in levels.items() if len({*given} - {None}) > 1}
    every = list(tables.values())

    @cache
    def explained(factors: frozenset[str]) -> float:
        """By the levels of these factors, without interactions."""
        return _fitted(means, [tables[factor] for factor in sorted(factors)])

    squares = {factor: n * _mean_gain(factor, tables.keys(), explained) for factor in tables}
    alone = explained(frozenset(tables))
    crossed = {
        # With a column for what each two levels of both do together.
        (one, other): _fitted(means, [*every, (tables[one][:, :, None] * tables[other][:, None, :]).reshape(m, -1)])
        - alone
        for one, other in combinations(tables, 2)
    }
    largest = max(crossed, key=lambda pair: crossed[pair], default=None)
    own = n * crossed[largest] if largest is not None else 0.0
    by_configuration = n * float((means**2).sum())
    by_question = m * float(((values.mean(axis=1) - center) ** 2).sum())
    if largest is not None:
        squares[" x ".join(largest)] = own
    squares[OTHERS] = by_configuration - n * alone - own
    squares[QUESTIONS] = by_question
    squares[REST] = whole - by_configuration - by_question
    return {name: each / whole if each > NOISE * whole else 0.0 for name, each in squares.items()}


def _dummies(levels: Sequence[str | None]) -> Array:
    """A column for each level, the distance from the mean of the configurations in which the factor plays a part."""
    known = [level for level in dict.fromkeys(levels) if level is not None]
    table = np.array([[float(level == each) for each in known] for level in levels])
    used = np.array([level is not None for level in levels])
    return np.where(used[:, None], table - table[used].mean(axis=0), 0.0)


def _mean_gain(factor: str, factors: Collection[str], explained: Callable[[frozenset[str]], float]) -> float:
    """What a factor adds to others, as the mean over all orders in which they can be taken in."""
    others = [each for each in factors if each != factor]
    total = 0.0
    for size in range(len(others) + 1):
        weight = math.factorial(size) * math.factorial(len(others) - size) / math.factorial(len(factors))
        for before in map(frozenset, combinations(others, size)):
            total += weight * (explained(before | {factor}) - explained(before))
    return total


def _fitted(means: Array, tables: Sequence[Array]) -> float:
    """How much of the squares of configurations the columns of these tables explain together."""
    if not tables:
        return 0.0
    design = np.hstack([np.ones((len(means), 1)), *tables])
    fitted = design @ np.linalg.lstsq(design, means, rcond=None)[0]
    return float((fitted**2).sum())


def grid(values: Array) -> Array:
    """A table of finite numbers, one line per query and one column per system, at least two of each."""
    table = np.asarray(as_numbers(values, "table"), order="C")
    if table.ndim != 2 or min(table.shape) < 2:
        raise DataError(
            f"table: got the shape {table.shape}, expected 2 queries by 2 systems or more."
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
    """The values of systems as a table: one line per query, one column per system."""
    columns = {name: finite_row(values, f"values of {name!r}") for name, values in systems.items()}
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(
            f"systems: got values for {lengths} queries, expected as many of each system."
            " Next: score all systems on the same queries."
        )
    return grid(np.column_stack(list(columns.values())) if columns else np.empty((0, 0)))


REGROUPED = 10_000
"""Random regroupings behind a p-value."""
TOLD = 400
"""Regroupings at least as extreme that tell p to a twentieth of it: then no more are drawn."""


@dataclass(frozen=True, slots=True)
class Gap:
    """The difference of two groups' means."""

    difference: float
    low: float
    high: float
    """The ends of the interval; NaN where a group has fewer than two values."""
    p: float
    """How often groups of these sizes drawn at random differ at least as much."""
    n: int
    others: int
    method: str
    note: str = ""


@explain_calls
def gap(inside: Array, outside: Array, rng: np.random.Generator, level: float = 0.95, bounds: Bounds = UNIT) -> Gap:
    """The difference of two groups' means, its interval, and p by random regrouping.

    The interval is made of those of both means, which know of what so few queries need not show; `bounds` are what a
    query can score.

    Reference: G. Zou, A. Donner: Construction of confidence limits about effect measures, Statistics in Medicine 2008.

    >>> found = gap(np.array([0.0, 0.1, 0.2, 0.1]), np.array([0.9, 1.0, 0.8, 0.9]), np.random.default_rng(0))
    >>> round(found.difference, 2), found.p < 0.05
    (-0.8, True)
    >>> found = gap(np.zeros(10), np.ones(10), np.random.default_rng(0))
    >>> round(found.low, 2), round(found.high, 2)
    (-1.0, -0.61)
    """
    first, second = np.sort(finite_row(inside, "one group")), np.sort(finite_row(outside, "the other group"))
    n, others = len(first), len(second)
    if not n or not others:
        return Gap(math.nan, math.nan, math.nan, 1.0, n, others, "one group is empty")
    difference = float(first.mean() - second.mean())
    p, method = _chance(first, second, rng)
    mine, theirs = (interval(each, level=level, bounds=bounds) for each in (first, second))
    below = math.hypot(first.mean() - mine.low, theirs.high - second.mean())
    above = math.hypot(mine.high - first.mean(), second.mean() - theirs.low)
    note = "a group of one value has no spread, so the interval has no ends" if min(n, others) < 2 else ""
    return Gap(difference, difference - below, difference + above, p, n, others, method, note)


def _chance(first: Array, second: Array, rng: np.random.Generator) -> tuple[float, str]:
    """How often groups drawn at random differ as much as these do, and how that was found.

    No formula of spreads, like Welch's, would do for many queries: ten misses have none, so that any difference to
    thousands of others would be beyond doubt.
    """
    n, others, size = len(first), len(second), abs(float(first.mean() - second.mean()))
    values, counts = np.unique(round_to_digits(np.concatenate([first, second])), return_counts=True)
    if float(np.ptp(values)) <= SAME * float(np.abs(values).max()):
        return 1.0, "all values are equal"
    values, counts = joined_neighbours(values, counts)
    most = _most_chance(values, counts, size, (n, others))
    if most < 1 / REGROUPED:
        return most, "bound of all regroupings"
    total, extreme, drawn = float(values @ counts), 0, 0
    for draws in draw_in_lots(REGROUPED, TOLD):
        sums = rng.multivariate_hypergeometric(counts, n, draws) @ values
        off = np.abs(sums / n - (total - sums) / others)
        extreme += int((off >= size - SAME * max(1.0, abs(total))).sum())
        drawn += draws
        if extreme >= TOLD:
            break
    return (extreme + 1) / (drawn + 1), f"{drawn:,} random regroupings"


def _most_chance(values: Array, counts: Array, size: float, groups: tuple[int, int]) -> float:
    """At most how often two groups drawn at random differ so much: Chernoff's bound of the smaller one's mean.

    Reference: W. Hoeffding: Probability inequalities for sums of bounded random variables, JASA 1963, section 6.
    """
    share = counts / sum(groups)
    apart, least = values - values @ share, size * max(groups) / sum(groups)
    logs = (_log_most_above(off, share, least) for off in (apart, -apart))
    return max(min(sum(math.exp(min(groups) * each) for each in logs), 1.0), TINY)


def _log_most_above(off: Array, share: Array, least: float) -> float:
    """The logarithm of the bound, for each value drawn, that the mean of those drawn is at least `least`."""
    top = float(off.max())
    if least > top + SAME * max(1.0, top):
        return -math.inf
    least = min(least, top)

    def mean_above(t: float) -> tuple[float, float]:
        tilted = share * np.exp(t * (off - top))  # the higher a value, the more it counts
        mean = float(tilted @ off / tilted.sum())
        return mean - least, float(tilted @ (off - mean) ** 2 / tilted.sum())

    t = rising_root(mean_above, 0.0, 0.0, 1e-6)
    return float(np.log(share @ np.exp(t * (off - top)))) + t * (top - least)
