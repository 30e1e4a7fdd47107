"""The value of a metric for each sample, and all of them as a column: how much is settled, and why some have none."""

from __future__ import annotations

from array import array
from collections import ChainMap, Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise, product
from math import prod
from sys import intern
from typing import Any, cast

import numpy as np

from rankproof.core.conventions import is_thin
from rankproof.core.hits import Array, PerQuery, ratio
from rankproof.core.measure import Measure
from rankproof.core.scoring import Pair, ScoreColumn
from rankproof.judging.case import Case
from rankproof.judging.metrics.contexts import of_grades
from rankproof.judging.metrics.registry import (
    METRICS,
    PEERS,
    Metric,
    Nothing,
    Units,
    count_settled,
    fill_open,
    holes,
    settled_units,
    size,
    ways,
)
from rankproof.judging.verdicts import PLAIN_YES, Ask, Relation, Said, Verdict
from rankproof.text.words import digest


@cache
def _by_spec() -> dict[object, Metric]:
    return {each.measure.spec.function: each for known in (METRICS, *PEERS.values()) for each in known.values()}


def metric_of(measure: Measure) -> Metric:
    """The declaration of a metric in the registry; a measure of rankings is one over grades."""
    known = _by_spec().get(measure.spec.function)
    return known if known is not None else of_grades(measure)


MOST_WAYS = 4096
"""Ways to fill what is open that are tried; above it the ends are the widest that are possible at all."""
SAME = 1e-12


@dataclass(frozen=True, slots=True)
class Outcome:
    """One metric of one sample. Without a value it is unmeasured, and `reason` says why."""

    value: float | None = None
    low: float | None = None
    """The value with all that is open at its worst or best, whichever is less; None: it has no value at all."""
    high: float | None = None
    settled: int = 0
    units: int = 0
    """How many claims, chunks or statements count, and how many of them are settled. A sample without a value and
    without units, but with ends, left the mean by the system's doing."""
    reason: str = ""
    spread: float = 0.0
    """The variance that soft verdicts leave around the value."""


def missing_fields(metric: Metric, case: Case) -> str:
    """The fields that the sample lacks, in words; empty if it has all."""
    given = {field for field in metric.needs if case.sample.has(field) and (field != "query" or case.query.strip())}
    lacking = [field.replace("_", " ") for field in metric.needs if field not in given]
    return f"no {' and no '.join(lacking)}" if lacking else ""


def outcomes(measure: Measure, cases: Sequence[Case], complete: float = 1.0) -> list[Outcome]:
    """The outcome for each case; a case counts from the share `complete` of its units on."""
    metric = metric_of(measure)
    counted: list[Units | Nothing] = []
    for case in cases:
        case.soft = {}
        lacking = missing_fields(metric, case)
        counted.append(Nothing(lacking) if lacking else metric.read(case, **measure.given))
    made = iter(_outcomes(metric, [units for units in counted if not isinstance(units, Nothing)], complete))
    found = []
    for case, units in zip(cases, counted, strict=True):
        if not isinstance(units, Nothing):
            outcome = next(made)
        else:  # without a value; it could have had any, if the system made it so
            low, high = (0.0, units.high) if units.lost else (None, None)
            outcome = Outcome(low=low, high=high, reason=units.reason)
        if case.soft:
            soft = ways_to_fall(case, list(case.soft.values()), metric.soft_by)
            weights, fallen = zip(*soft, strict=True)
            outcome = _mixed(weights, outcomes(measure, fallen, complete))
        found.append(outcome)
    return found


def _mixed(weights: Sequence[float], found: Sequence[Outcome]) -> Outcome:
    """Outcomes made one: over those that have a value; without one where most have none, or one is open."""
    ways = [(w, each) for w, each in zip(weights, found, strict=True) if w > 0 and each.low is not None]
    total = sum(w for w, _ in ways)
    if total < 0.5:
        return max(zip(weights, found, strict=True), key=lambda way: (way[1].low is None, way[0]))[1]
    low, high = (sum(w * (getattr(each, end) or 0.0) for w, each in ways) / total for end in ("low", "high"))
    least = min((each for _, each in ways), key=lambda each: each.settled / max(each.units, 1))
    if any(each.value is None for _, each in ways):
        return replace(least, value=None, low=low, high=high)
    value = sum(w * (each.value or 0.0) for w, each in ways) / total
    spread = sum(w * (each.spread + ((each.value or 0.0) - value) ** 2) for w, each in ways) / total
    return replace(least, value=value, low=low, high=high, spread=spread)


def _outcomes(metric: Metric, batch: Sequence[Units], complete: float) -> list[Outcome]:
    if not batch:
        return []
    low, high = ends(metric, batch)
    # The value over the settled units where these are enough; None elsewhere.
    enough = [complete < 1 and 0 < count_settled(units) >= complete * size(units) for units in batch]
    parts = [settled_units(units) for units, yes in zip(batch, enough, strict=True) if yes]
    values = iter(metric.score(parts).tolist() if parts else ())
    estimate = [next(values) if yes else None for yes in enough]
    return [_outcome(units, *each) for units, *each in zip(batch, low.tolist(), high.tolist(), estimate, strict=True)]


def _outcome(units: Units, low: float, high: float, estimate: float | None) -> Outcome:
    total, known = size(units), count_settled(units)
    if high - low <= SAME:  # what is open cannot change it
        return Outcome(low, low, low, max(total, 1), max(total, 1))
    if estimate is not None:
        return Outcome(min(max(estimate, low), high), low, high, known, total)
    return Outcome(None, low, high, known, total, "not settled")


def ends(metric: Metric, batch: Sequence[Units]) -> tuple[Array, Array]:
    """The lowest and the highest value of each sample over all that could stand in its open places."""
    first, last = (metric.score([fill_open(u, end) for u in batch]) for end in (metric.choices[0], metric.choices[-1]))
    low, high = np.minimum(first, last), np.maximum(first, last)
    for i, units in enumerate(batch if not metric.monotone else ()):
        if len(metric.choices) ** holes(units) > MOST_WAYS:
            low[i], high[i] = metric.limits(units)
        elif holes(units):
            values = metric.score(list(ways(units, metric.choices)))
            low[i], high[i] = values.min(), values.max()
    return low, high


EXACT = 64
"""Ways that are all gone through."""
DRAWS = 64
"""Ways that are drawn if there are more."""
TOGETHER = (Relation.CONTEXT_ANSWERS, Relation.TEXT_SUPPORTS, Relation.TEXT_SUPPORTS_IN_PART)
"""Relations of which one left text is asked of several contexts that are about the same thing."""


def ways_to_fall(case: Case, soft: Sequence[Verdict], by: str = "left") -> Iterator[tuple[float, Case]]:
    """The case with each soft verdict fallen one way, and the weight of that way.

    Verdicts fall together that have the same claim, or `by="right"` the same context.
    """
    said = cast(dict[Ask, Said], case.said)
    groups: dict[object, list[Verdict]] = {}
    for each in soft:
        ask = each.ask
        apart = case.independent or ask.relation not in TOGETHER
        by_context = by == "right" and ask.relation in (Relation.TEXT_SUPPORTS, Relation.TEXT_SUPPORTS_IN_PART)
        shared = ask.right if by_context else ask.left
        groups.setdefault(ask if apart else (ask.relation, shared), []).append(each)
    falls = [_falls(each) for each in groups.values()]
    ways: Iterable[tuple[float, frozenset[Ask]]] = _drawn(list(groups.values()))
    if prod(map(len, falls)) <= EXACT:
        every = (list(zip(*way, strict=True)) for way in product(*falls))
        ways = ((prod(weights), frozenset[Ask]().union(*yes)) for weights, yes in every)
    for weight, yes in ways:
        hard: dict[Ask, Said] = {
            each.ask: Verdict(each.ask, PLAIN_YES[each.ask.relation] if each.ask in yes else 0, each.judge)
            for each in soft
        }
        yield weight, Case(case.sample, ChainMap(hard, said), case.k, independent=case.independent)


def _falls(group: Sequence[Verdict]) -> list[tuple[float, frozenset[Ask]]]:
    """The ways in which verdicts fall together: each with its weight, and those that fall to yes."""
    steps = sorted({0.0, 1.0, *(each.probability or 0.0 for each in group)})
    return [
        (high - low, frozenset(each.ask for each in group if (each.probability or 0.0) >= high))
        for low, high in pairwise(steps)
    ]


def _drawn(groups: Sequence[Sequence[Verdict]]) -> Iterator[tuple[float, frozenset[Ask]]]:
    """A Latin hypercube: every group meets each part of its probability once, in an order of its own."""
    places = (np.arange(DRAWS) + 0.5) / DRAWS
    seeds = [int.from_bytes(digest(*group[0].ask)) for group in groups]
    columns = [np.random.default_rng(seed).permutation(places).tolist() for seed in seeds]
    for drawn in zip(*columns, strict=True):
        pairs = ((each, place) for group, place in zip(groups, drawn, strict=True) for each in group)
        yield 1 / DRAWS, frozenset(each.ask for each, place in pairs if place < (each.probability or 0.0))


@dataclass(frozen=True, eq=False, slots=True)
class JudgedColumn(ScoreColumn):
    """The values of one metric; an unmeasured value is in no mean, and is never taken as 0 or 1."""

    low: PerQuery = field(default_factory=lambda: np.zeros(0))
    high: PerQuery = field(default_factory=lambda: np.zeros(0))
    """The ends of each sample; NaN where the metric has no value for it whatever is judged."""
    settled: Array = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    units: Array = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    """How much counts in each sample, and how much of that is settled."""
    reasons: Array = field(default_factory=lambda: np.zeros(0, dtype=object))
    """For each sample why it has no value, in words; empty if it has one."""
    spread: PerQuery = field(default_factory=lambda: np.zeros(0))
    """The variance that soft verdicts leave around each value."""

    @property
    def mean(self) -> float:
        """The mean over the measured samples, within the bounds over all; NaN if none is measured."""
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
        """How many samples could have a value: all except those that lack a field the metric needs."""
        return int((~np.isnan(self.low)).sum())

    @property
    def thin(self) -> bool:
        """Whether fewer than half of the samples that could have a value have one."""
        return is_thin(len(self.counting), self.measurable)

    @property
    def coverage(self) -> float:
        """The share of counted pieces that are settled, over the samples in the mean; 0 if nothing counts."""
        counts = np.array([self.settled.sum(), self.measurable - self.lost], dtype=np.float64)
        return float(ratio(counts, np.array([self.units.sum(), self.measurable])).prod())

    @property
    def lost(self) -> int:
        """How many samples left the mean because of the system, for example by an answer that abstains."""
        return int((~np.isnan(self.low) & (self.units == 0)).sum())

    @property
    def why(self) -> dict[str, int]:
        """Why samples have no value, with how many, the most frequent first."""
        return dict(Counter(filter(None, self.reasons)).most_common())

    def cut(self, samples: Array) -> JudgedColumn:
        """The column of these samples, in this order."""
        counted = None if self.counted is None else self.counted[samples]
        parts = {name: getattr(self, name)[samples] for name in ("values", "reasons", *_ARRAYS)}
        return replace(self, counted=counted, **parts)

    def to_dict(self) -> dict[str, Any]:
        """The facts beside the values, as plain data."""
        arrays = {name: [None if x != x else x for x in getattr(self, name).tolist()] for name in _ARRAYS}
        return {**arrays, "reasons": self.reasons.tolist()}


_ARRAYS = ("low", "high", "settled", "units", "spread")


def column_from(measure: Measure, values: PerQuery, counted: Array | None, data: Mapping[str, Any]) -> JudgedColumn:
    """The column as `to_dict` wrote it, with its values."""
    low, high, spread = (np.array(data[name], dtype=np.float64) for name in ("low", "high", "spread"))
    settled, units = (np.array(data[name], dtype=np.intp) for name in ("settled", "units"))
    reasons = np.array(data["reasons"], dtype=object)
    return JudgedColumn(measure, values, counted, "", low, high, settled, units, reasons, spread)


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
    reasons: list[str] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """Take one outcome."""
        place = len(self.values)
        value, low, high = (np.nan if x is None else x for x in (outcome.value, outcome.low, outcome.high))
        self.values.append(value)
        self.counts.extend((outcome.settled, outcome.units))
        if outcome.spread or not outcome.value == outcome.low == outcome.high:
            self.opened.extend((place, low, high, outcome.spread))
        self.reasons.append(intern(outcome.reason))  # equal words are held once

    def column(self) -> JudgedColumn:
        """The column of all samples; if none is open its ends are the array of its values."""
        known = np.array(self.values, dtype=np.float64)
        counted = ~np.isnan(known)
        values = known if counted.all() else np.where(counted, known, 0.0)
        low, high, spread = known, known, np.broadcast_to(0.0, len(known))
        rows = np.array(self.opened, dtype=np.float64).reshape(-1, 4)
        if len(rows):
            low, high, spread = known.copy(), known.copy(), np.zeros(len(known))
            for ends, found in zip((low, high, spread), rows.T[1:], strict=True):
                ends[rows[:, 0].astype(np.intp)] = found
        settled, units = np.array(self.counts, dtype=np.int32).reshape(-1, 2).T.copy()
        reasons = np.array(self.reasons, dtype=object)
        return JudgedColumn(self.measure, values, counted, "", low, high, settled, units, reasons, spread)
