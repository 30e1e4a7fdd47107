"""`compare`: is one ranking better than another, and is that real?"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Unpack

import numpy as np

from rankproof.comparing.alignment import (
    ALLOWED,
    align_scores,
    both_broken,
    bounds_notes,
    counted_by_all,
    counted_notes,
    favours,
    kin_notes,
    range_notes,
    too_few_answers,
)
from rankproof.comparing.comparison import Comparison, ComparisonRow
from rankproof.core import DEFAULT_MEASURES
from rankproof.core.conventions import FEWEST_TO_DECIDE, THIN, TOO_FEW_TO_DECIDE, ScoringArguments
from rankproof.core.hits import Array
from rankproof.core.measure import Measure
from rankproof.errors import UsageError, check_whole, old_arguments, one_of
from rankproof.io.groups import Grouping, groups_of
from rankproof.io.inputs import Columns, with_columns
from rankproof.io.load import systems_by_name
from rankproof.io.values import is_frame
from rankproof.scoring.evaluate import (
    Measures,
    check_averages,
    check_conventions,
    check_margin,
    evaluate,
    prepare,
    without_means,
)
from rankproof.scoring.protocol import ScoresLike
from rankproof.stats.corrections import correct, sure_level
from rankproof.stats.detectable_difference import detectable, needed_or_why
from rankproof.stats.differences import UNSEEN, Ends, difference_intervals, equivalence
from rankproof.stats.flips import agree_with_test, sign_flips
from rankproof.stats.judge_error import Corrected
from rankproof.stats.paired import check_alpha, d_z, paired_differences, total


@dataclass(frozen=True, slots=True)
class SystemPair:
    """The differences of one system to the baseline on one measure over one group of queries."""

    system: str
    measure: Measure
    slice: str
    mean: float | None
    """None if it is over too few of the samples to be shown."""
    values: Array
    """System minus baseline, one a query; turned so that more is better."""
    sign: int
    corrected: Corrected | None = None
    """The same with the judge's error taken out (not turned), if people labelled enough."""
    ends: Ends | None = None
    """The least and the greatest difference that a query can have."""
    queries: Sequence[str] = ()
    """The queries of the group; `counted` says which of them the values are of."""
    counted: Array | None = None
    settled: tuple[float | None, ...] = ()
    """The share that a judge decided, and the system's mean with the rest at worst and at best; empty without one."""
    favour: Callable[[float], Corrected | None] | None = None
    """A function of a level: what the judge itself adds to the difference, if people labelled enough."""


@old_arguments(corpus="corpus_size")
@with_columns
def compare(
    judgments: Any,
    systems: Mapping[str, Any],
    measures: Measures | None = None,
    *,
    baseline: str | None = None,
    by: Grouping | None = None,
    seed: int = 0,
    alpha: float = 0.05,
    margin: float | None = None,
    correction: str = "holm",
    permutations: int = 100_000,
    all_pairs: bool = False,
    allow_missing: float = ALLOWED,
    allow_errors: bool = False,
    columns: Columns = None,
    **conventions: Unpack[ScoringArguments],
) -> Comparison:
    """Compare rankings of the same queries with a baseline (by default the first).

    Differences are tested query by query with random sign flips; p-values are corrected over all rows at once.
    `all_pairs` also compares every system with every other, corrected over all pairs. `margin` is the difference
    that would not matter; if it is given, systems can be found equivalent. Nothing is decided between two systems
    if one of them left more than `allow_missing` of the judged queries unanswered, or if the audit finds errors in the
    data of both (unless `allow_errors`). The other arguments are those of `evaluate`.

    >>> judged = {f"q{i}": {"a": 1} for i in range(12)}
    >>> old = {query: ["x", "y", "a"] for query in judged}
    >>> new = {query: ["a", "x", "y"] for query in judged}
    >>> row = compare(judged, {"old": old, "new": new}, "RR").row("new", "RR")
    >>> row.verdict, row.wins, round(row.difference, 3)
    ('better', 12, 0.667)
    """
    check_conventions(conventions, compare)
    _check_named(systems, measures)
    systems, first = _baseline(systems, baseline)
    _check(alpha, margin, seed)
    asked = DEFAULT_MEASURES if measures is None else measures
    ready, by = prepare(judgments), groups_of(by, judgments)
    scores = {name: evaluate(ready, each, asked, by=by, **conventions) for name, each in systems.items()}
    for name, each in scores.items():
        each.census.made_by.append(name)
    return compare_scores(
        scores,
        baseline=first,
        seed=seed,
        alpha=alpha,
        margin=margin,
        correction=correction,
        permutations=permutations,
        all_pairs=all_pairs,
        allow_missing=allow_missing,
        allow_errors=allow_errors,
    )


def compare_scores(
    scores: Mapping[str, ScoresLike],
    measures: Measures | None = None,
    *,
    baseline: str | None = None,
    by: Grouping | None = None,
    anyway: bool = False,
    seed: int = 0,
    alpha: float = 0.05,
    margin: float | None = None,
    correction: str = "holm",
    permutations: int = 100_000,
    all_pairs: bool = False,
    allow_missing: float = ALLOWED,
    allow_errors: bool = False,
) -> Comparison:
    """Compare results of `evaluate`: the same as `compare`, from existing scores.

    Scores made under different judgments, conventions or definitions are refused, with a message that says what
    differs; with `anyway` they are compared over the queries and measures that all have.

    >>> judged = {f"q{i}": {"a": 1} for i in range(12)}
    >>> old = evaluate(judged, {query: ["x", "y", "a"] for query in judged}, "RR")
    >>> new = evaluate(judged, {query: ["a", "x", "y"] for query in judged}, "RR")
    >>> compare_scores({"old": old, "new": new}).winner
    'new'
    """
    scores, first = _baseline(scores, baseline)
    _check(alpha, margin, seed)
    alike, notes = align_scores(scores, first, measures, groups_of(by), anyway)
    odd = without_means(alike[first])
    if len(odd) == len(alike[first]):
        check_averages(alike[first])
    notes = [*notes, f"Left out, as they are not means over the queries: {', '.join(odd)}."] if odd else notes
    compared = [pair for name in alike if name != first for pair in pairs(name, alike[name], alike[first], 1 - alpha)]
    notes = [
        *notes,
        *counted_notes(compared, first, len(alike[first].queries)),
        *range_notes(each.measure for each in compared),
    ]
    notes += [alike[first].apart] if alike[first].apart else []
    notes += [*bounds_notes(alike), *kin_notes(alike), *favours(compared, first)]
    doubts = both_broken(alike, first, allow_errors) | too_few_answers(alike, allow_missing)
    settings = (seed, alpha, margin, correction, permutations, doubts)
    rows = _rows([(first, each) for each in compared], *settings)
    every = _rows(_every_pair(alike, 1 - alpha), *settings) if all_pairs else []
    means = [each for each in alike[first] if each not in odd]
    return Comparison(rows, alike, first, alpha, margin, correction, means, notes, every, doubts)


def _every_pair(scores: Mapping[str, ScoresLike], level: float) -> list[tuple[str, SystemPair]]:
    """Every system against every other over all queries, each behind the one it is compared with."""
    return [
        (one, pair)
        for one, other in combinations(scores, 2)
        for pair in pairs(other, scores[other], scores[one], level)
        if not pair.slice
    ]


def _check_named(systems: Any, measures: Any) -> None:
    """Refuse two rankings given as two arguments: rankings are given by name, in one mapping."""
    second = isinstance(measures, Mapping) or hasattr(type(measures), "blocks") or is_frame(measures)
    if isinstance(measures, (str, os.PathLike)) and not isinstance(systems, Mapping):
        second = True
    if second:
        raise UsageError(
            "compare: got two rankings one after the other, expected them by name. "
            "Next: compare(judgments, {'before': first, 'after': second})."
        )


def _baseline(systems: Mapping[Any, Any], baseline: Any) -> tuple[dict[str, Any], str]:
    """The systems by name, and which of them is the baseline."""
    found = systems_by_name(systems, "compare")
    if baseline is not None and str(baseline) not in found:
        raise one_of("baseline", baseline, found)
    return found, next(iter(found)) if baseline is None else str(baseline)


def _check(alpha: float, margin: float | None, seed: int) -> None:
    check_alpha(alpha)
    check_whole("seed", seed, 0)
    if margin is not None:
        check_margin(margin)


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
            shares = getattr(own, "coverage", None)
            yield SystemPair(
                system=name,
                measure=measure,
                slice=group,
                mean=None if own.thin(key) or other.thin(key) else own[key],
                values=measure.spec.sign * values,
                sign=measure.spec.sign,
                corrected=own.corrected_lead(other, key, level),
                ends=possible_ends(own, other, key),
                queries=own.queries,
                counted=both,
                settled=() if shares is None else (shares[key], *(own.bounds(key) or (None, None))),
                favour=own.favour(other, key),
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


def _rows(
    compared: Sequence[tuple[str, SystemPair]],
    seed: int,
    alpha: float,
    margin: float | None,
    correction: str,
    permutations: int,
    doubts: Mapping[str, str],
) -> list[ComparisonRow]:
    """A row for each pair behind its baseline, as one family; `doubts` say why nothing is decided about a system."""
    pairs = [pair for _, pair in compared]
    columns, ends = [pair.values for pair in pairs], [pair.ends for pair in pairs]
    ps = [each.p for each in sign_flips(columns, np.random.default_rng(seed), permutations=permutations)]
    spans = difference_intervals(columns, level=1 - alpha, ends=ends)
    corrected = _corrected(pairs, ps, correction)
    # Twice the p of equivalence: at or below alpha the whole interval shown lies within the margin, and what so few
    # queries need not show does.
    beyond = [1.0 if margin is None else min(1.0, 2 * equivalence(x.values, margin, x.ends).p) for x in pairs]
    alike = _corrected(pairs, beyond, correction)
    sizes = Counter(bool(pair.slice) for pair in pairs)
    surest = {sliced: sure_level(alpha, size, correction) for sliced, size in sizes.items()}
    rows = [
        _row(pair, first, (span.low, span.high), p, adjusted, same, alpha, surest[bool(pair.slice)])
        for (first, pair), span, p, adjusted, same in zip(compared, spans, ps, corrected, alike, strict=True)
    ]
    for i, row in enumerate(rows):
        if why := list(dict.fromkeys(doubts[name] for name in (row.baseline, row.system) if name in doubts)):
            rows[i] = replace(row, verdict="unclear", note="; ".join(why))
            continue
        within = margin is not None and all(x is not None and abs(x) < margin for x in (row.low, row.high))
        if within and row.verdict != "equivalent" and not row.note:
            rows[i] = replace(row, margin_note=UNSEEN if beyond[i] > alpha else UNCORRECTED)
    return rows


UNCORRECTED = "corrected over all comparisons it is not"
"""Why a difference whose interval lies within the margin is not called equivalent."""


def _corrected(pairs: list[SystemPair], ps: list[float], correction: str) -> list[float]:
    """The rows over all queries are one family, those of all slices another, so that slices cost no power over all."""
    found = [0.0] * len(ps)
    for sliced in (False, True):
        family = [i for i, pair in enumerate(pairs) if bool(pair.slice) == sliced]
        for i, p in zip(family, correct([ps[i] for i in family], correction), strict=True):
            found[i] = p
    return found


def _row(
    pair: SystemPair, baseline: str, span: Ends, p: float, adjusted: float, same: float, alpha: float, surest: float
) -> ComparisonRow:
    values, n = pair.values, len(pair.values)
    gain = total(values) / n
    low, high = agree_with_test(span, gain, adjusted, alpha) if n > 1 else span
    seen = detectable(values, surest, ends=pair.ends)
    queries, unknown = needed_or_why(values, gain, surest, ends=pair.ends)
    effect = d_z(values).value if n > 1 else None
    verdict, note = ("unclear", THIN) if pair.mean is None else _verdict(values, gain, adjusted, same, alpha)
    ends = sorted((pair.sign * low, pair.sign * high))
    settled: dict[str, Any] = dict(zip(("coverage", "possible_low", "possible_high"), pair.settled, strict=False))
    return ComparisonRow(
        system=pair.system,
        baseline=baseline,
        measure=pair.measure.name,
        slice=pair.slice,
        n=n,
        mean=pair.mean,
        difference=pair.sign * gain,
        low=ends[0] if np.isfinite(ends[0]) else None,
        high=ends[1] if np.isfinite(ends[1]) else None,
        p=p,
        p_corrected=adjusted,
        effect=None if effect is None else pair.sign * effect + 0.0,
        detectable=seen.value,
        detectable_note=seen.note,
        queries_needed=queries and max(queries, FEWEST_TO_DECIDE),
        needed_note=unknown,
        wins=int((values > 0).sum()),
        ties=int((values == 0).sum()),
        losses=int((values < 0).sum()),
        verdict=verdict,
        note=note,
        **corrected_in(pair),
        **settled,
    )


def corrected_in(pair: SystemPair) -> dict[str, Any]:
    """The corrected difference and its interval, if there is one."""
    found = pair.corrected
    if found is None:
        return {}
    return {"corrected": found.value, "corrected_low": found.low, "corrected_high": found.high}


def _verdict(values: Array, gain: float, p: float, same: float, alpha: float) -> tuple[str, str]:
    """The verdict in a word, and what limits it."""
    if len(values) < FEWEST_TO_DECIDE:
        return "unclear", TOO_FEW_TO_DECIDE
    if same <= alpha:
        return "equivalent", ""
    if p <= alpha:
        return ("better" if gain > 0 else "worse"), ""
    return "unclear", ""
