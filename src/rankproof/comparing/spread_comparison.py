"""Two systems whose queries are spread over workers: what their values by query come to against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rankproof.comparing.alignment import BROKEN, answer_first
from rankproof.core.measure import Measure
from rankproof.core.merge import SpreadSummary
from rankproof.core.names import parse
from rankproof.document.model import Document, Result
from rankproof.document.numbers import count
from rankproof.stats.differences import FEW, UNSEEN, SummedDifference, summed_difference


@dataclass(eq=False, repr=False)
class SpreadComparison(Result):
    """Two systems over the queries that both answer: the difference, its p-value, and whether it matters."""

    summary: SpreadSummary
    """Of the differences, the second minus the first."""
    measures: dict[str, Measure]
    names: tuple[str, str] = ("first", "second")
    margin: float | None = None
    """The largest difference that does not matter."""
    means: tuple[Mapping[str, float], Mapping[str, float]] = ({}, {})
    """Of both systems over these queries."""
    doubts: Mapping[str, str] = field(default_factory=dict)
    """For each system about which nothing is decided, why: it left too many queries unanswered, or the audit finds
    errors in its data and in the other's."""
    errors: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """For each system the errors of its audit."""
    differ: tuple[str, ...] = ()
    """What was not alike: queries that only one of them has, other conventions, what is not known of saved values."""

    def __getitem__(self, measure: str | Measure) -> SummedDifference:
        name = measure.name if isinstance(measure, Measure) else str(measure)
        name = name if name in self.measures else parse(name).name
        return summed_difference(self.summary.columns[name])

    def __iter__(self) -> Any:
        return iter(self.measures)

    @property
    def queries(self) -> int:
        """How many queries both have a value for."""
        return self.summary.queries

    def verdict(self, measure: str | Measure) -> str:
        """What follows: of a margin, if there is one, as at 1e8 queries nothing is exactly 0."""
        found = self[measure]
        if self.doubts:
            return "undecided"
        sign = self.measures[measure.name if isinstance(measure, Measure) else parse(str(measure)).name].spec.sign
        low, high = sorted((sign * found.low, sign * found.high))
        margin = self.margin or 0.0
        if self.margin is not None and found.equivalent(margin):
            return "equivalent"
        if found.n < FEW:
            return "undecided"
        if low > margin:
            return f"{self.names[1]} is better"
        if high < -margin:
            return f"{self.names[0]} is better"
        return "undecided"

    @property
    def unanswered(self) -> list[str]:
        """Which systems left too many queries unanswered for a verdict, and what to do."""
        return [answer_first(why) for why in self.doubts.values() if not why.startswith(BROKEN)]

    @property
    def wrong(self) -> list[str]:
        """Why numbers are not to be believed: queries that went unanswered, and the errors of the audit."""
        about: dict[str, list[str]] = {}
        for name, errors in self.errors.items():
            for each in errors:
                about.setdefault(each, []).append(name)
        return [*self.unanswered, *(f"{', '.join(names)}: {each}" for each, names in about.items())]

    @property
    def notes(self) -> list[str]:
        """What else is to be known: what was not alike, why nothing is decided, or not called equivalent."""
        doubts = "; ".join(dict.fromkeys(self.doubts.values()))
        return [
            *self.differ,
            *([f"Nothing is decided: {doubts}."] if doubts else []),
            *([] if doubts else self._not_called_equivalent()),
        ]

    def _not_called_equivalent(self) -> list[str]:
        seen = {name: self[name] for name in self.measures if self.margin is not None}
        unseen = [
            name
            for name, found in seen.items()
            if found.n >= FEW and max(-found.low, found.high) < (self.margin or 0.0) <= found.farthest
        ]
        if not unseen:
            return []
        return [
            f"Not called equivalent, although the interval lies within {self.margin:g}: {', '.join(unseen)}. To be "
            f"called so takes more than an interval: {UNSEEN}."
        ]

    @property
    def slices(self) -> dict[str, dict[str, SummedDifference]]:
        """The differences of each slice with two queries or more."""
        return {
            group: {name: summed_difference(each) for name, each in columns.items()}
            for group, columns in sorted(self.summary.slices.items())
            if next(iter(columns.values())).n > 1
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "names": list(self.names),
            "queries": self.queries,
            "margin": self.margin,
            "measures": [
                {
                    "measure": name,
                    "first": self.means[0].get(name),
                    "second": self.means[1].get(name),
                    "difference": found.difference,
                    "low": found.low,
                    "high": found.high,
                    "p": found.p,
                    "effect": found.effect.value,
                    "verdict": self.verdict(name),
                }
                for name in self.measures
                for found in (self[name],)
            ],
            "notes": self.notes,
            "doubts": dict(self.doubts),
            "wrong": self.wrong,
        }

    def _in_one_line(self) -> str:
        told = ", ".join(f"{name}={self[name].difference:+.4f}" for name in self.measures)
        return f"<SpreadComparison over {count(self.queries, 'query')}: {told}>"

    def _document(self) -> Document:
        from rankproof.comparing.orders_words import spread_comparison as words

        return words(self)
