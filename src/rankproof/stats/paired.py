"""Two systems on the same queries: their differences, checked, and what a test says of them.

Every function of this package that draws at random puts its data into one order first (differences by size,
tables by rows), so that the same generator gives the same answer in whatever order the queries came.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from rankproof.core.hits import Array
from rankproof.errors import DataError, UsageError, is_number, one_of

Alternative = Literal["two-sided", "greater", "less"]
"""What a test looks for: any difference, one above 0, one below 0."""

SAME = 1e-12
"""Differences nearer than this (relative to the largest value) are equal but for rounding."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a test found."""

    statistic: float
    p: float
    """How often pure chance gives a statistic at least as extreme."""
    n: int
    """The number of queries behind it."""
    method: str
    """The test, in words."""
    note: str = ""
    """What limits the answer, where something does."""


def paired(a: Array, b: Array) -> Array:
    """The differences a - b of two systems' values on the same queries; those within rounding of 0 are 0.

    >>> paired(np.array([0.5, 0.3]), np.array([0.25, 0.1 + 0.2])).tolist()
    [0.25, 0.0]
    """
    first, second = finite(a, "first values"), finite(b, "second values")
    if len(first) != len(second):
        raise DataError(
            f"paired values: got {len(first):,} and {len(second):,}, expected as many of each system. "
            "Next: keep the queries that both have, or count the missing ones as 0."
        )
    off = first - second
    slack = SAME * max(_largest(first), _largest(second))
    return np.where(np.abs(off) <= slack, 0.0, off)


def finite(values: Array, what: str = "values") -> Array:
    """The values as one row of finite numbers."""
    row = np.asarray(values, dtype=np.float64)
    if row.ndim != 1:
        raise DataError(
            f"{what}: got {row.ndim} dimensions, expected one number a query."
            " Next: give one list of numbers a system."
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
    row = np.sort(finite(values, "differences"))
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
    columns = {name: finite(values, f"values of {name!r}") for name, values in systems.items()}
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise DataError(
            f"systems: got values for {lengths} queries, expected as many of each system."
            " Next: score all systems on the same queries."
        )
    return grid(np.column_stack(list(columns.values())) if columns else np.empty((0, 0)))


def check_alternative(alternative: str) -> None:
    """Refuse a word that is no alternative."""
    if alternative not in get_args(Alternative):
        raise one_of("alternative", alternative, get_args(Alternative))


def check_share(what: str, value: float) -> None:
    """Refuse what is not strictly between 0 and 1."""
    if not is_number(value) or not 0 < value < 1:
        raise UsageError(
            f"{what}: got {value!r}, expected a number above 0 and below 1. Next: give a share, like 0.05."
        )


def check_count(what: str, value: int, least: int = 1) -> None:
    """Refuse what is no whole number from `least` on."""
    if not isinstance(value, int | np.integer) or value < least:
        raise UsageError(
            f"{what}: got {value!r}, expected a whole number of at least {least}."
            " Next: give that many or more."
        )


def total(row: Array) -> float:
    """The sum, rounded once, so the same in every order."""
    return math.fsum(row.tolist())


def constant(row: Array) -> bool:
    """Whether all values are equal but for rounding."""
    return float(np.ptp(row)) <= SAME * _largest(row)


def _largest(row: Array) -> float:
    return float(np.abs(row).max(initial=0.0))
