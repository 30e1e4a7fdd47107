"""TREC judgments: query, aspect, document, grade."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, count, pairwise, repeat
from operator import eq, index
from typing import overload

import numpy as np

from rankproof.core.audit.queries import BY_MACHINE
from rankproof.core.hits import Array
from rankproof.core.judgments import Judgments, judgments_from_rows
from rankproof.errors import DataError, shorten
from rankproof.io.files import PathLike, name_of, read_bytes
from rankproof.io.trec.chunks import BOM, PAD, BadLine, Chunk, check_lines, chunk_of
from rankproof.io.trec.lines import Lines, comment_note, parse, split, text_of_line, without_comments

SPREAD = np.uint64(0x9E3779B97F4A7C15)
HALF = np.uint64(32)
LONG = 1024
"""Bytes of a field that are looked at in words; what a longer one has behind them is looked at as a whole."""


ROWS = 1 << 18
"""So many fields are worked on at a time."""


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
    if len(key) > ROWS:  # what is needed on the way takes several times the room of the keys
        for at in range(0, len(key), ROWS):
            some = slice(at, at + ROWS)
            key[some] = hashes(
                chunk, begin[some], length[some], salt[some] if isinstance(salt, np.ndarray) else salt
            )
        return key
    key[:] = salt
    key += length.astype(np.uint64)
    for rows, word in words(chunk, begin, length):
        mixed = (key[rows] ^ word) * SPREAD
        mixed ^= mixed >> HALF
        mixed *= SPREAD
        key[rows] = mixed ^ (mixed >> HALF)
    for row in np.flatnonzero(length > LONG).tolist():
        from hashlib import blake2b  # which loads OpenSSL, for ids that few have

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
    parts = [np.zeros(1, dtype=np.intp)]
    for at in range(0, max(len(begin) - 1, 1), ROWS):
        some = slice(at, at + ROWS + 1)
        parts.append(at + 1 + np.flatnonzero(_others(chunk, begin[some], length[some])))
    return np.concatenate(parts)


def _others(chunk: Chunk, begin: Array, length: Array) -> Array:
    """For each row but the first whether its field is another than that of the row before."""
    other: Array = length[1:] != length[:-1]
    for at in range(0, min(int(length.max(initial=0)), LONG), 8):
        word = _word(chunk, np.minimum(begin + at, len(chunk.buffer) - 8), length - at)
        other |= word[1:] != word[:-1]
    long = np.flatnonzero(~other & (length[1:] > LONG)) + 1
    if len(long):
        other[long - 1] = ~are_equal(chunk, begin[long - 1], chunk, begin[long], length[long])
    return other


@dataclass(frozen=True, eq=False)
class Texts(Sequence[str]):
    """Many ids, kept as bytes: text of each takes ten times the room, so it is made when it is asked for."""

    chunk: Chunk
    """All ids, one after the other."""
    start: Array
    """Where each id begins in the chunk's buffer; the last entry is where all end."""

    @classmethod
    def of(cls, ids: Sequence[str]) -> Texts:
        """The ids as bytes."""
        if isinstance(ids, Texts):
            return ids
        text = "".join(ids).encode("utf-8", "surrogatepass")
        sizes: Iterator[int] = map(len, ids)
        if len(text) != sum(map(len, ids)):  # some take several bytes a character
            sizes = (len(each.encode("utf-8", "surrogatepass")) for each in ids)
        return cls.joined([text], np.fromiter(sizes, dtype=np.intp, count=len(ids)))

    @classmethod
    def joined(cls, parts: Iterable[bytes], length: Array) -> Texts:
        """The ids that parts of a text hold, given how long each is."""
        pad = bytes(PAD)
        content = np.frombuffer(b"".join([pad, *parts, pad]), dtype=np.uint8)
        chunk = Chunk(content, len(content) - 2 * PAD)
        start: Array = np.full(len(length) + 1, PAD, dtype=np.int32 if len(content) < SMALL else np.intp)
        start[1:] += np.cumsum(length)
        return cls(chunk, start)

    @property
    def begin(self) -> Array:
        """Where each id begins."""
        return self.start[:-1]

    @cached_property
    def length(self) -> Array:
        """How many bytes each id has."""
        length: Array = self.start[1:] - self.start[:-1]
        return length

    def __len__(self) -> int:
        return len(self.start) - 1

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            begin, end, step = at.indices(len(self))
            return (
                list(self._between(begin, end)) if step == 1 else [self[i] for i in range(begin, end, step)]
            )
        at = index(at)
        if not -len(self) <= at < len(self):
            raise IndexError(f"id {at} of {len(self):,}")
        at %= len(self)
        return str(self.chunk.buffer.data[self.start[at] : self.start[at + 1]], "utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        for begin in range(0, len(self), SOME):
            yield from self._between(begin, min(begin + SOME, len(self)))

    def _between(self, begin: int, end: int) -> Iterator[str]:
        raw, places = self.chunk.buffer.data, self.start[begin : end + 1].tolist()
        return (str(raw[a:b], "utf-8", "surrogatepass") for a, b in pairwise(places))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Texts | tuple | list):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __contains__(self, name: object) -> bool:
        return name in self.places

    @cached_property
    def places(self) -> Names:
        """Where each id stands, if no two are equal."""
        return Names.of(self)


@dataclass(frozen=True, eq=False)
class Names(Mapping[str, int]):
    """Ids of which no two are equal, and the key of each: a dict of them would take ten times the room."""

    ids: Texts
    seed: np.uint64
    key: Array
    """The keys, ascending; no two are equal."""
    order: Array
    """The id of each key."""

    @classmethod
    def of(cls, ids: Texts) -> Names:
        """The keys of ids."""
        seed, keys = different_keys(ids, lambda seed: seed)
        order = np.argsort(keys)
        return cls(ids, seed, keys[order], order)

    def find(self, chunk: Chunk, begin: Array, length: Array) -> Array:
        """Which of the ids each field is, -1 where it is none."""
        found = np.full(len(begin), -1, dtype=np.intp)
        if not len(self.key):
            return found
        key = hashes(chunk, begin, length, self.seed)
        at = np.minimum(np.searchsorted(self.key, key), len(self.key) - 1)
        which = self.order[at]
        rows = np.flatnonzero((self.key[at] == key) & (self.ids.length[which] == length))
        which = which[rows]
        equal = are_equal(chunk, begin[rows], self.ids.chunk, self.ids.start[which], length[rows])
        found[rows[equal]] = which[equal]
        return found

    @cached_property
    def _table(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.ids)}

    def __getitem__(self, name: str) -> int:
        times = self.__dict__["times"] = self.__dict__.get("times", 0) + 1
        if times > OFTEN:
            return self._table[name]
        one = Texts.of([name])
        at = int(self.find(one.chunk, one.begin, one.length)[0])
        if at < 0:
            raise KeyError(name)
        return at

    def __iter__(self) -> Iterator[str]:
        return iter(self.ids)

    def __len__(self) -> int:
        return len(self.ids)


def different_keys(ids: Texts, salt: Callable[[np.uint64], Array | np.uint64]) -> tuple[np.uint64, Array]:
    """Keys of which no two are equal, and the seed that gives them: nearly always the first one."""
    for seed in count(1):
        keys = hashes(ids.chunk, ids.begin, ids.length, salt(np.uint64(seed)))
        if are_different(keys):
            break
    return np.uint64(seed), keys


def are_different(keys: Array) -> bool:
    """Whether no two keys are equal."""
    ordered = np.sort(keys)
    return not bool((ordered[1:] == ordered[:-1]).any())


def salts(query: Array, seed: np.uint64) -> Array:
    """What tells the same document apart in different queries."""
    return (query.astype(np.uint64) + seed) * SPREAD


SMALL = 2**31 - 2 * LONG
"""Places in a shorter text, and a little behind it, are numbers of 32 bits."""
SOME = 1 << 13
"""So many ids are made text at a time."""
OFTEN = 20_000
"""Who asks for more ids than this one by one is better off with a dict of all."""
MUCH = 4 << 20
"""From this size on judgments are read in pieces, and their ids are kept as bytes."""
PIECE = 1 << 20
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
        if len(content) >= MUCH and not all_comments and (plain := _plain(content, source)):
            return plain
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


@dataclass(frozen=True, eq=False)
class _Part:
    """What a piece of plain judgments holds: the runs of a query, the documents, their grades."""

    queries: bytes
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
    rows = np.concatenate([each.rows for each in known])
    queries = Texts.joined(
        [each.queries for each in known], np.concatenate([each.query_length for each in known])
    )
    docs = Texts.joined([each.docs for each in known], np.concatenate([each.doc_length for each in known]))
    grade = np.concatenate([each.grade for each in known])
    del parts, known
    starts = starts_of_runs(queries.chunk, queries.begin, queries.length)
    if len(starts) < len(queries):  # a query goes on in the next piece
        queries = Texts.joined(*_fields(queries.chunk, queries.start[starts], queries.start[starts + 1]))
        rows = np.add.reduceat(rows, starts)
    start = np.append(0, np.cumsum(rows))
    query = np.arange(len(rows)).repeat(rows)
    one = np.uint64(1)
    if not are_different(hashes(queries.chunk, queries.begin, queries.length, one)):
        return None
    if (rows > 1).any() and not are_different(hashes(docs.chunk, docs.begin, docs.length, salts(query, one))):
        return None
    return Judgments(queries, docs, start, grade, source=source)


def _pieces(content: bytes) -> Iterator[Chunk]:
    """The content in pieces of whole lines."""
    begin = 0
    while begin < len(content):
        end = content.find(b"\n", begin + PIECE) + 1 or len(content)
        yield chunk_of(content[begin:end])
        begin = end


def _part(chunk: Chunk) -> _Part | None:
    """What a piece holds; None where it is not plain."""
    lines = split(chunk, COLUMNS)
    if not len(lines) or lines.comments:
        return None
    begin, end = lines.begin, lines.end
    starts = starts_of_runs(chunk, begin[QUERY], end[QUERY] - begin[QUERY])
    if len(starts_of_runs(chunk, begin[ASPECT], end[ASPECT] - begin[ASPECT])) > 1:
        return None
    queries, query_length = _fields(chunk, begin[QUERY, starts], end[QUERY, starts])
    docs, doc_length = _fields(chunk, begin[DOC], end[DOC])
    rows = np.diff(np.append(starts, len(lines)))
    return _Part(queries[0], query_length, rows, docs[0], doc_length, _grades(lines), lines.field(0, ASPECT))


def _fields(chunk: Chunk, begin: Array, end: Array) -> tuple[list[bytes], Array]:
    """Fields that stand one behind the other as one text, and how long each is."""
    step = np.zeros(len(chunk.buffer) + 1, dtype=np.int8)
    step[begin] += 1
    step[end] -= 1  # where another field may begin
    inside = np.cumsum(step[:-1], dtype=np.int8).view(np.bool_)
    return [chunk.buffer[inside].tobytes()], end - begin


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
