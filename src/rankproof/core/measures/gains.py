"""Gain in other forms: averaged at the levels of the judgments, or blended with precision."""

from __future__ import annotations

import numpy as np

from rankproof.core.hits import Array, Hits, PerQuery, ratio
from rankproof.core.measure import measure
from rankproof.core.measures.graded import discounted
from rankproof.core.measures.running import down_to, positive, running
from rankproof.core.measures.sets import wanted
from rankproof.core.parameters import Cutoff, GainOf, Grade, Positive


def with_gain(h: Hits, gain: GainOf) -> tuple[Hits, Hits]:
    """The rows that gain something, of the ranking and of the ideal order."""
    g = h.valued(gain)
    return positive(g), positive(g.ideal)


def cumulated(g: Hits) -> Array:
    """For each row DCG down to it."""
    return running(g, g.grade / np.log2(g.rank + 1))


def level_ends(best: Hits) -> Array:
    """Which rows of an ideal order are the last of their gain."""
    if not len(best.grade):
        return np.zeros(0, dtype=bool)
    return np.append((np.diff(best.grade) != 0) | (np.diff(best.query) != 0), True)


@measure("RnDCG", also=("Rndcg",))
def ndcg_at_levels(h: Hits, gain: GainOf = "linear") -> PerQuery:
    """nDCG averaged over the ranks at which the ideal order falls from one grade to the next.

    Formula: with n documents of the highest gain, m of the next, ...: the mean of nDCG@n, nDCG@(n+m), ...,
    and of nDCG over the whole ranking where it goes on for two documents or more after the last of these.

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
    ends = level_ends(best)
    at = best.keep(ends)
    reached = down_to(good, cumulated(good), at.query, at.rank)
    goes_on = (h.retrieved >= best.count() + 2) & (best.count() > 0)
    whole = ratio(
        good.sum(good.grade / np.log2(good.rank + 1)), best.sum(best.grade / np.log2(best.rank + 1))
    )
    return ratio(at.sum(ratio(reached, cumulated(best)[ends])) + goes_on * whole, at.count() + goes_on)


@measure("nDCGrel", also=("ndcg_rel",), worth=None, reorder=False)
def ndcg_at_relevant(h: Hits, gain: GainOf = "linear") -> PerQuery:
    """nDCG averaged over the ranks of the documents with a gain.

    Formula: mean over all documents with a gain of nDCG at the rank of the document; for one that was not
    found: DCG of the whole ranking / DCG of the whole ideal order.

    Range: 0 to 1.

    Perfect: 1, when the best documents come first, by falling grade.

    Worst: 0, when nothing found has a gain.

    Blind to: wrong documents after the last with a gain. A fair document moved up can lower it, where better
    ones were expected by then.

    Use: for nDCG without a choice of a cut-off.

    Reference: C. Buckley, trec_eval (measure `ndcg_rel`).

    >>> from rankproof import evaluate
    >>> round(evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x"]}, "nDCGrel")["nDCGrel"], 4)
    0.8066
    """
    good, best = with_gain(h, gain)
    reached = ratio(cumulated(good), down_to(best, cumulated(best), good.query, good.rank))
    at_the_end = ratio(discounted(good), discounted(best))
    return ratio(good.sum(reached) + (best.count() - good.count()) * at_the_end, best.count())


@measure("G", worth=None, reorder=False)
def normalised_gain(h: Hits, gain: GainOf = "linear") -> PerQuery:
    """Gain discounted by what was lost so far against the ideal order, not by rank alone.

    Formula: sum of gain / log2(2 + ideal gain down to the rank - gain down to the rank), divided by all there
    is to gain. The ideal order gains at least 1 at every rank here, also after its last document.

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
    inside = down_to(best, running(best, np.maximum(best.grade, 1.0)), good.query, good.rank)
    cost = inside + np.maximum(good.rank - total, 0)
    value = good.grade / np.log2(2 + cost - running(good, good.grade))
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
    return ratio(good.sum(1 / np.log2(2 + good.rank - good.nth)), wanted(h, rel))


@measure("Q", also=("q_measure", "Qmeasure"), worth=None, reorder=False)
def q_measure(h: Hits, k: Cutoff = None, rel: Grade = 1, beta: Positive = 1) -> PerQuery:
    """Average precision for graded judgments: precision blended with cumulated gain.

    Formula: 1/R sum over relevant documents found, at rank r, of (relevant down to r + beta gain down to r) /
    (r + beta ideal gain down to r); the gain is the grade.

    Range: 0 to 1.

    Perfect: 1, when the best documents come first, by falling grade.

    Worst: 0, when no relevant document is found.

    Blind to: wrong documents after the last relevant one. A fair document moved up can lower it, where better
    ones were expected by then.

    Use: where AP is wanted and grades are there; a larger beta gives grades more weight.

    Reference: T. Sakai: New performance metrics based on multigrade relevance, NTCIR-4, 2004.

    >>> from rankproof import evaluate
    >>> round(evaluate({"q": {"a": 2, "b": 1}}, {"q": ["b", "a"]}, "Q")["Q"], 4)
    0.8333
    """
    good, best = h.relevant(rel).top(k), h.ideal.relevant(rel)
    ideal = down_to(best, running(best, best.grade), good.query, good.rank)
    blended = (good.nth + beta * running(good, good.grade)) / (good.rank + beta * ideal)
    return ratio(good.sum(blended), wanted(h, rel))
