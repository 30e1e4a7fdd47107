"""Derivations of interpolated precision: one point of the curve, and the mean over eleven."""

from __future__ import annotations

import numpy as np

from rankproof.core.derivation.ranked import precisions
from rankproof.core.derivation.registry import writes
from rankproof.core.derivation.steps import Case, Step, Term, Written, at_least, said, wanted
from rankproof.core.measures import interpolated
from rankproof.core.measures.interpolated import POINTS, needed


@writes(interpolated.interpolated_precision)
def interpolated_precision(c: Case, recall: float, rel: float, rounding: str) -> Written:
    """The best precision at any rank that reaches the recall."""
    there_are, points = wanted("denominator", c, rel), _curve(c, rel)
    least = _needed(there_are, recall, rounding)
    rounded = Step(
        "needed", "relevant documents needed", (), _rounded(recall, there_are, rounding), float(least)
    )
    best = _best(points, least)
    says = f"the best precision from the {least}. of them on" if best.rank else "so many were not found"
    return Written(
        (there_are, rounded, points, Step("result", says, (best,) if best.rank else (), "", best.value))
    )


@writes(interpolated.eleven_points)
def eleven_points(c: Case, rel: float, rounding: str) -> Written:
    """The best precision at each of eleven recalls, and their mean."""
    there_are, points = wanted("denominator", c, rel), _curve(c, rel)
    terms = []
    for recall in POINTS:
        least = _needed(there_are, recall, rounding)
        terms.append(Term(f"recall {recall:g}: {least} needed, best precision", _best(points, least).value))
    total = sum(term.value or 0.0 for term in terms)
    best = Step("points", "the best precision at each recall", tuple(terms), "sum", total)
    end = Step("result", "the mean over the eleven", (), f"{said(total)} / 11", total / 11)
    return Written((there_are, points, best, end))


def _curve(c: Case, rel: float) -> Step:
    """The precision at each relevant rank; they are not added up."""
    step = precisions(c.relevant(rel), f"precision at each rank that is {at_least(rel)}")
    return Step(step.kind, step.says, step.terms)


def _needed(there_are: Step, recall: float, rounding: str) -> int:
    return int(needed(np.array(there_are.number), recall, rounding))


def _rounded(recall: float, there_are: Step, rounding: str) -> str:
    exact = f"{recall:g} x {said(there_are.number)}"
    return f"floor({exact} + 0.9)" if rounding == "trec_eval-9" else f"{exact}, to the nearest"


def _best(points: Step, least: int) -> Term:
    """The highest precision from the `least`-th relevant document on; 0 where there is none."""
    reached = points.terms[max(least - 1, 0) :]
    return max(reached, key=lambda term: term.value or 0.0, default=Term("", 0.0))
