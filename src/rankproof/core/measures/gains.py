"""Gain in other forms: averaged at the levels of the judgments, or blended with precision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np

from rankproof.core.arrays import down_to, earlier_total, positive_rows, running_total
from rankproof.core.derive import (
    Case,
    Found,
    Step,
    Term,
    Written,
    at_least,
    count_step,
    cut_at,
    divide_steps,
    number_text,
    quotient,
    relevant_step,
    sum_step,
    writes,
)
from rankproof.core.hits import Array, Hits, PerQuery, ratio
from rankproof.core.measure import Cutoff, GainOf, Grade, Positive
from rankproof.core.measures.ndcg_and_err import by_gain, discounted_gain, discounted_on_paper, gains, worth
from rankproof.core.measures.sets import relevant_count
from rankproof.core.names import measure


def with_gain(h: Hits, gain: GainOf) -> tuple[Hits, Hits]:
    """The rows that gain something, of the ranking and of the ideal order."""
    g = h.valued(gain)
    return positive_rows(g), positive_rows(g.ideal)


def cumulated_gain(g: Hits) -> Array:
    """For each row DCG down to it."""
    return running_total(g, g.grade / np.log2(g.rank + 1))


@measure("RnDCG", also=("Rndcg",))
def ndcg_at_levels(h: Hits, gain: GainOf = "linear") -> PerQuery:
    """nDCG averaged over the ranks at which the ideal order falls from one grade to the next.

    Formula: with n documents of the highest gain, m of the next, ...: the mean of nDCG@n, nDCG@(n+m), ..., and of nDCG
        over the whole ranking where it goes on for two documents or more after the last of these.
    Range: 0 to 1.
    Perfect: 1, when the best documents come first, by falling grade.
    Worst: 0, when nothing found has a gain.
    Blind to: wrong documents at the end.
    Use: for nDCG at cut-offs that fit the query, where queries have very different numbers of documents.
    Reference: C. Buckley, trec_eval (measure `Rndcg`).

    >>> from rankproof import evaluate
    >>> round(evaluate({"q": {"a": 2, "b": 1}}, {"q": ["b", "a"]}, "RnDCG")["RnDCG"], 4)
    0.6799
    """
    good, best = with_gain(h, gain)
    # The rows that are the last of their gain.
    ends = np.append((np.diff(best.grade) != 0) | (np.diff(best.query) != 0), True)[: len(best.grade)]
    at = best.keep(ends)
    reached = down_to(good, cumulated_gain(good), at.query, at.rank)
    goes_on = (h.retrieved >= best.count() + 2) & (best.count() > 0)
    whole = ratio(good.sum(good.grade / np.log2(good.rank + 1)), best.sum(best.grade / np.log2(best.rank + 1)))
    return ratio(at.sum(ratio(reached, cumulated_gain(best)[ends])) + goes_on * whole, at.count() + goes_on)


@measure("nDCGrel", also=("ndcg_rel",), worth=None, reorder=False)
def ndcg_at_relevant(h: Hits, gain: GainOf = "linear") -> PerQuery:
    """nDCG averaged over the ranks of the documents with a gain.

    Formula: mean over all documents with a gain of nDCG at the rank of the document; for one that was not found: DCG of
        the whole ranking / DCG of the whole ideal order.
    Range: 0 to 1.
    Perfect: 1, when the best documents come first, by falling grade.
    Worst: 0, when nothing found has a gain.
    Blind to: wrong documents after the last with a gain. A fair document moved up can lower it, where better ones were
        expected by then.
    Use: for nDCG without a choice of a cut-off.
    Reference: C. Buckley, trec_eval (measure `ndcg_rel`).

    >>> from rankproof import evaluate
    >>> round(evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x"]}, "nDCGrel")["nDCGrel"], 4)
    0.8066
    """
    good, best = with_gain(h, gain)
    reached = ratio(cumulated_gain(good), down_to(best, cumulated_gain(best), good.query, good.rank))
    at_the_end = ratio(discounted_gain(good), discounted_gain(best))
    return ratio(good.sum(reached) + (best.count() - good.count()) * at_the_end, best.count())


@measure("G", worth=None, reorder=False)
def normalised_gain(h: Hits, gain: GainOf = "linear") -> PerQuery:
    """Gain discounted by what was lost so far against the ideal order, not by rank alone.

    Formula: sum of gain / log2(2 + ideal gain down to the rank - gain down to the rank), divided by all there is to
        gain. The ideal order gains at least 1 at every rank here, also after its last document.
    Range: 0 to 1.
    Perfect: 1, when the best documents come first, by falling gain (none of them between 0 and 1).
    Worst: 0, when nothing found has a gain.
    Blind to: wrong documents at the end.
    Use: as trec_eval's experiment between AP and nDCG.
    Reference: C. Buckley, trec_eval (measure `G`).

    >>> from rankproof import evaluate
    >>> round(evaluate({"q": {"a": 2, "b": 1}}, {"q": ["b", "a"]}, "G")["G"], 4)
    0.877
    """
    good, best = with_gain(h, gain)
    total = best.count()[good.query]
    inside = down_to(best, running_total(best, np.maximum(best.grade, 1.0)), good.query, good.rank)
    cost = inside + np.maximum(good.rank - total, 0)
    value = good.grade / np.log2(2 + cost - running_total(good, good.grade))
    return ratio(good.sum(value), best.sum(best.grade))


@measure("binG")
def binary_gain(h: Hits, rel: Grade = 1) -> PerQuery:
    """Relevant documents discounted by the number of wrong ones above them.

    Formula: 1/R sum over relevant documents found of 1 / log2(2 + documents above that are not relevant).
    Range: 0 to 1.
    Perfect: 1, when all relevant documents come first.
    Worst: 0, when none is found.
    Blind to: how relevant a document is.
    Use: as trec_eval's experiment between AP and nDCG, for yes or no.
    Reference: C. Buckley, trec_eval (measure `binG`).

    >>> from rankproof import evaluate
    >>> round(evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}, "binG")["binG"], 4)
    0.8155
    """
    good = h.relevant(rel)
    return ratio(good.sum(1 / np.log2(2 + good.rank - good.nth)), relevant_count(h, rel))


@measure("Q", also=("q_measure", "Qmeasure"), worth=None, reorder=False)
def q_measure(h: Hits, k: Cutoff = None, rel: Grade = 1, beta: Positive = 1) -> PerQuery:
    """Average precision for graded judgments: precision blended with cumulated gain.

    Formula: 1/R sum over relevant documents found, at rank r, of (relevant down to r + beta gain down to r) / (r + beta
        ideal gain down to r); the gain is the grade. Grades below `rel` gain nothing, in the ideal order neither.
    Range: 0 to 1.
    Perfect: 1, when the best documents come first, by falling grade.
    Worst: 0, when no relevant document is found.
    Blind to: wrong documents after the last relevant one. A fair document moved up can lower it, where better ones were
        expected by then.
    Use: where AP is wanted and grades are there; a larger beta gives grades more weight.
    Reference: T. Sakai: New performance metrics based on multigrade relevance, NTCIR-4, 2004.

    >>> from rankproof import evaluate
    >>> round(evaluate({"q": {"a": 2, "b": 1}}, {"q": ["b", "a"]}, "Q")["Q"], 4)
    0.8333
    """
    good = h.relevant(rel).top(k)
    return ratio(good.sum(_blended(h, good, rel, beta)), relevant_count(h, rel))


def _blended(h: Hits, good: Hits, rel: float, beta: float) -> Array:
    """Sakai's blended ratio at the rank of each of these documents."""
    best = h.ideal.relevant(rel)
    ideal = down_to(best, running_total(best, np.maximum(best.grade, 0)), good.query, good.rank)
    return (good.nth + beta * running_total(good, np.maximum(good.grade, 0))) / (good.rank + beta * ideal)


@measure("P_plus", also=("pplus",), worth=None, reorder=False, divides_by="shown")
def p_plus(h: Hits, k: Cutoff = None, rel: Grade = 1, beta: Positive = 1) -> PerQuery:
    """The Q-measure of a reader who stops at the best document that the ranking shows.

    Formula: the mean of (relevant down to r + beta gain down to r) / (r + beta ideal gain down to r) over the relevant
        documents at ranks r down to the first one of the highest grade shown; the gain is the grade. Grades below `rel`
        gain nothing, in the ideal order neither.
    Range: 0 to 1.
    Perfect: 1, when the best documents come first, by falling grade; one of the highest grade at rank 1 is enough.
    Worst: 0, when no relevant document is shown.
    Blind to: everything after the first of the best documents shown, and so to most of what was missed.
    Use: where one good answer ends the search, as for navigation or questions, and grades are there.
    Reference: T. Sakai: Bootstrap-based comparisons of IR metrics for finding one relevant document, AIRS 2006.

    >>> from rankproof import evaluate
    >>> round(evaluate({"q": {"a": 2, "b": 1}}, {"q": ["b", "a"]}, "P_plus")["P_plus"], 4)
    0.8333
    """
    good = h.relevant(rel).top(k)
    highest = np.full(h.n, -np.inf)
    np.maximum.at(highest, good.query, good.grade)
    on_top = running_total(good, (good.grade == highest[good.query]).astype(np.float64))
    read = good.keep(earlier_total(good, on_top, 0.0) == 0)
    return ratio(read.sum(_blended(h, read, rel, beta)), read.count())


@writes(ndcg_at_levels)
def _ndcg_at_levels_on_paper(c: Case, gain: Any) -> Written:
    found, best = _with_gain(c.found, gain), by_gain(_with_gain(c.judged, gain), gain)
    ends, last = [], 0
    for _, level in groupby(best, key=lambda each: worth(each.grade, gain)):
        last += len(list(level))
        ends.append(_ndcg_at(found, best, last, gain, f"nDCG@{last}"))
    if best and c.returned >= last + 2:
        ends.append(_ndcg_at(found, best, c.returned, gain, "nDCG of the whole ranking"))
    sums = sum_step("found", "DCG / ideal DCG where the ideal order falls to the next gain", ends)
    end = quotient("result", "the mean of these", sums.number, len(ends))
    return Written((gains([*found, *best], gain), _order(best, gain), sums, end))


@writes(ndcg_at_relevant)
def _ndcg_at_relevant_on_paper(c: Case, gain: Any) -> Written:
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
    sums = sum_step("found", says, terms)
    end = quotient("result", "the mean over them", sums.number, len(best))
    return Written((gains([*found, *best], gain), _order(best, gain), sums, end))


def _ndcg_at(found: list[Found], best: list[Found], k: int, gain: Any, says: str, about: Found | None = None) -> Term:
    own = discounted_on_paper("", "", found, k, gain).number
    ideal = discounted_on_paper("", "", best, k, gain).number
    place = (None, None) if about is None else (about.rank or None, about.doc)
    return Term(f"{says}: {number_text(own)} / {number_text(ideal)}", own / ideal if ideal else 0.0, *place)


def _with_gain(documents: Sequence[Found], gain: Any) -> list[Found]:
    return [each for each in documents if worth(each.grade, gain) > 0]


def _order(best: list[Found], gain: Any) -> Step:
    terms = tuple(Term(f"gains {number_text(worth(each.grade, gain))}", None, each.rank, each.doc) for each in best)
    return Step("ideal", "the ideal order: all judged documents with a gain, best first", terms)


@writes(normalised_gain)
def _normalised_gain_on_paper(c: Case, gain: Any) -> Written:
    found, best = _with_gain(c.found, gain), by_gain(_with_gain(c.judged, gain), gain)
    terms, so_far = [], 0.0
    for each in found:
        own = worth(each.grade, gain)
        so_far += own
        reached = [max(worth(other.grade, gain), 1.0) for other in best if other.rank <= each.rank]
        ideal = math.fsum(reached) + max(each.rank - len(best), 0)
        expression = f"{number_text(own)} / log2(2 + {number_text(ideal)} - {number_text(so_far)})"
        terms.append(Term(expression, own / math.log2(2 + ideal - so_far), each.rank, each.doc))
    says = "gain / log2(2 + ideal gain down to the rank - gain down to the rank); the ideal gains 1 or more a rank"
    sums = sum_step("found", says, terms)
    every = [
        Term(f"gain {number_text(worth(each.grade, gain))}", worth(each.grade, gain), None, each.doc) for each in best
    ]
    goal = sum_step("denominator", "all there is to gain", every)
    return divide_steps(sums, goal, before=[gains([*found, *best], gain)])


@writes(binary_gain)
def _binary_gain_on_paper(c: Case, rel: float) -> Written:
    terms = [
        Term(f"1 / log2(2 + {each.rank - n})", 1 / math.log2(2 + each.rank - n), each.rank, each.doc)
        for n, each in enumerate(c.relevant(rel), start=1)
    ]
    says = f"1 / log2(2 + others above) of each that is {at_least(rel)}"
    sums, there_are = sum_step("found", says, terms), relevant_step("denominator", c, rel)
    return divide_steps(sums, there_are, "the sum divided by R")


@writes(q_measure)
def _q_measure_on_paper(c: Case, k: int | None, rel: float, beta: float) -> Written:
    ideal_order, sums = _blended_on_paper(c, c.relevant(rel, k), rel, beta, cut_at(k))
    there_are = relevant_step("denominator", c, rel)
    return divide_steps(sums, there_are, "the sum divided by R", [ideal_order])


@writes(p_plus)
def _p_plus_on_paper(c: Case, k: int | None, rel: float, beta: float) -> Written:
    good = c.relevant(rel, k)
    highest = max((each.grade for each in good), default=0.0)
    read = good[: next((n for n, each in enumerate(good, start=1) if each.grade == highest), 0)]
    ideal_order, sums = _blended_on_paper(c, read, rel, beta, f"down to the first of grade {highest:g}")
    shown = count_step("denominator", f"{at_least(rel)} down to there", read)
    return divide_steps(sums, shown, "the mean of these", [ideal_order])


def _blended_on_paper(c: Case, read: list[Found], rel: float, beta: float, where: str) -> tuple[Step, Step]:
    best = [each for each in c.judged if each.grade >= rel]
    terms, gained = [], 0.0
    for n, each in enumerate(read, start=1):
        gained += max(each.grade, 0)
        ideal = math.fsum(max(other.grade, 0) for other in best if other.rank <= each.rank)
        expression = f"({n} + {_times(beta, gained)}) / ({each.rank} + {_times(beta, ideal)})"
        value = (n + beta * gained) / (each.rank + beta * ideal)
        terms.append(Term(expression, value, each.rank, each.doc))
    blend = "gain" if beta == 1 else f"{beta:g} x gain"
    says = f"(relevant so far + {blend} so far) / (rank + ideal {blend} so far), of each {at_least(rel)} {where}"
    order = tuple(Term(f"grade {each.grade:g}", None, each.rank, each.doc) for each in best)
    ideal_order = Step("ideal", "the ideal order: all relevant documents, best first", order)
    return ideal_order, sum_step("found", says, terms)


def _times(factor: float, value: float) -> str:
    return number_text(value) if factor == 1 else f"{factor:g} x {number_text(value)}"
