"""All pairs of systems at once: the randomised version of Tukey's honestly significant difference.

If all systems are alike, the values of a query could as well have gone to the systems in any order. The
p-value of a pair is how often the largest gap between any two means of such a table reaches the pair's own
gap: corrected for all pairs together, without assuming a distribution.

Values are sorted within each query and queries by their values before anything is drawn, so neither the order
of the queries nor that of the systems changes an answer.

Reference: B. Carterette: Multiple testing in statistical analysis of systems-based information retrieval
experiments, ACM TOIS 2012.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from rankproof.core.hits import Array
from rankproof.stats.flips import SLACK
from rankproof.stats.paired import by_query, check_count, total

PERMUTATIONS = 10_000
AT_ONCE = 1 << 20
"""Values shuffled at a time: 8 MB."""


@dataclass(frozen=True, slots=True)
class PairOutcome:
    """Two systems, the difference of their means (first minus second), and its p among all pairs."""

    first: str
    second: str
    difference: float
    p: float
    n: int
    method: str
    note: str = ""


def tukey(
    systems: Mapping[str, Array], rng: np.random.Generator, permutations: int = PERMUTATIONS
) -> list[PairOutcome]:
    """Every pair of systems (in the order given) with a p-value corrected for all of them.

    >>> rng = np.random.default_rng(0)
    >>> values = {"a": rng.random(50), "b": rng.random(50), "c": rng.random(50) + 1}
    >>> [(pair.first, pair.second, pair.p < 0.05) for pair in tukey(values, rng)]
    [('a', 'b', False), ('a', 'c', True), ('b', 'c', True)]
    """
    check_count("permutations", permutations)
    table = by_query(systems)
    means = {name: total(column) / len(column) for name, column in zip(systems, table.T, strict=True)}
    ranges = np.sort(_largest_gaps(table, rng, permutations))
    slack = SLACK * float(np.abs(table).mean())
    return [_pair(a, b, means[a] - means[b], ranges, slack, len(table)) for a, b in combinations(systems, 2)]


def _pair(a: str, b: str, gap: float, ranges: Array, slack: float, n: int) -> PairOutcome:
    extreme = len(ranges) - int(np.searchsorted(ranges, abs(gap) - slack))
    p = (extreme + 1) / (len(ranges) + 1)
    note = "" if extreme else f"no draw was as extreme, so p is at most {1 / (len(ranges) + 1):.2g}"
    return PairOutcome(a, b, gap, p, n, f"randomised Tukey, {len(ranges):,} drawn", note)


def _largest_gaps(table: Array, rng: np.random.Generator, permutations: int) -> Array:
    """The gap between the best and the worst mean of each shuffled table."""
    within = np.sort(table, axis=1)
    rows = within[np.lexsort(within.T)]
    lines = max(1, AT_ONCE // rows.size)
    gaps = []
    for start in range(0, permutations, lines):
        shape = (min(lines, permutations - start), *rows.shape)
        means = rng.permuted(np.broadcast_to(rows, shape), axis=2).mean(axis=1)
        gaps.append(np.ptp(means, axis=1))
    return np.concatenate(gaps)
