"""Arithmetic on arrays whose rows are sorted by query: ratios, gains of grades, running totals, exact sums, hashes.

Exact sums have the same bits in any order, and for any split into parts; hashes are the same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankproof.document.model import Displayable
from rankproof.errors import DataError, is_number, shorten

if TYPE_CHECKING:
    from fractions import Fraction

    from rankproof.core.hits import Hits

Array: TypeAlias = NDArray[Any]
PerQuery: TypeAlias = NDArray[np.float64]
T = TypeVar("T")
K = TypeVar("K")


def ratio(a: Array, b: Array) -> PerQuery:
    """a / b, and 0 where b is 0: the only definition of 0/0."""
    if np.count_nonzero(b) == np.size(b):
        return np.asarray(np.divide(a, b))
    return np.divide(a, b, out=np.zeros(np.shape(a)), where=np.not_equal(b, 0))


def offsets(counts: Array) -> Array:
    """The start of each of several runs, given their lengths; the last entry is the end of all.

    >>> offsets(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    begins = np.zeros(len(counts) + 1, dtype=np.intp)
    counts.cumsum(out=begins[1:])
    return begins


def run_rows(start: Array, counts: Array) -> Array:
    """The rows of several runs one after the other, given where each starts and how many it has.

    >>> run_rows(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    before = np.cumsum(counts) - counts
    return np.asarray(np.arange(counts.sum()) + np.repeat(start - before, counts))


def join_parts(parts: list[Array], dtype: type = np.intp) -> Array:
    """Parts of a column joined into one; `dtype` is its type if there is no part."""
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros(0, dtype)


def narrow(column: Array) -> Array:
    """The same values in the fewest bytes that hold them all, if they are whole numbers.

    >>> narrow(np.array([1, 300])).dtype, narrow(np.array([1, 1 << 20])).dtype, narrow(np.array([0.5])).dtype
    (dtype('int16'), dtype('int32'), dtype('float64'))
    """
    if column.dtype.kind != "i":
        return column
    low, high = column.min(initial=0), column.max(initial=0)
    for kind in (np.int16, np.int32):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return column.astype(kind, copy=False)
    return column


def distinct(values: Array) -> Array:
    """Each value once, in ascending order: `np.unique`, which loads `numpy.ma` where one gives no more than values.

    >>> distinct(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(values)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def by_key(pairs: Iterable[tuple[K, T]]) -> dict[K, list[T]]:
    """The values of each key, in the order in which keys and values come.

    >>> by_key([("a", 1), ("b", 2), ("a", 3)])
    {'a': [1, 3], 'b': [2]}
    """
    found: dict[K, list[T]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def hash_of(names: Sequence[str]) -> Array:
    """64 bits for each name, the same on every machine: what a cluster, or a query of a sample, is known by.

    >>> hash_of(["u1", "u1"]).tolist() == hash_of(["u1"]).tolist() * 2
    True
    """
    from hashlib import blake2b  # which loads OpenSSL

    known = {name: int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little") for name in set(names)}
    return np.fromiter(map(known.__getitem__, names), dtype=np.uint64, count=len(names))


def sample_of(names: Sequence[str], size: int) -> Array:
    """Where a sample of so many names stands: those with the lowest hashes, so that a smaller one lies in a larger one.

    >>> few, more = (set(sample_of([str(i) for i in range(100)], size).tolist()) for size in (5, 50))
    >>> len(few), few < more
    (5, True)
    """
    keys = mixed(hash_of(names))
    return np.sort(np.argsort(keys, kind="stable")[:size])


def mixed(key: Array) -> Array:
    """Every bit of a key spread over all: one round of a mixer that is a bijection, with D. Stafford's constants.

    Reference: G. Steele, D. Lea, C. Flood: Fast splittable pseudorandom number generators, OOPSLA 2014.
    """
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(key ^ (key >> np.uint64(31)))


def poisson_counts(cluster: Array, replicates: int, seed: int = 0) -> Array:
    """How often each cluster stands in each resample: Poisson with mean 1, told by the hash alone.

    Two rounds of mixing, one of the cluster and one with the number of the resample: after a single round resamples
    are alike, and intervals of many queries come out a sixth too wide.

    >>> counts = poisson_counts(hash_of(["u1", "u2", "u1"]), 4)
    >>> counts.shape, bool((counts[0] == counts[2]).all())
    ((3, 4), True)
    """
    step, start = 0x9E3779B97F4A7C15, int(mixed(np.array([seed & (2**64 - 1)], dtype=np.uint64))[0])
    numbers = np.array([(start + step * (1 + i)) & (2**64 - 1) for i in range(replicates)], dtype=np.uint64)
    keys = mixed(cluster.astype(np.uint64, copy=False) + np.uint64(step))
    drawn = mixed(keys[:, None] ^ numbers[None, :])
    return np.searchsorted(_poisson_steps(), drawn, side="right").astype(np.uint8)


@cache
def _poisson_steps() -> Array:
    """Where a uniform number of 64 bits begins to mean one more."""
    from fractions import Fraction

    below, steps = Fraction(0), []
    e = sum(Fraction(1, math.factorial(k)) for k in range(40))
    for k in range(16):
        below += Fraction(1, math.factorial(k)) / e
        steps.append(min(int(below * 2**64), 2**64 - 1))
    return np.array(steps, dtype=np.uint64)


def runs(query: Array, first: Array) -> tuple[Array, Array]:
    """For each row the start and the end (exclusive) of its run of equal (query, first)."""
    if not len(query):
        return query, query
    new = np.append(True, (np.diff(query) != 0) | (np.diff(first) != 0))
    starts = np.flatnonzero(new)
    which = np.cumsum(new) - 1
    return starts[which], np.append(starts[1:], len(query))[which]


FEW = 1000
"""Up to this many rows any way to sort them is fast."""


def best_first(query: Array, grade: Array, n: int) -> Array:
    """The order by query (0 to n-1), then falling grade, then as judged; whole grades are sorted as one key."""
    if len(grade) <= FEW:
        return np.lexsort((-grade, query))
    low, span = grade.min(), grade.max() - grade.min() + 1
    if n * span >= 2**62 or (np.floor(grade) != grade).any():  # they share no integer with their query
        return np.lexsort((-grade, query))
    key = query * int(span) + (span - 1 - (grade - low)).astype(np.int64)
    # NumPy sorts keys of 16 bits by counting, and longer ones fast where they are nearly in order.
    return np.argsort(key.astype(np.uint16) if n * span <= 2**16 else key, kind="stable")


Gain: TypeAlias = Any
"""'linear', 'exp', or a mapping of grade to gain."""


HIGHEST_EXP = 1000
"""The highest grade with an exponential gain: 2^1024 is no finite number, and gains are added up."""


def as_numbers(values: Any, what: str) -> Array:
    """The values as numbers, whatever their shape; what is none is named with its place."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        each = values.tolist() if isinstance(values, np.ndarray) else values if isinstance(values, list | tuple) else ()
        wrong = next((f"{shorten(one)} at position {i:,}" for i, one in enumerate(each) if not is_number(one)), None)
        raise DataError(
            f"{what}: got {wrong or shorten(values)}, expected numbers. Next: give numbers alone."
        ) from None


def finite_row(values: Any, what: str = "values") -> Array:
    """The values as one row of finite numbers."""
    row = as_numbers(values, what)
    if row.ndim != 1:
        raise DataError(
            f"{what}: got {row.ndim} dimensions, expected one number a query. Next: give one list of numbers a system."
        )
    bad = np.flatnonzero(~np.isfinite(row))
    if len(bad):
        raise DataError(
            f"{what}: got {row[bad[0]]} at position {bad[0]:,} ({len(bad):,} such in all), expected numbers. "
            "Next: leave those queries out of both systems, or say what they count as."
        )
    return row


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


FLOOR = 0.00001
"""The value that replaces zero in a geometric mean (trec_eval's floor)."""
LARGEST = 1e100
"""Larger values cannot be raised to the third power and added up, as intervals and tests do."""
DIGITS = 12
"""Values that differ by less are equal but for rounding."""
KEPT = 1 << 12
"""Up to this many different values are kept with their counts; of more only moments and the histogram."""
UNIT = 1074
"""Sums are whole multiples of 2 to the power of minus this, as every number is."""
GRID, SUMMED = 36, 1 << 16
"""This many numbers of this many bits add up to less than 2^53, below which sums of whole numbers are exact."""


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
        """The sum of finite values; other values are an error."""
        row = np.asarray(values, dtype=np.float64)
        if not np.isfinite(row).all():
            raise DataError(
                f"sum: got {row[~np.isfinite(row)][0]}, expected finite numbers. Next: leave out what is not a number."
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
        from fractions import Fraction  # imported here, as it loads decimals for a rare use

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

    Each number is cut into pieces of GRID bits below the largest of all; pieces of that size add up without rounding.
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
        magic = 1.5 * 2.0 ** (grid + 52)  # adding it and subtracting it again rounds to the grid
        piece = (rest + magic) - magic
        total += int(math.ldexp(float(piece.sum()), -grid)) << (UNIT + grid)
        rest = rest - piece
        if not np.count_nonzero(rest):
            return total
    numbers = (each.as_integer_ratio() for each in rest[rest != 0].tolist())
    return total + sum(int(above << UNIT) // int(below) for above, below in numbers)


def exact_mean(values: Array) -> float:
    """The mean of values by their exact sum: the same in any order, and for any split into parts."""
    if len(values) < FEW:
        return math.fsum(values.tolist()) / len(values)
    return ExactSum.of(values).mean


def round_to_digits(values: Array) -> Array:
    """The values to 12 digits; a zero has no sign."""
    return np.round(values, DIGITS) + 0.0


def running_total(h: Hits, values: Array, combine: Callable[[Array, Array], Array] = np.add) -> Array:
    """For each row `values` combined over the rows of its query up to and with it.

    Queries are never mixed, so that a large sum in one costs no digits in the next: pairs are combined,
    then pairs of pairs, as often as the longest query needs.
    """
    total = np.array(values, dtype=np.float64)
    step, longest = 1, int(h.nth.max(initial=0))
    while step < longest:
        joined = combine(total[step:], total[:-step])
        total[step:] = np.where(h.nth[step:] > step, joined, total[step:])
        step *= 2
    return total


def earlier_total(h: Hits, totals: Array, start: float) -> Array:
    """For each row the running total of the row before it in its query; `start` for the first."""
    return np.where(h.nth > 1, np.append(start, totals)[:-1], start)


def down_to(h: Hits, totals: Array, query: Array, rank: Array) -> Array:
    """The running total of `query` at `rank`: that of its last row down to there, 0 if there is none."""
    width = int(max(h.rank.max(initial=0), rank.max(initial=0))) + 1
    row = np.searchsorted(h.query * width + h.rank, query * width + rank, side="right") - 1
    inside = row >= h.starts[query]
    return np.where(inside, np.append(totals, 0.0)[np.where(inside, row, -1)], 0.0)


def so_far(group: Array) -> Array:
    """For each row how many earlier rows are of the same group."""
    order = np.argsort(group, kind="stable")
    ordered = group[order]
    begins = np.searchsorted(ordered, ordered)
    count = np.empty(len(group), dtype=np.intp)
    count[order] = np.arange(len(group)) - begins
    return count


def positive_rows(h: Hits) -> Hits:
    """The rows with a grade (or gain) above 0."""
    return h.relevant(np.nextafter(0, 1))
