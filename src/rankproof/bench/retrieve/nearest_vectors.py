"""Exact search for the nearest vectors: one matrix product, and as little else as possible.

For those near the k-th largest product, products are computed again in double precision, each in the same way at any
position, so that equal vectors have equal scores and a question has the same answer alone and among others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TypeAlias

import numpy as np

from rankproof.bench.retrieve.search import Allowed, Answer
from rankproof.bench.retriever import Found
from rankproof.core.hits import Array


def top_places(scores: Array, k: int) -> Array:
    """The places of the `k` highest scores, highest first; equal ones in their order.

    >>> top_places(np.array([1.0, 3.0, 2.0, 3.0]), 3).tolist()
    [1, 3, 2]
    """
    if len(scores) > k:
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        places = np.flatnonzero(scores >= least)
    else:
        places = np.arange(len(scores))
    order: Array = places[np.argsort(-scores[places], kind="stable")]
    return order[:k]


Place = Callable[[Sequence[str]], Array]
"""Gives each question its vector; one of zeros where it has none."""


def nearest_among(names: Sequence[str], rows: Array, place: Place) -> Answer:
    """Answers with the documents nearest to a question; `names`, the highest first, are those of the rows."""
    vectors = Vectors(rows)

    @lru_cache(maxsize=4)
    def mask(allowed: frozenset[str]) -> Array:
        return np.fromiter((name in allowed for name in names), dtype=bool, count=len(names))

    def answer(questions: Sequence[str], k: int, allowed: Allowed) -> list[Found]:
        asked = place(questions)
        placed = np.flatnonzero(asked.any(axis=1))
        found = vectors.nearest(asked[placed], k, None if allowed is None else mask(allowed))
        answers: list[Found] = [[] for _ in questions]
        for n, (places, products) in zip(placed.tolist(), found, strict=True):
            pairs = zip(places.tolist(), products.tolist(), strict=True)
            answers[n] = [(names[place], value) for place, value in pairs]
        return answers

    return answer


def unit_rows(rows: Array) -> Array:
    """The rows brought to length 1; those of zeros stay.

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)).round(2).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    # Scaled first, since the squares of large or small numbers leave the range of single precision.
    largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
    scaled = rows / np.where(largest > 0, largest, 1)
    length = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))[:, None]
    return np.asarray(scaled / np.where(length > 0, length, 1))


Nearest: TypeAlias = tuple[Array, Array]
"""Places, and the product at each."""

AT_ONCE = 1 << 22
"""Products that are held at a time."""


@dataclass(frozen=True, eq=False)
class Vectors:
    """One row a vector, in single precision."""

    rows: Array

    @cached_property
    def longest(self) -> float:
        """The length of the longest."""
        return float(np.sqrt(np.einsum("ij,ij->i", self.rows, self.rows).max(initial=0.0)))

    def nearest(self, questions: Array, k: int, allowed: Array | None = None) -> list[Nearest]:
        """For each question the places of the `k` vectors with the largest products, and these; equal ones in order.

        >>> vectors = Vectors(np.array([[1, 0], [0, 1], [1, 0]], dtype=np.float32))
        >>> [(places, products)] = vectors.nearest(np.array([[2, 1]], dtype=np.float32), 2)
        >>> places.tolist(), products.tolist()
        ([0, 2], [2.0, 2.0])
        """
        at_once = max(1, AT_ONCE // max(1, len(self.rows)))
        parts = [questions[start : start + at_once] for start in range(0, len(questions), at_once)]
        return [found for part in parts for found in self._nearest(part, k, allowed)]

    def _nearest(self, questions: Array, k: int, allowed: Array | None) -> Iterator[Nearest]:
        products = questions @ self.rows.T
        precision = float(np.finfo(np.float32).eps)
        for question, own in zip(questions, products, strict=True):
            # The largest sum of the rounding errors of two products with a vector of length 1 in single precision.
            doubt = 2 * len(question) * precision * float(np.linalg.norm(question))
            places = _close(own, k, doubt * self.longest, allowed)
            # The best of these by their products in double precision.
            exact = (self.rows[places].astype(np.float64) * question.astype(np.float64)).sum(axis=1)
            top = top_places(exact, k)
            yield places[top], exact[top]


def _close(products: Array, k: int, doubt: float, allowed: Array | None) -> Array:
    """The places of all products that may be among the `k` largest of those that are allowed."""
    if allowed is not None:
        there = np.flatnonzero(allowed)
        return np.take(there, _close(products[there], k, doubt, None))
    if len(products) <= k:
        return np.arange(len(products))
    least = np.partition(products, len(products) - k)[len(products) - k]
    return np.flatnonzero(products >= least - doubt)
