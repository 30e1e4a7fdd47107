"""Columns of Arrow as arrays: whatever offset, null or hidden value they have, and without the packages that are slow."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")

from rankproof import monitor  # noqa: E402
from rankproof.monitoring.arrow_columns import has_text, hash_texts, lists, nulls, numbers, places, values_of  # noqa: E402
from rankproof.monitoring.event_block import as_bytes, hash_bytes  # noqa: E402

KINDS = [pa.int8(), pa.uint16(), pa.int64(), pa.float32(), pa.float64(), pa.bool_()]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_numbers_of_any_part_of_a_column_with_and_without_nulls(kind: Any) -> None:
    rng = np.random.default_rng(0)
    for gaps in (False, True):
        whole = [None if gaps and each == 3 else bool(each % 2) if kind == pa.bool_() else int(each)
                 for each in rng.integers(0, 9, 70)]  # fmt: skip
        column = pa.array(whole, kind)
        for start in (0, 1, 7, 8, 9, 64, 69, 70):
            for size in (0, 1, 8, 33, 70):
                part = column.slice(start, size)
                expected = [np.nan if each is None else float(each) for each in part.to_pylist()]
                np.testing.assert_array_equal(numbers(part), expected)
                assert nulls(part).tolist() == [each is None for each in part.to_pylist()]
                if not gaps:
                    assert values_of(part).tolist() == part.to_pylist()
    assert np.isnan(numbers(pa.nulls(3))).all()


def test_what_lies_under_a_null_is_not_read() -> None:
    inner, bits = pa.array([1, 2, 3, 4, 5]), pa.py_buffer(bytes([0b101]))
    ends = pa.py_buffer(np.array([0, 2, 4, 5], dtype=np.int32))
    hidden = pa.Array.from_buffers(pa.list_(pa.int64()), 3, [bits, ends], null_count=1, children=[inner])
    for column in (hidden, hidden.slice(1), hidden.slice(0, 2)):
        lengths, begins, values = lists(column)
        expected = [each or [] for each in column.to_pylist()]
        assert lengths.tolist() == list(map(len, expected))
        assert values.to_pylist() == [each for some in expected for each in some]
        assert begins.tolist() == np.cumsum([0, *map(len, expected)]).tolist()
    texts = pa.Array.from_buffers(pa.string(), 3, [bits, ends, pa.py_buffer(b"abcde")], null_count=1)
    assert texts.to_pylist() == ["ab", None, "e"]
    for name in ("user", "query"):
        found = hash_texts(texts, {}, name)[0]
        assert found.tolist() == hash_bytes(*as_bytes(["ab", "", "e"])).tolist()


def test_queries_are_in_small_letters_and_answers_filled_as_python_says() -> None:
    texts = [
        "",
        " ",
        "\t\n",
        "\x1c",
        "a",
        " a",
        "\u00a0",
        "\u3000\u2003",
        "\u3000x",
        "É",
        "你好",
        "\u200b",
        "İ",
        "AZ@[`",
        None,
    ]
    for column in (pa.array(texts), pa.array(texts, pa.large_string()), pa.array(texts).slice(3)):
        known = [each or "" for each in column.to_pylist()]
        assert has_text(column).tolist() == [each.strip() != "" for each in known]
        assert hash_texts(column, {}, "query")[0].tolist() == hash_bytes(*as_bytes([e.lower() for e in known])).tolist()
    plain = [each for each in texts if each is None or each.isascii()]
    expected = hash_bytes(*as_bytes([(each or "").lower() for each in plain])).tolist()
    assert hash_texts(pa.array(plain), {}, "query")[0].tolist() == expected
    assert places(pa.array(["b", None, "a", "b"]).dictionary_encode()).tolist() == [0, 2, 1, 0]


def test_a_log_in_parquet_needs_neither_pandas_nor_what_speaks_http(tmp_path: Path) -> None:
    from rankproof import simulate_log

    path = tmp_path / "log.parquet"
    pq.write_table(pa.Table.from_pylist(list(simulate_log(60, seed=1, variants=("A", "B")).records())), path)
    code = (
        "import sys; from rankproof import monitor; str(monitor(sys.argv[1]));"
        "print(*{'pandas', 'asyncio', 'http.client'} & set(sys.modules))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True, timeout=120
    )
    assert run.stdout.split() == []


def test_dates_and_decimals_are_times_ids_slices_and_numbers(tmp_path: Path) -> None:
    days = [date(2025, 3, 1 + at // 20) for at in range(60)]
    columns: dict[str, Any] = {"ts": days, "user": [f"u{at}" for at in range(60)], "session": days, "variant": days}
    columns |= {"clicks": [["a"]] * 60, "results": [["a", "b"]] * 60, "cost": [Decimal("1.5")] * 60, "day": days}
    table = pa.table(columns)
    pq.write_table(table, tmp_path / "log.parquet")
    records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    for log in (table, records, pl.DataFrame(columns), pd.DataFrame(columns), str(tmp_path / "log.parquet")):
        found = monitor(log, by=["variant", "day"], fields=["cost"], timezone="Europe/Berlin")
        assert (found.counts.sessions, found["cost"], found["mrr_first_click"]) == (3, 1.5, 1.0)
        for name in ("variant", "day"):
            groups = {each.group for each in found.estimates if each.slice == name}
            assert groups == {"2025-03-01", "2025-03-02", "2025-03-03"}
        assert found.counts.first == datetime(2025, 2, 28, 23, tzinfo=UTC).timestamp() * 1e6


@pytest.mark.parametrize("kind", [np.int64, np.float32, np.uint8, Decimal, Fraction, str, float, int])
def test_a_mean_takes_numbers_of_every_kind(kind: Callable[[int], Any]) -> None:
    rows = [{"ts": 1.74e9 + at, "user": f"u{at}", "cost": kind(at)} for at in range(9)]
    assert monitor(rows, fields=["cost"])["cost"] == 4.0


def test_a_further_column_of_dates_never_hinders(tmp_path: Path) -> None:
    rows = [{"ts": 1.74e9 + at, "user": f"u{at}", "clicks": ["a"], "results": ["a", "b"]} for at in range(9)]
    far = pa.table([pa.array([9_000_000] * 9, pa.int32()).cast(pa.date32())], ["far"])
    table = pa.Table.from_pylist(rows).append_column("far", far["far"])
    frame = pd.DataFrame(rows).assign(far=pd.period_range("2025-03-01", periods=9)[:1].repeat(9))
    for log, day in ((table, "26611-03-02"), (frame, "2025-03-01")):
        assert monitor(log)["mrr_first_click"] == 1
        assert {each.group for each in monitor(log, by=["far"]).estimates} == {"", day}
