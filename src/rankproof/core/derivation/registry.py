"""Which measures are derived line by line, and by what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rankproof.core.derivation.steps import Written
from rankproof.core.measure import Measure

Writer = Callable[..., Written]

WRITERS: dict[Callable[..., Any], Writer] = {}
"""By the function of the measure, so that a user's own measure of the same name is not taken for ours."""


def writes(*measures: Measure) -> Callable[[Writer], Writer]:
    """Make a function the derivation of measures: it takes a `Case` and the parameters of the measure.

    >>> from rankproof.core.derivation.steps import Case, Step
    >>> from rankproof.core.measures.counts import true_positives
    >>> had = WRITERS[true_positives.spec.function]
    >>> @writes(true_positives)
    ... def found(c: Case, k: int | None, rel: float) -> Written:
    ...     return Written((Step("result", "relevant documents", value=float(len(c.relevant(rel, k)))),))
    >>> WRITERS[true_positives.spec.function] is found
    True
    >>> _ = writes(true_positives)(had)
    """

    def register(writer: Writer) -> Writer:
        for each in measures:
            WRITERS[each.spec.function] = writer
        return writer

    return register
