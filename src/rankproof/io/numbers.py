"""Scores and grades are real numbers; text, truth values and missing values are not."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from rankproof.core.hits import Array


def as_numbers(values: tuple[Any, ...]) -> Array | None:
    """The values as float64, or None when one of them is no number.

    >>> as_numbers((1, 2.5, np.float32(3)))
    array([1. , 2.5, 3. ])
    >>> as_numbers((1, "2.5"))
    """
    try:
        # Packing is the fastest conversion that, unlike NumPy's, refuses text and None.
        packed = struct.pack(f"{len(values)}d", *values)
    except struct.error:
        return None
    numbers = np.frombuffer(packed, dtype=np.float64)
    return None if _has_truth_values(values, numbers) else numbers


def is_number(value: Any) -> bool:
    """Whether a value is a real number.

    >>> is_number(1), is_number(np.float32(1)), is_number(True), is_number("1"), is_number(None)
    (True, True, False, False, False)
    """
    return as_numbers((value,)) is not None


def _has_truth_values(values: tuple[Any, ...], numbers: Array) -> bool:
    """Truth values convert like numbers, but only to 0 and 1: so only those need a second look."""
    suspects = np.flatnonzero((numbers == 0) | (numbers == 1)).tolist()
    kinds = set(map(type, map(values.__getitem__, suspects)))
    return bool(kinds & {bool, np.bool_})
