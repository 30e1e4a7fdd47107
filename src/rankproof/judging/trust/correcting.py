"""The means of metrics, corrected by labels for what the judge gets wrong.

A label is of a pair, a metric of samples. Where a metric adds up over its pairs (`ADDS_UP`), pairs drawn at random
tell what the judge was off by. Any other metric needs samples that were drawn and labelled whole: claims that one
of several contexts may support, or precision at ranks, cannot be told from single pairs.
"""

from __future__ import annotations

from array import array
from collections import ChainMap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from rankproof.core.measure import Measure
from rankproof.judging.case import Case
from rankproof.judging.keeping import Said
from rankproof.judging.metrics.counting import outcomes
from rankproof.judging.metrics.registry import METRICS
from rankproof.judging.run import Judged
from rankproof.judging.trust.labels import Label
from rankproof.judging.verdicts import Ask, Verdict
from rankproof.stats.corrected import Corrected, corrected_mean, labelled

ENOUGH = 50
"""Labels below which nothing is corrected."""
ADDS_UP = ("P", "DCG", "RBP", "context_relevance", "answer_relevance", "completeness")
"""Metrics that are the sum, over the pairs of a sample, of what each pair gives by itself."""
NOTHING = 0
"""The value of each relation that gives a sample nothing."""
NO_JUDGE = "it is made by rules, no judge is asked"


@dataclass(frozen=True, slots=True)
class Uncorrected:
    """A metric without a correction, and why."""

    reason: str
    n: int = 0
    """Labels that there are."""


@dataclass(slots=True)
class Correcting:
    """One metric while samples are judged: what the machine alone says of each, and what people say of some."""

    measure: Measure
    labels: Mapping[Ask, Label]
    complete: float = 1.0
    machine: array[float] = field(default_factory=lambda: array("d"))
    """The machine's value of each sample that has one."""
    rows: array[float] = field(default_factory=lambda: array("d"))
    """For each label: people's value, the machine's, the sample's place, the probability."""
    pairs: int = 0
    wholes: int = 0

    @property
    def adds_up(self) -> bool:
        """Whether single pairs tell what the judge is off by."""
        own = METRICS.get(self.measure.spec.name)
        ours = self.measure.spec.kind == "ranking" or (own and own.measure.spec is self.measure.spec)
        return bool(ours) and self.measure.spec.name in ADDS_UP

    def add(self, case: Case, used: Sequence[Ask], value: float | None) -> None:
        """Take one sample, the pairs that the metric looked at, and its value."""
        known = [self.labels[ask] for ask in used if ask in self.labels]
        alone = _with(case, {each.ask: each.said for each in known}) if known else case
        machine = self._value(alone) if known else value
        if machine is None:
            return
        place, settled = len(self.machine), _settled(alone, used)
        self.machine.append(machine)
        self.pairs += len(settled)
        if known and all(ask in self.labels and self.labels[ask].whole for ask in settled):
            self._take_whole(case, known, machine, place)
        elif self.adds_up:
            for each in known:
                self._take_pair(alone, each, place)

    def _take_whole(self, case: Case, known: Sequence[Label], machine: float, place: int) -> None:
        """A sample of which people judged everything."""
        truth = self._value(_with(case, {each.ask: each.truth for each in known}))
        if truth is not None:
            self.wholes += 1
            self.rows.extend((truth, machine, place, known[0].included, True))

    def _take_pair(self, case: Case, label: Label, place: int) -> None:
        """What one pair gives to its sample's value, as people and as the machine see it."""
        without, truth, said = (
            self._value(_with(case, {label.ask: each})) for each in (NOTHING, label.truth, label.said)
        )
        if without is not None and truth is not None and said is not None:
            self.rows.extend((truth - without, said - without, place, label.included, False))

    def _value(self, case: Case) -> float | None:
        return outcomes(self.measure, [case], self.complete)[0].value

    def result(self) -> Corrected | Uncorrected:
        """The corrected mean, or why there is none."""
        rows = np.array(self.rows, dtype=np.float64).reshape(-1, 5)
        whole = rows[rows[:, 4] == 1]
        if len(whole) >= ENOUGH:
            return self._corrected(whole, None)
        single = rows[rows[:, 4] == 0]
        if self.adds_up and len(single) >= ENOUGH:
            return self._corrected(single, float(self.pairs))
        return self._uncorrected(len(single) if self.adds_up else len(whole))

    def _corrected(self, rows: Any, units: float | None) -> Corrected:
        truth, said, place, chance, _ = rows.T
        labels, machine = labelled(truth, said, place.astype(np.intp), chance), np.array(self.machine)
        limits = min(0.0, float(machine.min())), max(1.0, float(machine.max()))
        return corrected_mean(machine, labels, units=units, limits=limits)

    def _uncorrected(self, n: int) -> Uncorrected:
        if not self.pairs:
            return Uncorrected(NO_JUDGE if self.machine else "the judge by itself gives no sample a value", n)
        noun = "labelled pairs" if self.adds_up else "samples labelled whole"
        return Uncorrected(f"{n} {noun} drawn at random, {ENOUGH} needed", n)


def _with(case: Case, values: Mapping[Ask, int]) -> Case:
    """The case with these values in the place of what was said of some pairs."""
    changed: dict[Ask, Said] = {ask: Verdict(ask, value, "") for ask, value in values.items()}
    return Case(case.sample, ChainMap(changed, cast(dict[Ask, Said], case.said)), case.k)


def _settled(case: Case, used: Iterable[Ask]) -> list[Ask]:
    return [ask for ask in used if ask.relation != "C" and isinstance(case.said.get(ask), Verdict)]


@dataclass(slots=True)
class Corrections:
    """All metrics of a run."""

    each: list[Correcting]

    @classmethod
    def of(cls, metrics: Sequence[Measure], labels: Mapping[Ask, Label], complete: float) -> Corrections:
        """Corrections of these metrics; none where nobody labelled anything."""
        return cls([Correcting(metric, labels, complete) for metric in metrics] if labels else [])

    def add(self, judged: Judged) -> None:
        """Take one sample."""
        for correcting, outcome, used in zip(self.each, judged.outcomes, judged.used, strict=False):
            correcting.add(judged.case, used, outcome.value)

    def results(self) -> dict[str, Corrected | Uncorrected]:
        """For each metric its corrected mean, or why there is none."""
        return {each.measure.name: each.result() for each in self.each}
