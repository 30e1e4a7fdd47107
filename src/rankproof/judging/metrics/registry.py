"""Judged metrics as values: declared once by a function that returns what is counted in a sample, with a name.

A metric is a `Measure` of kind "judged": `context_recall@5` is spelt, checked and described like `P@5`. Its
counts are `Units`: lists in which None means that nobody judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product, repeat
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from rankproof.core.hits import Array, Hits, PerQuery, ratio
from rankproof.core.measure import Measure, Spec, parameters_of
from rankproof.core.measures.rr_and_ap import average_precision
from rankproof.core.names import CHANGES, JUDGED, one_by_one, parse_with
from rankproof.core.names import find as find_measure
from rankproof.errors import UsageError, not_known, one_of

# What a metric counts in one sample: nested lists of yes and no (or of grades), None if nobody judged.
#
# A `Grid` has a row for each thing that is counted (a claim, a chunk) and a cell for each place that may show it; a
# row is settled when one cell says yes or none is open. `Grades` are grades by rank. Several of these make a tuple.

Grid: TypeAlias = list[list[bool | None]]
Grades: TypeAlias = list[Any]
Units: TypeAlias = Any
"""A Grid, Grades, or a tuple of such."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """Why a metric has no value for a sample, whatever is judged."""

    reason: str
    lost: bool = False
    """Whether that is the system's doing: such a sample could have had any value, and counts in the bounds so."""
    high: float = 1.0
    """The highest value it could have had; the lowest is 0."""


GRADES = (0, 1, 2, 3)
"""A judge's verdict on how well a text answers."""
UNCLAIMED = Nothing("no claims in the reference")


def share(parts: Iterable[bool | None]) -> Grid:
    """A grid of items that are each shown in one place."""
    return [[part] for part in parts]


def size(units: Units) -> int:
    """The number of counted items."""
    return sum(map(size, units)) if isinstance(units, tuple) else len(units)


def count_settled(units: Units) -> int:
    """How many of them are settled.

    >>> count_settled([[True, None], [False, None], [False]]), count_settled([0, None, 3])
    (2, 2)
    """
    if isinstance(units, tuple):
        return sum(map(count_settled, units))
    return sum(_is_settled(unit) for unit in units)


def _is_settled(unit: Any) -> bool:
    return True in unit or None not in unit if isinstance(unit, list) else unit is not None


def settled_units(units: Units) -> Units:
    """The units without those that are open.

    >>> settled_units([[True, None], [False, None], [False]])
    [[True, False], [False]]
    """
    if isinstance(units, tuple):
        return tuple(map(settled_units, units))
    return [fill_open(unit, False) for unit in units if _is_settled(unit)]


def fill_open(units: Units, value: Any) -> Units:
    """The units with one value wherever nothing is known."""
    return _filled(units, repeat(value))


def holes(units: Units) -> int:
    """How many places are open."""
    return sum(map(holes, units)) if isinstance(units, (list, tuple)) else units is None


def ways(units: Units, choices: Sequence[Any]) -> Iterator[Units]:
    """The units with the open places filled in every possible way."""
    for values in product(choices, repeat=holes(units)):
        yield _filled(units, iter(values))


def _filled(units: Units, values: Iterator[Any]) -> Units:
    """The units with the next of the values in each open place."""
    if isinstance(units, (list, tuple)):
        return type(units)([_filled(each, values) for each in units])
    return next(values) if units is None else units


TOP_GRADE = 3.0
"""The highest grade of a judge, whether or not a sample has it."""


def row_coverage(grids: Sequence[Grid]) -> PerQuery:
    """The share of the rows of each grid that some cell says yes to; 0 without rows."""
    return np.array([sum(map(any, grid)) / max(len(grid), 1) for grid in grids], dtype=np.float64)


def by_rank(grades: Sequence[Grades], missed: Sequence[Grades] | None = None) -> Hits:
    """Hits of ranked contexts with their grades; `missed` are the grades of judged ones not retrieved."""
    found = _ranked(grades)
    if missed is not None:
        pool = _ranked([[*a, *b] for a, b in zip(grades, missed, strict=True)])
        rows = pool.keep(pool.rank <= found.retrieved[pool.query])
        found = Hits(rows.query, rows.rank, rows.grade, rows.doc, rows.n, found.retrieved, pool=pool)
        found.__dict__["top_grade"] = TOP_GRADE
    return found


def _ranked(grades: Sequence[Grades]) -> Hits:
    lengths = np.array([len(each) for each in grades], dtype=np.intp)
    start = np.append(0, np.cumsum(lengths))
    query = np.repeat(np.arange(len(grades)), lengths)
    place = np.arange(len(query))
    values = np.array([float(grade) for each in grades for grade in each], dtype=np.float64)
    found = Hits(query, place - start[query] + 1, values, place, len(grades), lengths)
    found.__dict__["top_grade"] = TOP_GRADE
    return found


def precision_of_found(relevant: Sequence[Grades]) -> PerQuery:
    """The mean precision at the ranks of the relevant contexts, over those found: AP(denominator='found')."""
    return average_precision(by_rank(relevant), k=None, rel=1, denominator="found")


def harmonic_mean(a: Array, b: Array) -> PerQuery:
    """The harmonic mean: F1 of a precision and a recall; 0 if both are."""
    return ratio(2 * a * b, a + b)


def mean_grade(grades: Sequence[Grades]) -> PerQuery:
    """The mean grade of each sample as a share of the highest."""
    hits = by_rank(grades)
    return ratio(hits.sum(hits.grade), hits.count()) / TOP_GRADE


def first_sufficient_rank(samples: Sequence[Sequence[Grades]]) -> PerQuery:
    """The place from which on every row that has a yes has had one; 0 if none has."""
    firsts = ([cells.index(True) + 1 for cells in rows if True in cells] for rows in samples)
    return np.array([max(each, default=0) for each in firsts], dtype=np.float64)


Score = Callable[[Sequence[Units]], PerQuery]
"""From units without gaps, one a sample, to one number a sample."""


@dataclass(frozen=True, slots=True)
class Metric:
    """The declaration of a judged metric, without the parameters of one use."""

    measure: Measure
    read: Callable[..., Any]
    """A function of a `Case` and the metric's parameters: the counted `Units`, or `Nothing`."""
    needs: tuple[str, ...]
    """The fields a sample must have."""
    score: Score
    monotone: bool
    """Whether no yes more ever lowers it, so that its ends are found without trying."""
    choices: tuple[Any, ...]
    """The possible values of an unknown cell."""
    limits: Callable[[Units], tuple[float, float]] = lambda units: (0.0, 1.0)
    """The lowest and the highest value that is possible at all."""
    soft_by: str = "left"
    """Which soft verdicts fall together: those of one claim by several contexts, or of one context ("right")."""


METRICS: dict[str, Metric] = {}
"""Every metric by its name."""
ALIASES: dict[str, Measure] = {}
"""Every other name, with the metric (and parameters) it stands for."""
PEERS: dict[str, dict[str, Metric]] = {}
"""The formulas of other tools: `PEERS["ragas"]["faithfulness"]`."""


def is_ours(measure: Measure) -> bool:
    """Whether it is no formula of another tool."""
    own = METRICS.get(measure.spec.name)
    return measure.spec.kind == "ranking" or (own is not None and own.measure.spec is measure.spec)


def metric(
    name: str,
    *,
    needs: Iterable[str],
    score: Score,
    also: Iterable[str] = (),
    presets: Mapping[str, Mapping[str, Any]] | None = None,
    at: str | None = "k",
    higher: bool = True,
    monotone: bool = True,
    choices: tuple[Any, ...] = (False, True),
    limits: Callable[[Units], tuple[float, float]] = lambda units: (0.0, 1.0),
    peer: str | None = None,
    soft_by: str = "left",
) -> Callable[[Callable[..., Any]], Measure]:
    """Make a function from a `Case` to what it counts a metric."""

    def register(function: Callable[..., Any]) -> Measure:
        others = {**{other: {} for other in also}, **(presets or {})}
        parameters = parameters_of(function)
        at_one = at if at in parameters else None
        made = Measure(Spec(name, "judged", function, parameters, MappingProxyType(others), at_one, higher))
        found = Metric(made, function, tuple(needs), score, monotone, choices, limits, soft_by)
        if peer is not None:
            PEERS.setdefault(peer, {})[name] = found
            return made
        METRICS[name] = found
        JUDGED[name] = made
        CHANGES.append(name)
        ALIASES.update({other: made.with_params(params) for other, params in others.items()})
        return made

    return register


Asked = str | Measure | Iterable[str | Measure]


def parse(text: str | Measure, peer: str | None = None) -> Measure:
    """The metric that `text` names; with a peer, its own formula of that name.

    >>> parse("context_recall@5"), parse("contextual_precision"), parse("P@5")
    (context_recall@5, context_precision, P@5)
    """
    if isinstance(text, Measure):
        return parse(text.name, peer) if peer else text
    if peer is not None and peer not in PEERS:
        raise one_of("compat", peer, PEERS)
    return parse_with(text, find if peer is None else partial(_find_theirs, peer))


def parse_all(asked: Asked, peer: str | None = None) -> list[Measure]:
    """Several metrics; a string may hold more than one, separated by commas. Repeats are dropped."""
    found = list(dict.fromkeys(parse(name, peer) for name in one_by_one("metric", asked, "context_recall")))
    for each in found:
        if each.spec.kind not in ("judged", "ranking"):
            raise UsageError(f"{each}: this measure does not read samples. Next: see 'rankproof measures --judged'.")
    return found


def find(name: str) -> Measure:
    """The metric of that name, canonical or other, or a measure of rankings."""
    measure = find_ours(name.replace(" ", "_")) or find_measure(name)
    if measure is None:
        known = [*METRICS, *ALIASES]
        raise not_known(f"unknown metric {name!r}", name, known, "'rankproof measures --judged' lists all")
    return measure


def find_ours(name: str) -> Measure | None:
    """The metric of that name, in whatever case; None if there is none."""
    plain = name.lower().replace("-", "_")
    return METRICS[plain].measure if plain in METRICS else ALIASES.get(plain)


def _find_theirs(peer: str, name: str) -> Measure:
    """The formula of another tool; the names of our metrics in other tools are other names of ours."""
    plain, own, meant = name.lower().replace("-", "_"), PEERS[peer], find_ours(name)
    called = () if meant is None else (meant.spec.name, *meant.spec.also)
    theirs = plain if plain in own else next((each for each in own if each in called), None)
    if theirs is None:
        said = f"compat={peer!r}: {peer} has no formula called {name!r} here, only {', '.join(own)}"
        raise not_known(said, plain, own, "ask for one of these, or leave compat out")
    return own[theirs].measure
