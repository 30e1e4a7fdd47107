"""Position bias: propensities are recovered, and estimates cover the truth that naive ones miss."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankproof import simulate_log
from rankproof.core.hits import Array
from rankproof.errors import DataError, UsageError
from rankproof.monitoring.clicks import ClickTable, attraction, fit_propensities, swap_propensities
from rankproof.monitoring.online_tests import clicks

pytestmark = pytest.mark.cover

LOOKED = 1 / np.arange(1, 9)


def searches(seed: int, number: int, *, blend: float = 0.4, spread: float = 0.3) -> tuple[Array, list[dict[str, Any]]]:
    """Attractions of 20 queries' documents, and searches of 400 users whose rankings are noisy."""
    rng = np.random.default_rng(seed)
    attracts = rng.beta(1, 3, (20, 12))
    mood = rng.uniform(1 - spread, 1 + spread, 400)
    events = []
    for _ in range(number):
        query, user = int(rng.integers(20)), int(rng.integers(400))
        order = np.argsort(-attracts[query] - rng.normal(0, blend, 12))[:8]
        chance = np.minimum(LOOKED * attracts[query, order] * mood[user], 1)
        clicks = np.flatnonzero(rng.random(8) < chance) + 1
        results = [{"id": f"d{doc}", "rank": at} for at, doc in enumerate(order, 1)]
        events.append(
            {"ts": 1.7e9, "query": f"q{query}", "user": f"u{user}", "results": results}
            | {"clicks": [{"rank": int(rank)} for rank in clicks]}
        )
    return attracts, events


@pytest.mark.no_cover
@pytest.mark.slow
def test_propensities_are_recovered_from_ranks_that_vary() -> None:
    found = fit_propensities(ClickTable.of(searches(0, 6000)[1]))
    assert found == pytest.approx(LOOKED, abs=0.06)
    table = ClickTable.of(searches(1, 6000, blend=100.0)[1])
    assert swap_propensities(table) == pytest.approx(LOOKED, abs=0.08)


@pytest.mark.slow
def test_propensities_of_many_queries_that_are_asked_once_or_twice_are_no_worse() -> None:
    rng = np.random.default_rng(2)
    events = []
    for query in range(4000):
        likes = rng.beta(1, 2, 4)
        for _ in range(2):
            order = rng.permutation(4)
            clicks = [at + 1 for at, doc in enumerate(order) if rng.random() < LOOKED[at] * likes[doc]]
            events.append({"ts": 1.7e9, "query": f"q{query}", "results": [f"d{d}" for d in order], "clicks": []})
            events[-1]["clicks"] = [{"rank": rank} for rank in clicks]
    assert fit_propensities(ClickTable.of(events)) == pytest.approx(LOOKED[:4], abs=0.06)


@pytest.mark.no_cover
@pytest.mark.slow
def test_intervals_cover_the_truth_that_naive_numbers_miss() -> None:
    held = 0
    for seed in range(30):
        attracts, events = searches(seed, 800)
        table = ClickTable.of(events)
        found = attraction(table, LOOKED.tolist())
        pairs = [table.pairs[at] for at in table.pair]
        truth = np.mean([attracts[int(q[1:]), int(d[1:])] for q, d in pairs])
        held += found.low < truth < found.high
        assert found.naive < truth / 2
    assert held >= 25


@pytest.mark.slow
def test_attraction_takes_the_place_out_and_counts_by_user() -> None:
    attracts, events = searches(3, 4000)
    table = ClickTable.of(events)
    truth = np.mean([attracts[int(q[1:]), int(d[1:])] for q, d in (table.pairs[at] for at in table.pair)])
    found = attraction(table, LOOKED.tolist())
    assert found.value == pytest.approx(truth, rel=0.06)
    assert found.naive < truth / 2
    assert (found.searches, found.users, found.clipped) == (4000, 400, 0.0)
    by_event = attraction(ClickTable.of([{**e, "user": None} for e in events]), LOOKED.tolist())
    assert by_event.value == pytest.approx(found.value)
    assert by_event.high - by_event.low < found.high - found.low
    log = simulate_log(500, seed=1)
    of_three = attraction(ClickTable.of(log.records()), log.propensities, k=3)
    assert of_three.value > 0.1
    found = clicks(log.records(), propensities=log.propensities[:3], k=3)
    assert (found.attraction, len(found.shown)) == (of_three, 3)
    with pytest.raises(UsageError, match="got 2, expected one for each of the 3 ranks"):
        clicks(log.records(), propensities=log.propensities[:2], k=3)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda table: ClickTable.of([{"ts": 1.7e9, "query": "a"}]), "no event"),
        (lambda table: attraction(table, [1.0]), "one for each of the 8 ranks"),
        (lambda table: attraction(table, [2.0] * 8), "propensity"),
        (lambda table: attraction(table, [0.0] * 8), "got 0 for rank 1, which was clicked"),
        (lambda table: swap_propensities(table), "at rank 1"),
    ],
)
def test_errors_say_what_to_do(call: Any, words: str) -> None:
    table = ClickTable.of(searches(4, 30)[1])
    with pytest.raises((DataError, UsageError), match=words) as error:
        call(table)
    assert "Next:" in str(error.value)


def test_ranks_that_nothing_ties_together_are_refused() -> None:
    rows = [{"ts": 1.7e9, "query": "a", "results": ["x", "y"], "clicks": [{"rank": 1}, {"rank": 2}]}] * 9
    with pytest.raises(DataError, match="rank 2"):
        fit_propensities(ClickTable.of(rows))
    swapped = [*rows, {"ts": 1.7e9, "query": "a", "results": ["y", "x"], "clicks": [{"rank": 1}]}]
    assert fit_propensities(ClickTable.of(swapped))[0] == 1.0


def test_users_who_do_not_differ_do_not_make_sure() -> None:
    """A share of `true` users who click may show none among so few, and the interval holds it all the same."""

    def of(users: int, clicks: list[int]) -> ClickTable:
        return ClickTable.of(
            {"ts": 1.7e9, "query": "q", "results": ["a", "b"], "clicks": clicks, "user": f"u{at}"}
            for at in range(users)
        )

    one = attraction(of(1, [1]), [1, 0.5])
    assert (one.value, one.low, one.high) == pytest.approx((0.5, 0.0125, 0.9875))
    for users in (1, 2, 20, 500):
        none = attraction(of(users, []), [1, 0.5])
        assert (none.value, none.low, none.high) == pytest.approx((0.0, 0.0, 1 - 0.025 ** (1 / users)))
    some = attraction(ClickTable.of(searches(3, 400)[1]), LOOKED.tolist())
    assert some.low < some.value < some.high < 1


def test_ranks_at_which_nothing_was_shown_are_said() -> None:
    deep = ClickTable.of([{"ts": 1.7e9, "query": "q", "results": [{"id": "a", "rank": 11}], "clicks": [11]}])
    with pytest.raises(DataError, match=r"nothing was shown at the first 3 ranks\. Next: "):
        attraction(deep, [1.0] * 11, k=3)
