"""Which pairs are drawn: each with the probability that is written down for it."""

from __future__ import annotations

import numpy as np
import pytest

from rankproof.judging.labelling import draw, draw_whole
from rankproof.judging.trust.agreement import INFORMATIVE, RANDOM, DrawnPair
from rankproof.judging.verdicts import Ask, Relation


def pairs(n: int = 200) -> list[DrawnPair]:
    """Every tenth has the rarer value."""
    return [DrawnPair(Ask(Relation.CONTEXT_ANSWERS, f"q{i}", "text"), 3 if i % 10 == 0 else 0) for i in range(n)]


def test_more_keeps_what_was_drawn_and_another_seed_draws_others() -> None:
    few, more, other = (draw(pairs(), n, seed=seed) for n, seed in ((20, 0), (50, 0), (20, 1)))
    assert [each.ask for each in more[:20]] == [each.ask for each in few]
    assert {each.ask for each in other} != {each.ask for each in few}
    assert {each.probability for each in few} == {0.1}
    assert draw(list(reversed(pairs())), 20) == few


def test_more_than_there_is_draws_everything() -> None:
    found = draw(pairs(5), 50, 50)
    assert len(found) == 5
    assert {each.included for each in found} == {1.0}


@pytest.mark.slow
def test_each_pair_is_drawn_as_often_as_its_probability_says() -> None:
    drawn: dict[Ask, int] = {each.ask: 0 for each in pairs()}
    said: dict[Ask, float] = {}
    for seed in range(200):
        for each in draw(pairs(), 20, 30, seed):
            drawn[each.ask] += 1
            said[each.ask] = each.included
    assert len(set(said.values())) == 2  # rare values more often than the common one
    for chance in set(said.values()):
        seen = [drawn[ask] / 200 for ask in said if said[ask] == chance]
        assert np.mean(seen) == pytest.approx(chance, abs=4 * np.sqrt(chance / 200 / len(seen)))


def test_the_informative_part_is_kept_apart_and_prefers_what_is_rare_or_doubtful() -> None:
    found = draw(pairs(), 20, 40)
    parts = {part: [each for each in found if each.part == part] for part in (RANDOM, INFORMATIVE)}
    assert len(parts[RANDOM]) == 20
    assert 20 <= len(parts[INFORMATIVE]) <= 60
    rare = {each.ask for each in pairs() if each.value == 3}
    assert sum(each.ask in rare for each in parts[INFORMATIVE]) > len(parts[INFORMATIVE]) / 4
    doubtful = [DrawnPair(each.ask, 0, 0.5 if i % 2 else 0.99) for i, each in enumerate(pairs())]
    more = {each.ask: each.included for each in draw(doubtful, 1, 40)}
    chances = sorted(set(more.values()))
    assert chances[-1] > 3 * chances[0]


def test_whole_samples_are_drawn_alike_however_many_pairs_they_have() -> None:
    samples = {
        f"s{i}": [Ask(Relation.CONTEXT_ANSWERS, f"q{i}", f"c{j}") for j in range(1 + 9 * (i % 2))] for i in range(40)
    }
    long = 0
    for seed in range(200):
        drawn = {each.ask.left for each in draw_whole(samples, 10, seed)}
        assert len(drawn) == 10
        long += sum(int(left[1:]) % 2 for left in drawn)
    assert long / 2000 == pytest.approx(0.5, abs=0.04)
