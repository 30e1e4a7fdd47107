"""The means of metrics, corrected by labels for the judge's errors.

A label is of a pair, a metric of samples. Where a metric adds up over its pairs (`ADDS_UP`), pairs drawn at random
tell what the judge was off by. Any other metric needs samples that were drawn and labelled whole: claims that one
of several contexts may support, or precision at ranks, cannot be told from single pairs.
"""

from __future__ import annotations

import math
from array import array
from collections import ChainMap, Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, cast

import numpy as np

from rankproof.core.audit.finding import Finding, few_examples
from rankproof.core.measure import Measure
from rankproof.document.numbers import count
from rankproof.judging.case import Case
from rankproof.judging.lexical.judge import NAME
from rankproof.judging.metrics.counting import outcomes
from rankproof.judging.metrics.registry import is_ours
from rankproof.judging.run import JudgedSample
from rankproof.judging.trust.agreement import Frame, Label, frame_of, labels_in, people
from rankproof.judging.trust.estimates import Checked, Estimate, Estimates, Uncorrected
from rankproof.judging.verdicts import PLAIN_YES, Ask, Judge, Relation, Said, Verdict, pair_in
from rankproof.stats.judge_error import Corrected
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

    def add(self, case: Case, used: Sequence[Ask], value: float | None) -> None:
        """Take one sample, the pairs that the metric looked at, and its value."""
        known = [self.labels[ask] for ask in used if ask in self.labels]
        alone = _with(case, {each.ask: each.said for each in known}) if known else case
        machine = self._value(alone) if known else value
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
            truth = self._value(_with(case, {each.ask: each.truth for each in known}))
            if truth is not None:
                self.rows.extend((truth, machine, place, known[0].included, True))
        elif self.adds_up:
            for each in known:
                self._take_pair(alone, each, place)

    def _take_unseen(self, case: Case, fresh: Sequence[Ask], machine: float | None) -> None:
        """What the pairs that labels cannot tell of may do to the value."""
        if machine is None or not fresh or not self.adds_up:
            value = math.nan if machine is None else machine
            self.unseen.extend((len(fresh), value, value))
            return
        ends = (
            self._value(_with(case, {ask: best[ask.relation] if best else NOTHING for ask in fresh}))
            for best in ({}, PLAIN_YES)
        )
        low, high = (machine if each is None else each for each in ends)
        self.unseen.extend((len(fresh), low, high))

    def _take_pair(self, case: Case, label: Label, place: int) -> None:
        """What one pair gives to its sample's value, as people and as the machine see it."""
        without, truth, said = (
            self._value(_with(case, {label.ask: each})) for each in (NOTHING, label.truth, label.said)
        )
        if without is not None and truth is not None and said is not None:
            self.rows.extend((truth - without, said - without, place, label.included, False))

    def _value(self, case: Case) -> float | None:
        return outcomes(self.measure, [case], self.complete)[0].value

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


@dataclass(slots=True)
class Corrections:
    """All metrics of a run."""

    each: list[Correcting]

    def add(self, judged: JudgedSample) -> None:
        """Take one sample."""
        for correcting, outcome, used in zip(self.each, judged.outcomes, judged.used, strict=False):
            correcting.add(judged.case, used, outcome.value)

    def results(self) -> dict[str, Checked]:
        """Each metric by name."""
        return {each.measure.name: each.result() for each in self.each}


Corrects = dict[str, Corrected | Uncorrected]
"""For each metric its corrected mean, or why there is none; empty if nobody labelled anything."""


def corrections_for(metrics: Any, judges: Sequence[Judge], ledger: Ledger | None, complete: float) -> Corrections:
    """What takes in samples and gives corrected means, if the ledger holds labels."""
    machines = [each.identity for each in judges if each.identity.get("kind") != HUMAN]
    labels = labels_in(ledger, machines) if ledger is not None and machines else {}
    if ledger is None or not labels:
        return Corrections([])
    frame = frame_of(ledger, labels.values())
    return Corrections([Correcting(metric, labels, complete, frame) for metric in metrics])


def estimates_for(metrics: Any, judges: Sequence[Judge], ledger: Ledger | None, compat: str | None) -> Estimates:
    """What takes in samples and gives estimates, if the embedded judge reads them and the formulas are ours."""
    words = [each.identity for each in judges if each.identity.get("kind") == NAME]
    if not words or compat is not None:
        return Estimates([])
    known = people(ledger) if ledger is not None else ()
    return Estimates.of(metrics, {pair_in(each): int(each.value or 0) for each in known})


def estimate_sentences(found: Mapping[str, Estimate]) -> Iterator[str]:
    """What the estimates are, under a table."""
    if found:
        labels = max(each.labels for each in found.values())
        narrowed = f"; {labels:,} labels narrow it" if labels else "; labels narrow it ('rankproof calibrate')"
        yield (
            "An estimate counts every pair by its probability of a yes. Its interval holds what samples vary and what "
            f"words may be wrong by on texts of another kind{narrowed}."
        )


def corrected_in(corrections: Corrects, metric: str) -> Corrected | None:
    """The corrected mean of a metric; None if there is none."""
    found = corrections.get(metric)
    return found if isinstance(found, Corrected) else None


def sentences(corrections: Corrects) -> Iterator[str]:
    """How numbers were corrected, and which were not."""
    done = {name: each for name, each in corrections.items() if isinstance(each, Corrected)}
    if done:
        listed = "; ".join(f"{name}: {each.method}" for name, each in done.items())
        yield f"Corrected for the judge's error ({listed})."
    reasons: dict[str, list[str]] = {}
    for name, each in corrections.items():
        if isinstance(each, Uncorrected):
            reasons.setdefault(each.reason, []).append(name)
    for reason, names in reasons.items():
        yield f"No correction of {', '.join(names)}: {reason}."


def corrections_to_dict(corrections: Corrects) -> dict[str, Any]:
    """Corrections as plain data."""
    return {name: asdict(each) for name, each in corrections.items()}


def corrections_from_dict(data: Mapping[str, Mapping[str, Any]]) -> Corrects:
    """Corrections as `corrections_to_dict` wrote them."""
    return {name: (Uncorrected if "reason" in each else Corrected)(**each) for name, each in data.items()}


class Versions:
    """Which versions of a model gave the verdicts: a name may stand for another model tomorrow."""

    def __init__(self) -> None:
        self.seen: dict[str, Counter[str]] = {}
        self.fresh: dict[str, str] = {}
        """For each judge the version that gave verdicts just now; those of a ledger say when they were given."""

    def add(self, judged: JudgedSample) -> None:
        """Note who gave the verdicts on one sample."""
        for ask in {ask for asks in judged.used for ask in asks}:
            said = judged.case.said.get(ask)
            if isinstance(said, Verdict) and (version := str(said.origin.get("model") or "")):
                self.seen.setdefault(said.judge, Counter())[version] += 1
                if "at" not in said.origin:
                    self.fresh[said.judge] = version

    def several_models(self) -> dict[str, dict[str, int]]:
        """The judges behind whose names more than one model answered, with how many verdicts each gave."""
        return {name: dict(each) for name, each in self.seen.items() if len(each) > 1}


def drift_warnings(versions: Mapping[str, Mapping[str, int]]) -> Iterable[Finding]:
    """A warning for each judge behind whose name the model changed."""
    for name, counts in versions.items():
        yield Finding(
            *("warning", "judge-changed", len(counts)),
            f"{name} is {count(len(counts), 'model')} by what the service says of itself, so its verdicts "
            "may not be alike.",
            examples=few_examples([f"{version} ({count:,} verdicts)" for version, count in counts.items()]),
            advice="ask the fixed pairs again: 'rankproof calibrate LEDGER --drift' says how much it changed.",
        )
