"""Derivations of gain in other forms: RnDCG, nDCGrel, G, binG, Q."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from rankproof.core.derivation.graded import by_gain, discounted, gains, worth
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
    wanted,
)
from rankproof.core.measures import gains as measured


@writes(measured.ndcg_at_levels)
def ndcg_at_levels(c: Case, gain: Any) -> Written:
    """nDCG where the ideal order falls from one gain to the next, and its mean."""
    found, best = _with_gain(c.found, gain), by_gain(_with_gain(c.judged, gain), gain)
    ends, last = [], 0
    for _, level in groupby(best, key=lambda each: worth(each.grade, gain)):
        last += len(list(level))
        ends.append(_ndcg_at(found, best, last, gain, f"nDCG@{last}"))
    if best and c.returned >= last + 2:
        ends.append(_ndcg_at(found, best, c.returned, gain, "nDCG of the whole ranking"))
    sums = summed("found", "DCG / ideal DCG where the ideal order falls to the next gain", ends)
    end = quotient("result", "the mean of these", sums.number, len(ends))
    return Written((gains([*found, *best], gain), _order(best, gain), sums, end))


@writes(measured.ndcg_at_relevant)
def ndcg_at_relevant(c: Case, gain: Any) -> Written:
    """nDCG at the rank of each document with a gain, and its mean."""
    found, best = _with_gain(c.found, gain), by_gain(_with_gain(c.judged, gain), gain)
    terms = [_ndcg_at(found, best, each.rank, gain, f"nDCG@{each.rank}", each) for each in found]
    deepest = max([0, *(each.rank for each in [*found, *best])])
    shown = {each.doc for each in found}
    terms += [
        _ndcg_at(found, best, deepest, gain, "nDCG of the whole ranking", Found(0, each.doc, each.grade))
        for each in best
        if each.doc >= 0 and each.doc not in shown
    ]
    says = "DCG / ideal DCG down to the rank of each document with a gain; at the end for those not found"
    sums = summed("found", says, terms)
    end = quotient("result", "the mean over them", sums.number, len(best))
    return Written((gains([*found, *best], gain), _order(best, gain), sums, end))


def _ndcg_at(
    found: list[Found], best: list[Found], k: int, gain: Any, says: str, about: Found | None = None
) -> Term:
    own = discounted("", "", found, k, gain).number
    ideal = discounted("", "", best, k, gain).number
    place = (None, None) if about is None else (about.rank or None, about.doc)
    return Term(f"{says}: {said(own)} / {said(ideal)}", own / ideal if ideal else 0.0, *place)


def _with_gain(documents: Sequence[Found], gain: Any) -> list[Found]:
    return [each for each in documents if worth(each.grade, gain) > 0]


def _order(best: list[Found], gain: Any) -> Step:
    terms = tuple(Term(f"gains {said(worth(each.grade, gain))}", None, each.rank, each.doc) for each in best)
    return Step("ideal", "the ideal order: all judged documents with a gain, best first", terms)


@writes(measured.normalised_gain)
def normalised_gain(c: Case, gain: Any) -> Written:
    """Each gain discounted by what was lost so far, by all there is to gain."""
    found, best = _with_gain(c.found, gain), by_gain(_with_gain(c.judged, gain), gain)
    terms, so_far = [], 0.0
    for each in found:
        own = worth(each.grade, gain)
        so_far += own
        ideal = _ideal_gain(best, each.rank, gain)
        expression = f"{said(own)} / log2(2 + {said(ideal)} - {said(so_far)})"
        terms.append(Term(expression, own / math.log2(2 + ideal - so_far), each.rank, each.doc))
    says = "gain / log2(2 + ideal gain down to the rank - gain down to the rank); the ideal gains 1 or more a rank"
    sums = summed("found", says, terms)
    every = [
        Term(f"gain {said(worth(each.grade, gain))}", worth(each.grade, gain), None, each.doc)
        for each in best
    ]
    goal = summed("denominator", "all there is to gain", every)
    end = quotient("result", "the one divided by the other", sums.number, goal.number)
    return Written((gains([*found, *best], gain), sums, goal, end), parts(sums, goal.number))


def _ideal_gain(best: list[Found], rank: int, gain: Any) -> float:
    down_to = [max(worth(each.grade, gain), 1.0) for each in best if each.rank <= rank]
    return math.fsum(down_to) + max(rank - len(best), 0)


@writes(measured.binary_gain)
def binary_gain(c: Case, rel: float) -> Written:
    """Each relevant document discounted by the wrong ones above it."""
    terms = [
        Term(f"1 / log2(2 + {each.rank - n})", 1 / math.log2(2 + each.rank - n), each.rank, each.doc)
        for n, each in enumerate(c.relevant(rel), start=1)
    ]
    says = f"1 / log2(2 + others above) of each that is {at_least(rel)}"
    sums, there_are = summed("found", says, terms), wanted("denominator", c, rel)
    end = quotient("result", "the sum divided by R", sums.number, there_are.number)
    return Written((sums, there_are, end), parts(sums, there_are.number))


@writes(measured.q_measure)
def q_measure(c: Case, k: int | None, rel: float, beta: float) -> Written:
    """Precision blended with gain at each relevant rank."""
    best = [each for each in c.judged if each.grade >= rel]
    terms, gained = [], 0.0
    for n, each in enumerate(c.relevant(rel, k), start=1):
        gained += each.grade
        ideal = math.fsum(other.grade for other in best if other.rank <= each.rank)
        expression = f"({n} + {_times(beta, gained)}) / ({each.rank} + {_times(beta, ideal)})"
        value = (n + beta * gained) / (each.rank + beta * ideal)
        terms.append(Term(expression, value, each.rank, each.doc))
    blend = "gain" if beta == 1 else f"{beta:g} x gain"
    says = f"(relevant so far + {blend} so far) / (rank + ideal {blend} so far), of each {at_least(rel)} {cut_at(k)}"
    sums, there_are = summed("found", says, terms), wanted("denominator", c, rel)
    order = tuple(Term(f"grade {each.grade:g}", None, each.rank, each.doc) for each in best)
    ideal_order = Step("ideal", "the ideal order: all relevant documents, best first", order)
    end = quotient("result", "the sum divided by R", sums.number, there_are.number)
    return Written((ideal_order, sums, there_are, end), parts(sums, there_are.number))


def _times(factor: float, value: float) -> str:
    return said(value) if factor == 1 else f"{factor:g} x {said(value)}"
