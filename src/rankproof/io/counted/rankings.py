"""Counted rankings: those that stay where they are (DuckDB relations, lazy Polars frames, tables of SQLite and
DataFusion, Spark), and counted rows that were read back, which an engine gave for the query of `rankproof sql`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from rankproof.core.conventions import Conventions
from rankproof.core.join import Census, Ordered
from rankproof.core.judgments import Judgments
from rankproof.core.table import Rankings, RankingTable
from rankproof.errors import DataError, UsageError, shorten
from rankproof.io.counted.counts import COUNTS, OF_QUERIES, by_ids, numbers_of, ordered_of
from rankproof.io.counted.text import PROBED, Counted, check_counted
from rankproof.io.roles import COUNTED
from rankproof.io.values import align_ids, match_ids

ALL = 20_000_000
"""Up to so many rows every document is looked at for repetitions: .2 microseconds a row, and their ids in memory."""
Table: TypeAlias = Mapping[str, Any]
"""Columns by name."""
Judged: TypeAlias = dict[str, list[Any]]
"""The columns `query_id`, `doc_id`, `query`, `judgment` and `probe`, a row for each judged document."""


class Engine(Protocol):
    """An engine: it counts, and returns a few rows as examples."""

    def size(self, took: Mapping[str, str], source: str) -> tuple[int, int]:
        """How many rows and how many queries there are."""

    def count(self, what: Counted, judged: Judged, conventions: Conventions) -> Table:
        """The columns of the counting query."""

    def some_queries(self, query: str, most: int) -> Sequence[Any]:
        """The ids of some queries, each once."""

    def head(self, query: str, doc: str, rows: int) -> Table:
        """The first rows of two columns."""


@dataclass(frozen=True, eq=False)
class CountedRankings:
    """Rankings whose rows stay in their engine; only counts of judged documents leave it."""

    engine: Engine
    took: Mapping[str, str]
    """The column of each role."""
    integer_ids: tuple[bool, bool]
    """Whether the ids of queries, and of documents, are integers."""
    decimal: bool
    """Whether scores are decimal numbers."""
    slow: Callable[[], Rankings]
    """Collects the rows into memory: for what needs each of them."""
    source: str = "ranking"
    notes: tuple[str, ...] = ()

    def table(self) -> RankingTable:
        """Every row, collected into memory."""
        return self.slow().table()

    def part(self, rows: int) -> RankingTable:
        """The first rows that the engine gives."""
        query, doc = (self.took[role] for role in ("query", "doc"))
        found = self.engine.head(query, doc, rows)
        queries, docs = ([str(each) for each in found[name]] for name in (query, doc))
        return RankingTable(queries, docs, source=self.source)

    def blocks(self, judgments: Judgments, conventions: Conventions, census: Census) -> Iterator[Ordered]:
        """The rankings of judged queries, all at once."""
        check_counted(conventions, self.source, self.took)
        judgments = match_ids(judgments, self.integer_ids, self.source)
        census.notes.extend(self.notes)
        rows, queries = self.engine.size(self.took, self.source)
        distinct = "all" if rows <= ALL else "sample"
        what = Counted(columns=self.took, numbered=True, decimal=self.decimal, distinct=distinct)
        counted = self.engine.count(what, judged_table(judgments), conventions)
        found, of_queries = numbers_of(counted)
        extra = queries - len(of_queries["query"])
        census.extra += extra
        if extra > 0:
            names = map(str, self.engine.some_queries(self.took["query"], 5 + len(judgments.query_ids)))
            census.extra_examples += [each for each in names if each not in judgments.index][:5]
        yield ordered_of(found, of_queries, judgments, conventions, census, self.source)


def judged_table(judgments: Judgments) -> Judged:
    """Judged documents with their numbers, and which queries are in the sample."""
    count = len(judgments.query_ids)
    names = np.array(list(judgments.query_ids), dtype=object)
    probe = np.zeros(count, dtype=np.int64)
    probe[np.random.default_rng(0).choice(count, min(PROBED, count), replace=False)] = 1
    return {
        "query_id": names[judgments.query].tolist(),
        "doc_id": list(judgments.doc_ids),
        "query": judgments.query.tolist(),
        "judgment": list(range(len(judgments.doc_ids))),
        "probe": probe[judgments.query].tolist(),
    }


def check_ids(rows: int, known: Mapping[str, int], source: str) -> None:
    """Refuse rows without an id, and a ranking without a row."""
    if not rows:
        raise DataError(f"{source}: there are no rows in it. Next: check which table this is.")
    for what, count in known.items():
        if count < rows:
            raise DataError(
                f"{source}: {rows - count:,} of {rows:,} rows have no {what} id. Next: drop them, or give them one."
            )


@dataclass(frozen=True, eq=False)
class CountedRows:
    """The counts of judged documents, and of queries, as an engine gave them."""

    columns: Mapping[str, Sequence[Any]]
    source: str = "counted rows"

    def table(self) -> RankingTable:
        """The judged documents that were found, with their ranks: all that is known."""
        rows = [row for row, doc in enumerate(self.columns["doc_id"]) if doc is not None]
        query, doc = ([_text(self.columns[name][row]) for row in rows] for name in ("query_id", "doc_id"))
        rank = np.array([float(self.columns["place"][row]) for row in rows], dtype=np.float64)
        return RankingTable(query, doc, rank=rank, source=self.source)

    def part(self, rows: int) -> RankingTable:
        """The first of them."""
        found = self.table()
        return RankingTable(found.query[:rows], found.doc[:rows], source=self.source)

    def table_near(self, query: str) -> RankingTable:
        """The data that `explain` needs: every document of a query, which is not here."""
        raise UsageError(
            f"{self.source}: counted rows hold judged documents alone, and query {shorten(query)} is to be "
            "shown whole. Next: give the ranking itself, or its rows of this query."
        )

    def blocks(self, judgments: Judgments, conventions: Conventions, census: Census) -> Iterator[Ordered]:
        """The rankings of judged queries, all at once."""
        check_counted(conventions, self.source)

        def ids() -> RankingTable:
            columns = (self.columns[name] for name in ("query_id", "doc_id"))
            query, doc = ([_text(each) for each in column if each is not None] for column in columns)
            return RankingTable(query, doc)

        judgments = align_ids(judgments, (False, False), ids)  # ids come back as text, whatever they were
        found, queries = by_ids(self.columns, judgments, conventions, self.source)
        census.notes.append(f"{self.source}: counted elsewhere, so only judged documents are seen here")
        yield ordered_of(found, queries, judgments, conventions, census, self.source)


def counted_rows(
    columns: Mapping[str, Sequence[Any]], source: str, lengths: Mapping[str, Sequence[Any]] | None = None
) -> CountedRows:
    """The rows with these columns; the lengths of rankings may stand in a table of their own."""
    found = {str(name).lower(): list(each) for name, each in columns.items()}
    if lengths is not None and not any(found.values()):
        found = {name: [] for name in COUNTED}  # a header alone: no judged document was found
    elif not any(found.values()):
        raise DataError(
            f"{source}: no counted rows, so no judged query stands in the ranking, or the query has not run. "
            "Next: check which tables were counted."
        )
    missing = sorted((COUNTED if lengths is not None else {*COUNTED, "retrieved"}) - found.keys())
    if missing:
        raise DataError(
            f"{source}: counted rows without the column {missing[0]!r}. "
            "Next: give all columns of the query that 'rankproof sql' writes, or --lengths."
        )
    if lengths is not None:
        more = {str(name).lower(): list(each) for name, each in lengths.items()}
        if "length" in more and "retrieved" not in more:
            more["retrieved"] = more.pop("length")
        if "query_id" not in more or "retrieved" not in more:
            raise DataError(
                f"{source}: the lengths have the columns {', '.join(more)}, expected query_id and retrieved. "
                "Next: give a row for each query with how many documents its ranking holds."
            )
        one, other = len(found["query_id"]), len(more["query_id"])
        found = {name: [*found.get(name, [None] * one), *more.get(name, [None] * other)] for name in {**found, **more}}
    defaults = {"times": 1, "low": 0, "dropped": 0, "bad": 0, "huge": 0, "infinite": 0}
    for name in ("query_id", "doc_id"):
        found[name] = [None if each is None or each != each or each == "" else _text(each) for each in found[name]]
    for name in (*COUNTS, *OF_QUERIES):
        given = found.get(name) or [defaults.get(name)] * len(found["query_id"])
        found[name] = [None if each is None or each == "" else float(each) for each in given]
    rows = list(zip(found["query_id"], found["doc_id"], strict=True))
    known = {query for query, doc in rows if doc is None}
    for query, doc in rows:
        if doc is not None and query not in known:
            raise DataError(
                f"{source}: document {shorten(doc)} was found for query {shorten(query)}, but no row says how long its "
                "ranking is. Next: give all rows of the query that 'rankproof sql' writes, or --lengths."
            )
    return CountedRows(found, source)


def _text(value: Any) -> str:
    """An id as text; engines hand over bytes, or floats where a column has gaps."""
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
