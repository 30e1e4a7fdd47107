"""DeepEval's formulas."""

from __future__ import annotations

from rankproof.judging.case import Case, any_of, negation, statements_in
from rankproof.judging.metrics.answer import NO_CLAIMS
from rankproof.judging.metrics.contexts import context_precision, context_recall, context_relevance
from rankproof.judging.metrics.registry import (
    Grades,
    Grid,
    Nothing,
    metric,
    precision_of_found,
    row_coverage,
    share,
)


@metric(
    "contextual_precision",
    needs=("query", "contexts"),
    score=precision_of_found,
    monotone=False,
    peer="deepeval",
)
def contextual_precision(case: Case) -> Grades | Nothing:
    """Precision at each relevant context, averaged over those found; the same as ours.

    Formula: (sum over relevant contexts of P@rank) / relevant contexts found; 0 where none is.
    """
    return context_precision.spec.function(case)  # type: ignore[no-any-return]


@metric("contextual_recall", needs=("reference", "contexts"), score=row_coverage, peer="deepeval")
def contextual_recall(case: Case) -> Grid | Nothing:
    """The share of the statements of the expected output that the contexts support; the same as ours.

    Formula: supported statements / statements.
    """
    return context_recall.spec.function(case)  # type: ignore[no-any-return]


@metric("contextual_relevancy", needs=("query", "contexts"), score=row_coverage, peer="deepeval")
def contextual_relevancy(case: Case) -> Grid | Nothing:
    """The share of the statements of the contexts that bear on the input; the same as ours.

    Formula: relevant statements / statements.
    """
    return context_relevance.spec.function(case)  # type: ignore[no-any-return]


@metric("faithfulness", needs=("answer", "contexts"), score=row_coverage, peer="deepeval")
def faithfulness(case: Case) -> Grid | Nothing:
    """The share of the claims that no context contradicts: what is made up passes, where ours fails it.

    Formula: claims that no context contradicts / claims.
    """
    claims = case.answer_claims
    return (
        share(
            negation(any_of(case.contradicts(each.text, claim) for each in case.contexts)) for claim in claims
        )
        or NO_CLAIMS
    )


@metric("hallucination", needs=("answer", "contexts"), score=row_coverage, peer="deepeval")
def hallucination(case: Case) -> Grid | Nothing:
    """The share of the contexts that the answer agrees with: despite its name more is better, since DeepEval 4.

    Formula: contexts that contradict no claim of the answer / contexts.
    """
    grid = share(
        negation(any_of(case.contradicts(each.text, claim) for claim in case.answer_claims))
        for each in case.contexts
    )
    return grid or Nothing("no contexts were retrieved", lost=True)


@metric("answer_relevancy", needs=("query", "answer"), score=row_coverage, peer="deepeval")
def answer_relevancy(case: Case) -> Grid | Nothing:
    """The share of the answer's statements that bear on the input; ours grades the answer as a whole.

    Formula: relevant statements / statements.
    """
    return share(case.bears(each) for each in statements_in(case.sample.answer or "")) or NO_CLAIMS
