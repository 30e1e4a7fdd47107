"""Search among documents that stand as vectors in a space."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from rankproof.bench.retrieve.nearest import Nearest, Vectors
from rankproof.bench.retrieve.search import Allowed, Answer
from rankproof.bench.retriever import Found
from rankproof.core.hits import Array

Place = Callable[[Sequence[str]], Array]
"""Gives each question its vector; one of zeros where it has none."""


def among(names: Sequence[str], rows: Array, place: Place) -> Answer:
    """Answers with the documents nearest to a question; `names`, the highest first, are those of the rows."""
    vectors = Vectors(rows)

    @lru_cache(maxsize=4)
    def mask(allowed: frozenset[str]) -> Array:
        return np.fromiter((name in allowed for name in names), dtype=bool, count=len(names))

    def answer(questions: Sequence[str], k: int, allowed: Allowed) -> list[Found]:
        asked = place(questions)
        placed = np.flatnonzero(asked.any(axis=1))
        found = vectors.nearest(asked[placed], k, None if allowed is None else mask(allowed))
        by_question = dict(zip(placed.tolist(), found, strict=True))
        return [_named(names, by_question[n]) if n in by_question else [] for n in range(len(questions))]

    return answer


def _named(names: Sequence[str], found: Nearest) -> Found:
    places, products = found
    return [(names[place], value) for place, value in zip(places.tolist(), products.tolist(), strict=True)]


def unit(rows: Array) -> Array:
    """The rows brought to length 1; those of zeros stay.

    >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)).round(2).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    # Scaled first, since the squares of large or small numbers leave the range of single precision.
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    scaled = rows / np.where(largest > 0, largest, 1)
    length = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None]
    unit_rows: Array = scaled / np.where(length > 0, length, 1)
    return unit_rows
