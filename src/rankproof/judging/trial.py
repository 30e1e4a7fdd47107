"""`trial`: whether a model judges as well when it is asked about many pairs together, on labelled pairs.

The pairs come with rankproof, in `trust/trial-1.txt`, each with the verdict of a careful reader. A model's verdicts on
them are kept in the ledger under a separate judge, apart from those on the user's texts, so that nothing is
asked twice.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Unpack

import numpy as np

from rankproof.document.formats import plain_data
from rankproof.document.model import Displayable, Document, Result
from rankproof.errors import DataError, UsageError
from rankproof.judging.judge import Judge
from rankproof.judging.models import ModelArguments
from rankproof.judging.models.calls import MOST_TEXTS, calls_for, thirds
from rankproof.judging.models.judge import ModelJudge
from rankproof.judging.run import settle
from rankproof.judging.trust.agreement import PAIRS, Afresh, cases, count_changed
from rankproof.judging.verdicts import (
    WITHOUT_PARTS,
    Account,
    Ask,
    InMemory,
    Keep,
    Relation,
    Said,
    Unmeasured,
    Verdict,
    is_yes,
    pair_in,
    verdict_in,
)
from rankproof.stats.agreement import Agreement, cohen_kappa
from rankproof.stats.judge_error import Share, share_of
from rankproof.store.ledger import Ledger

FEWER = (20, 5)
"""Pairs a call that are tried where asking all together costs accuracy."""
FIRST = 10
"""Pairs asked one by one first, where together next to nothing was settled."""
Z = 1.959964
"""Of the interval of a loss."""


@dataclass(frozen=True)
class Way(Displayable):
    """One way of asking: a number of pairs per call, and the agreement of the verdicts with the labels."""

    pairs: int
    """Pairs a call, at most."""
    kappa: float
    """Cohen's kappa with the labels, over yes, no and otherwise; a pair without a verdict counts as wrong."""
    low: float
    high: float
    right: Share
    settled: int
    """Pairs that got a verdict."""
    kappas: Mapping[str, float | None]
    """The same for each relation."""
    account: Account = field(repr=False)
    """Its cost; if the ledger had it, the cost at that time."""
    asked: int
    """Pairs that were asked just now; the ledger had the rest."""


@dataclass(frozen=True)
class TrialPlace(Displayable):
    """The pairs in one third of their calls: how often asking together changed or spoilt what was said of them."""

    part: str
    """Third of what: of the texts of a call, or of the list of pairs."""
    third: str
    changed: Share
    wrong_alone: Share
    wrong_together: Share


@dataclass(frozen=True)
class Trial(Result):
    """The results of a model on the labelled pairs, one by one and together, and how many pairs to ask per call."""

    judge: str
    n: int
    """Labelled pairs."""
    together: Way
    alone: Way
    between: tuple[Way, ...]
    """Fewer pairs a call, asked where all together cost accuracy."""
    changed: Mapping[str, Share]
    """For each relation the share of pairs of which the model says something else together than one by one."""
    places: tuple[TrialPlace, ...]
    loss: tuple[float, float, float]
    """The loss of kappa by asking together, with its 95 % interval."""
    pairs: int
    """The proposed number of pairs a call."""
    reasons: Mapping[str, int] = field(default_factory=dict)
    """Why pairs got no verdict, over all ways of asking."""

    @property
    def ways(self) -> tuple[Way, ...]:
        """Every way of asking, from the most pairs per call to one."""
        return (self.together, *self.between, self.alone)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {**plain_data(self), "set": PAIRS}

    def _document(self) -> Document:
        from rankproof.judging.trust.words import trial as words

        return words(self)

    def _in_one_line(self) -> str:
        return (
            f"<Trial of {self.judge}: kappa {self.alone.kappa:.3f} one by one, {self.together.kappa:.3f} together, "
            f"pairs={self.pairs}>"
        )


def trial(
    judge: Any, *, ledger: str | os.PathLike[str] | Ledger | None = None, **options: Unpack[ModelArguments]
) -> Trial:
    """Ask a model about the labelled pairs that come with rankproof, one by one and together.

    `judge` is a model, like "openai:MODEL" or `chat(model)`, or a cascade with one. With a `ledger`, a second
    trial costs nothing. `found.pairs` is how many pairs the model can judge in one call: the most
    that show no loss compared with one by one. Pass it on as `judge(..., pairs=)`. `options` are those of the model.
    """
    return run_trial(*model_in(judge, ledger, options))


def model_in(judge: Any, ledger: Any, options: Mapping[str, Any]) -> tuple[ModelJudge, Ledger | None]:
    """The one model among the judges that are meant, and the ledger."""
    asking = Judge(judge, ledger=ledger, **options)
    models = [each for each in asking.judges if isinstance(each, ModelJudge)]
    if len(models) != 1:
        raise UsageError(
            f"trial: got {asking.name}, expected one model. Other judges are asked pair by pair, so no two "
            "pairs share a call. Next: name one, like openai:MODEL or chat(model)."
        )
    return models[0], asking.ledger


def plan_trial(model: ModelJudge) -> dict[int, Account]:
    """The cost of a trial, for each number of pairs a call: together first, then one by one."""
    groups = groups_of(cases())
    return {n: TrialJudge(model, n).model.estimate(groups) for n in dict.fromkeys((model.limits.pairs, 1))}


def run_trial(model: ModelJudge, ledger: Ledger | None = None) -> Trial:
    """The trial of one model."""
    listed = cases()
    truth = {ask: value for case in listed for ask, value in case.items()}
    case_of = {ask: place for place, case in enumerate(listed) for ask in case}
    groups = groups_of(listed)

    def asked(pairs: int) -> TrialOutcome:
        return ask_all(TrialJudge(model, pairs), groups, ledger)

    most = model.limits.pairs
    together = asked(most)
    if _hopeless(together) and most > 1:
        # Before hundreds of calls: does it give verdicts on a few single pairs?
        _check(model, ask_all(TrialJudge(model, 1), [groups[0][:FIRST]], ledger), together)
    alone = asked(1) if most > 1 else together
    _check(model, alone, together)
    loss = _loss(truth, case_of, alone, together)
    outcomes = {most: together, 1: alone}
    chosen = most
    if loss[1] > 0:
        chosen = 1
        for fewer in (each for each in FEWER if 1 < each < most):
            outcomes[fewer] = asked(fewer)
            if _loss(truth, case_of, alone, outcomes[fewer])[1] <= 0:
                chosen = fewer
                break
    ways = {pairs: _way(truth, case_of, each) for pairs, each in outcomes.items()}
    reasons = Counter(reason for each in outcomes.values() for reason in each.reasons.values())
    calls = [c for group in groups for c in calls_for(group, model.limits.canaries, most)]
    said = zip(truth, *(_kinds(truth, each.values) for each in (alone, together)), strict=True)
    changed = count_changed((ask, one != other) for ask, one, other in said)
    return Trial(
        *(model.name, len(truth), ways[most], ways[1]),
        between=tuple(ways[pairs] for pairs in outcomes if pairs not in (most, 1)),
        changed={relation: share_of(*each) for relation, each in changed.items()},
        places=tuple(_places(thirds(calls), truth, alone, together)),
        loss=loss,
        pairs=chosen,
        reasons=dict(reasons.most_common()),
    )


def _hopeless(outcome: TrialOutcome) -> bool:
    """Whether next to nothing was settled."""
    return len(outcome.values) * 10 < outcome.n


def _check(model: ModelJudge, alone: TrialOutcome, together: TrialOutcome) -> None:
    """Refuse to report on a model that gives almost no verdicts even one by one."""
    if _hopeless(alone):
        both = Counter(alone.reasons.values()) + Counter(together.reasons.values())
        reason, times = both.most_common(1)[0]
        raise DataError(
            f"{model.name}: settled almost none of the labelled pairs ({len(together.values)} of {together.n} at "
            f"{together.pairs} a call, {len(alone.values)} of {alone.n} one by one), so nothing can be said of it. "
            f"Mostly: {reason} ({times}). Next: correct that, or try another model."
        )


def groups_of(listed: Iterable[Mapping[Ask, int]]) -> list[list[Ask]]:
    """The pairs as samples with as many contexts as go into a call would need them."""
    groups: list[list[Ask]] = []
    texts = MOST_TEXTS
    for case in listed:
        more = sum(ask.relation == Relation.CONTEXT_ANSWERS for ask in case)
        if texts + more > MOST_TEXTS:
            groups.append([])
            texts = 0
        groups[-1] += case
        texts += more
    return groups


SAID_BY_A_REPLY = (
    *("missing from the reply", "given twice", "got ", "no quote shows it", "the quote "),
    *("a check of the judge failed", "the reply ", "the model refused"),
)
"""How reasons begin that are due to the model; pairs that failed due to the connection are asked again."""


@dataclass
class TrialJudge:
    """A model that is asked about the labelled pairs, so many a call; kept apart from what it says else."""

    model: ModelJudge
    pairs: int

    def __post_init__(self) -> None:
        self.model = replace(self.model, limits=replace(self.model.limits, pairs=self.pairs))

    @property
    def name(self) -> str:
        """Its name in the ledger."""
        return f"{self.model.name} (trial, pairs={self.pairs})"

    @property
    def identity(self) -> Mapping[str, Any]:
        """The model, the pairs, and how many go into a call."""
        own = {key: value for key, value in self.model.identity.items() if key != "pairs"}
        canaries = {} if self.model.limits.canaries else {"canaries": False}
        return {"kind": "trial", "name": self.name, "of": own, "set": PAIRS, "pairs": self.pairs, **canaries}

    def judge(self, groups: Iterable[Sequence[Ask]], keep: Keep) -> Account:
        """Ask the model."""
        return self.model.judge(groups, keep)


@dataclass
class TrialOutcome:
    """The verdicts on the pairs in one way of asking, and their cost."""

    pairs: int
    values: dict[Ask, int]
    reasons: dict[Ask, str]
    account: Account = field(default_factory=Account)
    asked: int = 0
    """Pairs that were asked just now, not found in the ledger."""

    @property
    def n(self) -> int:
        """Pairs in all."""
        return len(self.values) + len(self.reasons)


def ask_all(tried: TrialJudge, groups: Sequence[Sequence[Ask]], ledger: Ledger | None) -> TrialOutcome:
    """The verdicts of the model. Pairs in the ledger, and pairs that a reply left out, are not asked again."""
    said: dict[Ask, Said] = {}
    before = Account()
    for entry in () if ledger is None else ledger.entries(tried.identity):
        if not entry.reason or entry.reason.startswith(SAID_BY_A_REPLY):
            said[pair_in(entry)] = verdict_in(entry, pair_in(entry))
        if took := entry.origin.get("took"):
            before.add(Account(**took))
    todo = [part for group in groups if (part := [ask for ask in group if ask not in said])]
    found, account = settle(todo, [tried], InMemory() if ledger is None else Afresh(ledger))
    if todo and ledger is not None:
        # Write down with the first pair what asking took, so that a second trial can say so.
        for entry in ledger.entries(tried.identity):
            if entry.key == tuple(todo[0][0]):
                own = replace(entry, origin={**entry.origin, "took": asdict(account)}, identity={})
                ledger.keep(tried.identity, tried.name, [own])
    account.add(before)
    said |= found
    return TrialOutcome(
        tried.pairs,
        {ask: e.value for ask, e in said.items() if isinstance(e, Verdict) and e.value is not None},
        {ask: each.reason for ask, each in said.items() if isinstance(each, Unmeasured)},
        account,
        sum(map(len, todo)),
    )


def kind(ask: Ask, value: int | None) -> str:
    """The meaning of a value, in the words by which agreement is counted; "none", without a verdict, is never right."""
    if value is None:
        return "none"
    return "yes" if is_yes(ask.relation, value) else "otherwise" if value < 0 else "no"


def _kinds(asks: Iterable[Ask], values: Mapping[Ask, int]) -> list[str]:
    return [kind(ask, values.get(ask)) for ask in asks]


def _right(truth: Mapping[Ask, int], outcome: TrialOutcome) -> Any:
    """For each pair 1 where what was said is right."""
    return (np.array(_kinds(truth, outcome.values)) == np.array(_kinds(truth, truth))).astype(float)


def _way(truth: Mapping[Ask, int], case_of: Mapping[Ask, int], outcome: TrialOutcome) -> Way:
    def kappa_of(asks: Iterable[Ask]) -> Agreement:
        return cohen_kappa(_kinds(asks, truth), _kinds(asks, outcome.values))

    right, found = _right(truth, outcome), kappa_of(truth)
    # Pairs of one case are similar: the effective number of independent pairs.
    n = max(1, round(len(truth) / _clustering(right, case_of.values())))
    share = share_of(round(float(right.mean()) * n), n)
    chance = 1 - found.expected
    return Way(
        pairs=outcome.pairs,
        kappa=found.value if found.value is not None else 0.0,
        low=max(-1.0, 1 - (1 - share.low) / chance),
        high=min(1.0, 1 - (1 - share.high) / chance),
        right=share_of(int(right.sum()), len(truth)),
        settled=len(outcome.values),
        kappas={each: kappa_of([ask for ask in truth if ask.relation == each]).value for each in WITHOUT_PARTS},
        account=outcome.account,
        asked=outcome.asked,
    )


def _clustering(values: Any, case_of: Any) -> float:
    """How much more the mean varies as values of one case go together; 1 if they do not."""
    apart = values - values.mean()
    if not apart.any():
        return 1.0
    sums = np.bincount(np.fromiter(case_of, int), weights=apart)
    return max(1.0, float((sums**2).sum() / (apart**2).sum()))


def _loss(
    truth: Mapping[Ask, int], case_of: Mapping[Ask, int], alone: TrialOutcome, other: TrialOutcome
) -> tuple[float, float, float]:
    """What is lost of kappa against one by one, with its interval; pair by pair, as both are asked the same.

    Two pairs more than were seen are taken to differ, so that a difference of 0 is not taken as certain.
    """
    if alone is other:
        return 0.0, 0.0, 0.0
    chance = 1 - cohen_kappa(_kinds(truth, truth), _kinds(truth, alone.values)).expected
    lost = _right(truth, alone) - _right(truth, other)
    spread = float((lost**2).sum()) + 2 - float(lost.sum()) ** 2 / len(truth)
    half = Z * math.sqrt(spread * _clustering(lost, case_of.values())) / len(truth)
    mean = float(lost.mean())
    return mean / chance, (mean - half) / chance, (mean + half) / chance


def _places(
    parts: Mapping[str, Mapping[Ask, int]], truth: Mapping[Ask, int], alone: TrialOutcome, together: TrialOutcome
) -> Iterator[TrialPlace]:
    for part, place_of in parts.items():
        for third, name in enumerate(("first", "middle", "last")):
            asks = [ask for ask, place in place_of.items() if place == third]
            right, one, all_of = (_kinds(asks, each) for each in (truth, alone.values, together.values))
            changed, wrong, worse = (
                share_of(sum(a != b for a, b in zip(x, y, strict=True)), len(asks))
                for x, y in ((one, all_of), (right, one), (right, all_of))
            )
            yield TrialPlace(part, name, changed, wrong, worse)
