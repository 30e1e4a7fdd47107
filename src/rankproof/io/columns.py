"""Large tables: the bytes of columns, as Arrow stores them, are processed like the lines of a TREC run.

They come in batches, from a frame in memory or a streamed Parquet file. This fast path handles plain
columns only; a batch with anything unusual (nulls, NaN, another kind of id) goes to the slow path, which reads rows
one by one and can say what is wrong where.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankproof.core.conventions import Conventions, keep_one
from rankproof.core.hits import Array
from rankproof.core.join import SAMPLE, Block, Census, Ordered, note_ranks
from rankproof.core.judgments import Judgments
from rankproof.core.table import PLACES, Rankings, RankingTable, part_of
from rankproof.errors import DataError
from rankproof.io.arrow_columns import (
    PLACE,
    OddTable,
    Stretch,
    TextColumn,
    as_arrow,
    as_numpy,
    by_query,
    by_role,
    lines_of,
    one_piece,
    order_of,
    plain_rows,
    texts_of,
)
from rankproof.io.rows import FILE, Rows, ranking_of
from rankproof.io.trec.chunks import BadLine, keep_freed_memory
from rankproof.io.trec.collect import PieceSource, collect_rankings, scan_rows
from rankproof.io.trec.lines import Lines, Repeated
from rankproof.io.trec.scan import Scan, Scanned, scan_lines
from rankproof.io.values import align_ids, judged_kinds

ROWS = 1 << 17
"""About how many rows are processed at once: of fewer, threads spend more time taking turns."""


@dataclass(frozen=True, eq=False)
class ColumnRankings:
    """Rankings in pyarrow tables with columns for the query, the document, and perhaps score and rank."""

    batches: Callable[[], Iterator[Any]]
    """Begins to read the tables, which hold the rows one after the other; the same ones each time."""
    took: Mapping[str, str]
    """The column of each role."""
    slow: Callable[[], Rankings]
    """Makes the same rankings in memory, row by row."""
    source: str = "ranking"
    notes: tuple[str, ...] = ()
    """The guessed column of each role, for the audit."""

    def table(self) -> RankingTable:
        """Every row, as it was read."""
        if not any(batch.num_rows for batch in self.batches()):
            return RankingTable([], [], source=self.source)
        return self.slow().table()

    def part(self, rows: int) -> RankingTable:
        """The rows from a few places of the first tables."""
        query: list[str] = []
        doc: list[str] = []
        for batch in self.batches():
            try:
                table = plain_rows(by_role(batch, self.took), 0).table
            except OddTable:
                return part_of(self.table(), rows)
            length, step = max(1, rows // PLACES), max(1, table.num_rows // PLACES)
            for start in range(0, table.num_rows, step):
                some = table.slice(start, length)
                query += map(str, some.column("query").to_pylist())
                doc += map(str, some.column("doc").to_pylist())
            if len(query) >= rows:
                break
        return RankingTable(query, doc, source=self.source)

    def blocks(self, judgments: Judgments, conventions: Conventions, census: Census) -> Iterator[Block | Ordered]:
        """The rankings of judged queries, each query once."""
        yield from collect_rankings([self], judgments, conventions, census)

    def pieces(self, scan: Scan | None, census: Census | None) -> Iterator[Stretch]:
        """Stretches of rows that end where the query changes."""
        keep_freed_memory()
        rest: Stretch | None = None
        first = 0
        for batch in self.batches():
            table = by_role(batch, self.took)
            if census is not None and scan is not None and not first:
                census.notes.extend(self.notes)
                _note_ranks(table, scan.conventions.ties, census)
            try:
                whole = plain_rows(table, first)
            except OddTable:
                yield from () if rest is None else _cut_up(rest)
                rest, first = None, first + table.num_rows
                yield Stretch(table, first - table.num_rows, None)
                continue
            first += table.num_rows
            if rest is not None and rest.kinds != whole.kinds:
                yield from _cut_up(rest)
                rest = None
            if rest is not None and rest.table.num_rows:
                whole = Stretch(one_piece([rest.table, whole.table]), rest.first, rest.kinds)
            rows = whole.table.num_rows
            last = _begin_of_query(texts_of(whole.table.column("query")), -1, rows - 1) if rows else 0
            yield from _cut_up(whole.rows(0, last))
            rest = whole.rows(last, rows)
        if rest is not None:
            yield from _cut_up(rest)
        if census is not None and not first:
            census.notes.extend(self.notes)

    def scan_piece(self, piece: Stretch, scan: Scan) -> Scanned:
        """The content of a piece."""
        try:
            if piece.kinds is None:
                raise OddTable
            # Whether ids are integers, or text, on both sides; all else is left to the slow way. Looked up once for
            # all pieces: it may have to look at every judgment.
            if piece.kinds not in scan.fits:
                judged = judged_kinds(align_ids(scan.judgments, piece.kinds))
                scan.fits[piece.kinds] = all(kind in (None, own) for kind, own in zip(judged, piece.kinds, strict=True))
            if not scan.fits[piece.kinds]:
                raise OddTable
            lines, order = lines_of(piece.table), order_of(piece.table, scan.conventions.ties)
        except OddTable:
            return self._row_by_row(piece, scan)
        return scan_lines(lines, order, scan)

    def _row_by_row(self, piece: Stretch, scan: Scan) -> Scanned:
        """The same in the slow way, which can describe errors."""
        names = [name for name in piece.table.column_names if name not in (PLACE, "parent")]
        try:
            columns = {name: piece.table.column(name).to_pylist() for name in names}
        except UnicodeDecodeError as error:  # Arrow takes bytes for text on trust
            found = f"the bytes {error.object!r} are not valid UTF-8"
            raise DataError(f"{self.source}: {found}. Next: write the table again.") from error
        for name, integer in zip(("query", "doc"), piece.kinds or (), strict=False):
            columns[name] = list(map(int, columns[name])) if integer else columns[name]
        rows = Rows(columns, self.source, piece.numbers.tolist(), unit="row")
        return scan_rows(ranking_of(rows), scan)

    def lines(self, piece: Stretch) -> tuple[Lines, Array]:
        """The rows of a stretch as lines of bytes, and what they are ordered by."""
        try:
            if piece.kinds is None:
                raise OddTable
            return lines_of(piece.table), order_of(piece.table, "trec")
        except OddTable:
            raise DataError(
                f"{self.source}, row {int(piece.numbers[0])} and those after it: no plain ids and scores. Next: see "
                "what 'rankproof evaluate' says of them."
            ) from None

    def divide(self, piece: Stretch, scan: Scan, apart: Array, file: int) -> tuple[Any, Any]:
        """The rows of a stretch that are of other queries than those apart, and those that are of them."""
        known = scan.judgments.index
        inside = np.zeros(piece.table.num_rows, dtype=bool)
        for row, query in enumerate(map(str, piece.table.column("query").to_pylist())):
            at = known.get(query)
            inside[row] = at is not None and apart[at]
        if not inside.any():
            return piece, None
        whole = piece.table.append_column(PLACE, as_arrow(piece.numbers + (file << FILE)))
        taken = Stretch(whole.take(as_arrow(np.flatnonzero(inside))), 0, piece.kinds)
        if inside.all():
            return None, taken
        outside = piece.table.append_column(PLACE, as_arrow(piece.numbers))
        return Stretch(outside.take(as_arrow(np.flatnonzero(~inside))), 0, piece.kinds), taken

    def gather_queries(self, taken: list[Stretch]) -> Iterator[Stretch]:
        """Divided rows, query after query."""
        for kinds in dict.fromkeys(each.kinds for each in taken):
            together = by_query(one_piece([each.table for each in taken if each.kinds == kinds]))
            yield from _cut_up(Stretch(together, 0, kinds)) if kinds else [Stretch(together, 0, None)]

    def error(self, bad: BadLine, piece: Stretch, number: int, sources: Sequence[PieceSource]) -> DataError:
        """The error for a document that comes twice."""
        if not isinstance(bad, Repeated):
            return DataError(f"{self.source}: {bad.found}. Next: write the table again.")
        places = [int(piece.numbers[at]) for at in (bad.first, bad.line)]
        rows = [place & ((1 << FILE) - 1) for place in places]
        names = [sources[place >> FILE].source if number < 0 else self.source for place in places]
        where, at = self.source, f"(rows {rows[0]} and {rows[1]})"
        if names[0] != names[1]:
            where, at = f"{names[0]} and {names[1]}", f"(row {rows[0]}, and row {rows[1]} of the other)"
        found = bad.found.replace(" of query ", " comes twice for query ")
        return DataError(f"{where}: {found} {at}. Next: {keep_one(in_files=names[0] != names[1])}")


def _note_ranks(table: Any, ties: str, census: Census) -> None:
    """Hold the first ranks against their scores."""
    if ties == "rank" or not {"score", "rank"} <= set(table.column_names):
        return
    head = table.slice(0, SAMPLE)
    try:
        group = as_numpy(head.column("query").combine_chunks().dictionary_encode().indices)
        score, rank = (as_numpy(head.column(name)).astype(np.float64) for name in ("score", "rank"))
    except (TypeError, ValueError, NotImplementedError):  # reported by the reader that looks at every row
        return
    note_ranks(group, score, rank, census)


def _cut_up(stretch: Stretch) -> Iterator[Stretch]:
    """The rows in stretches that end where the query changes."""
    count = stretch.table.num_rows
    if not count:
        return
    query, first, size = texts_of(stretch.table.column("query")), 0, ROWS
    while first < count:
        last = min(first + size, count)
        if last < count:  # the last place up to there where the query changes; `first` where it does not
            alike = query.at(first) == query.at(last - 1)
            last = first if alike else _begin_of_query(query, first, last - 1)
        size = ROWS if last > first else 2 * size
        if last > first:
            yield stretch.rows(first, last)
        first = last


def _begin_of_query(query: TextColumn, low: int, high: int) -> int:
    """Where the rows of the query at `high` begin, found by halving; at `low` there is another one."""
    last = query.at(high)
    return bisect_left(range(high), True, lo=low + 1, key=lambda row: query.at(row) == last)
