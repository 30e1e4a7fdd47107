"""Sums of numbers without any rounding: the same bits in any order, and of any parts put together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankproof.core.arrays import FEW, Array
from rankproof.document.display import Displayable
from rankproof.errors import DataError

if TYPE_CHECKING:
    from fractions import Fraction

FLOOR = 0.00001
"""What a value of zero counts as in a geometric mean (trec_eval's floor)."""
LARGEST = 1e100
"""What is larger cannot be raised to the third power and added up, as intervals and tests do with values."""
DIGITS = 12
"""Values that are equal up to here are equal but for rounding."""
KEPT = 1 << 12
"""Up to so many different values are kept with their counts; of more the moments and the histogram are."""
UNIT = 1074
"""Sums are whole multiples of 2 to the power of minus so many, of which every number is one."""
GRID, SUMMED = 36, 1 << 16
"""So many numbers of so many bits add up to less than 2^53, below which sums of whole numbers are exact."""


@dataclass(frozen=True, slots=True)
class ExactSum(Displayable):
    """A sum of n numbers without any rounding, as one long integer.

    >>> tenths = ExactSum.of(np.full(7, 0.1)) + ExactSum.of(np.full(3, 0.1))
    >>> tenths.value, tenths.mean, tenths.n
    (1.0, 0.1, 10)
    """

    total: int = 0
    """The sum in units of 2^-UNIT."""
    n: int = 0

    @classmethod
    def of(cls, values: Array) -> ExactSum:
        """The sum of finite values; what is none is an error."""
        row = np.asarray(values, dtype=np.float64)
        if not np.isfinite(row).all():
            raise DataError(
                f"sum: got {row[~np.isfinite(row)][0]}, expected finite numbers. Next: leave out what is no number."
            )
        parts = (row[start : start + SUMMED] for start in range(0, len(row), SUMMED))
        return cls(sum(map(_total, parts)), len(row))

    def __add__(self, other: ExactSum) -> ExactSum:
        return ExactSum(self.total + other.total, self.n + other.n)

    @property
    def value(self) -> float:
        """The sum, rounded once: what `math.fsum` gives."""
        return self.total / (1 << UNIT)

    @property
    def mean(self) -> float:
        """The sum divided by n."""
        if not self.n:
            raise DataError("mean: got no values, expected one or more. Next: check that there are queries.")
        return self.value / self.n

    @property
    def exact(self) -> Fraction:
        """The sum as it is."""
        from fractions import Fraction  # which loads decimals, for what is seldom asked for

        return Fraction(self.total, 1 << UNIT)

    def to_dict(self) -> dict[str, Any]:
        """The sum as data that JSON can hold: its digits in base 16 without the zeros at their end."""
        zeros = (self.total & -self.total).bit_length() - 1 if self.total else 0
        return {"digits": f"{self.total >> zeros:x}", "shift": zeros, "n": self.n}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ExactSum:
        """The sum that `to_dict` gave."""
        return cls(int(data["digits"], 16) << data["shift"], data["n"])


def _total(row: Array) -> int:
    """The sum of some numbers in units.

    Each number is cut into pieces of GRID bits below the largest of all; so many pieces add up without rounding.
    """
    largest = float(np.abs(row).max(initial=0.0))
    if not largest:
        return 0
    top = math.frexp(largest)[1]
    total, rest = 0, row
    for step in range(1, 4):
        grid = top - GRID * step
        if not -900 < grid < 900:
            break
        magic = 1.5 * 2.0 ** (grid + 52)  # what is added to it and taken off is rounded to the grid
        piece = (rest + magic) - magic
        total += int(math.ldexp(float(piece.sum()), -grid)) << (UNIT + grid)
        rest = rest - piece
        if not np.count_nonzero(rest):
            return total
    numbers = (each.as_integer_ratio() for each in rest[rest != 0].tolist())
    return total + sum(int(above << UNIT) // int(below) for above, below in numbers)


def exact_mean(values: Array) -> float:
    """The mean of values by their exact sum: the same in any order, and of any parts put together."""
    if len(values) < FEW:
        return math.fsum(values.tolist()) / len(values)
    return ExactSum.of(values).mean


def round_to_digits(values: Array) -> Array:
    """The values to 12 digits; a zero has no sign."""
    return np.round(values, DIGITS) + 0.0
