"""Confidence intervals of means: against distributions known in closed form, by simulation, and at the edges."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
import scipy.stats

from rankproof.errors import DataError, UsageError
from rankproof.stats import intervals as module
from rankproof.stats.confidence import betting
from rankproof.stats.differences import difference_interval
from rankproof.stats.intervals import Interval, bca_interval, interval, percentile, quantiles
from rankproof.stats.judge_error import Share, share_of
from tests.each import with_each

from .worlds import COVERED, WORLDS, World, coverage, students

INFINITE = (-math.inf, math.inf)
UPWARDS = (0.0, math.inf)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def skewed(n: int, seed: int = 1) -> np.ndarray:
    return rng(seed).beta(0.4, 2.0, n)


def hits(yes: int, n: int) -> np.ndarray:
    return (np.arange(n) < yes).astype(float)


def drawn(values: np.ndarray, level: float, draws: int = 60_000) -> tuple[float, float]:
    """The ends by drawing the weights, as the definition has it: only for values of which no two are equal."""
    atoms, ends = np.append(values, [0.0, 1.0]), []
    unlike_hits = scipy.stats.kurtosis(values, fisher=False) - scipy.stats.skew(values) ** 2 - 1
    near = 0.5 + 0.3 * math.exp(-3 * unlike_hits * len(values) / (len(values) - 2))
    for parts, tail in (((near, 1 - near), (1 - level) / 2), ((1 - near, near), (1 + level) / 2)):
        weights = rng(7).dirichlet(np.append(np.ones(len(values)), parts), draws)
        ends.append(float(np.quantile(weights @ atoms, tail)))
    return ends[0], ends[1]


# --- against others ------------------------------------------------------------------------------------


@with_each("level", [0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_for_hits_the_ends_are_those_of_beta_distributions(level: float) -> None:
    """The posterior of hits with four fifths of one more query at the near end and a fifth at the far one."""
    for yes, n in [(1, 2), (2, 5), (5, 5), (0, 7), (9, 10), (29, 30), (50, 50), (500, 1000), (9999, 10_000)]:
        found, tail = interval(hits(yes, n), level=level), (1 - level) / 2
        low = 0.0 if yes == 0 else scipy.stats.beta(yes + 0.2, n - yes + 0.8).ppf(tail)
        high = 1.0 if yes == n else scipy.stats.beta(yes + 0.8, n - yes + 0.2).ppf(1 - tail)
        width = high - low
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-3 * width), (yes, n)


@pytest.mark.slow
@with_each("n", [3, 12, 60])
def test_the_ends_are_quantiles_of_means_with_random_weights(n: int) -> None:
    for values in (skewed(n), rng(2).beta(9, 2, n), rng(3).random(n)):
        found, (low, high) = interval(values), drawn(values, 0.95)
        assert max(abs(found.low - low), abs(found.high - high)) < 0.04 * (high - low)


def test_with_thousands_of_queries_it_is_the_usual_interval() -> None:
    values = skewed(20_000)
    half = 1.96 * values.std() / math.sqrt(len(values))
    found = interval(values)
    assert (found.low, found.high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.02 * half)


def test_taking_neighbours_together_changes_nothing_that_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one query more than are told apart, and with many, on values of every shape."""
    n = module.ATOMS
    columns = [
        *(skewed(size) for size in (n, n + 1, 2 * n, 1000, 1001, 5000)),
        *(np.append(skewed(size), np.zeros(5000)) for size in (n + 1, 600)),
        np.append(rng(4).normal(0.9, 0.001, 2000), 0.0),
        1 / rng(5).integers(1, 1000, 3000),
    ]
    joined = list(map(interval, columns))
    monkeypatch.setattr(module, "ATOMS", 10**9)
    for one, other in zip(joined, map(interval, columns), strict=True):
        assert max(abs(one.low - other.low), abs(one.high - other.high)) < 5e-4 * (other.high - other.low)


def test_no_jump_from_one_query_to_the_next() -> None:
    """More queries of the same kind: the width falls as 1 / sqrt(n), at a thousand as anywhere."""
    grid = (np.arange(2000) + 0.5) / 2000
    values = scipy.stats.beta(0.6, 1.2).ppf(grid)
    for n in (100, 127, 128, 129, 130, 131, 500, 999, 1000, 1001, 1500):
        one, other = (interval(values[np.linspace(0, 1999, m).astype(int)]) for m in (n, n + 1))
        ratio = (one.high - one.low) / (other.high - other.low)
        assert ratio == pytest.approx(math.sqrt((n + 1) / n), abs=0.004), n


@pytest.mark.slow
def test_ends_far_outside_the_values_are_integrated_too() -> None:
    """Where the range reaches beyond the values: as many hits of many in a range of several widths."""
    for n, yes in ((100, 99), (700, 690), (700, 693), (700, 699), (5000, 4990), (700, 3)):
        values, no = hits(yes, n), n - yes
        below, above = (2.3 / math.sqrt(n) * max(1.0, lopsided) ** 0.9 for lopsided in (yes / no, no / yes))
        tried = ((-3.0, 7.0), (-3.0, 7.0)), (UPWARDS, (0.0, 1 + above)), (INFINITE, (-below, 1 + above))
        for bounds, ends in tried:
            found = interval(values, bounds=bounds)
            atoms, means = np.array([ends[0], 0.0, 1.0, ends[1]]), []
            far = 0.0 if math.inf in bounds else 0.2  # a guessed end says nothing of the other one
            for low_end, high_end, tail in ((0.8, far, 0.025), (far, 0.8, 0.975)):
                weights = rng(8).dirichlet([low_end, no, yes, high_end], 100_000)
                means.append(float(np.quantile(weights @ atoms, tail)))
            low, high = means
            assert max(abs(found.low - low), abs(found.high - high)) < 0.03 * (high - low), (n, yes, bounds)


def ends(share: Share) -> tuple[float, float]:
    return share.low, share.high


# --- what it promises -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_hits_are_held_whatever_their_share() -> None:
    """Not simulated: the chance of each count of hits is known."""
    shares = np.array([0.02, 0.05, 0.3, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.97, 0.99, 0.995])
    floors = {0.9: (0.88, 0.88, 0.88, 0.88, 0.89), 0.95: (0.93, 0.93, 0.93, 0.93, 0.94), 0.99: (0.985,) * 5}
    for level, least in floors.items():
        for n, floor in zip((5, 10, 20, 50, 200), least, strict=True):
            low, high = np.array([ends(share_of(yes, n, level)) for yes in range(n + 1)]).T
            chance = scipy.stats.binom.pmf(np.arange(n + 1)[:, None], n, shares)
            held = (chance * ((low[:, None] <= shares) & (shares <= high[:, None]))).sum(axis=0)
            assert held.min() >= floor, (level, n, dict(zip(shares, held, strict=True)))
            for missed in (low[:, None] > shares, high[:, None] < shares):
                assert (chance * missed).sum(axis=0).max() < 1 - level
    every = np.arange(0.001, 1, 0.0005)
    for level, floor in {0.9: 0.86, 0.95: 0.928, 0.99: 0.985}.items():
        for n in range(10, 36, 2):
            low, high = np.array([ends(share_of(yes, n, level)) for yes in range(n + 1)]).T
            chance = scipy.stats.binom.pmf(np.arange(n + 1)[:, None], n, every)
            assert (chance * ((low[:, None] <= every) & (every <= high[:, None]))).sum(axis=0).min() >= floor, (
                level,
                n,
            )


@pytest.mark.slow
@with_each("level", [0.9, 0.95, 0.99])
def test_the_true_mean_is_held_in_every_world(level: float) -> None:
    """`benchmarks/intervals.py` tries more samples and sizes."""
    samples = 90
    for n in (5, 10, 30):
        shares = {name: coverage(world, n, samples, level) for name, world in WORLDS.items()}
        least = level - (0.02 if n >= 10 else 0.05)
        noise = 3.5 * math.sqrt(level * (1 - level) / samples)
        assert min(shares.values()) > least - noise, shares
        assert level - 0.002 < np.mean(list(shares.values())) < level + (1 - level) * 0.7


@pytest.mark.slow
@with_each("name", ["AP-like", "zeros 90 %", "nDCG near 1", "rare failures"])
def test_few_queries_hold_the_true_mean(name: str) -> None:
    for n in (5, 10):
        assert coverage(WORLDS[name], n, 150) > COVERED[n >= 10] - 0.05


@pytest.mark.slow
def test_it_is_hardly_wider_than_students_where_that_holds() -> None:
    for name in ("hits .5", "AP-like", "P@5", "ties", "two humps", "RR-like", "nDCG near 1"):
        for n in (20, 100) if name != "nDCG near 1" else (100,):
            samples = WORLDS[name].samples(n, 25)
            ours = np.mean([found.high - found.low for found in map(interval, samples)])
            assert ours < 1.1 * np.mean([high - low for low, high in map(students, samples)]), (name, n)


@pytest.mark.slow
def test_hits_that_differ_a_little_are_covered_as_hits_are() -> None:
    """Values of .98 to 1, but for one in twenty: .89 with 50 queries before, as no two values are equal."""
    share, n = 0.05, 50
    world = World(lambda rng, size: rng.uniform(0.98, 1, size) * (rng.random(size) >= share), 0.99 * (1 - share))
    assert coverage(world, n, 400) > COVERED[True]


@pytest.mark.slow
def test_values_without_a_bound_are_covered_with_long_tails_too() -> None:
    tails = {
        "gamma": World(lambda rng, size: rng.gamma(0.3, size=size), 0.3, UPWARDS),
        "lognormal": World(lambda rng, size: rng.lognormal(size=size), math.exp(0.5), UPWARDS),
        "exponential": World(lambda rng, size: -rng.exponential(size=size), -1.0, INFINITE),
        "normal": World(lambda rng, size: rng.normal(size=size), 0.0, INFINITE),
    }
    for n in (10, 30):
        shares = {name: coverage(world, n, 800) for name, world in tails.items()}
        assert min(shares.values()) > COVERED[True] - 0.015, (n, shares)
        assert np.mean(list(shares.values())) < 0.985, (n, shares)


def test_equal_values_are_no_reason_for_a_point() -> None:
    for value in (0.0, 0.3, 1.0):
        for n in (2, 5, 50, 2000):
            found = interval(np.full(n, value))
            assert found.low <= value <= found.high
            assert 1 / n < found.high - found.low < 1
    assert interval(np.ones(20)).low < interval(np.ones(200)).low < 1


@pytest.mark.slow
@with_each("bounds", [(0.0, 1.0), (0.0, 1.5), UPWARDS, INFINITE])
def test_the_mean_is_held_and_the_bounds_are_kept(bounds: tuple[float, float]) -> None:
    for seed in range(18):
        draw = rng(seed)
        n = int(draw.integers(2, 40))
        values = [draw.integers(0, 2, n) * 1.0, draw.random(n), np.round(draw.beta(30, 1, n), 2)][seed % 3]
        if bounds[1] == math.inf and values.min() == values.max():
            continue
        for level in (0.1, 0.5, 0.95, 0.999):
            found = interval(values, level=level, bounds=bounds)
            assert bounds[0] <= found.low <= values.mean() + 1e-12, (seed, level)
            assert values.mean() - 1e-12 <= found.high <= bounds[1], (seed, level)


# --- what does not matter --------------------------------------------------------------------------------


def test_order_does_not_matter() -> None:
    values = skewed(70)
    assert interval(values) == interval(values[::-1].copy()) == interval(rng(4).permutation(values))


@pytest.mark.slow
def test_the_number_of_threads_and_the_hash_seed_do_not_matter() -> None:
    code = (
        "import numpy as np; from rankproof.stats.intervals import interval;"
        "print([interval(np.random.default_rng(1).beta(.4, 2, n)) for n in (9, 900, 9000)])"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={
                **os.environ,
                "OMP_NUM_THREADS": threads,
                "OPENBLAS_NUM_THREADS": threads,
                "PYTHONHASHSEED": threads,
            },
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    }
    assert len(outputs) == 1


def test_less_is_better_is_the_mirror_image() -> None:
    for values in (skewed(50), hits(19, 20), np.full(7, 0.2), skewed(700)):
        one, other = interval(values), interval(1 - values)
        assert (other.low, other.high) == pytest.approx((1 - one.high, 1 - one.low), abs=1e-6)


@with_each("bounds", [UPWARDS, INFINITE])
def test_another_unit_gives_the_same_interval_in_that_unit(bounds: tuple[float, float]) -> None:
    values = rng(3).gamma(2, 1, 30)
    one, other = interval(values, bounds=bounds), interval(1000 * values, bounds=bounds)
    assert (other.low, other.high) == pytest.approx((1000 * one.low, 1000 * one.high))


def test_what_differs_by_rounding_only_is_equal() -> None:
    values = np.full(10, 1.0)
    off = np.nextafter(values, np.where(np.arange(10) % 2, 2, 0))
    assert interval(off) == interval(values)


# --- what is said -------------------------------------------------------------------------------------------


def test_the_method_says_what_was_done() -> None:
    method = "Bayesian bootstrap, part of a query at either end of the range"
    guessed = "Bayesian bootstrap, ends of the range guessed from the values"
    assert interval(skewed(3)).method == interval(skewed(5000)).method == interval(np.ones(4)).method == method
    assert interval(skewed(9), average="geometric").method == f"{method}, of the logarithms"
    assert interval(skewed(9), average="sum").method == f"{method}, of the mean, times n"
    assert interval(skewed(9), bounds=UPWARDS).method == interval(3 * hits(4, 9)).method == guessed


@pytest.mark.parametrize(("values", "method"), [([], "no queries"), ([0.7], "one query has no interval")])
@pytest.mark.parametrize("average", ["mean", "sum", "geometric"])
def test_too_few_queries_have_none(values: list[float], method: str, average: str) -> None:
    found = interval(np.array(values), average=average)
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert (found.method, found.n) == (method, len(values))


def test_equal_values_without_a_bound_have_none_and_it_says_why() -> None:
    for average in ("mean", "sum"):
        found = interval(np.full(12, 7.0), average=average, bounds=UPWARDS)
        assert math.isnan(found.low)
        assert math.isnan(found.high)
        assert found.method == "all 12 values are equal, and the measure has no bound"


def test_a_sum_is_the_mean_times_n() -> None:
    values = skewed(20)
    mean, total = interval(values), interval(values, average="sum")
    assert (total.low, total.high) == pytest.approx((20 * mean.low, 20 * mean.high))


def test_a_geometric_mean_is_that_of_logarithms_and_zero_counts_as_the_floor() -> None:
    values = np.array([0.0, 0.2, 0.5, 0.9, 1.0, 0.1])
    found = interval(values, average="geometric")
    logs = interval(np.log(np.maximum(values, 0.00001)), bounds=(math.log(0.00001), 0.0))
    assert (math.log(found.low), math.log(found.high)) == pytest.approx((logs.low, logs.high))
    assert 0.00001 < found.low < found.high < 1


def test_a_higher_level_is_wider() -> None:
    for values in (skewed(80), hits(3, 4), np.ones(6)):
        found = [interval(values, level=level) for level in (0.3, 0.5, 0.9, 0.99)]
        assert all(one.low > other.low for one, other in pairwise(found))
        assert all(one.high <= other.high for one, other in pairwise(found))


@pytest.mark.parametrize("level", [0, 1, 95, -0.1])
def test_a_level_outside_0_to_1_is_refused(level: float) -> None:
    with pytest.raises(UsageError, match=rf"level: got {level}.*above 0 and below 1"):
        interval(skewed(5), level=level)


def test_an_interval_says_where_it_came_from() -> None:
    found = interval(np.array([0.0, 1.0]))
    assert found == Interval(found.low, found.high, module.METHOD, 2)
    assert 0 < found.low < 0.1
    assert 0.9 < found.high < 1


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_no_interval_is_made_of_what_is_no_number(bad: float) -> None:
    values, rng = np.array([0.1, bad, 0.3]), np.random.default_rng(0)
    ways = [
        interval,
        lambda x: bca_interval(x, rng),
        lambda x: percentile(x, rng),
        lambda x: quantiles(x, [0.5]),
        betting,
    ]
    for way in ways:
        with pytest.raises(DataError, match=f"values: got {bad} at position 1"):
            way(values)


def test_a_bootstrap_refuses_what_it_cannot_draw() -> None:
    values, rng = np.array([0.1, 0.2, 0.3]), np.random.default_rng(0)
    for way in (bca_interval, percentile):
        for wrong, said in (({"level": 95}, "level: got 95"), ({"resamples": 0}, "resamples: got 0")):
            with pytest.raises(UsageError, match=said):
                way(values, rng, **wrong)
        with pytest.raises(UsageError, match="rng: got 0, expected a Generator"):
            way(values, 0)
    with pytest.raises(UsageError, match="level: got 95"):
        difference_interval(values, level=95, method="t")
