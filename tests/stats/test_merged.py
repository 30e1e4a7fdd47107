"""Intervals and differences from summaries: the same as from the values, and near the truth where values are many."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rankproof.comparing.spread_comparison import SpreadComparison
from rankproof.core.mergeable_summaries import KEPT, SpreadSummary, ValueSummary, merge_parts
from rankproof.core.names import parse
from rankproof.errors import DataError
from rankproof.stats import intervals as module
from rankproof.stats.differences import difference_interval, summed_difference
from rankproof.stats.intervals import interval, interval_of
from rankproof.stats.paired import sign_flip
from rankproof.stats.significance import paired_t
from tests.core.test_mergeable_summaries import WORLDS


@pytest.mark.first_is_quick(6)
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("n", [0, 1, 2, 60, KEPT + 2_000])
def test_an_interval_of_merged_parts_is_that_of_the_values(world: str, n: int) -> None:
    rng = np.random.default_rng(n)
    values = WORLDS[world](rng, n)
    parts = np.split(rng.permutation(values), sorted(rng.integers(0, n + 1, 6)))
    for average, bounds in (
        ("mean", (0.0, 1.0)),
        ("mean", (0.0, math.inf)),
        ("sum", (0.0, math.inf)),
        ("geometric", (0.0, 1.0)),
    ):
        summary = merge_parts([ValueSummary.of(part, average) for part in parts])
        for level in (0.9, 0.95):
            one = interval_of(summary, level, bounds=bounds)
            other = interval(values, level=level, average=average, bounds=bounds)
            assert (repr(one.low), repr(one.high), one.method, one.n) == (
                *(repr(other.low), repr(other.high), other.method, other.n),
            )


RARE = {
    "AP-like": lambda rng, n: rng.beta(0.4, 0.9, n),
    "low": lambda rng, n: rng.beta(0.05, 2, n),
    "nDCG near 1": lambda rng, n: 1 - rng.beta(0.1, 5, n),
    "rare losses": lambda rng, n: np.where(rng.random(n) < 0.01, rng.random(n), 1 - 1e-6 * rng.random(n)),
    "tiny spread": lambda rng, n: 1 - 1e-7 * rng.random(n),
    "far out": lambda rng, n: np.where(rng.random(n) < 0.001, rng.random(n), 1e-6 * rng.random(n)),
}


@pytest.mark.parametrize("world", RARE)
def test_many_values_have_the_interval_that_the_integral_gives(world: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Atoms, which stand for neighbours, were off by 7 % of the width for rare losses among 10,000.
    values = RARE[world](np.random.default_rng(1), 8_000)
    found = interval(values)
    monkeypatch.setattr(module, "KEPT", 10**6)
    monkeypatch.setattr(module, "ATOMS", 10**6)
    true = interval(values)
    assert found.low == pytest.approx(true.low, abs=(true.high - true.low) / 500)
    assert found.high == pytest.approx(true.high, abs=(true.high - true.low) / 500)


@pytest.mark.first_is_quick(2)
@pytest.mark.parametrize("n", [KEPT * 2, 50, 2_000])
@pytest.mark.parametrize("kind", ["skewed", "rare", "dense"])
def test_a_difference_by_its_summary_is_what_compare_says(n: int, kind: str) -> None:
    rng = np.random.default_rng(n)
    off = {
        "dense": lambda: rng.normal(0.01, 0.2, n).clip(-1, 1),
        "rare": lambda: np.where(rng.random(n) < 0.02, rng.choice([-0.5, 1.0], n), 0.0),
        "skewed": lambda: rng.beta(0.3, 4, n) + 0.1,
    }[kind]()
    found = summed_difference(merge_parts([ValueSummary.of(part) for part in np.array_split(off, 5)]))
    direct = difference_interval(off)
    width = direct.high - direct.low
    assert found.difference == pytest.approx(off.mean(), abs=1e-15)
    assert (found.low, found.high) == pytest.approx((direct.low, direct.high), abs=width / 1_000)
    assert found.p_t == pytest.approx(paired_t(off).p, rel=1e-6, abs=1e-12)
    if n > 1_000:
        flips = sign_flip(off, np.random.default_rng(0)).p
        assert found.p == pytest.approx(flips, abs=0.005)


@pytest.mark.parametrize("moved", [1, 4, 5, 8, 30])
def test_few_moved_queries_of_many_are_counted(moved: int) -> None:
    off = np.append(np.ones(moved), np.zeros(5_000 - moved))
    found = summed_difference(ValueSummary.of(off))
    assert found.p == pytest.approx(2 * 0.5**moved)
    assert (found.low > 0) == (found.p <= 0.05)


def test_equal_differences_and_too_few_queries_say_so() -> None:
    none, all_alike = (summed_difference(ValueSummary.of(np.full(40, each))) for each in (0.0, 0.1))
    assert (none.p, none.effect.value, none.effect.words) == (1, 0.0, "negligible")
    assert (all_alike.p, all_alike.effect.value, all_alike.effect.words) == (2 * 0.5**40, None, "unknown")
    assert all_alike.detectable is None
    few, enough = (summed_difference(ValueSummary.of(np.arange(n) % 3 - 1.0)) for n in (9, 10))
    assert (few.note, enough.note) == ("fewer than 10 queries decide nothing", "")
    assert not few.equivalent(10.0)
    assert enough.equivalent(10.0)
    with pytest.raises(DataError, match="two or more"):
        summed_difference(ValueSummary.of(np.zeros(1)))
    with pytest.raises(DataError, match="compare measures"):
        summed_difference(ValueSummary.of(np.ones(3), "sum"))
    large = summed_difference(ValueSummary.of(np.tile([0.0011, -0.0009], 10**6)))
    assert large.p < 1e-9
    assert large.equivalent(0.01)
    assert not large.equivalent(0.0001)


@pytest.mark.slow
def test_interval_p_and_what_follows_never_contradict_each_other_however_few_the_queries() -> None:
    rng = np.random.default_rng(3)
    for _ in range(400):
        n, size = int(rng.choice([2, 5, 9, 12, 30, 90])), rng.choice([0.02, 0.3, 1.0])
        off = np.where(rng.random(n) < rng.choice([0.1, 0.5, 1.0]), size * rng.choice([1, 1, -1], n), 0.0)
        off = off + rng.choice([0.0, 0.01]) * rng.normal(0, 1, n)
        found = summed_difference(ValueSummary.of(off))
        assert found.low <= found.difference <= found.high
        assert 0 < found.p <= 1
        assert (found.p <= 0.05) == (found.low > 0 or found.high < 0), off
        assert found.p == pytest.approx(sign_flip(off, np.random.default_rng(0)).p) or found.note
        if found.equivalent(0.05):
            # As the gate: no margin below what so few queries leave possible, however alike they look.
            assert n > 50
            assert max(-found.low, found.high) < 0.05
    worst = summed_difference(ValueSummary.of(np.linspace(0.5, 1, 5_000)))
    assert 0 < worst.p < 1e-100
    assert worst.p_t > 0


def test_an_interval_within_the_margin_that_is_not_called_equivalent_says_why() -> None:
    for n, told in ((30, True), (400, False)):
        summary = SpreadSummary({"AP": ValueSummary.of(np.tile([0.01, -0.01], n // 2))}, queries=n)
        found = SpreadComparison(summary, {"AP": parse("AP")}, margin=0.05)
        assert (found.verdict("AP") == "equivalent") != told
        assert bool(found.notes) == told
        assert ("Not called equivalent" in str(found)) == told
        assert found.to_dict()["notes"] == found.notes
        assert not SpreadComparison(summary, {"AP": parse("AP")}).notes


def test_what_so_few_moved_queries_show_is_not_said() -> None:
    off = np.append(np.zeros(2_000), np.full(8, 0.5))
    assert summed_difference(ValueSummary.of(off)).detectable is None
    assert summed_difference(ValueSummary.of(np.append(off, np.full(20, -0.4)))).detectable
