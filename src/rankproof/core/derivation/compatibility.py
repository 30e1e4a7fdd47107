"""Derivation of compatibility: from which depth on each document is shared with the ideal order."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from rankproof.core.derivation.registry import writes
from rankproof.core.derivation.steps import (
    Case,
    Found,
    Step,
    Term,
    Written,
    at_least,
    parts,
    quotient,
    summed,
)
from rankproof.core.measures.compatibility import compatibility as measured


@writes(measured)
def compatibility(c: Case, rel: float, p: float, depth: int) -> Written:
    """The overlap with the ideal order most like the ranking, by that of the ideal order with itself."""
    terms = [_met(each, place, p, depth) for each, place in _places(c, rel, depth)]
    own = summed("found", "each is shared by both from the deeper of its two places m on: S(m)", terms)
    ranks = range(1, min(len(c.wanted(rel)), depth) + 1)
    says = f"the ideal order with itself: all that are {at_least(rel)}, by falling grade"
    best = summed("denominator", says, [Term(f"S({rank})", _weight(rank, p, depth)) for rank in ranks])
    weights = Step("gain", f"S(m) = sum over depths d = m to {depth:,} of {p:g}^(d-1) / d")
    end = quotient("result", "the one divided by the other", own.number, best.number)
    return Written((weights, own, best, end), parts(own, best.number))


def _places(c: Case, rel: float, depth: int) -> Iterator[tuple[Found, int]]:
    """Each document found with its place in the ideal order: by grade, then as the ranking has them."""
    above = Counter[float]()
    for each in c.relevant(rel, depth):
        better = len([other for other in c.wanted(rel) if other.grade > each.grade])
        above[each.grade] += 1
        yield each, better + above[each.grade]


def _met(each: Found, place: int, p: float, depth: int) -> Term:
    first = max(each.rank, place)
    return Term(f"place {place} of the ideal: S({first})", _weight(first, p, depth), each.rank, each.doc)


def _weight(first: int, p: float, depth: int) -> float:
    return math.fsum(p ** (d - 1) / d for d in range(first, depth + 1))
