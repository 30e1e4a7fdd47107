"""Derivations of measures of graded relevance: DCG, nDCG, ERR, RBP."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from rankproof.core.derivation.steps import Case, Found, Step, Term, Written, at_least, cut_at, quotient, said


def worth(grade: float, gain: Any) -> float:
    """What a grade gains."""
    if isinstance(gain, Mapping) and grade in gain:
        return float(gain[grade])
    return float(2 ** max(grade, 0) - 1) if gain == "exp" else max(float(grade), 0.0)


def dcg(c: Case, k: int | None, gain: Any, rel: float) -> Written:
    """The gains, discounted and added up."""
    found = [each for each in c.found if _counts(each, rel)]
    total = _discounted("result", f"DCG {cut_at(k)}: gain / log2(rank + 1)", found, k, gain)
    return Written((_gains(found, gain, rel), total), _parts(total, 1.0))


def ndcg(c: Case, k: int | None, gain: Any, ideal: str, rel: float) -> Written:
    """DCG, the DCG of the ideal order, and one by the other."""
    found = [each for each in c.found if _counts(each, rel)]
    best, depth, whose = _ideal(c, found, k, ideal, rel)
    total = _discounted("found", f"DCG {cut_at(k)}: gain / log2(rank + 1)", found, k, gain)
    goal = _discounted("ideal", f"ideal DCG: {whose}", _by_gain(best, gain), depth, gain)
    bottom = goal.value or 0.0
    end = quotient("result", "DCG divided by the ideal DCG", total.value or 0.0, bottom)
    return Written((_gains([*found, *best], gain, rel), total, goal, end), _parts(total, bottom))


def _counts(each: Found, rel: float) -> bool:
    return rel <= 0 or each.grade >= rel


def _ideal(
    c: Case, found: list[Found], k: int | None, ideal: str, rel: float
) -> tuple[list[Found], int | None, str]:
    """The documents of the ideal order, where it is cut, and in words what they are."""
    if ideal == "top":
        return (
            [each for each in found if k is None or each.rank <= k],
            None,
            f"the best order of those {cut_at(k)}",
        )
    if ideal == "returned":
        return found, k, f"the best order of what was returned, {cut_at(k)}"
    judged = [each for each in c.judged if _counts(each, rel)]
    if ideal == "hits":
        shown = c.shown(k)
        return judged, shown, f"all judged documents, best first, as many as came back ({shown})"
    if ideal == "uncut" or k is None:
        return judged, None, "all judged documents, best first"
    return judged, k, f"all judged documents, best first, {cut_at(k)}"


def _by_gain(documents: Iterable[Found], gain: Any) -> list[Found]:
    order = sorted(documents, key=lambda each: -worth(each.grade, gain))
    return [Found(rank, each.doc, each.grade) for rank, each in enumerate(order, start=1)]


def _gains(documents: Iterable[Found], gain: Any, rel: float) -> Step:
    """What each grade that occurs is worth."""
    grades = sorted({each.grade for each in documents}, reverse=True)
    terms = tuple(Term(_gain_of(grade, gain), worth(grade, gain)) for grade in grades)
    floor = f"; grades below {rel:g} gain nothing" if rel > 0 else ""
    return Step("gain", f"gain: {_in_words(gain)}{floor}", terms)


def _gain_of(grade: float, gain: Any) -> str:
    return f"2^{grade:g} - 1" if gain == "exp" and grade > 0 else f"grade {grade:g}"


def _in_words(gain: Any) -> str:
    if isinstance(gain, Mapping):
        return "by the mapping given; a grade it does not name gains itself"
    return "2^grade - 1" if gain == "exp" else "the grade"


def _discounted(kind: str, says: str, documents: list[Found], k: int | None, gain: Any) -> Step:
    terms = []
    for each in documents:
        gained = worth(each.grade, gain)
        if gained and (k is None or each.rank <= k):
            value = gained / math.log2(each.rank + 1)
            terms.append(Term(f"{said(gained)} / log2({each.rank + 1})", value, each.rank, each.doc))
    return Step(kind, says, tuple(terms), "sum", math.fsum(term.value or 0.0 for term in terms))


def _parts(step: Step, divisor: float) -> dict[int, float]:
    return {term.rank: (term.value or 0.0) / divisor for term in step.terms if term.rank and divisor}


def err(c: Case, k: int | None, top_grade: float | None) -> Written:
    """Who stops where, and what that is worth."""
    top = c.top_grade if top_grade is None else top_grade
    terms, going = [], 1.0
    for each in c.found:
        if each.grade > 0 and (k is None or each.rank <= k):
            stop = (2 ** min(each.grade, top) - 1) / 2**top
            terms.append(
                Term(
                    f"1/{each.rank} x {said(going)} x {said(stop)}",
                    going * stop / each.rank,
                    each.rank,
                    each.doc,
                )
            )
            going *= 1 - stop
    total = math.fsum(term.value or 0.0 for term in terms)
    chance = Step("gain", f"s, the chance that a document satisfies: (2^grade - 1) / 2^{top:g}")
    says = f"1/rank x the chance to get there x s, {cut_at(k)}"
    step = Step("result", says, tuple(terms), "sum", total)
    return Written((chance, step), _parts(step, 1.0))


def rbp(c: Case, k: int | None, rel: float, p: float, gain: str, top_grade: float | None) -> Written:
    """The chance to look at each rank, times what is found there."""
    top = _largest(c, gain, top_grade)
    terms = []
    for each in c.relevant(rel, k):
        share = 1.0 if gain == "binary" else _share(each.grade, top, capped=gain == "graded")
        factor = "" if gain == "binary" else f"{said(share)} x "
        terms.append(
            Term(f"{factor}{p:g}^{each.rank - 1}", share * p ** (each.rank - 1), each.rank, each.doc)
        )
    total = math.fsum(term.value or 0.0 for term in terms)
    scale = "" if gain == "binary" else f"grade / {said(top)} x "
    says = f"{scale}{p:g}^(rank - 1), for those that are {at_least(rel)} {cut_at(k)}"
    sums = Step("found", says, tuple(terms), "sum", total)
    end = Step("result", "times 1 - p", (), f"(1 - {p:g}) x {said(total)}", (1 - p) * total)
    return Written((sums, end), {rank: (1 - p) * part for rank, part in _parts(sums, 1.0).items()})


def _largest(c: Case, gain: str, top_grade: float | None) -> float:
    if gain == "topic":
        return max([1.0, *(each.grade for each in c.judged)])
    return c.top_grade if top_grade is None else top_grade


def _share(grade: float, top: float, capped: bool) -> float:
    if not top:
        return 0.0
    return max(min(grade, top) if capped else grade, 0.0) / top
