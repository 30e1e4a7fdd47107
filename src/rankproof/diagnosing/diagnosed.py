"""Everything that a diagnosis found, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rankproof.core.audit.finding import Finding
from rankproof.diagnosing.fixes import Fix
from rankproof.diagnosing.holes import Hole
from rankproof.diagnosing.modes import Failure, Regime
from rankproof.diagnosing.patterns import Cause, Pattern
from rankproof.document.display import Displayable
from rankproof.scoring.words import Band

MOST = 3
"""Changes that are recommended: as many as one can try before measuring again."""


@dataclass(frozen=True, slots=True)
class Served(Displayable):
    """One query, how it was served, and why no better."""

    query: str
    text: str
    """The question in words; "" where it is not known."""
    value: float
    ceiling: float
    causes: tuple[Cause, ...]

    @property
    def why(self) -> tuple[str, ...]:
        """The kinds of causes."""
        return tuple(each.kind for each in self.causes)

    def to_dict(self) -> dict[str, Any]:
        """The query as plain data."""
        return {
            "query": self.query,
            "text": self.text,
            "value": self.value,
            "ceiling": self.ceiling,
            "causes": [each.to_dict() for each in self.causes],
        }


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosed(Displayable):
    """What is wrong with a ranking, and what to do first."""

    measure: str
    """The measure that decides."""
    mean: float
    low: float | None
    high: float | None
    """The ends of the 95 % interval of the mean."""
    ceiling: float
    never_found: float | None
    """How much of the measure is lost because documents were never found; None where that has no sense."""
    ranked_too_low: float | None
    k: int
    """How many documents are seen by whoever asked."""
    judged: int
    """Queries with judgments."""
    unanswerable: int
    """Those without a relevant document."""
    bands: tuple[Band, ...]
    regime: Regime | None
    failures: tuple[Failure, ...]
    served: Mapping[str, Served]
    """Every query with its causes."""
    worst: tuple[Served, ...]
    patterns: tuple[Pattern, ...]
    fixes: tuple[Fix, ...]
    """All changes that were tried: what surely helps first, by its gain."""
    fix_order: tuple[str, ...]
    """Where one begins with a weak retriever; empty where it is not weak."""
    findings: tuple[Finding, ...]
    """What the audit says that can mislead: the accuracy trap, missing queries, unjudged documents."""
    hole: Hole | None
    """The documents that no question returns, and what they share."""
    notes: tuple[str, ...]
    """What could not be looked at, and what it takes."""

    @property
    def first(self) -> tuple[Fix, ...]:
        """The changes most worth trying: those that surely help, the cause first, then by what was gained."""
        return tuple(each for each in self.fixes if each.claimed and not each.most)[:MOST]

    @property
    def most(self) -> tuple[Fix, ...]:
        """What a perfect change could bring at the most: a bound, and no gain."""
        return tuple(each for each in self.fixes if each.claimed and each.most)

    def why(self, query: str) -> tuple[Cause, ...]:
        """Why a query was not served better."""
        return self.served[query].causes

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data that JSON can hold."""
        plain = ("measure", "mean", "low", "high", "ceiling", "never_found", "ranked_too_low", "k")
        listed = ("bands", "failures", "worst", "patterns", "fixes", "findings")
        return {
            **{name: getattr(self, name) for name in plain},
            "queries": self.judged,
            "without_relevant": self.unanswerable,
            "regime": None if self.regime is None else self.regime.to_dict(),
            **{name: [each.to_dict() for each in getattr(self, name)] for name in listed},
            "first": [each.kind for each in self.first],
            "fix_order": list(self.fix_order),
            "hole": None if self.hole is None else self.hole.to_dict(),
            "notes": list(self.notes),
            "served": {query: list(each.why) for query, each in self.served.items()},
        }
