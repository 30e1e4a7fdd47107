"""How far the numbers of `drift` can be trusted: false alarms, power, coverage of the re-weighted score.

    python -m benchmarks.drift [TRIALS]

The truth is known: queries of twelve topics, shared between the set and the log as stated.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from unittest.mock import patch

import numpy as np

from rankproof.core.hits import Array
from rankproof.monitoring import coverage as cover
from rankproof.monitoring import query_similarity as similarity
from rankproof.monitoring.drift import Drift, drift
from rankproof.monitoring.log_samples import live_queries
from rankproof.monitoring.simulate import _query, _zipf, simulate_log
from rankproof.monitoring.simulated_users import TOPICS

SESSIONS, USERS, QUERIES = 800, 400, 80


def drifts(trials: int, share: float, permutations: int = 199) -> Iterator[Drift]:
    """What is found if this share of what people ask is about topics that the set lacks."""
    with patch.object(similarity, "PERMUTATIONS", permutations):
        before = simulate_log(10)
        for seed in range(trials):
            how = {"drift_on": 0, "drift_share": share} if share else {}
            log = simulate_log(SESSIONS, seed=seed, users=USERS, **how)  # type: ignore[arg-type]
            own = {each["id"]: each["query"] for each in before.evaluation_set(QUERIES, seed=seed + 500)}
            yield drift(own, log.records(), label=0, seed=seed)


def coverage(trials: int, queries: int) -> tuple[float, float]:
    """How often the re-weighted interval, and that of the set itself, hold the mean over what people ask.

    The set asks of each topic alike, people by shares at random; half of the topics are twice as hard.
    """
    live, own = 0, 0
    quality = np.array([each[2] for each in TOPICS]) * np.where(np.arange(len(TOPICS)) % 2, 0.5, 1.0)
    for seed in range(trials):
        rng = np.random.default_rng(seed + 1000)
        shares = rng.dirichlet(np.ones(len(TOPICS)))
        topics, texts = _asked(rng, np.ones(len(TOPICS)) / len(TOPICS), queries)
        sample = live_queries(_asked(rng, shares, 1500)[1], seed)
        values = {f"q{i}": float(rng.beta(4 * quality[t], 4 * (1 - quality[t]))) for i, t in enumerate(topics)}
        rows = similarity.condense_rows(similarity.ngram_vectors([*texts, *sample.texts]), rng)
        kind, _ = similarity.kinds_of(rows, cover.number_of_kinds(queries), rng)
        users = np.unique(sample.users, return_inverse=True)[1]
        found = cover.live_score("value", values, list(values), kind, users, (0.0, 1.0))
        truth = float(shares @ quality)
        live += found.live is not None and found.live.low <= truth <= found.live.high
        own += found.own.low <= truth <= found.own.high
    return live / trials, own / trials


def _asked(rng: np.random.Generator, shares: Array, number: int) -> tuple[list[int], list[str]]:
    topics = rng.choice(len(TOPICS), size=number, p=shares).tolist()
    words, form = _zipf(rng, (2, number)), rng.integers(0, 4, number)
    return topics, [_query(t, int(words[0, i]), int(words[1, i]), int(form[i])) for i, t in enumerate(topics)]


def main() -> None:
    """Print everything."""
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    for share in (0.0, 0.1, 0.2, 0.3):
        found = np.mean([each.drifted for each in drifts(trials, share)])
        print(f"new topics in {share:.0%} of the log: a drift is found in {found:.0%}")
    for queries in (60, 200):
        live, own = coverage(trials, queries)
        print(f"{queries} queries: the re-weighted interval holds the truth in {live:.0%}, the set's own in {own:.0%}")


if __name__ == "__main__":
    main()
