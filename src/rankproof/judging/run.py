"""Samples in, cases with their outcomes out: batch after batch, so that memory stays flat."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rankproof.core.measure import Measure
from rankproof.judging.blame import failure_of
from rankproof.judging.case import Case
from rankproof.judging.keeping import Keeping, Said
from rankproof.judging.metrics.counting import Outcome, needed, outcomes
from rankproof.judging.metrics.names import found
from rankproof.judging.samples.sample import Sample
from rankproof.judging.settling import add, settle
from rankproof.judging.verdicts import Account, Ask, Judge, Unmeasured
from rankproof.judging.watching import Tell

BATCH = 500
"""Samples that are judged together; what they need of memory is what a run of any length needs."""
TEXTS = 5_000
"""Contexts of the samples that are judged together: what texts hold is remembered for about so many."""
OF_THE_SYSTEM: dict[str, Any] = {"contexts": (), "answer": "", "citations": ()}
"""The fields of a sample that the measured system fills, each with what it is when the system gave nothing."""
PROBABILITY = re.compile(r" \(probability [^()]*\)")
"""What differs from pair to pair in a reason that is the same."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One sample, all that was said of it, and what each metric makes of that."""

    case: Case
    outcomes: tuple[Outcome, ...]
    """One a metric."""
    used: tuple[tuple[Ask, ...], ...]
    """For each metric the pairs it looked at."""


@dataclass(slots=True)
class Run:
    """How a set of samples is judged, and what that took so far."""

    metrics: Sequence[Measure]
    judges: Sequence[Judge]
    kept: Keeping
    k: int | None = None
    complete: float = 1.0
    blaming: bool = False
    """Whether what the account of failures needs is asked for as well."""
    independent: bool = False
    """Whether soft verdicts on several contexts fall each apart."""
    account: Account = field(default_factory=Account)
    tell: Tell | None = None
    """Hears how many samples are done."""
    done: int = 0
    given: set[str] = field(default_factory=set)
    """What the system gave for some sample so far: where it gives nothing for another, that is empty."""
    emptied: Counter[str] = field(default_factory=Counter)
    """For each such field how many samples were without it."""

    def over(self, samples: Iterable[Sample]) -> Iterator[Judged]:
        """Judge the samples in their order."""
        for read in batches(samples, self.judges):
            batch = self.made_whole(read)
            yield from self._batch([Case(each, k=self.k, independent=self.independent) for each in batch])
            self.done += len(batch)

    def made_whole(self, samples: Sequence[Sample]) -> list[Sample]:
        """The samples; what the system left out, where it is given for others, counts as empty and not as unasked."""
        self.given |= {name for name in OF_THE_SYSTEM for each in samples if each.has(name)}
        whole = []
        for each in samples:
            lacking = {name: OF_THE_SYSTEM[name] for name in self.given if not each.has(name)}
            self.emptied.update(lacking.keys() - {"citations"})
            whole.append(replace(each, **lacking) if lacking else each)
        return whole

    def groups(self, cases: Sequence[Case], relation_is_c: bool) -> list[list[Ask]]:
        """For each sample the pairs that its metrics will look at: those of claims, or all others."""
        return [
            [
                ask
                for ask in self._looked_at(case)
                if (ask.relation == "C") == relation_is_c and ask not in case.said
            ]
            for case in cases
        ]

    def _looked_at(self, case: Case) -> list[Ask]:
        found = asked(case, self.metrics)
        if self.blaming:
            failure_of(case)
            found = list(case.asked)
        return found

    def _telling(self, size: int, before: float, part: float) -> Tell | None:
        """Tells of the share of one round, which is a part of all that is done for a batch, as of samples."""
        tell, done = self.tell, self.done
        if tell is None:
            return None
        return lambda share, more="": tell(done + (before + share * part) * size, more)

    def _batch(self, cases: Sequence[Case]) -> Iterator[Judged]:
        said: dict[Ask, Said] = {}
        before = 0.0
        for claims_first in self._rounds():
            for case in cases:
                case.said = said
            groups = self.groups(cases, claims_first)
            part = 1 - before if not claims_first else 0.5 if any(groups) else 0.0
            settled, account = settle(groups, self.judges, self.kept, self._telling(len(cases), before, part))
            said |= settled
            before += part
            add(self.account, account)
        columns = [self._column(metric, cases) for metric in self.metrics]
        for case, row in zip(cases, zip(*columns, strict=True), strict=True):
            told = tuple(_explained(outcome, case, asks) for outcome, asks in row)
            yield Judged(case, told, tuple(asks for _, asks in row))

    def _rounds(self) -> Sequence[bool]:
        """What is asked of claims is known once they are (where no judge finds any, rules do), and what is asked
        of several contexts together once each was asked about."""
        relations = [getattr(judge, "relations", ("C",)) for judge in self.judges]
        first = (True,) if any("C" in each for each in relations) else ()
        together = any(each.params.get("contexts") == "together" for each in self.metrics)
        return (*first, False, *((False,) if together else ()))

    def _column(self, metric: Measure, cases: Sequence[Case]) -> list[tuple[Outcome, tuple[Ask, ...]]]:
        """What a metric makes of each sample, and the pairs it looked at."""
        for case in cases:
            case.asked = {}
        found = outcomes(metric, cases, self.complete)
        return [(each, tuple(case.asked)) for each, case in zip(found, cases, strict=True)]


def batches(samples: Iterable[Sample], judges: Iterable[Judge]) -> Iterator[list[Sample]]:
    """The samples in parts of which each has a bounded number of texts, however many a sample has."""
    most = max((size for judge in judges if (size := getattr(judge, "at_once", None))), default=BATCH)
    batch: list[Sample] = []
    texts = 0
    for each in samples:
        batch.append(each)
        texts += len(each.contexts or ())
        if len(batch) >= most or texts >= most * TEXTS // BATCH:
            yield batch
            batch, texts = [], 0
    if batch:
        yield batch


def _explained(outcome: Outcome, case: Case, asks: Iterable[Ask]) -> Outcome:
    """The outcome with the cause of what is open: what the judge said, or why it said nothing."""
    if outcome.value is not None or not outcome.units:
        return outcome
    looked_at = (case.said.get(ask) for ask in asks if ask.relation != "C")
    causes = (said.reason for said in looked_at if isinstance(said, Unmeasured))
    cause = PROBABILITY.sub("", next((each for each in causes if each), "a text is empty"))
    return replace(outcome, reason=f"not settled: {cause}")


def asked(case: Case, metrics: Iterable[Measure]) -> list[Ask]:
    """The pairs that these metrics look at in a sample, by what is known of it now."""
    case.asked = {}
    for measure in metrics:
        metric = found(measure)
        if not needed(metric, case):
            metric.read(case, **measure.given)
    return list(case.asked)
