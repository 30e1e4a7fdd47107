"""RAGChecker's formulas: everything from claims, a context being relevant if it supports one of the reference."""

from __future__ import annotations

from typing import Literal

from rankproof.judging.case import Case, Maybe, all_of, any_of, negation
from rankproof.judging.metrics.answer import NO_CLAIMS
from rankproof.judging.metrics.answer import f1 as f1_score
from rankproof.judging.metrics.contexts import UNCLAIMED as NO_REFERENCE_CLAIMS
from rankproof.judging.metrics.contexts import context_recall
from rankproof.judging.metrics.registry import Grid, Nothing, metric, row_coverage, share
from rankproof.judging.peers.ragas import is_useful, misleads

ANSWER = ("answer", "reference")
ALL = ("answer", "reference", "contexts")


@metric("precision", needs=ANSWER, score=row_coverage, peer="ragchecker")
def precision(case: Case) -> Grid | Nothing:
    """The share of the answer's claims that the reference supports.

    Formula: correct claims of the answer / claims of the answer.
    """
    return share(_correct(case, claim) for claim in case.answer_claims) or NO_CLAIMS


@metric("recall", needs=ANSWER, score=row_coverage, peer="ragchecker")
def recall(case: Case) -> Grid | Nothing:
    """The share of the reference's claims that the answer supports.

    Formula: claims of the reference in the answer / claims of the reference.
    """
    return share(_said(case, claim) for claim in case.reference_claims) or NO_REFERENCE_CLAIMS


@metric("f1", needs=ANSWER, score=f1_score, peer="ragchecker")
def f1(case: Case) -> tuple[Grid, Grid] | Nothing:
    """The harmonic mean of precision and recall.

    Formula: 2 P R / (P + R).
    """
    right, said = precision.spec.function(case), recall.spec.function(case)
    return next((each for each in (right, said) if isinstance(each, Nothing)), (right, said))


@metric("claim_recall", needs=("reference", "contexts"), score=row_coverage, peer="ragchecker")
def claim_recall(case: Case) -> Grid | Nothing:
    """The share of the reference's claims that some context supports; our context recall.

    Formula: claims of the reference in a context / claims of the reference.
    """
    return context_recall.spec.function(case)  # type: ignore[no-any-return]


@metric("context_precision", needs=("reference", "contexts"), score=row_coverage, peer="ragchecker")
def context_precision(case: Case) -> Grid | Nothing:
    """The share of the contexts that hold a needed claim: a set measure, where ours looks at the order.

    Formula: contexts that support a claim of the reference / contexts.
    """
    return share(is_useful(case, each.text) for each in case.contexts) or [[]]


@metric("context_utilization", needs=ALL, score=row_coverage, peer="ragchecker")
def context_utilization(case: Case) -> Grid | Nothing:
    """The share of the needed claims in the contexts that the answer makes; ours counts contexts.

    Formula: claims of the reference in a context and in the answer / claims of the reference in a context.
    """
    sides = [
        (any_of(case.supports(each.text, claim) for each in case.contexts), _said(case, claim))
        for claim in case.reference_claims
    ]
    used = [None if there is None else said for there, said in sides if there is not False]
    return share(used) or Nothing("no context supports a claim of the reference", lost=True)


@metric("faithfulness", needs=("answer", "contexts"), score=row_coverage, peer="ragchecker")
def faithfulness(case: Case) -> Grid | Nothing:
    """The share of the answer's claims that some context supports.

    Formula: supported claims / claims.
    """
    return share(_borne_out(case, claim) for claim in case.answer_claims) or NO_CLAIMS


@metric("hallucination", needs=ALL, score=row_coverage, higher=False, peer="ragchecker")
def hallucination(case: Case) -> Grid | Nothing:
    """The share of the answer's claims that are wrong and in no context; ours leaves the reference aside.

    Formula: claims that neither reference nor contexts support / claims.
    """
    return (
        share(
            all_of([negation(_correct(case, c)), negation(_borne_out(case, c))]) for c in case.answer_claims
        )
        or NO_CLAIMS
    )


@metric("self_knowledge", needs=ALL, score=row_coverage, peer="ragchecker")
def self_knowledge(case: Case) -> Grid | Nothing:
    """The share of the answer's claims that are right and in no context.

    Formula: claims that the reference supports and no context does / claims.
    """
    return (
        share(all_of([_correct(case, c), negation(_borne_out(case, c))]) for c in case.answer_claims)
        or NO_CLAIMS
    )


@metric("noise_sensitivity", needs=ALL, score=row_coverage, higher=False, peer="ragchecker")
def noise_sensitivity(case: Case, of: Literal["relevant", "irrelevant"] = "relevant") -> Grid | Nothing:
    """The share of wrong claims that come from contexts; a context is relevant if it supports the reference.

    Formula: wrong claims supported by a relevant context / claims; `of='irrelevant'`: by an irrelevant one, and by
    no relevant one.
    """
    return share(misleads(case, claim, of) for claim in case.answer_claims) or NO_CLAIMS


def _correct(case: Case, claim: str) -> Maybe:
    return case.supports(case.sample.reference, claim)


def _said(case: Case, claim: str) -> Maybe:
    return case.supports(case.sample.answer, claim)


def _borne_out(case: Case, claim: str) -> Maybe:
    return any_of(case.supports(each.text, claim) for each in case.contexts)
