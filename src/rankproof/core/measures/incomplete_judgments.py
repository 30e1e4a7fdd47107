"""Measures for incomplete judgments: they use judged documents only, or allow for unjudged ones."""

from __future__ import annotations

import numpy as np

from rankproof.core.derive import Case, Found, Step, Term, Written, parts, quotient, relevant_step, sum_step, writes
from rankproof.core.expected_and_extreme_values import expected_bpref, not_relevant
from rankproof.core.hits import Hits, PerQuery, ratio
from rankproof.core.measure import Grade
from rankproof.core.measures.sets import relevant_count
from rankproof.core.names import measure

EPSILON = 0.00001
"""What inferred AP adds where no judged document stands above, as trec_eval does."""


@measure("bpref", also=("binary_preference",), expected=expected_bpref)
def bpref(h: Hits, rel: Grade = 1) -> PerQuery:
    """The share of judged pairs in the right order: relevant documents above those judged not relevant.

    Formula: 1/R sum over relevant documents found of 1 - min(n, R) / min(N, R), where n is the number of documents
        judged not relevant above it and N of those there are; 1 if none is above. A grade below 0 counts as not judged.
    Range: 0 to 1.
    Perfect: 1, when all relevant documents are found above all that were judged not relevant.
    Worst: 0, when none is found.
    Blind to: documents nobody judged, wherever they stand; and how relevant a document is.
    Use: for systems that did not take part when the judgments were made.
    Reference: C. Buckley, E. M. Voorhees: Retrieval evaluation with incomplete information, SIGIR 2004.

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1, "b": 1, "x": 0}}, {"q": ["a", "?", "x", "b"]}, "bpref")["bpref"]
    0.5
    """
    total, wrong = relevant_count(h, rel), h.judged.sum(not_relevant(h.judged, rel))
    good = h.grade >= rel
    cap = total[h.query]
    above = np.minimum(h.before(not_relevant(h, rel)), cap)
    return ratio(h.sum(good * (1 - ratio(above, np.minimum(wrong[h.query], cap)))), total)


@measure("GMbpref", also=("gm_bpref",), expected=expected_bpref, average="geometric")
def geometric_bpref(h: Hits, rel: Grade = 1) -> PerQuery:
    """bpref, averaged over queries by the geometric mean, so that the weakest queries count most.

    Formula: bpref of each query; over queries exp(mean of log(max(bpref, 0.00001))).
    Range: 0 to 1; a mean never falls below 0.00001.
    Perfect: 1, when bpref is 1 for every query.
    Worst: 0 for a query without a relevant document found.
    Blind to: documents nobody judged, and how relevant a document is.
    Use: as GMAP, where judgments are incomplete.
    Reference: C. Buckley, trec_eval (measure `gm_bpref`).

    >>> from rankproof import evaluate
    >>> relevant = {"q": {"a": 1, "x": 0}, "r": {"b": 1, "c": 1, "y": 0}}
    >>> evaluate(relevant, {"q": ["a", "x"], "r": ["b", "y", "c"]}, "GMbpref")["GMbpref"]
    0.7071067811865476
    """
    return bpref(h, rel=rel)


@measure("infAP", also=("inferred_ap",), worth=None, reorder=False)
def inferred_average_precision(h: Hits, rel: Grade = 1) -> PerQuery:
    """Average precision estimated from a sample of judgments.

    Formula: 1/R sum over relevant documents found, at rank k, of (1 + pooled above times relevant above / judged above)
        / k; pooled are the judged and those that the judgments mark as not judged, by a grade below 0. Both parts of
        the inner fraction are smoothed by 0.00001.
    Range: 0 to 1.
    Perfect: 1, when all relevant documents come first.
    Worst: 0, when none is found.
    Blind to: how relevant a document is.
    Use: where only a random part of the pool was judged; with full judgments it is AP.
    Reference: E. Yilmaz, J. A. Aslam: Estimating average precision with incomplete and imperfect judgments, CIKM 2006;
        with the smoothing of trec_eval.

    >>> from rankproof import evaluate
    >>> round(evaluate({"q": {"a": 1, "b": 1, "x": 0}}, {"q": ["a", "x", "b"]}, "infAP")["infAP"], 4)
    0.8333
    """
    good = h.grade >= rel
    relevant, wrong = h.before(good), h.before(not_relevant(h, rel))
    precision = (relevant + EPSILON) / (relevant + wrong + 2 * EPSILON)
    return ratio(h.sum(good * (1 + (h.nth - 1) * precision) / h.rank), relevant_count(h, rel))


@writes(bpref, geometric_bpref)
def _bpref_on_paper(c: Case, rel: float) -> Written:
    there_are = relevant_step("denominator", c, rel)
    r, n = int(there_are.number), len([each for each in c.judged if 0 <= each.grade < rel])
    says = "1 - min(judged not relevant above, R) / min(N, R), for each found"
    terms = []
    for each in c.relevant(rel):
        above = len(_wrong_above(c, each, rel))
        expression = f"1 - {min(above, r)} / {min(n, r)}" if above else "none above"
        terms.append(Term(expression, 1 - min(above, r) / min(n, r) if above else 1.0, each.rank, each.doc))
    sums = sum_step("found", says, terms)
    wrong = Step("wrong", f"N, judged not relevant (grade 0 or more, below {rel:g})", value=float(n))
    end = quotient("result", "the sum divided by R", sums.number, r)
    return Written((there_are, wrong, sums, end), parts(sums, r))


def _wrong_above(c: Case, each: Found, rel: float) -> list[Found]:
    return [other for other in c.found if other.rank < each.rank and 0 <= other.grade < rel]


@writes(inferred_average_precision)
def _inferred_average_precision_on_paper(c: Case, rel: float) -> Written:
    there_are = relevant_step("denominator", c, rel)
    terms = []
    for relevant, each in enumerate(c.relevant(rel)):
        pooled = len([other for other in c.found if other.rank < each.rank])
        judged = relevant + len(_wrong_above(c, each, rel))
        value = (1 + pooled * (relevant + EPSILON) / (judged + 2 * EPSILON)) / each.rank
        inside = f"(1 + {pooled} x ({relevant} + e) / ({judged} + 2e))" if pooled else "1"
        terms.append(Term(f"{inside} / {each.rank}", value, each.rank, each.doc))
    says = (
        "(1 + pooled above x share of the judged above that are relevant) / rank, for each found; pooled are "
        f"the judged, also those below 0; e = {EPSILON:g} keeps the share from 0/0"
    )
    sums = sum_step("found", says, terms)
    end = quotient("result", "the sum divided by R", sums.number, there_are.number)
    return Written((there_are, sums, end), parts(sums, there_are.number))
