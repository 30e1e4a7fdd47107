"""Labelling: whose verdicts are compared with people's, the pairs to label, and where labels are stored."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from rankproof.document.disk import write_file
from rankproof.document.model import Displayable, Document, Result
from rankproof.document.numbers import count
from rankproof.errors import DataError, UsageError, check_whole, nearest, one_of
from rankproof.judging.judge import DEFAULT_METRICS, Judge
from rankproof.judging.judges import HumanJudge
from rankproof.judging.lexical.judge import NAME, likelihood
from rankproof.judging.metrics.registry import Asked, parse_all
from rankproof.judging.run import JudgeRun, asks_of
from rankproof.judging.samples import read_samples
from rankproof.judging.trust.agreement import (
    Agreed,
    agreement_of,
    frame_of,
    keep_label,
    labels_in,
    machines,
    own_labels,
    people,
    settle_alone,
)
from rankproof.judging.trust.draw import Drawn, DrawnPair, DrawSession, by_relation, draw, draw_whole
from rankproof.judging.trust.two_judgments import Estimated, Kappa
from rankproof.judging.verdicts import PLAIN_YES, WITH_VALUES, Ask, InLedger, Relation, pair_in
from rankproof.stats.agreement import Agreement
from rankproof.stats.shares import Share
from rankproof.store.ledger import Ledger


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

    def _document(self) -> Document:
        from rankproof.judging.trust.words import calibration as words

        return words(self)

    def _in_one_line(self) -> str:
        kappas = ", ".join(f"{n}: kappa {_short(k.value)}" for n, k in self.kappa.items())
        return f"<Calibration of {self.judge} by {count(self.n, 'label')}: {kappas or 'no labels'}>"


def _short(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _plain(found: Agreed) -> dict[str, Any]:
    cells = [{"people": a, "judge": b, "pairs": n} for (a, b), n in found.confusion.items()]
    smallest = None if found.smallest != found.smallest else found.smallest
    sides = ("sensitivity", "specificity")
    unseen = {name: {**asdict(getattr(found, name)), "value": None} for name in sides if not getattr(found, name).n}
    return {
        **asdict(found),
        **unseen,
        "confusion": cells,
        "smallest": smallest,
        "notes": list(found.notes),
        "places": [{**asdict(each), "value": each.value if each.n else None} for each in found.places],
        "place_matters": found.place_matters,
        "trap": found.trap,
    }


@dataclass(frozen=True, slots=True)
class PlannedPair(Displayable):
    """One pair to label next."""

    query: str
    document: str
    machine: float
    """The machine's grade; NaN where it gave none."""
    chance: float
    """The probability with which it was drawn."""
    ranks: Mapping[str, int]


@dataclass(frozen=True)
class LabelPlan(Displayable):
    """Pairs drawn where their labels narrow the estimates most; as a file it is a pool that `rankproof label` takes."""

    systems: tuple[str, ...]
    pairs: tuple[PlannedPair, ...]

    def __len__(self) -> int:
        return len(self.pairs)

    def __str__(self) -> str:
        head = {"pool": 1, "order": "depth", "per_query": None, "systems": list(self.systems)}
        lines = [asdict(each) for each in self.pairs]
        for line in lines:
            line["machine"] = None if line["machine"] != line["machine"] else line["machine"]
        return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in (head, *lines))

    def write(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write it as a pool, with the chance of each pair, which `calibrate_judgments(..., plan=path)` reads."""
        write_file(path, str(self), force=force)


@dataclass(frozen=True)
class JudgmentCalibration(Result):
    """A machine's judgments compared with people's: their agreement, and rank measures corrected by it."""

    machine: str
    human: str
    rel: float
    """The grade from which a document is relevant."""
    n: int
    """Pairs that both judged."""
    queries: int
    """Queries that these are of."""
    machine_only: int
    human_only: int
    """Pairs of the machine's queries that only one side judged."""
    other_queries: int
    """Queries that only people judged; they are in no number."""
    kappa: Kappa | None
    """The agreement on relevant and not relevant."""
    grades: Kappa | None
    """The agreement on the grades."""
    weighted: Kappa | None
    """The agreement on the grades, with near misses costing less (quadratic weights)."""
    confusion: dict[tuple[float, float], int]
    """How often people gave the first grade and the machine the second."""
    same: Share
    """Pairs with the same grade."""
    accuracy: Share
    """Pairs that both call relevant, or both not."""
    sensitivity: Share
    specificity: Share
    runs: dict[str, dict[str, tuple[float, Estimated | None]]]
    """For each run and measure its mean by the machine's judgments, and what people's would give."""
    wrong: tuple[str, ...] = ()
    """Errors of the audit, which make the numbers of a run wrong."""
    _next: Callable[[int, bool], LabelPlan] | None = field(default=None, repr=False, compare=False)

    def estimate(self, run: str, measure: str) -> Estimated | None:
        """The estimate of people's judgments of everything; None if there are too few labels."""
        return self.runs[run][measure][1]

    def plan(self, n: int, whole: bool = False) -> LabelPlan:
        """The `n` pairs whose labels narrow the estimates most; with `whole`, `n` queries with all of their pairs."""
        if self._next is None:
            raise UsageError("plan: got no runs, so no label narrows anything. Next: give runs.")
        return self._next(n, whole)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        shares = ("same", "accuracy", "sensitivity", "specificity")
        kappas = {"kappa": self.kappa, "kappa_of_grades": self.grades, "kappa_quadratic": self.weighted}
        names = ("machine", "human", "rel", "n", "queries", "machine_only", "human_only", "other_queries")
        return {
            **{name: getattr(self, name) for name in names},
            **{
                name: None if k is None else {"value": k.kappa.value, "low": k.low, "high": k.high}
                for name, k in kappas.items()
            },
            "prevalence": None if self.kappa is None else self.kappa.kappa.prevalence,
            **{
                name: {**asdict(share), "value": share.value if share.n else None}
                for name in shares
                for share in [getattr(self, name)]
            },
            "confusion": [{"people": a, "machine": b, "pairs": n} for (a, b), n in self.confusion.items()],
            "wrong": list(self.wrong),
            "runs": {
                run: {
                    name: {"machine": raw, "corrected": None if found is None else asdict(found)}
                    for name, (raw, found) in each.items()
                }
                for run, each in self.runs.items()
            },
        }

    def _document(self) -> Document:
        from rankproof.judging.trust.words import two_judgments as words

        return words(self)

    def _in_one_line(self) -> str:
        value = None if self.kappa is None else self.kappa.kappa.value
        return f"<JudgmentCalibration of {self.machine} by {count(self.n, 'pair')}: kappa {_short(value)}>"


SQLITE = b"SQLite format 3\x00"


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
            raise UsageError(
                "whole: takes all pairs of a sample, so neither informative= nor relation= go with it."
                " Next: leave these out."
            )

    def of(self, pairs: Sequence[DrawnPair], samples: Mapping[str, Sequence[Ask]]) -> list[Drawn]:
        """The pairs that are drawn."""
        if self.whole and not samples:
            raise UsageError("whole: needs the samples, got a ledger. Next: name the samples, and the ledger beside.")
        if not self.whole:
            parts = by_relation(pairs)
            return [each for part in parts for each in draw(part, self.n, self.informative, self.seed)]
        settled = {each.ask for each in pairs}
        usable = {name: [ask for ask in asks if ask in settled] for name, asks in samples.items()}
        return draw_whole({name: asks for name, asks in usable.items() if asks}, self.n, self.seed)


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
        labelled = {pair_in(each) for each in people(self.ledger)}
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
    frame = kept.keep_frame((each.ask.relation, each.ask.left, each.ask.right) for each in pairs)
    session = _session(kept, HumanJudge(who.strip()), [replace(each, frame=frame) for each in drawn])
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


def _session(ledger: Ledger, who: HumanJudge, drawn: Sequence[Drawn]) -> DrawSession:
    before = own_labels(ledger, who)
    for pair in drawn:  # of more pairs the chances are others: labels given before say how they are drawn now
        if pair.ask in before:
            keep_label(ledger, who, pair, before[pair.ask])
    return DrawSession(
        drawn,
        before,
        keep=lambda pair, value: keep_label(ledger, who, pair, value),
        forget=lambda pair: ledger.forget(who.identity, [(pair.ask.relation, pair.ask.left, pair.ask.right)]),
    )
