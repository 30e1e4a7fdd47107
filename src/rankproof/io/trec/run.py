"""TREC runs: every line is checked, but only judged documents are ever looked at one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from io import SEEK_END, BufferedReader, BytesIO
from itertools import chain
from typing import BinaryIO

import numpy as np

from rankproof.core.arrays import distinct
from rankproof.core.hits import Array
from rankproof.core.join import Census, Ordered
from rankproof.core.judgments import Judgments
from rankproof.core.rules import Conventions
from rankproof.core.table import PLACES, RankingTable
from rankproof.errors import DataError
from rankproof.io.files import PathLike, open_file
from rankproof.io.ids import align_ids, check_same_kind, judged_kinds, plain_digits
from rankproof.io.trec.chunks import PAD, SIZE, BadLine, Chunk, chunk_of, chunks, in_order
from rankproof.io.trec.index import COLUMNS, DOC, QUERY, Index, index_of, starts_of_runs
from rankproof.io.trec.lines import Lines, Repeated, comment_note, split, without_comments
from rankproof.io.trec.scan import Scanned, note_ranks_of, numbers, scan


class NotTogether(Exception):
    """The lines of a query do not stand together."""


def collect_rankings(scanned: Iterable[Scanned], index: Index, census: Census) -> list[Ordered]:
    """The rankings of all pieces; a query that appears in two places raises NotTogether."""
    found: list[Ordered] = []
    seen = np.zeros(len(index.queries), dtype=bool)
    others: dict[str, None] = {}
    noticed = Census()
    for piece in scanned:
        expected = len(others) + len(piece.others)
        others.update(dict.fromkeys(piece.others))
        again = seen[piece.queries].any() or len(distinct(piece.queries)) < len(piece.queries)
        if again or len(others) < expected:
            raise NotTogether
        seen[piece.queries] = True
        found += piece.ordered
        _add(noticed, piece.noticed)
    _add(census, noticed)
    _count_extra(census, list(others))
    return found


def _add(census: Census, more: Census) -> None:
    for name in ("dropped", "comments", "huge", "infinite", "lists", "rising", "rises", "falls"):
        setattr(census, name, getattr(census, name) + getattr(more, name))


def _count_extra(census: Census, extra: list[str]) -> None:
    room = max(0, 5 - len(census.extra_examples))
    census.extra += len(extra)
    census.extra_examples += extra[:room]


Piece = tuple[bytes, int]
"""Some lines of one query that follow each other, and the number of the first."""


def gather_queries(pieces: Iterator[Chunk]) -> Iterator[Chunk]:
    """The content of chunks, query after query, in chunks that remember the line numbers."""
    batch: list[Piece] = []
    size = 0
    for of_query in _by_query(pieces).values():
        batch += of_query
        size += sum(len(content) for content, _ in of_query)
        if size >= SIZE:
            yield _joined(batch)
            batch, size = [], 0
    if batch:
        yield _joined(batch)


def _by_query(chunks: Iterator[Chunk]) -> dict[bytes, list[Piece]]:
    pieces: dict[bytes, list[Piece]] = {}
    line = 1
    for chunk in chunks:
        for query, content, first in _gathered_pieces(chunk):
            pieces.setdefault(query, []).append((content, line + first))
        line += chunk.lines
    return pieces


def _gathered_pieces(chunk: Chunk) -> Iterator[tuple[bytes, bytes, int]]:
    lines = split(chunk, COLUMNS)
    begin, end = lines.begin[QUERY], lines.end[QUERY]
    starts = starts_of_runs(chunk, begin, end - begin)
    bounds = [*begin[starts].tolist(), chunk.size + PAD]
    for i, row in enumerate(starts.tolist()):
        yield lines.field(row, QUERY), bytes(lines.raw[bounds[i] : bounds[i + 1]]), lines.line_of(row)


def _joined(pieces: list[Piece]) -> Chunk:
    return chunk_of(b"".join(content for content, _ in pieces), _numbers(pieces))


def _numbers(pieces: list[Piece]) -> Array:
    """The line number of each line of the pieces."""
    count = np.array([content.count(b"\n") for content, _ in pieces])
    first = np.array([number for _, number in pieces])
    begin = np.cumsum(count) - count
    numbers: Array = np.arange(count.sum()) + np.repeat(first - begin, count)
    return numbers


LINE = 50
"""About how many bytes a line of a run has."""


LOOKED_AT = 10_000
"""So many lines say whether all ids are digits, where the judgments have integers."""


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
        judgments = align_ids(judgments, (False, False), self._digits)
        for kind, what in zip(judged_kinds(judgments), ("queries", "documents"), strict=True):
            check_same_kind(False, kind, f"{self.source}, {what}")
        try:
            with self._opened() as stream:
                found = self._scanned(self._chunks(stream), judgments, conventions, census)
        except NotTogether:
            with self._opened() as stream:
                found = self._scanned(gather_queries(self._chunks(stream)), judgments, conventions, census)
        if census.comments:
            census.notes.append(comment_note(self.source, census.comments))
        yield from found

    def _digits(self, role: int) -> bool:
        some = self.part(LOOKED_AT)
        return plain_digits((some.query, some.doc)[role])

    def _scanned(
        self, pieces: Iterator[Chunk], judgments: Judgments, conventions: Conventions, census: Census
    ) -> list[Ordered]:
        index, first = index_of(judgments), next(pieces, None)
        if first is not None and conventions.ties != "rank":
            _note_ranks(first, census)
        work = partial(_attempt, index=index, judgments=judgments, conventions=conventions)
        return collect_rankings(
            self._results(in_order(work, chain([] if first is None else [first], pieces))), index, census
        )

    def _results(self, scanned: Iterator[tuple[Chunk, Scanned | BadLine]]) -> Iterator[Scanned]:
        line = 1
        for chunk, result in scanned:
            if isinstance(result, BadLine):
                raise self._error(result, chunk, line)
            yield result
            line += chunk.lines

    @property
    def tag(self) -> str:
        """The name that the first line gives the run; empty if it gives none."""
        with self._opened() as stream:
            fields = stream.readline(LINE).split()
        return fields[5].decode("utf-8", "replace") if len(fields) == 6 else ""

    def table(self) -> RankingTable:
        """Every line of the run as columns."""
        return self._table(None)

    def table_near(self, query: str) -> RankingTable:
        """The lines of one query as columns, and lines of others; of a large run it takes only a small part."""
        return self._table(query.encode())

    def part(self, rows: int) -> RankingTable:
        """Lines from a few places of the run; of a compressed one from its first megabytes."""
        query: list[str] = []
        doc: list[str] = []
        with self._opened() as stream:
            for content in _pieces(stream, LINE * rows // PLACES):
                text = content[content.find(b"\n") + 1 : content.rfind(b"\n") + 1]
                if text:
                    lines = split(chunk_of(text), COLUMNS)
                    query += lines.fields(slice(None), QUERY)
                    doc += lines.fields(slice(None), DOC)
        return RankingTable(query, doc, source=self.source)

    def _table(self, wanted: bytes | None) -> RankingTable:
        """The lines of the chunks in which `wanted` occurs; None: of all."""
        query: list[str] = []
        doc: list[str] = []
        rest = [np.zeros((3, 0))]
        line = 1
        with self._opened() as stream:
            for chunk in self._chunks(stream):
                if wanted is None or wanted in chunk.text.tobytes():
                    lines, values = self._split(chunk, line)
                    rest.append(values)
                    query += lines.fields(slice(None), QUERY)
                    doc += lines.fields(slice(None), DOC)
                line += chunk.lines
        score, rank, number = np.concatenate(rest, axis=1)
        known = None if np.isnan(rank).any() else rank
        return RankingTable(query, doc, score, known, number.astype(np.intp), self.source)

    def _chunks(self, stream: BinaryIO) -> Iterator[Chunk]:
        try:
            pieces = chunks(stream)
            yield from map(without_comments, pieces) if self.all_comments else pieces
        except BadLine as bad:
            raise self._refused(bad.line + 1, bad) from bad

    def _split(self, chunk: Chunk, line: int) -> tuple[Lines, Array]:
        """The fields of a chunk that begins at a line, and its numbers."""
        try:
            lines = split(chunk, COLUMNS)
            return lines, numbers(lines, line)
        except BadLine as bad:
            raise self._error(bad, chunk, line) from bad

    def _opened(self) -> AbstractContextManager[BinaryIO]:
        if isinstance(self.path_or_bytes, bytes):
            return nullcontext(BytesIO(self.path_or_bytes))
        return open_file(self.path_or_bytes)

    def _error(self, bad: BadLine, chunk: Chunk, first: int) -> DataError:
        """The error for a bad line of a chunk that begins at the line `first`."""

        def number(line: int) -> int:
            return first + line if chunk.numbers is None else int(chunk.numbers[line])

        if isinstance(bad, Repeated):
            return DataError(
                f"{self.source}, lines {number(bad.first)} and {number(bad.line)}: {bad.found} comes twice. "
                "Next: keep one of them, or choose duplicates='first' or duplicates='best'."
            )
        return self._refused(number(bad.line), bad)

    def _refused(self, line: int, bad: BadLine) -> DataError:
        return DataError(f"{self.source}, line {line}: {bad.found}. Next: mend the line or drop it.")


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


def _attempt(chunk: Chunk, index: Index, judgments: Judgments, conventions: Conventions) -> Scanned | BadLine:
    try:
        return scan(chunk, index, judgments, conventions)
    except BadLine as bad:
        return bad
