"""Derivations: how one number of one query comes about, as a person would write it on paper.

Each module here derives the measures of the module of that name in `rankproof.core.measures`.
"""

from __future__ import annotations

from rankproof.core.derivation import (  # noqa: F401  (their import fills the registry)
    aspects,
    cascade,
    census,
    compatibility,
    counts,
    cwl,
    gains,
    graded,
    incomplete,
    interpolated,
    novelty,
    ranked,
    sets,
    users,
)
from rankproof.core.derivation.generic import seen
from rankproof.core.derivation.registry import WRITERS
from rankproof.core.derivation.steps import Written, case_of
from rankproof.core.hits import Hits
from rankproof.core.measure import Measure
from rankproof.core.ties import seen_by


def derive(measure: Measure, h: Hits) -> Written:
    """The derivation for the only query of `h`; measures without one of their own get the general one."""
    writer = WRITERS.get(measure.spec.function)
    if writer is None:
        return seen(measure, h)
    return writer(case_of(seen_by(measure, h)), **measure.params)
