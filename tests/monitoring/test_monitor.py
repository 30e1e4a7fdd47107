"""`monitor` against the truth of simulated logs, in every format, however the lines come."""

from __future__ import annotations

import csv
import gzip
import json
import math
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from rankproof import simulate_log
from rankproof.errors import DataError, UsageError
from rankproof.monitoring.difference_words import sparkline
from rankproof.monitoring.event_block import mixed
from rankproof.monitoring.events import EventSchema, Rejects
from rankproof.monitoring.monitor import Monitor, monitor
from rankproof.monitoring.online_metrics import BINS, FEWER_GROUPS, SMALLEST, WIDTH, number_of_users, percentiles
from rankproof.monitoring.read import read_events
from rankproof.monitoring.rows import RecordColumns, RowMaker

pytestmark = pytest.mark.cover

NOON = datetime(2025, 3, 3, 12, tzinfo=UTC).timestamp()
SOME = {"variants": ("A", "B"), "lift": 0.2}


def plain(found) -> dict:
    """Everything but how the lines came."""
    told = found.to_dict()
    return {key: told[key] for key in ("events", "sessions", "estimates", "windows", "profile", "heavy_users")}


@pytest.mark.slow
def test_every_format_gives_the_same(tmp_path) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    records = list(simulate_log(150, seed=2, days=5, **SOME).records())
    lines = "".join(json.dumps(each) + "\n" for each in records)
    (tmp_path / "a.jsonl").write_text(lines)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (tmp_path / "a.json").write_text(json.dumps(records, indent=1))
    table = pa.Table.from_pylist(records)
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=40)
    for name, mark in (("a.csv", ","), ("a.tsv", "\t")):
        with (tmp_path / name).open("w", newline="") as file:
            writer = csv.DictWriter(file, list(records[0]), delimiter=mark)
            writer.writeheader()
            for each in records:
                writer.writerow({k: json.dumps(v) if isinstance(v, list) else v for k, v in each.items()})
    expected = plain(monitor(records, by=["variant", "language"]))
    assert expected["events"] == len(records)
    for source in (
        *sorted(tmp_path.iterdir()),
        table,
        pl.from_arrow(table),
        pl.from_arrow(table).lazy(),
        pd.DataFrame(records),
    ):
        assert plain(monitor(source, by=["variant", "language"])) == expected, type(source)


@pytest.mark.slow
@pytest.mark.parametrize("clicks", ["ids", "ids of some", "ranks"])
def test_other_shapes_in_parquet_are_read_as_in_json(tmp_path, clicks) -> None:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    records = list(simulate_log(300, seed=4).records())
    for at, each in enumerate(records):
        if clicks == "ids of some" and at % 9 == 0:
            each["clicks"] = [{"id": click["id"], "rank": None} for click in each["clicks"]]
        elif clicks != "ids of some":
            each["clicks"] = [click["id" if clicks == "ids" else "rank"] for click in each["clicks"]]
        each["ts"] = datetime.fromtimestamp(each["ts"], UTC)
        each["thumb"] = {"up": 1, "down": -1}.get(each["thumb"])
    del records[5]["abstained"]
    records[7]["latency_ms"] = -4.0
    records[8]["thumb"] = 17
    expected = monitor(records)
    assert expected.rejected == {"bad number": 1, "bad thumb": 1}
    table = pa.Table.from_pylist(records)
    pq.write_table(table, tmp_path / "log.parquet", row_group_size=64)
    for source in (table, tmp_path / "log.parquet"):
        found = monitor(source)
        assert plain(found) == plain(expected)
        assert found.rejected == expected.rejected


def columns_of(records, change=None, *, by=(), fields=()):
    """The columns of records, and what is rejected; with a hook every record goes the long way."""
    rejected: list = []
    made = RecordColumns(
        RowMaker(EventSchema(), by, fields, change),
        lambda error, name, at, record: rejected.append((at, error.reason)),
    )
    for at, record in enumerate(records):
        made.add("log", at, record)
    return made.block(), rejected


BASE = {"ts": NOON, "results": [{"id": "a", "score": 1.0}, {"id": "b", "score": 3.0}], "citations": ["b"]}
SHAPES = [
    {**BASE, "clicks": [{"id": "b", "rank": 2}, {"id": "a", "rank": 1}]},
    {**BASE, "clicks": ["b"], "thumb": True, "answer": "I don't know."},
    {**BASE, "clicks": [2], "latency_ms": None, "abstained": "yes"},
    {**BASE, "clicks": [{"id": "x", "rank": 9, "ts": 3}, {"id": "a", "rank": 1, "ts": 1}]},
    {**BASE, "clicks": [{"doc_id": "a"}, {"position": 2}], "citations": [{"id": "a"}]},
    {**BASE, "clicks": None, "citations": None, "thumb": 0, "session": 7, "answer": "  "},
    {**BASE, "results": [{"id": "a", "score": None}, {"id": "b", "score": 2}], "clicks": ["b", "c"]},
    {**BASE, "results": [{"id": "a", "rank": 0}, {"id": "b", "rank": 1}], "clicks": ["b"]},
    {**BASE, "results": [{"id": "a", "rank": math.inf}, {"id": "b", "rank": 4}], "clicks": [{"id": "b"}]},
    {**BASE, "results": [{"id": "a", "rank": 3}, {"id": "b", "rank": 7}], "clicks": ["b"]},
    {**BASE, "results": [{"id": "a", "score": 1e300}, {"id": "a", "score": -1e300}], "clicks": ["a", 2]},
    {"ts": NOON, "results": [], "clicks": [{"rank": 4}], "meta": {"language": "en"}, "arm": 1.0},
    {"ts": "2025-03-03T12:00:00Z", "results": ["a", "b"], "clicks": ["b"], "language": None, "variant": 1},
    {"ts": NOON * 1000, "thumb": "👎", "latency_ms": 5, "variant": "", "faithful": True, "user": 5.0},
    {"ts": NOON, "thumb": math.nan, "latency_ms": math.nan, "abstained": None, "faithful": math.nan},
    {"ts": NOON, "abstained": True, "answer": None, "faithful": 10**400, "language": ["x"], "id": 10**30},
]
DAMAGES = [
    {"latency_ms": "x"}, {"latency_ms": 10**400}, {"latency_ms": 1e13}, {"latency_ms": True}, {"thumb": 9},
    {"thumb": [1]}, {"results": 1.5}, {"results": "[" * 100_000}, {"results": [{"id": {}}]}, {"query": {}},
    {"results": [{"id": "a", "score": {}}]}, {"results": [{"id": "a", "score": 10**400}]}, {"ts": None},
    {"ts": 10**400},
    {"results": [None]}, {"clicks": [None]}, {"citations": [None, None]}, {"clicks": [math.nan]}, {"clicks": [{"rank": True}]}, {"clicks": [{"rank": math.inf}]},
    {"clicks": [{}]}, {"clicks": [[1]]}, {"citations": [{}]}, {"citations": [["a"]]}, {"abstained": 3}, {"user": True},
    {"ts": math.nan}, {"ts": "20250303" * 50}, {"ts": {"$date": 1}}, {"ts": -5}, {"session": [1]}, {"answer": {"a": 1}},
]  # fmt: skip


def test_the_short_way_and_the_long_way_give_the_same_columns() -> None:
    records = [*simulate_log(150, seed=6, **SOME).records(), *SHAPES, *SHAPES[::-1]]
    how = {"by": ("variant", "language", "meta.language", "thumb", "arm"), "fields": ("faithful",)}
    some, none = columns_of(records, **how)
    same, _ = columns_of(records, lambda event: event, **how)
    assert not none
    for name in ("time", "ids", "sketch", "slices"):
        assert (getattr(some, name) == getattr(same, name)).all(), name
    assert np.array_equal(some.values, same.values, equal_nan=True)


def test_both_ways_reject_the_same_and_keep_the_rest() -> None:
    usual = list(simulate_log(40, seed=1).records())
    records = [*usual, *({**usual[0], **each} for each in DAMAGES), *usual, 5, None, "x", [], {}, {1: 2}]
    some, rejected = columns_of(records)
    same, alike = columns_of(records, lambda event: event)
    assert len(some) == len(same) == 2 * len(usual)
    assert rejected == alike
    assert len(rejected) == len(DAMAGES) + 6
    assert (some.time == same.time).all()
    assert np.array_equal(some.values, same.values, equal_nan=True)


@pytest.mark.slow
def test_lines_late_twice_and_damaged_change_nothing() -> None:
    settings = {"sessions": 500, "seed": 9, **SOME}
    clean = monitor(simulate_log(**settings).records())
    log = simulate_log(**settings, duplicates=0.2, disorder=0.3, corrupt=0.2)
    lines = list(log.lines())
    damaged = sum(1 for line in lines if not line.startswith('{"id"') or not line.endswith("}") or '"ts"' not in line)
    found = monitor(lines_to(lines))
    assert plain(found) == plain(clean)
    assert sum(found.rejected.values()) >= damaged > 0
    assert found.counts.duplicates > 0 < found.counts.disordered
    assert all(found.examples.values())


class lines_to:  # noqa: N801  (a source of mappings, some of which are damaged lines)
    def __init__(self, lines) -> None:
        self.lines = lines

    def __iter__(self):
        for line in self.lines:
            try:
                yield json.loads(line)
            except ValueError:
                yield line


@pytest.mark.slow
def test_a_stream_gives_what_the_file_gives() -> None:
    log = simulate_log(2000, seed=3, disorder=0.2, duplicates=0.05, days=7, **SOME)
    lines = list(log.lines())
    closed: list = []
    whole = monitor(lines_to(lines))
    stream = monitor(lines_to(lines), lateness=7200, on_window=closed.extend)
    assert stream.counts.late == 0
    assert [repr(e) for e in stream.estimates] == [repr(e) for e in whole.estimates]
    assert {repr(e) for e in closed} == {repr(e) for e in whole.windows}


@pytest.mark.slow
def test_what_comes_after_its_window_was_closed_is_counted_and_told() -> None:
    early = [{"ts": NOON + 60 * i, "session": f"s{i}", "clicks": []} for i in range(40_000)]
    late = [{"ts": NOON, "session": "late", "clicks": [1]}]
    found = monitor([*early, *late], lateness=60)
    assert found.counts.late == 1
    assert found.events == 40_001
    assert any("lateness" in note for note in found.notes)
    assert found.estimate("ctr").n == 40_001


def test_one_wrong_clock_of_years_ago_does_not_hide_a_log_by_hours() -> None:
    start = datetime(2025, 3, 3, tzinfo=UTC).timestamp()
    events = [{"ts": start + 600 * i, "query": "a", "results": ["d"], "clicks": [1] * (i % 2)} for i in range(60)]
    found = monitor([{**events[0], "ts": "2001-01-01"}, *events], window="hour")
    assert (found.events, found.estimate("ctr").n, found.estimate("ctr").value) == (61, 61, 30 / 61)


def test_one_event_of_several_lines() -> None:
    first = {"id": "1", "ts": NOON, "session": "a", "query": "refund", "thumb": None, "latency_ms": 5}
    found = monitor([first, {"id": "1", "ts": NOON + 9, "thumb": "up"}, first])
    assert (found.events, found.counts.merged, found.counts.duplicates) == (1, 1, 1)
    assert found["thumbs_up"] == 1
    other = monitor([first, {**first, "query": "parcel", "ts": NOON + 5}])
    assert (other.events, other.counts.reused) == (2, 1)
    nameless = {"ts": NOON, "thumb": "up"}
    assert monitor([nameless, nameless]).events == 2
    assert monitor([{**nameless, "session": "a"}] * 2).events == 1


def test_sessions_end_after_half_an_hour_and_are_cut_from_users() -> None:
    def of(times, **who):
        return monitor([{"ts": NOON + t, "clicks": [], "query": f"q {t}", **who} for t in times]).counts.sessions

    assert of([0, 60, 1800], session="a") == 1
    assert of([0, 60, 1861], session="a") == 2
    assert of([0, 60, 5000], user="u") == 2
    assert of([0, 60, 5000]) == 0


def test_who_asks_again_in_other_words() -> None:
    def asked(*queries, gap=30):
        made = [{"ts": NOON + gap * i, "session": "a", "query": q} for i, q in enumerate(queries)]
        return monitor(made)["reformulation"]

    assert asked("refund damaged order", "refund for a damaged order") == 0.5
    assert asked("refund damaged order", "Refund damaged order") == 0
    assert asked("refund damaged order", "parking on sunday") == 0
    assert asked("refund damaged order", "refund for a damaged order", gap=400) == 0
    assert asked("返品の期限", "返品の期限はいつ") == 0.5


@pytest.mark.slow
def test_days_of_23_and_25_hours_are_days() -> None:
    for start, hours in (("2025-03-30", 23), ("2025-10-26", 25)):
        log = simulate_log(800, seed=1, start=start, days=1, timezone="Europe/Berlin")
        days = monitor(log.records(), timezone="Europe/Berlin").series("no_result")
        assert days[0].end - days[0].start == hours * 3600 * 10**6
        by_hour = monitor(log.records(), timezone="Europe/Berlin", window="hour").series("no_result")
        assert sum(each.n for each in by_hour) >= sum(each.n for each in days)
        asked = monitor(log.records(), timezone="Europe/Berlin").profile
        assert {e.group for e in asked if e.slice == "weekday" and e.n > 20} == {"6"}
    weeks = monitor(simulate_log(300, seed=1, days=28).records(), window="week").series("ctr")
    assert [len({each.start for each in weeks})] == [4]


@pytest.mark.slow
def test_one_user_who_sends_half_of_all_is_named_and_can_be_left_out() -> None:
    log = simulate_log(3000, seed=5, noisy=0.5, users=600)
    found = monitor(log.records())
    (heavy,) = found.heavy
    assert heavy.user == "crawler"
    assert heavy.share == pytest.approx(0.5, abs=0.01)
    assert found["ctr"] < 0.6 * log.truth["ctr"]
    assert heavy.without["ctr"] == pytest.approx(log.truth["ctr"], abs=0.04)
    by_session = monitor(log.records(), cluster="session").estimate("ctr")
    by_user = found.estimate("ctr")
    assert by_user.high - by_user.low > 3 * (by_session.high - by_session.low)
    assert "crawler" in str(found)
    assert not monitor(simulate_log(3000, seed=5).records()).heavy


@pytest.mark.no_cover
@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Of intervals by user 95 % hold the truth; those by event do not, where users differ."""
    hits: dict[str, list[bool]] = {}
    logs = 80
    for seed in range(logs):
        log = simulate_log(600, seed=seed, days=7, users=120)
        truth = log.truth
        for each in monitor(log.records(), by=[]).estimates:
            if not each.slice:
                hits.setdefault(each.metric, []).append(each.low <= truth[each.metric] <= each.high)
    share = {name: np.mean(each) for name, each in hits.items()}
    assert all(len(each) == logs for each in hits.values())
    assert min(share.values()) > 0.86, share  # 0.95 - 3.7 standard errors of 80 logs
    assert 0.92 < np.mean(list(share.values())) < 0.985, share


def test_partial_logs_say_what_is_missing() -> None:
    found = monitor([{"ts": NOON + i, "session": str(i % 50), "thumb": "up"} for i in range(100)])
    assert {each.metric for each in found.estimates} == {"thumbs_up", "vote_share"}
    with pytest.raises(KeyError, match="clicks"):
        found["ctr"]
    with pytest.raises(KeyError, match="Did you mean"):
        found["ctrr"]
    with pytest.raises(KeyError, match="slice"):
        found.estimate("thumbs_up", "variant", "Z")
    assert found["thumbs_up"] == 1
    low = found.estimate("thumbs_up").low
    assert 0.85 < low < 0.95  # 50 sessions, not 100 events: Wilson of 50 of 50 is .93
    mixed = [{"ts": NOON + i, "user": str(i), **({"thumb": "up"} if i % 5 == 0 else {})} for i in range(100)]
    assert any("sparse" in note for note in monitor(mixed).notes)
    assert monitor(mixed, sparse=["thumb"])["vote_share"] == pytest.approx(0.2)


def test_a_mean_of_a_field_of_the_log() -> None:
    rows = [{"ts": NOON + i, "user": str(i), "faithfulness": 0.5 + 0.5 * (i % 2)} for i in range(60)]
    found = monitor(rows, fields=["faithfulness"]).estimate("faithfulness")
    assert (found.value, found.n) == (pytest.approx(0.75), 60)
    assert found.low < 0.75 < found.high


def test_numbers_of_single_events_are_those_of_the_log() -> None:
    rows = [{"ts": NOON, "user": "u", "results": [{"id": "a", "score": 0.9}, {"id": "b", "score": 0.1}]}]
    rows[0] |= {"latency_ms": 120.3, "cost": 0.01, "tokens": 12_345_678, "debt": -0.3}
    found = monitor([*rows, {"ts": NOON + 1, "user": "v", "cost": 0.03}], fields=["cost", "tokens", "debt"])
    wanted = {"latency_p50": 120.3, "margin_p50": 0.8, "cost": 0.02, "tokens": 12_345_678, "debt": -0.3}
    assert {name: found[name] for name in wanted} == wanted


def test_one_user_alone_has_no_interval() -> None:
    found = monitor([{"ts": NOON + i, "user": "u", "clicks": []} for i in range(30)])
    assert math.isnan(found.estimate("ctr").low)
    assert any("all events come from one user" in note for note in found.notes)
    rows = [{"ts": NOON + i, "user": f"{i}", "clicks": []} for i in range(30)]
    notes = " ".join(monitor([*rows, {"ts": NOON + 99, "user": "7", "thumb": "up"}]).notes)
    assert "the events that count for thumbs_up, vote_share come from one user" in notes


def test_nothing_to_read_is_an_error(tmp_path) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(b'{"ts": "soon"}\n\xff\xfe\nGET /\n')
    for source, words in ((empty, "empty"), (bad, "rejected"), ([], "no event")):
        with pytest.raises(DataError, match=words):
            monitor(source)
    with pytest.raises(DataError, match="question_text"):
        monitor([{"ts": NOON, "frage": "?", "klicks": [1]}])
    for wrong in (
        {"window": "dya"},
        {"timezone": "Europe/Berln"},
        {"cluster": "team"},
        {"level": 95},
        {"cutoffs": [0]},
    ):
        with pytest.raises(UsageError, match="Next:"):
            monitor([{"ts": NOON}], **wrong)
    with pytest.raises(UsageError, match="source"):
        monitor(5)


@pytest.mark.slow
def test_a_damaged_archive_gives_what_can_be_read(tmp_path) -> None:
    log = simulate_log(2000, seed=1)
    packed = gzip.compress("".join(f"{line}\n" for line in log.lines()).encode())
    (tmp_path / "log.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    found = monitor(tmp_path / "log.jsonl.gz")
    assert 300 < found.events < len(log)
    assert found.rejected["damaged file"] == 1


def test_a_file_that_cannot_be_read_is_counted_among_others(tmp_path) -> None:
    (tmp_path / "a.jsonl").write_text("".join(f"{line}\n" for line in simulate_log(30, seed=1).lines()))
    (tmp_path / "b.jsonl").symlink_to("gone.jsonl")
    (tmp_path / "c.jsonl").write_bytes("{}".encode("utf-16"))
    for source in (tmp_path, f"{tmp_path}/*.jsonl", sorted(tmp_path.iterdir())):
        found = monitor(source)
        assert (found.events > 30, found.rejected) == (True, {"damaged file": 2})
        assert any("a link to gone.jsonl, which is not there" in each for each in found.examples["damaged file"])
        rejects = Rejects()
        assert len(list(read_events(source, rejects=rejects))) >= found.events
        assert rejects.reasons == {"damaged file": 2}
    with pytest.raises(DataError, match="a link to gone"):
        monitor(tmp_path / "b.jsonl")


@pytest.mark.slow
def test_rotated_files_are_one_log(tmp_path) -> None:
    lines = [f"{line}\n" for line in simulate_log(300, seed=1).lines()]
    for at, name in enumerate(("app.log", "app.log.1", "app.log.2")):
        (tmp_path / name).write_text("".join(lines[at * 100 : (at + 1) * 100 + (200 if at == 2 else 0)]))
    expected = plain(monitor(lines_to(lines)))
    for source in (tmp_path, str(tmp_path / "app*"), sorted(tmp_path.iterdir(), reverse=True)):
        assert plain(monitor(source)) == expected


def ranges_of(values: np.ndarray, bins: np.ndarray) -> np.ndarray:
    """The smallest and the greatest value in each bin."""
    found = np.array([[math.inf], [-math.inf]]).repeat(BINS, axis=1)
    np.minimum.at(found[0], bins, values)
    np.maximum.at(found[1], bins, values)
    return found


@pytest.mark.slow
def test_intervals_of_latency_percentiles_hold_the_truth() -> None:
    """80 logs each, of users whose connections differ: latencies of one user are alike."""
    for users, most, share in ((40, 5, 0.5), (120, 12, 0.5), (120, 12, 0.95), (400, 8, 0.99)):
        truth = float(np.exp(6 + math.sqrt(0.4**2 + 0.5**2) * NormalDist().inv_cdf(share)))
        held = 0
        for seed in range(80):
            rng = np.random.default_rng(seed)
            who = np.repeat(np.arange(users), rng.integers(1, most, users))
            own = rng.normal(0, 0.4, users)[who]
            latency = np.exp(6 + own + rng.normal(0, 0.5, len(who)))
            counts = np.zeros((FEWER_GROUPS, BINS), dtype=np.uint32)
            group = (mixed(mixed(who.astype(np.uint64) + np.uint64(1))) >> np.uint64(32)).astype(np.int64)
            bins = (np.log(latency / SMALLEST) / WIDTH).astype(np.int64)
            np.add.at(counts, (group % FEWER_GROUPS, bins), 1)
            ranges = ranges_of(latency, bins)
            ((*_, low, high, _),) = next(percentiles(counts[None], [share], ranges[None], np.array([users])))
            held += low <= truth <= high
        assert held >= 70, (users, share, held)


def test_clicks_without_ranks_give_no_click_through_by_rank() -> None:
    records = [{"ts": NOON + at, "user": f"u{at}", "clicks": ["d1"] if at % 2 else []} for at in range(60)]
    found = monitor(records)
    assert found["ctr"] == 0.5
    assert not [each for each in (*found.estimates, *found.windows) if each.metric.startswith("ctr@")]
    assert any("no click has a rank" in note for note in found.notes)
    some = [{**each, "clicks": [1]} if each["clicks"] and at < 30 else each for at, each in enumerate(records)]
    assert any("50%" in note for note in monitor(some).notes)
    ranked = [{**each, "clicks": [1] if each["clicks"] else []} for each in records]
    assert monitor(ranked)["ctr@1"] == 0.5
    assert not any("rank" in note for note in monitor(ranked).notes)


@pytest.mark.slow
@pytest.mark.parametrize("users", [40, 400])
def test_intervals_of_percentiles_hold_the_truth_as_often_as_they_say(users) -> None:
    """Users differ, and send several events each: 95 of 100 are wanted, and each end errs in few."""
    rng, shares, logs = np.random.default_rng(users), (0.5, 0.95, 0.99), []
    values, places = [], []
    for _ in range(400):
        sender = np.repeat(np.arange(users), rng.poisson(4, users) + 1)
        logarithm = 6 + 0.7 * rng.standard_normal(len(sender)) + 0.4 * rng.standard_normal(users)[sender]
        place = ((logarithm - math.log(SMALLEST)) / WIDTH).astype(int)
        group = rng.integers(0, FEWER_GROUPS, users)[sender]
        logs.append(np.bincount(group * BINS + place, minlength=FEWER_GROUPS * BINS).reshape(-1, BINS))
        values.append(np.exp(logarithm))
        places.append(place)
    ranges = ranges_of(np.concatenate(values), np.concatenate(places))
    found_of_shares = percentiles(np.array(logs), shares, ranges[None].repeat(400, axis=0), np.full(400, float(users)))
    for share, found in zip(shares, found_of_shares, strict=True):
        truth = math.exp(6 + math.hypot(0.7, 0.4) * NormalDist().inv_cdf(share))
        low, high = (np.array([each[end] for each in found]) for end in (3, 4))
        assert 0.92 <= np.mean((low <= truth) & (truth <= high)) <= 0.99
        assert max(np.mean(low > truth), np.mean(high < truth)) <= 0.06
        assert (np.mean(np.isinf(high)) > 0.5) == (share == 0.99 and users == 40)


def test_a_percentile_without_a_limit_is_said_in_every_format() -> None:
    found = monitor([{"ts": 1740960000 + 60 * at, "user": f"u{at}", "latency_ms": 100 + at} for at in range(80)])
    p99 = found.estimate("latency_p99")
    assert p99.low < p99.value < p99.high == math.inf
    assert "no limit]" in str(found)
    (row,) = (each for each in found.to_dict()["estimates"] if each["metric"] == "latency_p99")
    assert row["high"] is None
    assert "inf" not in found.format("prometheus").lower().replace("info", "")
    json.loads(found.format("json"), parse_constant=pytest.fail)
    json.loads(found.format("otel"), parse_constant=pytest.fail)


@pytest.mark.parametrize("level", [0.0, 0.5, 1.0, 250.0])
def test_what_is_constant_is_one_middle_line_whatever_its_level(level: float) -> None:
    assert sparkline([level] * 4) == sparkline([0.5] * 4) == "▄▄▄▄"


def test_what_hardly_moves_stays_about_the_middle_and_what_moves_fills_the_room() -> None:
    assert set(sparkline([1.0, 0.999, 1.0])) <= set("▄▅")
    assert sparkline([0.0, 1.0]) == "▁█"


def test_ctr_at_every_rank_stands_in_one_table_and_latencies_have_a_unit() -> None:
    start = 1740960000
    records = [
        {"ts": start + 9000 * at, "user": f"u{at}", "query": f"q{at}", "results": ["a", "b", "c"],
         "clicks": ["a"] * (at % 2), "latency_ms": 100 + at % 9}
        for at in range(60)
    ]  # fmt: skip
    blocks = str(monitor(records)).split("\n\n")
    assert sum("ctr@" in block for block in blocks) == 1
    for line in str(monitor(records)).splitlines():
        if line.startswith("latency_p"):
            assert " ms  " in line


def of_latencies(latencies: Iterable[float], users: int = 5000) -> Monitor:
    rows = enumerate(latencies)
    return monitor([{"ts": NOON + at, "user": f"u{at % users}", "latency_ms": x, "clicks": []} for at, x in rows])


def test_percentiles_are_among_the_values_that_were_seen() -> None:
    """Latencies in whole milliseconds, and time-outs that all take as long, hold many equal values in one bin."""
    rng = np.random.default_rng(3)
    logs = {
        "equal": np.full(3000, 8.0),
        "whole": 5.0 + np.arange(3000) % 7,
        "rounded": np.round(rng.lognormal(2, 0.4, 3000)),
        "time-outs": np.where(rng.random(3000) < 0.1, 30_000.0, np.round(rng.lognormal(4, 0.5, 3000))),
        "none": np.zeros(3000),
    }
    for name, latencies in logs.items():
        found = of_latencies(latencies.tolist())
        for share in (50, 95, 99):
            each = found.estimate(f"latency_p{share}")
            true = np.quantile(latencies, share / 100, method="inverted_cdf")
            assert each.low <= true <= each.high, (name, share)
            assert each.low <= each.value <= each.high <= latencies.max(), (name, share)
            assert abs(each.value - true) <= 0.03 * true, (name, share)
    assert math.isinf(of_latencies([8.0] * 100).estimate("latency_p99").high)  # the next one may be slower


@pytest.mark.parametrize("users", [20, 900, 6000])
def test_users_are_counted_however_many_there_are(users: int) -> None:
    found = of_latencies(range(1, 2 * users + 1), users)
    for metric in ("ctr", "latency_p50"):
        assert abs(found.estimate(metric).users - users) <= max(2, 0.3 * users), metric
    windows = [each.users for each in found.windows if each.metric == "ctr"]
    assert all(each <= 1.3 * users for each in windows)


def test_fields_of_any_numbers_have_intervals_and_what_is_none_is_said() -> None:
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(40):
        stars = rng.integers(0, 6, 400)
        rows = [
            {"ts": NOON + at, "user": f"u{at}", "stars": int(x), "feedback": 1, "txt": "x"}
            for at, x in enumerate(stars)
        ]
        found = monitor(rows, fields=["stars", "txt", "feedback", "none"])
        each = found.estimate("stars")
        assert each.value == pytest.approx(stars.mean())
        assert each.low < each.value < each.high
        assert each.high - each.low < 0.5
        held += each.low <= 2.5 <= each.high
    assert held >= 34
    shown = " ".join(str(found).split())
    assert "no event has a number in the field txt" in shown
    assert "no event has a number in the field none" in shown
    assert "feedback is read as thumb, not as a field of its own" in shown


@pytest.mark.parametrize("how", [{}, {"lateness": 60.0}])
def test_a_rating_is_no_thumb_unless_it_is_named(how: dict[str, Any]) -> None:
    rows = [{"ts": NOON + at, "user": f"u{at}", "query": "x", "Rating": 1 + at % 5} for at in range(50)]
    found = monitor(rows, **how)
    assert (found.events, found.rejected) == (50, {})
    assert {"thumbs_up", "vote_share"}.isdisjoint(each.metric for each in found.estimates)
    assert "Rating may hold stars, so it is not read as thumb" in " ".join(found.notes)
    assert monitor(rows, fields=["Rating"], **how)["Rating"] == 3
    voted = monitor([{**each, "Rating": each["Rating"] > 1} for each in rows], columns={"thumb": "Rating"}, **how)
    assert (voted["thumbs_up"], voted["vote_share"]) == (0.8, 1)


@pytest.mark.parametrize("key", ["docId", "ID", "_id", "Document ID"])
def test_ids_of_documents_are_known_in_any_spelling(key: str) -> None:
    rows = [
        {
            "ts": NOON + at,
            "user": f"u{at}",
            "results": [{name: "a", "score": 2.0}, {name: "b", "score": 1.0}],
            "citations": [{name: "b"}],
            "clicks": [{name: "b", "dwell": 3, "page": 1}] if at else [],
        }
        for name in ("id", key)
        for at in range(4)
    ]
    plain, spelled = monitor(rows[:4]), monitor(rows[4:])
    assert (spelled.events, spelled.rejected, spelled["ctr_citation"]) == (4, {}, 0.75)
    assert spelled.to_dict() == plain.to_dict()


def test_shares_of_variants_differ_by_one_at_most() -> None:
    rows = [
        {
            "ts": NOON + at,
            "user": f"u{at % 260}",
            "variant": "ab"[at % 2],
            "clicks": [1] * (at % 260 < 4),
            "latency_ms": 5 + at,
        }
        for at in range(1040)
    ]
    found = {each.metric: each for each in monitor(rows).variants}
    assert found["latency_p50"].high > 1
    assert all(-1 <= each.low <= each.high <= 1 for each in found.values() if not each.metric.startswith("latency"))


def test_an_alert_that_says_nothing_is_on_every_screen() -> None:
    alerts = [{"metric": "ctr", "below": 0.5, "slice": "variant=Q"}]
    rows = [{"ts": NOON + at, "user": f"u{at}", "variant": "ab"[at % 2], "clicks": [1]} for at in range(200)]
    assert "says nothing" in str(monitor(rows, alerts=alerts, by=["variant"]))


def test_percentiles_of_few_events_have_finite_values_in_every_window() -> None:
    for seed in range(3):
        found = monitor(simulate_log(200, seed=seed, noisy=0.5).records())
        for each in (*found.windows, *found.estimates):
            assert math.isfinite(each.value), each
            assert math.isnan(each.low) or 0 <= each.low <= each.value <= each.high, each
        assert "<svg" in found.format("html")


def test_what_comes_later_changes_nothing_of_a_window_before() -> None:
    rows = [{"ts": NOON + 60 * at, "user": f"u{at}", "stars": at % 2, "latency_ms": 5 + at % 7} for at in range(200)]
    later = [{**each, "ts": each["ts"] + 86_400 * 2, "stars": 5, "latency_ms": 5.1} for each in rows]
    first, both = (monitor(each, fields=["stars"]) for each in (rows, [*rows, *later]))
    before = [each for each in both.windows if each.end <= first.windows[0].end]
    ends = [
        [(each.metric, each.users, each.value, each.low, each.high) for each in some]
        for some in (before, first.windows)
    ]
    assert repr(ends[0]) == repr(ends[1])  # in which NaN is itself
    assert both.estimate("stars").high > 1


def test_more_users_than_can_be_counted_are_many() -> None:
    assert number_of_users(np.full((6, 32), 255, dtype=np.uint8)) > 1e7


@pytest.mark.parametrize("ids", [[101, 205, 309], ["101", "205", "309"]])
@pytest.mark.parametrize("objects", [False, True])
def test_a_number_among_clicks_that_is_the_id_of_a_result_is_no_rank(tmp_path: Path, ids: Any, objects: bool) -> None:
    """Read from records, lines or Parquet alike."""
    import polars as pl

    shown = [{"id": each, "score": 3.0 - at} for at, each in enumerate(ids)] if objects else ids
    rows = [{"ts": f"2026-10-01T10:{i:02d}:00Z", "user": f"u{i}", "results": shown, "clicks": [205]} for i in range(30)]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
    pl.DataFrame(rows).write_parquet(tmp_path / "log.parquet")
    for source in (rows, tmp_path / "log.jsonl", tmp_path / "log.parquet"):
        assert monitor(source).estimate("mrr_first_click").value == 0.5
