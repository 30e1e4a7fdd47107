"""Measures of novelty: a second document about the same aspect counts less than the first.

Conventions are those of ndeval, the evaluation program of TREC's web tracks. The best order of the documents
is built greedily, as finding the optimum is too costly: a ranking may do a little better than it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

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
    quotient,
    rows,
    sum_step,
    top_of,
    writes,
)
from rankproof.core.hits import Array, Hits, PerQuery, ratio
from rankproof.core.measure import Depth, Grade, Persistence, Share
from rankproof.core.measures.aspects import (
    aspect_name,
    aspect_of,
    count_above,
    coverable_aspects,
    coverable_on_paper,
    full_marks,
    width_of,
)
from rankproof.core.names import measure


class Discount(NamedTuple):
    """How much less a rank counts: the factor (of one or many), and how it is written."""

    of: Callable[[Any], Any]
    figures: Callable[[int], str]


BY_LOG = Discount(lambda rank: 1 / np.log2(rank + 1), lambda rank: f"/ log2({rank + 1})")
BY_RANK = Discount(lambda rank: 1 / rank, lambda rank: f"/ {rank}")


def by_power(beta: float) -> Discount:
    """The discount of RBP."""
    return Discount(lambda rank: beta ** (rank - 1.0), lambda rank: f"x {beta:g}^{rank - 1}")


def novel_gain(h: Hits, k: int | None, rel: float, alpha: float, discount: Discount) -> PerQuery:
    """The sum over documents and their aspects of (1 - alpha)^(times seen above), discounted by rank."""
    good = h.relevant(rel).top(k)
    return good.sum((1 - alpha) ** count_above(good, width_of(h)) * discount.of(good.rank))


def greedy(h: Hits, rel: float, alpha: float) -> Hits:
    """The relevant documents, at each rank the one that adds most; of equals the one with the larger id."""
    pool = h.judged
    return pool.once(("greedy", rel, alpha), lambda: _greedy(pool, rel, alpha))


def _greedy(pool: Hits, rel: float, alpha: float) -> Hits:
    good, width = pool.relevant(rel), width_of(pool)
    ranks = [
        _greedy_ranks(good.rank[start:end], aspect_of(good)[start:end], width, alpha)
        for start, end in zip(good.starts[:-1], good.starts[1:], strict=True)
    ]
    rank = np.concatenate(ranks) if ranks else np.zeros(0, dtype=np.intp)
    order = np.lexsort((rank, good.query))
    return replace(replace(good, rank=rank).keep(order), pool=pool)


def _greedy_ranks(document: Array, aspect: Array, width: int, alpha: float) -> Array:
    names, which = np.unique(document, return_inverse=True)
    about = np.zeros((len(names), width))
    about[which, aspect] = 1
    left, place, gain = np.ones(width), np.zeros(len(names), dtype=np.intp), about.sum(axis=1)
    for rank in range(1, len(names) + 1):
        best = len(names) - 1 - int(np.argmax(gain[::-1]))
        place[best] = rank
        left = left * np.where(about[best] > 0, 1 - alpha, 1)
        gain = np.where(place > 0, -1.0, about @ left)
    return place[which]


def full_gain(h: Hits, k: int | None, rel: float, alpha: float, discount: Discount) -> PerQuery:
    """What k documents would gain that are each about every aspect; as many as are relevant without a k."""
    best = greedy(h, rel, alpha)
    depth = np.zeros(h.n, dtype=np.intp)
    np.maximum.at(depth, best.query, best.rank)
    depth = depth if k is None else np.full(h.n, k)
    rank = np.arange(1, int(depth.max(initial=0)) + 1)
    totals = np.append(0.0, np.cumsum((1 - alpha) ** (rank - 1) * discount.of(rank)))
    return totals[depth] * coverable_aspects(h, rel)


def _share_of_ideal(h: Hits, k: int | None, rel: float, alpha: float, discount: Discount) -> PerQuery:
    best = novel_gain(greedy(h, rel, alpha), k, rel, alpha, discount)
    return ratio(novel_gain(h, k, rel, alpha, discount), best)


def _share_of_full(h: Hits, k: int | None, rel: float, alpha: float, discount: Discount) -> PerQuery:
    return ratio(novel_gain(h, k, rel, alpha, discount), full_gain(h, k, rel, alpha, discount))


def _at_best(discount: Discount) -> Callable[..., PerQuery]:
    """The ceiling: the share that the greedy order reaches."""
    return lambda h, k, rel, alpha: _share_of_full(greedy(h, rel, alpha), k, rel, alpha, discount)


@measure(
    "alpha_DCG",
    also=("aDCG", "α_DCG"),
    aspects=True,
    ceiling=_at_best(BY_LOG),
    worth=None,
    reorder=False,
    bounds=(0.0, math.inf),
)
def alpha_dcg(h: Hits, k: Depth = None, rel: Grade = 1, alpha: Share = 0.5) -> PerQuery:
    """DCG that rewards new aspects: what repeats an aspect counts less, by a factor 1 - alpha each time.

    Formula: sum over documents and their aspects of (1 - alpha)^(documents above about the aspect) / log2(rank + 1),
        divided by that of k documents about every aspect (as many as are relevant without a k).
    Range: 0 to 1.
    Perfect: near 1 only if single documents are about every aspect.
    Worst: 0, when nothing relevant is found.
    Blind to: grades beyond yes or no.
    Use: for queries with several meanings or sides, when values of different collections are compared.
    Reference: C. L. A. Clarke, M. Kolla, G. V. Cormack, O. Vechtomova and others: Novelty and diversity in information
        retrieval evaluation, SIGIR 2008; normalised as in ndeval.

    >>> from rankproof import evaluate
    >>> relevant = {"q": {"a": {"one side": 1}, "b": {"one side": 1}, "c": {"other": 1}}}
    >>> round(evaluate(relevant, {"q": ["a", "b"]}, "alpha_DCG@2")["alpha_DCG@2"], 4)
    0.5
    """
    return _share_of_full(h, k, rel, alpha, BY_LOG)


@measure("alpha_nDCG", also=("andcg", "α_nDCG"), aspects=True, ceiling=full_marks, worth=None, reorder=False)
def alpha_ndcg(h: Hits, k: Depth = None, rel: Grade = 1, alpha: Share = 0.5) -> PerQuery:
    """alpha-DCG as a share of what the best order of the judged documents reaches.

    Formula: alpha-DCG@k / alpha-DCG@k of the greedy order of all judged documents, of equals the larger id.
    Range: 0 to 1; a little more where a ranking beats the greedy order.
    Perfect: 1, when at each rank the document comes that adds most.
    Worst: 0, when nothing relevant is found.
    Blind to: grades beyond yes or no.
    Use: the usual choice for queries with several meanings or sides.
    Reference: C. L. A. Clarke, M. Kolla, G. V. Cormack, O. Vechtomova and others: Novelty and diversity in information
        retrieval evaluation, SIGIR 2008.

    >>> from rankproof import evaluate
    >>> relevant = {"q": {"a": {"one side": 1}, "b": {"one side": 1}, "c": {"other": 1}}}
    >>> round(evaluate(relevant, {"q": ["a", "b"]}, "alpha_nDCG@2")["alpha_nDCG@2"], 4)
    0.8066
    """
    return _share_of_ideal(h, k, rel, alpha, BY_LOG)


@measure("ERR_IA", aspects=True, ceiling=_at_best(BY_RANK), worth=None, reorder=False)
def err_ia(h: Hits, k: Depth = None, rel: Grade = 1, alpha: Share = 0.5) -> PerQuery:
    """Expected reciprocal rank for each aspect, averaged over the aspects.

    Formula: sum over documents and their aspects of (1 - alpha)^(documents above about the aspect) / rank, divided by
        that of k documents about every aspect (as many as are relevant without a k).
    Range: 0 to 1.
    Perfect: near 1 only if single documents are about every aspect.
    Worst: 0, when nothing relevant is found.
    Blind to: grades beyond yes or no.
    Use: as alpha-DCG, for readers who look little further than the first documents.
    Reference: O. Chapelle, S. Ji, C. Liao, E. Velipasaoglu, L. Lai, S.-L. Wu: Intent-based diversification of web
        search results, Information Retrieval 2011; normalised as in ndeval.

    >>> from rankproof import evaluate
    >>> relevant = {"q": {"a": {"one side": 1}, "b": {"one side": 1}, "c": {"other": 1}}}
    >>> round(evaluate(relevant, {"q": ["a", "b"]}, "ERR_IA@2")["ERR_IA@2"], 4)
    0.5
    """
    return _share_of_full(h, k, rel, alpha, BY_RANK)


@measure("nERR_IA", aspects=True, ceiling=full_marks, worth=None, reorder=False)
def nerr_ia(h: Hits, k: Depth = None, rel: Grade = 1, alpha: Share = 0.5) -> PerQuery:
    """ERR-IA as a share of what the best order of the judged documents reaches.

    Formula: ERR-IA@k / ERR-IA@k of the greedy order of all judged documents, of equals the larger id.
    Range: 0 to 1; a little more where a ranking beats the greedy order.
    Perfect: 1, when at each rank the document comes that adds most.
    Worst: 0, when nothing relevant is found.
    Blind to: grades beyond yes or no.
    Use: as alpha-nDCG, for readers who look little further than the first documents.
    Reference: O. Chapelle, S. Ji, C. Liao, E. Velipasaoglu, L. Lai, S.-L. Wu: Intent-based diversification of web
        search results, Information Retrieval 2011; ndeval.

    >>> from rankproof import evaluate
    >>> relevant = {"q": {"a": {"one side": 1}, "b": {"one side": 1}, "c": {"other": 1}}}
    >>> round(evaluate(relevant, {"q": ["a", "b"]}, "nERR_IA@2")["nERR_IA@2"], 4)
    0.8333
    """
    return _share_of_ideal(h, k, rel, alpha, BY_RANK)


def _nrbp_ceiling(h: Hits, rel: float, alpha: float, beta: float) -> PerQuery:
    return nrbp(greedy(h, rel, alpha), rel=rel, alpha=alpha, beta=beta)


@measure("NRBP", aspects=True, ceiling=_nrbp_ceiling, worth=None, reorder=False)
def nrbp(h: Hits, rel: Grade = 1, alpha: Share = 0.5, beta: Persistence = 0.5) -> PerQuery:
    """Rank-biased precision that rewards new aspects.

    Formula: (1 - (1 - alpha) beta) / aspects times the sum over documents and their aspects of (1 - alpha)^(documents
        above about the aspect) beta^(rank - 1).
    Range: 0 to 1.
    Perfect: near 1 only if single documents are about every aspect.
    Worst: 0, when nothing relevant is found.
    Blind to: grades beyond yes or no.
    Use: as alpha-DCG, with beta as the reader's patience.
    Reference: C. L. A. Clarke, M. Kolla, O. Vechtomova: An effectiveness measure for ambiguous and underspecified
        queries, ICTIR 2009.

    >>> from rankproof import evaluate
    >>> relevant = {"q": {"a": {"one side": 1}, "b": {"one side": 1}, "c": {"other": 1}}}
    >>> evaluate(relevant, {"q": ["a", "b"]}, "NRBP")["NRBP"]
    0.46875
    """
    gained = novel_gain(h, None, rel, alpha, by_power(beta))
    return ratio((1 - (1 - alpha) * beta) * gained, coverable_aspects(h, rel))


@measure("nNRBP", aspects=True, ceiling=full_marks, worth=None, reorder=False)
def normalised_nrbp(h: Hits, rel: Grade = 1, alpha: Share = 0.5, beta: Persistence = 0.5) -> PerQuery:
    """NRBP as a share of what the best order of the judged documents reaches.

    Formula: NRBP / NRBP of the greedy order of all judged documents, of equals the larger id.
    Range: 0 to 1; a little more where a ranking beats the greedy order.
    Perfect: 1, when at each rank the document comes that adds most.
    Worst: 0, when nothing relevant is found.
    Blind to: grades beyond yes or no.
    Use: as alpha-nDCG, with beta as the reader's patience.
    Reference: C. L. A. Clarke, M. Kolla, O. Vechtomova: An effectiveness measure for ambiguous and underspecified
        queries, ICTIR 2009.

    >>> from rankproof import evaluate
    >>> relevant = {"q": {"a": {"one side": 1}, "b": {"one side": 1}, "c": {"other": 1}}}
    >>> round(evaluate(relevant, {"q": ["a", "b"]}, "nNRBP")["nNRBP"], 4)
    0.7692
    """
    return _share_of_ideal(h, None, rel, alpha, by_power(beta))


@writes(nrbp)
def _nrbp_on_paper(c: Case, rel: float, alpha: float, beta: float) -> Written:
    sums, of = _novel("found", c.found, None, rel, alpha, by_power(beta)), coverable_on_paper(c, rel)
    scale = 1 - (1 - alpha) * beta
    expression = f"(1 - {1 - alpha:g} x {beta:g}) x {number_text(sums.number)} / {number_text(of.number)}"
    value = scale * sums.number / of.number if of.number else 0.0
    end = Step("result", "times (1 - (1 - alpha) beta), by the aspects", (), expression, value)
    return Written((sums, of, end), parts(sums, of.number / scale))


@writes(normalised_nrbp)
def _normalised_nrbp_on_paper(c: Case, rel: float, alpha: float, beta: float) -> Written:
    return _of_ideal(c, None, rel, alpha, by_power(beta))


def _of_ideal(c: Case, k: int | None, rel: float, alpha: float, discount: Discount) -> Written:
    """The new of each document, by that of the best order."""
    own = _novel("found", c.found, k, rel, alpha, discount)
    best = _novel("ideal", rows(greedy(c.hits, rel, alpha)), k, rel, alpha, discount, "of the best order: ")
    return divide_steps(own, best)


def _of_full(c: Case, k: int | None, rel: float, alpha: float, discount: Discount) -> Written:
    """The new of each document, by that of documents about everything."""
    own, of = _novel("found", c.found, k, rel, alpha, discount), coverable_on_paper(c, rel)
    depth = max((each.rank for each in rows(greedy(c.hits, rel, alpha))), default=0) if k is None else k
    each_rank = math.fsum((1 - alpha) ** (rank - 1) * discount.of(rank) for rank in range(1, depth + 1))
    says = f"{depth:,} documents about every aspect: the sum of their ranks' shares, times the aspects"
    expression = f"{number_text(each_rank)} x {number_text(of.number)}"
    full = Step("denominator", says, (), expression, each_rank * of.number)
    end = quotient("result", "the one divided by the other", own.number, full.number)
    return Written((own, replace(of, kind="aspects"), full, end), parts(own, full.number))


writes(alpha_dcg)(partial(_of_full, discount=BY_LOG))
writes(alpha_ndcg)(partial(_of_ideal, discount=BY_LOG))
writes(err_ia)(partial(_of_full, discount=BY_RANK))
writes(nerr_ia)(partial(_of_ideal, discount=BY_RANK))


def _novel(
    kind: str, documents: list[Found], k: int | None, rel: float, alpha: float, discount: Discount, whose: str = ""
) -> Step:
    """The sum over documents and their aspects of what repetition and rank leave of them."""
    seen, terms = Counter[str](), []
    for each in top_of(documents, k):
        if each.grade >= rel:
            value = float((1 - alpha) ** seen[each.aspect] * discount.of(each.rank))
            expression = f"{aspect_name(each)}: {1 - alpha:g}^{seen[each.aspect]} {discount.figures(each.rank)}"
            terms.append(Term(expression, value, each.rank, each.doc))
            seen[each.aspect] += 1
    says = f"{1 - alpha:g}^(times its aspect was seen above), discounted by rank"
    return sum_step(kind, f"{whose}{says}, for each {at_least(rel)} {cut_at(k)}", terms)
