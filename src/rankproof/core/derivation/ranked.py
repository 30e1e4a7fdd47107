"""Derivations of measures of where the relevant documents stand: RR, AP and their kin."""

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
    capped,
    counted,
    cut_at,
    evenly,
    graded,
    parts,
    quotient,
    relevant_shown,
    said,
    summed,
    wanted,
)
from rankproof.core.measures import ranked


@writes(ranked.reciprocal_rank)
def reciprocal_rank(c: Case, k: int | None, rel: float, scores: str, threshold: str) -> Written:
    """One over the first relevant rank."""
    rel, before = c.least(rel, threshold)
    good = c.relevant(rel, k, scores)
    if not good:
        none = f"no document {cut_at(k)} is {at_least(rel, scores)}"
        return Written((*before, Step("result", none, value=0.0)))
    rank = good[0].rank
    says = f"rank of the first that is {at_least(rel, scores)}"
    first = Step("found", says, graded(good[:1]), f"rank {rank}", float(rank))
    end = quotient("result", "one over that rank", 1.0, rank)
    return Written((*before, first, end), {rank: end.number})


@writes(ranked.average_precision)
def average_precision(
    c: Case, k: int | None, rel: float, denominator: str, scores: str, threshold: str
) -> Written:
    """The precision at each relevant rank, added up, by what there is to find."""
    rel, before = c.least(rel, threshold)
    good = c.relevant(rel, k, scores)
    sums = precisions(good, f"precision at each rank that is {at_least(rel, scores)}, {cut_at(k)}")
    divisor = _divisor(c, good, k, rel, denominator)
    end = quotient("result", "the sum divided by that", sums.number, divisor.number)
    return Written((*before, sums, divisor, end), parts(sums, divisor.number))


@writes(ranked.geometric_average_precision)
def geometric_average_precision(c: Case, k: int | None, rel: float) -> Written:
    """For one query it is average precision."""
    return average_precision(c, k, rel, "all", "any", "rel")


def precisions(good: list[Found], says: str) -> Step:
    """Of each of these documents how many of them there are down to its rank, by that rank."""
    terms = [
        Term(f"{n} of {each.rank}", n / each.rank, each.rank, each.doc)
        for n, each in enumerate(good, start=1)
    ]
    return summed("found", says, terms)


def _divisor(c: Case, good: list[Found], k: int | None, rel: float, denominator: str) -> Step:
    if denominator == "found":
        says = f"documents found that are {at_least(rel)}, {cut_at(k)}"
        return Step("denominator", says, value=float(len(good)))
    step = wanted("denominator", c, rel)
    return step if denominator == "all" or k is None else capped(step, k)


@writes(ranked.average_precision_odds)
def average_precision_odds(c: Case, rel: float) -> Written:
    """The sum of the precisions and R, each with one more, as the logarithm of their odds."""
    sums = precisions(c.relevant(rel), f"s, precision at each rank that is {at_least(rel)}")
    there_are = wanted("denominator", c, rel)
    top, bottom = 1 + sums.number, 1 + there_are.number - sums.number
    expression = f"log({said(top)} / {said(bottom)})"
    end = Step("result", "log((1 + s) / (1 + R - s))", (), expression, math.log(top / bottom))
    return Written((sums, there_are, end))


@writes(ranked.r_precision)
def r_precision(c: Case, rel: float, denominator: str) -> Written:
    """Precision at the number of relevant documents."""
    if denominator == "all":
        depth = wanted("denominator", c, rel)
    else:
        depth = counted("denominator", f"R, all that are {at_least(rel)} in the ranking", c.relevant(rel))
    return _at_depth(c, depth, int(depth.number), rel)


@writes(ranked.precision_at_multiple)
def precision_at_multiple(c: Case, multiple: float, rel: float) -> Written:
    """Precision at a multiple of the number of relevant documents."""
    there_are = wanted("wanted", c, rel)
    depth = math.floor(multiple * there_are.number + 0.9)
    expression = f"floor({multiple:g} x {said(there_are.number)} + 0.9)"
    cut = Step("denominator", "where to cut", (), expression, float(depth))
    return _at_depth(c, cut, depth, rel, there_are)


def _at_depth(c: Case, depth: Step, k: int, rel: float, *before: Step) -> Written:
    good = c.relevant(rel, k)
    found = relevant_shown(good, k, rel)
    end = quotient("result", "relevant there, divided by that", found.number, depth.number)
    return Written((*before, depth, found, end), evenly(good, end.number))
