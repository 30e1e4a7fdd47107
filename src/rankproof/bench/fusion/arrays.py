"""Arithmetic over pools: one row a document, one column a ranking, NaN where a ranking has no such document."""

from __future__ import annotations

from numbers import Real
from typing import Annotated, Any, TypeAlias

import numpy as np

from rankproof.core.hits import Array
from rankproof.core.parameters import Kind


def _at_least_0(value: Any) -> bool:
    return isinstance(value, Real) and 0 <= float(value) < float("inf")


FromZero: TypeAlias = Annotated[float, Kind("a number of at least 0", _at_least_0, float)]
WholeFromZero: TypeAlias = Annotated[
    int,
    Kind("a whole number of at least 0", lambda v: hasattr(v, "__index__") and int(v) >= 0, int),
]


def added(parts: Array) -> Array:
    """The sum of each row, smallest first, so that no order of the rankings makes a difference.

    >>> added(np.array([[0.5, np.nan], [1.0, 2.0]])).tolist()
    [0.5, 3.0]
    """
    total: Array = np.nansum(np.sort(parts, axis=1), axis=1)
    return total


def counted(parts: Array) -> Array:
    """How many rankings returned each document.

    >>> counted(np.array([[0.5, np.nan], [1.0, 2.0]])).tolist()
    [1, 2]
    """
    number: Array = np.count_nonzero(~np.isnan(parts), axis=1)
    return number


def averaged(parts: Array) -> Array:
    """The mean of each column, the same whatever the order of the rows."""
    mean: Array = np.sort(parts, axis=0).sum(axis=0) / len(parts)
    return mean


def share(part: Array, whole: Array, otherwise: Array | float) -> Array:
    """`part / whole`, and `otherwise` where the whole is 0; NaN stays NaN.

    >>> share(np.array([1.0, 1.0, np.nan]), np.array([2.0, 0.0, 0.0]), 1.0).tolist()
    [0.5, 1.0, nan]
    """
    some = whole > 0
    divided: Array = np.where(some, part / np.where(some, whole, 1.0), otherwise + 0.0 * part)
    return divided


def starts(query: Array) -> Array:
    """Where the rows of each query begin."""
    return np.flatnonzero(np.diff(query, prepend=-1))


def each_list(reduce: np.ufunc, values: Array, query: Array) -> Array:
    """`reduce` over the rows of each query, column by column, repeated at every row.

    >>> each_list(np.fmax, np.array([[1.0], [3.0], [2.0]]), np.array([0, 0, 1])).tolist()
    [[3.0], [3.0], [2.0]]
    """
    begins = starts(query)
    reduced = reduce.reduceat(values, begins, axis=0)
    repeated: Array = np.repeat(reduced, np.diff(np.append(begins, len(query))), axis=0)
    return repeated


def lengths(parts: Array, query: Array) -> Array:
    """How many documents each ranking returned for the query of each row."""
    return each_list(np.add, (~np.isnan(parts)).astype(np.float64), query)


def candidates(query: Array) -> Array:
    """How many documents there are for the query of each row, over all rankings; one column."""
    return each_list(np.add, np.ones((len(query), 1)), query)
