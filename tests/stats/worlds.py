"""Worlds that values per query may come from, each with its true mean, and how often an interval holds it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.stats

from rankproof.stats.intervals import interval

COVERED = {True: 0.93, False: 0.90}
"""The least share of intervals at 95 % that hold the true mean, with at least 10 queries and with fewer."""

Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


@dataclass(frozen=True)
class World:
    """How values are drawn, and their mean."""

    draw: Draw
    mean: float
    bounds: tuple[float, float] = (0.0, 1.0)

    def samples(self, n: int, times: int, seed: int = 1) -> np.ndarray:
        """`times` samples of `n` queries."""
        return self.draw(np.random.default_rng([seed, n]), (times, n))


def hits(p: float) -> World:
    return World(lambda rng, size: (rng.random(size) < p).astype(float), p)


def zeros(share: float) -> World:
    """A share of the queries at 0, the others anywhere."""
    return World(lambda rng, size: rng.random(size) * (rng.random(size) >= share), (1 - share) / 2)


def _ap(rng: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
    """Skewed, with a tenth at 0 and a twentieth at 1."""
    where = rng.random(size)
    return np.where(where < 0.1, 0.0, np.where(where > 0.95, 1.0, rng.beta(0.8, 1.6, size)))


def _reciprocal_rank(rng: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
    rank = rng.geometric(0.35, size)
    return np.where(rank > 10, 0.0, 1 / rank)


RANKS = np.arange(1, 11)

WORLDS = {
    **{f"hits {p:g}".replace("0.", "."): hits(p) for p in (0.5, 0.8, 0.9, 0.95, 0.99)},
    "zeros 60 %": zeros(0.6),
    "zeros 90 %": zeros(0.9),
    "AP-like": World(_ap, 0.05 + 0.85 / 3),
    "AP low": World(lambda rng, size: rng.beta(0.5, 6.0, size), 0.5 / 6.5),
    "RR-like": World(_reciprocal_rank, float((0.35 * 0.65 ** (RANKS - 1) / RANKS).sum())),
    "nDCG near 1": World(lambda rng, size: np.where(rng.random(size) < 0.8, 1, rng.beta(4, 2, size)), 0.8 + 0.4 / 3),
    "nDCG near 1, dense": World(lambda rng, size: rng.beta(12, 1, size), 12 / 13),
    "P@5": World(lambda rng, size: rng.binomial(5, rng.beta(1, 2, size)) / 5, 1 / 3),
    "R of 2": World(lambda rng, size: rng.binomial(2, 0.9, size) / 2, 0.9),
    "ties": World(lambda rng, size: rng.choice([0.2, 0.5, 0.5, 0.5, 0.9], size), 0.52),
    "two humps": World(
        lambda rng, size: np.where(rng.random(size) < 0.3, rng.beta(2, 20, size), rng.beta(20, 2, size)),
        0.3 / 11 + 0.7 * 10 / 11,
    ),
    "dense": World(lambda rng, size: rng.beta(2, 3, size), 0.4),
    "rare failures": World(lambda rng, size: rng.beta(30, 4, size) * (rng.random(size) >= 0.03), 0.97 * 30 / 34),
    "deep ranks": World(lambda rng, size: 1 / rng.integers(1, 200, size), float((1 / np.arange(1, 200)).mean())),
}


def coverage(world: World, n: int, times: int, level: float = 0.95, seed: int = 1) -> float:
    """The share of samples whose interval holds the true mean."""
    found = [interval(each, level, bounds=world.bounds) for each in world.samples(n, times, seed)]
    return float(np.mean([each.low <= world.mean + 1e-12 and world.mean - 1e-12 <= each.high for each in found]))


def students(values: np.ndarray, level: float = 0.95) -> tuple[float, float]:
    """Student's interval."""
    n = len(values)
    half = float(scipy.stats.t.ppf((1 + level) / 2, n - 1) * values.std(ddof=1) / math.sqrt(n))
    return float(values.mean()) - half, float(values.mean()) + half
