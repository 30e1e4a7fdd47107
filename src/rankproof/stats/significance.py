"""Tests of paired differences other than sign flips: Student's t, Wilcoxon's signed ranks, the bootstrap.

Each takes the differences of two systems (first minus second, one a query) and gives an `Outcome`. None returns
NaN: if there is too little to go by, p is 1 or an exact sign-flip p, and the note says why.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, get_args

import numpy as np

from rankproof.core.arrays import by_length
from rankproof.core.hits import Array
from rankproof.errors import check_whole, one_of
from rankproof.progress import with_share
from rankproof.stats.distributions import NORMAL, t_above
from rankproof.stats.flips import observed_total, totals_by_count
from rankproof.stats.paired import SAME, Alternative, Outcome, check_alternative, differences, is_constant, total

Zeros = Literal["drop", "pratt"]
"""What Wilcoxon's test does with differences of 0: leave them out, or rank them and then leave them out."""
RESAMPLES = 10_000
EXACT_RANKS = 50
"""Up to this many differences that are not 0 the distribution of the rank sum is counted."""
AT_ONCE = 1 << 20
"""Values drawn at a time: 8 MB of numbers."""


def paired_t(values: Array, alternative: Alternative = "two-sided") -> Outcome:
    """Student's paired t test: the mean difference in units of its standard error.

    Formula: mean / (sd / sqrt(n)), against t with n - 1 degrees of freedom.

    Reference: Student: The probable error of a mean, Biometrika 1908.

    >>> found = paired_t(np.array([0.1, 0.2, 0.3, 0.4, 0.5]))
    >>> round(found.statistic, 3), round(found.p, 4)
    (4.243, 0.0132)
    """
    check_alternative(alternative)
    row = differences(values)
    if is_constant(row):
        return _without_variance(row, alternative)
    t = total(row) / len(row) / (float(row.std(ddof=1)) / math.sqrt(len(row)))
    p = tail(t, alternative, lambda x: t_above(x, len(row) - 1))
    return Outcome(t, p, len(row), "paired t")


def tail(statistic: float, alternative: str, above: Callable[[float], float]) -> float:
    """The p-value of a statistic whose distribution is symmetric around 0."""
    if alternative == "two-sided":
        return min(1.0, 2 * above(abs(statistic)))
    return above(statistic if alternative == "greater" else -statistic)


def _without_variance(row: Array, alternative: Alternative) -> Outcome:
    """All differences equal: t has no error to divide by, but their signs can still be counted."""
    n, level = len(row), float(row[len(row) // 2])
    if n == 1 or not level:
        note = "all differences are 0" if not level else "one query has no variance, so t says nothing"
        return Outcome(0.0, 1.0, n, "paired t", note)
    p = {"two-sided": 2.0, "greater": float(level > 0), "less": float(level < 0)}[alternative] * 0.5**n or 1.0
    note = "all differences are equal, so t is undefined: p is that of exact sign flips"
    return Outcome(level, p, n, "sign flips, all counted", note)


# --- signed ranks ------------------------------------------------------------------------------------


def wilcoxon(values: Array, alternative: Alternative = "two-sided", zeros: Zeros = "drop") -> Outcome:
    """Wilcoxon's signed-rank test: are larger differences more often on one side?

    Formula: W = sum of the ranks (by size, ties sharing their mean rank) of the differences above 0. Up to 50
    differences its distribution under random signs is counted, ties and all; above, a normal distribution
    with corrections for ties and continuity.

    Reference: F. Wilcoxon: Individual comparisons by ranking methods, Biometrics 1945; J. W. Pratt: Remarks
    on zeros and ties in the Wilcoxon signed rank procedures, JASA 1959.

    >>> wilcoxon(np.array([0.1, 0.2, 0.3, 0.4, 0.5])).p
    0.0625
    """
    check_alternative(alternative)
    if zeros not in get_args(Zeros):
        raise one_of("zeros", zeros, get_args(Zeros))
    row = differences(values)
    ranks = signed_ranks(row, zeros)
    left, said = len(row) - len(ranks), {"drop": "left out", "pratt": "ranked, then left out (Pratt)"}[zeros]
    note = f"differences of 0 {said}: {left:,}" if left else ""
    if not len(ranks):
        return Outcome(0.0, 1.0, len(row), "Wilcoxon signed ranks", "all differences are 0")
    method, p = _rank_p(ranks, alternative)
    return Outcome(float(ranks[ranks > 0].sum()), p, len(row), f"Wilcoxon signed ranks, {method}", note)


def signed_ranks(row: Array, zeros: Zeros = "drop") -> Array:
    """The ranks of the sizes with the signs of the differences; sizes equal but for rounding share a rank."""
    kept = row[row != 0] if zeros == "drop" else row
    signed = np.sign(kept) * mean_ranks(np.abs(kept))
    kept_ranks: Array = signed[signed != 0]
    return kept_ranks


def mean_ranks(sizes: Array) -> Array:
    """Ranks from 1; values nearer than rounding share the mean of their ranks."""
    order = np.argsort(sizes, kind="stable")
    ordered = sizes[order]
    starts = np.diff(ordered, prepend=-np.inf) > SAME * np.abs(ordered).max(initial=0.0)
    group = np.cumsum(starts) - 1
    first, size = np.flatnonzero(starts), np.bincount(group)
    ranks = np.empty(len(sizes))
    ranks[order] = (first + (size + 1) / 2)[group]
    return ranks


def _rank_p(ranks: Array, alternative: str) -> tuple[str, float]:
    found = totals_by_count(np.sort(np.abs(ranks))) if len(ranks) <= EXACT_RANKS else None
    seen, both = observed_total(ranks, alternative), alternative == "two-sided"
    if found is not None:
        totals, chances = found
        return "all counted", min(1.0, float(chances[(np.abs(totals) if both else totals) >= seen - 0.25].sum()))
    # W moves by whole ranks, their signed total by twice that: half a step is 1. The spread of the signed ranks is
    # sqrt(sum of squares), which holds the tie correction.
    near = max(0.0, seen - 1) if both else seen - 1
    above = NORMAL.cdf(-near / math.sqrt(float((ranks**2).sum())))
    return "normal", min(1.0, 2 * above) if both else above


# --- bootstrap ---------------------------------------------------------------------------------------


def bootstrap(
    values: Array, rng: np.random.Generator, alternative: Alternative = "two-sided", resamples: int = RESAMPLES
) -> Outcome:
    """The bootstrap test: how often resamples of differences shifted to mean 0 give a t as extreme.

    Reference: B. Efron, R. Tibshirani: An introduction to the bootstrap, 1993, algorithm 16.2; T. Sakai:
    Evaluating evaluation metrics based on the bootstrap, SIGIR 2006.

    >>> found = bootstrap(np.arange(1.0, 21.0), np.random.default_rng(0))
    >>> found.p < 0.001
    True
    """
    return bootstraps([values], rng, alternative, resamples)[0]


def bootstraps(
    columns: Sequence[Array],
    rng: np.random.Generator,
    alternative: Alternative = "two-sided",
    resamples: int = RESAMPLES,
) -> list[Outcome]:
    """The tests of several columns, each as `bootstrap` gives it; queries are resampled once for all."""
    check_alternative(alternative)
    check_whole("resamples", resamples)
    rows = [differences(column) for column in columns]
    seed = int(rng.integers(1 << 62))
    moving = [row for row in rows if not is_constant(row)]
    drawn = iter(by_length(moving, seed, lambda some, rng: _bootstrapped(some, rng, alternative, resamples)))
    return [_without_variance(row, alternative) if is_constant(row) else next(drawn) for row in rows]


def _bootstrapped(rows: Sequence[Array], rng: np.random.Generator, alternative: str, resamples: int) -> list[Outcome]:
    n = len(rows[0])
    centered = np.column_stack([_centered(row) for row in rows])
    t = np.array([paired_t(row).statistic for row in rows])
    seen = np.abs(t) if alternative == "two-sided" else t if alternative == "greater" else -t
    # The columns are turned so that their mean is not below 0; what is drawn must be turned back with them.
    turn = np.where((t < 0) != (alternative == "less"), -1.0, 1.0)
    extreme = np.zeros(len(rows), dtype=np.int64)
    for times in _times_drawn(n, resamples, rng):
        drawn = _t_of(times, centered)
        reach = np.abs(drawn) if alternative == "two-sided" else drawn * turn
        extreme += (reach >= seen - SAME * np.abs(seen)).sum(axis=0)
    method = f"bootstrap of t, {resamples:,} resamples"
    ps = (extreme + 1) / (resamples + 1)
    return [Outcome(float(s), float(p), n, method) for s, p in zip(t, ps, strict=True)]


def _centered(row: Array) -> Array:
    """The differences less their mean, turned so that it does not matter which system came first."""
    mean = total(row) / len(row)
    return np.sort(row - mean if mean >= 0 else mean - row)


def _t_of(times: Array, centered: Array) -> Array:
    """t of every resample (a line of how often each value was drawn) in every column."""
    n = len(centered)
    mean = times @ centered / n
    error = np.sqrt(np.maximum(times @ centered**2 / n - mean**2, 0) / (n - 1))
    # A resample of one value over and over has no error: it is extreme unless its mean is 0 too.
    with np.errstate(divide="ignore", invalid="ignore"):
        t: Array = np.nan_to_num(mean / error, nan=0.0)
    return t


def _times_drawn(n: int, resamples: int, rng: np.random.Generator) -> Iterator[Array]:
    """How often each of n values is in a resample, a line a resample, some lines at a time."""
    lines = max(1, AT_ONCE // n)
    for start in with_share("drawing", range(0, resamples, lines)):
        count = min(lines, resamples - start)
        drawn = rng.integers(0, n, (count, n)) + n * np.arange(count)[:, None]
        yield np.bincount(drawn.ravel(), minlength=count * n).reshape(count, n).astype(np.float64)
