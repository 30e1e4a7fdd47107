"""Several tests at once: adjusted p-values, Tukey's test of all pairs, letters of groups.

An adjusted p at or below alpha is a finding at level alpha, over the whole family.
"""

from __future__ import annotations

import math
import string
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from rankproof.core.arrays import Array, as_numbers, by_key
from rankproof.errors import DataError, check_one_of, check_whole, explain_calls, shorten
from rankproof.progress import draw_in_lots
from rankproof.stats.paired import FEWEST, SLACK, check_alpha, lugannani_rice, rising_root, total
from rankproof.stats.variance import by_query


def bonferroni(ps: Sequence[float]) -> list[float]:
    """Each p times the number of tests: the chance of even one false finding stays at alpha.

    Reference: O. J. Dunn: Multiple comparisons among means, JASA 1961.

    >>> bonferroni([0.01, 0.25, 0.5])
    [0.03, 0.75, 1.0]
    """
    p = _checked(ps)
    return [float(each) for each in np.minimum(p * len(p), 1)]


def holm(ps: Sequence[float]) -> list[float]:
    """Step down: the same promise as Bonferroni's and never weaker.

    Formula: the i-th smallest p times (m - i + 1), none smaller than the one before it, at most 1.
    Reference: S. Holm: A simple sequentially rejective multiple test procedure, Scand. J. Statistics 1979.

    >>> holm([0.25, 0.0625, 0.125])
    [0.25, 0.1875, 0.25]
    """
    p = _checked(ps)
    order = np.argsort(p, kind="stable")
    return _placed(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), order)


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """Step up: among what is called a finding, on average at most alpha is false.

    Formula: the i-th smallest p times m / i, none larger than the one after it.
    Reference: Y. Benjamini, Y. Hochberg: Controlling the false discovery rate, J. Royal Stat. Soc. B 1995.

    >>> benjamini_hochberg([0.25, 0.0625, 0.125])
    [0.25, 0.1875, 0.1875]
    """
    p = _checked(ps)
    order = np.argsort(p, kind="stable")[::-1]
    scaled = p[order] * len(p) / np.arange(len(p), 0, -1)
    return _placed(np.minimum.accumulate(scaled), order)


CORRECTIONS: dict[str, Callable[[Sequence[float]], list[float]]] = {
    "holm": holm,
    "benjamini-hochberg": benjamini_hochberg,
    "bonferroni": bonferroni,
    "none": lambda ps: _checked(ps).tolist(),
}


def correct(ps: Sequence[float], method: str = "holm") -> list[float]:
    """Adjusted p-values by a named method: holm, benjamini-hochberg, bonferroni or none.

    >>> correct([0.01, 0.5])
    [0.02, 0.5]
    """
    check_one_of("correction", method, CORRECTIONS)
    return CORRECTIONS[method](ps)


def sure_level(alpha: float, tests: int, method: str = "holm") -> float:
    """The p that is a finding at level alpha among this many tests, whatever the p-values of the others are.

    >>> sure_level(0.05, 10), sure_level(0.05, 10, "none")
    (0.005, 0.05)
    """
    return alpha if method == "none" else alpha / tests


def _checked(ps: Sequence[float]) -> Array:
    p = as_numbers(ps, "p-values")
    bad = p[~((p >= 0) & (p <= 1))]
    if p.ndim != 1 or len(bad):
        got = bad[0] if len(bad) else shorten(ps)
        raise DataError(f"p-values: got {got}, expected numbers from 0 to 1. Next: give probabilities.")
    return p


def _placed(adjusted: Array, order: Array) -> list[float]:
    """Adjusted values in the order of their p-values."""
    placed = np.empty(len(order))
    placed[order] = np.minimum(adjusted, 1)
    return placed.tolist()


ALPHABET = string.ascii_lowercase + string.ascii_uppercase


def letters(names: Sequence[str], apart: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """For each name its letters, the first names with the first letters; `apart` are the pairs told apart.

    Each letter is a clique of names of which no two are told apart, grown greedily until every such pair shares one:
    the compact letter display, in steps that do not explode.

    Reference: H.-P. Piepho: An algorithm for a letter-based representation of all-pairwise comparisons,
    J. Computational and Graphical Statistics 2004; J. Gramm et al.: Algorithms for compact letter displays,
    Computational Statistics & Data Analysis 2007.

    >>> letters(["a", "b", "c"], [("a", "c")])
    {'a': ('a',), 'b': ('a', 'b'), 'c': ('b',)}
    """
    told = {frozenset(pair) for pair in apart}
    alike = [
        sum(1 << j for j, other in enumerate(names) if i != j and frozenset((name, other)) not in told)
        for i, name in enumerate(names)
    ]
    cliques: list[int] = []
    covered = [0] * len(names)
    for i in range(len(names)):
        while True:
            open_pairs = alike[i] & ~covered[i] & ~((1 << i) - 1)
            if not open_pairs and (covered[i] or alike[i]):
                break
            clique = _grown(i, open_pairs, alike)
            cliques.append(clique)
            for j in range(len(names)):
                covered[j] |= clique if clique >> j & 1 else 0
    return {name: tuple(_letter(k) for k, each in enumerate(cliques) if each >> i & 1) for i, name in enumerate(names)}


def _grown(start: int, open_pairs: int, alike: Sequence[int]) -> int:
    """A clique with the first open pair of a name, then with whoever fits, open pairs first."""
    clique, room = 1 << start, alike[start]
    for wanted in (open_pairs, ~0):
        while room & wanted:
            lowest = (room & wanted) & -(room & wanted)
            clique |= lowest
            room &= alike[lowest.bit_length() - 1]
    return clique


def _letter(number: int) -> str:
    """a to z, A to Z, then a2 and so on."""
    turn, place = divmod(number, len(ALPHABET))
    return ALPHABET[place] + (str(turn + 1) if turn else "")


def groups(found: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The names that share each letter.

    >>> groups({"a": ("a",), "b": ("a", "b")})
    {'a': ['a', 'b'], 'b': ['b']}
    """
    return by_key((letter, name) for name, own in found.items() for letter in own)


AT_ONCE = 1 << 20
"""Values shuffled at a time: 8 MB."""


@dataclass(frozen=True, slots=True)
class PairOutcome:
    """Two systems, the difference of their means (first minus second), and its p among all pairs."""

    first: str
    second: str
    difference: float
    p: float
    n: int
    method: str
    note: str = ""


@explain_calls
def tukey(systems: Mapping[str, Array], rng: np.random.Generator, permutations: int = 10_000) -> list[PairOutcome]:
    """Every pair of systems (in the order given) with a p-value corrected for all of them.

    >>> rng = np.random.default_rng(0)
    >>> values = {"a": rng.random(50), "b": rng.random(50), "c": rng.random(50) + 1}
    >>> [(pair.first, pair.second, pair.p < 0.05) for pair in tukey(values, rng)]
    [('a', 'b', False), ('a', 'c', True), ('b', 'c', True)]
    """
    check_whole("permutations", permutations)
    table = by_query(systems)
    means = {name: total(column) / len(column) for name, column in zip(systems, table.T, strict=True)}
    ranges = np.sort(_largest_gaps(table, rng, permutations))
    slack = SLACK * float(np.abs(table).mean())
    gaps = Gaps.of(table)
    found = []
    for a, b in combinations(systems, 2):
        gap = means[a] - means[b]
        extreme = len(ranges) - int(np.searchsorted(ranges, abs(gap) - slack))
        p, method = (extreme + 1) / (len(ranges) + 1), f"randomised Tukey, {len(ranges):,} drawn"
        if extreme < FEWEST and (bound := gaps.share_above(abs(gap))) < p:
            p, method = bound, "randomised Tukey, by the saddle point of all pairs"
        found.append(PairOutcome(a, b, gap, p, gaps.n, method))
    return found


@dataclass(frozen=True, eq=False)
class Gaps:
    """What two different systems, drawn for each query, can differ by: each size once, with how often it comes."""

    sizes: Array
    """The differences of all pairs of a query, one line per query."""
    systems: int

    @classmethod
    def of(cls, table: Array) -> Gaps:
        """The gaps of a table of values."""
        first, second = np.triu_indices(table.shape[1], 1)
        sizes = np.sort(np.abs(table[:, first] - table[:, second]), axis=1)
        return cls(sizes[np.lexsort(sizes.T)], table.shape[1])

    @property
    def n(self) -> int:
        """The number of queries."""
        return len(self.sizes)

    def share_above(self, gap: float) -> float:
        """At most how often the means of any two systems differ by `gap` or more."""
        most = total(self.sizes.max(axis=1))
        seen = gap * self.n
        if seen >= most * (1 - SLACK):
            return max(self._ordered * self._chance_of_most, sys.float_info.min)

        def off(t: float) -> tuple[float, float]:
            _, first, second = self._tilted(t)
            return first - seen, second

        t = rising_root(off, seen / float((self.sizes**2).mean(axis=1).sum()), 0.0, 1e-9)
        logs, _, slope = self._tilted(t)
        w = math.sqrt(max(0.0, 2 * (t * seen - logs)))
        if w < 1 or slope <= 0:  # too near the middle for a bound, or beyond the digits of a number
            return 1.0
        tail = lugannani_rice(w, t * math.sqrt(slope))
        return max(self._ordered * max(tail, self._chance_of_most), sys.float_info.min)

    @property
    def _ordered(self) -> int:
        return self.systems * (self.systems - 1)

    @property
    def _chance_of_most(self) -> float:
        """How often every query gives its largest difference."""
        largest = self.sizes >= self.sizes.max(axis=1, keepdims=True) * (1 - SLACK)
        both = np.where(self.sizes.max(axis=1) > 0, 2.0, 1.0)  # a difference of 0 has no other sign
        return math.exp(float(np.log(largest.mean(axis=1) / both).sum()))

    def _tilted(self, t: float) -> tuple[float, float, float]:
        """The logarithm of the transform of the total at t, and its first two derivatives."""
        along = t * self.sizes
        top = along.max(axis=1, keepdims=True)
        up, down = np.exp(along - top), np.exp(-along - top)
        whole = (up + down).mean(axis=1)
        first = (self.sizes * (up - down)).mean(axis=1) / whole
        second = (self.sizes**2 * (up + down)).mean(axis=1) / whole
        return (float((np.log(whole / 2) + top[:, 0]).sum()), float(first.sum()), float((second - first**2).sum()))


def _largest_gaps(table: Array, rng: np.random.Generator, permutations: int) -> Array:
    """The gap between the best and the worst mean of each shuffled table."""
    within = np.sort(table, axis=1)
    rows = within[np.lexsort(within.T)]
    gaps = []
    for draws in draw_in_lots(permutations, AT_ONCE // rows.size):
        means = rng.permuted(np.broadcast_to(rows, (draws, *rows.shape)), axis=2).mean(axis=1)
        gaps.append(np.ptp(means, axis=1))
    return np.concatenate(gaps)


@dataclass(frozen=True, slots=True)
class Discrimination:
    """How many pairs of systems a measure tells apart."""

    share: float
    found: int
    pairs: int
    alpha: float


def discriminative_power(ps: Sequence[float], alpha: float = 0.05) -> Discrimination:
    """The share of pairs of systems found different: of their (corrected) p-values, those up to alpha.

    Reference: T. Sakai: Evaluating evaluation metrics based on the bootstrap, SIGIR 2006.

    >>> discriminative_power([0.01, 0.2, 0.04, 0.6]).share
    0.5
    """
    check_alpha(alpha)
    p = _checked(ps)
    if not len(p):
        raise DataError("p-values: got none, expected one for every pair of systems. Next: test at least one pair.")
    found = int((p <= alpha).sum())
    return Discrimination(found / len(p), found, len(p), alpha)
