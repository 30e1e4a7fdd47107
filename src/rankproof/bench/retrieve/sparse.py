"""Matrices that are mostly zeros, as far as latent semantic analysis needs them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rankproof.core.hits import Array

AT_ONCE = 1 << 12
"""Entries that are multiplied at a time."""


@dataclass(frozen=True, eq=False)
class Sparse:
    """The entries of a matrix, row after row."""

    starts: Array
    """Where each row begins among the entries, and where the last one ends."""
    columns: Array
    values: Array
    width: int

    @classmethod
    def of(cls, rows: Sequence[Mapping[int, float]], width: int) -> Sparse:
        """A matrix of rows `{column: value}`."""
        sizes = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
        total = int(sizes.sum())
        return cls(
            np.concatenate([[0], np.cumsum(sizes)]),
            np.fromiter((column for row in rows for column in row), dtype=np.int64, count=total),
            np.fromiter((value for row in rows for value in row.values()), dtype=np.float32, count=total),
            width,
        )

    @property
    def row(self) -> Array:
        """The row of each entry."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def scaled(self, by_column: Array) -> Sparse:
        """With each column multiplied."""
        return Sparse(
            self.starts, self.columns, self.values * by_column[self.columns].astype(np.float32), self.width
        )

    def unit(self) -> Sparse:
        """With each row brought to length 1; rows of zeros stay."""
        squares = np.bincount(
            self.row, weights=self.values.astype(np.float64) ** 2, minlength=len(self.starts) - 1
        )
        length = np.sqrt(np.where(squares > 0, squares, 1))
        return Sparse(
            self.starts, self.columns, (self.values / length[self.row]).astype(np.float32), self.width
        )

    def turned(self) -> Sparse:
        """Rows as columns."""
        order = np.argsort(self.columns, kind="stable")
        sizes = np.bincount(self.columns, minlength=self.width)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return Sparse(starts, self.row[order], self.values[order], len(self.starts) - 1)

    def sums(self, weights: Array) -> Array:
        """For each column the sum of the weights of the rows that have it."""
        return np.bincount(self.columns, weights=weights[self.row], minlength=self.width)

    def times(self, dense: Array) -> Array:
        """The product with a matrix of which all is held.

        >>> Sparse.of([{0: 2.0}, {}, {0: 1.0, 1: 1.0}], 2).times(np.array([[1.0, 0.0], [0.0, 3.0]])).tolist()
        [[2.0, 0.0], [0.0, 0.0], [1.0, 3.0]]
        """
        product = np.zeros((len(self.starts) - 1, dense.shape[1]), dtype=np.float32)
        filled = np.flatnonzero(np.diff(self.starts))
        if not len(filled):
            return product
        cuts = np.flatnonzero(np.diff(self.starts[filled] // AT_ONCE, prepend=-1))
        for first, last in zip(cuts, [*cuts[1:], len(filled)], strict=True):
            rows = filled[first:last]
            begin, end = self.starts[rows[0]], self.starts[rows[-1] + 1]
            parts = dense[self.columns[begin:end]] * self.values[begin:end, None]
            product[rows] = np.add.reduceat(parts, self.starts[rows] - begin, axis=0)
        return product
