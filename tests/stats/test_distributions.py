"""The distributions against scipy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

from rankproof.stats.distributions import (
    beta_share,
    quantile,
    share_below,
    shifted_t_above,
    t_above,
    t_quantile,
)
from rankproof.stats.significance import hypergeometric_logs

DEGREES = [1, 2, 3, 7, 10, 49, 149, 999, 10_000, 1_000_000]


@pytest.mark.parametrize("df", DEGREES)
def test_t_tails_agree_with_scipy(df: int) -> None:
    for t in [-30.0, -4.0, -1.0, 0.0, 1e-6, 0.1, 1.0, 1.96, 2.5, 5.0, 12.0, 40.0]:
        assert t_above(t, df) == pytest.approx(stats.t.sf(t, df), rel=1e-7, abs=1e-300)


@pytest.mark.parametrize("df", DEGREES)
def test_t_quantiles_agree_with_scipy(df: int) -> None:
    for share in [0.001, 0.025, 0.2, 0.6, 0.95, 0.975, 0.9995]:
        assert t_quantile(share, df) == pytest.approx(stats.t.ppf(share, df), rel=1e-8)


def test_t_quantiles_hold_far_out_and_near_the_middle() -> None:
    for df in [1, 2.5, 3, 3.7, 5, 12, 99, 1_000, 20_000.5]:
        for above in [0.4999, 0.3, 1e-3, 1e-6, 1e-9, 1e-12, 2.0**-52]:
            exact = 1 - (1 - above)
            assert t_quantile(1 - above, df) == pytest.approx(stats.t.isf(exact, df), rel=1e-7)
    assert t_quantile(0.5, 10) == 0


def test_draws_without_replacement_agree_with_scipy() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        whole = int(rng.integers(1, 3000))
        drawn, good = (int(each) for each in rng.integers(0, whole + 1, 2))
        most = min(drawn, good)
        least = int(rng.integers(0, most + 1))
        expected = stats.hypergeom.logpmf(range(least, most + 1), whole, good, drawn)
        assert hypergeometric_logs(drawn, good, whole, least) == pytest.approx(expected, rel=1e-9, abs=1e-8)


def test_the_incomplete_beta_agrees_with_scipy() -> None:
    rng = np.random.default_rng(2)
    for a, b, x in zip(rng.gamma(1, 20, 300), rng.gamma(1, 20, 300), rng.random(300), strict=True):
        assert beta_share(float(x), float(a), float(b)) == pytest.approx(special.betainc(a, b, x), rel=1e-9, abs=1e-200)


@pytest.mark.parametrize("df", [1, 2, 4, 9, 19, 20, 33, 99, 100, 200, 5000])
def test_noncentral_t_agrees_with_scipy(df: int) -> None:
    for t in [0.5, 1.7, 2.0, 3.5, 5.5]:
        for shift in [-2.0, 0.0, 0.5, 2.8, 6.0]:
            assert shifted_t_above(t, df, shift) == pytest.approx(stats.nct.sf(t, df, shift), abs=1e-8)


@pytest.mark.slow
def test_a_mean_under_random_weights_of_two_values_is_a_beta_variable() -> None:
    """On either side of its mean, far out and in the middle, skewed as it may be."""
    ends = np.array([0.0, 1.0])
    for yes, no in [(50.5, 0.5), (1.2, 0.8), (3, 2), (0.5, 9), (200.8, 0.2), (30, 700), (9000.2, 1000.8)]:
        beta, counts = stats.beta(yes, no), np.array([no, yes])
        for share in (1e-6, 0.001, 0.025, 0.2, 0.31, 0.45, 0.5, 0.52, 0.6, 0.9, 0.975, 0.9999):
            point = quantile(ends, counts, share)
            assert point == pytest.approx(float(beta.ppf(share)), abs=1e-3 * beta.std()), (yes, no, share)
            found = share_below(ends, counts, point)
            assert found == pytest.approx(float(beta.cdf(point)), rel=1e-6), (yes, no, share)


@pytest.mark.slow
def test_quantiles_of_a_mean_under_random_weights_have_their_share_below() -> None:
    """Values of many shapes, with ends that may lie a thousand times farther off than they lie apart."""
    rng = np.random.default_rng(11)
    for trial in range(200):
        k = int(rng.integers(1, 60))
        shapes = [
            rng.random(k),
            rng.normal(0.9, 1e-4, k),
            rng.integers(0, 2, k) * 1.0,
            rng.standard_cauchy(k),
        ]
        seen = shapes[trial % 4]
        counts = rng.integers(1, 10 ** int(rng.integers(1, 5)), k) * 1.0
        low, high = rng.random(2) * 10.0 ** rng.integers(-4, 3, 2)
        values = np.concatenate([[seen.min() - low], seen, [seen.max() + high]])
        counts = np.concatenate([[0.8], counts, [0.2]])
        for share in (1e-8, 0.005, 0.025, 0.25, 0.45, 0.7, 0.975, 0.995):
            found = share_below(values, counts, quantile(values, counts, share))
            assert found == pytest.approx(share, abs=1e-3 * min(share, 1 - share)), (trial, share)
