"""Are two systems the same within a margin? Two one-sided tests.

Finding no difference is no evidence that there is none. This asks the opposite question: are both "worse by
more than the margin" and "better by more than the margin" ruled out? Each is by the bound of `stats/confidence.py`,
which holds for rare changes too: that none of 15 queries changed does not make two systems the same.

Reference: D. J. Schuirmann: A comparison of the two one-sided tests procedure and the power approach for
assessing the equivalence of average bioavailability, J. Pharmacokinetics and Biopharmaceutics 1987.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from rankproof.core.hits import Array
from rankproof.errors import UsageError
from rankproof.stats.confidence import Sample, chance_below
from rankproof.stats.differences import Ends, possible
from rankproof.stats.paired import Outcome, differences, total


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Whether a mean difference is ruled out to lie outside -margin to margin."""

    difference: float
    margin: float
    p: float
    """The larger of the two p-values: at or below alpha, the systems are equivalent within the margin."""
    above_low: Outcome
    """Is the difference above -margin?"""
    below_high: Outcome
    """Is it below the margin?"""
    n: int
    method: str
    note: str = ""


def equivalence(values: Array, margin: float, ends: Ends | None = None) -> Equivalence:
    """Two one-sided tests that the mean of paired differences lies within the margin of 0.

    At alpha it agrees with `difference_interval` at level 1 - 2 alpha lying inside the margins. `ends` are the least
    and the greatest difference that a query can have, as there.

    >>> import numpy as np
    >>> found = equivalence(np.array([0.01, -0.02, 0.0, 0.02, 0.01]), margin=0.05)
    >>> found.p < 0.01
    True
    """
    if not (math.isfinite(margin) and margin > 0):
        raise UsageError(
            f"margin: got {margin!r}, expected a number above 0, like 0.01."
            " Next: give the largest difference that does not matter."
        )
    row = differences(values)
    mean, n = total(row) / len(row), len(row)
    least, most = possible(row) if ends is None else ends
    sample = Sample.of(row)
    note = "one query says nothing of others" if n == 1 else ""
    ps = [1.0, 1.0] if n == 1 else [chance_below(sample, -margin, least),
                                    chance_below(sample.turned(), -margin, -most)]  # fmt: skip
    low, high = (Outcome(mean, p, n, "bound with what was not seen", note) for p in ps)
    worse = max(low, high, key=lambda each: each.p)
    return Equivalence(mean, margin, worse.p, low, high, n, f"two one-sided tests ({worse.method})", note)
