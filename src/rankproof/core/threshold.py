"""Which documents are relevant: from the grade `rel` on, or from one that each query's own grades set."""

from __future__ import annotations

import numpy as np

from rankproof.core.hits import Array, Hits

ABOVE_ZERO = float(np.nextafter(0, 1))
"""The smallest grade that is one."""


def relevant(h: Hits, rel: float, threshold: str = "rel") -> Hits:
    """The relevant rows: of a grade of at least `rel`, or with `threshold='query'` of their query's own."""
    if threshold == "rel":
        return h.relevant(rel)
    return h.once("own threshold", lambda: h.keep(h.grade >= own(h)[h.query]))  # type: ignore[no-any-return]


def own(h: Hits) -> Array:
    """For each query the larger of half its highest grade and the 90th percentile of its grades, above 0."""
    pool = h.judged
    return pool.once("thresholds", lambda: _own(pool))  # type: ignore[no-any-return]


def _own(pool: Hits) -> Array:
    best, count = pool.ideal, np.bincount(pool.query, minlength=pool.n)
    judged = np.flatnonzero(count)
    start = best.starts[judged]
    least = np.full(pool.n, ABOVE_ZERO)
    # By nearest rank: of 10 grades the 9th from below, which is the 2nd from above.
    percentile = best.grade[start + count[judged] - np.ceil(0.9 * count[judged]).astype(np.intp)]
    least[judged] = np.maximum(np.maximum(best.grade[start] / 2, percentile), ABOVE_ZERO)
    return least
