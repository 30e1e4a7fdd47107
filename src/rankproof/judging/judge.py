"""`judge`: samples in, scores from verdicts out."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from sys import intern
from typing import Any, Unpack

from rankproof.core.audit import Finding
from rankproof.core.audit.queries import beyond_queries
from rankproof.core.defaults import DEFAULT_METRICS
from rankproof.core.hits import Array
from rankproof.document.disk import told_if_stopped
from rankproof.document.model import Displayable
from rankproof.document.numbers import count
from rankproof.errors import check_number, check_one_of, check_whole, not_known, one_of
from rankproof.io.groups import by_name, group_places, groups_of
from rankproof.judging.case import Case
from rankproof.judging.evidence import Blame, Evidence, failure_of
from rankproof.judging.judged_scores import INDEPENDENT, STRONGEST, JudgedScores
from rankproof.judging.judges import judges_of
from rankproof.judging.metrics.counting import Tally
from rankproof.judging.metrics.registry import PEERS, Asked, parse_all
from rankproof.judging.models import ModelArguments
from rankproof.judging.run import JudgedSample, JudgeRun, Makers, batches, count_of, drop_repeats, settle
from rankproof.judging.samples import read_samples
from rankproof.judging.samples.sample import Sample
from rankproof.judging.trust import Estimating, estimates_for
from rankproof.judging.trust.correcting import Correcting, corrections_for
from rankproof.judging.trust.drift import probe_models
from rankproof.judging.verdicts import Account, InLedger, InMemory, Relation, Verdict
from rankproof.judging.words import UNMEASURED
from rankproof.progress import Progress
from rankproof.store.ledger import Ledger


@dataclass(slots=True)
class JudgePlan(Displayable):
    """The number of pairs of samples, how many of them are in the ledger, and the cost of asking the others."""

    judge: str
    samples: int = 0
    known: int = 0
    asks: Counter[str] = field(default_factory=Counter)
    """How many pairs would be asked, by relation."""
    account: Account | None = None
    """Calls, tokens and money at most, if the judge can say so."""

    def __str__(self) -> str:
        listed = ", ".join(f"{relation} {n:,}" for relation, n in sorted(self.asks.items()))
        total = self.asks.total()
        said = f"{count(self.samples, 'sample')}; {self.known:,} pairs are known, {total:,} to ask of {self.judge}"
        said += f" ({listed})." if listed else "."
        if self.account is None:
            return said
        money = "the price is not known" if self.account.money is None else f"${self.account.money:.4f}"
        tokens = f"{self.account.prompt_tokens:,} + {self.account.reply_tokens:,} tokens"
        return f"{said} At most about {count(self.account.calls, 'call')}, {tokens}, {money}."


class SampleGroups:
    """Collects the groups of samples while the samples are read one by one."""

    def __init__(self, by: Any) -> None:
        self._column = by if isinstance(by, str) and by_name(by) is None else None
        self._by = None if by is None or self._column is not None else groups_of(by)
        self._found: dict[str, str] = {}
        self._columns: dict[str, None] = {}

    def add(self, sample: Sample) -> None:
        """Take the group of one sample, if a column holds it."""
        if self._column is None:
            return
        self._columns.update(dict.fromkeys(sample.others))
        if self._column in sample.others:
            self._found[sample.id] = intern(str(sample.others[self._column]))

    def of(self, samples: tuple[str, ...]) -> dict[str, Array]:
        """The places of the samples of each group."""
        if self._column is None:
            return {} if self._by is None else group_places(samples, self._by)
        if not self._found:
            known = ", ".join(self._columns) or "none beside the fields of a sample"
            said = f"by: {self._column!r} is no file and no column of the samples; their columns are {known}"
            raise not_known(said, self._column, self._columns, "name one of them, or a file of lines ID<TAB>GROUP")
        return group_places(samples, self._found)

    def unknown_samples(self, samples: tuple[str, ...]) -> Finding | None:
        """A note about samples that only the groups name."""
        return None if self._by is None else beyond_queries(samples, self._by, JudgedScores.nouns)


def judge(
    samples: Any,
    metrics: Asked | None = None,
    *,
    judge: Any = "lexical",
    ledger: str | os.PathLike[str] | Ledger | None = None,
    k: int | None = None,
    complete: float = 1.0,
    compat: str | None = None,
    by: Any = None,
    blame: bool = False,
    probe: bool = True,
    soft: str = STRONGEST,
    made_by: Any = None,
    **options: Unpack[ModelArguments],
) -> JudgedScores:
    """Score samples by verdicts on their texts.

    `samples` are rows, a data frame or a path; `judge` is "lexical" (rules, offline), "openai:MODEL",
    "anthropic:MODEL", "human:NAME", "replay", several with ">" between them, a function `f(relation, left, right)`,
    or a judge. `ledger` is the file in which verdicts are found and kept. `k` is how many contexts count.
    A sample counts in the mean of a metric if at least the share `complete` of what the metric counts is settled.
    `by` also scores groups of samples: a column of the samples, a mapping, a function, a file or a data frame.
    `compat` uses the formulas of another tool; `blame` asks everything that shows which half failed; `soft` says how
    probabilities on several contexts are combined: only the "strongest" counts, or all as if "independent". With
    `probe`, a model whose version differs from the one in the ledger is asked again about a few pairs, and the
    changes are reported. `made_by` names the models that ranked, embedded or wrote (a name, several, or
    `{"generator": "gpt-4o"}`): a warning says if the judge is one of them, or if a column of the samples (`model`,
    `generator`, `embedding_model`) names it. `options` go to judges that are models.

    >>> rows = [{"question": "What is red?", "contexts": ["The rose is red."], "reference": "The rose is red."}]
    >>> scores = judge(rows, "context_recall", judge=lambda relation, left, right: left in right)
    >>> scores["context_recall"], scores.coverage["context_recall"], scores.bounds("context_recall")
    (1.0, 1.0, (1.0, 1.0))
    """
    how: dict[str, Any] = {"k": k, "complete": complete, "compat": compat, "by": by, "soft": soft}
    return Judge(judge, ledger=ledger, **options)(samples, metrics, **how, blame=blame, probe=probe, made_by=made_by)


class Judge(Displayable):
    """A judge with its ledger, ready for any number of samples."""

    def __init__(
        self,
        judge: Any = "lexical",
        *,
        ledger: str | os.PathLike[str] | Ledger | None = None,
        **options: Unpack[ModelArguments],
    ) -> None:
        if ledger is None and isinstance(judge, Judge):
            ledger = judge.ledger
        self.ledger: Ledger | None = Ledger(Path(ledger)) if isinstance(ledger, str | os.PathLike) else ledger
        self.judges = judges_of(judge, ledger=self.ledger, **options)

    @property
    def name(self) -> str:
        """The name for reports."""
        return ">".join(each.name for each in self.judges)

    def __call__(
        self,
        samples: Any,
        metrics: Asked | None = None,
        *,
        k: int | None = None,
        complete: float = 1.0,
        compat: str | None = None,
        by: Any = None,
        blame: bool = False,
        probe: bool = True,
        soft: str = STRONGEST,
        made_by: Any = None,
    ) -> JudgedScores:
        """The scores of the samples, as the function `judge` gives them."""
        check_one_of("soft", soft, (STRONGEST, INDEPENDENT))
        run = self._run(metrics, k, complete, compat, blame)
        run.independent = soft == INDEPENDENT
        settings = {"k": k, "complete": complete, "compat": compat, **({"soft": soft} if run.independent else {})}
        makers, counts = Makers(made_by), VerdictCounts()
        progress = Progress(self.name, count_of(samples), noun="samples")
        run.tell = lambda done, more: progress.tell(int(done), 0, more)
        with self._remembered(), closing(progress):
            scores = _gathered(run, read_samples(samples), settings, by, self.ledger, makers, counts)
        scores.kin = makers.kin(self.judges)
        if probe and self.ledger is not None:
            scores.drifts = list(probe_models(self.judges, self.ledger, counts.fresh, scores.account))
        return scores

    @contextmanager
    def _remembered(self) -> Iterator[None]:
        """Remember whom a run asked, so that `replay` can repeat them, if anything was kept of what they said."""
        if self.ledger is None:
            yield
            return
        asking = [each.identity for each in self.judges if not getattr(each, "reads_only", False)]
        try:
            with told_if_stopped(self.ledger.path, "verdicts"):
                yield
        finally:
            if asking and self.ledger.path.exists():
                self.ledger.ran(asking)

    def plan(
        self,
        samples: Any,
        metrics: Asked | None = None,
        *,
        k: int | None = None,
        complete: float = 1.0,
        compat: str | None = None,
        blame: bool = False,
    ) -> JudgePlan:
        """How many questions these samples would need, and what they would cost; asks no model and no person.

        Texts that the judge would split into claims are split by rules here. Free judges of a cascade are asked, so
        that only what they leave open counts for the judges after them.
        """
        run, found = self._run(metrics, k, complete, compat, blame), JudgePlan(self.name)
        for batch in map(run.fill_samples, batches(read_samples(samples), run.judges)):
            cases = [Case(each, k=run.k) for each in batch]
            groups = [[*c, *rest] for c, rest in zip(run.groups(cases, True), run.groups(cases, False), strict=True)]
            asks = dict.fromkeys(ask for group in groups for ask in group)
            found_before = (run.kept.find(asks, judge).items() for judge in run.judges)
            known = {ask for said in found_before for ask, each in said if isinstance(each, Verdict)}
            todo = drop_repeats(groups, [ask for ask in asks if ask not in known])
            found.samples += len(batch)
            found.known += len(known)
            found.asks.update(ask.relation for group in todo for ask in group)
            for judge in run.judges:
                estimate = getattr(judge, "estimate", None)
                if estimate is not None:
                    found.account = found.account or Account()
                    found.account.add(estimate(todo))
                elif getattr(judge, "free", False):
                    said, _ = settle(todo, [judge], InMemory())
                    todo = drop_repeats(todo, [ask for ask, each in said.items() if not isinstance(each, Verdict)])
        return found

    def _run(self, metrics: Asked | None, k: int | None, complete: float, compat: str | None, blame: bool) -> JudgeRun:
        if k is not None:
            check_whole("k", k, advice="give one, like 5")
        check_number("complete", complete, above=0, most=1, noun="share", advice="give a share, like 0.9")
        if metrics is None:  # of another tool all of its metrics
            if compat is not None and compat not in PEERS:
                raise one_of("compat", compat, PEERS)
            metrics = DEFAULT_METRICS if compat is None else list(PEERS[compat])
        asked = parse_all(metrics, compat)
        kept = InMemory() if self.ledger is None else InLedger(self.ledger)
        return JudgeRun(asked, self.judges, kept, k, complete, blame)

    def _in_one_line(self) -> str:
        return f"<Judge {self.name}>"


def _gathered(
    run: JudgeRun,
    samples: Iterable[Sample],
    settings: dict[str, Any],
    by: Any,
    ledger: Ledger | None,
    makers: Makers,
    counts: VerdictCounts,
) -> JudgedScores:
    corrections = {} if ledger is None else corrections_for(run.metrics, run.judges, ledger, run.complete)
    estimates = estimates_for(run.metrics, run.judges, ledger, settings["compat"])
    watching: list[tuple[int, Correcting | Estimating]] = [*corrections.items(), *estimates.items()]
    names = tuple(each.name for each in run.metrics)
    tallies = [Tally(each) for each in run.metrics]
    evidence, groups, alike = Evidence(), SampleGroups(by), hashlib.blake2b(digest_size=16)
    account = Blame(each=evidence.failures, asked=run.blaming)
    for judged in run.judge_samples(samples):
        for tally, outcome in zip(tallies, judged.outcomes, strict=True):
            tally.add(outcome)
        failure = failure_of(judged.case)
        account.counts[failure.point] += 1
        evidence.add(judged, names, failure)
        counts.add(judged)
        for place, each in watching:
            each.add(judged.case, judged.used[place], judged.outcomes[place])
        sample = judged.case.sample
        makers.add(sample)
        groups.add(sample)
        # What two systems must share to be compared on a sample.
        alike.update(repr((sample.id, sample.query, sample.reference, sample.nuggets)).encode("utf-8", "surrogatepass"))
    ids = tuple(evidence.samples)
    return JudgedScores(
        query_ids=ids,
        columns={name: tallies.pop(0).column() for name in names},  # one after the other, to hold few twice
        groups=groups.of(ids),
        beyond=groups.unknown_samples(ids),
        judges=[{"name": each.name, "identity": dict(each.identity)} for each in run.judges],
        settings=settings,
        samples=alike.hexdigest(),
        account=run.account,
        by=counts.by,
        top=counts.top,
        emptied=dict(run.emptied),
        verdicts=evidence,
        blame=account,
        checked={names[place]: each.result() for place, each in corrections.items()},
        estimates={names[place]: found for place, each in estimates.items() if (found := each.result())},
        versions={name: dict(each) for name, each in counts.versions.items() if len(each) > 1},
    )


class VerdictCounts:
    """Who gave the verdicts, and how many."""

    def __init__(self) -> None:
        self.by: dict[str, int] = {}
        self.top: dict[str, int] = {}
        """The highest grade of a context that each judge gave."""
        self.versions: dict[str, Counter[str]] = {}
        """For each judge how many verdicts each version of its model gave: a name may stand for another tomorrow."""
        self.fresh: dict[str, str] = {}
        """For each judge the version that gave verdicts just now; those of a ledger say when they were given."""

    def add(self, judged: JudgedSample) -> None:
        """Count the pairs of one sample, each once."""
        for ask in dict.fromkeys(ask for asks in judged.used for ask in asks):
            said = judged.case.said.get(ask)
            name = said.judge if isinstance(said, Verdict) else UNMEASURED
            if ask.relation != Relation.TEXT_CLAIMS:
                self.by[name] = self.by.get(name, 0) + 1
            if not isinstance(said, Verdict):
                continue
            if ask.relation == Relation.CONTEXT_ANSWERS:
                self.top[name] = max(said.value or 0, self.top.get(name, 0))
            if version := str(said.origin.get("model") or ""):
                self.versions.setdefault(name, Counter())[version] += 1
                if "at" not in said.origin:
                    self.fresh[name] = version
