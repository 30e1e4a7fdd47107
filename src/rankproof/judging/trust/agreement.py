"""How far a machine agrees with people, relation by relation, on pairs drawn for labelling; and labelled pairs
that come with rankproof, in `trial-1.txt`, each with the verdict of a careful reader."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from statistics import NormalDist
from typing import Any

import numpy as np

from rankproof.document.formats import plain_data
from rankproof.document.model import Displayable
from rankproof.document.numbers import count, share
from rankproof.errors import DataError
from rankproof.judging.lexical_judge import NAME
from rankproof.judging.run import settle
from rankproof.judging.verdicts import VALUES, Ask, InLedger, Judge, Relation, Said, is_yes, pair_in
from rankproof.stats.agreement import Agreement, cohen_kappa
from rankproof.stats.judge_error import Corrected, Share, check_labels, corrected_mean, rogan_gladen, share_of
from rankproof.store.ledger import HUMAN, SHORT, Ledger, LedgerEntry
from rankproof.text.words import digest

RANDOM, INFORMATIVE = "random", "informative"


@dataclass(frozen=True, slots=True)
class DrawnPair:
    """A pair that a machine judged, of which some are drawn."""

    ask: Ask
    value: int
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class Drawn:
    """A pair that was drawn, and how."""

    ask: Ask
    part: str
    probability: float
    """The probability of being in its part."""
    included: float
    """The probability of being drawn at all."""
    of: int
    """From how many."""
    whole: bool = False
    """Whether the whole sample it belongs to was drawn."""
    frame: str = ""
    """The name of the pairs that could have been drawn."""

    @property
    def origin(self) -> Mapping[str, Any]:
        """What is written down with the label."""
        plain = {"drawn": self.part, "probability": self.probability, "included": self.included, "of": self.of}
        return plain | ({"frame": self.frame} if self.frame else {}) | ({"whole": True} if self.whole else {})


class Afresh(InLedger):
    """Keeps verdicts in a ledger, and finds none there: everything is asked."""

    def find(self, asks: Iterable[Ask], judge: Judge) -> dict[Ask, Said]:
        """Nothing."""
        return {}


def settle_alone(groups: Iterable[Sequence[Ask]], judges: Sequence[Judge], ledger: Ledger) -> None:
    """Ask machines about the pairs that people judged, if no machine was asked because people had."""
    labelled = {pair_in(each) for each in people(ledger)}
    asking = [each for each in judges if each.identity.get("kind") != HUMAN]
    if not labelled or not asking:
        return
    known = {pair_in(each) for judge in asking for each in ledger.entries(judge.identity)}
    todo = [part for group in groups if (part := [a for a in group if a in labelled and a not in known])]
    if todo:
        settle(todo, asking, Afresh(ledger))


def count_changed(pairs: Iterable[tuple[Ask, bool]]) -> dict[str, tuple[int, int]]:
    """By relation how many of these pairs changed, and how many they are."""
    found: dict[str, tuple[int, int]] = {}
    for ask, changed in pairs:
        yes, n = found.get(ask.relation, (0, 0))
        found[ask.relation] = yes + changed, n + 1
    return found


SEVERAL = 3
"""Pairs of a call from which on it has a beginning, a middle and an end."""


@dataclass(frozen=True, slots=True)
class Label:
    """One pair with both verdicts, and how it came to be drawn."""

    ask: Ask
    truth: int
    """The person's verdict."""
    said: int
    """The machine's verdict."""
    random: bool
    """Whether it belongs to the part that every pair had the same chance to be in."""
    included: float
    """The probability with which the pair was drawn at all."""
    whole: bool
    """Whether its whole sample was drawn."""
    frame: str = ""
    """The name of the pairs that could have been drawn; empty if that is not on record."""
    third: int | None = None
    """In which third of its call the machine was asked about it (0 to 2); None if that is not on record."""


def plain_share(found: Share) -> dict[str, Any]:
    """A share as plain data; without a value if nothing was counted."""
    return {**asdict(found), "value": found.value if found.n else None}


def labels_in(ledger: Ledger, judges: Sequence[Mapping[str, Any]]) -> dict[Ask, Label]:
    """The drawn labels in a ledger that a machine (several: the first that settled the pair) judged as well."""
    drawn = {each.key: each for each in people(ledger) if "drawn" in each.origin}
    found: dict[Ask, LedgerEntry] = {}
    sizes: dict[str, int] = {}
    for identity in judges if drawn else ():
        for each in ledger.entries(identity):
            if batch := each.origin.get("batch"):
                sizes[batch] = max(sizes.get(batch, 0), int(each.origin.get("place", 0)))
            if each.key in drawn and not each.reason and each.value is not None:
                found.setdefault(pair_in(each), each)
    return {ask: _label(drawn[ask], each, sizes) for ask, each in found.items()}


def people(ledger: Ledger) -> Iterator[LedgerEntry]:
    """The verdict of people on each pair they judged; the latest, where several did."""
    said = sorted((e for e in ledger.entries(human=True) if not e.reason), key=lambda each: each.at)
    return iter({each.key: each for each in said}.values())


def _label(entry: LedgerEntry, machine: LedgerEntry, sizes: Mapping[str, int]) -> Label:
    origin, said = entry.origin, int(machine.value or 0)
    size, place = sizes.get(str(machine.origin.get("batch")), 0), machine.origin.get("place")
    third = 3 * (int(place) - 1) // size if place and size >= SEVERAL else None
    random, chance = origin["drawn"] == RANDOM, float(origin.get("included", 1.0))
    frame = str(origin.get("frame", ""))
    return Label(pair_in(entry), int(entry.value or 0), said, random, chance, bool(origin.get("whole")), frame, third)


@dataclass(frozen=True, slots=True)
class Frame:
    """Which pairs could be drawn with the labels: labels show the error of the judge on these only."""

    pairs: frozenset[bytes] = frozenset()
    known: bool = False
    """Whether it is on record for all labels; if not, any pair is taken for one that could be."""

    def __contains__(self, ask: object) -> bool:
        return not self.known or (isinstance(ask, Ask) and digest(*ask)[:SHORT] in self.pairs)


def frame_of(ledger: Ledger, labels: Iterable[Label]) -> Frame:
    """The pairs that could be drawn for any of these labels."""
    names = {each.frame for each in labels}
    found = ledger.frames(names) if names else {}
    return Frame(frozenset[bytes]().union(*found.values()), bool(names) and names <= found.keys())


def machines(ledger: Ledger) -> dict[str, Mapping[str, Any]]:
    """The machines in a ledger by name, the latest of a name; probes of drift are none."""
    return {
        each["name"]: each["identity"]
        for each in ledger.judges()
        if not each["human"]
        and each["identity"].get("kind") not in (HUMAN, "probe", "trial")
        and (each["verdicts"] or each["identity"].get("kind") == NAME)
    }


FEW = 50
"""Labels below which a rate is not corrected."""
TRAP = 0.4
"""Below this kappa a judge that is mostly right may still tell little: the prevalence is right for it."""


@dataclass(frozen=True, slots=True)
class Agreed(Displayable):
    """One relation: what people and the machine say of the same pairs."""

    relation: Relation
    n: int
    """Pairs of the random part; all but the corrections come from these."""
    more: int
    """Pairs chosen for what they tell; with their probabilities they count in the correction."""
    of: int
    """Pairs the machine judged."""
    kappa: Agreement
    """The agreement on yes and no, where yes is a grade of at least 2, or support."""
    grades: Agreement
    """The agreement on the values, with near misses costing less (quadratic weights)."""
    confusion: dict[tuple[int, int], int]
    """How often people said the first and the machine the second."""
    accuracy: Share
    commonest: Share
    """The share that always giving the more frequent of yes and no would get right."""
    sensitivity: Share
    specificity: Share
    raw: Share
    """The share of yes among all that the machine judged."""
    gladen: Corrected | None
    corrected: Corrected | None
    """The share of yes by prediction-powered inference."""
    smallest: float
    """The least real difference of two systems' shares, each from as many pairs, that shows; NaN: none does."""
    notes: tuple[str, ...]
    places: tuple[Share, ...] = ()
    """The share of wrong verdicts in the first, middle and last third of calls, if that is on record."""

    @property
    def place_matters(self) -> bool:
        """Whether one third of a call has more wrong verdicts than another, beyond chance."""
        return bool(self.places) and max(e.low for e in self.places) > min(e.high for e in self.places)

    @property
    def trap(self) -> bool:
        """Whether the accuracy looks good and means little."""
        return (self.kappa.value is None or self.kappa.value < TRAP) and self.accuracy.value >= 0.7

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            **plain_data(self),
            **{name: plain_share(getattr(self, name)) for name in ("sensitivity", "specificity")},
            "confusion": [{"people": a, "judge": b, "pairs": n} for (a, b), n in self.confusion.items()],
            "smallest": None if math.isnan(self.smallest) else self.smallest,
            "notes": list(self.notes),
            "places": list(map(plain_share, self.places)),
            "place_matters": self.place_matters,
            "trap": self.trap,
        }


def agreement_of(pairs: Sequence[DrawnPair], labels: Iterable[Label], others: int = 0) -> Agreed:
    """How far people and the machine agree on the pairs of one relation, `pairs` being all that could be drawn.

    `others` is how many more it judged, of which labels say nothing.
    """
    every = list(labels)
    relation, drawn = pairs[0].ask.relation, [each for each in every if each.random]
    truth, said = (np.array([is_yes(relation, v) for v in side], dtype=bool) for side in _sides(drawn))
    hits, rejections = (int((truth & said).sum()), int(truth.sum())), (int((~truth & ~said).sum()), int((~truth).sum()))
    raw = share_of(sum(is_yes(relation, each.value) for each in pairs), len(pairs))
    right, commonest = int((truth == said).sum()), max(int(truth.sum()), int((~truth).sum()))
    gladen, note = _gladen(raw, hits, rejections, len(drawn))
    notes = [note] if note else []
    if others:  # judged later, or elsewhere
        late = share(others / (others + len(pairs)))
        notes.append(f"{late} of its pairs were not there when labels were drawn, and are in no number here")
    return Agreed(
        relation=relation,
        n=len(drawn),
        more=len(every) - len(drawn),
        of=len(pairs),
        kappa=cohen_kappa(truth.tolist(), said.tolist()),
        grades=cohen_kappa(*_sides(drawn), weights="quadratic", labels=VALUES[relation]),
        confusion=dict(sorted(Counter((each.truth, each.said) for each in drawn).items())),
        accuracy=share_of(right, len(drawn)),
        commonest=share_of(commonest, len(drawn)),
        sensitivity=share_of(*hits),
        specificity=share_of(*rejections),
        raw=raw,
        gladen=gladen,
        corrected=_corrected(pairs, every),
        smallest=_smallest(raw, hits, rejections),
        notes=tuple(notes),
        places=_places(drawn),
    )


def _places(labels: Sequence[Label]) -> tuple[Share, ...]:
    """How often the machine is wrong (in yes or no) by the third of the call in which it was asked."""
    wrong: dict[int, list[bool]] = {0: [], 1: [], 2: []}
    for each in labels:
        if each.third is not None:
            wrong[each.third].append(is_yes(each.ask.relation, each.truth) != is_yes(each.ask.relation, each.said))
    return tuple(share_of(sum(each), len(each)) for each in wrong.values()) if any(wrong.values()) else ()


def _sides(labels: Sequence[Label]) -> tuple[list[int], list[int]]:
    return [each.truth for each in labels], [each.said for each in labels]


def _gladen(raw: Share, hits: tuple[int, int], rejections: tuple[int, int], n: int) -> tuple[Corrected | None, str]:
    if n < FEW:
        return None, f"no correction: {count(n, 'label')} drawn at random, {FEW} needed"
    try:
        return rogan_gladen(raw.value, raw.n, hits, rejections), ""
    except DataError as error:
        return None, str(error).partition(" Next:")[0].rstrip(".")


def _corrected(pairs: Sequence[DrawnPair], labels: Sequence[Label]) -> Corrected | None:
    """The share of yes among all pairs, by prediction-powered inference."""
    if len(labels) < FEW:
        return None
    relation, place = pairs[0].ask.relation, {each.ask: i for i, each in enumerate(pairs)}
    truth, said = (np.array([is_yes(relation, v) for v in side], dtype=float) for side in _sides(labels))
    where = np.array([place[each.ask] for each in labels], dtype=np.intp)
    chance = np.array([each.included for each in labels])
    everywhere = np.array([is_yes(relation, each.value) for each in pairs], dtype=float)
    return corrected_mean(everywhere, check_labels(truth, said, where, chance))


def _smallest(raw: Share, hits: tuple[int, int], rejections: tuple[int, int]) -> float:
    """The true difference behind a difference of the judge, which shows sensitivity + specificity - 1 of it."""
    if not (hits[1] and rejections[1]):
        return math.nan
    shown = hits[0] / hits[1] + rejections[0] / rejections[1] - 1
    noise = math.sqrt(2 * raw.value * (1 - raw.value) / raw.n) * NormalDist().inv_cdf(0.975)
    return noise / shown if shown > 0 and noise / shown < 1 else math.nan


PAIRS = "trial-1"
"""The name of the pairs; its number is part of the key under which verdicts on them are kept."""
VALUE = {"+": 1, "0": 0, "-": -1}
BEARING = {"+": 1, "-": 0}
ANSWERED = {"+": 3, "-": 0, "?": -1}


@cache
def cases() -> tuple[Mapping[Ask, int], ...]:
    """The labelled pairs with what is right of each, case by case: a question with its texts."""
    text = files("rankproof.judging.trust").joinpath(f"{PAIRS}.txt").read_text(encoding="utf-8")
    blocks = (block.splitlines() for block in text.split("\n\n"))
    return tuple(_case(block) for block in blocks if block[0].startswith("case "))


def _case(lines: Sequence[str]) -> Mapping[Ask, int]:
    marked = [line.partition(" ")[::2] for line in lines[1:]]
    question = next(rest for mark, rest in marked if mark == "?")
    texts = [(rest, mark[1]) for mark, rest in marked if mark[0] == "t"]
    truth: dict[Ask, int] = {}
    for place, (text, mark) in enumerate(texts):
        truth[Ask(Relation.CONTEXT_ANSWERS, question, text)] = 3 if mark == "+" else 0
        for marks, claim in (rest.split(" ", 1) for letter, rest in marked if letter == "c"):
            truth[Ask(Relation.TEXT_SUPPORTS, claim, text)] = VALUE[marks[place]]
    rest_of = {"s": (Relation.STATEMENT_BEARS, BEARING), "a": (Relation.ANSWER_ADDRESSES, ANSWERED)}
    for letter, (relation, values) in rest_of.items():
        truth |= {Ask(relation, question, rest): values[mark[1]] for mark, rest in marked if mark[0] == letter}
    return truth
