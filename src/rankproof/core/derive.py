"""Derivations on paper: steps and terms, the general derivation, and the measures with a special one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankproof._moved import old_names
from rankproof.core.hits import Hits
from rankproof.core.measure import Measure, seen_by
from rankproof.document.model import Displayable


@dataclass(frozen=True, slots=True)
class Term(Displayable):
    """One line of a step: a calculation, mostly about one document."""

    expression: str
    value: float | None = None
    rank: int | None = None
    doc: int | None = None
    """Which judgment the document is; -1 for one that nobody judged."""


@dataclass(frozen=True, slots=True)
class Step(Displayable):
    """One thing that is worked out."""

    kind: str
    """What it is: steps of one kind are compared when two derivations are."""
    says: str
    terms: tuple[Term, ...] = ()
    expression: str = ""
    """How the step's value follows, if it is not the sum of the terms."""
    value: float | None = None

    @property
    def number(self) -> float:
        """The value; 0 if there is none."""
        return self.value or 0.0


@dataclass(frozen=True, slots=True)
class Written:
    """A derivation: its steps, the last of which gives the number, and what each rank adds to it."""

    steps: tuple[Step, ...]
    parts: dict[int, float] = field(default_factory=dict)
    """For each rank what its document adds to the number."""

    @property
    def value(self) -> float:
        """The number that the last step comes to."""
        return self.steps[-1].number


class Found(NamedTuple):
    """A judged document at its rank."""

    rank: int
    doc: int
    grade: float
    doubtful: bool = False
    """Whether it scores 0 or less."""
    aspect: str = ""
    """Which aspect of the query the grade is for, if a measure goes by aspects."""


class Case(NamedTuple):
    """One query, as a person would have it on paper."""

    found: list[Found]
    """The judged documents in the ranking, by rank."""
    judged: list[Found]
    """All judged documents, by falling grade."""
    returned: int
    top_grade: float
    """The largest grade in the judgments of all queries."""
    hits: Hits
    """The same as the measure sees it."""

    def relevant(self, rel: float = 1, k: int | None = None, scores: str = "any") -> list[Found]:
        """The relevant documents in the top `k`, with `any` score or only a `positive` one."""
        counted = [each for each in top_of(self.found, k) if scores == "any" or not each.doubtful]
        return [each for each in counted if each.grade >= rel]

    def all_relevant(self, rel: float = 1) -> list[Found]:
        """The relevant documents there are."""
        return [each for each in self.judged if each.grade >= rel]

    def least_grade(self, rel: float, threshold: str) -> tuple[float, tuple[Step, ...]]:
        """The grade from which on a document is relevant, and the step that finds it, if there is one."""
        if threshold == "rel":
            return rel, ()
        least = float(self.hits.judged.own_level[0])
        says = "relevant from max(half the highest grade, the 90th percentile of the grades) on, if above 0"
        return least, (Step("threshold", says, value=least),)

    def count_shown(self, k: int | None) -> int:
        """How many documents the ranking shows down to `k`."""
        return self.returned if k is None else min(self.returned, k)


def rows(h: Hits) -> list[Found]:
    """The rows of `h` one by one."""
    doubtful = [False] * len(h.rank) if h.doubtful is None else h.doubtful.tolist()
    aspects = [""] * len(h.rank)
    if h.aspect is not None and h.facets is not None:
        names = {}
        for doc in h.judged.doc.tolist():
            for row in range(int(h.facets.start[doc]), int(h.facets.start[doc + 1])):
                number = int(h.facets.aspect[row])
                names[number] = h.facets.names[row] if h.facets.names else f"aspect {number + 1}"
        aspects = [names[number] for number in h.aspect.tolist()]
    columns = (h.rank.tolist(), h.doc.tolist(), h.grade.tolist(), doubtful, aspects)
    return [Found(*each) for each in zip(*columns, strict=True)]


def top_of(documents: Sequence[Found], k: int | None) -> list[Found]:
    """The documents in the top `k`."""
    return [each for each in documents if k is None or each.rank <= k]


def number_text(value: float) -> str:
    """A number inside a calculation: whole where it is whole, else four decimals.

    >>> number_text(3.0), number_text(0.63093), number_text(-1), number_text(0.0000123)
    ('3', '0.6309', '-1', '1.2e-05')
    """
    if float(value).is_integer():
        return f"{value:.0f}"
    return f"{value:.4f}" if abs(value) >= 0.00005 else f"{value:.2g}"


def cut_at(k: int | None) -> str:
    """`'in the top 5'`, or where else one looks."""
    return "in the whole ranking" if k is None else f"in the top {k:,}"


def at_least(rel: float, scores: str = "any") -> str:
    """`'relevant (grade >= 1)'`, or `'relevant (grade >= 1, score > 0)'`."""
    return f"relevant (grade >= {rel:g}{', score > 0' if scores == 'positive' else ''})"


def count_step(kind: str, says: str, documents: Sequence[Found]) -> Step:
    """A step that counts documents at their ranks."""
    return Step(kind, says, graded_terms(documents), "how many", float(len(documents)))


def relevant_step(kind: str, c: Case, rel: float) -> Step:
    """The number R of relevant documents there are; they have no ranks."""
    good = c.all_relevant(rel)
    terms = tuple(Term(f"grade {each.grade:g}", doc=each.doc) for each in good)
    return Step(kind, f"R, all that are {at_least(rel)} in the judgments", terms, "how many", float(len(good)))


def graded_terms(documents: Sequence[Found]) -> tuple[Term, ...]:
    """Documents at their ranks with their grades."""
    return tuple(Term(f"grade {each.grade:g}", None, each.rank, each.doc) for each in documents)


def shown_step(c: Case, k: int | None, denominator: str = "returned") -> Step:
    """The number of documents shown down to `k`; `k` itself where the measure divides by that."""
    if k is None:
        return Step("denominator", "documents in the ranking", value=float(c.returned))
    if denominator == "returned":
        return Step("denominator", "documents shown", (), f"min({k}, {c.returned} returned)", float(c.count_shown(k)))
    short = f", though only {c.returned} came back" if c.returned < k else ""
    return Step("denominator", f"the cut-off k{short}", value=float(k))


def relevant_shown(good: Sequence[Found], k: int | None, rel: float, scores: str = "any") -> Step:
    """The number of relevant documents shown."""
    return count_step("found", f"{at_least(rel, scores)} {cut_at(k)}", good)


def cap_step(step: Step, k: int) -> Step:
    """The same count, but no more than `k`."""
    n = int(step.number)
    return Step(step.kind, step.says, step.terms, f"min({k}, {n})", float(min(k, n)))


def share(top: Step, bottom: Step, good: Sequence[Found], *, before: Sequence[Step] = ()) -> Written:
    """Two counts, in the order given, and one divided by the other; each document adds the same."""
    whole = divide_steps(top, bottom, before=before)
    return replace(whole, parts=even_shares(good, whole.value))


def divide_steps(
    top: Step, bottom: Step, says: str = "the one divided by the other", before: Sequence[Step] = ()
) -> Written:
    """Two steps, in the order given, and one divided by the other; each rank adds its terms, so divided."""
    end = quotient("result", says, top.number, bottom.number)
    return Written((*before, top, bottom, end), parts(top, bottom.number))


def even_shares(good: Sequence[Found], value: float) -> dict[int, float]:
    """What each rank adds where all documents add the same."""
    return {each.rank: value / len(good) for each in good}


def quotient(kind: str, says: str, a: float, b: float) -> Step:
    """A step that divides; 0 if there is nothing to divide by."""
    note = "" if b else ", which is taken as 0"
    return Step(kind, says, (), f"{number_text(a)} / {number_text(b)}{note}", a / b if b else 0.0)


def sum_step(kind: str, says: str, terms: Sequence[Term]) -> Step:
    """A step that adds up its terms."""
    return Step(kind, says, tuple(terms), "sum", math.fsum(term.value or 0.0 for term in terms))


def parts(step: Step, divisor: float = 1.0) -> dict[int, float]:
    """What each rank adds to the number where a step's terms are added up and divided."""
    found: dict[int, float] = {}
    for term in step.terms:
        if term.rank and divisor:
            found[term.rank] = found.get(term.rank, 0.0) + (term.value or 0.0) / divisor
    return found


Writer = Callable[..., Written]

WRITERS: dict[Callable[..., Any], Writer] = {}
"""By the function of the measure, so that a user's own measure of the same name is not taken for ours."""


def writes(*measures: Measure) -> Callable[[Writer], Writer]:
    """Make a function the derivation of measures: it takes a `Case` and the parameters of the measure.

    >>> from rankproof.core.derive import Case, Step
    >>> from rankproof.core.measures.counts import true_positives
    >>> had = WRITERS[true_positives.spec.function]
    >>> @writes(true_positives)
    ... def found(c: Case, k: int | None, rel: float) -> Written:
    ...     return Written((Step("result", "relevant documents", value=float(len(c.relevant(rel, k)))),))
    >>> WRITERS[true_positives.spec.function] is found
    True
    >>> _ = writes(true_positives)(had)
    """

    def register(writer: Writer) -> Writer:
        for each in measures:
            WRITERS[each.spec.function] = writer
        return writer

    return register


def seen_rows(measure: Measure, h: Hits) -> Written:
    """The rows the measure had, and how its value moves when each document is taken out."""
    value = worth(measure, h)
    without = {
        doc: worth(measure, h.keep(np.flatnonzero(h.doc != doc))) for doc in dict.fromkeys(h.doc.tolist()) if doc >= 0
    }
    parts = {row.rank: value - without[row.doc] for row in rows(h) if row.doc in without}
    moved = tuple(
        Term(f"{number_text(value)} - {number_text(without[row.doc])}", parts[row.rank], row.rank, row.doc)
        for row in rows(h)
        if abs(parts.get(row.rank, 0.0)) > 1e-12
    )
    best = replace(h.ideal, corpus_size=h.corpus_size)
    steps = (
        Step("found", "judged documents found", graded_terms(rows(h))),
        _reached(measure, "ideal", "all judged documents, best first, and what the measure gives them", best),
        _reached(measure, "reordered", "the best order of what was found, and what it would give", h.reordered),
        Step("parts", "what each document adds: the value with it, less the value without", moved),
        Step("result", f"{measure.spec.title}", (), f"{measure}", value),
    )
    return Written(steps, parts)


def worth(measure: Measure, h: Hits) -> float:
    """The measure's value for the only query of `h`."""
    return float(measure(seen_by(measure, h))[0])


def _reached(measure: Measure, kind: str, says: str, h: Hits) -> Step:
    return Step(kind, says, graded_terms(rows(h)), str(measure), worth(measure, h))


def derive(measure: Measure, h: Hits) -> Written:
    """The derivation for the only query of `h`; measures without one of their own get the general one."""
    writer = WRITERS.get(measure.spec.function)
    if writer is None:
        return seen_rows(measure, h)
    seen = seen_by(measure, h)
    return writer(Case(rows(seen), rows(seen.ideal), int(seen.retrieved[0]), seen.top_grade, seen), **measure.params)


if not TYPE_CHECKING:
    __getattr__ = old_names(__name__, {"wanted": "relevant_step", "summed": "sum_step"})
