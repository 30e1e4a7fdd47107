"""Derivations of measures for incomplete judgments: bpref, infAP."""

from __future__ import annotations

from rankproof.core.derivation.registry import writes
from rankproof.core.derivation.steps import (
    Case,
    Found,
    Step,
    Term,
    Written,
    parts,
    quotient,
    summed,
    wanted,
)
from rankproof.core.measures import incomplete
from rankproof.core.measures.incomplete import EPSILON


@writes(incomplete.bpref, incomplete.geometric_bpref)
def bpref(c: Case, rel: float) -> Written:
    """How many documents judged not relevant stand above each relevant one."""
    there_are = wanted("denominator", c, rel)
    r, n = int(there_are.number), len([each for each in c.judged if 0 <= each.grade < rel])
    says = "1 - min(judged not relevant above, R) / min(N, R), for each found"
    sums = summed("found", says, [_pairs(c, each, rel, r, n) for each in c.relevant(rel)])
    wrong = Step("wrong", f"N, judged not relevant (grade 0 or more, below {rel:g})", value=float(n))
    end = quotient("result", "the sum divided by R", sums.number, r)
    return Written((there_are, wrong, sums, end), parts(sums, r))


def _pairs(c: Case, each: Found, rel: float, r: int, n: int) -> Term:
    above = len(_wrong_above(c, each, rel))
    if not above:
        return Term("none above", 1.0, each.rank, each.doc)
    value = 1 - min(above, r) / min(n, r)
    return Term(f"1 - {min(above, r)} / {min(n, r)}", value, each.rank, each.doc)


def _wrong_above(c: Case, each: Found, rel: float) -> list[Found]:
    return [other for other in c.found if other.rank < each.rank and 0 <= other.grade < rel]


@writes(incomplete.inferred_average_precision)
def inferred_average_precision(c: Case, rel: float) -> Written:
    """The precision at each relevant rank, estimated from the judged documents above it."""
    there_are = wanted("denominator", c, rel)
    terms = [_inferred(c, n, each, rel) for n, each in enumerate(c.relevant(rel))]
    says = (
        "(1 + pooled above x share of the judged above that are relevant) / rank, for each found; pooled are "
        f"the judged, also those below 0; e = {EPSILON:g} keeps the share from 0/0"
    )
    sums = summed("found", says, terms)
    end = quotient("result", "the sum divided by R", sums.number, there_are.number)
    return Written((there_are, sums, end), parts(sums, there_are.number))


def _inferred(c: Case, relevant: int, each: Found, rel: float) -> Term:
    pooled = len([other for other in c.found if other.rank < each.rank])
    judged = relevant + len(_wrong_above(c, each, rel))
    value = (1 + pooled * (relevant + EPSILON) / (judged + 2 * EPSILON)) / each.rank
    inside = f"(1 + {pooled} x ({relevant} + e) / ({judged} + 2e))" if pooled else "1"
    return Term(f"{inside} / {each.rank}", value, each.rank, each.doc)
