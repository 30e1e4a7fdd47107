"""Arithmetic on arrays whose rows lie query by query, and what a grade is worth."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankproof.errors import DataError

Array: TypeAlias = NDArray[Any]
PerQuery: TypeAlias = NDArray[np.float64]


def ratio(a: Array, b: Array) -> PerQuery:
    """a / b, and 0 where b is 0: the one place that says what 0/0 is."""
    if np.count_nonzero(b) == np.size(b):
        return np.asarray(np.divide(a, b))
    return np.divide(a, b, out=np.zeros(np.shape(a)), where=np.not_equal(b, 0))


def offsets(counts: Array) -> Array:
    """Where each of several stretches begins, given their lengths; the last entry is where all end.

    >>> offsets(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    begins = np.zeros(len(counts) + 1, dtype=np.intp)
    counts.cumsum(out=begins[1:])
    return begins


def join_parts(parts: list[Array], dtype: type = np.intp) -> Array:
    """Parts of a column as one; `dtype` is what it is of where there is no part."""
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros(0, dtype)


def distinct(values: Array) -> Array:
    """Each value once, in ascending order: `np.unique`, which loads `numpy.ma` where one gives no more than values.

    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(values)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def runs(query: Array, first: Array) -> tuple[Array, Array]:
    """For each row the start and the end (exclusive) of its run of equal (query, first)."""
    if not len(query):
        return query, query
    new = np.append(True, (np.diff(query) != 0) | (np.diff(first) != 0))
    starts = np.flatnonzero(new)
    which = np.cumsum(new) - 1
    return starts[which], np.append(starts[1:], len(query))[which]


FEW = 1000
"""Up to so many rows any way to sort them is fast."""


def best_first(query: Array, grade: Array, n: int) -> Array:
    """The order by query (0 to n-1), then falling grade, then as judged; whole grades are sorted as one key."""
    if len(grade) <= FEW or not _fit_one_key(grade, n):
        return np.lexsort((-grade, query))
    low, span = grade.min(), grade.max() - grade.min() + 1
    key = query * int(span) + (span - 1 - (grade - low)).astype(np.int64)
    # NumPy sorts keys of 16 bits by counting, and longer ones fast where they are nearly in order.
    return np.argsort(key.astype(np.uint16) if n * span <= 2**16 else key, kind="stable")


def _fit_one_key(grade: Array, n: int) -> bool:
    """Whether the grades are whole, and not too far apart to stand beside their query in one integer."""
    span = grade.max() - grade.min() + 1
    return bool(n * span < 2**62 and (np.floor(grade) == grade).all())


Gain: TypeAlias = Any
"""'linear', 'exp', or a mapping of grade to gain."""


HIGHEST_EXP = 1000
"""The highest grade with an exponential gain: 2^1024 is no finite number, and gains are added up."""


def gains(grade: Array, gain: Gain) -> Array:
    """The gain of each grade: the grade itself, 2^grade - 1, or what a mapping says."""
    if gain == "linear":
        return np.maximum(grade, 0.0)
    if gain == "exp":
        if len(grade) and grade.max() > HIGHEST_EXP:
            raise DataError(
                f"gain='exp': the grade {grade.max():g} gives a gain beyond any number, expected grades of at "
                f"most {HIGHEST_EXP}. Next: use gain='linear', or a mapping of grade to gain."
            )
        return np.exp2(np.maximum(grade, 0.0)) - 1
    known = np.array(sorted(gain), dtype=np.float64)
    value = np.array([gain[g] for g in sorted(gain)], dtype=np.float64)
    at = np.minimum(np.searchsorted(known, grade), len(known) - 1)
    return np.where(known[at] == grade, value[at], np.maximum(grade, 0.0))
