"""Confidence intervals: against SciPy, against simulation, and at the edges."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.stats

from rankproof.errors import UsageError
from rankproof.stats.intervals import Interval, analytic, bca, interval, intervals, percentile


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def skewed(n: int, seed: int = 1) -> np.ndarray:
    return rng(seed).beta(0.4, 2.0, n)


def near(one: Interval, low: float, high: float, share: float) -> bool:
    """Whether both ends lie within `share` of the interval's width."""
    return max(abs(one.low - low), abs(one.high - high)) < share * (high - low)


# --- against others ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [12, 60, 300])
@pytest.mark.parametrize("level", [0.95, 0.8])
@pytest.mark.parametrize("method", ["BCa", "percentile"])
def test_the_bootstrap_agrees_with_scipy(n: int, level: float, method: str) -> None:
    values = skewed(n)
    wanted = scipy.stats.bootstrap(
        (values,), np.mean, confidence_level=level, n_resamples=20_000, method=method, rng=rng(5), batch=500
    ).confidence_interval
    found = (bca if method == "BCa" else percentile)(values, rng(), level, 20_000)
    assert near(found, wanted.low, wanted.high, 0.03)


@pytest.mark.slow
@pytest.mark.parametrize(
    "values", [skewed(1500), skewed(6000), (rng(2).random(2000) < 0.03).astype(float), rng(3).random(1200)]
)
def test_the_closed_form_agrees_with_the_bootstrap(values: np.ndarray) -> None:
    wanted = bca(values, rng(), resamples=40_000)
    found = analytic(values)
    assert near(found, wanted.low, wanted.high, 0.025)


def test_the_closed_form_leans_with_the_skew_as_a_plain_normal_interval_does_not() -> None:
    values = (rng(2).random(2000) < 0.01).astype(float)
    wanted, found = bca(values, rng(), resamples=40_000), analytic(values)
    half = 1.96 * values.std() / math.sqrt(len(values))
    plain = Interval(values.mean() - half, values.mean() + half, "", 2000)
    assert near(found, wanted.low, wanted.high, 0.03)
    assert not near(plain, wanted.low, wanted.high, 0.03)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "least"), [(30, 0.91), (200, 0.935)])
def test_nineteen_of_twenty_intervals_hold_the_true_mean(n: int, least: float) -> None:
    draw = rng(11)
    true = 0.4 / 2.4
    samples = [draw.beta(0.4, 2.0, n) for _ in range(1500)]
    found = [interval(values, draw, resamples=1500) for values in samples]
    share = np.mean([each.low <= true <= each.high for each in found])
    assert least < share < 0.97
    plain = [v.mean() + np.array([-1.96, 1.96]) * v.std() / math.sqrt(n) for v in samples]
    above = np.mean([true > high for _, high in plain])
    assert np.mean([true > each.high for each in found]) < above


def test_the_closed_form_holds_the_true_mean_as_often_as_it_says() -> None:
    draw = rng(12)
    found = [analytic(draw.beta(0.4, 2.0, 1100)) for _ in range(4000)]
    share = np.mean([each.low <= 0.4 / 2.4 <= each.high for each in found])
    assert 0.94 < share < 0.96


# --- what does not matter --------------------------------------------------------------------------------


def test_the_order_of_the_values_does_not_matter() -> None:
    values = skewed(70)
    assert (
        interval(values, rng())
        == interval(values[::-1].copy(), rng())
        == interval(rng(4).permutation(values), rng())
    )


def test_the_seed_decides_and_nothing_else() -> None:
    values = skewed(70)
    assert interval(values, rng(1)) == interval(values, rng(1))
    assert interval(values, rng(1)) != interval(values, rng(2))


def test_columns_resampled_together_come_out_as_alone() -> None:
    columns = [skewed(40), skewed(40, 2), skewed(25), np.ones(40), skewed(1200), np.array([0.5])]
    kinds = ["mean", "geometric", "sum", "mean", "mean", "mean"]
    together = intervals(columns, rng(), averages=kinds)
    for column, kind, found in zip(columns, kinds, together, strict=True):
        assert str(found) == str(interval(column, rng(), average=kind))


def test_the_number_of_threads_does_not_matter() -> None:
    code = (
        "import numpy as np; from rankproof.stats.intervals import interval;"
        "print(interval(np.random.default_rng(1).beta(.4, 2, 900), np.random.default_rng(0)))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    }
    assert len(outputs) == 1


def test_a_shift_and_a_scale_move_the_interval_with_them() -> None:
    values = skewed(50)
    one, other = interval(values, rng()), interval(3 + 2 * values, rng())
    assert (other.low, other.high) == pytest.approx((3 + 2 * one.low, 3 + 2 * one.high))


# --- what is said -------------------------------------------------------------------------------------------


def test_the_method_says_what_was_done() -> None:
    assert interval(skewed(1000), rng()).method == "BCa bootstrap, 10,000 resamples"
    assert interval(skewed(1001), rng()).method == "BCa in closed form (over 1,000 queries)"
    assert (
        interval(skewed(9), rng(), average="geometric").method
        == "BCa bootstrap, 10,000 resamples, of the logarithms"
    )
    assert (
        interval(skewed(9), rng(), average="sum").method
        == "BCa bootstrap, 10,000 resamples, of the mean, times n"
    )


def test_equal_values_have_an_interval_of_no_width_that_says_so() -> None:
    assert interval(np.full(12, 0.3), rng()) == Interval(0.3, 0.3, "all 12 values are equal", 12)


@pytest.mark.parametrize(("values", "method"), [([], "no queries"), ([0.7], "one query has no interval")])
@pytest.mark.parametrize("average", ["mean", "sum", "geometric"])
def test_too_few_queries_have_none(values: list[float], method: str, average: str) -> None:
    found = interval(np.array(values), rng(), average=average)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert (found.method, found.n) == (method, len(values))


def test_a_sum_is_the_mean_times_n() -> None:
    values = skewed(20)
    mean, total = interval(values, rng()), interval(values, rng(), average="sum")
    assert (total.low, total.high) == pytest.approx((20 * mean.low, 20 * mean.high))


def test_a_geometric_mean_is_resampled_as_logarithms_and_zero_counts_as_the_floor() -> None:
    values = np.array([0.0, 0.2, 0.5, 0.9, 1.0, 0.1])
    found = interval(values, rng(), average="geometric")
    logs = interval(np.log(np.maximum(values, 0.00001)), rng())
    assert (math.log(found.low), math.log(found.high)) == pytest.approx((logs.low, logs.high))
    assert 0.00001 < found.low < found.high < 1


def test_the_interval_holds_the_mean_and_stays_within_the_values() -> None:
    for seed in range(30):
        values = rng(seed).integers(0, 2, 8).astype(float)
        found = interval(values, rng())
        assert values.min() <= found.low <= values.mean() <= found.high <= values.max()


def test_two_values_are_enough() -> None:
    found = interval(np.array([0.0, 1.0]), rng())
    assert (found.low, found.high) == (0.0, 1.0)


def test_a_higher_level_is_wider() -> None:
    values = skewed(80)
    widths = [interval(values, rng(), level) for level in (0.5, 0.9, 0.99)]
    assert widths[0].low > widths[1].low > widths[2].low
    assert widths[0].high < widths[1].high < widths[2].high


@pytest.mark.parametrize("level", [0, 1, 95, -0.1])
def test_a_level_outside_0_to_1_is_refused(level: float) -> None:
    with pytest.raises(UsageError, match=rf"level: got {level}.*above 0 and below 1"):
        interval(skewed(5), rng(), level)
