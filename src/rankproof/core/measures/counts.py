"""Counts: documents returned, found, missed and judged, and their utility."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rankproof.core.derive import (
    Case,
    Step,
    Written,
    at_least,
    cut_at,
    graded_terms,
    number_text,
    quotient,
    relevant_shown,
    relevant_step,
    shown_step,
    writes,
)
from rankproof.core.hits import Hits, PerQuery
from rankproof.core.measure import Cutoff, Grade, Number
from rankproof.core.measures.sets import found_count, relevant_count, returned_count
from rankproof.core.names import measure
from rankproof.document.numbers import for_face
from rankproof.errors import UsageError


def documents(h: Hits, name: str, instead: str = "") -> float:
    """The number of documents there are to find from; `instead` is what can be asked for without it."""
    if h.corpus_size is None:
        raise UsageError(
            f"{name} needs the number of documents in the collection, and none was given. "
            f"Next: give {for_face('corpus_size=10_000', '--corpus-size 10000')}, say{instead}."
        )
    known = known_documents(h).max(initial=0)
    if h.corpus_size < known:
        raise UsageError(
            f"{name}: got a collection of {h.corpus_size:,} documents, but one query alone has {known:,.0f} different "
            "ones in its ranking and judgments. Next: give the number of documents in the whole collection."
        )
    return float(h.corpus_size)


def known_documents(h: Hits) -> PerQuery:
    """How many documents each query has in its ranking and judgments."""
    return h.retrieved + h.judged.count() - h.count()


COUNT: dict[str, Any] = {"undefined": False, "bounds": (0.0, math.inf)}
"""What is declared of a number of documents."""
SHOWN = {**COUNT, "bounds_at": lambda k: (0.0, k)}
"""The same of documents that are shown: of the top k no more than k."""


def _most_found(h: Hits, k: Cutoff = None, rel: Grade = 1) -> PerQuery:
    """A perfect ranking shows as many relevant documents as fit."""
    return np.minimum(relevant_count(h, rel), np.inf if k is None else k)


@measure("TP", also=("true_positives", "hits"), additive=True, optimistic=True, ceiling=_most_found, **SHOWN)
def true_positives(h: Hits, k: Cutoff = None, rel: Grade = 1) -> PerQuery:
    """How many relevant documents are shown (true positives).

    Formula: TP = number of relevant documents in the top k.
    Range: 0 upwards.
    Perfect: the number of relevant documents, or k where that is less.
    Worst: 0, when none is shown.
    Blind to: order, and how many there were to find.
    Use: as a cell of the confusion matrix.
    Reference: C. J. van Rijsbergen: Information Retrieval, 2nd edition, Butterworths 1979, chapter 7.

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "y"]}, "TP")["TP"]
    1.0
    """
    return found_count(h, k, rel)


@measure(
    "FP",
    also=("false_positives",),
    higher=False,
    additive=True,
    # A perfect ranking may stop before its first wrong document.
    ceiling=lambda h, **_: np.zeros(h.n),
    **SHOWN,
)
def false_positives(h: Hits, k: Cutoff = None, rel: Grade = 1) -> PerQuery:
    """How many documents are shown that are not relevant (false positives).

    Formula: FP = documents in the top k - TP.
    Range: 0 upwards; lower is better.
    Perfect: 0, when every document shown is relevant.
    Worst: the number of documents shown.
    Blind to: order, and what was missed.
    Use: as a cell of the confusion matrix.
    Reference: C. J. van Rijsbergen: Information Retrieval, 2nd edition, Butterworths 1979, chapter 7.

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "y"]}, "FP")["FP"]
    2.0
    """
    return returned_count(h, k) - found_count(h, k, rel)


def _fewest_missed(h: Hits, k: Cutoff = None, rel: Grade = 1) -> PerQuery:
    """What does not fit into the top k is missed by every ranking."""
    return relevant_count(h, rel) - _most_found(h, k, rel)


@measure("FN", also=("false_negatives",), higher=False, additive=True, ceiling=_fewest_missed, **COUNT)
def false_negatives(h: Hits, k: Cutoff = None, rel: Grade = 1) -> PerQuery:
    """How many relevant documents are not shown (false negatives).

    Formula: FN = R - TP.
    Range: 0 to R; lower is better.
    Perfect: 0, when every relevant document is shown.
    Worst: R, when none is.
    Blind to: order, and the wrong documents shown.
    Use: as a cell of the confusion matrix.
    Reference: C. J. van Rijsbergen: Information Retrieval, 2nd edition, Butterworths 1979, chapter 7.

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "y"]}, "FN")["FN"]
    1.0
    """
    return relevant_count(h, rel) - found_count(h, k, rel)


@measure(
    "TN",
    also=("true_negatives",),
    additive=True,
    # Every document that is not relevant can be left out.
    ceiling=lambda h, rel, **_: documents(h, "TN") - relevant_count(h, rel),
    **COUNT,
)
def true_negatives(h: Hits, k: Cutoff = None, rel: Grade = 1) -> PerQuery:
    """How many documents that are not relevant are rightly not shown (true negatives).

    Formula: TN = documents in the collection - R - FP; needs `corpus_size=`.
    Range: 0 to the size of the collection.
    Perfect: the number of documents that are not relevant.
    Worst: near it still: a collection is large, and a ranking short.
    Blind to: nearly everything: the number is huge whatever the ranking does.
    Use: as a cell of the confusion matrix.
    Reference: C. J. van Rijsbergen: Information Retrieval, 2nd edition, Butterworths 1979, chapter 7.

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "y"]}, "TN", corpus_size=100)["TN"]
    96.0
    """
    return documents(h, "TN") - relevant_count(h, rel) - false_positives(h, k=k, rel=rel)


@measure(
    "Accuracy",
    additive=True,
    # Only what does not fit into the top k is wrong in a perfect ranking.
    ceiling=lambda h, k, rel: 1 - _fewest_missed(h, k, rel) / documents(h, "Accuracy"),
    undefined=False,
)
def accuracy(h: Hits, k: Cutoff = None, rel: Grade = 1) -> PerQuery:
    """The share of the whole collection that is on the right side: shown and relevant, or neither.

    Formula: accuracy = (TP + TN) / documents in the collection; needs `corpus_size=`.
    Range: 0 to 1.
    Perfect: 1, when exactly the relevant documents are shown.
    Worst: near 1 still: showing nothing at all scores above .99 in any large collection.
    Blind to: order; and whatever it says is drowned by the documents rightly left out.
    Use: to show why accuracy is a trap in retrieval; P, R and F say what one wants to know.
    Reference: C. D. Manning, P. Raghavan, H. Schütze: Introduction to Information Retrieval, 2008, 8.3.

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "y"]}, "Accuracy", corpus_size=100)["Accuracy"]
    0.97
    """
    wrong = false_positives(h, k=k, rel=rel) + false_negatives(h, k=k, rel=rel)
    hit_rate = "" if k is None else f"; or ask for Success@{k}, if you mean the hit rate, as some tools do"
    return 1 - wrong / documents(h, "Accuracy", hit_rate)


@measure(
    "FirstRel",
    also=("first_relevant",),
    higher=False,
    # A relevant document at rank 1, or an end right away if there is none.
    ceiling=lambda h, **_: np.ones(h.n),
    undefined=False,
    bounds=(1.0, math.inf),
    bounds_at=lambda k: (1.0, k + 1.0),
)
def first_relevant(h: Hits, k: Cutoff = None, rel: Grade = 1) -> PerQuery:
    """The rank of the first relevant document: how far the reader has to go.

    Formula: the smallest rank (down to k) of a relevant document; one more than the number of documents shown if there
        is none, as a reader who saw them all still has to look elsewhere.
    Range: 1 upwards; lower is better.
    Perfect: 1, with a relevant document on top.
    Worst: one more than the number of documents shown.
    Blind to: everything after the first relevant document; if there is none, to all but the length.
    Use: where RR is too abstract: "the answer is at rank 3". Its mean follows the failures.
    Reference: W. S. Cooper: Expected search length, American Documentation 1968.

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": ["x", "y", "a"]}, "FirstRel")["FirstRel"]
    3.0
    """
    good = h.relevant(rel).top(k)
    first = good.keep(good.nth == 1)
    return np.where(good.count() > 0, first.sum(first.rank), returned_count(h, k) + 1)


def _best_utility(h: Hits, rel: Grade = 1, a: Number = 1, b: Number = -1, c: Number = 0, d: Number = 0) -> PerQuery:
    """Either show a relevant document or miss it, either show a wrong one or leave it: whatever pays more.

    Where wrong documents pay and the size of the collection is not known, those count that are.
    """
    best, other = relevant_count(h, rel) * max(a, c), max(b, d)
    there = documents(h, "Utility") if other and h.corpus_size is not None else known_documents(h)
    return best + other * (there - relevant_count(h, rel))


@measure("Utility", additive=True, ceiling=_best_utility, reorder=False, undefined=False, bounds=(-math.inf, math.inf))
def utility(h: Hits, rel: Grade = 1, a: Number = 1, b: Number = -1, c: Number = 0, d: Number = 0) -> PerQuery:
    """What a set of results is worth when every right and wrong decision has a price.

    Formula: a TP + b FP + c FN + d TN; needs `corpus_size=` where d is not 0.
    Range: by the prices; with the default ones from minus the documents returned to R.
    Perfect: R with the default prices, when exactly the relevant documents are returned.
    Worst: minus the documents returned, when none of them is relevant.
    Blind to: order; and a mean over queries follows those with many documents.
    Use: for filtering and alerts, where a hit and a false alarm have known costs.
    Reference: D. A. Hull: The TREC-6 filtering track, TREC 1997; trec_eval (measure `utility`).

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}, "Utility(b=-0.5)")["Utility(b=-0.5)"]
    1.5
    """
    found, wrong, missed = (each(h, k=None, rel=rel) for each in (true_positives, false_positives, false_negatives))
    value = a * found + b * wrong + c * missed
    return value + d * (documents(h, "Utility") - found - missed - wrong) if d else value


@writes(true_positives)
def _true_positives_on_paper(c: Case, k: int | None, rel: float) -> Written:
    good = c.relevant(rel, k)
    return Written((relevant_shown(good, k, rel),), {each.rank: 1.0 for each in good})


@writes(accuracy)
def _accuracy_on_paper(c: Case, k: int | None, rel: float) -> Written:
    steps = _left_out(c, k, rel)
    tp, every, tn = steps[0], steps[-2], steps[-1]
    right = Step("right", "TP + TN", (), f"{number_text(tp.number)} + {number_text(tn.number)}", tp.number + tn.number)
    return Written((*steps, right, quotient("result", "by all documents", right.number, every.number)))


def _wrong(c: Case, k: int | None, rel: float) -> tuple[Step, ...]:
    tp, out_of = relevant_shown(c.relevant(rel, k), k, rel), shown_step(c, k)
    return tp, out_of, Step("FP", "FP = shown - TP", (), _minus(out_of, tp), out_of.number - tp.number)


def _missed(c: Case, k: int | None, rel: float) -> tuple[Step, ...]:
    tp, there_are = relevant_shown(c.relevant(rel, k), k, rel), relevant_step("wanted", c, rel)
    return tp, there_are, Step("FN", "FN = R - TP", (), _minus(there_are, tp), there_are.number - tp.number)


def _left_out(c: Case, k: int | None, rel: float) -> tuple[Step, ...]:
    wrong, there_are = _wrong(c, k, rel), relevant_step("wanted", c, rel)
    every = Step("corpus", "documents in the collection", value=float(c.hits.corpus_size or 0))
    left = every.number - there_are.number - wrong[-1].number
    expression = f"{_minus(every, there_are)} - {number_text(wrong[-1].number)}"
    return *wrong, there_are, every, Step("TN", "TN = all - R - FP", (), expression, left)


writes(false_positives)(lambda c, k, rel: Written(_wrong(c, k, rel)))
writes(false_negatives)(lambda c, k, rel: Written(_missed(c, k, rel)))
writes(true_negatives)(lambda c, k, rel: Written(_left_out(c, k, rel)))


def _minus(a: Step, b: Step) -> str:
    return f"{number_text(a.number)} - {number_text(b.number)}"


@writes(first_relevant)
def _first_relevant_on_paper(c: Case, k: int | None, rel: float) -> Written:
    good, out_of = c.relevant(rel, k)[:1], shown_step(c, k)
    if good:
        says = f"rank of the first that is {at_least(rel)}"
        return Written((Step("result", says, graded_terms(good), f"rank {good[0].rank}", float(good[0].rank)),))
    says = f"no document {cut_at(k)} is {at_least(rel)}: one more than was shown"
    end = Step("result", says, (), f"{number_text(out_of.number)} + 1", out_of.number + 1)
    return Written((out_of, end))


@writes(utility)
def _utility_on_paper(case: Case, rel: float, a: float, b: float, c: float, d: float) -> Written:
    steps = (*_wrong(case, None, rel), *_missed(case, None, rel)[1:])
    if d:
        steps += _left_out(case, None, rel)[4:]
    number = {step.kind: step.number for step in steps}
    priced = [(a, number["found"]), (b, number["FP"]), (c, number["FN"]), (d, number.get("TN", 0.0))]
    expression = " + ".join(f"{price:g} x {number_text(count)}" for price, count in priced if price)
    value = sum(price * count for price, count in priced)
    return Written((*steps, Step("result", "each times its price", (), expression or "0", value)))
