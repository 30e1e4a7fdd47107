"""From bytes to fields: where each column of each line begins and ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import isnan

import numpy as np

from rankproof.core.hits import Array
from rankproof.document.numbers import count
from rankproof.errors import shorten
from rankproof.io.trec.chunks import NEWLINE, PAD, BadLine, Chunk, chunk_of
from rankproof.io.trec.index import starts_of_runs

COLUMNS = 6
"""Those of a run: query, a word nobody uses, document, rank, score, name of the run."""
QUERY, DOC, RANK, SCORE = 0, 2, 3, 4
QRELS_COLUMNS = 4
"""Those of judgments: query, aspect, document, grade."""
ASPECT, GRADE = 1, 3
FEW = 64
"""Fewer numbers than this are read one by one."""
EXACT = 15
"""Up to this many digits, division by a power of ten gives the nearest float64 in one step."""
POWERS = np.array([10**i for i in range(EXACT + 1)], dtype=np.uint64)
POINT, MINUS = ord("."), ord("-")
ZEROS = np.uint64(0x3030303030303030)
ABOVE_NINE = np.uint64(0x7676767676767676)
TOP_BITS = np.uint64(0x8080808080808080)


def parse(chunk: Chunk, begin: Array, end: Array) -> Array:
    """The numbers in the fields as float64, NaN for a field that is not a number (and for NaN).

    Most runs print all scores with the same number of decimals, so that is tried first; whatever is no plain
    decimal of up to 15 digits is read one by one.
    """
    if len(begin) < FEW:
        return _one_by_one(chunk, begin, end)
    values, ok = _like_the_first(chunk, begin, end)
    for read in (_by_their_decimals, _one_by_one):
        rest = np.flatnonzero(~ok)
        if len(rest):
            values[rest] = read(chunk, begin[rest], end[rest])
            ok = ~np.isnan(values)
    return values


def parse_one(field: bytes) -> float:
    """One number, NaN if the field is none.

    >>> parse_one(b"-1.5e3"), parse_one(b"inf"), parse_one(b"1_000"), parse_one(b"x")
    (-1500.0, inf, nan, nan)
    """
    try:
        return float("nan") if b"_" in field else float(field)
    except ValueError:
        return float("nan")


def _one_by_one(chunk: Chunk, begin: Array, end: Array) -> Array:
    raw = chunk.buffer.data
    fields = (bytes(raw[a:b]) for a, b in zip(begin.tolist(), end.tolist(), strict=True))
    return np.fromiter(map(parse_one, fields), dtype=np.float64, count=len(begin))


def _like_the_first(chunk: Chunk, begin: Array, end: Array) -> tuple[Array, Array]:
    """The values of numbers with as many decimals as the first and up to 8 digits, and which are such."""
    first = bytes(chunk.buffer[begin[0] : end[0]])
    decimals = min(len(first) - first.index(b".") - 1 if b"." in first else 0, 8)
    point = end - (decimals + 1 if decimals else 0)
    whole_digits = point - begin
    least = 0 if decimals else 1
    fits = (whole_digits - least).view(np.uint64) <= 8 - decimals - least  # as one that is below 0 is large then
    if decimals:
        fits &= chunk.buffer[point] == POINT
    digits = _digits(chunk, point, whole_digits)
    if decimals:
        digits >>= np.uint64(8 * decimals)
        digits |= _digits(chunk, end, np.array(decimals))
    return _combined(digits) / float(10**decimals), fits & _are_digits(digits)


def _by_their_decimals(chunk: Chunk, begin: Array, end: Array) -> Array:
    """The values of plain decimals such as -12.345, NaN for all others."""
    text = chunk.buffer
    points = np.append(np.flatnonzero(text == POINT), len(text))
    point = np.minimum(points[np.searchsorted(points, begin)], end)
    decimals = np.maximum(end - point - 1, 0)
    negative = text[begin] == MINUS
    whole_digits = point - begin - negative
    ok = (whole_digits + decimals > 0) & (whole_digits + decimals <= EXACT)
    whole, whole_ok = _integers(chunk, point, whole_digits)
    part, part_ok = _integers(chunk, end, decimals)
    power = POWERS[np.minimum(decimals, EXACT)]
    value = (whole * power + part).astype(np.float64) / power.astype(np.float64)
    return np.where(ok & whole_ok & part_ok, np.where(negative, -value, value), np.nan)


def _integers(chunk: Chunk, end: Array, count: Array) -> tuple[Array, Array]:
    """The whole numbers of `count` digits (up to 16) that end at `end`, and which are of digits only."""
    value, ok = _eight_digits(chunk, end, np.clip(count, 0, 8))
    if (count > 8).any():
        high, high_ok = _eight_digits(chunk, end - 8, np.clip(count - 8, 0, 8))
        value, ok = high * POWERS[8] + value, ok & high_ok
    return value, ok


def _eight_digits(chunk: Chunk, end: Array, count: Array) -> tuple[Array, Array]:
    digits = _digits(chunk, end, count)
    return _combined(digits), _are_digits(digits)


def _digits(chunk: Chunk, end: Array, count: Array) -> Array:
    """The `count` (up to 8) bytes before `end`, each as its digit, after as many 0 as are missing."""
    others = ((8 - count) * 8).astype(np.uint64)
    digits = chunk.words(end - 8)
    digits ^= ZEROS
    digits >>= others
    digits <<= others
    return digits


def _are_digits(digits: Array) -> Array:
    high: Array = digits + ABOVE_NINE
    high |= digits
    high &= TOP_BITS
    return np.asarray(high == 0)


def _combined(digits: Array) -> Array:
    """Eight decimal digits, the highest in the lowest byte, as one number: first pairs, then all four."""
    pairs = digits * np.uint64(10) + (digits >> np.uint64(8))
    mask = np.uint64(0x000000FF000000FF)
    high = (pairs & mask) * np.uint64(100 + (1000000 << 32))
    low = ((pairs >> np.uint64(16)) & mask) * np.uint64(1 + (10000 << 32))
    return (high + low) >> np.uint64(32)


COMMENT = ord("#")
BLANKS = np.zeros(256, dtype=bool)
BLANKS[[9, 10, 11, 12, 13, 32]] = True


class Repeated(BadLine):
    """A document twice in one ranking; the message needs both lines."""

    def __init__(self, lines: tuple[int, int], query: str, doc: str) -> None:
        super().__init__(lines[1], f"document {shorten(doc)} of query {shorten(query)}")
        self.first = lines[0]


@dataclass(frozen=True, eq=False)
class Lines:
    """The lines of a chunk that hold something, split into columns."""

    chunk: Chunk
    begin: Array
    """Where in the chunk's buffer each field begins: column by column, line by line."""
    end: Array
    line: Array | None
    """Which line (from 0) of the chunk each row is; None: row for row."""
    comments: int = 0
    """Lines that begin with `#` and are no rows."""

    def __len__(self) -> int:
        return len(self.begin[0])

    @cached_property
    def raw(self) -> memoryview:
        """The buffer as bytes."""
        return self.chunk.buffer.data

    def field(self, row: int, column: int) -> bytes:
        """One field."""
        return bytes(self.raw[self.begin[column, row] : self.end[column, row]])

    def fields(self, rows: Array | slice, column: int) -> list[str]:
        """Some fields of a column as text."""
        return self.chunk.texts(self.begin[column, rows], self.end[column, rows])

    def numbers(self, column: int, what: str, *, finite: bool = False) -> Array:
        """The numbers of a column; a field that is none is a BadLine."""
        found = parse(self.chunk, self.begin[column], self.end[column])
        bad = np.flatnonzero(~np.isfinite(found) if finite else np.isnan(found))
        if len(bad):
            row = int(bad[0])
            line, got = self.line_of(row), shorten(self.field(row, column).decode())
            expected = f"expected a {'finite ' * finite}number: {text_of_line(self.chunk, line)}"
            raise BadLine(line, f"the {what} is {got}, {expected}")
        return found

    def runs(self, column: int) -> tuple[Array, Array]:
        """Where each run of rows with one and the same field begins, and how many rows it has."""
        begin = self.begin[column]
        starts = starts_of_runs(self.chunk, begin, self.end[column] - begin)[: len(begin)]
        return starts, np.diff(starts, append=len(begin))

    def with_text(self, column: int) -> Iterator[tuple[bytes, bytes, Array]]:
        """The field of each run of rows, their lines as text, and the numbers of these."""
        chunk, starts = self.chunk, self.runs(column)[0]
        numbers = np.arange(chunk.lines) if chunk.numbers is None else chunk.numbers
        ends = [*self.begin[column][starts].tolist()[1:], chunk.size + PAD]
        begin, first = PAD, 0
        for row, end in zip(starts.tolist(), ends, strict=True):
            content = bytes(self.raw[begin:end])
            last = first + content.count(b"\n")
            yield self.field(row, column), content, numbers[first:last]
            begin, first = end, last

    def line_of(self, row: int) -> int:
        """Which line (from 0) of the chunk a row is."""
        return row if self.line is None else int(self.line[row])


Part = tuple[bytes, Array]
"""Some lines that follow each other, and their numbers."""


def chunk_of_parts(parts: list[Part]) -> Chunk:
    """Some lines from several places."""
    return chunk_of(b"".join(content for content, _ in parts), np.concatenate([numbers for _, numbers in parts]))


def split(chunk: Chunk, columns: int) -> Lines:
    """The fields of a chunk; a line that has not as many columns is a BadLine."""
    if len(chunk.text) and chunk.text.max() > 127:
        _check_utf8(chunk)
    return _split_regular(chunk, columns) or _split_any(chunk, columns)


def _split_regular(chunk: Chunk, columns: int) -> Lines | None:
    """The fields where every line has the same single blanks between them, and nothing else is special."""
    blank = chunk.buffer[: PAD + chunk.size] <= 32
    blank[:PAD] = False
    end = np.flatnonzero(blank)
    if not len(end) or len(end) % columns or blank[PAD] or bool((blank[1:] & blank[:-1]).any()):
        return None
    kinds = chunk.buffer[end]
    first = kinds[:columns].tolist()
    if first[-1] != NEWLINE or not {9, 32}.issuperset(first[:-1]) or (kinds[columns:] != kinds[:-columns]).any():
        return None
    ends = np.ascontiguousarray(end.reshape(-1, columns).T)
    begins = np.empty_like(ends)
    begins[0, 0] = PAD
    np.add(ends[-1, :-1], 1, out=begins[0, 1:])
    np.add(ends[:-1], 1, out=begins[1:])
    return None if (chunk.buffer[begins[0]] == COMMENT).any() else Lines(chunk, begins, ends, None)


def _split_any(chunk: Chunk, columns: int) -> Lines:
    """The fields of any text: several blanks, CRLF, comments, empty lines."""
    text = chunk.text
    if not text.all():
        at = int(np.flatnonzero(text == 0)[0])
        raise BadLine(int((text[:at] == NEWLINE).sum()), "a NUL byte, expected text")
    step = np.diff(BLANKS[text].view(np.int8), prepend=1)
    begin, end = np.flatnonzero(step == -1), np.flatnonzero(step == 1)
    line = np.searchsorted(np.flatnonzero(text == NEWLINE), begin)
    comment = _comments(text, begin, end, line, columns)
    told = ~np.isin(line, comment)
    begin, end, line = begin[told] + PAD, end[told] + PAD, line[told]
    count = np.bincount(line)
    wrong = np.flatnonzero((count != 0) & (count != columns))
    if len(wrong):
        bad = int(wrong[0])
        raise BadLine(bad, f"got {count[bad]} columns, expected {columns}: {text_of_line(chunk, bad)}")
    grid = (-1, columns)
    return Lines(chunk, begin.reshape(grid).T.copy(), end.reshape(grid).T.copy(), line[::columns], len(comment))


def _comments(text: Array, begin: Array, end: Array, line: Array, columns: int) -> list[int]:
    """The lines that begin with `#`, except for those that are rows all the same: a query may be called #python."""
    first = np.flatnonzero(np.diff(line, prepend=-1))
    number = columns - 2 + (columns == 4)  # the grade stands last, the score before the name of the run
    found = []
    for at in first[text[begin[first]] == COMMENT].tolist():
        after = at + columns
        whole = len(line) >= after and line[after - 1] == line[at] and (after == len(line) or line[after] > line[at])
        if whole and end[at] - begin[at] > 1:
            field = text[begin[at + number] : end[at + number]].tobytes()
            if not isnan(parse_one(field)):
                continue
        found.append(int(line[at]))
    return found


def text_of_line(chunk: Chunk, line: int) -> str:
    """A line as messages quote it."""
    lines = bytes(chunk.text).split(b"\n")
    return shorten(lines[line].rstrip(b"\r").decode("utf-8", "replace"))


def joined_fields(chunk: Chunk, begin: Array, end: Array) -> bytes:
    """Fields that stand in this order as one text."""
    edges = np.stack([begin, end], axis=1).ravel()
    lengths = np.diff(edges, prepend=0, append=len(chunk.buffer))
    inside = np.arange(len(lengths)) % 2 == 1
    return bytes(chunk.buffer[np.repeat(inside, lengths)].data)


def _check_utf8(chunk: Chunk) -> None:
    content = bytes(chunk.text)
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start)
        found = content[max(0, error.start - 10) : error.start + 10]
        raise BadLine(line, f"the bytes {found!r} are not valid UTF-8") from error


def without_comments(chunk: Chunk) -> Chunk:
    """The chunk with blanks in place of every line that begins with `#`, so that the lines keep their numbers."""
    content = chunk.text.tobytes()
    if b"#" not in content:
        return chunk
    return chunk_of(_COMMENT.sub(b" ", content), chunk.numbers)._replace(goes_on=chunk.goes_on)


_COMMENT = re.compile(rb"^[ \t]*#[^\n]*", re.MULTILINE)


def comment_note(source: str, comments: int) -> str:
    """A note on lines that were passed over."""
    lines = count(comments, "line that begins with # and is", "lines that begin with # and are")
    return f"{source}: passed over {lines} no data"
