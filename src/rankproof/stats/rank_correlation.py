"""Orderings of systems: how similar two are, and how far one can be trusted.

An ordering is a mapping of system name to score; the better score comes first, `higher=False` where less is
better.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from rankproof.core.hits import Array
from rankproof.core.measures.pairs import rank_biased_overlap, tau_ap
from rankproof.document.model import Displayable
from rankproof.document.numbers import count
from rankproof.errors import DataError, check_whole
from rankproof.progress import with_share
from rankproof.stats.distributions import NORMAL
from rankproof.stats.paired import by_query, check_alpha, check_share, finite_row

Ordering = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Alike(Displayable):
    """How similar two orderings are; `value` is None if all scores of one are equal."""

    value: float | None
    n: int
    """Systems that both order."""
    method: str
    note: str = ""


def kendall_tau_b(first: Ordering, second: Ordering) -> Alike:
    """Pairs of systems in the same order less those in opposite order, with ties counted for neither.

    Formula: (same - opposite) / sqrt((pairs not tied in the first) (pairs not tied in the second)).

    Reference: M. G. Kendall: The treatment of ties in ranking problems, Biometrika 1945.

    >>> kendall_tau_b({"a": 3, "b": 2, "c": 1}, {"a": 3, "b": 1, "c": 2}).value
    0.3333333333333333
    """
    names = _shared(first, second)
    one, other = (_signs(np.array([scores[name] for name in names])) for scores in (first, second))
    untied = int(np.count_nonzero(one)) * int(np.count_nonzero(other))
    if not untied:
        return Alike(None, len(names), "Kendall's tau-b", "all scores of one ordering are equal")
    return Alike(float((one * other).sum() / untied**0.5), len(names), "Kendall's tau-b")


def _signs(scores: Array) -> Array:
    """Which of each pair is higher: 1, -1, or 0 for a tie."""
    i, j = np.triu_indices(len(scores), 1)
    signs: Array = np.sign(scores[i] - scores[j])
    return signs


def tau_ap_of(first: Ordering, truth: Ordering, higher: bool = True) -> Alike:
    """Kendall's tau with more weight on the top; the second ordering is the truth.

    Reference: E. Yilmaz, J. A. Aslam, S. Robertson: A new rank correlation coefficient for information
    retrieval, SIGIR 2008.

    >>> tau_ap_of({"a": 3, "b": 2, "c": 1}, {"a": 2, "b": 3, "c": 1}).value
    0.0
    """
    return _by_order("tau-AP", first, truth, higher, lambda a, b: float(tau_ap.spec.function(a, b)))


def rbo_of(first: Ordering, second: Ordering, p: float = 0.9, higher: bool = True) -> Alike:
    """The overlap of the tops of two orderings, the first places counting most.

    Reference: W. Webber, A. Moffat, J. Zobel: A similarity measure for indefinite rankings, ACM TOIS 2010.

    >>> round(rbo_of({"a": 3, "b": 2, "c": 1}, {"a": 2, "b": 3, "c": 1}).value, 4)
    0.9
    """
    check_share("p", p)
    return _by_order("RBO", first, second, higher, lambda a, b: float(rank_biased_overlap.spec.function(a, b, p=p)))


def _by_order(
    method: str, first: Ordering, second: Ordering, higher: bool, alike: Callable[[Sequence[str], Sequence[str]], float]
) -> Alike:
    names = _shared(first, second)
    tied = any(len({scores[name] for name in names}) < len(names) for scores in (first, second))
    orders = [order({name: scores[name] for name in names}, higher) for scores in (first, second)]
    return Alike(alike(*orders), len(names), method, "equal scores are ordered by name" if tied else "")


def order(scores: Ordering, higher: bool = True) -> list[str]:
    """The systems, best first; equal scores by name.

    >>> order({"b": 1, "a": 1, "c": 2})
    ['c', 'a', 'b']
    """
    return sorted(scores, key=lambda name: (-scores[name] if higher else scores[name], name))


def _shared(first: Ordering, second: Ordering) -> list[str]:
    names = sorted(set(first) & set(second))
    if len(names) < 2:
        raise DataError(
            f"orderings: got {count(len(names), 'system')} in both, expected 2 or more of the same name. "
            "Next: use the same names in both."
        )
    for scores in (first, second):
        finite_row(np.array([scores[name] for name in names]), "scores")
    return names


# --- how far an ordering can be trusted -------------------------------------------------------------


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
    p = finite_row(np.asarray(ps, dtype=np.float64), "p-values")
    if not len(p):
        raise DataError("p-values: got none, expected one for every pair of systems. Next: test at least one pair.")
    found = int((p <= alpha).sum())
    return Discrimination(found / len(p), found, len(p), alpha)


@dataclass(frozen=True, slots=True)
class Swaps:
    """How often two disjoint halves of the queries disagree about which of two systems is better."""

    rate: float
    """Over all pairs and splits; if a half sees no difference, that split counts half."""
    pairs: dict[tuple[str, str], float]
    """The rate of each pair of systems."""
    splits: int
    size: int
    """Queries in each half."""


def swap_rate(systems: Mapping[str, Array], rng: np.random.Generator, splits: int = 1000) -> Swaps:
    """Split the queries in two halves again and again: how often do the halves order two systems differently?

    Systems are taken by name and queries by their values, so their order does not matter.

    Reference: E. M. Voorhees, C. Buckley: The effect of topic set size on retrieval experiment error, SIGIR
    2002.

    >>> swap_rate({"a": np.arange(10.0), "b": np.arange(10.0) + 1}, np.random.default_rng(0)).rate
    0.0
    """
    check_whole("splits", splits)
    names = sorted(systems)
    table = by_query({name: systems[name] for name in names})
    rows = table[np.lexsort(table.T)]
    half = len(rows) // 2
    agreed = np.zeros(len(names) * (len(names) - 1) // 2)
    for _ in with_share("splitting the queries", range(splits)):
        shuffled = rows[rng.permutation(len(rows))]
        agreed += _winners(shuffled[:half]) * _winners(shuffled[half : 2 * half])
    rates = ((1 - agreed / splits) / 2).tolist()
    pairs = dict(zip(combinations(names, 2), rates, strict=True))
    return Swaps(sum(rates) / len(rates), pairs, splits, half)


def most_swaps(p: float, alpha: float = 0.05) -> float:
    """At most how often two halves of other queries disagree about two systems whose difference has this p.

    A half sees the difference with sqrt(2) times the standard error of all queries; the least difference that goes
    with the p at 1 - alpha is taken. Where the test finds nothing, two halves are as good as two coins.

    >>> most_swaps(0.06), round(most_swaps(0.001), 3), most_swaps(1e-12) < 1e-3
    (0.5, 0.287, True)
    """
    wrong = NORMAL.cdf(min(0.0, NORMAL.inv_cdf(p / 2) - NORMAL.inv_cdf(alpha / 2)) / 2**0.5)
    return 2 * wrong * (1 - wrong)


def _winners(rows: Array) -> Array:
    return _signs(_rounded(rows.mean(axis=0)))


def _rounded(means: Array) -> Array:
    """Means, or rows of means, without the noise of summation, so that equal ones are equal."""
    scale = np.abs(means).max(axis=-1, keepdims=True)
    scale[scale == 0] = 1.0
    rounded: Array = np.round(means / scale, 12) * scale
    return rounded


@dataclass(frozen=True, slots=True)
class Stability:
    """How far the ordering of systems depends on single queries."""

    least: float
    """The lowest tau-b between the full ordering and one with a query left out; 0 if all systems tie."""
    mean: float
    moves: tuple[int, ...]
    """Queries (by position) that change the ordering when left out."""
    first_changes: int
    """Of these, how many change the first place."""


def stability(systems: Mapping[str, Array], higher: bool = True) -> Stability:
    """Leave out each query in turn: how similar is the ordering of the means to the full one?

    >>> stability({"a": np.array([1.0, 0.5, 0.5]), "b": np.array([0.0, 0.6, 0.6])}).first_changes
    1
    """
    names = sorted(systems)
    table = by_query({name: systems[name] for name in names})
    full, left = _rounded(table.mean(axis=0)), _rounded((table.sum(axis=0) - table) / (len(table) - 1))
    _shared(*[dict(zip(names, full.tolist(), strict=True))] * 2)
    finite_row(left.ravel(), "scores")
    agreed, untied = np.zeros(len(left)), np.zeros(len(left), dtype=np.int64)
    for i, j in combinations(range(len(names)), 2):
        signs = np.sign(left[:, i] - left[:, j])
        agreed += signs * np.sign(full[i] - full[j])
        untied += signs != 0
    pairs = int(np.count_nonzero(_signs(full)))
    taus = [a / (pairs * b) ** 0.5 if pairs * b else 0.0 for a, b in zip(agreed.tolist(), untied.tolist(), strict=True)]
    usual, orders = (np.argsort(-each if higher else each, kind="stable") for each in (full, left))
    moves = tuple(np.flatnonzero((orders != usual).any(axis=1)).tolist())
    return Stability(min(taus), sum(taus) / len(taus), moves, int((orders[:, 0] != usual[0]).sum()))
