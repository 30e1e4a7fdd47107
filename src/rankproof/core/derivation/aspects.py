"""Derivations of measures of aspects: what a query asks for, and which of it the documents cover."""

from __future__ import annotations

from collections import Counter

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
    shown,
    summed,
)
from rankproof.core.measures import aspects


@writes(aspects.subtopic_recall)
def subtopic_recall(c: Case, k: int | None, rel: float, denominator: str) -> Written:
    """Aspects covered by aspects there are."""
    terms, covered = [], set[str]()
    for each in c.relevant(rel, k):
        if each.aspect not in covered:
            covered.add(each.aspect)
            terms.append(Term(f"covers {called(each)}", 1.0, each.rank, each.doc))
    sums = summed("found", f"aspects first covered by a document that is {at_least(rel)} {cut_at(k)}", terms)
    if denominator == "coverable":
        of = coverable(c, rel)
    else:
        says = "aspects that were declared, whether a document covers them or not"
        of = Step("denominator", says, value=float(c.hits.declared[0]))
    end = quotient("result", "the one divided by the other", sums.number, of.number)
    return Written((sums, of, end), parts(sums, of.number))


@writes(aspects.intent_aware_precision)
def intent_aware_precision(c: Case, k: int | None, rel: float) -> Written:
    """Precision for each aspect, and the mean."""
    good = c.relevant(rel, k)
    terms = [Term(f"relevant to {called(each)}", 1.0, each.rank, each.doc) for each in good]
    sums, of, places = (
        summed("found", f"{at_least(rel)} {cut_at(k)}", terms),
        coverable(c, rel),
        shown(c, k, "k"),
    )
    bottom = of.number * places.number
    says = "divided by the places times the aspects: the mean of P over aspects"
    expression = f"{said(sums.number)} / ({said(places.number)} x {said(of.number)})"
    end = Step("result", says, (), expression, sums.number / bottom if bottom else 0.0)
    return Written((sums, places, of, end), parts(sums, bottom))


@writes(aspects.intent_aware_average_precision)
def intent_aware_average_precision(c: Case, k: int | None, rel: float) -> Written:
    """Average precision for each aspect, and the mean."""
    there_are = Counter(each.aspect for each in c.wanted(rel))
    so_far, terms = Counter[str](), []
    for each in c.relevant(rel, k):
        so_far[each.aspect] += 1
        n, of_all = so_far[each.aspect], there_are[each.aspect]
        expression = f"{called(each)}: {n}/{each.rank} / {of_all}"
        terms.append(Term(expression, n / each.rank / of_all, each.rank, each.doc))
    says = "precision of the aspect at each of its ranks / relevant documents of the aspect"
    sums, of = summed("found", f"{says}, {cut_at(k)}", terms), coverable(c, rel)
    end = quotient("result", "the mean over aspects", sums.number, of.number)
    return Written((sums, of, end), parts(sums, of.number))


def coverable(c: Case, rel: float) -> Step:
    """The aspects that any document is relevant to."""
    documents = Counter(called(each) for each in c.wanted(rel))
    terms = tuple(Term(f"{name}: {count}") for name, count in documents.items())
    says = "aspects with a relevant document, and how many each has"
    return Step("denominator", says, terms, "how many", float(len(documents)))


def called(each: Found) -> str:
    """The aspect by its name; the query as a whole where it has none."""
    return each.aspect or "the query"
