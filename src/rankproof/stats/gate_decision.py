"""The gate's arithmetic: may a change pass, must it fail, or is it inconclusive?

With d = candidate - baseline, query by query: *pass* where the lower one-sided bound of the mean difference is
above -margin; else *fail* where sign flips find a drop and the estimate is at or below -margin; else
*inconclusive*. The bound takes into account the losses that so few queries need not show (`stats/confidence.py`).

Every row must pass for the whole to pass, so passing needs no correction (an intersection of tests). One row that
fails is enough to fail, so the evidence for failing is corrected over all rows: under a change that changes
nothing, the whole fails with a chance of at most alpha.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankproof.core.hits import Array
from rankproof.stats.confidence import ValueSample, lower_bound, safe_bound
from rankproof.stats.corrections import correct, sure_level
from rankproof.stats.detectable_difference import MOST, POWER, detectable, too_few_sentence
from rankproof.stats.differences import Ends, possible_range
from rankproof.stats.distributions import NORMAL
from rankproof.stats.flips import agree_with_test, sign_flips
from rankproof.stats.paired import SAME, differences, total

PASS, FAIL, INCONCLUSIVE = "pass", "fail", "inconclusive"
MINIMUM = 10
"""With fewer queries than this, nothing is decided."""
TO_PLAN_BY = 3
"""With fewer moved queries, it is not known how more of them would move."""


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision about one row of differences."""

    outcome: str
    difference: float
    low: float | None
    """The one-sided lower bound at alpha."""
    high: float | None
    """The one-sided upper bound at alpha."""
    p: float | None
    """How often chance alone gives a drop as large, corrected over all rows; None if nothing is left to chance."""
    n: int
    detectable: float | None
    """The true drop that this many queries show four times out of five or more, beside all other rows."""
    more: int | None
    """How many more queries would let it pass four times out of five if nothing changed; None: not known, or none."""
    detectable_note: str = ""
    """Why no detectable drop can be named, if none can."""
    more_note: str = ""
    """Why it is not said how many more queries it takes, if that cannot be known."""
    loss: float | None = None
    """What exactly these queries lost on average, gains not set off; None if the question is about others."""


def decide(
    columns: Sequence[Array],
    margins: Sequence[float],
    rng: np.random.Generator,
    alpha: float = 0.05,
    minimum: int = MINIMUM,
    permutations: int = 20_000,
    ends: Sequence[Ends | None] | None = None,
) -> list[Decision]:
    """One decision for each column of differences, turned so that more is better.

    `ends` are the least and the greatest difference that a query can have, as `difference_interval` takes them.

    >>> rng = np.random.default_rng(0)
    >>> drop, level = np.linspace(-0.4, 0.0, 30), np.zeros(300)
    >>> [each.outcome for each in decide([drop, level], [0.01, 0.01], rng)]
    ['fail', 'pass']
    """
    drops = sign_flips(columns, rng, "less", permutations)
    ps = correct([each.p for each in drops], "holm")
    alphas = alpha, sure_level(alpha, len(columns))
    return [
        _decision(column, margin, alphas, minimum, limits, p)
        for column, margin, limits, p in zip(columns, margins, ends or [None] * len(columns), ps, strict=True)
    ]


def decide_these(columns: Sequence[Array], margins: Sequence[float]) -> list[Decision]:
    """Whether exactly these queries lost more than the margin, counted: nothing is left to chance.

    Losses are added up over the queries that lost and divided by all queries; a gain elsewhere makes up for none.

    >>> [each.outcome for each in decide_these([np.zeros(5), np.array([1.0, -1.0])], [0.0, 0.01])]
    ['pass', 'fail']
    """
    found = []
    for row, margin in zip(map(differences, columns), margins, strict=True):
        loss = total(np.maximum(-row, 0.0)) / len(row)
        outcome = PASS if loss <= margin + SAME else FAIL
        found.append(Decision(outcome, total(row) / len(row), None, None, None, len(row), None, None, loss=loss))
    return found


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
    column: Array, margin: float, alphas: tuple[float, float], minimum: int, ends: Ends | None, p: float
) -> Decision:
    """The decision at the first of two alphas; the second is the one at which a loss is found among all rows."""
    row = differences(column)
    gain, n, alpha = total(row) / len(row), len(row), alphas[0]
    low, high = _bounds(row, alpha, possible_range(row) if ends is None else ends)
    # The upper bound is below 0 exactly where sign flips find a drop; the lower one answers another question.
    high = agree_with_test((low, high), gain, p, alpha, sides=1)[1]
    failed = FAIL if p <= alpha and gain <= -margin else INCONCLUSIVE
    outcome = INCONCLUSIVE if n < minimum else PASS if low > -margin else failed
    more, unknown = _more(row, margin, alpha, ends) if outcome == INCONCLUSIVE else (None, "")
    more, unknown = (minimum - n, "") if n < minimum else (more, unknown)
    found = detectable(row, alphas[1], sides=1, beyond=margin, ends=ends)
    shown = (end if math.isfinite(end) else None for end in (low, high))
    return Decision(outcome, gain, next(shown), next(shown), p, n, found.value, more, found.note, more_note=unknown)


def _bounds(row: Array, alpha: float, ends: Ends) -> Ends:
    """The lower and the upper one-sided bound at alpha."""
    if len(row) < 2:
        return -math.inf, math.inf
    sample = ValueSample.of(row)
    return safe_bound(sample, alpha, ends[0]), -lower_bound(sample.negate(), alpha, -ends[1])


def _more(row: Array, margin: float, alpha: float, ends: Ends | None) -> tuple[int | None, str]:
    """The queries still missing to let a change pass that changes nothing, four times out of five; None: no more.

    There is no number either if too few queries moved to plan by; the reason is given.
    """
    n, sample = len(row), ValueSample.of(row)
    end = (possible_range(row) if ends is None else ends)[0]
    moved = int(np.count_nonzero(row))
    if moved < min(TO_PLAN_BY, n):
        return None, too_few_sentence(moved, n, ": too few to plan by")
    if n < 2:
        return None, ""
    # The spread is known from the moved queries only: the relative variance of what it may be.
    doubt = 0.5 / (moved - 1) + (1 - moved / n) / (4 * moved)

    def passes(size: int) -> bool:
        larger = sample.of_size(size)
        bound = larger.mean - safe_bound(larger, alpha, end)
        shift = bound / larger.error + NORMAL.inv_cdf(POWER) if larger.error else 0.0
        return bound + NORMAL.inv_cdf(POWER) * math.sqrt(1 + shift * shift * doubt) * larger.error < margin

    if not margin or passes(n):
        return None, ""
    size = 2 * n
    while not passes(size):
        size *= 2
        if size > MOST:
            return None, ""
    low, high = size // 2, size
    while high - low > max(1, high >> 8):
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high - n, ""
