"""The measure that decides: the first one asked for, and what it calls better and relevant."""

from __future__ import annotations

import numpy as np

from rankproof.api.scores import Scores
from rankproof.core.hits import Array, Hits
from rankproof.core.measure import Measure
from rankproof.errors import DataError, UsageError

ABOVE_ZERO = float(np.nextafter(0, 1))
"""The least grade that is above 0."""


def first_measure(scores: Scores) -> str:
    """The name of the deciding measure."""
    return next(iter(scores))


def sign_of(scores: Scores) -> int:
    """1 where more of the deciding measure is better, else -1."""
    return next(iter(scores.columns.values())).measure.spec.sign


def averaged(measure: Measure) -> Measure:
    """The measure, if its mean over queries is a mean: only then can single queries be compared."""
    if measure.spec.average != "mean":
        raise UsageError(
            f"{measure}: its values of single queries are not averaged ({measure.spec.average}), so it cannot decide. "
            "Next: name another measure first, like nDCG@10."
        )
    return measure


def hits_of(scores: Scores) -> Hits:
    """The hits that the scores were made from."""
    if scores.hits is None:
        raise DataError("there are no rankings behind these scores. Next: evaluate again.")
    return scores.hits


def relevant_from(scores: Scores) -> float:
    """From which grade on the deciding measure calls a document relevant: any above 0 where it asks for none."""
    return float(next(iter(scores.columns.values())).measure.params.get("rel", 1)) or ABOVE_ZERO


def relevant_in_words(scores: Scores) -> str:
    """What counts as relevant, as a page says it."""
    least = relevant_from(scores)
    return "a grade above 0" if least == ABOVE_ZERO else f"a grade of {least:g} or more"


def hardest(scores: Scores, among: Array) -> list[int]:
    """The queries picked by `among`, those with the worst values first."""
    values = sign_of(scores) * scores.column(first_measure(scores)).values
    return [row for row in np.argsort(values, kind="stable").tolist() if among[row]]
