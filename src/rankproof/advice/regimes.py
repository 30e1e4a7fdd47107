"""The four regimes of precision and recall, and what each feels like to whoever asks."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from rankproof.advice.bands import CUTS, WORDS, Band, word_of
from rankproof.display import Displayable

GOOD = 1
"""Which of a measure's cuts divides high from low: where good begins."""


MUCH_LOST = 0.15
"""From this share of relevant documents that are never found on, recall is not high."""


@dataclass(frozen=True, slots=True)
class Regime(Displayable):
    """High or low precision with high or low recall."""

    precision: str
    recall: str
    feels: str
    """What the user of the system meets."""
    do: str
    """What helps first."""

    @property
    def name(self) -> str:
        """The regime in words."""
        return f"{self.precision} precision, {self.recall} recall"

    def to_dict(self) -> dict[str, Any]:
        """The regime as plain data."""
        return {**asdict(self), "name": self.name}


REGIMES = (
    Regime(
        "high",
        "high",
        "What is shown is what was needed, and little of it is missing.",
        "watch it: refresh the questions, and gate changes.",
    ),
    Regime(
        "high",
        "low",
        "What is shown is right, but answers come out incomplete: documents that are needed never appear.",
        "find more: keyword search beside dense search, other chunks, another embedding model, a larger k.",
    ),
    Regime(
        "low",
        "high",
        "The answer is there, among others: people skim past noise, and a generator is led astray by it.",
        "show less: rerank, use a smaller k, or cut at a score.",
    ),
    Regime(
        "low",
        "low",
        "People meet mostly noise, do not find what they need, and stop asking.",
        "start where documents are found: embedding model, chunks, filters, keyword search; rerank last.",
    ),
)


MILDER = {
    (
        "high",
        "low",
    ): "What is shown is right; recall is acceptable, not good: some answers come out incomplete.",
    ("low", "high"): "The answer is there; precision is acceptable, not good: people skim past some noise.",
    (
        "low",
        "low",
    ): "Both are acceptable, not good: people meet noise beside what they need, and miss a part of it.",
}
"""What people meet where all that is low (below good) is still acceptable."""


def regime_of(precision: Band, recall: Band, lost: float = 0.0, helps: bool = False) -> Regime | None:
    """The regime of a system; None where precision or recall has nothing to reach.

    `lost` is the share of what is relevant that is never found: much of it is no high recall, whatever the first five
    hold. `helps` says that a change was tried and surely helps.

    >>> from rankproof.advice.bands import band
    >>> regime_of(band("P@5", 0.19, 0.2), band("R@5", 0.3, 1.0)).name
    'high precision, low recall'
    """
    if precision.share is None or recall.share is None:
        return None
    found_all = is_high(recall) and lost < MUCH_LOST
    sides = ("high" if is_high(precision) else "low", "high" if found_all else "low")
    found = next(each for each in REGIMES if (each.precision, each.recall) == sides)
    if sides == ("high", "high") and helps:
        found = replace(found, do="try the changes below: what they gain was measured.")
    if is_high(recall) and not found_all:
        lacking = f"{lost:.0%} of what is relevant is never found".replace("%", " %")
        return replace(found, feels=f"{found.feels.rstrip('.')}; {lacking}.")
    poor = any(_is_poor(each) for each in (precision, recall))
    return found if poor or sides not in MILDER else replace(found, feels=MILDER[sides])


def _is_poor(found: Band) -> bool:
    return found.share is not None and word_of(found.measure, found.share) == WORDS[0]


def is_high(found: Band) -> bool:
    """Whether a band is good or better; nothing to reach is nothing to miss."""
    return found.share is None or found.share >= CUTS[found.measure][GOOD] - 1e-9
