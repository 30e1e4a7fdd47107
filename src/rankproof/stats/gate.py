"""The gate's arithmetic: may a change pass, must it fail, or can nobody tell yet?

With d = candidate - baseline, query by query: *pass* where the lower one-sided bound of the mean difference is
above -margin; else *fail* where the upper bound is below 0 and the estimate at or below -margin; else
*inconclusive*.

Every row must pass for the whole to pass, so passing needs no correction (an intersection of tests). One row that
fails is enough to fail, so the evidence for failing is corrected over all rows: under a change that changes
nothing, the whole fails with a chance of at most alpha.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankproof.core.hits import Array
from rankproof.stats.corrections import correct, surely
from rankproof.stats.differences import difference_intervals
from rankproof.stats.flips import sign_flips, step_of
from rankproof.stats.power import queries_needed, smallest_detectable, spread

PASS, FAIL, INCONCLUSIVE = "pass", "fail", "inconclusive"
MINIMUM = 10
"""With fewer queries nothing is decided."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What one row of differences says."""

    outcome: str
    difference: float
    low: float | None
    """The one-sided lower bound at alpha."""
    high: float | None
    """The one-sided upper bound at alpha."""
    p: float
    """How often chance alone gives a drop as large, corrected over all rows."""
    n: int
    detectable: float | None
    """The true drop that this many queries show four times out of five or more, beside all other rows."""
    more: int | None
    """How many more queries would let it pass four times out of five if nothing changed; None: not known, or none."""


def decide(
    columns: Sequence[Array],
    margins: Sequence[float],
    rng: np.random.Generator,
    alpha: float = 0.05,
    minimum: int = MINIMUM,
    permutations: int = 20_000,
) -> list[Decision]:
    """One decision for each column of differences, turned so that more is better.

    >>> rng = np.random.default_rng(0)
    >>> drop, level = np.linspace(-0.4, 0.0, 30), np.zeros(30)
    >>> [each.outcome for each in decide([drop, level], [0.01, 0.01], rng)]
    ['fail', 'pass']
    """
    spans = difference_intervals(columns, rng, 1 - 2 * alpha)
    drops = sign_flips(columns, rng, "less", permutations)
    ps = correct([each.p for each in drops], "holm")
    surest = surely(alpha, len(columns))
    return [
        _decision(column, margin, (alpha, surest), minimum, (span.low, span.high), p)
        for column, margin, span, p in zip(columns, margins, spans, ps, strict=True)
    ]


def overall(outcomes: Sequence[str]) -> str:
    """The outcome of several: fail if any fails, pass if all pass.

    >>> overall(["pass", "inconclusive"]), overall(["fail", "inconclusive"]), overall(["pass", "pass"])
    ('inconclusive', 'fail', 'pass')
    """
    for worst in (FAIL, INCONCLUSIVE):
        if worst in outcomes:
            return worst
    return PASS


def _decision(
    column: Array,
    margin: float,
    alphas: tuple[float, float],
    minimum: int,
    ends: tuple[float, float],
    p: float,
) -> Decision:
    """The decision at the first of two alphas; the second is the one at which a loss is found among all rows."""
    gain, n, wide = float(np.sort(column).mean()), len(column), spread(column)
    low, high = (end if np.isfinite(end) else None for end in ends)
    outcome = _outcome(gain, low, high, p, margin, alphas[0]) if n >= minimum else INCONCLUSIVE
    step = step_of(column)
    more = _more(wide, n, margin, alphas[0], step) if outcome == INCONCLUSIVE else None
    more = minimum - n if n < minimum else more
    detectable = None if wide is None else smallest_detectable(wide, n, alphas[1], sides=1, step=step)
    return Decision(outcome, gain, low, high, p, n, detectable, more)


def _outcome(
    gain: float, low: float | None, high: float | None, p: float, margin: float, alpha: float
) -> str:
    if low is not None and low > -margin:
        return PASS
    if high is not None and high < 0 and p <= alpha and gain <= -margin:
        return FAIL
    return INCONCLUSIVE


def _more(wide: float | None, n: int, margin: float, alpha: float, step: float) -> int | None:
    """The queries still missing to let a change pass that changes nothing, four times out of five; None: no more."""
    needed = queries_needed(margin, wide, alpha, sides=1, step=step) if wide and margin else None
    return None if needed is None or needed <= n else needed - n
