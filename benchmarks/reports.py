"""Comparisons, intervals and reports, by name: against a peer where there is one, else against what is promised."""

from __future__ import annotations

import pickle
import random
import subprocess
import sys
import time
from collections.abc import Callable

from cases import case
from data import FOLDER, Judgments, Run, make
from timing import Pair, Work, peak_bytes

SYSTEMS, QUERIES = 10, 1_000
PERMUTATIONS = 100_000

REPORT = """
import pickle, sys, time
judgments, systems, titles, groups = pickle.load(open(sys.argv[1], "rb"))
start = time.process_time()
import rankproof
page = rankproof.report(judgments, systems, "nDCG@10, R@100, RR@10", queries=titles, by=groups).html()
print(time.process_time() - start, len(page.encode()))
"""
"""A process of its own: the imports count, as does every thread; what makes the data does not."""

INTERVALS = """
import numpy as np
from rankproof.stats.intervals import interval
rng = np.random.default_rng(1)
columns = [np.round(rng.beta(0.6, 1.2, 10_000), 6) for _ in range(9)]
for column in columns:
    interval(column)
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
    FOLDER.mkdir(exist_ok=True)
    data = FOLDER / "report.pickle"
    data.write_bytes(pickle.dumps(_systems()))

    def told(place: int) -> float:
        words = [sys.executable, "-c", REPORT, str(data)]
        return float(subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()[place])

    what = f"report of {SYSTEMS} systems x {QUERIES:,} queries x 100 documents, titles, groups"
    return [
        _limit(f"{what}, seconds of the processor", 3.0, lambda: told(0)),
        _limit(f"{what}, bytes", 3_000_000, lambda: told(1)),
    ]


def _systems() -> tuple[Judgments, dict[str, Run], dict[str, str], dict[str, str]]:
    """Systems that find much of what was judged, each with more noise in its scores than the one before."""
    judgments, run = make(QUERIES, 100, 10)
    rnd = random.Random(1)
    systems = {
        f"system {i}": {
            query: {doc: score + rnd.gauss(0, i) for doc, score in scores.items()} for query, scores in run.items()
        }
        for i in range(1, SYSTEMS + 1)
    }
    titles = {query: " ".join(f"word{rnd.randrange(2000)}" for _ in range(7)) for query in run}
    return judgments, systems, titles, {query: f"group {rnd.randrange(5)}" for query in run}


@case
def intervals() -> list[Pair]:
    words = [sys.executable, "-c", INTERVALS]
    what = "intervals, 9 measures x 10,000 queries, peak bytes"
    return [_limit(what, 200_000_000, lambda: peak_bytes(words))]


@case
def sign_flips() -> list[Pair]:
    import numpy as np
    import stats as beside

    from rankproof.stats import paired

    data = beside.columns()

    def ours() -> float:
        rng = np.random.default_rng(1)
        return _seconds(lambda: paired.sign_flips(data, rng, permutations=PERMUTATIONS))

    def theirs() -> float:
        return len(data) * _seconds(lambda: beside.scipys(data[0], PERMUTATIONS))

    what = f"{len(data)} sign-flip tests x {beside.QUERIES:,} queries x {PERMUTATIONS:,}"
    return [Pair(what, "scipy, one test times as many", ours, theirs, 20, times=1, measure=_said)]
