"""Measures and scores survive copying and pickling, as worker processes need."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from rankproof import AP, RR, evaluate, nDCG, prepare
from rankproof.core.hits import Hits, PerQuery
from rankproof.core.measure import Measure
from rankproof.core.names import REGISTRY, forget, measure
from rankproof.errors import UsageError
from tests.each import with_each

JUDGED = {"q": {"a": 1, "b": 3}, "r": {"x": 1}}
RANKED = {"q": ["z", "a", "b"]}


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("again", [pickled, copy.copy, copy.deepcopy])
@with_each("one", [*REGISTRY.values(), nDCG(gain={1: 5, 2: 1}) @ 10, AP(rel=2) @ 3])
def test_measures(one: Measure, again: Any) -> None:
    found = again(one)
    assert found == one
    assert found.params == one.params


@pytest.mark.parametrize("again", [pickled, copy.copy, copy.deepcopy])
def test_scores_and_prepared_judgments(again: Any) -> None:
    judged = again(prepare(JUDGED))
    scores = evaluate(judged, RANKED, [RR, nDCG(gain="exp") @ 10], by=lambda q: q)
    found = again(scores)
    assert found.means == scores.means == evaluate(JUDGED, RANKED, [RR, nDCG(gain="exp") @ 10]).means
    assert str(found) == str(scores)


def test_a_measure_that_is_not_declared_where_it_is_loaded() -> None:
    @measure("Depth")
    def depth(h: Hits) -> PerQuery:
        "How many judged documents were found."
        return h.top(None).count()

    stored = pickle.dumps(depth)
    forget("Depth")
    with pytest.raises(UsageError, match="unknown measure 'Depth'"):
        pickle.loads(stored)


@pytest.mark.parametrize("name", [lambda hits: hits.count(), 3, None, "", " "])
def test_a_measure_without_a_name_is_refused(name: Any) -> None:
    """`@measure` without parentheses takes the function for the name."""
    with pytest.raises(UsageError, match=r"measure: got .*, expected a name. Next: write @measure\('NAME'\)"):
        measure(name)
