"""TREC judgments: query, aspect, document, grade."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, repeat
from typing import NamedTuple

import numpy as np

from rankproof.core.audit.queries import BY_MACHINE
from rankproof.core.hits import Array
from rankproof.core.judgments import Judgments, judgments_from_rows
from rankproof.errors import DataError, shorten
from rankproof.io.files import PathLike, name_of, read_bytes
from rankproof.io.trec.chunks import BOM, BadLine, Chunk, check_lines, chunk_of
from rankproof.io.trec.index import Texts, are_different, hashes, starts_of_runs
from rankproof.io.trec.lines import Lines, comment_note, joined_fields, parse, split, text_of_line, without_comments

MUCH = 4 << 20
"""From this size on judgments are read in pieces, and their ids are kept as bytes."""
PIECE = 1 << 20
COLUMNS = 4
QUERY, ASPECT, DOC, GRADE = range(COLUMNS)
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
        lines = split(without_comments(chunk) if all_comments else chunk, COLUMNS)
        grade = _grades(lines)
    except BadLine as bad:
        raise DataError(f"{source}, line {bad.line + 1}: {bad.found}. Next: {bad.advice(source, '.qrels')}.") from bad
    if not len(lines):
        raise DataError(
            f"{source}: no judgments in it, expected lines of query, aspect, document, grade. "
            "Next: check which file this is."
        )
    aspects = _column(lines, ASPECT)
    line = range(1, len(lines) + 1) if lines.line is None else (lines.line + 1).tolist()
    judgments = judgments_from_rows(
        _column(lines, QUERY),
        lines.fields(slice(None), DOC),
        grade,
        aspects if len(set(aspects)) > 1 else None,
        source=source,
        line=line,
    )
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
    if None in (found := [each and each.aspect for each in parts]) or len(set(found)) > 1:
        return None
    known = [each for each in parts if each is not None]
    if (known[0].aspect.decode()).startswith(MACHINE):
        return None
    return judgments_of_parts(known, source)


def judgments_of_parts(known: list[JudgedRows], source: str) -> Judgments | None:
    """Judgments of rows of one aspect that follow each other; None if a query or a document comes again."""
    rows = np.concatenate([each.rows for each in known])
    queries = Texts.joined([each.queries for each in known], np.concatenate([each.query_length for each in known]))
    docs = Texts.joined([each.docs for each in known], np.concatenate([each.doc_length for each in known]))
    grade = np.concatenate([each.grade for each in known])
    known.clear()  # the caller holds the list
    starts = starts_of_runs(queries.chunk, queries.begin, queries.length)
    if len(starts) < len(queries):  # a query goes on in the next piece
        begin, end = queries.start[starts], queries.start[starts + 1]
        queries = Texts.joined([joined_fields(queries.chunk, begin, end)], end - begin)
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
    """The content in pieces of whole lines."""
    begin = 0
    while begin < len(content):
        end = content.find(b"\n", begin + PIECE) + 1 or len(content)
        yield chunk_of(content[begin:end])
        begin = end


def _part(chunk: Chunk) -> JudgedRows | None:
    """What a piece holds; None if it is not plain."""
    lines = split(chunk, COLUMNS)
    if not len(lines) or lines.comments:
        return None
    if len(lines.runs(ASPECT)[0]) > 1:
        return None
    begin, end, (starts, sizes) = lines.begin, lines.end, lines.runs(QUERY)
    of_query, of_doc = (begin[QUERY, starts], end[QUERY, starts]), (begin[DOC], end[DOC])
    return JudgedRows(
        joined_fields(chunk, *of_query),
        of_query[1] - of_query[0],
        sizes,
        joined_fields(chunk, *of_doc),
        of_doc[1] - of_doc[0],
        _grades(lines),
        lines.field(0, ASPECT),
    )


def _column(lines: Lines, column: int) -> list[str]:
    """A column as text; rows that follow each other share one text where it is the same."""
    starts, sizes = lines.runs(column)
    return list(chain.from_iterable(map(repeat, lines.fields(starts, column), sizes.tolist())))


def _grades(lines: Lines) -> Array:
    grade = parse(lines.chunk, lines.begin[GRADE], lines.end[GRADE])
    bad = np.flatnonzero(~np.isfinite(grade))
    if len(bad):
        row = int(bad[0])
        line, found = lines.line_of(row), shorten(lines.field(row, GRADE).decode())
        raise BadLine(line, f"the grade is {found}, expected a finite number: {text_of_line(lines.chunk, line)}")
    return grade
