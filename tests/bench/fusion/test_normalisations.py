"""Normalisations: what they promise about any list of scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankproof import fuse
from rankproof.bench.fusion.scores import NORMALISATIONS, by_borda, by_max, by_rank, by_sum, min_max, z_score
from rankproof.errors import DataError

SCORES = st.lists(st.integers(-1000, 1000).map(float), min_size=1, max_size=30)


def column(values: list[float]) -> tuple[np.ndarray, np.ndarray]:
    return np.array(values)[:, None], np.zeros(len(values), dtype=int)


@given(SCORES)
def test_min_max_goes_from_0_to_1(values: list[float]) -> None:
    found = min_max(*column(values))
    assert found.max() == 1
    assert found.min() == (0 if len(set(values)) > 1 else 1)


@given(SCORES)
def test_sum_makes_a_list_sum_to_1(values: list[float]) -> None:
    found = by_sum(*column(values))
    assert found.min() >= 0
    assert found.sum() == pytest.approx(1)


@given(SCORES)
def test_z_scores_have_mean_0_and_deviation_1(values: list[float]) -> None:
    found = z_score(*column(values))
    assert found.mean() == pytest.approx(0, abs=1e-9)
    assert found.std() == pytest.approx(1 if len(set(values)) > 1 else 0)


@given(SCORES)
def test_max_leaves_the_ratios(values: list[float]) -> None:
    if max(values) <= 0 and min(values) < 0:
        with pytest.raises(DataError, match="none above 0"):
            by_max(*column(values))
        return
    assert by_max(*column(values)) * max(values) == pytest.approx(column(values)[0])


@given(SCORES, st.sampled_from(["min-max", "sum", "z-score"]))
def test_the_order_stays(values: list[float], name: str) -> None:
    found = NORMALISATIONS[name](*column(values))[:, 0]
    assert ((found[:, None] > found) == (np.array(values)[:, None] > values)).all()


def test_lists_are_apart_by_query_and_by_ranking() -> None:
    score = np.array([[1.0, np.nan], [3.0, 10.0], [7.0, 20.0], [9.0, 30.0]])
    found = min_max(score, np.array([0, 0, 1, 1]))
    assert found[:, 0].tolist() == [0, 1, 0, 1]
    assert np.isnan(found[0, 1])
    assert found[1:, 1].tolist() == [1, 0, 1]


def test_ranks_as_scores_by_hand() -> None:
    rank = np.array([[1.0], [2.0], [np.nan], [np.nan], [np.nan]])
    query = np.zeros(5, dtype=int)
    assert by_rank(rank, query)[:2, 0].tolist() == [1, 0.5]
    assert by_borda(rank, query)[:, 0] == pytest.approx([1, 0.8, 0.4, 0.4, 0.4])


def test_one_document_counts_as_the_best_there_is() -> None:
    # ranx gives it 0, and so nothing of what its ranking says
    found = fuse([{"q": {"a": 7.0}}, {"q": {"b": 3.0, "c": 1.0}}], "combsum")
    assert found["q"] == {"b": 1, "a": 1, "c": 0}


@pytest.mark.parametrize("value", [0.0, 0.1, -0.3])
def test_equal_scores_share_what_the_normalisation_says(value: float) -> None:
    for n in range(1, 20):
        for normalise, each in ((min_max, 1.0), (by_sum, 1 / n), (z_score, 0.0)):
            assert normalise(*column([value] * n)).ravel().tolist() == [each] * n
    if value >= 0:
        assert by_max(*column([value] * 3)).ravel().tolist() == [float(value > 0)] * 3


def test_scores_close_together_are_told_apart() -> None:
    # ranx divides by 1e-9 at least
    near = {"q": {"a": 3e-12, "b": 2e-12, "c": 1e-12}}
    assert fuse([near, near], "combsum")["q"] == {"a": 2, "b": pytest.approx(1), "c": 0}
