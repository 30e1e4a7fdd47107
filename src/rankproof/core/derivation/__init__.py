"""Derivations: how one number of one query comes about, as a person would write it on paper."""

from __future__ import annotations

from collections.abc import Callable

from rankproof.core.derivation import graded, ranked, sets
from rankproof.core.derivation.generic import seen
from rankproof.core.derivation.steps import Written, case_of
from rankproof.core.hits import Hits
from rankproof.core.measure import Measure

WRITERS: dict[str, Callable[..., Written]] = {
    "P": sets.precision,
    "R": sets.recall,
    "F": sets.f_measure,
    "Success": sets.success,
    "Rprec": sets.r_precision,
    "Judged": sets.judged,
    "RR": ranked.reciprocal_rank,
    "AP": ranked.average_precision,
    "GMAP": ranked.geometric_average_precision,
    "bpref": ranked.bpref,
    "GMbpref": ranked.bpref,
    "DCG": graded.dcg,
    "nDCG": graded.ndcg,
    "ERR": graded.err,
    "RBP": graded.rbp,
}
"""Measures that are derived line by line; each takes the parameters of its measure."""


def derive(measure: Measure, h: Hits) -> Written:
    """The derivation for the only query of `h`; measures without one of their own get the general one."""
    writer = WRITERS.get(measure.spec.name)
    if writer is None or not _is_ours(measure):
        return seen(measure, h)
    return writer(case_of(h), **measure.params)


def _is_ours(measure: Measure) -> bool:
    """A user's own measure may have taken the place of one of ours."""
    return measure.spec.function.__module__.startswith(f"{Measure.__module__}s.")
