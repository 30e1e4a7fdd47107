"""Comparisons, intervals and reports, by name: against a peer where there is one, else against what is promised."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from cases import case
from data import make
from timing import Pair, Work, peak_bytes

SYSTEMS, QUERIES = 10, 1_000
PERMUTATIONS = 100_000

INTERVALS = """
import numpy as np
from rankproof.stats.intervals import intervals
rng = np.random.default_rng(1)
columns = [np.round(rng.beta(0.6, 1.2, 10_000), 6) for _ in range(9)]
intervals(columns)
"""


def _said(work: Work) -> float:
    """What the work says of itself."""
    return float(work())  # type: ignore[arg-type]


def _limit(what: str, limit: float, ours: Callable[[], float]) -> Pair:
    """What was measured beside the most that it may be."""
    return Pair(what, "the most it may be", ours, lambda: limit, 1, times=1, measure=_said)


def _seconds(work: Work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


@case
def report() -> list[Pair]:
    import rankproof

    judgments, _ = make(QUERIES, 100, 10)
    systems = {f"system {i}": make(QUERIES, 100, 10, seed=i)[1] for i in range(1, SYSTEMS + 1)}

    def page() -> str:
        return rankproof.report(judgments, systems, "nDCG@10, R@100, RR@10").html()

    what = f"report of {SYSTEMS} systems x {QUERIES:,} queries x 100 documents"
    return [
        _limit(f"{what}, seconds", 3.0, lambda: _seconds(page)),
        _limit(f"{what}, bytes", 3_000_000, lambda: len(page().encode())),
    ]


@case
def intervals() -> list[Pair]:
    words = [sys.executable, "-c", INTERVALS]
    what = "intervals, 9 measures x 10,000 queries, peak bytes"
    return [_limit(what, 200_000_000, lambda: peak_bytes(words))]


@case
def sign_flips() -> list[Pair]:
    import numpy as np
    import stats as beside

    from rankproof.stats import flips

    data = beside.columns()

    def ours() -> float:
        rng = np.random.default_rng(1)
        return _seconds(lambda: flips.sign_flips(data, rng, permutations=PERMUTATIONS))

    def theirs() -> float:
        return len(data) * _seconds(lambda: beside.scipys(data[0], PERMUTATIONS))

    what = f"{len(data)} sign-flip tests x {beside.QUERIES:,} queries x {PERMUTATIONS:,}"
    return [Pair(what, "scipy, one test times as many", ours, theirs, 20, times=1, measure=_said)]
