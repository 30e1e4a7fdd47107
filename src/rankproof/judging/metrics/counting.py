"""The value of a metric for each sample, and from a name to a metric."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise, product
from math import prod
from typing import cast

import numpy as np

from rankproof.core.hits import Array
from rankproof.core.measure import Measure
from rankproof.core.names import find as find_measure
from rankproof.core.names import one_by_one, parse_with
from rankproof.errors import UsageError, nearest, one_of
from rankproof.judging import (
    metrics,  # noqa: F401  (its import fills the registry)
    peers,  # noqa: F401  (and so does this one)
)
from rankproof.judging.case import Case
from rankproof.judging.metrics.contexts import of_grades
from rankproof.judging.metrics.registry import (
    ALIASES,
    METRICS,
    PEERS,
    Metric,
    Nothing,
    Units,
    count,
    count_settled,
    fill_open,
    holes,
    settled_units,
    ways,
)
from rankproof.judging.verdicts import PLAIN_YES, Ask, Relation, Said, Verdict
from rankproof.store.ledger import pair_of

Asked = str | Measure | Iterable[str | Measure]


def parse(text: str | Measure, peer: str | None = None) -> Measure:
    """The metric that `text` names; with a peer, its own formula of that name.

    >>> parse("context_recall@5"), parse("contextual_precision"), parse("P@5")
    (context_recall@5, context_precision, P@5)
    """
    if isinstance(text, Measure):
        return parse(text.name, peer) if peer else text
    return parse_with(text, find if peer is None else _finder(peer))


def parse_all(asked: Asked, peer: str | None = None) -> list[Measure]:
    """Several metrics; a string may hold more than one, separated by commas. Repeats are dropped."""
    found = list(dict.fromkeys(parse(name, peer) for name in one_by_one("metric", asked, "context_recall")))
    for each in found:
        if each.spec.kind not in ("judged", "ranking"):
            raise UsageError(f"{each}: this measure does not read samples. Next: see 'rankproof measures --judged'.")
    return found


def find(name: str) -> Measure:
    """The metric of that name, canonical or other, or a measure of rankings."""
    plain = name.lower().replace("-", "_").replace(" ", "_")
    known = METRICS[plain].measure if plain in METRICS else ALIASES.get(plain)
    measure = known or find_measure(name)
    if measure is None:
        hint = nearest(name, [*METRICS, *ALIASES])
        raise UsageError(f"unknown metric {name!r}.{hint} Next: 'rankproof measures --judged' lists all.")
    return measure


def _finder(peer: str) -> Callable[[str], Measure]:
    if peer not in PEERS:
        raise one_of("compat", peer, PEERS)

    def find_peer(name: str) -> Measure:
        plain, own = name.lower().replace("-", "_"), PEERS[peer]
        # The names of our metrics in other tools are other names of ours.
        meant = METRICS[plain].measure if plain in METRICS else ALIASES.get(plain)
        called = () if meant is None else (meant.spec.name, *meant.spec.also)
        theirs = plain if plain in own else next((each for each in own if each in called), None)
        if theirs is None:
            raise UsageError(
                f"compat={peer!r}: {peer} has no formula called {name!r} here, only "
                f"{', '.join(own)}.{nearest(plain, own)} Next: ask for one of these, or leave compat out."
            )
        return own[theirs].measure

    return find_peer


@cache
def _by_spec() -> dict[object, Metric]:
    everywhere = [METRICS, *PEERS.values()]
    return {each.measure.spec.function: each for known in everywhere for each in known.values()}


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
    lacking = [field.replace("_", " ") for field in metric.needs if not case.sample.has(field)]
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
    enough = [complete < 1 and 0 < count_settled(units) >= complete * count(units) for units in batch]
    parts = [settled_units(units) for units, yes in zip(batch, enough, strict=True) if yes]
    values = iter(metric.score(parts).tolist() if parts else ())
    estimate = [next(values) if yes else None for yes in enough]
    return [_outcome(units, *each) for units, *each in zip(batch, low.tolist(), high.tolist(), estimate, strict=True)]


def _outcome(units: Units, low: float, high: float, estimate: float | None) -> Outcome:
    total, known = count(units), count_settled(units)
    if high - low <= SAME:  # what is open cannot change it
        return Outcome(low, low, low, max(total, 1), max(total, 1))
    if estimate is not None:
        return Outcome(min(max(estimate, low), high), low, high, known, total)
    return Outcome(None, low, high, known, total, "not settled")


def ends(metric: Metric, batch: Sequence[Units]) -> tuple[Array, Array]:
    """The lowest and the highest value of each sample over all that could stand in its open places."""
    first, last = (metric.score([fill_open(u, end) for u in batch]) for end in (metric.choices[0], metric.choices[-1]))
    low, high = np.minimum(first, last), np.maximum(first, last)
    if not metric.monotone:
        for i, units in enumerate(batch):
            if holes(units):
                if len(metric.choices) ** holes(units) > MOST_WAYS:
                    low[i], high[i] = metric.limits(units)
                else:
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
        shared = (
            ask.right
            if by == "right" and ask.relation in (Relation.TEXT_SUPPORTS, Relation.TEXT_SUPPORTS_IN_PART)
            else ask.left
        )
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
    firsts = [group[0].ask for group in groups]
    seeds = [int.from_bytes(pair_of((ask.relation, ask.left, ask.right))) for ask in firsts]
    columns = [np.random.default_rng(seed).permutation(places).tolist() for seed in seeds]
    for drawn in zip(*columns, strict=True):
        yield (
            1 / DRAWS,
            frozenset(
                each.ask
                for group, place in zip(groups, drawn, strict=True)
                for each in group
                if place < (each.probability or 0.0)
            ),
        )
