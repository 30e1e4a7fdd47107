"""The day on which a metric changed: a change point with its interval, after taking the week out.

A series is fitted by a mean, an effect of each season (weekday, or hour of the week) and a step. The step with the
largest CUSUM of what the seasons leave, in units of its error, is the change. Its p-value comes from permuting what is
left (D. Freedman and D. Lane, 1983), with the correlation of neighbouring days put back. The interval of the day is
the shortest set of days that holds 95 % of the posterior under equal prior chances (A. Smith, Biometrika 62, 1975).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from rankproof.core.hits import Array
from rankproof.document.display import Displayable
from rankproof.errors import UsageError, check_number, one_of
from rankproof.monitoring.sums import OnlineEstimate
from rankproof.monitoring.windows import Calendar
from rankproof.stats.corrections import benjamini_hochberg, holm
from rankproof.stats.distributions import t_quantile

K = TypeVar("K", bound=Hashable)

FEWEST = 10
"""Points that a series needs to be looked at."""
EDGE = 2
"""Points that a part must have at least."""
FIRST, MORE, MOST = 499, 4_999, 19_999
"""Permutations; more for a p-value so small that the correction of many needs it."""
AT_ONCE = 1 << 21
"""Numbers of the permuted series that are held at a time."""
STRONGEST = 0.8
"""The strongest correlation of neighbours that is believed."""
METHODS = {"holm": holm, "bh": benjamini_hochberg}


@dataclass(frozen=True)
class ChangePoint(Displayable):
    """A step in a series: `at` is the place of the first point after it."""

    at: int
    low: int
    high: int
    """The places between which the first point after the change lies, with 95 %."""
    before: float
    after: float
    """The means on both sides, with the seasons taken out."""
    difference: float
    difference_low: float
    difference_high: float
    """The step with its 95 % interval."""
    p: float
    p_corrected: float
    """Over all series that were looked at together."""
    changed: bool
    """Whether the corrected p-value is at most alpha."""


def change_point(
    values: Sequence[float],
    weights: Sequence[float] | None = None,
    seasons: Sequence[int] | None = None,
    *,
    seed: int = 0,
    alpha: float = 0.05,
    tests: int = 1,
) -> ChangePoint | None:
    """The largest step in a series, or None if the series is too short.

    `weights` say how sure each point is (1 / its squared error, or its number of users); a point that is NaN, or
    without weight, is left out. `seasons` are the weekday of each point, or any other label whose level may differ.
    With many `tests` small p-values are worked out more finely.

    >>> week = [0.1 * (day % 7 >= 5) for day in range(28)]
    >>> values = [w + 0.01 * (day * 7 % 5) + 0.3 * (day >= 16) for day, w in enumerate(week)]
    >>> found = change_point(values, seasons=[day % 7 for day in range(28)])
    >>> found.at, found.changed, round(found.difference, 1)
    (16, True, 0.3)
    """
    all_values = np.asarray(values, dtype=np.float64)
    weight = np.ones(len(all_values)) if weights is None else np.asarray(weights, dtype=np.float64)
    season = np.zeros(len(all_values), dtype=int) if seasons is None else np.asarray(seasons)
    if not len(all_values) == len(weight) == len(season):
        raise UsageError(
            f"change: got {len(all_values)} values, {len(weight)} weights and {len(season)} seasons, expected "
            "as many of each. Next: give one of each for every point."
        )
    kept = np.flatnonzero(np.isfinite(all_values) & (weight > 0) & np.isfinite(weight))
    fit = StepFit.of(all_values[kept], weight[kept], season[kept]) if len(kept) >= FEWEST else None
    if fit is None:
        return None
    best = int(np.argmax(fit.strength))
    p = fit.p(np.random.default_rng(seed), alpha / max(tests, 1))
    likely = fit.likely()
    low, high = (int(kept[fit.places[at]]) for at in (likely.min(), likely.max()))
    before, difference, reach = fit.levels(best)
    ends = (difference - reach, difference + reach)
    return ChangePoint(
        int(kept[fit.places[best]]),
        low,
        high,
        before,
        before + difference,
        difference,
        *ends,
        p,
        p,
        p <= alpha,
    )


def change_points(
    series: Mapping[K, tuple[Sequence[float], Sequence[float] | None, Sequence[int] | None]],
    *,
    alpha: float = 0.05,
    method: str = "holm",
    seed: int = 0,
) -> dict[K, ChangePoint]:
    """The largest step of each series (values, weights, seasons), corrected over all of them; short ones are left out.

    `holm` keeps the chance of any false alarm at alpha, `bh` (Benjamini-Hochberg) the share of false ones among those
    that are told.
    """
    if method not in METHODS:
        raise one_of("method", method, METHODS)
    check_number("alpha", alpha, above=0, below=1, advice="give a share, like 0.05")
    found: dict[K, ChangePoint] = {}
    for number, (key, each) in enumerate(series.items()):
        point = change_point(*each, seed=seed + number, alpha=alpha, tests=len(series))
        if point is not None:
            found[key] = point
    corrected = METHODS[method]([each.p for each in found.values()])
    return {
        key: replace(each, p_corrected=p, changed=p <= alpha)
        for (key, each), p in zip(found.items(), corrected, strict=True)
    }


@dataclass(frozen=True)
class MetricChange(Displayable):
    """A metric that moved from one window on."""

    metric: str
    slice: str
    group: str
    window: str
    """The first window after the change."""
    low: str
    high: str
    """The windows between which that lies, with 95 %."""
    before: float
    after: float
    difference_low: float
    difference_high: float
    p: float
    """Corrected over all metrics and slices, by Holm."""


def metric_changes(
    windows: Iterable[OnlineEstimate], calendar: Calendar, alpha: float = 0.05
) -> list[MetricChange]:
    """The metrics that changed, by time; weekdays (of hours: the hour of the day) are taken out, false alarms held."""
    series: dict[tuple[str, str, str], list[OnlineEstimate]] = {}
    for each in windows:
        if each.start is not None:
            series.setdefault((each.metric, each.slice, each.group), []).append(each)
    starts = {
        key: np.array([each.start for each in points], dtype=np.int64) for key, points in series.items()
    }
    found = change_points(
        {
            key: (
                [each.value for each in points],
                [each.users for each in points],
                _seasons(starts[key], calendar),
            )
            for key, points in series.items()
        },
        alpha=alpha,
    )
    told: list[tuple[int, MetricChange]] = []
    for key, point in found.items():
        if point.changed:
            at, low, high = (int(starts[key][place]) for place in (point.at, point.low, point.high))
            names = (calendar.label(at), calendar.label(low), calendar.label(high))
            ends = (point.difference_low, point.difference_high)
            told.append((at, MetricChange(*key, *names, point.before, point.after, *ends, point.p_corrected)))
    return [change for _, change in sorted(told, key=lambda pair: (pair[0], pair[1].metric))]


def _seasons(starts: Array, calendar: Calendar) -> list[int] | None:
    """Labels of windows that come again; None where there are too few of each."""
    weekday, hour = calendar.weekday_and_hour(starts)
    if calendar.window not in ("day", "hour"):
        return None
    label, length = (weekday, 7) if calendar.window == "day" else (hour, 24)
    return label.tolist() if len(starts) >= 2 * length else None


@dataclass(frozen=True)
class StepFit:
    """A series against every step it could have; all in units in which each point is as sure as the others."""

    values: Array
    """The values times the root of their weights."""
    weight: Array
    design: Array
    """An orthonormal basis of the mean and the seasons."""
    places: Array
    """Where each possible step begins."""
    steps: Array
    """The steps, one a column, with the seasons taken out, of length 1."""
    sizes: Array
    """Their lengths before that."""

    @classmethod
    def of(cls, values: Array, weight: Array, season: Array) -> StepFit | None:
        """The steps of a series; None if the seasons leave nothing to tell them by."""
        root = np.sqrt(weight / weight.mean())
        labels = np.unique(season)
        columns = (
            np.column_stack([np.ones(len(values)), *(season == each for each in labels[1:])]) * root[:, None]
        )
        design = np.linalg.qr(columns)[0]
        places = np.arange(EDGE, len(values) - EDGE + 1)
        steps = (np.arange(len(values))[:, None] >= places) * root[:, None]
        steps = steps - design @ (design.T @ steps)
        sizes = np.linalg.norm(steps, axis=0)
        kept = sizes > 1e-6
        if not kept.any() or len(values) - design.shape[1] < 3:
            return None
        return cls(values * root, weight, design, places[kept], steps[:, kept] / sizes[kept], sizes[kept])

    @property
    def rest(self) -> Array:
        """What the mean and the seasons leave."""
        found: Array = self.values - self.design @ (self.design.T @ self.values)
        return found

    @property
    def free(self) -> int:
        """Degrees of freedom beside a step."""
        return int(len(self.values) - self.design.shape[1] - 1)

    def strengths(self, rest: Array) -> Array:
        """The share of the squares that each step explains; one row a series."""
        whole = np.maximum((rest**2).sum(axis=-1, keepdims=True), 1e-300)
        found: Array = (rest @ self.steps) ** 2 / whole
        return found

    @property
    def strength(self) -> Array:
        """That of the series itself."""
        return self.strengths(self.rest)

    @property
    def unexplained(self) -> Array:
        """What is left beside the best step, in which no change hides the correlation of neighbours."""
        best = self.steps[:, int(np.argmax(self.strength))]
        found: Array = self.rest - best * (best @ self.rest)
        return found

    @property
    def correlation(self) -> float:
        """That of neighbours, from 0 up; what fitting takes away on average is put back."""
        left = self.unexplained
        squares = float(left @ left)
        if squares <= 1e-24 * max(float(self.values @ self.values), 1e-300):
            return 0.0
        n = len(left)
        raw = float(left[1:] @ left[:-1]) / squares
        return float(min(max(raw + (1 + 3 * raw) * self.design.shape[1] / (2 * n), 0.0), STRONGEST))

    def p(self, rng: np.random.Generator, needed: float) -> float:
        """The chance of so strong a step if nothing changed; worked out more finely if it may be below `needed`."""
        seen = float(self.strength.max())
        if float(self.rest @ self.rest) <= 1e-18 * float(self.values @ self.values):
            return 1.0
        reached, drawn, p = 0, 0, 1.0
        for wanted in (FIRST, MORE, MOST):
            while drawn < wanted:
                number = min(wanted - drawn, max(AT_ONCE // len(self.values), 1))
                reached += int(np.sum(self._null(rng, number) >= seen * (1 - 1e-12)))
                drawn += number
            p = (1 + reached) / (1 + drawn)
            if p < needed / 4 or (reached >= 10 and p > 4 * needed) or reached >= 50:
                break
        return p

    def _null(self, rng: np.random.Generator, number: int) -> Array:
        """The strongest step of series without a change: what was left, permuted, with its correlation put back."""
        rho, left = self.correlation, self.rest
        own = np.concatenate([left[:1] * math.sqrt(1 - rho**2), left[1:] - rho * left[:-1]])
        order = np.argsort(rng.random((number, len(own))), axis=1)
        made = own[order]
        if rho > 0:
            made[:, 0] /= math.sqrt(1 - rho**2)
            for at in range(1, made.shape[1]):
                made[:, at] += rho * made[:, at - 1]
        made -= (made @ self.design) @ self.design.T
        return np.asarray(self.strengths(made).max(axis=1))

    def likely(self) -> Array:
        """The possible steps that hold 95 % of the posterior, with a flat prior of the day and of the levels."""
        rho = self.correlation
        power = (self.free * (1 - rho) / (1 + rho)) / 2
        logs = -np.log(np.maximum(1 - self.strength, 1e-12)) * power - np.log(self.sizes)
        chance = np.exp(logs - logs.max())
        chance /= chance.sum()
        order = np.argsort(-chance, kind="stable")
        held = int(np.searchsorted(np.cumsum(chance[order]), 0.95)) + 1
        return np.asarray(order[:held])

    def levels(self, at: int) -> tuple[float, float, float]:
        """The level before a step, the step, and how far its 95 % interval reaches."""
        rho = self.correlation
        step = float(self.steps[:, at] @ self.rest) / float(self.sizes[at])
        left = self.rest - self.steps[:, at] * (self.steps[:, at] @ self.rest)
        error = math.sqrt(float(left @ left) / max(self.free, 1) * (1 + rho) / (1 - rho)) / float(
            self.sizes[at]
        )
        root = np.sqrt(self.weight / self.weight.mean())
        later = np.arange(len(self.values)) >= self.places[at]
        before = float(root @ (self.values - step * later * root)) / float(root @ root)
        return before, step, float(t_quantile(0.975, max(self.free, 1)) * error)


def cusum_alarms(
    values: Sequence[float], *, level: float, spread: float, every: float = 365.0, shift: float = 1.0
) -> list[int]:
    """The places at which a two-sided CUSUM gives an alarm, for a metric that is looked at each day.

    `level` and `spread` (of one point) are known from before; a `shift` of so many spreads is found soonest, and
    without a change there is one false alarm in `every` points (D. Siegmund: Sequential analysis, 1985). After an
    alarm it begins anew.

    >>> cusum_alarms([0, 1, -1, 0, 3, 3, 3, 3], level=0, spread=1)
    [5, 7]
    """
    check_number("spread", spread, above=0, advice="give the standard deviation of a point")
    check_number("every", every, above=1, advice="give the points between two false alarms")
    slack = shift / 2
    limit = _limit(slack, 2 * every)
    up = down = 0.0
    found = []
    for place, value in enumerate(values):
        if math.isnan(value):
            continue
        z = (value - level) / spread
        up, down = max(0.0, up + z - slack), max(0.0, down - z - slack)
        if max(up, down) > limit:
            found.append(place)
            up = down = 0.0
    return found


def _limit(slack: float, length: float) -> float:
    """The limit at which a one-sided CUSUM runs so long on average without a change."""
    low, high = 0.0, 1.0
    while _run(slack, high) < length:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _run(slack, middle) < length else (low, middle)
    return high


def _run(slack: float, limit: float) -> float:
    """Siegmund's approximation of the average run length."""
    reach = 2 * slack * (limit + 1.166)
    return (math.exp(min(reach, 700.0)) - reach - 1) / (2 * slack**2)
