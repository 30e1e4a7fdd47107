"""`compare`: is one ranking better than another, and is that real?"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, TypedDict, Unpack

import numpy as np

from rankproof.comparing.alignment import (
    SystemPair,
    align_scores,
    bounds_notes,
    corrected_in,
    counted_notes,
    favours,
    pairs,
    range_notes,
)
from rankproof.comparing.comparison import Comparison, ComparisonRow
from rankproof.comparing.conclusions import ALLOWED, both_broken, too_few_answers
from rankproof.core.arrays import by_key
from rankproof.core.conventions import BARREN, FEWEST_TO_DECIDE, THIN, TOO_FEW_TO_DECIDE, ScoringArguments
from rankproof.core.defaults import DEFAULT_MEASURES
from rankproof.errors import UsageError, check_one_of, check_whole, old_arguments, one_of
from rankproof.io.groups import Grouping, groups_of
from rankproof.io.load import Columns, systems_by_name, with_columns
from rankproof.io.values import is_frame
from rankproof.scoring.evaluate import Measures, check_averages, check_conventions, check_margin, evaluate_each, prepare
from rankproof.scoring.protocol import ScoresLike
from rankproof.stats.confidence import Ends, agree_with_test
from rankproof.stats.corrections import CORRECTIONS, correct, sure_level
from rankproof.stats.detectable_difference import detectable, needed_or_why
from rankproof.stats.differences import UNSEEN, difference_interval, equivalence
from rankproof.stats.paired import check_alpha, sign_flips, total
from rankproof.stats.significance import d_z


class DecidingArguments(TypedDict, total=False):
    """The arguments of a comparison that no score depends on."""

    seed: int
    alpha: float
    margin: float | None
    correction: str
    permutations: int
    allow_missing: float
    allow_errors: bool


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
    path = isinstance(measures, (str, os.PathLike)) and not isinstance(systems, Mapping)
    if path or isinstance(measures, Mapping) or hasattr(type(measures), "blocks") or is_frame(measures):
        raise UsageError(
            "compare: got two rankings one after the other, expected them by name. "
            "Next: compare(judgments, {'before': first, 'after': second})."
        )
    systems, first = find_baseline(systems, baseline, "compare")
    check_settings(alpha, margin, correction, seed)
    asked = DEFAULT_MEASURES if measures is None else measures
    ready, by = prepare(judgments), groups_of(by, judgments)
    return compare_scores(
        evaluate_each(ready, systems, asked, by=by, **conventions),
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

    >>> from rankproof import evaluate
    >>> judged = {f"q{i}": {"a": 1} for i in range(12)}
    >>> old = evaluate(judged, {query: ["x", "y", "a"] for query in judged}, "RR")
    >>> new = evaluate(judged, {query: ["a", "x", "y"] for query in judged}, "RR")
    >>> compare_scores({"old": old, "new": new}).winner
    'new'
    """
    scores, first = find_baseline(scores, baseline, "compare")
    check_settings(alpha, margin, correction, seed)
    alike, notes = align_scores(scores, first, measures, groups_of(by), anyway)
    odd = [name for name, each in alike[first].columns.items() if each.measure.spec.average != "mean"]
    if len(odd) == len(alike[first]):
        check_averages(column.measure for column in alike[first].columns.values())
    notes = [*notes, f"Left out, as they are not means over the queries: {', '.join(odd)}."] if odd else notes
    compared = [pair for name in alike if name != first for pair in pairs(name, alike[name], alike[first], 1 - alpha)]
    notes += [*counted_notes(compared, first, len(alike[first].queries)), *range_notes(x.measure for x in compared)]
    notes += [alike[first].apart] if alike[first].apart else []
    notes += [*bounds_notes(alike), *favours(compared, first)]
    wrong = {name: each.wrong for name, each in alike.items()}
    doubts = both_broken(wrong, first, allow_errors) | too_few_answers(alike, allow_missing)
    settings = (seed, alpha, margin, correction, permutations, doubts)
    rows = _rows([(first, each) for each in compared], *settings)
    every = [
        (one, pair)
        for one, other in combinations(alike if all_pairs else (), 2)
        for pair in pairs(other, alike[other], alike[one], 1 - alpha)
        if not pair.slice
    ]
    means = [each for each in alike[first] if each not in odd]
    return Comparison(rows, alike, first, alpha, margin, correction, means, notes, _rows(every, *settings), doubts)


def find_baseline(systems: Mapping[Any, Any], baseline: Any, verb: str, least: int = 2) -> tuple[dict[str, Any], str]:
    """The systems by name, and which of them is the baseline."""
    found = systems_by_name(systems, verb, least)
    first = next(iter(found)) if baseline is None else str(baseline)
    if first not in found:
        raise one_of("baseline", baseline, found)
    return found, first


def check_settings(alpha: float, margin: float | None, correction: str, seed: int) -> None:
    """Refuse what `compare` cannot decide by."""
    check_alpha(alpha)
    check_one_of("correction", correction, CORRECTIONS)
    check_whole("seed", seed, 0)
    if margin is not None:
        check_margin(margin)


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
    columns = [pair.values for pair in pairs]
    ps = [each.p for each in sign_flips(columns, np.random.default_rng(seed), permutations=permutations)]
    spans = [difference_interval(pair.values, level=1 - alpha, ends=pair.ends) for pair in pairs]
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
            reason = UNSEEN if beyond[i] > alpha else "corrected over all comparisons it is not"
            rows[i] = replace(row, margin_note=reason)
    return rows


def _corrected(pairs: list[SystemPair], ps: list[float], correction: str) -> list[float]:
    """The rows over all queries are one family, those of all slices another, so that slices cost no power over all."""
    found = [0.0] * len(ps)
    for family in by_key((bool(pair.slice), i) for i, pair in enumerate(pairs)).values():
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
    note = THIN if pair.mean is None else BARREN if pair.barren else TOO_FEW_TO_DECIDE if n < FEWEST_TO_DECIDE else ""
    verdict = "unclear"
    if not note and same <= alpha:
        verdict = "equivalent"
    elif not note and adjusted <= alpha:
        verdict = "better" if gain > 0 else "worse"
    lowest, highest = (x if np.isfinite(x) else None for x in sorted((pair.sign * low, pair.sign * high)))
    settled: dict[str, Any] = dict(zip(("coverage", "possible_low", "possible_high"), pair.settled, strict=False))
    return ComparisonRow(
        system=pair.system,
        baseline=baseline,
        measure=pair.measure.name,
        slice=pair.slice,
        n=n,
        mean=pair.mean,
        difference=pair.sign * gain,
        low=lowest,
        high=highest,
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
        **corrected_in(pair.corrected),
        **settled,
    )
