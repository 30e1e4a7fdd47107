"""Ids as bytes with hash keys: the judged documents as a table for fast lookup of the documents of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from operator import index
from threading import Lock
from typing import NamedTuple, overload

import numpy as np

from rankproof.core.arrays import distinct
from rankproof.core.hits import Array
from rankproof.core.judgments import Judgments, cached_for_judgments
from rankproof.io.trec.chunks import PAD, Chunk

SPREAD = np.uint64(0x9E3779B97F4A7C15)
HALF = np.uint64(32)
LONG = 1024
"""Bytes of a field that are compared word by word; the rest of a longer field is compared as a whole."""
SMALL = 2**31 - 2 * LONG
"""Places in a shorter text, and a little behind it, are numbers of 32 bits."""
SOME = 1 << 13
"""How many ids are made text at a time."""
OFTEN = 200
"""Finding one id takes as long as putting so many into a dict of all."""
ROWS = 1 << 18
"""How many fields are worked on at a time."""


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
    return np.asarray(chunk.words(begin) << beyond.astype(np.uint64))


def hashes(chunk: Chunk, begin: Array, length: Array, seed: np.uint64, query: Array | None = None) -> Array:
    """A number for each field that depends on all its bytes, on the seed, and on the query if there are any."""
    key = np.empty(len(begin), dtype=np.uint64)
    if len(key) > ROWS:  # what is needed on the way takes several times the room of the keys
        for at in range(0, len(key), ROWS):
            some = slice(at, at + ROWS)
            queries = None if query is None else query[some]
            key[some] = hashes(chunk, begin[some], length[some], seed, queries)
        return key
    key[:] = seed if query is None else (query.astype(np.uint64) + seed) * SPREAD
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
    alike: Array = length[1:] == length[:-1]
    other = ~alike
    longest = int(length.max(initial=0))
    for at in range(0, min(longest, LONG), 8):
        word = chunk.words(np.minimum(begin + at, len(chunk.buffer) - 8))
        word <<= np.uint64(8 * max(0, at + 8 - longest))  # what stands behind a shorter field is still there
        other |= word[1:] != word[:-1]
    rows = np.flatnonzero(alike & (other | (length[1:] > LONG)))
    other[rows] = ~are_equal(chunk, begin[rows], chunk, begin[rows + 1], length[rows])
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
        return cls.join([text], np.fromiter(sizes, dtype=np.intp, count=len(ids)))

    @classmethod
    def join(cls, parts: Iterable[bytes], length: Array) -> Texts:
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

    @property
    def length(self) -> Array:
        """How many bytes each id has."""
        return np.asarray(self.start[1:] - self.start[:-1])

    def length_of(self, ids: Array) -> Array:
        """How many bytes some of the ids have."""
        return np.asarray(self.start[1:].take(ids) - self.start.take(ids))

    def __len__(self) -> int:
        return len(self.start) - 1

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        if isinstance(at, slice):
            begin, end, step = at.indices(len(self))
            return self._between(begin, end) if step == 1 else [self[i] for i in range(begin, end, step)]
        at = index(at)
        if not -len(self) <= at < len(self):
            raise IndexError(f"id {at} of {len(self):,}")
        at %= len(self)
        return str(self.chunk.buffer.data[self.start[at] : self.start[at + 1]], "utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        for begin in range(0, len(self), SOME):
            yield from self._between(begin, min(begin + SOME, len(self)))

    def _between(self, begin: int, end: int) -> list[str]:
        places = self.start[begin : max(begin, end) + 1]
        return self.chunk.texts(places[:-1], places[1:], "surrogatepass")

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
        seed, keys = different_keys(ids)
        order = np.argsort(keys)
        return cls(ids, seed, keys[order], _in_half(order))

    def find(self, chunk: Chunk, begin: Array, length: Array) -> Array:
        """Which of the ids each field is, -1 if it is none."""
        found = np.full(len(begin), -1, dtype=np.intp)
        if not len(self.key):
            return found
        key = hashes(chunk, begin, length, self.seed)
        at = np.minimum(np.searchsorted(self.key, key), len(self.key) - 1)
        which = self.order[at]
        rows = np.flatnonzero((self.key[at] == key) & (self.ids.length_of(which) == length))
        which = which[rows]
        equal = are_equal(chunk, begin[rows], self.ids.chunk, self.ids.start[which], length[rows])
        found[rows[equal]] = which[equal]
        return found

    @cached_property
    def _table(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.ids)}

    def __getitem__(self, name: str) -> int:
        times = self.__dict__["times"] = self.__dict__.get("times", 0) + 1
        if times > len(self.ids) // OFTEN:
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


def different_keys(ids: Texts, query: Array | None = None) -> tuple[np.uint64, Array]:
    """Keys of which no two are equal, and the seed that gives them: nearly always the first one."""
    for seed in map(np.uint64, count(1)):
        keys = hashes(ids.chunk, ids.begin, ids.length, seed, query)
        if are_different(keys):
            break
    return seed, keys


def are_different(keys: Array) -> bool:
    """Whether no two keys are equal; many are looked at in parts, which takes less room."""
    parts = min(len(keys) // (4 * ROWS) + 1, 256)
    first = keys.view(np.uint8)[7::8]  # the highest byte of each
    for part in range(parts):
        low, high = part * 256 // parts, (part + 1) * 256 // parts - 1
        some = np.sort(keys if parts == 1 else keys[(first >= low) & (first <= high)])
        if (some[1:] == some[:-1]).any():
            return False
    return True


ROOM = 64
"""How many times larger than the number of keys the table of what may be among them is."""
BITS = (10, 23)
"""The least and the most bits that number a place in that table."""
CACHED = 1 << 15
"""With more judgments than this the keys and their table leave the processor's cache, and looking one up takes long."""
OTHERS = 2
"""Up to so many judgments for each document of a piece, those of its own queries are put in order apart."""


class Keys(NamedTuple):
    """Keys of judgments, to be looked up in."""

    keys: Array
    """The keys, ascending; no two are equal."""
    judged: Array
    """The judgment of each key."""
    maybe: Array
    """Whether any of the keys has these first bits: small enough to stay in the processor's cache."""
    shift: np.uint64

    @classmethod
    def of(cls, keys: Array, judged: Array | None = None) -> Keys:
        """The keys of some judgments, or of all."""
        order = np.argsort(keys)
        bits = int(np.clip(np.ceil(np.log2(ROOM * len(keys) + 1)), *BITS))
        shift = np.uint64(64 - bits)
        maybe = np.zeros(1 << bits, dtype=bool)
        maybe[keys >> shift] = True
        return cls(keys[order], _in_half(order) if judged is None else judged[order], maybe, shift)

    def find(self, keys: Array) -> tuple[Array, Array]:
        """The rows whose key is among these, and which judgment each then is."""
        parts = [keys[at : at + ROWS] for at in range(0, len(keys), ROWS)]
        maybe = [
            self.maybe.take((part >> self.shift).view(np.int64)).nonzero()[0] + at * ROWS
            for at, part in enumerate(parts)
        ]
        rows = np.concatenate([np.zeros(0, dtype=np.intp), *maybe])
        at = np.minimum(np.searchsorted(self.keys, keys[rows]), max(len(self.keys) - 1, 0))
        known = self.keys[at] == keys[rows]
        return rows[known], self.judged[at[known]]


@dataclass(frozen=True, eq=False)
class Index:
    """The judgments by a key of query and document; keys are only a hint, equality decides."""

    queries: Names
    """The judged queries."""
    docs: Texts
    """The judged document ids."""
    query: Array
    """The query of each judged document."""
    start: Array
    """Where the judgments of each query begin."""
    salt: np.uint64
    keys: Array
    """The key of each judgment; no two are equal."""
    _lock: Lock = field(default_factory=Lock)

    @cached_property
    def _every(self) -> Keys:
        return Keys.of(self.keys)

    def _keys_for(self, query: Array) -> Keys:
        """The keys to look up in: of many judgments those of these queries, so that more of them take no longer."""
        if len(self.keys) > CACHED:
            some = distinct(query[starts_of(query)])
            begin, size = self.start[some], self.start[some + 1] - self.start[some]
            ends = size.cumsum()
            if len(some) and ends[-1] <= OTHERS * len(query):
                judged = np.arange(ends[-1]) + (begin - (ends - size)).repeat(size)
                return Keys.of(self.keys[judged], _in_half(judged))
        with self._lock:  # which is made once, however many threads ask
            return self._every

    def find(self, keys: Array, query: Array, chunk: Chunk, begin: Array, length: Array) -> tuple[Array, Array]:
        """Which documents of a run are judged, and which judgment each is."""
        rows, judged = self._keys_for(query).find(keys)
        same = (self.docs.length_of(judged) == length[rows]) & (self.query[judged] == query[rows])
        rows, judged = rows[same], judged[same]
        equal = are_equal(chunk, begin[rows], self.docs.chunk, self.docs.start[judged], length[rows])
        return rows[equal], judged[equal]


def starts_of(query: Array) -> Array:
    """Where each run of one query begins."""
    return np.append(0, np.flatnonzero(query[1:] != query[:-1]) + 1)[: len(query)]


def _in_half(order: Array) -> Array:
    return order.astype(np.int32) if len(order) < SMALL else order


@cached_for_judgments
def index_of(judgments: Judgments) -> Index:
    """The judgments' index."""
    docs, query = Texts.of(judgments.doc_ids), judgments.query
    salt, keys = different_keys(docs, query)
    return Index(Texts.of(judgments.query_ids).places, docs, query, judgments.start, salt, keys)
