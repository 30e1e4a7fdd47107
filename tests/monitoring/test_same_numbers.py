"""The same events give the same numbers in every format, type and unit, and through every kind of junk."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from rankproof import simulate_log
from rankproof.errors import DataError, UsageError
from rankproof.monitoring.monitor import monitor
from rankproof.monitoring.read import read_events

pytestmark = pytest.mark.cover

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
BY: dict[str, Any] = {"by": ["variant", "language"]}


def numbers(source: Any, **how: Any) -> dict[str, Any]:
    """Everything but how the lines came."""
    found = monitor(source, **how)
    names = ("events", "sessions", "estimates", "windows", "profile", "heavy_users")
    told = found.to_dict()
    return {"rejected": found.rejected, **{key: told[key] for key in names}}


@pytest.fixture(scope="module")
def records() -> list[dict[str, Any]]:
    made = list(simulate_log(50, seed=2, days=2, variants=("A", "B")).records())
    for each in made:
        each["ts"] = round(each["ts"])
    return made


def as_parquet(path: Path, table: Any) -> Path:
    pq.write_table(table, path, row_group_size=33)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
def test_times_of_every_unit_with_and_without_a_zone(tmp_path, records, unit) -> None:
    expected = numbers(records, **BY)
    scaled = [{**each, "ts": each["ts"] * UNITS[unit]} for each in records]
    table = pa.Table.from_pylist(scaled)
    moments = [datetime.fromtimestamp(each["ts"], UTC) for each in records]
    naive = [each.replace(tzinfo=None) for each in moments]

    def with_times(times: Any) -> Any:
        return table.set_column(table.schema.get_field_index("ts"), "ts", times)

    for source in (
        scaled,
        table,
        as_parquet(tmp_path / "log.parquet", table),
        with_times(pa.array(moments, pa.timestamp(unit, "UTC"))),
        with_times(pa.array(moments, pa.timestamp(unit, "America/New_York"))),
        with_times(pa.array(naive, pa.timestamp(unit))),
        [{**each, "ts": moment.isoformat()} for each, moment in zip(records, moments, strict=True)],
        [{**each, "ts": str(each["ts"])} for each in scaled],
        pd.DataFrame(records).assign(ts=naive),
    ):
        assert numbers(source, **BY) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "America/Santiago"]
)
def test_times_without_a_zone_are_local_in_months_in_which_clocks_change(tmp_path, zone) -> None:
    for start, season in (("2025-03-01", "spring"), ("2025-10-01", "autumn"), ("2025-04-01", "southern")):
        made = list(simulate_log(40, seed=3, start=start, days=31, timezone=zone).records())
        for each in made:
            each["ts"] = round(each["ts"])
        how = {"timezone": zone, "window": "day"}
        local = [datetime.fromtimestamp(each["ts"], ZoneInfo(zone)).replace(tzinfo=None) for each in made]
        rows = [{**each, "ts": time.isoformat()} for each, time in zip(made, local, strict=True)]
        table = pa.Table.from_pylist([{**each, "ts": time} for each, time in zip(made, local, strict=True)])
        first, second = numbers(rows, **how), numbers(table, **how)
        assert first == second, season
        assert first["events"] == len(made)


@pytest.mark.slow
def test_times_that_no_clock_showed_are_the_same_in_every_format() -> None:
    times = [datetime(2025, 3, 30, 2, 30), datetime(2025, 10, 26, 2, 30)]  # put forward and back in Berlin
    listed: dict[str, Any] = {"ts": times, "user": ["a", "b"], "clicks": [[1], [1]]}
    rows = [dict(zip(listed, row, strict=True)) for row in zip(*listed.values(), strict=True)]
    texts = listed | {"ts": [each.isoformat() for each in times]}
    logs = [rows, pa.table(listed), pa.table(texts)]
    counts = [monitor(log, timezone="Europe/Berlin").counts for log in logs]
    assert len({(each.first, each.last) for each in counts}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC"])
@pytest.mark.parametrize("start", ["2025-03-01", "2025-03-15", "2025-10-12"])
def test_a_month_in_which_clocks_change_is_counted_by_the_clock_on_the_wall(zone, start) -> None:
    first, local = datetime.fromisoformat(f"{start}T00:00:00+00:00").timestamp(), ZoneInfo(zone)
    log = [{"ts": first + 600 * at, "user": f"u{at % 300}", "clicks": [1] * (at % 3 > 0)} for at in range(4320)]
    walls = [datetime.fromtimestamp(each["ts"], local) for each in log]
    found = monitor(log, timezone=zone)
    days = {found.calendar.label(each.start or 0): each.n for each in found.series("ctr")}
    assert days == Counter(wall.date().isoformat() for wall in walls)
    hours = {int(each.group): each.n for each in found.profile if (each.metric, each.slice) == ("ctr", "hour")}
    assert hours == Counter(wall.hour for wall in walls)
    by_hour = monitor(log, timezone=zone, window="hour")
    assert sum(each.n for each in by_hour.series("ctr")) == len(log)
    assert [*found.changes, *found.outages, *by_hour.changes, *by_hour.outages] == []


def test_columns_of_every_type(tmp_path, records) -> None:
    expected = numbers(records, **BY)
    table = pa.Table.from_pylist(records)

    def large(kind: Any) -> Any:
        if pa.types.is_string(kind):
            return pa.large_string()
        return pa.large_list(kind.value_type) if pa.types.is_list(kind) else kind

    wide = table.cast(pa.schema([pa.field(each.name, large(each.type)) for each in table.schema]))
    coded = table
    for name in ("id", "session", "user", "query", "answer", "thumb", "variant", "language"):
        at = coded.schema.get_field_index(name)
        coded = coded.set_column(at, name, coded.column(name).dictionary_encode())
    frame = pd.DataFrame(records)
    sources = [
        wide, as_parquet(tmp_path / "wide.parquet", wide), coded, as_parquet(tmp_path / "coded.parquet", coded),
        pl.from_arrow(table), pl.from_arrow(table).with_columns(pl.col("variant", "user").cast(pl.Categorical)),
        frame.astype({"variant": "category", "language": "category"}), frame.astype({"query": "string"}),
    ]  # fmt: skip
    if hasattr(pa, "string_view"):
        at = table.schema.get_field_index("query")
        sources.append(table.set_column(at, "query", table.column("query").cast(pa.string_view())))
    for source in sources:
        assert numbers(source, **BY) == expected


@pytest.mark.slow
def test_gaps_and_letters_of_every_script(tmp_path, records) -> None:
    queries = ["Straße in İstanbul", "ÄÖÜ résumé", "日本語の質問", None, ""]
    odd = [
        {
            **each,
            "query": queries[at % 5], "user": None if at % 4 == 0 else each["user"],
            "results": None if at % 7 == 0 else each["results"], "clicks": [] if at % 7 == 0 else each["clicks"],
            "citations": None if at % 6 == 0 else each["citations"], "arm": at % 3 if at % 4 else None,
            "latency_ms": None if at % 3 == 0 else each["latency_ms"], "flag": at % 2 == 0 if at % 5 else None,
            "abstained": None if at % 2 else each["abstained"],
        }
        for at, each in enumerate(records)
    ]  # fmt: skip
    how = {"by": ["variant", "arm", "flag"], "fields": ["flag"]}
    expected, table = numbers(odd, **how), pa.Table.from_pylist(odd)
    lines = tmp_path / "log.jsonl"
    lines.write_text("".join(json.dumps(each) + "\n" for each in odd))
    for source in (
        table,
        as_parquet(tmp_path / "log.parquet", table),
        pd.DataFrame(odd),
        pl.from_arrow(table),
        lines,
    ):
        assert numbers(source, **how) == expected


def clicks_with_times(each: dict[str, Any], at: int) -> list[Any]:
    """Two clicks, of which the later one is written first."""
    return [
        {"id": hit["id"], "rank": hit["rank"], "ts": 9.0 - at % 7 - k} for k, hit in enumerate(each["results"][1:3])
    ]


CLICKS = {
    "with times": clicks_with_times,
    "with moments": lambda each, at: [
        {**click, "ts": datetime.fromtimestamp(1e9 + click["ts"], UTC)} for click in clicks_with_times(each, at)
    ],
    "by id": lambda each, at: [hit["id"] for hit in each["results"][at % 3 : at % 5]],
    "by rank": lambda each, at: [3, 1][: at % 3],
    "some without id": lambda each, at: [{"id": "" if at % 4 else "x", "rank": 1 + at % 3}],
    "some without rank": lambda each, at: [
        {"id": hit["id"], "rank": None if at % 4 else hit["rank"]} for hit in each["results"][at % 2 : 2]
    ],
    "twice": lambda each, at: [{"id": hit["id"], "rank": hit["rank"]} for hit in each["results"][:1]] * 2,
    "no place": lambda each, at: [{"id": "d", "rank": at % 3}],
    "null among them": lambda each, at: [None] if at % 5 == 0 else [{"id": "d", "rank": 2}],
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", CLICKS)
def test_clicks_of_every_shape(tmp_path, records, kind) -> None:
    odd = [
        {
            **each,
            "clicks": CLICKS[kind](each, at),
            "citations": [None] if at % 11 == 0 else [hit["id"] for hit in each["results"][at % 2 : 3]],
        }
        for at, each in enumerate(records)
    ]
    expected, table = numbers(odd, **BY), pa.Table.from_pylist(odd)
    assert kind == "null among them" or expected["rejected"].get("bad citations", 0) >= len(odd) // 11
    nested = ["citations.list.element", "clicks.list.element.id", "clicks.list.element"]
    for name, how in {
        "plain": {"use_dictionary": False}, "coded": {"use_dictionary": nested},
    }.items():  # fmt: skip
        pq.write_table(pa.concat_tables([table] * 5), tmp_path / f"{name}.parquet", **how)
        assert numbers(tmp_path / f"{name}.parquet", **BY) == numbers(odd * 5, **BY)
    for source in (table, pl.from_arrow(table)):
        assert numbers(source, **BY) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "form",
    [
        "%Y-%m-%dT%H:%M:%S.250Z",
        "%Y-%m-%d %H:%M:%S.123456+02:00",
        "%Y-%m-%dT%H:%M",
        "%Y-%m-%d",
    ],
)
def test_times_written_as_text(tmp_path, records, form) -> None:
    odd = [
        {**each, "ts": datetime.fromtimestamp(each["ts"] + 7 * at, UTC).strftime(form) if at % 9 else "soon"}
        for at, each in enumerate(records)
    ]
    for rows, how in (
        (odd, {}),
        ([each for each in odd if each["ts"] != "soon"], {"timezone": "Europe/Berlin"}),
    ):
        lines = tmp_path / "log.jsonl"
        lines.write_text("".join(json.dumps(each) + "\n" for each in rows))
        table = pa.Table.from_pylist(rows)
        for source in (table, as_parquet(tmp_path / "log.parquet", table), pd.DataFrame(rows), lines):
            assert numbers(source, **how) == numbers(rows, **how)


@pytest.mark.first_is_quick
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_csv_with_quotes_and_line_ends_in_cells(tmp_path, records, mark) -> None:
    odd = [
        {
            **each,
            "query": each["query"] + (' "x"\n,y;z' if at % 3 else ""),
            "answer": each["answer"] + '\r\nmore, "so"',
        }
        for at, each in enumerate(records)
    ]
    with (tmp_path / "log.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(odd[0]), delimiter=mark)
        writer.writeheader()
        for each in odd:
            writer.writerow({key: json.dumps(v) if isinstance(v, list) else v for key, v in each.items()})
    assert numbers(tmp_path / "log.csv", **BY) == numbers(odd, **BY)


JUNK = [
    b"\x00\x01\xff\xfe" * 10,
    b'{"ts": 17409',
    b'{"ts":' + b"[" * 50_000,
    b'"x" "x"',
    b'{"ts": 1740960001, "query": "' + b"a" * 10_000_000 + b'", "latency_ms": -1}',
    b'{"ts": 1e400}',
    b'{"ts": NaN}',
    b'{"ts": 1740960001, "query": "\\ud800", "latency_ms": -2}',
    b'{"ts": ' + b"9" * 400 + b"}",
    b'{"ts": ' + b"9" * 5000 + b"}",
    b"null", b"12", b"[]", b"{}", b"\xef\xbb\xbf{}",
    b'{"resourceSpans": 5}',
    b'{"resourceSpans": [{"scopeSpans": [{"spans": [5]}]}]}',
    b'{"context": {"trace_id": "1", "span_id": 2}, "start_time": []}',
]  # fmt: skip


@pytest.mark.slow
def test_junk_among_the_lines_is_counted_and_changes_nothing(tmp_path, records) -> None:
    lines = [json.dumps(each).encode() for each in records]
    for at, each in enumerate(JUNK):
        lines.insert(3 * at, each)
    lines.insert(10, b"  ")
    log, kept = tmp_path / "log.jsonl", []
    log.write_bytes(b"\n".join(lines))
    found, expected = numbers(log, **BY), numbers(records, **BY)
    assert sum(found.pop("rejected").values()) == len(JUNK)
    del expected["rejected"]
    assert found == expected
    monitor(log, on_rejected=kept.append)
    assert [json.loads(each)["where"].rpartition(" ")[2].isdigit() for each in kept] == [True] * len(JUNK)


def test_lines_that_only_some_decoders_take_are_events(tmp_path) -> None:
    log = tmp_path / "log.jsonl"
    base = '"clicks": [], "user": "u'
    log.write_text(
        "\n".join(
            [
                f'{{"ts": 1740960001, "latency_ms": NaN, {base}1"}}',
                f'{{"ts": 1740960002, "query": "\\ud800 half", {base}2"}}',
                f'{{"ts": 1740960003, "big": {10**40}, {base}3"}}',
            ]
        )
    )
    found = monitor(log)
    assert (found.events, found.rejected) == (3, {})


def test_clocks_that_are_hours_fast_or_slow_do_not_close_windows_of_others(records) -> None:
    skewed = [{**each, "ts": each["ts"] + (80_000 if at % 25 == 0 else 0)} for at, each in enumerate(records)]
    found = monitor(skewed, lateness=90_000, window="hour")
    assert found.counts.late == 0
    assert found.events == len(records)


def test_an_empty_export_of_spans_is_no_rejected_line(tmp_path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('{"ts": 1740960001, "clicks": [], "user": "u"}\n{"resourceSpans": []}\n')
    found = monitor(log)
    assert (found.events, found.rejected) == (1, {})


NOW = {"ts": 1740960000, "user": "u1", "results": ["a", "b", "c"], "citations": ["b"]}
SPELLINGS: dict[str, tuple[str, list[str], Any]] = {
    "ranks": ("clicks", ["2;3", "2 3", "2|3", "2, 3", "[2, 3]", "(2, 3)", "[2 3]", "2.0;3.0"], [2, 3]),
    "ids": ("clicks", ["b;c", "b c", '["b", "c"]', "['b', 'c']", "['b' 'c']", "b , c"], ["b", "c"]),
    "objects": ("clicks", ['[{"id": "b", "rank": 2}]', "[{'id': 'b', 'rank': 2}]", '{"rank": 2}'], [{"rank": 2}]),
    "no click": ("clicks", ["", "[]", "none", "NaN", "0", "false", "No", "<NA>"], []),
    "a click": ("clicks", ["true", "Yes", "TRUE"], True),
    "up": ("thumb", ["up", "Thumbs Up", "1", "1.0", "true", "👍🏽", "+1"], "up"),
    "down": ("thumb", ["Down", "-1", "-1.0", "thumbs-down", "FALSE"], "down"),
    "no vote": ("thumb", ["", "0", "None", "n/a", "neutral", "-"], None),
    "latency": ("latency_ms", ["250", "250.0", "2.5e2"], 250),
    "no latency": ("latency_ms", ["", "nan", "n/a", "NULL"], None),
    "flag": ("abstained", ["1", "TRUE", "yes", "t"], True),
    "no flag": ("abstained", ["", "None", "nan"], None),
    "results": ("results", ["a;b;c", "a|b|c", "a,b,c", "a b c", '["a","b","c"]', "['a', 'b', 'c']"], ["a", "b", "c"]),
    "scores": ("results", ["[{'id': 'a', 'score': 2.5, 'rank': None}, {'id': 'b', 'score': 1.0}]"],
               [{"id": "a", "score": 2.5}, {"id": "b", "score": 1.0}]),
}  # fmt: skip


@pytest.mark.first_is_quick(2)
@pytest.mark.parametrize("kind", SPELLINGS)
def test_cells_of_csv_are_read_however_they_are_written(tmp_path, kind) -> None:
    name, cells, meant = SPELLINGS[kind]
    for cell in cells:
        other = {
            **NOW,
            "ts": NOW["ts"] + 60,
            "clicks": [1],
            "thumb": "up",
            "latency_ms": 90,
            "abstained": False,
        }
        expected = numbers([{**other, "ts": NOW["ts"], name: meant}, other])
        with (tmp_path / "log.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(other))
            writer.writeheader()
            row = {key: json.dumps(v) if isinstance(v, list) else v for key, v in other.items()}
            writer.writerows([{**row, "ts": NOW["ts"], name: cell}, row])
        found = numbers(tmp_path / "log.csv")
        assert found == expected, cell


@pytest.mark.parametrize("ending", ["csv", "tsv", "CSV", "csv.gz", "txt"])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_a_csv_is_known_by_its_ending_or_by_the_columns_that_are_named(tmp_path, ending, mark) -> None:
    log, columns = tmp_path / f"log.{ending}", {"ts": "Zeit", "query": "Frage", "user": "Nutzer"}
    lines = [["Zeit", "Frage", "Nutzer"], ["2025-03-03T10:00:00Z", "wo ist es", "u"]]
    text = "".join(mark.join(line) + "\n" for line in lines).encode()
    log.write_bytes(gzip.compress(text) if ending.endswith("gz") else text)
    assert numbers(log, columns=columns) == numbers([{"ts": 1740996000, "query": "wo ist es", "user": "u"}])
    if ending != "txt":
        with pytest.raises(DataError, match=r"no field ts among 'Zeit, Frage, Nutzer'.*columns=\{'ts': 'when'\}"):
            monitor(log)


def test_one_column_that_is_named_makes_a_csv_of_a_pipe(tmp_path) -> None:
    log = tmp_path / "log"
    log.write_text("when,page,load\n2025-03-03T10:00:00Z,p,3\n")
    assert monitor(log, columns={"latency_ms": "load", "ts": "when"})["latency_p50"] == pytest.approx(3, rel=0.05)
    log.write_text("page,load\np,3\n")
    with pytest.raises(DataError, match="no field ts among 'page, load'"):
        monitor(log, columns={"latency_ms": "load"})


def test_numbers_of_fields_are_those_of_cells_too(tmp_path) -> None:
    cells = ["0.5", "1", "true", "False", "", "n/a", "nan", "inf"]
    rows = [{"ts": 1740996000 + at, "user": f"u{at}", "score": cell} for at, cell in enumerate(cells)]
    means = [0.5, 1, True, False, None, "n/a", float("nan"), None]
    pd.DataFrame(rows).to_csv(tmp_path / "log.csv", index=False)
    expected = numbers([{**row, "score": mean} for row, mean in zip(rows, means, strict=True)], fields=["score"])
    assert [each["value"] for each in expected["estimates"]] == [0.625]
    for log in (
        tmp_path / "log.csv",
        rows,
        pd.DataFrame(rows),
        as_parquet(tmp_path / "a.pq", pa.Table.from_pylist(rows)),
    ):
        assert numbers(log, fields=["score"]) == expected, type(log)


def test_a_number_that_is_the_id_of_a_result_is_that_result(tmp_path) -> None:
    log = tmp_path / "log.csv"
    log.write_text(
        "Timestamp,userId,Search Results,clicked\n2025-03-03 10:00,u,7;3;1;0,3 0\n2025-03-03 10:01,v,7;3;1;0,0\n"
    )
    found = numbers(log, columns={"results": "Search Results"})
    ids = ["7", "3", "1", "0"]
    assert found == numbers(
        [
            {"ts": 1740996000, "user": "u", "results": ids, "clicks": ["3", "0"]},
            {"ts": 1740996060, "user": "v", "results": ids, "clicks": ["0"]},
        ]
    )


DIGITS = [{"id": each, "score": 1.0 - at / 10} for at, each in enumerate(["3", "1", "2", "17"])]
LETTERS = [{**hit, "id": letter} for hit, letter in zip(DIGITS, "abcd", strict=True)]
CLICKED = (["3"], [3], [3, 4], [17], [{"id": "3", "rank": None}], [{"id": "3", "rank": 1}], 3, 17, 9, True, "3", None)


def numbers_and_places(source: Any) -> tuple[str, list[str]]:
    """The numbers, as text because of so few events some are NaN, and the lines that were rejected."""
    kept: list[str] = []
    try:
        found = str(numbers(source, on_rejected=kept.append))
    except DataError:
        found = "no event"
    return found, [json.loads(each)["where"].rpartition(" ")[2] for each in kept]


@pytest.mark.first_is_quick
@pytest.mark.parametrize("cites", [{}, {"citations": ["3"]}], ids=["alone", "cited"])
@pytest.mark.parametrize("clicks", CLICKED, ids=str)
def test_what_a_click_is_does_not_hang_on_the_format_nor_on_the_columns_that_are_read(tmp_path, clicks, cites) -> None:
    shown = (DIGITS, LETTERS, [{**hit, "id": int(hit["id"])} for hit in DIGITS], ["3", "1", "2"], [3, 1, 2], [3.0, 1.0])
    for results in (*shown, [{"id": "3"}], [{"score": 0.5}], DIGITS[0]):
        row = {"ts": 1.7e9, "latency_ms": 1.0, "results": results, "clicks": clicks, **cites}
        rows = [row, {**row, "latency_ms": -1.0}, row]  # one is rejected before ids are found to be needed, and once
        expected, table = numbers_and_places(rows), pa.Table.from_pylist(rows)
        pl.from_arrow(table).write_parquet(tmp_path / "large.parquet")
        (tmp_path / "log.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))
        sources = [tmp_path / "log.jsonl", tmp_path / "large.parquet", as_parquet(tmp_path / "log.parquet", table)]
        for source in (*sources, table, pl.from_arrow(table), pd.DataFrame(rows)):
            assert numbers_and_places(source) == expected, (results, source)


@pytest.mark.parametrize(
    ("clicks", "meant"), [([2.0, None, 0.0], [[2], None, []]), ([1.0, 3.0, None], [[1], [3], None])]
)
def test_numbers_with_gaps_among_clicks_and_flags_as_variants(tmp_path, records, clicks, meant) -> None:
    flags = {"A": False, "B": True}
    rows = [{**each, "clicks": clicks[at % 3], "variant": flags[each["variant"]]} for at, each in enumerate(records)]
    named = {"A": "false", "B": "true"}
    plain = [{**each, "clicks": meant[at % 3], "variant": named[each["variant"]]} for at, each in enumerate(records)]
    expected, table = numbers(plain, **BY), pa.Table.from_pylist(rows)
    lines = tmp_path / "log.jsonl"
    lines.write_text("".join(json.dumps(each) + "\n" for each in rows))
    for source in (rows, lines, table, as_parquet(tmp_path / "log.parquet", table), pd.DataFrame(rows)):
        assert numbers(source, **BY) == expected


def test_ids_that_a_database_holds_and_flags_of_numpy_are_read(records) -> None:
    rows = [
        {**each, "user": str(UUID(int=len(each["user"]))), "clicks": at % 2 == 0} for at, each in enumerate(records)
    ]
    held = [{**each, "user": UUID(each["user"]), "clicks": np.bool_(each["clicks"])} for each in rows]
    assert numbers(held) == numbers(pd.DataFrame(held)) == numbers(rows)
    assert numbers(rows)["rejected"] == {}


def test_an_id_and_a_score_within_a_part_of_a_result_are_not_those_of_the_result(tmp_path, records) -> None:
    part = {"id": "x", "score": "high"}
    rows = [{**each, "results": [{**hit, "meta": part} for hit in each["results"]]} for each in records]
    assert numbers(as_parquet(tmp_path / "log.parquet", pa.Table.from_pylist(rows))) == numbers(records)


@pytest.mark.slow
@pytest.mark.parametrize("keys", [("User ID", "sessionId", "Latency Ms"), ("USER_ID", "Session-Id", "latencyMs")])
def test_names_of_fields_in_every_spelling(records, keys) -> None:
    own = ("user", "session", "latency_ms")
    spelled = [{dict(zip(own, keys, strict=True)).get(key, key): v for key, v in each.items()} for each in records]
    for source in (spelled, pa.Table.from_pylist(spelled)):
        assert numbers(source, **BY) == numbers(records, **BY)
    assert numbers([{**each, "Variant": each.pop("variant")} for each in map(dict, records)], by=["Variant"])[
        "estimates"
    ]


@pytest.mark.slow
@pytest.mark.parametrize("code", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_files_with_a_mark_and_with_other_line_ends(tmp_path, records, code, end) -> None:
    odd = [{**each, "query": f"{each['query']} ä日😀"} for each in records]
    lines, table = tmp_path / "log.jsonl", tmp_path / "log.csv"
    lines.write_bytes("".join(json.dumps(each, ensure_ascii=False) + end for each in odd).encode(code))
    text = io.StringIO()
    writer = csv.DictWriter(text, list(odd[0]), delimiter="\t", lineterminator=end)
    writer.writeheader()
    writer.writerows({key: json.dumps(v) if isinstance(v, list) else v for key, v in each.items()} for each in odd)
    table.write_bytes(text.getvalue().encode(code))
    assert numbers(lines, **BY) == numbers(table, **BY) == numbers(odd, **BY)


@pytest.mark.parametrize("code", ["utf-16", "utf-32", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("text", ['{"ts": 1741000000, "user": "u", "query": "?"}\n', "ts,user,query\n1741000000,u,?\n"])
def test_files_in_other_codes_are_refused_with_the_step_that_converts_them(tmp_path, code, text) -> None:
    log = tmp_path / "log"
    log.write_bytes(text.encode(code))
    for read in (monitor, lambda path: list(read_events(path))):
        with pytest.raises(
            DataError, match=r"the text is UTF-16 or UTF-32, expected UTF-8\. Next: convert it, like iconv"
        ):
            read(log)
    (tmp_path / "other").write_text(text)
    found = monitor(tmp_path)
    assert (found.events, found.rejected) == (1, {"damaged file": 1})


def test_lines_of_json_with_marks_and_zeros_around_them(tmp_path, records) -> None:
    lines = list(map(json.dumps, records))
    forms: dict[str, bytes] = {
        "a mark before each, as files put behind each other have it": "\n".join("\ufeff" + e for e in lines).encode(),
        "zeros, where a file was cut while it was written to": b"\0" * 999 + "\n\0\0".join(lines).encode(),
    }
    expected = numbers(records)
    for form, data in forms.items():
        log = tmp_path / "log.jsonl"
        log.write_bytes(data)
        assert numbers(log) == expected, form
    log.write_bytes(b"\xef\xbb\xbf" + json.dumps(records[0], indent=2).encode())
    assert numbers(log) == numbers(records[:1])  # one object over several lines, after the mark of its code
    log.write_text("\n".join(json.dumps(each, indent=2) for each in records))  # as jq prints
    with pytest.raises(DataError, match=r"not valid JSON \(Extra data.*Next: write one event per line"):
        numbers(log)
    log.write_text("\n".join(["".join(lines[:2]), *lines[2:]]))
    assert numbers(log)["rejected"] == {"not JSON": 1}
    assert numbers(log)["events"] == expected["events"] - 2


def test_numbers_written_as_text_and_nulls_in_lists(tmp_path, records) -> None:
    as_text = [
        {
            **each,
            "latency_ms": str(each["latency_ms"]),
            "abstained": str(each["abstained"]),
            "results": [{key: str(value) for key, value in hit.items()} for hit in each["results"]],
            "clicks": [{key: str(value) for key, value in click.items()} for click in each["clicks"]],
        }
        for each in records
    ]
    gaps = [
        {**each, **{name: each[name] and [*each[name], None] for name in ("results", "clicks", "citations")}}
        for each in records
    ]
    expected = numbers(records)
    assert expected["rejected"] == {}
    for name, odd in (("text", as_text), ("nulls", gaps)):
        assert numbers(odd) == expected, name
        table = as_parquet(tmp_path / "log.parquet", pa.Table.from_pylist(odd))
        assert numbers(table) == expected, name


@pytest.mark.slow
def test_a_huge_line_is_one_rejected_line_and_others_keep_their_numbers(tmp_path, records) -> None:
    lines = [json.dumps(each).encode() for each in records]
    log, kept = tmp_path / "log.jsonl", []
    log.write_bytes(b"\n".join([lines[0], b"x" * 50_000_000, b"bad", *lines[1:]]))
    assert numbers(log)["rejected"] == {"long line": 1, "not JSON": 1}
    monitor(log, on_rejected=kept.append)
    assert json.loads(kept[1])["where"].endswith("line 3")


def test_a_damaged_file_among_others_is_counted_and_the_others_are_read(tmp_path, records) -> None:
    for at in range(3):
        (tmp_path / f"{at}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in records[at::3]))
    whole = gzip.compress(b"x" * 9999)
    (tmp_path / "a.jsonl.gz").write_bytes(whole[:12] + b"\xff" * 20)
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and no more")
    found, expected = numbers(str(tmp_path)), numbers(records)
    assert found.pop("rejected") == {"damaged file": 2}
    assert expected.pop("rejected") == {}
    assert found == expected
    with pytest.raises(DataError, match="Parquet"):
        monitor(tmp_path / "b.parquet")
    with pytest.raises((DataError, UsageError)):
        monitor([tmp_path / "0.jsonl", tmp_path / "none.jsonl"])


METRIC_LINE = re.compile(
    r'[a-zA-Z_:][a-zA-Z0-9_:]*(?:\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*",?)*\})? '
    r"(?:[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)|NaN)"
)
HARMFUL = [
    'a"b',
    "c\\d",
    "e\nf",
    "g\r\nh",
    "<script>alert(1)</script>",
    '{x="y"} 1',
    "\ud800",
    "ä\u2028日",
    "ok",
]


@pytest.mark.parametrize("form", ["prometheus", "otel", "json", "html", "markdown", "csv", "jsonl", "table"])
def test_values_that_mean_harm_come_out_as_text_in_every_format(tmp_path, form) -> None:
    rows = [{**NOW, "ts": NOW["ts"] + at, "user": f"u{at}", "variant": HARMFUL[at % 9]} for at in range(180)]
    path = tmp_path / f"out.{form}"
    text = monitor(rows, by=["variant"]).format(form)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    if form == "prometheus":
        lines = text.split("\n")
        assert lines.pop() == ""
        samples = [each for each in lines if not each.startswith("# ")]
        assert [each for each in samples if not METRIC_LINE.fullmatch(each)] == []
        names = [each.rpartition(" ")[0] for each in samples]
        assert len(set(names)) == len(names)
        helped = [each.split()[2] for each in lines if each.startswith("# HELP")]
        assert len(set(helped)) == len(helped)
    elif form in ("otel", "json"):
        json.loads(text, parse_constant=pytest.fail)
    elif form == "jsonl":
        assert {json.loads(each).get("group") for each in text.strip().split("\n")} > {"<script>alert(1)</script>"}
    elif form == "html":
        assert "<script>alert" not in text
