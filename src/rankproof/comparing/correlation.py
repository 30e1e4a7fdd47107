"""Systems under two sets of scores or judgments: `rank_correlation`, how similarly do both order them; and `kinship`,
does one gain more under a machine's judgments than under people's, beyond the other systems?
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np

from rankproof.comparing.alignment import counted_by_all
from rankproof.comparing.conclusions import ALLOWED, answer_first, too_few_answers
from rankproof.core.audit import Finding, kin_of, kinship_of
from rankproof.core.conventions import FEWEST_TO_DECIDE, ScoringArguments
from rankproof.core.defaults import DEFAULT_MEASURE
from rankproof.core.judgments import Judgments
from rankproof.core.measure import Measure
from rankproof.document.formats import plain_data
from rankproof.document.model import Displayable, Document, Result
from rankproof.document.numbers import count, score
from rankproof.errors import DataError, UsageError, old_arguments, shorten
from rankproof.io.load import Columns, read_ordering, systems_by_name, with_columns
from rankproof.io.trec import MACHINE
from rankproof.scoring.evaluate import check_conventions, evaluate, prepare
from rankproof.scoring.protocol import ScoresLike
from rankproof.stats.agreement import Alike, kendall_tau_b, order, rbo_of, tau_ap_of
from rankproof.stats.differences import difference_interval
from rankproof.stats.paired import check_alpha

PLUS = "+"
"""Between the judges that made judgments together."""


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
    """The interval of the excess, by queries; all intervals hold together at the given level."""
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

    @property
    def favoured(self) -> list[str]:
        """The systems that gain more under the machine than the others do, on any measure."""
        return list(dict.fromkeys(each.system for each in self.rows if each.verdict == "favoured"))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {**plain_data(self), "favoured": self.favoured}

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
    """Test whether a machine's judgments favour a system, compared with people's judgments of the same documents.

    `human` and `machine` are judgments of the same queries; only pairs that both judged count, on both sides.
    `systems` are rankings by name. For each the excess is what the machine gives it more than people do, less what
    it gives the others more on average: a machine that is lenient to all favours nobody. `judge` names the machine
    (else the mark in its file), `models` the models behind each system (else its name is used), so that systems of
    the judge's model or family are named. Intervals are over queries, and hold for all rows together.

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
    columns = {name: [each.column(key) for each in pair] for name, pair in scores.items()}
    counted = counted_by_all(each for pair in columns.values() for each in pair)
    some = slice(None) if counted is None else counted
    values = {name: [each.values[some] for each in pair] for name, pair in columns.items()}
    sign = next(iter(columns.values()))[0].measure.spec.sign
    gains = {name: machine - people for name, (people, machine) in values.items()}
    total = np.sum(list(gains.values()), axis=0)
    for name, (people, machine) in values.items():
        excess = gains[name] - (total - gains[name]) / (len(gains) - 1)
        most = 2 * max(1.0, *(float(np.abs(each).max(initial=0)) for pair in values.values() for each in pair))
        n = len(excess)
        span = difference_interval(excess, level=1 - alpha, ends=(-most, most)) if n > 1 else None
        low, high = (float(span.low), float(span.high)) if span else (-most, most)
        way = 0 if n < FEWEST_TO_DECIDE else sign * ((low > 0) - (high < 0))
        kin = {kinship_of(each, own) for own in makers[name] if judge for each in judge.split(PLUS)} - {""}
        yield KinshipRow(
            *(name, key, n, float(people.mean()), float(machine.mean()), float(gains[name].mean())),
            *(float(excess.mean()), low, high),
            kin="one model" if "one model" in kin else next(iter(kin), ""),
            verdict=("unclear", "favoured", "disfavoured")[way],
        )


Systems = Mapping[str, ScoresLike] | Mapping[str, float] | str | os.PathLike[str]
"""Scores of systems: as `evaluate` gives them, as numbers, or the path of a file with numbers."""


@dataclass(frozen=True, slots=True)
class RankCorrelation(Result):
    """How similar two orders of the same systems are."""

    names: tuple[str, str]
    """The names of the two sets of scores."""
    scores: dict[str, tuple[float, float]]
    """For each system its score in both, in the order of the second set."""
    tau_b: Alike
    tau_ap: Alike
    """The second set is the truth: mistakes at its top weigh more."""
    rbo: Alike
    p: float
    """The persistence of RBO."""
    higher: tuple[bool, bool]
    """Whether more is better, in each."""
    left_out: tuple[str, ...] = ()
    """Systems that only one of the two sets has."""
    missing: tuple[str, ...] = ()
    """Which systems left too many queries unanswered for their place to say much, and what to do."""
    wrong: tuple[str, ...] = ()
    """What makes numbers wrong: queries that went unanswered, and the errors of the audit of each system."""

    def to_dict(self) -> dict[str, Any]:
        """The correlation as plain data."""
        return {
            "names": list(self.names),
            "systems": len(self.scores),
            "tau_b": self.tau_b.value,
            "tau_ap": self.tau_ap.value,
            "rbo": self.rbo.value,
            "rbo_p": self.p,
            "notes": [each.note for each in dict.fromkeys((self.tau_b, self.tau_ap)) if each.note],
            **{name: plain_data(getattr(self, name)) for name in ("left_out", "higher", "scores", "missing", "wrong")},
        }

    def _document(self) -> Document:
        from rankproof.comparing.orders_words import correlation as words

        return words(self.to_dict())

    def _in_one_line(self) -> str:
        over = count(len(self.scores), "system")
        return f"<RankCorrelation of {over}: tau_b={score(self.tau_b.value)}, rbo={score(self.rbo.value)}>"


@with_columns
def rank_correlation(
    first: Systems,
    second: Systems | None = None,
    measure: str | Measure | None = None,
    versus: str | Measure | None = None,
    *,
    names: tuple[str, str] | None = None,
    higher: bool = True,
    p: float = 0.9,
    allow_missing: float = ALLOWED,
    columns: Columns = None,
) -> RankCorrelation:
    """How similarly two sets of scores order the same systems; the second is the truth if one is needed.

    Each set is `{system: scores}`, `{system: number}` or the path of a file of numbers. Without `second`, the
    same scores are ordered by `measure` and by `versus`. `higher` says whether more is better if no measure
    says so; `p` is how far down RBO looks. Systems that left more than `allow_missing` of the judged
    queries unanswered, and errors of the audit, are named above the numbers.

    >>> found = rank_correlation({"a": 0.3, "b": 0.2, "c": 0.1}, {"a": 0.5, "b": 0.1, "c": 0.2})
    >>> round(found.tau_b.value, 4), found.tau_ap.value
    (0.3333, 0.5)
    """
    if second is None and (versus is None or isinstance(first, str | os.PathLike)):
        raise UsageError(
            "rank_correlation: got one set of scores. Next: give a second one, or scores of evaluate with two "
            "measures (measure=, versus=)."
        )
    one = _ordering(first, measure, higher)
    other = _ordering(first if second is None else second, versus if versus is not None else measure, higher)
    both = {name: (one[0][name], other[0][name]) for name in order(other[0], other[1]) if name in one[0]}
    mine, theirs = (  # so that more is better
        {name: pair[i] if up else -pair[i] for name, pair in both.items()} for i, up in ((0, one[1]), (1, other[1]))
    )
    sides = [each for each in (first, second) if isinstance(each, Mapping)]
    scored = [{n: s for n, s in each.items() if n in both and isinstance(s, ScoresLike)} for each in sides]
    few = [answer_first(said) for each in scored for said in too_few_answers(each, allow_missing).values()]
    errors = [f"{name}: {said}" for each in scored for name, own in each.items() for said in own.wrong]
    missing = tuple(dict.fromkeys(few))
    sets = {"first": one[2], "second": other[2]}
    labels = [f"{name} {which}".strip() if one[2] == other[2] else name or which for which, name in sets.items()]
    return RankCorrelation(
        names=names or (labels[0], labels[1]),
        scores=both,
        tau_b=kendall_tau_b(mine, theirs),
        tau_ap=tau_ap_of(mine, theirs),
        rbo=rbo_of(mine, theirs, p),
        p=p,
        higher=(one[1], other[1]),
        left_out=tuple(sorted(set(one[0]) ^ set(other[0]))),
        missing=missing,
        wrong=(*missing, *dict.fromkeys(errors)),
    )


def _ordering(systems: Systems, measure: str | Measure | None, higher: bool) -> tuple[dict[str, float], bool, str]:
    """The score of each system, whether more is better, and what the set is called."""
    if isinstance(systems, str | os.PathLike):
        asked = None if measure is None else str(measure)
        named = f"{os.fspath(systems)} {asked or ''}".strip()
        return read_ordering(systems, asked), higher, named
    if not isinstance(systems, Mapping) or not systems:
        raise UsageError(
            f"scores of systems: got {shorten(systems)}, expected {{system: scores}} or a path."
            " Next: give one of these."
        )
    first = next(iter(systems.values()))
    if not isinstance(first, ScoresLike):
        return {name: _number(name, value) for name, value in systems.items()}, higher, ""
    together = [set(each.queries) for each in systems.values() if isinstance(each, ScoresLike)]
    if len(together) > 1 and not set.intersection(*together):
        raise DataError(
            "no query that all of these systems were scored on, so their order says nothing. "
            "Next: score them on the same queries."
        )
    name = str(measure) if measure is not None else next(iter(first))
    column = first.column(name)
    means = {each: _mean(each, own, name) for each, own in systems.items()}
    return means, column.measure.spec.higher, column.measure.name


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not np.isfinite(value):
        raise DataError(
            f"{shorten(name)}: got {shorten(value)} as the score, expected a finite number."
            " Next: give each system one number."
        )
    return float(value)


def _mean(name: str, scores: Any, measure: str) -> float:
    if not isinstance(scores, ScoresLike):
        raise UsageError(
            f"{shorten(name)}: got {shorten(scores)}, expected scores of evaluate as the others."
            " Next: give all systems as results of evaluate."
        )
    if measure not in scores:
        raise UsageError(
            f"{shorten(name)} has no {measure}, only {', '.join(scores)}. Next: name a measure that all have."
        )
    return scores[measure]
