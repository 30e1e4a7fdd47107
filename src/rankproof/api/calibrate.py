"""`calibrate`: how far a judge can be trusted, by labels of people on pairs that were drawn for them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from rankproof.api.judge import DEFAULT_METRICS, Judge
from rankproof.api.verdicts import DEFAULT
from rankproof.errors import DataError, UsageError, nearest, one_of
from rankproof.judging.judges.human import HumanJudge, human_judge
from rankproof.judging.keeping import InLedger
from rankproof.judging.metrics.names import Asked, parse_all
from rankproof.judging.run import Run, asked
from rankproof.judging.samples import read_samples
from rankproof.judging.trust.agreement import Agreed, agreed
from rankproof.judging.trust.alone import settle_alone
from rankproof.judging.trust.draw import Drawn, Pair, by_relation, draw, draw_whole
from rankproof.judging.trust.labels import keep_label, labels_in, machines, own_labels
from rankproof.judging.trust.session import Session
from rankproof.judging.verdicts import Ask
from rankproof.reporting.calibration import calibration
from rankproof.stats.agreement import Agreement
from rankproof.store.ledger import Ledger

N = 50
"""Pairs of each relation that are labelled if nobody says otherwise: what a correction needs."""
RELATIONS = ("R", "S", "Q", "A")
SQLITE = b"SQLite format 3\x00"
Answers = Callable[[Ask], int | None]


@dataclass(frozen=True)
class Calibration:
    """What people's labels say of a judge, relation by relation."""

    judge: str
    relations: dict[str, Agreed]
    drawn: int = 0
    """Pairs that were drawn to be labelled."""
    left: int = 0
    """Those of them that have no label yet."""

    @property
    def kappa(self) -> dict[str, Agreement]:
        """For each relation Cohen's kappa of yes and no, with what was seen, expected and prevalent."""
        return {name: each.kappa for name, each in self.relations.items()}

    @property
    def confusion(self) -> dict[str, dict[tuple[int, int], int]]:
        """For each relation how often people said one value and the judge another: `{(people, judge): count}`."""
        return {name: each.confusion for name, each in self.relations.items()}

    @property
    def n(self) -> int:
        """Labels of the random part."""
        return sum(each.n for each in self.relations.values())

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        plain = {name: _plain(each) for name, each in self.relations.items()}
        return {"judge": self.judge, "drawn": self.drawn, "left": self.left, "relations": plain}

    def __str__(self) -> str:
        return calibration(self)

    def __repr__(self) -> str:
        kappas = ", ".join(f"{n}: kappa {_short(k.value)}" for n, k in self.kappa.items())
        return f"<Calibration of {self.judge} by {self.n} labels: {kappas or 'no labels'}>"


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _plain(found: Agreed) -> dict[str, Any]:
    cells = [{"people": a, "judge": b, "pairs": n} for (a, b), n in found.confusion.items()]
    smallest = None if found.smallest != found.smallest else found.smallest
    sides = ("sensitivity", "specificity")
    unseen = {
        name: {**asdict(getattr(found, name)), "value": None} for name in sides if not getattr(found, name).n
    }
    return {
        **asdict(found),
        **unseen,
        "confusion": cells,
        "smallest": smallest,
        "notes": list(found.notes),
        "trap": found.trap,
    }


def calibrate(
    source: Any,
    label: Answers | None = None,
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
    **options: Any,
) -> Calibration:
    """How far a judge agrees with people, by labels on pairs drawn at random.

    `source` is the ledger of a judge, or samples that `judge` is to judge into `ledger`. `label` is asked for
    the value of each drawn pair (an `Ask`), None where it cannot say; without it the labels that the ledger has
    are taken. `n` pairs of each relation are drawn at random, and about `informative` more that tell more. With
    `whole`, `n` samples are drawn and all of their pairs, which metrics need that are no mean over pairs.
    """
    task = prepared(
        *(source, judge, ledger, who, n),
        informative=informative,
        whole=whole,
        relation=relation,
        metrics=metrics,
        seed=seed,
        **options,
    )
    while label is not None and (pair := task.session.next()) is not None:
        value = label(pair.ask)
        task.session.skip() if value is None else task.session.grade(value)
    return task.result()


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
                found[pairs[0].ask.relation] = agreed(pairs, own)
        left = sum(each.ask not in labels for each in self.session.drawn)
        return Calibration(self.judge, found, len(self.session.drawn), left)


def prepared(
    source: Any,
    judge: Any,
    ledger: str | os.PathLike[str] | Ledger | None,
    who: str,
    n: int,
    *,
    informative: int = 0,
    whole: bool = False,
    relation: str | None = None,
    metrics: Asked | None = None,
    seed: int = 0,
    **options: Any,
) -> Task:
    """The pairs to label, with a session that keeps each label at once."""
    _check(n, informative, who, relation, whole)
    samples: dict[str, list[Ask]] = {}
    if is_ledger(source):
        kept = source if isinstance(source, Ledger) else Ledger(Path(source))
        name, identities = _machine(kept, judge)
    else:
        asking = Judge(judge or "lexical", ledger=_needed(ledger), **options)
        kept, name = asking.ledger or Ledger(Path(DEFAULT)), asking.name
        identities = [each.identity for each in asking.judges]
        samples = _judged(asking, kept, source, metrics)
    if whole and not samples:
        raise UsageError(
            "whole: needs the samples, got a ledger. Next: name the samples, and the ledger beside."
        )
    pairs = _pairs(kept, identities, samples, relation)
    drawn = _drawn(pairs, samples, n, informative, whole, seed)
    return Task(name, identities, kept, pairs, _session(kept, human_judge(who.strip()), drawn))


def _check(n: int, informative: int, who: str, relation: str | None, whole: bool) -> None:
    for name, value, least in (("n", n, 1), ("informative", informative, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise UsageError(
                f"{name}: got {value!r}, expected a whole number of at least {least}."
                " Next: give that many or more."
            )
    if not who.strip():
        raise UsageError("who: got no name, expected who labels. Next: say who you are.")
    if relation is not None and relation not in RELATIONS:
        raise one_of("relation", relation, RELATIONS)
    if whole and (informative or relation):
        raise UsageError(
            "whole: takes all pairs of a sample, so neither informative= nor relation= go with it."
            " Next: leave these out."
        )


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


def _judged(asking: Judge, kept: Ledger, source: Any, metrics: Asked | None) -> dict[str, list[Ask]]:
    """The pairs of each sample, judged; those too that people judged before, and that no machine was asked."""
    run = Run(parse_all(DEFAULT_METRICS if metrics is None else metrics), asking.judges, InLedger(kept))
    found = {}
    for judged in run.over(read_samples(source)):
        asks = asked(judged.case, run.metrics)
        found[judged.case.sample.id] = [ask for ask in asks if ask.relation != "C"]
    settle_alone(found.values(), asking.judges, kept)
    return found


def _pairs(
    ledger: Ledger,
    identities: Sequence[Mapping[str, Any]],
    samples: Mapping[str, Sequence[Ask]],
    relation: str | None,
) -> list[Pair]:
    """Every pair that the machine settled, of the samples where there are any."""
    wanted = set(chain.from_iterable(samples.values())) if samples else None
    found: dict[Ask, Pair] = {}
    for identity in identities:
        for each in ledger.entries(identity):
            ask = Ask(*each.key)
            fits = (wanted is None or ask in wanted) and relation in (None, ask.relation)
            if fits and each.value is not None and not each.reason and ask.relation in RELATIONS:
                found.setdefault(ask, Pair(ask, each.value, each.probability))
    if not found:
        raise DataError("there is no verdict to calibrate. Next: judge samples first, or name another judge.")
    return list(found.values())


def _drawn(
    pairs: Sequence[Pair],
    samples: Mapping[str, Sequence[Ask]],
    n: int,
    informative: int,
    whole: bool,
    seed: int,
) -> list[Drawn]:
    if not whole:
        return [each for part in by_relation(pairs) for each in draw(part, n, informative, seed)]
    settled = {each.ask for each in pairs}
    usable = {name: [ask for ask in asks if ask in settled] for name, asks in samples.items()}
    return draw_whole({name: asks for name, asks in usable.items() if asks}, n, seed)


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
