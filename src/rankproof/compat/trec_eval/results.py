"""Values of measures for topics, and how trec_eval sums them up."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from rankproof.compat.trec_eval.catalogue import Average
from rankproof.compat.trec_eval.lines import Norm
from rankproof.compat.trec_eval.parameters import Column

Value: TypeAlias = float | str

NO_ZSCORE = -1000000.0
"""What stands for a z-score whose mean and deviation are not known."""

FLOOR = 0.00001
"""The least value that enters a geometric mean."""


@dataclass(frozen=True)
class Series:
    """The values of one column, topic by topic."""

    column: Column
    values: Sequence[Value]
    summary: Value = 0.0

    @property
    def whole(self) -> bool:
        """Whether the values are printed as whole numbers."""
        return self.column.entry.whole


@dataclass(frozen=True)
class Results:
    """All columns for the topics evaluated, in the order of printing."""

    topics: Sequence[str]
    series: Sequence[Series]
    standardised: bool = False


def standardise(results: Results, norms: Mapping[tuple[str, str], Norm]) -> Results:
    """Every value as the number of standard deviations it lies above the reference mean."""

    def converted(series: Series) -> Series:
        if any(isinstance(value, str) for value in series.values):
            return series
        known = [norms.get((topic, series.column.name)) for topic in results.topics]
        pairs = zip(series.values, known, strict=True)
        return replace(series, values=[zscore(float(value), norm) for value, norm in pairs])

    return replace(results, series=[converted(series) for series in results.series], standardised=True)


def zscore(value: float, norm: Norm | None) -> float:
    """(value - mean) / deviation.

    >>> zscore(0.5, Norm(0.3, 0.1))
    2.0
    """
    if norm is None:
        return NO_ZSCORE
    if norm.deviation == 0:
        return 0.0 if value == norm.mean else NO_ZSCORE
    return (value - norm.mean) / norm.deviation


def summarise(results: Results, topics: int, fixed: Mapping[str, Value]) -> Results:
    """The results with their summaries over `topics` topics; `fixed` ones are known already."""

    def summed(series: Series) -> Series:
        known = fixed.get(series.column.entry.name)
        return replace(series, summary=_summary(series, topics) if known is None else known)

    return replace(results, series=[summed(series) for series in results.series])


def _summary(series: Series, topics: int) -> Value:
    average = series.column.entry.average
    if average == "none":
        return series.values[0]
    return AVERAGES[average](_running_sum(series.values), topics, len(series.values))


def _running_sum(values: Sequence[Value]) -> float:
    """The plain sum from first to last, so that its last bit is trec_eval's."""
    return float(np.cumsum([float(value) for value in values])[-1])


def _geometric(total: float, topics: int, seen: int) -> float:
    """Topics without results enter with the floor: their sum of logarithms would be perfect."""
    return math.exp((total + (topics - seen) * math.log(FLOOR)) / topics)


AVERAGES: dict[Average, Callable[[float, int, int], float]] = {
    "mean": lambda total, topics, seen: total / topics,
    "sum": lambda total, topics, seen: total,
    "geometric": _geometric,
}
