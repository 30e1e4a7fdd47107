"""TREC files: runs, in which every line is checked but only judged documents are processed one by one; and qrels."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from io import SEEK_END, BufferedReader, BytesIO
from itertools import chain, islice, repeat
from typing import BinaryIO, NamedTuple

import numpy as np

from rankproof.core.arrays import by_key, narrow
from rankproof.core.audit.queries import BY_MACHINE
from rankproof.core.conventions import Conventions, keep_one
from rankproof.core.hits import Array
from rankproof.core.join import Census, Ordered
from rankproof.core.judgments import Judgments, judgments_from_rows
from rankproof.core.table import PLACES, RankingTable, part_of
from rankproof.errors import DataError
from rankproof.io.files import PathLike, name_of, open_file, read_bytes
from rankproof.io.rows import FILE
from rankproof.io.trec.chunks import BOM, SIZE, BadLine, Chunk, check_lines, chunk_of, read_chunks, whole_queries
from rankproof.io.trec.collect import PieceSource, collect_rankings
from rankproof.io.trec.index import Texts, are_different, hashes, starts_of_runs
from rankproof.io.trec.lines import (
    ASPECT,
    COLUMNS,
    DOC,
    GRADE,
    QRELS_COLUMNS,
    QUERY,
    Lines,
    Part,
    Repeated,
    chunk_of_parts,
    comment_note,
    joined_fields,
    split,
    without_comments,
)
from rankproof.io.trec.scan import (
    JudgedLines,
    Scan,
    Scanned,
    note_ranks_of,
    numbers_of,
    read_long,
    scan_judged,
    scan_lines,
    scores_of,
)
from rankproof.io.values import match_ids

Piece = Chunk | JudgedLines | BadLine
"""Some lines of whole queries; or what was read of a ranking of many megabytes."""
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
        judgments = self.align(judgments)
        found = collect_rankings([self], judgments, conventions, census)
        if census.comments:
            census.notes.append(comment_note(self.source, census.comments))
        yield from found

    def align(self, judgments: Judgments) -> Judgments:
        """The judgments with ids that are text, as those of a run are; an error if they cannot be."""
        return match_ids(judgments, (False, False), self.source, lambda: self.part(LOOKED_AT))

    def pieces(self, scan: Scan | None, census: Census | None) -> Iterator[Piece]:
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
                    with suppress(BadLine):  # which is reported where all lines are read
                        note_ranks_of(chunk, census)
                first = 0
                yield read_long(chain([chunk], parts), scan) if chunk.goes_on else chunk

    def scan_piece(self, piece: Piece, scan: Scan) -> Scanned:
        """The content of a chunk."""
        if isinstance(piece, BadLine):
            raise piece
        if isinstance(piece, JudgedLines):
            return scan_judged(piece, scan)
        lines = split(piece, COLUMNS)
        return scan_lines(lines, scores_of(lines, scan.conventions.ties), scan)

    def divide(self, piece: Chunk, scan: Scan, apart: Array, file: int) -> tuple[Chunk | None, Chunk | None]:
        """The lines of a chunk that are of other queries than those apart, and those that are of them."""
        sides: tuple[list[Part], list[Part]] = ([], [])
        for query, content, numbers in split(piece, COLUMNS).with_text(QUERY):
            at = scan.index.queries.get(query.decode(), -1)
            inside = at >= 0 and bool(apart[at])
            sides[inside].append((content, numbers + (file << FILE) if inside else numbers))
        outside, taken = (chunk_of_parts(each) if each else None for each in sides)
        return outside, taken

    def gather_queries(self, taken: list[Chunk]) -> Iterator[Chunk]:
        """Divided chunks, query after query, in chunks of about SIZE."""
        runs = (run for chunk in taken for run in split(chunk, COLUMNS).with_text(QUERY))
        of_query = by_key((query, (content, numbers)) for query, content, numbers in runs)
        batch, size = list[Part](), 0
        for each in of_query.values():
            batch += each
            size += sum(len(content) for content, _ in each)
            if size >= SIZE:
                yield chunk_of_parts(batch)
                batch, size = [], 0
        if batch:
            yield chunk_of_parts(batch)

    def error(self, bad: BadLine, piece: Piece, number: int, sources: Sequence[PieceSource]) -> DataError:
        """The error for a bad line; where it stands is counted anew."""
        first = 1
        if number > 0 and getattr(piece, "numbers", None) is None:
            with self._opened() as stream:
                before = islice(whole_queries(self._chunks(stream)), number)
                first += sum(chunk.lines for parts in before for chunk in parts)
        return self._error(bad, piece, first, sources if number < 0 else ())

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

    def _table(self, wanted: Collection[bytes] | None) -> RankingTable:
        query: list[str] = []
        doc: list[str] = []
        ids: dict[str, str] = {}  # each id is held once, however many rows have it
        rest = bytearray(), bytearray(), bytearray()  # which grow in place
        for lines, values in self._checked():
            starts, sizes = lines.runs(QUERY)
            names = lines.fields(starts, QUERY)
            run = np.repeat(np.arange(len(starts)), sizes)
            rows: Array | slice = slice(None)
            if wanted is not None:
                rows = np.flatnonzero(np.array([lines.field(row, QUERY) in wanted for row in starts.tolist()])[run])
            for column, some in zip(rest, values[:, rows], strict=True):
                column += some.tobytes()
            query += map(names.__getitem__, run[rows].tolist())
            found = lines.fields(rows, DOC)
            doc += map(ids.setdefault, found, found)
        score, rank, number = map(np.frombuffer, rest)
        known = None if np.isnan(rank).any() else rank
        return RankingTable(query, doc, score, known, narrow(number.astype(np.intp)), self.source)

    def by_query(self) -> dict[str, TrecRankings]:
        """The lines of each query as a run of their own; together they take about as much memory as the file."""
        runs = (run for lines, _ in self._checked() for run in lines.with_text(QUERY))
        found = by_key((query.decode(), content) for query, content, _ in runs)
        return {query: replace(self, path_or_bytes=b"".join(parts)) for query, parts in found.items()}

    def part(self, rows: int) -> RankingTable:
        """Lines from a few places of the run; of a compressed one from its first megabytes."""
        query, doc = list[str](), list[str]()
        with self._opened() as stream:
            for content in _samples(stream, LINE * rows // PLACES):
                text = content[content.find(b"\n") + 1 : content.rfind(b"\n") + 1]
                if text:
                    try:
                        lines = split(chunk_of(text), COLUMNS)
                    except BadLine:
                        return part_of(self.table(), rows)  # which says in which line something is wrong
                    query += lines.fields(slice(None), QUERY)
                    doc += lines.fields(slice(None), DOC)
        return RankingTable(query, doc, source=self.source)

    def _checked(self) -> Iterator[tuple[Lines, Array]]:
        """The lines chunk by chunk, and their numbers; chunks without a row are left out."""
        line = 1
        with self._opened() as stream:
            for chunk in self._chunks(stream):
                try:
                    lines = split(chunk, COLUMNS)
                    values = numbers_of(lines, line)
                except BadLine as bad:
                    raise self._error(bad, chunk, line) from bad
                if len(lines):
                    yield lines, values
                line += chunk.lines

    def _chunks(self, stream: BinaryIO) -> Iterator[Chunk]:
        done = 0
        try:
            for chunk in read_chunks(stream):
                yield without_comments(chunk) if self.all_comments else chunk
                done += 1
        except BadLine as bad:
            with self._opened() as again:
                before = sum(chunk.lines for chunk in islice(read_chunks(again), done))
            raise self._refused(before + bad.line + 1, bad) from bad

    def _opened(self) -> AbstractContextManager[BinaryIO]:
        if isinstance(self.path_or_bytes, bytes):
            return nullcontext(BytesIO(self.path_or_bytes))
        return open_file(self.path_or_bytes)

    def _error(self, bad: BadLine, chunk: Piece, first: int, sources: Sequence[PieceSource] = ()) -> DataError:
        """The error for a bad line of a chunk that begins at the line `first`."""
        numbers = getattr(chunk, "numbers", None)
        if numbers is None:
            numbers = range(first, first + bad.line + 1)
        if not isinstance(bad, Repeated):
            return self._refused(int(numbers[bad.line]), bad)
        (file, one), (beside, other) = (divmod(int(numbers[at]), 1 << FILE) for at in (bad.first, bad.line))
        where = f"{sources[file].source if sources else self.source}, lines {one} and {other}"
        if file != beside:
            where = f"{sources[file].source}, line {one} and {sources[beside].source}, line {other}"
        return DataError(f"{where}: {bad.found} comes twice. Next: {keep_one(in_files=file != beside)}")

    def _refused(self, line: int, bad: BadLine) -> DataError:
        advice = BadLine(line - 1, bad.found).advice(self.source, ".run")
        return DataError(f"{self.source}, line {line}: {bad.found}. Next: {advice}.")


def _samples(stream: BinaryIO, size: int) -> Iterator[bytes]:
    """Bytes from several places of a stream; one that is decompressed can only be read on."""
    placed = isinstance(stream, BytesIO | BufferedReader) and stream.seekable()
    end = stream.seek(0, SEEK_END) if placed else 0
    for place in range(PLACES):
        if placed:
            stream.seek(end * place // PLACES)
        content = stream.read(size if placed else SIZE)[:size]
        # A short run is read whole, its first and its last line too; elsewhere these may be parts of lines.
        yield content if place or len(content) == size else b"\n%b\n" % content


# --- judgments ---------------------------------------------------------------------------------

MUCH = 4 << 20
"""From this size on judgments are read in pieces, and their ids are kept as bytes."""
PIECE = 1 << 20
MACHINE = "machine:"
"""How the second column begins if a machine made the judgments."""


def read_qrels(path_or_bytes: PathLike | bytes, source: str | None = None, *, all_comments: bool = False) -> Judgments:
    """The judgments in a file of four columns; the second names an aspect if it is not always the same.

    A line that begins with `#` is a row if it can be one, unless all such lines are comments, as in trec_eval.

    >>> read_qrels(b"q1 0 d1 2\\nq1 0 d2 0\\n").as_dict()
    {'q1': {'d1': 2.0, 'd2': 0.0}}
    """
    content = path_or_bytes if isinstance(path_or_bytes, bytes) else read_bytes(path_or_bytes)
    source = source or ("judgments" if isinstance(path_or_bytes, bytes) else name_of(path_or_bytes))
    try:
        check_lines(content)
        if len(content) >= MUCH and not all_comments and (plain := _plain(content, source)):
            return plain
        chunk = chunk_of(content)
        lines = split(without_comments(chunk) if all_comments else chunk, QRELS_COLUMNS)
        grade = lines.numbers(GRADE, "grade", finite=True)
    except BadLine as bad:
        raise DataError(f"{source}, line {bad.line + 1}: {bad.found}. Next: {bad.advice(source, '.qrels')}.") from bad
    if not len(lines):
        raise DataError(
            f"{source}: no judgments in it, expected lines of query, aspect, document, grade. "
            "Next: check which file this is."
        )
    aspects = _column(lines, ASPECT)
    line = range(1, len(lines) + 1) if lines.line is None else (lines.line + 1).tolist()
    queries, docs = _column(lines, QUERY), lines.fields(slice(None), DOC)
    several = aspects if len(set(aspects)) > 1 else None
    judgments = judgments_from_rows(queries, docs, grade, several, source=source, line=line)
    machine = next((each for each in aspects if each.startswith(MACHINE)), "")
    notes = []
    if machine:
        notes.append(
            f"{source}: these judgments were {BY_MACHINE} ({machine.removeprefix(MACHINE)}), not by people: levels "
            "may be off, so hold them against judgments of people before they are believed"
        )
    if lines.comments:
        notes.append(comment_note(source, lines.comments))
    return replace(judgments, machine=machine, notes=tuple(notes)) if notes else judgments


class JudgedRows(NamedTuple):
    """What a piece of plain judgments holds: the runs of a query, the documents, their grades."""

    queries: bytes
    """The query of each run, one behind the other."""
    query_length: Array
    rows: Array
    """How many judgments each run has."""
    docs: bytes
    doc_length: Array
    grade: Array
    aspect: bytes


def _plain(content: bytes, source: str) -> Judgments | None:
    """Judgments as nearly all are: each query's together, one aspect, no document twice, no comment; else None.

    What else there may be, and every mistake, is for the reader that has all lines at once.
    """
    if b"\n" + BOM in content:
        return None
    try:
        parts = [_part(piece) for piece in _pieces(content)]
    except BadLine:
        return None
    known = [each for each in parts if each is not None]
    if len(known) < len(parts) or known[0].aspect.startswith(MACHINE.encode()):
        return None
    return judgments_of_parts(known, source)


def judgments_of_parts(known: list[JudgedRows], source: str) -> Judgments | None:
    """Judgments of rows that follow each other; None for several aspects, or if a query or a document comes again."""
    if len({each.aspect for each in known}) > 1:
        return None
    rows = np.concatenate([each.rows for each in known])
    queries = Texts.join([each.queries for each in known], np.concatenate([each.query_length for each in known]))
    docs = Texts.join([each.docs for each in known], np.concatenate([each.doc_length for each in known]))
    grade = np.concatenate([each.grade for each in known])
    known.clear()  # the caller holds the list
    starts = starts_of_runs(queries.chunk, queries.begin, queries.length)
    if len(starts) < len(queries):  # a query goes on in the next piece
        begin, end = queries.start[starts], queries.start[starts + 1]
        queries = Texts.join([joined_fields(queries.chunk, begin, end)], end - begin)
        rows = np.add.reduceat(rows, starts)
    start = np.append(0, np.cumsum(rows))
    query = np.arange(len(rows)).repeat(rows)
    one = np.uint64(1)
    if not are_different(hashes(queries.chunk, queries.begin, queries.length, one)):
        return None
    if (rows > 1).any() and not are_different(hashes(docs.chunk, docs.begin, docs.length, one, query)):
        return None
    return Judgments(queries, docs, start, grade, source=source)


def _pieces(content: bytes) -> Iterator[Chunk]:
    begin = 0
    while begin < len(content):
        end = content.find(b"\n", begin + PIECE) + 1 or len(content)
        yield chunk_of(content[begin:end])
        begin = end


def _part(chunk: Chunk) -> JudgedRows | None:
    """What a piece holds; None if it is not plain."""
    lines = split(chunk, QRELS_COLUMNS)
    if not len(lines) or lines.comments or len(lines.runs(ASPECT)[0]) > 1:
        return None
    starts, sizes = lines.runs(QUERY)
    begin, end = lines.begin[QUERY, starts], lines.end[QUERY, starts]
    docs, doc_length = joined_fields(chunk, lines.begin[DOC], lines.end[DOC]), lines.end[DOC] - lines.begin[DOC]
    queries, aspect = joined_fields(chunk, begin, end), lines.field(0, ASPECT)
    return JudgedRows(queries, end - begin, sizes, docs, doc_length, lines.numbers(GRADE, "grade", finite=True), aspect)


def _column(lines: Lines, column: int) -> list[str]:
    """A column as text; rows that follow each other share one text where it is the same."""
    starts, sizes = lines.runs(column)
    return list(chain.from_iterable(map(repeat, lines.fields(starts, column), sizes.tolist())))
