"""What a number could be: its ceiling, its bounds, and why it is below its ceiling."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rankproof.core.bounds import BOUNDS
from rankproof.core.gaps import seen_down_to
from rankproof.core.hits import Hits, PerQuery
from rankproof.core.measure import Measure
from rankproof.core.ties import extremes, seen_by, steady, worth
from rankproof.core.unjudged import filled

CLOSE = 1e-9
"""Values nearer than this are the same but for rounding."""


class Split(NamedTuple):
    """How far each query is below its ceiling, in two parts."""

    never_found: PerQuery
    """What even the best order of what was returned does not reach."""
    ranked_too_low: PerQuery
    """What the best order of what was returned would add."""


def ceiling(measure: Measure, hits: Hits) -> PerQuery:
    """The best value of each query that any ranking could reach under its judgments."""
    if measure.spec.ceiling is not None:
        return measure.spec.ceiling(seen_by(measure, hits), **measure.params)
    return measure(seen_by(measure, ideal(measure, hits)))


def ideal(measure: Measure, hits: Hits) -> Hits:
    """All judged documents in the order that is best for the measure."""
    if not isinstance(measure.params.get("gain"), dict):
        return hits.ideal
    pool = hits if hits.pool is None else hits.pool
    value = worth(measure, pool)
    return hits.ideal if value is None else replace(pool.reordered_by(value), pool=pool)


def tie_bounds(measure: Measure, hits: Hits, rng: np.random.Generator) -> tuple[PerQuery, PerQuery] | None:
    """The lowest and highest values over orders of equal scores; None: nothing is tied, or not known."""
    if hits.first is None:
        return None
    low, high, searched = extremes(measure, hits, rng)
    return None if searched else (low, high)


def unjudged_bounds(measure: Measure, hits: Hits, grade: float = 1) -> tuple[PerQuery, PerQuery] | None:
    """The lowest and highest values if any of the returned documents nobody judged were relevant at `grade`.

    A grade that is not yet relevant to the measure counts as the lowest that is. None: no bound is true.
    """
    params = dict(measure.params)
    if params.pop("scores", "any") != "any":
        return None  # which of the unjudged documents score above 0 is not kept
    if params.pop("threshold", "rel") != "rel":
        return None  # a judgment more moves the grade from which on documents are relevant
    grade = max(grade, params.get("rel", grade))
    bounds = BOUNDS.get(measure.spec.name)
    if bounds is not None and _known_divisor(measure):
        return bounds(hits, grade, **params)
    if not measure.spec.optimistic or _rescaled(measure, hits, grade):
        return None
    return _between(measure, seen_down_to(hits, params.get("k")), grade)


def _rescaled(measure: Measure, hits: Hits, grade: float) -> bool:
    """Whether a document of that grade would change what all others are worth."""
    return measure.params.get("top_grade", 0) is None and grade > hits.top_grade


def _between(measure: Measure, shown: Hits, grade: float) -> tuple[PerQuery, PerQuery]:
    """The values with none and with all of the unjudged documents relevant."""
    one, other = (measure(seen_by(measure, each)) for each in (shown, filled(shown, grade)))
    return np.minimum(one, other), np.maximum(one, other)


def _known_divisor(measure: Measure) -> bool:
    """Whether the divisor is counted over all judged documents, or over those found."""
    return measure.params.get("ideal", "all") in ("all", "uncut")


def split(measure: Measure, hits: Hits) -> Split | None:
    """What was never found and what was ranked too low; None where a better order can hurt, or where the
    ceiling asks for a shorter ranking, so that what is missing is neither."""
    value = worth(measure, hits)
    if not measure.spec.reorder or not steady(measure) or value is None:
        return None
    sign = measure.spec.sign
    top = sign * ceiling(measure, hits)
    if bool((top - sign * _complete(measure, hits) > CLOSE).any()):
        return None
    reordered = sign * measure(seen_by(measure, hits.reordered_by(value)))
    now = sign * measure(seen_by(measure, hits))
    return Split(np.maximum(top - reordered, 0.0), np.maximum(reordered - now, 0.0))


def _complete(measure: Measure, hits: Hits) -> PerQuery:
    """The value of a ranking as long as this one with all judged documents in the best order."""
    best = ideal(measure, hits)
    longest = np.maximum(best.retrieved, hits.retrieved)
    return measure(seen_by(measure, replace(best, retrieved=longest, corpus=hits.corpus)))
