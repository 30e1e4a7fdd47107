"""Summaries put together: the same bits however the values were split, and equal to what all values at once give."""

from __future__ import annotations

import json
import math
from collections.abc import Callable

import numpy as np
import pytest

from rankproof import evaluate
from rankproof.core.hits import Array
from rankproof.core.mergeable_summaries import (
    BINS,
    KEPT,
    ExactSum,
    SpreadSummary,
    ValueSummary,
    WorstQueries,
    exact_mean,
    merge_parts,
)
from rankproof.errors import DataError

WORLDS: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "hits": lambda rng, n: rng.integers(0, 2, n).astype(float),
    "P@10": lambda rng, n: rng.integers(0, 11, n) / 10,
    "reciprocal": lambda rng, n: 1 / rng.integers(1, 200, n),
    "dense": lambda rng, n: rng.beta(0.5, 0.7, n),
    "near 1": lambda rng, n: 1 - rng.beta(0.1, 5, n) * 1e-3,
    "ranks": lambda rng, n: np.exp(rng.normal(3, 2, n)),
    "both signs": lambda rng, n: rng.normal(0, 0.3, n),
    "ends": lambda rng, n: rng.choice([0.0, -0.0, 1.0, 0.3, 0.1 + 0.2], n),
}


def splits(n: int, rng: np.random.Generator) -> list[list[Array]]:
    """The rows from 0 to n, parted in several ways; some parts are empty."""
    whole = np.arange(n)
    mixed = rng.permutation(n)
    return [
        [whole],
        [whole[i::7] for i in range(7)],
        np.split(mixed, sorted(rng.integers(0, n + 1, 5))),
        [whole[:0], mixed[: n // 2], mixed[n // 2 :], whole[:0]],
        list(mixed[:, None]) if n < 300 else np.split(whole, [1, n - 1]),
    ]


@pytest.mark.parametrize("seed", range(3))
def test_exact_sums_are_those_of_fsum_in_every_split(seed: int) -> None:
    rng = np.random.default_rng(seed)
    nasty = [
        rng.normal(size=500),
        np.ldexp(rng.normal(size=400), rng.integers(-1070, 900, 400)),
        np.array([1e100, 1.0, -1e100, 1e-320, 5e-324, -5e-324, -0.0]),
        np.array([1.7e308, -1.7e308, 3.0]),
        np.concatenate([np.full(333, 0.1), np.full(7, -33.3)]),
        np.zeros(0),
    ]
    for values in nasty:
        for parts in splits(len(values), rng) if len(values) else [[np.arange(0)]]:
            found = merge_parts([ExactSum.of(values[part]) for part in parts])
            assert found.value == math.fsum(values.tolist())
            assert found.n == len(values)
            assert ExactSum.from_dict(json.loads(json.dumps(found.to_dict()))) == found


def test_what_is_no_number_has_no_sum() -> None:
    for bad in (math.nan, math.inf, -math.inf):
        with pytest.raises(DataError, match="expected finite numbers"):
            ExactSum.of(np.array([1.0, bad]))
    with pytest.raises(DataError, match="no values"):
        ExactSum().mean  # noqa: B018  the mean itself is the error
    with pytest.raises(DataError, match="smaller scale"):
        ValueSummary.of(np.array([1e101]))


@pytest.mark.first_is_quick(6)
@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("n", [1, 2, 150, KEPT + 3_000])
def test_summaries_are_the_same_in_every_split(world: str, n: int) -> None:
    rng = np.random.default_rng(len(world) + n)
    values = WORLDS[world](rng, n)
    for average in ("mean", "sum", "geometric"):
        whole = ValueSummary.of(values, average)
        for parts in splits(n, rng):
            found = merge_parts([ValueSummary.of(values[part], average) for part in parts])
            assert found.to_dict() == whole.to_dict()
        assert ValueSummary.from_dict(json.loads(json.dumps(whole.to_dict()))).to_dict() == whole.to_dict()
        assert whole.histogram.sum() == whole.n == n
        assert len(whole.histogram) == BINS + 2


def test_means_of_scores_are_exact_sums_whatever_the_order_of_queries() -> None:
    rng = np.random.default_rng(5)
    judged = {f"q{i}": {f"d{j}": int(rng.integers(0, 3)) for j in range(5)} for i in range(400)}
    run = {q: {f"d{j}": float(rng.integers(0, 6)) for j in rng.permutation(9)[:7].tolist()} for q in judged}
    measures = "nDCG@5, AP, RR, P@3, GMAP, num_rel, infAP"
    scores = evaluate(judged, run, measures)
    shuffled = evaluate({q: judged[q] for q in rng.permutation(list(judged)).tolist()}, run, measures)
    assert scores.means == shuffled.means
    for name, column in scores.columns.items():
        assert ValueSummary.of(column.counting, column.measure.spec.average).mean == scores[name]
    assert scores["AP"] == exact_mean(scores.column("AP").values)


def test_the_histogram_of_many_values_is_that_of_the_values() -> None:
    values = np.random.default_rng(0).beta(0.6, 0.4, KEPT * 2)
    whole = ValueSummary.of(values)
    assert whole.table is None
    edges, _ = np.histogram(values, bins=BINS, range=(0, 1))
    assert (whole.histogram[1:-1] == edges).all()


def test_the_worst_queries_of_parts_are_those_of_all() -> None:
    rng = np.random.default_rng(1)
    queries = [f"q{i}" for i in range(500)] + ["é", "𝒒"]
    values = rng.integers(0, 20, len(queries)) / 20
    for limit in (0, 1, 7, 1000):
        for higher in (True, False):
            sign = 1 if higher else -1
            expected = sorted(zip(queries, values.tolist(), strict=True), key=lambda r: (sign * r[1], r[0].encode()))
            for parts in splits(len(queries), rng):
                some = [WorstQueries.of([queries[i] for i in part], values[part], limit, higher) for part in parts]
                assert merge_parts(some).rows == tuple(expected[:limit])


def test_summaries_of_parts_hold_what_only_some_parts_have() -> None:
    column = ValueSummary.of(np.array([0.5]))
    one = SpreadSummary({"RR": column}, {"a": {"RR": column}}, queries=1)
    other = SpreadSummary({"RR": column}, {"b": {"RR": column}}, sums={"ceiling": ExactSum.of(np.ones(1))}, queries=1)
    both, turned = one + other, other + one
    assert both.slices.keys() == {"a", "b"}
    assert both.sums["ceiling"].value == 1
    assert {k: v.to_dict() for k, v in both.columns.items()} == {k: v.to_dict() for k, v in turned.columns.items()}
    again = SpreadSummary.from_dict(json.loads(json.dumps(both.to_dict())))
    assert again.to_dict() == both.to_dict()
    with pytest.raises(DataError, match="same measure"):
        column + ValueSummary.of(np.array([0.5]), "sum")
    with pytest.raises(DataError, match="no summaries"):
        merge_parts([])
