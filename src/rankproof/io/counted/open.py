"""Which rankings can stay where they are, and which engine counts in them."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from rankproof.core.join import Rankings
from rankproof.errors import DataError, shorten
from rankproof.io.counted.engines import DataFusion, DuckDB, Polars, Spark, SQLite
from rankproof.io.counted.rankings import CountedRankings
from rankproof.io.counted.text import QUERY, quote_name, table_in
from rankproof.io.rankings import ranking_of, said_of_order
from rankproof.io.roles import RANKING, guess, guess_sentence
from rankproof.io.rows import Rows

if TYPE_CHECKING:
    import sqlite3

TEXTS = ("String", "Categorical", "Enum")
COUNTS_IN: dict[str, Callable[[Any], Any]] = {"duckdb": DuckDB, "polars": Polars, "pyspark": Spark}
"""The engines by the library of a lazy frame."""


def counted_frame(
    table: Any, took: Mapping[str, str], slow: Callable[[], Rankings], source: str, notes: tuple[str, ...]
) -> CountedRankings | None:
    """The rankings in a lazy narwhals frame, where its engine can count in it; else None: it is collected."""
    import narwhals as nw

    native = nw.to_native(table)
    engine = COUNTS_IN.get(type(native).__module__.lstrip("_").partition(".")[0])
    if engine is None or importlib.util.find_spec("pyarrow") is None:
        return None
    schema = table.collect_schema()
    kinds = _kinds({role: schema[name] for role, name in took.items()})
    return None if kinds is None else CountedRankings(engine(native), took, *kinds, slow, source, notes)


def _kinds(kinds: Mapping[str, Any]) -> tuple[tuple[bool, bool], bool] | None:
    """Whether queries and documents are integers, and whether scores are decimals; None for kinds that are neither."""
    ids = [kinds[role] for role in ("query", "doc")]
    numbers = [kind for role, kind in kinds.items() if role not in ("query", "doc")]
    if not numbers or not all(kind.is_integer() or str(kind).partition("(")[0] in TEXTS for kind in ids):
        return None
    if not all(kind.is_numeric() for kind in numbers):
        return None
    return (ids[0].is_integer(), ids[1].is_integer()), any(kind.is_decimal() for kind in numbers)


def ranking_in_table(connection: Any, name: str, of_frame: Callable[[Any, str], Rankings]) -> Rankings:
    """The rankings in a table, or in the result of a query, of SQLite, DuckDB, DataFusion or Spark."""
    kind = type(connection).__module__.lstrip("_").partition(".")[0]
    select = name if QUERY.match(name) else f"select * from {table_in('duckdb', name)}"
    if kind == "sqlite3":
        return _in_sqlite(connection, name)
    if kind == "duckdb":
        return of_frame(connection.sql(select), name)
    if kind == "pyspark":
        return of_frame(connection.sql(name) if QUERY.match(name) else connection.table(name), name)
    if kind == "datafusion":
        return _in_datafusion(connection, name, of_frame)
    raise DataError(
        f"ranking: got a table of {shorten(connection)}, expected a connection of SQLite or DuckDB, or a session of "
        "DataFusion or Spark. Next: write the query with 'rankproof sql', run it there, and give its rows back by "
        "--counted."
    )


def _in_datafusion(session: Any, name: str, of_frame: Callable[[Any, str], Rankings]) -> Rankings:
    import narwhals as nw
    import pyarrow

    run = f"({name})" if QUERY.match(name) else name
    frame = session.sql(f"select * from {table_in('datafusion', run)}")
    whole = cache(lambda: of_frame(frame.to_arrow_table(), name))
    schema = nw.from_native(pyarrow.schema(frame.schema()).empty_table()).schema
    took = guess(schema.names(), RANKING, name)
    notes = (guess_sentence(took, name), *said_of_order(took, name))
    kinds = _kinds({role: schema[column] for role, column in took.items()})
    if kinds is None:
        return whole()
    return CountedRankings(DataFusion(session, run), took, *kinds, whole, name, notes)


def _in_sqlite(connection: sqlite3.Connection, name: str) -> Rankings:
    """A table of SQLite, whose columns say nothing of what is in them: the values are looked at."""
    rows = table_in("sqlite", name)
    columns = [each[0] for each in connection.execute(f"select * from {rows} limit 0").description]
    took = guess(columns, RANKING, name)
    notes = (guess_sentence(took, name), *said_of_order(took, name))
    names = {role: quote_name("sqlite", column) for role, column in took.items()}

    @cache
    def whole() -> Rankings:
        cursor = connection.cursor()
        cursor.row_factory = None
        found = cursor.execute(f"select {', '.join(names.values())} from {rows}").fetchall()
        columns = zip(*found, strict=True) if found else ([] for _ in names)
        return ranking_of(Rows(dict(zip(names, map(list, columns), strict=True)), name, notes=notes))

    ends = ", ".join(f"min(typeof({each})), max(typeof({each}))" for each in names.values())
    values = list(connection.cursor().execute(f"select {ends} from {rows}").fetchone())
    kinds = {role: {*values[2 * at : 2 * at + 2]} for at, role in enumerate(names)}
    alike = all(kinds[role] in ({"text"}, {"integer"}) for role in ("query", "doc"))
    if not alike or not {"score", "rank"} & set(took) or not all(
        kinds[role] <= {"integer", "real"} for role in kinds if role not in ("query", "doc")
    ):  # fmt: skip
        return whole()
    integers = (kinds["query"] == {"integer"}, kinds["doc"] == {"integer"})
    return CountedRankings(SQLite(connection, name), took, integers, False, whole, name, notes)
