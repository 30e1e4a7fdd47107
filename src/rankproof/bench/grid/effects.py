"""What each factor does on average: the levels of one compared where everything else is the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rankproof.bench.grid.configuration import FACTORS, NOT_USED, Configuration
from rankproof.core.hits import Array
from rankproof.display import Displayable
from rankproof.stats.anova import anova
from rankproof.stats.corrections import correct
from rankproof.stats.differences import difference_intervals
from rankproof.stats.paired import paired
from rankproof.stats.variance import shares_of

ALPHA = 0.05
"""The chance that any of the levels' intervals misses, over all levels of all factors (Bonferroni)."""

ENOUGH = 2
"""Queries and levels below which nothing can be compared."""


@dataclass(frozen=True, slots=True)
class Level(Displayable):
    """One level of a factor, on average over all that was run with it."""

    name: str
    mean: float
    difference: float
    """To the first level, over the same settings of all other factors."""
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Effect(Displayable):
    """What a factor does: its levels, the first of which the others are compared with."""

    factor: str
    levels: tuple[Level, ...]
    settings: int
    """Settings of the other factors over which it is averaged."""
    share: float
    """How much of all that varies comes from the factor: with those of the others, of interactions, of questions
    and of the rest it adds up to 1 (`variance`)."""
    p: float | None
    """By a two-way analysis of variance, corrected over all factors; None where it is undefined."""

    def to_dict(self) -> dict[str, Any]:
        """The effect as plain data."""
        return asdict(self)


def main_effects(
    configurations: Sequence[Configuration], values: Array, rng: np.random.Generator
) -> list[Effect]:
    """The effect of each factor with several levels; `values` has a line a question, a column a configuration.

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
    number = sum(len(found[0]) - 1 for found in known.values())
    anovas = {factor: anova(np.column_stack(list(found[0].values()))) for factor, found in known.items()}
    ps = {factor: each.systems.p for factor, each in anovas.items() if each.systems.p is not None}
    corrected = dict(zip(ps, correct(list(ps.values())), strict=True))
    return [
        Effect(
            factor,
            _levels(levels, rng, 1 - ALPHA / max(1, number)),
            settings,
            shares.get(factor, 0.0),
            corrected.get(factor),
        )
        for factor, (levels, settings) in known.items()
    ]


def by_level(
    factor: str, configurations: Sequence[Configuration], values: Array
) -> tuple[dict[str, Array], int] | None:
    """For each level of a factor its value a question, averaged over the settings that were run with all levels.

    None where it has one level, or no setting was run with all.
    """
    levels = list(dict.fromkeys(each.level(factor) for each in configurations))
    levels = [level for level in levels if level != NOT_USED]
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
    """Whether a factor comes and goes with the levels of this one, as fusion does with retrievers."""
    used: Mapping[str, set[bool]] = {
        level: {each.level(other) != NOT_USED for each in configurations if each.level(factor) == level}
        for level in {each.level(factor) for each in configurations if each.level(factor) != NOT_USED}
    }
    return len({frozenset(each) for each in used.values()}) > 1


def variance(configurations: Sequence[Configuration], values: Array) -> dict[str, float]:
    """How much of all that varies comes from each factor, their interactions, the questions and the rest; sums to 1."""
    if len(values) < ENOUGH or len(configurations) < ENOUGH:
        return {}
    return shares_of(values, {factor: [each.level(factor) for each in configurations] for factor in FACTORS})


def _levels(levels: Mapping[str, Array], rng: np.random.Generator, level: float) -> tuple[Level, ...]:
    first, *_ = levels.values()
    differences = [paired(each, first) for each in levels.values()]
    spans = difference_intervals(differences, rng, level)
    return tuple(
        Level(
            name,
            float(mine.mean()),
            float(off.mean()),
            float(span.low) if np.isfinite(span.low) else None,
            float(span.high) if np.isfinite(span.high) else None,
        )
        for (name, mine), off, span in zip(levels.items(), differences, spans, strict=True)
    )
