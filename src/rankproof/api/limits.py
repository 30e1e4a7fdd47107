"""What the means of `Scores` could be: their ceiling, their bounds, and why they are below their ceiling.

Each is the mean of a limit over the queries that count; of scores read back it is what was saved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from rankproof.core import limits
from rankproof.core.hits import Array, Hits
from rankproof.core.measure import Measure
from rankproof.core.scoring import Column, averaged
from rankproof.core.summary import Pair
from rankproof.errors import UsageError, is_one_of

if TYPE_CHECKING:
    from rankproof.api.scores import Scores

SEED = 0
"""Where random orders of equal scores start."""


def ceiling(scores: Scores, measure: str | Measure) -> float:
    """The best mean that any ranking could reach under these judgments."""

    def reached(m: Measure, h: Hits) -> Array:
        if m.name not in scores.reached:
            scores.reached[m.name] = limits.ceiling(m, h)
        return scores.reached[m.name]

    return _limit(scores, measure, "ceiling", reached)  # type: ignore[no-any-return]


def ends(scores: Scores, measure: str | Measure) -> Pair:
    """What a query can score: the bounds that the measure declares, from above by the best that any query of
    these judgments could reach. Where a document is relevant to each query, no query scores more than .2 in P@5."""
    column = scores.column(measure)
    spec = column.measure.spec
    best = most(scores, measure) if spec.higher and spec.average != "sum" else None  # a count's is itself
    above = spec.bounds[1] if best is None or best <= spec.bounds[0] else min(best, spec.bounds[1])
    return spec.bounds[0], max(above, float(column.counting.max(initial=-np.inf)))


def most(scores: Scores, measure: str | Measure) -> float | None:
    """The best that any of the queries could reach, those of all where these are a slice; None: not known."""
    scores = scores.parent or scores
    name = scores.column(measure).measure.name
    if scores.hits is None:
        return scores.stored.get("rows", {}).get(name, {}).get("most")  # type: ignore[no-any-return]
    if name not in scores.reached:
        scores.reached[name] = limits.ceiling(scores.column(measure).measure, scores.hits)
    return float(scores.reached[name].max(initial=0.0))


def bounds(scores: Scores, measure: str | Measure, of: str, grade: float) -> Pair | None:
    """Where the mean could lie, over orders of equal scores or over documents nobody judged."""
    if not is_one_of(of, ("ties", "unjudged")):
        raise UsageError(f"bounds: got of={of!r}, expected 'ties' or 'unjudged'. Next: choose one.")
    if of == "unjudged" and _over_tie_orders(scores):
        return None
    if of == "ties" and not scores.facts["tied"]:
        return scores[measure], scores[measure]
    rng = np.random.default_rng(SEED)

    def both(m: Measure, h: Hits) -> Any:
        return limits.tie_bounds(m, h, rng) if of == "ties" else limits.unjudged_bounds(m, h, grade)

    return _limit(scores, measure, of, both)  # type: ignore[no-any-return]


def split(scores: Scores, measure: str | Measure) -> Pair | None:
    """How far the mean is below its ceiling: never found, and ranked too low."""
    if scores.column(measure).measure.spec.average == "geometric" or _over_tie_orders(scores):
        return None  # a difference of geometric means is no mean of differences
    return _limit(scores, measure, "split", limits.split)  # type: ignore[no-any-return]


def _over_tie_orders(scores: Scores) -> bool:
    """Whether the values are of several or extreme orders of equal scores, and so of no one ranking."""
    tied = scores.hits is not None and scores.hits.first is not None
    return tied and scores.conventions.ties in ("expected", "best", "worst")


def _limit(scores: Scores, measure: str | Measure, what: str, compute: Callable[[Measure, Hits], Any]) -> Any:
    """The mean of a limit over the queries that count."""
    column = scores.column(measure)
    if scores.hits is None:
        return _read_back(scores, column.measure.name, what)
    found = compute(column.measure, scores.hits)
    if found is None:
        return None
    if isinstance(found, tuple):
        return tuple(_mean(column, each) for each in found)
    return _mean(column, found)


def _mean(column: Column, values: Array) -> float:
    return averaged(column.measure, values if column.counted is None else values[column.counted])


def _read_back(scores: Scores, name: str, what: str) -> Any:
    row = scores.stored.get("rows", {}).get(name, {})
    if what == "split":
        pair = (row.get("never_found"), row.get("ranked_too_low"))
        return None if None in pair else pair
    found = row.get(what)
    return tuple(found) if isinstance(found, list) else found
