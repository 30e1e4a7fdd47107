"""The day on which a metric changed: a change point with its interval, corrected for weekday and hour.

A series is fitted by a mean, an effect of each season (weekday and hour) and a step. The step with the largest CUSUM
of the residuals, in units of its error, is the change. Its p-value comes from permuting the residuals
(D. Freedman and D. Lane, 1983), with the plausible correlation of neighbours put back (`step_fit.py`).
The interval of the day is the shortest set of days with 95 % of the posterior under a flat prior
(A. Smith, Biometrika 62, 1975).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from rankproof.core.arrays import by_key
from rankproof.core.hits import Array
from rankproof.document.model import Displayable
from rankproof.errors import UsageError
from rankproof.monitoring.online_metrics import OnlineEstimate
from rankproof.monitoring.sessions_and_windows import HOUR, Calendar
from rankproof.monitoring.step_fit import GRID, Permutations, StepFit, permutations, pooled_chances
from rankproof.stats.corrections import holm

K = TypeVar("K", bound=Hashable)
FEWEST = 10
"""Points that a series needs to be looked at."""
FEWEST_BLOCKS = 8
"""Blocks of neighbours that a series is cut into at least: they are what is permuted."""
TURNS = 20
"""Rounds of fitting several kinds of seasons."""
ALPHA = 0.05
"""The chance of any false alarm over all series that are tested together."""


@dataclass(frozen=True)
class ChangePoint(Displayable):
    """A step in a series: `at` is the place of the first point after it."""

    at: int
    low: int
    high: int
    """The places between which the first point after the change lies, with 95 %."""
    before: float
    after: float
    """The means on both sides, with the seasons removed."""
    difference: float
    difference_low: float
    difference_high: float
    """The step with its 95 % interval."""
    p: float
    p_corrected: float
    """The p-value, corrected over all series that were tested together."""
    changed: bool
    """Whether the corrected p-value is at most `ALPHA`."""


Seasons = Sequence[int] | Sequence[Sequence[int]]
"""A label of each point whose level may differ, or several kinds of labels whose effects add up."""
Series = tuple[Sequence[float], Sequence[float] | None, Seasons | None]


def change_point(
    values: Sequence[float],
    weights: Sequence[float] | None = None,
    seasons: Seasons | None = None,
    *,
    seed: int = 0,
) -> ChangePoint | None:
    """The largest step in a series, or None if the series is too short.

    `weights` say how sure each point is (1 / its squared error, or its number of users); a point that is NaN, or
    without weight, is left out. `seasons` are the weekday of each point, or any other label whose level may differ.

    >>> week = [0.1 * (day % 7 >= 5) for day in range(28)]
    >>> values = [w + 0.01 * (day * 7 % 5) + 0.3 * (day >= 16) for day, w in enumerate(week)]
    >>> found = change_point(values, seasons=[day % 7 for day in range(28)])
    >>> found.at, found.changed, round(found.difference, 1)
    (16, True, 0.3)
    """
    return change_points({0: (values, weights, seasons)}, seed=seed).get(0)


def change_points(series: Mapping[K, Series], *, seed: int = 0, block: int = 1) -> dict[K, ChangePoint]:
    """The largest step of each series (values, weights, seasons), corrected over all of them; short ones are left out.

    Holm's correction keeps the chance of any false alarm at 5 %. `block` neighbours may be alike in any way, such as
    the hours of a day.
    """
    fits: dict[K, tuple[StepFit, Array, np.random.Generator]] = {}
    for number, (key, each) in enumerate(series.items()):
        fit, kept = _fit(*each, block)
        if fit is not None:
            fits[key] = fit, kept, np.random.default_rng(seed + number)
    # What is measured on drawn series depends on the number of points and seasons, hardly on their weights.
    drawn: dict[tuple[int, ...], tuple[Array, Array]] = {}
    for fit, _, rng in fits.values():
        if fit.design.shape not in drawn:
            drawn[fit.design.shape] = fit.measure_grid(rng)
    chances = pooled_chances([fit.likelihood(*drawn[fit.design.shape]) for fit, _, _ in fits.values()])
    # To draw permutations takes longest; those that p-values begin with serve all series of one length.
    first: dict[tuple[int, int], Permutations] = {}
    found = {}
    for (key, (fit, kept, rng)), chance in zip(fits.items(), chances, strict=True):
        if fit.size not in first:
            first[fit.size] = permutations(*fit.size, rng)
        found[key] = _point(fit, kept, chance, fit.p(chance, first[fit.size], rng, ALPHA / len(fits)))
    corrected = holm([each.p for each in found.values()])
    return {
        key: replace(each, p_corrected=p, changed=p <= ALPHA)
        for (key, each), p in zip(found.items(), corrected, strict=True)
    }


def _fit(
    values: Sequence[float], weights: Sequence[float] | None, seasons: Seasons | None, block: int
) -> tuple[StepFit | None, Array]:
    """A series against its steps, and the places of the points that count."""
    all_values = np.asarray(values, dtype=np.float64)
    weight = np.ones(len(all_values)) if weights is None else np.asarray(weights, dtype=np.float64)
    labels = np.atleast_2d(np.zeros(len(all_values), dtype=int) if seasons is None else np.asarray(seasons))
    if not len(all_values) == len(weight) == labels.shape[1]:
        raise UsageError(
            f"change: got {len(all_values)} values, {len(weight)} weights and {labels.shape[1]} seasons, expected "
            "as many of each. Next: give one of each for every point."
        )
    kept = np.flatnonzero(np.isfinite(all_values) & (weight > 0) & np.isfinite(weight))
    if len(kept) < FEWEST:
        return None, kept
    block = max(min(block, len(kept) // FEWEST_BLOCKS), 1)
    return StepFit.of(all_values[kept], weight[kept], list(labels[:, kept]), block), kept


def _point(fit: StepFit, kept: Array, chances: Array, p: float) -> ChangePoint:
    rho = float(chances @ GRID)
    best = int(np.argmax(fit.strengths(fit.rest[:, None])[:, 0]))
    likely = fit.likely(rho)
    at, low, high = (int(kept[fit.places[each]]) for each in (best, likely.min(), likely.max()))
    before, step, reach = fit.levels(best, rho)
    return ChangePoint(at, low, high, before, before + step, step, step - reach, step + reach, p, p, changed=False)


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


def metric_changes(windows: Iterable[OnlineEstimate], calendar: Calendar) -> list[MetricChange]:
    """The metrics that changed, by time; weekdays and hours are removed, false alarms of all of them controlled.

    Whether something changed is asked of days: what a day does to all of its hours must not pass for a change. From
    which hour on it did is then asked of the hours. Only a log of fewer than ten days is judged by its hours alone.
    """
    series = by_key((each.key, each) for each in windows if each.start is not None)
    starts: dict[tuple[str, str, str], Array] = {}
    tested: dict[tuple[str, str, str], Series] = {}
    finer: dict[tuple[str, str, str], tuple[Array, Array, Array, Array]] = {}
    days = Calendar(calendar.zone, "day")
    for key, points in series.items():
        start = np.array([each.start for each in points], dtype=np.int64)
        values = np.array([each.value for each in points])
        users = np.array([float(each.users) for each in points])
        of_seasons = calendar
        if calendar.window == "hour":
            begins = days.begins(int(start[0]), int(start[-1]))
            day = np.searchsorted(begins, start, side="right") - 1
            if len(np.unique(day)) >= FEWEST:
                level = np.asarray(values - _season_effects(values, users, start, calendar))
                finer[key] = (start, level, users, day)
                total = np.bincount(day, users)
                with np.errstate(invalid="ignore", divide="ignore"):
                    values = np.bincount(day, users * level) / total
                users, start, of_seasons = total, begins[: len(total)], days
        starts[key] = start
        tested[key] = (values.tolist(), users.tolist(), seasons_of(start, of_seasons))
    found = change_points(tested, block=24 if calendar.window == "hour" and not finer else 1)
    told: list[tuple[int, MetricChange]] = []
    for key, point in found.items():
        if point.changed:
            at, low, high = (int(starts[key][place]) for place in (point.at, point.low, point.high))
            if key in finer:
                at, low, high = _hours_of(point, *finer[key])
            names = (calendar.label(at), calendar.label(low), calendar.label(high))
            ends = (point.difference_low, point.difference_high)
            told.append((at, MetricChange(*key, *names, point.before, point.after, *ends, point.p_corrected)))
    return [change for _, change in sorted(told, key=lambda pair: (pair[0], pair[1].metric))]


def _season_effects(values: Array, users: Array, hours: Array, calendar: Calendar) -> Array:
    """What each hour of the day and of the week adds to the mean, by turns until all fit (backfitting)."""
    labels = [np.array(row) for row in seasons_of(hours, calendar) or []]
    effects = np.zeros((len(labels), len(values)))
    for _ in range(TURNS if len(labels) > 1 else 1):
        for at, label in enumerate(labels):
            rest = values - effects.sum(axis=0) + effects[at]
            mean = np.bincount(label, users * rest) / np.maximum(np.bincount(label, users), 1e-12)
            effects[at] = mean[label]
    fitted = effects.sum(axis=0)
    return np.asarray(fitted - np.average(fitted, weights=users))


def _hours_of(point: ChangePoint, hours: Array, level: Array, users: Array, day: Array) -> tuple[int, ...]:
    """The hour of a change whose days are known, and the first and the last hour that it may be."""
    low = max(int(np.searchsorted(day, point.low - 1)), 1)
    high = int(np.searchsorted(day, point.high, side="right")) - 1
    places = np.arange(low, max(high, low) + 1)
    weight, sums = np.cumsum(users), np.cumsum(users * (level - np.average(level, weights=users)))
    before = weight[places - 1]
    gain = sums[places - 1] ** 2 / (before * np.maximum(weight[-1] - before, 1e-9))
    return int(hours[places[np.argmax(gain)]]), int(hours[places[0]]), int(hours[places[-1]])


def seasons_of(starts: Array, calendar: Calendar) -> list[list[int]] | None:
    """Labels of windows that come again, as many as the log can tell apart; None if they are none.

    Days: the weekday from three weeks on, before that whether it is a weekend. Hours: each hour of the week from four
    weeks on, from eight days on the hour of working days and of weekends (from two weeks on beside the weekday), else
    the hour. The clock changes by an hour, so a week may seem an hour short.
    """
    if not len(starts) or calendar.window not in ("day", "hour"):
        return None
    weekday, hour = calendar.weekday_and_hour(starts)
    weekend = (weekday >= 5).astype(np.int64)
    days = int(starts[-1] - starts[0]) / (24 * HOUR) + (1 if calendar.window == "day" else 1 / 24)
    if calendar.window == "day":
        labels = [weekday if days >= 21 else weekend]
    elif days >= 27.9:
        labels = [24 * weekday + hour]
    elif days >= 8:
        labels = [weekday, 24 * weekend + hour] if days >= 13.9 else [24 * weekend + hour]
    else:
        labels = [hour] if days >= 1.9 else []
    return [each.tolist() for each in labels] or None
