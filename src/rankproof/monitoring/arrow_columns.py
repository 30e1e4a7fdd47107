"""Columns of Arrow as arrays of NumPy; a column of an unusual kind is read row by row elsewhere.

Values are read directly from Arrow's buffers: its own conversions to NumPy and back import pandas, which takes longer
than reading a hundred thousand events.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from rankproof.core.hits import Array
from rankproof.monitoring.event_block import SKETCH, UnusualShape, as_bytes, hash_bytes, sketch_bytes
from rankproof.monitoring.event_values import Rejected

_MAY_BE_BLANK = np.isin(
    np.arange(256), [*(ord(each) for each in map(chr, range(128)) if each.isspace()), 0xC2, 0xE1, 0xE2, 0xE3]
)
"""The bytes of UTF-8 with which a blank begins."""
ISO_TIME = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)?$"
ZONED = r"(Z|[+-]\d\d:\d\d)$"


def is_text(kind: Any) -> bool:
    """Whether the values are texts, as they are or as places in a dictionary."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def decode_dictionary(column: Any) -> Any:
    """The column without a dictionary around lists; texts stay as they are."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_dictionary(column.type) and not pa.types.is_string(column.type.value_type):
        return column.dictionary_decode()
    return column


def values_of(column: Any) -> Array:
    """Numbers, times or flags as they lie in memory; if a value is null, anything may stand."""
    kind, data = column.type, column.buffers()[1]
    if pa.types.is_boolean(kind):
        return _bits(data, column)
    sign = "f" if pa.types.is_floating(kind) else "u" if pa.types.is_unsigned_integer(kind) else "i"
    size = kind.bit_width // 8
    return np.frombuffer(data or b"", f"{sign}{size}", len(column), column.offset * size)


def _bits(data: Any, column: Any) -> Array:
    """The flags of a column, one bit each."""
    first, start = column.offset // 8, column.offset % 8
    size = -(-(start + len(column)) // 8)
    bits = np.frombuffer(data or b"", np.uint8, size, first)
    return np.unpackbits(bits, bitorder="little")[start : start + len(column)].view(bool)


def as_places(rows: Array) -> Any:
    """Whole numbers as a column of Arrow."""
    return pa.Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(rows.astype(np.int64))])


def nulls(column: Any) -> Array:
    """Which values are null."""
    data = column.buffers()[0] if column.null_count else None
    if data is None:  # a column without a type has no bits: all of it is null
        return np.full(len(column), column.null_count > 0)
    return ~_bits(data, column)


def numbers(column: Any) -> Array:
    """Numbers with NaN for null."""
    kind = column.type
    if pa.types.is_null(kind):
        return np.full(len(column), np.nan)
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        raise UnusualShape
    found = values_of(column).astype(np.float64, copy=False)
    return np.where(nulls(column), np.nan, found) if column.null_count else found


def lists(column: Any) -> tuple[Array, Array, Any]:
    """The lengths of lists (0 for null), if each begins among the values, and the values."""
    kind = column.type
    if pa.types.is_null(kind):
        return np.zeros(len(column)), np.zeros(len(column) + 1, dtype=np.int64), pa.nulls(0, pa.string())
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        raise UnusualShape
    begins = values_of(column.offsets).astype(np.int64)
    inner = column.values.slice(begins[0], begins[-1] - begins[0])
    begins = begins - begins[0]
    lengths = np.diff(begins)
    if column.null_count and (null := nulls(column) & (lengths > 0)).any():  # values that nobody sees
        inner = inner.take(as_places(np.flatnonzero(~np.repeat(null, lengths))))
        lengths[null] = 0
        begins = np.concatenate([[0], np.cumsum(lengths)])
    return lengths.astype(np.float64), begins, inner


Hashes = tuple[Array, Array]
"""The hash of each text (0 for null), and the sketch of each query."""


def hash_texts(column: Any, known: dict[str, tuple[Any, Hashes]], name: str) -> Hashes:
    """The hashes and, of queries, the sketches; `known` keeps those of the last dictionary of each column, which most
    batches of a file have in common."""
    sketched = name == "query"
    if pa.types.is_integer(column.type):
        column = column.cast(pa.string())
    if pa.types.is_null(column.type):
        return np.zeros(len(column), dtype=np.uint64), np.zeros((SKETCH, len(column)), dtype=np.uint64)
    if sketched and is_text(column.type) and not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    if not pa.types.is_dictionary(column.type):
        return _hashes_of(column, sketched)
    entries, found = known.get(name, (None, None))
    if found is None or not column.dictionary.equals(entries):
        hashes, sketch = _hashes_of(column.dictionary, sketched)
        nothing = np.zeros((len(sketch), 1), dtype=np.uint64)  # of null, behind the end
        found = np.append(hashes, np.uint64(0)), np.hstack([sketch, nothing])
        known[name] = column.dictionary, found
    at = places(column)
    return found[0].take(at), found[1].take(at, axis=1)


def _hashes_of(texts: Any, sketched: bool) -> Hashes:
    if not is_text(texts.type):
        raise UnusualShape
    data, begins = _bytes_of(texts)
    if not sketched:
        return hash_bytes(data, begins), np.zeros((0, len(texts)), dtype=np.uint64)
    if (data < 128).all():
        data = data + np.uint8(32) * ((data >= ord("A")) & (data <= ord("Z")))
    else:  # small letters are those of Python: the tables of Arrow differ for a few
        data, begins = as_bytes([(each or "").lower() for each in texts.to_pylist()])
    return hash_bytes(data, begins), sketch_bytes(data, begins)


def places(encoded: Any) -> Array:
    """The place of each value in the dictionary; null has the one behind its end."""
    found = values_of(encoded.indices).astype(np.int64)
    if encoded.indices.null_count:
        found[nulls(encoded.indices)] = len(encoded.dictionary)
    return found


def has_text(texts: Any) -> Array:
    """Which texts are more than blanks; null is none."""
    data, begins = _bytes_of(texts)
    some = np.diff(begins) > 0
    first = np.zeros(len(some), dtype=np.uint8)
    first[some] = data[begins[:-1][some]]
    blank = np.flatnonzero(some & _MAY_BE_BLANK[first])  # to look at the others is needless
    if len(blank):
        some[blank] = [each.strip() != "" for each in texts.take(as_places(blank)).to_pylist()]
    return np.asarray(some)


def _bytes_of(texts: Any) -> tuple[Array, Array]:
    """The bytes of a column of texts, and where each begins; null is empty."""
    _, ends, data = texts.buffers()
    kind = np.int64 if pa.types.is_large_string(texts.type) else np.int32
    begins = np.zeros(len(texts) + 1, dtype=np.int64)
    if ends is not None and ends.size:
        begins[:] = np.frombuffer(ends, dtype=kind)[texts.offset : texts.offset + len(texts) + 1]
    everything = np.frombuffer(data if data is not None else b"", dtype=np.uint8)[begins[0] : begins[-1]]
    begins -= begins[0]
    lengths = np.diff(begins)
    if texts.null_count and (null := nulls(texts) & (lengths > 0)).any():  # bytes that nobody sees
        everything = everything[~np.repeat(null, lengths)]
        lengths[null] = 0
        begins = np.concatenate([[0], np.cumsum(lengths)])
    return everything, begins


def apply_code(column: Any, code: Callable[[Any], int]) -> Array:
    """Each value through a function, called once a value that differs."""
    encoded = _encoded(column)
    table = np.array([*(code(each) for each in encoded.dictionary.to_pylist()), -1], dtype=np.int32)
    return np.asarray(table.take(places(encoded)))


def _encoded(column: Any) -> Any:
    """The column as places in a dictionary."""
    if pa.types.is_nested(column.type):
        raise UnusualShape
    return column if pa.types.is_dictionary(column.type) else column.dictionary_encode()


def parse_numbers(column: Any, parse: Callable[[Any], float], bad: Array, nothing: float) -> Array:
    """Each value as a number; what cannot be one is bad, and null is `nothing`."""
    encoded, table = _encoded(column), []
    for each in encoded.dictionary.to_pylist():
        try:
            table.append(nothing if each is None else float(parse(each)))
        except Rejected:
            table.append(np.inf)
    found = np.array([*table, nothing])[places(encoded)]
    bad |= np.isinf(found)
    return np.where(np.isinf(found), nothing, found)


def parse_times(column: Any) -> Any:
    """Times written as ISO 8601, with or without zones, as Arrow's; others are looked at row by row."""
    import pyarrow.compute as pc

    column = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    if pc.all(pc.match_substring_regex(column, ISO_TIME)).as_py() is False:
        raise UnusualShape
    zoned = pc.any(pc.match_substring_regex(column, ZONED)).as_py()
    return column.cast(pa.timestamp("us", "UTC" if zoned else None))


def in_order_of_time(column: Any) -> Array:
    """Numbers in the order of times of clicks; times that are texts, or missing, are looked at row by row."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    found = numbers(column)
    if np.isnan(found).any():
        raise UnusualShape
    return found
