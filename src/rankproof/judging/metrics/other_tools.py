"""Formulas of other tools on the same verdicts, so that a user can migrate and see why numbers differ.

Missing verdicts stay unmeasured here as well, and so do values with nothing to divide by, though some of these tools
would say 0 or 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from rankproof.core.hits import PerQuery, ratio
from rankproof.core.measure import Measure
from rankproof.judging.case import Case, Maybe, all_of, any_of, negation, statements_in
from rankproof.judging.metrics.answer import NO_CLAIMS, f1
from rankproof.judging.metrics.contexts import (
    context_entity_recall,
    context_precision,
    context_recall,
    context_relevance,
    misleads,
)
from rankproof.judging.metrics.registry import (
    METRICS,
    UNCLAIMED,
    Grades,
    Grid,
    Nothing,
    by_rank,
    harmonic_mean,
    metric,
    precision_of_found,
    row_coverage,
    share,
)
from rankproof.judging.samples.sample import Context

ragas, ragchecker, deepeval, promptfoo, mlflow = (
    partial(metric, peer=each, score=row_coverage)
    for each in ("ragas", "ragchecker", "deepeval", "promptfoo", "mlflow")
)
AGAINST_ZERO, AGAINST_ZERO_ENTITIES = 1e-10, 1e-8
"""The constant that Ragas adds to the denominator of context precision, so that a perfect one is .9999999999."""


def padded_precision(relevant: Sequence[Grades]) -> PerQuery:
    """Context precision with what Ragas adds below the line."""
    found = by_rank(relevant).relevant(1).count()
    return precision_of_found(relevant) * found / (found + AGAINST_ZERO)


def padded_share(grids: Sequence[Grid]) -> PerQuery:
    """Entity recall with what Ragas adds below the line."""
    wanted = np.array([len(grid) for grid in grids], dtype=np.float64)
    return row_coverage(grids) * wanted / (wanted + AGAINST_ZERO_ENTITIES)


def as_ours(peer: str, name: str, ours: Measure, formula: str, about: str, **settings: Any) -> None:
    """A formula of another tool that counts what ours counts, and scores as ours unless it is said how."""
    own = METRICS[ours.name]

    def read(case: Case) -> Any:
        return own.read(case)

    read.__doc__ = f"{about}\n\nFormula: {formula}."
    metric(name, peer=peer, **{"needs": own.needs, "score": own.score, "monotone": own.monotone, **settings})(read)


as_ours(
    *("ragas", "context_precision", context_precision),
    "(sum over relevant contexts of P@rank) / (relevant contexts found + 1e-10)",
    "Context precision with 1e-10 added to the denominator, so that a perfect one is .9999999999.",
    score=padded_precision,
)
as_ours(
    *("ragas", "context_recall", context_recall, "attributed statements / statements"),
    "The share of the statements of the reference that the contexts support; the same as ours.",
)
as_ours(
    *("ragas", "context_entity_recall", context_entity_recall),
    "entities of the reference in the contexts / (entities of the reference + 1e-8)",
    "Entity recall with 1e-8 added to the denominator.",
    score=padded_share,
)


@ragas("faithfulness", needs=("answer", "contexts"))
def ragas_faithfulness(case: Case) -> Grid | Nothing:
    """The share of the statements that the contexts support; an answer that abstains is not left out.

    Formula: supported statements / statements.
    """
    return share(map(case.borne_out, case.answer_claims)) or NO_CLAIMS


def _rounded_f1(units: Sequence[tuple[Grid, Grid]]) -> PerQuery:
    right, said = row_coverage([a for a, _ in units]), row_coverage([b for _, b in units])
    lengths = [np.array([len(each[i]) for each in units], dtype=np.float64) for i in (0, 1)]
    tp, fp, fn = right * lengths[0], (1 - right) * lengths[0], (1 - said) * lengths[1]
    return np.asarray(np.round(harmonic_mean(ratio(tp, tp + fp), ratio(tp, tp + fn)), 2))


@ragas("factual_correctness", needs=("answer", "reference"), score=_rounded_f1)
def ragas_factual_correctness(case: Case) -> tuple[Grid, Grid] | Nothing:
    """F1 of claims, rounded to two decimals; a true positive is a claim of the answer in both formulas.

    Formula: P = TP / (TP + FP), R = TP / (TP + FN), F1 = 2 P R / (P + R), with TP the answer's claims that the
    reference supports, FP its others, FN the reference's claims that the answer does not support.
    """
    sample = case.sample
    right = share(case.supports(sample.reference, claim) for claim in case.answer_claims)
    said = share(case.supports(sample.answer, claim) for claim in case.reference_claims)
    return (right, said) if right or said else NO_CLAIMS


@ragas("noise_sensitivity", needs=("reference", "answer", "contexts"), higher=False)
def ragas_noise_sensitivity(case: Case, of: Literal["relevant", "irrelevant"] = "relevant") -> Grid | Nothing:
    """The share of wrong claims that come from contexts; a context is relevant if it supports the reference.

    Formula: wrong claims supported by a relevant context / claims; `of='irrelevant'`: by an irrelevant one, and by
    no relevant one.
    """
    says = (misleads(case, claim, case.contexts, of, partial(is_useful, case)) for claim in case.answer_claims)
    return share(says) or NO_CLAIMS


def is_useful(case: Case, context: Context) -> Maybe:
    """Whether a context supports a claim of the reference: what Ragas and RAGChecker call relevant."""
    return any_of(case.supports(context.text, claim) for claim in case.reference_claims)


ANSWER = ("answer", "reference")
ALL = ("answer", "reference", "contexts")


@ragchecker("precision", needs=ANSWER)
def ragchecker_precision(case: Case) -> Grid | Nothing:
    """The share of the answer's claims that the reference supports.

    Formula: correct claims of the answer / claims of the answer.
    """
    return share(_correct(case, claim) for claim in case.answer_claims) or NO_CLAIMS


@ragchecker("recall", needs=ANSWER)
def ragchecker_recall(case: Case) -> Grid | Nothing:
    """The share of the reference's claims that the answer supports.

    Formula: claims of the reference in the answer / claims of the reference.
    """
    return share(_said(case, claim) for claim in case.reference_claims) or UNCLAIMED


@ragchecker("f1", needs=ANSWER, score=f1)
def ragchecker_f1(case: Case) -> tuple[Grid, Grid] | Nothing:
    """The harmonic mean of precision and recall.

    Formula: 2 P R / (P + R).
    """
    right, said = ragchecker_precision.spec.function(case), ragchecker_recall.spec.function(case)
    return next((each for each in (right, said) if isinstance(each, Nothing)), (right, said))


as_ours(
    *("ragchecker", "claim_recall", context_recall, "claims of the reference in a context / claims of the reference"),
    "The share of the reference's claims that some context supports; our context recall.",
)


@ragchecker("context_precision", needs=("reference", "contexts"))
def ragchecker_context_precision(case: Case) -> Grid | Nothing:
    """The share of the contexts that hold a needed claim: a set measure, where ours looks at the order.

    Formula: contexts that support a claim of the reference / contexts.
    """
    return share(is_useful(case, each) for each in case.contexts) or [[]]


@ragchecker("context_utilization", needs=ALL)
def ragchecker_context_utilization(case: Case) -> Grid | Nothing:
    """The share of the needed claims in the contexts that the answer makes; ours counts contexts.

    Formula: claims of the reference in a context and in the answer / claims of the reference in a context.
    """
    sides = [(case.borne_out(claim), _said(case, claim)) for claim in case.reference_claims]
    used = [None if there is None else said for there, said in sides if there is not False]
    return share(used) or Nothing("no context supports a claim of the reference", lost=True)


@ragchecker("faithfulness", needs=("answer", "contexts"))
def ragchecker_faithfulness(case: Case) -> Grid | Nothing:
    """The share of the answer's claims that some context supports.

    Formula: supported claims / claims.
    """
    return share(map(case.borne_out, case.answer_claims)) or NO_CLAIMS


@ragchecker("hallucination", needs=ALL, higher=False)
def ragchecker_hallucination(case: Case) -> Grid | Nothing:
    """The share of the answer's claims that are wrong and in no context; ours leaves the reference aside.

    Formula: claims that neither reference nor contexts support / claims.
    """
    claims = case.answer_claims
    return share(all_of([negation(_correct(case, c)), negation(case.borne_out(c))]) for c in claims) or NO_CLAIMS


@ragchecker("self_knowledge", needs=ALL)
def ragchecker_self_knowledge(case: Case) -> Grid | Nothing:
    """The share of the answer's claims that are right and in no context.

    Formula: claims that the reference supports and no context does / claims.
    """
    return share(all_of([_correct(case, c), negation(case.borne_out(c))]) for c in case.answer_claims) or NO_CLAIMS


ragchecker("noise_sensitivity", needs=ALL, higher=False)(ragas_noise_sensitivity.spec.function)


def _correct(case: Case, claim: str) -> Maybe:
    return case.supports(case.sample.reference, claim)


def _said(case: Case, claim: str) -> Maybe:
    return case.supports(case.sample.answer, claim)


as_ours(
    *("deepeval", "contextual_precision", context_precision),
    "(sum over relevant contexts of P@rank) / relevant contexts found; 0 if none is",
    "Precision at each relevant context, averaged over those found; the same as ours.",
)
as_ours(
    *("deepeval", "contextual_recall", context_recall, "supported statements / statements"),
    "The share of the statements of the expected output that the contexts support; the same as ours.",
)
as_ours(
    *("deepeval", "contextual_relevancy", context_relevance, "relevant statements / statements"),
    "The share of the statements of the contexts that bear on the input; the same as ours.",
)


@deepeval("faithfulness", needs=("answer", "contexts"))
def deepeval_faithfulness(case: Case) -> Grid | Nothing:
    """The share of the claims that no context contradicts: what is made up passes, where ours fails it.

    Formula: claims that no context contradicts / claims.
    """
    claims = case.answer_claims
    found = share(negation(any_of(case.contradicts(each.text, claim) for each in case.contexts)) for claim in claims)
    return found or NO_CLAIMS


@deepeval("hallucination", needs=("answer", "contexts"))
def deepeval_hallucination(case: Case) -> Grid | Nothing:
    """The share of the contexts that the answer agrees with: despite its name more is better, since DeepEval 4.

    Formula: contexts that contradict no claim of the answer / contexts.
    """
    grid = share(
        negation(any_of(case.contradicts(each.text, claim) for claim in case.answer_claims)) for each in case.contexts
    )
    return grid or Nothing("no contexts were retrieved", lost=True)


@deepeval("answer_relevancy", needs=("query", "answer"))
def deepeval_answer_relevancy(case: Case) -> Grid | Nothing:
    """The share of the answer's statements that bear on the input; ours grades the answer as a whole.

    Formula: relevant statements / statements.
    """
    return share(case.bears(each) for each in statements_in(case.sample.answer or "")) or NO_CLAIMS


as_ours(
    *("promptfoo", "context_recall", context_recall, "attributed sentences / sentences"),
    "The share of the sentences of the expected answer that can be attributed to the context.",
)
as_ours(
    *("promptfoo", "context_relevance", context_relevance, "relevant sentences / sentences"),
    "The share of the sentences of the context that are needed to answer.",
)


@promptfoo("context_faithfulness", needs=("answer", "contexts"))
def promptfoo_faithfulness(case: Case) -> Grid | Nothing:
    """One minus the share of the answer's statements that the context does not bear out.

    Formula: 1 - (statements judged no) / statements.
    """
    return share(map(case.borne_out, case.answer_claims)) or NO_CLAIMS


def _facts(case: Case) -> tuple[str, ...]:
    """The expected facts; if none are given, the claims of the expected response."""
    given = case.sample.nuggets
    return tuple(each.text for each in given) if given is not None else case.reference_claims


@mlflow("retrieval_relevance", needs=("query", "contexts"))
def mlflow_retrieval_relevance(case: Case) -> Grid | Nothing:
    """The share of the retrieved chunks that are relevant, whatever their order.

    Formula: relevant chunks / chunks.
    """
    return share(case.relevant(each) for each in case.contexts) or [[]]


@mlflow("retrieval_sufficiency", needs=("contexts",))
def mlflow_retrieval_sufficiency(case: Case) -> Grid | Nothing:
    """Whether the chunks hold all that is expected: 1 or 0 where context recall is a share.

    Formula: 1 if a chunk supports each expected fact, else 0.
    """
    facts = _facts(case)
    return share([all_of(case.borne_out(each) for each in facts)]) if facts else UNCLAIMED


@mlflow("retrieval_groundedness", needs=("answer", "contexts"))
def mlflow_retrieval_groundedness(case: Case) -> Grid | Nothing:
    """Whether the chunks bear out all of the answer: 1 or 0 where faithfulness is a share.

    Formula: 1 if a chunk supports each claim of the answer, else 0.
    """
    claims = case.answer_claims
    return share([all_of(case.borne_out(each) for each in claims)]) if claims else NO_CLAIMS


@mlflow("correctness", needs=("answer",))
def mlflow_correctness(case: Case) -> Grid | Nothing:
    """Whether the answer has all that is expected: 1 or 0 where completeness is a share.

    Formula: 1 if the answer supports each expected fact, else 0.
    """
    facts = _facts(case)
    return share([all_of(case.supports(case.sample.answer, each) for each in facts)]) if facts else UNCLAIMED


@mlflow("relevance_to_query", needs=("query", "answer"))
def mlflow_relevance_to_query(case: Case) -> Grid | Nothing:
    """Whether the answer addresses the question: 1 or 0 where answer_relevance is a grade.

    Formula: 1 if the answer's grade is at least 2, else 0.
    """
    grade = case.address_grade()
    return share([None if grade is None else grade >= 2])
