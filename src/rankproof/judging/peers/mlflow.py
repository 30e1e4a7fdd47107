"""MLflow's judges: yes or no on a whole trace, and the share of its chunks that are relevant."""

from __future__ import annotations

from rankproof.judging.case import Case, Maybe, all_of, any_of
from rankproof.judging.metrics.answer import NO_CLAIMS
from rankproof.judging.metrics.contexts import UNCLAIMED as NO_FACTS
from rankproof.judging.metrics.registry import Grid, Nothing, metric, row_coverage, share


def _facts(case: Case) -> tuple[str, ...]:
    """The expected facts; where none are given, the claims of the expected response."""
    given = case.sample.nuggets
    return tuple(each.text for each in given) if given is not None else case.reference_claims


@metric("retrieval_relevance", needs=("query", "contexts"), score=row_coverage, peer="mlflow")
def retrieval_relevance(case: Case) -> Grid | Nothing:
    """The share of the retrieved chunks that are relevant, whatever their order.

    Formula: relevant chunks / chunks.
    """
    return share(case.relevant(each) for each in case.contexts) or [[]]


@metric("retrieval_sufficiency", needs=("contexts",), score=row_coverage, peer="mlflow")
def retrieval_sufficiency(case: Case) -> Grid | Nothing:
    """Whether the chunks hold all that is expected: 1 or 0 where context recall is a share.

    Formula: 1 if a chunk supports each expected fact, else 0.
    """
    facts = _facts(case)
    return share([all_of(_held(case, each) for each in facts)]) if facts else NO_FACTS


@metric("retrieval_groundedness", needs=("answer", "contexts"), score=row_coverage, peer="mlflow")
def retrieval_groundedness(case: Case) -> Grid | Nothing:
    """Whether the chunks bear out all of the answer: 1 or 0 where faithfulness is a share.

    Formula: 1 if a chunk supports each claim of the answer, else 0.
    """
    claims = case.answer_claims
    return share([all_of(_held(case, each) for each in claims)]) if claims else NO_CLAIMS


@metric("correctness", needs=("answer",), score=row_coverage, peer="mlflow")
def correctness(case: Case) -> Grid | Nothing:
    """Whether the answer has all that is expected: 1 or 0 where completeness is a share.

    Formula: 1 if the answer supports each expected fact, else 0.
    """
    facts = _facts(case)
    return share([all_of(case.supports(case.sample.answer, each) for each in facts)]) if facts else NO_FACTS


@metric("relevance_to_query", needs=("query", "answer"), score=row_coverage, peer="mlflow")
def relevance_to_query(case: Case) -> Grid | Nothing:
    """Whether the answer addresses the question: 1 or 0 where answer_relevance is a grade.

    Formula: 1 if the answer's grade is at least 2, else 0.
    """
    grade = case.addressed()
    return share([None if grade is None else grade >= 2])


def _held(case: Case, claim: str) -> Maybe:
    return any_of(case.supports(each.text, claim) for each in case.contexts)
