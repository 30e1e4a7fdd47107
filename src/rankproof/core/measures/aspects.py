"""Measures of aspects (subtopics, claims, entities): how many of the aspects of a query are covered."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Literal

import numpy as np

from rankproof.core.arrays import distinct, so_far
from rankproof.core.derive import (
    Case,
    Found,
    Step,
    Term,
    Written,
    at_least,
    cut_at,
    divide_steps,
    number_text,
    parts,
    shown_step,
    sum_step,
    writes,
)
from rankproof.core.hits import Array, Hits, PerQuery, ratio
from rankproof.core.measure import Cutoff, Grade
from rankproof.core.measures.sets import divisor
from rankproof.core.names import measure

Of = Literal["coverable", "declared"]


def groups(rows: Hits, width: int) -> Array:
    """A number for the query and aspect of each row."""
    return rows.query * width + aspect_of(rows)


def aspect_of(rows: Hits) -> Array:
    """The aspect of each row; 0 if there are none."""
    return np.zeros_like(rows.query) if rows.aspect is None else rows.aspect


def width_of(h: Hits) -> int:
    """More than any aspect's number."""
    return int(aspect_of(h.judged).max(initial=0)) + 1


def count_above(rows: Hits, width: int) -> Array:
    """For each row how many documents above it in its query are about the same aspect."""
    return so_far(groups(rows, width))


def coverable_aspects(h: Hits, rel: float) -> PerQuery:
    """How many aspects of each query some document is relevant to."""
    good, width = h.judged.relevant(rel), width_of(h)
    return np.bincount(distinct(groups(good, width)) // width, minlength=h.n).astype(np.float64)


def covers(h: Hits, rel: float) -> Hits:
    """The documents that are relevant to any aspect, those to most aspects first; grade: how many."""
    good = h.judged.relevant(rel)
    place = int(good.rank.max(initial=0)) + 1
    document, at, count = np.unique(good.query * place + good.rank, return_index=True, return_counts=True)
    order = np.lexsort((-count, document // place))
    once = good.keep(at[order])
    return replace(once, rank=once.nth, grade=count[order].astype(np.float64))


def _recall_ceiling(h: Hits, k: Cutoff = None, rel: Grade = 1, denominator: Of = "coverable") -> PerQuery:
    """No more aspects than the k documents about most of them could cover."""
    best = covers(h, rel).top(k)
    within = np.minimum(best.sum(best.grade), coverable_aspects(h, rel))
    return ratio(within, coverable_aspects(h, rel) if denominator == "coverable" else h.declared)


@measure(
    "StRecall",
    also=("strec", "subtopic_recall", "aspect_recall"),
    presets={
        name: {"denominator": "declared"}
        for name in ("context_recall", "contextual_recall", "context_entity_recall", "completeness")
    },
    aspects=True,
    ceiling=_recall_ceiling,
    worth=None,
    reorder=False,
)
def subtopic_recall(h: Hits, k: Cutoff = None, rel: Grade = 1, denominator: Of = "coverable") -> PerQuery:
    """The share of a query's aspects that the documents shown cover.

    Formula: aspects with a relevant document in the top k / aspects with any relevant document.
        `denominator='declared'` divides by all aspects that were declared, also those that no document covers: with the
        claims (or entities) of a reference answer as aspects that is context recall.
    Range: 0 to 1.
    Perfect: 1, when every aspect is covered.
    Worst: 0, when none is.
    Blind to: the order within the top k, and how often an aspect is covered.
    Use: where a question has several sides, or an answer several claims, and each needs its evidence.
    Reference: C. Zhai, W. W. Cohen, J. Lafferty: Beyond independent relevance, SIGIR 2003.

    >>> from rankproof import evaluate
    >>> evidence = {"q": {"a": {"claim 1": 1, "claim 2": 1}, "b": {"claim 3": 0}}}
    >>> evaluate(evidence, {"q": ["a", "b"]}, "context_recall")["context_recall"]
    0.6666666666666666
    """
    good = h.relevant(rel).top(k)
    covered = good.sum(count_above(good, width_of(h)) == 0)
    return ratio(covered, coverable_aspects(h, rel) if denominator == "coverable" else h.declared)


def _precision_ceiling(h: Hits, k: Cutoff = None, rel: Grade = 1) -> PerQuery:
    """The documents about most aspects first; without a cut-off, only the best of them."""
    best = covers(h, rel).top(1 if k is None else k)
    return ratio(best.sum(best.grade), coverable_aspects(h, rel) * (1 if k is None else k))


@measure(
    "P_IA", also=("precision_ia",), aspects=True, additive=True, ceiling=_precision_ceiling, worth=None, reorder=False
)
def intent_aware_precision(h: Hits, k: Cutoff = None, rel: Grade = 1) -> PerQuery:
    """Precision for each aspect of a query, averaged over the aspects.

    Formula: mean over aspects (with any relevant document) of P@k.
    Range: 0 to 1.
    Perfect: 1, when every document shown is about every aspect; rarely within reach.
    Worst: 0, when none is about any.
    Blind to: the order within the top k, and whether one aspect gets everything.
    Use: as the plainest measure of diversity; StRecall and alpha-nDCG say more.
    Reference: R. Agrawal, S. Gollapudi, A. Halverson, S. Ieong: Diversifying search results, WSDM 2009.

    >>> from rankproof import evaluate
    >>> relevant = {"q": {"a": {"one side": 1}, "b": {"other": 1}}}
    >>> evaluate(relevant, {"q": ["a", "b"]}, "P_IA@2")["P_IA@2"]
    0.5
    """
    return ratio(h.relevant(rel).top(k).count(), divisor(h, k, "k") * coverable_aspects(h, rel))


def full_marks(h: Hits, rel: float, **others: object) -> PerQuery:
    """1 if there is anything to find, though aspects may stand in each other's way."""
    return (coverable_aspects(h, rel) > 0).astype(np.float64)


@measure("AP_IA", also=("MAP_IA",), aspects=True, ceiling=full_marks, worth=None, reorder=False)
def intent_aware_average_precision(h: Hits, k: Cutoff = None, rel: Grade = 1) -> PerQuery:
    """Average precision for each aspect of a query, averaged over the aspects.

    Formula: mean over aspects (with any relevant document) of AP.
    Range: 0 to 1.
    Perfect: 1, when for every aspect its documents come first; only documents about all aspects can do that.
    Worst: 0, when none is found.
    Blind to: redundancy: a second document about an aspect counts like the first.
    Use: with few aspects that share their documents.
    Reference: R. Agrawal, S. Gollapudi, A. Halverson, S. Ieong: Diversifying search results, WSDM 2009.

    >>> from rankproof import evaluate
    >>> relevant = {"q": {"a": {"one side": 1}, "b": {"other": 1}}}
    >>> evaluate(relevant, {"q": ["a", "b"]}, "AP_IA")["AP_IA"]
    0.75
    """
    width, good = width_of(h), h.relevant(rel).top(k)
    total = np.bincount(groups(h.judged.relevant(rel), width), minlength=h.n * width)
    precision = (count_above(good, width) + 1) / good.rank
    return ratio(good.sum(precision / total[groups(good, width)]), coverable_aspects(h, rel))


@writes(subtopic_recall)
def _subtopic_recall_on_paper(c: Case, k: int | None, rel: float, denominator: str) -> Written:
    terms, covered = [], set[str]()
    for each in c.relevant(rel, k):
        if each.aspect not in covered:
            covered.add(each.aspect)
            terms.append(Term(f"covers {aspect_name(each)}", 1.0, each.rank, each.doc))
    sums = sum_step("found", f"aspects first covered by a document that is {at_least(rel)} {cut_at(k)}", terms)
    if denominator == "coverable":
        of = coverable_on_paper(c, rel)
    else:
        says = "aspects that were declared, whether a document covers them or not"
        of = Step("denominator", says, value=float(c.hits.declared[0]))
    return divide_steps(sums, of)


@writes(intent_aware_precision)
def _intent_aware_precision_on_paper(c: Case, k: int | None, rel: float) -> Written:
    good = c.relevant(rel, k)
    terms = [Term(f"relevant to {aspect_name(each)}", 1.0, each.rank, each.doc) for each in good]
    sums = sum_step("found", f"{at_least(rel)} {cut_at(k)}", terms)
    of, places = coverable_on_paper(c, rel), shown_step(c, k, "k")
    bottom = of.number * places.number
    says = "divided by the places times the aspects: the mean of P over aspects"
    expression = f"{number_text(sums.number)} / ({number_text(places.number)} x {number_text(of.number)})"
    end = Step("result", says, (), expression, sums.number / bottom if bottom else 0.0)
    return Written((sums, places, of, end), parts(sums, bottom))


@writes(intent_aware_average_precision)
def _intent_aware_average_precision_on_paper(c: Case, k: int | None, rel: float) -> Written:
    there_are = Counter(each.aspect for each in c.all_relevant(rel))
    so_far, terms = Counter[str](), []
    for each in c.relevant(rel, k):
        so_far[each.aspect] += 1
        n, of_all = so_far[each.aspect], there_are[each.aspect]
        expression = f"{aspect_name(each)}: {n}/{each.rank} / {of_all}"
        terms.append(Term(expression, n / each.rank / of_all, each.rank, each.doc))
    says = "precision of the aspect at each of its ranks / relevant documents of the aspect"
    sums, of = sum_step("found", f"{says}, {cut_at(k)}", terms), coverable_on_paper(c, rel)
    return divide_steps(sums, of, "the mean over aspects")


def coverable_on_paper(c: Case, rel: float) -> Step:
    """The aspects that any document is relevant to."""
    documents = Counter(aspect_name(each) for each in c.all_relevant(rel))
    terms = tuple(Term(f"{name}: {count}") for name, count in documents.items())
    says = "aspects with a relevant document, and how many each has"
    return Step("denominator", says, terms, "how many", float(len(documents)))


def aspect_name(each: Found) -> str:
    """The aspect by its name; the query as a whole where it has none."""
    return each.aspect or "the query"
