"""Ids compared as words of eight bytes: equal, or hashed to one number."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b

import numpy as np

from rankproof.core.hits import Array
from rankproof.io.trec.chunks import Chunk

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
