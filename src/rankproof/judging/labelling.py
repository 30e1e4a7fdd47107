"""`calibrate`: whose verdicts are compared with people's, which pairs people label, and where labels are stored.

Every pair has a pseudo-random number that follows from its texts and the seed. The random part has the pairs with the
lowest numbers, so that drawing more later keeps the earlier ones; a pair is in the informative part if
a second such number is below its probability.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Unpack

from rankproof.core.defaults import DEFAULT_METRICS
from rankproof.document.model import Document, Result
from rankproof.document.numbers import count
from rankproof.errors import DataError, UsageError, WrongCall, check_whole, not_known, one_of
from rankproof.judging.judge import Judge
from rankproof.judging.judges import HumanJudge, judges_of
from rankproof.judging.lexical_judge import NAME, likelihood
from rankproof.judging.metrics.registry import Asked, parse_all
from rankproof.judging.models import UnseededArguments
from rankproof.judging.run import JudgeRun, asks_of
from rankproof.judging.samples import read_samples
from rankproof.judging.trust.agreement import (
    INFORMATIVE,
    RANDOM,
    Agreed,
    Drawn,
    DrawnPair,
    agreement_of,
    frame_of,
    labels_in,
    machines,
    people,
    settle_alone,
)
from rankproof.judging.verdicts import (
    PLAIN_YES,
    VALUES,
    WITH_VALUES,
    Ask,
    InLedger,
    Relation,
    Verdict,
    entry_of,
    lot,
    pair_in,
)
from rankproof.stats.agreement import Agreement
from rankproof.store.answers import LabellingSession
from rankproof.store.ledger import Ledger, is_ledger

N = 50
"""Pairs of each relation that are labelled by default: as many as a correction needs."""


def calibrate(
    source: Any,
    label: Callable[[Ask], int | None] | None = None,
    *,
    judge: Any = None,
    ledger: str | os.PathLike[str] | Ledger | None = None,
    who: str = "somebody",
    n: int = N,
    informative: int = 0,
    whole: bool = False,
    relation: str | None = None,
    metrics: Asked | None = None,
    seed: int = 0,
    **options: Unpack[UnseededArguments],
) -> Calibration:
    """How far a judge agrees with people, by labels on pairs drawn at random.

    `source` is the ledger of a judge, or samples that `judge` judges first, into `ledger`. `label` is a function
    that returns the value of a drawn pair (an `Ask`), or None if unsure; without it the labels in the ledger
    are used. `n` pairs of each relation are drawn at random, and about `informative` more that tell more. With
    `whole`, `n` samples are drawn with all of their pairs, as metrics need that are not means over pairs.
    """
    task = prepare_task(source, judge, ledger, who, Draw(n, informative, whole, relation, seed), metrics, **options)
    while label is not None and (pair := task.session.next()) is not None:
        task.session.grade(label(pair.ask))
    return task.result()


@dataclass(frozen=True)
class Calibration(Result):
    """The labels of people about a judge, by relation."""

    judge: str
    relations: dict[Relation, Agreed]
    drawn: int = 0
    """Pairs that were drawn to be labelled."""
    left: int = 0
    """Those of them that have no label yet."""

    @property
    def kappa(self) -> dict[str, Agreement]:
        """For each relation Cohen's kappa of yes and no, with observed and expected agreement, and prevalence."""
        return {name: each.kappa for name, each in self.relations.items()}

    @property
    def confusion(self) -> dict[str, dict[tuple[int, int], int]]:
        """For each relation the counts of people's and the judge's values: `{(people, judge): count}`."""
        return {name: each.confusion for name, each in self.relations.items()}

    @property
    def n(self) -> int:
        """The number of labels in the random part."""
        return sum(each.n for each in self.relations.values())

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        plain = {str(name): each.to_dict() for name, each in self.relations.items()}
        return {"judge": self.judge, "drawn": self.drawn, "left": self.left, "relations": plain}

    def _document(self) -> Document:
        from rankproof.judging.trust.words import calibration as words

        return words(self)

    def _in_one_line(self) -> str:
        kappas = ", ".join(f"{n}: kappa {'-' if k.value is None else f'{k.value:.3f}'}" for n, k in self.kappa.items())
        return f"<Calibration of {self.judge} by {count(self.n, 'label')}: {kappas or 'no labels'}>"


@dataclass(frozen=True)
class Task:
    """Which pairs to label, of which judge, and where the labels are written."""

    judge: str
    identities: Sequence[Mapping[str, Any]]
    ledger: Ledger
    pairs: Sequence[DrawnPair]
    session: DrawSession

    def result(self) -> Calibration:
        """The result of the labels so far."""
        labels = labels_in(self.ledger, self.identities)
        found = {}
        for pairs in by_relation(self.pairs):
            own = [labels[each.ask] for each in pairs if each.ask in labels]
            if any(each.random for each in own):
                frame = frame_of(self.ledger, own)
                known = [each for each in pairs if each.ask in frame]
                found[pairs[0].ask.relation] = agreement_of(known, own, len(pairs) - len(known))
        labelled = {pair_in(each) for each in people(self.ledger) if "drawn" in each.origin}  # overrides were not
        left = sum(each.ask not in labelled for each in self.session.drawn)
        return Calibration(self.judge, found, len(self.session.drawn), left)


def prepare_task(
    source: Any,
    judge: Any,
    ledger: str | os.PathLike[str] | Ledger | None,
    who: str,
    draw: Draw,
    metrics: Asked | None = None,
    **options: Any,
) -> Task:
    """The pairs to label, with a session that keeps each label at once."""
    draw.check()
    if not who.strip():
        raise UsageError("who: got no name, expected who labels. Next: say who you are.")
    samples: Mapping[str, Sequence[Ask]] = {}
    if is_ledger(source):
        if unused := [name for name, value in {"metrics": metrics, **options}.items() if value is not None]:
            raise WrongCall(f"{unused[0]}: got one, but a ledger asks nothing. Next: leave it out, or give samples.")
        kept = source if isinstance(source, Ledger) else Ledger(Path(source))
        name, identities = _machine(kept, judge)
    elif ledger is None:
        raise UsageError("ledger: got none, and labels must be kept somewhere. Next: name a file with ledger=.")
    else:
        kept = ledger if isinstance(ledger, Ledger) else Ledger(Path(ledger))
        asking = Judge(judge or "lexical", ledger=kept, **options)
        name, identities = asking.name, [each.identity for each in asking.judges]
        samples = _pairs_of_samples(source, asking, kept, metrics)
    pairs = _pairs(kept, identities, samples, draw.relation)
    drawn = draw.of(pairs, samples)
    frame = kept.keep_frame(each.ask for each in pairs)
    session = DrawSession([replace(each, frame=frame) for each in drawn], kept, HumanJudge(who.strip()))
    return Task(name, identities, kept, pairs, session)


def _pairs_of_samples(source: Any, asking: Judge, kept: Ledger, metrics: Asked | None) -> dict[str, list[Ask]]:
    """The pairs of each sample, judged; those too that people judged before, and that no machine was asked."""
    run = JudgeRun(parse_all(DEFAULT_METRICS if metrics is None else metrics), asking.judges, InLedger(kept))
    samples = {
        each.case.sample.id: [ask for ask in asks_of(each.case, run.metrics) if ask.relation != Relation.TEXT_CLAIMS]
        for each in run.judge_samples(read_samples(source))
    }
    settle_alone(samples.values(), asking.judges, kept)
    return samples


def _machine(ledger: Ledger, judge: Any) -> tuple[str, list[Mapping[str, Any]]]:
    """The judge in a ledger that is meant: the one there is, or the one that is named."""
    known = machines(ledger)
    if judge is not None and not isinstance(judge, str):
        judge = ">".join(each.name for each in judges_of(judge))
    names = [each.strip() for each in judge.split(">")] if judge else list(known)
    for name in names:
        if name not in known:
            said = f"{ledger.path}: no verdicts of {name!r}, only of {', '.join(known) or 'no machine'}"
            raise not_known(said, name, known)
    if not names or (len(names) > 1 and not judge):
        raise UsageError(
            f"{ledger.path}: has {len(known) or 'no'} machines ({', '.join(known)}), expected one. "
            "Next: name the judge to calibrate."
        )
    return ">".join(names), [known[name] for name in names]


def _pairs(
    ledger: Ledger,
    identities: Sequence[Mapping[str, Any]],
    samples: Mapping[str, Sequence[Ask]],
    relation: Relation | str | None,
) -> list[DrawnPair]:
    """Every pair that the machine settled, or has a probability of, of the samples if there are any."""
    wanted = set(chain.from_iterable(samples.values())) if samples else None
    found: dict[Ask, DrawnPair] = {}
    for identity in identities:
        for each in ledger.entries(identity):
            ask = pair_in(each)
            fits = (wanted is None or ask in wanted) and relation in (None, ask.relation)
            if not fits or ask.relation not in WITH_VALUES:
                continue
            if each.value is not None and not each.reason:
                found.setdefault(ask, DrawnPair(ask, each.value, each.probability))
            elif identity.get("kind") == NAME:  # what words leave open has a probability, which labels correct
                likely = likelihood(ask)
                found.setdefault(ask, DrawnPair(ask, PLAIN_YES[ask.relation] * (likely > 0.5), likely))
    if not found:
        raise DataError("there is no verdict to calibrate. Next: judge samples first, or name another judge.")
    return list(found.values())


SURE = 0.1
"""What a pair of which the judge is entirely sure weighs beside one at even odds, in the informative part."""


def draw(pairs: Sequence[DrawnPair], n: int, informative: int = 0, seed: int = 0) -> list[Drawn]:
    """`n` pairs at random, and about `informative` more that tell more, in random order.

    >>> from rankproof.judging.verdicts import Relation
    >>> pairs = [DrawnPair(Ask(Relation.STATEMENT_BEARS, "why?", f"since {i}"), 1) for i in range(100)]
    >>> found = draw(pairs, 20)
    >>> len(found), found[0].probability, [each.ask for each in draw(pairs, 10)] == [e.ask for e in found[:10]]
    (20, 0.2, True)
    """
    alike = min(n / len(pairs), 1.0) if pairs else 0.0
    ordered = sorted(pairs, key=lambda each: lot(each.ask, seed))
    # Rare values and doubtful verdicts tell more.
    often = Counter(each.value for each in pairs)
    odds = {each.ask: 0.5 if each.probability is None else each.probability for each in pairs}
    doubt = {ask: SURE + (1 - SURE) * 4 * p * (1 - p) for ask, p in odds.items()}
    telling = _probabilities({e.ask: doubt[e.ask] / often[e.value] for e in pairs}, min(informative, len(pairs)))
    found = []
    for place, each in enumerate(ordered):
        own = telling[each.ask]
        either = alike + own - alike * own
        if place < n:
            found.append(Drawn(each.ask, RANDOM, alike, either, len(pairs)))
        elif lot(each.ask, seed, INFORMATIVE) < own:
            found.append(Drawn(each.ask, INFORMATIVE, own, either, len(pairs)))
    # The parts are mixed, so that a person who stops early has labelled as much of each and cannot tell them apart.
    return found if not informative else sorted(found, key=lambda each: lot(each.ask, seed, "order"))


def draw_whole(samples: Mapping[str, Sequence[Ask]], n: int, seed: int = 0) -> list[Drawn]:
    """All pairs of `n` samples drawn at random: what metrics need that are no mean over pairs."""
    chance = min(n / len(samples), 1.0) if samples else 0.0
    chosen = sorted(samples, key=lambda name: lot(("sample", name, ""), seed))[:n]
    asks = dict.fromkeys(ask for name in chosen for ask in samples[name])
    return [Drawn(ask, RANDOM, chance, chance, len(samples), whole=True) for ask in asks]


def _probabilities(weights: Mapping[Ask, float], n: int) -> dict[Ask, float]:
    """Probabilities in proportion to weights that add up to n, none above 1."""
    sure: dict[Ask, float] = {}
    while True:
        rest = {ask: weight for ask, weight in weights.items() if ask not in sure}
        total = sum(rest.values())
        found = {ask: (n - len(sure)) * weight / total for ask, weight in rest.items()} if total else {}
        over = dict.fromkeys((ask for ask, share in found.items() if share > 1), 1.0)
        if not over:
            return {**sure, **found}
        sure |= over


def by_relation(pairs: Sequence[DrawnPair]) -> Iterator[list[DrawnPair]]:
    """The pairs of each relation: each is drawn from for itself."""
    for relation in WITH_VALUES:
        if found := [each for each in pairs if each.ask.relation == relation]:
            yield found


@dataclass(frozen=True)
class Draw:
    """Which pairs, or whole samples, are drawn to be labelled."""

    n: int
    informative: int = 0
    whole: bool = False
    relation: Relation | str | None = None
    seed: int = 0

    def check(self) -> None:
        """Refuse what cannot be drawn."""
        for name, least in (("n", 1), ("informative", 0), ("seed", 0)):
            check_whole(name, getattr(self, name), least)
        if self.relation is not None and self.relation not in WITH_VALUES:
            raise one_of("relation", self.relation, map(str, WITH_VALUES))
        if self.whole and (self.informative or self.relation):
            raise UsageError("whole: takes all pairs of a sample. Next: leave informative= and relation= out.")

    def of(self, pairs: Sequence[DrawnPair], samples: Mapping[str, Sequence[Ask]]) -> list[Drawn]:
        """The pairs that are drawn."""
        if self.whole and not samples:
            raise UsageError("whole: needs the samples, got a ledger. Next: name the samples, and the ledger beside.")
        if not self.whole:
            return [each for part in by_relation(pairs) for each in draw(part, self.n, self.informative, self.seed)]
        settled = {each.ask for each in pairs}
        usable = {name: [ask for ask in asks if ask in settled] for name, asks in samples.items()}
        return draw_whole({name: asks for name, asks in usable.items() if asks}, self.n, self.seed)


@dataclass
class DrawSession(LabellingSession[Drawn]):
    """Where a person stands among drawn pairs; what was skipped does not come again in this session."""

    drawn: Sequence[Drawn]
    ledger: Ledger
    who: HumanJudge
    before: dict[Ask, int] = field(init=False)
    """What the person labelled before."""
    at_end = "everything that was drawn is labelled. Next: draw more with n."

    def __post_init__(self) -> None:
        known = (each for each in self.ledger.entries(self.who.identity) if not each.reason and each.value is not None)
        # An override of what looked wrong was not drawn: it is asked again, and counts as drawn from then on.
        self.before = {pair_in(each): int(each.value or 0) for each in known if "drawn" in each.origin}
        for pair in self.drawn:  # of more pairs the chances are others: labels given before say how they are drawn now
            self._keep_step(pair, self.before.get(pair.ask))

    def next(self) -> Drawn | None:
        """What is to be labelled now; None at the end."""
        seen = {pair.ask for pair, _ in self.steps}
        return next((e for e in self.drawn if e.ask not in seen and e.ask not in self.before), None)

    def _check(self, item: Drawn, value: int) -> None:
        if value not in VALUES[item.ask.relation]:
            known = ", ".join(map(str, VALUES[item.ask.relation]))
            raise UsageError(f"label: got {value!r}, expected one of {known}. Next: choose one of them.")

    def _keep_step(self, item: Drawn, value: int | None) -> None:
        if value is not None:
            said = Verdict(item.ask, value, self.who.name, origin=item.origin)
            self.ledger.keep(self.who.identity, self.who.name, [entry_of(said, self.who.name)])

    def _take_back(self, item: Drawn, value: int | None) -> None:
        if value is not None:
            self.ledger.forget(self.who.identity, [item.ask])

    @property
    def done(self) -> int:
        """How many of the drawn pairs have this person's label."""
        given = {pair.ask for pair, value in self.steps if value is not None}
        return sum(each.ask in self.before or each.ask in given for each in self.drawn)

    @property
    def skipped(self) -> int:
        """How many were left open in this session."""
        return sum(value is None for _, value in self.steps)
