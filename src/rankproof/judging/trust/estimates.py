"""Estimates: the expectation of a metric over all pairs, those too that words leave open, with an interval.

Every pair that the lexical judge read has a probability. The pairs of a sample fall to yes or no by these, and the
metric is worked out each time. Each time all probabilities of one relation are shifted together, by as much as they
may be off on texts of another kind (`lexical.transfer`), so that the spread of the results holds what the judge may
be wrong by; the interval adds to it what the samples vary. Verdicts of people and of models stand as they are.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rankproof.core.audit.finding import percent
from rankproof.core.hits import Array, ratio
from rankproof.core.measure import Measure
from rankproof.document.display import Displayable, PlainData
from rankproof.judging.case import Case
from rankproof.judging.lexical.judge import NAME, likelihood, logit, shifts
from rankproof.judging.metrics.counting import TOGETHER, Outcome, metric_of, outcomes
from rankproof.judging.metrics.registry import is_ours
from rankproof.judging.run import JudgedSample
from rankproof.judging.trust.agreement import is_yes
from rankproof.judging.verdicts import PLAIN_YES, Ask, Relation, Said, Unmeasured, Verdict
from rankproof.stats.intervals import interval
from rankproof.stats.judge_error import Corrected, Side, check_labels, corrected_difference, corrected_mean
from rankproof.store.ledger import lot, pair_of

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

    @property
    def by(self) -> str:
        """Which pairs fall together: those of one claim, or of one context."""
        return metric_of(self.measure).soft_by

    def add(self, case: Case, used: Sequence[Ask], outcome: Outcome) -> None:
        """Take one sample, the pairs that the metric looked at, and what it made of them."""
        value = outcome.value
        self.lost += value is None and outcome.low is not None and not outcome.units
        own, self.seen = lot(("sample", case.sample.id, ""), SEED), self.seen + 1
        if len(self.kept) == MOST and own >= -self.kept[0][0]:
            return
        doubtful = [ask for ask in used if ask.relation in self.shifted and _doubtful(case.said.get(ask))]
        settled = np.full(DRAWS, np.nan if value is None else value)
        values = self._values(case, used, doubtful) if doubtful else settled
        if not np.isnan(values).all():
            keep = heapq.heappush if len(self.kept) < MOST else heapq.heapreplace
            keep(self.kept, (-own, self.seen, len(doubtful), values))

    def _values(self, case: Case, used: Sequence[Ask], doubtful: Sequence[Ask]) -> Array:
        """The metric of every draw; NaN where it has no value then."""
        fixed: dict[Ask, Said] = {ask: case.said[ask] for ask in used if ask in case.said}
        columns = [self._column(ask, case.said[ask]) for ask in doubtful]
        cases = [
            Case(case.sample, fixed | dict(zip(doubtful, fallen, strict=True)), case.k)
            for fallen in zip(*columns, strict=True)
        ]
        return np.array([np.nan if (one := each.value) is None else one for each in outcomes(self.measure, cases)])

    def _column(self, ask: Ask, said: Said) -> list[Said]:
        """What is said of a pair in every draw: yes in as many as its probability has it, in an order of its own."""
        # Of several contexts the strongest counts: what is said of one claim by all of them hangs together.
        place = ask.right if ask.relation not in TOGETHER or self.by == "right" else ""
        left = "" if self.by == "right" and ask.relation == Relation.TEXT_SUPPORTS else ask.left
        order = np.random.default_rng(int.from_bytes(pair_of((ask.relation, left, place))))
        given = said.probability if isinstance(said, Verdict) else None
        likely = likelihood(ask) if given is None else given
        chance = 1 / (1 + np.exp(-(logit(np.array(likely)) + self.shifted[ask.relation])))
        sides: tuple[Said, Said] = Verdict(ask, 0, NAME), Verdict(ask, PLAIN_YES[ask.relation], NAME)
        return [sides[yes] for yes in (order.permutation(PLACES) < chance).tolist()]

    def result(self, level: float = 0.95) -> Estimate | None:
        """The estimate; None if no sample has one, or every pair was settled by people or models."""
        expected = sum(doubtful for *_, doubtful, _ in self.kept)
        if not expected:
            return None
        draws = np.array([values for *_, values in sorted(self.kept, key=lambda each: (-each[0], each[1]))])
        there = ~np.isnan(draws)
        drawn = ratio(np.nansum(draws, axis=0), there.sum(axis=0))[there.any(axis=0)]
        own = np.nansum(draws, axis=1) / there.sum(axis=1)
        value = float(drawn.mean())
        sampled = interval(own, np.random.default_rng(SEED), level)
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


def _doubtful(said: Said | None) -> bool:
    """Whether a pair counts by its probability: nobody settled it, or words did; a denial found stands."""
    if isinstance(said, Unmeasured):
        return True
    return said is not None and said.judge == NAME and (said.value or 0) >= 0


@dataclass(slots=True)
class Estimates:
    """All metrics of a run."""

    each: list[tuple[int, Estimating]]

    @classmethod
    def of(cls, metrics: Iterable[Measure], labels: Mapping[Ask, int]) -> Estimates:
        """Estimates of these metrics; labels of people narrow them.

        A yes or no to every pair must be all that a metric looks at; formulas of other tools look at more.
        """
        shifted = {relation: _shifts(relation, labels) for relation in PLAIN_YES}
        usable = [
            (place, each) for place, each in enumerate(metrics) if is_ours(each) and each.spec.name not in CERTAIN
        ]
        return cls([(place, Estimating(each, shifted, len(labels))) for place, each in usable])

    def add(self, judged: JudgedSample) -> None:
        """Take one sample."""
        for place, each in self.each:
            each.add(judged.case, judged.used[place], judged.outcomes[place])

    def results(self) -> dict[str, Estimate]:
        """The estimate of each metric that has one."""
        made = {each.measure.name: each.result() for _, each in self.each}
        return {name: each for name, each in made.items() if each is not None}


def _shifts(relation: Relation, labels: Mapping[Ask, int]) -> Array:
    """The shift of every draw, in an order of its own for each relation, so that one does not follow the other."""
    known = [(likelihood(ask), is_yes(relation, value)) for ask, value in labels.items() if ask.relation == relation]
    order = np.random.default_rng([SEED, ord(relation)]).permutation(DRAWS)
    return shifts(relation, PLACES, known)[order]


# --- One metric held against labels: what the machine alone says of each sample, and what people say of s


ENOUGH = 50
"""Labels below which nothing is corrected."""
NO_JUDGE = "it is made by rules, no judge is asked"
NO_VALUE = "the judge by itself gives no sample a value"
TRUTH, SAID, PLACE, CHANCE, WHOLE = range(5)
"""The columns of `Checked.rows`."""


@dataclass(frozen=True, slots=True)
class Uncorrected(Displayable):
    """A metric without a correction, and why."""

    reason: str
    n: int = 0
    """Labels that there are."""


@dataclass(frozen=True, eq=False, slots=True)
class Checked(Displayable):
    """One metric of one system, with labels beside it."""

    adds_up: bool
    """Whether single pairs tell what the judge is off by."""
    machine: Array
    """The machine's value of each sample; NaN where it has none."""
    pairs: Array
    """How many pairs each sample's value is made of."""
    rows: Array
    """A line a label: people's value, the machine's, the sample's place, the probability, whether it is whole."""
    fresh: Array | None = None
    """How many pairs of each sample could not be drawn when labels were; None: all could."""
    low: Array | None = None
    """The machine's value with these at nothing."""
    high: Array | None = None
    """And with these at their best."""
    recorded: bool = True
    """Whether the labels say from which pairs they were drawn."""

    def cut(self, samples: Array) -> Checked:
        """The same of these samples alone, in this order.

        Labels drawn at random from all pairs are, among those of some samples, a random part of them too.
        """
        place = np.full(len(self.machine), -1, dtype=np.intp)
        place[samples] = np.arange(len(samples))
        rows = self.rows.copy()
        rows[:, PLACE] = place[self.rows[:, PLACE].astype(np.intp)]
        kept = rows[rows[:, PLACE] >= 0]
        parts: dict[str, Any] = {
            name: None if (each := getattr(self, name)) is None else each[samples]
            for name in ("machine", "pairs", "fresh", "low", "high")
        }
        return replace(self, rows=kept, **parts)

    @property
    def unseen(self) -> float:
        """The share of the pairs that could not be drawn when labels were."""
        every = float(self.pairs.sum())
        return 0.0 if self.fresh is None or not every else float(self.fresh.sum()) / every

    def mean(self, level: float = 0.95) -> Corrected | Uncorrected:
        """The corrected mean, or why there is none."""
        own = self.cut(np.flatnonzero(~np.isnan(self.machine)))
        for whole in (True, False):
            seen, rest = own._parted(whole)
            side = seen._side(whole)
            if side is not None:
                limits = min(0.0, float(own.machine.min())), max(1.0, float(own.machine.max()))
                found = corrected_mean(side.everywhere, side.labels, units=side.units, level=level, limits=limits)
                return own._said(_added(found, seen._share_of(own), [(1, rest)]))
        n = int((own.rows[:, WHOLE] == (not own.adds_up)).sum())
        if not own.pairs.sum():
            return Uncorrected(NO_JUDGE if len(own.machine) else NO_VALUE, n)
        noun = "labelled pairs" if own.adds_up else "samples labelled whole"
        return Uncorrected(f"{n} {noun} drawn at random, {ENOUGH} needed", n)

    def minus(self, other: Checked, level: float = 0.95) -> Corrected | None:
        """The corrected difference to another system over the same samples; None without labels enough of both."""
        both = np.flatnonzero(~(np.isnan(self.machine) | np.isnan(other.machine)))
        mine, theirs = self.cut(both), other.cut(both)
        for whole in (True, False):
            alike = mine._seen_whole() & theirs._seen_whole() if whole else None
            (one, my_rest), (two, their_rest) = (each._parted(whole, alike) for each in (mine, theirs))
            my_side, their_side = one._side(whole), two._side(whole)
            if my_side is not None and their_side is not None:
                most = max(1.0, float(np.abs(mine.machine).max()), float(np.abs(theirs.machine).max()))
                found = corrected_difference(my_side, their_side, level=level, limits=(-most, most))
                found = _added(found, one._share_of(mine), [(1, my_rest), (-1, their_rest)])
                return max((mine, theirs), key=lambda each: each.unseen)._said(found)
        return None

    def favour(self, other: Checked, level: float = 0.95) -> Corrected | None:
        """What the judge gives this system more than people do, less what it gives the other (difference in
        differences), by labels of both; None without labels enough of each."""
        both = np.flatnonzero(~(np.isnan(self.machine) | np.isnan(other.machine)))
        mine, theirs = self.cut(both), other.cut(both)
        for whole in (True, False):
            one, two = mine._off_by(whole), theirs._off_by(whole)
            if one is not None and two is not None:
                return corrected_difference(one, two, power=0.0, level=level, limits=(-2.0, 2.0))
        return None

    def _off_by(self, whole: bool) -> Side | None:
        """What the judge is off by, as a side of its own: the labels say it, and nothing else does."""
        side = self._side(whole)
        if side is None:
            return None
        given = side.labels
        labels = check_labels(given.said - given.truth, np.zeros_like(given.said), given.place, given.probability)
        return replace(side, everywhere=np.zeros_like(side.everywhere), labels=labels)

    def _seen_whole(self) -> Array:
        """Which samples have no pair that could not be drawn."""
        return np.ones(len(self.machine), dtype=bool) if self.fresh is None else self.fresh == 0

    def _parted(self, whole: bool, seen: Array | None = None) -> tuple[Checked, tuple[float, float, float]]:
        """What labels can tell of, and what the rest adds to the mean: by the judge, at worst and at best.

        By pairs each sample has a part of both; by whole samples, one that has a new pair is all rest.
        """
        if not len(self.machine):
            return self, (0.0, 0.0, 0.0)
        if not whole:
            if self.fresh is None or self.low is None or self.high is None:
                return self, (0.0, 0.0, 0.0)
            told = replace(self, machine=self.low, pairs=self.pairs - self.fresh, fresh=None)
            return told, (float((self.machine - self.low).mean()), 0.0, float((self.high - self.low).mean()))
        known = self._seen_whole() if seen is None else seen
        n, best = len(self.machine), max(1.0, float(self.machine.max()))
        rest = float(self.machine[~known].sum()) / n, 0.0, best * float((~known).sum()) / n
        return self.cut(np.flatnonzero(known)), rest

    def _share_of(self, every: Checked) -> float:
        """How many of all samples these are."""
        return len(self.machine) / len(every.machine)

    def _said(self, found: Corrected) -> Corrected:
        """The estimate with what its labels cannot tell."""
        if not self.recorded:
            return replace(found, method=f"{found.method}, drawn from pairs that are not on record")
        if not self.unseen:
            return found
        share = percent(self.unseen)
        said = f"{share} of these pairs were not there when labels were drawn, and are bounded, not corrected"
        return replace(found, method=f"{found.method}; {said}")

    def _side(self, whole: bool) -> Side | None:
        """The labels of whole samples, or of single pairs, if there are enough."""
        rows = self.rows[self.rows[:, WHOLE] == whole]
        if len(rows) < ENOUGH or not (whole or self.adds_up):
            return None
        labels = check_labels(rows[:, TRUTH], rows[:, SAID], rows[:, PLACE].astype(np.intp), rows[:, CHANCE])
        return Side(self.machine, labels, None if whole else float(self.pairs.sum()))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        machine = [None if each != each else each for each in self.machine.tolist()]
        plain = {"adds_up": self.adds_up, "machine": machine, "recorded": self.recorded}
        unseen = {
            name: [None if each != each else each for each in values.tolist()]
            for name in ("fresh", "low", "high")
            if (values := getattr(self, name)) is not None
        }
        return {**plain, "pairs": self.pairs.tolist(), "rows": self.rows.tolist(), **unseen}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Checked:
        """What `to_dict` wrote."""
        arrays: dict[str, Any] = {
            name: np.array([np.nan if each is None else each for each in data[name]], dtype=np.float64)
            for name in ("machine", "pairs", "fresh", "low", "high")
            if name in data
        }
        rows = np.array(data["rows"], dtype=np.float64).reshape(-1, 5)
        return cls(bool(data["adds_up"]), rows=rows, recorded=bool(data.get("recorded", True)), **arrays)


def _added(found: Corrected, share: float, rest: Sequence[tuple[int, tuple[float, float, float]]]) -> Corrected:
    """An estimate of a share, with the rest as the judge says it, and at the ends at worst and at best."""
    if not any(any(parts) for _, parts in rest):
        return found
    value, low, high = found.value * share, found.low * share, found.high * share
    for sign, (said, worst, best) in rest:
        ends = sorted((sign * worst, sign * best))
        value, low, high = value + sign * said, low + ends[0], high + ends[1]
    return replace(found, value=value, low=low, high=high)
