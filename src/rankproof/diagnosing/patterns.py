"""Which kinds of queries a system serves worse than the others, where that is more than chance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from rankproof.core.hits import Array
from rankproof.document.display import Displayable
from rankproof.stats.corrections import correct
from rankproof.stats.differences import agreeing
from rankproof.stats.shares import Gap, gap

FEWEST = 10
"""A kind with fewer queries, or with fewer others beside it, is shown and never decided."""
TOO_FEW = "too few"


@dataclass(frozen=True, slots=True)
class Pattern(Displayable):
    """One kind of query against all others."""

    kind: str
    n: int
    others: int
    mean: float
    mean_of_others: float
    difference: float
    low: float | None
    high: float | None
    p: float | None
    """Corrected over all kinds that are decided; None where there are too few queries."""
    verdict: str
    """worse, better, unclear or "too few"."""
    examples: tuple[str, ...] = ()

    @property
    def said(self) -> str:
        """The verdict in words: of which there are too few, the kind or the others beside it."""
        few_others = self.verdict == TOO_FEW and self.n >= FEWEST
        return f"too few others ({self.others})" if few_others else self.verdict

    def to_dict(self) -> dict[str, Any]:
        """The pattern as plain data."""
        return {**asdict(self), "examples": list(self.examples)}


def patterns(
    kinds: Mapping[str, Sequence[str]],
    values: Mapping[str, float],
    rng: np.random.Generator,
    *,
    higher: bool = True,
    alpha: float = 0.05,
    widest: float = math.inf,
) -> list[Pattern]:
    """Each kind of query against the others: the worst first, those with too few queries last.

    `kinds` says which queries are of each kind; `values` has the value of every query that counts; `widest` is
    the greatest difference that there can be.

    >>> values = {f"q{i}": 0.1 if i < 10 else 0.9 for i in range(30)}
    >>> kinds = {"short": [f"q{i}" for i in range(10)], "typo": ["q12"]}
    >>> [(each.kind, each.verdict) for each in patterns(kinds, values, np.random.default_rng(0))]
    [('short', 'worse'), ('typo', 'too few')]
    """
    groups = {kind: [query for query in named if query in values] for kind, named in kinds.items()}
    # Each kind draws anew, so that neither the order of the kinds nor what else is looked at changes an answer.
    seed = int(rng.integers(1 << 62))
    gaps = {
        kind: gap(*_sides(named, values), np.random.default_rng(seed), 1 - alpha)
        for kind, named in groups.items()
        if 0 < len(named) < len(values)
    }
    decided = [kind for kind, found in gaps.items() if min(found.n, found.others) >= FEWEST]
    corrected = dict(zip(decided, correct([gaps[kind].p for kind in decided]), strict=True))
    sign = 1 if higher else -1
    found = [
        _pattern(kind, _within(each, widest), groups[kind], values, corrected.get(kind), sign, alpha)
        for kind, each in gaps.items()
    ]
    return sorted(found, key=lambda each: (each.p is None, sign * each.difference, each.kind))


def _within(found: Gap, widest: float) -> Gap:
    """The gap, its interval without differences that cannot be."""
    return replace(found, low=max(found.low, -widest), high=min(found.high, widest))


def _sides(named: Sequence[str], values: Mapping[str, float]) -> tuple[Array, Array]:
    inside = set(named)
    return (
        np.array([values[query] for query in named]),
        np.array([value for query, value in values.items() if query not in inside]),
    )


def _pattern(
    kind: str,
    found: Gap,
    queries: Sequence[str],
    values: Mapping[str, float],
    p: float | None,
    sign: int,
    alpha: float,
) -> Pattern:
    mean = float(np.mean([values[query] for query in queries]))
    worst = sorted(queries, key=lambda query: (sign * values[query], query))
    low, high = found.low, found.high
    if p is not None:
        low, high = agreeing((low, high), found.difference, p, alpha)
    return Pattern(
        kind=kind,
        n=found.n,
        others=found.others,
        mean=mean,
        mean_of_others=mean - found.difference,
        difference=found.difference,
        low=low if np.isfinite(low) else None,
        high=high if np.isfinite(high) else None,
        p=p,
        verdict=_verdict(sign * found.difference, p, alpha),
        examples=tuple(worst[:3]),
    )


def _verdict(gain: float, p: float | None, alpha: float) -> str:
    if p is None:
        return TOO_FEW
    if p > alpha:
        return "unclear"
    return "better" if gain > 0 else "worse"
