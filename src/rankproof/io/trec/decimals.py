"""Numbers written in decimal, many at a time, exactly as Python reads them."""

from __future__ import annotations

import numpy as np

from rankproof.core.hits import Array
from rankproof.io.trec.chunks import Chunk

FEW = 64
"""Fewer numbers than this are read one by one."""
EXACT = 15
"""So many digits, divided by a power of ten, give the nearest float64 in one step."""
POWERS = np.array([10**i for i in range(EXACT + 1)], dtype=np.uint64)
POINT, MINUS = ord("."), ord("-")

ZEROS = np.uint64(0x3030303030303030)
ABOVE_NINE = np.uint64(0x7676767676767676)
TOP_BITS = np.uint64(0x8080808080808080)


def parse(chunk: Chunk, begin: Array, end: Array) -> Array:
    """The numbers in the fields as float64, NaN for what is none (and for NaN).

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
    """One number, NaN for what is none.

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
    fits = (whole_digits >= 0) & (whole_digits <= 8 - decimals) & (whole_digits + decimals > 0)
    if decimals:
        fits &= chunk.buffer[point] == POINT
    digits = _digits(chunk, point, whole_digits)
    if decimals:
        digits >>= np.uint64(8 * decimals)
        digits |= _digits(chunk, end, np.array(decimals))
    return _combined(digits) / float(10**decimals), fits & _are_digits(digits)


def _by_their_decimals(chunk: Chunk, begin: Array, end: Array) -> Array:
    points = np.append(np.flatnonzero(chunk.buffer == POINT), len(chunk.buffer))
    point = points[np.searchsorted(points, begin)]
    values, ok = _plain(chunk, begin, end, np.where(point < end, end - point - 1, 0))
    values[~ok] = np.nan
    return values


def _plain(chunk: Chunk, begin: Array, end: Array, decimals: Array) -> tuple[Array, Array]:
    """The values of plain decimals such as -12.345 with so many decimals, and which rows are such ones."""
    text = chunk.buffer
    negative = text[begin] == MINUS
    begin = begin + negative
    point = end - decimals - (decimals > 0)
    whole_digits = point - begin
    ok = (whole_digits >= 0) & (whole_digits + decimals > 0) & (whole_digits + decimals <= EXACT)
    ok &= (decimals == 0) | (text[point] == POINT)
    whole, whole_ok = _integers(chunk, point, whole_digits)
    part, part_ok = _integers(chunk, end, decimals)
    power = POWERS[np.minimum(decimals, EXACT)]
    value = (whole * power + part).astype(np.float64) / power.astype(np.float64)
    return np.where(negative, -value, value), ok & whole_ok & part_ok


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
    ok: Array = high == 0
    return ok


def _combined(digits: Array) -> Array:
    """Eight decimal digits, the highest in the lowest byte, as one number: first pairs, then all four."""
    pairs = digits * np.uint64(10) + (digits >> np.uint64(8))
    mask = np.uint64(0x000000FF000000FF)
    high = (pairs & mask) * np.uint64(100 + (1000000 << 32))
    low = ((pairs >> np.uint64(16)) & mask) * np.uint64(1 + (10000 << 32))
    return (high + low) >> np.uint64(32)
