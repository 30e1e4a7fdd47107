"""Ids compared as words of eight bytes: equal, or hashed to one number."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankproof.core.hits import Array
from rankproof.io.trec.chunks import Chunk

SPREAD = np.uint64(0x9E3779B97F4A7C15)
HALF = np.uint64(32)


def words(chunk: Chunk, begin: Array, length: Array) -> Iterator[tuple[Array | slice, Array]]:
    """The fields eight bytes at a time, as (the rows that are that long, their next word).

    Bytes behind a field's end do not count: they are shifted out.
    """
    yield slice(None), _word(chunk, begin, length)
    longest = int(length.max(initial=0))
    for at in range(8, longest, 8):
        rows = np.flatnonzero(length > at)
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
    return key


def are_equal(a: Chunk, begin_a: Array, b: Chunk, begin_b: Array, length: Array) -> Array:
    """Which fields of `a` are the same as those of `b`, byte for byte, given that they are as long."""
    equal = np.ones(len(length), dtype=bool)
    for (rows, word_a), (_, word_b) in zip(words(a, begin_a, length), words(b, begin_b, length), strict=True):
        equal[rows] &= word_a == word_b
    return equal


def starts_of_runs(chunk: Chunk, begin: Array, length: Array) -> Array:
    """The rows whose field is another than that of the row before."""
    other = length[1:] != length[:-1]
    for at in range(0, int(length.max(initial=0)), 8):
        word = _word(chunk, np.minimum(begin + at, len(chunk.buffer) - 8), length - at)
        other |= word[1:] != word[:-1]
    return np.append(0, np.flatnonzero(other) + 1)
