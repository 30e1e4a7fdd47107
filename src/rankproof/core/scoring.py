"""From hits to numbers: measures under the conventions, their limits, and the rows of results."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import nan
from typing import Any, NamedTuple, Self

import numpy as np

from rankproof.core.arrays import FLOOR, LARGEST, exact_mean
from rankproof.core.bounds import seen_down_to
from rankproof.core.conventions import Conventions, counted_queries, fill_unjudged, is_thin, tied_values
from rankproof.core.expected_and_extreme_values import extremes
from rankproof.core.hits import Array, Hits, PerQuery
from rankproof.core.measure import Measure, row_gains, seen_by, worth
from rankproof.document.model import Displayable, PlainData
from rankproof.document.numbers import setting
from rankproof.errors import DataError, shorten

CLOSE = 1e-9
"""Values nearer than this are the same but for rounding."""


class Split(NamedTuple):
    """How far each query is below its ceiling, in two parts."""

    never_found: PerQuery
    """The loss that remains even in the best order of the returned documents."""
    ranked_too_low: PerQuery
    """The gain of the best order of the returned documents."""


def ceiling(measure: Measure, hits: Hits) -> PerQuery:
    """The best value of each query that any ranking could reach under its judgments."""
    if measure.spec.ceiling is not None:
        return measure.spec.ceiling(seen_by(measure, hits), **measure.params)
    return measure(seen_by(measure, ideal(measure, hits)))


def ideal(measure: Measure, hits: Hits) -> Hits:
    """All judged documents in the order that is best for the measure."""
    if not isinstance(measure.gain, dict):  # which may give a lower grade more than a higher one
        return hits.ideal
    return replace(hits.judged.reordered_by(row_gains(measure, hits.judged)), pool=hits.judged)


def tie_bounds(measure: Measure, hits: Hits) -> tuple[PerQuery, PerQuery] | None:
    """The lowest and highest values over orders of equal scores; None: nothing is tied, or not known."""
    if hits.first is None:
        return None
    low, high, searched = extremes(measure, hits, [""] * hits.n)
    return None if searched else (low, high)


def unjudged_bounds(measure: Measure, hits: Hits, grade: float = 1) -> tuple[PerQuery, PerQuery] | None:
    """The lowest and highest values if any of the returned documents nobody judged were relevant at `grade`.

    A grade that is not yet relevant to the measure counts as the lowest that is. None: no bound is true.
    """
    grade = grade if measure.rel is None else max(grade, measure.rel)
    if measure.spec.unjudged is not None:
        return measure.spec.unjudged(hits, grade, **measure.params)
    rescaled = measure.scales_by_judgments and grade > hits.top_grade  # what all others are worth would change
    if not measure.spec.optimistic or rescaled:
        return None
    shown = seen_down_to(hits, measure.cutoff)
    one, other = (measure(seen_by(measure, each)) for each in (shown, fill_unjudged(shown, grade)))
    return np.minimum(one, other), np.maximum(one, other)


def split(measure: Measure, hits: Hits) -> Split | None:
    """What was never found and what was ranked too low; None if a better order can hurt, or where the
    ceiling asks for a shorter ranking, so that what is missing is neither."""
    value = worth(measure, hits)
    if not measure.spec.reorder or not measure.steady or value is None:
        return None
    sign = measure.spec.sign
    top = sign * ceiling(measure, hits)
    # A ranking as long as this one with all judged documents in the best order.
    best = ideal(measure, hits)
    longest = np.maximum(best.retrieved, hits.retrieved)
    complete = measure(seen_by(measure, replace(best, retrieved=longest, corpus_size=hits.corpus_size)))
    if bool((top - sign * complete > CLOSE).any()):
        return None
    reordered = sign * measure(seen_by(measure, hits.reordered_by(value)))
    now = sign * measure(seen_by(measure, hits))
    return Split(np.maximum(top - reordered, 0.0), np.maximum(reordered - now, 0.0))


@dataclass(frozen=True, eq=False, slots=True)
class ScoreColumn(Displayable):
    """The values of one measure: one a query, and which of them count in the mean."""

    measure: Measure
    values: PerQuery
    counted: Array | None
    """Which queries count; None: all."""
    note: str = ""
    """A note beside the number, if there is one."""

    @property
    def counting(self) -> PerQuery:
        """The values that count in the mean."""
        return self.values if self.counted is None else self.values[self.counted]

    @property
    def mean(self) -> float:
        """The values as one number, by the measure's own average."""
        return self.mean_of(self.values)

    def mean_of(self, values: PerQuery) -> float:
        """Other values of these queries as one number, over those that count."""
        return average(self.measure, values if self.counted is None else values[self.counted])

    def cut(self, queries: Array) -> Self:
        """The values of the queries at these places, in this order."""
        counted = None if self.counted is None else self.counted[queries]
        return replace(self, values=self.values[queries], counted=counted)


def average(measure: Measure, values: PerQuery) -> float:
    """The mean, the sum or the geometric mean of `values`, as the measure declares."""
    if not len(values):
        raise DataError(
            f"{measure}: no query is left to average, as each has no answer or no relevant document. Next: look at "
            f"the audit, or set {setting('missing', 'zero')} and {setting('no_relevant', 'zero')}."
        )
    if measure.spec.average == "sum":
        return math.fsum(values.tolist())
    if measure.spec.average == "geometric":
        return math.exp(exact_mean(np.log(np.maximum(values, FLOOR))))
    return exact_mean(values)


def score_columns(
    measures: Sequence[Measure], hits: Hits, conventions: Conventions, queries: Sequence[str]
) -> dict[str, ScoreColumn]:
    """The columns of measures."""
    counted = counted_queries(measures, hits, conventions)
    with np.errstate(all="ignore"):  # a value that is not a number is reported below, with its query
        if conventions.ties in ("expected", "best", "worst") and hits.first is not None:
            found = [tied_values(each, hits, conventions.ties, queries) for each in measures]
        else:
            found = [(values, "") for values in _values(measures, hits)]
    columns = {}
    for each, (values, note) in zip(measures, found, strict=True):
        _check_numbers(each, values, queries)
        if conventions.rounded is not None:
            # as the products that round do it: .125 becomes .13, where NumPy says .12
            scale = 10.0**conventions.rounded
            values = np.asarray(np.floor(values * scale + 0.5) / scale)
        columns[each.name] = ScoreColumn(each, values, counted, note)
    return columns


def _values(measures: Sequence[Measure], hits: Hits) -> list[PerQuery]:
    """The values of each measure, worked out for some of the queries at a time."""
    parts: list[list[PerQuery]] = [[] for _ in measures]
    for part in hits.parts():
        for each, values in zip(measures, parts, strict=True):
            values.append(each(seen_by(each, part)))
            if np.shape(values[-1]) != (part.n,):  # the measure may be anyone's
                raise DataError(
                    f"{each}: gave an array of shape {np.shape(values[-1])} for {part.n:,} queries, expected one "
                    "number each. Next: let its function return one, as h.count() and h.sum(...) do."
                )
        if part is not hits:
            part.forget()
    return [values[0] if len(values) == 1 else np.concatenate(values) for values in parts]


def _check_numbers(measure: Measure, values: PerQuery, queries: Sequence[str]) -> None:
    """Refuse values that are no finite numbers."""
    finite = np.abs(values) < LARGEST  # NaN is not
    if np.count_nonzero(finite) < len(queries):
        bad = np.flatnonzero(~finite)
        raise DataError(
            f"{measure}: gave {values[bad[0]]} for query {shorten(queries[bad[0]])} ({len(bad):,} such in all), "
            "expected numbers. Next: look at its grades and gains, which may be too large to add up; let the "
            "function of a measure of your own divide by ratio(a, b), where 0 / 0 is 0."
        )


Pair = tuple[float, float]
Words = tuple[str, str]


@dataclass(frozen=True, slots=True)
class ScoreRow(PlainData):
    """One measure of one ranking, with all details of its mean."""

    measure: str
    mean: float
    n: int
    low: float | None = None
    high: float | None = None
    method: str = ""
    """How the interval was made."""
    ceiling: float | None = None
    ties: Pair | None = None
    """The range of the mean under other orders of equal scores; None: nothing is tied, or not known."""
    unjudged: Pair | None = None
    """The range of the mean if unjudged documents were relevant; None: no bound is true."""
    never_found: float | None = None
    ranked_too_low: float | None = None
    coverage: float | None = None
    """The share that a judge decided; None: no judge was asked."""
    possible: Pair | None = None
    """The range of the mean, with all undecided verdicts at their worst, or at their best."""
    estimate: tuple[float, float, float] | None = None
    """The expectation over all pairs, open ones too, with the ends of its interval; None: nothing is doubtful."""
    measurable: int | None = None
    """For how many queries or samples there would be a value if all were judged; None: no judge was asked."""
    corrected: float | None = None
    """The mean, corrected for the judge's error by labels of people; None if there are too few."""
    corrected_ends: Pair | None = None
    """Its interval, which includes the judge's error."""
    note: str = ""
    higher: bool = True
    """Whether more is better."""
    most: float | None = None
    """The best that any of the queries could reach, which is where their range ends; None: not known."""

    @property
    def thin(self) -> bool:
        """Whether the mean is over fewer than half of the cases, those that were easy to judge."""
        return self.measurable is not None and self.n > 0 and is_thin(self.n, self.measurable)

    @property
    def shown(self) -> float:
        """The mean as it is printed: NaN if it is thin, since only the bounds are known then.

        >>> ScoreRow("context_precision", 1.0, n=1, measurable=10).shown, ScoreRow("RR", 0.5, n=1).shown
        (nan, 0.5)
        """
        return nan if self.thin else self.mean

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """The interval as it is printed: None if no mean is printed."""
        return (None, None) if self.thin else (self.low, self.high)


@dataclass(frozen=True, slots=True)
class Summary(Displayable):
    """One ranking's rows, and the facts under them."""

    name: str
    rows: list[ScoreRow]
    queries: int
    documents: int
    """Judged documents."""
    tied: float | None
    """The share of judged documents found that stand among equal scores; None: none was found."""
    unjudged: dict[int, float] = field(default_factory=dict)
    """For each cut-off the share of documents in the top k that nobody judged."""
    slices: dict[str, list[ScoreRow]] = field(default_factory=dict)
    apart: str = ""
    """A note on queries in no slice."""
    findings: list[Any] = field(default_factory=list)
    """Serious findings of the audit."""
    conventions: list[str] = field(default_factory=list)
    """The conventions that shaped the numbers, in words."""
    profile: str | None = None
    nouns: Words = ("query", "queries")
    """The singular and plural of the counted unit."""
    said: list[str] = field(default_factory=list)
    """Additional sentences under the table."""
