"""Do statements about differences hold with few queries? `python benchmarks/differences.py [TIMES] [TABLE ...]`.

Differences per query are drawn from known worlds, dense and sparse, and from those of the sample's rankings. The seeds
are fixed. The tables of `docs/small-samples.md` are this program's output; the old rule of the gate (a BCa bootstrap
of what was seen) lives on here only, to be compared with.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from rankproof import evaluate, sample
from rankproof.comparing.gate_decision import FAIL, INCONCLUSIVE, PASS, decide, overall
from rankproof.stats.confidence import ValueSample, safe_bound
from rankproof.stats.detectable_difference import detectable, needed_or_why
from rankproof.stats.differences import difference_interval
from rankproof.stats.distributions import NORMAL, t_quantile
from rankproof.stats.paired import sign_flips

SIZES = (10, 15, 20, 30, 50, 100, 200, 500, 1000, 2000)
LARGE = 500
"""From this many queries on half as many samples are drawn."""
ALPHA = 0.05
PERMUTATIONS = 2_000
RESAMPLES = 999
WIDTHS = (1.0, 1.1, 1.3, 1.5, 2.0)
"""Widths as shares of Student's."""
FEWEST = 20
"""Named sizes below which no share of those found is shown."""
PLANNABLE = 4_000
"""Numbers of queries up to which a plan is tried."""

Rows = list[np.ndarray]
Draw = Callable[[np.random.Generator, int, float], np.ndarray]


@dataclass(frozen=True)
class World:
    """How n differences with a true mean of -drop are drawn."""

    draw: Draw
    margins: tuple[float, ...] = (0.01, 0.05)
    """The drops that are tried."""
    hits: bool = False
    """Whether queries are won or lost as a whole."""
    pilot: float = 0.0
    """The drop in the data that a detectable difference is worked out from."""

    def rows(self, n: int, drop: float, times: int, seed: int = 1) -> Rows:
        """`times` samples of n differences."""
        rng = np.random.default_rng([seed, n, round(1e6 * drop)])
        return [self.draw(rng, n, drop) for _ in range(times)]

    def shifted(self, rng: np.random.Generator, n: int, drop: float) -> np.ndarray:
        """No change, and then a drop of any size: further hits lost, or spread over the queries that move."""
        row = self.draw(rng, n, 0.0)
        if self.hits:
            return np.where((row == 0) & (rng.random(n) < drop / (1 - self.moved)), -1.0, row)
        return np.where(row != 0, row - drop / self.moved, 0.0)

    @cached_property
    def moved(self) -> float:
        """The share of queries that change where nothing does on average."""
        return float(np.mean(self.draw(np.random.default_rng(0), 100_000, 0.0) != 0))


def _ones(rng: np.random.Generator, n: int, drop: float) -> np.ndarray:
    return np.where(rng.random(n) < 0.1, np.where(rng.random(n) < 0.5 + 5 * drop, -1.0, 1.0), 0.0)


def _churn(rng: np.random.Generator, n: int, drop: float) -> np.ndarray:
    where = rng.random(n)
    return np.where(where < 0.05, 1.0, 0.0) - np.where(where > 0.95 - drop, 1.0, 0.0)


def _ap(rng: np.random.Generator, n: int, drop: float) -> np.ndarray:
    before = rng.beta(0.6, 1.4, n)
    return 0.2 * (rng.beta(0.6, 1.4, n) - before) - drop


def _reciprocal_ranks(rng: np.random.Generator, n: int, drop: float) -> np.ndarray:
    """A first hit at ranks 1 to 4 or none; 15 % of the queries are ranked anew, some lose theirs."""
    values, shares = np.array([1, 1 / 2, 1 / 3, 1 / 4, 0]), np.array([0.7, 0.12, 0.06, 0.04, 0.08])
    before = rng.choice(values, n, p=shares)
    after = np.where(rng.random(n) < 0.15, rng.choice(values, n, p=shares), before)
    return np.where(rng.random(n) < drop / float(values @ shares), 0.0, after) - before


def _near_one(rng: np.random.Generator, n: int, drop: float) -> np.ndarray:
    """A twentieth gains up to .2; few lose up to .5."""
    where, lost = rng.random(n), (drop + 0.005) / 0.25
    return np.where(where < 0.05, rng.uniform(0, 0.2, n), 0) - np.where(where > 1 - lost, rng.uniform(0, 0.5, n), 0)


def _zeros(rng: np.random.Generator, n: int, drop: float) -> np.ndarray:
    """Nine in ten values are 0; 30 % of the queries are drawn anew."""

    def values() -> np.ndarray:
        return rng.random(n) * (rng.random(n) >= 0.9)

    before = values()
    after = np.where(rng.random(n) < 0.7, before, values())
    return np.where(rng.random(n) < drop / 0.05, 0.0, after) - before


def _rare_losses(rng: np.random.Generator, n: int, drop: float) -> np.ndarray:
    """Nearly every query gains a little; few lose .2 to .6, and a small sample shows none of them."""
    lost = rng.random(n) < (drop + 0.01) / 0.41
    return np.where(lost, -rng.uniform(0.2, 0.6, n), rng.uniform(0, 0.02, n))


def _long_tail(rng: np.random.Generator, n: int, drop: float) -> np.ndarray:
    """Every query changes, a few lose much more than the others gain."""
    return math.exp(-3) - drop - rng.lognormal(-3.5, 1, n)


def _fifth(rng: np.random.Generator, n: int, drop: float) -> np.ndarray:
    return np.where(rng.random(n) < 0.2, rng.uniform(-0.5, 0.5, n) - 5 * drop, 0.0)


def _dense(sd: float) -> World:
    return World(lambda rng, n, drop: rng.normal(-drop, sd, n))


def _losses(share: float) -> World:
    def draw(rng: np.random.Generator, n: int, drop: float) -> np.ndarray:
        return np.where(rng.random(n) < drop, -1.0, 0.0)

    return World(draw, (share,), hits=True, pilot=share)


def _again(seen: np.ndarray) -> World:
    """Differences drawn again with replacement; signs at random make no change of them."""
    seen = seen if seen.mean() < 0 else -seen

    def draw(rng: np.random.Generator, n: int, drop: float) -> np.ndarray:
        row = rng.choice(seen, n)
        return row if drop else row * rng.choice([-1.0, 1.0], n)

    return World(draw, (-float(seen.mean()),))


def real() -> dict[str, World]:
    """Two rankings of the sample."""
    one, other = (
        evaluate(sample.judgments(), sample.rankings()[name], "nDCG@10, AP, P@5") for name in ("keyword", "dense")
    )
    return {f"real {m}": _again(one.column(m).values - other.column(m).values) for m in one}


WORLDS = {
    "sparse 10 %, normal": World(
        lambda rng, n, drop: np.where(rng.random(n) < 0.1, rng.normal(-10 * drop, 0.3, n), 0.0)
    ),
    "sparse 10 %, +-1": World(_ones, hits=True),
    "losses only, 1 %": _losses(0.01),
    "losses only, 5 %": _losses(0.05),
    "hits, 10 % churn": World(_churn, hits=True),
    "dense, sd .03": _dense(0.03),
    "dense, sd .05": _dense(0.05),
    "dense, sd .1": _dense(0.1),
    "AP-like": World(_ap),
    "RR-like": World(_reciprocal_ranks),
    "near 1": World(_near_one),
    "20 % moved": World(_fifth),
    "gains, rare losses": World(_rare_losses),
    "long tail": World(_long_tail),
    "zeros 90 %": World(_zeros, (0.01, 0.04)),
    **real(),
}


def _grades(rng: np.random.Generator, n: int, drop: float) -> np.ndarray:
    """Values of 0, .5 and 1: a fifth of the queries moves by steps, and further ones lose half."""
    steps = rng.choice([0.5, -0.5, 1.0, -1.0, 0.0], n, p=[0.08, 0.08, 0.02, 0.02, 0.8])
    return np.where((steps == 0) & (rng.random(n) < drop / 0.4), -0.5, steps)


def _wild(rng: np.random.Generator, n: int, drop: float) -> np.ndarray:
    """Small changes everywhere, and one in ten of any size."""
    return np.where(rng.random(n) < 0.1, rng.normal(0, 0.3, n), rng.normal(0, 0.02, n)) - drop


def _large_losses(rng: np.random.Generator, n: int, drop: float) -> np.ndarray:
    """A fifth gains a tenth, few lose .4."""
    share = (drop + 0.02) / 0.42
    return np.where(rng.random(n) < share, -0.4, np.where(rng.random(n) < 0.2, 0.1, 0.0))


def _two_humps(rng: np.random.Generator, n: int, drop: float) -> np.ndarray:
    """15 % gain .2, the others lose .02: a sample without any of the first looks dense and narrow."""
    return np.where(rng.random(n) < 0.15, rng.normal(0.2, 0.05, n), rng.normal(-0.02, 0.03, n)) - 0.013 - drop


def _phrasings(rng: np.random.Generator, n: int, drop: float) -> np.ndarray:
    """Five phrasings of each question, which change alike."""
    return np.repeat(rng.normal(0, 0.1, -(-n // 5)), 5)[:n] + rng.normal(-drop, 0.03, n)


OTHERS = {
    "beta, paired": World(lambda rng, n, drop: 0.6 * (rng.beta(3, 3, n) - rng.beta(3, 3, n)) - drop),
    "three grades": World(_grades),
    "half moved": World(lambda rng, n, drop: np.where(rng.random(n) < 0.5, rng.normal(-2 * drop, 0.2, n), 0.0)),
    "calm, a tenth wild": World(_wild),
    "gains, large losses": World(_large_losses),
    "exponential gains": World(lambda rng, n, drop: rng.exponential(0.05, n) - 0.05 - drop),
    "exponential losses": World(lambda rng, n, drop: 0.05 - drop - rng.exponential(0.05, n)),
    "gamma of .5, gains": World(lambda rng, n, drop: 0.1 * (rng.gamma(0.5, 1, n) - 0.5) - drop),
    "t of 3 degrees": World(lambda rng, n, drop: 0.05 * rng.standard_t(3, n) - drop),
    "a sixth gains much": World(_two_humps),
    "five phrasings each": World(_phrasings),
}
"""Worlds that no rule was tuned on."""


# --- shares -------------------------------------------------------------------------------------------


def covered(rows: Rows, mean: float) -> tuple[float, float, float, float]:
    """Coverage and mean width of the interval, then of Student's."""
    found = []
    for row in rows:
        for each in (difference_interval(row), difference_interval(row, method="t")):
            found += [each.low - 1e-9 <= mean <= each.high + 1e-9, each.high - each.low]
    mine, wide, theirs, students = np.array(found, dtype=float).reshape(-1, 4).mean(axis=0).tolist()
    return mine, wide, theirs, students


@cache
def passed(world: World, n: int, drop: float, margin: float, times: int, seed: int = 1) -> tuple[float, float]:
    """How often the gate passes, and how often both systems are called equivalent."""
    rows = world.rows(n, drop, times, seed)
    over = [row for row in rows if row.mean() > -margin and safely_above(tuple(np.sort(row)), -margin)]  # below it
    alike = sum(safely_above(tuple(np.sort(-row)), -margin) for row in over)
    return len(over) / times, alike / times


@cache
def safely_above(row: tuple[float, ...], margin: float) -> bool:
    """Whether the safe bound of a row in order lies above it; few hits give the same rows again and again."""
    return safe_bound(ValueSample.of(np.array(row)), ALPHA, -1.0) > margin


def old_ends(rows: Rows) -> list[tuple[float, float]]:
    """The bounds of the old rule."""
    found = [difference_interval(row, np.random.default_rng(0), 1 - 2 * ALPHA, "bca", RESAMPLES) for row in rows]
    return [(each.low, each.high) for each in found]


def failed(rows: Rows, margin: float) -> list[bool]:
    """Which rows the gate fails."""
    tests = sign_flips(rows, np.random.default_rng(0), "less", PERMUTATIONS)
    return [test.p <= ALPHA and row.mean() <= -margin for test, row in zip(tests, rows, strict=True)]


def found(world: World, n: int, times: int, seed: int = 1) -> tuple[float, float]:
    """How often a true difference of the size called detectable is found, and how often one is named."""
    sizes = [detectable(row, ALPHA).value for row in world.rows(n, world.pilot, times, seed)]
    rng = np.random.default_rng([seed, n, 2])
    rows = [world.shifted(rng, n, size) for size in sizes if size is not None]
    if not rows:
        return np.nan, 0.0
    tests = sign_flips(rows, np.random.default_rng(0), permutations=PERMUTATIONS)
    return float(np.mean([test.p <= ALPHA for test in tests])), len(rows) / times


def needed_found(world: World, n: int, times: int, seed: int = 1) -> tuple[float, float]:
    """How often so many queries as are named find a true difference as large as the one seen, and how often named."""
    drop, rng = world.margins[-1], np.random.default_rng([seed, n, 3])
    rows = []
    for row in world.rows(n, drop, times, seed):
        number = needed_or_why(row, float(row.mean()), ALPHA)[0]
        if number is not None and number <= PLANNABLE:
            rows.append(world.draw(rng, number, abs(float(row.mean()))))
    tests = [sign_flips([row], np.random.default_rng(0), permutations=PERMUTATIONS)[0] for row in rows]
    return float(np.mean([test.p <= ALPHA for test in tests])) if rows else np.nan, len(rows) / times


def more_passed(world: World, n: int, times: int, seed: int = 1) -> tuple[float, float]:
    """How often a gate of as many queries as are named passes no change, and how often a number is named.

    Asked are four times out of five or more, of what is inconclusive with n queries.
    """
    margin, rng, passes, asked = world.margins[-1], np.random.default_rng([seed, n, 4]), [], 0
    for row in world.rows(n, 0.0, times, seed):
        decision = decide([row], [margin], rng, ALPHA, permutations=PERMUTATIONS)[0]
        asked += decision.outcome == INCONCLUSIVE
        if decision.more is not None and n + decision.more <= PLANNABLE:
            again = ValueSample.of(world.draw(rng, n + decision.more, 0.0))
            passes.append(safe_bound(again, ALPHA, -1.0) > -margin)
    return float(np.mean(passes)) if passes else np.nan, len(passes) / max(asked, 1)


def several(world: World, n: int, times: int, seed: int = 1) -> tuple[float, float]:
    """Three measures that move together: how often a gate of all passes a drop, and fails where nothing changed.

    The first measure is the world's; each other one takes half of its queries from another sample.
    """
    margin, found = world.margins[-1], []
    for drop in (margin, 0.0):
        outcomes = []
        for i in range(times):
            rng = np.random.default_rng([seed, n, i, round(1e6 * drop)])
            first = world.draw(rng, n, drop)
            others = [np.where(rng.random(n) < 0.5, first, world.draw(rng, n, drop)) for _ in range(2)]
            decisions = decide([first, *others], [margin] * 3, rng, ALPHA, permutations=PERMUTATIONS)
            outcomes.append(overall([each.outcome for each in decisions]))
        found.append(float(np.mean([each == (PASS if drop else FAIL) for each in outcomes])))
    return found[0], found[1]


# --- what no interval can do ----------------------------------------------------------------------------


def calm_worlds() -> Iterable[tuple[str, World, int, float, float, np.ndarray]]:
    """Worlds and what their samples look like that show none of the few large values: how often they do, the true
    mean of the world, and the calm values, at even quantiles."""
    rare, tailed = WORLDS["gains, rare losses"], WORLDS["long tail"]
    grid = (np.arange(100_000) + 0.5) / 100_000
    for n in (10, 15):
        yield "gains, rare losses", rare, n, (1 - 0.06 / 0.41) ** n, 0.05, -0.02 * grid
    for n, kept in ((10, 0.85), (15, 0.9), (20, 0.93)):
        tail = np.exp([NORMAL.inv_cdf(each) for each in kept * grid])
        yield f"long tail, its lower {kept:.0%}", tailed, n, kept**n, math.exp(0.5), tail
    folder = Path(__file__).resolve().parents[2] / "shared" / "data" / "dl20-doc"
    if folder.is_dir():
        one, other = (evaluate(folder / "qrels.dl20-doc.txt", folder / run, "AP") for run in ("d_bm25rm3", "d_bm25"))
        seen = one.column("AP").values - other.column("AP").values
        calm = seen[np.argsort(np.abs(seen))[:-2]]
        for n in (10, 15, 20, 30):
            share = (len(calm) / len(seen)) ** n
            yield "AP of two TREC runs, but for 2 of 45 topics", _again(seen), n, share, float(seen.mean()), calm


def ceilings(n: int, share: float, mean: float, calm: np.ndarray, times: int) -> tuple[float, list[list[float]]]:
    """Student's coverage of the calm world, and the most of the whole world that intervals of some widths can cover.

    The widths are shares of Student's in the calm world. What is beyond Student's is put on the side of the large
    values, and then, as no sample without any of them shows that side, on both; all other samples count as covered.
    """
    rows = np.random.default_rng(n).choice(calm, (times, n))
    means = rows.mean(axis=1)
    reach = t_quantile(0.975, n - 1) * rows.std(axis=1, ddof=1) / math.sqrt(n)
    missed = [[float(np.mean(mean > means + far * reach)) for far in (2 * wide - 1, wide)] for wide in WIDTHS]
    most = [[1 - share * each for each in pair] for pair in missed]
    return float(np.mean(np.abs(means - calm.mean()) <= reach)), most


# --- tables -------------------------------------------------------------------------------------------


def short(share: float) -> str:
    return f"{share:.2f}".replace("0.", ".", 1) if share < 1 else "1.0"


def table(name: str, title: str, cell: Callable[[World, int], Iterable[str]]) -> None:
    sizes = (5, *SIZES) if name in ("covered", "others") else SIZES
    print(f"{title}\n")
    print("| world | " + " | ".join(f"{n:,}" for n in sizes) + " |")
    print("|" + "---|" * (1 + len(sizes)))
    for called, world in (OTHERS if name == "others" else WORLDS).items():
        print(f"| {called} | " + " | ".join(" ".join(cell(world, n)) for n in sizes) + " |", flush=True)
    print()


def main() -> int:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    wanted = sys.argv[2:]

    def trials(n: int) -> int:
        return times if n < LARGE else max(times // 2, 2)

    def covers(world: World, n: int) -> Iterable[str]:
        drop = world.margins[-1]
        mine, wide, theirs, students = covered(world.rows(n, drop, trials(n)), -drop)
        yield f"{short(mine)} ({f'{wide / students:.2f}' if theirs >= 0.93 else 't ' + short(theirs)})"

    def at_margin(place: int) -> Callable[[World, int], Iterable[str]]:
        return lambda world, n: (short(passed(world, n, drop, drop, times, 77)[place]) for drop in world.margins)

    def same(world: World, n: int) -> Iterable[str]:
        margin, rows = world.margins[-1], world.rows(n, 0.0, trials(n), 2)
        old = np.mean([low > -margin for low, _ in old_ends(rows)])
        yield f"{short(passed(world, n, 0.0, margin, trials(n), 2)[0])} / {short(float(old))}"

    def fails(world: World, n: int) -> Iterable[str]:
        margin = world.margins[-1]
        more = margin if world.margins[0] not in (0.01, 0.05) else 2 * margin
        for drop in (more, 0.0):
            rows = world.rows(n, drop, trials(n), 3)
            now = failed(rows, margin)  # by the old rule if the upper bound lay below 0 too; either passes first
            old = [each and high < 0 for each, (_, high) in zip(now, old_ends(rows), strict=True)]
            yield f"{short(float(np.mean(now)))} / {short(float(np.mean(old)))}" + ";" * (drop > 0)

    def elsewhere(world: World, n: int) -> Iterable[str]:
        holds = covered(world.rows(n, 0.05, trials(n)), -0.05)[0]
        yield f"{short(holds)}; {short(passed(world, n, 0.05, 0.05, 5 * times)[0])}"

    def finds(world: World, n: int) -> Iterable[str]:
        share, given = found(world, n, trials(n))
        yield f"{short(share) if given * trials(n) >= FEWEST else '-'} ({short(given)})" if given else "-"

    def plans(world: World, n: int) -> Iterable[str]:
        share, given = needed_found(world, n, trials(n))
        yield f"{short(share)} ({short(given)})" if given else "-"

    def more(world: World, n: int) -> Iterable[str]:
        share, given = more_passed(world, n, trials(n))
        yield f"{short(share)} ({short(given)})" if given else "-"

    def several_measures(world: World, n: int) -> Iterable[str]:
        passes, fails = several(world, n, trials(n))
        yield f"{short(passes)}; {short(fails)}"

    tables = {
        "covered": ("Coverage at 95 %, and width beside Student's or Student's coverage", covers),
        "pass": ("The gate passes a true drop of the margin", at_margin(0)),
        "equivalent": ("Called equivalent at a true difference of the margin", at_margin(1)),
        "same": ("The gate passes no change: now / by the old rule", same),
        "fail": ("The gate fails a drop of twice the margin; fails no change: now / by the old rule", fails),
        "found": ("A detectable difference is found (and one was named)", finds),
        "needed": ("The queries needed find the difference (and a number was named)", plans),
        "more": ("As many queries as a gate names pass no change (and a number was named)", more),
        "several": (
            "A gate of three measures passes a drop of the margin; fails no change",
            several_measures,
        ),
        "others": ("Other worlds: the interval covers; the gate passes a drop of the margin", elsewhere),
    }
    for name in wanted or [*tables, "ceilings"]:
        if name == "ceilings":
            print("| world | n | covered now | looks calm | Student's, calm | " + " | ".join(map(str, WIDTHS)) + " |")
            print("|" + "---|" * (5 + len(WIDTHS)))
            for called, world, n, share, mean, calm in calm_worlds():
                drop = world.margins[-1]
                now = covered(world.rows(n, drop, times), -drop)[0]
                students, most = ceilings(n, share, mean, calm, 100 * times)
                cells = [*map(short, (now, share, students)), *(" / ".join(map(short, pair)) for pair in most)]
                print(f"| {called} | {n} | " + " | ".join(cells) + " |")
            continue
        table(name, *tables[name])
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
