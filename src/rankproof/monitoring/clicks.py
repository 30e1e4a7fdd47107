"""Clicks on documents, corrected for the rank at which they were shown.

The position-based model: a document is clicked if its rank is examined (with a chance that depends on the rank alone,
its propensity) and it attracts (with a chance that depends on query and document alone). Under that model clicks
divided by propensities estimate the clicks if everything were examined. If examination depends on the documents
above (a user stops at the first good answer), the model is wrong, and so are the numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankproof.core.hits import Array
from rankproof.document.model import Displayable
from rankproof.errors import DataError, UsageError, check_number
from rankproof.monitoring.events import Event, EventSchema
from rankproof.stats.distributions import t_quantile

ROUNDS, CLOSE = 500, 1e-7
"""Rounds of fitting at most, and the change at which it ends."""
LEAST = 0.02
"""Propensities below this count as this: a click at a place that nobody looks at would outweigh all others."""
SAME = 1e-9
"""Users whose errors add up to less than this do not differ."""
FEWEST_SWAPS = 50
"""Clicks on swapped documents at each of two ranks, below which no ratio is told."""


@dataclass(frozen=True)
class ClickTable:
    """Documents as they were shown: one row for each document of each event."""

    pair: Array
    """Which query and document."""
    pairs: list[tuple[str, str]]
    rank: Array
    """From 0 on."""
    click: Array
    user: Array
    """Who saw it: the user, else the session, else nobody else."""
    event: Array

    @property
    def depth(self) -> int:
        """The deepest rank that was shown."""
        return int(self.rank.max()) + 1

    def top(self, k: int) -> ClickTable:
        """What was shown at the first k ranks; all if nothing was."""
        kept = self.rank < (k if (self.rank < k).any() else self.depth)
        columns = (each[kept] for each in (self.rank, self.click, self.user, self.event))
        return ClickTable(self.pair[kept], self.pairs, *columns)

    @classmethod
    def of(cls, events: Iterable[Any]) -> ClickTable:
        """From events with a query, results and clicks; others are left out."""
        schema = EventSchema()
        pairs: dict[tuple[str, str], int] = {}
        users: dict[Any, int] = {}
        rows: list[tuple[int, int, bool, int, int]] = []
        for number, each in enumerate(events):
            event = each if isinstance(each, Event) else schema.event(each)
            if not event.query or not event.results or event.clicks is None:
                continue
            clicked = {click.rank for click in event.clicks}
            user = users.setdefault(event.user or event.session or number, len(users))
            for result in event.results:
                at = pairs.setdefault((event.query, result.id), len(pairs))
                rows.append((at, result.rank - 1, result.rank in clicked, user, number))
        if not rows:
            raise DataError(
                "clicks: no event has a query, results and clicks. Next: log which documents were shown and clicked."
            )
        pair, rank, click, who, event_of = (np.array(column) for column in zip(*rows, strict=True))
        return cls(pair, list(pairs), rank, click.astype(float), who, event_of)


def fit_propensities(table: ClickTable) -> list[float]:
    """The propensity of each rank, the first being 1, from documents that were shown for a query at several ranks.

    Given how often a document was clicked in all, its clicks fall on its ranks in proportion to how often it was shown
    there times the propensity; what the document is worth cancels, however seldom it was shown. The ranks may differ
    for any reason but one: that it was the better answer when it stood higher. Ranks that are not tied to the first by
    any chain of documents are an error.

    Reference: A. Agarwal et al.: Estimating position bias without intrusive interventions, WSDM 2019; the estimate is
    the conditional likelihood of a Poisson count, by the steps of D. Hunter (Annals of Statistics 32, 2004).
    """
    _check_connected(table)
    key, inverse = np.unique(table.pair * table.depth + table.rank, return_inverse=True)
    shown = np.bincount(inverse).astype(float)
    pair, rank = np.divmod(key, table.depth)
    of_pair = np.bincount(table.pair, table.click, len(table.pairs))
    of_rank = np.bincount(table.rank, table.click, table.depth)
    found = np.ones(table.depth)
    for _ in range(ROUNDS):
        each = of_pair / np.maximum(np.bincount(pair, shown * found[rank], len(table.pairs)), 1e-300)
        before, found = found, of_rank / np.maximum(np.bincount(rank, shown * each[pair], table.depth), 1e-300)
        found /= found[0]
        if np.abs(found - before).max() < CLOSE:
            break
    return list(found.tolist())


def _check_connected(table: ClickTable) -> None:
    """Refuse ranks that no chain of clicked documents ties to the first one."""
    clicked = np.bincount(table.pair, table.click, len(table.pairs))[table.pair] > 0
    edges = np.unique(np.column_stack([table.pair[clicked], table.rank[clicked]]), axis=0)
    tied, before = np.zeros(table.depth, dtype=bool), -1
    tied[0] = True
    while int(tied.sum()) != before:
        before = int(tied.sum())
        met = np.isin(edges[:, 0], edges[tied[edges[:, 1]], 0])
        tied[edges[met, 1]] = True
    loose = [str(at + 1) for at in np.flatnonzero(~tied) if (table.rank == at).any()]
    if loose:
        raise DataError(
            f"clicks: no clicked document was shown both at rank 1 and, by any way, at rank {', '.join(loose[:5])}, so "
            "its propensity cannot be told. Next: swap some results at random, or give propensities."
        )


def swap_propensities(table: ClickTable) -> list[float]:
    """The propensities from events whose results were swapped at random: ratios of click rates.

    Only where the order is random is the document at a rank as good as at any other. Reference: T. Joachims et al.:
    Unbiased learning-to-rank with biased feedback, WSDM 2017.
    """
    shown = np.bincount(table.rank).astype(float)
    clicks = np.bincount(table.rank, table.click)
    if clicks[0] < FEWEST_SWAPS:
        raise DataError(
            f"clicks: got {clicks[0]:.0f} clicks at rank 1, expected at least {FEWEST_SWAPS} to compare others with. "
            "Next: collect more, or give propensities."
        )
    rates = clicks / np.maximum(shown, 1)
    return list((rates / rates[0]).tolist())


@dataclass(frozen=True)
class ClickEstimate(Displayable):
    """A mean over searches, corrected for position bias, and its 95 % interval by user."""

    value: float
    low: float
    high: float
    naive: float
    """The same without correction."""
    searches: int
    users: int
    model: str
    """The assumption behind the numbers."""
    clipped: float
    """The share of the clicks whose propensity counted as the least one."""


MODEL = "position-based: examination depends on the rank alone"


def attraction(table: ClickTable, propensities: Sequence[float], *, k: int | None = None) -> ClickEstimate:
    """The share of shown documents that would be clicked if each were examined (inverse propensity weighting).

    The naive value is the share that was clicked. Users who do not differ show no error: then the interval holds what
    the value would be with as many others, who have nothing or 1, as may have been missed among so few (Clopper and
    Pearson).
    """
    kept = table.rank < (table.depth if k is None else k)
    if not kept.any():
        raise DataError(f"clicks: nothing was shown at the first {k} ranks. Next: give a larger k, or leave it out.")
    given = np.array([check_number("propensity", each, least=0, most=1.5) for each in propensities], dtype=float)
    if len(given) < table.depth:
        raise UsageError(
            f"propensities: got {len(given)}, expected one for each of the {table.depth} ranks that count. "
            "Next: give them all."
        )
    unseen = np.unique(table.rank[(table.click > 0) & (given[table.rank] == 0)])
    if len(unseen):
        raise UsageError(
            f"propensities: got 0 for rank {unseen[0] + 1}, which was clicked, so it was looked at. "
            "Next: give a number above 0."
        )
    gain = kept * table.click / np.maximum(given, LEAST)[table.rank]
    value = float(gain.sum() / kept.sum())
    left = np.bincount(table.user, gain - value * kept) / kept.sum()  # what each user adds to the error
    users = len(left)
    reach = t_quantile(0.975, max(users - 1, 1)) * math.sqrt(float(left @ left) * users / max(users - 1, 1))
    low, high = max(value - reach, 0.0), value + reach
    if reach < SAME:
        missed = 1 - 0.025 ** (1 / users)
        low, high = value * (1 - missed), max(value + (1 - value) * missed, value)
    seldom = given[table.rank[table.click > 0]] < LEAST
    clipped = float(seldom.mean()) if len(seldom) else 0.0
    naive, searches = float(table.click[kept].mean()), len(np.unique(table.event))
    return ClickEstimate(value, low, high, naive, searches, users, MODEL, clipped)
