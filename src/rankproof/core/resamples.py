"""The bootstrap by clusters (users, days, single queries): how often each stands in a resample is told by its hash.

So any split of the rows gives the same resamples, to the bit, and no list of clusters is needed anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from rankproof.core.arrays import Array, PerQuery
from rankproof.document.display import Displayable
from rankproof.errors import DataError

HALF = 27
"""Bits in the lower half of a number's 53."""
REPLICATES = 200
"""Resamples: the standard error is then known to 5 %."""
GRAIN = 2.0**-30
"""Values are resampled as multiples of this, so that their sums are exact in any order."""
TOP = 2.0**32
"""The largest value that can be resampled in this way."""
ROWS = 1 << 12
"""The number of rows at a time, so that sums stay below 2^53."""


def hash_of(names: Sequence[str]) -> Array:
    """64 bits for each name, the same on every machine: what a cluster, or a query of a sample, is known by.

    >>> hash_of(["u1", "u1"]).tolist() == hash_of(["u1"]).tolist() * 2
    True
    """
    from hashlib import blake2b  # which loads OpenSSL

    known: dict[str, int] = {}
    for name in names:
        if name not in known:
            known[name] = int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")
    return np.fromiter(map(known.__getitem__, names), dtype=np.uint64, count=len(names))


def sample_of(names: Sequence[str], size: int) -> Array:
    """Where a sample of so many names stands: those with the lowest hashes, so that a smaller one lies in a larger one.

    >>> few, more = (set(sample_of([str(i) for i in range(100)], size).tolist()) for size in (5, 50))
    >>> len(few), few < more
    (5, True)
    """
    keys = mixed(hash_of(names))
    return np.sort(np.argsort(keys, kind="stable")[:size])


def mixed(key: Array) -> Array:
    """Every bit of a key spread over all: one round of a mixer that is a bijection, with D. Stafford's constants.

    Reference: G. Steele, D. Lea, C. Flood: Fast splittable pseudorandom number generators, OOPSLA 2014.
    """
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    spread: Array = key ^ (key >> np.uint64(31))
    return spread


def poisson_counts(cluster: Array, replicates: int, seed: int = 0) -> Array:
    """How often each cluster stands in each resample: Poisson with mean 1, told by the hash alone.

    Two rounds of mixing, one of the cluster and one with the number of the resample: after a single round resamples
    are alike, and intervals of many queries come out a sixth too wide.

    >>> counts = poisson_counts(hash_of(["u1", "u2", "u1"]), 4)
    >>> counts.shape, bool((counts[0] == counts[2]).all())
    ((3, 4), True)
    """
    step, start = 0x9E3779B97F4A7C15, int(mixed(np.array([seed & (2**64 - 1)], dtype=np.uint64))[0])
    numbers = np.array([(start + step * (1 + i)) & (2**64 - 1) for i in range(replicates)], dtype=np.uint64)
    keys = mixed(cluster.astype(np.uint64, copy=False) + np.uint64(step))
    drawn = mixed(keys[:, None] ^ numbers[None, :])
    return np.searchsorted(_poisson_steps(), drawn, side="right").astype(np.uint8)


@cache
def _poisson_steps() -> Array:
    """Where a uniform number of 64 bits begins to mean one more."""
    from fractions import Fraction

    below, steps = Fraction(0), []
    e = sum(Fraction(1, math.factorial(k)) for k in range(40))
    for k in range(16):
        below += Fraction(1, math.factorial(k)) / e
        steps.append(min(int(below * 2**64), 2**64 - 1))
    return np.array(steps, dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Resamples(Displayable):
    """Resamples of a mean by clusters: users, days, or single queries.

    All values of a cluster are drawn together, and how often depends on its name alone, so that any split of the rows
    gives the same resamples, to the bit.
    """

    seed: int
    counts: tuple[int, ...]
    """How many values each resample holds."""
    sums: tuple[int, ...]
    """Their sums, in units of GRAIN."""

    @classmethod
    def of(cls, values: PerQuery, clusters: Array, replicates: int = REPLICATES, seed: int = 0) -> Resamples:
        """The resamples of values whose clusters are known by hashes (`hash_of`)."""
        row = np.asarray(values, dtype=np.float64)
        if len(row) and not float(np.abs(row).max()) < TOP:
            raise DataError(
                f"resamples: got {row[np.abs(row).argmax()]:g}, expected values below {TOP:g}. "
                "Next: give the measure on a smaller scale."
            )
        counts, sums = [0] * replicates, [0] * replicates
        for start in range(0, len(row), ROWS):
            some = slice(start, start + ROWS)
            drawn = poisson_counts(clusters[some], replicates, seed).astype(np.float64)
            grains = np.round(row[some] / GRAIN)
            high = np.floor(grains / 2**HALF)
            parts = np.stack([np.ones(len(high)), high, grains - high * 2**HALF]) @ drawn  # whole, and below 2^53
            for i, (count, upper, lower) in enumerate(parts.T.tolist()):
                counts[i] += int(count)
                sums[i] += (int(upper) << HALF) + int(lower)
        return cls(seed, tuple(counts), tuple(sums))

    def __add__(self, other: Resamples) -> Resamples:
        if self.seed != other.seed or len(self.counts) != len(other.counts):
            raise DataError(
                "resamples: got resamples of different seeds or numbers, expected the same of all parts. "
                "Next: resample every part with the same seed and number."
            )
        return Resamples(
            self.seed,
            tuple(a + b for a, b in zip(self.counts, other.counts, strict=True)),
            tuple(a + b for a, b in zip(self.sums, other.sums, strict=True)),
        )

    @property
    def means(self) -> Array:
        """The mean of each resample that holds anything."""
        return np.array([s * GRAIN / c for s, c in zip(self.sums, self.counts, strict=True) if c])

    @property
    def error(self) -> float:
        """The standard error of the mean; NaN if there are no two resamples."""
        means = self.means
        return float(means.std(ddof=1)) if len(means) > 1 else math.nan

    def to_dict(self) -> dict[str, Any]:
        """The resamples as data that JSON can hold."""
        return {"seed": self.seed, "counts": list(self.counts), "sums": list(self.sums)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Resamples:
        """The resamples that `to_dict` gave."""
        return cls(data["seed"], tuple(data["counts"]), tuple(data["sums"]))
