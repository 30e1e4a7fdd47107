"""What configurations came to: a row each, the front of the best, and the winner on questions held out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from rankproof.api.compare import compare
from rankproof.api.gridding.running import Runner, Tried
from rankproof.bench.grid.choosing import front
from rankproof.bench.grid.configuration import FACTORS
from rankproof.bench.grid.plan import Plan
from rankproof.core.measure import Measure
from rankproof.display import Displayable

MEDIAN, SLOW = 0.5, 0.95
"""Of which latencies are told."""


@dataclass(frozen=True, slots=True)
class GridRow(Displayable):
    """One configuration on the questions that choose."""

    name: str
    levels: Mapping[str, str]
    """Its level of each factor."""
    means: Mapping[str, float]
    """By measure; empty where it failed."""
    low: float | None
    high: float | None
    """The ends of the 95 % interval of the deciding measure's mean."""
    n: int
    """Questions it was run on: fewer for those that were weeded out early."""
    p50: float | None
    p95: float | None
    """Seconds a question takes, all steps together: the median, and what one in twenty exceeds."""
    cost: float
    """What 1,000 questions cost, as the grid says."""
    missed: int
    """Questions without an answer, each counted as a miss."""
    reasons: Mapping[str, int]
    """Why they have none, and how many for each reason."""
    failure: str
    """Why there is nothing at all; "" where there is."""
    front: bool = False
    """Whether no other is at least as good, as fast and as cheap, and better in one of these."""

    def to_dict(self) -> dict[str, Any]:
        """The row as plain data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Held(Displayable):
    """What the winner is worth on questions that had no say in choosing it."""

    n: int
    mean: float
    low: float | None
    high: float | None
    against: str
    """What it is compared with: the baseline; where it is that itself, the one that came second."""
    baseline: float
    """The mean of that on the same questions."""
    difference: float
    difference_low: float | None
    difference_high: float | None
    p: float | None
    verdict: str
    """better, worse, unclear; "baseline" where there is nothing but the baseline."""


def row_of(plan: Plan, tried: Tried, measures: Sequence[Measure]) -> GridRow:
    """What is told of one configuration."""
    c, scores = tried.configuration, tried.scores
    low, high = (None, None) if scores is None else _ends(scores.interval(measures[0]))
    return GridRow(
        name=tried.name,
        levels={factor: c.level(factor) for factor in FACTORS},
        means={} if scores is None else {each.name: scores[each] for each in measures},
        low=low,
        high=high,
        n=0 if scores is None else len(tried.rows),
        p50=_quantile(tried.seconds, MEDIAN),
        p95=_quantile(tried.seconds, SLOW),
        cost=plan.cost(c),
        missed=sum(tried.failures.values()),
        reasons=tried.failures,
        failure=tried.failure,
    )


def _ends(pair: tuple[float, float]) -> tuple[float | None, float | None]:
    low, high = pair
    return (low, high) if np.isfinite(low) else (None, None)


def _quantile(seconds: Sequence[float], share: float) -> float | None:
    return float(np.quantile(seconds, share)) if seconds else None


def fronted(rows: list[GridRow], measure: Measure) -> Iterator[GridRow]:
    """The rows, those on the front marked; only what was run on all questions can be."""
    most = max(row.n for row in rows if row.means)
    sign = measure.spec.sign
    able = [row for row in rows if row.means and row.n == most]
    points = np.array([[sign * row.means[measure.name], -(row.p50 or 0), -row.cost] for row in able])
    marked = {row.name for row, on in zip(able, front(points), strict=True) if on}
    for row in rows:
        yield replace(row, front=row.name in marked)


def held_out(runner: Runner, winner: Tried, other: Tried, held: list[str]) -> Held | None:
    """The winner, and what it is compared with, on the questions that chose nothing."""
    measure = runner.measures[0]
    mine, theirs = (runner.run(each.configuration, held) for each in (winner, other))
    if mine.scores is None or theirs.scores is None:
        return None
    low, high = _ends(mine.scores.interval(measure))
    own = (len(held), mine.scores[measure], low, high, other.name, theirs.scores[measure])
    if winner is other:
        return Held(*own, 0.0, None, None, None, "baseline")
    judgments, _ = runner.data.part(held)
    row = compare(judgments, {"baseline": theirs.ranking, "winner": mine.ranking}, measure).row(
        "winner", measure
    )
    return Held(*own, row.difference, row.low, row.high, row.p, row.verdict)
