"""Labels: what people said of pairs that were drawn for them, beside what a machine said of the same pairs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankproof.judging.case import YES
from rankproof.judging.keeping import InLedger, Said, entry_of
from rankproof.judging.lexical.judge import NAME
from rankproof.judging.run import settle
from rankproof.judging.trust.draw import RANDOM, Drawn
from rankproof.judging.verdicts import SUPPORTS, Ask, Judge, Verdict
from rankproof.store.ledger import HUMAN, SHORT, Entry, Ledger, pair_of


class Afresh(InLedger):
    """Keeps verdicts in a ledger, and finds none there: everything is asked."""

    def find(self, asks: Iterable[Ask], judge: Judge) -> dict[Ask, Said]:
        """Nothing."""
        return {}


class Nowhere:
    """Finds nothing and keeps nothing: for asking what must leave no trace."""

    def find(self, asks: Iterable[Ask], judge: Judge) -> dict[Ask, Said]:
        """Nothing."""
        return {}

    def keep(self, judge: Judge, said: Sequence[Said]) -> None:
        """Forget it."""

    def flush(self) -> None:
        """Nothing waits to be written."""


def settle_alone(groups: Iterable[Sequence[Ask]], judges: Sequence[Judge], ledger: Ledger) -> None:
    """Ask machines about the pairs that people judged, where no machine was asked because people had."""
    labelled = {Ask(*each.key) for each in people(ledger)}
    asking = [each for each in judges if each.identity.get("kind") != HUMAN]
    if not labelled or not asking:
        return
    known = {Ask(*each.key) for judge in asking for each in ledger.entries(judge.identity)}
    todo = [part for group in groups if (part := [a for a in group if a in labelled and a not in known])]
    if todo:
        settle(todo, asking, Afresh(ledger))


FROM = {"R": YES, "S": SUPPORTS, "P": 2, "Q": 1, "A": YES}
"""The value of each relation from which a verdict is a yes."""
SEVERAL = 3
"""Pairs of a call from which on it has a beginning, a middle and an end."""


@dataclass(frozen=True, slots=True)
class Label:
    """One pair with both verdicts, and how it came to be drawn."""

    ask: Ask
    truth: int
    """What the person says."""
    said: int
    """What the machine says."""
    part: str
    included: float
    """The probability with which the pair was drawn at all."""
    whole: bool
    """Whether its whole sample was drawn."""
    frame: str = ""
    """The name of the pairs that could have been drawn; empty if that is not on record."""
    third: int | None = None
    """In which third of its call the machine was asked about it (0 to 2); None if that is not on record."""

    @property
    def random(self) -> bool:
        """Whether it belongs to the part that every pair had the same chance to be in."""
        return self.part == RANDOM


def is_yes(relation: str, value: int) -> bool:
    """Whether a value says yes.

    >>> is_yes("R", 2), is_yes("S", -1)
    (True, False)
    """
    return value >= FROM[relation]


def labels_in(ledger: Ledger, judges: Sequence[Mapping[str, Any]]) -> dict[Ask, Label]:
    """The drawn labels in a ledger that a machine (several: the first that settled the pair) judged as well."""
    drawn = {each.key: each for each in people(ledger) if "drawn" in each.origin}
    found: dict[Ask, Entry] = {}
    sizes: dict[str, int] = {}
    for identity in judges if drawn else ():
        for each in ledger.entries(identity):
            if batch := each.origin.get("batch"):
                sizes[batch] = max(sizes.get(batch, 0), int(each.origin.get("place", 0)))
            if each.key in drawn and not each.reason and each.value is not None:
                found.setdefault(Ask(*each.key), each)
    return {ask: _label(drawn[ask], each, sizes) for ask, each in found.items()}


def people(ledger: Ledger) -> Iterator[Entry]:
    """The verdict of people on each pair they judged; the latest, where several did."""
    said = sorted((e for e in ledger.entries(human=True) if not e.reason), key=lambda each: each.at)
    return iter({each.key: each for each in said}.values())


def _label(entry: Entry, machine: Entry, sizes: Mapping[str, int]) -> Label:
    origin, said = entry.origin, int(machine.value or 0)
    size, place = sizes.get(str(machine.origin.get("batch")), 0), machine.origin.get("place")
    third = 3 * (int(place) - 1) // size if place and size >= SEVERAL else None
    part, chance = str(origin["drawn"]), float(origin.get("included", 1.0))
    frame = str(origin.get("frame", ""))
    return Label(
        Ask(*entry.key), int(entry.value or 0), said, part, chance, bool(origin.get("whole")), frame, third
    )


@dataclass(frozen=True, slots=True)
class Frame:
    """Which pairs could be drawn when labels were: only of these do labels say what the judge is off by."""

    pairs: frozenset[bytes] = frozenset()
    known: bool = False
    """Whether it is on record for all labels; if not, any pair is taken for one that could be."""

    def __contains__(self, ask: object) -> bool:
        return not self.known or (
            isinstance(ask, Ask) and pair_of((ask.relation, ask.left, ask.right))[:SHORT] in self.pairs
        )


def frame_of(ledger: Ledger, labels: Iterable[Label]) -> Frame:
    """The pairs that could be drawn for any of these labels."""
    names = {each.frame for each in labels}
    found = ledger.frames(names) if names else {}
    return Frame(frozenset[bytes]().union(*found.values()), bool(names) and names <= found.keys())


def keep_label(ledger: Ledger, who: Judge, pair: Drawn, value: int) -> None:
    """Write a person's verdict into the ledger, with how its pair was drawn."""
    verdict = Verdict(pair.ask, value, who.name, origin=pair.origin)
    ledger.keep(who.identity, who.name, [entry_of(verdict, who.name)])


def own_labels(ledger: Ledger, who: Judge) -> dict[Ask, int]:
    """What one person has labelled so far."""
    found = (each for each in ledger.entries(who.identity) if not each.reason and each.value is not None)
    return {Ask(*each.key): int(each.value or 0) for each in found}


def machines(ledger: Ledger) -> dict[str, Mapping[str, Any]]:
    """The machines in a ledger by name, the latest of a name; probes of drift are none."""
    return {
        each["name"]: each["identity"]
        for each in ledger.judges()
        if not each["human"]
        and each["identity"].get("kind") not in (HUMAN, "probe", "trial")
        and (each["verdicts"] or each["identity"].get("kind") == NAME)
    }
