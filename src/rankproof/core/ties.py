"""Equal scores: what a measure is worth over every order of them.

The mean over all orders is exact where the measure is a sum over documents, where a closed form is known, or
where the orders can be counted out; else it is estimated from seeded orders, and the note says so.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankproof.core.gain import gains
from rankproof.core.hits import Array, Hits, PerQuery
from rankproof.core.measure import Measure
from rankproof.core.orders import DRAWN, ROWS_AT_ONCE, Orders, tied_orders

GAINS = ("linear", "exp")
"""Gains that are a function of the grade; some measures know others, which grow with it."""


def tied_values(measure: Measure, hits: Hits, rule: str, rng: np.random.Generator) -> tuple[PerQuery, str]:
    """The values under `expected`, `best` or `worst`, and what must be said beside them (or "")."""
    if hits.first is None:
        return measure(seen_by(measure, hits)), ""
    if rule == "expected":
        return _expected(measure, hits, rng)
    return _extreme(measure, hits, rule, rng)


def seen_by(measure: Measure, hits: Hits) -> Hits:
    """The hits as the measure reads them: by aspect or by document."""
    return hits.aspects if measure.spec.aspects else hits


def steady(measure: Measure) -> bool:
    """Whether the measure divides by the same in every order: not if its divisor is built from the top k."""
    params = measure.params
    moving: bool = params.get("ideal") == "top" or params.get("denominator") == "found"
    return not (moving and params.get("k") is not None)


def worth(measure: Measure, hits: Hits) -> Array | None:
    """What each row is worth to the measure; None where no order is known to be best."""
    if measure.spec.worth is None or not steady(measure):
        return None
    if measure.spec.worth == "judged":
        return np.ones(len(hits.grade))
    rel, gain = measure.params.get("rel"), measure.params.get("gain", "linear")
    if isinstance(gain, dict) or (gain in GAINS and ("gain" in measure.params or rel is None)):
        counts = hits.grade >= rel if rel is not None and rel > 0 else True
        return np.where(counts, gains(hits.grade, gain), 0.0)
    least = 1 if rel is None else rel
    return np.where(hits.grade >= least, hits.grade - least + 1, 0.0)


# --- the mean over all orders -----------------------------------------------------------------------


def _expected(measure: Measure, hits: Hits, rng: np.random.Generator) -> tuple[PerQuery, str]:
    if measure.spec.additive and _sums_exactly(measure):
        return _spread_mean(measure, hits), ""
    if measure.spec.expected is not None and steady(measure):
        return measure.spec.expected(seen_by(measure, hits), **measure.params), ""
    return _averaged(measure, hits, rng)


def _sums_exactly(measure: Measure) -> bool:
    """A divisor built from what was returned cannot be had from rows spread over several ranks."""
    return measure.params.get("ideal") not in ("top", "returned")


def _spread_mean(measure: Measure, hits: Hits) -> PerQuery:
    """The measure over rows spread over the ranks they could have, some queries at a time."""
    parts = _parts(hits)
    if len(parts) == 1:
        return measure(seen_by(measure, hits.spread))
    return np.concatenate([measure(seen_by(measure, hits.select(part).spread)) for part in parts])


def _parts(hits: Hits) -> list[Array]:
    """The queries in runs whose rows, spread, come to ROWS_AT_ONCE or little more."""
    if hits.first is None or hits.last is None:
        return [np.arange(hits.n)]
    rows = np.bincount(hits.query, weights=hits.last - hits.first + 1, minlength=hits.n)
    part = (np.cumsum(rows) - rows) // ROWS_AT_ONCE
    return np.split(np.arange(hits.n), np.flatnonzero(np.diff(part)) + 1)


def _averaged(measure: Measure, hits: Hits, rng: np.random.Generator) -> tuple[PerQuery, str]:
    means = measure(seen_by(measure, hits)).copy()
    errors = np.zeros(hits.n)
    estimated = 0
    for orders in _orders(measure, hits, rng):
        values = measure(seen_by(measure, orders.hits))
        mean, square = orders.mean(values), orders.mean(values**2)
        means[orders.queries] = mean
        variance = np.maximum(square - mean**2, 0.0)
        errors[orders.queries] = np.where(orders.exact, 0.0, variance / (DRAWN - 1))
        estimated += int((~orders.exact).sum())
    return means, _estimate_note(estimated, float(np.sqrt(errors.sum())) / max(hits.n, 1))


def _orders(measure: Measure, hits: Hits, rng: np.random.Generator) -> Iterator[Orders]:
    """The orders of equal scores, as far down as the measure looks."""
    params = measure.params
    k = None if params.get("ideal") == "returned" else params.get("k")
    return tied_orders(hits, measure.spec.aspects, rng, k)


def _estimate_note(estimated: int, error: float) -> str:
    if not estimated:
        return ""
    return (
        f"{_queries(estimated)} with too many orders of equal scores to go through: estimated from "
        f"{DRAWN:,} seeded orders each; standard error of the mean {error:.1g}"
    )


# --- the best and the worst order --------------------------------------------------------------------


def _extreme(measure: Measure, hits: Hits, rule: str, rng: np.random.Generator) -> tuple[PerQuery, str]:
    low, high, searched = extremes(measure, hits, rng)
    values = high if (rule == "best") == measure.spec.higher else low
    if not searched:
        return values, ""
    return values, (
        f"no order of equal scores is known to be {rule}: for {_queries(searched)} it is the {rule} of "
        f"{DRAWN:,} seeded orders, and a {'better' if rule == 'best' else 'worse'} one may exist"
    )


def extremes(measure: Measure, hits: Hits, rng: np.random.Generator) -> tuple[PerQuery, PerQuery, int]:
    """The lowest and highest values over orders of equal scores, and how many queries were only searched."""
    known = known_extremes(measure, hits)
    return _searched(measure, hits, rng) if known is None else (*known, 0)


def known_extremes(measure: Measure, hits: Hits) -> tuple[PerQuery, PerQuery] | None:
    """The lowest and highest values where it is known which order is best; else None."""
    value = worth(measure, hits)
    if value is None:
        return None
    one = measure(seen_by(measure, hits.tied_by(value)))
    other = measure(seen_by(measure, hits.tied_against(value)))
    return np.minimum(one, other), np.maximum(one, other)


def _searched(measure: Measure, hits: Hits, rng: np.random.Generator) -> tuple[PerQuery, PerQuery, int]:
    low = measure(seen_by(measure, hits)).copy()
    high = low.copy()
    searched = 0
    for orders in _orders(measure, hits, rng):
        values = measure(seen_by(measure, orders.hits))
        low[orders.queries] = np.minimum.reduceat(values, orders.begins)
        high[orders.queries] = np.maximum.reduceat(values, orders.begins)
        searched += int((~orders.exact).sum())
    return low, high, searched


def _queries(count: int) -> str:
    return "1 query" if count == 1 else f"{count:,} queries"
