"""Choosing one of many: on some questions, so that others can say what the choice is worth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankproof.core.hits import Array

FEWEST = 8
"""With fewer questions none are held out: two halves of them would say nothing."""


def parts(queries: Sequence[str], held_out: float, seed: int) -> tuple[list[str], list[str]]:
    """The questions that choose, and those held out; no order of them makes a difference.

    >>> [len(part) for part in parts([f"q{i}" for i in range(10)], 0.3, seed=0)]
    [7, 3]
    """
    if not held_out or len(queries) < FEWEST:
        return list(queries), []
    drawn = np.random.default_rng(seed).permutation(sorted(queries)).tolist()
    cut = min(max(round((1 - held_out) * len(drawn)), 2), len(drawn) - 2)
    return drawn[:cut], drawn[cut:]


def best(means: Sequence[float], higher: bool = True) -> int:
    """The best of several means; where several are, the first.

    >>> best([0.2, 0.5, 0.5]), best([0.2, 0.5], higher=False)
    (1, 0)
    """
    sign = 1 if higher else -1
    return max(range(len(means)), key=lambda i: (sign * round(means[i], 12), -i))


def kept(means: Sequence[float], n: int, higher: bool = True) -> list[int]:
    """The `n` best of several, in the order they came.

    >>> kept([0.2, 0.9, 0.5], 2)
    [1, 2]
    """
    sign = 1 if higher else -1
    order = sorted(range(len(means)), key=lambda i: (-sign * means[i], i))
    return sorted(order[:n])


def front(points: Array) -> list[bool]:
    """Which points nothing beats: none is at least as good in every column and better in one; more is better.

    >>> front(np.array([[0.9, -30.0], [0.8, -5.0], [0.7, -10.0], [0.9, -40.0]]))
    [True, True, False, False]
    """
    return [not _beaten(point, points) for point in points]


def _beaten(point: Array, others: Array) -> bool:
    at_least, better = (others >= point).all(axis=1), (others > point).any(axis=1)
    return bool((at_least & better).any())
