"""Interleaving and A/B tests: fair lists, fair credit, and p-values that hold at every look."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import stats

from benchmarks.sequential import betting_rates, kinds, rates
from rankproof.errors import DataError, UsageError
from rankproof.monitoring.interleave import (
    compare_variants,
    score_interleaving,
    split_mismatch,
    team_draft,
)
from rankproof.monitoring.online_tests import interleaving
from rankproof.stats.confidence import betting, normal_mixture

pytestmark = pytest.mark.cover


@dataclass
class Row:
    metric: str
    group: str
    users: int
    value: float
    error: float


def test_a_draft_has_each_document_once_in_fair_turns() -> None:
    rng = np.random.default_rng(0)
    rankings = {
        "a": [f"d{i}" for i in range(8)],
        "b": [f"d{i}" for i in range(7, -1, -1)],
        "c": ["x", "d0", "x", "y", "z"],
    }
    teams: dict[str, int] = dict.fromkeys(rankings, 0)
    for _ in range(300):
        made = team_draft(rankings, 6, rng)
        assert len(set(made.docs)) == len(made.docs) == len(made.teams) == 6
        assert {made.teams.count(name) for name in rankings} == {2}
        teams[made.teams[0]] += 1
        for name in ("a", "b"):
            own = [doc for doc, team in zip(made.docs, made.teams, strict=True) if team == name]
            assert own == sorted(own, key=rankings[name].index)
    assert all(70 <= n <= 130 for n in teams.values())
    assert team_draft({"a": ["d1"], "b": ["d1"]}, 5, rng).docs == ["d1"]
    assert team_draft({"a": [], "b": []}, 5, rng).docs == []
    with pytest.raises(UsageError):
        team_draft({"a": ["d1"]}, 3, rng)


@pytest.mark.parametrize("click", ["d7", 0, -1, 1.5, None, True, float("nan"), {"id": "x"}, {"rank": None}])
def test_a_click_without_a_rank_is_refused_in_words(click) -> None:
    with pytest.raises(DataError, match="Next:"):
        score_interleaving([{"teams": ["a", "b"], "clicks": [click]}])


def test_a_document_of_no_team_wins_for_nobody() -> None:
    rows = [{"teams": [None, "a", "b"], "clicks": [1, 2] if at % 2 else [1]} for at in range(40)]
    (found,) = score_interleaving(rows)
    assert (found.first, found.second, found.wins, found.losses) == ("a", "b", 20, 0)
    placed = [{"rank": str(at), "id": f"d{at}", "team": team} for at, team in ((2, "a"), (10, "b"), (1, None))]
    log = [{"ts": 1.7e9 + at, "results": placed, "clicks": ["d2"]} for at in range(20)]
    assert interleaving(log).preferences[0].wins == 20


def test_odd_shares_are_refused_in_words() -> None:
    assert split_mismatch({"A": 10}) == 1.0
    with pytest.raises(UsageError, match="Next:"):
        split_mismatch({"A": 10, "B": 5}, {"A": "half", "B": 0.5})  # type: ignore[dict-item]


@pytest.mark.no_cover
@pytest.mark.slow
def test_shares_means_and_latencies_may_be_looked_at_every_day() -> None:
    for how in ({}, {"heavy": True}):
        calm = kinds(20, **how)
        assert calm["any"] <= 0.1
        assert max(calm.values()) <= 0.14
    moved = kinds(10, lift=0.1, slow=0.3)
    assert min(moved[name] for name in ("ctr", "score", "latency_p50")) >= 0.7


@pytest.mark.no_cover
@pytest.mark.slow
@pytest.mark.parametrize("teams", [2, 3])
def test_equal_rankings_are_told_apart_in_one_of_twenty_however_often_one_looks(teams) -> None:
    told = 0
    for seed in range(40):
        rng, rows = np.random.default_rng(seed), []
        docs = {f"t{at}": [f"d{doc}" for doc in rng.permutation(10)] for at in range(teams)}
        for user in range(160):
            made = team_draft(docs, 6, rng)
            clicks = [at + 1 for at in range(len(made.teams)) if rng.random() < 0.5 / (at + 1)]
            rows.append({"user": f"u{user % 120}", "teams": made.teams, "clicks": clicks})
        looks = (score_interleaving(rows[:end]) for end in range(40, 161, 40))
        told += any(each.verdict != "unclear" for found in looks for each in found)
    assert told <= 4  # more than five of a hundred by chance alone: in 5 of 100


def test_a_rank_that_was_clicked_twice_counts_once() -> None:
    (found,) = score_interleaving([{"teams": ["a", "b", "b"], "clicks": [1, 1, 3, 9]}])
    assert (found.wins, found.ties, found.losses) == (0, 1, 0)


def test_users_who_like_one_ranking_more_decide_for_it_and_those_who_like_both_do_not() -> None:
    rng = np.random.default_rng(1)
    good, bad = [f"g{i}" for i in range(5)], [f"b{i}" for i in range(5)]

    def shown(best: float, worst: float, users: int) -> list[dict[str, Any]]:
        rows = []
        for user in range(users):
            made = team_draft({"new": good, "old": bad}, 4, rng)
            chance = [best if doc[0] == "g" else worst for doc in made.docs]
            clicks = [at + 1 for at, each in enumerate(chance) if rng.random() < each / (at + 1)]
            rows.append({"teams": made.teams, "clicks": clicks, "user": f"u{user}"})
        return rows

    (found,) = score_interleaving(shown(0.6, 0.2, 300))
    assert (found.first, found.second, found.verdict) == ("new", "old", "first")
    assert 0.5 < found.low < found.share < found.high
    assert found.wins + found.ties + found.losses <= 300
    (even,) = score_interleaving(shown(0.4, 0.4, 300))
    assert even.low < 0.5 < even.high


def test_one_user_counts_once() -> None:
    rows = [{"teams": ["a", "b"], "clicks": [1], "user": "noisy"}] * 500 + [{"teams": ["a", "b"], "clicks": [2]}] * 2
    (found,) = score_interleaving(rows)
    assert (found.users, found.wins, found.losses, found.verdict) == (3, 500, 2, "unclear")
    for bad in ([{"teams": ["a", "b"], "clicks": []}], [{"teams": "ab", "clicks": [1]}], [7]):
        with pytest.raises(DataError, match="Next:"):
            score_interleaving(bad)


@pytest.mark.no_cover
@pytest.mark.slow
def test_looking_each_day_finds_nothing_that_is_not_there() -> None:
    always, once = rates(40, 0.02, 0.0)
    assert always <= 0.125 < 0.2 < once  # a test for a single look is red in a third of such tests
    assert rates(10, 0.3, 0.03)[0] >= 0.9
    said, held = betting_rates(100, 0.5)
    assert said <= 0.09
    assert held >= 0.91
    assert betting_rates(30, 0.65)[0] >= 0.8


def test_intervals_and_p_values_agree() -> None:
    for value in (0.1, 0.25, 0.31, 0.5):
        found = normal_mixture(value, 0.1, 0.05)
        assert (found.low > 0) == (found.p < 0.05)
        assert normal_mixture(-value, 0.1, 0.05).p == found.p
    early = normal_mixture(0.0, 0.1, 0.01)
    assert early.p == 1.0
    assert early.high > 2 * 0.196
    for seed in range(20):
        row = (np.random.default_rng(seed).random(80) < 0.65).astype(float)
        found = betting(row)
        assert 0 <= found.low <= found.value <= found.high <= 1
        assert not (found.p > 0.06 and found.low > 0.505)
    nothing = betting(np.array([]))
    assert (nothing.low, nothing.high, nothing.p) == (0.0, 1.0, 1.0)
    for wrong in (lambda: betting(np.array([1.0]), 95), lambda: normal_mixture(0.1, 0.1, 0.1, 95)):
        with pytest.raises(UsageError, match="level: got 95"):
            wrong()
    with pytest.raises(DataError):
        betting(np.array([2.0]))


def test_the_evidence_of_an_estimate_is_a_mean_of_likelihood_ratios() -> None:
    """Over effects from a normal distribution; an end of the interval is a null against which it is 1 / alpha."""
    value, error, planned, alpha = 0.31, 0.1, 0.07, 0.1
    prior = stats.norm(0, planned * math.sqrt(-2 * math.log(alpha) + math.log(1 - 2 * math.log(alpha))))

    def evidence(null: float) -> float:
        effects = np.linspace(-4, 4, 8001)
        ratios = np.exp(((value - null) ** 2 - (value - null - effects) ** 2) / (2 * error**2))
        return float((ratios * prior.pdf(effects)).sum() / 1000)

    found = normal_mixture(value, error, planned, 1 - alpha, null=0.05)
    assert found.p == pytest.approx(1 / evidence(0.05))
    assert (evidence(found.low), evidence(found.high)) == pytest.approx((1 / alpha, 1 / alpha))


def test_the_stake_of_a_gambler_is_counted_bet_by_bet() -> None:
    """As Waudby-Smith and Ramdas write it: bets sized by the spread so far, half of the stake on each side."""
    row, alpha = np.random.default_rng(4).beta(3, 2, 40).tolist(), 0.1
    sizes, means, spread = [], [], 0.25
    for t in range(1, len(row) + 1):
        sizes.append(math.sqrt(2 * math.log(2 / alpha) / (spread * t * math.log(t + 1))))
        means.append((0.5 + sum(row[:t])) / (t + 1))
        spread = (0.25 + sum((x - mean) ** 2 for x, mean in zip(row, means, strict=False))) / (t + 1)

    def stake(mean: float) -> float:
        more = less = 0.5
        for x, size in zip(row, sizes, strict=True):
            more *= 1 + min(size, 0.5 / mean) * (x - mean)
            less *= 1 - min(size, 0.5 / (1 - mean)) * (x - mean)
        return more + less

    found = betting(np.array(row), 1 - alpha, null=0.45)
    assert found.p == pytest.approx(min(1, 1 / stake(0.45)))
    open_means = [i / 200 for i in range(1, 200) if stake(i / 200) < 1 / alpha]
    assert (found.low, found.high) == pytest.approx((open_means[0] - 1 / 200, open_means[-1] + 1 / 200))


def test_variants_are_held_against_the_control() -> None:
    rows = [
        *(Row("ctr", name, 6000, value, 0.005) for name, value in (("A", 0.30), ("B", 0.36), ("C", 0.301))),
        *(Row("thumbs_up", name, 60, 0.5, 0.1) for name in "AB"),
    ]
    found = compare_variants(rows, "A")
    assert [(each.metric, each.variant, each.verdict) for each in found] == [
        ("ctr", "B", "more"),
        ("ctr", "C", "unclear"),
    ]
    assert found[0].low < 0.06 < found[0].high
    for bad in ([], rows[:1]):
        with pytest.raises(UsageError, match="control"):
            compare_variants(bad, "A")
    assert compare_variants(rows[:1]) == []
    assert {each.control for each in compare_variants(rows)} == {"A"}
    assert split_mismatch({"A": 100, "B": 100, "C": 100}) > 0.9
    assert split_mismatch({"A": 9000, "B": 1000}, {"A": 0.9, "B": 0.1}) == pytest.approx(1)
    with pytest.raises(UsageError):
        split_mismatch({"A": 1, "B": 2}, {"A": 1.0})
