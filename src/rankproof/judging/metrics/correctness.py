"""The answer against the reference: what it says is right, and what is right it says."""

from __future__ import annotations

from collections.abc import Sequence

from rankproof.core.hits import PerQuery
from rankproof.judging.case import Case
from rankproof.judging.metrics.answer import claims_against
from rankproof.judging.metrics.arithmetic import covered, harmonic
from rankproof.judging.metrics.contexts import NO_CLAIMS
from rankproof.judging.metrics.registry import metric
from rankproof.judging.metrics.units import Grid, Nothing, share


@metric("answer_precision", needs=("answer", "reference"), score=covered)
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
    claims = claims_against(case)
    if isinstance(claims, Nothing):
        return claims
    return share(case.supports(case.sample.reference, claim) for claim in claims)


@metric("completeness", needs=("answer", "reference"), score=covered, also=("answer_recall",))
def completeness(case: Case) -> Grid | Nothing:
    """The share of the reference's claims that the answer supports.

    Formula: reference claims that the answer supports / reference claims. An answer that abstains supports none.

    Range: 0 to 1.

    Perfect: 1, when the answer says all that the reference says.

    Worst: 0, when it says nothing of it.

    Blind to: what the answer says beyond.

    Use: with answer_precision; answer_correctness is both in one number.
    """
    return share(case.supports(case.sample.answer, claim) for claim in case.reference_claims) or NO_CLAIMS


def f1(units: Sequence[tuple[Grid, Grid]]) -> PerQuery:
    """F1 of the shares of two grids."""
    return harmonic(covered([right for right, _ in units]), covered([said for _, said in units]))


@metric("answer_correctness", needs=("answer", "reference"), score=f1, also=("answer_f1",))
def answer_correctness(case: Case) -> tuple[Grid, Grid] | Nothing:
    """Whether the answer says what the reference says, no less and no more.

    Formula: F1 = 2 P R / (P + R) with P = answer_precision and R = completeness; 0 if both are 0, or if the answer
    is empty or abstains.

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
