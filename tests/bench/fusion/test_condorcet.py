"""Condorcet: majorities, circles, documents that were not returned."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankproof import fuse
from rankproof.bench.fusion.ranks import condorcet
from tests.each import with_each

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "ranx_fusion.json").read_text(encoding="utf-8"))


def beats(ranks: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Whether each document has a majority over each other, by counting."""
    ranks = np.where(np.isnan(ranks), np.inf, ranks)
    return np.array(
        [[((one < two) * weights).sum() > ((one > two) * weights).sum() + 1e-9 for two in ranks] for one in ranks]
    )


def random_ranks(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    n, rankings = rng.integers(2, 40), rng.integers(2, 6)
    ranks = np.array([rng.permutation(n) + 1.0 for _ in range(rankings)]).T
    ranks[ranks > rng.integers(1, n + 1)] = np.nan
    return ranks[~np.isnan(ranks).all(axis=1)]


@with_each("seed", range(60))
def test_no_document_stands_right_above_one_that_beats_it(seed: int) -> None:
    ranks = random_ranks(seed)
    weights = np.random.default_rng(seed).integers(1, 5, ranks.shape[1]) / 10
    points = condorcet(ranks, np.zeros(len(ranks), dtype=int), weights)
    order, over = np.argsort(-points), beats(ranks, weights)
    assert sorted(points.tolist()) == list(range(1, len(ranks) + 1))
    assert not any(over[below, above] for above, below in itertools.pairwise(order))


@with_each("seed", range(60))
def test_who_beats_all_others_is_first(seed: int) -> None:
    ranks = random_ranks(seed)
    over = beats(ranks, np.ones(ranks.shape[1]))
    winners = np.flatnonzero(over.sum(axis=1) == len(ranks) - 1)
    points = condorcet(ranks, np.zeros(len(ranks), dtype=int), np.ones(ranks.shape[1]))
    if len(winners):
        assert points[winners[0]] == len(ranks)


@pytest.mark.parametrize("what", ["condorcet", "condorcet weighted"])
def test_without_circles_the_order_is_that_of_ranx(what: str) -> None:
    weights = GOLDEN["weights"] if "weighted" in what else None
    found = fuse(GOLDEN["inputs"]["no circles"]["runs"], "condorcet", weights=weights)
    for query, docs in GOLDEN["cases"]["no circles"][what].items():
        assert found[query] == docs


def test_a_ranking_that_returned_neither_document_says_nothing() -> None:
    runs: list[dict[str, Any]] = [{"q": ["a", "b"]}, {"q": ["c"]}, {"q": ["c"]}]
    assert list(fuse(runs, "condorcet")["q"]) == ["c", "a", "b"]


def test_a_weight_can_outvote_two() -> None:
    runs = [{"q": ["a", "b"]}, {"q": ["b", "a"]}, {"q": ["b", "a"]}]
    assert list(fuse(runs, "condorcet")["q"]) == ["b", "a"]
    assert list(fuse(runs, "condorcet", weights=[3, 1, 1])["q"]) == ["a", "b"]


def test_weights_that_sum_to_the_same_make_a_draw_whatever_rounding_says() -> None:
    runs = [{"q": ["a", "b"]}, {"q": ["a", "b"]}, {"q": ["b", "a"]}]
    assert list(fuse(runs, "condorcet", weights=[0.1, 0.2, 0.3])["q"]) == ["b", "a"]  # a draw: the higher id
