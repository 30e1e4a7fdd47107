"""TREC judgments: query, aspect, document, grade."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from hashlib import blake2b
from itertools import chain, repeat

import numpy as np

from rankproof.core.audit.queries import BY_MACHINE
from rankproof.core.hits import Array
from rankproof.core.judgments import Judgments, judgments_from_rows
from rankproof.errors import DataError, shorten
from rankproof.io.files import PathLike, name_of, read_bytes
from rankproof.io.trec.chunks import BadLine, Chunk, check_lines, chunk_of
from rankproof.io.trec.lines import Lines, comment_note, parse, split, text_of_line, without_comments

SPREAD = np.uint64(0x9E3779B97F4A7C15)
HALF = np.uint64(32)
LONG = 1024
"""Bytes of a field that are looked at in words; what a longer one has behind them is looked at as a whole."""


def words(chunk: Chunk, begin: Array, length: Array) -> Iterator[tuple[Array | slice, Array]]:
    """The fields eight bytes at a time, as (the rows that are that long, their next word).

    Bytes behind a field's end do not count: they are shifted out.
    """
    yield slice(None), _word(chunk, begin, length)
    longest = min(int(length.max(initial=0)), LONG)
    rows = np.arange(len(length))
    for at in range(8, longest, 8):
        rows = rows[length[rows] > at]
        yield rows, _word(chunk, begin[rows] + at, length[rows] - at)


def _word(chunk: Chunk, begin: Array, left: Array) -> Array:
    """The next eight bytes of fields of which `left` bytes are left; none left is 0."""
    beyond = np.maximum(8 - left, 0) * 8
    word: Array = chunk.words(begin) << beyond.astype(np.uint64)
    return word


def hashes(chunk: Chunk, begin: Array, length: Array, salt: Array | np.uint64) -> Array:
    """A number for each field that depends on all its bytes and on the salt."""
    key = np.empty(len(begin), dtype=np.uint64)
    key[:] = salt
    key += length.astype(np.uint64)
    for rows, word in words(chunk, begin, length):
        mixed = (key[rows] ^ word) * SPREAD
        mixed ^= mixed >> HALF
        mixed *= SPREAD
        key[rows] = mixed ^ (mixed >> HALF)
    for row in np.flatnonzero(length > LONG).tolist():
        rest = chunk.buffer[begin[row] + LONG : begin[row] + length[row]]
        key[row] ^= np.uint64(int.from_bytes(blake2b(rest.tobytes(), digest_size=8).digest(), "little"))
    return key


def are_equal(a: Chunk, begin_a: Array, b: Chunk, begin_b: Array, length: Array) -> Array:
    """Which fields of `a` are the same as those of `b`, byte for byte, given that they are as long."""
    equal = np.ones(len(length), dtype=bool)
    for (rows, word_a), (_, word_b) in zip(words(a, begin_a, length), words(b, begin_b, length), strict=True):
        equal[rows] &= word_a == word_b
    for row in np.flatnonzero(equal & (length > LONG)).tolist():
        one, other = begin_a[row], begin_b[row]
        equal[row] = np.array_equal(a.buffer[one : one + length[row]], b.buffer[other : other + length[row]])
    return equal


def starts_of_runs(chunk: Chunk, begin: Array, length: Array) -> Array:
    """The rows whose field is another than that of the row before."""
    other = length[1:] != length[:-1]
    for at in range(0, min(int(length.max(initial=0)), LONG), 8):
        word = _word(chunk, np.minimum(begin + at, len(chunk.buffer) - 8), length - at)
        other |= word[1:] != word[:-1]
    long = np.flatnonzero(~other & (length[1:] > LONG)) + 1
    if len(long):
        other[long - 1] = ~are_equal(chunk, begin[long - 1], chunk, begin[long], length[long])
    return np.append(0, np.flatnonzero(other) + 1)


COLUMNS = 4
QUERY, ASPECT, DOC, GRADE = range(COLUMNS)
MACHINE = "machine:"
"""What the second column begins with where a judge that is no person made the judgments."""


def read_qrels(
    path_or_bytes: PathLike | bytes, source: str | None = None, *, all_comments: bool = False
) -> Judgments:
    """The judgments in a file of four columns; the second names an aspect if it is not always the same.

    A line that begins with `#` is a row if it can be one, unless all such lines are comments, as in trec_eval.

    >>> read_qrels(b"q1 0 d1 2\\nq1 0 d2 0\\n").as_dict()
    {'q1': {'d1': 2.0, 'd2': 0.0}}
    """
    content = path_or_bytes if isinstance(path_or_bytes, bytes) else read_bytes(path_or_bytes)
    source = source or ("judgments" if isinstance(path_or_bytes, bytes) else name_of(path_or_bytes))
    try:
        check_lines(content)
        chunk = chunk_of(content)
        lines = split(without_comments(chunk) if all_comments else chunk, COLUMNS)
        grade = _grades(lines)
    except BadLine as bad:
        raise DataError(
            f"{source}, line {bad.line + 1}: {bad.found}. Next: mend the line or drop it."
        ) from bad
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
    made = next((each for each in aspects if each.startswith(MACHINE)), None)
    prepared: dict[str, object] = {} if made is None else {"machine": made}
    notes = [] if made is None else [_by_machine(source, made)]
    if lines.comments:
        notes.append(comment_note(source, lines.comments))
    return replace(judgments, prepared={**prepared, "notes": notes}) if notes else judgments


def _column(lines: Lines, column: int) -> list[str]:
    """A column as text; rows that follow each other share one text where it is the same."""
    starts = starts_of_runs(lines.chunk, lines.begin[column], lines.end[column] - lines.begin[column])
    counts = np.diff(np.append(starts, len(lines)))
    return list(chain.from_iterable(map(repeat, lines.fields(starts, column), counts.tolist())))


def _by_machine(source: str, mark: str) -> str:
    return (
        f"{source}: these judgments were {BY_MACHINE} ({mark.removeprefix(MACHINE)}), not by people: levels "
        "may be off, so hold them against judgments of people before they are believed"
    )


def _grades(lines: Lines) -> Array:
    grade = parse(lines.chunk, lines.begin[GRADE], lines.end[GRADE])
    bad = np.flatnonzero(~np.isfinite(grade))
    if len(bad):
        row = int(bad[0])
        line, found = lines.line_of(row), shorten(lines.field(row, GRADE).decode())
        raise BadLine(
            line, f"the grade is {found}, expected a finite number: {text_of_line(lines.chunk, line)}"
        )
    return grade
