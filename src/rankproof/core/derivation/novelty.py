"""Derivations of measures of novelty: what each document adds to the aspects above it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from rankproof.core.derivation.aspects import called, coverable
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
    rows,
    said,
    summed,
)
from rankproof.core.measures import novelty
from rankproof.core.measures.novelty import greedy


class Discount(NamedTuple):
    """How much less a rank counts: in figures, and the number."""

    figures: Callable[[int], str]
    of: Callable[[int], float]


BY_LOG = Discount(lambda rank: f"/ log2({rank + 1})", lambda rank: 1 / math.log2(rank + 1))
BY_RANK = Discount(lambda rank: f"/ {rank}", lambda rank: 1 / rank)


def _by_power(beta: float) -> Discount:
    return Discount(lambda rank: f"x {beta:g}^{rank - 1}", lambda rank: beta ** (rank - 1))


@writes(novelty.alpha_dcg)
def alpha_dcg(c: Case, k: int | None, rel: float, alpha: float) -> Written:
    """The new of each document, by that of documents about everything."""
    return _of_full(c, k, rel, alpha, BY_LOG)


@writes(novelty.alpha_ndcg)
def alpha_ndcg(c: Case, k: int | None, rel: float, alpha: float) -> Written:
    """The new of each document, by that of the best order."""
    return _of_ideal(c, k, rel, alpha, BY_LOG)


@writes(novelty.err_ia)
def err_ia(c: Case, k: int | None, rel: float, alpha: float) -> Written:
    """The same with the discount of ERR."""
    return _of_full(c, k, rel, alpha, BY_RANK)


@writes(novelty.nerr_ia)
def nerr_ia(c: Case, k: int | None, rel: float, alpha: float) -> Written:
    """The same with the discount of ERR."""
    return _of_ideal(c, k, rel, alpha, BY_RANK)


@writes(novelty.nrbp)
def nrbp(c: Case, rel: float, alpha: float, beta: float) -> Written:
    """The new of each document with the discount of RBP, scaled."""
    sums, of = _novel("found", c.found, None, rel, alpha, _by_power(beta)), coverable(c, rel)
    scale = 1 - (1 - alpha) * beta
    expression = f"(1 - {1 - alpha:g} x {beta:g}) x {said(sums.number)} / {said(of.number)}"
    value = scale * sums.number / of.number if of.number else 0.0
    end = Step("result", "times (1 - (1 - alpha) beta), by the aspects", (), expression, value)
    return Written((sums, of, end), parts(sums, of.number / scale))


@writes(novelty.normalised_nrbp)
def normalised_nrbp(c: Case, rel: float, alpha: float, beta: float) -> Written:
    """The same, by that of the best order."""
    return _of_ideal(c, None, rel, alpha, _by_power(beta))


def _of_ideal(c: Case, k: int | None, rel: float, alpha: float, discount: Discount) -> Written:
    own = _novel("found", c.found, k, rel, alpha, discount)
    best = _novel("ideal", _best(c, rel, alpha), k, rel, alpha, discount, "of the best order: ")
    end = quotient("result", "the one divided by the other", own.number, best.number)
    return Written((own, best, end), parts(own, best.number))


def _of_full(c: Case, k: int | None, rel: float, alpha: float, discount: Discount) -> Written:
    own, of = _novel("found", c.found, k, rel, alpha, discount), coverable(c, rel)
    depth = max((each.rank for each in _best(c, rel, alpha)), default=0) if k is None else k
    each_rank = math.fsum((1 - alpha) ** (rank - 1) * discount.of(rank) for rank in range(1, depth + 1))
    says = f"{depth:,} documents about every aspect: the sum of their ranks' shares, times the aspects"
    expression = f"{said(each_rank)} x {said(of.number)}"
    full = Step("denominator", says, (), expression, each_rank * of.number)
    end = quotient("result", "the one divided by the other", own.number, full.number)
    return Written(
        (own, Step("aspects", of.says, of.terms, of.expression, of.value), full, end), parts(own, full.number)
    )


def _novel(
    kind: str,
    documents: list[Found],
    k: int | None,
    rel: float,
    alpha: float,
    discount: Discount,
    whose: str = "",
) -> Step:
    """The sum over documents and their aspects of what repetition and rank leave of them."""
    seen, terms = Counter[str](), []
    for each in documents:
        if each.grade >= rel and (k is None or each.rank <= k):
            value = (1 - alpha) ** seen[each.aspect] * discount.of(each.rank)
            expression = f"{called(each)}: {1 - alpha:g}^{seen[each.aspect]} {discount.figures(each.rank)}"
            terms.append(Term(expression, value, each.rank, each.doc))
            seen[each.aspect] += 1
    says = f"{1 - alpha:g}^(times its aspect was seen above), discounted by rank"
    return summed(kind, f"{whose}{says}, for each {at_least(rel)} {cut_at(k)}", terms)


def _best(c: Case, rel: float, alpha: float) -> list[Found]:
    return rows(greedy(c.hits, rel, alpha))
