"""Which pairs people label: a random part, and on request one that tells more, each with its probability.

Every pair has a number of its own, as if by lot, that follows from its texts and the seed. The random part is
the lowest of them, so that drawing more later keeps what was drawn; a pair is in the informative part when its
number, drawn again, is below its probability.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rankproof.errors import UsageError
from rankproof.judging.verdicts import VALUES, WITH_VALUES, Ask
from rankproof.store.labelling_session import LabellingSession
from rankproof.store.ledger import lot

RANDOM, INFORMATIVE = "random", "informative"
SURE = 0.1
"""What a pair of which the judge is entirely sure weighs beside one at even odds, in the informative part."""


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
        more = {"frame": self.frame} if self.frame else {}
        return {**plain, **more, "whole": True} if self.whole else {**plain, **more}


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


@dataclass
class DrawSession(LabellingSession[Drawn]):
    """Where a person stands among drawn pairs; what was skipped does not come again in this session."""

    drawn: Sequence[Drawn]
    before: Mapping[Ask, int]
    """What the person labelled before."""
    keep: Callable[[Drawn, int], None]
    forget: Callable[[Drawn], None]
    at_end = "everything that was drawn is labelled. Next: draw more with n."

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
            self.keep(item, value)

    def _take_back(self, item: Drawn, value: int | None) -> None:
        if value is not None:
            self.forget(item)

    @property
    def done(self) -> int:
        """How many of the drawn pairs have this person's label."""
        given = {pair.ask for pair, value in self.steps if value is not None}
        return sum(each.ask in self.before or each.ask in given for each in self.drawn)

    @property
    def skipped(self) -> int:
        """How many were left open in this session."""
        return sum(value is None for _, value in self.steps)
