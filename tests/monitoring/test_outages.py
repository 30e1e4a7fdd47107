"""Outages are named with start and end; calm logs, nights and weekends are none."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from rankproof import monitor, simulate_log
from rankproof.monitoring.monitor import Monitor
from rankproof.monitoring.outages import STEP, stretches

pytestmark = pytest.mark.cover

Record = dict[str, Any]
SOME = 4 * STEP
"""An outage begins after the last event before it: the times may be off by as much as nobody came anyway."""


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def without(
    records: Iterable[Record], start: str, end: str, which: Callable[[Record], bool] = lambda _: True
) -> list[Record]:
    return [each for each in records if not (at(start) <= each["ts"] < at(end) and which(each))]


def told(found: Monitor) -> list[tuple[str, str]]:
    return [(each.kind, each.what) for each in found.outages]


def spans(found: Monitor, place: int, start: str, end: str) -> bool:
    each = found.outages[place]
    return abs(each.start - at(start) * 1e6) <= SOME and abs(each.end - at(end) * 1e6) <= SOME


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return list(simulate_log(3000, seed=1, days=21, variants=("A", "B")).records())


@pytest.mark.slow
def test_silence_is_named_with_start_and_end(records) -> None:
    assert told(monitor(records)) == []
    hours = ("2025-03-12T09:30", "2025-03-12T14:40")
    found = monitor(without(records, *hours), timezone="Europe/Berlin")
    assert told(found) == [("silence", "")]
    assert spans(found, 0, *hours)
    assert found.outages[0].seen == 0 < found.outages[0].usual
    assert "no events from 2025-03-12 10:" in str(found)
    (row,) = json.loads(found.format("json"))["outages"]
    assert row["start"].startswith("2025-03-12T10:")
    days = ("2025-03-11T12:00", "2025-03-20T09:00")
    found = monitor(without(records, *days, lambda r: int(r["id"][1:]) % 50 > 0))
    assert told(found)[0] == ("silence", "")
    assert found.outages[0].start <= at(days[0]) * 1e6 + SOME


@pytest.mark.slow
def test_a_source_that_went_silent_is_named_and_one_that_starts_or_grows_is_not(records) -> None:
    found = monitor(without(records, "2025-03-15T10:00", "2025-04-01", lambda r: r["variant"] == "B"))
    assert told(found) == [("source", "variant=B")]
    assert found.outages[0].lasts
    assert "variant=B silent from 2025-03-15 " in str(found)
    late = without(records, "2025-01-01", "2025-03-13", lambda r: r["variant"] == "B")
    assert told(monitor(late)) == []
    few = lambda r: r["variant"] == "B" and int(r["id"][1:]) % 10 > 0  # noqa: E731
    assert told(monitor(without(records, "2025-01-01", "2025-03-13", few))) == []


@pytest.mark.slow
def test_a_burst_of_errors_is_named(records) -> None:
    log = simulate_log(4000, seed=2, days=21, outage=(12, 9, 6))
    found = monitor(log.records())
    assert ("burst", "no_result") in told(found)
    assert spans(found, told(found).index(("burst", "no_result")), "2025-03-15T09:00", "2025-03-15T15:00")
    span = at("2025-03-13T10:00"), at("2025-03-13T12:00")
    failed = [{**r, "error": float(span[0] <= r["ts"] < span[1])} for r in records]
    found = monitor(failed, fields=["error"])
    assert told(found) == [("burst", "error")]
    assert spans(found, 0, "2025-03-13T10:00", "2025-03-13T12:00")


@pytest.mark.no_cover
@pytest.mark.slow
def test_calm_logs_have_no_outage_however_long_and_busy() -> None:
    false = sum(
        bool(monitor(simulate_log(size, seed=seed, days=days, variants=("A", "B")).records()).outages)
        for seed, (size, days) in enumerate([(600, 4), (900, 6), (1500, 9), (1500, 14), (2500, 28)] * 2)
    )
    assert false <= 1


def counted(days: int, rate: Callable[[int, int], float], source: Callable[[Any, int], str]) -> list[Record]:
    """A log of so many events in each hour of each day, from a Monday on."""
    rng = np.random.default_rng(days)
    return [
        {"ts": at("2025-03-03") + day * 86400 + hour * 3600 + float(rng.uniform(0, 3600))}
        | {"clicks": [], "variant": source(rng, day)}
        for day in range(days)
        for hour in range(24)
        for _ in range(rng.poisson(rate(day, hour)))
    ]


@pytest.mark.first_is_quick(2)
@pytest.mark.parametrize(
    ("days", "rate"),
    [
        *((days, lambda day, hour: 20.0 * (9 <= hour < 17) * (day % 7 < 5)) for days in (5, 10, 16, 28)),
        (21, lambda day, hour: 1.0 + day),
        (28, lambda day, hour: 30 * 0.9**day),
        (21, lambda day, hour: 8.0 * (10 if day == 12 else 1)),
        (21, lambda day, hour: 8.0 * (0.25 if 10 <= day < 15 else 1)),
    ],
)
def test_office_hours_growth_decline_campaigns_and_holidays_are_no_outage(days: int, rate: Any) -> None:
    assert told(monitor(counted(days, rate, lambda rng, day: "A"))) == []


def test_a_canary_and_a_slow_start_are_no_silence() -> None:
    def rate(day: int, hour: int) -> float:
        return 6.0

    assert told(monitor(counted(18, rate, lambda rng, day: "B" if rng.random() < 0.02 else "A"))) == []
    assert told(monitor(counted(20, rate, lambda rng, day: "B" if rng.random() < day / 20 else "A"))) == []


@pytest.mark.slow
def test_a_log_with_a_time_of_another_century_is_searched_no_more_and_says_so(records) -> None:
    sources = [{**each, "variant": f"v{place % 12}"} for place, each in enumerate(records)]
    found = monitor([{"ts": at("2001-01-01"), "clicks": []}, *sources], window="month")
    assert found.outages == []
    assert any("searched for outages" in note for note in found.notes)


@pytest.mark.slow
def test_an_alert_on_outages(records, tmp_path) -> None:
    cut = without(records, "2025-03-12T09:30", "2025-03-12T14:40")
    rules: list[Record] = [{"outage": "any"}, {"outage": "source"}]
    state = tmp_path / "state.json"
    assert [each.fired for each in monitor(cut, alerts=rules, state=state).alerts] == [True, False]
    assert [each.fired for each in monitor(cut, alerts=rules, state=state).alerts] == [False, False]
    twice = without(cut, "2025-03-19T09:30", "2025-03-19T15:40")
    (alert, _) = monitor(twice, alerts=rules, state=state).alerts
    assert "2025-03-19" in alert.sentence
    assert "2025-03-12" not in alert.sentence
    both = monitor(twice, alerts=rules).alerts[0].sentence
    assert "2025-03-12" in both
    assert "2025-03-19" in both


@pytest.mark.slow
def test_charts_of_the_page_mark_outages_and_changes() -> None:
    log = simulate_log(3000, seed=2, days=28, outage=(9, 9, 6), worse_on=17, worse_by=0.6)
    found = monitor(log.records())
    page = found.format("html")
    assert any(each.metric == "ctr" for each in found.changes)
    assert 'class="change"' in page
    assert 'class="outage"' in page
    assert "no_result from 2025-03-12 0" in page
    assert "from 2025-03-2" in page


def test_stretches_are_found_exactly_where_one_adds_up_beyond_the_limit() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        evidence = rng.normal(-0.3, 1, 60).round(2)
        sums = {(i, j): evidence[i:j].sum() for i in range(60) for j in range(i + 1, 61)}
        best = max(sums, key=lambda key: sums[key])
        found = stretches(evidence, 3.0)
        assert bool(found) == (sums[best] > 3)
        assert all(sums[each] > 3 for each in found)
        assert all(sums[i, m] > 0 for i, j in found for m in range(i + 1, j))


@pytest.mark.slow
@pytest.mark.parametrize("minutes", [10, 15, 60, 360])
def test_times_that_stand_for_an_hour_are_no_outages_and_hide_none(records: list[Record], minutes: int) -> None:
    def rounded(given: Iterable[Record]) -> list[Record]:
        return [{**each, "ts": each["ts"] // (60 * minutes) * (60 * minutes)} for each in given]

    assert told(monitor(rounded(records))) == []
    days = ("2025-03-12T00:00", "2025-03-13T12:00")
    found = monitor(rounded(without(records, *days)))
    assert told(found) == [("silence", "")]
    assert abs(found.outages[0].start - at(days[0]) * 1e6) <= 60e6 * minutes + SOME
    assert abs(found.outages[0].end - at(days[1]) * 1e6) <= 60e6 * minutes + SOME
