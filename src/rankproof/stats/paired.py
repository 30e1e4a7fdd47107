"""Two systems on the same queries: their differences, checked, and the paired randomisation test by sign flips.

If two systems are alike, each query's difference could as well have had the other sign. The p-value is how
often random signs give a total at least as far from 0 as the observed one. It is counted exactly if that is
cheap: for up to 16 differences that are not 0, or if all lie on a common grid (as those of P@10 do), in whole
steps of that grid. Otherwise signs are drawn, the same for every column of one length, and p = (k + 1) / (B + 1).
If fewer than about a hundred of the draws would be as extreme, they are too few to say how small p is, and it is
computed by a saddle-point approximation of all sign flips, so that a family of any size can be distinguished.

Every function of this package that draws at random puts its data into one order first (here sizes of differences,
smallest first): neither the order of the queries, nor which system is named first, nor which other tests run changes
a result. Totals are compared with a tolerance far above rounding and far below any difference that matters, so they do
not depend on the number of threads that add them up.

Reference: R. A. Fisher: The design of experiments, 1935; M. Smucker, J. Allan, B. Carterette: A comparison of
statistical significance tests for information retrieval evaluation, CIKM 2007.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from rankproof._moved import old_names
from rankproof.core.arrays import Array, by_key, distinct, finite_row
from rankproof.document.numbers import count
from rankproof.errors import DataError, check_number, check_one_of, check_whole, explain_calls
from rankproof.progress import draw_in_lots

Alternative = Literal["two-sided", "greater", "less"]
"""What a test looks for: any difference, one above 0, one below 0."""
SAME = 1e-12
"""Differences nearer than this (relative to the largest value) are equal but for rounding."""
TINIEST = 1e-150
"""Differences smaller than this count as 0: their squares would be, and no spread could be told from none."""
SMALLEST_ALPHA = 1e-12
"""Below it, 1 - alpha / tests would round to 1 if there are many tests, and no interval has that level."""
PERMUTATIONS = 100_000
"""Draws of signs: near 0.05 a p-value then moves by about 0.0007 from seed to seed."""
FEW = 16
"""Up to this many differences all 2^n signs are tried."""
CELLS = 100_000
"""The longest grid on which totals are counted."""
STEPS = 30_000_000
"""The most work that counting on a grid may take: cells times differences."""
SLACK = 1e-10
"""Totals nearer than this, relative to the sum of sizes, are equal but for rounding."""
FEWEST = 100
"""Draws as extreme below which the saddle point knows p better: a hundred give it to a tenth."""
RARE = 0.01
"""The largest p that is taken from the saddle point: in the middle draws are as accurate."""
EVEN = 1e-7
"""How far a size may lie from its grid, in steps: far above rounding, too little to add up to a step."""
AT_ONCE = 1 << 20
"""Signs drawn at a time, a bit each."""
MULTIPLIED = 1 << 17
"""Signs multiplied at a time: 1 MB of numbers stays in the cache, which halves the time."""
SINGLE = 1 << 13
"""Queries multiplied at a time: longer rows wake the threads of OpenBLAS, which wait for longer than they work."""
COUNTED = 5_000
"""Patterns of signs that are counted one by one."""
NEAR = 1e-3
"""A total nearer to the middle than this, in standard deviations, has a chance of one half."""
HALVINGS = 100
TINY = sys.float_info.min


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a test."""

    statistic: float
    p: float
    """How often pure chance gives a statistic at least as extreme."""
    n: int
    """The number of queries behind it."""
    method: str
    """The test, in words."""
    note: str = ""
    """The limits of the answer, if there are any."""


def paired_differences(a: Array, b: Array) -> Array:
    """The differences a - b of two systems' values on the same queries; those within rounding of 0 are 0.

    >>> paired_differences(np.array([0.5, 0.3]), np.array([0.25, 0.1 + 0.2])).tolist()
    [0.25, 0.0]
    """
    first, second = finite_row(a, "first values"), finite_row(b, "second values")
    if len(first) != len(second):
        raise DataError(
            f"paired values: got {len(first):,} and {len(second):,}, expected as many of each system. "
            "Next: keep the queries that both have, or count the missing ones as 0."
        )
    off = first - second
    slack = max(SAME * max(_largest(first), _largest(second)), TINIEST)
    return np.where(np.abs(off) <= slack, 0.0, off)


def differences(values: Array) -> Array:
    """Finite differences, smallest first; no queries at all are an error."""
    row = np.sort(finite_row(values, "differences"))
    if not len(row):
        raise DataError("differences: got none. Next: check that the two systems share queries.")
    return row


def check_alternative(alternative: str) -> None:
    """Refuse an unknown alternative."""
    check_one_of("alternative", alternative, get_args(Alternative))


def check_share(what: str, value: float) -> None:
    """Refuse what is not strictly between 0 and 1."""
    check_number(what, value, above=0, below=1, advice="give a share, like 0.05")


def check_alpha(alpha: object, most: float = 1) -> None:
    """Refuse an error rate that is not below its maximum, or so small that 1 - alpha is 1 once it is shared out."""
    check_number("alpha", alpha, least=SMALLEST_ALPHA, below=most, advice="leave it out for 0.05")


def towards(value: Any, alternative: str) -> Any:
    """A statistic, or several, in the direction of the alternative."""
    return {"two-sided": abs(value), "greater": value, "less": -value}[alternative]


def total(row: Array) -> float:
    """The sum, rounded once, so the same in every order."""
    return math.fsum(row.tolist())


def is_constant(row: Array) -> bool:
    """Whether all values are equal but for rounding."""
    return float(np.ptp(row)) <= SAME * _largest(row)


def _largest(row: Array) -> float:
    return float(np.abs(row).max(initial=0.0))


if not TYPE_CHECKING:
    __getattr__ = old_names(__name__, {"paired": "paired_differences"})


@explain_calls
def sign_flip(
    values: Array, rng: np.random.Generator, alternative: Alternative = "two-sided", permutations: int = PERMUTATIONS
) -> Outcome:
    """The randomisation test of differences (first system minus second); the statistic is their mean.

    >>> sign_flip(np.array([0.1, 0.2, 0.3, 0.4, 0.5]), np.random.default_rng(0)).p
    0.0625
    """
    return sign_flips([values], rng, alternative, permutations)[0]


def sign_flips(
    columns: Sequence[Array],
    rng: np.random.Generator,
    alternative: Alternative = "two-sided",
    permutations: int = PERMUTATIONS,
) -> list[Outcome]:
    """The tests of several columns of differences, each as `sign_flip` gives it; all share the signs."""
    check_alternative(alternative)
    check_whole("permutations", permutations)
    rows = [differences(column) for column in columns]
    seed = int(rng.integers(1 << 62))
    found = {i: _undrawn(row, alternative, min(FEWEST / permutations, RARE)) for i, row in enumerate(rows)}
    for n, left in by_key((len(rows[i]), i) for i, outcome in found.items() if outcome is None).items():
        drawn = _drawn([rows[i] for i in left], np.random.default_rng([seed, n]), alternative, permutations)
        found |= zip(left, drawn, strict=True)
    return [each for each in found.values() if each is not None]


def _undrawn(row: Array, alternative: str, rare: float) -> Outcome | None:
    """The p by counting, or by the saddle point if p is below `rare`; None if signs must be drawn."""
    mean, p = total(row) / len(row), exact_p(row, alternative)
    if p is not None:
        moved = int(np.count_nonzero(row))
        few = f"{count(moved, 'difference')} not 0: two-sided p cannot go below {2 / 2**moved:g}" if moved <= 5 else ""
        note = few if moved else "all differences are 0"
        return Outcome(mean, p, len(row), "sign flips, all counted", note)
    p = flips_above(_sizes(row), towards(total(row), alternative), SLACK) * (2 if alternative == "two-sided" else 1)
    return Outcome(mean, p, len(row), "sign flips, by their saddle point") if p < rare else None


def exact_p(row: Array, alternative: str) -> float | None:
    """The p of the total of a row from all flips of its signs, None if that is too much work."""
    sizes, seen, both = _sizes(row), towards(total(row), alternative), alternative == "two-sided"
    grid = on_grid(sizes)
    if grid is not None:
        # In whole steps totals are compared as they are: no rounding can lose the one that was seen.
        unit, steps = grid
        reached = np.arange(-len(steps) + 1, len(steps), 2)
        return _share(steps, np.abs(reached) if both else reached, round(seen / unit))
    if len(sizes) > FEW:
        return None
    totals, chances = totals_by_trial(sizes)
    return _share(chances, np.abs(totals) if both else totals, seen - SLACK * total(sizes))


def _share(chances: Array, reached: Array, least: float) -> float:
    """The chance of all totals from `least` on: never 0, as the total that was seen is one of them."""
    return min(1.0, max(float(chances[reached >= least].sum()), TINY))


def _sizes(row: Array) -> Array:
    return np.sort(np.abs(row[row != 0]))


def totals_by_trial(sizes: Array) -> tuple[Array, Array]:
    """Every total of signed sizes with its chance, by trying all signs."""
    totals = np.zeros(1)
    for size in sizes:
        totals = np.concatenate([totals - size, totals + size])
    return totals, np.full(len(totals), 1 / len(totals))


def on_grid(sizes: Array) -> tuple[float, Array] | None:
    """The unit of the sizes' grid, and the chance of each total from minus their sum on, in double units."""
    unit = common_unit(sizes)
    if unit is None:
        return None
    steps = np.rint(sizes / unit).astype(np.int64)
    cells = int(steps.sum()) + 1
    if cells * len(steps) > STEPS:
        return None
    # Cell c holds the chance that the sizes with a plus add up to c: their total is 2c - sum.
    chances = np.zeros(cells)
    chances[0], end = 1.0, 1
    for step in steps.tolist():
        chances[: end + step] /= 2
        chances[step : end + step] += chances[:end]
        end += step
    return unit, chances


def common_unit(sizes: Array) -> float | None:
    """The largest number of which all positive `sizes` are multiples, by Euclid; None if that is too small."""
    if not len(sizes):
        return None
    finest = total(sizes) / CELLS
    unit = 0.0
    for size in distinct(sizes).tolist():
        rest, unit = unit, size
        while rest > finest / 2:
            unit, rest = rest, abs(math.remainder(unit, rest))
        if unit < finest:
            return None
    steps = np.rint(sizes / unit)
    unit = total(sizes) / float(steps.sum())  # without the rounding errors of Euclid's remainders
    return unit if np.abs(sizes / unit - steps).max() < EVEN else None


def step_of(values: Array) -> float:
    """The grid that differences lie on, 0 if there is none: totals of flipped signs move by twice that.

    >>> step_of(np.array([0.0, 1.0, -1.0])), step_of(np.array([0.25, -0.5, 1.0]))
    (1.0, 0.25)
    """
    return common_unit(_sizes(values)) or 0.0


def flips_above(sizes: Array, seen: float, slack: float) -> float:
    """How often positive `sizes` with random signs add up to `seen` or more; `slack` is relative to their sum.

    >>> flips_above(np.arange(1.0, 41.0), 820.0, 1e-10) == 0.5**40
    True
    """
    whole = total(sizes)
    left = _patterns(sizes, (whole - seen) / 2 + slack * whole)
    return max(left * 0.5 ** len(sizes), TINY) if left is not None else max(saddle_tail(sizes, seen), TINY)


def _patterns(sizes: Array, lost: float) -> int | None:
    """How many sets of sizes add up to `lost` or less, the empty set too; None if there are too many."""
    # The smallest k sizes fit: so do all their subsets.
    if 2 ** min(60, int(np.searchsorted(np.cumsum(sizes), lost, "right"))) > COUNTED:
        return None
    ordered = sizes.tolist()
    found, open_sets = 1, [(0, lost)]
    while open_sets:
        start, room = open_sets.pop()
        for place in range(start, len(ordered)):
            if ordered[place] > room:
                break
            found += 1
            if found > COUNTED:
                return None
            open_sets.append((place + 1, room - ordered[place]))
    return found


def saddle_tail(sizes: Array, seen: float) -> float:
    """The same by the saddle point: sum log cosh(t sizes) - t seen at its lowest."""

    def off(t: float) -> tuple[float, float]:
        tilted = np.tanh(t * sizes)  # signs tilted by t
        return float((sizes * tilted).sum()) - seen, float((sizes**2 * (1 - tilted**2)).sum())

    t = rising_root(off, seen / float((sizes**2).sum()), -math.inf, 1e-12)
    along = np.abs(t * sizes)
    height = float((along + np.log1p(np.exp(-2 * along)) - math.log(2)).sum())
    wide = t * math.sqrt(float((sizes**2 * (1 - np.tanh(along) ** 2)).sum()))
    w = math.copysign(math.sqrt(max(0.0, 2 * (t * seen - height))), t)
    if abs(w) < NEAR:
        return 0.5
    if not wide:  # all signs are alike there: either every pattern reaches so far, or one
        return 1.0 if w < 0 else 0.5 ** len(sizes)
    return min(1.0, lugannani_rice(w, wide))


def lugannani_rice(w: float, wide: float) -> float:
    """The chance of a total beyond its saddle point, by the formula of Lugannani and Rice."""
    density = math.exp(-w * w / 2) / math.sqrt(2 * math.pi)
    return 0.5 * math.erfc(w / math.sqrt(2)) + density * (1 / wide - 1 / w)


def rising_root(function: Callable[[float], tuple[float, float]], t: float, low: float, close: float) -> float:
    """Where a rising function, given with its slope, is 0: Newton from `t`, kept between both sides."""
    high = math.inf
    for _ in range(HALVINGS):
        off, slope = function(t)
        low, high = (low, t) if off > 0 else (t, high)
        new = t - off / slope if slope > 0 else math.nan
        if not low < new < high:
            new = (low + high) / 2 if math.isfinite(low + high) else 2 * t
        if abs(new - t) <= close * abs(t):
            break
        t = new
    return t


def _drawn(rows: Sequence[Array], rng: np.random.Generator, alternative: str, permutations: int) -> list[Outcome]:
    """The p of each row by how many totals of random signs are at least as extreme as its own."""
    sizes = np.column_stack([np.sort(np.abs(row)) for row in rows])
    sums = sizes.sum(axis=0)
    least = np.array([towards(total(row), alternative) for row in rows]) - SLACK * sums
    extreme = np.zeros(len(rows), dtype=np.int64)
    pieces = [slice(at, at + SINGLE) for at in range(0, len(sizes), SINGLE)]
    for bits in _signs(len(sizes), permutations, rng):
        plus = (np.unpackbits(bits[:, each.start // 8 : each.stop // 8], axis=1) for each in pieces)
        parts = zip(plus, pieces, strict=True)
        halves = sum(some[:, : len(sizes[at])].astype(np.float64) @ sizes[at] for some, at in parts)
        totals = 2 * halves - sums
        extreme += ((np.abs(totals) if alternative == "two-sided" else totals) >= least).sum(axis=0)
    ps, method = (extreme + 1) / (permutations + 1), f"sign flips, {permutations:,} drawn"
    return [Outcome(total(row) / len(row), p, len(row), method) for row, p in zip(rows, ps.tolist(), strict=True)]


def _signs(n: int, permutations: int, rng: np.random.Generator) -> Iterator[Array]:
    """Random signs, a bit each, 1 for plus: a line of bytes a draw, some lines at a time."""
    few = max(1, MULTIPLIED // min(n, SINGLE))
    for draws in draw_in_lots(permutations, AT_ONCE // n):
        bits = rng.integers(0, 256, (draws, (n + 7) // 8), dtype=np.uint8)
        for first in range(0, len(bits), few):
            yield bits[first : first + few]
