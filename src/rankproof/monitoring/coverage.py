"""Coverage of live traffic by the queries of a set, their scores on it, and the queries to add."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankproof.core.hits import Array
from rankproof.core.measure import Measure
from rankproof.document.model import Displayable
from rankproof.document.numbers import DUST, count
from rankproof.errors import DataError, UsageError, is_number, shorten
from rankproof.monitoring.log_samples import LiveQueries
from rankproof.scoring.protocol import ScoresLike
from rankproof.stats.corrections import benjamini_hochberg
from rankproof.stats.distributions import t_quantile
from rankproof.stats.intervals import interval
from rankproof.stats.judge_error import Share, share_of
from rankproof.stats.significance import hypergeometric_logs
from rankproof.text.words import digest

A_KIND = 5
"""Queries of the set for each kind of query, on average."""
FEWEST, MOST = 4, 40
"""Kinds of queries at least and at most."""
OWN_SPREAD = 5
"""With fewer queries of a kind in the set, the spread of its scores is that of all kinds."""
COVERED = 0.9
"""The share of live queries that a fresh sample as large as the set would have something near for."""
HALF = 0.5
"""If the set speaks for less of the traffic, its scores are not re-weighted."""


@dataclass(frozen=True)
class QueryKind(Displayable):
    """Queries that are alike: how many of them are in the set and in live traffic."""

    example: str
    """The live query in their middle; of the set if nobody asks such."""
    live: Share
    """Of the live queries."""
    own: Share
    """Of the queries of the set."""
    p: float
    """That both shares are the same; by Benjamini-Hochberg over the kinds."""
    verdict: str
    """"too few" or "too many" in the set, by more than chance; "missing" if it has none; else "unclear"."""


@dataclass(frozen=True)
class Nearness(Displayable):
    """How near the set is to live queries."""

    covered: Share
    """The share of live queries with a query of the set as near as `threshold`."""
    fresh: float
    """That share for live queries of the same log, as many as the set has (half of the sample at most)."""
    drawn: int
    """How many these are."""
    threshold: float


@dataclass(frozen=True)
class LiveMean(Displayable):
    """A mean with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class LiveScore(Displayable):
    """A measure on the set, and on what people ask."""

    measure: str
    n: int
    """Queries of the set with a score."""
    own: LiveMean
    live: LiveMean | None
    """Each kind of query counted as often as it is asked; None if the set speaks for too little of the traffic."""
    difference: LiveMean | None
    """The difference of both, from the same queries."""
    effective: float
    """The effective number of queries."""
    unspoken: float
    """The share of live queries whose kinds no query of the set has."""
    bounds: tuple[float, float] | None
    """The mean over all live queries if those of missing kinds scored worst, and best."""


@dataclass(frozen=True)
class NextQuery(Displayable):
    """A live query that is worth labelling."""

    id: str
    text: str
    stands_for: float
    """The share of live queries that come nearer to the set by it."""
    nearest: str
    """The id of the query of the set that is nearest."""
    similarity: float
    kind: int


def number_of_kinds(own: int) -> int:
    """How many kinds of queries a set of that size can tell about."""
    return min(max(own // A_KIND, FEWEST), MOST)


def kinds_between(own: Sequence[str], live: LiveQueries, rows: Array, kind: Array, middles: Array) -> list[QueryKind]:
    """Each kind with its shares; `rows` and `kind` are of the set's queries first, then of the live ones."""
    n, texts = len(own), [*own, *live.texts]
    shares = [
        (share_of(int(np.sum(kind[n:] == k)), len(live.texts)), share_of(int(np.sum(kind[:n] == k)), n))
        for k in range(len(middles))
    ]
    found, ps = [], []
    for asked, had in shares:  # Fisher's exact test that both are the same
        chances = np.exp(hypergeometric_logs(asked.yes + had.yes, had.n, asked.n + had.n))
        ps.append(min(float(chances[chances <= chances[had.yes] * (1 + 1e-9)].sum()), 1.0))
    for k, ((asked, had), p) in enumerate(zip(shares, benjamini_hochberg(ps), strict=True)):
        members = np.flatnonzero(kind == k)
        asked_of = members[members >= n] if asked.yes else members
        middle = int(asked_of[np.argmax(rows[asked_of] @ middles[k])])
        if not had.yes:
            verdict = "missing"
        elif p > 0.05:
            verdict = "unclear"
        else:
            verdict = "too few" if asked.value > had.value else "too many"
        found.append(QueryKind(texts[middle], asked, had, p, verdict))
    return found


def nearness(own: int, live: LiveQueries, rows: Array, rng: np.random.Generator) -> Nearness:
    """How many live queries have a query of the set near them; near is what a fresh sample would nearly always be."""
    asked = rows[own:]
    users = np.unique(live.users, return_inverse=True)[1]
    drawn = rng.permutation(len(asked))[: min(own, len(asked) // 2)]
    others = np.flatnonzero(~np.isin(users, users[drawn]))
    if len(others) < 2:
        others = np.setdiff1d(np.arange(len(asked)), drawn)
    fresh = (asked[others] @ asked[drawn].T).max(axis=1)
    threshold = float(np.quantile(fresh, 1 - COVERED))
    near = (asked @ rows[:own].T).max(axis=1) >= threshold
    return Nearness(share_of(int(near.sum()), len(near)), float(np.mean(fresh >= threshold)), len(drawn), threshold)


@dataclass(frozen=True)
class Strata:
    """The kinds of queries with the shares that they have in live traffic and in the set."""

    of_query: Array
    """The stratum of each query of the set."""
    live: Array
    """The share of each stratum in live traffic, those without a query of the set left out."""
    of_live: Array
    """The stratum of each live query of them."""
    users: Array
    """The user of each of these."""
    unspoken: float
    """The share of live traffic in kinds without a query of the set."""

    @property
    def weights(self) -> Array:
        """The weight of each query of the set in live traffic; they add up to 1, or are 0 without such queries."""
        inside = np.bincount(self.of_query, minlength=len(self.live))
        found: Array = (self.live / inside)[self.of_query]
        return np.asarray(found / (found.sum() or 1))


def strata(own: Array, asked: Array, users: Array) -> Strata:
    """The kinds that the set has, and how often they are asked."""
    held = np.unique(own)
    spoken = np.isin(asked, held)
    place = np.searchsorted(held, asked[spoken])
    live = np.bincount(place, minlength=len(held)) / max(len(place), 1)
    return Strata(np.searchsorted(held, own), live, place, users[spoken], 1 - float(spoken.mean()))


def live_score(
    measure: str, values: Mapping[str, float], ids: Sequence[str], kind: Array, users: Array, ends: tuple[float, float]
) -> LiveScore:
    """The score of the set re-weighted to live traffic, by post-stratification over the kinds of queries.

    Reference: D. Holt and T. M. F. Smith: Post stratification, JRSS A 142 (1979). The interval holds the spread within
    kinds and that of the shares of kinds in the live sample, by user; queries of a kind are taken to be as hard in the
    set as live.
    """
    scored = [at for at, name in enumerate(ids) if name in values and not math.isnan(values[name])]
    own = np.array([values[ids[at]] for at in scored], dtype=np.float64)
    ranged = interval(own)
    mean = LiveMean(float(own.mean()) if len(own) else math.nan, ranged.low, ranged.high)
    found = strata(kind[scored], kind[len(ids) :], users)
    if 1 - found.unspoken < HALF or len(own) < 2:
        return LiveScore(measure, len(own), mean, None, None, 0.0, found.unspoken, None)
    weights = found.weights
    least = ((ranged.high - ranged.low) / 4) ** 2 * len(own)
    live = _weighted(own, weights, found, least, ends)
    wide = ends[1] - ends[0]
    apart = _weighted(own, weights - 1 / len(own), found, least, (-wide, wide))
    spoken = (1 - found.unspoken) * live.value
    bounds = (spoken + found.unspoken * ends[0], spoken + found.unspoken * ends[1])
    effective = float(1 / np.sum(weights**2))
    return LiveScore(measure, len(own), mean, live, apart, effective, found.unspoken, bounds)


def _weighted(own: Array, weights: Array, found: Strata, least: float, ends: tuple[float, float]) -> LiveMean:
    """The weighted sum with its interval by Student's t; if no scores of a kind differ, their variance is `least`."""
    inside = np.bincount(found.of_query, minlength=len(found.live))
    middle = np.bincount(found.of_query, own, minlength=len(found.live)) / inside
    squares = np.bincount(found.of_query, (own - middle[found.of_query]) ** 2, minlength=len(found.live))
    free = max(len(own) - len(inside), 1)
    differ = bool(squares.sum() > DUST)
    together = float(squares.sum()) / free if differ else least
    alone = (inside >= OWN_SPREAD) & differ
    spread = np.where(alone, squares / np.maximum(inside - 1, 1), together)
    within = float(np.sum(weights**2 * spread[found.of_query]))
    off = (middle - found.live @ middle)[found.of_live]
    shares = float(np.sum(np.bincount(found.users, off) ** 2)) / len(off) ** 2
    value = float(weights @ own)
    reach = t_quantile(0.975, float(free)) * math.sqrt(within + shares)
    return LiveMean(value, max(value - reach, ends[0]), min(value + reach, ends[1]))


def next_queries(own: Mapping[str, str], live: LiveQueries, rows: Array, kind: Array, number: int) -> list[NextQuery]:
    """The live queries to label next: each brings the most live queries nearer to the set, given those before.

    This is the greedy choice for facility location, which is at least 63 % as good as the best one (G. Nemhauser et
    al., 1978).
    """
    n, names = len(own), list(own)
    asked = rows[n:].astype(np.float32)
    alike = np.maximum(asked @ asked.T, 0) ** 2
    to_set = asked @ rows[:n].T
    near = np.maximum(to_set.max(axis=1), 0) ** 2
    known = set(own.values())
    open_ = np.array([text not in known for text in live.texts])
    found: list[NextQuery] = []
    while len(found) < number and open_.any():
        gains = np.maximum(alike - near[:, None], 0).sum(axis=0)
        best = int(np.argmax(np.where(open_, gains, -1.0)))
        if gains[best] <= 1e-6 * len(asked):
            break
        closest = int(np.argmax(to_set[best]))
        text = live.texts[best]
        helped = float(np.mean((alike[:, best] > near) & (alike[:, best] > 0.25)))
        query = f"live-{digest(text, size=5).hex()}"  # the same in every log
        similarity = float(to_set[best, closest])
        found.append(NextQuery(query, text, helped, names[closest], similarity, int(kind[n + best])))
        near = np.maximum(near, alike[:, best])
        open_ &= np.array([each != text for each in live.texts])
    return found


def measured_values(
    scores: Any, own: Sequence[str], notes: list[str]
) -> Sequence[tuple[str, Mapping[str, float], tuple[float, float]]]:
    """Each measure with its value for each query, and its bounds."""
    if scores is None:
        return []
    if not isinstance(scores, ScoresLike):
        return [(name, values, _ends(values)) for name, values in _given(scores, own)]
    found = []
    for name, column in scores.columns.items():
        if column.measure.spec.average == "mean":
            found.append((str(name), scores.values(name), _ends(scores.values(name), column.measure)))
        else:
            notes.append(f"{name} is not a mean over queries, so it is not re-weighted.")
    return found


def _given(scores: Any, own: Sequence[str]) -> Iterator[tuple[str, dict[str, float]]]:
    """Values that somebody else worked out, {measure: {query: value}}; a NaN is not known."""
    form = "{measure: {query id: value}}"
    if not isinstance(scores, Mapping) or not all(isinstance(each, Mapping) for each in scores.values()):
        raise UsageError(f"scores: got {shorten(scores)}, expected {form}. Next: give such a mapping.")
    for name, given in scores.items():
        for query, value in given.items():
            if value is not None and not (is_number(value) and abs(value) < np.inf) and value == value:
                raise DataError(
                    f"scores: {name} of {query!r} is {shorten(value)}, expected a finite number. Next: mend it."
                )
        values = {query: np.nan if value is None else float(value) for query, value in given.items()}
        if all(np.isnan(values.get(query, np.nan)) for query in own):
            raise DataError(
                f"scores: none of {count(len(own), 'query')} of the set has a value of {name}. "
                "Next: check that the query ids of both are alike."
            )
        yield str(name), values


def _ends(values: Mapping[str, float], measure: Measure | None = None) -> tuple[float, float]:
    low, high = (0.0, 1.0) if measure is None else measure.spec.bounds
    given = [value for value in values.values() if value == value]
    return min([low, *given]), high if np.isfinite(high) else max(given, default=1.0)
