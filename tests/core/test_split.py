"""What is missing splits into never found and ranked too low, and the two add up to what is missing."""

from __future__ import annotations

import pytest

from rankproof import evaluate
from rankproof.core.names import REGISTRY
from tests.each import with_each

RELEVANT = {"q1": {"a": 3, "b": 1, "c": 2, "x": 0}, "q2": {"a": 1}, "q3": {"b": 2, "c": 0}}
RANKING = {"q1": ["x", "b", "u", "a"], "q2": ["u", "v"], "q3": ["c", "u", "b", "v", "w"]}


@with_each("name", [name for name, each in REGISTRY.items() if each.spec.kind == "ranking"])
def test_the_two_parts_are_the_distance_to_the_ceiling(name: str) -> None:
    for measure in {name, f"{name}@3" if "k" in REGISTRY[name].params else name}:
        scores = evaluate(RELEVANT, RANKING, measure, corpus_size=100)
        split = scores.split(measure)
        if split is not None:
            assert sum(split) == pytest.approx(abs(scores.ceiling(measure) - scores[measure])), measure
            assert min(split) >= 0


def test_a_measure_where_less_is_better_is_split_too() -> None:
    # q1: the first relevant at rank 2 of at best 1; q2: none, so 3; q3: rank 3 of at best 1
    scores = evaluate(RELEVANT, RANKING, "FirstRel")
    assert scores["FirstRel"] == pytest.approx((2 + 3 + 3) / 3)
    assert scores.split("FirstRel") == pytest.approx((2 / 3, 3 / 3))


def test_geometric_means_are_not_split() -> None:
    assert evaluate(RELEVANT, RANKING, "GMAP").split("GMAP") is None
