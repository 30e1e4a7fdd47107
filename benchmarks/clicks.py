"""How wrong estimates by clicks get where users do not click as the position-based model says.

    python -m benchmarks.clicks [TRIALS]

Twenty queries of eight documents. Users follow the model (position), or click on bad documents because they stand
high (trust), or go from the top to the first good answer (cascade), or now and then further (dependent).
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from rankproof.core.hits import Array
from rankproof.monitoring.clicks import ClickTable, attraction, fit_propensities, swap_propensities

DOCS, QUERIES, SEARCHES, K = 8, 20, 6000, 5
LOOKED = np.arange(1, DOCS + 1) ** -0.7


def searches(seed: int, model: str, swapped: bool) -> tuple[Array, list[dict[str, Any]]]:
    """How often each document attracts, and what was shown and clicked."""
    rng = np.random.default_rng(seed)
    attracts, events = rng.beta(1, 3, (QUERIES, DOCS)), []
    for at in range(SEARCHES):
        query = at % QUERIES
        order = np.argsort(-attracts[query] - (100 if swapped else 0.3) * rng.standard_normal(DOCS))
        chance = attracts[query, order]
        if model == "trust":
            chance = chance * (1 - 0.3 * LOOKED) + 0.3 * LOOKED * (1 - chance)
        clicks = rng.random(DOCS) < chance
        if model in ("position", "trust"):
            clicks &= rng.random(DOCS) < LOOKED
        else:
            ends = clicks & (rng.random(DOCS) < (1.0 if model == "cascade" else 0.5))
            clicks[int(np.argmax(ends)) + 1 if ends.any() else DOCS :] = False
        results = [f"d{doc}" for doc in order]
        ranks = (np.flatnonzero(clicks) + 1).tolist()
        events.append({"ts": 1e9, "user": f"u{at % 500}", "query": f"q{query}", "results": results, "clicks": ranks})
    return attracts, events


def ratios(trials: int, model: str, swapped: bool) -> dict[str, float]:
    """Estimates over the truth, with and without correction, and how often the interval holds the truth."""
    rows = []
    for seed in range(trials):
        attracts, events = searches(seed, model, swapped)
        table = ClickTable.of(events)
        chances = swap_propensities(table) if swapped else fit_propensities(table)
        docs = np.array([[int(doc[1:]) for doc in event["results"][:K]] for event in events])
        shown = float(attracts[np.arange(SEARCHES)[:, None] % QUERIES, docs].mean())
        found = attraction(table, chances, k=K)
        rows.append([found.value / shown, found.naive / shown, found.low <= shown <= found.high])
    return dict(zip(("attraction", "naive", "held"), np.mean(rows, axis=0).tolist(), strict=True))


def main() -> None:
    """Print everything."""
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    for model in ("position", "trust", "cascade", "dependent"):
        for swapped in (True, False):
            shown = ", ".join(f"{name} {value:.2f}" for name, value in ratios(trials, model, swapped).items())
            print(f"{model}, {'swapped' if swapped else 'moved'}: {shown}", flush=True)


if __name__ == "__main__":
    main()
