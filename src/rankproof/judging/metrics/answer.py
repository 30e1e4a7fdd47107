"""The answer and its contexts and reference: faithful, made up, contradicted, to the point, or rightly withheld."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rankproof.core.hits import PerQuery
from rankproof.core.measure import Cutoff
from rankproof.judging.case import SILENCE, Case, Maybe, Reading, all_of, any_of, negation
from rankproof.judging.metrics.registry import (
    GRADES,
    UNCLAIMED,
    Grades,
    Grid,
    Nothing,
    harmonic_mean,
    mean_grade,
    metric,
    row_coverage,
    share,
)
from rankproof.judging.verdicts import YES

ABSTAINED = Nothing("the answer abstains", lost=True)
EMPTY = Nothing("the answer has no words", lost=True)
NO_CLAIMS = Nothing("no claims in the answer", lost=True)


def claims_against(case: Case) -> tuple[str, ...] | Nothing:
    """The claims of an answer, or why there are none to check."""
    if not case.answered:
        return EMPTY
    if case.sample.has("query") and case.abstains():
        return ABSTAINED
    return case.answer_claims or NO_CLAIMS


def of_claims(case: Case, says: Callable[[str], Maybe]) -> Grid | Nothing:
    """What is said of each claim of the answer, or why there are none to check."""
    claims = claims_against(case)
    return claims if isinstance(claims, Nothing) else share(map(says, claims))


@metric(
    "faithfulness",
    needs=("answer", "contexts"),
    score=row_coverage,
    also=("groundedness",),
    presets={"faithfulness_together": {"contexts": "together"}},
)
def faithfulness(case: Case, k: Cutoff = None, contexts: Reading = "apart") -> Grid | Nothing:
    """The share of the answer's claims that some retrieved context supports.

    Formula: answer claims supported by a context in the top k / answer claims. `contexts='together'`: a claim that none
        of them supports alone is asked of all of them as one text.
    Range: 0 to 1.
    Perfect: 1, when the contexts support everything that the answer says.
    Worst: 0, when they support nothing of it.
    Blind to: whether the contexts are right, and whether the answer answers.
    Use: to see whether the generator keeps to what it was given. An answer that is empty or abstains has no value, and
        counts in the bounds as any.
    """
    claims = claims_against(case)
    if isinstance(claims, Nothing):
        return claims
    return [case.support(claim, case.contexts[:k], contexts) for claim in claims]


@metric("hallucination_rate", needs=("answer", "contexts"), score=row_coverage, higher=False, also=("hallucination",))
def hallucination_rate(case: Case, k: Cutoff = None, contexts: Reading = "apart") -> Grid | Nothing:
    """The share of the answer's claims that no retrieved context supports: made up, or contradicted.

    Formula: answer claims without a supporting context in the top k / answer claims; 1 - faithfulness, with
        `contexts='together'` as well.
    Range: 0 to 1; lower is better.
    Perfect: 0, when the contexts support everything.
    Worst: 1, when they support nothing.
    Blind to: whether a claim is true after all; see self_knowledge.
    Use: where the rate of invented claims is the question.
    """
    supported = faithfulness.spec.function(case, k=k, contexts=contexts)
    if isinstance(supported, Nothing):
        return supported
    return share(negation(any_of(cells)) for cells in supported)


@metric("contradiction_rate", needs=("answer", "contexts"), score=row_coverage, higher=False)
def contradiction_rate(case: Case, k: Cutoff = None) -> Grid | Nothing:
    """The share of the answer's claims that the retrieved contexts contradict.

    Formula: answer claims that a context in the top k contradicts and none supports / answer claims.
    Range: 0 to 1; lower is better.
    Perfect: 0, when nothing is contradicted.
    Worst: 1, when everything is.
    Blind to: what is made up without being contradicted.
    Use: to tell answers against the evidence from answers beyond it.
    """

    def contradicted(claim: str) -> Maybe:
        against = any_of(case.contradicts(each.text, claim) for each in case.contexts[:k])
        return all_of([against, negation(case.borne_out(claim, k))])

    return of_claims(case, contradicted)


@metric("self_knowledge", needs=("answer", "contexts", "reference"), score=row_coverage)
def self_knowledge(case: Case, k: Cutoff = None) -> Grid | Nothing:
    """The share of the answer's claims that are correct but do not come from the contexts.

    Formula: answer claims that the reference supports and no context in the top k does / answer claims.
    Range: 0 to 1.
    Perfect: neither end is: 0 says that all that is right came from the contexts.
    Worst: 1 says that the contexts were not used at all.
    Blind to: whether the contexts could have been used.
    Use: to see how much of what is right would be right without retrieval.
    Reference: D. Ru et al.: RAGChecker, NeurIPS 2024.
    """
    reference = case.sample.reference
    return of_claims(case, lambda claim: all_of([case.supports(reference, claim), negation(case.borne_out(claim, k))]))


@metric(
    "answer_relevance",
    needs=("query", "answer"),
    score=mean_grade,
    choices=GRADES,
    also=("answer_relevancy", "response_relevancy"),
)
def answer_relevance(case: Case) -> Grades:
    """How far the answer addresses the question.

    Formula: the grade of the answer (0 not at all, 1 in part, 2 mostly, 3 fully) / 3.
    Range: 0 to 1.
    Perfect: 1, when the question is addressed fully.
    Worst: 0, when the answer is about something else.
    Blind to: whether the answer is true.
    Use: beside correctness or faithfulness. An answer that is empty or abstains does not address the question: 0;
        whether it is right to abstain, abstention_quality says.
    """
    return [SILENCE if case.abstains() else case.address_grade()]


@metric("abstention_quality", needs=("query", "answer", "contexts"), score=row_coverage)
def abstention_quality(case: Case, k: Cutoff = None) -> Grid | Nothing:
    """Whether the answer says "I don't know" where the contexts hold no answer, and answers where they do.

    Formula: 1 if the answer abstains and no context in the top k has a grade of at least 2, or if it answers and one
        has; else 0. An empty answer does neither.
    Range: 0 or 1.
    Perfect: 1.
    Worst: 0, when it answers from nothing, or gives up before the answer.
    Blind to: whether what is answered is right.
    Use: with questions that the corpus cannot answer among the others.
    """
    able = any_of(case.relevant(each, YES) for each in case.contexts[:k])
    abstains = case.abstains()
    if not case.answered:
        return share([False])
    return share([None if able is None or abstains is None else able != abstains])


@metric("answer_precision", needs=("answer", "reference"), score=row_coverage)
def answer_precision(case: Case) -> Grid | Nothing:
    """The share of the answer's claims that the reference supports.

    Formula: answer claims that the reference supports / answer claims. An answer that is empty or abstains claims
        nothing: it has no value, and counts in the bounds as any.
    Range: 0 to 1.
    Perfect: 1, when the reference supports all of it.
    Worst: 0, when it supports nothing.
    Blind to: what the answer leaves out; and to what is true but not in the reference.
    Use: with completeness; answer_correctness is both in one number.
    """
    return of_claims(case, lambda claim: case.supports(case.sample.reference, claim))


@metric("completeness", needs=("answer", "reference"), score=row_coverage, also=("answer_recall",))
def completeness(case: Case) -> Grid | Nothing:
    """The share of the reference's claims that the answer supports.

    Formula: reference claims that the answer supports / reference claims, whether or not it abstains as well.
    Range: 0 to 1.
    Perfect: 1, when the answer says all that the reference says.
    Worst: 0, when it says nothing of it.
    Blind to: what the answer says beyond.
    Use: with answer_precision; answer_correctness is both in one number.
    """
    return share(case.supports(case.sample.answer, claim) for claim in case.reference_claims) or UNCLAIMED


def f1(units: Sequence[tuple[Grid, Grid]]) -> PerQuery:
    """F1 of the shares of two grids."""
    return harmonic_mean(row_coverage([right for right, _ in units]), row_coverage([said for _, said in units]))


@metric("answer_correctness", needs=("answer", "reference"), score=f1, also=("answer_f1",))
def answer_correctness(case: Case) -> tuple[Grid, Grid] | Nothing:
    """Whether the answer says what the reference says, no less and no more.

    Formula: F1 = 2 P R / (P + R) with P = answer_precision and R = completeness; 0 if both are 0, or if the answer is
        empty or abstains.
    Range: 0 to 1.
    Perfect: 1, when each supports all claims of the other.
    Worst: 0, when they have nothing in common.
    Blind to: which claims matter.
    Use: as the one number for answers where references exist.
    """
    right, said = answer_precision.spec.function(case), completeness.spec.function(case)
    if isinstance(said, Nothing):
        return said
    return ([], share(False for _ in said)) if isinstance(right, Nothing) else (right, said)
