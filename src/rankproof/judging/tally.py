"""One judged metric over all samples: values, ends, how much is settled, and why some have no value."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import Any, overload

import numpy as np

from rankproof.core.conventions import is_thin
from rankproof.core.hits import Array, PerQuery, ratio
from rankproof.core.measure import Measure
from rankproof.core.scoring import Pair, ScoreColumn
from rankproof.document.display import Displayable
from rankproof.document.numbers import count
from rankproof.judging.metrics.counting import Outcome


@dataclass(frozen=True, eq=False, slots=True)
class Reasons(Displayable, Sequence[str]):
    """Why samples have no value, each in words that are held once; empty if a sample has one.

    >>> reasons = Reasons.of(["", "no answer", "no answer"])
    >>> list(reasons), reasons[1], reasons.words
    (['', 'no answer', 'no answer'], 'no answer', ('', 'no answer'))
    """

    words: tuple[str, ...] = ("",)
    codes: Array = field(default_factory=lambda: np.zeros(0, dtype=np.uint8))
    """For each sample the place of its reason."""

    @classmethod
    def of(cls, reasons: Iterable[str]) -> Reasons:
        """The reasons, one a sample."""
        words = {"": 0}
        codes = [words.setdefault(each, len(words)) for each in reasons]
        return cls(tuple(words), np.array(codes, dtype=np.min_scalar_type(len(words))))

    def cut(self, samples: Array) -> Reasons:
        """The reasons of these samples, in this order."""
        return Reasons(self.words, self.codes[samples])

    def __len__(self) -> int:
        return len(self.codes)

    def __iter__(self) -> Iterator[str]:
        return map(self.words.__getitem__, self.codes.tolist())

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> Reasons: ...

    def __getitem__(self, place: int | slice) -> str | Reasons:
        found = self.codes[place]
        return Reasons(self.words, found) if isinstance(place, slice) else self.words[found]


@dataclass(frozen=True, eq=False, slots=True)
class JudgedColumn(ScoreColumn):
    """The values of one metric; what is not measured counts in no mean, and is never taken for 0 or 1."""

    low: PerQuery = field(default_factory=lambda: np.zeros(0))
    high: PerQuery = field(default_factory=lambda: np.zeros(0))
    """The ends of each sample; NaN where the metric has no value for it whatever is judged."""
    settled: Array = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    units: Array = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    """How much counts in each sample, and how much of that is settled."""
    reasons: Reasons = field(default_factory=Reasons)
    """For each sample why it has no value; empty if it has one."""
    spread: PerQuery = field(default_factory=lambda: np.zeros(0))
    """The variance that soft verdicts leave around each value."""

    @property
    def mean(self) -> float:
        """The mean over the measured samples, within what is possible for all; NaN where none is measured."""
        low, high = self.possible or (-np.inf, np.inf)
        return float(min(max(self.counting.mean(), low), high)) if len(self.counting) else float("nan")

    @property
    def softness(self) -> float:
        """The variance that soft verdicts leave around the mean."""
        spread = self.spread if self.counted is None else self.spread[self.counted]
        return float(spread.sum()) / len(spread) ** 2 if len(spread) else 0.0

    @property
    def possible(self) -> Pair | None:
        """The range of the mean over all samples, with the undecided ones at their worst and at their best."""
        known = ~np.isnan(self.low)
        return (float(self.low[known].mean()), float(self.high[known].mean())) if known.any() else None

    @property
    def measurable(self) -> int:
        """How many samples could have a value: all but those without what the metric compares with."""
        return int((~np.isnan(self.low)).sum())

    @property
    def thin(self) -> bool:
        """Whether fewer than half of the samples that could have a value have one."""
        return is_thin(len(self.counting), self.measurable)

    @property
    def coverage(self) -> float:
        """Which share of the counted pieces is settled, over the samples in the mean; 0 if nothing counts."""
        counts = np.array([self.settled.sum(), self.measurable - self.lost], dtype=np.float64)
        return float(ratio(counts, np.array([self.units.sum(), self.measurable])).prod())

    @property
    def lost(self) -> int:
        """How many samples left the mean by the system's doing, as by an answer that abstains."""
        return int((~np.isnan(self.low) & (self.units == 0)).sum())

    @property
    def why(self) -> dict[str, int]:
        """Why samples have no value, with how many, the most frequent first."""
        return dict(Counter(filter(None, self.reasons)).most_common())

    def cut(self, samples: Array) -> JudgedColumn:
        """The column of these samples, in this order."""
        counted = None if self.counted is None else self.counted[samples]
        parts = {name: getattr(self, name)[samples] for name in ("values", *_ARRAYS)}
        return replace(self, counted=counted, reasons=self.reasons.cut(samples), **parts)

    def to_dict(self) -> dict[str, Any]:
        """The facts beside the values, as plain data."""
        arrays = {name: [None if x != x else x for x in getattr(self, name).tolist()] for name in _ARRAYS}
        return {**arrays, "reasons": list(self.reasons)}


_ARRAYS = ("low", "high", "settled", "units", "spread")


def column_from(measure: Measure, values: PerQuery, counted: Array | None, data: Mapping[str, Any]) -> JudgedColumn:
    """The column as `to_dict` wrote it, with its values."""
    low, high = (np.array([np.nan if x is None else x for x in data[name]], float) for name in ("low", "high"))
    settled, units = (np.array(data[name], dtype=np.intp) for name in ("settled", "units"))
    spread = np.array(data.get("spread", np.zeros(len(low))), dtype=np.float64)
    return JudgedColumn(measure, values, counted, "", low, high, settled, units, Reasons.of(data["reasons"]), spread)


@dataclass(slots=True)
class Tally:
    """A metric while samples are judged: a few bytes a sample, and more only for those that are open."""

    measure: Measure
    values: array[float] = field(default_factory=lambda: array("d"))
    """NaN where a sample has none."""
    counts: array[int] = field(default_factory=lambda: array("i"))
    """For each sample how much is settled, and how much counts."""
    opened: array[float] = field(default_factory=lambda: array("d"))
    """Place, low, high and spread of each sample whose ends are not its value."""
    unmeasured: array[int] = field(default_factory=lambda: array("i"))
    """Place and words of each sample with a reason."""
    words: dict[str, int] = field(default_factory=lambda: {"": 0})

    def add(self, outcome: Outcome) -> None:
        """Take one outcome."""
        place = len(self.values)
        value, low, high = (np.nan if x is None else x for x in (outcome.value, outcome.low, outcome.high))
        self.values.append(value)
        self.counts.extend((outcome.settled, outcome.units))
        if outcome.spread or not outcome.value == outcome.low == outcome.high:
            self.opened.extend((place, low, high, outcome.spread))
        if outcome.reason:
            self.unmeasured.extend((place, self.words.setdefault(outcome.reason, len(self.words))))

    def column(self) -> JudgedColumn:
        """The column of all samples; if none is open its ends are the array of its values."""
        known = np.array(self.values, dtype=np.float64)
        counted = ~np.isnan(known)
        values = known if counted.all() else np.where(counted, known, 0.0)
        low, high, spread = self._ends(known)
        settled, units = np.array(self.counts, dtype=np.int32).reshape(-1, 2).T.copy()
        return JudgedColumn(self.measure, values, counted, "", low, high, settled, units, self._reasons(), spread)

    def _ends(self, known: PerQuery) -> tuple[PerQuery, PerQuery, PerQuery]:
        """The ends of each sample, and the spread between them."""
        rows = np.array(self.opened, dtype=np.float64).reshape(-1, 4)
        if not len(rows):
            return known, known, np.broadcast_to(0.0, len(known))
        low, high, spread = known.copy(), known.copy(), np.zeros(len(known))
        for ends, found in zip((low, high, spread), rows.T[1:], strict=True):
            ends[rows[:, 0].astype(np.intp)] = found
        return low, high, spread

    def _reasons(self) -> Reasons:
        codes = np.zeros(len(self.values), dtype=np.min_scalar_type(len(self.words)))
        places, words = np.array(self.unmeasured, dtype=np.intp).reshape(-1, 2).T
        codes[places] = words
        return Reasons(tuple(self.words), codes)


def note_of(columns: Sequence[JudgedColumn]) -> str:
    """Why samples have no value, in a sentence; empty if all have one."""
    why: Counter[str] = Counter()
    for each in columns:
        why.update(each.why)
    listed = ", ".join(f"{reason} ({count:,})" for reason, count in why.most_common(4))
    listed += f", {count(len(why) - 4, 'more reason')}" if len(why) > 4 else ""
    return f"unmeasured samples: {listed}" if listed else ""


STRONGEST, INDEPENDENT = "strongest", "independent"
"""How soft verdicts on several contexts are combined: the strongest, or all as if independent."""


def widen_interval(column: JudgedColumn, low: float, high: float, level: float) -> tuple[float, float]:
    """The interval of a mean, with the variance of soft verdicts added on both sides, within what can be."""
    if not column.softness or not math.isfinite(high - low):
        return low, high
    reach = NormalDist().inv_cdf((1 + level) / 2) ** 2 * column.softness
    down, up = (math.sqrt((end - column.mean) ** 2 + reach) for end in (low, high))
    most = 1.0 if column.counting.max() <= 1 else math.inf
    return max(column.mean - down, 0.0), min(column.mean + up, most)


def method_of(column: JudgedColumn, method: str, independent: bool = False) -> str:
    """How the interval was made."""
    if not column.softness:
        return method
    how = "each apart" if independent else "of several contexts the strongest"
    return f"{method}, with the spread of soft verdicts ({how})"
