"""What a report shows, as plain values: collected elsewhere, so that writing it needs to know nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankproof.advice.diagnosed import Diagnosed
from rankproof.core.explained import Case
from rankproof.display import Displayable
from rankproof.reporting.html.charts import Bar

BUCKETS = ((1, 1), (2, 3), (4, 5), (6, 10), (11, 20), (21, 50), (51, 100), (101, None))
"""The ranks, from and to, that one column of the heat map stands for."""
RECALLS = tuple(i / 10 for i in range(11))
DEPTHS = tuple(range(1, 21))
"""The depths k at which success is drawn."""


@dataclass(frozen=True, slots=True)
class System(Displayable):
    """One system over all queries."""

    name: str
    bars: tuple[Bar, ...]
    """One a measure, the deciding one first."""
    precision: tuple[float, ...]
    """Interpolated precision at `RECALLS`."""
    success: tuple[float, ...]
    """The share of queries with something relevant in the top `DEPTHS`."""
    slices: Mapping[str, tuple[int, float]] = field(default_factory=dict)
    """For each group the number of queries and the mean of the deciding measure."""


@dataclass(frozen=True, slots=True)
class Definition(Displayable):
    """How a measure is defined."""

    name: str
    title: str
    formula: str
    higher: bool = True
    """Whether more is better."""


@dataclass(frozen=True, slots=True)
class Moved(Displayable):
    """The differences of one system to the baseline on the deciding measure, the greatest gain first."""

    system: str
    values: tuple[tuple[str, float], ...]
    """Query and difference, turned so that more is better."""


@dataclass(frozen=True, slots=True)
class Ranks(Displayable):
    """Where the relevant documents of one query stand: how many in each of `BUCKETS`, then those not found."""

    query: str
    counts: tuple[tuple[int, ...], ...]
    """One row a system shown."""


@dataclass(frozen=True, slots=True)
class Content(Displayable):
    """Everything a report says."""

    title: str
    queries: int
    documents: int
    """Judged documents."""
    systems: tuple[System, ...]
    definitions: tuple[Definition, ...]
    leader: str
    """The system with the best mean of the deciding measure."""
    shown: tuple[str, ...]
    """The systems of which single queries are shown: the baseline and another."""
    conventions: tuple[str, ...]
    method: str
    """How the intervals of means were made."""
    level: float = 0.95
    relevant: str = "grade 1 or more"
    """What counts as relevant where documents are counted."""
    comparison: Mapping[str, Any] | None = None
    """Rows against the baseline and what was decided; None for one system alone."""
    permutations: int = 0
    """How many sign flips were drawn at most for each p."""
    moved: tuple[Moved, ...] = ()
    duels: tuple[tuple[tuple[int, int], ...], ...] = ()
    """For each system against each other: on how many queries it wins, and loses."""
    buckets: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """For each system how many relevant documents stand in each of `BUCKETS`, then those not found."""
    ranks: tuple[Ranks, ...] = ()
    cases: tuple[Case, ...] = ()
    findings: tuple[tuple[Any, Sequence[str]], ...] = ()
    """What the audit says, and of which systems."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """The texts of queries by id."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """The titles of documents by id."""
    diagnosed: Diagnosed | None = None
    """What is wrong with one of the systems, where that was asked for."""
    profile: str | None = None
    version: str = ""

    @property
    def measure(self) -> str:
        """The deciding measure."""
        return self.definitions[0].name

    @property
    def splits(self) -> list[int]:
        """The measures of which it is known for all systems what was never found, and what was ranked too low."""
        bars = [[system.bars[i] for system in self.systems] for i in range(len(self.definitions))]
        return [
            i
            for i, some in enumerate(bars)
            if self.definitions[i].higher
            and all(None not in (bar.never_found, bar.ranked_too_low) for bar in some)
        ]

    def system(self, name: str) -> System:
        """The system of that name."""
        return next(each for each in self.systems if each.name == name)

    def role(self, name: str) -> str:
        """How a system is drawn: `best`, `base` or `other`."""
        if name == self.leader:
            return "best"
        return "base" if self.comparison and name == self.comparison["baseline"] else "other"
