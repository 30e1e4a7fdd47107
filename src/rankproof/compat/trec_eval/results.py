"""Values of measures for topics, and how trec_eval sums them up."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from rankproof.compat.trec_eval.files import Norm
from rankproof.compat.trec_eval.options import OptionColumn
from rankproof.core.hits import Hits
from rankproof.core.rules import Conventions, condense


@dataclass(frozen=True)
class Topics:
    """The topics to evaluate in the order of printing."""

    shown: tuple[str, ...]
    divisor: int
    """By how many topics means are divided."""
    missing: str | None = None
    """The first judged topic without results, if that stops the evaluation."""


def select_topics(judged: Iterable[str], answered: Collection[str], version: int, complete: bool) -> Topics:
    """Version 9 evaluates answered topics and counts the others only in the divisor; 10 evaluates all.

    >>> select_topics(["q2", "q1"], {"q1"}, 9, complete=True)
    Topics(shown=('q1',), divisor=2, missing=None)
    """
    ordered = tuple(sorted(judged))
    if version == 10 and complete:
        return Topics(ordered, len(ordered))
    both = tuple(topic for topic in ordered if topic in answered)
    if version == 9:
        return Topics(both, len(ordered) if complete else len(both))
    missing = next((topic for topic in ordered if topic not in answered), None)
    shown = both if missing is None else ordered[: ordered.index(missing)]
    return Topics(shown, len(shown), missing)


@dataclass(frozen=True)
class Cut:
    """How rankings are cut before anything is measured."""

    depth: int | None = None
    judged_only: bool = False
    stand_in: bool = False
    """Whether a topic without results is given one document that nobody judged."""


def conventions(version: int) -> Conventions:
    """The order of documents in a version: 9 compares scores in single precision."""
    return Conventions(precision="float32" if version == 9 else "float64")


def cut(hits: Hits, how: Cut) -> Hits:
    """The hits that are measured: first cut at the depth, then reduced to judged documents.

    A negative grade means "in the pool, but not judged".
    """
    if how.stand_in and hits.answered is not None:
        hits = replace(hits, retrieved=np.where(hits.answered, hits.retrieved, 1))
    if how.depth is not None:
        hits = replace(hits.top(how.depth), retrieved=np.minimum(hits.retrieved, how.depth))
    return condense(hits.keep(hits.grade >= 0)) if how.judged_only else hits


def relevance_strings(hits: Hits, length: int) -> list[str]:
    """The grades of the first documents, one character each.

    '-' for a document outside the pool, '.' for one in it that was not judged, '>' for more than 9.
    """
    lengths = np.clip(hits.retrieved, 0, max(length, 0))
    strings = [["-"] * int(n) for n in lengths]
    shown = hits.top(length) if length > 0 else hits.keep(np.zeros(len(hits.rank), dtype=bool))
    rows = zip(shown.query.tolist(), shown.rank.tolist(), shown.grade.tolist(), strict=True)
    for query, rank, grade in rows:
        strings[query][rank - 1] = "." if grade < 0 else ">" if grade > 9 else str(int(grade))
    return ["".join(string) for string in strings]


Value: TypeAlias = float | str

NO_ZSCORE = -1000000.0
"""What stands for a z-score whose mean and deviation are not known."""

FLOOR = 0.00001
"""The least value that enters a geometric mean."""


@dataclass(frozen=True)
class ResultSeries:
    """The values of one column, topic by topic."""

    column: OptionColumn
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
    series: Sequence[ResultSeries]
    standardised: bool = False


def standardise(results: Results, norms: Mapping[tuple[str, str], Norm]) -> Results:
    """Every value as the number of standard deviations it lies above the reference mean."""

    def converted(series: ResultSeries) -> ResultSeries:
        if any(isinstance(value, str) for value in series.values):
            return series
        pairs = zip(series.values, results.topics, strict=True)
        name = series.column.name
        return replace(series, values=[zscore(float(value), norms.get((topic, name))) for value, topic in pairs])

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

    def summed(series: ResultSeries) -> ResultSeries:
        known = fixed.get(series.column.entry.name)
        return replace(series, summary=_summary(series, topics) if known is None else known)

    return replace(results, series=[summed(series) for series in results.series])


def _summary(series: ResultSeries, topics: int) -> Value:
    average = series.column.entry.average
    if average == "none":
        return series.values[0]
    # The plain sum from first to last, so that its last bit is trec_eval's.
    total = float(np.cumsum([float(value) for value in series.values])[-1])
    if average == "geometric":
        # Topics without results enter with the floor: their sum of logarithms would be perfect.
        return math.exp((total + (topics - len(series.values)) * math.log(FLOOR)) / topics)
    return total / topics if average == "mean" else total
