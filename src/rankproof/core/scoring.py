"""From hits to numbers: one measure under the conventions, per query and as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankproof.core.conventions import Conventions
from rankproof.core.gain import gains
from rankproof.core.hits import Array, Hits, PerQuery
from rankproof.core.measure import Measure
from rankproof.core.measures.graded import at_least
from rankproof.core.threshold import ABOVE_ZERO, relevant
from rankproof.core.ties import seen_by, tied_values
from rankproof.display import Displayable
from rankproof.errors import DataError, shorten

LARGEST = 1e100
"""What is larger cannot be squared and added up, as intervals and tests do with values."""
FLOOR = 0.00001
"""What a value of zero counts as in a geometric mean (trec_eval's floor)."""


@dataclass(frozen=True, eq=False, slots=True)
class Column(Displayable):
    """The values of one measure: one a query, and which of them count in the mean."""

    measure: Measure
    values: PerQuery
    counted: Array | None
    """Which queries count; None: all."""
    note: str = ""
    """What must be said beside the number, where something must."""

    @property
    def counting(self) -> PerQuery:
        """The values that count in the mean."""
        return self.values if self.counted is None else self.values[self.counted]

    @property
    def mean(self) -> float:
        """The values as one number, by the measure's own average."""
        return averaged(self.measure, self.counting)


def averaged(measure: Measure, values: PerQuery) -> float:
    """The mean, the sum or the geometric mean of `values`, as the measure declares."""
    if not len(values):
        raise DataError(
            f"{measure}: no query is left to average. Next: look at the audit, or set missing='zero' and "
            "no_relevant='zero'."
        )
    if measure.spec.average == "sum":
        return float(values.sum())
    if measure.spec.average == "geometric":
        return float(np.exp(np.log(np.maximum(values, FLOOR)).mean()))
    return float(values.mean())


def scored(
    measures: Sequence[Measure],
    hits: Hits,
    conventions: Conventions,
    rng: np.random.Generator | None,
    queries: Sequence[str],
) -> dict[str, Column]:
    """The columns of measures; without a generator nothing is averaged over orders of equal scores."""
    counted = counted_queries(measures, hits, conventions)
    with np.errstate(all="ignore"):  # what is no number is told below, with its query
        return {each.name: _column(each, hits, conventions, rng, counted, queries) for each in measures}


def _column(
    measure: Measure,
    hits: Hits,
    conventions: Conventions,
    rng: np.random.Generator | None,
    counted: Array | None,
    queries: Sequence[str],
) -> Column:
    note = ""
    if conventions.ties in ("expected", "best", "worst") and rng is not None:
        values, note = tied_values(measure, hits, conventions.ties, rng)
    else:
        values = measure(seen_by(measure, hits))
    values = _numbers(measure, values, queries)
    if conventions.rounded is not None:
        values = _half_up(values, conventions.rounded)
    return Column(measure, values, counted, note)


def _numbers(measure: Measure, values: PerQuery, queries: Sequence[str]) -> PerQuery:
    """The values of a measure, which may be anyone's: one finite number a query, or an error."""
    if np.shape(values) != (len(queries),):
        raise DataError(
            f"{measure}: gave an array of shape {np.shape(values)} for {len(queries):,} queries, expected one "
            "number each. Next: let its function return one, as h.count() and h.sum(...) do."
        )
    finite = np.abs(values) < LARGEST  # NaN is not
    if np.count_nonzero(finite) < len(queries):
        bad = np.flatnonzero(~finite)
        raise DataError(
            f"{measure}: gave {values[bad[0]]} for query {shorten(queries[bad[0]])} ({len(bad):,} such in all), "
            "expected numbers. Next: look at its grades and gains, which may be too large to add up; let the "
            "function of a measure of your own divide by ratio(a, b), where 0 / 0 is 0."
        )
    return values


def _half_up(values: PerQuery, decimals: int) -> PerQuery:
    """Rounded as the products that round do it: .125 becomes .13, where NumPy says .12."""
    scale = 10.0**decimals
    return np.asarray(np.floor(values * scale + 0.5) / scale)


def counted_queries(measures: Sequence[Measure], hits: Hits, conventions: Conventions) -> Array | None:
    """Which queries count in the means; None: all.

    They are the same for all measures of a table, so that its means are over the same queries: a query must have
    a document that is relevant to each measure that is 0/0 without one, in that measure's own sense.
    """
    counted: Array | None = None
    if conventions.missing == "skip" and hits.answered is not None and not hits.answered.all():
        counted = hits.answered
    if conventions.no_relevant == "skip":
        for measure in [each for each in measures if each.spec.undefined] or measures[:1]:
            defined = has_relevant(measure, hits)
            counted = defined if counted is None else counted & defined
    return counted


def has_relevant(measure: Measure, hits: Hits) -> Array:
    """Which queries have a document that is relevant in the measure's own sense."""
    params, pool = measure.params, hits.judged
    if "gain" not in params or params["gain"] in ("binary", "graded", "topic"):  # RBP's own words
        return relevant(pool, params.get("rel", ABOVE_ZERO), params.get("threshold", "rel")).count() > 0
    counted = at_least(pool, params.get("rel", 0))
    return counted.keep(gains(counted.grade, params["gain"]) > 0).count() > 0
