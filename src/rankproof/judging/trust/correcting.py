"""The means of metrics, corrected by labels for the judge's errors.

A label is about a pair, a metric about samples. If a metric is a sum over its pairs (`ADDS_UP`), pairs drawn at random
show the judge's error. Any other metric needs samples that were drawn and labelled completely: claims that one
of several contexts may support, or precision at ranks, cannot be computed from single pairs.
"""

from __future__ import annotations

import math
from array import array
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from rankproof.core.arrays import by_key
from rankproof.core.hits import Array
from rankproof.core.measure import Measure
from rankproof.document.model import Displayable
from rankproof.document.numbers import share
from rankproof.judging.case import Case
from rankproof.judging.metrics.counting import Outcome, outcomes
from rankproof.judging.metrics.registry import is_ours
from rankproof.judging.trust.agreement import FEW, Frame, Label, frame_of, labels_in
from rankproof.judging.verdicts import PLAIN_YES, Ask, Judge, Relation, Said, Verdict
from rankproof.stats.judge_error import Corrected, Side, check_labels, corrected_difference, corrected_mean
from rankproof.store.ledger import HUMAN, Ledger

ADDS_UP = ("P", "DCG", "RBP", "context_relevance", "answer_relevance", "completeness")
"""Metrics that are the sum, over the pairs of a sample, of what each pair adds."""
NOTHING = 0
"""The value of each relation that gives a sample nothing."""


@dataclass(slots=True)
class Correcting:
    """One metric while samples are judged: what the machine alone says of each, and what people say of some."""

    measure: Measure
    labels: Mapping[Ask, Label]
    complete: float = 1.0
    frame: Frame = field(default_factory=Frame)
    """The pairs that could be drawn when labels were."""
    machine: array[float] = field(default_factory=lambda: array("d"))
    pairs: array[float] = field(default_factory=lambda: array("d"))
    rows: array[float] = field(default_factory=lambda: array("d"))
    unseen: array[float] = field(default_factory=lambda: array("d"))
    """For each sample how many pairs could not be drawn, and its value with these at nothing and at best."""

    @property
    def adds_up(self) -> bool:
        """Whether single pairs tell what the judge is off by."""
        return is_ours(self.measure) and self.measure.spec.name in ADDS_UP

    def add(self, case: Case, used: Sequence[Ask], outcome: Outcome) -> None:
        """Take one sample, the pairs that the metric looked at, and what it made of them."""
        known = [self.labels[ask] for ask in used if ask in self.labels]
        alone = _with(case, {each.ask: each.said for each in known}) if known else case
        machine = self._value(alone, {}) if known else outcome.value
        place, asked = len(self.machine), () if machine is None else used
        settled = [
            ask for ask in asked if ask.relation != Relation.TEXT_CLAIMS and isinstance(alone.said.get(ask), Verdict)
        ]
        self.machine.append(math.nan if machine is None else machine)
        self.pairs.append(len(settled))
        self._take_unseen(alone, [ask for ask in settled if ask not in self.frame], machine)
        if machine is None:
            return
        if known and all(ask in self.labels and self.labels[ask].whole for ask in settled):
            # A sample of which people judged everything.
            truth = self._value(case, {each.ask: each.truth for each in known})
            if truth is not None:
                self.rows.extend((truth, machine, place, known[0].included, True))
        elif self.adds_up:
            for each in known:
                # What one pair gives to its sample's value, as people and as the machine see it.
                without, true, said = (self._value(alone, {each.ask: e}) for e in (NOTHING, each.truth, each.said))
                if without is not None and true is not None and said is not None:
                    self.rows.extend((true - without, said - without, place, each.included, False))

    def _take_unseen(self, case: Case, fresh: Sequence[Ask], machine: float | None) -> None:
        """What the pairs that labels cannot tell of may do to the value."""
        if machine is None or not fresh or not self.adds_up:
            value = math.nan if machine is None else machine
            self.unseen.extend((len(fresh), value, value))
            return
        worst = self._value(case, dict.fromkeys(fresh, NOTHING))
        best = self._value(case, {ask: PLAIN_YES[ask.relation] for ask in fresh})
        self.unseen.extend((len(fresh), *(machine if each is None else each for each in (worst, best))))

    def _value(self, case: Case, values: Mapping[Ask, int]) -> float | None:
        return outcomes(self.measure, [_with(case, values)], self.complete)[0].value

    def result(self) -> Checked:
        """What came of it."""
        machine, pairs = (np.array(each, dtype=np.float64) for each in (self.machine, self.pairs))
        rows = np.array(self.rows, dtype=np.float64).reshape(-1, 5)
        fresh, low, high = np.array(self.unseen, dtype=np.float64).reshape(-1, 3).T.copy()
        unseen = {"fresh": fresh, "low": low, "high": high} if fresh.any() else {}
        return Checked(self.adds_up, machine, pairs, rows, **unseen, recorded=self.frame.known)


def _with(case: Case, values: Mapping[Ask, int]) -> Case:
    """The case with these values in the place of what was said of some pairs."""
    changed: dict[Ask, Said] = {ask: Verdict(ask, value, "") for ask, value in values.items()}
    said = ChainMap(changed, cast(dict[Ask, Said], case.said))
    return Case(case.sample, said, case.k, independent=case.independent)


def corrections_for(
    metrics: Iterable[Measure], judges: Sequence[Judge], ledger: Ledger, complete: float
) -> dict[int, Correcting]:
    """What takes in samples and gives the corrected mean of each metric, by its place, if the ledger holds labels."""
    machines = [each.identity for each in judges if each.identity.get("kind") != HUMAN]
    labels = labels_in(ledger, machines) if machines else {}
    if not labels:
        return {}
    frame = frame_of(ledger, labels.values())
    return {place: Correcting(each, labels, complete, frame) for place, each in enumerate(metrics)}


NO_JUDGE = "it is made by rules, no judge is asked"
NO_VALUE = "the judge by itself gives no sample a value"
TRUTH, SAID, PLACE, CHANCE, WHOLE = range(5)
"""The columns of `Checked.rows`."""
OF_SAMPLES = ("machine", "pairs", "fresh", "low", "high")
"""The arrays of `Checked` that hold a value for each sample."""


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
            name: None if (each := getattr(self, name)) is None else each[samples] for name in OF_SAMPLES
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
                return own._said(_added(found, len(seen.machine) / len(own.machine), [(1, rest)]))
        n = int((own.rows[:, WHOLE] == (not own.adds_up)).sum())
        if not own.pairs.sum():
            return Uncorrected(NO_JUDGE if len(own.machine) else NO_VALUE, n)
        noun = "labelled pairs" if own.adds_up else "samples labelled whole"
        return Uncorrected(f"{n} {noun} drawn at random, {FEW} needed", n)

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
                found = _added(found, len(one.machine) / len(both), [(1, my_rest), (-1, their_rest)])
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

    def _said(self, found: Corrected) -> Corrected:
        if not self.recorded:
            return replace(found, method=f"{found.method}, drawn from pairs that are not on record")
        if not self.unseen:
            return found
        late = f"{share(self.unseen)} of these pairs were not there when labels were drawn"
        return replace(found, method=f"{found.method}; {late}, and are bounded, not corrected")

    def _side(self, whole: bool) -> Side | None:
        """The labels of whole samples, or of single pairs, if there are enough."""
        rows = self.rows[self.rows[:, WHOLE] == whole]
        if len(rows) < FEW or not (whole or self.adds_up):
            return None
        labels = check_labels(rows[:, TRUTH], rows[:, SAID], rows[:, PLACE].astype(np.intp), rows[:, CHANCE])
        return Side(self.machine, labels, None if whole else float(self.pairs.sum()))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        arrays = {
            name: [None if each != each else each for each in values.tolist()]
            for name in OF_SAMPLES
            if (values := getattr(self, name)) is not None
        }
        return {"adds_up": self.adds_up, "recorded": self.recorded, **arrays, "rows": self.rows.tolist()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Checked:
        """What `to_dict` wrote."""
        arrays: dict[str, Any] = {name: np.array(data[name], dtype=np.float64) for name in OF_SAMPLES if name in data}
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


Corrects = dict[str, Corrected | Uncorrected]
"""For each metric its corrected mean, or why there is none; empty if nobody labelled anything."""


def sentences(corrections: Corrects) -> Iterator[str]:
    """How numbers were corrected, and which were not."""
    done = {name: each for name, each in corrections.items() if isinstance(each, Corrected)}
    if done:
        listed = "; ".join(f"{name}: {each.method}" for name, each in done.items())
        yield f"Corrected for the judge's error ({listed})."
    reasons = by_key((each.reason, name) for name, each in corrections.items() if isinstance(each, Uncorrected))
    for reason, names in reasons.items():
        yield f"No correction of {', '.join(names)}: {reason}."
