"""`tune`: the settings of a fusion chosen on some queries, and scored on others."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np

from rankproof.bench.fusion import Fused, Method, Recipe, find_method, fused_rankings, learn, recipe
from rankproof.bench.fusion.pool import open_pool
from rankproof.core.defaults import DEFAULT_MEASURE
from rankproof.core.measure import Measure
from rankproof.core.names import parse
from rankproof.document.model import Displayable, Document, Paragraph, Part, Result, Table
from rankproof.document.numbers import count, score, span
from rankproof.errors import UsageError, check_number, check_whole
from rankproof.io.load import Columns, load_judgments, load_rankings, warn_of_left_out, with_columns
from rankproof.scoring.evaluate import evaluate
from rankproof.scoring.scores import Scores
from rankproof.scoring.words import wrong_data

GRIDS: dict[str, dict[str, Sequence[Any]]] = {
    "rrf": {"k": (60, 0, 1, 2, 5, 10, 20, 40, 80, 160, 320)},
    "logn-isr": {"sigma": (0.01, 0, 0.05, 0.1, 0.2, 0.5, 1)},
    "rbc": {"phi": (0.8, 0.5, 0.6, 0.7, 0.85, 0.9, 0.95, 0.98, 0.99)},
    "combgmnz": {"gamma": (1, 0, 0.1, 0.25, 0.5, 0.75, 1.5, 2)},
    "probfuse": {"segments": (25, 1, 2, 5, 10, 15, 20, 30, 40, 50, 100)},
    "slidefuse": {"window": (5, 0, 1, 2, 3, 4, 6, 8, 10, 15, 20, 50)},
}
"""The values tried for each method's parameters; the usual value first, so that it wins if nothing is better."""

SCALES = ("min-max", "z-score", "sum", "rank", "borda")
"""The normalisations that are tried; they take scores of any sign."""
MOST_WEIGHTS = 300
"""About how many sets of weights are tried."""
FEWEST = 4
"""Queries below which a split says nothing."""


def trials(
    method: Method, n: int, grid: Mapping[str, Sequence[Any]] | None, normalise: str | None = None
) -> list[dict[str, Any]]:
    """The settings to try for `n` rankings, the usual ones first."""
    chosen = _default_grid(method, n, normalise) if grid is None else grid
    for name, values in chosen.items():
        if isinstance(values, str) or not hasattr(values, "__iter__") or not list(values):
            raise UsageError(
                f"grid: {name!r} has {values!r}, expected a list of the values to try."
                " Next: give a list, like [10, 60]."
            )
    if not chosen and method.learn is None:
        raise UsageError(f"tune: {method.name} has nothing to choose. Next: use 'fuse', or choose another method.")
    return [dict(zip(chosen, values, strict=True)) for values in product(*chosen.values())]


def _default_grid(method: Method, n: int, normalise: str | None) -> Mapping[str, Sequence[Any]]:
    """The settings to try: parameters, else weights, else the normalisation."""
    if method.name in GRIDS:
        return GRIDS[method.name]
    if "weights" in method.reads:
        return {"weights": list(simplex(n))}
    return {"normalise": SCALES} if "score" in method.reads and method.learn is None and normalise is None else {}


def simplex(n: int, most: int = MOST_WEIGHTS) -> Iterator[tuple[float, ...]]:
    """Weights that sum to 1: equal ones, then all in the finest even steps (of a tenth at most) that keep to `most`.

    >>> list(simplex(2, most=3))
    [(0.5, 0.5), (0.0, 1.0), (1.0, 0.0)]
    """
    equal = (1 / n,) * n
    yield equal
    steps = max((s for s in range(1, 11) if math.comb(s + n - 1, n - 1) <= most), default=1)
    for bars in combinations(range(steps + n - 1), n - 1):
        edges = (-1, *bars, steps + n - 1)
        point = tuple((b - a - 1) / steps for a, b in pairwise(edges))
        if point != equal:
            yield point


def split(queries: Sequence[str], share: float, rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """The queries to tune on and those to score on, drawn at random; no order of them makes a difference."""
    check_number("share", share, above=0, below=1, advice="give a share of the queries, like 0.5")
    if len(queries) < FEWEST:
        raise UsageError(
            f"tune: got {count(len(queries), 'judged query')}, expected at least {FEWEST}: some to "
            "tune on and others to score on. Next: judge more queries."
        )
    drawn = rng.permutation(sorted(queries)).tolist()
    cut = min(max(round(share * len(drawn)), 2), len(drawn) - 2)
    return drawn[:cut], drawn[cut:]


SEEN, HELD_OUT = "tuned on", "held out"
SAME = 12
"""Decimals to which two settings must differ for one to be better."""


@dataclass(frozen=True, slots=True)
class TunePart(Displayable):
    """The mean over some queries with its 95 % interval."""

    name: str
    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class TuneTrial(Displayable):
    """One setting that was tried, and its mean over the queries tuned on."""

    settings: Mapping[str, Any]
    mean: float


@dataclass(frozen=True, eq=False)
class Tuned(Result):
    """A fusion whose settings were chosen; `print` shows what they are worth."""

    recipe: Recipe
    measure: Measure
    names: tuple[str, ...]
    trials: tuple[TuneTrial, ...]
    """Everything that was tried, the usual settings first."""
    tuned_on: TunePart
    """The queries that chose the settings: their mean is too high, as they were part of the choice."""
    held_out: TunePart
    """The queries that had no say: what to expect of new ones."""
    others: tuple[TunePart, ...]
    """On the held-out queries: each ranking alone, and the usual settings."""
    queries: tuple[str, ...]
    """The ids of the held-out queries."""
    wrong: tuple[str, ...] = ()
    """Faults of the data that make these numbers wrong, by the audit of each ranking."""

    @property
    def settings(self) -> dict[str, Any]:
        """The chosen settings, as `fuse` takes them."""
        return self.recipe.settings

    def fuse(self, systems: Any, depth: int | None = None) -> Fused:
        """Other results of the same rankings combined in this way."""
        loaded = load_rankings(systems)
        if set(loaded) != set(self.names):
            raise UsageError(
                f"rankings: got {', '.join(map(repr, loaded))}, expected those that were tuned: "
                f"{', '.join(map(repr, self.names))}. Next: give the rankings under the names they were tuned by."
            )
        return fused_rankings(self.recipe, open_pool({name: loaded[name] for name in self.names}, depth))

    def _in_one_line(self) -> str:
        chosen = f"{self.recipe.method.name}{_shown(self.settings)}"
        return f"<Tuned {chosen}: {self.measure}={self.held_out.mean:.4f} held out>"

    def to_dict(self) -> dict[str, Any]:
        """The chosen settings, their score, and everything that was tried."""
        return {
            "method": self.recipe.method.name,
            "measure": self.measure.name,
            "names": list(self.names),
            "settings": self.settings,
            "means": [asdict(each) for each in (self.tuned_on, self.held_out, *self.others)],
            "trials": [asdict(each) for each in self.trials],
            "queries": list(self.queries),
            "wrong": list(self.wrong),
        }

    def _document(self) -> Document:
        parts = self.tuned_on, self.held_out, *self.others
        rows = [(each.name, score(each.mean), span(each.low, each.high), count(each.n)) for each in parts]
        name, usual = self.recipe.method.name, self.trials[0].settings
        records = [{"method": name, "measure": self.measure.name, **asdict(each)} for each in parts]
        # The evidence of the held-out queries against the choice.
        sign = self.measure.spec.sign
        others = [each.name for each in self.others if sign * each.mean >= sign * self.held_out.mean]
        title = [f"best of {len(self.trials)} settings for {self.measure}", f"chosen: {name}{_shown(self.settings)}"]
        title += [] if usual == self.settings else [f"usual: {name}{_shown(usual)}"]
        against = [Paragraph(f"No worse on the held-out queries: {', '.join(others)}.")] if others else []
        shown = [
            wrong_data(self.wrong),
            Part(*map(Paragraph, title)),
            Part(Table.of(("queries", "mean", "95 % interval", "n"), rows, ("queries",))),
            Part(*against),
        ]
        return Document(f"Tuned {name}", shown, records, self.to_dict())


@with_columns
def tune(
    judgments: Any,
    systems: Any,
    method: str = "rrf",
    measure: str | Measure = DEFAULT_MEASURE,
    *,
    normalise: str | None = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    share: float = 0.5,
    seed: int = 0,
    depth: int | None = None,
    columns: Columns = None,
) -> Tuned:
    """Choose the settings of a fusion on one part of the judged queries, and score them on the other.

    `grid` says what to try: `{"k": [10, 60], "weights": [...], "normalise": [...]}`, all combinations; by default
    the method's parameters, or weights that sum to 1. `share` of the queries, drawn with `seed`, are tuned on.
    Methods that learn from judgments learn from these alone.

    >>> judgments = {f"q{i}": {"a": 1} for i in range(8)}
    >>> good, bad = ({query: ranking for query in judgments} for ranking in (["a", "b"], ["b", "a"]))
    >>> tuned = tune(judgments, {"good": good, "bad": bad}, "weighted-sum", "RR", normalise="rank")
    >>> tuned.settings["weights"], tuned.held_out.mean, tuned.held_out.n
    ((0.6, 0.4), 1.0, 4)
    """
    asked, judged, loaded = parse(measure), load_judgments(judgments), load_rankings(systems)
    tries = trials(find_method(method), len(loaded), grid, normalise)
    recipes = []
    for settings in tries:
        own = {"normalise": normalise, "weights": None, **settings}
        recipes.append(recipe(list(loaded), method, own.pop("normalise"), own.pop("weights"), own))
    pool = open_pool(loaded, depth, judged)
    warn_of_left_out(loaded.values())
    generator = np.random.default_rng(check_whole("seed", seed, 0))
    seen, _ = split(judged.queries, share, generator)
    groups = dict.fromkeys(judged.queries, HELD_OUT) | dict.fromkeys(seen, SEEN)
    training = pool.of(seen)

    def scores(ranking: Any, group: str) -> Scores:
        return evaluate(judged, ranking, asked, by=groups).slices[group]

    def part(name: str, group: str, ranking: Any) -> TunePart:
        found = scores(ranking, group)
        interval = found.uncertainty(asked)
        return TunePart(name, found[asked], interval.low, interval.high, interval.n)

    ready = [learn(each, training, judged) for each in recipes]
    tried = tuple(TuneTrial(each.settings, scores(fused_rankings(each, training), SEEN)[asked]) for each in ready)
    sign = asked.spec.sign
    best = ready[max(range(len(tried)), key=lambda i: sign * round(tried[i].mean, SAME))]
    fused = fused_rankings(best, pool)
    usual = [] if best is ready[0] else [part("usual", HELD_OUT, fused_rankings(ready[0], pool))]
    return Tuned(
        recipe=best,
        measure=asked,
        names=tuple(loaded),
        trials=tried,
        tuned_on=part(SEEN, SEEN, fused),
        held_out=part(HELD_OUT, HELD_OUT, fused),
        others=(*usual, *(part(f"{name} alone", HELD_OUT, ranking) for name, ranking in loaded.items())),
        queries=tuple(query for query, group in groups.items() if group == HELD_OUT),
        wrong=tuple(
            f"{name}: {each}"
            for name, ranking in loaded.items()
            for each in evaluate(judged, ranking, asked, duplicates="first").wrong
        ),
    )


def _shown(settings: Mapping[str, Any]) -> str:
    """The settings as one would write them: (k=60)."""
    inside = []
    for name, value in settings.items():
        shown = f"{value:g}" if isinstance(value, float) else repr(value)
        if isinstance(value, tuple):
            shown = f"[{', '.join(f'{each:.3g}' for each in value)}]"
        inside.append(f"{name}={shown}")
    return f"({', '.join(inside)})" if inside else ""
