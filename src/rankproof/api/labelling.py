"""Labelling: whose verdicts are held against people, which pairs they are asked about, and where labels go."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from rankproof.api.calibration import Calibration
from rankproof.api.judge import DEFAULT_METRICS, Judge
from rankproof.api.verdicts import DEFAULT
from rankproof.errors import DataError, UsageError, nearest, one_of
from rankproof.judging.judges.human import HumanJudge, human_judge
from rankproof.judging.keeping import InLedger
from rankproof.judging.lexical.relations import NAME, likelihood
from rankproof.judging.metrics.names import Asked, parse_all
from rankproof.judging.run import Run, asked
from rankproof.judging.samples import read_samples
from rankproof.judging.trust.agreement import agreed
from rankproof.judging.trust.alone import settle_alone
from rankproof.judging.trust.draw import Drawn, Pair, by_relation, draw, draw_whole
from rankproof.judging.trust.labels import (
    frame_of,
    keep_label,
    labels_in,
    machines,
    own_labels,
    people,
)
from rankproof.judging.trust.session import Session
from rankproof.judging.verdicts import PLAIN_YES, Ask
from rankproof.store.ledger import Ledger

RELATIONS = ("R", "S", "P", "Q", "A")
SQLITE = b"SQLite format 3\x00"


@dataclass(frozen=True)
class Draw:
    """Which pairs, or whole samples, are drawn to be labelled."""

    n: int
    informative: int = 0
    whole: bool = False
    relation: str | None = None
    seed: int = 0

    def check(self) -> None:
        """Refuse what cannot be drawn."""
        for name, least in (("n", 1), ("informative", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise UsageError(
                    f"{name}: got {value!r}, expected a whole number of at least {least}."
                    " Next: give that many or more."
                )
        if self.relation is not None and self.relation not in RELATIONS:
            raise one_of("relation", self.relation, RELATIONS)
        if self.whole and (self.informative or self.relation):
            raise UsageError(
                "whole: takes all pairs of a sample, so neither informative= nor relation= go with it."
                " Next: leave these out."
            )

    def of(self, pairs: Sequence[Pair], samples: Mapping[str, Sequence[Ask]]) -> list[Drawn]:
        """The pairs that are drawn."""
        if self.whole and not samples:
            raise UsageError(
                "whole: needs the samples, got a ledger. Next: name the samples, and the ledger beside."
            )
        if not self.whole:
            parts = by_relation(pairs)
            return [each for part in parts for each in draw(part, self.n, self.informative, self.seed)]
        settled = {each.ask for each in pairs}
        usable = {name: [ask for ask in asks if ask in settled] for name, asks in samples.items()}
        return draw_whole({name: asks for name, asks in usable.items() if asks}, self.n, self.seed)


@dataclass(frozen=True)
class Task:
    """What is to be labelled, of which judge, and where the labels go."""

    judge: str
    identities: Sequence[Mapping[str, Any]]
    ledger: Ledger
    pairs: Sequence[Pair]
    session: Session

    def result(self) -> Calibration:
        """What the labels say by now."""
        labels = labels_in(self.ledger, self.identities)
        found = {}
        for pairs in by_relation(self.pairs):
            own = [labels[each.ask] for each in pairs if each.ask in labels]
            if any(each.random for each in own):
                frame = frame_of(self.ledger, own)
                known = [each for each in pairs if each.ask in frame]
                found[pairs[0].ask.relation] = agreed(known, own, len(pairs) - len(known))
        labelled = {Ask(*each.key) for each in people(self.ledger)}
        left = sum(each.ask not in labelled for each in self.session.drawn)
        return Calibration(self.judge, found, len(self.session.drawn), left)


def prepared(
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
    found = (
        _in_ledger(source, judge) if is_ledger(source) else _judged(source, judge, ledger, metrics, options)
    )
    pairs = _pairs(found, draw.relation)
    drawn = draw.of(pairs, found.samples)
    frame = found.ledger.keep_frame((each.ask.relation, each.ask.left, each.ask.right) for each in pairs)
    drawn = [replace(each, frame=frame) for each in drawn]
    session = _session(found.ledger, human_judge(who.strip()), drawn)
    return Task(found.judge, found.identities, found.ledger, pairs, session)


@dataclass(frozen=True)
class Found:
    """Whose verdicts are labelled, and where they are."""

    judge: str
    identities: Sequence[Mapping[str, Any]]
    ledger: Ledger
    samples: Mapping[str, Sequence[Ask]] = field(default_factory=dict)
    """The pairs of each sample; none where the verdicts are taken from a ledger as they are."""


def _in_ledger(source: Any, judge: Any) -> Found:
    kept = source if isinstance(source, Ledger) else Ledger(Path(source))
    name, identities = _machine(kept, judge)
    return Found(name, identities, kept)


def _judged(source: Any, judge: Any, ledger: Any, metrics: Asked | None, options: Mapping[str, Any]) -> Found:
    """The verdicts on samples; those too on pairs that people judged before, and that no machine was asked."""
    asking = Judge(judge or "lexical", ledger=_needed(ledger), **options)
    kept = asking.ledger or Ledger(Path(DEFAULT))
    run = Run(parse_all(DEFAULT_METRICS if metrics is None else metrics), asking.judges, InLedger(kept))
    samples = {
        each.case.sample.id: [ask for ask in asked(each.case, run.metrics) if ask.relation != "C"]
        for each in run.over(read_samples(source))
    }
    settle_alone(samples.values(), asking.judges, kept)
    return Found(asking.name, [each.identity for each in asking.judges], kept, samples)


def is_ledger(source: Any) -> bool:
    """Whether it is the file of a ledger."""
    if isinstance(source, Ledger):
        return True
    if not isinstance(source, str | os.PathLike) or not Path(source).is_file():
        return False
    with Path(source).open("rb") as stream:
        return stream.read(len(SQLITE)) == SQLITE


def _machine(ledger: Ledger, judge: Any) -> tuple[str, list[Mapping[str, Any]]]:
    """The judge in a ledger that is meant: the one there is, or the one that is named."""
    known = machines(ledger)
    names = [each.strip() for each in str(judge).split(">")] if judge else list(known)
    for name in names:
        if name not in known:
            raise UsageError(
                f"{ledger.path}: no verdicts of {name!r}, only of {', '.join(known) or 'no machine'}."
                f"{nearest(name, known)} Next: name one of these."
            )
    if not names or (len(names) > 1 and not judge):
        raise UsageError(
            f"{ledger.path}: has {len(known) or 'no'} machines ({', '.join(known)}), expected one. "
            "Next: name the judge to calibrate."
        )
    return ">".join(names), [known[name] for name in names]


def _needed(ledger: Any) -> Any:
    if ledger is None:
        raise UsageError(
            "ledger: got none, and labels must be kept somewhere. Next: name a file with ledger=."
        )
    return ledger


def _pairs(where: Found, relation: str | None) -> list[Pair]:
    """Every pair that the machine settled, or has a probability of, of the samples where there are any."""
    wanted = set(chain.from_iterable(where.samples.values())) if where.samples else None
    found: dict[Ask, Pair] = {}
    for identity in where.identities:
        for each in where.ledger.entries(identity):
            ask = Ask(*each.key)
            fits = (wanted is None or ask in wanted) and relation in (None, ask.relation)
            if not fits or ask.relation not in RELATIONS:
                continue
            if each.value is not None and not each.reason:
                found.setdefault(ask, Pair(ask, each.value, each.probability))
            elif (
                identity.get("kind") == NAME
            ):  # what words leave open has a probability, which labels correct
                likely = likelihood(ask)
                found.setdefault(ask, Pair(ask, PLAIN_YES[ask.relation] * (likely > 0.5), likely))
    if not found:
        raise DataError("there is no verdict to calibrate. Next: judge samples first, or name another judge.")
    return list(found.values())


def _session(ledger: Ledger, who: HumanJudge, drawn: Sequence[Drawn]) -> Session:
    before = own_labels(ledger, who)
    _note_again(ledger, who, drawn, before)
    return Session(
        drawn,
        before,
        keep=lambda pair, value: keep_label(ledger, who, pair, value),
        forget=lambda pair: ledger.forget(who.identity, [(pair.ask.relation, pair.ask.left, pair.ask.right)]),
    )


def _note_again(ledger: Ledger, who: HumanJudge, drawn: Sequence[Drawn], before: Mapping[Ask, int]) -> None:
    """Write down with labels given before how they are drawn now: of more pairs the chances are others."""
    for pair in drawn:
        if pair.ask in before:
            keep_label(ledger, who, pair, before[pair.ask])
