"""The engines in which rankings can stay, and how each of them runs the counting query."""

from __future__ import annotations

import importlib.util
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from rankproof.core.conventions import Conventions
from rankproof.core.table import Rankings
from rankproof.errors import DataError, shorten
from rankproof.io.column_roles import RANKING, guess
from rankproof.io.counted import COUNTS, OF_QUERIES, CountedRankings, Judged, Table, check_ids
from rankproof.io.counted.text import DIALECTS, OWN, QUERY, Counted, counting_text, key, quote_name, table_in
from rankproof.io.rows import Rows, column_notes, ranking_of
from rankproof.io.values import first_library

if TYPE_CHECKING:
    import sqlite3

RUN, JUDGED = f"{OWN}given_run", f"{OWN}given_judged"
"""The names of the two tables inside an engine while it counts."""


class SqlEngine(ABC):
    """The base of engines with SQL; each has its own `bring`."""

    dialect = ""
    run, judged = RUN, JUDGED

    def __init__(self, data: Any, run: str = "") -> None:
        self.data, self.run = data, run or self.run

    @abstractmethod
    def bring(self, text: str, judged: Judged | None = None) -> Table:
        """The columns that a query over the run, and perhaps over judged documents, gives."""

    def count(self, what: Counted, judged: Judged, conventions: Conventions) -> Table:
        """The columns of the counting query."""
        what = replace(what, run=self.run, judgments=self.judged)
        return self.bring(counting_text(self.dialect, what, conventions), judged)

    def size(self, took: Mapping[str, str], source: str) -> tuple[int, int]:
        """How many rows and how many queries there are; a row without an id is an error."""
        text = DIALECTS[self.dialect].text.format
        query, doc = (text(quote_name(self.dialect, took[role])) for role in ("query", "doc"))
        found = self.bring(
            f"select count(*) as n, count(nullif({query}, '')) as q, count(nullif({doc}, '')) as d, "
            f"count(distinct {key(self.dialect, took['query'])}) as m from {table_in(self.dialect, self.run)}"
        )
        check_ids(int(found["n"][0]), {"query": int(found["q"][0]), "document": int(found["d"][0])}, source)
        return int(found["n"][0]), int(found["m"][0])

    def some_queries(self, query: str, most: int) -> Sequence[Any]:
        """The ids of some queries, each once."""
        name, rows = quote_name(self.dialect, query), table_in(self.dialect, self.run)
        return list(self.bring(f"select distinct {name} as q from {rows} limit {most}")["q"])

    def head(self, query: str, doc: str, rows: int) -> Table:
        """The first rows of two columns."""
        names = ", ".join(quote_name(self.dialect, name) for name in (query, doc))
        return self.bring(f"select {names} from {table_in(self.dialect, self.run)} limit {rows}")


class DuckDB(SqlEngine):
    """A relation; its query runs on the connection it came from, and leaves nothing there."""

    dialect = "duckdb"

    def bring(self, text: str, judged: Judged | None = None) -> Table:
        """The columns that a query gives."""
        import pyarrow

        rankproof_counting_given_judged = None if judged is None else pyarrow.table(judged)  # found by its name
        relation = self.data.query(RUN, text)
        del rankproof_counting_given_judged
        found = relation.to_arrow_table() if hasattr(relation, "to_arrow_table") else relation.fetch_arrow_table()
        return columns_of(found)


class DataFusion(SqlEngine):
    """A table of a session."""

    dialect = "datafusion"

    def bring(self, text: str, judged: Judged | None = None) -> Table:
        """The columns that a query gives."""
        import pyarrow

        if judged is not None:
            self.data.from_arrow(pyarrow.table(judged), JUDGED)
        try:
            return columns_of(self.data.sql(text).to_arrow_table())
        finally:
            if judged is not None:
                self.data.deregister_table(JUDGED)


class Spark(SqlEngine):
    """A data frame, of Spark itself or behind Spark Connect."""

    dialect = "spark"
    run, judged = f"{{{RUN}}}", f"{{{JUDGED}}}"
    most = 5_000_000
    """Up to so many judged documents every worker gets all of them: 34 bytes each."""

    def bring(self, text: str, judged: Judged | None = None) -> Table:
        """The columns that a query gives."""
        import pyarrow
        from pyspark.sql.functions import broadcast

        spark, given = self.data.sparkSession, {RUN: self.data}
        if judged is not None:
            table = spark.createDataFrame(pyarrow.table(judged))
            given[JUDGED] = broadcast(table) if len(judged["query"]) <= self.most else table
        text = text.replace("{", "{{").replace("}", "}}")  # names of columns may have braces
        for name in given:
            text = text.replace(f"{{{{{name}}}}}", f"{{{name}}}")
        return columns_of(spark.sql(text, **given).toArrow())


class SQLite(SqlEngine):
    """A table of a connection; judged documents are handed in as one parameter, so nothing is written."""

    dialect = "sqlite"
    judged = (
        "(select json_extract(value, '$[0]') as query_id, json_extract(value, '$[1]') as doc_id, "
        "json_extract(value, '$[2]') as query, json_extract(value, '$[3]') as judgment, "
        "json_extract(value, '$[4]') as probe from json_each(?))"
    )

    def bring(self, text: str, judged: Judged | None = None) -> Table:
        """The columns that a query gives."""
        given = () if judged is None else (json.dumps(list(zip(*judged.values(), strict=True))),)
        cursor = self.data.cursor()
        cursor.row_factory = None
        rows = cursor.execute(text, given).fetchall()
        names = [each[0] for each in cursor.description]
        return dict(zip(names, zip(*rows, strict=True) if rows else ([] for _ in names), strict=False))


def columns_of(table: Any) -> Table:
    """The columns of an Arrow table: counts as numbers, NaN if there is none, all else as it is."""
    import pyarrow
    import pyarrow.compute

    found: dict[str, Any] = {}
    for name in table.column_names:
        column = table.column(name)
        if name in (*COUNTS, *OF_QUERIES, "query", "judgment"):
            floats = pyarrow.compute.fill_null(column.cast(pyarrow.float64()), float("nan"))
            found[name] = floats.to_numpy()
        else:
            found[name] = column.to_pylist()
    return found


class Polars:
    """A lazy frame, collected by its own streaming engine: some rows at a time are in memory."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def size(self, took: Mapping[str, str], source: str) -> tuple[int, int]:
        """How many rows and how many queries there are; a row without an id is an error."""
        import polars as pl

        query = pl.col(took["query"])
        q, d = ((pl.col(took[role]).cast(pl.String) != "").sum() for role in ("query", "doc"))
        found = self.frame.select(n=pl.len(), q=q, d=d, m=query.drop_nulls().n_unique()).collect(engine="streaming")
        rows, queries, docs, distinct = (int(each) for each in found.row(0))
        check_ids(rows, {"query": queries, "document": docs}, source)
        return rows, distinct

    def some_queries(self, query: str, most: int) -> Sequence[Any]:
        """The ids of some queries, each once."""
        return list(self.frame.select(query).unique().head(most).collect(engine="streaming").get_column(query))

    def head(self, query: str, doc: str, rows: int) -> Table:
        """The first rows of two columns."""
        return dict(self.frame.select(query, doc).head(rows).collect(engine="streaming").to_dict())

    def count(self, what: Counted, judged: Judged, conventions: Conventions) -> Table:
        """The same counts as those of the SQL, by Polars' own verbs."""
        import polars as pl

        by_rank = conventions.ties == "rank" or "score" not in what.columns
        order = pl.col(what.columns["rank" if by_rank else "score"]).cast(pl.Float64)
        order = -order if by_rank else order
        if conventions.precision == "float32" and not by_rank:
            order = order.cast(pl.Float32).cast(pl.Float64)
        ids = {name: pl.col(what.columns[role]).cast(pl.String) for name, role in (("q", "query"), ("d", "doc"))}
        rows = self.frame.select(**ids, s=order)
        rows = rows.with_columns(bad=pl.col("s").is_null() | pl.col("s").is_nan(), copies=pl.lit(1, pl.UInt32))
        if conventions.duplicates == "best":
            rows = rows.group_by("q", "d").agg(pl.col("s").max(), pl.col("bad").any(), copies=pl.len())
        table = pl.LazyFrame(judged).rename({"query_id": "q", "doc_id": "d"})
        hits = (
            rows.join(table, on=["q", "d"])
            .group_by("judgment")
            .agg(pl.col("q", "d", "query").first(), s_hit=pl.col("s").max(), lowest=pl.col("s").min(), times=pl.len())
            .rename({"d": "d_hit"})
        )
        above, level = pl.col("s") > pl.col("s_hit"), pl.col("s") == pl.col("s_hit")
        first = pl.col("d") < pl.col("d_hit") if conventions.ties == "id" else pl.col("d") > pl.col("d_hit")
        found = (
            rows.join(hits, on="q")
            .group_by("judgment")
            .agg(
                pl.col("query", "times", "lowest", "s_hit").first(),
                place=1 + (above | (level & first)).sum(),
                first_place=1 + above.sum(),
                last_place=(above | level).sum(),
            )
            .with_columns(low=(pl.col("s_hit") <= 0).cast(pl.Int64))
            .rename({"s_hit": "highest"})
        )
        wanted = table.group_by("q").agg(pl.col("query", "probe").first())
        in_all = what.distinct == "all"
        docs = pl.col("d").n_unique() if in_all else pl.col("d").filter(pl.col("probe") == 1).n_unique()
        queries = (
            rows.join(wanted, on="q")
            .group_by("query")
            .agg(
                pl.col("probe").max(),
                retrieved=pl.len(),
                unlike=docs,
                dropped=pl.col("copies").sum() - pl.len(),
                bad=(pl.col("bad") | pl.col("d").is_null()).sum(),
            )
            .with_columns(unlike=pl.when((pl.col("probe") == 1) | in_all).then(pl.col("unlike")))
            .drop("probe")
        )
        both = pl.concat([found, queries], how="diagonal_relaxed").collect(engine="streaming")
        return {name: each.cast(pl.Float64).fill_null(float("nan")).to_numpy() for name, each in both.to_dict().items()}


TEXTS = ("String", "Categorical", "Enum")
COUNTS_IN: dict[str, Callable[[Any], Any]] = {"duckdb": DuckDB, "polars": Polars, "pyspark": Spark}
"""The engines by the library of a lazy frame."""


def counted_frame(
    table: Any, took: Mapping[str, str], slow: Callable[[], Rankings], source: str, notes: tuple[str, ...]
) -> CountedRankings | None:
    """The rankings in a lazy narwhals frame, where its engine can count in it; else None: it is collected."""
    import narwhals as nw

    native = nw.to_native(table)
    library = first_library(native, COUNTS_IN)
    if not library or importlib.util.find_spec("pyarrow") is None:
        return None
    schema = table.collect_schema()
    kinds = _kinds({role: schema[name] for role, name in took.items()})
    return None if kinds is None else CountedRankings(COUNTS_IN[library](native), took, *kinds, slow, source, notes)


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
    kind = first_library(connection, ("sqlite3", "duckdb", "pyspark", "datafusion"))
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
        "DataFusion or Spark. Next: write the query with 'rankproof sql', run it there, and score its rows by "
        "'rankproof evaluate JUDGMENTS --counted FILE'."
    )


def _in_datafusion(session: Any, name: str, of_frame: Callable[[Any, str], Rankings]) -> Rankings:
    import narwhals as nw
    import pyarrow

    run = f"({name})" if QUERY.match(name) else name
    frame = session.sql(f"select * from {table_in('datafusion', run)}")
    whole = cache(lambda: of_frame(frame.to_arrow_table(), name))
    schema = nw.from_native(pyarrow.schema(frame.schema()).empty_table()).schema
    took = guess(schema.names(), RANKING, name)
    notes = column_notes(took, name)
    kinds = _kinds({role: schema[column] for role, column in took.items()})
    if kinds is None:
        return whole()
    return CountedRankings(DataFusion(session, run), took, *kinds, whole, name, notes)


def _in_sqlite(connection: sqlite3.Connection, name: str) -> Rankings:
    """A table of SQLite, whose columns say nothing of what is in them: the values are looked at."""
    rows, cursor = table_in("sqlite", name), connection.cursor()
    cursor.row_factory = None
    columns = [each[0] for each in cursor.execute(f"select * from {rows} limit 0").description]
    took = guess(columns, RANKING, name)
    notes = column_notes(took, name)
    names = {role: quote_name("sqlite", column) for role, column in took.items()}

    @cache
    def whole() -> Rankings:
        found = cursor.execute(f"select {', '.join(names.values())} from {rows}").fetchall()
        columns = zip(*found, strict=True) if found else ([] for _ in names)
        return ranking_of(Rows(dict(zip(names, map(list, columns), strict=True)), name, notes=notes))

    ends = ", ".join(f"min(typeof({each})), max(typeof({each}))" for each in names.values())
    values = cursor.execute(f"select {ends} from {rows}").fetchone()
    kinds = {role: {*values[2 * at : 2 * at + 2]} for at, role in enumerate(names)}
    ids, numbers = (kinds.pop("query"), kinds.pop("doc")), kinds.values()
    plain = [each in ({"text"}, {"integer"}) for each in ids] + [each <= {"integer", "real"} for each in numbers]
    # Bytes of UTF-16 are in another order than those of UTF-8.
    if not numbers or not all(plain) or cursor.execute("pragma encoding").fetchone() != ("UTF-8",):
        return whole()
    integers = (ids[0] == {"integer"}, ids[1] == {"integer"})
    return CountedRankings(SQLite(connection, name), took, integers, False, whole, name, notes)
