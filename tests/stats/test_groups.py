"""Two groups of queries: the right answer beside scipy's, and few false alarms."""

from __future__ import annotations

import numpy as np
import pytest

from rankproof.errors import DataError
from rankproof.stats.variance import gap


@pytest.mark.slow
def test_p_is_that_of_a_permutation_test() -> None:
    scipy = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(1)
    first, second = rng.normal(0.4, 0.2, 14), rng.normal(0.6, 0.1, 40)
    found = gap(first, second, np.random.default_rng(0))
    assert found.difference == pytest.approx(first.mean() - second.mean())
    exact = scipy.permutation_test(
        (first, second), lambda a, b: a.mean() - b.mean(), n_resamples=20_000, rng=np.random.default_rng(2)
    )
    assert found.p == pytest.approx(exact.pvalue, abs=0.01)


@pytest.mark.parametrize(
    ("hits", "n", "other_hits", "others"),
    [
        (0, 10, 99, 990),
        (20, 20, 1800, 2000),
        (40, 300, 140, 700),
        (0, 10, 5, 10),
        (890, 990, 9, 10),
        (10, 20, 1800, 2000),
    ],
)
def test_hits_are_told_as_the_hypergeometric_distribution_tells_them(
    hits: int, n: int, other_hits: int, others: int
) -> None:
    scipy = pytest.importorskip("scipy.stats")
    first, second = np.arange(n) < hits, np.arange(others) < other_hits
    found = gap(first.astype(float), second.astype(float), np.random.default_rng(0))
    every = hits + other_hits
    got = np.arange(n + 1)
    chances = scipy.hypergeom.pmf(got, n + others, every, n)
    apart = np.abs(got / n - (every - got) / others)
    exact = float(chances[apart >= abs(found.difference) - 1e-12].sum())
    if found.method == "bound of all regroupings":
        assert exact <= found.p < 1e-4
    else:
        assert found.p == pytest.approx(exact, rel=0.2)


def test_many_values_are_regrouped_too() -> None:
    scipy = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(3)
    first, second = rng.random(500), rng.random(3000) + 0.035
    found = gap(first, second, np.random.default_rng(0))
    assert found.method == "10,000 random regroupings"
    assert found.p == pytest.approx(scipy.ttest_ind(first, second, equal_var=False).pvalue, rel=0.2)
    alone = gap(np.zeros(1), rng.random(600), rng)
    assert 0 < alone.p < 0.02


@pytest.mark.slow
def test_groups_that_do_not_differ_are_rarely_called_different() -> None:
    rng = np.random.default_rng(4)
    alarms = 0
    for _ in range(60):
        values = rng.random(60) ** 3  # skewed, as values of queries are
        alarms += gap(values[:15], values[15:], rng).p <= 0.05
    assert alarms <= 9  # 3 expected; 10 or more happen once in a thousand such tests
    # A small group of hits and misses among many: Welch's t found 34 of a hundred different.
    rare = (np.random.default_rng(seed).random(1000) < 0.1 for seed in range(100))
    assert sum(gap(each[:10] * 1.0, each[10:] * 1.0, rng).p <= 0.05 for each in rare) <= 5


def test_the_order_of_queries_changes_nothing() -> None:
    rng = np.random.default_rng(5)
    first, second = rng.random(12), rng.random(20)
    found = gap(first, second, np.random.default_rng(0))
    assert gap(first[::-1], np.roll(second, 3), np.random.default_rng(0)) == found


def test_equal_values_and_single_ones() -> None:
    rng = np.random.default_rng(0)
    for value in (0.0, 0.1, 1.0):
        equal = gap(np.full(4, value), np.full(5, value), rng)
        assert (equal.p, equal.method, equal.note) == (1.0, "all values are equal", "")
    alone = gap(np.array([0.2]), np.ones(5), rng)
    assert np.isnan(alone.low)
    assert alone.note == "a group of one value has no spread, so the interval has no ends"
    assert gap(np.array([0.1, 0.2]), np.array([0.3]), rng).note == alone.note
    assert alone.difference == pytest.approx(-0.8)
    assert gap(np.zeros(10), np.ones(10), rng).p < 0.001


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(DataError, match="one group: got nan"):
        gap(np.array([np.nan]), np.ones(3), np.random.default_rng(0))
