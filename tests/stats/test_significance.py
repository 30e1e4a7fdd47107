"""Student's t, Wilcoxon's signed ranks and the bootstrap against scipy and by hand."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy import stats

from rankproof.errors import DataError, UsageError
from rankproof.stats.significance import bootstrap, mean_ranks, paired_t, wilcoxon

ALTERNATIVES = ["two-sided", "greater", "less"]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_t_agrees_with_scipy(alternative: Any) -> None:
    draw = rng(1)
    for n in [2, 3, 5, 10, 49, 200, 1000, 10_000]:
        d = draw.normal(0.1, 1, n)
        oracle = stats.ttest_1samp(d, 0, alternative=alternative)
        found = paired_t(d, alternative)
        assert found.statistic == pytest.approx(oracle.statistic, rel=1e-10)
        assert found.p == pytest.approx(oracle.pvalue, rel=1e-7)


def test_students_own_example_of_sleep() -> None:
    """Student 1908, hours of sleep gained by 10 patients on two drugs: t = 4.06, p = 0.0028 (two-sided)."""
    d = np.array([1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4])
    found = paired_t(d)
    assert (round(found.statistic, 2), round(found.p, 4)) == (4.06, 0.0028)


def test_equal_differences_give_the_p_of_exact_sign_flips() -> None:
    found = paired_t(np.full(6, 0.25))
    assert (found.p, found.statistic) == (2 / 64, 0.25)
    assert "all differences are equal" in found.note
    assert paired_t(np.full(6, 0.25), "greater").p == 1 / 64
    assert paired_t(np.full(6, 0.25), "less").p == 1.0
    assert paired_t(np.full(6, -0.25), "less").p == 1 / 64
    # Equal but for rounding is equal too: no enormous t.
    assert paired_t(np.array([0.3, 0.1 + 0.2, 0.3])).p == 2 / 8


def test_too_little_to_go_by_is_said() -> None:
    for test in (paired_t, lambda d: bootstrap(d, rng())):
        assert (test(np.zeros(4)).p, test(np.zeros(4)).note) == (1.0, "all differences are 0")
        assert (test(np.array([0.3])).p, test(np.array([0.3])).note) == (
            1.0,
            "one query has no variance, so t says nothing",
        )
    assert (wilcoxon(np.zeros(4)).p, wilcoxon(np.zeros(4)).note) == (1.0, "all differences are 0")
    assert wilcoxon(np.array([0.3])).p == 1.0


# --- signed ranks ----------------------------------------------------------------------------------


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_ranks_without_ties_agree_with_scipy_exactly(alternative: Any) -> None:
    draw = rng(2)
    for n in [1, 2, 4, 9, 20, 50]:
        d = draw.normal(0.2, 1, n)
        oracle = stats.wilcoxon(d, alternative=alternative, method="exact")
        found = wilcoxon(d, alternative)
        assert found.p == pytest.approx(oracle.pvalue, rel=1e-9)
        assert found.statistic == stats.rankdata(np.abs(d))[d > 0].sum()


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_many_ranks_with_ties_and_zeros_agree_with_scipy(alternative: Any) -> None:
    draw = rng(3)
    for n in [80, 200, 1000]:
        d = draw.integers(-4, 6, n).astype(float)
        oracle = stats.wilcoxon(d, alternative=alternative, correction=True, method="approx", zero_method="wilcox")
        found = wilcoxon(d, alternative)
        assert found.p == pytest.approx(oracle.pvalue, rel=1e-9)
        assert "differences of 0" in found.note


def test_few_ranks_with_ties_and_zeros_are_counted() -> None:
    draw = rng(4)
    for _ in range(20):
        d = draw.integers(-3, 5, 9).astype(float)
        kept = d[d != 0]
        ranks = stats.rankdata(np.abs(kept)) * np.sign(kept)
        totals = [
            sum(s * r for s, r in zip(signs, np.abs(ranks), strict=True))
            for signs in itertools.product([1, -1], repeat=len(ranks))
        ]
        expected = np.mean([abs(t) >= abs(ranks.sum()) for t in totals])
        assert wilcoxon(d).p == pytest.approx(expected, abs=1e-12)


def test_wilcoxons_table() -> None:
    """The table of critical values for n = 10 (W at most 8: p <= 0.05 two-sided; at most 3: p <= 0.01)."""

    def p_of(w: int) -> float:
        below = {8: [8], 9: [9], 3: [3], 4: [4]}[w]
        return wilcoxon(np.array([-r if r in below else r for r in range(1, 11)], dtype=float)).p

    assert p_of(8) <= 0.05 < p_of(9)
    assert p_of(3) <= 0.01 < p_of(4)


def test_ranks_are_shared_by_sizes_equal_but_for_rounding() -> None:
    assert mean_ranks(np.array([0.3, 0.1 + 0.2, 0.1, 0.5])).tolist() == [2.5, 2.5, 1.0, 4.0]
    values = rng(5).integers(0, 9, 200).astype(float)
    assert mean_ranks(values).tolist() == stats.rankdata(values).tolist()


# --- bootstrap ---------------------------------------------------------------------------------------


@pytest.mark.first_is_quick
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_the_bootstrap_agrees_with_t_where_t_is_right(alternative: Any) -> None:
    draw = rng(6)
    for _ in range(6):
        d = draw.normal(0.12, 1, 150)
        assert bootstrap(d, rng(1), alternative).p == pytest.approx(paired_t(d, alternative).p, abs=0.02)


def test_the_bootstrap_agrees_with_one_written_out() -> None:
    d = rng(7).exponential(1.0, 30) - 0.7
    t = d.mean() / (d.std(ddof=1) / np.sqrt(30))
    centered, draw, extreme = d - d.mean(), rng(8), 0
    for _ in range(5000):
        sample = centered[draw.integers(0, 30, 30)]
        extreme += abs(sample.mean() / (sample.std(ddof=1) / np.sqrt(30))) >= abs(t)
    assert bootstrap(d, rng(9)).p == pytest.approx(extreme / 5000, abs=0.015)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_bootstrap_and_order(alternative: Any) -> None:
    d = rng(10).normal(0.05, 0.5, 60)
    first = bootstrap(d, rng(1), alternative, 2000)
    assert bootstrap(rng(2).permutation(d), rng(1), alternative, 2000) == first
    other = {"two-sided": "two-sided", "greater": "less", "less": "greater"}[alternative]
    assert bootstrap(-d, rng(1), other, 2000).p == first.p  # type: ignore[arg-type]


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_rounding_decides_nothing_in_the_bootstrap_where_gains_make_up_for_losses(alternative: Any) -> None:
    d = np.array([3, 2, 1, 0, -1, -2, -3, 1, -1]) / 10
    assert len({bootstrap(scale * d, rng(1), alternative, 500).p for scale in (1, 3, 0.1, 1 / 3, 7)}) == 1


# --- errors ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("test", [paired_t, wilcoxon, lambda d, *a: bootstrap(d, rng(), *a)])
def test_bad_input_is_refused(test: Any) -> None:
    for bad, said in [([1.0, np.nan], "nan at position 1"), ([], "got none"), ([-np.inf, 2.0], "-inf")]:
        with pytest.raises(DataError) as caught:
            test(np.array(bad))
        assert said in str(caught.value)
    with pytest.raises(UsageError, match="alternative: got 'both'"):
        test(np.ones(3), "both")
