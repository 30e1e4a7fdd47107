"""Runs whose lines are in any order: the lines of each query brought together first."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankproof.core.hits import Array
from rankproof.io.trec.chunks import PAD, SIZE, Chunk, chunk_of
from rankproof.io.trec.lines import split
from rankproof.io.trec.rows import COLUMNS, QUERY
from rankproof.io.trec.words import starts_of_runs

Piece = tuple[bytes, int]
"""Some lines of one query that follow each other, and the number of the first."""


def gathered(pieces: Iterator[Chunk]) -> Iterator[Chunk]:
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
        for query, content, first in _pieces(chunk):
            pieces.setdefault(query, []).append((content, line + first))
        line += chunk.lines
    return pieces


def _pieces(chunk: Chunk) -> Iterator[tuple[bytes, bytes, int]]:
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
