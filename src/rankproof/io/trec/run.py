"""TREC runs: every line is checked, but only judged documents are ever looked at one by one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from io import SEEK_END, BufferedReader, BytesIO
from itertools import chain, islice
from typing import BinaryIO

import numpy as np

from rankproof.core.arrays import narrow
from rankproof.core.conventions import KEEP_ONE, Conventions
from rankproof.core.hits import Array
from rankproof.core.join import Census, Ordered
from rankproof.core.judgments import Judgments
from rankproof.core.table import PLACES, RankingTable, part_of
from rankproof.errors import DataError
from rankproof.io.files import PathLike, open_file
from rankproof.io.trec.chunks import PAD, SIZE, BadLine, Chunk, chunk_of, chunks, whole_queries
from rankproof.io.trec.collect import FILE, PieceSource, Scan, collect_rankings
from rankproof.io.trec.lines import COLUMNS, DOC, QUERY, Lines, Repeated, comment_note, split, without_comments
from rankproof.io.trec.scan import LongRead, Scanned, note_ranks_of, read_long
from rankproof.io.trec.scan import numbers as numbers_of
from rankproof.io.trec.scan import scan as scan_chunk
from rankproof.io.values import match_ids

Piece = tuple[bytes, Array]
"""Some lines of one query that follow each other, and their numbers."""


def _runs(lines: Lines) -> Iterator[tuple[bytes, bytes, Array]]:
    """The query of each run of lines, the lines, and their numbers."""
    chunk, begin, (starts, _) = lines.chunk, lines.begin[QUERY], lines.runs(QUERY)
    numbers = np.arange(chunk.lines) if chunk.numbers is None else chunk.numbers
    first = 0
    bounds = [*begin[starts].tolist()[1:], chunk.size + PAD]
    low = PAD
    for row, high in zip(starts.tolist(), bounds, strict=True):
        content = bytes(lines.raw[low:high])
        count = content.count(b"\n")
        yield lines.field(row, QUERY), content, numbers[first : first + count]
        low, first = high, first + count


def _rows_of(lines: Lines, queries: Collection[bytes]) -> Array:
    """The rows of some queries."""
    starts, sizes = lines.runs(QUERY)
    return np.flatnonzero(np.repeat([lines.field(row, QUERY) in queries for row in starts.tolist()], sizes))


def _joined(pieces: list[Piece]) -> Chunk:
    return chunk_of(b"".join(content for content, _ in pieces), np.concatenate([numbers for _, numbers in pieces]))


LINE = 50
"""About how many bytes a line of a run has."""


LOOKED_AT = 10_000
"""So many lines say whether all ids are digits, if the judgments have integers."""


@dataclass(frozen=True, eq=False)
class TrecRankings:
    """A run with the columns query, Q0, document, rank, score, name; compressed or not."""

    path_or_bytes: PathLike | bytes
    source: str = "run"
    all_comments: bool = False
    """Whether every line that begins with `#` is a comment, as in trec_eval, be it a row otherwise."""

    def blocks(self, judgments: Judgments, conventions: Conventions, census: Census) -> Iterator[Ordered]:
        """The rankings of judged queries, each query once.

        The whole run is read before the first is handed out, to notice queries whose lines stand apart.
        """
        judgments = self.aligned(judgments)
        found = collect_rankings([self], judgments, conventions, census)
        if census.comments:
            census.notes.append(comment_note(self.source, census.comments))
        yield from found

    def aligned(self, judgments: Judgments) -> Judgments:
        """The judgments with ids that are text, as those of a run are; an error if they cannot be."""
        return match_ids(judgments, (False, False), self.source, lambda: self.part(LOOKED_AT))

    # --- piece by piece ------------------------------------------------------------------------

    def pieces(self, scan: Scan | None, census: Census | None) -> Iterator[Chunk | LongRead]:
        """The chunks of the run; without a census, as they are read again, they know the numbers of their lines."""
        first = 1
        with self._opened() as stream:
            for parts in whole_queries(self._chunks(stream)):
                chunk = next(parts)
                if scan is None or census is None:
                    if chunk.goes_on:
                        chunk = chunk_of(b"".join(each.text.tobytes() for each in chain([chunk], parts)))
                    numbers = np.arange(first, first + chunk.lines)
                    first += len(numbers)
                    yield Chunk(chunk.buffer, chunk.size, numbers)
                    continue
                if first and scan.conventions.ties != "rank":
                    _note_ranks(chunk, census)
                first = 0
                whole = chain([chunk], parts)
                yield read_long(whole, scan.index, scan.conventions.ties) if chunk.goes_on else chunk

    def scanned(self, piece: Chunk | LongRead, scan: Scan) -> Scanned:
        """The content of a chunk."""
        return scan_chunk(piece, scan.index, scan.judgments, scan.conventions)

    def divided(self, piece: Chunk, scan: Scan, apart: Array, file: int) -> tuple[Chunk | None, Chunk | None]:
        """The lines of a chunk that are of other queries than those apart, and those that are of them."""
        sides: tuple[list[Piece], list[Piece]] = ([], [])
        for query, content, numbers in _runs(split(piece, COLUMNS)):
            at = scan.index.queries.get(query.decode(), -1)
            inside = at >= 0 and bool(apart[at])
            sides[inside].append((content, numbers + (file << FILE) if inside else numbers))
        outside, taken = (_joined(each) if each else None for each in sides)
        return outside, taken

    def together(self, taken: list[Chunk]) -> Iterator[Chunk]:
        """Divided chunks, query after query, in chunks of about SIZE."""
        of_query: dict[bytes, list[Piece]] = {}
        for chunk in taken:
            for query, content, numbers in _runs(split(chunk, COLUMNS)):
                of_query.setdefault(query, []).append((content, numbers))
        batch: list[Piece] = []
        size = 0
        for each in of_query.values():
            batch += each
            size += sum(len(content) for content, _ in each)
            if size >= SIZE:
                yield _joined(batch)
                batch, size = [], 0
        if batch:
            yield _joined(batch)

    def error(self, bad: BadLine, piece: Chunk | LongRead, number: int, sources: Sequence[PieceSource]) -> DataError:
        """The error for a bad line; where it stands is counted anew."""
        first = 1
        if number > 0 and piece.numbers is None:
            with self._opened() as stream:
                before = islice(whole_queries(self._chunks(stream)), number)
                first += sum(chunk.lines for parts in before for chunk in parts)
        return self._error(bad, piece, first, sources)

    @property
    def tag(self) -> str:
        """The name that the first line gives the run; empty if it gives none."""
        with self._opened() as stream:
            fields = stream.readline(LINE).split()
        return fields[5].decode("utf-8", "replace") if len(fields) == 6 else ""

    def table(self) -> RankingTable:
        """Every line of the run as columns."""
        return self._table(None)

    def table_near(self, *queries: str) -> RankingTable:
        """The lines of some queries as columns; the others are checked, and take no memory."""
        return self._table({each.encode("utf-8", "surrogatepass") for each in queries})

    def by_query(self) -> dict[str, TrecRankings]:
        """The lines of each query as a run of their own; together they take about as much memory as the file."""
        found: dict[str, list[bytes]] = {}
        for lines, _ in self._checked():
            for query, content, _ in _runs(lines):
                found.setdefault(query.decode(), []).append(content)
        return {query: replace(self, path_or_bytes=b"".join(parts)) for query, parts in found.items()}

    def part(self, rows: int) -> RankingTable:
        """Lines from a few places of the run; of a compressed one from its first megabytes."""
        query: list[str] = []
        doc: list[str] = []
        with self._opened() as stream:
            for content in _pieces(stream, LINE * rows // PLACES):
                text = content[content.find(b"\n") + 1 : content.rfind(b"\n") + 1]
                if text:
                    try:
                        lines = split(chunk_of(text), COLUMNS)
                    except BadLine:
                        return part_of(self.table(), rows)  # which says in which line something is wrong
                    query += lines.fields(slice(None), QUERY)
                    doc += lines.fields(slice(None), DOC)
        return RankingTable(query, doc, source=self.source)

    def _table(self, wanted: Collection[bytes] | None) -> RankingTable:
        """The lines of some queries; None: of all."""
        query: list[str] = []
        doc: list[str] = []
        ids: dict[str, str] = {}  # each id is held once, however many rows have it
        rest = bytearray(), bytearray(), bytearray()  # which grow in place
        for lines, values in self._checked():
            rows = slice(None) if wanted is None else _rows_of(lines, wanted)
            for column, some in zip(rest, values[:, rows], strict=True):
                column += some.tobytes()
            starts, sizes = lines.runs(QUERY)
            each = np.repeat(np.arange(len(starts)), sizes)[rows]
            query += map(lines.fields(starts, QUERY).__getitem__, each.tolist())
            found = lines.fields(rows, DOC)
            doc += map(ids.setdefault, found, found)
        score, rank, number = map(np.frombuffer, rest)
        known = None if np.isnan(rank).any() else rank
        return RankingTable(query, doc, score, known, narrow(number.astype(np.intp)), self.source)

    def _checked(self) -> Iterator[tuple[Lines, Array]]:
        """The lines chunk by chunk, and their numbers; chunks without a row are left out."""
        line = 1
        with self._opened() as stream:
            for chunk in self._chunks(stream):
                lines, values = self._split(chunk, line)
                if len(lines):
                    yield lines, values
                line += chunk.lines

    def _chunks(self, stream: BinaryIO) -> Iterator[Chunk]:
        done = 0
        try:
            for chunk in chunks(stream):
                yield without_comments(chunk) if self.all_comments else chunk
                done += 1
        except BadLine as bad:
            with self._opened() as again:
                before = sum(chunk.lines for chunk in islice(chunks(again), done))
            raise self._refused(before + bad.line + 1, bad) from bad

    def _split(self, chunk: Chunk, line: int) -> tuple[Lines, Array]:
        """The fields of a chunk that begins at a line, and its numbers."""
        try:
            lines = split(chunk, COLUMNS)
            return lines, numbers_of(lines, line)
        except BadLine as bad:
            raise self._error(bad, chunk, line) from bad

    def _opened(self) -> AbstractContextManager[BinaryIO]:
        if isinstance(self.path_or_bytes, bytes):
            return nullcontext(BytesIO(self.path_or_bytes))
        return open_file(self.path_or_bytes)

    def _error(
        self, bad: BadLine, chunk: Chunk | LongRead, first: int, sources: Sequence[PieceSource] = ()
    ) -> DataError:
        """The error for a bad line of a chunk that begins at the line `first`."""

        def number(line: int) -> int:
            return first + line if chunk.numbers is None else int(chunk.numbers[line])

        if not isinstance(bad, Repeated):
            return self._refused(number(bad.line), bad)
        one, other = number(bad.first), number(bad.line)
        where = f"{self.source}, lines {one} and {other}"
        if max(one, other) >> FILE or len(sources) > 1:
            where = " and ".join(f"{sources[n >> FILE].source}, line {n & ((1 << FILE) - 1)}" for n in (one, other))
        return DataError(f"{where}: {bad.found} comes twice. {KEEP_ONE}")

    def _refused(self, line: int, bad: BadLine) -> DataError:
        advice = BadLine(line - 1, bad.found).advice(self.source, ".run")
        return DataError(f"{self.source}, line {line}: {bad.found}. Next: {advice}.")


def _pieces(stream: BinaryIO, size: int) -> Iterator[bytes]:
    """Bytes from several places of a stream; one that is decompressed can only be read on."""
    if isinstance(stream, BytesIO | BufferedReader) and stream.seekable():
        end = stream.seek(0, SEEK_END)
        for place in range(PLACES):
            stream.seek(end * place // PLACES)
            yield stream.read(size)
        return
    for _ in range(PLACES):
        yield stream.read(SIZE)[:size]


def _note_ranks(first: Chunk, census: Census) -> None:
    """Note whether ranks and scores agree; a line that cannot be read is told where all are."""
    try:
        note_ranks_of(first, census)
    except BadLine:
        return
