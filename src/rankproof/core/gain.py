"""What a grade is worth: the grade itself, an exponential of it, or what a mapping says."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from rankproof.core.arrays import Array
from rankproof.errors import DataError

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
