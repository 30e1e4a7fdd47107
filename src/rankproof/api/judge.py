"""`judge`: samples in, scores from verdicts out."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rankproof.api.evidence import Evidence
from rankproof.api.judged import JudgedScores
from rankproof.api.judged_trust import Versions, corrections_for, estimates_for
from rankproof.api.judged_words import UNMEASURED
from rankproof.api.makers import Makers
from rankproof.api.plan import Plan, plan
from rankproof.api.probing import probed
from rankproof.api.sample_groups import SampleGroups
from rankproof.api.softness import INDEPENDENT, STRONGEST
from rankproof.api.tally import Tally
from rankproof.display import Displayable
from rankproof.errors import UsageError, is_number, one_of
from rankproof.judging.blame import Blame, failure_of
from rankproof.judging.judges import judges_of
from rankproof.judging.keeping import InLedger, InMemory
from rankproof.judging.metrics.names import Asked, parse_all
from rankproof.judging.metrics.registry import PEERS
from rankproof.judging.run import Judged, Run
from rankproof.judging.samples import Sample, read_samples
from rankproof.judging.trust.correcting import Corrections
from rankproof.judging.trust.estimates import Estimates
from rankproof.judging.verdicts import Verdict
from rankproof.judging.watching import count_of
from rankproof.progress import Progress
from rankproof.store.ledger import Ledger

DEFAULT_METRICS = "context_precision, context_recall, context_relevance, faithfulness, answer_relevance"


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
    **options: Any,
) -> JudgedScores:
    """Score samples by verdicts on their texts.

    `samples` are rows, a data frame or a path; `judge` is "lexical" (rules, offline), "openai:MODEL",
    "anthropic:MODEL", "human:NAME", "replay", several with ">" between them, a function `f(relation, left, right)`,
    or a judge. `ledger` is the file in which verdicts are found and kept. `k` is how many contexts count.
    A sample counts in the mean of a metric when the share `complete` of what the metric counts is settled.
    `by` scores groups of samples apart: a column of the samples, a mapping, a function, a file or a data frame.
    `compat` takes the formulas of another tool; with `blame` everything is asked that tells which half failed;
    `soft` says what counts of probabilities on several contexts: the "strongest", or all as if "independent".
    With `probe` a model that answers under another version than in the ledger is asked again about a few pairs, and
    what changed is said. `made_by` names the models that ranked, embedded or wrote (a name, several, or
    `{"generator": "gpt-4o"}`): where one is the judge's, a warning says so, as it does where a column of the samples
    (`model`, `generator`, `embedding_model`) names it. `options` go to judges that are models.

    >>> rows = [{"question": "What is red?", "contexts": ["The rose is red."], "reference": "The rose is red."}]
    >>> scores = judge(rows, "context_recall", judge=lambda relation, left, right: left in right)
    >>> scores["context_recall"], scores.coverage["context_recall"], scores.bounds("context_recall")
    (1.0, 1.0, (1.0, 1.0))
    """
    reader = judge if isinstance(judge, Judge) else Judge(judge, ledger=ledger, **options)
    how: dict[str, Any] = {"k": k, "complete": complete, "compat": compat, "by": by, "soft": soft}
    return reader(samples, metrics, **how, blame=blame, probe=probe, made_by=made_by)


class Judge(Displayable):
    """A judge with its ledger, ready for any number of samples."""

    def __init__(
        self,
        judge: Any = "lexical",
        *,
        ledger: str | os.PathLike[str] | Ledger | None = None,
        **options: Any,
    ) -> None:
        self.ledger = ledger if ledger is None or isinstance(ledger, Ledger) else Ledger(Path(ledger))
        self.judges = judges_of(judge, ledger=self.ledger, **options)

    @property
    def name(self) -> str:
        """What reports call it."""
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
        if soft not in (STRONGEST, INDEPENDENT):
            raise one_of("soft", soft, (STRONGEST, INDEPENDENT))
        run = self._run(metrics, k, complete, compat, blame)
        run.independent = soft == INDEPENDENT
        settings = {
            "k": k,
            "complete": complete,
            "compat": compat,
            **({"soft": soft} if run.independent else {}),
        }
        self._remember()
        corrections = corrections_for(run.metrics, self.judges, self.ledger, complete)
        estimates = estimates_for(run.metrics, self.judges, self.ledger, compat)
        versions, makers = Versions(), Makers(made_by)
        with _told(run, samples):
            scores = _gathered(
                run, read_samples(samples), settings, by, corrections, estimates, versions, makers
            )
        scores.kin = makers.kin(self.judges)
        if probe and self.ledger is not None:
            scores.drifts = list(probed(self.judges, self.ledger, versions.fresh, scores.account))
        return scores

    def plan(
        self,
        samples: Any,
        metrics: Asked | None = None,
        *,
        k: int | None = None,
        complete: float = 1.0,
        compat: str | None = None,
        blame: bool = False,
    ) -> Plan:
        """What judging these samples would ask, and what it would cost; nothing is asked."""
        return plan(self._run(metrics, k, complete, compat, blame), read_samples(samples))

    def _run(
        self, metrics: Asked | None, k: int | None, complete: float, compat: str | None, blame: bool
    ) -> Run:
        _check(k, complete)
        asked = parse_all(default_metrics(compat) if metrics is None else metrics, compat)
        kept = InMemory() if self.ledger is None else InLedger(self.ledger)
        return Run(asked, self.judges, kept, k, complete, blame)

    def _remember(self) -> None:
        """Write down who judged, so that `replay` knows whom to repeat."""
        asking = [each for each in self.judges if not getattr(each, "reads_only", False)]
        if self.ledger is not None and asking:
            self.ledger.ran([each.identity for each in asking])

    def _in_one_line(self) -> str:
        return f"<Judge {self.name}>"


@contextmanager
def _told(run: Run, samples: Any) -> Iterator[None]:
    """Say on standard error how far the run is, where it is long; how much is left, where its size is known."""
    progress = Progress(">".join(each.name for each in run.judges), count_of(samples), noun="samples")
    run.tell = lambda done, more="": progress.tell(int(done), 0, more)
    try:
        yield
    finally:
        progress.close()


def default_metrics(compat: str | None) -> str:
    """What is measured if nobody says otherwise: of another tool everything there is."""
    if compat is None:
        return DEFAULT_METRICS
    if compat not in PEERS:
        raise one_of("compat", compat, PEERS)
    return ", ".join(PEERS[compat])


def _check(k: int | None, complete: float) -> None:
    if k is not None and (isinstance(k, bool) or not isinstance(k, int) or k < 1):
        raise UsageError(f"k: got {k!r}, expected a whole number of at least 1. Next: give one, like 5.")
    if not is_number(complete) or not 0 < complete <= 1:
        raise UsageError(
            f"complete: got {complete!r}, expected a share above 0 and up to 1. Next: give a share, like 0.9."
        )


def _gathered(
    run: Run,
    samples: Iterable[Sample],
    settings: dict[str, Any],
    by: Any,
    corrections: Corrections,
    estimates: Estimates,
    versions: Versions,
    makers: Makers,
) -> JudgedScores:
    """The scores of a run, gathered sample by sample."""
    names = tuple(each.name for each in run.metrics)
    tallies = [Tally(each) for each in run.metrics]
    evidence, counts, alike = Evidence(), Counts(), hashlib.blake2b(digest_size=16)
    groups = SampleGroups(by)
    account = Blame(each=evidence.failures, asked=run.blaming)
    for judged in run.over(samples):
        for tally, outcome in zip(tallies, judged.outcomes, strict=True):
            tally.add(outcome)
        failure = failure_of(judged.case)
        account.counts[failure.point] += 1
        evidence.add(judged, names, failure)
        counts.add(judged)
        corrections.add(judged)
        estimates.add(judged)
        versions.add(judged)
        makers.add(judged.case.sample)
        groups.add(judged.case.sample)
        alike.update(_asked(judged.case.sample))
    ids = tuple(evidence.samples)
    return JudgedScores(
        queries=ids,
        columns={name: tallies.pop(0).column() for name in names},  # one after the other, to hold few twice
        groups=groups.of(ids),
        judges=[{"name": each.name, "identity": dict(each.identity)} for each in run.judges],
        settings=settings,
        samples=alike.hexdigest(),
        account=run.account,
        by=counts.by,
        top=counts.top,
        emptied=dict(run.emptied),
        verdicts=evidence,
        blame=account,
        checked=corrections.results(),
        estimates=estimates.results(),
        versions=versions.several(),
    )


def _asked(sample: Sample) -> bytes:
    """What must be the same for two systems to be compared on a sample."""
    return repr((sample.id, sample.query, sample.reference, sample.nuggets)).encode("utf-8", "surrogatepass")


class Counts:
    """How many verdicts each judge gave."""

    def __init__(self) -> None:
        self.by: dict[str, int] = {}
        self.top: dict[str, int] = {}
        """The highest grade of a context that each judge gave."""

    def add(self, judged: Judged) -> None:
        """Count the pairs of one sample, each once."""
        for ask in dict.fromkeys(ask for asks in judged.used for ask in asks if ask.relation != "C"):
            said = judged.case.said.get(ask)
            name = said.judge if isinstance(said, Verdict) else UNMEASURED
            self.by[name] = self.by.get(name, 0) + 1
            if ask.relation == "R" and isinstance(said, Verdict):
                self.top[name] = max(said.value or 0, self.top.get(name, 0))
