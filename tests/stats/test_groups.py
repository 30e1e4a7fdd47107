"""Two groups of queries: the right answer beside scipy's, and few false alarms."""

from __future__ import annotations

import numpy as np
import pytest

from rankproof.errors import DataError
from rankproof.stats.variance import gap


@pytest.mark.slow
def test_the_interval_is_welchs() -> None:
    scipy = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(1)
    first, second = rng.normal(0.4, 0.2, 14), rng.normal(0.6, 0.1, 40)
    found = gap(first, second, np.random.default_rng(0))
    other = scipy.ttest_ind(first, second, equal_var=False)
    low, high = other.confidence_interval(0.95)
    assert found.difference == pytest.approx(first.mean() - second.mean())
    assert (found.low, found.high) == (pytest.approx(low), pytest.approx(high))
    exact = scipy.permutation_test(
        (first, second), lambda a, b: a.mean() - b.mean(), n_resamples=20_000, rng=np.random.default_rng(2)
    )
    assert found.p == pytest.approx(exact.pvalue, abs=0.01)


def test_a_large_sample_is_decided_by_the_same_formula_as_scipys() -> None:
    scipy = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(3)
    first, second = rng.random(500), rng.random(3000) + 0.02
    found = gap(first, second, np.random.default_rng(0))
    assert found.method == "Welch's t"
    assert found.p == pytest.approx(scipy.ttest_ind(first, second, equal_var=False).pvalue)


@pytest.mark.slow
def test_groups_that_do_not_differ_are_rarely_called_different() -> None:
    rng = np.random.default_rng(4)
    alarms = 0
    for _ in range(60):
        values = rng.random(60) ** 3  # skewed, as values of queries are
        alarms += gap(values[:15], values[15:], rng).p <= 0.05
    assert alarms <= 9  # 3 expected; 10 or more happen once in a thousand such tests


def test_the_order_of_queries_changes_nothing() -> None:
    rng = np.random.default_rng(5)
    first, second = rng.random(12), rng.random(20)
    found = gap(first, second, np.random.default_rng(0))
    assert gap(first[::-1], np.roll(second, 3), np.random.default_rng(0)) == found


def test_equal_values_and_single_ones() -> None:
    rng = np.random.default_rng(0)
    assert gap(np.ones(4), np.ones(5), rng).p == 1.0
    alone = gap(np.array([0.2]), np.ones(5), rng)
    assert np.isnan(alone.low)
    assert alone.note == "a group of one value has no spread, so the interval has no ends"
    assert gap(np.array([0.1, 0.2]), np.array([0.3]), rng, bounds=(0, 1)).note == alone.note
    assert alone.difference == pytest.approx(-0.8)
    assert gap(np.zeros(10), np.ones(10), rng).p < 0.001


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(DataError, match="one group: got nan"):
        gap(np.array([np.nan]), np.ones(3), np.random.default_rng(0))
