"""Do the tests keep their promises? Simulated comparisons: false alarms, power, families, margins, coverage.

Tolerances are three standard errors of the simulation itself (2,000 trials at 0.05: 0.015).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from rankproof.stats.corrections import correct, tukey
from rankproof.stats.differences import difference_interval, equivalence
from rankproof.stats.paired import sign_flips
from rankproof.stats.significance import bootstrap, paired_t, smallest_detectable, wilcoxon

pytestmark = pytest.mark.slow

TRIALS = 2000
ALPHA = 0.05


def slack(share: float, trials: int = TRIALS) -> float:
    return 3 * math.sqrt(share * (1 - share) / trials)


def values(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    """Values as measures have them: from 0 to 1, many zeros, skewed."""
    return np.where(rng.random(shape) < 0.25, 0.0, rng.beta(0.8, 1.2, shape))


def a_against_a(n: int, seed: int, trials: int = TRIALS) -> list[Any]:
    """Differences of two systems of the same quality on queries of different difficulty."""
    rng = np.random.default_rng(seed)
    hard = rng.random((trials, n)) < 0.3
    a, b = (np.where(hard, 0.1, 1.0) * values(rng, (trials, n)) for _ in range(2))
    return list(a - b)


def p_values(test: str, columns: list[Any]) -> Any:
    rng = np.random.default_rng(11)
    run = {
        "sign flips": lambda: sign_flips(columns, rng, permutations=1999),
        "t": lambda: [paired_t(each) for each in columns],
        "wilcoxon": lambda: [wilcoxon(each) for each in columns],
        "bootstrap": lambda: [bootstrap(each, rng, resamples=1999) for each in columns],
    }
    return np.array([found.p for found in run[test]()])


@pytest.mark.parametrize(
    ("test", "n"),
    [
        ("sign flips", 25),
        ("sign flips", 80),
        ("t", 25),
        ("t", 80),
        ("wilcoxon", 25),
        ("wilcoxon", 80),
        ("bootstrap", 80),
    ],
)
def test_false_alarms_are_as_rare_as_promised(test: str, n: int) -> None:
    alarms = (p_values(test, a_against_a(n, n)) <= ALPHA).mean()
    assert alarms == pytest.approx(ALPHA, abs=slack(ALPHA))


def test_the_bootstrap_of_few_queries_errs_on_the_side_of_caution() -> None:
    """Resamples of 25 skewed values have a heavier-tailed t than the data: 2 % to 5 % of false alarms."""
    alarms = (p_values("bootstrap", a_against_a(25, 25)) <= ALPHA).mean()
    assert 0.02 <= alarms <= ALPHA


def test_exact_sign_flips_never_alarm_too_often() -> None:
    columns = a_against_a(8, 1, 4000)
    for alpha in (0.01, 0.05, 0.1):
        assert (p_values("sign flips", columns) <= alpha).mean() <= alpha + slack(alpha, 4000)


@pytest.mark.parametrize("test", ["sign flips", "t"])
def test_the_smallest_detectable_difference_is_detected_as_often_as_promised(test: str) -> None:
    n = 60
    columns = a_against_a(n, 2)
    typical = float(np.std(columns))
    shift = smallest_detectable(typical, n, ALPHA, 0.8)
    found = (p_values(test, [each + shift for each in columns]) <= ALPHA).mean()
    assert found == pytest.approx(0.8, abs=slack(0.8) + 0.02)  # 0.02: values are not normal


def test_holm_keeps_a_family_of_ten_at_alpha() -> None:
    ps = p_values("sign flips", a_against_a(40, 3, 10 * 600)).reshape(600, 10)
    alarms = np.mean([min(correct(family.tolist())) <= ALPHA for family in ps])
    assert alarms == pytest.approx(ALPHA, abs=slack(ALPHA, 600))


def test_benjamini_hochberg_keeps_the_share_of_false_findings() -> None:
    """6 of 10 tests without, 4 with an effect: on average at most 0.6 alpha of what is found is false."""
    columns = a_against_a(40, 4, 10 * 600)
    effect = np.tile([0.0] * 6 + [0.2] * 4, 600)
    ps = p_values("t", [d + shift for d, shift in zip(columns, effect, strict=True)]).reshape(600, 10)
    found = np.array([correct(family.tolist(), "benjamini-hochberg") for family in ps]) <= ALPHA
    false_share = (found[:, :6].sum(axis=1) / np.maximum(found.sum(axis=1), 1)).mean()
    assert found[:, 6:].mean() > 0.5
    assert false_share <= ALPHA * 0.6 + slack(ALPHA * 0.6, 600)


def test_tukey_keeps_all_pairs_at_alpha() -> None:
    rng, trials = np.random.default_rng(5), 400
    alarms = 0
    for _ in range(trials):
        table = rng.random((30, 1)) * values(rng, (30, 5))
        alarms += min(pair.p for pair in tukey(dict(zip("abcde", table.T, strict=True)), rng, 399)) <= ALPHA
    assert alarms / trials == pytest.approx(ALPHA, abs=slack(ALPHA, trials))


def test_equivalence_is_claimed_wrongly_as_rarely_as_promised() -> None:
    """A true difference of exactly the margin: the claim is wrong, at most alpha of the time."""
    claims = np.mean([abs(d.mean() + 0.1) < 0.1 and equivalence(d + 0.1, 0.1).p <= ALPHA for d in a_against_a(80, 6)])
    assert claims == pytest.approx(ALPHA, abs=slack(ALPHA))


@pytest.mark.parametrize(("method", "tolerance"), [("t", 0.015), ("bca", 0.025), ("percentile", 0.025)])
def test_intervals_of_differences_cover_the_truth(method: Any, tolerance: float) -> None:
    columns = [d + 0.03 for d in a_against_a(60, 7, 1000)]
    rng = np.random.default_rng(8)
    found = [difference_interval(each, rng, 0.95, method, 2000) for each in columns]
    covered = np.mean([each.low <= 0.03 <= each.high for each in found])
    assert covered == pytest.approx(0.95, abs=tolerance)
