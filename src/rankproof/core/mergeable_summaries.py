"""Summaries of values that can be merged from parts, in any order and for any split.

The same values give the same bits on one worker and on a thousand: sums are exact until they are read
(`core/arrays.py`), and everything else is counts, least and greatest values, and short lists. `a + b` merges two
summaries; `stats/differences.py` computes intervals and tests from them.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, TypeVar

import numpy as np

from rankproof.core.arrays import (
    FLOOR,
    KEPT,
    LARGEST,
    Array,
    ExactSum,
    PerQuery,
    distinct,
    exact_mean,
    poisson_counts,
    round_to_digits,
)
from rankproof.document.model import Displayable
from rankproof.errors import DataError

BINS = 1 << 10
"""Bins of a histogram from 0 to 1; one more on either side holds what lies outside."""


@dataclass(frozen=True, eq=False, slots=True)
class ValueSummary(Displayable):
    """The data that means, intervals, tests and a histogram of some values need.

    >>> parts = [ValueSummary.of(np.array(each)) for each in ([0.5, 1.0], [], [0.25])]
    >>> whole = merge_parts(parts)
    >>> whole.n, whole.mean == exact_mean(np.array([0.25, 0.5, 1.0])), whole.least, whole.most
    (3, True, 0.25, 1.0)
    """

    average: str
    """How the measure is averaged: mean, sum or geometric; of the last it is logarithms that are added up."""
    powers: tuple[ExactSum, ExactSum, ExactSum]
    """The sums of x, x^2 and x^3."""
    ends: tuple[float, float] = (math.inf, -math.inf)
    """The least and the greatest value."""
    on_ends: tuple[int, int] = (0, 0)
    """How many values lie on them, but for rounding."""
    table: tuple[Array, Array] | None = None
    """The different values, rounded to 12 digits, in ascending order, and how often each stands; None: too many."""
    bins: Array | None = None
    """How many values lie in each bin from 0 to 1, and below and above; None while there is a table."""

    @classmethod
    def of(cls, values: PerQuery, average: str = "mean") -> ValueSummary:
        """The summary of finite values."""
        row = np.asarray(values, dtype=np.float64)
        if len(row) and float(np.abs(row).max()) > LARGEST:
            raise DataError(
                f"values: got {row[np.abs(row).argmax()]:g}, expected sizes of at most {LARGEST:g}. "
                "Next: give the measure on a smaller scale."
            )
        added = np.log(np.maximum(row, FLOOR)) if average == "geometric" else row
        squares = added * added
        sums = tuple(map(ExactSum.of, (added, squares, squares * added)))
        known, counts = np.unique(round_to_digits(row), return_counts=True)
        if not len(known):
            return cls(average, sums, table=(known, counts))  # type: ignore[arg-type]
        ends, on_ends = (float(known[0]), float(known[-1])), (int(counts[0]), int(counts[-1]))
        return cls(average, sums, ends, on_ends, *_kept(known, counts))  # type: ignore[arg-type]

    def __add__(self, other: ValueSummary) -> ValueSummary:
        if self.average != other.average:
            raise DataError(
                f"summaries: got one of a {self.average} and one of a {other.average}, expected the same measure. "
                "Next: merge summaries measure by measure."
            )
        powers = tuple(a + b for a, b in zip(self.powers, other.powers, strict=True))
        ends = (min(self.ends[0], other.ends[0]), max(self.ends[1], other.ends[1]))
        on_ends = tuple(sum(each.on_ends[i] for each in (self, other) if each.ends[i] == ends[i]) for i in (0, 1))
        if self.table is not None and other.table is not None:
            values = distinct(np.concatenate([self.table[0], other.table[0]]))
            counts = np.zeros(len(values), dtype=np.int64)
            for known, number in (self.table, other.table):
                counts[np.searchsorted(values, known)] += number
            table, bins = _kept(values, counts)
        else:
            table, bins = None, self.histogram + other.histogram
        return ValueSummary(self.average, powers, ends, on_ends, table, bins)  # type: ignore[arg-type]

    @property
    def n(self) -> int:
        """How many values there are."""
        return self.powers[0].n

    @property
    def mean(self) -> float:
        """The values as one number, by the measure's own average."""
        total = self.powers[0]
        if self.average == "sum":
            return total.value
        return math.exp(total.mean) if self.average == "geometric" else total.mean

    @property
    def least(self) -> float:
        """The least value, rounded to 12 digits."""
        return self.ends[0]

    @property
    def most(self) -> float:
        """The greatest value, rounded to 12 digits."""
        return self.ends[1]

    @property
    def histogram(self) -> Array:
        """How many values lie below 0, in each of BINS bins from 0 to 1 (which is in the last), and above 1."""
        return self.bins if self.bins is not None else _histogram(*self.table)  # type: ignore[misc]

    def to_dict(self) -> dict[str, Any]:
        """The summary as data that JSON can hold."""
        bins = None
        if self.bins is not None:
            filled = np.flatnonzero(self.bins)
            bins = [filled.tolist(), self.bins[filled].tolist()]
        return {
            "average": self.average,
            "powers": [each.to_dict() for each in self.powers],
            "ends": list(self.ends) if self.n else None,
            "on_ends": list(self.on_ends),
            "table": None if self.table is None else [each.tolist() for each in self.table],
            "bins": bins,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ValueSummary:
        """The summary that `to_dict` gave."""
        table, bins = data["table"], None
        if data["bins"] is not None:
            bins = np.zeros(BINS + 2, dtype=np.int64)
            bins[data["bins"][0]] = data["bins"][1]
        if table is not None:
            table = (np.array(table[0], dtype=np.float64), np.array(table[1], dtype=np.int64))
        ends = tuple(data["ends"]) if data["ends"] else (math.inf, -math.inf)
        powers = tuple(map(ExactSum.from_dict, data["powers"]))
        return cls(data["average"], powers, ends, tuple(data["on_ends"]), table, bins)  # type: ignore[arg-type]


def _kept(values: Array, counts: Array) -> tuple[tuple[Array, Array] | None, Array | None]:
    return ((values, counts), None) if len(values) <= KEPT else (None, _histogram(values, counts))


def _histogram(values: Array, counts: Array) -> Array:
    place = np.minimum(np.floor(np.clip(values, -1.0, 2.0) * BINS), BINS - 1).astype(np.intp) + 1
    place = np.where(values > 1, BINS + 1, np.maximum(place, 0))
    return np.bincount(place, weights=counts, minlength=BINS + 2).astype(np.int64)


__all__ = ["ExactSum", "SpreadSummary", "ValueSummary", "WorstQueries", "exact_mean", "merge_parts"]

T = TypeVar("T", ExactSum, ValueSummary, "WorstQueries", "Resamples", "SpreadSummary")


def merge_parts(parts: Sequence[T]) -> T:
    """Several summaries merged into one."""
    if not parts:
        raise DataError("merge: got no summaries, expected one or more. Next: check that there are parts.")
    return reduce(lambda a, b: a + b, parts)


@dataclass(frozen=True, slots=True)
class WorstQueries(Displayable):
    """The queries with the worst values, the worst first; equal values by query id in byte order.

    >>> one = WorstQueries.of(["b", "a"], np.array([0.5, 0.5]), 2)
    >>> (one + WorstQueries.of(["c"], np.array([0.25]), 2)).rows
    (('c', 0.25), ('a', 0.5))
    """

    limit: int
    higher: bool
    """Whether more is better."""
    rows: tuple[tuple[str, float], ...] = ()

    @classmethod
    def of(cls, queries: Sequence[str], values: PerQuery, limit: int, higher: bool = True) -> WorstQueries:
        """The worst of some queries."""
        key = np.asarray(values if higher else -np.asarray(values), dtype=np.float64)
        if 0 < limit < len(key):
            rows = np.flatnonzero(key <= np.partition(key, limit - 1)[limit - 1])
        else:
            rows = np.arange(len(key) if limit else 0)
        return cls(limit, higher, _worst_first([(queries[i], float(values[i])) for i in rows.tolist()], limit, higher))

    def __add__(self, other: WorstQueries) -> WorstQueries:
        limit = min(self.limit, other.limit)
        return WorstQueries(limit, self.higher, _worst_first([*self.rows, *other.rows], limit, self.higher))


def _worst_first(rows: list[tuple[str, float]], limit: int, higher: bool) -> tuple[tuple[str, float], ...]:
    sign = 1 if higher else -1
    return tuple(sorted(rows, key=lambda row: (sign * row[1], row[0].encode()))[:limit])


HALF = 27
"""Bits in the lower half of a number's 53."""
REPLICATES = 200
"""Resamples: the standard error is then known to 5 %."""
GRAIN = 2.0**-30
"""Values are resampled as multiples of this, so that their sums are exact in any order."""
TOP = 2.0**32
"""The largest value that can be resampled in this way."""
ROWS = 1 << 12
"""The number of rows at a time, so that sums stay below 2^53."""


@dataclass(frozen=True, slots=True)
class Resamples(Displayable):
    """Resamples of a mean by clusters: users, days, or single queries.

    All values of a cluster are drawn together, and how often depends on its name alone, so that any split of the rows
    gives the same resamples, to the bit.
    """

    seed: int
    counts: tuple[int, ...]
    """How many values each resample holds."""
    sums: tuple[int, ...]
    """Their sums, in units of GRAIN."""

    @classmethod
    def of(cls, values: PerQuery, clusters: Array, replicates: int = REPLICATES, seed: int = 0) -> Resamples:
        """The resamples of values whose clusters are known by hashes (`hash_of`)."""
        row = np.asarray(values, dtype=np.float64)
        if len(row) and not float(np.abs(row).max()) < TOP:
            raise DataError(
                f"resamples: got {row[np.abs(row).argmax()]:g}, expected values below {TOP:g}. "
                "Next: give the measure on a smaller scale."
            )
        counts, sums = [0] * replicates, [0] * replicates
        for start in range(0, len(row), ROWS):
            some = slice(start, start + ROWS)
            drawn = poisson_counts(clusters[some], replicates, seed).astype(np.float64)
            grains = np.round(row[some] / GRAIN)
            high = np.floor(grains / 2**HALF)
            parts = np.stack([np.ones(len(high)), high, grains - high * 2**HALF]) @ drawn  # whole, and below 2^53
            for i, (count, upper, lower) in enumerate(parts.T.tolist()):
                counts[i] += int(count)
                sums[i] += (int(upper) << HALF) + int(lower)
        return cls(seed, tuple(counts), tuple(sums))

    def __add__(self, other: Resamples) -> Resamples:
        if self.seed != other.seed or len(self.counts) != len(other.counts):
            raise DataError(
                "resamples: got resamples of different seeds or numbers, expected the same of all parts. "
                "Next: resample every part with the same seed and number."
            )
        return Resamples(
            self.seed,
            tuple(a + b for a, b in zip(self.counts, other.counts, strict=True)),
            tuple(a + b for a, b in zip(self.sums, other.sums, strict=True)),
        )

    @property
    def means(self) -> Array:
        """The mean of each resample that holds anything."""
        return np.array([s * GRAIN / c for s, c in zip(self.sums, self.counts, strict=True) if c])

    @property
    def error(self) -> float:
        """The standard error of the mean; NaN if there are no two resamples."""
        means = self.means
        return float(means.std(ddof=1)) if len(means) > 1 else math.nan

    def to_dict(self) -> dict[str, Any]:
        """The resamples as data that JSON can hold."""
        return {"seed": self.seed, "counts": list(self.counts), "sums": list(self.sums)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Resamples:
        """The resamples that `to_dict` gave."""
        return cls(data["seed"], tuple(data["counts"]), tuple(data["sums"]))


@dataclass(frozen=True, eq=False, slots=True)
class SpreadSummary(Displayable):
    """The summary of one part of the queries, or of all: by measure and by slice.

    >>> part = SpreadSummary({"RR": ValueSummary.of(np.array([0.5]))}, queries=1)
    >>> (part + part).columns["RR"].n, (part + part).queries
    (2, 2)
    """

    columns: Mapping[str, ValueSummary]
    slices: Mapping[str, Mapping[str, ValueSummary]] = field(default_factory=dict)
    """For each slice the summaries of its measures."""
    worst: Mapping[str, WorstQueries] = field(default_factory=dict)
    resamples: Mapping[str, Resamples] = field(default_factory=dict)
    """For each measure the bootstrap by clusters, if there are clusters."""
    sums: Mapping[str, ExactSum] = field(default_factory=dict)
    """Other sums: ceilings, bounds, counts."""
    queries: int = 0

    def __add__(self, other: SpreadSummary) -> SpreadSummary:
        return SpreadSummary(
            _each(self.columns, other.columns),
            _each(self.slices, other.slices, _each),
            _each(self.worst, other.worst),
            _each(self.resamples, other.resamples),
            _each(self.sums, other.sums),
            self.queries + other.queries,
        )

    def to_dict(self) -> dict[str, Any]:
        """The summary as data that JSON can hold."""
        return {
            "columns": {name: each.to_dict() for name, each in self.columns.items()},
            "slices": {s: {n: each.to_dict() for n, each in part.items()} for s, part in self.slices.items()},
            "worst": {n: [w.limit, w.higher, [list(row) for row in w.rows]] for n, w in self.worst.items()},
            "resamples": {name: each.to_dict() for name, each in self.resamples.items()},
            "sums": {name: each.to_dict() for name, each in self.sums.items()},
            "queries": self.queries,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SpreadSummary:
        """The summary that `to_dict` gave."""
        column = ValueSummary.from_dict
        return cls(
            {name: column(each) for name, each in data["columns"].items()},
            {s: {name: column(each) for name, each in part.items()} for s, part in data["slices"].items()},
            {n: WorstQueries(w[0], w[1], tuple((q, v) for q, v in w[2])) for n, w in data["worst"].items()},
            {name: Resamples.from_dict(each) for name, each in data["resamples"].items()},
            {name: ExactSum.from_dict(each) for name, each in data["sums"].items()},
            data["queries"],
        )


def _each(
    one: Mapping[str, Any], other: Mapping[str, Any], add: Callable[[Any, Any], Any] = operator.add
) -> dict[str, Any]:
    """Two mappings merged, common entries added up."""
    return {**one, **{name: add(one[name], value) if name in one else value for name, value in other.items()}}
