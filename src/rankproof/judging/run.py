"""Samples in, cases with their outcomes out: batch after batch, so that memory stays flat."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

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
    account: Account = field(default_factory=Account)
    tell: Tell | None = None
    """Hears how many samples are done."""
    done: int = 0

    def over(self, samples: Iterable[Sample]) -> Iterator[Judged]:
        """Judge the samples in their order."""
        waiting = iter(samples)
        while batch := list(islice(waiting, BATCH)):
            yield from self._batch([Case(each, k=self.k) for each in batch])
            self.done += len(batch)

    def groups(self, cases: Sequence[Case], relation_is_c: bool) -> list[list[Ask]]:
        """For each sample the pairs that its metrics will look at: those of claims, or all others."""
        return [
            [ask for ask in self._looked_at(case) if (ask.relation == "C") == relation_is_c] for case in cases
        ]

    def _looked_at(self, case: Case) -> list[Ask]:
        found = asked(case, self.metrics)
        if self.blaming:
            failure_of(case)
            found = list(case.asked)
        return found

    def _telling(self, size: int) -> Tell | None:
        """Tells of the share of a batch as of samples."""
        tell, done = self.tell, self.done
        return None if tell is None else lambda share: tell(done + share * size)

    def _batch(self, cases: Sequence[Case]) -> Iterator[Judged]:
        said: dict[Ask, Said] = {}
        for claims_first in (True, False):  # what is asked of claims is known once they are
            for case in cases:
                case.said = said
            groups = self.groups(cases, claims_first)
            tell = None if claims_first else self._telling(len(cases))
            settled, account = settle(groups, self.judges, self.kept, tell)
            said |= settled
            add(self.account, account)
        columns = [outcomes(metric, cases, self.complete) for metric in self.metrics]
        for case, row in zip(cases, zip(*columns, strict=True), strict=True):
            used = tuple(tuple(asked(case, [metric])) for metric in self.metrics)
            told = (_explained(each, case, asks) for each, asks in zip(row, used, strict=True))
            yield Judged(case, tuple(told), used)


def _explained(outcome: Outcome, case: Case, asks: Iterable[Ask]) -> Outcome:
    """The outcome with the cause of what is open: what the judge said, or why it said nothing."""
    if outcome.value is not None or not outcome.units:
        return outcome
    looked_at = (case.said.get(ask) for ask in asks if ask.relation != "C")
    causes = (said.reason for said in looked_at if isinstance(said, Unmeasured))
    cause = next((each for each in causes if each), "a text is empty").partition(" (")[0]
    return replace(outcome, reason=f"not settled: {cause}")


def asked(case: Case, metrics: Iterable[Measure]) -> list[Ask]:
    """The pairs that these metrics look at in a sample, by what is known of it now."""
    case.asked = {}
    for measure in metrics:
        metric = found(measure)
        if not needed(metric, case):
            metric.read(case, **measure.given)
    return list(case.asked)
