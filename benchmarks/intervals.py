"""How often intervals of means hold the true mean, and how wide they are: `python benchmarks/intervals.py [TIMES]`.

Values per query are drawn from known worlds (`tests/stats/worlds.py`) and resampled from real ones: those of the
sample that comes along, and of TREC runs, if their files are there (`../shared/data`). The seeds are fixed. The
tables of `docs/statistics.md` are this program's output.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.stats

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rankproof import evaluate, sample
from rankproof.stats import intervals as ours
from tests.stats.worlds import WORLDS, Draw, World, coverage, students

SIZES = (5, 10, 20, 50, 200, 1000)
FEW = (10, 20, 50)
PEERS = 0.5
"""The share of the samples on which slow peers are tried."""
UNBOUNDED = 15
"""So many times the samples are drawn of values without a bound: the least coverage is near the one asked for."""
BESIDE = ("hits .5", "hits .95", "zeros 90 %", "AP-like", "nDCG near 1", "dense")
GRID = np.linspace(0, 1, 501)
LEVELS = (0.9, 0.99)
SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
TREC_MEASURES = "nDCG@10, AP, RR, P@10, R@20, Success@5"
FAILURES = 1
"""Failures that n queries meet on average in the sister of a dense world: one sample in three meets none."""

Ends = tuple[float, float]
Method = Callable[[np.ndarray], Ends]


def resampled(name: str, judgments: object, ranking: object, measures: str) -> dict[str, World]:
    """Values per query of a ranking, drawn again with replacement: their mean is the truth."""
    worlds, scores = {}, evaluate(judgments, ranking, measures)
    for measure in scores:
        values = np.array(list(scores.values(measure).values()))

        def draw(rng: np.random.Generator, size: tuple[int, int], values: np.ndarray = values) -> np.ndarray:
            return rng.choice(values, size)

        worlds[f"{measure}, {name}"] = World(draw, float(values.mean()))
    return worlds


def of_the_sample() -> dict[str, World]:
    """Two rankings of the sample."""
    rankings = sample.rankings()
    return {
        called: world
        for name in ("keyword", "dense")
        for called, world in resampled(name, sample.judgments(), rankings[name], "nDCG@10, AP, RR, P@5").items()
    }


def of_trec_runs() -> dict[str, World]:
    """Runs of TREC: 45 topics of Deep Learning 2020 (documents), 52 of CACM."""
    runs = {
        "DL20, BM25": ("dl20-doc/qrels.dl20-doc.txt", "dl20-doc/d_bm25"),
        "DL20, RM3": ("dl20-doc/qrels.dl20-doc.txt", "dl20-doc/d_bm25rm3"),
        "CACM, BM25": ("cacm/qrels.cacm.txt", "cacm/cacm-bm25.run.txt"),
    }
    return {
        called: world
        for name, (qrels, run) in runs.items()
        for called, world in resampled(name, SHARED / qrels, SHARED / run, TREC_MEASURES).items()
    }


# --- methods ------------------------------------------------------------------------------------------


def rankproofs(values: np.ndarray) -> Ends:
    found = ours.interval(values)
    return found.low, found.high


def with_ends(near: float) -> Method:
    """The same method with this much of the unseen query at the near end, whatever the values."""

    def method(values: np.ndarray) -> Ends:
        kept = ours.ENDS, ours.ENDS_OF_HITS
        ours.ENDS = ours.ENDS_OF_HITS = near
        found = ours.interval(values)
        ours.ENDS, ours.ENDS_OF_HITS = kept
        return found.low, found.high

    return method


def bca(values: np.ndarray) -> Ends:
    if values.min() == values.max():
        return float(values[0]), float(values[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = scipy.stats.bootstrap((values,), np.mean, n_resamples=999, method="BCa", rng=np.random.default_rng(0))
    return float(found.confidence_interval.low), float(found.confidence_interval.high)


def bernstein(values: np.ndarray) -> Ends:
    """The empirical Bernstein bound of Maurer and Pontil (2009)."""
    n, log = len(values), math.log(4 / 0.05)
    half = math.sqrt(2 * values.var(ddof=1) * log / n) + 7 * log / (3 * (n - 1))
    return max(values.mean() - half, 0.0), min(values.mean() + half, 1.0)


def betting(values: np.ndarray) -> Ends:
    """The hedged capital of Waudby-Smith and Ramdas (2024), bets chosen from the values before."""
    n, log = len(values), math.log(2 / 0.05)
    up, down, most = np.zeros(len(GRID)), np.zeros(len(GRID)), np.full(len(GRID), -np.inf)
    total, spread = 0.5, 0.25
    with np.errstate(divide="ignore"):
        for i, value in enumerate(values):
            bet = math.sqrt(2 * log / (n * spread / (i + 1)))
            up += np.log1p(np.minimum(bet, 0.5 / np.maximum(GRID, 1e-9)) * (value - GRID))
            down += np.log1p(-np.minimum(bet, 0.5 / np.maximum(1 - GRID, 1e-9)) * (value - GRID))
            most = np.maximum(most, np.maximum(up, down) - math.log(2))
            total += value
            spread += (value - total / (i + 2)) ** 2
    kept = GRID[most < math.log(1 / 0.05)]
    return (float(kept.min()), float(kept.max())) if len(kept) else (float(values.mean()),) * 2


def wilson(values: np.ndarray) -> Ends:
    found = scipy.stats.binomtest(int(values.sum()), len(values)).proportion_ci(method="wilson")
    return float(found.low), float(found.high)


# --- tables ---------------------------------------------------------------------------------------------


def tried(method: Method, world: World, samples: np.ndarray) -> tuple[float, float, float, float]:
    """The share that holds the true mean, that lies above it, that lies below it; the mean width."""
    low, high = np.array([method(values) for values in samples]).T
    above, below = (low > world.mean + 1e-9).mean(), (high < world.mean - 1e-9).mean()
    return 1 - float(above + below), float(above), float(below), float((high - low).mean())


def short(share: float) -> str:
    return f"{share:.3f}".replace("0.", ".", 1) if share < 1 else "1.00"


def table(heading: list[str], rows: list[list[str]]) -> None:
    print("| " + " | ".join(heading) + " |")
    print("|" + "---|" * len(heading))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)
    print(flush=True)


def coverage_table(worlds: dict[str, World], sizes: tuple[int, ...], times: int) -> None:
    """For each world and size: coverage, and in brackets the width as a share of Student's where that covers .93."""
    rows, seen = [], {n: [] for n in sizes}
    for name, world in worlds.items():
        row = [name]
        for n in sizes:
            samples = world.samples(n, times)
            mine, theirs = tried(rankproofs, world, samples), tried(students, world, samples)
            seen[n].append(mine[0])
            beside = f"{mine[3] / theirs[3]:.2f}" if theirs[0] >= 0.93 else f"t {short(theirs[0])}"
            row.append(f"{short(mine[0])} ({beside})")
        rows.append(row)
    rows.append(["mean", *(short(float(np.mean(seen[n]))) for n in sizes)])
    table(["world", *(f"n = {n:,}" for n in sizes)], rows)


def levels_table(times: int) -> None:
    """For each world, size and other level: coverage."""
    rows, seen = [], []
    for name, world in WORLDS.items():
        found = [coverage(world, n, times, level) for level in LEVELS for n in FEW]
        seen.append(found)
        rows.append([name, *map(short, found)])
    rows.append(["mean", *map(short, np.mean(seen, axis=0))])
    table(["world", *(f"{level:.0%}, n = {n}" for level in LEVELS for n in FEW)], rows)


def unbounded_table(times: int) -> None:
    """Values without a bound: coverage, and the width as a share of Student's, whatever that covers."""
    upwards, infinite = (0.0, math.inf), (-math.inf, math.inf)
    worlds = {
        "normal": World(lambda rng, size: rng.normal(size=size), 0.0, infinite),
        "t of 4 degrees": World(lambda rng, size: rng.standard_t(4, size), 0.0, infinite),
        "uniform": World(lambda rng, size: rng.random(size), 0.5, infinite),
        "exponential": World(lambda rng, size: rng.exponential(size=size), 1.0, upwards),
        "ranks, geometric .3": World(
            lambda rng, size: rng.geometric(0.3, size).astype(float), 1 / 0.3, (1.0, math.inf)
        ),
        "lognormal": World(lambda rng, size: rng.lognormal(size=size), math.exp(0.5), upwards),
        "gamma .3": World(lambda rng, size: rng.gamma(0.3, size=size), 0.3, upwards),
    }
    rows = []
    for name, world in worlds.items():

        def method(values: np.ndarray, world: World = world) -> Ends:
            found = ours.interval(values, bounds=world.bounds)
            return found.low, found.high

        cells = []
        for n in (*FEW, 200):
            samples = world.samples(n, times)
            mine, theirs = tried(method, world, samples), tried(students, world, samples)
            cells.append(f"{short(mine[0])} ({mine[3] / theirs[3]:.2f}; t {short(theirs[0])})")
        rows.append([name, *cells])
    table(["values", *(f"n = {n}" for n in (*FEW, 200))], rows)


def sisters_table(times: int) -> None:
    """Dense values, and the same with a few queries that fail: most samples of both look alike."""
    dense: dict[str, Draw] = {
        "beta(12, 1)": lambda rng, size: rng.beta(12, 1, size),
        "beta(20, 2)": lambda rng, size: rng.beta(20, 2, size),
        "normal, .9 +- .02": lambda rng, size: np.clip(rng.normal(0.9, 0.02, size), 0, 1),
    }
    rows = []
    for name, draw in dense.items():
        mean = float(draw(np.random.default_rng(0), (1, 10**6)).mean())
        for n in (*FEW, 200):
            share, cells = FAILURES / n, []

            def sister(
                rng: np.random.Generator, size: tuple[int, int], draw: Draw = draw, share: float = share
            ) -> np.ndarray:
                return draw(rng, size) * (rng.random(size) >= share)

            for world in (World(draw, mean), World(sister, mean * (1 - share))):
                samples = world.samples(n, times)
                mine, theirs = tried(rankproofs, world, samples), tried(students, world, samples)
                cells += [f"{short(mine[0])} ({mine[3] / theirs[3]:.2f})", short(theirs[0])]
            rows.append([name, str(n), *cells])
    table(["values", "n", "this", "Student", "with failures: this", "with failures: Student"], rows)


def peers_table(times: int) -> None:
    """Coverage and mean width of what was passed over."""
    methods = {
        "this": rankproofs,
        "half at each end": with_ends(0.5),
        "all at the near end": with_ends(1.0),
        "Student": students,
        "BCa": bca,
        "empirical Bernstein": bernstein,
        "betting": betting,
        "Wilson": wilson,
    }
    rows = []
    for name in BESIDE:
        for n in FEW:
            samples = WORLDS[name].samples(n, times)
            cells = []
            for called, method in methods.items():
                if called == "Wilson" and not name.startswith("hits"):
                    cells.append("")
                    continue
                found = tried(method, WORLDS[name], samples)
                cells.append(f"{short(found[0])} ({short(found[3])})")
            rows.append([name, str(n), *cells])
    table(["world", "n", *methods], rows)


def main() -> int:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(f"Coverage at 95 %, {times:,} samples each; in brackets the width beside Student's, or Student's coverage\n")
    coverage_table(WORLDS, SIZES, times)
    print("Real values per query, drawn again: the sample\n")
    coverage_table(of_the_sample(), FEW, times)
    if SHARED.is_dir():
        print("Real values per query, drawn again: runs of TREC\n")
        coverage_table(of_trec_runs(), FEW, times)
    else:
        print(f"Runs of TREC are left out: {SHARED} is not there\n")
    print("Coverage at other levels\n")
    levels_table(times)
    print("Dense values, and the same with one query in n at 0\n")
    sisters_table(times)
    print("Values without a bound: coverage (width beside Student's; Student's coverage)\n")
    unbounded_table(UNBOUNDED * times)
    print("Beside what was passed over: coverage (mean width)\n")
    peers_table(max(int(times * PEERS), 20))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
