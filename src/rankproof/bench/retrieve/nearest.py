"""Exact search for the nearest vectors: one matrix product, and as little more as can be.

Sorting out the best of 100,000 products can cost more than making them. So the products are read once, in small
blocks, for the largest of each; the k-th largest of these is a bar that at least k vectors reach, and few more do.
Only those are looked at again: their products are made anew in double precision, each in the same way wherever it
stands, so that equal vectors have equal scores and a question has the same answer alone and among others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from rankproof.bench.retrieve.best import best
from rankproof.core.hits import Array

Nearest: TypeAlias = tuple[Array, Array]
"""Places, and the product at each."""

BLOCK = 64
"""Products of which only the largest is looked at first."""

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
        for question, own in zip(questions, products, strict=True):
            places = _close(own, k, _doubt(question) * self.longest, allowed)
            yield _exactly(self.rows, question, places, k)


def _close(products: Array, k: int, doubt: float, allowed: Array | None) -> Array:
    """The places of all products that may be among the `k` largest."""
    if allowed is None:
        return _largest(products, k, doubt)
    places = np.flatnonzero(allowed)
    return np.take(places, _largest(products[places], k, doubt))


def _largest(products: Array, k: int, doubt: float) -> Array:
    if len(products) <= k:
        return np.arange(len(products))
    places = np.flatnonzero(products >= _bar(products, k) - doubt)
    if len(places) <= 4 * k:
        return places
    # Where neighbours are alike, the bar was low: these few are worth a true partition.
    bar = np.partition(products[places], len(places) - k)[len(places) - k]
    close: Array = places[products[places] >= bar - doubt]
    return close


def _bar(products: Array, k: int) -> float:
    """What at least `k` of the products reach."""
    whole = len(products) // BLOCK
    if whole < k:
        return float(np.partition(products, len(products) - k)[len(products) - k])
    largest = products[: whole * BLOCK].reshape(whole, BLOCK).max(axis=1)
    return float(np.partition(largest, whole - k)[whole - k])


def _exactly(vectors: Array, question: Array, places: Array, k: int) -> Nearest:
    """The `k` best of these places by their products in double precision."""
    products = (vectors[places].astype(np.float64) * question.astype(np.float64)).sum(axis=1)
    top = best(products, k)
    return places[top], products[top]


def _doubt(question: Array) -> float:
    """By how much two products with a vector of length 1 may be out together in single precision."""
    precision = float(np.finfo(np.float32).eps)
    return 2 * len(question) * precision * float(np.linalg.norm(question))
