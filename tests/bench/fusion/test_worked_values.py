"""Fused scores worked out by hand."""

from __future__ import annotations

import math

import pytest

from rankproof import fuse

ONE = {"q": {"a": 4.0, "b": 3.0, "c": 2.0}}
TWO = {"q": {"b": 9.0, "d": 5.0}}

CASES = {
    "rrf": {"a": 1 / 61, "b": 1 / 62 + 1 / 61, "c": 1 / 63, "d": 1 / 62},
    "isr": {"a": 1, "b": 2 * (1 / 4 + 1), "c": 1 / 9, "d": 1 / 4},
    "log-isr": {"a": 0, "b": math.log(2) * 1.25, "c": 0, "d": 0},
    "rbc": {"a": 0.2, "b": 0.16 + 0.2, "c": 0.128, "d": 0.16},
    # four candidates; the first list leaves 1 point to d, the second 2 + 1 to a and c
    "borda": {"a": 4 + 1.5, "b": 3 + 4, "c": 2 + 1.5, "d": 1 + 3},
    "condorcet": {"b": 4, "a": 3, "d": 2, "c": 1},
    "combsum": {"a": 1, "b": 0.5 + 1, "c": 0, "d": 0},
    "combmnz": {"a": 1, "b": 3, "c": 0, "d": 0},
    "combmin": {"a": 1, "b": 0.5, "c": 0, "d": 0},
    "combmax": {"a": 1, "b": 1, "c": 0, "d": 0},
    "combmed": {"a": 1, "b": 0.75, "c": 0, "d": 0},
    "combanz": {"a": 1, "b": 0.75, "c": 0, "d": 0},
}


@pytest.mark.parametrize("method", CASES)
def test_scores_are_those_worked_by_hand(method: str) -> None:
    assert fuse([ONE, TWO], method)["q"] == pytest.approx(CASES[method])


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("weighted-sum", {"a": 2, "b": 2 * 0.5 + 1, "c": 0, "d": 0}),
        ("wmnz", {"a": 2, "b": 3 * 1.5, "c": 0, "d": 0}),
        ("mixed", {"a": 2, "b": math.sqrt(2) * 2, "c": 0, "d": 0}),
        ("rrf", {"a": 2 / 61, "b": 2 / 62 + 1 / 61, "c": 2 / 63, "d": 1 / 62}),
        ("borda", {"a": 8 + 1.5, "b": 6 + 4, "c": 4 + 1.5, "d": 2 + 3}),
    ],
)
def test_weights_by_hand(method: str, expected: dict[str, float]) -> None:
    assert fuse([ONE, TWO], method, weights=[2, 1])["q"] == pytest.approx(expected)


# --- methods that learn: two judged queries t1 and t2, and the query q to be fused -------------------

JUDGED = {"t1": {"x": 1, "y": 1}, "t2": {"x": 1}}
FIRST = {"t1": ["x", "z", "y"], "t2": ["w", "x"], "q": ["a", "b", "c"]}
SECOND = {"t1": ["z", "y"], "t2": ["x", "v"], "q": ["b", "a"]}


def learned(method: str, **settings: object) -> dict[str, float]:
    return fuse([FIRST, SECOND], method, judgments=JUDGED, **settings)["q"]


def test_mapfuse_by_hand() -> None:
    one, two = ((1 + 2 / 3) / 2 + 1 / 2) / 2, (1 / 2 / 2 + 1) / 2
    assert learned("mapfuse") == pytest.approx({"a": one + two / 2, "b": one / 2 + two, "c": one / 3})


def test_posfuse_by_hand() -> None:
    # first: at rank 1 relevant in t1 only, at 2 in t2 only, at 3 in the one list that is so long
    assert learned("posfuse") == pytest.approx({"a": 0.5 + 0.5, "b": 0.5 + 0.5, "c": 1.0})


def test_slidefuse_by_hand() -> None:
    # chances (.5, .5, 1) and (.5, .5), averaged over a rank on each side
    expected = {"a": 0.5 + 0.5, "b": (0.5 + 0.5 + 1) / 3 + 0.5, "c": 0.75}
    assert learned("slidefuse", window=1) == pytest.approx(expected)
    assert learned("slidefuse", window=0) == pytest.approx(learned("posfuse"))


def test_probfuse_by_hand() -> None:
    # two segments. First: (x z)(y) and (w)(x): (1/2 + 0)/2 and (1 + 1)/2. Second: (z)(y) and (x)(v): 1/2 and 1/2
    assert learned("probfuse", segments=2) == pytest.approx({"a": 0.25 + 0.25, "b": 0.25 + 0.5, "c": 0.5})


def test_segfuse_by_hand() -> None:
    # one segment of 5. First: (2/5 + 1/5)/2, second: (1/5 + 1/5)/2; scores by rank, 1 to 1/n
    expected = {"a": 0.3 * 2 + 0.2 * 1.5, "b": 0.3 * (1 + 2 / 3) + 0.2 * 2, "c": 0.3 * (1 + 1 / 3)}
    assert learned("segfuse", normalise="rank") == pytest.approx(expected)


def test_bayesfuse_by_hand() -> None:
    one, two, none = math.log(0.3 / 0.7), math.log(0.2 / 0.8), math.log(0.001 / 0.999)
    assert learned("bayesfuse") == pytest.approx({"a": one + two, "b": one + two, "c": one + none})


def test_segments_grow_as_published_unless_those_of_ranx_are_asked_for() -> None:
    # of 40 documents the one at rank 18 is relevant: it is in segment 6 to 20, or in 16 to 35
    docs = [f"d{i:02}" for i in range(1, 41)]
    runs = [{"t": docs, "q": docs}] * 2
    judged = {"t": {"d18": 1}}
    published = fuse(runs, "segfuse", judgments=judged, normalise="rank")["q"]
    ranx = fuse(runs, "segfuse", judgments=judged, normalise="rank", sizes="ranx")["q"]
    assert published["d18"] == pytest.approx(2 / 15 * (1 + 23 / 40))
    assert ranx["d18"] == pytest.approx(2 / 20 * (1 + 23 / 40))
    assert {doc for doc, score in published.items() if score} == set(docs[5:20])
    assert {doc for doc, score in ranx.items() if score} == set(docs[15:35])


def test_judgments_of_a_query_that_is_fused_say_nothing_of_others() -> None:
    elsewhere = {**JUDGED, "not in the rankings": {"x": 1}}
    assert fuse([FIRST, SECOND], "mapfuse", judgments=elsewhere)["q"] == learned("mapfuse")
