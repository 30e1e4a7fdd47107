"""Several systems at once: analysis of variance and the randomised Tukey test."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from rankproof.errors import DataError, UsageError
from rankproof.stats.corrections import Gaps, _largest_gaps, tukey
from rankproof.stats.variance import anova


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def table(seed: int, n: int, m: int, effect: float = 0.0) -> Any:
    draw = rng(seed)
    return draw.normal(0, 1, (n, 1)) + draw.normal(0, 0.5, (n, m)) + effect * np.arange(m)


@pytest.mark.first_is_quick
@pytest.mark.parametrize(("n", "m"), [(2, 2), (5, 3), (50, 4), (200, 2)])
def test_anova_agrees_with_statsmodels(n: int, m: int) -> None:
    values = table(n, n, m, 0.2)
    long = pd.DataFrame(
        {"value": values.ravel(), "query": np.repeat(np.arange(n), m), "system": np.tile(np.arange(m), n)}
    )
    oracle = anova_lm(ols("value ~ C(system) + C(query)", long).fit())
    found = anova(values)
    for source, name in [(found.systems, "C(system)"), (found.queries, "C(query)")]:
        assert (source.squares, source.df, source.f, source.p) == pytest.approx(
            tuple(oracle.loc[name, ["sum_sq", "df", "F", "PR(>F)"]]), rel=1e-7
        )
    assert (found.rest.squares, found.rest.df) == pytest.approx(tuple(oracle.loc["Residual", ["sum_sq", "df"]]))
    assert found.systems.share + found.queries.share + found.rest.share == pytest.approx(1.0)


def test_anova_of_two_systems_is_students_t() -> None:
    values = table(3, 30, 2, 0.3)
    t = stats.ttest_rel(values[:, 0], values[:, 1])
    assert (anova(values).systems.f, anova(values).systems.p) == pytest.approx((t.statistic**2, t.pvalue))


def test_anova_of_snedecor_and_cochran() -> None:
    """Statistical Methods, 7th edition, table 14.2.1: failures of soybeans, 5 treatments in 5 blocks: F = 3.87."""
    failures = np.array(
        [[8, 2, 4, 3, 9], [10, 6, 10, 5, 7], [12, 7, 9, 9, 5], [13, 11, 8, 10, 5], [11, 5, 10, 6, 3]], float
    )
    found = anova(failures)
    assert (
        round(found.systems.squares, 2),
        round(found.queries.squares, 2),
        round(found.rest.squares, 2),
    ) == (83.84, 49.84, 86.56)
    assert round(found.systems.f or 0, 2) == 3.87


def test_anova_with_nothing_left_says_so() -> None:
    shifted = np.add.outer(rng(1).random(6), [0.0, 0.1, 0.3])
    assert (anova(shifted).systems.f, anova(shifted).systems.p) == (None, None)
    assert "off by the same on every query" in anova(shifted).note
    assert "equal on every query" in anova(np.ones((4, 3)) * 0.1).note
    assert anova(np.ones((4, 3))).systems.share == 0.0


def test_anova_does_not_depend_on_order() -> None:
    values = table(4, 40, 3)
    turned = values[rng(1).permutation(40)]
    assert anova(turned) == anova(values)
    assert anova(values[:, [2, 0, 1]]).systems == anova(values).systems


# --- Tukey ---------------------------------------------------------------------------------------------


def named(values: Any) -> dict[str, Any]:
    return dict(zip("abcdefgh", values.T, strict=False))


def test_tukey_of_a_small_table_agrees_with_all_permutations() -> None:
    values = rng(2).random((4, 3)) + np.array([0.0, 0.1, 0.6])
    orders = list(itertools.permutations(range(3)))
    ranges = np.array(
        [
            np.ptp(np.mean([row[list(o)] for row, o in zip(values, each, strict=True)], axis=0))
            for each in itertools.product(orders, repeat=4)
        ]
    )
    for pair in tukey(named(values), rng(), 20_000):
        exact = (ranges >= abs(pair.difference) - 1e-9).mean()
        assert pair.p == pytest.approx(exact, abs=5 * np.sqrt(exact * (1 - exact) / 20_000) + 1e-4)


@pytest.mark.slow
def test_tukey_agrees_with_the_studentised_range_on_normal_values() -> None:
    """With many queries the largest gap over its error follows the studentised range."""
    n, m = 300, 4
    values = rng(3).normal(0, 1, (n, m)) + np.array([0.0, 0.05, 0.1, 0.2])
    for pair in tukey(named(values), rng(), 10_000):
        found = anova(values)
        q = abs(pair.difference) / np.sqrt(found.rest.mean_square / n)
        assert pair.p == pytest.approx(stats.studentized_range.sf(q, m, found.rest.df), abs=0.03)


def test_tukey_does_not_depend_on_the_order_of_queries_or_systems() -> None:
    values = named(table(5, 60, 4, 0.1))
    found = tukey(values, rng(7), 2000)
    turn = rng(1).permutation(60)
    assert tukey({name: column[turn] for name, column in values.items()}, rng(7), 2000) == found
    back = {frozenset((pair.first, pair.second)): pair for pair in tukey(dict(reversed(values.items())), rng(7), 2000)}
    for pair in found:
        other = back[frozenset((pair.first, pair.second))]
        assert (other.p, other.difference) == (pair.p, -pair.difference)


def test_tukey_with_equal_systems_and_with_clear_winners() -> None:
    same = rng(6).random(30)
    pairs = tukey({"a": same, "b": same, "c": same + 5}, rng(), 999)
    assert pairs[0].p == 1.0
    # Of six orders of three values of a query, four put the third system on a given side of one of the others.
    assert max(pair.p for pair in pairs[1:]) < 1e-12


@pytest.mark.slow
def test_beyond_the_draws_the_p_of_pairs_is_that_of_many_more_draws() -> None:
    values = named(table(8, 40, 5, 0.1))
    draws = np.sort(_largest_gaps(np.column_stack(list(values.values())), rng(3), 100_000))
    for wanted in (0.01, 0.001):
        gap = float(np.quantile(draws, 1 - wanted))
        assert Gaps.of(np.column_stack(list(values.values()))).share_above(gap) == pytest.approx(wanted, rel=0.25)


@pytest.mark.parametrize("tied", [False, True])
def test_the_p_of_pairs_is_that_of_all_signs_of_all_gaps(tied: bool) -> None:
    """Two systems of a query differ by one of its gaps, either way; any of the ordered pairs may lie so far apart."""
    values = rng(9).random((6, 3))
    if tied:  # a query without a gap, and one with its largest gap twice
        values[0], values[1] = 0.5, [0.0, 0.0, 1.0]
    gaps = [[row[a] - row[b] for a, b in itertools.permutations(range(3), 2)] for row in values]
    sums = np.array([sum(each) for each in itertools.product(*gaps)])
    most = float(sums.max())
    for share, close in ((0.5, 0.08), (0.6, 0.08), (0.8, 0.08), (0.9, 0.08), (1.0, 1e-9)):
        exact = 6 * float((sums >= share * most - 1e-12).mean())
        assert Gaps.of(values).share_above(share * most / 6) == pytest.approx(exact, rel=close)
    assert Gaps.of(values).share_above(0.0) == 1.0


@pytest.mark.parametrize("function", [anova, lambda values: tukey(named(values), rng())])
def test_tables_that_cannot_be_used_are_refused(function: Any) -> None:
    for bad, said in [
        (np.ones((1, 3)), "2 queries by 2 systems"),
        (np.ones((3, 1)), "2 queries by 2 systems"),
        (np.ones((0, 0)), "2 queries"),
    ]:
        with pytest.raises(DataError, match=said):
            function(bad)
    hole = np.ones((3, 2))
    hole[1, 0] = np.nan
    with pytest.raises(DataError, match="got nan"):
        function(hole)


def test_tukey_names_what_does_not_fit() -> None:
    with pytest.raises(DataError, match=r"\{'a': 3, 'b': 2\}"):
        tukey({"a": np.ones(3), "b": np.ones(2)}, rng())
    with pytest.raises(DataError, match="values of 'b': got inf"):
        tukey({"a": np.ones(2), "b": np.array([np.inf, 0])}, rng())
    with pytest.raises(UsageError, match="permutations: got -1"):
        tukey(named(np.ones((3, 2))), rng(), -1)
