"""Interpolated precision: the precision-recall curve, and its mean over eleven points."""

from __future__ import annotations

from typing import Literal

import numpy as np

from rankproof.core.derive import Case, Step, Term, Written, at_least, number_text, relevant_step, writes
from rankproof.core.hits import Array, Hits, PerQuery
from rankproof.core.measure import Grade, Share
from rankproof.core.measures.rr_and_ap import precisions
from rankproof.core.measures.sets import relevant_count
from rankproof.core.names import measure

Rounding = Literal["nearest", "trec_eval-9"]
POINTS = tuple(i / 10 for i in range(11))


def needed_count(total: Array, recall: float, rounding: str) -> Array:
    """How many relevant documents make up that recall: to the nearest, halves up, or as trec_eval 9 cuts."""
    exact = recall * total
    if rounding == "trec_eval-9":
        return np.floor(exact + 0.9)
    return np.floor(exact) + (exact - np.floor(exact) >= 0.5)


@measure("IPrec", also=("iprec", "iprec_at_recall"), at="recall")
def interpolated_precision(h: Hits, recall: Share = 0, rel: Grade = 1, rounding: Rounding = "nearest") -> PerQuery:
    """The best precision with at least a given recall: one point of the precision-recall curve.

    Formula: IPrec@r = max of P@k over all k at which r times R relevant documents were found (rounded to a whole
        number; `rounding='trec_eval-9'` rounds as that version does, by adding 0.9 and cutting).
    Range: 0 to 1.
    Perfect: 1, when no wrong document comes before that recall is reached.
    Worst: 0, when that recall is never reached.
    Blind to: everything below the point, and how relevant a document is.
    Use: to draw precision against recall, averaged over queries.
    Reference: C. J. van Rijsbergen: Information Retrieval, 2nd edition, Butterworths 1979, chapter 7.

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "y", "b"]}, "IPrec@0.8")["IPrec@0.8"]
    0.5
    """
    good = h.relevant(rel)
    reached = good.nth >= needed_count(relevant_count(h, rel), recall, rounding)[good.query]
    best = np.zeros(h.n)
    np.maximum.at(best, good.query[reached], (good.nth / good.rank)[reached])
    return best


@measure("IPrec11", also=("11pt_avg", "11pt", "eleven_point"))
def eleven_points(h: Hits, rel: Grade = 1, rounding: Rounding = "nearest") -> PerQuery:
    """The mean of interpolated precision over recall 0, .1, .2, ... 1: the area below the curve, coarsely.

    Formula: mean of IPrec@r over r = 0, .1, ... 1.
    Range: 0 to 1.
    Perfect: 1, when all relevant documents come first.
    Worst: 0, when none is found.
    Blind to: how relevant a document is; it moves in steps if there are few relevant documents.
    Use: to compare with results of the time before AP; AP is the finer measure of the same thing.
    Reference: G. Salton, M. J. McGill: Introduction to Modern Information Retrieval, 1983, chapter 5.

    >>> from rankproof import evaluate
    >>> round(evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "y", "b"]}, "IPrec11")["IPrec11"], 4)
    0.8636
    """
    values = [interpolated_precision(h, recall=point, rel=rel, rounding=rounding) for point in POINTS]
    return np.mean(values, axis=0)  # type: ignore[no-any-return]


@writes(interpolated_precision)
def _interpolated_precision_on_paper(c: Case, recall: float, rel: float, rounding: str) -> Written:
    there_are, points = relevant_step("denominator", c, rel), _curve(c, rel)
    least = _needed(there_are, recall, rounding)
    exact = f"{recall:g} x {number_text(there_are.number)}"
    how = f"floor({exact} + 0.9)" if rounding == "trec_eval-9" else f"{exact}, to the nearest"
    rounded = Step("needed", "relevant documents needed", (), how, float(least))
    best = _best(points, least)
    says = f"the best precision from the {least}. of them on" if best.rank else "so many were not found"
    return Written((there_are, rounded, points, Step("result", says, (best,) if best.rank else (), "", best.value)))


@writes(eleven_points)
def _eleven_points_on_paper(c: Case, rel: float, rounding: str) -> Written:
    there_are, points = relevant_step("denominator", c, rel), _curve(c, rel)
    terms = []
    for recall in POINTS:
        least = _needed(there_are, recall, rounding)
        terms.append(Term(f"recall {recall:g}: {least} needed, best precision", _best(points, least).value))
    total = sum(term.value or 0.0 for term in terms)
    best = Step("points", "the best precision at each recall", tuple(terms), "sum", total)
    end = Step("result", "the mean over the eleven", (), f"{number_text(total)} / 11", total / 11)
    return Written((there_are, points, best, end))


def _curve(c: Case, rel: float) -> Step:
    """The precision at each relevant rank; they are not added up."""
    step = precisions(c.relevant(rel), f"precision at each rank that is {at_least(rel)}")
    return Step(step.kind, step.says, step.terms)


def _needed(there_are: Step, recall: float, rounding: str) -> int:
    return int(needed_count(np.array(there_are.number), recall, rounding))


def _best(points: Step, least: int) -> Term:
    """The highest precision from the `least`-th relevant document on; 0 if there is none."""
    reached = points.terms[max(least - 1, 0) :]
    return max(reached, key=lambda term: term.value or 0.0, default=Term("", 0.0))
