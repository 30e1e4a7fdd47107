"""Derivations of measures of graded relevance: DCG, nDCG."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from rankproof.core.derivation.registry import writes
from rankproof.core.derivation.steps import (
    Case,
    Found,
    Step,
    Term,
    Written,
    cut_at,
    parts,
    quotient,
    said,
    summed,
)
from rankproof.core.measures import graded


def worth(grade: float, gain: Any) -> float:
    """What a grade gains."""
    if isinstance(gain, Mapping) and grade in gain:
        return float(gain[grade])
    return float(2 ** max(grade, 0) - 1) if gain == "exp" else max(float(grade), 0.0)


@writes(graded.dcg)
def dcg(c: Case, k: int | None, gain: Any, rel: float) -> Written:
    """The gains, discounted and added up."""
    found = [each for each in c.found if _counts(each, rel)]
    total = discounted("result", f"DCG {cut_at(k)}: gain / log2(rank + 1)", found, k, gain)
    return Written((gains(found, gain, rel), total), parts(total))


@writes(graded.ndcg)
def ndcg(c: Case, k: int | None, gain: Any, ideal: str, rel: float) -> Written:
    """DCG, the DCG of the ideal order, and one by the other."""
    found = [each for each in c.found if _counts(each, rel)]
    best, depth, whose = _ideal(c, found, k, ideal, rel)
    total = discounted("found", f"DCG {cut_at(k)}: gain / log2(rank + 1)", found, k, gain)
    goal = discounted("ideal", f"ideal DCG: {whose}", by_gain(best, gain), depth, gain)
    end = quotient("result", "DCG divided by the ideal DCG", total.number, goal.number)
    return Written((gains([*found, *best], gain, rel), total, goal, end), parts(total, goal.number))


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


def by_gain(documents: Iterable[Found], gain: Any) -> list[Found]:
    """The documents in the order that gains most."""
    order = sorted(documents, key=lambda each: -worth(each.grade, gain))
    return [Found(rank, each.doc, each.grade) for rank, each in enumerate(order, start=1)]


def gains(documents: Iterable[Found], gain: Any, rel: float = 0) -> Step:
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


def discounted(kind: str, says: str, documents: list[Found], k: int | None, gain: Any) -> Step:
    """DCG of the documents at their ranks."""
    terms = []
    for each in documents:
        gained = worth(each.grade, gain)
        if gained and (k is None or each.rank <= k):
            value = gained / math.log2(each.rank + 1)
            terms.append(Term(f"{said(gained)} / log2({each.rank + 1})", value, each.rank, each.doc))
    return summed(kind, says, terms)
