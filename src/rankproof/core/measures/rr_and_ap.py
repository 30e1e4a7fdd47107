"""Measures of the ranks of relevant documents: reciprocal rank, average precision and related ones."""

from __future__ import annotations

import math
from functools import partial
from typing import Literal

import numpy as np

from rankproof.core.bounds import ap_bounds, rr_bounds
from rankproof.core.derive import (
    Case,
    Found,
    Step,
    Term,
    Written,
    at_least,
    cap_step,
    count_step,
    cut_at,
    divide_steps,
    even_shares,
    graded_terms,
    number_text,
    quotient,
    relevant_shown,
    relevant_step,
    shown_step,
    sum_step,
    writes,
)
from rankproof.core.expected_and_extreme_values import ap_divisor, expected_ap, expected_rr
from rankproof.core.hits import Hits, PerQuery, ratio
from rankproof.core.measure import Cutoff, Grade, Positive, Scored, Threshold
from rankproof.core.measures.sets import NOT_BOUNDED, relevant_count
from rankproof.core.names import measure


@measure(
    "RR",
    also=("MRR", "recip_rank", "reciprocal_rank", "mean_reciprocal_rank"),
    optimistic=True,
    expected=expected_rr,
    divides_by="none",
    unjudged=rr_bounds,
    when=NOT_BOUNDED,
)
def reciprocal_rank(
    h: Hits, k: Cutoff = None, rel: Grade = 1, scores: Scored = "any", threshold: Threshold = "rel"
) -> PerQuery:
    """One over the rank of the first relevant document; its mean is MRR.

    Formula: RR = 1 / rank of the first relevant document; 0 if there is none (in the top k). `scores='positive'` takes
        a document scored 0 or less for not relevant; `threshold='query'` takes for `rel` max(half the highest, 90th
        percentile by nearest rank) of the query's grades, if above 0.
    Range: 0 to 1.
    Perfect: 1, with a relevant document at rank 1.
    Worst: 0, with none.
    Blind to: everything after the first relevant document.
    Use: when one answer is wanted and the reader goes down the list until it is found.
    Reference: E. M. Voorhees: The TREC-8 question answering track report, TREC 1999.

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, "MRR")["MRR"]
    0.5
    """
    good = h.with_scores(scores).relevant(rel, threshold).top(k)
    return good.sum((good.nth == 1) / good.rank)


@measure(
    "AP",
    also=("MAP", "map_cut", "average_precision", "mean_average_precision"),
    presets={name: {"denominator": "found"} for name in ("context_precision", "contextual_precision")},
    expected=expected_ap,
    divides_by="all",
    unjudged=ap_bounds,
    capped_by=("more",),
    when={
        ("denominator", "found"): {"divides_by": "shown"},
        ("denominator", "k"): {"divides_by": "none", "capped_by": ("fewer",)},
        **NOT_BOUNDED,
    },
)
def average_precision(
    h: Hits,
    k: Cutoff = None,
    rel: Grade = 1,
    denominator: Literal["all", "found", "min", "k"] = "all",
    scores: Scored = "any",
    threshold: Threshold = "rel",
) -> PerQuery:
    """The mean over the relevant documents of the precision at their ranks; its mean is MAP.

    Formula: AP = (sum over relevant documents found of P@rank) / R. `denominator='found'` divides by the relevant
        documents found (context precision), `'min'` by min(k, R), `'k'` by k (without a cut-off by R).
        `scores='positive'` takes a document scored 0 or less for not relevant; `threshold='query'` takes for `rel`
        max(half the highest, 90th percentile by nearest rank) of the query's grades, if above 0.
    Range: 0 to 1.
    Perfect: 1, when all relevant documents come first; at k < R only with another denominator than R, with `'k'` only
        where R is k or more.
    Worst: 0, when no relevant document is found.
    Blind to: how relevant a document is; `'found'` also to what was missed.
    Use: one number for precision and recall together when relevance is yes or no.
    Reference: C. Buckley, E. M. Voorhees: Evaluating evaluation measure stability, SIGIR 2000.

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "y", "b"]}, "MAP")["MAP"]
    0.75
    """
    good = h.with_scores(scores).relevant(rel, threshold).top(k)
    divisor = ap_divisor(denominator, k, good.count(), relevant_count(h, rel, threshold))
    return ratio(good.sum(good.nth / good.rank), divisor)


@measure("GMAP", also=("gm_map",), expected=expected_ap, average="geometric")
def geometric_average_precision(h: Hits, k: Cutoff = None, rel: Grade = 1) -> PerQuery:
    """Average precision, averaged over queries by the geometric mean, so that the weakest queries count most.

    Formula: AP of each query; over queries exp(mean of log(max(AP, 0.00001))).
    Range: 0 to 1; a mean never falls below 0.00001.
    Perfect: 1, when all relevant documents come first for every query.
    Worst: 0 for a query without a relevant document found.
    Blind to: how relevant a document is; and it is moved more by .01 against .02 than by .5 against .9.
    Use: to see whether the failures got better, not the successes.
    Reference: S. Robertson: On GMAP and other transformations, CIKM 2006.

    >>> from rankproof import evaluate
    >>> relevant = {"q": {"a": 1}, "r": {"b": 1}}
    >>> evaluate(relevant, {"q": ["a"], "r": ["w", "x", "y", "b"]}, "GMAP")["GMAP"]
    0.5
    """
    return average_precision(h, k=k, rel=rel, denominator="all", scores="any", threshold="rel")


@measure("yaap", also=("YAAP",), ceiling=lambda h, rel: np.log1p(relevant_count(h, rel)), bounds=(-math.inf, math.inf))
def average_precision_odds(h: Hits, rel: Grade = 1) -> PerQuery:
    """Average precision on the scale of log odds, where differences at both ends count alike.

    Formula: log((1 + s) / (1 + R - s)) with s = AP times R.
    Range: -log(1 + R) to log(1 + R).
    Perfect: log(1 + R), when all relevant documents come first.
    Worst: -log(1 + R), when none is found.
    Blind to: how relevant a document is.
    Use: for means and tests over queries of very different difficulty.
    Reference: S. Robertson: On smoothing average precision, ECIR 2012; trec_eval (measure `yaap`).

    >>> from rankproof import evaluate
    >>> round(evaluate({"q": {"a": 1}}, {"q": ["a"]}, "yaap")["yaap"], 4)
    0.6931
    """
    good, total = h.relevant(rel), relevant_count(h, rel)
    precisions = good.sum(good.nth / good.rank)
    return np.log((1 + precisions) / (1 + total - precisions))


@measure(
    "Rprec",
    also=("r_precision", "R_precision", "RPrec"),
    additive=True,
    divides_by="all",
    when={("denominator", "returned"): {"divides_by": "returned"}},
)
def r_precision(h: Hits, rel: Grade = 1, denominator: Literal["all", "returned"] = "all") -> PerQuery:
    """Precision at R, the number of relevant documents, where precision and recall are the same.

    Formula: relevant in the top R / R. `denominator='returned'` takes for R the relevant documents in the ranking, as
        tools do that are given the returned documents only.
    Range: 0 to 1.
    Perfect: 1, when the relevant documents fill the top R.
    Worst: 0, when none is there.
    Blind to: the order within the top R, everything below it, and how relevant a document is.
    Use: one cut-off for queries with different numbers of relevant documents.
    Reference: C. Buckley, E. M. Voorhees: Evaluating evaluation measure stability, SIGIR 2000.

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}, "Rprec")["Rprec"]
    0.5
    """
    good = h.relevant(rel)
    # Rows spread over a tie have weights that add up to whole numbers only nearly.
    depth = relevant_count(h, rel) if denominator == "all" else np.rint(good.count())
    return ratio(good.keep(good.rank <= depth[good.query]).count(), depth)


@measure("RprecMult", also=("Rprec_mult",), at="multiple")
def precision_at_multiple(h: Hits, multiple: Positive = 1, rel: Grade = 1) -> PerQuery:
    """Precision after a multiple of R documents, where R is the number of relevant ones.

    Formula: relevant in the top k / k with k = floor(multiple R + 0.9).
    Range: 0 to 1.
    Perfect: 1, when every document down to there is relevant; out of reach for a multiple above 1.
    Worst: 0, when none is.
    Blind to: the order within the top k, and how relevant a document is.
    Use: to see whether a ranking is good at the top or deep down, on queries with different R.
    Reference: C. Buckley, trec_eval (measure `Rprec_mult`).

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b", "y"]}, "RprecMult@2")["RprecMult@2"]
    0.5
    """
    depth = np.floor(multiple * relevant_count(h, rel) + 0.9)
    good = h.relevant(rel)
    return ratio(good.keep(good.rank <= depth[good.query]).count(), depth)


@writes(reciprocal_rank)
def _reciprocal_rank_on_paper(c: Case, k: int | None, rel: float, scores: str, threshold: str) -> Written:
    rel, before = c.least_grade(rel, threshold)
    good = c.relevant(rel, k, scores)
    if not good:
        none = f"no document {cut_at(k)} is {at_least(rel, scores)}"
        return Written((*before, Step("result", none, value=0.0)))
    rank = good[0].rank
    says = f"rank of the first that is {at_least(rel, scores)}"
    first = Step("found", says, graded_terms(good[:1]), f"rank {rank}", float(rank))
    end = quotient("result", "one over that rank", 1.0, rank)
    return Written((*before, first, end), {rank: end.number})


@writes(average_precision)
def _average_precision_on_paper(
    c: Case, k: int | None, rel: float, denominator: str, scores: str, threshold: str
) -> Written:
    rel, before = c.least_grade(rel, threshold)
    good = c.relevant(rel, k, scores)
    sums = precisions(good, f"precision at each rank that is {at_least(rel, scores)}, {cut_at(k)}")
    divisor = _divisor(c, good, k, rel, denominator)
    return divide_steps(sums, divisor, "the sum divided by that", before)


# For one query it is average precision.
writes(geometric_average_precision)(
    partial(_average_precision_on_paper, denominator="all", scores="any", threshold="rel")
)


def precisions(good: list[Found], says: str) -> Step:
    """Of each of these documents how many of them there are down to its rank, by that rank."""
    terms = [Term(f"{n} of {each.rank}", n / each.rank, each.rank, each.doc) for n, each in enumerate(good, start=1)]
    return sum_step("found", says, terms)


def _divisor(c: Case, good: list[Found], k: int | None, rel: float, denominator: str) -> Step:
    if denominator == "found":
        says = f"documents found that are {at_least(rel)}, {cut_at(k)}"
        return Step("denominator", says, value=float(len(good)))
    if denominator == "k" and k is not None:
        return shown_step(c, k, "k")
    step = relevant_step("denominator", c, rel)
    return step if denominator == "all" or k is None else cap_step(step, k)


@writes(average_precision_odds)
def _average_precision_odds_on_paper(c: Case, rel: float) -> Written:
    sums = precisions(c.relevant(rel), f"s, precision at each rank that is {at_least(rel)}")
    there_are = relevant_step("denominator", c, rel)
    top, bottom = 1 + sums.number, 1 + there_are.number - sums.number
    expression = f"log({number_text(top)} / {number_text(bottom)})"
    end = Step("result", "log((1 + s) / (1 + R - s))", (), expression, math.log(top / bottom))
    return Written((sums, there_are, end))


@writes(r_precision)
def _r_precision_on_paper(c: Case, rel: float, denominator: str) -> Written:
    if denominator == "all":
        depth = relevant_step("denominator", c, rel)
    else:
        depth = count_step("denominator", f"R, all that are {at_least(rel)} in the ranking", c.relevant(rel))
    return _at_depth(c, depth, int(depth.number), rel)


@writes(precision_at_multiple)
def _precision_at_multiple_on_paper(c: Case, multiple: float, rel: float) -> Written:
    there_are = relevant_step("wanted", c, rel)
    depth = math.floor(multiple * there_are.number + 0.9)
    expression = f"floor({multiple:g} x {number_text(there_are.number)} + 0.9)"
    cut = Step("denominator", "where to cut", (), expression, float(depth))
    return _at_depth(c, cut, depth, rel, there_are)


def _at_depth(c: Case, depth: Step, k: int, rel: float, *before: Step) -> Written:
    good = c.relevant(rel, k)
    found = relevant_shown(good, k, rel)
    end = quotient("result", "relevant there, divided by that", found.number, depth.number)
    return Written((*before, depth, found, end), even_shares(good, end.number))
