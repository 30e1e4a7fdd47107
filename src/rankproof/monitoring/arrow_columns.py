"""Columns of Arrow as arrays of NumPy; a column of another kind than is usual is looked at row by row elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rankproof.core.hits import Array
from rankproof.monitoring.block import SKETCH, hash_bytes, sketch_bytes
from rankproof.monitoring.events import Rejected
from rankproof.monitoring.rows import UnusualShape

ISO_TIME = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)?$"
ZONED = r"(Z|[+-]\d\d:\d\d)$"


def is_text(kind: Any) -> bool:
    """Whether the values are texts, as they are or as places in a dictionary."""
    import pyarrow as pa

    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def decode_dictionary(column: Any) -> Any:
    """The column without a dictionary around lists; texts stay as they are."""
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_dictionary(column.type) and not pa.types.is_string(column.type.value_type):
        return column.dictionary_decode()
    return column


def nulls(column: Any) -> Array:
    """Which values are null."""
    return np.asarray(column.is_null().to_numpy(zero_copy_only=False))


def numbers(column: Any) -> Array:
    """Numbers with NaN for null."""
    import pyarrow as pa

    kind = column.type
    if not (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_null(kind)
    ):
        raise UnusualShape
    if pa.types.is_boolean(kind):
        column = column.cast(pa.int8())
    return np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False))


def lists(column: Any) -> tuple[Array, Array, Any]:
    """The lengths of lists (0 for null), where each begins among the values, and the values."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_null(kind):
        return np.zeros(len(column)), np.zeros(len(column) + 1, dtype=np.int64), pa.array([], pa.string())
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind)):
        raise UnusualShape
    if column.null_count:
        column = column.fill_null([])
    begins = np.asarray(column.offsets.to_numpy(zero_copy_only=False)).astype(np.int64)
    inner = column.values.slice(begins[0], begins[-1] - begins[0])
    begins = begins - begins[0]
    return np.diff(begins).astype(np.float64), begins, inner


Hashes = tuple[Array, Array]
"""The hash of each text (0 for null), and the sketch of each query."""


def hash_texts(column: Any, known: dict[str, tuple[Any, Hashes]], name: str) -> Hashes:
    """The hashes and, of queries, the sketches; `known` keeps those of the last dictionary of each column, which most
    batches of a file have in common."""
    import pyarrow as pa

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
    return found[0][at], found[1][:, at]


def _hashes_of(texts: Any, sketched: bool) -> Hashes:
    if not is_text(texts.type):
        raise UnusualShape
    data, begins = _bytes_of(_lower(texts) if sketched else texts)
    hashes = hash_bytes(data, begins)
    return hashes, sketch_bytes(data, begins) if sketched else np.zeros((0, len(hashes)), dtype=np.uint64)


def places(encoded: Any) -> Array:
    """The place of each value in the dictionary; null has the one behind its end."""
    index = encoded.indices
    index = index.fill_null(len(encoded.dictionary)) if index.null_count else index
    return np.asarray(index.to_numpy(zero_copy_only=False)).astype(np.int64)


def _lower(texts: Any) -> Any:
    """Texts in small letters, as Python knows them: the tables of Arrow differ for a few."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pc.all(pc.string_is_ascii(texts)).as_py() is not False:
        return pc.ascii_lower(texts)
    return pa.array([None if each is None else each.lower() for each in texts.to_pylist()], pa.large_string())


def _bytes_of(texts: Any) -> tuple[Array, Array]:
    """The bytes of a column of texts, and where each begins."""
    import pyarrow as pa

    texts = texts.fill_null("") if texts.null_count else texts
    wide = pa.types.is_large_string(texts.type)
    _, ends, data = texts.buffers()
    kind = np.int64 if wide else np.int32
    begins = np.frombuffer(ends, dtype=kind)[texts.offset : texts.offset + len(texts) + 1].astype(np.int64)
    everything = np.frombuffer(data, dtype=np.uint8) if data is not None else np.zeros(0, dtype=np.uint8)
    return everything[begins[0] : begins[-1]], begins - begins[0]


def apply_code(column: Any, code: Callable[[Any], int]) -> Array:
    """Each value through a function, called once a value that differs."""
    import pyarrow as pa

    if pa.types.is_nested(column.type):
        raise UnusualShape
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    table = np.array([*(code(each) for each in encoded.dictionary.to_pylist()), -1], dtype=np.int32)
    return np.asarray(table[places(encoded)])


def parse_numbers(column: Any, parse: Callable[[Any], float], bad: Array, nothing: float) -> Array:
    """Each value as a number; what cannot be one is bad, and null is `nothing`."""
    import pyarrow as pa

    if pa.types.is_nested(column.type):
        raise UnusualShape
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    table = []
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
    import pyarrow as pa
    import pyarrow.compute as pc

    column = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
    if pc.all(pc.match_substring_regex(column, ISO_TIME)).as_py() is False:
        raise UnusualShape
    zoned = pc.any(pc.match_substring_regex(column, ZONED)).as_py()
    return column.cast(pa.timestamp("us", "UTC" if zoned else None))


def in_order_of_time(column: Any) -> Array:
    """Numbers in the order of times of clicks; times that are texts, or missing, are looked at row by row."""
    import pyarrow as pa

    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    found = numbers(column)
    if np.isnan(found).any():
        raise UnusualShape
    return found
