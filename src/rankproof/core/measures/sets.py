"""Measures of the retrieved set, whatever its order: precision, recall, F, success, accuracy."""

from __future__ import annotations

from typing import Literal

import numpy as np

from rankproof.core.bounds import recall_bounds
from rankproof.core.derive import (
    Case,
    Step,
    Written,
    at_least,
    cap_step,
    count_step,
    even_shares,
    number_text,
    quotient,
    relevant_shown,
    relevant_step,
    share,
    shown_step,
    writes,
)
from rankproof.core.hits import Array, Hits, PerQuery, ratio
from rankproof.core.measure import Cutoff, Grade, Positive, Scored, Threshold
from rankproof.core.names import measure

NOT_BOUNDED = {
    # Which of the unjudged documents score above 0 is not kept.
    ("scores", "positive"): {"optimistic": False, "unjudged": None},
    # A judgment more moves the grade from which on documents are relevant.
    ("threshold", "query"): {"optimistic": False, "unjudged": None},
}
"""Where no bound is known that holds whatever the unjudged documents are."""


def returned_count(h: Hits, k: int | None) -> PerQuery:
    """How many documents the ranking shows down to `k`."""
    return (h.retrieved if k is None else np.minimum(h.retrieved, k)).astype(np.float64)


def relevant_count(h: Hits, rel: float, threshold: str = "rel") -> PerQuery:
    """How many relevant documents there are, found or not."""
    if threshold == "rel":
        return h.judged.count_from(rel)
    return h.judged.relevant(rel, threshold).count()


def found_count(h: Hits, k: int | None, rel: float, threshold: str = "rel") -> PerQuery:
    """How many relevant documents stand at ranks 1 to `k`."""
    return h.relevant(rel, threshold).count(k)


def divisor(h: Hits, k: int | None, denominator: str) -> PerQuery:
    """What a share of the documents shown is divided by: k, or how many there are."""
    return returned_count(h, k) if k is None or denominator == "returned" else np.full(h.n, float(k))


def top_share(good: Array, k: int | None, denominator: str) -> PerQuery:
    """The highest share that so many good documents can be of those shown: only a division by `k` costs a list."""
    if k is None or denominator == "returned":
        return (good > 0).astype(np.float64)
    return np.minimum(good, k) / k


@measure(
    "P",
    also=("precision", "set_P", "SetP", "context_relevance", "contextual_relevancy"),
    additive=True,
    optimistic=True,
    ceiling=lambda h, k, rel, denominator, threshold, **_: top_share(relevant_count(h, rel, threshold), k, denominator),
    divides_by="none",
    capped_by=("fewer",),
    when=NOT_BOUNDED,
)
def precision(
    h: Hits,
    k: Cutoff = None,
    rel: Grade = 1,
    denominator: Literal["k", "returned"] = "k",
    scores: Scored = "any",
    threshold: Threshold = "rel",
) -> PerQuery:
    """The share of the documents shown that are relevant.

    Formula: P@k = relevant in the top k / k; without a cut-off: relevant retrieved / retrieved.
        `denominator='returned'` divides by min(k, retrieved); `scores='positive'` takes a document scored 0 or less for
        not relevant; `threshold='query'` takes for `rel` max(half the highest, 90th percentile by nearest rank) of the
        query's grades, if above 0.
    Range: 0 to 1.
    Perfect: 1, when every document shown is relevant; out of reach where fewer than k are relevant.
    Worst: 0, when none is.
    Blind to: the order within the top k, how relevant a document is, and what was missed.
    Use: when every result shown costs the reader's time, or fills a prompt.
    Reference: C. W. Cleverdon, J. Mills: The testing of index language devices, Aslib Proceedings 1963.

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b", "y"]}, "P@3")["P@3"]
    0.6666666666666666
    """
    return ratio(found_count(h.with_scores(scores), k, rel, threshold), divisor(h, k, denominator))


def _recall_ceiling(
    h: Hits, k: int | None, rel: float, denominator: str = "all", threshold: str = "rel", **others: object
) -> PerQuery:
    """Only a division by all relevant documents can put 1 out of reach."""
    good = relevant_count(h, rel, threshold)
    capped = good if k is None or denominator != "all" else np.minimum(good, k)
    return ratio(capped, good)


@measure(
    "R",
    also=("recall", "set_recall", "SetR"),
    presets={"R_cap": {"denominator": "min"}},
    additive=True,
    ceiling=_recall_ceiling,
    divides_by="all",
    unjudged=recall_bounds,
    capped_by=("more",),
    when={("denominator", "returned"): {"divides_by": "returned"}, **NOT_BOUNDED},
)
def recall(
    h: Hits,
    k: Cutoff = None,
    rel: Grade = 1,
    denominator: Literal["all", "min", "returned"] = "all",
    scores: Scored = "any",
    threshold: Threshold = "rel",
) -> PerQuery:
    """The share of the relevant documents that are shown.

    Formula: R@k = relevant in the top k / R, where R is the number of relevant documents. `denominator='min'` divides
        by min(k, R), so that 1 can always be reached; `'returned'` by the relevant documents in the whole ranking,
        which makes it the share of them that stand in the top k. `scores='positive'` takes a document scored 0 or less
        for not shown; `threshold='query'` takes for `rel` max(half the highest, 90th percentile by nearest rank) of the
        query's grades, if above 0.
    Range: 0 to 1.
    Perfect: 1, when every relevant document is shown; out of reach where more than k are relevant.
    Worst: 0, when none is.
    Blind to: the order within the top k, how relevant a document is, and the wrong documents shown.
    Use: for the first stage of a pipeline: what it does not find, no reranker and no reader can use.
    Reference: C. W. Cleverdon, J. Mills: The testing of index language devices, Aslib Proceedings 1963.

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "y"]}, "R@3")["R@3"]
    0.5
    """
    good = found_count(h.with_scores(scores), k, rel, threshold)
    if denominator == "returned":
        return ratio(good, found_count(h, None, rel, threshold))
    reachable = relevant_count(h, rel, threshold)
    if denominator == "min" and k is not None:
        reachable = np.minimum(reachable, k)
    return ratio(good, reachable)


def _f_of(found: Array, shown: Array, wanted: Array, weight: float) -> PerQuery:
    """F from counts, by precision and recall in trec_eval's order of operations, so that its last digit is the same."""
    precision, recall = ratio(found, shown), ratio(found, wanted)
    return ratio((weight + 1.0) * precision * recall, recall + weight * precision)


def _best_f(good: Array, k: int | None, weight: float) -> PerQuery:
    """F of a ranking that shows the relevant documents and stops."""
    best = good if k is None else np.minimum(good, k)
    return _f_of(best, best if k is None else k * (best > 0), good, weight)


@measure(
    "F",
    also=("F1", "f_measure", "F_score", "SetF", "set_F"),
    presets={"F2": {"beta": 2}, "F0.5": {"beta": 0.5}},
    additive=True,
    ceiling=lambda h, k, rel, beta: _best_f(relevant_count(h, rel), k, beta**2),
    divides_by="all",
    capped_by=("fewer", "more"),
)
def f_measure(h: Hits, k: Cutoff = None, rel: Grade = 1, beta: Positive = 1) -> PerQuery:
    """Precision and recall in one number: their harmonic mean, recall counting `beta` times as much.

    Formula: F = (1 + beta²) P R / (beta² P + R), with P@k and R@k.
    Range: 0 to 1.
    Perfect: 1, when exactly the relevant documents are shown.
    Worst: 0, when no relevant document is shown.
    Blind to: the order within the top k, and how relevant a document is.
    Use: to judge a set of results of varying size, where both misses and noise hurt.
    Reference: C. J. van Rijsbergen: Information Retrieval, 2nd edition, Butterworths 1979, chapter 7.

    >>> from rankproof import evaluate
    >>> evaluate({"q": ["d1", "d3", "d6", "d7"]}, {"q": ["d1", "d2", "d3", "d4", "d5"]}, "F1")["F1"]
    0.4444444444444445
    """
    return weighted_f(h, k, rel, beta**2)


def weighted_f(h: Hits, k: int | None, rel: float, weight: float) -> PerQuery:
    """F whose weight of recall is given as beta squared, as trec_eval takes it."""
    return _f_of(found_count(h, k, rel), divisor(h, k, "k"), relevant_count(h, rel), weight)


def _expected_success(h: Hits, k: Cutoff = None, rel: Grade = 1) -> PerQuery:
    """The share of tie orders that show a relevant document in the top `k`."""
    good = h.relevant(rel)
    if k is None or good.first is None or good.last is None:
        return success(h, k=k, rel=rel)
    sure = good.keep(good.last <= k).count() > 0
    # The chance that of the tie that `k` cuts through no relevant document stands above the cut.
    cut = (good.first <= k) & (good.last > k)
    query, first, last = good.query[cut], good.first[cut], good.last[cut]
    some = np.bincount(query, minlength=h.n)
    size, above, miss = np.zeros(h.n), np.zeros(h.n), np.ones(h.n)
    size[query], above[query] = last - first + 1, k - first + 1
    for i in range(int(some.max(initial=0))):
        left = np.maximum(size - above - i, 0)
        miss = np.where(some > i, miss * ratio(left, size - i), miss)
    return np.where(sure, 1.0, 1.0 - miss)


@measure(
    "Success",
    also=("Hit", "Hits", "HitRate", "hit_rate", "hit_ratio", "HR", "success_rate", "top_k_accuracy"),
    optimistic=True,
    expected=_expected_success,
    divides_by="none",
)
def success(h: Hits, k: Cutoff = None, rel: Grade = 1) -> PerQuery:
    """Whether at least one relevant document is shown; its mean is the hit rate.

    Formula: Success@k = 1 if the top k hold a relevant document, else 0.
    Range: 0 or 1.
    Perfect: 1, with any relevant document in the top k.
    Worst: 0, with none.
    Blind to: how many relevant documents there are, their order, and how relevant they are.
    Use: when one good answer is enough: known-item search, a single fact for a prompt.
    Reference: C. Buckley, trec_eval (measure `success`).

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, ["Hit@1", "Hit@2"])["Hit@2"]
    1.0
    """
    return (found_count(h, k, rel) > 0).astype(np.float64)


@measure(
    "RelP",
    also=("relative_P", "set_relative_P", "SetRelP"),
    additive=True,
    ceiling=lambda h, k, rel: (relevant_count(h, rel) > 0).astype(np.float64),  # the best precision, by itself
)
def relative_precision(h: Hits, k: Cutoff = None, rel: Grade = 1) -> PerQuery:
    """Precision as a share of the best precision that could be reached.

    Formula: relevant in the top k / min(k, R); without a cut-off: relevant retrieved / min(retrieved, R).
    Range: 0 to 1.
    Perfect: 1, when the top k are all relevant, or hold all that are.
    Worst: 0, when no relevant document is shown.
    Blind to: the order within the top k, and how relevant a document is.
    Use: where queries have very different numbers of relevant documents: precision up to R, recall beyond.
    Reference: C. Buckley, trec_eval (measure `relative_P`).

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "y", "b", "z"]}, "RelP@5")["RelP@5"]
    1.0
    """
    shown = returned_count(h, k) if k is None else k
    return ratio(found_count(h, k, rel), np.minimum(shown, relevant_count(h, rel)))


@measure("SetAP", also=("set_map",), ceiling=_recall_ceiling)
def set_average_precision(h: Hits, k: Cutoff = None, rel: Grade = 1) -> PerQuery:
    """Average precision of a set: every relevant document found counts the precision of the whole set.

    Formula: P times R = TP² / (retrieved times R), for what is retrieved in the top k.
    Range: 0 to 1.
    Perfect: 1, when exactly the relevant documents are returned.
    Worst: 0, when none is.
    Blind to: order, and how relevant a document is.
    Use: for sets without an order, beside AP of ordered ones.
    Reference: C. Buckley, trec_eval (measure `set_map`).

    >>> from rankproof import evaluate
    >>> evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x"]}, "SetAP")["SetAP"]
    0.25
    """
    good = found_count(h, k, rel)
    return ratio(good * good, returned_count(h, k) * relevant_count(h, rel))


@writes(precision)
def _precision_on_paper(c: Case, k: int | None, rel: float, denominator: str, scores: str, threshold: str) -> Written:
    rel, before = c.least_grade(rel, threshold)
    good = c.relevant(rel, k, scores)
    return share(relevant_shown(good, k, rel, scores), shown_step(c, k, denominator), good, before=before)


@writes(recall)
def _recall_on_paper(c: Case, k: int | None, rel: float, denominator: str, scores: str, threshold: str) -> Written:
    rel, before = c.least_grade(rel, threshold)
    good = c.relevant(rel, k, scores)
    if denominator == "returned":
        there_are = count_step("denominator", f"{at_least(rel)} in the whole ranking", c.relevant(rel))
    else:
        there_are = relevant_step("denominator", c, rel)
    if denominator == "min" and k is not None:
        there_are = cap_step(there_are, k)
    return share(relevant_shown(good, k, rel, scores), there_are, good, before=before)


@writes(f_measure)
def _f_measure_on_paper(c: Case, k: int | None, rel: float, beta: float) -> Written:
    good, there_are, out_of = c.relevant(rel, k), relevant_step("wanted", c, rel), shown_step(c, k, "k")
    p = quotient("P", "precision P", len(good), out_of.number)
    r = quotient("R", "recall R", len(good), there_are.number)
    square = beta**2
    formula = "2 P R / (P + R)" if beta == 1 else f"(1 + {square:g}) P R / ({square:g} P + R)"
    top, bottom = (1 + square) * p.number * r.number, square * p.number + r.number
    end = quotient("result", f"F = {formula}", top, bottom)
    steps = (relevant_shown(good, k, rel), out_of, there_are, p, r, end)
    return Written(steps, even_shares(good, end.number))


@writes(success)
def _success_on_paper(c: Case, k: int | None, rel: float) -> Written:
    good = c.relevant(rel, k)
    end = Step("result", "1 if there is one, else 0", value=float(bool(good)))
    return Written((relevant_shown(good, k, rel), end), {each.rank: 1.0 for each in good[:1]})


@writes(relative_precision)
def _relative_precision_on_paper(c: Case, k: int | None, rel: float) -> Written:
    good, there_are = c.relevant(rel, k), relevant_step("wanted", c, rel)
    places = c.returned if k is None else k
    fewer = f"min({places}, {number_text(there_are.number)})"
    says = "the most that could be: R, or the places where they are fewer"
    best = Step("denominator", says, (), fewer, min(places, there_are.number))
    return share(relevant_shown(good, k, rel), best, good, before=[there_are])


@writes(set_average_precision)
def _set_average_precision_on_paper(c: Case, k: int | None, rel: float) -> Written:
    good, there_are, out_of = c.relevant(rel, k), relevant_step("wanted", c, rel), shown_step(c, k)
    p = quotient("P", "precision P", len(good), out_of.number)
    r = quotient("R", "recall R", len(good), there_are.number)
    value = p.number * r.number
    end = Step("result", "P times R", (), f"{number_text(p.number)} x {number_text(r.number)}", value)
    return Written((relevant_shown(good, k, rel), out_of, there_are, p, r, end), even_shares(good, value))
