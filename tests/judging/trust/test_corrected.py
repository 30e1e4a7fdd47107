"""Corrections for a judge's error: by hand, against the plain formulas, and by how often intervals are right."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import scipy.stats

from rankproof.errors import DataError, UsageError
from rankproof.stats.intervals import interval
from rankproof.stats.judge_error import check_labels, corrected_mean, rogan_gladen, share_of

pytestmark = pytest.mark.cover

GRADES = {"19": (0.2701, 0.3136), "20": (0.1463, 0.2292)}
"""The share of relevant pairs as people and as a GPT-4 judge see them, of TREC DL 2019 and 2020."""


def test_by_hand() -> None:
    truth, said = np.array([1.0, 0, 0, 1]), np.array([1.0, 1, 0, 1])
    everywhere = np.array([1.0, 1, 0, 1, 1, 1, 0, 1])
    # The judge's mean is 6/8; of four labels it was over by one: 6/8 - 1/4.
    assert corrected_mean(everywhere, check_labels(truth, said), power=1).value == pytest.approx(0.5)
    assert corrected_mean(everywhere, check_labels(truth, said), power=0).value == pytest.approx(0.5)
    # Drawn with probabilities 1/2, 1/2, 1/4, 1/4: shares 1/6, 1/6, 1/3, 1/3 of the errors 0, -1, 0, 0.
    weighted = check_labels(truth, said, probability=np.array([0.5, 0.5, 0.25, 0.25]))
    assert corrected_mean(everywhere, weighted, power=1).value == pytest.approx(6 / 8 - 1 / 6)
    assert corrected_mean(everywhere, weighted, power=0).value == pytest.approx(1 / 6 + 1 / 3)


def test_without_the_judge_it_is_the_mean_of_the_labels_with_the_classical_error() -> None:
    rng = np.random.default_rng(1)
    truth = rng.random(400)
    found = corrected_mean(rng.random(5000), check_labels(truth, rng.random(400)), power=0)
    assert found.value == pytest.approx(truth.mean())
    once_more = math.sqrt((truth**2).mean()) / 400
    assert found.error == pytest.approx(math.sqrt(truth.var(ddof=1) / 400 + once_more**2), rel=0.02)


def test_with_the_whole_judge_it_is_the_judge_less_what_it_is_off_by() -> None:
    rng = np.random.default_rng(2)
    said = rng.random(3000)
    truth = np.clip(said[:300] - 0.2 + rng.normal(0, 0.1, 300), 0, 1)
    found = corrected_mean(said, check_labels(truth, said[:300]), power=1)
    assert found.value == pytest.approx(said.mean() + (truth - said[:300]).mean())
    off = truth - said[:300]
    plain = off.var() / 300 + said.var() / 3000 + 2 * np.cov(off, said[:300], bias=True)[0, 1] / 3000
    assert found.error == pytest.approx(math.sqrt(plain), rel=0.1)


@pytest.mark.parametrize("quality", [0.0, 0.5, 0.9, 1.0])
def test_the_chosen_weight_is_never_worse_than_either_end(quality: float) -> None:
    rng = np.random.default_rng(3)
    truth = (rng.random(4000) < 0.3).astype(float)
    said = np.where(rng.random(4000) < quality, truth, rng.random(4000) < 0.5).astype(float)
    labels = check_labels(truth[:200], said[:200])
    error = {power: corrected_mean(said, labels, power=power).error for power in (None, 0, 1)}
    assert error[None] <= min(error[0], error[1]) + 1e-12
    if quality == 0:
        assert corrected_mean(said, labels).power < 0.2
    if quality == 1:
        assert corrected_mean(said, labels).power > 0.9


def covered(truth: np.ndarray, said: np.ndarray, draws: int, n: int) -> float:
    rng, right = np.random.default_rng(4), 0
    for _ in range(draws):
        drawn = rng.choice(len(truth), n, replace=False)
        found = corrected_mean(said, check_labels(truth[drawn], said[drawn], drawn))
        right += found.low <= truth.mean() <= found.high
    return right / draws


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "hit", "false"), [(0.3, 0.8, 0.15), (0.1, 0.9, 0.2), (0.5, 0.6, 0.3)])
def test_intervals_are_right_as_often_as_they_say_where_naive_ones_never_are(
    rate: float, hit: float, false: float
) -> None:
    rng = np.random.default_rng(5)
    truth = (rng.random(20_000) < rate).astype(float)
    said = (rng.random(20_000) < np.where(truth == 1, hit, false)).astype(float)
    naive = share_of(int(said.sum()), len(said))
    assert not naive.low <= truth.mean() <= naive.high
    assert 0.93 <= covered(truth, said, 800, 100) <= 0.985


def test_groups_of_units_drawn_with_unequal_probabilities_are_covered() -> None:
    rng = np.random.default_rng(6)
    right = 0
    for _ in range(600):
        sizes = rng.integers(1, 8, 500)
        place = np.repeat(np.arange(500), sizes)
        share = 1 / sizes[place]
        truth = (rng.random(len(place)) < rng.beta(1, 2, 500)[place]).astype(float)
        said = np.where(rng.random(len(place)) < 0.75, truth, 1.0)
        chance = np.where(said == 1, 0.15, 0.05)
        drawn = np.flatnonzero(rng.random(len(place)) < chance)
        labels = check_labels(truth[drawn] * share[drawn], said[drawn] * share[drawn], place[drawn], chance[drawn])
        found = corrected_mean(np.bincount(place, said * share), labels, units=len(place))
        right += found.low <= 1 / 3 <= found.high
    assert 0.93 <= right / 600 <= 0.98


def test_a_few_labels_that_all_agree_do_not_make_a_judge_infallible() -> None:
    said = np.array([1.0, 0.0] * 500)
    found = corrected_mean(said, check_labels(said[:50], said[:50]))
    assert found.value == pytest.approx(0.5)
    assert found.high - found.low > 0.07


@pytest.mark.slow
@pytest.mark.parametrize("year", ["19", "20"])
def test_on_real_grades_the_naive_interval_misses_and_the_corrected_one_covers(year: str, shared_data: Path) -> None:
    folder = shared_data / "judges" / "dl"
    people = graded(folder / f"qrels.dl{year}-passage.txt")
    machine = graded(folder / f"umbrella_gpt-4_zeroshot_dl{year}.txt")
    pairs = sorted(people.keys() & machine.keys())
    truth = np.array([people[pair] >= 2 for pair in pairs], dtype=float)
    said = np.array([machine[pair] >= 2 for pair in pairs], dtype=float)
    assert (round(truth.mean(), 4), round(said.mean(), 4)) == GRADES[year]
    naive = share_of(int(said.sum()), len(said))
    assert not naive.low <= truth.mean() <= naive.high
    for n in (50, 200):
        assert 0.93 <= covered(truth, said, 600, n) <= 0.97


def graded(path: Path) -> dict[tuple[str, str], int]:
    rows = (line.split() for line in path.read_text().splitlines() if line.strip())
    return {(query, document): int(grade) for query, _, document, grade in rows}


# --- Rogan-Gladen --------------------------------------------------------------------------------------


def test_rogan_gladen_by_hand() -> None:
    # Sensitivity .8, specificity .9: of a true share .5 the judge sees .5 * .8 + .5 * .1 = .45.
    assert rogan_gladen(0.45, 1000, (80, 100), (90, 100)).value == pytest.approx(0.5)
    assert rogan_gladen(0.05, 1000, (80, 100), (90, 100)).value == 0.0
    assert rogan_gladen(0.95, 1000, (80, 100), (90, 100)).value == 1.0


@pytest.mark.parametrize("rate", [0.03, 0.45, 0.93])
def test_the_error_of_a_rate_is_that_of_its_three_counts(rate: float) -> None:
    """Each slope by a small step; of a rate beyond 0 or 1 the error is that at the end. One yes and one no are added."""
    counts, shares = (1000, 102, 202), (rate, 81 / 102, 171 / 202)

    def value(rate: float, hits: float, rejections: float) -> float:
        return (rate + rejections - 1) / (hits + rejections - 1)

    true = min(max(value(*shares), 0.0), 1.0)
    at = (true * shares[1] + (1 - true) * (1 - shares[2]), *shares[1:])
    error = 0.0
    for i, (share, n) in enumerate(zip(shares, counts, strict=True)):
        moved = tuple(each + 1e-6 * (i == j) for j, each in enumerate(at))
        error += ((value(*moved) - value(*at)) / 1e-6) ** 2 * share * (1 - share) / n
    found = rogan_gladen(rate, 1000, (80, 100), (170, 200))
    assert found.error == pytest.approx(math.sqrt(error), rel=1e-4)
    ends = [value(rate, 0.8, 0.85) + sign * 1.959964 * found.error for sign in (-1, 1)]
    assert (found.low, found.high) == pytest.approx(np.clip(ends, 0, 1))


def test_rogan_gladen_covers_where_the_naive_interval_does_not() -> None:
    rng, right = np.random.default_rng(7), 0
    for _ in range(1000):
        truth = rng.random(3000) < 0.25
        said = rng.random(3000) < np.where(truth, 0.85, 0.2)
        known = slice(0, 300)
        yes, no = truth[known], ~truth[known]
        hits = int((said[known] & yes).sum()), int(yes.sum())
        rejections = int((~said[known] & no).sum()), int(no.sum())
        found = rogan_gladen(float(said.mean()), 3000, hits, rejections)
        right += found.low <= 0.25 <= found.high
    assert 0.93 <= right / 1000 <= 0.99


def test_a_judge_that_tells_nothing_gives_no_rate() -> None:
    with pytest.raises(DataError, match="says yes as often where people say no"):
        rogan_gladen(0.5, 100, (5, 10), (5, 10))
    with pytest.raises(DataError, match="say yes to all"):
        rogan_gladen(0.5, 100, (0, 0), (5, 10))


@pytest.mark.parametrize(
    ("truth", "said", "probability"),
    [
        ([1.0], [1.0], None),
        ([1.0, 0], [1.0], None),
        ([1.0, 0], [1.0, 0], [0.5, 0.0]),
        ([1.0, 0], [1.0, 0], [2, 1]),
    ],
)
def test_labels_that_are_none_are_refused(truth: list[float], said: list[float], probability: object) -> None:
    with pytest.raises(DataError, match="labels: got"):
        check_labels(np.array(truth), np.array(said), probability=probability)  # type: ignore[arg-type]


def test_ends_stay_where_means_can_lie() -> None:
    for truth in (0.0, 1.0):
        found = corrected_mean(np.full(90, truth), check_labels(np.full(9, truth), np.full(9, truth)))
        assert 0 <= found.low < found.high <= 1
        assert truth in (found.low, found.high)


def test_a_weight_outside_its_range_is_refused() -> None:
    with pytest.raises(UsageError, match="a number from 0 to 1"):
        corrected_mean(np.ones(3), check_labels(np.ones(2), np.ones(2)), power=2)


def test_shares_of_few_are_not_certain() -> None:
    # The interval of a mean of hits: ends of two beta distributions.
    for yes, n in ((0, 1), (1, 1), (1, 10), (9, 10), (0, 50), (50, 50), (300, 1000)):
        found, hits = share_of(yes, n), (np.arange(n) < yes).astype(float)
        low = scipy.stats.beta(yes + 0.2, n - yes + 0.8).ppf(0.025) if yes else 0.0
        high = scipy.stats.beta(yes + 0.8, n - yes + 0.2).ppf(0.975) if yes < n else 1.0
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-6)
        if n > 1:
            assert (found.low, found.high) == pytest.approx((interval(hits).low, interval(hits).high), abs=1e-9)
    assert (share_of(0, 0).low, share_of(0, 0).high) == (0.0, 1.0)
    with pytest.raises(DataError, match="5 of 3"):
        share_of(5, 3)


def test_a_few_labels_that_all_agree_leave_more_open_than_an_exact_bound() -> None:
    for n in (2, 5, 10, 50, 200):
        found = corrected_mean(np.ones(1000), check_labels(np.ones(n), np.ones(n)))
        assert found.value == 1
        assert found.low <= 0.025 ** (1 / n)
