"""What use is made of the contexts, and what they are worth: used, noisy, redundant, enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from rankproof.core.parameters import Count, Cutoff
from rankproof.judging.case import Case, Maybe, all_of, any_of, negation
from rankproof.judging.metrics.answer import claims_against
from rankproof.judging.metrics.contexts import UNCLAIMED
from rankproof.judging.metrics.registry import (
    Grades,
    Grid,
    Nothing,
    Units,
    first_sufficient_rank,
    metric,
    row_coverage,
    share,
)

UNSUPPORTED = Nothing("no context supports a claim of the reference", lost=True)


@metric(
    "context_utilisation",
    needs=("query", "contexts", "answer"),
    score=row_coverage,
    also=("context_utilization",),
    soft_by="right",
)
def context_utilisation(case: Case, k: Cutoff = None) -> Grid | Nothing:
    """The share of the relevant contexts that the answer makes use of.

    Formula: contexts in the top k with a grade of at least 2 that support a claim of the answer / contexts in the
    top k with such a grade.

    Range: 0 to 1.

    Perfect: 1, when every relevant context is used.

    Worst: 0, when none is, as by an answer that is empty or abstains.

    Blind to: relevant contexts that say the same as one that is used.

    Use: with a high context recall and a low completeness: the generator overlooks what it was given.
    """
    claims = claims_against(case)
    claims = () if isinstance(claims, Nothing) else claims
    found = [
        (case.relevant(each), any_of(case.supports(each.text, claim) for claim in claims))
        for each in case.contexts[:k]
    ]
    used = [None if relevant is None else used for relevant, used in found if relevant is not False]
    return share(used) or Nothing("no relevant context was retrieved", lost=True)


@metric(
    "noise_sensitivity",
    needs=("query", "contexts", "reference", "answer"),
    score=row_coverage,
    higher=False,
    presets={f"noise_sensitivity_{of}": {"of": of} for of in ("relevant", "irrelevant")},
)
def noise_sensitivity(
    case: Case, k: Cutoff = None, of: Literal["relevant", "irrelevant"] = "relevant"
) -> Grid | Nothing:
    """The share of the answer's claims that are wrong and come from the contexts.

    Formula: answer claims that the reference does not support and a relevant context in the top k does / answer
    claims; a context is relevant from grade 2 on. `of='irrelevant'`: those that an irrelevant context supports,
    and no relevant one.

    Range: 0 to 1; lower is better.

    Perfect: 0, when nothing wrong is taken over.

    Worst: 1, when everything is wrong, and taken over.

    Blind to: wrong claims that no context supports; see hallucination_rate.

    Use: to see whether noise in the contexts gets into the answers.

    Reference: D. Ru et al.: RAGChecker, NeurIPS 2024.
    """
    claims = claims_against(case)
    if isinstance(claims, Nothing):
        return claims
    return share(_misled(case, claim, k, of) for claim in claims)


def _misled(case: Case, claim: str, k: int | None, of: str) -> Maybe:
    wrong = negation(case.supports(case.sample.reference, claim))
    sides = [(case.relevant(each), case.supports(each.text, claim)) for each in case.contexts[:k]]
    relevant = any_of(all_of([good, says]) for good, says in sides)
    if of == "relevant":
        return all_of([wrong, relevant])
    return all_of([wrong, any_of(all_of([negation(good), says]) for good, says in sides), negation(relevant)])


@metric("redundancy", needs=("contexts", "reference"), score=row_coverage, higher=False)
def redundancy(case: Case, k: Cutoff = None) -> Grid | Nothing:
    """The share of the useful contexts that add nothing to those above them.

    Formula: contexts in the top k that support a claim of the reference, and no claim that no context above
    supports / contexts in the top k that support a claim.

    Range: 0 to 1; lower is better.

    Perfect: 0, when each useful context brings something new.

    Worst: towards 1, when all say what the first says.

    Blind to: contexts that support nothing.

    Use: to see whether diversification, or dropping near-duplicates, would save room in the prompt.
    """
    if not case.reference_claims:
        return UNCLAIMED
    grid = support(case, k)
    useful = [any_of(column) for column in zip(*grid, strict=True)]
    told = [
        None if yes is None else negation(any_of(_new(cells, place) for cells in grid))
        for place, yes in enumerate(useful)
        if yes is not False
    ]
    return share(told) or UNSUPPORTED


def _new(cells: Sequence[Maybe], place: int) -> Maybe:
    """Whether a claim is supported at a place and nowhere above it."""
    return all_of([cells[place], negation(any_of(cells[:place]))])


@metric("marginal_gain", needs=("contexts", "reference"), score=row_coverage, at="rank")
def marginal_gain(case: Case, rank: Count = 1) -> Grid | Nothing:
    """What the context at one rank adds to context recall: `marginal_gain@3` is that of the third.

    Formula: reference claims supported at that rank and at none above it / reference claims.

    Range: 0 to 1.

    Perfect: 1, when one context brings everything.

    Worst: 0, when it brings nothing new.

    Blind to: what stands below it.

    Use: rank by rank, to see how deep it pays to read.
    """
    return share(len(cells) >= rank and _new(cells, rank - 1) for cells in support(case, rank)) or UNCLAIMED


def support(case: Case, k: int | None) -> Grid:
    """For each claim of the reference whether each of the contexts supports it."""
    return [
        [case.supports(each.text, claim) for each in case.contexts[:k]] for claim in case.reference_claims
    ]


def _ranks(units: Units) -> tuple[float, float]:
    return 0.0, float(max((len(cells) for cells in units), default=1))


@metric(
    "smallest_k",
    needs=("contexts", "reference"),
    score=first_sufficient_rank,
    higher=False,
    monotone=False,
    limits=_ranks,
    at=None,
    also=("smallest_sufficient_k",),
)
def smallest_k(case: Case) -> tuple[Grades, ...] | Nothing:
    """The smallest number of contexts that supports all that the whole list supports.

    Formula: the smallest k with context_recall@k equal to context_recall; none where nothing is supported.

    Range: 1 to the number of contexts; lower is better.

    Perfect: 1, when the first context brings everything.

    Worst: the number of contexts, when the last one is needed.

    Blind to: what the whole list lacks.

    Use: to choose how many contexts the prompt takes.
    """
    rows = tuple(support(case, None))
    if not rows:
        return UNCLAIMED
    known = [cell for cells in rows for cell in cells]
    found = True in known or None in known
    return rows if found else replace(UNSUPPORTED, high=float(max(len(case.contexts), 1)))
