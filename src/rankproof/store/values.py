"""Values as compact bytes, bit for bit; a flipped bit in them is noticed."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence

import numpy as np

from rankproof.core.hits import Array


def pack(values: Array) -> bytes:
    """Numbers as little-endian doubles, compressed.

    >>> unpack(pack(np.array([0.1, -0.0, 1e-300]))).tolist()
    [0.1, -0.0, 1e-300]
    """
    return zlib.compress(np.asarray(values, dtype="<f8").tobytes())


def unpack(data: bytes) -> Array:
    """The numbers that `pack` was given."""
    return np.frombuffer(zlib.decompress(data), dtype="<f8").astype(np.float64)


def pack_flags(flags: Array | None) -> bytes | None:
    """Which queries count, a byte each, compressed; None stays None."""
    return None if flags is None else zlib.compress(np.asarray(flags, dtype=np.uint8).tobytes())


def unpack_flags(data: bytes | None) -> Array | None:
    """The flags that `pack_flags` was given."""
    return None if data is None else np.frombuffer(zlib.decompress(data), dtype=np.uint8).astype(bool)


def pack_ids(ids: Sequence[str]) -> bytes:
    """Ids as a JSON list, compressed: any text there is.

    >>> unpack_ids(pack_ids(["q1", "検索"]))
    ('q1', '検索')
    """
    return zlib.compress(json.dumps(list(ids)).encode("ascii"))


def unpack_ids(data: bytes) -> tuple[str, ...]:
    """The ids that `pack_ids` was given."""
    return tuple(json.loads(zlib.decompress(data)))
