"""The day of a change: false alarms, power, coverage of the interval of the day; seasons are no changes."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any

import numpy as np
import pytest

from benchmarks.change import course
from rankproof import monitor, simulate_log
from rankproof.errors import UsageError
from rankproof.monitoring.change_point import change_point, change_points, metric_changes, seasons_of
from rankproof.monitoring.online_metrics import OnlineEstimate
from rankproof.monitoring.sessions_and_windows import HOUR, Calendar, zone_named

pytestmark = pytest.mark.cover

WEEK = [day % 7 for day in range(28)]
BERLIN = Calendar(zone_named("Europe/Berlin"), "hour")


def test_weekends_are_no_change_and_a_step_is_found_on_its_day() -> None:
    weekend = [0.2 * (day >= 5) for day in WEEK]
    rng = np.random.default_rng(1)
    noise = rng.normal(0, 0.02, 28)
    calm = change_point((noise + weekend).tolist(), seasons=WEEK)
    assert calm is not None
    assert not calm.changed
    found = change_point((noise + weekend + 0.1 * (np.arange(28) >= 15)).tolist(), seasons=WEEK)
    assert found is not None
    assert found.changed
    assert found.low <= 15 <= found.high
    assert abs(found.at - 15) <= 1
    assert found.difference_low <= 0.1 <= found.difference_high
    assert found.after == pytest.approx(found.before + found.difference)
    assert found.before == pytest.approx(np.mean(weekend), abs=0.03)


def test_numbers_do_not_depend_on_scale_and_points_without_weight_are_left_out() -> None:
    values = np.random.default_rng(2).normal(0, 1, 30) + 3 * (np.arange(30) >= 20)
    one, two = change_point(values.tolist()), change_point((1e6 * values - 5).tolist())
    assert one is not None
    assert two is not None
    assert (one.at, one.low, one.high, one.p) == (two.at, two.low, two.high, two.p)
    assert two.difference == pytest.approx(1e6 * one.difference)
    holes = values.copy()
    holes[3], weights = math.nan, np.ones(30)
    weights[25], holes[25] = 0, 1e9
    found = change_point(holes.tolist(), weights.tolist())
    assert found is not None
    assert found.at == one.at


def test_a_short_or_constant_series_says_nothing() -> None:
    assert change_point([1.0] * 9) is None
    constant = change_point([0.3] * 30)
    assert constant is None or not constant.changed
    confounded = change_point([0.0] * 7 + [1.0] * 7, seasons=list(range(14)))
    assert confounded is None
    with pytest.raises(UsageError, match="as many"):
        change_point([1.0] * 12, seasons=[0])


def test_false_alarms_are_controlled_over_many_series() -> None:
    rng = np.random.default_rng(3)
    series = {name: (course(rng, 28), None, WEEK) for name in range(30)}
    series[30] = (course(rng, 28, at=14, by=5.0), None, WEEK)
    found = change_points(series)
    assert [name for name, each in found.items() if each.changed] == [30]


@pytest.mark.no_cover
@pytest.mark.slow
def test_rates_are_as_stated() -> None:
    from benchmarks.change import rates

    alarms = 0.0
    for correlation, power in ((0.0, 0.65), (0.3, 0.35), (0.5, 0.25)):
        found = rates(100, 28, correlation)
        alarms += found["false alarms"]
        assert found["false alarms"] <= 0.13
        assert found["power"] >= power
        assert found["day held"] >= 0.8
    assert alarms <= 3 * 0.085


def hourly(seed: int, days: int, by: float = 0.0, at: int = 0, daily: float = 0.0) -> list[OnlineEstimate]:
    """Hours with a rhythm of the day that is weaker at weekends, over the change to summer time."""
    rng, first = np.random.default_rng(seed), datetime(2025, 3, 10, tzinfo=BERLIN.zone).timestamp()
    starts = (int(first) + 3600 * np.arange(24 * days)) * 1_000_000
    weekday, hour = BERLIN.weekday_and_hour(starts)
    values = 0.5 + 0.2 * np.sin(hour / 24 * 2 * np.pi) * (1 - 0.7 * (weekday >= 5)) - 0.15 * (weekday >= 5)
    values += 0.1 * (rng.standard_normal(len(starts)) + daily * np.repeat(rng.standard_normal(days), 24))
    values += by * (np.arange(len(starts)) >= at)
    return [
        OnlineEstimate("ctr", "", "", each, each + HOUR, 50, 50, value, value - 0.1, value + 0.1, 0.05)
        for each, value in zip(starts.tolist(), values.tolist(), strict=True)
    ]


@pytest.mark.slow
def test_rhythms_of_day_and_week_are_no_change_of_hours() -> None:
    for days in (4, 9, 12, 17, 29):
        assert sum(bool(metric_changes(hourly(seed, days), BERLIN)) for seed in range(4)) <= 1
    (found,) = metric_changes(hourly(1, 28, by=0.2, at=400), BERLIN)
    at = BERLIN.label(hourly(1, 28)[400].start or 0)
    assert found.low <= at <= found.high
    assert found.window[:10] == at[:10]
    assert found.difference_low <= 0.2 <= found.difference_high


def test_changes_come_by_time_and_name_their_day() -> None:
    rng, days = np.random.default_rng(4), Calendar(BERLIN.zone, "day")
    first = datetime(2025, 1, 6, tzinfo=BERLIN.zone).timestamp()
    starts = [(int(first) + 86_400 * day) * 1_000_000 for day in range(21)]
    windows = [OnlineEstimate("all", "", "", None, None, 50, 50, 0.5, 0.4, 0.6, 0.05)]
    for metric, at in (("b", 15), ("c", 8), ("a", 8), ("still", 99)):
        values = rng.normal(0.5, 0.01, 21) + 0.2 * (np.arange(21) >= at)
        windows += [
            OnlineEstimate(metric, "", "", each, each + 24 * HOUR, 50, 50, value, value - 0.1, value + 0.1, 0.05)
            for each, value in zip(starts, values.tolist(), strict=True)
        ]
    found = metric_changes(windows, days)
    assert [(each.metric, each.window) for each in found] == [
        ("a", "2025-01-14"),
        ("c", "2025-01-14"),
        ("b", "2025-01-21"),
    ]
    for each in found:
        assert each.low <= each.window <= each.high
        assert each.difference_low <= 0.2 <= each.difference_high


@pytest.mark.parametrize(
    ("window", "days", "kinds"),
    [
        *[("day", 20, [2]), ("day", 21, [7]), ("week", 28, []), ("hour", 1, []), ("hour", 2, [24]), ("hour", 7, [24])],
        *[("hour", 8, [48]), ("hour", 13, [48]), ("hour", 14, [7, 48]), ("hour", 27, [7, 48]), ("hour", 28, [168])],
    ],
)
def test_seasons_are_as_many_as_the_log_can_tell_apart(window: Any, days: int, kinds: list[int]) -> None:
    monday = int(datetime(2025, 1, 6, tzinfo=BERLIN.zone).timestamp()) * 1_000_000
    hours = np.arange(0, 24 * days, 1 if window == "hour" else 24)
    found = seasons_of(monday + hours * HOUR, Calendar(BERLIN.zone, window)) or []
    assert [len(set(each)) for each in found] == kinds
    if kinds == [2]:
        assert found[0] == [int(day % 7 >= 5) for day in range(days)]


@pytest.mark.slow
def test_what_a_day_does_to_its_hours_is_no_change() -> None:
    alarms = [bool(metric_changes(hourly(seed, 21, daily=0.5), BERLIN)) for seed in range(40)]
    assert sum(alarms) <= 5
    found = [metric_changes(hourly(seed, 21, by=0.3, at=250, daily=0.5), BERLIN) for seed in range(8)]
    assert sum(map(bool, found)) >= 6


@pytest.mark.slow
def test_monitor_says_which_metrics_changed_on_which_day_and_which_variant_is_better() -> None:
    log = simulate_log(3000, seed=2, users=1500, worse_on=15, worse_by=0.6, variants=("A", "B"), lift=0.2)
    found = monitor(log.records())
    moved = {each.metric: each for each in found.changes if not each.slice}
    assert {"ctr", "abandonment", "ctr@1"} <= set(moved)
    assert "latency_p50" not in moved
    assert moved["ctr"].low <= "2025-03-18" <= moved["ctr"].high
    assert moved["ctr"].after < moved["ctr"].before
    apart = {each.metric: each for each in found.variants}
    truth = log.truth_of_variant("B")["ctr"] - log.truth_of_variant("A")["ctr"]
    assert apart["ctr"].low <= truth <= apart["ctr"].high
    assert apart["latency_p50"].verdict == "unclear"
    told = str(found)
    assert "What changed for good" in told
    assert all(len(line) <= 80 for line in told.splitlines())
    assert [each["metric"] for each in found.to_dict()["changes"]] == [each.metric for each in found.changes]
    calm = monitor(simulate_log(1500, seed=3, users=700).records())
    assert calm.changes == calm.variants == []
