"""Measures of where the relevant documents stand: reciprocal rank, average precision and its kin."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from rankproof.core.expected import expected_ap, expected_rr
from rankproof.core.hits import Hits, PerQuery, ratio
from rankproof.core.measure import measure
from rankproof.core.measures.sets import wanted
from rankproof.core.parameters import Cutoff, Grade, Positive, Scored, Threshold
from rankproof.core.threshold import relevant


@measure(
    "RR",
    also=("MRR", "recip_rank", "reciprocal_rank", "mean_reciprocal_rank"),
    optimistic=True,
    expected=expected_rr,
    when={("threshold", "query"): {"optimistic": False}},
)
def reciprocal_rank(
    h: Hits, k: Cutoff = None, rel: Grade = 1, scores: Scored = "any", threshold: Threshold = "rel"
) -> PerQuery:
    """One over the rank of the first relevant document; its mean is MRR.

    Formula: RR = 1 / rank of the first relevant document; 0 if there is none (in the top k).
    `scores='positive'` takes a document scored 0 or less for not relevant; `threshold='query'` puts max(half
    the highest, 90th percentile) of the query's grades in the place of `rel`.

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
    good = relevant(h.scored(scores), rel, threshold).top(k)
    return good.sum((good.nth == 1) / good.rank)


@measure(
    "AP",
    also=("MAP", "map_cut", "average_precision", "mean_average_precision"),
    presets={name: {"denominator": "found"} for name in ("context_precision", "contextual_precision")},
    expected=expected_ap,
)
def average_precision(
    h: Hits,
    k: Cutoff = None,
    rel: Grade = 1,
    denominator: Literal["all", "found", "min"] = "all",
    scores: Scored = "any",
    threshold: Threshold = "rel",
) -> PerQuery:
    """The mean over the relevant documents of the precision at their ranks; its mean is MAP.

    Formula: AP = (sum over relevant documents found of P@rank) / R. `denominator='found'` divides by the
    relevant documents found (context precision), `'min'` by min(k, R). `scores='positive'` takes a document
    scored 0 or less for not relevant; `threshold='query'` puts max(half the highest, 90th percentile) of the
    query's grades in the place of `rel`.

    Range: 0 to 1.

    Perfect: 1, when all relevant documents come first; at k < R only with `'found'` or `'min'`.

    Worst: 0, when no relevant document is found.

    Blind to: how relevant a document is; `'found'` also to what was missed.

    Use: one number for precision and recall together when relevance is yes or no.

    Reference: C. Buckley, E. M. Voorhees: Evaluating evaluation measure stability, SIGIR 2000.

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "y", "b"]}, "MAP")["MAP"]
    0.75
    """
    good = relevant(h.scored(scores), rel, threshold).top(k)
    divisor = good.count() if denominator == "found" else wanted(h, rel, threshold)
    if denominator == "min" and k is not None:
        divisor = np.minimum(divisor, k)
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


def _odds_ceiling(h: Hits, rel: Grade = 1) -> PerQuery:
    """The logarithm of (1 + R) / 1."""
    return np.log1p(wanted(h, rel))


@measure("yaap", also=("YAAP",), ceiling=_odds_ceiling, bounds=(-math.inf, math.inf))
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
    good, total = h.relevant(rel), wanted(h, rel)
    precisions = good.sum(good.nth / good.rank)
    return np.log((1 + precisions) / (1 + total - precisions))


@measure("Rprec", also=("r_precision", "R_precision", "RPrec"), additive=True)
def r_precision(h: Hits, rel: Grade = 1, denominator: Literal["all", "returned"] = "all") -> PerQuery:
    """Precision at R, the number of relevant documents, where precision and recall are the same.

    Formula: relevant in the top R / R. `denominator='returned'` takes for R the relevant documents in the
    ranking, as tools do that are given the returned documents only.

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
    depth = wanted(h, rel) if denominator == "all" else np.rint(good.count())
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
    depth = np.floor(multiple * wanted(h, rel) + 0.9)
    good = h.relevant(rel)
    return ratio(good.keep(good.rank <= depth[good.query]).count(), depth)
