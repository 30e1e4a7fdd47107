"""Do statements about differences hold with few queries, in the worlds of `benchmarks/differences.py`?

Each share may miss its promise by three standard errors of the simulation; `docs/small-samples.md` has the tables.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from benchmarks.differences import (
    ALPHA,
    OTHERS,
    WORLDS,
    World,
    calm_worlds,
    ceilings,
    covered,
    failed,
    found,
    more_passed,
    needed_found,
    old_ends,
    passed,
    several,
)
from rankproof.comparing.gate_decision import FAIL, PASS, decide
from rankproof.stats.confidence import TRUSTED, ValueSample, safe_bound, smallest_margin
from rankproof.stats.differences import equivalence
from tests.stats.worlds import COVERED

TIMES, MANY_TIMES = 60, 200
SMALL = ("sparse 10 %, +-1", "losses only, 5 %", "dense, sd .05")
"""Worlds of all kinds that are quick to try."""
UNSEEN = ("gains, rare losses", "long tail")
"""Worlds of which a small sample looks dense and shows none of the losses: no interval as narrow as theirs holds them."""


def slack(share: float, times: int) -> float:
    return 3 * math.sqrt(share * (1 - share) / times)


def wrong_passes(world: World, n: int, times: int) -> list[float]:
    """How often a drop as large as the margin passes, and how often it is called equivalent."""
    return [share for drop in world.margins for share in passed(world, n, drop, drop, times)]


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_statements_hold_with_few_queries(name: str) -> None:
    world = WORLDS[name]
    for n in (20, 50):
        assert max(wrong_passes(world, n, TIMES)) <= 0.06 + slack(0.06, TIMES), n
        drop = world.margins[-1]
        assert covered(world.rows(n, drop, TIMES), -drop)[0] >= 0.93 - slack(0.93, TIMES), n


@pytest.mark.slow
@pytest.mark.parametrize("name", UNSEEN)
def test_losses_that_so_few_queries_need_not_show_do_not_pass(name: str) -> None:
    """One query in ten loses a third, and one sample of 12 in three shows none of it: .38 passed before."""
    for n in (10, 12, 20, 40, 60):
        assert max(wrong_passes(WORLDS[name], n, TIMES)) <= 0.06 + slack(0.06, TIMES), n


@pytest.mark.slow
def test_where_no_interval_can_hold_as_much_is_covered_as_one_of_students_width_could() -> None:
    for name, world, n, share, mean, calm in calm_worlds():
        drop, (students, most) = world.margins[-1], ceilings(n, share, mean, calm, 10_000)
        assert students > 0.92, (name, n)
        assert max(most[0]) < 0.93, (name, n)
        held = covered(world.rows(n, drop, MANY_TIMES), -drop)[0]
        assert held >= most[0][0] - slack(most[0][0], MANY_TIMES), (name, n)


@pytest.mark.first_is_quick
@pytest.mark.parametrize(
    ("world", "n", "times"),
    [
        (WORLDS["long tail"], 5, 1000),
        (OTHERS["a sixth gains much"], 5, 2000),
        *[(world, n, 2000) for _, world, n, *_ in calm_worlds() if n == 10 and world not in WORLDS.values()],
    ],
)
def test_tails_that_few_queries_do_not_show_are_covered(world: World, n: int, times: int) -> None:
    """Intervals of Student's width covered .80 to .86 with five queries, and .90 with ten of two runs of TREC."""
    drop, least = world.margins[-1], COVERED[n >= 10]
    assert covered(world.rows(n, drop, times), -drop)[0] >= least - slack(least, times)


@pytest.mark.slow
def test_no_gain_passes_less_than_the_smallest_margin_however_dense_the_changes_look() -> None:
    rng = np.random.default_rng(1)
    for n in (10, 25, TRUSTED[0]):
        for row in (np.zeros(n), *rng.normal(0, 0.02, (20, n)), *rng.uniform(-0.3, 0.3, (20, n))):
            bound = safe_bound(ValueSample.of(row - max(0.0, row.mean())), ALPHA, -1.0)
            assert bound <= -smallest_margin(n) + 1e-6, n
            assert decide([row - row.mean()], [0.9 * smallest_margin(n)], rng)[0].outcome != PASS


def test_the_bound_has_no_jump_where_a_dense_look_begins_to_be_believed() -> None:
    row = np.random.default_rng(2).normal(0, 0.03, 400)
    bounds = [safe_bound(ValueSample.of(row).of_size(n), ALPHA, -1.0) for n in range(30, 130)]
    assert max(np.abs(np.diff(bounds))) < 0.004
    assert min(np.diff(bounds)) > 0


def test_what_the_old_rule_passed_no_longer_passes() -> None:
    """Hits of which one in a hundred is lost: of 50 queries most samples show no loss at all."""
    world = WORLDS["losses only, 1 %"]
    old = np.mean([low > -0.01 for low, _ in old_ends(world.rows(50, 0.01, TIMES))])
    assert passed(world, 50, 0.01, 0.01, TIMES)[0] == 0 < 0.5 < old


@pytest.mark.slow
def test_the_gate_and_equivalence_decide_as_the_benchmark_says() -> None:
    world, margin, times = WORLDS["real P@5"], 0.1, 10
    rows = world.rows(40, 0.0, times)
    outcomes = [decide([row], [margin], np.random.default_rng(0))[0].outcome for row in rows]
    alike = [equivalence(row, margin).p <= ALPHA for row in rows]
    assert (np.mean([each == PASS for each in outcomes]), np.mean(alike)) == passed(world, 40, 0.0, margin, times, 1)
    lost = world.rows(40, world.margins[0], times, 3)
    fails = [decide([row], [0.02], np.random.default_rng(0), permutations=2000)[0].outcome for row in lost]
    assert np.mean([each == FAIL for each in fails]) == np.mean(failed(lost, 0.02))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in OTHERS if name != "five phrasings each"])
def test_statements_hold_in_worlds_that_no_rule_was_tuned_on(name: str) -> None:
    world = OTHERS[name]
    for n in (5, 20, 100):
        assert max(passed(world, n, 0.05, 0.05, TIMES)) <= 0.06 + slack(0.06, TIMES), n
        least = COVERED[n >= 10]
        assert covered(world.rows(n, 0.05, TIMES), -0.05)[0] >= least - slack(least, TIMES), n


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_statements_hold_in_every_world(name: str) -> None:
    world = WORLDS[name]
    for n in (10, 30, 200):
        times = MANY_TIMES
        assert max(wrong_passes(world, n, times)) <= 0.06 + slack(0.06, times), n
        drop = world.margins[-1]
        if name not in UNSEEN or n > 10:
            assert covered(world.rows(n, drop, times), -drop)[0] >= 0.93 - slack(0.93, times), n
        assert np.mean(failed(world.rows(n, 0.0, times, 3), 0.0)) <= ALPHA + slack(ALPHA, times), n


@pytest.mark.first_is_quick
@pytest.mark.parametrize(("n", "won", "lost"), [(30, 0.05, 0.1), (100, 0.05, 0.06), (70, 0.0, 0.05)])
def test_hits_pass_a_drop_of_the_margin_rarely_added_up_exactly(n: int, won: float, lost: float) -> None:
    def passes(losses: int, wins: int) -> bool:
        found = {-1.0: losses, 0.0: n - losses - wins, 1.0: wins}
        kept = [(value, count) for value, count in found.items() if count]
        sample = ValueSample(*(np.array(each, dtype=float) for each in zip(*kept, strict=True)))
        return safe_bound(sample, ALPHA, -1.0) > won - lost

    share = 0.0
    for losses in range(int(3 * n * lost) + 2):
        for wins in range(int(3 * n * won) + 2 if won else 1):
            chance = scipy.stats.multinomial.pmf([losses, wins, n - losses - wins], n, [lost, won, 1 - lost - won])
            share += chance if chance > 1e-6 and passes(losses, wins) else 0.0
    assert share <= 0.056


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n"), [("dense, sd .1", 20), ("near 1", 50), ("hits, 10 % churn", 100)])
def test_so_many_queries_as_are_needed_find_the_difference(name: str, n: int) -> None:
    share, given = needed_found(WORLDS[name], n, MANY_TIMES)
    assert given > 0.5
    assert 0.75 - slack(0.75, MANY_TIMES) <= share <= 0.9 + slack(0.9, MANY_TIMES)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "n"),
    [("sparse 10 %, normal", 30), ("sparse 10 %, +-1", 100), ("zeros 90 %", 100), ("real P@5", 20)],
)
def test_so_many_queries_as_a_gate_still_needs_pass_no_change(name: str, n: int) -> None:
    share, given = more_passed(WORLDS[name], n, MANY_TIMES)
    assert given > 0.4
    assert share >= 0.75 - slack(0.75, given * MANY_TIMES)


def test_nobody_knows_how_many_queries_a_gate_needs_from_two_that_moved() -> None:
    row = np.zeros(50)
    row[:2] = -0.1, 0.1
    found = decide([row], [0.01], np.random.default_rng(0))[0]
    assert (found.more, found.more_note) == (None, "only 2 of 50 queries changed: too few to plan by")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hits, 10 % churn", "AP-like"])
def test_a_gate_of_three_measures_keeps_its_promises(name: str) -> None:
    passes, fails = several(WORLDS[name], 100, MANY_TIMES)
    assert passes <= 0.06 + slack(0.06, MANY_TIMES)
    assert fails <= 0.05 + slack(0.05, MANY_TIMES)


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_what_is_called_detectable_is_found(name: str) -> None:
    for n in (30, 100):
        share, given = found(WORLDS[name], n, MANY_TIMES)
        if given * MANY_TIMES >= 100:
            times = given * MANY_TIMES
            assert 0.75 - slack(0.75, times) <= share <= 0.9 + slack(0.9, times), n


@pytest.mark.slow
def test_dense_changes_pass_nearly_as_often_as_before() -> None:
    for name in ("dense, sd .03", "dense, sd .05", "dense, sd .1", "AP-like"):
        margin = 0.02
        old = np.mean([low > -margin for low, _ in old_ends(WORLDS[name].rows(100, 0.0, MANY_TIMES, 2))])
        now = passed(WORLDS[name], 100, 0.0, margin, MANY_TIMES, 2)[0]
        assert now >= 0.8 * old - slack(0.5, MANY_TIMES), name
