"""Are two systems the same within a margin? Two one-sided t tests.

Finding no difference is no evidence that there is none. This asks the opposite question: are both "worse by
more than the margin" and "better by more than the margin" ruled out?

Reference: D. J. Schuirmann: A comparison of the two one-sided tests procedure and the power approach for
assessing the equivalence of average bioavailability, J. Pharmacokinetics and Biopharmaceutics 1987.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from rankproof.core.hits import Array
from rankproof.errors import UsageError
from rankproof.stats.paired import Outcome, differences, total
from rankproof.stats.significance import paired_t


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


def equivalence(values: Array, margin: float) -> Equivalence:
    """Two one-sided tests that the mean of paired differences lies within the margin of 0.

    At alpha it agrees with Student's interval at level 1 - 2 alpha lying inside the margins.

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
    low, high = paired_t(row + margin, "greater"), paired_t(row - margin, "less")
    worse = max(low, high, key=lambda each: each.p)
    return Equivalence(
        difference=total(row) / len(row), margin=margin, p=worse.p,
        above_low=low, below_high=high, n=len(row),
        method=f"two one-sided tests ({worse.method})", note=worse.note,
    )  # fmt: skip
