"""The strongest directions of a matrix, by randomised singular value decomposition.

Reference: N. Halko, P. G. Martinsson, J. A. Tropp: Finding structure with randomness: probabilistic algorithms for
constructing approximate matrix decompositions, SIAM Review 2011.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rankproof.core.hits import Array

MORE = 100
"""Directions that are followed beyond those wanted, which makes these surer."""

ROUNDS = 2
"""How often the directions are sent through the matrix and back."""

Product = Callable[[Array], Array]


def strongest(times: Product, turned_times: Product, width: int, number: int) -> Array:
    """The `number` strongest right singular vectors of a matrix, one column each.

    The matrix is known by its products: `times` with columns of its width, `turned_times` the other way round.

    >>> matrix = np.diag([3.0, 1.0, 2.0])
    >>> abs(strongest(lambda x: matrix @ x, lambda y: matrix.T @ y, 3, 2)).round(6).tolist()
    [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]
    """
    followed = min(number + MORE, width)
    spread = times(np.random.default_rng(0).standard_normal((width, followed)).astype(np.float32))
    for _ in range(ROUNDS):
        spread = times(turned_times(_upright(spread)))
    # Within the directions that are left, the exact decomposition is small.
    return _upright(turned_times(_upright(spread)), least=1e-10)[:, :number]


def _upright(columns: Array, least: float = 1e-13) -> Array:
    """Columns of length 1 at right angles that span the same, the one along which there is most first.

    Left out are directions along which there is less than this share of it, since rounding makes such.
    """
    wide = columns.astype(np.float64)
    squares, own = np.linalg.eigh(wide.T @ wide)
    order = np.argsort(-squares)
    kept = order[squares[order] > squares.max(initial=0.0) * least]
    upright: Array = (wide @ (own[:, kept] / np.sqrt(squares[kept]))).astype(np.float32)
    return upright
