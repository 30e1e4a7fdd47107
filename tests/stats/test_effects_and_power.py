"""Effect sizes and power against statsmodels, scipy and tables."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestPower

from rankproof.errors import DataError, UsageError
from rankproof.stats.significance import cliffs_delta, d_z, hedges_g, queries_needed, smallest_detectable, spread

TEST = TTestPower()
SIDES = {1: "larger", 2: "two-sided"}


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_d_z_is_t_over_the_root_of_n() -> None:
    d = rng(1).normal(0.3, 1, 40)
    assert d_z(d).value == pytest.approx(stats.ttest_1samp(d, 0).statistic / np.sqrt(40))


def test_hedges_g_agrees_with_the_exact_correction() -> None:
    """J as scipy's gamma function has it, and near its usual approximation 1 - 3 / (4 f - 1)."""
    from scipy.special import gamma

    a, b = rng(2).normal(1, 1, 15), rng(3).normal(0.5, 2, 15)
    raw = (a.mean() - b.mean()) / np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2)
    found = hedges_g(a, b).value
    assert found == pytest.approx(raw * gamma(14) / (np.sqrt(14) * gamma(13.5)))
    assert found == pytest.approx(raw * (1 - 3 / (4 * 28 - 1)), rel=1e-3)


def test_cliffs_delta_counts_all_pairs() -> None:
    draw = rng(4)
    for _ in range(30):
        a, b = draw.integers(0, 6, 20).astype(float), draw.integers(1, 7, 20).astype(float)
        pairs = np.sign(np.subtract.outer(a, b))
        assert cliffs_delta(a, b).value == pytest.approx(pairs.mean())
        u = stats.mannwhitneyu(a, b).statistic
        assert cliffs_delta(a, b).value == pytest.approx(2 * u / 400 - 1)
        assert cliffs_delta(b, a).value == -(cliffs_delta(a, b).value or 0)


@pytest.mark.parametrize(("value", "words"), [(0.1, "negligible"), (0.3, "small"), (-0.6, "medium"), (0.9, "large")])
def test_sizes_have_words(value: float, words: str) -> None:
    d = rng(5).normal(0, 1, 50)
    d = (d - d.mean()) / d.std(ddof=1) + value
    assert d_z(d).words == words


def test_effects_without_variance_say_so() -> None:
    assert (d_z(np.full(3, 0.5)).value, d_z(np.full(3, 0.5)).words) == (None, "unknown")
    assert "nothing varies" in d_z(np.full(3, 0.5)).note
    assert d_z(np.zeros(3)).value == 0.0
    assert d_z(np.array([0.1])).note == "one query has no spread"
    assert hedges_g(np.ones(3), np.zeros(3)).value is None
    assert hedges_g(np.ones(3), np.ones(3)).value == 0.0
    assert hedges_g(np.array([1.0]), np.array([0.0])).value is None
    rising = np.array([1.0, 2.0, 3.0])  # with its variance 1, halved, and the correction sqrt(2 / pi) of four degrees
    assert (
        hedges_g(rising, np.ones(3)).value == -hedges_g(np.ones(3), rising).value == pytest.approx((4 / np.pi) ** 0.5)
    )


def test_effects_refuse_what_they_cannot_use() -> None:
    nan = np.array([1.0, np.nan])
    for call in (lambda: d_z(nan), lambda: hedges_g(nan, np.ones(2)), lambda: cliffs_delta(np.ones(2), nan)):
        with pytest.raises(DataError, match="got nan at position 1"):
            call()
    for call in (
        lambda: d_z(np.array([])),
        lambda: hedges_g(np.array([]), np.array([])),
        lambda: cliffs_delta(np.ones(2), np.array([])),
    ):
        with pytest.raises(DataError, match=r"got n[one]"):
            call()


def test_effects_do_not_depend_on_the_order_of_queries() -> None:
    a, b = rng(6).random(100), rng(7).random(100)
    turn = rng(8).permutation(100)
    assert d_z(a - b) == d_z((a - b)[turn])
    assert hedges_g(a, b) == hedges_g(a[turn], b[turn])
    assert cliffs_delta(a, b) == cliffs_delta(a[turn], b[turn])


# --- power ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sides", [1, 2])
def test_power_agrees_with_statsmodels(sides: int) -> None:
    # Further out (size 1 with 1,500 queries) the oracle gives NaN.
    for n, sizes in {
        2: [0.3, 1.0],
        5: [0.3, 1.0],
        20: [0.05, 1.0],
        100: [0.05, 0.3],
        1500: [0.01, 0.1],
    }.items():
        for size in sizes:
            for alpha in [0.01, 0.05]:
                oracle = TEST.power(size, n, alpha, alternative=SIDES[sides])
                if 1.1 * alpha < oracle < 0.9999:
                    found = smallest_detectable(0.2, n, alpha, oracle, sides)
                    assert found == pytest.approx(size * 0.2, rel=1e-5)


@pytest.mark.parametrize("sides", [1, 2])
def test_the_smallest_detectable_difference_agrees_with_statsmodels(sides: int) -> None:
    for n in [5, 20, 100, 1500]:
        for wanted in [0.5, 0.8, 0.95]:
            found = smallest_detectable(0.2, n, 0.05, wanted, sides)
            assert TEST.power(found / 0.2, n, 0.05, alternative=SIDES[sides]) == pytest.approx(wanted, abs=1e-7)


@pytest.mark.parametrize("sides", [1, 2])
def test_queries_needed_agree_with_statsmodels(sides: int) -> None:
    for size in [0.03, 0.1, 0.25, 0.5, 0.8, 1.2]:
        for wanted in [0.8, 0.9]:
            oracle = TEST.solve_power(effect_size=size, alpha=0.05, power=wanted, alternative=SIDES[sides])
            found = queries_needed(size, 1.0, 0.05, wanted, sides)
            assert found is not None
            assert 0 <= found - oracle < 1.0 or found == pytest.approx(oracle, rel=3e-4)


def test_the_table_of_cohen() -> None:
    """n for a paired test, 0.8 power, two-sided 0.05: 199 for d = 0.2, 34 for 0.5, 15 for 0.8."""
    assert [queries_needed(size, 1.0) for size in (0.2, 0.5, 0.8)] == [199, 34, 15]


def test_what_is_detectable_needs_as_many_queries_as_there_are() -> None:
    for n in [5, 50, 500, 50_000]:
        size = smallest_detectable(0.3, n)
        assert size is not None
        assert queries_needed(size * 1.0000001, 0.3) == pytest.approx(n, rel=1e-4)


def test_limits_of_power_are_stated() -> None:
    assert smallest_detectable(0.2, 1) is None
    assert smallest_detectable(0.0, 10) == 0.0
    assert queries_needed(0.0, 0.2) is None
    assert queries_needed(0.1, 0.0) == 2
    assert queries_needed(1e-6, 0.2) == pytest.approx(3.14e11, rel=0.01)
    assert queries_needed(1e-9, 0.2) is None
    assert queries_needed(1e-300, 0.2) is None
    assert spread(np.array([0.5])) is None
    assert spread(np.array([0.0, 1.0])) == pytest.approx(0.5**0.5)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"alpha": 0.0}, "alpha: got 0.0"),
        ({"alpha": 5}, "alpha: got 5"),
        ({"power": 1.0}, "power: got 1.0"),
        ({"power": 0.01}, "expected more than alpha"),
        ({"sides": 3}, "sides: got 3"),
    ],
)
def test_bad_questions_about_power_are_refused(arguments: dict[str, float], said: str) -> None:
    for call in (
        lambda: smallest_detectable(0.2, 10, **arguments),
        lambda: queries_needed(0.1, 0.2, **arguments),
    ):  # type: ignore[arg-type]
        with pytest.raises(UsageError, match=said):
            call()


@pytest.mark.parametrize("bad", [-0.1, float("nan"), float("inf")])
def test_a_spread_must_be_a_number(bad: float) -> None:
    for call in (lambda: smallest_detectable(bad, 10), lambda: queries_needed(0.1, bad)):
        with pytest.raises(DataError, match="spread: got"):
            call()
    with pytest.raises(DataError, match="difference: got nan"):
        queries_needed(float("nan"), 0.2)
