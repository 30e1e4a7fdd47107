"""`leaderboard`: the systems in order, and how far that order can be trusted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from typing import Any, Unpack

import numpy as np

from rankproof.comparing.alignment import (
    align_scores,
    bounds_notes,
    counted_by_all,
    kin_notes,
    possible_ends,
    range_notes,
    soundness,
)
from rankproof.comparing.conclusions import ALLOWED, answer_first, too_few_answers, unanswered_notes, unjudged_notes
from rankproof.core.arrays import Array
from rankproof.core.conventions import FEWEST_TO_DECIDE, ScoringArguments
from rankproof.core.defaults import DEFAULT_MEASURES
from rankproof.core.measure import Measure
from rankproof.core.names import parse
from rankproof.core.scoring import average
from rankproof.document.model import Displayable, Document, PlainData, Result
from rankproof.document.numbers import count
from rankproof.errors import DataError, UsageError, check_whole, old_arguments
from rankproof.io.load import Columns, systems_by_name, with_columns
from rankproof.scoring.evaluate import check_conventions, check_not_thin, evaluate_each
from rankproof.scoring.protocol import ScoresLike
from rankproof.stats.agreement import order, stability
from rankproof.stats.confidence import Ends, agree_with_test
from rankproof.stats.corrections import correct, letters
from rankproof.stats.differences import difference_interval
from rankproof.stats.paired import check_alpha, paired_differences, sign_flips


@dataclass(frozen=True, slots=True)
class Duel(Displayable):
    """Two systems of a leaderboard, the better one first."""

    better: str
    worse: str
    difference: float
    """The mean of the first minus that of the second."""
    p: float
    """By sign flips, corrected over all pairs (Holm)."""
    told_apart: bool
    low: float | None = None
    """The interval of the difference at 1 - alpha; None if the measure is no mean over the queries."""
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Leaderboard(PlainData, Result):
    """The systems by their means, the best first, and how far that order depends on single queries."""

    measure: str
    means: dict[str, float]
    queries: int
    least: float
    """The lowest tau-b between this order and the one with a query left out."""
    average: float
    """The mean of those."""
    moves: tuple[str, ...]
    """The queries without which the order would be another."""
    first_changes: int
    """How many of them decide about the first place."""
    told_apart: int
    """Pairs of systems whose difference is more than chance (sign flips, Holm)."""
    pairs: int
    alpha: float
    higher: bool = True
    """Whether more is better."""
    left_out: int = 0
    """Queries that have no value in some system, and so are in no mean here."""
    wrong: tuple[str, ...] = ()
    """What makes numbers wrong: queries without an answer, and the errors of the audit of each system."""
    intervals: dict[str, tuple[float | None, float | None]] = field(default_factory=dict)
    """The interval of each mean; None if there is none."""
    versus: tuple[Duel, ...] = ()
    """Every pair of systems, the better one first."""
    letters: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """For each system its letters: two that share one cannot be distinguished, two that share none can."""
    notes: tuple[str, ...] = ()
    """Notes, such as a judge of the same model as the system."""
    missing: tuple[str, ...] = ()
    """The systems that left too many queries unanswered: they are not distinguished from any other."""

    def _document(self) -> Document:
        from rankproof.comparing.orders_words import leaderboard as words

        return words(self.to_dict())

    def _in_one_line(self) -> str:
        means = ", ".join(f"{name} {mean:.4f}" for name, mean in self.means.items())
        return f"<Leaderboard of {count(len(self.means), 'system')} by {self.measure}: {means}>"


@old_arguments(corpus="corpus_size")
@with_columns
def leaderboard(
    scores: Any,
    systems: Any = None,
    measure: str | Measure | None = None,
    *,
    alpha: float = 0.05,
    seed: int = 0,
    allow_missing: float = ALLOWED,
    allow_errors: bool = False,
    columns: Columns = None,
    **conventions: Unpack[ScoringArguments],
) -> Leaderboard:
    """Order systems by a measure (by default the first), and see how the order changes if any one query is left out.

    The arguments are `{system: scores}` and the measure; or judgments, `{system: ranking}` and the measure, with the
    conventions of `evaluate`. A system that left more than `allow_missing` of the judged queries unanswered is not
    distinguished from any other, nor are two with errors of the audit in their data (unless `allow_errors`).

    >>> from rankproof import evaluate
    >>> judged = {f"q{i}": {"a": 1} for i in range(3)}
    >>> good = evaluate(judged, {query: ["a"] for query in judged}, "RR")
    >>> fair = evaluate(judged, {query: ["x", "a"] for query in judged}, "RR")
    >>> board = leaderboard({"fair": fair, "good": good})
    >>> list(board.means), board.least, board.moves
    (['good', 'fair'], 1.0, ())
    """
    check_alpha(alpha)
    check_whole("seed", seed, 0)
    check_conventions(conventions, leaderboard)
    scored = isinstance(scores, Mapping) and isinstance(next(iter(scores.values()), None), ScoresLike)
    if scored and systems is not None and measure is None:
        systems, measure = None, systems
    if not scored:
        asked = DEFAULT_MEASURES if measure is None else [parse(measure)]
        scores = evaluate_each(scores, systems_by_name(systems, "leaderboard"), asked, **conventions)
    elif conventions:
        raise UsageError(
            f"leaderboard: {', '.join(conventions)} applies to rankings, but scores were given. Next: leave it out."
        )
    scores = systems_by_name(scores, "leaderboard")
    first = next(iter(scores))
    alike, _ = align_scores(scores, first, None if measure is None else [measure])
    column = alike[first].column(measure if measure is not None else next(iter(alike[first])))
    name, higher = column.measure.name, column.measure.spec.higher
    counted = counted_by_all(own.column(name) for own in alike.values())
    kept = np.arange(len(alike[first].queries)) if counted is None else np.flatnonzero(counted)
    values = {each: own.column(name).values[kept] for each, own in alike.items()}
    queries = [alike[first].queries[i] for i in kept.tolist()]
    if len(queries) < 2:
        raise DataError(
            f"{name}: got {count(len(queries), 'query')}, expected 2 or more, as one is left "
            "out in turn. Next: score at least two queries."
        )
    found = stability(values, higher)
    check_not_thin(alike, name)
    every = len(alike[first].queries)
    # Over the same queries for all: a system must not lead because it has no value for hard queries.
    shared = len(queries) < every
    means = {each: average(column.measure, values[each]) if shared else own[name] for each, own in alike.items()}
    ordered = order(means, higher)
    of_means = column.measure.spec.average == "mean"
    farthest = (lambda one, other: possible_ends(alike[one], alike[other], name)) if of_means else None
    missing = too_few_answers(alike, allow_missing)
    wrong = {each for each, own in alike.items() if own.wrong and not allow_errors}
    duels = _duels(values, {each: means[each] for each in ordered}, farthest, alpha, seed)
    for i, each in enumerate(duels):
        if {each.better, each.worse} & missing.keys() or {each.better, each.worse} <= wrong:
            duels[i] = replace(each, told_apart=False)
    limits = {each: asdict(soundness(alike[each], column.measure)) for each in ordered}
    spans = {x: (alike[x].only([name], queries) if shared else alike[x]).interval(name) for x in ordered}
    few = tuple(map(answer_first, missing.values()))
    notes = [*unanswered_notes(limits), *unjudged_notes(limits), *range_notes([column.measure])]
    return Leaderboard(
        measure=name,
        means={each: means[each] for each in ordered},
        queries=len(queries),
        least=found.least,
        average=found.mean,
        moves=tuple(queries[i] for i in found.moves),
        first_changes=found.first_changes,
        told_apart=sum(each.told_apart for each in duels),
        pairs=len(duels),
        alpha=alpha,
        higher=higher,
        intervals={each: ends if np.isfinite(ends[0]) else (None, None) for each, ends in spans.items()},
        versus=tuple(duels),
        letters=letters(ordered, [(each.better, each.worse) for each in duels if each.told_apart]),
        left_out=every - len(queries),
        missing=few,
        wrong=(*few, *(f"{name}: {each}" for name, found in scores.items() for each in found.wrong)),
        notes=(*notes, *bounds_notes(scores, name), *kin_notes(scores)),
    )


def _duels(
    values: Mapping[str, Array],
    means: Mapping[str, float],
    limits: Callable[[str, str], Ends] | None,
    alpha: float,
    seed: int,
) -> list[Duel]:
    """Every pair of systems, tested as one family, the better one of each first."""
    pairs = list(combinations(means, 2))
    rows = [paired_differences(values[one], values[other]) for one, other in pairs]
    found = sign_flips(rows, np.random.default_rng(seed), permutations=10_000)
    duels = []
    for (one, other), row, p in zip(pairs, rows, correct([each.p for each in found], "holm"), strict=True):
        difference, low, high = means[one] - means[other], None, None
        if limits is not None:
            span = difference_interval(row, level=1 - alpha, ends=limits(one, other))
            low, high = agree_with_test((span.low, span.high), difference, p, alpha)
        duels.append(Duel(one, other, difference, p, len(row) >= FEWEST_TO_DECIDE and p <= alpha, low, high))
    return duels
