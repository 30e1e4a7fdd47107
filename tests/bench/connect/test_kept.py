"""What `fill` writes into a real PostgreSQL is read back as it was given, and filters find it."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from rankproof.bench.connect import pgvector, postgres
from rankproof.core.corpus import Corpus

from .conftest import embed

pytestmark = pytest.mark.slow  # the server takes seconds to be made

KEPT: dict[str, Any] = {
    "topic": "money", "year": 2024, "share": 0.25, "open": True, "none": None, "tags": ["a", "b"],
    "nested": {"of": {"depth": [1, None, "ü"]}}, "quote": "it's \"so\" \\ %s %(k)s", "": "no name", "größe": "日本",
    "big": 2**70, "id": "another", "title": "another", "text": "another", "metadata": {"x": 1},
}  # fmt: skip
ODD = {"zero": "a\0b", "nan": float("nan"), "inf": float("inf"), "lone": "\ud800", "when": datetime.date(2024, 2, 29),
       "exact": Decimal("1.50"), "set": {1}, 7: "seven", "numpy": np.int64(3), "array": np.array([0.5, np.nan])}  # fmt: skip


def read(where: str, table: str) -> dict[str, Any]:
    import psycopg

    with psycopg.connect(where) as connection:
        return dict(connection.execute(f"select id, metadata from {table}").fetchall())  # type: ignore[arg-type]


def documents(metadata: dict[Any, Any]) -> Corpus:
    from rankproof.core.corpus import Document

    return Corpus([Document("d1", "refund fee", "Refunds", metadata), Document("d2", "fee", "", {})])


def test_metadata_is_read_back_as_it_was_given(postgres_at: str) -> None:
    postgres(postgres_at, "kept").fill(documents(KEPT)).close()
    assert read(postgres_at, "kept") == {"d1": KEPT, "d2": {}}


def test_what_jsonb_cannot_hold_is_kept_as_near_as_it_can(postgres_at: str) -> None:
    postgres(postgres_at, "odd").fill(documents(ODD)).close()
    found = read(postgres_at, "odd")["d1"]
    assert found.pop("set") == [1]
    assert found == {
        "zero": "a b", "nan": "NaN", "inf": "Infinity", "lone": "\ufffd", "when": "2024-02-29", "exact": "1.50",
        "7": "seven", "numpy": 3, "array": [0.5, "NaN"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("metadata->>'topic' = %(v)s", "money"),
        ("(metadata->>'year')::int > %(v)s", 2000),
        ("(metadata->>'share')::float < %(v)s", 0.5),
        ("(metadata->>'open')::boolean = %(v)s", True),
        ("metadata->'tags' ? %(v)s", "b"),
        ("metadata #>> '{nested,of,depth,2}' = %(v)s", "ü"),
        ("metadata->>'quote' = %(v)s", KEPT["quote"]),
        ("metadata->>'größe' = %(v)s", "日本"),
    ],
)
def test_a_filter_finds_it(postgres_at: str, condition: str, value: Any) -> None:
    store = postgres(postgres_at, "filtered", filter=condition, parameters={"v": value}).fill(documents(KEPT))
    assert [[name for name, _ in each] for each in store.search(["fee"], 5)] == [["d1"]]
    store.close()
    other = postgres(postgres_at, "filtered", filter=f"not coalesce({condition}, false)", parameters={"v": value})
    assert [[name for name, _ in each] for each in other.search(["fee"], 5)] == [["d2"]]
    other.close()


def test_pgvector_itself_where_it_is_installed(postgres_at: str) -> None:
    import psycopg

    with psycopg.connect(postgres_at) as connection:
        there = connection.execute("select 1 from pg_available_extensions where name = 'vector'").fetchone()
    if not there:
        pytest.skip("this PostgreSQL does not have the extension pgvector")
    texts = Corpus.of({"r": {"text": "refund", "topic": "money"}, "h": {"text": "hour hour"}, "f": {"text": "fee"}})
    for distance in ("cosine", "l2", "inner", "l1"):
        store = pgvector(postgres_at, f"vectors_{distance}", embed, distance=distance).fill(texts)
        assert [next(name for name, _ in each) for each in store.search(["refund", "hour", "fee"], 3)] == [
            "r",
            "h",
            "f",
        ]
        first = store.search(["hour"], 3)[0]
        assert [score for _, score in first] == sorted((score for _, score in first), reverse=True)
        store.close()
        only = {"filter": "metadata->>'topic' = %(topic)s", "parameters": {"topic": "money"}}
        filtered = pgvector(postgres_at, f"vectors_{distance}", embed, distance=distance, **only)
        assert [name for name, _ in filtered.search(["hour"], 3)[0]] == ["r"]
        filtered.close()
    assert read(postgres_at, "vectors_l2")["r"] == {"topic": "money"}
