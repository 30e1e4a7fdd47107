"""How many queries show a difference: the number is where the power is enough, one less is not."""

from __future__ import annotations

import numpy as np
import pytest

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


def test_a_difference_too_small_for_any_number_of_queries_has_none() -> None:
    row = np.random.default_rng(0).normal(0, 1, 50)
    assert needed_or_why(row, 1e-9, 0.05)[0] is None
    assert needed_or_why(row, 1e4, 0.05)[0] is not None
