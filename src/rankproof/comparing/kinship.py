"""`kinship`: does a system gain more under a machine's judgments than under people's, beyond the other systems?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Unpack

import numpy as np

from rankproof.core.audit.finding import Finding, kin_of, kinship_of
from rankproof.core.defaults import DEFAULT_MEASURE
from rankproof.core.hits import Array
from rankproof.core.judgments import Judgments
from rankproof.core.rules import ScoringArguments
from rankproof.document.display import Displayable
from rankproof.document.model import Document, Result
from rankproof.document.numbers import count
from rankproof.errors import DataError, UsageError, old_arguments
from rankproof.io.load import systems_by_name
from rankproof.io.trec.qrels import MACHINE
from rankproof.scoring.evaluate import check_conventions, evaluate, prepare
from rankproof.stats.differences import difference_interval
from rankproof.stats.paired import check_alpha

PLUS = "+"
"""Between the judges that made judgments together."""
SMALL = 10
"""Queries below which nothing is decided."""


@dataclass(frozen=True, slots=True)
class KinshipRow(Displayable):
    """One system on one measure."""

    system: str
    measure: str
    n: int
    """Queries."""
    people: float
    """The mean by people's judgments."""
    machine: float
    """The mean by the machine's, of the same documents."""
    gain: float
    """What the machine gives it more than people do."""
    excess: float
    """That gain less the average gain of the other systems (difference in differences)."""
    low: float
    high: float
    """The interval of the excess, by queries; all intervals hold together at the level asked for."""
    kin: str
    """"one model" or "one family" where the system's model is the judge's by name; else empty."""
    verdict: str
    """favoured, disfavoured, or unclear."""


@dataclass(frozen=True)
class Kinship(Result):
    """Whether a machine's judgments favour a system, compared with people's."""

    judge: str
    """The name of the machine; empty if it is not known."""
    rows: list[KinshipRow]
    alpha: float
    pairs: int
    """Pairs of query and document that both judged; all numbers come from these."""
    shared: tuple[float, float]
    """The share of the people's pairs, and of the machine's."""
    findings: list[Finding]

    def row(self, system: str, measure: str | None = None) -> KinshipRow:
        """The row of one system."""
        for each in self.rows:
            if each.system == system and measure in (None, each.measure):
                return each
        raise UsageError(
            f"row: got {system!r}, expected one of {', '.join(dict.fromkeys(e.system for e in self.rows))}. "
            "Next: name one of them."
        )

    @property
    def favoured(self) -> list[str]:
        """The systems that gain more under the machine than the others do, on any measure."""
        return list(dict.fromkeys(each.system for each in self.rows if each.verdict == "favoured"))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {**asdict(self), "favoured": self.favoured}

    def _document(self) -> Document:
        from rankproof.comparing.orders_words import kinship as words

        return words(self)

    def _in_one_line(self) -> str:
        whose, favoured = self.judge or "a machine", ", ".join(self.favoured) or "none"
        return f"<Kinship of {whose} with {count(len(self.rows), 'row')}: favoured {favoured}>"


@old_arguments(corpus="corpus_size")
def kinship(
    human: Any,
    machine: Any,
    systems: Mapping[str, Any],
    measures: Any = None,
    *,
    judge: str | None = None,
    models: Mapping[str, str | Iterable[str]] | None = None,
    alpha: float = 0.05,
    **conventions: Unpack[ScoringArguments],
) -> Kinship:
    """Test whether a machine's judgments favour a system beyond what people say of the same documents.

    `human` and `machine` are judgments of the same queries; only pairs that both judged count, on both sides.
    `systems` are rankings by name. For each the excess is what the machine gives it more than people do, less what
    it gives the others more on average: a machine that is lenient to all favours nobody. `judge` names the machine
    (else the mark in its file), `models` the models behind each system (else its name is looked at), so that those
    of the judge's model or family are told. Intervals go by queries, and hold for all rows together.

    Formula: excess = mean over queries of (machine - people of the system) - (machine - people of the others, mean).

    >>> people = {f"q{i}": {"a": 1, "b": 0} for i in range(30)}
    >>> partial = {f"q{i}": {"a": 0, "b": 1} for i in range(30)}
    >>> runs = {"one": {q: ["a", "b"] for q in people}, "own": {q: ["b", "a"] for q in people}}
    >>> kinship(people, partial, runs, "RR").favoured
    ['own']
    """
    check_alpha(alpha)
    check_conventions(conventions, kinship)
    runs = systems_by_name(systems, "kinship")
    mine, theirs = prepare(human), prepare(machine)
    both, pairs, shared = _on_both(mine, theirs)
    asked = DEFAULT_MEASURE if measures is None else measures
    scores = {name: [evaluate(each, run, asked, **conventions) for each in both] for name, run in runs.items()}
    said = judge or theirs.machine.removeprefix(MACHINE)
    makers = {name: _names(name, runs[name], models) for name in runs}
    keys = list(next(iter(scores.values()))[0])
    size = len(keys) * (len(runs) if len(runs) > 2 else 1)
    rows = [row for key in keys for row in _rows(key, scores, alpha / size, said, makers)]
    return Kinship(said, rows, alpha, pairs, shared, list(kin_of(said.split(PLUS) if said else (), makers)))


def _names(name: str, run: Any, models: Mapping[str, str | Iterable[str]] | None) -> list[str]:
    """The names of the models behind a system, as far as they are known."""
    told = (models or {}).get(name)
    if told is not None:
        return [told] if isinstance(told, str) else list(told)
    return [name, str(run)] if isinstance(run, str) else [name]


def _on_both(one: Judgments, other: Judgments) -> tuple[list[Judgments], int, tuple[float, float]]:
    """The judgments of the pairs that both judged, and how many these are."""
    mine, theirs = one.as_dict(), other.as_dict()
    kept = {
        query: docs
        for query in mine
        if query in theirs and (docs := [doc for doc in mine[query] if doc in theirs[query]])
    }
    pairs = sum(map(len, kept.values()))
    if not pairs:
        raise DataError(
            f"{one.source} and {other.source}: no pair of query and document that both judged, so they cannot be "
            "compared. Next: check that both are of one collection."
        )
    cut = [prepare({q: {doc: side[q][doc] for doc in docs} for q, docs in kept.items()}) for side in (mine, theirs)]
    return cut, pairs, (pairs / len(one.docs), pairs / len(other.docs))


def _rows(
    key: str, scores: Mapping[str, Any], alpha: float, judge: str, makers: Mapping[str, list[str]]
) -> Iterable[KinshipRow]:
    counts = np.all([_counted(each, key) for pair in scores.values() for each in pair], axis=0)
    values = {name: [each.column(key).values[counts] for each in pair] for name, pair in scores.items()}
    sign = next(iter(scores.values()))[0].column(key).measure.spec.sign
    gains = {name: machine - people for name, (people, machine) in values.items()}
    total = np.sum(list(gains.values()), axis=0)
    for name, (people, machine) in values.items():
        excess = gains[name] - (total - gains[name]) / (len(gains) - 1)
        most = 2 * max(1.0, *(float(np.abs(each).max(initial=0)) for pair in values.values() for each in pair))
        n = len(excess)
        span = difference_interval(excess, level=1 - alpha, ends=(-most, most)) if n > 1 else None
        low, high = (float(span.low), float(span.high)) if span else (-most, most)
        way = 0 if n < SMALL else sign * ((low > 0) - (high < 0))
        yield KinshipRow(
            *(name, key, n, float(people.mean()), float(machine.mean()), float(gains[name].mean())),
            *(float(excess.mean()), low, high),
            kin=_kin(judge, makers[name]),
            verdict=("unclear", "favoured", "disfavoured")[way],
        )


def _counted(scores: Any, key: str) -> Array:
    column = scores.column(key)
    return np.ones(len(column.values), dtype=bool) if column.counted is None else column.counted


def _kin(judge: str, names: Iterable[str]) -> str:
    found = [kind for name in names if judge for each in judge.split(PLUS) if (kind := kinship_of(each, name))]
    return min(found, key=lambda each: each != "one model", default="")
