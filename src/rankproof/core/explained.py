"""One number explained, as plain values: the ranked list it comes from, and its derivation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from rankproof.core.claims import Claim
from rankproof.core.conventions import Conventions
from rankproof.core.derivation.steps import Step
from rankproof.display import Displayable


@dataclass(frozen=True, slots=True)
class Line(Displayable):
    """One document of the ranking."""

    rank: int | None
    """None: it was taken out of the ranking."""
    document: str
    score: float | None = None
    tied: bool = False
    """Whether others have the same score."""
    grade: float | None = None
    """None: nobody judged it."""
    adds: float | None = None
    """What it adds to the number."""


@dataclass(frozen=True, slots=True)
class Explained(Displayable):
    """How one number of one query comes about under one set of conventions."""

    query: str
    measure: str
    title: str
    formula: str
    params: Mapping[str, Any]
    value: float
    lines: tuple[Line, ...]
    missed: tuple[tuple[str, float], ...]
    """Documents with a grade above 0 that the ranking does not hold, the best first."""
    steps: tuple[Step, ...]
    names: Mapping[int, str]
    """The ids of the documents that the steps speak of."""
    conventions: Conventions
    notes: tuple[str, ...] = field(default=())
    ideal: tuple[Line, ...] = ()
    """The documents with a grade above 0 in the best order there is."""
    claim: Claim | None = None
    """Whether the number is that of the tool whose profile was followed; None: none was."""

    @property
    def said(self) -> tuple[str, ...]:
        """What must be said beside the number: the notes, and whether it is the tool's."""
        return (*self.notes, self.claim.note) if self.claim is not None and self.claim.note else self.notes

    @property
    def where(self) -> str:
        """Whose number it is: "here", a tool's, or, where it is not the tool's, that of its profile."""
        profile = self.conventions.profile
        if profile is None:
            return "here"
        return profile if self.claim is not None and self.claim.equal else f"the profile {profile}"

    @property
    def credit(self) -> str:
        """Whose number it is behind a heading: "", " as in TOOL", or " under the profile TOOL"."""
        if self.conventions.profile is None:
            return ""
        return f" under {self.where}" if self.where != self.conventions.profile else f" as in {self.where}"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data; documents by their ids."""
        steps = [asdict(step) for step in self.steps]
        for term in (term for step in steps for term in step["terms"]):
            term["doc"] = self.names.get(term["doc"])
        return {
            "query": self.query,
            "measure": self.measure,
            "value": self.value,
            "formula": self.formula,
            "lines": [asdict(line) for line in self.lines],
            "missed": dict(self.missed),
            "steps": steps,
            "conventions": self.conventions.to_dict(),
            "notes": list(self.said),
            "claim": None if self.claim is None else asdict(self.claim),
        }


@dataclass(frozen=True, slots=True)
class Case(Displayable):
    """One query with its ranked lists."""

    query: str
    why: str
    sides: tuple[tuple[str, Explained], ...]
    """The name of a system, and its list."""
