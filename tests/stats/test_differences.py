"""Intervals of differences and equivalence within a margin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW

from rankproof.errors import DataError, UsageError
from rankproof.stats.confidence import ValueSample, chance_below, lower_bound, safe_bound, t_reach
from rankproof.stats.differences import difference_interval, equivalence
from rankproof.stats.distributions import share_below
from rankproof.stats.intervals import Interval, bca_interval, percentile

METHODS = ["bca", "percentile", "t"]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_students_interval_agrees_with_scipy(level: float) -> None:
    for n in [2, 5, 40, 900]:
        d = rng(n).normal(0.1, 1, n)
        oracle = stats.ttest_1samp(d, 0).confidence_interval(level)
        found = difference_interval(d, rng(), level, "t")
        assert (found.low, found.high) == pytest.approx((oracle.low, oracle.high), rel=1e-9)


@pytest.mark.parametrize(("method", "name"), [("bca", "BCa"), ("percentile", "percentile")])
def test_bootstrap_intervals_agree_with_scipy(method: Any, name: str) -> None:
    """Two bootstraps of 20,000: ends within 3 % of the width."""
    for seed in range(4):
        d = rng(seed).exponential(1.0, 60) - 0.8 if seed % 2 else rng(seed).lognormal(0, 1.5, 12)
        oracle = stats.bootstrap((d,), np.mean, n_resamples=20_000, method=name, rng=rng(9)).confidence_interval
        found = difference_interval(d, rng(), 0.95, method, 20_000)
        assert (found.low, found.high) == pytest.approx(
            (oracle.low, oracle.high), abs=0.03 * (oracle.high - oracle.low)
        )


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_bca_of_many_values_is_its_known_limit(level: float) -> None:
    """Efron's: the ends are moved by s (2 z^2 + 1) standard errors, with s a sixth of the skewness of the mean."""
    d = stats.expon.ppf((np.arange(2000) + 0.5) / 2000)
    error, s = d.std() / 2000**0.5, stats.skew(d) / 6 / 2000**0.5
    z = stats.norm.ppf((1 + level) / 2)
    found = difference_interval(d, level=level, method="bca")
    ends = [d.mean() + error * (sign * z + s * (2 * z**2 + 1)) for sign in (-1, 1)]
    assert (found.low, found.high) == pytest.approx(ends, abs=0.002 * error)
    assert "closed form" in found.method
    for one in (1.0, -1.0):
        few = difference_interval(np.append(np.zeros(1500), one), level=level, method="bca")
        assert min(one, 0) <= few.low < few.high <= max(one, 0)


@pytest.mark.parametrize("method", METHODS)
def test_order_and_direction_do_not_matter(method: Any) -> None:
    d = rng(1).normal(0.1, 1, 80)
    found = difference_interval(d, rng(5), 0.9, method)
    assert difference_interval(rng(3).permutation(d), rng(5), 0.9, method) == found
    mirrored = difference_interval(-d, rng(5), 0.9, method)
    assert (mirrored.low, mirrored.high) == (-found.high, -found.low)


@pytest.mark.parametrize("method", METHODS)
def test_limits_of_intervals_are_stated(method: Any) -> None:
    same = difference_interval(np.full(4, 0.5), rng(), method=method)
    assert (same.low, same.high, same.method) == (0.5, 0.5, "all 4 values are equal")
    assert "one query" in difference_interval(np.array([0.5]), rng(), method=method).method
    with pytest.raises(DataError, match="got none"):
        difference_interval(np.array([]), rng(), method=method)
    with pytest.raises(DataError, match="nan at position 0"):
        difference_interval(np.array([np.nan, 1.0]), rng(), method=method)
    with pytest.raises(UsageError, match="level: got 95"):
        difference_interval(np.ones(3), rng(), 95, method)


@pytest.mark.parametrize("made", [bca_interval, percentile])
def test_what_is_drawn_alone_knows_few_and_equal_values_too(made: Callable[..., Interval]) -> None:
    for values, why in [([], "no queries"), ([0.5], "one query has no interval")]:
        found = made(np.array(values), rng())
        assert np.isnan([found.low, found.high]).all()
        assert (found.method, found.n) == (why, len(values))
    same = made(np.array([0.3, 0.1 + 0.2]), rng())
    assert (same.low, same.high, same.method) == (0.3, 0.1 + 0.2, "all 2 values are equal")
    two = made(np.array([0.2, 0.1]), rng(), resamples=100)
    assert (two.low, two.high, two.n) == (0.1, 0.2, 2)


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(UsageError, match=r"method: got 'BCa'.*Did you mean 'bca'"):
        difference_interval(np.ones(3), rng(), method="BCa")  # type: ignore[arg-type]


def test_the_interval_holds_the_mean_and_grows_with_the_level() -> None:
    draw = rng(4)
    for n in (2, 3, 5, 10, 20, 50):
        for _ in range(4):
            d = changes(draw, n)
            spans = [difference_interval(d, level=level) for level in (0.2, 0.5, 0.8, 0.95, 0.951, 0.99)]
            assert spans[0].low - 1e-12 <= d.mean() <= spans[0].high + 1e-12
            for inner, outer in pairwise(spans):
                assert outer.low <= inner.low
                assert inner.high <= outer.high


def test_what_is_added_to_students_reach_fades_without_a_jump() -> None:
    sizes = range(2, 3000)
    wider = np.array([t_reach(n, 0.025, 0.0) / stats.t.ppf(0.975, n - 1) - 1 for n in sizes])
    assert wider[[10 - 2, 50 - 2]] == pytest.approx([0.2, 0.04])
    assert 0 < wider[-1] < 1e-3
    assert max(np.diff(wider)) < 0
    assert min(np.diff(wider)[8:]) > -0.02  # from one size to the next, with ten queries and more


# --- equivalence ---------------------------------------------------------------------------------------


def test_dense_equivalence_is_nearly_that_of_statsmodels() -> None:
    """Where all move, the bounds are Student's, and lower only where the skewness seen asks for it."""
    draw = rng(1)
    for _ in range(50):
        d, margin = draw.normal(0.01, 0.1, int(draw.integers(100, 300))), float(draw.uniform(0.005, 0.1))
        p, *_ = DescrStatsW(d).ttost_mean(-margin, margin)
        found = equivalence(d, margin)
        assert found.difference == pytest.approx(d.mean())
        assert found.p >= p - 1e-12
        assert found.p == pytest.approx(p, rel=0.2, abs=0.004)


def changes(draw: np.random.Generator, n: int) -> np.ndarray:
    """Differences that are dense or rare, on steps or not, with long tails, or all alike."""
    moved = draw.random(n) < draw.choice([1.0, 1.0, 0.5, 0.2, 0.1])
    sizes = (
        draw.normal(0.02, 0.1, n),
        draw.choice([-1.0, 0.0, 1.0], n),
        draw.choice([-0.1, 0.1], n),
        -draw.lognormal(-3, 1, n),
        draw.uniform(-0.1, 0.1, n),
        np.where(draw.random(n) < 0.05, -0.5, 0.01),
    )
    return np.where(moved, sizes[draw.integers(len(sizes))], 0.0)


@pytest.mark.slow
def test_equivalence_is_the_interval_inside_the_margins_and_what_few_queries_do_not_show() -> None:
    draw, seen = rng(2), Counter[tuple[bool, bool, bool]]()
    for _ in range(240):
        n = int(draw.choice([2, 5, 10, 15, 30, 50, 60, 80, 99, 100, 150, 400]))
        d, alpha = changes(draw, n), float(draw.choice([0.01, 0.05, 0.2]))
        far = max(float(np.abs(d).max()), 0.01) * float(draw.choice([1.0, 1.5, 20.0]))
        found = difference_interval(d, level=1 - 2 * alpha, ends=(-far, far))
        # Near the interval's own ends, where the two are easiest to part.
        margin = max(-found.low, found.high) * float(draw.choice([0.99, 1.01, 1.5, 4.0]))
        inside = -margin < found.low and found.high < margin
        claimed = equivalence(d, margin, (-far, far)).p < alpha
        alike = all(each.doubt == each.rarity for each in (ValueSample.of(d), ValueSample.of(-d)))
        assert claimed <= inside, (n, alpha, far, d)
        assert claimed == inside or not alike, (n, alpha, far, d)
        seen[alike, inside, claimed] += 1
    assert all(seen[case] > 5 for case in [(True, True, True), (True, False, False), (False, True, True)])
    assert seen[False, True, False] > 5


@pytest.mark.slow
def test_a_claim_of_no_loss_is_never_beyond_the_bound_beside_it() -> None:
    """Also where Student's bound lies lower than Gaffke's: few large moves of which all are known to be no larger."""
    draw, lower = rng(3), 0
    for _ in range(120):
        n = int(draw.choice([2, 5, 10, 20, 50, 80, 120]))
        d, alpha = changes(draw, n), float(draw.choice([0.01, 0.05, 0.2]))
        end = -max(float(np.abs(d).max()), 0.01) * float(draw.choice([1.0, 1.2, 20.0]))
        sample = ValueSample.of(d)
        assert safe_bound(sample, alpha, end) <= lower_bound(sample, alpha, end)
        lower += safe_bound(sample, alpha, end) < lower_bound(sample, alpha, end)
        for point in (safe_bound(sample, alpha, end) - 1e-3, safe_bound(sample, alpha, end) + 1e-3):
            assert (chance_below(sample, point, end) < alpha) == (safe_bound(sample, alpha, end) > point)
    assert lower > 30


@pytest.mark.parametrize("sign", [-1, 1])
def test_the_chance_at_students_bound_is_its_level_however_skewed(sign: int) -> None:
    sample = ValueSample.of(sign * stats.expon.ppf((np.arange(400) + 0.5) / 400))
    assert sample.rarity == sample.doubt == 0
    for alpha in (0.001, 0.05, 0.2):
        assert chance_below(sample, lower_bound(sample, alpha, -9.0), -9.0) == pytest.approx(alpha, rel=1e-9)


def test_equal_differences_and_margins() -> None:
    assert equivalence(np.zeros(5), 0.1).p == pytest.approx(0.9**5)
    assert equivalence(np.full(5, 0.2), 0.1).p == 1.0
    assert equivalence(np.array([0.01]), 0.1).p == 1.0
    for margin in (0.0, -0.1, float("nan"), float("inf")):
        with pytest.raises(UsageError, match="margin: got"):
            equivalence(np.zeros(5), margin)


@pytest.mark.slow
def test_the_chance_of_a_weighted_mean_is_that_of_weights_drawn() -> None:
    """Also where many small values make the transform grow along a bent path."""
    rng = np.random.default_rng(3)
    cases = [(np.array([-1.0, 0.0, 1.0, 2.0]), np.array([0.2, 7.0, 693.0, 0.8]))]
    for size in (2, 5, 12, 29):
        spread = np.append(rng.normal(size=size), [-60.0])
        cases += [(spread, rng.choice([1.0, 2.0, 50.0, 700.0], size + 1)) for _ in range(5)]
    for values, counts in cases:
        drawn = rng.dirichlet(counts, 40_000) @ values
        for wanted in (0.01, 0.05, 0.5, 0.975):
            found = share_below(values, counts, float(np.quantile(drawn, wanted)))
            assert abs(found - wanted) < 5 * np.sqrt(wanted * (1 - wanted) / 40_000)
