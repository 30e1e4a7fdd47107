"""A ranking in many files: a folder, a pattern, or a list of paths, read one after the other in constant memory."""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from rankproof.core.conventions import Conventions
from rankproof.core.hits import Array
from rankproof.core.join import Block, Census, Ordered
from rankproof.core.judgments import Judgments
from rankproof.core.table import Rankings, RankingTable, part_of
from rankproof.errors import DataError, UsageError
from rankproof.io.columns import ColumnRankings
from rankproof.io.files import check_no_url, check_path, is_pattern, read_head
from rankproof.io.formats import PARQUET, TREC_JUDGMENTS, TREC_RANKING, sniff
from rankproof.io.frames import stream_parquet
from rankproof.io.inputs import PathLike
from rankproof.io.rows import FILE, RowRankings
from rankproof.io.trec import TrecRankings
from rankproof.io.trec.chunks import BadLine
from rankproof.io.trec.collect import PieceSource, collect_rankings, scan_rows
from rankproof.io.trec.scan import Scan, Scanned
from rankproof.progress import Progress

HIDDEN = (".", "_")
"""How the names of files begin that Spark and others put beside the data."""


def files_at(path: PathLike) -> list[Path]:
    """The files that a folder holds, at any depth, or that a pattern stands for, sorted by name.

    What begins with a dot or an underscore, as `_SUCCESS` does, is no data.
    """
    where = Path(path)
    if where.is_dir():
        found, folders, walked = [], [where], set()
        while folders:
            folder = folders.pop()
            if (real := os.path.realpath(folder)) in walked:
                continue  # a link to a folder above, or to one that was read
            walked.add(real)
            for each in folder.iterdir():
                if each.is_dir() and not each.name.startswith(HIDDEN):
                    folders.append(each)
                # A link that leads nowhere is kept: opening it says so.
                elif (each.is_file() or not each.exists()) and not each.name.startswith(HIDDEN):
                    found.append(each)
    elif is_pattern(path):
        named = map(Path, glob.glob(os.fspath(path), recursive=True))
        found = [file for each in named for file in (files_at(each) if each.is_dir() else [each])]
        literal = set(Path(path).parts)
        found = [each for each in found if not any(p.startswith(HIDDEN) for p in {*each.parts} - literal)]
    else:
        return [check_path(path)]
    if not found:
        check_no_url(path)
        what = "no file matches" if is_pattern(path) else "no file in the folder"
        raise UsageError(f"{path}: {what}. Next: check the folder{', and the pattern' * is_pattern(path)}.")
    return sorted(set(found))


Load = Callable[[Path], Rankings]
"""Reads the ranking in a file of text."""


def parts_at(paths: PathLike | Sequence[PathLike], load: Load) -> PartRankings:
    """The ranking in a folder, in the files that a pattern stands for, or in several of these."""
    listed = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    files = [file for each in listed for file in files_at(each)]
    for twice in (each for each, times in Counter(files).items() if times > 1):
        raise UsageError(f"{twice}: given more than once. Next: name each file once.")
    more = f" and {len(listed) - 1} more" if len(listed) > 1 else ""
    return PartRankings(tuple(files), f"{os.fspath(listed[0])}{more}", load)


@dataclass(frozen=True, eq=False)
class PartRankings:
    """A ranking whose parts are files of one kind; a query may stand in several of them."""

    files: tuple[Path, ...]
    source: str
    load: Load
    damaged: str = "error"
    """The treatment of a file that cannot be read: an "error", or left out ("skip") and named."""
    left_out: list[str] = field(default_factory=list)
    """What is wrong with files that tables were read without; blocks put it into the census."""

    def table(self) -> RankingTable:
        """Every row of every file that can be read."""
        return _one_table(list(self._tables(self.sources(), None)), self.source)

    def part(self, rows: int) -> RankingTable:
        """Rows from a few of the files."""
        some = self.sources()[:: max(1, len(self.files) // FEW)]
        return part_of(_one_table(list(self._tables(some, max(1, rows // len(some)))), self.source), rows)

    def _tables(self, parts: Sequence[_Part], rows: int | None) -> Iterator[RankingTable]:
        for part in parts:
            try:
                opened: Any = part.opened
                table = opened.table() if rows is None else opened.part(rows)
            except DataError as error:
                if self.damaged == "error":
                    raise
                self.left_out.append(str(error).partition(" Next: ")[0])
                continue
            if len(table) or table.empty:
                yield table

    def blocks(self, judgments: Judgments, conventions: Conventions, census: Census) -> Iterator[Block | Ordered]:
        """The rankings of judged queries, each query once."""
        parts = self.sources()
        progress = Progress(f"reading {self.source}", len(parts), noun="files")
        with closing(progress):
            found = collect_rankings(
                parts,
                judgments,
                conventions,
                census,
                keep_going=self.damaged == "skip",
                tell=lambda file: progress.tell(file, 0),
            )
        if not found and not census.extra and not census.left_out:
            raise DataError(f"{self.source}: empty, it has no rows. Next: check how it was made.")
        if len(census.left_out) == len(parts):
            raise DataError(f"{census.left_out[0]}; no other file could be read. Next: check how they were made.")
        yield from found

    def readable(self) -> Iterator[_Part]:
        """The files whose every row can be read, if damaged ones are to be left out; else all."""
        for part in self.sources():
            try:
                if self.damaged == "skip":
                    for _ in part.pieces(None, None):
                        pass
            except DataError as error:
                self.left_out.append(str(error).partition(" Next: ")[0])
                continue
            yield part

    def sources(self) -> list[_Part]:
        """The files, none of them opened."""
        first: list[_Part] = []
        return [_Part(each, self.load, first) for each in self.files]


FEW = 8
"""The number of files that are sampled, if a few rows are enough."""


def _one_table(tables: Sequence[RankingTable], source: str) -> RankingTable:
    def joined(name: str) -> Array | None:
        columns = [getattr(each, name) for each in tables]
        return None if any(each is None for each in columns) else np.concatenate(columns)

    return RankingTable(
        query=[query for each in tables for query in each.query],
        doc=[doc for each in tables for doc in each.doc],
        score=joined("score"),
        rank=joined("rank"),
        source=source,
        empty=tuple(query for each in tables for query in each.empty),
    )


@dataclass(eq=False)
class _Part:
    """A file that is opened when its turn comes, and must be like the first one that could be opened."""

    path: Path
    load: Load
    first: list[_Part]
    """Shared by all parts: the first that was opened."""
    _opened: Any = field(default=None, init=False)

    @property
    def source(self) -> str:
        return str(self.path)

    @property
    def opened(self) -> PieceSource:
        if self._opened is None:
            self._opened = self._open()
            if self._opened is not NOTHING:
                if not self.first:
                    self.first.append(self)
                self._check_like(self.first[0])
        return self._opened

    def _open(self) -> Any:
        try:
            head = read_head(self.path)
        except (OSError, UsageError) as error:
            why = getattr(error, "strerror", "it is gone")
            raise DataError(f"{self.source}: cannot be opened: {why}. Next: check or drop it.") from error
        if not head and self.path.suffix not in (".parquet", ".pq"):
            return NOTHING
        kind = sniff(head, self.source)
        if kind == TREC_JUDGMENTS:
            raise DataError(
                f"{self.source}: this looks like judgments (4 columns), expected a ranking (6 columns). "
                "Next: check which file this is."
            )
        if kind == TREC_RANKING:
            return TrecRankings(self.path, self.source)
        if kind == PARQUET:
            return stream_parquet(self.path, self.source) or LoadedPart(self.path, self.source, self.load)
        return LoadedPart(self.path, self.source, self.load)

    def _check_like(self, first: _Part) -> None:
        mine, other = self._opened, first._opened
        if type(mine) is not type(other):
            raise DataError(
                f"{self.source}: {_KINDS[type(mine)]}, where {other.source} is {_KINDS[type(other)]}; expected "
                "parts of one kind. Next: name those of one kind, like 'runs/*.parquet'."
            )
        if isinstance(mine, ColumnRankings) and (lost := set(other.took) ^ set(mine.took)):
            has, lacks = (self, first) if lost & set(mine.took) else (first, self)
            raise DataError(
                f"{lacks.source}: no column for the {sorted(lost)[0]}, which {has.source} has; expected the same "
                "columns in each part. Next: write the column, or leave the file out."
            )

    def pieces(self, scan: Scan | None, census: Census | None) -> Iterator[Any]:
        """The pieces of the file; what was taken as what is said of the first file alone."""
        opened = self.opened
        if isinstance(opened, TrecRankings) and scan is not None:
            opened.align(scan.judgments)  # refuses ids of another kind
        noted = Census() if census is not None and self.first != [self] else census
        yield from opened.pieces(scan, noted)

    def scan_piece(self, piece: Any, scan: Scan) -> Scanned:
        return self.opened.scan_piece(piece, scan)

    def divide(self, piece: Any, scan: Scan, apart: Array, file: int) -> tuple[Any, Any]:
        return self.opened.divide(piece, scan, apart, file)

    def gather_queries(self, taken: list[Any]) -> Iterator[Any]:
        return self.opened.gather_queries(taken)

    def error(self, bad: BadLine, piece: Any, number: int, sources: Sequence[PieceSource]) -> DataError:
        return self.opened.error(bad, piece, number, sources)


@dataclass(frozen=True, eq=False)
class LoadedPart:
    """A file of JSON, CSV or TSV, which is read as a whole."""

    path: Path
    source: str
    load: Load

    def rows_read(self) -> RowRankings:
        """The rows of the file."""
        found = self.load(self.path)
        return found if isinstance(found, RowRankings) else RowRankings(found.table(), untyped=True)

    def table(self) -> RankingTable:
        """Every row."""
        return self.rows_read().rows

    def part(self, rows: int) -> RankingTable:
        """Some of the rows."""
        return part_of(self.table(), rows)

    def pieces(self, scan: Scan | None, census: Census | None) -> Iterator[RowRankings]:
        """The file as one piece."""
        found = self.rows_read()
        if census is not None:
            census.notes.extend(found.notes)
        yield found

    def scan_piece(self, piece: RowRankings, scan: Scan) -> Scanned:
        """The content of the file."""
        return scan_rows(piece, scan)

    def divide(self, piece: RowRankings, scan: Scan, apart: Array, file: int) -> tuple[Any, Any]:
        """The rows of other queries than those apart, and those of these."""
        known, table = scan.judgments.index, piece.rows
        inside = np.array([(at := known.get(query)) is not None and bool(apart[at]) for query in table.query])
        line = np.arange(1, len(table) + 1) if table.line is None else table.line

        def side(rows: Array, number: Array) -> RowRankings | None:
            taken = replace(table.take(rows.tolist()), line=number[rows])
            return replace(piece, rows=taken, notes=()) if len(rows) else None

        return side(np.flatnonzero(~inside), line), side(np.flatnonzero(inside), line + (file << FILE))

    def gather_queries(self, taken: list[RowRankings]) -> Iterator[RowRankings]:
        """All rows as one piece."""
        line = np.concatenate([each.rows.line for each in taken if each.rows.line is not None])
        whole = replace(_one_table([each.rows for each in taken], self.source), line=line)
        yield replace(taken[0], rows=whole)

    def error(self, bad: BadLine, piece: Any, number: int, sources: Sequence[PieceSource]) -> DataError:
        """The error for a row; rows word theirs themselves."""
        return DataError(f"{self.source}: {bad.found}. Next: correct or drop this row.")


NOTHING = TrecRankings(b"", "an empty file")
_KINDS: dict[type, str] = {
    TrecRankings: "a TREC run",
    ColumnRankings: "Parquet",
    LoadedPart: "a table of text, or JSON",
}
