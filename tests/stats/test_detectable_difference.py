"""How many queries show a difference: the number is where the power is enough, one less is not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from rankproof.stats.detectable_difference import POWER, Moves, needed_or_why


def rows(rng: np.random.Generator) -> list[np.ndarray]:
    n = int(rng.choice([12, 50, 300]))
    sparse = (rng.random(n) < 0.4) * rng.normal(0.1, 0.3, n)
    return [
        rng.normal(0.2, 1, n),
        sparse,
        rng.choice([-1.0, 0, 1], n, p=[0.2, 0.6, 0.2]),
        rng.normal(0, 0.2, n).round(1),
    ]


@pytest.mark.parametrize("seed", range(5))
def test_so_many_queries_are_enough_and_fewer_are_not(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for row in rows(rng):
        difference, alpha = float(10 ** rng.uniform(-2, 0)), float(rng.choice([0.05, 0.001]))
        found = needed_or_why(row, difference, alpha)[0]
        if found is None:
            continue
        step = max(1, (1 << (found - 1).bit_length() - 1) >> 12)
        power = [Moves.of(row).planned_power(difference, n, alpha, 2) for n in (found - step, found)]
        assert power[0] < POWER <= power[1], (row, difference, alpha)


def power_by_hand(moves: Moves, difference: float, n: int, alpha: float, sides: int) -> float:
    """Over every number of queries that may move: the sign test of hits, and of all else Student's noncentral t."""
    total = 0.0
    more = min(difference / moves.spread, 1 - moves.moved / 2)
    moved = min(1.0, moves.moved + more) if moves.hits else moves.moved
    shift = max(0.0, difference - moves.step / n) / moves.moved / moves.spread
    for m, chance in enumerate(stats.binom.pmf(np.arange(n + 1), n, moved)):
        if 2.0**-m > alpha / sides or chance < 1e-9:
            continue
        if moves.hits:
            least = int(stats.binom.isf(alpha / sides, m, 0.5)) + 1
            total += chance * stats.binom.sf(least - 1, m, (moves.moved / 2 + more) / moved)
        else:
            level = np.floor(alpha / sides * 2.0**m) / 2.0**m
            t, further = stats.t.isf(level, m - 1), shift * m**0.5
            power = float(stats.nct.sf(t, m - 1, further))
            wide = 1 + further**2 * moves.doubt / (moves.seen - 1) / (1 + t * t / (2 * (m - 1)))
            total += chance * stats.norm.cdf(stats.norm.ppf(power) / wide**0.5)
    if moves.hits:
        doubt = (moves.moved / moved) ** 2 * (1 - moves.moved) / (4 * moves.seen)
        total = stats.norm.cdf(stats.norm.ppf(total) / (1 + more**2 * n / moved * doubt) ** 0.5)
    return total


@pytest.mark.parametrize(
    ("moves", "difference"),
    [
        (Moves(40, 0.3, 1.0, True, 1.0, 12), 0.2),
        (Moves(40, 0.8, 0.5, True, 0.5, 32), 0.15),
        (Moves(30, 0.6, 0.2, False, 0.1, 18), 0.08),
        (Moves(30, 0.9, 0.3, False, 0.0, 27, 1.2), 0.15),
    ],
)
def test_the_power_is_that_over_every_number_of_queries_that_move(moves: Moves, difference: float) -> None:
    for alpha, sides in ((0.05, 2), (0.01, 1)):
        expected = power_by_hand(moves, difference, moves.n, alpha, sides)
        close = 0.01 if moves.hits else 0.005  # of many numbers some are looked at, and that of hits rises in steps
        assert moves.power(difference, moves.n, alpha, sides) == pytest.approx(expected, abs=close)


def test_a_difference_too_small_for_any_number_of_queries_has_none() -> None:
    row = np.random.default_rng(0).normal(0, 1, 50)
    assert needed_or_why(row, 1e-9, 0.05)[0] is None
    assert needed_or_why(row, 1e4, 0.05)[0] is not None
