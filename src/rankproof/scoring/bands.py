"""Quality bands: what is poor, acceptable, good or excellent, judged by what was possible at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rankproof.document.display import Displayable

WORDS = ("poor", "acceptable", "good", "excellent")

CUTS: Mapping[str, tuple[float, float, float]] = {
    "P@5": (0.30, 0.50, 0.70),
    "R@5": (0.40, 0.60, 0.80),
    "Success@5": (0.60, 0.80, 0.90),
    "RR@10": (0.40, 0.60, 0.80),
    "nDCG@5": (0.40, 0.60, 0.80),
}
"""For each measure where acceptable, good and excellent begin."""

NEVER = 0.05
"""Below this RR@10 the first relevant document is, as a rule, beyond the second page."""

PLACES = {
    1: "first",
    2: "second",
    3: "third",
    4: "fourth",
    5: "fifth",
    6: "sixth",
    7: "seventh",
    8: "eighth",
    9: "ninth",
    10: "tenth",
}


@dataclass(frozen=True, slots=True)
class Band(Displayable):
    """One measure's mean, what it could have been, and what that is called."""

    measure: str
    value: float
    ceiling: float
    low: float | None
    high: float | None
    """The ends of the 95 % interval of the mean."""
    word: str
    """poor, acceptable, good or excellent; "" where nothing could be reached at all."""
    said: str = ""
    """The number in words, where it has any."""

    @property
    def share(self) -> float | None:
        """The value as a share of its ceiling, which is what is banded."""
        return min(self.value / self.ceiling, 1.0) if self.ceiling > 0 else None

    def to_dict(self) -> dict[str, Any]:
        """The band as plain data."""
        return {**asdict(self), "share": self.share, "called": self.measure}


def band(
    measure: str, value: float, ceiling: float, low: float | None = None, high: float | None = None
) -> Band:
    """The band of a mean, from its share of the ceiling.

    >>> found = band("P@5", 0.15, 0.20)
    >>> found.word, round(found.share, 4)
    ('excellent', 0.75)
    """
    if ceiling <= 0:
        return Band(measure, value, ceiling, low, high, "")
    said = in_words(value / ceiling) if measure == "RR@10" else ""
    return Band(measure, value, ceiling, low, high, word_of(measure, value / ceiling), said)


def word_of(measure: str, share: float) -> str:
    """What a share of the ceiling is called; the edge of a band belongs to the better one.

    >>> [word_of("RR@10", share) for share in (0.39, 0.4, 0.6, 0.8)]
    ['poor', 'acceptable', 'good', 'excellent']
    """
    return WORDS[sum(share >= cut - 1e-9 for cut in CUTS[measure])]


def in_words(rr: float) -> str:
    """Where the first relevant document stands, from the mean reciprocal rank.

    >>> [in_words(value) for value in (1.0, 0.5, 0.33, 0.1, 0.0)]
    ['always first', 'about second', 'about third', 'about tenth', 'hardly ever found']
    """
    if rr >= 1 - 1e-9:
        return "always first"
    if rr < NEVER:
        return "hardly ever found"
    place = round(1 / rr)
    return "mostly first" if place == 1 else f"about {PLACES.get(place, f'{place}th')}"
