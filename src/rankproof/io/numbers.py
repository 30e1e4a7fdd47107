"""Scores and grades are real numbers; text, truth values and missing values are not."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rankproof.core.hits import Array


def as_numbers(values: Sequence[Any]) -> Array | None:
    """The values as float64, or None when one of them is no number.

    >>> as_numbers((1, 2.5, np.float32(3)))
    array([1. , 2.5, 3. ])
    >>> as_numbers((1, "2.5"))
    """
    try:
        if _are_plain_integers(values):
            return packed(values, "q").astype(np.float64)
    except struct.error:
        pass  # some are larger than 64 bits
    try:
        numbers = packed(values)
    except struct.error:
        return None
    return None if _has_truth_values(values, numbers) else numbers


def packed(values: Sequence[Any], form: str = "d") -> Array:
    """The values as an array; packing is the fastest conversion that, unlike NumPy's, refuses text and None."""
    return np.frombuffer(struct.pack(f"{len(values)}{form}", *values), dtype=form)


def _are_plain_integers(values: Sequence[Any]) -> bool:
    """Whether all are of the type `int` itself, as grades mostly are: then no truth value is among them."""
    return len(values) > 0 and type(values[0]) is int and list(map(type, values)).count(int) == len(values)


def numbers_in(tables: Iterable[Mapping[Any, Any]]) -> Array | None:
    """The values of many dicts, one dict after the other, as `as_numbers` gives them.

    >>> numbers_in([{"a": 1}, {"b": 2, "c": 3}])
    array([1., 2., 3.])
    """
    values: list[Any] = []
    for table in tables:
        values.extend(table.values())
    return as_numbers(values)


def is_number(value: Any) -> bool:
    """Whether a value is a real number.

    >>> is_number(1), is_number(np.float32(1)), is_number(True), is_number("1"), is_number(None)
    (True, True, False, False, False)
    """
    return as_numbers((value,)) is not None


def _has_truth_values(values: Sequence[Any], numbers: Array) -> bool:
    """Truth values convert like numbers, but only to 0 and 1: so only those need a second look."""
    suspects = ((numbers == 0) | (numbers == 1)).nonzero()[0]
    if not len(suspects):
        return False
    few = 4 * len(suspects) < len(values)
    suspected = map(values.__getitem__, suspects.tolist()) if few else values
    return not {bool, np.bool_}.isdisjoint(map(type, suspected))
