"""The evidence for a step in a series: given seasons, unequal errors, and correlated neighbours.

Each point is taken in units of its error, and the mean and the seasons are removed by least squares. The correlation
of neighbours (an autoregression of order 1) is never known well from a month of days, and a series of correlated
days drifts as if it had changed. So the correlation is not estimated once and trusted: series of every
correlation are drawn, each is weighted by how well its own correlation, measured beside its best step, agrees with
the measured one, and the null distribution of the strongest step is that of the weighted series.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rankproof.core.hits import Array
from rankproof.stats.distributions import t_quantile

EDGE = 2
"""Points that a part must have at least."""
GRID = np.linspace(0.0, 0.85, 18)
"""The correlations of neighbours that are held possible."""
PRIOR = np.where(GRID == 0, 0.27, 0.73 / (len(GRID) - 1))
"""Their chances before anything is seen: points whose only error is who happened to come are independent."""
LEAST_PRIOR, MOST_OTHERS = 5.0, 15.0
"""For how many series the prior counts, and for how many at the most the others together."""
OWN = 0.6
"""How much a series counts for its own correlation beside many others. It is measured beside the strongest step, so a
series that wandered far by chance seems less correlated than it is: at 1, sixty series of sixty days correlated by .5
had a false alarm in 7 % of 300 trials, at .6 in 2 % of 500."""
DRAWN = 40
"""Series that are drawn for each correlation to see what is measured on it."""
FIRST, MORE, MOST = 499, 4_999, 19_999
"""Series of the null distribution; more for a p-value so small that the correction of many needs it."""
AT_ONCE, SMALL = 1 << 20, 1 << 17
"""Numbers of drawn series that are held at a time, and products of numbers that are worked out at a time."""


@dataclass(frozen=True)
class StepFit:
    """A series against every step it could have; all in units in which each point is as sure as the others.

    Arrays of many series hold a series in each column. What is left beside mean and seasons has no part in them, so
    its product with a step whose seasons are taken out is that with the bare step: a sum from the end.
    """

    values: Array
    """The values times the root of their weights."""
    root: Array
    design: Array
    """An orthonormal basis of the mean and the seasons."""
    places: Array
    """Where each possible step begins."""
    shadow: Array
    """The part of each step that mean and seasons explain; a row a step."""
    sizes: Array
    """The length of each step beside that."""
    block: int
    """Neighbours that are kept together when what is left is permuted."""

    @classmethod
    def of(cls, values: Array, weight: Array, seasons: Sequence[Array], block: int = 1) -> StepFit | None:
        """The steps of a series; None if the seasons leave nothing to tell them by."""
        n, root = len(values), np.sqrt(weight / weight.mean())
        columns = [np.ones(n), *((labels == each) for labels in seasons for each in sorted(set(labels.tolist()))[1:])]
        basis, strengths, _ = np.linalg.svd(np.column_stack(columns) * root[:, None], full_matrices=False)
        design = basis[:, strengths > 1e-9 * strengths[0]]
        places = np.arange(EDGE, n - EDGE + 1)
        shadow = _from_end(design * root[:, None])[places]
        squares = _from_end(root**2)[places] - (shadow**2).sum(axis=1)
        kept = squares > 1e-6
        if not kept.any() or n - design.shape[1] < 3:
            return None
        return cls(values * root, root, design, places[kept], shadow[kept], np.sqrt(squares[kept]), block)

    @cached_property
    def rest(self) -> Array:
        """The residuals of the mean and the seasons."""
        return self._beside(self.values[:, None])[:, 0]

    @property
    def size(self) -> tuple[int, int]:
        """How many points there are, and how many neighbours are kept together: what permutations are made for."""
        return len(self.values), self.block

    @property
    def free(self) -> int:
        """Degrees of freedom beside a step."""
        return int(len(self.values) - self.design.shape[1] - 1)

    def _beside(self, series: Array) -> Array:
        found = _product(self.design, _product(self.design.T, series))
        return np.subtract(series, found, out=found)

    def _step(self, at: Array) -> Array:
        """Steps of length 1 with the seasons taken out, one a column."""
        bare = (np.arange(len(self.root))[:, None] >= self.places[at]) * self.root[:, None]
        return np.asarray((bare - _product(self.design, self.shadow[at].T)) / self.sizes[at])

    def strengths(self, rest: Array) -> Array:
        """The share of the squares that each step (a row) explains of each series (a column)."""
        found: Array = _from_end(rest * self.root[:, None])[self.places]
        found /= self.sizes[:, None]
        found *= found
        found /= np.maximum((rest**2).sum(axis=0), 1e-300)
        return found

    def correlations(self, rest: Array) -> Array:
        """The correlation of neighbours around the best step, so that a change does not hide it; too low on average."""
        best = np.argmax(self.strengths(rest), axis=0)
        step = self._step(best)
        left = rest - step * (step * rest).sum(axis=0)
        squares = (left**2).sum(axis=0)
        return np.asarray((left[1:] * left[:-1]).sum(axis=0) / np.maximum(squares, 1e-300))

    def measure_grid(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """The measured correlation of series of each correlation of `GRID`: means and standard deviations."""
        true = np.repeat(GRID, DRAWN)
        drawn = self.correlations(
            self._beside(_follow(rng.standard_normal((len(self.values), len(true))), true))
        ).reshape(-1, DRAWN)
        # Over the grid both are smooth: a curve through them takes out the noise of few draws.
        mean = np.polyval(np.polyfit(GRID, drawn.mean(axis=1), 2), GRID)
        return mean, np.sqrt(np.maximum(np.polyval(np.polyfit(GRID, drawn.var(axis=1), 1), GRID), 1e-5))

    def likelihood(self, mean: Array, spread: Array) -> Array:
        """How well each correlation of `GRID` agrees with the one that is measured."""
        found = float(self.correlations(self.rest[:, None])[0])
        logs = -0.5 * ((found - mean) / spread) ** 2 - np.log(spread)
        return np.asarray(np.exp(logs - logs.max()))

    def p(self, chances: Array, first: Permutations, rng: np.random.Generator, needed: float) -> float:
        """The chance of so strong a step if nothing changed, by permutations, the `first` of which serve many series;
        worked out more finely if it may be below `needed`."""
        if float(self.rest @ self.rest) <= 1e-18 * float(self.values @ self.values):
            return 1.0  # nothing is left
        seen = float(self.strengths(self.rest[:, None]).max())
        reached, drawn, p = 0, 0, 1.0
        for wanted in (FIRST, MORE, MOST):
            while drawn < wanted:
                number = min(wanted - drawn, max(AT_ONCE // len(self.values), 1))
                made = first if not drawn else permutations(*self.size, rng, number)
                null = self.strengths(self._calm(chances, *made)).max(axis=0)
                reached += int(np.sum(null >= seen * (1 - 1e-12)))
                drawn += null.size
            p = (1 + reached) / (1 + drawn)
            if p < needed / 4 or (reached >= 10 and p > 4 * needed) or reached >= 50:
                break
        return p

    def _calm(self, chances: Array, places: Array, drawn: Array) -> Array:
        """Series without a change: what was left, permuted, with the correlation of neighbours put back."""
        rho, left = float(chances @ GRID), self.rest
        own = np.concatenate([left[:1] * math.sqrt(1 - rho**2), left[1:] - rho * left[:-1]])
        ends = np.cumsum(chances)
        rhos = GRID[np.minimum(np.searchsorted(ends / ends[-1], drawn, side="right"), len(GRID) - 1)]
        return self._beside(_follow(own[places], rhos))

    def likely(self, rho: float) -> Array:
        """The possible steps that hold 95 % of the posterior, with a flat prior of the day and of the levels."""
        power = (self.free * (1 - rho) / (1 + rho)) / 2
        strength = self.strengths(self.rest[:, None])[:, 0]
        logs = -np.log(np.maximum(1 - strength, 1e-12)) * power - np.log(self.sizes)
        chance = np.exp(logs - logs.max())
        chance /= chance.sum()
        order = np.argsort(-chance, kind="stable")
        held = int(np.searchsorted(np.cumsum(chance[order]), 0.95)) + 1
        return np.asarray(order[:held])

    def levels(self, at: int, rho: float) -> tuple[float, float, float]:
        """The level before a step, the step, and how far its 95 % interval reaches."""
        rest, direction = self.rest, self._step(np.array([at]))[:, 0]
        along = float(direction @ rest)
        left, step = rest - direction * along, along / float(self.sizes[at])
        error = math.sqrt(float(left @ left) / max(self.free, 1) * (1 + rho) / (1 - rho)) / float(self.sizes[at])
        later = np.arange(len(self.values)) >= self.places[at]
        before = float(self.root @ (self.values - step * later * self.root)) / float(self.root @ self.root)
        return before, step, float(t_quantile(0.975, max(self.free, 1)) * error)


Permutations = tuple[Array, Array]
"""The places of the points, a permutation in each column; and a number from 0 to 1 for each, by which its correlation
is chosen."""


def permutations(n: int, block: int, rng: np.random.Generator, number: int = FIRST) -> Permutations:
    """Random orders of `n` points, of which so many neighbours stay together."""
    order = np.argsort(rng.random((-(-n // block), number)), axis=0)
    places = (order[:, None, :] * block + np.arange(block)[:, None]).reshape(-1, number)
    if n % block:  # the last block is short: its missing places are left out, and where blocks begin is random
        places = places.T[n > places.T].reshape(number, n).T
    shift = rng.integers(0, block, number) if block > 1 else 0
    return (places + shift) % n, rng.random(number)


def _product(left: Array, right: Array) -> Array:
    """The product of two matrices, by so few columns at a time that OpenBLAS wakes no threads: they would wait for more
    work longer than all of this takes."""
    found, few = np.empty((len(left), right.shape[1])), max(SMALL // left.size, 1)
    for at in range(0, right.shape[1], few):
        np.matmul(left, right[:, at : at + few], out=found[:, at : at + few])
    return found


def _from_end(rows: Array) -> Array:
    """The sum of each row and all after it."""
    if rows.size < 64 * len(rows):
        return np.asarray(np.cumsum(rows[::-1], axis=0)[::-1])
    found = rows.copy()  # to add rows takes a third of the time of NumPy's own sums down the columns
    for at in range(len(found) - 2, -1, -1):
        np.add(found[at], found[at + 1], out=found[at])
    return found


def _follow(made: Array, rho: Array) -> Array:
    """Independent errors as series (columns) whose neighbours are correlated; in place."""
    if (rho > 0).any():
        made[0] /= np.sqrt(1 - rho**2)
        for at in range(1, len(made)):
            made[at] += rho * made[at - 1]
    return made


def pooled_chances(likelihoods: Sequence[Array]) -> list[Array]:
    """The chances of the correlations for each series, given how well each agrees with it and with the others.

    What the days of a product do to one metric they do to others, so the others say what to expect: as much as
    `MOST_OTHERS` of them against a prior that counts as `LEAST_PRIOR`. The series itself is left
    out where its prior is made.
    """
    alone = [_normed(each * PRIOR) for each in likelihoods]
    total = np.sum(alone, axis=0) if alone else PRIOR
    number = len(alone) - 1
    power = 1 - (1 - OWN) * min(1.0, number / MOST_OTHERS)
    weight = min(1.0, MOST_OTHERS / max(number, 1))
    return [
        _normed(each**power * (LEAST_PRIOR * PRIOR + weight * (total - own)))
        for each, own in zip(likelihoods, alone, strict=True)
    ]


def _normed(chances: Array) -> Array:
    return np.asarray(chances / chances.sum())
