"""Two-way analysis of variance: how much of what varies comes from the systems, how much from the queries.

Reference: J. Tague-Sutcliffe, J. Blustein: A statistical analysis of the TREC-3 data, TREC 1994;
R. A. Fisher: Statistical methods for research workers, 1925.
"""

from __future__ import annotations

from dataclasses import dataclass

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
    """Of all that varies, how much comes from here."""
    f: float | None = None
    """None for the rest, and where nothing is left to compare with."""
    p: float | None = None


@dataclass(frozen=True, slots=True)
class Anova:
    """What varies with the systems, with the queries, and with neither."""

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
    return Anova(
        systems=_source(systems, m - 1, rest, free, sum(squares)),
        queries=_source(queries, n - 1, rest, free, sum(squares)),
        rest=Source(rest, free, rest / free, _share(rest, sum(squares))),
        n=n,
        note="" if rest else _without_rest(systems),
    )


def _without_rest(systems: float) -> str:
    same = "systems are off by the same on every query" if systems else "all systems are equal on every query"
    return f"{same}: nothing is left to compare with, so F is undefined"


def _source(squares: float, df: int, rest: float, free: int, whole: float) -> Source:
    mean_square, share = squares / df, _share(squares, whole)
    if not rest:
        return Source(squares, df, mean_square, share)
    f = mean_square / (rest / free)
    return Source(squares, df, mean_square, share, f, f_above(f, df, free))


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
