"""Scores aligned on the queries and measures they share, their trustworthiness, and notes on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields, replace
from itertools import product
from typing import Any

import numpy as np

from rankproof.core.arrays import Array
from rankproof.core.audit.queries import UNANSWERED, beyond_queries
from rankproof.core.conventions import Conventions, is_unanswered
from rankproof.core.measure import Measure
from rankproof.core.scoring import ScoreColumn
from rankproof.document.numbers import for_face
from rankproof.errors import DataError, UsageError, shorten
from rankproof.io.groups import group_places
from rankproof.scoring.protocol import ScoresLike
from rankproof.scoring.scores import Scores
from rankproof.stats.confidence import Ends
from rankproof.stats.judge_error import Corrected
from rankproof.stats.paired import paired_differences


def align_scores(
    scores: Mapping[str, ScoresLike], baseline: str, measures: Any = None, by: Any = None, anyway: bool = False
) -> tuple[dict[str, ScoresLike], list[str]]:
    """The scores over the same queries and measures, and notes on how they differ.

    If judgments, conventions or definitions differ, an error names them, unless `anyway`.
    """
    for name, each in scores.items():
        if not isinstance(each, ScoresLike):
            raise UsageError(
                f"{shorten(name)}: got {shorten(each)} ({type(each).__name__}), expected scores. Next: give the "
                "result of evaluate(judgments, ranking)."
            )
    first = scores[baseline]
    if measures is None and by is None and _same_source(scores, first):
        return dict(scores), []
    names = _common_measures(scores, first, measures)
    others = [set(each.queries) for each in scores.values()]
    queries = [query for query in first.queries if all(query in other for other in others)]
    if not queries:
        raise DataError(
            "no query that all of them have, so there is nothing to compare. Next: score them on the same queries."
        )
    differ = list(_differences(scores, baseline, names, measures))
    if differ and not anyway:
        raise UsageError(
            f"these scores were not made in the same way: {'; '.join(differ)}. Next: measure them in the same way, or "
            f"compare them anyway ({for_face('anyway=True', '--anyway')}): then only over the queries and measures "
            "that all have."
        )
    groups = by
    if by is None:
        own = [_by_query(each) for each in scores.values()]
        kept = [{query: each[query] for query in queries if query in each} for each in own]
        groups = kept[0] if kept[0] and all(each == kept[0] for each in kept) else None
    found = {name: each.only(names, queries) for name, each in scores.items()}
    for each in found.values():
        each.groups = group_places(each.queries, groups)
        if by is not None:
            each.beyond = beyond_queries(each.queries, by, each.nouns)
    notes = []
    if differ:
        # A query counts only if it does for every system, so that means and differences cover the same queries.
        for name in names:
            both = counted_by_all([each.column(name) for each in found.values()])
            for each in found.values():
                each.columns[name] = replace(each.columns[name], counted=both)
        most = max(len(each.queries) for each in scores.values())
        over = f"the {len(queries)} queries (of up to {most}) and {', '.join(names)}, which all have"
        notes.append(f"Compared anyway, over {over}. They were not made in the same way: {'; '.join(differ)}.")
    if groups is None and any(each.groups for each in scores.values()):
        notes.append("They were scored in different groups of queries, which are left out.")
    return found, notes


def counted_by_all(columns: Iterable[ScoreColumn]) -> Array | None:
    """Which queries count in each of these columns; None: all."""
    given = [each.counted for each in columns if each.counted is not None]
    return np.logical_and.reduce(given) if given else None


def _same_source(scores: Mapping[str, ScoresLike], first: ScoresLike) -> bool:
    """Whether all scores come from one call, so that nothing can differ."""
    judgments = first.judgments if isinstance(first, Scores) else None
    return judgments is not None and all(
        isinstance(each, Scores)
        and each.judgments is judgments
        and each.conventions == first.conventions
        and list(each) == list(first)
        and _by_query(each) == _by_query(first)
        for each in scores.values()
    )


def with_rankings(scores: Mapping[str, ScoresLike]) -> dict[str, Scores]:
    """The scores that were made from rankings; those of a judge are not."""
    return {name: each for name, each in scores.items() if isinstance(each, Scores)}


def _differences(scores: Mapping[str, ScoresLike], baseline: str, names: list[str], measures: Any) -> Iterator[str]:
    """What differs from the baseline, in words."""
    first = scores[baseline]
    for name, each in scores.items():
        about = f"{shorten(name)} and {shorten(baseline)}"
        if each is not first:
            yield from (f"{about} have {what}" for what in _between(each, first))
            for measure in names:
                # A newer version may put its title in better words, and adds parameters with defaults.
                saved = [one.definition["measures"].get(measure, {}) for one in (each, first)]
                usual = first.column(measure).measure.params
                mine, theirs = ({**x, "title": "", "params": {**usual, **x.get("params", {})}} for x in saved)
                if mine != theirs:
                    alike = {**mine, "judges": 0} == {**theirs, "judges": 0}
                    told = f"have other judges of {measure}" if alike else f"define {measure} differently"
                    yield f"{about} {told}"
            if measures is None and set(each) != set(first):
                odd = sorted(set(each) ^ set(first))
                yield f"{about} do not both have {', '.join(odd)}"


def _between(one: ScoresLike, other: ScoresLike) -> Iterator[str]:
    if set(one.queries) != set(other.queries):
        common = len(set(one.queries) & set(other.queries))
        yield f"different queries ({len(one.queries)} and {len(other.queries)}, {common} in common)"
    elif not one.fingerprint or one.fingerprint != other.fingerprint:
        yield f"different judgments (fingerprints {one.fingerprint[:8]} and {other.fingerprint[:8]})"
    yield from different_conventions(one.conventions, other.conventions)


def different_conventions(one: Conventions, other: Conventions) -> Iterator[str]:
    """Each convention in which both differ, in words."""
    for each in fields(Conventions):
        if (mine := getattr(one, each.name)) != (theirs := getattr(other, each.name)):
            yield f"different conventions ({each.name}={mine} and {theirs})"


def _common_measures(scores: Mapping[str, ScoresLike], first: ScoresLike, measures: Any) -> list[str]:
    """The names of the measures asked for, by which all scores have them; else of those that all have."""
    if measures is None:
        names = [name for name in first if all(name in each.columns for each in scores.values())]
        if names:
            return names
        has = "; ".join(f"{shorten(name)} has {', '.join(each)}" for name, each in scores.items())
        raise UsageError(f"no measure that all have: {has}. Next: measure all of them by the same names.")
    asked = {each.name: first.key(each.name) if each.name in first else each.name for each in first.parse_all(measures)}
    for (measure, own), (name, each) in product(asked.items(), scores.items()):
        if own not in each.columns:
            raise UsageError(
                f"{shorten(name)} has no {measure}, only {', '.join(each)}. Next: name a measure that it has."
            )
    return list(asked.values())


def _by_query(scores: ScoresLike) -> dict[str, str]:
    return {scores.queries[i]: name for name, rows in scores.groups.items() for i in rows.tolist()}


DEPTH = 10
"""The depth to which unjudged documents are counted if the measure has no cut-off."""


@dataclass(frozen=True, slots=True)
class Soundness:
    """The limits of one system's scores, shown before they are compared with another's."""

    queries: int
    unanswered: int
    """Judged queries for which it returned nothing."""
    skipped: bool
    """Whether those are left out of the means; else each counts 0."""
    depth: int
    unjudged: float | None
    """The share of the first `depth` documents that nobody judged; None if that is not known."""
    ends: dict[str, list[float]] = field(default_factory=dict)
    """For a measure its mean, the worse first, with the documents nobody judged at their worst and at their best."""
    higher: dict[str, bool] = field(default_factory=dict)
    """For each of these measures whether more is better."""
    errors: list[str] = field(default_factory=list)
    """Errors that the audit found, which make the numbers wrong."""
    warnings: list[str] = field(default_factory=list)
    """Warnings of the audit, which can mislead readers of the numbers."""

    @property
    def missing(self) -> float:
        """The share of the judged queries without an answer."""
        return self.unanswered / self.queries if self.queries else 0.0


def soundness(scores: ScoresLike, measure: Measure, decided: Iterable[str] = ()) -> Soundness:
    """The limits of these scores; `decided` are the measures for which unjudged documents matter."""
    depth, hits = measure.cutoff or DEPTH, scores.hits if isinstance(scores, Scores) else None
    audit = scores.audit
    bounded = {name: scores.bounds(name, of="unjudged") for name in decided}
    return Soundness(
        queries=len(scores.queries),
        unanswered=count_unanswered(scores),
        skipped=scores.conventions.missing == "skip",
        depth=depth,
        unjudged=scores.unjudged.get(depth) if hits is None else hits.unjudged_share(depth),
        ends={
            name: list(pair if scores.column(name).measure.spec.higher else pair[::-1])
            for name, pair in bounded.items()
            if pair is not None
        },
        higher={name: scores.column(name).measure.spec.higher for name in bounded},
        errors=[str(each) for each in audit if each.severity == "error"],
        warnings=[each.message for each in audit if each.severity == "warning"],
    )


def count_unanswered(scores: ScoresLike) -> int:
    """For how many judged queries nothing was returned."""
    hits = scores.hits if isinstance(scores, Scores) else None
    if hits is None or hits.answered is None:
        found = [scores.audit.of_kind(kind) for kind in UNANSWERED]
        return min(sum(each.count for each in found if each is not None), len(scores.queries))
    return int(np.count_nonzero(is_unanswered(hits, scores.conventions)))


def range_notes(measures: Iterable[Measure]) -> Iterator[str]:
    """What is assumed of measures without a bound: how far a query may win or lose."""
    names = {each.name: None for each in measures if not np.isfinite(each.spec.bounds).all()}
    if names:
        yield (
            f"{', '.join(names)}: no bound is known, so intervals and tests of a margin assume that no query wins or "
            "loses more than the values seen lie apart."
        )


def counted_notes(compared: Iterable[SystemPair], baseline: str, queries: int) -> Iterator[str]:
    """A note if queries are left out of a difference because one of the two systems has no value for them."""
    for pair in compared:
        if not pair.slice and len(pair.values) < queries:
            yield (
                f"{pair.measure.name}: {len(pair.values):,} of {queries:,} queries have a value in both {pair.system} "
                f"and {baseline}; the others are in no difference."
            )


def bounds_notes(scores: Mapping[str, ScoresLike], only: str | None = None) -> Iterator[str]:
    """A note on each mean, or on that of one measure, that leaves samples out: its bounds with these at worst and best.

    Without it, a system that fails a sample so badly that nothing can be measured would look better for it.
    """
    for name, each in scores.items():
        for key, settled in getattr(each, "coverage", {}).items():
            counting = len(each.column(key).counting)
            told = only in (None, key) and settled < 1 and counting and not each.thin(key)
            ends = each.bounds(key) if told else None
            if ends is not None:
                yield (
                    f"{name}, {key}: {each[key]:.4f} is a mean over {counting:,} of {len(each.queries):,} samples; "
                    f"with the rest at worst and at best it is {ends[0]:.4f} to {ends[1]:.4f}."
                )


def kin_notes(scores: Mapping[str, ScoresLike]) -> Iterator[str]:
    """A note on each system that is judged by the model it uses itself."""
    for name, each in scores.items():
        if found := each.audit.of_kind("judge-kin"):
            yield f"{name}: {found.message}"


def favours(compared: Sequence[SystemPair], baseline: str) -> Iterator[str]:
    """A note if human labels show, beyond chance, that the judge favours one system over the other.

    The intervals hold together over all rows that have labels of both systems.
    """
    held = [each for each in compared if not each.slice and each.favour is not None]
    for pair in held:
        found = pair.favour(1 - 0.05 / len(held)) if pair.favour else None
        if found is not None and (found.low > 0 or found.high < 0):
            ends = f"{found.value:+.4f} [{found.low:+.4f}, {found.high:+.4f}]"
            yield (
                f"{pair.measure.name}: by {found.n:,} labels the judge itself moves the difference of {pair.system} to "
                f"{baseline} by {ends} (difference in differences, all rows together at 95 %). Next: believe the "
                "corrected difference, or let a model of another maker judge."
            )


def without_groups(scores: ScoresLike) -> ScoresLike:
    """The scores without their groups, which an anchor need not have."""
    if not scores.groups:
        return scores
    found = copy(scores)
    found.groups = {}
    found.__dict__.pop("slices", None)
    return found


@dataclass(frozen=True, slots=True)
class SystemPair:
    """The differences of one system to the baseline on one measure over one group of queries."""

    system: str
    measure: Measure
    slice: str
    mean: float | None
    """None if it is over too few of the samples to be shown."""
    shared_mean: float | None
    """The same over the queries for which both systems have a value, as the differences are."""
    values: Array
    """System minus baseline, one a query; turned so that more is better."""
    sign: int
    corrected: Corrected | None
    """The same with the judge's error taken out (not turned), if people labelled enough."""
    ends: Ends
    """The least and the greatest difference that a query can have."""
    queries: Sequence[str]
    """The queries of the group; `counted` says which of them the values are of."""
    counted: Array
    settled: tuple[float | None, ...]
    """The share that a judge decided, and the system's mean with the rest at worst and at best; empty without one."""
    favour: Callable[[float], Corrected | None] | None
    """A function of a level: what the judge itself adds to the difference, if people labelled enough."""
    barren: bool
    """Whether it is a group in which no ranking can reach more than the 0 that both have."""


def pairs(name: str, mine: ScoresLike, theirs: ScoresLike, level: float) -> Iterator[SystemPair]:
    """The differences over all queries, then over each slice, for every measure."""
    slices = {group: (mine.slices[group], theirs.slices[group]) for group in mine.slices}
    for group, (own, other) in {"": (mine, theirs), **slices}.items():
        for key in own:
            measure = own.column(key).measure
            if measure.spec.average != "mean":
                continue
            columns = own.column(key), other.column(key)
            kept = counted_by_all(columns)
            both = np.ones(len(columns[0].values), dtype=bool) if kept is None else kept
            if group and not both.any():
                continue
            values = paired_differences(*(each.values[both] for each in columns))
            thin, shares = own.thin(key) or other.thin(key), getattr(own, "coverage", None)
            none = bool(group) and not any(each.values.any() for each in columns)
            barren = mine.facts.get("barren", {}) if none and isinstance(mine, Scores) else {}
            yield SystemPair(
                system=name,
                measure=measure,
                slice=group,
                mean=None if thin else own[key],
                shared_mean=None if thin else replace(columns[0], counted=kept).mean,
                values=measure.spec.sign * values,
                sign=measure.spec.sign,
                corrected=own.corrected_lead(other, key, level),
                ends=possible_ends(own, other, key),
                queries=own.queries,
                counted=both,
                settled=() if shares is None else (shares[key], *(own.bounds(key) or (None, None))),
                favour=own.favour(other, key),
                barren=key in barren.get(group, ()),
            )


def possible_ends(mine: ScoresLike, theirs: ScoresLike, name: str) -> Ends:
    """The smallest and the largest difference that a query can have, symmetric around 0.

    From the best or the worst that either system scored to the far end of the measure; if it has no end, to what
    was seen.
    """
    columns = [each.column(name) for each in (mine, theirs)]
    seen = np.concatenate([each.counting for each in columns])
    if not len(seen):
        return -1.0, 1.0
    least, most = columns[0].measure.spec.bounds
    low, high = float(seen.min()), float(seen.max())
    reach = [high - least, most - low, high - low]
    far = max(each for each in reach if np.isfinite(each)) or float(np.abs(seen).max()) or 1.0
    return -far, far


def corrected_in(found: Corrected | None) -> dict[str, Any]:
    """The corrected number and its interval, if there is one."""
    if found is None:
        return {}
    return {"corrected": found.value, "corrected_low": found.low, "corrected_high": found.high}
