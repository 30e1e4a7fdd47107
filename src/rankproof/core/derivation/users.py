"""Derivations of rank-biased precision, its residual, and scaled DCG."""

from __future__ import annotations

import math

from rankproof.core.derivation.registry import writes
from rankproof.core.derivation.steps import (
    Case,
    Found,
    Step,
    Term,
    Written,
    at_least,
    cut_at,
    parts,
    quotient,
    said,
    summed,
)
from rankproof.core.measures import users
from rankproof.core.measures.users import DEPTH


@writes(users.rank_biased_precision)
def rbp(c: Case, k: int | None, rel: float, p: float, gain: str, top_grade: float | None) -> Written:
    """The chance to look at each rank, times what is found there."""
    top = _largest(c, gain, top_grade)
    terms = []
    for each in c.relevant(rel, k):
        part = 1.0 if gain == "binary" else portion(each.grade, top, capped=gain == "graded")
        factor = "" if gain == "binary" else f"{said(part)} x "
        terms.append(_looked_at(each, p, part, factor))
    scale = "" if gain == "binary" else f"grade / {said(top)} x "
    says = f"{scale}{p:g}^(rank - 1), for those that are {at_least(rel)} {cut_at(k)}"
    sums = summed("found", says, terms)
    end = Step("result", "times 1 - p", (), f"(1 - {p:g}) x {said(sums.number)}", (1 - p) * sums.number)
    return Written((sums, end), parts(sums, 1 / (1 - p)))


def _looked_at(each: Found, p: float, part: float = 1.0, factor: str = "") -> Term:
    return Term(f"{factor}{p:g}^{each.rank - 1}", part * p ** (each.rank - 1), each.rank, each.doc)


def _largest(c: Case, gain: str, top_grade: float | None) -> float:
    if gain == "topic":
        return max([1.0, *(each.grade for each in c.judged)])
    return c.top_grade if top_grade is None else top_grade


def portion(grade: float, top: float, capped: bool = True) -> float:
    """The grade as a share of the largest."""
    if not top:
        return 0.0
    return max(min(grade, top) if capped else grade, 0.0) / top


@writes(users.rank_biased_residual)
def residual(c: Case, k: int | None, p: float, negative: str, tail: str) -> Written:
    """What is left of 1 when the chances to look at judged documents are taken off."""
    least = 0.0 if negative == "unjudged" else -math.inf
    seen = [each for each in c.found if each.grade >= least and (k is None or each.rank <= k)]
    if tail == "unjudged" and c.shown(k) <= len(seen):
        return Written((Step("result", f"every document {cut_at(k)} was judged", value=0.0),))
    sums = summed(
        "found", f"{p:g}^(rank - 1) of judged documents {cut_at(k)}", [_looked_at(e, p) for e in seen]
    )
    says = "what is left of 1 when they are taken off, times 1 - p"
    value = 1 - (1 - p) * sums.number
    return Written((sums, Step("result", says, (), f"1 - (1 - {p:g}) x {said(sums.number)}", value)))


@writes(users.scaled_dcg)
def scaled_dcg(c: Case, k: int | None, top_grade: float | None) -> Written:
    """DCG by that of a list of documents of the highest grade."""
    top, depth = c.top_grade if top_grade is None else top_grade, DEPTH if k is None else k
    terms = []
    for each in c.found:
        part = portion(each.grade, top)
        if part and each.rank <= depth:
            value = part / math.log2(each.rank + 1)
            terms.append(Term(f"{said(part)} / log2({each.rank + 1})", value, each.rank, each.doc))
    sums = summed("found", f"grade / {said(top)}, divided by log2(rank + 1), {cut_at(depth)}", terms)
    most = math.fsum(1 / math.log2(rank + 1) for rank in range(1, depth + 1))
    goal = Step(
        "denominator", f"{depth:,} documents of the highest grade: sum of 1 / log2(rank + 1)", value=most
    )
    end = quotient("result", "the one divided by the other", sums.number, most)
    return Written((sums, goal, end), parts(sums, most))
