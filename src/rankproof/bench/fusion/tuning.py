"""What tuning tries, and which queries it may see."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np

from rankproof.bench.fusion.methods import Method
from rankproof.errors import UsageError

GRIDS: dict[str, dict[str, Sequence[Any]]] = {
    "rrf": {"k": (60, 0, 1, 2, 5, 10, 20, 40, 80, 160, 320)},
    "logn-isr": {"sigma": (0.01, 0, 0.05, 0.1, 0.2, 0.5, 1)},
    "rbc": {"phi": (0.8, 0.5, 0.6, 0.7, 0.85, 0.9, 0.95, 0.98, 0.99)},
    "combgmnz": {"gamma": (1, 0, 0.1, 0.25, 0.5, 0.75, 1.5, 2)},
    "probfuse": {"segments": (25, 1, 2, 5, 10, 15, 20, 30, 40, 50, 100)},
    "slidefuse": {"window": (5, 0, 1, 2, 3, 4, 6, 8, 10, 15, 20, 50)},
}
"""What is tried of each method's parameters; the usual value first, so that it wins where nothing is better."""

SCALES = ("min-max", "z-score", "sum", "rank", "borda")
"""The normalisations that are tried; they take scores of any sign."""

MOST_WEIGHTS = 300
"""About how many sets of weights are tried."""

FEWEST = 4
"""Queries below which a split says nothing."""


def trials(
    method: Method, n: int, grid: Mapping[str, Sequence[Any]] | None, normalise: str | None = None
) -> list[dict[str, Any]]:
    """The settings to try for `n` rankings, the usual ones first."""
    chosen = _default_grid(method, n, normalise) if grid is None else _checked(grid)
    if not chosen and method.learn is None:
        raise UsageError(
            f"tune: {method.name} has nothing to choose. Next: use 'fuse', or choose another method."
        )
    return [dict(zip(chosen, values, strict=True)) for values in product(*chosen.values())]


def _default_grid(method: Method, n: int, normalise: str | None) -> dict[str, Sequence[Any]]:
    """What is worth trying: parameters, else weights, else the normalisation."""
    weights: dict[str, Sequence[Any]] = {"weights": list(simplex(n))} if "weights" in method.reads else {}
    if method.name in GRIDS:
        return GRIDS[method.name]
    if not weights and "score" in method.reads and method.learn is None and normalise is None:
        return {"normalise": SCALES}
    return weights


def _checked(grid: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    for name, values in grid.items():
        if isinstance(values, str) or not hasattr(values, "__iter__") or not list(values):
            raise UsageError(
                f"grid: {name!r} has {values!r}, expected a list of the values to try."
                " Next: give a list, like [10, 60]."
            )
    return {name: list(values) for name, values in grid.items()}


def simplex(n: int, most: int = MOST_WEIGHTS) -> Iterator[tuple[float, ...]]:
    """Weights that sum to 1: equal ones, then all in the finest even steps (of a tenth at most) that keep to `most`.

    >>> list(simplex(2, most=3))
    [(0.5, 0.5), (0.0, 1.0), (1.0, 0.0)]
    """
    equal = (1 / n,) * n
    yield equal
    steps = max((s for s in range(1, 11) if _points(n, s) <= most), default=1)
    for bars in combinations(range(steps + n - 1), n - 1):
        edges = (-1, *bars, steps + n - 1)
        point = tuple((b - a - 1) / steps for a, b in pairwise(edges))
        if point != equal:
            yield point


def _points(n: int, steps: int) -> int:
    """How many sets of weights there are in steps of 1 / steps."""
    return math.comb(steps + n - 1, n - 1)


def split(queries: Sequence[str], share: float, rng: np.random.Generator) -> tuple[set[str], set[str]]:
    """The queries to tune on and those to score on, drawn at random; no order of them makes a difference."""
    if not 0 < share < 1:
        raise UsageError(
            f"share: got {share!r}, expected a number above 0 and below 1, like 0.5."
            " Next: give a share of the queries."
        )
    if len(queries) < FEWEST:
        raise UsageError(
            f"tune: got {len(queries)} judged queries, expected at least {FEWEST}: some to tune on "
            "and others to score on. Next: judge more queries."
        )
    drawn = rng.permutation(sorted(queries)).tolist()
    cut = min(max(round(share * len(drawn)), 2), len(drawn) - 2)
    return set(drawn[:cut]), set(drawn[cut:])
