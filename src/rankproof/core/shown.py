"""Text that rankings of chunks show, counted in tokens, against text that was judged relevant."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rankproof.core.arrays import runs
from rankproof.core.hits import Array, PerQuery

UNJUDGED = -np.inf
"""The grade of tokens in no judged span."""


@dataclass(frozen=True, eq=False)
class Shown:
    """One row for each rank and grade: how many tokens of that grade are first shown there.

    Sorted by query, then rank. A token that several chunks hold counts once, at the best of their ranks.
    """

    query: Array
    """Which query (0 to n-1) the row belongs to."""
    rank: Array
    """Where the chunk stands in its ranking, from 1."""
    grade: Array
    """The grade of the tokens: the highest of the spans they are in."""
    count: Array
    """How many they are."""
    n: int
    """How many queries there are."""
    judged: Shown | None = None
    """All tokens of judged spans, shown or not (rank 0); None for these themselves."""

    def keep(self, rows: Array) -> Shown:
        """Only the rows that `rows` (booleans) picks."""
        parts = {name: getattr(self, name)[rows] for name in ("query", "rank", "grade", "count")}
        return replace(self, **parts)

    def top(self, k: int | None, budget: int | None = None) -> Shown:
        """What the first `k` chunks show, and of them those that fit into `budget` tokens with all before them."""
        kept = self if k is None else self.keep(self.rank <= k)
        return kept if budget is None else kept.keep(kept._tokens_with_chunk <= budget)

    @cached_property
    def _tokens_with_chunk(self) -> Array:
        """For each row the tokens of its query that are shown when its whole chunk is."""
        if not len(self.query):
            return self.count
        total = self.count.cumsum()
        first, _ = runs(self.query, np.zeros_like(self.query))
        _, end = runs(self.query, self.rank)
        return np.asarray(total[end - 1] - (total - self.count)[first])

    def tokens(self, rel: float = UNJUDGED) -> PerQuery:
        """How many tokens with a grade of at least `rel` there are, for each query."""
        weights = np.where(self.grade >= rel, self.count, 0)
        return np.bincount(self.query, weights=weights, minlength=self.n).astype(np.float64, copy=False)

    def wanted(self, rel: float) -> PerQuery:
        """How many tokens of judged spans are relevant, shown or not."""
        return self.tokens(rel) if self.judged is None else self.judged.tokens(rel)
