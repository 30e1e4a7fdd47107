"""How far a judge can be trusted; here the estimates: the expectation of a metric over all pairs, with an interval.

Every pair that the lexical judge read has a probability. The pairs of a sample are drawn as yes or no by these, and
the metric is computed for each draw. In each draw all probabilities of one relation are shifted together, by as much
as they may be wrong on texts of another kind (`shifts`), so that the spread of the results includes the judge's
error; the interval adds the variation of the samples. Verdicts of people and of models are fixed.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rankproof.core.hits import Array
from rankproof.core.measure import Measure
from rankproof.document.model import PlainData
from rankproof.judging.case import Case
from rankproof.judging.lexical_judge import NAME, likelihood
from rankproof.judging.metrics.counting import TOGETHER, Outcome, metric_of, outcomes
from rankproof.judging.metrics.registry import is_ours
from rankproof.judging.trust.agreement import people
from rankproof.judging.verdicts import PLAIN_YES, Ask, Judge, Relation, Said, Unmeasured, Verdict, is_yes, lot, pair_in
from rankproof.stats.intervals import interval
from rankproof.store.ledger import Ledger
from rankproof.text.words import digest

DRAWS = 40
"""Ways in which the pairs of a sample fall, each with a shift of its own."""
CERTAIN = ("contradiction_rate", "abstention_quality", "nugget_score", "support_precision", "support_recall")
"""Metrics that ask for more than a yes, of which there is no probability."""
PLACES = (np.arange(DRAWS) + 0.5) / DRAWS
SEED = 0
MOST = 1_000
"""So many samples are looked at, drawn by lot if there are more: the interval then hardly narrows with more."""


@dataclass(frozen=True, slots=True)
class Estimate(PlainData):
    """The expectation of a mean over all samples, and the ends of its interval."""

    value: float
    low: float
    high: float
    n: int
    """Samples it is over."""
    expected: int
    """Pairs that count by their probability; 0: all were settled by people or models."""
    labels: int = 0
    """Labels of people that narrow it."""


@dataclass(slots=True)
class Estimating:
    """One metric while samples are judged."""

    measure: Measure
    shifted: Mapping[Relation, Array]
    """For each relation the shift of every draw."""
    labels: int = 0
    kept: list[tuple[float, int, int, Array]] = field(default_factory=list)
    """A heap of samples, the highest lot first: minus the lot, a number of its own, the pairs that count by their
    probability, and the value of every draw."""
    seen: int = 0
    lost: int = 0
    """Samples that left the mean by the system's doing: they could have any value."""

    def add(self, case: Case, used: Sequence[Ask], outcome: Outcome) -> None:
        """Take one sample, the pairs that the metric looked at, and what it made of them."""
        value = outcome.value
        self.lost += value is None and outcome.low is not None and not outcome.units
        own, self.seen = lot(("sample", case.sample.id, ""), SEED), self.seen + 1
        if len(self.kept) == MOST and own >= -self.kept[0][0]:
            return
        doubtful = [ask for ask in used if ask.relation in self.shifted and _is_doubtful(case.said.get(ask))]
        values = self._values(case, used, doubtful) if doubtful else np.full(DRAWS, np.nan if value is None else value)
        if not np.isnan(values).all():
            keep = heapq.heappush if len(self.kept) < MOST else heapq.heapreplace
            keep(self.kept, (-own, self.seen, len(doubtful), values))

    def _values(self, case: Case, used: Sequence[Ask], doubtful: Sequence[Ask]) -> Array:
        """The metric of every draw; NaN where it has no value then."""
        fixed: dict[Ask, Said] = {ask: case.said[ask] for ask in used if ask in case.said}
        fallen = list(zip(*(self._column(ask, case.said[ask]).tolist() for ask in doubtful), strict=True))
        places = {way: place for place, way in enumerate(dict.fromkeys(fallen))}  # few pairs fall in few ways
        sides = [(Verdict(ask, 0, NAME), Verdict(ask, PLAIN_YES[ask.relation], NAME)) for ask in doubtful]
        cases = [
            Case(case.sample, fixed | {ask: of[yes] for ask, of, yes in zip(doubtful, sides, way, strict=True)}, case.k)
            for way in places
        ]
        values = np.array([each.value for each in outcomes(self.measure, cases)], dtype=np.float64)
        return values[[places[way] for way in fallen]]

    def _column(self, ask: Ask, said: Said) -> Array:
        """Whether a pair is a yes in every draw: in as many as its probability has it, in an order of its own."""
        # Of several contexts the strongest counts: what is said of one claim by all of them hangs together.
        by_context = metric_of(self.measure).soft_by == "right"
        place = ask.right if ask.relation not in TOGETHER or by_context else ""
        left = "" if by_context and ask.relation == Relation.TEXT_SUPPORTS else ask.left
        order = np.random.default_rng(int.from_bytes(digest(ask.relation, left, place)))
        likely = likelihood(ask) if said.probability is None else said.probability
        chance = 1 / (1 + np.exp(-(logit(np.array(likely)) + self.shifted[ask.relation])))
        return np.asarray(order.permutation(PLACES) < chance)

    def result(self, level: float = 0.95) -> Estimate | None:
        """The estimate; None if no sample has one, or every pair was settled by people or models."""
        expected = sum(doubtful for *_, doubtful, _ in self.kept)
        if not expected:
            return None
        draws = np.array([values for *_, values in sorted(self.kept, key=lambda each: (-each[0], each[1]))])
        drawn = np.nanmean(draws[:, ~np.isnan(draws).all(axis=0)], axis=0)
        own = np.nanmean(draws, axis=1)
        value = float(drawn.mean())
        sampled = interval(own, level)
        ends = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]).tolist()
        low, high = (
            math.hypot(value - end, own.mean() - by_sample if math.isfinite(by_sample) else 1.0)
            for end, by_sample in zip(ends, (sampled.low, sampled.high), strict=True)
        )
        most = 1.0 if own.max() <= 1 else math.inf
        low, high = max(value - low, 0.0), min(value + high, most)
        if self.lost:
            kept = self.seen - self.lost
            low, high = low * kept / self.seen, (high * kept + max(own.max(), 1.0) * self.lost) / self.seen
        return Estimate(value, low, high, len(own), expected, self.labels)


def _is_doubtful(said: Said | None) -> bool:
    """Whether a pair counts by its probability: nobody settled it, or words did; a denial found stands."""
    if isinstance(said, Unmeasured):
        return True
    return said is not None and said.judge == NAME and (said.value or 0) >= 0


def _shifts(relation: Relation, labels: Mapping[Ask, int]) -> Array:
    """The shift of every draw, in an order of its own for each relation, so that one does not follow the other."""
    known = [(likelihood(ask), is_yes(relation, value)) for ask, value in labels.items() if ask.relation == relation]
    order = np.random.default_rng([SEED, ord(relation)]).permutation(DRAWS)
    return shifts(relation, PLACES, known)[order]


SPREAD = {
    Relation.TEXT_SUPPORTS: (0.7, 8),
    Relation.TEXT_SUPPORTS_IN_PART: (0.7, 8),
    Relation.CONTEXT_ANSWERS: (0.7, 4),
    Relation.STATEMENT_BEARS: (0.7, 1),
    Relation.ANSWER_ADDRESSES: (2.0, 2),
}
"""The standard deviation of the shifts, in logits, a little more than was seen: .60 of 8 collections with claims, .62
of 4 with questions and chunks. Answers to questions differ more (2 collections); for statements there is one
collection, and the spread of chunks is taken. With it the number of collections the base was fitted on: with few of
them it may be off as well."""
FREEDOM = 10
"""Degrees of freedom: 7 of claims and 3 of chunks, whose spreads are about equal (.60 and .62) and pooled."""
GRID = np.linspace(-12.0, 12.0, 2401)
"""Shifts that are looked at."""
SMALLEST = 1e-6
"""A probability nearer to 0 or 1 is taken for this: a shift moves it little, and a label does not rule it out."""


def logit(probability: Array) -> Array:
    """The logarithm of the odds."""
    inside = np.clip(probability, SMALLEST, 1 - SMALLEST)
    return np.asarray(np.log(inside / (1 - inside)))


def shifts(relation: Relation, places: Array, labels: Sequence[tuple[float, bool]] = ()) -> Array:
    """The shifts that stand at these places (0 to 1) of their distribution, given labelled pairs.

    Each label is the probability that the judge gave, and what a person said.

    >>> wide = shifts(Relation.TEXT_SUPPORTS, np.array([0.025, 0.975]))
    >>> narrow = shifts(Relation.TEXT_SUPPORTS, np.array([0.025, 0.975]), [(0.5, True), (0.5, False)] * 20)
    >>> bool(np.ptp(wide) > 2 * np.ptp(narrow))
    True
    """
    spread, collections = SPREAD[relation]
    scale = spread * math.sqrt(1 + 1 / collections)
    likely = -(FREEDOM + 1) / 2 * np.log1p((GRID / scale) ** 2 / FREEDOM)
    for probability, yes in labels:
        shifted = logit(np.array(probability)) + GRID
        likely = likely - np.logaddexp(0.0, -shifted if yes else shifted)
    weights = np.exp(likely - likely.max())
    return np.asarray(np.interp(places, (np.cumsum(weights) - weights / 2) / weights.sum(), GRID))


def estimates_for(
    metrics: Iterable[Measure], judges: Iterable[Judge], ledger: Ledger | None, compat: str | None
) -> dict[int, Estimating]:
    """What takes in samples and gives the estimate of each metric, by its place, if the embedded judge reads them.

    A yes or no to every pair must be all that a metric looks at; formulas of other tools look at more.
    """
    if compat is not None or all(each.identity.get("kind") != NAME for each in judges):
        return {}
    labels = {} if ledger is None else {pair_in(each): int(each.value or 0) for each in people(ledger)}
    shifted = {relation: _shifts(relation, labels) for relation in PLAIN_YES}
    usable = ((place, each) for place, each in enumerate(metrics) if is_ours(each) and each.spec.name not in CERTAIN)
    return {place: Estimating(each, shifted, len(labels)) for place, each in usable}


def estimate_sentences(found: Mapping[str, Estimate]) -> Iterator[str]:
    """What the estimates are, under a table."""
    if found:
        labels = max(each.labels for each in found.values())
        narrowed = f"; {labels:,} labels narrow it" if labels else "; labels narrow it ('rankproof calibrate')"
        yield (
            "An estimate counts every pair by its probability of a yes. Its interval includes the variation of samples "
            f"and the judge's errors on texts of another kind{narrowed}."
        )
