"""The variants that profiles need: nDCG's ideal cut to the hits or built from them, recall of what was returned."""

from __future__ import annotations

import itertools
import math
from statistics import mean

import pytest

from rankproof import evaluate

JUDGED = {"q": {"a": 3, "b": 2, "c": 3, "e": 1, "g": 1}}


def dcg(*gains: float) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


def value(measure: str, ranking: list[str] | dict[str, float], **conventions: str) -> float:
    return evaluate(JUDGED, {"q": ranking}, measure, **conventions)[measure]


@pytest.mark.parametrize(
    ("ideal", "best"),
    [
        ("all", dcg(3, 3, 2, 1, 1)),
        ("hits", dcg(3, 3, 2)),
        ("returned", dcg(3, 2)),
        ("top", dcg(3, 2)),
        ("uncut", dcg(3, 3, 2, 1, 1)),
    ],
)
def test_each_ideal_of_a_short_ranking(ideal: str, best: float) -> None:
    assert value(f"nDCG(ideal='{ideal}')@10", ["b", "x", "a"]) == pytest.approx(dcg(2, 0, 3) / best)


def test_the_ideal_cut_to_the_hits_is_cut_at_k_too() -> None:
    assert value("nDCG(ideal='hits')@2", ["b", "x", "a"]) == pytest.approx(dcg(2) / dcg(3, 3))


def test_the_ideal_cut_to_the_hits_of_nothing_is_nothing() -> None:
    assert value("nDCG(ideal='hits')@2", []) == 0.0


def test_recall_of_what_was_returned() -> None:
    assert value("R(denominator='returned')@1", ["a", "x", "b"]) == 0.5
    assert value("R(denominator='returned')@3", ["a", "x", "b"]) == 1.0
    assert value("R(denominator='returned')@3", ["x", "y"]) == 0.0


IDEALS = [f"nDCG(ideal='{ideal}')@{k}" for ideal in ("all", "hits", "returned", "uncut") for k in (1, 2, 4)]
RECALLS = [f"R(denominator='returned')@{k}" for k in (1, 2, 4)]


@pytest.mark.parametrize("measure", [*IDEALS, *RECALLS, "Rprec(denominator='returned')"])
def test_the_mean_over_ties_is_that_over_all_orders(measure: str) -> None:
    orders = [["w", *order] for order in itertools.permutations(["a", "x", "e", "y", "z"])]
    tied = {"w": 2.0, "a": 1.0, "x": 1.0, "e": 1.0, "y": 1.0, "z": 1.0}
    assert value(measure, tied, ties="expected") == pytest.approx(
        mean(value(measure, order) for order in orders)
    )


@pytest.mark.parametrize("measure", ["R(denominator='returned')@2", "R@2", "R(denominator='min')@2"])
def test_the_ceiling_of_recall(measure: str) -> None:
    reached = {"R(denominator='returned')@2": 1.0, "R@2": 2 / 5, "R(denominator='min')@2": 1.0}[measure]
    assert evaluate(JUDGED, {"q": ["a", "x"]}, measure).ceiling(measure) == pytest.approx(reached)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_unjudged_documents_bound_recall_of_what_was_returned(k: int) -> None:
    measure, ranking = f"R(denominator='returned')@{k}", ["x", "a", "y", "b"]
    below, above = evaluate(JUDGED, {"q": ranking}, measure).bounds(measure, of="unjudged")
    more = [{}, {"x": 1}, {"y": 1}, {"x": 1, "y": 1}]
    possible = [evaluate({"q": JUDGED["q"] | new}, {"q": ranking}, measure)[measure] for new in more]
    assert (below, above) == pytest.approx((min(possible), max(possible)))
