"""Running the configurations, and the results: effects of factors, the front, the winner on held-out questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf

import numpy as np

from rankproof.bench.grid.plan import FACTORS, NOT_USED, Configuration, GridPlan
from rankproof.bench.grid.steps import Rows, Steps
from rankproof.bench.runner.run_plan import RunOutcome
from rankproof.comparing.compare import compare
from rankproof.core.hits import Array
from rankproof.core.judgments import Judgments
from rankproof.core.measure import Measure
from rankproof.document.model import Displayable, PlainData
from rankproof.io.load import load_judgments
from rankproof.scoring.evaluate import evaluate
from rankproof.scoring.scores import Scores
from rankproof.stats.confidence import agree_with_test
from rankproof.stats.corrections import correct
from rankproof.stats.differences import difference_interval
from rankproof.stats.paired import paired_differences, sign_flips, total
from rankproof.stats.variance import shares_of

ALPHA = 0.05
"""The chance that any of the levels' intervals misses, over all levels of all factors (Bonferroni)."""
ENOUGH = 2
"""Queries and levels below which nothing can be compared."""


def rungs(configurations: int, queries: int, least: int = 10, keep: int = 3) -> Iterator[tuple[int, int]]:
    """Successive halving: for each round how many configurations are run on how many questions in all.

    Each round keeps one in `keep` and gives it `keep` times the questions, the last one all of them.

    >>> list(rungs(90, 270))
    [(90, 10), (30, 30), (10, 90), (4, 270)]
    """
    left, sizes = configurations, []
    while left > 2 * keep:
        sizes.append(left)
        left = -(-left // keep)
    sizes.append(left)
    for n, size in enumerate(sizes):
        part = queries / keep ** (len(sizes) - 1 - n)
        yield size, queries if n == len(sizes) - 1 else min(queries, max(least, round(part)))


@dataclass(eq=False)
class TriedConfiguration:
    """One configuration and its results on the questions it was run on."""

    configuration: Configuration
    name: str
    scores: Scores | None = None
    """None: it failed."""
    rows: Rows = field(default_factory=dict)
    failure: str = ""

    def worth(self, measure: Measure) -> float:
        """The mean, its sign turned so that more is better; one that failed comes last."""
        return -inf if self.scores is None else measure.spec.sign * self.scores[measure]

    @property
    def seconds(self) -> list[float]:
        """How long each answered question took, all steps together."""
        return [row.seconds for row in self.rows.values() if row.answer is not None or row.late]

    @property
    def failures(self) -> dict[str, int]:
        """Why questions have no answer, and how many for each reason, the most frequent first."""
        return dict(Counter(row.failure for row in self.rows.values() if row.answer is None).most_common())

    @property
    def ranking(self) -> dict[str, list[str]]:
        """The documents of each question, best first; none where it failed."""
        return {
            name: [doc for doc, _ in row.answer.found] if row.answer is not None else []
            for name, row in self.rows.items()
        }


@dataclass(eq=False)
class Runner:
    """Runs configurations on parts of the questions."""

    questions: Mapping[str, str]
    judgments: Judgments
    steps: Steps
    measures: Sequence[Measure]
    names: Mapping[Configuration, str]

    def judgments_of(self, questions: Sequence[str]) -> Judgments:
        """The judgments of some questions."""
        return load_judgments({name: self.judgments.of(name) for name in questions})

    def run(self, configuration: Configuration, questions: Sequence[str]) -> TriedConfiguration:
        """Run one configuration on these questions; errors are kept in its result."""
        found = TriedConfiguration(configuration, self.names[configuration])
        with RunOutcome() as outcome:
            outcome.value = self.steps.run(configuration, {name: self.questions[name] for name in questions})
        if outcome.failure is not None:
            found.failure = outcome.failure.reason
            return found
        found.rows = outcome.value
        failures = found.failures
        # Where the rest found nothing either, there is nothing to score: zeros would look like a result.
        if failures and not any(found.ranking.values()):
            found.failure = next(iter(failures))
        else:
            found.scores = evaluate(self.judgments_of(questions), found.ranking, list(self.measures))
        return found

    def halving(self, configurations: Sequence[Configuration], questions: Sequence[str]) -> list[TriedConfiguration]:
        """Run all configurations on a few questions, the better third on three times as many, and so on.

        Each has the last row it got: those that were weeded out know fewer questions.
        """
        last: dict[Configuration, TriedConfiguration] = {}
        running = list(configurations)
        for size, asked in rungs(len(configurations), len(questions)):
            if last:
                usable = [each for each in running if last[each].scores is not None]
                best = sorted(usable, key=lambda each: -last[each].worth(self.measures[0]))[:size]
                running = [each for each in usable if each in best]
            last |= {each: self.run(each, questions[:asked]) for each in running}
        return [last[each] for each in configurations]


MEDIAN, SLOW = 0.5, 0.95
"""The quantiles of latency that are shown."""


@dataclass(frozen=True, slots=True)
class GridRow(PlainData):
    """One configuration on the questions that choose the winner."""

    name: str
    levels: Mapping[str, str]
    means: Mapping[str, float]
    """By measure; empty if it failed."""
    low: float | None
    high: float | None
    """The ends of the 95 % interval of the deciding measure's mean."""
    n: int
    """Questions it was run on: fewer for those that were weeded out early."""
    p50: float | None
    p95: float | None
    """Seconds a question takes, all steps together: the median, and what one in twenty exceeds."""
    cost: float
    """The cost of 1,000 questions, as given in the grid."""
    missed: int
    """Questions without an answer, each counted as a miss."""
    reasons: Mapping[str, int]
    """Why they have none, and how many for each reason."""
    failure: str
    """Why there is nothing at all; "" if there is."""
    front: bool = False
    """Whether no other is at least as good, as fast and as cheap, and better in one of these."""


@dataclass(frozen=True, slots=True)
class Held(Displayable):
    """The score of the winner on questions that were not used to choose it."""

    n: int
    mean: float
    low: float | None
    high: float | None
    against: str
    """The configuration it is compared with: the baseline or, if that won, the second."""
    baseline: float
    """The mean of that on the same questions."""
    difference: float
    difference_low: float | None
    difference_high: float | None
    p: float | None
    verdict: str
    """better, worse, unclear; "baseline" if there is nothing but the baseline."""
    note: str = ""
    """The limits of the verdict, if any: fewer than 10 questions decide nothing."""


def row_of(plan: GridPlan, tried: TriedConfiguration, measures: Sequence[Measure]) -> GridRow:
    """The row of one configuration."""
    c, scores = tried.configuration, tried.scores
    low, high = (None, None) if scores is None else _ends(scores.interval(measures[0]))
    return GridRow(
        name=tried.name,
        levels={factor: c.level(factor) for factor in FACTORS},
        means={} if scores is None else {each.name: scores[each] for each in measures},
        low=low,
        high=high,
        n=0 if scores is None else len(tried.rows),
        p50=_quantile(tried.seconds, MEDIAN),
        p95=_quantile(tried.seconds, SLOW),
        cost=plan.cost(c),
        missed=sum(tried.failures.values()),
        reasons=tried.failures,
        failure=tried.failure,
    )


def _ends(pair: tuple[float, float]) -> tuple[float | None, float | None]:
    low, high = pair
    return (low, high) if np.isfinite(low) else (None, None)


def _quantile(seconds: Sequence[float], share: float) -> float | None:
    return float(np.quantile(seconds, share)) if seconds else None


def pareto_front(points: Array) -> list[bool]:
    """Which points are on the Pareto front: no other is at least as good in every column and better in one.

    >>> pareto_front(np.array([[0.9, -30.0], [0.8, -5.0], [0.7, -10.0], [0.9, -40.0]]))
    [True, True, False, False]
    """
    return [not ((points >= point).all(axis=1) & (points > point).any(axis=1)).any() for point in points]


def mark_front(rows: list[GridRow], measure: Measure) -> Iterator[GridRow]:
    """The rows, with those on the front marked; only configurations that were run on all questions can be on it."""
    most = max(row.n for row in rows if row.means)
    sign = measure.spec.sign
    able = [row for row in rows if row.means and row.n == most]
    points = np.array([[sign * row.means[measure.name], -(row.p50 or 0), -row.cost] for row in able])
    marked = {row.name for row, on in zip(able, pareto_front(points), strict=True) if on}
    for row in rows:
        yield replace(row, front=row.name in marked)


def score_held_out(
    runner: Runner, winner: TriedConfiguration, other: TriedConfiguration, held: Sequence[str]
) -> Held | None:
    """The winner, and what it is compared with, on the questions held out."""
    measure = runner.measures[0]
    mine, theirs = (runner.run(each.configuration, held) for each in (winner, other))
    if mine.scores is None or theirs.scores is None:
        return None
    low, high = _ends(mine.scores.interval(measure))
    own = (len(held), mine.scores[measure], low, high, other.name, theirs.scores[measure])
    if winner is other:
        return Held(*own, 0.0, None, None, None, "baseline")
    # Every question was asked: one without an answer is a failure of the retriever, not a gap of the data.
    systems = {"baseline": theirs.ranking, "winner": mine.ranking}
    row = compare(runner.judgments_of(held), systems, measure, allow_missing=1.0).row("winner", measure)
    return Held(*own, row.difference, row.low, row.high, row.p, row.verdict, row.note)


@dataclass(frozen=True, slots=True)
class Level(Displayable):
    """One level of a factor, averaged over all configurations with it."""

    name: str
    mean: float
    difference: float
    """To the first level, over the same settings of all other factors."""
    low: float | None
    high: float | None
    p: float | None = None
    """By sign flips, corrected over all levels of all factors (Holm); None for the first level."""


@dataclass(frozen=True, slots=True)
class Effect(PlainData):
    """The effect of a factor: its levels, each compared with the first."""

    factor: str
    levels: tuple[Level, ...]
    settings: int
    """Settings of the other factors over which it is averaged."""
    share: float
    """How much of all that varies comes from the factor: with those of the others, of interactions, of questions
    and of the rest it adds up to 1 (`variance`)."""
    p: float | None
    """The smallest p of its levels, each against the first."""


def shared_values(usable: Sequence[TriedConfiguration], measure: Measure) -> tuple[list[Configuration], Array]:
    """The configurations, with their values on the questions that all of them were run on."""
    columns = [each.scores.values(measure) for each in usable if each.scores is not None]
    both = [query for query in columns[0] if all(query in column for column in columns)]
    return [each.configuration for each in usable], np.array([[column[query] for column in columns] for query in both])


def main_effects(configurations: Sequence[Configuration], values: Array, rng: np.random.Generator) -> list[Effect]:
    """The effect of each factor with several levels; `values` has a line per question, a column per configuration.

    >>> runs = [Configuration(c, r, "none", "-", "none", 10) for c in "ab" for r in "xy"]
    >>> table = np.array([[0.0, 0.2, 0.5, 0.7], [0.1, 0.4, 0.6, 0.8], [0.3, 0.4, 0.7, 1.0]])
    >>> [(e.factor, round(e.levels[1].difference, 3)) for e in main_effects(runs, table, np.random.default_rng(0))]
    [('chunker', 0.483), ('retriever', 0.217)]
    """
    if len(values) < ENOUGH:
        return []
    tables = {factor: by_level(factor, configurations, values) for factor in FACTORS}
    known = {factor: found for factor, found in tables.items() if found is not None}
    shares = variance(configurations, values)
    off: list[Array] = []
    for levels, _ in known.values():
        first_line, *lines = levels.values()
        off += [paired_differences(each, first_line) for each in lines]
    spans = [difference_interval(each, level=1 - ALPHA / len(off)) for each in off]
    ps = correct([each.p for each in sign_flips(off, rng)]) if off else []
    others = iter(zip(off, spans, ps, strict=True))
    found = []
    for factor, (levels, settings) in known.items():
        (first, mine), *more = levels.items()
        told = [Level(first, float(mine.mean()), 0.0, 0.0, 0.0)]
        for name, mine in more:
            differences, span, p = next(others)
            difference = total(differences) / len(differences)
            # The interval leaves 0 out where, and only where, p is small.
            low, high = agree_with_test((span.low, span.high), difference, p, ALPHA)
            told.append(Level(name, float(mine.mean()), difference, low, high, p))
        smallest = min(each.p for each in told if each.p is not None)
        found.append(Effect(factor, tuple(told), settings, shares.get(factor, 0.0), smallest))
    return found


def by_level(
    factor: str, configurations: Sequence[Configuration], values: Array
) -> tuple[dict[str, Array], int] | None:
    """For each level of a factor its value a question, averaged over the settings that were run with all levels.

    None if it has one level, or no setting was run with all.
    """
    levels = [level for level in dict.fromkeys(each.level(factor) for each in configurations) if level != NOT_USED]
    free = [f for f in FACTORS if f != factor and not _nested(f, factor, configurations)]
    blocks: dict[tuple[str, ...], dict[str, list[int]]] = {}
    for column, each in enumerate(configurations):
        if each.level(factor) != NOT_USED:
            key = tuple(each.level(f) for f in free)
            blocks.setdefault(key, {}).setdefault(each.level(factor), []).append(column)
    whole = [block for block in blocks.values() if len(block) == len(levels)]
    if len(levels) < ENOUGH or not whole:
        return None
    averaged = {level: np.mean([values[:, b[level]].mean(axis=1) for b in whole], axis=0) for level in levels}
    return averaged, len(whole)


def _nested(other: str, factor: str, configurations: Sequence[Configuration]) -> bool:
    """Whether the other factor exists for some levels of this one only, as fusion does for hybrid retrievers."""
    used: Mapping[str, set[bool]] = {
        level: {each.level(other) != NOT_USED for each in configurations if each.level(factor) == level}
        for level in {each.level(factor) for each in configurations if each.level(factor) != NOT_USED}
    }
    return len({frozenset(each) for each in used.values()}) > 1


def variance(configurations: Sequence[Configuration], values: Array) -> dict[str, float]:
    """How much of all that varies comes from each factor, their interactions, the questions and the rest; sums to 1."""
    if len(values) < ENOUGH or len(configurations) < ENOUGH:
        return {}
    levels = {factor: [each.level(factor) for each in configurations] for factor in FACTORS}
    return shares_of(values, {f: [None if at == NOT_USED else at for at in found] for f, found in levels.items()})
