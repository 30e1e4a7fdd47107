"""Orderings of systems: correlation, discriminative power, swaps, stability."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from rankproof.errors import DataError, UsageError
from rankproof.stats.agreement import kendall_tau_b, order, rbo_of, stability, tau_ap_of
from rankproof.stats.corrections import discriminative_power
from tests.work import calls


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def scores(values: Any) -> dict[str, float]:
    return {f"s{i:02}": float(value) for i, value in enumerate(values)}


def test_tau_b_agrees_with_scipy() -> None:
    draw = rng(1)
    for trial in range(60):
        n = int(draw.integers(2, 30))
        first, second = (draw.integers(0, 6, n) if trial % 2 else draw.random(n) for _ in range(2))
        expected = stats.kendalltau(first, second).statistic
        found = kendall_tau_b(scores(first), scores(second)).value
        assert found == (None if np.isnan(expected) else pytest.approx(expected))


def test_tau_ap_by_hand() -> None:
    """Yilmaz and others, formula 5, on the order b a c d against a b c d: above 2nd 0/1, 3rd 2/2, 4th 3/3."""
    found = tau_ap_of({"a": 3, "b": 4, "c": 2, "d": 1}, {"a": 4, "b": 3, "c": 2, "d": 1})
    assert found.value == pytest.approx(2 / 3 * (0 + 1 + 1) - 1)
    at_the_end = tau_ap_of({"a": 4, "b": 3, "c": 1, "d": 2}, {"a": 4, "b": 3, "c": 2, "d": 1})
    assert at_the_end.value == pytest.approx(2 / 3 * (1 + 1 + 2 / 3) - 1)


@pytest.mark.parametrize("alike", [kendall_tau_b, tau_ap_of, rbo_of])
def test_the_same_ordering_is_1(alike: Any) -> None:
    assert alike(scores(range(7)), scores(np.arange(7) * 2)).value == pytest.approx(1.0)


@pytest.mark.parametrize("alike", [kendall_tau_b, tau_ap_of])
def test_the_reverse_ordering_is_minus_1(alike: Any) -> None:
    assert alike(scores(range(7)), scores(range(7, 0, -1))).value == pytest.approx(-1.0)


@pytest.mark.parametrize("alike", [tau_ap_of, rbo_of])
def test_less_can_be_better(alike: Any) -> None:
    first, second = scores(rng(1).random(8)), scores(rng(2).random(8))
    down = [{name: -value for name, value in each.items()} for each in (first, second)]
    assert alike(first, second, higher=True).value == alike(*down, higher=False).value


def test_rbo_looks_at_the_top() -> None:
    base = scores(range(20, 0, -1))
    top, end = dict(base), dict(base)
    top["s00"], top["s01"] = base["s01"], base["s00"]
    end["s18"], end["s19"] = base["s19"], base["s18"]
    assert (rbo_of(top, base).value or 0) < (rbo_of(end, base).value or 0) < 1


def test_the_order_of_the_mapping_does_not_matter_and_ties_are_said() -> None:
    first, second = scores(rng(3).integers(0, 4, 12)), scores(rng(4).random(12))
    back = dict(reversed(first.items()))
    for alike in (kendall_tau_b, tau_ap_of, rbo_of):
        assert alike(back, second) == alike(first, second)
    assert tau_ap_of(first, second).note == "equal scores are ordered by name"
    assert order({"b": 1.0, "a": 1.0, "c": 0.5}, higher=False) == ["c", "a", "b"]


def test_limits_and_errors_of_orderings() -> None:
    flat = kendall_tau_b({"a": 1, "b": 1}, {"a": 1, "b": 2})
    assert (flat.value, flat.note) == (None, "all scores of one ordering are equal")
    assert kendall_tau_b({"a": 1, "b": 2, "x": 5}, {"a": 1, "b": 2, "y": 0}).n == 2
    for bad, said in [({"a": 1.0}, "got 1 system in both"), ({"a": float("nan"), "b": 1.0}, "got nan")]:
        with pytest.raises(DataError, match=said):
            kendall_tau_b(bad, {"a": 1, "b": 2})
    with pytest.raises(UsageError, match="p: got 1"):
        rbo_of({"a": 1, "b": 2}, {"a": 1, "b": 2}, p=1)


# --- how far an ordering can be trusted -------------------------------------------------------------


def test_discriminative_power_is_the_share_of_found_pairs() -> None:
    found = discriminative_power([0.01, 0.05, 0.051, 0.9])
    assert (found.share, found.found, found.pairs) == (0.5, 2, 4)
    assert discriminative_power([0.01, 0.05], alpha=0.01).share == 0.5
    with pytest.raises(DataError, match="got none"):
        discriminative_power([])
    with pytest.raises(DataError, match="got nan"):
        discriminative_power([0.1, float("nan")])
    with pytest.raises(UsageError, match="alpha"):
        discriminative_power([0.1], alpha=1)


def test_stability_is_leave_one_out() -> None:
    systems = {name: rng(i).normal(0.02 * i, 0.3, 25) for i, name in enumerate("abcde")}
    full = {name: float(values.mean()) for name, values in systems.items()}
    taus = [
        kendall_tau_b(full, {name: float(np.delete(values, i).mean()) for name, values in systems.items()}).value
        for i in range(25)
    ]
    found = stability(systems)
    assert (found.least, found.mean) == pytest.approx((min(taus), np.mean(taus)))  # type: ignore[type-var]
    assert len(found.moves) == sum(tau != 1.0 for tau in taus)
    assert found.first_changes <= len(found.moves)


def test_means_equal_but_for_rounding_are_a_tie() -> None:
    """0.1 + 0.2 + 0.3 comes out above 0.3 + 0.2 + 0.1; a tie goes by name, so only the first query moves it."""
    found = stability({"a": np.array([0.3, 0.2, 0.1]), "b": np.array([0.1, 0.2, 0.3])})
    assert (found.moves, found.mean) == ((0,), 0.0)


def test_one_query_can_hold_up_a_leader() -> None:
    found = stability({"lucky": np.array([1.0, 0.4, 0.4, 0.4]), "steady": np.array([0.0, 0.5, 0.5, 0.5])})
    assert (found.moves, found.first_changes, found.least) == ((0,), 1, -1.0)
    assert stability({"a": np.zeros(3), "b": np.zeros(3)}).moves == ()


def test_tables_that_cannot_be_used_are_refused() -> None:
    for bad, said in [({"a": np.ones(3)}, "2 queries by 2 systems"), ({}, "2 queries"), ({"a": np.ones(1), "b": np.ones(1)}, "2 queries"),
                      ({"a": np.ones(3), "b": np.ones(2)}, "expected as many"), ({"a": np.ones(2), "b": np.array([1, np.nan])}, "values of 'b': got nan")]:  # fmt: skip
        with pytest.raises(DataError, match=said):
            stability(bad)


def test_leaving_out_each_of_many_queries_calls_no_more_functions() -> None:
    def work(n: int) -> int:
        systems = {name: np.random.default_rng(i).random(n) for i, name in enumerate("abcde")}
        return calls(lambda: stability(systems))

    assert work(2000) <= work(200) + 50
