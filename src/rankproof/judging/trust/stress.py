"""Does a verdict depend on what stood beside it? Every pair is asked again in other company, and flips are counted.

Four ways: the pairs of a sample in another order, two samples in one call, each pair by itself, and two claims
made one (which a text supports when it supports both, and contradicts when it contradicts either).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from rankproof.judging.settling import add, settle
from rankproof.judging.trust.alone import Nowhere
from rankproof.judging.verdicts import CONTRADICTS, Account, Ask, Judge, Verdict

Groups = Sequence[Sequence[Ask]]
Said = Mapping[Ask, int]


@dataclass(slots=True)
class Flips:
    """How often verdicts changed in one way of asking again, relation by relation: (flipped, asked)."""

    counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    lost: int = 0
    """Pairs that had a verdict in only one of both."""

    def add(self, relation: str, flipped: bool) -> None:
        """Count one pair."""
        yes, n = self.counts.get(relation, (0, 0))
        self.counts[relation] = yes + flipped, n + 1


def stressed(groups: Groups, judges: Sequence[Judge], seed: int = 0) -> tuple[dict[str, Flips], Account]:
    """The flips of each way, and what asking took; nothing is kept, and nothing is looked up."""
    asked = _Asked(judges)
    before = asked.values(groups)
    rng = np.random.default_rng(seed)
    ways = {way: _flips(before, asked.values(again(groups, rng))) for way, again in WAYS.items()}
    merged, parts = _merged(groups, before)
    if merged:
        ways["two claims made one"] = _kept_together(before, asked.values(merged), parts)
    return ways, asked.account


class _Asked:
    """Asks judges, and adds up what it took."""

    def __init__(self, judges: Sequence[Judge]) -> None:
        self.judges = judges
        self.account = Account()

    def values(self, groups: Groups) -> Said:
        """What they say of every pair that they settle."""
        said, account = settle(groups, self.judges, Nowhere())
        add(self.account, account)
        return {a: v.value for a, v in said.items() if isinstance(v, Verdict) and v.value is not None}


def _flips(before: Said, after: Said) -> Flips:
    found = Flips(lost=len(before.keys() ^ after.keys()))
    for ask in before.keys() & after.keys():
        found.add(ask.relation, before[ask] != after[ask])
    return found


# --- the ways ------------------------------------------------------------------------------------------


def _same(groups: Groups, rng: np.random.Generator) -> Groups:
    return groups


def _shuffled(groups: Groups, rng: np.random.Generator) -> Groups:
    """The pairs of each sample in another order: with them, that of the texts in a call."""
    return [[group[i] for i in rng.permutation(len(group))] for group in groups]


def _together(groups: Groups, rng: np.random.Generator) -> Groups:
    """Two samples in one."""
    mixed = [groups[i] for i in rng.permutation(len(groups))]
    return [[ask for group in mixed[i : i + 2] for ask in group] for i in range(0, len(mixed), 2)]


def _by_itself(groups: Groups, rng: np.random.Generator) -> Groups:
    return [[ask] for group in groups for ask in group]


WAYS: Mapping[str, Callable[[Groups, np.random.Generator], Groups]] = {
    "asked again": _same,
    "in another order": _shuffled,
    "with another sample": _together,
    "each by itself": _by_itself,
}


# --- claims ----------------------------------------------------------------------------------------------


def _merged(groups: Groups, before: Said) -> tuple[Groups, dict[Ask, tuple[Ask, Ask]]]:
    """Neighbouring claims about one text made one, with the pairs that each is made of."""
    parts: dict[Ask, tuple[Ask, Ask]] = {}
    found = []
    for group in groups:
        made = {_both(a, b): (a, b) for a, b in _neighbours(group) if a in before and b in before}
        parts |= made
        found.append(list(made))
    return [group for group in found if group], parts


def _neighbours(group: Iterable[Ask]) -> Iterable[tuple[Ask, Ask]]:
    texts: dict[str, list[Ask]] = {}
    for ask in group:
        if ask.relation == "S":
            texts.setdefault(ask.right, []).append(ask)
    return ((a, b) for asks in texts.values() for a, b in pairwise(asks))


def _both(a: Ask, b: Ask) -> Ask:
    return Ask("S", f"{a.left.strip()} {b.left.strip()}", a.right)


def _kept_together(before: Said, after: Said, parts: Mapping[Ask, tuple[Ask, Ask]]) -> Flips:
    """Whether what is said of two claims as one is what follows from what is said of each."""
    found = Flips(lost=len(parts.keys() - after.keys()))
    for ask, two in parts.items():
        if ask in after:
            found.add("S", after[ask] != _follows([before[each] for each in two]))
    return found


def _follows(values: Sequence[int]) -> int:
    """The value of two claims as one; CONTRADICTS is the least, SUPPORTS the greatest.

    >>> _follows([1, 1]), _follows([1, 0]), _follows([0, -1])
    (1, 0, -1)
    """
    return CONTRADICTS if CONTRADICTS in values else min(values)
