"""Derivations of the C/W/L measures: how likely each rank is looked at, and the gain per document seen."""

from __future__ import annotations

import math
from collections.abc import Callable

from rankproof.core.derivation.registry import writes
from rankproof.core.derivation.steps import Case, Step, Term, Written, cut_at, parts, quotient, said, summed
from rankproof.core.derivation.users import portion
from rankproof.core.measures import cwl
from rankproof.core.measures.users import DEPTH

GoOn = Callable[[int, float, float], float]
"""The chance to go on after a rank, with the gain found there and the gain down to there."""


@writes(cwl.insq)
def insq(c: Case, T: float, top_grade: float | None) -> Written:
    """Each gain by the weight of its rank."""
    gain = _gains(c, DEPTH, top_grade)
    terms = [
        Term(
            f"{said(gain[each.rank])} / ({each.rank} + {2 * T - 1:g})^2",
            gain[each.rank] / (each.rank + 2 * T - 1) ** 2,
            each.rank,
            each.doc,
        )
        for each in c.found
        if gain.get(each.rank)
    ]
    sums = summed("found", f"gain / (rank + {2 * T - 1:g})^2, {cut_at(DEPTH)}", terms)
    most = math.fsum(1 / (rank + 2 * T - 1) ** 2 for rank in range(1, DEPTH + 1))
    goal = Step("denominator", f"1 / (rank + {2 * T - 1:g})^2 of all {DEPTH:,} ranks", value=most)
    end = quotient("result", "the one divided by the other", sums.number, most)
    return Written((_scale(c, top_grade), sums, goal, end), parts(sums, most))


@writes(cwl.inst)
def inst(c: Case, T: float, top_grade: float | None) -> Written:
    """A reader who adapts to what was found."""

    def go_on(rank: int, gain: float, so_far: float) -> float:
        left = rank + 2 * T - so_far
        return ((left - 1) / left) ** 2

    return _walked(c, DEPTH, top_grade, f"((i + {2 * T:g} - gained - 1) / (i + {2 * T:g} - gained))^2", go_on)


@writes(cwl.bejeweled)
def bejeweled(c: Case, k: int | None, T: float, top_grade: float | None) -> Written:
    """A reader who stops when enough was gained."""
    says = f"1 until {T:g} was gained, then 0"
    return _walked(c, k or DEPTH, top_grade, says, lambda rank, gain, so_far: float(so_far < T * cwl.NEARLY))


@writes(cwl.nerr8)
def nerr8(c: Case, k: int | None, top_grade: float | None) -> Written:
    """A reader who stops at a document with the chance of its gain."""
    return _walked(c, k or DEPTH, top_grade, "1 - gain", lambda rank, gain, so_far: 1 - gain)


@writes(cwl.nerr9)
def nerr9(c: Case, k: int | None, top_grade: float | None) -> Written:
    """The same, tiring with the rank."""
    says = "i/(i + 1) x (1 - gain)"
    return _walked(c, k or DEPTH, top_grade, says, lambda rank, gain, so_far: rank / (rank + 1) * (1 - gain))


@writes(cwl.nerr10)
def nerr10(c: Case, p: float, top_grade: float | None) -> Written:
    """The same, with patience p."""
    return _walked(c, DEPTH, top_grade, f"{p:g} x (1 - gain)", lambda rank, gain, so_far: p * (1 - gain))


@writes(cwl.nerr11)
def nerr11(c: Case, T: float, top_grade: float | None) -> Written:
    """The same, tiring as in INSQ."""

    def go_on(rank: int, gain: float, so_far: float) -> float:
        return ((rank + 2 * T - 1) / (rank + 2 * T)) ** 2 * (1 - gain)

    return _walked(c, DEPTH, top_grade, f"((i + {2 * T - 1:g}) / (i + {2 * T:g}))^2 x (1 - gain)", go_on)


def _walked(c: Case, depth: int, top_grade: float | None, says: str, go_on: GoOn) -> Written:
    """The chances to look at each rank, the gain seen with them, and the gain per document seen."""
    gain = _gains(c, depth, top_grade)
    seen = _chances(gain, depth, go_on)
    docs = {each.rank: each.doc for each in c.found}
    terms = [
        Term(f"{said(gain[rank])} x {said(seen[rank])}", gain[rank] * seen[rank], rank, docs[rank])
        for rank in gain
        if gain[rank]
    ]
    sums = summed("found", "gain x chance that the rank is looked at", terms)
    bottom = math.fsum(seen.values())
    looked = Step("denominator", f"documents looked at: the chances of all {depth:,} ranks", value=bottom)
    end = quotient("result", "gain per document looked at", sums.number, bottom)
    return Written(
        (_scale(c, top_grade), _going(seen, gain, says, go_on), sums, looked, end), parts(sums, bottom)
    )


def _chances(gain: dict[int, float], depth: int, go_on: GoOn) -> dict[int, float]:
    """The chance that each rank is looked at."""
    seen, chance, so_far = {}, 1.0, 0.0
    for rank in range(1, depth + 1):
        seen[rank] = chance
        so_far += gain.get(rank, 0.0)
        chance *= go_on(rank, gain.get(rank, 0.0), so_far)
    return seen


def _going(seen: dict[int, float], gain: dict[int, float], says: str, go_on: GoOn) -> Step:
    """How one comes from rank to rank, as far down as there is something to gain."""
    terms, so_far = [Term("rank 1", 1.0)], 0.0
    for rank in range(1, max([0, *(rank for rank in gain if gain[rank])])):
        so_far += gain.get(rank, 0.0)
        on = go_on(rank, gain.get(rank, 0.0), so_far)
        terms.append(Term(f"rank {rank + 1}: {said(seen[rank])} x {said(on)}", seen[rank + 1]))
    return Step("going", f"chance to look at a rank; to go on after rank i: {says}", tuple(terms))


def _gains(c: Case, depth: int, top_grade: float | None) -> dict[int, float]:
    top = c.top_grade if top_grade is None else top_grade
    return {each.rank: portion(each.grade, top) for each in c.found if each.rank <= depth}


def _scale(c: Case, top_grade: float | None) -> Step:
    top = c.top_grade if top_grade is None else top_grade
    return Step("gain", f"gain: grade / {said(top)}, the largest grade")
