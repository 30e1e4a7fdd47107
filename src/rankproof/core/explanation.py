"""One number explained, as plain values: its list, its derivation, and where other tools differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from rankproof.core import scoring
from rankproof.core.conventions import CHOICES, Conventions, comparable_scores
from rankproof.core.derive import Step, derive, number_text
from rankproof.core.hits import Hits
from rankproof.core.judgments import Judgments
from rankproof.core.measure import Measure, row_gains
from rankproof.core.names import parse
from rankproof.core.profiles import Profile, as_in, find
from rankproof.core.table import RankingTable, ranks_found, rows_in_order
from rankproof.document.formats import plain_data
from rankproof.document.model import Displayable

SAME = 1e-9


def differences(own: Explained, other: Explained) -> list[str]:
    """The differences in sentences; the last one says whether the number differs."""
    # Whether what follows is about the tool's own number, if that is not so without limits.
    note = other.claim.note if other.claim is not None else ""
    limits = [f"{note[0].upper()}{note[1:]}."] if note else []
    found = list(_differences(own, other))
    if not _near(own.value, other.value):
        here = f"So {own.measure} is {number_text(own.value)} {own.where}"
        last = f"{here}, {other.measure} {number_text(other.value)} in {other.where}."
    elif other.claim is not None and not other.claim.equal:
        last = f"The conventions of {other.where} do not change the number."
    else:
        last = "None of this changes the number." if found else "Nothing differs on this query."
    return [*limits, *found, last]


def _differences(own: Explained, other: Explained) -> Iterator[str]:
    """What differs in the definition, the conventions, the order (where it first does), and the steps of both."""
    for name, value in own.params.items():
        if (theirs := other.params.get(name)) != value:
            yield f"{name}={value!r} {own.where}, {name}={theirs!r} in {other.where}."
    one, two = own.conventions.to_dict(), other.conventions.to_dict()
    for name, words in CHOICES.items():
        if one[name] != two[name]:
            yield f"{_WORDS.get(name, name)}: {own.where} {words[one[name]]}; in {other.where} {words[two[name]]}."
    if one["rounded"] != two["rounded"]:
        here, there = (
            "values stay as they are" if each is None else f"each query's value is rounded to {each} decimals"
            for each in (one["rounded"], two["rounded"])
        )
        yield f"rounding: {own.where} {here}; in {other.where} {there}."
    for mine, theirs in zip(own.lines, other.lines, strict=False):
        if mine.document != theirs.document:
            yield (
                f"tie order: rank {mine.rank} is {mine.document} ({_grade(mine)}) {own.where}, "
                f"{theirs.document} ({_grade(theirs)}) in {other.where}."
            )
            break
    for step, their_step in _pairs(own, other):
        if step.kind != "result" and not _near(step.value, their_step.value):
            other_words = "" if step.says == their_step.says else f" ({their_step.says})"
            numbers = f"{number_text(step.number)} {own.where}; {number_text(their_step.number)} in {other.where}"
            yield f"{step.says}: {numbers}{other_words}."


def differing_kinds(own: Explained, other: Explained) -> set[str]:
    """The kinds of steps with different numbers."""
    found = set()
    for mine, theirs in _pairs(own, other):
        one, two = ([*(term.value for term in step.terms), step.value] for step in (mine, theirs))
        if len(one) != len(two) or not all(map(_near, one, two)):
            found.add(mine.kind)
    return found


def _grade(line: ExplainedLine) -> str:
    return "not judged" if line.grade is None else f"grade {line.grade:g}"


def _pairs(own: Explained, other: Explained) -> Iterator[tuple[Step, Step]]:
    by_kind = {step.kind: step for step in other.steps}
    return ((step, by_kind[step.kind]) for step in own.steps if step.kind in by_kind)


def _near(a: float | None, b: float | None) -> bool:
    return a == b if a is None or b is None else abs(a - b) <= SAME


_WORDS = {
    "missing": "queries without a ranking",
    "no_relevant": "queries without a relevant document",
    "unjudged": "documents nobody judged",
    "precision": "comparing scores",
}


Kind = Literal["proven", "but", "other", "unproven", "own", "absent"]


@dataclass(frozen=True, slots=True)
class Claim(Displayable):
    """Whether a measure under a profile is the tool's."""

    kind: Kind
    """proven: its values were shown to be equal; but: with exceptions; other: the tool has another number;
    unproven: it has the measure, equality was not shown; own: with parameters that are not the tool's;
    absent: it has no such measure."""
    note: str = ""
    """A note beside the number, a sentence without its full stop; "" if there is none."""

    @property
    def equal(self) -> bool:
        """Whether the number may be called the tool's."""
        return self.kind in ("proven", "but")


def claim(profile: str, measure: Measure) -> Claim:
    """The relation of a measure under a profile to the tool.

    >>> from rankproof.core.names import parse
    >>> claim("quepid", parse("nDCG(gain='exp', ideal='uncut')@10")).kind, claim("ranx", parse("RBP")).kind
    ('but', 'other')
    >>> claim("ranx", parse("ERR@10")).note
    'ranx has no such measure; only its conventions are followed'
    """
    known, name = find(profile), measure.spec.name
    limits = "; ".join([each for each, about in known.beyond.items() if not about or name in about.split()])
    forms = [each for each in _forms(profile) if each[0].spec.name == name]
    if name in known.other.split():
        return Claim("other", f"not the number of {profile}: {limits}")
    if not forms and name in known.unproven.split():
        apart = f"; not followed: {limits}" if limits else ""
        return Claim("unproven", f"{profile} has this too; that the numbers are equal was not shown{apart}")
    if not forms:
        return Claim("absent", f"{profile} has no such measure; only its conventions are followed")
    own = min((_own(known, measure, *form) for form in forms), key=len)
    if own:
        asked = ", ".join(f"{each}={measure.params[each]!r}" for each in own)
        return Claim("own", f"not the number of {profile}, which does not compute it with {asked}")
    return Claim("but", f"not followed of {profile}: {limits}") if limits else Claim("proven")


def listing(
    table: RankingTable,
    query: str,
    judgments: Judgments,
    hits: Hits,
    conventions: Conventions,
    adds: Mapping[int, float],
) -> Iterator[ExplainedLine]:
    """The documents of the query, best first; `hits` is the query alone, `adds` what each rank adds."""
    own = [row for row, each in enumerate(table.query) if each == query]
    rows = rows_in_order(table, own, conventions)
    ranks, grades = ranks_found(judgments, hits), judgments.of(query)
    if conventions.unjudged == "skip":
        placed = [(ranks.get(str(table.doc[row])), row) for row in rows]
    else:
        # Judged documents where they were scored, the others in the places left, in their order.
        at = {ranks[str(table.doc[row])]: row for row in rows if str(table.doc[row]) in ranks}
        others = iter([row for row in rows if str(table.doc[row]) not in ranks])
        placed = [(rank, at[rank] if rank in at else next(others)) for rank in range(1, len(rows) + 1)]
    compared = None if table.score is None else comparable_scores(table.score, conventions)
    scores = {row: None if compared is None else float(compared[row]) for row in rows}
    times = Counter(scores.values())
    for rank, row in placed:
        doc, score = str(table.doc[row]), scores[row]
        tied = score is not None and times[score] > 1
        yield ExplainedLine(rank, doc, score, tied, grades.get(doc), None if rank is None else adds.get(rank))


def ideal(measure: Measure, judgments: Judgments, hits: Hits) -> Iterator[ExplainedLine]:
    """The documents with a grade above 0 or a gain, in the best order, and the contribution of each."""
    best = replace(scoring.ideal(measure, hits), corpus_size=hits.corpus_size)
    adds = derive(measure, best).parts
    listed = best.keep((best.grade > 0) | (row_gains(measure, best) > 0))
    for rank, doc, grade in zip(listed.rank.tolist(), listed.doc.tolist(), listed.grade.tolist(), strict=True):
        yield ExplainedLine(rank, judgments.doc_ids[doc], grade=grade, adds=adds.get(rank))


@lru_cache(maxsize=64)
def _forms(profile: str) -> tuple[tuple[Measure, bool], ...]:
    """The measures that were proven, as the profile makes them, and whether with cut-offs as well."""
    known = find(profile)
    texts = known.proven.split()
    return tuple((as_in(known, parse(text.removesuffix("@k"))), text.endswith("@k")) for text in texts)


def _own(profile: Profile, measure: Measure, form: Measure, cut: bool) -> list[str]:
    """The parameters that are neither the tool's nor among those that it lets one choose."""
    free = profile.free_of.get(measure.spec.name, profile.free).split() + ["k"] * cut
    return [name for name, value in measure.params.items() if name not in free and form.params.get(name) != value]


@dataclass(frozen=True, slots=True)
class ExplainedLine(Displayable):
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
    lines: tuple[ExplainedLine, ...]
    missed: tuple[tuple[str, float], ...]
    """Documents with a grade above 0 that the ranking does not hold, the best first."""
    steps: tuple[Step, ...]
    names: Mapping[int, str]
    """The ids of the documents that the steps speak of."""
    conventions: Conventions
    notes: tuple[str, ...] = ()
    ideal: tuple[ExplainedLine, ...] = ()
    """The documents with a grade above 0 in the best order there is."""
    claim: Claim | None = None
    """Whether the number is that of the tool whose profile was followed; None: none was."""

    @property
    def said(self) -> tuple[str, ...]:
        """The text beside the number: the notes, and whether it is the tool's."""
        return (*self.notes, self.claim.note) if self.claim is not None and self.claim.note else self.notes

    @property
    def where(self) -> str:
        """Whose number it is: "here", a tool's, or, if it is not the tool's, that of its profile."""
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
        steps = plain_data(self.steps)
        for term in (term for step in steps for term in step["terms"]):
            term["doc"] = self.names.get(term["doc"])
        return {
            **{name: getattr(self, name) for name in ("query", "measure", "value", "formula")},
            "lines": plain_data(self.lines),
            "missed": dict(self.missed),
            "steps": steps,
            "conventions": self.conventions.to_dict(),
            "notes": list(self.said),
            "claim": plain_data(self.claim),
        }


@dataclass(frozen=True, slots=True)
class ExplainedCase(Displayable):
    """One query with its ranked lists."""

    query: str
    why: str
    sides: tuple[tuple[str, Explained], ...]
    """The name of a system, and its list."""
