"""Many events as columns of NumPy: the output of every reader, and the input of the metrics.

There are no texts here: ids are 64-bit hashes, a query a hash with a sketch of its character trigrams. An unknown
value is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from rankproof.core.hits import Array

VALUES = (
    "results",  # how many were shown
    "margin",  # the best score minus the second best
    "clicks",  # how many
    "first_click",  # the rank of the first click in time, 0 if it is not known
    "top_click",  # the best rank that was clicked, 0 if none is known
    "cited_click",  # whether a cited document was clicked, if some are cited
    "citations",  # how many documents the answer cites
    "answered",  # whether there is an answer
    "abstained",  # whether it says "I don't know"
    "thumb",  # 1, -1, or 0 for no vote
    "latency_ms",
)
"""The columns of numbers, before those that sessions add."""
NAN = math.nan
MOST_VALUES = 50
"""The number of values of a slice that are kept apart; later ones are merged."""
REST = "(other values)"
SKETCH = 4
"""Words of 64 bits in the sketch of a query."""


@dataclass(frozen=True, eq=False)
class EventBlock:
    """Events as columns; 0 is an id that is not known, -1 a slice."""

    time: Array
    """Microseconds since 1970, UTC."""
    ids: Array
    """Rows: event, session, user, query; hashes of 64 bits."""
    sketch: Array
    """Rows: words of the trigram sketch of the query."""
    values: Array
    """Rows as in `VALUES`, then the fields that were asked for; 32-bit floats."""
    slices: Array
    """Rows as in the slices that were asked for; codes of `Codes`."""

    def __len__(self) -> int:
        return len(self.time)

    @property
    def _tables(self) -> tuple[Array, ...]:
        return self.ids, self.sketch, self.values, self.slices

    def rows(self, which: Array) -> EventBlock:
        """Some of the events."""
        # To take them takes half as long as each[:, which].
        return EventBlock(self.time[which], *(each.take(which, axis=1) for each in self._tables))

    def keep(self, which: Array) -> EventBlock:
        """Some of the events, in any order, where all of them were: to move them is faster than to take new memory."""
        for row in (row for each in self._tables for row in each):
            row[: len(which)] = row.take(which)
        return replace(self.part(0, len(which)), time=self.time.take(which))

    def part(self, start: int, end: int) -> EventBlock:
        """The events from one place to another, not copied."""
        return EventBlock(self.time[start:end], *(each[:, start:end] for each in self._tables))


EVENT, SESSION, USER, QUERY = range(4)


def join_blocks(blocks: list[EventBlock]) -> EventBlock:
    """Several blocks joined; the list is emptied, so that both need not be in memory at once."""
    if len(blocks) == 1:
        return blocks.pop()
    names = ("time", "ids", "sketch", "values", "slices")
    columns = {name: [getattr(each, name) for each in blocks] for name in names}
    blocks.clear()
    return EventBlock(*(np.concatenate(columns.pop(name), axis=-1) for name in names))


class Codes:
    """The values of one slice as small numbers, in the order they were met."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._codes: dict[Any, int] = {None: -1, "": -1}

    def code(self, value: Any) -> int:
        """The number of a value; one that is not known is -1. A number has one name, however a format writes it."""
        key = (value.__class__, value) if value.__class__ in _NUMBERS else value
        try:
            return self._codes[key]
        except KeyError:
            name = name_of_value(value)
        except TypeError:  # a list, which cannot be the value of a slice
            return self.code(str(value))
        if not name:
            return -1
        if name not in self.names and len(self.names) >= MOST_VALUES:
            name = REST
        if name not in self.names:
            self.names.append(name)
        code = self.names.index(name)
        if len(self._codes) < 100_000:
            self._codes[key] = code
        return code


_NUMBERS = {bool, int, float}


def name_of_value(value: Any) -> str:
    """The name of a value of a slice: 1 and 1.0 are the same, as a column of whole numbers with gaps is one of floats.

    >>> name_of_value(1.0), name_of_value(True), name_of_value(float("nan"))
    ('1', 'true', '')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return "" if value != value else f"{value:.0f}" if value.is_integer() else str(value)
    return str(value)


_MIX, _SEED = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)


def mixed(hashes: Array) -> Array:
    """The hashes with all bits stirred, so that each of them can choose a group."""
    h = hashes ^ (hashes >> np.uint64(32))
    h = h * _MIX
    return np.asarray(h ^ (h >> np.uint64(29)))


def as_bytes(texts: Sequence[str]) -> tuple[Array, Array]:
    """The bytes of all texts one after another, and where each begins; one place more at the end."""
    joined, ends = "".join(texts), np.zeros(len(texts) + 1, dtype=np.int64)
    if joined.isascii():
        np.cumsum(list(map(len, texts)), out=ends[1:])
        return np.frombuffer(joined.encode("ascii"), dtype=np.uint8), ends
    encoded = [each.encode("utf-8", "surrogatepass") for each in texts]
    np.cumsum(list(map(len, encoded)), out=ends[1:])
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), ends


def hash_bytes(data: Array, begins: Array) -> Array:
    """A 64-bit hash of each text; that of an empty one is 0, which means that it is not known.

    >>> a, b, empty = hash_bytes(*as_bytes(["a", "b", ""])).tolist()
    >>> a != b, empty
    (True, 0)
    """
    starts, lengths = begins[:-1], np.diff(begins)
    padded = np.concatenate([data, np.zeros(8, dtype=np.uint8)])
    words = np.ndarray((len(data) + 1,), "<u8", padded, strides=(1,))  # eight bytes from each place on
    found = lengths.astype(np.uint64) * _SEED
    found = _stirred(found, words[starts] & _FIRST_BYTES[np.minimum(lengths, 8)])
    left, at = np.flatnonzero((lengths > 8) & (lengths <= LONG)), 8
    while len(left):
        size = lengths[left] - at
        found[left] = _stirred(found[left], words[starts[left] + at] & _FIRST_BYTES[np.minimum(size, 8)])
        left, at = left[size > 8], at + 8
    for each in np.flatnonzero(lengths > LONG).tolist():  # a pass over all texts for eight bytes of a few is too slow
        whole = blake2b(data[begins[each] : begins[each + 1]].tobytes(), digest_size=8).digest()
        found[each] = int.from_bytes(whole, "little")
    return np.where(lengths > 0, np.maximum(mixed(found), np.uint64(1)), np.uint64(0))


LONG = 512
"""Bytes of a text from which on it is hashed alone."""
_FIRST_BYTES = np.array([(1 << 8 * size) - 1 for size in range(9)], dtype=np.uint64)


def _stirred(found: Array, word: Array) -> Array:
    stirred = (found ^ word) * _MIX
    return np.asarray((stirred ^ (stirred >> np.uint64(32))) * _SEED)


def sketch_bytes(data: Array, begins: Array) -> Array:
    """The character trigrams of each text as bits, in `SKETCH` words; rows are words."""
    found = np.zeros((SKETCH, len(begins) - 1), dtype=np.uint64)
    if len(data) < 3:
        return found
    wide = data.astype(np.uint32)
    trigram = np.zeros(len(data), dtype=np.uint32)
    trigram[:-2] = wide[:-2] | wide[1:-1] << np.uint32(8) | wide[2:] << np.uint32(16)
    bit = (trigram * np.uint32(2654435761)) >> np.uint32(24)
    left = np.repeat(begins[1:], np.diff(begins)) - np.arange(len(data))
    some = np.flatnonzero(np.diff(begins) > 0)
    for word in range(SKETCH):
        inside = (bit >> np.uint32(6) == word) & (left >= 3)
        bits = np.where(inside, np.uint64(1) << (bit & np.uint32(63)).astype(np.uint64), np.uint64(0))
        found[word, some] = np.bitwise_or.reduceat(bits, begins[some])
    return found


class UnusualShape(Exception):
    """Raised for records, or a column, that must be read one by one."""
