"""The same rows in every engine that counts."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from rankproof.io.counted.text import Counted, counting_text
from tests.database import in_memory

COLUMNS = ("query_id", "doc_id", "score")


def random_case(seed: int, queries: int = 25) -> tuple[dict[str, dict[str, float]], list[tuple[str, str, float]]]:
    """Judgments, and rows with ties, -0.0, letters beyond ASCII and the BMP, and queries on one side alone."""
    rnd = random.Random(seed)
    docs = [rnd.choice(["d", "D", "é", "日", "\U0001f600", "\uffee", "a b", "d'"]) + str(i) for i in range(60)]
    judged = {
        f"q{i}": {doc: float(rnd.choice([0, 0, 1, 2, -1])) for doc in rnd.sample(docs, rnd.randrange(1, 9))}
        for i in range(queries)
    }
    rows = [
        (query, doc, rnd.choice([round(rnd.random(), 1), -0.0, 0.0, -1.5, 1e300, 5e-324]))
        for query in [*list(judged)[2:], "nobody", "Q3"]
        for doc in rnd.sample(docs, rnd.randrange(1, 30))
    ]
    rnd.shuffle(rows)
    return judged, rows


def arrow(rows: Any, **types: Any) -> Any:
    return pa.table(
        {name: pa.array(values, types.get(name)) for name, values in zip(COLUMNS, zip(*rows, strict=True), strict=True)}
    )


def in_sqlite(rows: Any) -> tuple[sqlite3.Connection, str]:
    """A table whose collation would mix upper and lower case, and none of whose rows is committed."""
    connection = in_memory()
    connection.execute("create table run (query_id text collate nocase, doc_id text collate nocase, score real)")
    connection.executemany("insert into run values (?, ?, ?)", rows)
    return connection, "run"


def in_duckdb(rows: Any) -> Any:
    connection = duckdb.connect()
    connection.execute(
        "create table run (query_id varchar collate nocase, doc_id varchar collate nocase, score double)"
    )
    connection.executemany("insert into run values (?, ?, ?)", rows)
    return connection.table("run")


def in_datafusion(rows: Any) -> Any:
    session = pytest.importorskip("datafusion").SessionContext()
    session.from_arrow(arrow(rows), "run")
    return session, "run"


def tables_in(engine: str, tables: dict[str, Any]) -> tuple[Any, Any]:
    """A session of an engine with these tables, and what runs a query in it and gives its columns."""
    if engine == "datafusion":
        session = pytest.importorskip("datafusion").SessionContext()
        for name, table in tables.items():
            session.from_arrow(table, name)
        return session, lambda text: session.sql(text).to_arrow_table().to_pydict()
    connection = in_memory() if engine == "sqlite" else duckdb.connect()
    for name, table in tables.items():
        if engine == "duckdb":
            connection.register(name, table)
            continue
        connection.execute(f'create table "{name}" ({", ".join(map(repr, table.column_names))})')
        rows, places = zip(*table.to_pydict().values(), strict=True), ", ".join("?" * table.num_columns)
        connection.executemany(f'insert into "{name}" values ({places})', rows)

    def bring(text: str) -> dict[str, Any]:
        cursor = connection.execute(text)
        rows = cursor.fetchall()
        return dict(zip([each[0] for each in cursor.description], zip(*rows, strict=True), strict=True))

    return connection, bring


ENGINES = {
    "duckdb": in_duckdb,
    "duckdb, a query of a connection": lambda rows: (duckdb.connect(), _parquet(rows)),
    "polars": lambda rows: pl.from_arrow(arrow(rows)).lazy(),
    "polars, categories": lambda rows: (
        pl.from_arrow(arrow(rows)).with_columns(pl.col("doc_id").cast(pl.Categorical)).lazy()
    ),
    "sqlite": in_sqlite,
    "datafusion": in_datafusion,
}


def _parquet(rows: Any) -> str:
    import tempfile

    path = Path(tempfile.mkdtemp()) / "run.parquet"
    pq.write_table(arrow(rows), path)
    return f"select * from read_parquet('{path}')"


def by_text(rows: Any, judged: Any, conventions: Any, path: Path) -> Path:
    """What the text for DuckDB gives, in a file, as somebody would bring it from a warehouse."""
    connection = duckdb.connect()
    connection.register("run", arrow(rows))
    judgments = [(query, doc) for query, docs in judged.items() for doc in docs]
    connection.register(
        "judgments", pa.table(dict(zip(("query_id", "doc_id"), zip(*judgments, strict=True), strict=True)))
    )
    connection.execute(f"copy ({counting_text('duckdb', Counted(), conventions)}) to '{path}'")
    return path
