"""Two systems whose queries are spread over workers: a comparison of their values by query."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rankproof.comparing.alignment import different_conventions
from rankproof.comparing.conclusions import BROKEN, answer_first, not_equivalent
from rankproof.core.arrays import ExactSum, by_key
from rankproof.core.conventions import FEWEST_TO_DECIDE
from rankproof.core.measure import Measure
from rankproof.core.mergeable_summaries import SpreadSummary
from rankproof.core.names import parse, parse_each
from rankproof.document.model import Document, Result
from rankproof.document.numbers import count
from rankproof.errors import DataError, UsageError
from rankproof.scoring.evaluate import Measures, check_averages
from rankproof.scoring.spread import Kernel, summary_of
from rankproof.stats.differences import UNSEEN, SummedDifference, summed_difference

OWN = ("query_id", "slice", "cluster", "counted", "answered")
"""Columns of values that are not measures."""


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
        return summed_difference(self.summary.columns[self._name(measure)])

    def _name(self, measure: str | Measure) -> str:
        name = measure.name if isinstance(measure, Measure) else str(measure)
        return name if name in self.measures else parse(name).name

    def __iter__(self) -> Any:
        return iter(self.measures)

    @property
    def queries(self) -> int:
        """How many queries both have a value for."""
        return self.summary.queries

    def verdict(self, measure: str | Measure) -> str:
        """What follows: of a margin, if there is one, as at 1e8 queries nothing is exactly 0."""
        found = self[measure]
        if self.doubts or found.n < FEWEST_TO_DECIDE:
            return "undecided"
        sign = self.measures[self._name(measure)].spec.sign
        low, high = sorted((sign * found.low, sign * found.high))
        margin = self.margin or 0.0
        if self.margin is not None and found.equivalent(margin):
            return "equivalent"
        if low > margin:
            return f"{self.names[1]} is better"
        return f"{self.names[0]} is better" if high < -margin else "undecided"

    @property
    def unanswered(self) -> list[str]:
        """The systems that left too many queries unanswered for a verdict, and what to do."""
        return [answer_first(why) for why in self.doubts.values() if not why.startswith(BROKEN)]

    @property
    def wrong(self) -> list[str]:
        """Why numbers are not to be believed: queries that went unanswered, and the errors of the audit."""
        about = by_key((each, name) for name, errors in self.errors.items() for each in errors)
        return [*self.unanswered, *(f"{', '.join(names)}: {each}" for each, names in about.items())]

    @property
    def notes(self) -> list[str]:
        """What else is to be known: what was not alike, why nothing is decided, or not called equivalent."""
        doubts = "; ".join(dict.fromkeys(self.doubts.values()))
        if doubts:
            return [*self.differ, f"Nothing is decided: {doubts}."]
        if self.margin is None:
            return list(self.differ)
        seen = {name: self[name] for name in self.measures}
        unseen = [
            name
            for name, found in seen.items()
            if found.n >= FEWEST_TO_DECIDE and max(-found.low, found.high) < self.margin <= found.farthest
        ]
        return [*self.differ, *([not_equivalent(", ".join(unseen), self.margin, UNSEEN)] if unseen else [])]

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
                    **{key: getattr(found, key) for key in ("difference", "low", "high", "p")},
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


def shared_measures(tables: list[Any], measures: Measures | None) -> list[Measure]:
    """The measures that both tables of values have."""
    names = [[name for name in table.columns if name not in OWN] for table in tables]
    common = [name for name in names[0] if name in names[1]]
    asked = [parse(each) for each in common] if measures is None else parse_each(measures)
    lost = [each.name for each in asked if each.name not in common]
    if lost or not asked:
        what = f"{', '.join(lost)} not" if lost else "no measure"
        raise UsageError(
            f"values: {what} in both tables; they have {', '.join(names[0])} and {', '.join(names[1])}. "
            "Next: evaluate both by the same measures."
        )
    check_averages(asked)
    return asked


def not_alike(given: Mapping[str, Any], sizes: list[int], common: int, known: Mapping[str, str]) -> Iterator[str]:
    """How the two sides differ beside their values."""
    for name, size in zip(given, sizes, strict=True):
        if size > common:
            yield f"{size - common:,} of the {size:,} queries of {name} are not among the other's, and are left out."
    one, other = (getattr(each, "conventions", None) for each in given.values())
    if one is not None and other is not None:
        yield from (f"They were not made alike: {each}." for each in different_conventions(one, other))
    for name in given:
        if name not in known:
            yield f"The values of {name} do not say which queries went unanswered (no column 'answered')."


def paired_summaries(kernel: Kernel, batches: Iterable[Any]) -> Iterator[Any]:
    """From the values of two systems by query, as Arrow batches, the summary of each, and that of their differences."""
    import pyarrow
    import pyarrow.compute as pc

    some = [batch for batch in batches if batch.num_rows]
    if not some:
        return
    table = pyarrow.Table.from_batches(some)
    if len(table.column("query_id").unique()) < len(table):
        raise DataError("values: a query comes twice in one table. Next: save the values of one evaluation alone.")
    sums = {"queries": len(table)}
    for letter in "ab":
        answered = table.column(f"answered_{letter}")
        sums[f"unknown {letter}"] = answered.null_count
        sums[f"missing {letter}"] = len(table) - answered.null_count - (pc.sum(answered).as_py() or 0)
    table = table.filter(pc.and_(table.column("counted_a"), table.column("counted_b")))
    queries, slices = (table.column(name).to_pylist() for name in ("query_id", "slice"))
    values = {
        letter: {each.name: table.column(f"{letter}{at}").to_numpy() for at, each in enumerate(kernel.measures)}
        for letter in "ab"
    }
    values["d"] = {name: values["b"][name] - values["a"][name] for name in values["a"]}
    alone = [None] * len(queries)
    groups = {"slice": slices, "cluster": alone}
    counted = np.ones(len(queries), dtype=np.bool_)
    told = [
        summary_of(queries, each, counted, groups if letter == "d" else {**groups, "slice": alone}, kernel)
        for letter, each in values.items()
    ]
    told[2] = replace(told[2], sums={name: ExactSum.of(np.array([float(n)])) for name, n in sums.items()})
    text = json.dumps([each.to_dict() for each in told])
    yield pyarrow.RecordBatch.from_pydict({"summary": pyarrow.array([text], pyarrow.string())})
