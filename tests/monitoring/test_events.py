"""Records of many shapes become events, or say why not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from rankproof.errors import UsageError
from rankproof.monitoring.event_values import Click, Rejected, ShownResult
from rankproof.monitoring.events import EventSchema

NOON = datetime(2025, 3, 3, 12, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    "written",
    [
        NOON,
        int(NOON),
        NOON * 1e3,
        NOON * 1e6,
        int(NOON) * 10**9,
        str(int(NOON)),
        "2025-03-03T12:00:00Z",
        "2025-03-03 12:00:00",
        "20250303T120000Z",
        str(int(NOON) * 1000),
        str(int(NOON) * 10**9),
        "2025-03-03T13:00:00+01:00",
        "2025-03-03T12:00:00.000000000Z",
        datetime(2025, 3, 3, 12),
        np.datetime64("2025-03-03T12"),
        np.datetime64("2025-03-03T12:00:00", "ns"),
        datetime(2025, 3, 3, 13, tzinfo=ZoneInfo("Europe/Berlin")),
    ],
)
def test_times(written) -> None:
    assert EventSchema().event({"ts": written}).ts == NOON


@pytest.mark.parametrize("written", [1500, "1500", 1500.0])
def test_latencies(written) -> None:
    assert EventSchema().event({"ts": NOON, "latency": written}).latency_ms == 1500


def test_a_time_without_a_zone_is_local() -> None:
    schema = EventSchema(timezone=ZoneInfo("Europe/Berlin"))
    assert schema.event({"ts": "2025-03-03T13:00:00"}).ts == NOON
    assert schema.event({"ts": datetime(2025, 3, 3, 13)}).ts == NOON


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ([1], "no object"),
        ("GET /", "no object"),
        (None, "no object"),
        ({}, "no time"),
        ({"ts": None}, "bad time"),
        ({"ts": "yesterday"}, "bad time"),
        ({"ts": "20250303120000"}, "bad time"),
        ({"ts": "20250303" * 50}, "bad time"),
        ({"ts": True}, "bad time"),
        ({"ts": float("nan")}, "bad time"),
        ({"ts": 0}, "time out of range"),
        ({"ts": NOON + 1e9}, "time out of range"),
        ({"ts": NOON, "latency_ms": "fast"}, "bad number"),
        ({"ts": NOON, "latency_ms": "1.5 s"}, "bad number"),
        ({"ts": NOON, "latency_ms": -1}, "bad number"),
        ({"ts": NOON, "latency_ms": timedelta(seconds=1.5)}, "bad number"),
        ({"ts": NOON, "latency_ms": np.timedelta64(1500, "ms")}, "bad number"),
        ({"ts": NOON, "latency_ms": float("inf")}, "bad number"),
        ({"ts": NOON, "thumb": "maybe"}, "bad thumb"),
        ({"ts": NOON, "thumb": 5}, "bad thumb"),
        ({"ts": NOON, "thumb": {"score": 1}}, "bad thumb"),
        ({"ts": NOON, "abstained": "perhaps"}, "bad flag"),
        ({"ts": NOON, "clicks": [0]}, "bad rank"),
        ({"ts": NOON, "clicks": [1.5]}, "bad rank"),
        ({"ts": NOON, "clicks": [{}]}, "bad clicks"),
        ({"ts": NOON, "results": [{"score": 1}]}, "bad results"),
        ({"ts": NOON, "results": [{"id": "a", "score": "high"}]}, "bad results"),
        ({"ts": NOON, "results": [{"id": "a", "score": float("nan")}]}, "bad results"),
        ({"ts": NOON, "results": True}, "bad results"),
        ({"ts": NOON, "results": "[broken"}, "bad results"),
        ({"ts": NOON, "query": ["a"]}, "bad text"),
    ],
)
def test_what_is_no_event_says_why(record, reason) -> None:
    with pytest.raises(Rejected) as error:
        EventSchema(now=NOON).event(record)
    assert error.value.reason == reason
    assert str(error.value)


@pytest.mark.parametrize(
    ("value", "vote"),
    [
        ("up", 1),
        ("👎", -1),
        ("Thumbs_Up", 1),
        (1, 1),
        (-1, -1),
        (0, 0),
        (1.0, 1),
        (True, 1),
        (False, -1),
        (None, 0),
        ("", 0),
    ],
)
def test_thumbs(value, vote) -> None:
    assert EventSchema().event({"ts": NOON, "thumb": value}).thumb == vote


RESULTS = [{"id": "a", "score": 2.0}, {"id": "b", "score": 1.0}]


@pytest.mark.parametrize(
    ("clicks", "expected"),
    [
        (["b", "a"], [("b", 2), ("a", 1)]),
        ("b a", [("b", 2), ("a", 1)]),
        ('["b"]', [("b", 2)]),
        ([2], [(None, 2)]),
        (2, [(None, 2)]),
        ([{"id": "b"}], [("b", 2)]),
        ([{"rank": 2}], [(None, 2)]),
        ([{"id": "b", "ts": 9}, {"id": "a", "ts": 3}], [("a", 1), ("b", 2)]),
        (["elsewhere"], [("elsewhere", 0)]),
        (None, []),
        ([], []),
    ],
)
def test_clicks(clicks, expected) -> None:
    event = EventSchema().event({"ts": NOON, "results": RESULTS, "clicks": clicks})
    assert event.clicks == tuple(Click(*each) for each in expected)


def test_a_list_of_events_in_an_object_is_named() -> None:
    with pytest.raises(Rejected, match="no field ts among 'events'; write the items of events one a line"):
        EventSchema().event({"events": [{"ts": NOON}]})


def test_what_is_missing_is_not_what_is_empty() -> None:
    missing = EventSchema().event({"ts": NOON})
    assert (missing.clicks, missing.thumb, missing.results, missing.citations) == (None,) * 4
    empty = EventSchema().event({"ts": NOON, "clicks": None, "thumb": None, "results": None, "citations": []})
    assert (empty.clicks, empty.thumb, empty.results, empty.citations) == ((), 0, (), ())
    sparse = EventSchema(sparse=["clicks", "thumb"]).event({"ts": NOON})
    assert (sparse.clicks, sparse.thumb, sparse.results) == ((), 0, None)


def test_other_names_and_named_columns() -> None:
    record = {"@timestamp": NOON, "question": "why?", "docs": ["x", "y"], "channel": "web", "user_id": 7}
    event = EventSchema({"results": "docs"}).event(record)
    assert event.results == (ShownResult("x", None, 1), ShownResult("y", None, 2))
    assert (event.query, event.user, event.other) == ("why?", "7", {"channel": "web"})
    with pytest.raises(UsageError, match="'query'"):
        EventSchema({"qery": "x"})
    with pytest.raises(UsageError, match="sparse"):
        EventSchema(sparse=["latency_ms"])
