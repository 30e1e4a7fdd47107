"""All pairs of systems at once: the randomised version of Tukey's honestly significant difference.

If all systems are alike, the values of a query could as well have gone to the systems in any order. The
p-value of a pair is how often the largest gap between any two means of such a table reaches the pair's own
gap: corrected for all pairs together, without assuming a distribution. Where the draws are too few to say how small
p is, it is at most the sum, over all pairs, of how often two systems drawn for each query differ as much, which
the saddle point of that difference gives; far out in the tail that bound is p itself.

Values are sorted within each query and queries by their values before anything is drawn, so neither the order
of the queries nor that of the systems changes an answer.

Reference: B. Carterette: Multiple testing in statistical analysis of systems-based information retrieval
experiments, ACM TOIS 2012.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from rankproof.core.hits import Array
from rankproof.stats.flips import FEWEST, SLACK
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
    gaps = Gaps.of(table)
    return [_pair(a, b, means[a] - means[b], ranges, slack, gaps) for a, b in combinations(systems, 2)]


def _pair(a: str, b: str, gap: float, ranges: Array, slack: float, gaps: Gaps) -> PairOutcome:
    extreme = len(ranges) - int(np.searchsorted(ranges, abs(gap) - slack))
    p, method = (extreme + 1) / (len(ranges) + 1), f"randomised Tukey, {len(ranges):,} drawn"
    if extreme < FEWEST and (bound := gaps.above(abs(gap))) < p:
        p, method = bound, "randomised Tukey, by the saddle point of all pairs"
    return PairOutcome(a, b, gap, p, gaps.n, method)


@dataclass(frozen=True, eq=False)
class Gaps:
    """What two different systems, drawn for each query, can differ by: each size once, with how often it comes."""

    sizes: Array
    """The differences of all pairs of a query, a line a query."""
    systems: int

    @classmethod
    def of(cls, table: Array) -> Gaps:
        """The gaps of a table of values."""
        first, second = np.triu_indices(table.shape[1], 1)
        sizes = np.sort(np.abs(table[:, first] - table[:, second]), axis=1)
        return cls(sizes[np.lexsort(sizes.T)], table.shape[1])

    @property
    def n(self) -> int:
        """The number of queries."""
        return len(self.sizes)

    def above(self, gap: float) -> float:
        """At most how often the means of any two systems differ by `gap` or more."""
        most = total(self.sizes.max(axis=1))
        seen = gap * self.n
        if seen >= most * (1 - SLACK):
            return max(self._ordered * self._chance_of_most, sys.float_info.min)
        t = self._saddle(seen)
        logs, _, slope = self._tilted(t)
        w = math.sqrt(max(0.0, 2 * (t * seen - logs)))
        if w < 1 or slope <= 0:  # too near the middle for a bound, or beyond the digits of a number
            return 1.0
        density = math.exp(-w * w / 2) / math.sqrt(2 * math.pi)
        tail = 0.5 * math.erfc(w / math.sqrt(2)) + density * (1 / (t * math.sqrt(slope)) - 1 / w)
        return max(self._ordered * max(tail, self._chance_of_most), sys.float_info.min)

    @property
    def _ordered(self) -> int:
        return self.systems * (self.systems - 1)

    @property
    def _chance_of_most(self) -> float:
        """How often every query gives its largest difference."""
        largest = self.sizes >= self.sizes.max(axis=1, keepdims=True) * (1 - SLACK)
        both = np.where(self.sizes.max(axis=1) > 0, 2.0, 1.0)  # a difference of 0 has no other sign
        return math.exp(float(np.log(largest.mean(axis=1) / both).sum()))

    def _tilted(self, t: float) -> tuple[float, float, float]:
        """The logarithm of the transform of the total at t, and its first two derivatives."""
        along = t * self.sizes
        top = along.max(axis=1, keepdims=True)
        up, down = np.exp(along - top), np.exp(-along - top)
        whole = (up + down).mean(axis=1)
        first = (self.sizes * (up - down)).mean(axis=1) / whole
        second = (self.sizes**2 * (up + down)).mean(axis=1) / whole
        return (
            float((np.log(whole / 2) + top[:, 0]).sum()),
            float(first.sum()),
            float((second - first**2).sum()),
        )

    def _saddle(self, seen: float) -> float:
        """Where the tilted total is `seen` on average: Newton, kept between both sides."""
        low, high, t = 0.0, math.inf, seen / float((self.sizes**2).mean(axis=1).sum())
        for _ in range(100):
            _, first, second = self._tilted(t)
            low, high = (low, t) if first > seen else (t, high)
            new = t - (first - seen) / second if second > 0 else math.nan
            if not low < new < high:
                new = (low + high) / 2 if high < math.inf else 2 * t
            if abs(new - t) <= 1e-9 * t:
                break
            t = new
        return t


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
