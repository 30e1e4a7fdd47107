"""Derivations of measures of where the relevant documents stand: RR, AP, bpref."""

from __future__ import annotations

from rankproof.core.derivation.steps import (
    Case,
    Found,
    Step,
    Term,
    Written,
    at_least,
    cut_at,
    graded,
    quotient,
    said,
    wanted,
)


def reciprocal_rank(c: Case, k: int | None, rel: float, scores: str = "any") -> Written:
    """One over the first relevant rank."""
    good = c.relevant(rel, k, scores)
    if not good:
        return Written((Step("result", f"no document {cut_at(k)} is {at_least(rel, scores)}", value=0.0),))
    rank = good[0].rank
    says = f"rank of the first that is {at_least(rel, scores)}"
    first = Step("found", says, graded(good[:1]), f"rank {rank}", float(rank))
    end = quotient("result", "one over that rank", 1.0, rank)
    return Written((first, end), {rank: end.value or 0.0})


def average_precision(c: Case, k: int | None, rel: float, denominator: str, scores: str = "any") -> Written:
    """The precision at each relevant rank, added up, by what there is to find."""
    good = c.relevant(rel, k, scores)
    terms = tuple(
        Term(f"{n} of {each.rank}", n / each.rank, each.rank, each.doc)
        for n, each in enumerate(good, start=1)
    )
    total = sum(n / each.rank for n, each in enumerate(good, start=1))
    says = f"precision at each rank that is {at_least(rel, scores)}, {cut_at(k)}"
    sums = Step("found", says, terms, "sum", total)
    divisor = _divisor(c, good, k, rel, denominator)
    bottom = divisor.value or 0.0
    end = quotient("result", "the sum divided by that", total, bottom)
    return Written(
        (sums, divisor, end), {t.rank: (t.value or 0.0) / bottom for t in terms if t.rank and bottom}
    )


def geometric_average_precision(c: Case, k: int | None, rel: float) -> Written:
    """For one query it is average precision."""
    return average_precision(c, k, rel, "all")


def _divisor(c: Case, good: list[Found], k: int | None, rel: float, denominator: str) -> Step:
    if denominator == "found":
        says = f"documents found that are {at_least(rel)}, {cut_at(k)}"
        return Step("denominator", says, value=float(len(good)))
    step = wanted("denominator", c, rel)
    if denominator == "all" or k is None:
        return step
    n = int(step.value or 0)
    return Step("denominator", step.says, step.terms, f"min({k}, {n})", float(min(k, n)))


def bpref(c: Case, rel: float) -> Written:
    """How many documents judged not relevant stand above each relevant one."""
    r, n = len(c.wanted(rel)), len([each for each in c.judged if 0 <= each.grade < rel])
    terms = tuple(_pairs(c, each, rel, r, n) for each in c.relevant(rel))
    total = sum(term.value or 0.0 for term in terms)
    steps = (
        wanted("denominator", c, rel),
        Step("wrong", f"N, judged not relevant (grade 0 or more, below {rel:g})", value=float(n)),
        Step(
            "found", "1 - min(judged not relevant above, R) / min(N, R), for each found", terms, "sum", total
        ),
        quotient("result", "the sum divided by R", total, r),
    )
    return Written(steps, {term.rank: (term.value or 0.0) / r for term in terms if term.rank and r})


def _pairs(c: Case, each: Found, rel: float, r: int, n: int) -> Term:
    above = len([other for other in c.found if other.rank < each.rank and 0 <= other.grade < rel])
    if not above:
        return Term("none above", 1.0, each.rank, each.doc)
    value = 1 - min(above, r) / min(n, r)
    return Term(f"1 - {said(min(above, r))} / {said(min(n, r))}", value, each.rank, each.doc)
