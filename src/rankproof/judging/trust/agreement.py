"""How far a machine agrees with people, relation by relation, and what follows for its numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from rankproof.core.audit.finding import count_of, percent
from rankproof.document.display import Displayable
from rankproof.errors import DataError
from rankproof.judging.trust.draw import Pair
from rankproof.judging.trust.labels import Label, is_yes
from rankproof.judging.verdicts import VALUES
from rankproof.stats.agreement import Agreement, cohen_kappa
from rankproof.stats.corrected import Corrected, corrected_mean, labelled, rogan_gladen
from rankproof.stats.shares import Share, share_of

FEW = 50
"""Labels below which a rate is not corrected."""
TRAP = 0.4
"""Below this kappa a judge that is mostly right may still tell little: the prevalence is right for it."""


@dataclass(frozen=True, slots=True)
class Agreed(Displayable):
    """One relation: what people and the machine say of the same pairs."""

    relation: str
    n: int
    """Pairs of the random part; all but the corrections come from these."""
    more: int
    """Pairs chosen for what they tell; with their probabilities they count in the correction."""
    of: int
    """Pairs the machine judged."""
    kappa: Agreement
    """Of yes and no, where yes is a grade of at least 2, or support."""
    grades: Agreement
    """Of the values themselves, near misses costing less (quadratic weights)."""
    confusion: dict[tuple[int, int], int]
    """How often people said the first and the machine the second."""
    accuracy: Share
    commonest: Share
    """What always saying the more frequent of yes and no would get right."""
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
    """The share of wrong verdicts in the first, middle and last third of calls, where that is on record."""

    @property
    def place_matters(self) -> bool:
        """Whether one third of a call has more wrong verdicts than another, beyond chance."""
        return bool(self.places) and max(e.low for e in self.places) > min(e.high for e in self.places)

    @property
    def trap(self) -> bool:
        """Whether the accuracy looks good and means little."""
        low = self.kappa.value is None or self.kappa.value < TRAP
        return low and self.accuracy.value >= 0.7


def agreed(pairs: Sequence[Pair], labels: Iterable[Label], others: int = 0) -> Agreed:
    """How far people and the machine agree on the pairs of one relation, `pairs` being all that could be drawn.

    `others` is how many more it judged, of which labels say nothing.
    """
    every = list(labels)
    relation, drawn = pairs[0].ask.relation, [each for each in every if each.random]
    truth, said = (np.array([is_yes(relation, v) for v in side], dtype=bool) for side in _sides(drawn))
    hits, rejections = _hits(truth, said), _hits(~truth, ~said)
    raw = share_of(sum(is_yes(relation, each.value) for each in pairs), len(pairs))
    right, commonest = int((truth == said).sum()), max(int(truth.sum()), int((~truth).sum()))
    gladen, note = _gladen(raw, hits, rejections, len(drawn))
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
        notes=(*((note,) if note else ()), *((_apart(others, len(pairs)),) if others else ())),
        places=_places(drawn),
    )


def _places(labels: Sequence[Label]) -> tuple[Share, ...]:
    """How often the machine is wrong (in yes or no) by the third of the call in which it was asked."""
    wrong: dict[int, list[bool]] = {0: [], 1: [], 2: []}
    for each in labels:
        if each.third is not None:
            wrong[each.third].append(
                is_yes(each.ask.relation, each.truth) != is_yes(each.ask.relation, each.said)
            )
    return tuple(share_of(sum(each), len(each)) for each in wrong.values()) if any(wrong.values()) else ()


def _apart(others: int, pairs: int) -> str:
    """What is said of pairs that were judged later, or elsewhere."""
    share = percent(others / (others + pairs))
    return f"{share} of its pairs were not there when labels were drawn, and are in no number here"


def _sides(labels: Sequence[Label]) -> tuple[list[int], list[int]]:
    return [each.truth for each in labels], [each.said for each in labels]


def _hits(truth: Any, said: Any) -> tuple[int, int]:
    """How many of those that are so the machine says are so."""
    return int((truth & said).sum()), int(truth.sum())


def _gladen(
    raw: Share, hits: tuple[int, int], rejections: tuple[int, int], n: int
) -> tuple[Corrected | None, str]:
    """The rate by Rogan and Gladen, or why there is none."""
    if n < FEW:
        return None, f"no correction: {count_of(n, 'label')} drawn at random, {FEW} needed"
    try:
        return rogan_gladen(raw.value, raw.n, hits, rejections), ""
    except DataError as error:
        return None, str(error).partition(" Next:")[0].rstrip(".")


def _corrected(pairs: Sequence[Pair], labels: Sequence[Label]) -> Corrected | None:
    """The share of yes among all pairs, by prediction-powered inference."""
    if len(labels) < FEW:
        return None
    relation, place = pairs[0].ask.relation, {each.ask: i for i, each in enumerate(pairs)}
    truth, said = (np.array([is_yes(relation, v) for v in side], dtype=float) for side in _sides(labels))
    where = np.array([place[each.ask] for each in labels], dtype=np.intp)
    chance = np.array([each.included for each in labels])
    everywhere = np.array([is_yes(relation, each.value) for each in pairs], dtype=float)
    return corrected_mean(everywhere, labelled(truth, said, where, chance))


def _smallest(raw: Share, hits: tuple[int, int], rejections: tuple[int, int]) -> float:
    """What two systems must really differ by: the judge shows sensitivity + specificity - 1 of it."""
    if not (hits[1] and rejections[1]):
        return math.nan
    shown = hits[0] / hits[1] + rejections[0] / rejections[1] - 1
    noise = math.sqrt(2 * raw.value * (1 - raw.value) / raw.n) * NormalDist().inv_cdf(0.975)
    return noise / shown if shown > 0 and noise / shown < 1 else math.nan
