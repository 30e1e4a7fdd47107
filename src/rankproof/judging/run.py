"""Samples in, cases with their outcomes out: batch after batch, so that memory stays flat."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rankproof.core.audit import Finding, kin_of
from rankproof.core.measure import Measure
from rankproof.errors import UsageError, shorten
from rankproof.judging.case import Case
from rankproof.judging.evidence import failure_of
from rankproof.judging.metrics.counting import Outcome, metric_of, missing_fields, outcomes
from rankproof.judging.samples.sample import Sample
from rankproof.judging.verdicts import (
    Account,
    Ask,
    Judge,
    Keep,
    Keeping,
    Relation,
    Said,
    Unmeasured,
    Verdict,
    check_verdict,
)
from rankproof.store.ledger import HUMAN

LINES = (".jsonl", ".ndjson")
"""Files with one sample per line, so that counting is cheap."""


Tell = Callable[[float, str], None]
"""Is called with how many samples are done, or which share of them, and a note."""


def count_of(source: Any) -> int | None:
    """How many samples a source holds, as far as that is known without reading them.

    >>> count_of([{"query": "a"}, {"query": "b"}]), count_of(iter([])), count_of("samples.parquet")
    (2, None, None)
    """
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if path.suffix.lower() not in LINES or not path.is_file():
            return None
        with path.open("rb") as stream:
            return sum(1 for _ in stream)
    return len(source) if isinstance(source, Sized) else None


def settle(
    groups: Sequence[Sequence[Ask]], judges: Sequence[Judge], kept: Keeping, tell: Tell | None = None
) -> tuple[dict[Ask, Said], Account]:
    """The verdict on each pair, and its cost; a judge gets only the pairs that those before it left open.

    `tell` hears which share of the pairs that a judge was given is settled.
    """
    said: dict[Ask, Said] = {}
    account = Account()
    for judge in judges:
        asks = _open(groups, judge, said)
        said |= {ask: each for ask, each in kept.find(asks, judge).items() if isinstance(each, Verdict)}
        todo = drop_repeats(groups, _open(groups, judge, said))
        if todo:
            taking = _taking(judge, {ask for part in todo for ask in part}, said, kept, tell)
            try:
                account.add(judge.judge(todo, taking))
            finally:
                kept.flush()  # also when it is interrupted: what is paid for is not lost
    for ask in (ask for group in groups for ask in group):
        said.setdefault(ask, Unmeasured(ask, "no judge was asked"))
    return said, account


def _open(groups: Iterable[Sequence[Ask]], judge: Judge, said: dict[Ask, Said]) -> list[Ask]:
    """The pairs without a verdict that the judge can judge, each once."""
    asks = dict.fromkeys(ask for group in groups for ask in group)
    can = getattr(judge, "relations", None)
    return [ask for ask in asks if not isinstance(said.get(ask), Verdict) and (can is None or ask.relation in can)]


def drop_repeats(groups: Iterable[Sequence[Ask]], asks: Iterable[Ask]) -> list[list[Ask]]:
    """These pairs in their groups, each in the first that has it."""
    left = dict.fromkeys(asks)
    parts = ([ask for ask in group if left.pop(ask, ask) is None] for group in groups)
    return [part for part in parts if part]


def _taking(judge: Judge, wanted: Collection[Ask], said: dict[Ask, Said], kept: Keeping, tell: Tell | None) -> Keep:
    """The receiver of a judge's verdicts: they are checked, counted, stored and reported at once."""
    # Not stored is what was only read back, and that a person was not asked yet.
    stored = not getattr(judge, "reads_only", False)
    gaps_too = judge.identity.get("kind") != HUMAN
    done = 0

    def keep(given: Sequence[Said]) -> None:
        nonlocal done
        found = [check_verdict(each) for each in given if each.ask in wanted]
        said.update({each.ask: each for each in found})
        if stored and (worth := [each for each in found if gaps_too or isinstance(each, Verdict)]):
            kept.keep(judge, worth)
        done += len(found)
        if tell is not None:
            tell(done / len(wanted), getattr(judge, "cost_so_far", ""))

    return keep


BATCH = 500
"""Samples that are judged together. A run of any length needs only the memory that these need."""
TEXTS = 5_000
"""Contexts of the samples that are judged together: the analysis of about so many texts is cached."""
OF_THE_SYSTEM: dict[str, Any] = {"contexts": (), "answer": "", "citations": ()}
"""The fields of a sample that the measured system fills, each with what it is when the system gave nothing."""
PROBABILITY = re.compile(r" \(probability [^()]*\)")
"""The variable parts of a reason, which differ from pair to pair."""


@dataclass(frozen=True, slots=True)
class JudgedSample:
    """One sample, all that was said of it, and what each metric makes of that."""

    case: Case
    outcomes: tuple[Outcome, ...]
    """One a metric."""
    used: tuple[tuple[Ask, ...], ...]
    """For each metric the pairs it looked at."""


@dataclass(slots=True)
class JudgeRun:
    """How a set of samples is judged, and what that took so far."""

    metrics: Sequence[Measure]
    judges: Sequence[Judge]
    kept: Keeping
    k: int | None = None
    complete: float = 1.0
    blaming: bool = False
    """Whether the judge is also asked for what the account of failures needs."""
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

    def judge_samples(self, samples: Iterable[Sample]) -> Iterator[JudgedSample]:
        """Judge the samples in their order."""
        for read in batches(samples, self.judges):
            batch = self.fill_samples(read)
            yield from self._batch([Case(each, k=self.k, independent=self.independent) for each in batch])
            self.done += len(batch)

    def fill_samples(self, samples: Sequence[Sample]) -> list[Sample]:
        """The samples. A field that other samples have counts as empty if the system left it out, not as unasked."""
        self.given |= {name for name in OF_THE_SYSTEM for each in samples if each.has(name)}
        whole = []
        for each in samples:
            lacking = {name: OF_THE_SYSTEM[name] for name in sorted(self.given) if not each.has(name)}
            self.emptied.update(name for name in lacking if name != "citations")
            whole.append(replace(each, **lacking) if lacking else each)
        return whole

    def groups(self, cases: Sequence[Case], relation_is_c: bool) -> list[list[Ask]]:
        """For each sample the pairs that its metrics will look at: those of claims, or all others."""
        groups = []
        for case in cases:
            asks_of(case, self.metrics)  # what is looked at is noted in case.asked
            if self.blaming:
                failure_of(case)
            asks = [ask for ask in case.asked if (ask.relation == Relation.TEXT_CLAIMS) == relation_is_c]
            groups.append([ask for ask in asks if ask not in case.said])
        return groups

    def _telling(self, size: int, before: float, part: float) -> Tell | None:
        """Tells of the share of one round, which is a part of all that is done for a batch, as of samples."""
        tell, done = self.tell, self.done
        if tell is None:
            return None
        return lambda share, more: tell(done + (before + share * part) * size, more)

    def _batch(self, cases: Sequence[Case]) -> Iterator[JudgedSample]:
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
            self.account.add(account)
        columns: list[list[tuple[Outcome, tuple[Ask, ...]]]] = []
        for metric in self.metrics:
            for case in cases:
                case.asked = {}
            found = outcomes(metric, cases, self.complete)
            columns.append([(each, tuple(case.asked)) for each, case in zip(found, cases, strict=True)])
        for case, row in zip(cases, zip(*columns, strict=True), strict=True):
            told = tuple(_explained(outcome, case, asks) for outcome, asks in row)
            yield JudgedSample(case, told, tuple(asks for _, asks in row))

    def _rounds(self) -> Sequence[bool]:
        """What is asked of claims is known once they are (where no judge finds any, rules do), and what is asked
        of several contexts together once each was asked about."""
        relations = [getattr(judge, "relations", (Relation.TEXT_CLAIMS,)) for judge in self.judges]
        first = (True,) if any(Relation.TEXT_CLAIMS in each for each in relations) else ()
        together = any(each.params.get("contexts") == "together" for each in self.metrics)
        return (*first, False, *((False,) if together else ()))


def batches(samples: Iterable[Sample], judges: Iterable[Judge]) -> Iterator[list[Sample]]:
    """The samples in parts of which each has a bounded number of texts, however many a sample has."""
    sizes = [size for judge in judges if (size := getattr(judge, "at_once", None))] or [BATCH]
    most = min(sizes) if min(sizes) < BATCH else max(sizes)  # a small budget decides for a whole cascade
    batch, texts = list[Sample](), 0
    for each in samples:
        batch.append(each)
        texts += len(each.contexts or ())
        if len(batch) >= most or texts >= most * TEXTS // BATCH:
            yield batch
            batch, texts = [], 0
    if batch:
        yield batch


def _explained(outcome: Outcome, case: Case, asks: Iterable[Ask]) -> Outcome:
    """The outcome with why it is open: what a judge said of what counts, or else of whether the answer abstains."""
    if outcome.value is not None or not outcome.units:
        return outcome
    decisive = sorted(asks, key=lambda ask: ask.relation == Relation.ANSWER_ADDRESSES)
    looked_at = (case.said.get(ask) for ask in decisive if ask.relation != Relation.TEXT_CLAIMS)
    causes = (said.reason for said in looked_at if isinstance(said, Unmeasured))
    cause = next(filter(None, causes), "a text has no words")
    return replace(outcome, reason=f"not settled: {PROBABILITY.sub('', cause)}")


def asks_of(case: Case, metrics: Iterable[Measure]) -> list[Ask]:
    """The pairs that these metrics look at in a sample, by what is known of it now."""
    case.asked = {}
    for measure in metrics:
        metric = metric_of(measure)
        if not missing_fields(metric, case):
            metric.read(case, **measure.given)
    return list(case.asked)


ROLES = {
    "what it judges": "model model_name model_id llm llm_model ls_model_name made_by",
    "the answers": "generator generator_model answer_model generation_model",
    "the ranking": "ranker ranker_model reranker reranker_model rerank_model retriever retriever_model "
    "embedder embedder_model embedding_model embeddings embedding",
}
"""The columns that name a model, by what it made."""
ROLE_OF = {column: role for role, columns in ROLES.items() for column in columns.split()}
MOST = 20
"""Names remembered of each role: a column with more names no model."""


class Makers:
    """The models behind samples, while these are read one by one."""

    def __init__(self, made_by: Any = None) -> None:
        self.found: dict[str, dict[str, None]] = {}
        for role, names in _told(made_by):
            self.found.setdefault(role, {}).update(dict.fromkeys(names))

    def add(self, sample: Sample) -> None:
        """Take the names of models in the columns of a sample."""
        for column, value in sample.others.items():
            role = ROLE_OF.get(column.casefold().rpartition(".")[2])
            if role and isinstance(value, str) and value.strip():
                names = self.found.setdefault(role, {})
                if len(names) < MOST:
                    names[value.strip()] = None

    def kin(self, judges: Sequence[Judge]) -> list[Finding]:
        """A warning if a judge that is a model is of the model, or the family, of what it judges."""
        models = [each.name for each in judges if each.identity.get("kind") == "model"]
        return list(kin_of(models, self.found)) if models else []


def _told(made_by: Any) -> Iterator[tuple[str, Iterable[str]]]:
    """Names, or names by role, as a user gives them."""
    given = made_by if isinstance(made_by, Mapping) else {"what it judges": made_by}
    for role, names in given.items():
        listed = [names] if isinstance(names, str) else [] if names is None else names
        if isinstance(listed, bytes) or not isinstance(listed, Iterable) or not all(isinstance(e, str) for e in listed):
            raise UsageError(
                f"made_by: got {shorten(names)}, expected the name of a model, several, or a mapping like "
                "{'generator': 'gpt-4o'}. Next: give one of these."
            )
        yield f"the {role}" if isinstance(made_by, Mapping) else str(role), listed
