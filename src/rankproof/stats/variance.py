"""The variance of a whole design, split between factors, their interactions, questions and the rest.

Every part is what is explained of all squares, so that the parts add up to everything, also if some combinations
were left out. Where factors overlap, as in an unbalanced design, each gets the mean of what it adds over all orders
in which they can be taken in.

Reference: R. H. Lindeman, P. F. Merenda, R. Z. Gold: Introduction to bivariate and multivariate analysis, 1980.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import factorial

import numpy as np

from rankproof.core.hits import Array
from rankproof.stats.distributions import f_above
from rankproof.stats.paired import SAME, grid


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
    """The analysis of a table with a line a query and a column a system, one value in each cell.

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
    return _table([0.0 if each <= noise else each for each in squares], n, m)


def _squares(values: Array) -> float:
    return float((np.sort(values, axis=None) ** 2).sum())


def _table(squares: list[float], n: int, m: int) -> Anova:
    systems, queries, rest = squares
    free = (m - 1) * (n - 1)
    same = "systems are off by the same on every query" if systems else "all systems are equal on every query"
    return Anova(
        systems=_source(systems, m - 1, rest, free, sum(squares)),
        queries=_source(queries, n - 1, rest, free, sum(squares)),
        rest=Source(rest, free, rest / free, _share(rest, sum(squares))),
        n=n,
        note="" if rest else f"{same}: nothing is left to compare with, so F is undefined",
    )


def _source(squares: float, df: int, rest: float, free: int, whole: float) -> Source:
    mean_square, share = squares / df, _share(squares, whole)
    if not rest:
        return Source(squares, df, mean_square, share)
    f = mean_square / (rest / free)
    return Source(squares, df, mean_square, share, f, f_above(f, df, free))


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


NOISE = 1e-12
"""A smaller share is what rounding leaves."""
QUESTIONS, OTHERS, REST = "questions", "other interactions", "rest"


def shares_of(values: Array, levels: Mapping[str, Sequence[str | None]]) -> dict[str, float]:
    """The share of all squares that each part explains; `values` has a line a question, a column a configuration.

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
    factors = list(tables)
    explained = _Explained(means, tables)
    squares = {factor: n * explained.mean_gain(factor, factors) for factor in factors}
    alone = explained.of(tuple(factors))
    crossed = {pair: explained.pair_variance(pair) - alone for pair in combinations(factors, 2)}
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


class _Explained:
    """How much of the squares of configurations some factors explain together."""

    def __init__(self, means: Array, tables: Mapping[str, Array]) -> None:
        self._means, self._tables = means, tables
        self._known: dict[frozenset[str], float] = {}

    def of(self, factors: tuple[str, ...]) -> float:
        """By their levels, without interactions."""
        key = frozenset(factors)
        if key not in self._known:
            self._known[key] = self._fitted([self._tables[factor] for factor in sorted(key)])
        return self._known[key]

    def pair_variance(self, pair: tuple[str, str]) -> float:
        """By the levels of all factors and what two of them do together."""
        one, other = (self._tables[factor] for factor in pair)
        both = (one[:, :, None] * other[:, None, :]).reshape(len(one), -1)
        return self._fitted([*self._tables.values(), both])

    def mean_gain(self, factor: str, factors: Sequence[str]) -> float:
        """What a factor adds to others, as the mean over all orders in which they can be taken in."""
        others = [each for each in factors if each != factor]
        total = 0.0
        for size in range(len(others) + 1):
            weight = factorial(size) * factorial(len(others) - size) / factorial(len(factors))
            for before in combinations(others, size):
                total += weight * (self.of((*before, factor)) - self.of(before))
        return total

    def _fitted(self, tables: Sequence[Array]) -> float:
        if not tables:
            return 0.0
        design = np.hstack([np.ones((len(self._means), 1)), *tables])
        fitted = design @ np.linalg.lstsq(design, self._means, rcond=None)[0]
        return float((fitted**2).sum())
