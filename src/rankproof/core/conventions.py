"""The conventions that shape a number, as one value that is checked once and can be printed."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from typing import Any

from rankproof.core.parameters import LARGEST
from rankproof.display import Displayable
from rankproof.errors import UsageError, is_number, is_one_of, one_of

CHOICES: dict[str, dict[str, str]] = {
    "ties": {
        "trec": "equal scores by document id, descending in byte order (trec_eval's rule)",
        "input": "equal scores in the order they were given",
        "id": "equal scores by document id, ascending in byte order",
        "rank": "the rank column decides, scores are ignored",
        "expected": "the mean over every order of equal scores",
        "best": "equal scores in the order that helps the measure most",
        "worst": "equal scores in the order that hurts the measure most",
    },
    "missing": {
        "zero": "a judged query without a ranking counts 0",
        "skip": "a judged query without a ranking is left out of the mean",
    },
    "no_relevant": {
        "zero": "a query without a relevant document counts 0",
        "skip": "a query without a relevant document is left out of every mean",
    },
    "unjudged": {
        "nonrelevant": "a document nobody judged counts as not relevant",
        "skip": "documents nobody judged are taken out of the ranking",
        "relevant": "a document nobody judged counts as relevant, at grade 1 or the grade given",
    },
    "duplicates": {
        "error": "a document twice in one ranking is an error",
        "first": "of a document that comes twice the first is kept",
        "best": "of a document that comes twice the one with the higher score is kept",
    },
    "precision": {
        "float64": "scores are compared in double precision",
        "float32": "scores are compared in single precision, as trec_eval 9 does",
    },
}


class Default(str):
    """A word nobody asked for: a profile may put another in its place, but never in that of the same word given.

    >>> Default("zero") == "zero"
    True
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Conventions(Displayable):
    """Every policy of `evaluate` that can move a number."""

    ties: str = Default("trec")
    missing: str = Default("zero")
    no_relevant: str = Default("zero")
    unjudged: str = Default("nonrelevant")
    unjudged_grade: float = 1.0
    duplicates: str = Default("error")
    precision: str = Default("float64")
    corpus: int | None = None
    context_k: int | None = None
    rounded: int | None = None
    """Decimals to which each query's value is rounded before the mean; None: not at all."""
    profile: str | None = None

    def __post_init__(self) -> None:
        for name, known in CHOICES.items():
            if not is_one_of(getattr(self, name), known):
                raise one_of(name, getattr(self, name), known)
        for name in ("corpus", "context_k"):
            _check_positive(name, getattr(self, name))
        grade = self.unjudged_grade
        if not is_number(grade) or not math.isfinite(grade) or abs(grade) > LARGEST:
            raise UsageError(
                f"unjudged_grade: got {self.unjudged_grade!r}, expected a finite number of at most 10^15. "
                "Next: give the grade they shall count as."
            )

    def to_dict(self) -> dict[str, Any]:
        """The conventions as plain data."""
        return asdict(self)

    def in_words(self) -> list[str]:
        """One sentence for each convention, as a report prints them."""
        said = [
            f"{name}={getattr(self, name)}: {known[getattr(self, name)]}" for name, known in CHOICES.items()
        ]
        if self.rounded is not None:
            said.append(f"rounded={self.rounded}: each query's value is rounded before the mean")
        return said

    def asked(self) -> dict[str, Any]:
        """Only what was asked for: words that were given, and what else differs from the defaults."""
        given = {name: getattr(self, name) for name in CHOICES}
        return self.changed() | {name: word for name, word in given.items() if not isinstance(word, Default)}

    def changed(self) -> dict[str, Any]:
        """Only what differs from the defaults."""
        return {
            each.name: getattr(self, each.name)
            for each in fields(self)
            if getattr(self, each.name) != each.default
        }


def _check_positive(name: str, value: int | None) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UsageError(
            f"{name}: got {value!r}, expected a whole number of at least 1. Next: give one, or leave it out."
        )
