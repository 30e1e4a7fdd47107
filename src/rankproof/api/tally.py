"""One judged metric over all samples: values, ends, how much is settled, and why some have no value."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rankproof.core.hits import Array, PerQuery, ratio
from rankproof.core.measure import Measure
from rankproof.core.scoring import Column
from rankproof.core.summary import Pair


@dataclass(frozen=True, eq=False, slots=True)
class JudgedColumn(Column):
    """The values of one metric; what is not measured counts in no mean, and is never taken for 0 or 1."""

    low: PerQuery = field(default_factory=lambda: np.zeros(0))
    high: PerQuery = field(default_factory=lambda: np.zeros(0))
    """The ends of each sample; NaN where the metric has no value for it whatever is judged."""
    settled: Array = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    units: Array = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    """How much counts in each sample, and how much of that is settled."""
    reasons: tuple[str, ...] = ()
    """For each sample why it has no value; empty where it has one."""
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
        """Where the mean over all samples lies, with what is open at its worst and at its best."""
        known = ~np.isnan(self.low)
        return (float(self.low[known].mean()), float(self.high[known].mean())) if known.any() else None

    @property
    def measurable(self) -> int:
        """For how many samples there would be a value if all were judged."""
        return int((~np.isnan(self.low)).sum())

    @property
    def thin(self) -> bool:
        """Whether fewer than half of the samples that could have a value have one."""
        return len(self.counting) < self.measurable / 2

    @property
    def coverage(self) -> float:
        """The share of what counts that is settled; 0 where nothing counts."""
        return float(ratio(self.settled.sum(), self.units.sum()))

    @property
    def why(self) -> dict[str, int]:
        """Why samples have no value, with how many, the most frequent first."""
        return dict(Counter(filter(None, self.reasons)).most_common())

    def cut(self, samples: Array) -> JudgedColumn:
        """The column of these samples, in this order."""
        counted = None if self.counted is None else self.counted[samples]
        reasons = tuple(self.reasons[i] for i in samples.tolist())
        parts = {name: getattr(self, name)[samples] for name in ("values", *_ARRAYS)}
        return replace(self, counted=counted, reasons=reasons, **parts)

    def to_dict(self) -> dict[str, Any]:
        """What the values alone do not say, as plain data."""
        arrays = {name: [None if x != x else x for x in getattr(self, name).tolist()] for name in _ARRAYS}
        return {**arrays, "reasons": list(self.reasons)}


_ARRAYS = ("low", "high", "settled", "units", "spread")


def column_from(
    measure: Measure, values: PerQuery, counted: Array | None, data: Mapping[str, Any]
) -> JudgedColumn:
    """The column as `to_dict` wrote it, with its values."""
    low, high = (
        np.array([np.nan if x is None else x for x in data[name]], float) for name in ("low", "high")
    )
    settled, units = (np.array(data[name], dtype=np.intp) for name in ("settled", "units"))
    spread = np.array(data.get("spread", np.zeros(len(low))), dtype=np.float64)
    return JudgedColumn(
        measure, values, counted, "", low, high, settled, units, tuple(data["reasons"]), spread
    )


@dataclass(slots=True)
class Tally:
    """A metric while samples are judged: a few numbers a sample."""

    measure: Measure
    rows: array[float] = field(default_factory=lambda: array("d"))
    reasons: list[str] = field(default_factory=list)
    _words: dict[str, str] = field(default_factory=dict)

    def add(self, outcome: Any) -> None:
        """Take one outcome."""
        value, low, high = (np.nan if x is None else x for x in (outcome.value, outcome.low, outcome.high))
        counts = outcome.settled, outcome.units, outcome.spread
        self.rows.extend((value, outcome.value is not None, low, high, *counts))
        # The same words once: a hundred thousand samples often lack the same thing.
        self.reasons.append(self._words.setdefault(outcome.reason, outcome.reason))

    def column(self) -> JudgedColumn:
        """The column of all samples."""
        rows = np.array(self.rows, dtype=np.float64).reshape(-1, 7)
        value, counted, low, high, settled, units, spread = map(np.copy, rows.T)  # each by itself
        counts = counted.astype(bool)
        return JudgedColumn(
            self.measure,
            np.where(counts, value, 0.0),
            counts,
            "",
            low,
            high,
            settled.astype(np.intp),
            units.astype(np.intp),
            tuple(self.reasons),
            spread,
        )


def note_of(columns: Sequence[JudgedColumn]) -> str:
    """Why samples have no value, in a sentence; empty where all have one."""
    why: Counter[str] = Counter()
    for each in columns:
        why.update(each.why)
    listed = ", ".join(f"{reason} ({count:,})" for reason, count in why.most_common(4))
    return f"unmeasured samples: {listed}" if listed else ""
