"""Rankings that stay where they are: DuckDB relations, lazy Polars frames, tables of SQLite and DataFusion, Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from rankproof.core.join import Census, Ordered, Rankings
from rankproof.core.judgments import Judgments
from rankproof.core.rules import Conventions
from rankproof.core.table import RankingTable
from rankproof.errors import DataError
from rankproof.io.counted.counts import numbers_of, ordered_of
from rankproof.io.counted.text import PROBED, Counted, check_counted
from rankproof.io.values import align_ids, check_same_kind, judged_kinds

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
        check_counted(conventions, self.source)
        judgments = align_ids(judgments, self.integer_ids)
        for ours, theirs, side in zip(self.integer_ids, judged_kinds(judgments), ("queries", "documents"), strict=True):
            check_same_kind(ours, theirs, f"{self.source}, {side}")
        census.notes.extend(self.notes)
        rows, queries = self.engine.size(self.took, self.source)
        distinct = "all" if rows <= ALL else "sample"
        what = Counted(columns=self.took, numbered=True, decimal=self.decimal, distinct=distinct)
        counted = self.engine.count(what, judged_table(judgments), conventions)
        found, of_queries = numbers_of(counted)
        self._note_extra(queries - len(of_queries["query"]), judgments, census)
        yield ordered_of(found, of_queries, judgments, conventions, census, self.source)

    def _note_extra(self, extra: int, judgments: Judgments, census: Census) -> None:
        census.extra += extra
        if extra > 0:
            names = map(str, self.engine.some_queries(self.took["query"], 5 + len(judgments.query_ids)))
            census.extra_examples += [each for each in names if each not in judgments.index][:5]


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
