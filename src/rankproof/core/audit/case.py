"""What the audit looks at once judgments and a ranking have met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rankproof.core.conventions import Conventions
from rankproof.core.hits import Array, Hits
from rankproof.core.join import Census
from rankproof.core.judgments import Judgments
from rankproof.core.measure import Measure


@dataclass(frozen=True, eq=False)
class Case:
    """Judgments, the hits of a ranking, and what was asked for."""

    judgments: Judgments
    hits: Hits
    census: Census = field(default_factory=Census)
    measures: Sequence[Measure] = ()
    conventions: Conventions = field(default_factory=Conventions)

    @property
    def n(self) -> int:
        """The number of judged queries."""
        return len(self.judgments.queries)

    @property
    def answered(self) -> Array:
        """Which judged queries the ranking answers."""
        every = np.ones(self.hits.n, dtype=bool)
        return every if self.hits.answered is None else self.hits.answered

    @property
    def at_k(self) -> list[Measure]:
        """The measures with a cut-off, those with the smallest first."""
        return sorted((m for m in self.measures if m.params.get("k")), key=lambda m: int(m.params["k"]))

    def names(self, which: Array) -> list[str]:
        """The ids of the queries that `which` (booleans) picks."""
        return [self.judgments.queries[i] for i in np.flatnonzero(which).tolist()]
