"""promptfoo's formulas: shares of sentences."""

from __future__ import annotations

from rankproof.judging.case import Case, any_of
from rankproof.judging.metrics.answer import NO_CLAIMS
from rankproof.judging.metrics.contexts import context_recall as ours
from rankproof.judging.metrics.contexts import context_relevance
from rankproof.judging.metrics.registry import Grid, Nothing, metric, row_coverage, share


@metric("context_recall", needs=("reference", "contexts"), score=row_coverage, peer="promptfoo")
def context_recall(case: Case) -> Grid | Nothing:
    """The share of the sentences of the expected answer that can be attributed to the context.

    Formula: attributed sentences / sentences.
    """
    return ours.spec.function(case)  # type: ignore[no-any-return]


@metric("context_relevance", needs=("query", "contexts"), score=row_coverage, peer="promptfoo")
def relevance(case: Case) -> Grid | Nothing:
    """The share of the sentences of the context that are needed to answer.

    Formula: relevant sentences / sentences.
    """
    return context_relevance.spec.function(case)  # type: ignore[no-any-return]


@metric("context_faithfulness", needs=("answer", "contexts"), score=row_coverage, peer="promptfoo")
def faithfulness(case: Case) -> Grid | Nothing:
    """One minus the share of the answer's statements that the context does not bear out.

    Formula: 1 - (statements judged no) / statements.
    """
    return (
        share(
            any_of(case.supports(each.text, claim) for each in case.contexts) for claim in case.answer_claims
        )
        or NO_CLAIMS
    )
