"""Derivations of expected reciprocal rank, and its share of the best."""

from __future__ import annotations

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
from rankproof.core.measures import cascade


@writes(cascade.expected_reciprocal_rank)
def err(c: Case, k: int | None, top_grade: float | None) -> Written:
    """Who stops where, and what that is worth."""
    top = c.top_grade if top_grade is None else top_grade
    step = _stopped("result", f"1/rank x the chance to get there x s, {cut_at(k)}", c.found, k, top)
    return Written((_chance(top), step), parts(step))


@writes(cascade.normalised_err)
def normalised_err(c: Case, k: int | None, top_grade: float | None) -> Written:
    """ERR, ERR of the ideal order, and one by the other."""
    top = c.top_grade if top_grade is None else top_grade
    own = _stopped("found", f"ERR: 1/rank x the chance to get there x s, {cut_at(k)}", c.found, k, top)
    best = _stopped("ideal", f"ideal ERR: all judged documents, best first, {cut_at(k)}", c.judged, k, top)
    end = quotient("result", "ERR divided by the ideal ERR", own.number, best.number)
    return Written((_chance(top), own, best, end), parts(own, best.number))


def _chance(top: float) -> Step:
    return Step("gain", f"s, the chance that a document satisfies: (2^grade - 1) / 2^{top:g}")


def _stopped(kind: str, says: str, documents: list[Found], k: int | None, top: float) -> Step:
    terms, going = [], 1.0
    for each in documents:
        if each.grade > 0 and (k is None or each.rank <= k):
            stop = 2.0 ** (min(each.grade, top) - top) - 2.0**-top
            expression = f"1/{each.rank} x {said(going)} x {said(stop)}"
            terms.append(Term(expression, going * stop / each.rank, each.rank, each.doc))
            going *= 1 - stop
    return summed(kind, says, terms)
