"""Quantiles have intervals that hold the true value as often as they say, whatever the distribution."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from rankproof.stats.intervals import _at_most, quantiles


@pytest.mark.parametrize("n", [1, 7, 100, 5000])
@pytest.mark.parametrize("share", [0.5, 0.95, 0.99])
def test_the_binomial_behind_it_is_that_of_scipy(n: int, share: float) -> None:
    assert _at_most(n, share) == pytest.approx(binom.cdf(np.arange(n + 1), n, share), abs=1e-10)


@pytest.mark.parametrize(("n", "share"), [(40, 0.5), (200, 0.5), (200, 0.95), (600, 0.99)])
def test_intervals_cover_the_truth(n: int, share: float) -> None:
    rng = np.random.default_rng(n)
    true = -np.log1p(-share)
    held = 0
    for _ in range(400):
        (found,) = quantiles(rng.exponential(size=n).tolist(), [share])
        held += (found.low is None or found.low <= true) and (found.high is None or true <= found.high)
    assert held / 400 >= 0.93


def test_values_that_are_too_few_leave_an_end_open() -> None:
    (found,) = quantiles([1.0, 2.0, 3.0], [0.99])
    assert (found.low, found.high) == (2.0, None)
    assert quantiles([], [0.5]) == []
    (one,) = quantiles([4.0], [0.5])
    assert (one.value, one.low, one.high) == (4.0, None, None)


@pytest.mark.parametrize("share", [0.01, 0.5, 0.9, 0.95, 0.99])
def test_a_quantile_lies_in_its_interval(share: float) -> None:
    draw = np.random.default_rng(3)
    for n in [*range(1, 40), 99, 100, 101, 399, 400, 1000]:
        (found,) = quantiles(draw.lognormal(size=n).tolist(), [share])
        assert found.low is None or found.low <= found.value, n
        assert found.high is None or found.value <= found.high, n
