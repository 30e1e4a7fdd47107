"""Why two derivations of one number differ: what was decided otherwise, and where it shows."""

from __future__ import annotations

from collections.abc import Iterator

from rankproof.core.conventions import CHOICES
from rankproof.core.derivation.steps import Step, said
from rankproof.core.explained import Explained, Line

SAME = 1e-9


def differences(own: Explained, other: Explained) -> list[str]:
    """What differs, in sentences; the last one says whether the number does."""
    found = [*_parameters(own, other), *_conventions(own, other), *_order(own, other), *_steps(own, other)]
    return [*_claimed(other), *found, _numbers(own, other, bool(found))]


def _claimed(other: Explained) -> Iterator[str]:
    """Whether what follows is about the tool's own number, where that is not so without limits."""
    if other.claim is not None and other.claim.note:
        yield f"{other.claim.note[0].upper()}{other.claim.note[1:]}."


def differing(own: Explained, other: Explained) -> set[str]:
    """The kinds of steps that come to different numbers."""
    return {mine.kind for mine, theirs in _pairs(own, other) if not _alike(mine, theirs)}


def _parameters(own: Explained, other: Explained) -> Iterator[str]:
    """How the measure is defined otherwise."""
    for name, value in own.params.items():
        theirs = other.params.get(name)
        if theirs != value:
            yield f"{name}={value!r} {own.where}, {name}={theirs!r} in {other.where}."


def _conventions(own: Explained, other: Explained) -> Iterator[str]:
    """Which conventions are others, and what they mean."""
    mine, theirs = own.conventions.to_dict(), other.conventions.to_dict()
    for name, words in CHOICES.items():
        if mine[name] != theirs[name]:
            yield f"{_word(name)}: {own.where} {words[mine[name]]}; in {other.where} {words[theirs[name]]}."
    if mine["rounded"] != theirs["rounded"]:
        here, there = _rounding(mine["rounded"]), _rounding(theirs["rounded"])
        yield f"rounding: {own.where} {here}; in {other.where} {there}."


def _rounding(decimals: int | None) -> str:
    return (
        "values stay as they are"
        if decimals is None
        else f"each query's value is rounded to {decimals} decimals"
    )


def _order(own: Explained, other: Explained) -> Iterator[str]:
    """Where the two orders part."""
    for mine, theirs in zip(own.lines, other.lines, strict=False):
        if mine.document != theirs.document:
            yield (
                f"tie order: rank {mine.rank} is {mine.document} ({_grade(mine)}) {own.where}, "
                f"{theirs.document} ({_grade(theirs)}) in {other.where}."
            )
            return


def _grade(line: Line) -> str:
    return "not judged" if line.grade is None else f"grade {line.grade:g}"


def _steps(own: Explained, other: Explained) -> Iterator[str]:
    """What is worked out on both sides and comes to something else."""
    for mine, theirs in _pairs(own, other):
        if mine.kind != "result" and not _near(mine.value, theirs.value):
            here, there = said(mine.value or 0.0), said(theirs.value or 0.0)
            other_words = "" if mine.says == theirs.says else f" ({theirs.says})"
            yield f"{mine.says}: {here} {own.where}; {there} in {other.where}{other_words}."


def _pairs(own: Explained, other: Explained) -> Iterator[tuple[Step, Step]]:
    by_kind = {step.kind: step for step in other.steps}
    return ((step, by_kind[step.kind]) for step in own.steps if step.kind in by_kind)


def _alike(mine: Step, theirs: Step) -> bool:
    values = [[term.value for term in step.terms] + [step.value] for step in (mine, theirs)]
    if len(values[0]) != len(values[1]):
        return False
    return all(_near(a, b) for a, b in zip(*values, strict=True))


def _near(a: float | None, b: float | None) -> bool:
    return a == b if a is None or b is None else abs(a - b) <= SAME


def _numbers(own: Explained, other: Explained, otherwise: bool) -> str:
    if _near(own.value, other.value):
        if other.claim is not None and not other.claim.equal:
            return f"The conventions of {other.where} do not move the number."
        return "None of this moves the number." if otherwise else "Nothing differs on this query."
    here = f"So {own.measure} is {said(own.value)} {own.where}"
    return f"{here}, {other.measure} {said(other.value)} in {other.where}."


def _word(name: str) -> str:
    return _WORDS.get(name, name)


_WORDS = {
    "ties": "ties",
    "missing": "queries without a ranking",
    "no_relevant": "queries without a relevant document",
    "unjudged": "documents nobody judged",
    "precision": "comparing scores",
}
