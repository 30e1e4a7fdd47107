"""The bootstrap by clusters: the same in any split, and as wide as theory says."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from rankproof.core.arrays import hash_of, mixed, poisson_counts
from rankproof.core.mergeable_summaries import Resamples, merge_parts
from rankproof.errors import DataError


def test_hashes_and_counts_are_the_same_on_every_machine() -> None:
    assert hash_of(["q1", "é"]).tolist() == [7530267129497158631, 3394012004367669963]
    assert poisson_counts(hash_of(["q1", "q2", "q3"]), 6, seed=7).tolist() == [
        [1, 1, 0, 1, 2, 0],
        [0, 1, 3, 1, 2, 0],
        [1, 1, 1, 1, 2, 0],
    ]


def test_counts_are_poisson_and_independent_between_resamples_and_clusters() -> None:
    counts = poisson_counts(hash_of([str(i) for i in range(20_000)]), 40)
    shares = np.bincount(counts.ravel(), minlength=8)[:8] / counts.size
    expected = [math.exp(-1) / math.factorial(k) for k in range(8)]
    assert np.abs(shares - expected).max() < 0.002
    together = np.corrcoef(counts.T.astype(float)) - np.eye(40)
    assert np.abs(together).max() < 6 / math.sqrt(20_000)
    neighbours = np.corrcoef(counts[:-1].ravel().astype(float), counts[1:].ravel().astype(float))[0, 1]
    assert abs(neighbours) < 6 / math.sqrt(counts.size)


@pytest.mark.slow
@pytest.mark.parametrize("keys", ["names", "numbers"])
def test_the_spread_of_the_mean_is_that_of_the_closed_form(keys: str) -> None:
    # A hash of a single round makes resamples alike, and this 14 % too wide.
    rng, n, replicates = np.random.default_rng(0), 160_000, 200
    values = rng.beta(0.4, 0.9, n)
    clusters = hash_of([f"q{i}" for i in range(n)]) if keys == "names" else np.arange(n, dtype=np.uint64)
    found = Resamples.of(values, clusters, replicates)
    assert found.error / (values.std() / math.sqrt(n)) == pytest.approx(1, abs=0.13)
    assert abs(found.means.mean() - values.mean()) < 5 * found.error / math.sqrt(replicates)


@pytest.mark.slow
def test_clusters_are_drawn_whole() -> None:
    rng = np.random.default_rng(2)
    users = np.repeat(np.arange(400), 25)
    values = np.clip(rng.normal(0.5, 0.2, 400)[users] + rng.normal(0, 0.05, len(users)), 0, 1)
    keys = hash_of([f"u{i}" for i in users])
    by_user = np.array([values[users == u].mean() for u in range(400)]).std() / math.sqrt(400)
    assert Resamples.of(values, keys, 300).error / by_user == pytest.approx(1, abs=0.15)
    alone = Resamples.of(values, mixed(np.arange(len(values), dtype=np.uint64)), 300).error
    assert alone < by_user / 2


def test_any_split_gives_the_same_resamples() -> None:
    rng = np.random.default_rng(3)
    for scale in (1.0, 1e6, -1e9):
        values, keys = rng.random(9_000) * scale, hash_of([str(i % 700) for i in range(9_000)])
        whole = Resamples.of(values, keys, 20, seed=5)
        for parts in (
            [np.arange(i, 9_000, 4) for i in range(4)],
            np.split(rng.permutation(9_000), [0, 10, 8_999]),
        ):
            assert merge_parts([Resamples.of(values[part], keys[part], 20, seed=5) for part in parts]) == whole
        assert Resamples.from_dict(json.loads(json.dumps(whole.to_dict()))) == whole
        assert np.abs(whole.means / scale - 0.5).max() < 0.1
    with pytest.raises(DataError, match="different seeds"):
        whole + Resamples.of(values, keys, 20, seed=6)
    with pytest.raises(DataError, match="smaller scale"):
        Resamples.of(np.array([1e12]), keys[:1])
