"""Ragas' formulas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from rankproof.core.hits import PerQuery, ratio
from rankproof.judging.case import Case, Maybe, all_of, any_of, negation
from rankproof.judging.metrics.answer import NO_CLAIMS
from rankproof.judging.metrics.contexts import context_entity_recall, context_precision, context_recall
from rankproof.judging.metrics.registry import (
    Grades,
    Grid,
    Nothing,
    by_rank,
    metric,
    precision_of_found,
    row_coverage,
    share,
)

AGAINST_ZERO = 1e-10
"""What Ragas adds to the denominator of context precision; a perfect one is .9999999999 for it."""
AGAINST_ZERO_ENTITIES = 1e-8


def padded_precision(relevant: Sequence[Grades]) -> PerQuery:
    """Context precision with what Ragas adds below the line."""
    found = by_rank(relevant).relevant(1).count()
    return precision_of_found(relevant) * found / (found + AGAINST_ZERO)


def padded_share(grids: Sequence[Grid]) -> PerQuery:
    """Entity recall with what Ragas adds below the line."""
    wanted = np.array([len(grid) for grid in grids], dtype=np.float64)
    return row_coverage(grids) * wanted / (wanted + AGAINST_ZERO_ENTITIES)


@metric(
    "context_precision", needs=("query", "contexts"), score=padded_precision, monotone=False, peer="ragas"
)
def precision(case: Case) -> Grades | Nothing:
    """Context precision with 1e-10 added to the denominator, so that a perfect one is .9999999999.

    Formula: (sum over relevant contexts of P@rank) / (relevant contexts found + 1e-10).
    """
    return context_precision.spec.function(case)  # type: ignore[no-any-return]


@metric("context_recall", needs=("reference", "contexts"), score=row_coverage, peer="ragas")
def recall(case: Case) -> Grid | Nothing:
    """The share of the statements of the reference that the contexts support; the same as ours.

    Formula: attributed statements / statements.
    """
    return context_recall.spec.function(case)  # type: ignore[no-any-return]


@metric("context_entity_recall", needs=("reference", "contexts"), score=padded_share, peer="ragas")
def entity_recall(case: Case) -> Grid | Nothing:
    """Entity recall with 1e-8 added to the denominator.

    Formula: entities of the reference in the contexts / (entities of the reference + 1e-8).
    """
    return context_entity_recall.spec.function(case)  # type: ignore[no-any-return]


@metric("faithfulness", needs=("answer", "contexts"), score=row_coverage, peer="ragas")
def faithfulness(case: Case) -> Grid | Nothing:
    """The share of the statements that the contexts support; an answer that abstains is not left out.

    Formula: supported statements / statements.
    """
    texts = [each.text for each in case.contexts]
    return [[case.supports(text, claim) for text in texts] for claim in case.answer_claims] or NO_CLAIMS


def _rounded_f1(units: Sequence[tuple[Grid, Grid]]) -> PerQuery:
    right, said = row_coverage([a for a, _ in units]), row_coverage([b for _, b in units])
    lengths = [np.array([len(each[i]) for each in units], dtype=np.float64) for i in (0, 1)]
    tp, fp, fn = right * lengths[0], (1 - right) * lengths[0], (1 - said) * lengths[1]
    return np.asarray(np.round(_f1(tp, fp, fn), 2))


def _f1(tp: PerQuery, fp: PerQuery, fn: PerQuery) -> PerQuery:
    precision, recall = ratio(tp, tp + fp), ratio(tp, tp + fn)
    return ratio(2 * precision * recall, precision + recall)


@metric("factual_correctness", needs=("answer", "reference"), score=_rounded_f1, peer="ragas")
def factual_correctness(case: Case) -> tuple[Grid, Grid] | Nothing:
    """F1 of claims, rounded to two decimals; a true positive is a claim of the answer in both formulas.

    Formula: P = TP / (TP + FP), R = TP / (TP + FN), F1 = 2 P R / (P + R), with TP the answer's claims that the
    reference supports, FP its others, FN the reference's claims that the answer does not support.
    """
    sample = case.sample
    right = share(case.supports(sample.reference, claim) for claim in case.answer_claims)
    said = share(case.supports(sample.answer, claim) for claim in case.reference_claims)
    return (right, said) if right or said else NO_CLAIMS


@metric(
    "noise_sensitivity",
    needs=("reference", "answer", "contexts"),
    score=row_coverage,
    higher=False,
    peer="ragas",
)
def noise_sensitivity(case: Case, of: Literal["relevant", "irrelevant"] = "relevant") -> Grid | Nothing:
    """The share of wrong claims that come from contexts; a context is relevant if it supports the reference.

    Formula: wrong claims supported by a relevant context / claims; `of='irrelevant'`: by an irrelevant one, and by
    no relevant one.
    """
    return share(misleads(case, claim, of) for claim in case.answer_claims) or NO_CLAIMS


def misleads(case: Case, claim: str, of: str) -> Maybe:
    """Whether a wrong claim comes from relevant, or only from irrelevant, contexts."""
    wrong = negation(case.supports(case.sample.reference, claim))
    sides = [(is_useful(case, each.text), case.supports(each.text, claim)) for each in case.contexts]
    relevant = any_of(all_of(side) for side in sides)
    if of == "relevant":
        return all_of([wrong, relevant])
    return all_of([wrong, any_of(all_of([negation(good), says]) for good, says in sides), negation(relevant)])


def is_useful(case: Case, text: str) -> Maybe:
    """Whether a context supports a claim of the reference: what Ragas and RAGChecker call relevant."""
    return any_of(case.supports(text, claim) for claim in case.reference_claims)
