"""Texts to vectors: in batches, checked, and each text once."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from rankproof.bench.adapters.awaiting import finished
from rankproof.bench.retrieve.embedder import Embed
from rankproof.core.hits import Array
from rankproof.errors import DataError, shorten
from rankproof.progress import Progress
from rankproof.store.answers import Answers, opened


def embedded(embed: Embed, texts: Sequence[str], batch: int) -> Array:
    """One row a text, in single precision; each text is handed over once.

    >>> embedded(lambda texts: [[len(text), 1] for text in texts], ["a", "bb", "a"], batch=2).tolist()
    [[1.0, 1.0], [2.0, 1.0], [1.0, 1.0]]
    """
    once = list(dict.fromkeys(texts))
    return _rows(dict(chain.from_iterable(_batches(embed, once, batch))), texts)


def embedded_once(
    embed: Embed, texts: Sequence[str], batch: int, settings: Mapping[str, Any], path: Path
) -> Array:
    """The same, with the vectors kept in a file under the text and the embedder's settings."""
    keys = {text: _key(text, settings) for text in dict.fromkeys(texts)}
    with opened(path) as kept:
        found = _kept(kept, keys)
        missing = [text for text in keys if text not in found]
        for made in _batches(embed, missing, batch):
            kept.put((keys[text], _packed(vector)) for text, vector in made)
            found.update(made)
    return _rows(found, texts)


def _batches(embed: Embed, texts: list[str], batch: int) -> Iterator[list[tuple[str, Array]]]:
    progress = Progress("embedding", len(texts), noun="texts")
    try:
        for start in range(0, len(texts), batch):
            progress.tell(start, failed=0)
            part = texts[start : start + batch]
            yield list(zip(part, _checked(finished(embed(part)), part), strict=True))
    finally:
        progress.close()


def _rows(vectors: Mapping[str, Array], texts: Sequence[str]) -> Array:
    sizes = sorted({len(vector) for vector in vectors.values()})
    if len(sizes) > 1:
        raise DataError(
            f"embedder: got vectors of {' and of '.join(map(str, sizes))} numbers, expected all to be alike. "
            "Next: check that one model makes them all."
        )
    return np.array([vectors[text] for text in texts], dtype=np.float32).reshape(len(texts), *sizes or [0])


def _checked(given: Any, texts: Sequence[str]) -> Array:
    """What an embedder gave, if it is one vector of finite numbers for each text."""
    try:
        vectors: Array = np.asarray(given, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"embedder: got {shorten(given)}, expected for each text a list of as many numbers ({error})."
            " Next: return one list of numbers a text."
        ) from error
    if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.shape[1]:
        raise DataError(
            f"embedder: got an array of shape {vectors.shape} for {len(texts)} texts, expected one vector for each. "
            "Next: return a list with a list of numbers for each text."
        )
    unfit = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(unfit):
        raise DataError(
            f"embedder: the vector of {shorten(texts[unfit[0]])} has numbers that are NaN or infinite "
            f"({len(unfit)} of {len(texts)} vectors of this batch). Next: check what the model makes of this text."
        )
    return vectors


# --- vectors in a file ----------------------------------------------------------------------------


def _kept(kept: Answers, keys: Mapping[str, str]) -> dict[str, Array]:
    there = kept.get(keys.values())
    return {text: _unpacked(there[key]) for text, key in keys.items() if key in there}


def _key(text: str, settings: Mapping[str, Any]) -> str:
    said = json.dumps([settings, text], sort_keys=True)
    return f"vector {blake2b(said.encode(), digest_size=20).hexdigest()}"


def _packed(vector: Array) -> str:
    return b64encode(vector.astype("<f4").tobytes()).decode("ascii")


def _unpacked(text: str) -> Array:
    return np.frombuffer(b64decode(text), dtype="<f4").astype(np.float32)
