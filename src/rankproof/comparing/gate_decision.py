"""The gate's decision: may a change pass, must it fail, or is it inconclusive? And a row for every condition.

With d = candidate - baseline, query by query: *pass* if the lower one-sided bound of the mean difference is
above -margin; else *fail* if sign flips find a drop and the estimate is at or below -margin; else
*inconclusive*. The bound takes into account losses that few queries may miss (`stats/confidence.py`).

The gate passes only if every row passes, so passing needs no correction (an intersection of tests). One row that
fails is enough to fail, so the evidence for failing is corrected over all rows: for a change without effect,
the gate fails with a probability of at most alpha.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rankproof.comparing.alignment import Soundness, SystemPair, corrected_in
from rankproof.core.arrays import Array
from rankproof.core.conventions import BARREN
from rankproof.document.model import PlainData
from rankproof.errors import one_of
from rankproof.scoring.evaluate import check_floor
from rankproof.scoring.protocol import ScoresLike
from rankproof.stats.confidence import (
    Ends,
    ValueSample,
    agree_with_test,
    lower_bound,
    possible_range,
    queries_for_margin,
    safe_bound,
    smallest_margin,
)
from rankproof.stats.corrections import correct, sure_level
from rankproof.stats.detectable_difference import MOST, POWER, detectable, too_few_sentence
from rankproof.stats.distributions import NORMAL
from rankproof.stats.paired import SAME, differences, sign_flips, total

PASS, FAIL, INCONCLUSIVE = "pass", "fail", "inconclusive"
INVALID = "invalid"
"""The outcome if the data cannot tell: too many queries without an answer, or an error found by the audit."""
MINIMUM = 10
"""With fewer queries than this, nothing is decided."""
TO_PLAN_BY = 3
"""With fewer moved queries, it is not known how more of them would move."""
ENOUGH = 0.9
"""The share of verdicts that must be decided, by default."""


@dataclass(frozen=True, slots=True)
class GateRow(PlainData):
    """One thing that had to hold: no loss beyond the margin, a floor, or enough judgments."""

    check: str
    """difference, floor, coverage, answers or audit."""
    measure: str
    slice: str
    """The group of queries; "" for all."""
    outcome: str
    n: int
    baseline: float | None = None
    candidate: float | None = None
    """Its mean over the `n` queries; None if too few of the samples could be measured to show a mean."""
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    """The one-sided bounds at alpha."""
    limit: float = 0
    """The loss that is allowed, or the value that the candidate must reach."""
    p: float | None = None
    """How often chance alone gives a drop as large, corrected over all rows; None if nothing is left to chance."""
    detectable: float | None = None
    """The true drop that this many queries show four times out of five or more, beside all other rows."""
    more: int | None = None
    """How many more queries would let it pass four times out of five, if nothing changed at all."""
    detectable_note: str = ""
    """Why no detectable drop can be named, if none can."""
    passes_at: float | None = None
    """The least margin at which these differences would pass."""
    note: str = ""
    """The limits of the row, if there are any."""
    corrected: float | None = None
    """The difference, or for a floor the mean, corrected for a judge's error; None without labels of people."""
    corrected_low: float | None = None
    corrected_high: float | None = None
    smallest_margin: float | None = None
    """The smallest margin that this many queries can pass if nothing changes."""
    queries_for_margin: int | None = None
    """How many queries without a loss the margin takes, if few of them change."""
    loss: float | None = None
    """About exactly these queries: what they lost on average, gains not set off."""
    lost: dict[str, float] = field(default_factory=dict)
    """The difference of each query that lost, the greatest loss first; empty where questions like these pass."""
    against: str = ""
    """The anchor that it is compared with; "" for the baseline."""
    more_note: str = ""
    """Why it is not said how many more queries it takes, if that cannot be known."""

    @property
    def decides(self) -> bool:
        """Whether the outcome depends on it: a group of too few queries is shown, but decides nothing."""
        return not (self.slice and self.note)


def decide(
    columns: Sequence[Array],
    margins: Sequence[float],
    rng: np.random.Generator,
    alpha: float = 0.05,
    minimum: int = MINIMUM,
    permutations: int = 20_000,
    ends: Sequence[Ends | None] | None = None,
) -> list[GateRow]:
    """A row for each column of differences, turned so that more is better, still without names and means.

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


def _decision(
    column: Array, margin: float, alphas: tuple[float, float], minimum: int, ends: Ends | None, p: float
) -> GateRow:
    """The decision at the first of two alphas; the second is the one at which a loss is found among all rows."""
    row, alpha = differences(column), alphas[0]
    gain, n = total(row) / len(row), len(row)
    low, high = -math.inf, math.inf
    if n > 1:
        sample, (least, most) = ValueSample.of(row), possible_range(row, ends)
        low, high = safe_bound(sample, alpha, least), -lower_bound(sample.negate(), alpha, -most)
    # The upper bound is below 0 exactly where sign flips find a drop; the lower one answers another question.
    high = agree_with_test((low, high), gain, p, alpha, sides=1)[1]
    more: int | None = None
    unknown = ""
    if n < minimum:
        outcome, more = INCONCLUSIVE, minimum - n
    elif low > -margin:
        outcome = PASS
    elif p <= alpha and _reaches(-gain, margin):
        outcome = FAIL
    else:
        outcome = INCONCLUSIVE
        more, unknown = _more(row, margin, alpha, ends)
    found = detectable(row, alphas[1], sides=1, beyond=margin, ends=ends)
    lowest, highest = (end if math.isfinite(end) else None for end in (low, high))
    return GateRow(
        check="difference",
        measure="",
        slice="",
        outcome=outcome,
        n=n,
        difference=gain,
        low=lowest,
        high=highest,
        limit=margin,
        p=p,
        detectable=found.value,
        detectable_note=found.note,
        more=more,
        more_note=unknown,
    )


def _more(row: Array, margin: float, alpha: float, ends: Ends | None) -> tuple[int | None, str]:
    """The queries still missing to let a change pass that changes nothing, four times out of five; None: no more.

    There is no number either if too few queries moved to plan by; the reason is given.
    """
    n, sample = len(row), ValueSample.of(row)
    end, moved = possible_range(row, ends)[0], int(np.count_nonzero(row))
    if moved < min(TO_PLAN_BY, n):
        return None, too_few_sentence(moved, n, ": too few to plan by")
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


def decide_these(columns: Sequence[Array], margins: Sequence[float]) -> list[GateRow]:
    """Whether exactly these queries lost more than the margin, counted: nothing is left to chance.

    Losses are added up over the queries that lost and divided by all queries; a gain elsewhere makes up for none.

    >>> [each.outcome for each in decide_these([np.zeros(5), np.array([1.0, -1.0])], [0.0, 0.01])]
    ['pass', 'fail']
    """
    found = []
    for row, margin in zip(map(differences, columns), margins, strict=True):
        n, loss = len(row), total(np.maximum(-row, 0.0)) / len(row)
        outcome = PASS if _reaches(margin, loss) else FAIL
        found.append(GateRow("difference", "", "", outcome, n, difference=total(row) / n, limit=margin, loss=loss))
    return found


def _reaches(value: float, limit: float) -> bool:
    """Whether a value is at least the limit, but for rounding: a mean of .29999999999999993 reaches .3."""
    return value >= limit - SAME * max(1.0, abs(limit))


def overall(outcomes: Sequence[str]) -> str:
    """The outcome of several: fail if any fails, pass if all pass.

    >>> overall(["pass", "inconclusive"]), overall(["fail", "inconclusive"]), overall(["pass", "pass"])
    ('inconclusive', 'fail', 'pass')
    """
    return next((worst for worst in (FAIL, INCONCLUSIVE) if worst in outcomes), PASS)


def difference_row(pair: SystemPair, found: GateRow, against: str, minimum: int, alpha: float) -> GateRow:
    """What was found of one measure and one group of queries, with their names and means, no longer turned."""
    difference, *ends = (None if x is None else pair.sign * x for x in (found.difference, found.low, found.high))
    low, high = ends if pair.sign > 0 else reversed(ends)
    lost: dict[str, float] = {}
    if found.loss is not None or found.outcome != PASS:
        names = np.asarray(pair.queries, dtype=object)[pair.counted]
        below = sorted((value, name) for value, name in zip(pair.values.tolist(), names, strict=True) if value < 0)
        lost = {name: pair.sign * value for value, name in below}
    row = replace(
        found,
        measure=pair.measure.name,
        slice=pair.slice,
        baseline=None if pair.shared_mean is None or difference is None else pair.shared_mean - difference,
        candidate=pair.shared_mean,
        difference=difference,
        low=low,
        high=high,
        passes_at=None if found.low is None else max(-found.low, 0.0),
        lost=lost,
        against=against,
    )
    if found.loss is not None:
        return row
    return replace(
        row,
        smallest_margin=smallest_margin(found.n, alpha, worst=-pair.ends[0]),
        queries_for_margin=queries_for_margin(found.limit, alpha, worst=-pair.ends[0]),
        note=BARREN if pair.barren else f"fewer than {minimum} queries decide nothing" if found.n < minimum else "",
        **corrected_in(pair.corrected),
    )


def floor_row(scores: ScoresLike, name: str, limit: float) -> GateRow:
    """Whether a mean reaches its floor; the mean is corrected for a judge's error if that is possible."""
    if name not in scores:
        raise one_of("floor", name, scores.columns)
    column, corrected, thin = scores.column(name), scores.corrected(name), scores.thin(name)
    check_floor(limit, column.measure)
    level = column.mean if corrected is None else corrected.value
    sign = column.measure.spec.sign
    outcome = INCONCLUSIVE if thin else PASS if _reaches(sign * level, sign * limit) else FAIL
    mean, n = None if thin else column.mean, len(column.counting)
    return GateRow("floor", column.measure.name, "", outcome, n, candidate=mean, limit=limit, **corrected_in(corrected))


def answer_rows(data: Mapping[str, Soundness], allowed: float) -> list[GateRow]:
    """A row for each side that left too many of the judged queries unanswered."""
    rows = []
    for name, each in data.items():
        if each.missing > allowed:
            side, against = (name, "") if name in ("baseline", "candidate") else ("baseline", name)
            said: dict[str, Any] = {side: 1 - each.missing, "against": against, "limit": 1 - allowed}
            rows.append(GateRow("answers", "Answered", "", INVALID, each.queries, **said))
    return rows


def error_rows(data: Mapping[str, Soundness]) -> list[GateRow]:
    """A row for each side of which the audit says that its numbers are wrong."""
    note = "the audit finds an error in the data"
    return [
        GateRow("audit", f"Errors of {side}", "", INVALID, each.queries, candidate=float(len(each.errors)), note=note)
        for name, each in data.items()
        for side in [f"the {name}" if name in ("baseline", "candidate") else name]
        if each.errors
    ]


def coverage_rows(old: ScoresLike, new: ScoresLike, limit: float | None) -> list[GateRow]:
    """The row that makes the gate inconclusive if too few documents are judged; that does not prove a loss.

    Scores by verdicts are never decided if a judge left too much undecided, whether coverage was asked for or not.
    """
    judged, unjudged = {**old.judged_shares, **new.judged_shares}, new.unjudged
    if judged:
        parts = {name: min(each.judged_shares.get(name, 1.0) for each in (old, new)) for name in judged}
    elif limit is None:
        return []
    else:
        parts = {f"Judged@{max(unjudged)}" if unjudged else "Judged": 1 - max(unjudged.values(), default=0.0)}
    enough, n = ENOUGH if limit is None else limit, len(new.queries)
    return [
        GateRow("coverage", name, "", PASS if _reaches(part, enough) else INCONCLUSIVE, n, candidate=part, limit=enough)
        for name, part in parts.items()
    ]


def undecide_rows(rows: Sequence[GateRow], coverages: Sequence[GateRow]) -> list[GateRow]:
    """The rows, undecided if too little was judged to trust their numbers.

    A coverage of verdicts is about its own metric, one of judgments about every measure.
    """
    short = {each.measure for each in coverages if each.outcome != PASS}
    apart = not {each.measure for each in rows}.isdisjoint(each.measure for each in coverages)
    doubted = [each.measure in short if apart else bool(short) for each in rows]
    return [
        replace(each, outcome=INCONCLUSIVE, more=None, note="too little is judged") if doubt else each
        for each, doubt in zip(rows, doubted, strict=True)
    ]
