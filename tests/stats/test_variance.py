"""Shares of a whole design: they add up to everything, and are those of the analysis of variance where it is balanced."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from rankproof.stats.variance import OTHERS, QUESTIONS, REST, anova, shares_of


@pytest.mark.parametrize("seed", range(6))
def test_shares_add_up_to_everything_also_where_combinations_are_missing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    every = list(product("xyz", "uv", "12"))
    kept = [each for each in every if seed % 2 == 0 or rng.random() > 0.3]
    effect = np.array([("xyz".index(a) + 3 * (a == "z" and b == "v")) * 0.2 for a, b, _ in kept])
    values = rng.random((40, 1)) + effect + 0.1 * rng.random((40, len(kept)))
    levels = {
        "first": [a for a, _, _ in kept],
        "second": [b for _, b, _ in kept],
        "third": [c for *_, c in kept],
    }
    found = shares_of(values, levels)
    assert sum(found.values()) == pytest.approx(1, abs=1e-9)
    assert min(found.values()) >= 0
    assert seed % 2 or "first x second" in found
    assert found["first"] > found["third"]


def test_a_balanced_design_has_the_squares_of_the_analysis_of_variance() -> None:
    values = np.random.default_rng(0).random((30, 4))
    found, table = shares_of(values, {"system": ["a", "b", "c", "d"]}), anova(values)
    assert found["system"] == pytest.approx(table.systems.share)
    assert found[QUESTIONS] == pytest.approx(table.queries.share)
    assert found[REST] == pytest.approx(table.rest.share)
    assert found[OTHERS] == 0


@pytest.mark.parametrize("value", [0.0, 0.1, 1e3])
def test_values_that_are_all_equal_have_nothing_to_share_out(value: float) -> None:
    assert shares_of(np.full((7, 3), value), {"system": ["a", "b", "c"]}) == {}
    varied = np.full((7, 3), value)
    varied[:, 0] += 1e-3 * max(value, 1)
    assert shares_of(varied, {"system": ["a", "b", "c"]})["system"] == pytest.approx(1)


def test_a_pure_interaction_is_no_factor() -> None:
    signs = np.array([1.0, -1.0, -1.0, 1.0])
    found = shares_of(np.tile(signs, (5, 1)), {"a": list("xxyy"), "b": list("uvuv")})
    assert {name: round(share, 9) for name, share in found.items() if share} == {"a x b": 1.0}


def test_a_factor_explains_nothing_by_playing_no_part() -> None:
    """A program has no chunker, a keyword search no fusion: what that changes is the retriever's doing."""
    rng = np.random.default_rng(3)
    retriever = ["words", "words", "program", "program"]
    values = rng.normal(size=(30, 4)) + np.array([0.0, 0.0, 1.0, 1.0])
    depth = ["5", "10", "5", "10"]
    alone = shares_of(values, {"retriever": retriever, "depth": depth})
    beside = shares_of(values, {"retriever": retriever, "chunker": ["whole", "whole", None, None], "depth": depth})
    assert beside == pytest.approx(alone)
    fusion = shares_of(
        np.tile([0.0, 1.0, 1.5], (30, 1)),
        {"retriever": ["words", "both", "both"], "fusion": [None, "ranks", "scores"]},
    )
    assert fusion["fusion"] == pytest.approx(2 * 0.25**2 / np.var([0.0, 1.0, 1.5]) / 3)
    assert sum(fusion.values()) == pytest.approx(1.0)
