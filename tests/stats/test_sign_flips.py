"""Sign flips: exact where they can be, drawn where not, and the same whatever the order of the inputs."""

from __future__ import annotations

import itertools
import math
import os
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from rankproof.errors import DataError, UsageError
from rankproof.stats import paired
from rankproof.stats.paired import (
    common_unit,
    flips_above,
    on_grid,
    paired_differences,
    sign_flip,
    sign_flips,
    totals_by_trial,
)


def totals_by_count(sizes: Any) -> tuple[Any, Any]:
    """Every total of signed sizes with its chance, by counting on their grid."""
    grid = on_grid(sizes)
    assert grid is not None
    unit, chances = grid
    return unit * np.arange(-len(chances) + 1, len(chances), 2.0), chances


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def by_hand(d: Any, alternative: str) -> float:
    """Every sign tried, one at a time, in exact sums."""
    seen = math.fsum(d)
    sums = [
        math.fsum(s * x for s, x in zip(signs, d, strict=True)) for signs in itertools.product([1, -1], repeat=len(d))
    ]
    far = {
        "two-sided": lambda t: abs(t) >= abs(seen) - 1e-9,
        "greater": lambda t: t >= seen - 1e-9,
        "less": lambda t: t <= seen + 1e-9,
    }
    return sum(map(far[alternative], sums)) / len(sums)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_few_differences_are_all_counted(alternative: Any) -> None:
    draw = rng(1)
    for trial in range(60):
        n = int(draw.integers(1, 11))
        d = draw.normal(0.3, 1, n) if trial % 2 else np.round(draw.integers(-5, 6, n) / 10, 10)
        found = sign_flip(d, rng(), alternative)
        assert found.p == pytest.approx(by_hand(d, alternative), abs=1e-12)
        assert found.method == "sign flips, all counted"


@pytest.mark.first_is_quick
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_exact_p_values_agree_with_scipy(alternative: Any) -> None:
    draw = rng(2)
    for _ in range(10):
        d = draw.normal(0.2, 1, 12)
        oracle = stats.permutation_test((d, np.zeros(12)), lambda x, y, axis: (x - y).mean(axis=axis), permutation_type="samples",
                                        n_resamples=np.inf, alternative=alternative, vectorized=True)  # fmt: skip
        expected = oracle.pvalue
        assert sign_flip(d, rng(), alternative).p == pytest.approx(expected, abs=1e-12)


def test_fishers_own_example_of_darwins_plants() -> None:
    """The Design of Experiments, 1935, section 21: 15 pairs of plants in eighths of an inch.

    Fisher counts 863 of 32,768 totals at least as large as the one seen, 314: p = 2 * 863 / 32768 = 5.267 %.
    """
    darwin = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]) / 8
    assert sign_flip(darwin, rng()).p == pytest.approx(2 * 863 / 32768, abs=1e-12)


def test_counting_on_a_grid_equals_trying_all_signs() -> None:
    draw = rng(3)
    for unit in [0.1, 1 / 3, 0.05, 1 / 7]:
        sizes = np.sort(unit * draw.integers(1, 12, 14))
        counted, tries = totals_by_count(sizes), totals_by_trial(sizes)
        for reach in np.linspace(0, sizes.sum(), 7):
            assert counted[1][np.abs(counted[0]) >= reach - 1e-9].sum() == pytest.approx(
                tries[1][np.abs(tries[0]) >= reach - 1e-9].sum()
            )


def test_many_differences_of_precision_are_counted_not_drawn() -> None:
    d = np.round(rng(4).integers(-10, 11, 1000) / 10, 10)
    found = [sign_flip(d, rng(seed)) for seed in (1, 2)]
    assert found[0] == found[1]
    assert found[0].method == "sign flips, all counted"
    t_like = stats.norm.sf(abs(d.sum()) / math.sqrt((d**2).sum())) * 2
    assert found[0].p == pytest.approx(t_like, abs=0.005)


@pytest.mark.parametrize(
    ("sizes", "unit"),
    [([0.2, 0.3, 0.5], 0.1), ([0.1 + 0.2, 0.6], 0.3), ([2.0, 3.0], 1.0), ([1 / 3, 0.5], 1 / 6)],
)
def test_the_common_unit_is_found_through_rounding(sizes: list[float], unit: float) -> None:
    assert common_unit(np.array(sizes)) == pytest.approx(unit, rel=1e-6)


def test_values_on_no_grid_have_no_unit() -> None:
    assert common_unit(np.sort(rng(5).random(50))) is None


def test_drawn_p_values_lie_around_the_exact_ones() -> None:
    """The same p by counting and by 100,000 draws: off by at most 5 standard errors."""
    draw = rng(6)
    for _ in range(10):
        d = np.round(draw.normal(0.05, 0.3, 40), 2)
        exact = sign_flip(d, rng()).p
        drawn = paired._drawn([np.sort(d)], rng(7), "two-sided", 100_000)[0].p
        assert abs(drawn - exact) <= 5 * math.sqrt(exact * (1 - exact) / 100_000)


@pytest.mark.parametrize(("mean", "method"), [(0.05, "drawn"), (0.17, "saddle point")])
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_drawn_or_not_p_is_that_of_the_side_asked_for(mean: float, method: str, alternative: Any) -> None:
    """All totals, added up size by size on a fine grid."""
    d = rng(8).normal(0, 0.3, 60)
    d += mean - d.mean() if alternative != "less" else -mean - d.mean()
    steps = np.rint(np.abs(d) * 1000).astype(int)
    chances = np.zeros(2 * steps.sum() + 1)
    chances[steps.sum()] = 1
    for step in steps:
        chances = (np.roll(chances, step) + np.roll(chances, -step)) / 2
    far = float(chances[np.arange(len(chances)) - steps.sum() >= abs(np.rint(d * 1000).sum())].sum())
    found = sign_flip(d, rng(), alternative, 5000)
    assert found.method.endswith(method)
    p = 2 * far if alternative == "two-sided" else far
    assert found.p == pytest.approx(p, rel=0.03, abs=5 * math.sqrt(p / 5000) if method == "drawn" else 0)
    if method == "drawn" and alternative != "two-sided":
        other = {"greater": "less", "less": "greater"}[alternative]
        assert sign_flip(d, rng(), other, 5000).p == pytest.approx(1 - p, abs=0.03)  # type: ignore[arg-type]


def test_ties_at_the_observed_total_count_as_extreme() -> None:
    """Differences 0.1 and 0.2 whose sums round differently in each order: all ties must be seen."""
    d = np.array([0.1, 0.2, 0.3] * 20 + [math.pi])  # pi keeps it off the grid
    drawn = paired._drawn([np.sort(d)], rng(1), "greater", 20_000)[0].p
    assert sign_flip(d, rng(), "greater", 20_000).p == pytest.approx(drawn, abs=0.02)
    flat = np.full(30, 0.1)
    flat[:15] *= -1  # the total is 0: every draw is at least as far from it
    assert paired._drawn([np.sort(flat)], rng(1), "two-sided", 5_000)[0].p == 1


def test_p_is_never_0_and_no_draw_bounds_it() -> None:
    values = rng(7).normal(5, 1, 200)
    found = sign_flip(values, rng(), permutations=999)
    assert found.p == pytest.approx(2 * 0.5**200)
    assert found == sign_flip(values, rng(1), permutations=10)
    for many in (np.full(1500, 0.25), rng(1).normal(5, 1, 1500)):
        assert 0 < sign_flip(many, rng()).p < 1e-300


INTEGERS = {
    "normal": lambda draw, m: np.abs(draw.normal(0, 1, m)),
    "skewed": lambda draw, m: draw.exponential(1, m),
    "one large": lambda draw, m: np.append(draw.random(m - 1), m / 4),
}


@pytest.mark.parametrize("kind", INTEGERS)
@pytest.mark.parametrize("m", [17, 25, 60])
def test_beyond_the_draws_p_is_that_of_exact_counting(kind: str, m: int) -> None:
    """Against every total counted on a fine grid, from the middle of the tail down to 1e-12."""
    shares = INTEGERS[kind](rng(m), m)
    sizes = np.sort(np.maximum(1.0, np.rint(shares / shares.sum() * 60_000)))
    totals, chances = totals_by_count(sizes)
    tails = np.cumsum(chances[::-1])[::-1]
    for wanted in (1e-3, 1e-4, 1e-6, 1e-9, 1e-12):
        place = int(np.searchsorted(-tails, -wanted)) + 1
        reached = [i for i in range(place, len(tails)) if chances[i] > 0][:1]
        for i in reached:
            assert flips_above(sizes, float(totals[i]), 1e-10) == pytest.approx(tails[i], rel=0.03)


@pytest.mark.slow
def test_mixed_denominators_are_counted_as_fractions_are() -> None:
    draw = random.Random(5)
    for _ in range(120):
        m = draw.randint(3, 11)
        exact = [Fraction(draw.randint(0, d), d) - Fraction(draw.randint(0, e), e)
                 for d, e in ((draw.randint(2, 12), draw.randint(2, 12)) for _ in range(m))]  # fmt: skip
        values = np.array([float(each) for each in exact])
        seen = abs(sum(exact))
        totals = [sum(f if s else -f for f, s in zip(exact, signs, strict=True))
                  for signs in itertools.product((True, False), repeat=m)]  # fmt: skip
        expected = sum(abs(each) >= seen for each in totals) / len(totals)
        assert sign_flip(values, rng()).p == pytest.approx(expected, rel=1e-12), exact


def test_grids_of_many_differences_are_counted_in_whole_steps() -> None:
    """The smallest p that m signs can reach, whatever fractions the differences are of."""
    draw = random.Random(6)
    for _ in range(200):
        m, denominators = draw.randint(17, 60), draw.sample((2, 3, 4, 5, 6, 7, 10), 3)
        values = np.array([draw.randint(1, d) / d for d in (draw.choice(denominators) for _ in range(m))])
        assert sign_flip(values, rng()).p == pytest.approx(2 * 0.5**m, rel=1e-9)


# --- order, company, direction ------------------------------------------------------------------------


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_the_order_of_queries_does_not_matter(alternative: Any) -> None:
    d = rng(8).normal(0.02, 0.2, 300)
    first = sign_flip(d, rng(3), alternative, 5000)
    for seed in range(5):
        assert sign_flip(rng(seed).permutation(d), rng(3), alternative, 5000) == first


@pytest.mark.slow
def test_swapping_the_systems_mirrors_the_answer() -> None:
    d = rng(9).normal(0.02, 0.2, 300)
    one, other = sign_flip(d, rng(3)), sign_flip(-d, rng(3))
    assert (one.p, one.statistic) == (other.p, -other.statistic)
    assert sign_flip(d, rng(3), "greater").p == sign_flip(-d, rng(3), "less").p


def test_the_company_of_other_columns_does_not_matter() -> None:
    """On one machine a matrix product may sum differently with more columns: the slack swallows that."""
    columns = [rng(seed).normal(0.01, 0.2, n) for seed, n in enumerate([100, 300, 100, 300, 5])]
    together = sign_flips(columns, rng(3), permutations=5000)
    assert together == [sign_flip(column, rng(3), permutations=5000) for column in columns]
    assert together[::-1] == sign_flips(columns[::-1], rng(3), permutations=5000)


@pytest.mark.slow
def test_the_number_of_threads_does_not_matter() -> None:
    code = (
        "import numpy as np; from rankproof.stats.paired import sign_flips; draw = np.random.default_rng(1);"
        "print(*(f.p for f in sign_flips([draw.normal(0, 1, 700) for _ in range(40)], draw, permutations=3000)))"
    )
    said = set()
    for threads in ("1", "2", "5"):
        limits = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), threads)
        said.add(
            subprocess.run(
                [sys.executable, "-c", code],
                env={**os.environ, **limits},
                capture_output=True,
                text=True,
                check=True,
            ).stdout
        )
    assert len(said) == 1
    assert len(said.pop().split()) == 40


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="only Linux tells what each thread did")
def test_other_threads_do_not_wait_in_products_of_signs() -> None:
    """Threads of OpenBLAS that wait for more work keep their core busy: a gate of 100,000 queries took ten times as long."""
    code = (
        "import os, time, numpy as np; from pathlib import Path; from rankproof.stats.paired import sign_flips\n"
        "def others(): return [each for each in Path('/proc/self/task').iterdir() if each.name != str(os.getpid())]\n"
        "def asleep(): return all((each / 'stat').read_text().rpartition(')')[2].split()[0] == 'S' for each in others())\n"
        "def naps():\n"
        "    lines = [line for each in others() for line in (each / 'status').read_text().splitlines()]\n"
        "    return sum(int(line.split()[1]) for line in lines if line.startswith('voluntary'))\n"
        "while others() and not (asleep() and naps()): time.sleep(.01)\n"
        "draw = np.random.default_rng(1); before = len(others()), naps()\n"
        "for columns, n in ((1, 140_000), (3, 60_000)):\n"
        "    sign_flips([draw.normal(0, 1, n) for _ in range(columns)], draw, permutations=1000)\n"
        "print(before == (len(others()), naps()), asleep())"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == ["True", "True"], "no thread was made, woke or was awake"


def test_another_seed_gives_another_draw() -> None:
    d = rng(9).normal(0.02, 0.2, 300)
    assert sign_flip(d, rng(1)).p != sign_flip(d, rng(2)).p


# --- limits and errors ----------------------------------------------------------------------------------


def test_limits_are_stated() -> None:
    assert sign_flip(np.zeros(5), rng()).p == 1.0
    assert sign_flip(np.zeros(5), rng()).note == "all differences are 0"
    one = sign_flip(np.array([0.4]), rng())
    assert (one.p, one.n) == (1.0, 1)
    assert one.note == "1 difference not 0: two-sided p cannot go below 1"
    assert "cannot go below 0.125" in sign_flip(np.array([1.0, 2.0, 3.0, 4.0]), rng()).note


def test_rounding_of_equal_values_is_no_difference() -> None:
    assert paired_differences(np.array([0.1 + 0.2, 1.0]), np.array([0.3, 1.0])).tolist() == [0.0, 0.0]
    assert paired_differences(np.array([3e-200, 0.0]), np.array([0.0, 1e-300])).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.array([0.1, np.nan]), "got nan at position 1 (1 such in all)"),
        (np.array([np.inf, 1.0]), "got inf at position 0"),
        (np.array([]), "got none"),
        (np.ones((2, 2)), "got 2 dimensions"),
    ],
)
def test_bad_differences_are_refused(values: Any, said: str) -> None:
    with pytest.raises(DataError) as caught:
        sign_flip(values, rng())
    assert said in str(caught.value)


def test_bad_questions_are_refused() -> None:
    with pytest.raises(UsageError, match="Did you mean 'greater'"):
        sign_flip(np.ones(3), rng(), "greatr")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="permutations: got 0"):
        sign_flip(np.ones(3), rng(), permutations=0)


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(DataError, match="got 3 and 2"):
        paired_differences(np.ones(3), np.ones(2))


@pytest.mark.first_is_quick
@pytest.mark.parametrize("n", [20, 30, 90, 1500])
def test_differences_that_all_go_one_way_have_a_p_on_both_sides(n: int) -> None:
    """Far out all signs are alike, and nothing is left for a saddle point to stand on."""
    for row in (np.ones(n), np.linspace(0.1, 0.1001, n), np.append(np.zeros(n), np.full(n, 0.3))):
        lost, won = (sign_flip(row, np.random.default_rng(0), side).p for side in ("less", "greater"))
        assert lost == pytest.approx(1.0)
        assert 0 < won < 1e-4
