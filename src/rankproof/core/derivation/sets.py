"""Derivations of measures of what was retrieved: P, R, F, Success and their kin."""

from __future__ import annotations

from rankproof.core.derivation.registry import writes
from rankproof.core.derivation.steps import (
    Case,
    Step,
    Written,
    at_least,
    capped,
    counted,
    evenly,
    quotient,
    relevant_shown,
    said,
    share,
    shown,
    wanted,
)
from rankproof.core.measures import sets


@writes(sets.precision)
def precision(c: Case, k: int | None, rel: float, denominator: str, scores: str, threshold: str) -> Written:
    """Relevant documents shown by documents shown."""
    rel, before = c.least(rel, threshold)
    good = c.relevant(rel, k, scores)
    return share(relevant_shown(good, k, rel, scores), shown(c, k, denominator), good, before=before)


@writes(sets.recall)
def recall(c: Case, k: int | None, rel: float, denominator: str, scores: str, threshold: str) -> Written:
    """Relevant documents shown by relevant documents there are."""
    rel, before = c.least(rel, threshold)
    good = c.relevant(rel, k, scores)
    found, there_are = relevant_shown(good, k, rel, scores), _to_find(c, k, rel, denominator)
    return share(found, there_are, good, before=before)


def _to_find(c: Case, k: int | None, rel: float, denominator: str) -> Step:
    if denominator == "returned":
        return counted("denominator", f"{at_least(rel)} in the whole ranking", c.relevant(rel))
    step = wanted("denominator", c, rel)
    return step if denominator == "all" or k is None else capped(step, k)


@writes(sets.f_measure)
def f_measure(c: Case, k: int | None, rel: float, beta: float) -> Written:
    """Precision and recall, then their harmonic mean."""
    good, there_are, out_of = c.relevant(rel, k), wanted("wanted", c, rel), shown(c, k, "k")
    p = quotient("P", "precision P", len(good), out_of.number)
    r = quotient("R", "recall R", len(good), there_are.number)
    square = beta**2
    formula = "2 P R / (P + R)" if beta == 1 else f"(1 + {square:g}) P R / ({square:g} P + R)"
    top, bottom = (1 + square) * p.number * r.number, square * p.number + r.number
    end = quotient("result", f"F = {formula}", top, bottom)
    steps = (relevant_shown(good, k, rel), out_of, there_are, p, r, end)
    return Written(steps, evenly(good, end.number))


@writes(sets.success)
def success(c: Case, k: int | None, rel: float) -> Written:
    """Whether anything relevant is shown."""
    good = c.relevant(rel, k)
    end = Step("result", "1 if there is one, else 0", value=float(bool(good)))
    return Written((relevant_shown(good, k, rel), end), {each.rank: 1.0 for each in good[:1]})


@writes(sets.relative_precision)
def relative_precision(c: Case, k: int | None, rel: float) -> Written:
    """Relevant documents shown by those that could be."""
    good, there_are = c.relevant(rel, k), wanted("wanted", c, rel)
    places = c.returned if k is None else k
    fewer = f"min({places}, {said(there_are.number)})"
    says = "the most that could be: R, or the places where they are fewer"
    best = Step("denominator", says, (), fewer, min(places, there_are.number))
    return share(relevant_shown(good, k, rel), best, good, before=[there_are])


@writes(sets.set_average_precision)
def set_average_precision(c: Case, k: int | None, rel: float) -> Written:
    """Precision times recall of the set."""
    good, there_are, out_of = c.relevant(rel, k), wanted("wanted", c, rel), shown(c, k)
    p = quotient("P", "precision P", len(good), out_of.number)
    r = quotient("R", "recall R", len(good), there_are.number)
    value = p.number * r.number
    end = Step("result", "P times R", (), f"{said(p.number)} x {said(r.number)}", value)
    return Written((relevant_shown(good, k, rel), out_of, there_are, p, r, end), evenly(good, value))
