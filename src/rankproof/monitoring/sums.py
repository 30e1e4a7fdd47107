"""Sums by window, slice and group of users: all that is kept of events, and what estimates are made of.

Every user (session, where no user is known) belongs to one of `GROUPS` groups, by hash. A share or mean is a ratio of
two sums, and the sums by group say how far it could be off: what users send is alike, so events do not count as
independent, users do. From the linearised variance comes the effective number of events (Korn and Graubard), and from
that Wilson's interval with Student's t, whose degrees of freedom are the effective number of users less one.
Percentiles are read from histograms with bins 5 % wide, their intervals are those of the share below (Woodruff).

Memory does not grow with events or users, only with open windows and slices.

Reference: E. Korn, B. Graubard: Confidence intervals for proportions with small expected number of positive counts
estimated from survey data, Survey Methodology 1998; R. Woodruff: Confidence intervals for medians and other position
measures, JASA 1952; K. Wolter: Introduction to variance estimation, 2007 (random groups).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from rankproof.core.hits import Array
from rankproof.document.display import Displayable
from rankproof.monitoring.block import SESSION, USER, VALUES, Codes, EventBlock, mixed
from rankproof.monitoring.metrics import COLUMNS, PERCENTILES, OnlineMetric
from rankproof.monitoring.sessions import ABANDONED, REFORMULATED
from rankproof.monitoring.windows import Calendar
from rankproof.stats.distributions import t_quantile

GROUPS, FEWER_GROUPS = 256, 32
"""Groups of users for shares and means, and for histograms, which are large."""
WIDTH = 0.05
"""The width of a bin of a histogram, by logarithms: a percentile is off by half of it at most."""
SMALLEST, BINS = 1e-6, 645
"""Where the bins begin; what is smaller is in the first one, and they end at 1e8."""
TOTAL = None
"""The window of everything."""


@dataclass(frozen=True, slots=True)
class OnlineEstimate(Displayable):
    """One metric of one slice in one window."""

    metric: str
    slice: str
    """The field, or "" for all events."""
    group: str
    """The value of that field."""
    start: int | None
    """Microseconds since 1970; None for all windows together."""
    end: int | None
    n: int
    """How many events had what the metric needs: the number that it is a share of."""
    users: int
    """About how many users (sessions where no users are known) they come from."""
    value: float
    low: float
    high: float
    error: float
    """The standard error, by user."""


@dataclass
class SumCell:
    """The sums of one slice in one window."""

    of: Array
    by: Array
    histograms: dict[str, Array] = field(default_factory=dict)
    events: int = 0

    def take(self, other: SumCell) -> None:
        """Add what another cell has."""
        self.of += other.of
        self.by += other.by
        self.events += other.events
        for name, counts in other.histograms.items():
            self.histograms[name] = (
                self.histograms[name] + counts if name in self.histograms else counts.copy()
            )


Key = tuple[str, str]
"""A slice and its value."""


class Sums:
    """Blocks of whole sessions in, estimates out."""

    def __init__(
        self, metrics: Sequence[OnlineMetric], by: Sequence[str], codes: Sequence[Codes], calendar: Calendar,
        fields: Sequence[str] = (), level: float = 0.95, cluster: str = "user",
    ) -> None:  # fmt: skip
        self.metrics, self._by, self._codes, self.calendar = tuple(metrics), tuple(by), codes, calendar
        self._level, self._cluster = level, cluster
        self._open: dict[int, dict[Key, SumCell]] = {}
        self._ends: dict[int, int] = {}
        self.total: dict[Key, SumCell] = {}
        self.profile: dict[Key, SumCell] = {}
        self.windows: list[OnlineEstimate] = []
        self._closed = 0
        self._names = (
            *VALUES,
            *fields,
            ABANDONED,
            REFORMULATED,
        )

    def add(self, block: EventBlock) -> None:
        """Count these events."""
        columns = dict(zip(self._names, block.values, strict=True))
        user = block.ids[USER] if self._cluster == "user" else np.zeros_like(block.ids[USER])
        cluster = np.where(
            user != 0, user, np.where(block.ids[SESSION] != 0, block.ids[SESSION], block.ids[0])
        )
        alone = cluster == 0
        if alone.any():
            own = np.arange(1, len(block) + 1, dtype=np.uint64) ^ block.time.astype(np.uint64)
            cluster = np.where(alone, own, cluster)
        group = (mixed(mixed(cluster)) >> np.uint64(32)).astype(np.int64) % GROUPS
        begins = self.calendar.begins(int(block.time.min()), int(block.time.max()))
        window = np.searchsorted(begins, block.time, side="right") - 1
        counted = _BlockSums(self.metrics, columns, group)
        nothing = np.zeros(len(block), dtype=np.int64)
        for name, codes, names in (
            ("", nothing, [""]),
            *(
                (name, code.astype(np.int64), each.names)
                for name, code, each in zip(self._by, block.slices, self._codes, strict=True)
            ),
        ):
            for (at, code), cell in counted.cells(window, codes, len(names)):
                start, end = int(begins[at]), int(begins[at + 1])
                self._place(start, end).setdefault((name, names[code]), self._cell()).take(cell)
        weekday, hour = self.calendar.weekday_and_hour(block.time)
        for name, codes, size in (("weekday", weekday, 7), ("hour", hour, 24)):
            for (_, code), cell in counted.cells(nothing, codes, size):
                self.profile.setdefault((name, str(code)), self._cell()).take(cell)

    def _place(self, start: int, end: int) -> dict[Key, SumCell]:
        """The cells of a window; those of a window that is closed count in the total only."""
        if end <= self._closed:
            return self.total
        self._ends[start] = end
        return self._open.setdefault(start, {})

    def _cell(self) -> SumCell:
        shape = len(self.metrics), GROUPS
        return SumCell(np.zeros(shape), np.zeros(shape))

    def close(self, until: int) -> None:
        """Make estimates of the windows that end before a time."""
        for start in sorted(each for each in self._open if self._ends[each] <= until):
            end = self._ends.pop(start)
            for key, cell in self._open.pop(start).items():
                self.windows.extend(self.estimates(key, cell, start, end))
                self.total.setdefault(key, self._cell()).take(cell)
        self._closed = max(self._closed, until)

    def estimates(
        self, key: Key, cell: SumCell, start: int | None = None, end: int | None = None
    ) -> Iterator[OnlineEstimate]:
        """Every metric of a cell for which there is an event."""
        place = (*key, start, end)
        found = ratios(cell.of, cell.by, self._level)
        for metric, n, users, value, low, high, error in zip(self.metrics, *found, strict=True):
            if n:
                yield OnlineEstimate(metric.name, *place, int(n), int(users), value, low, high, error)
        for each in PERCENTILES:
            if each.column in cell.histograms:
                of, by, at, *ends = percentile(cell.histograms[each.column], each.share, self._level)
                yield OnlineEstimate(each.name, *place, of, by, at, *ends)

    def without(self, cluster: int) -> dict[str, float]:
        """Each share and mean of all events without the group of one user."""
        group = int((mixed(mixed(np.array([cluster], dtype=np.uint64))) >> np.uint64(32))[0]) % GROUPS
        cell = self.total[("", "")]
        of, by = (np.delete(each, group, axis=1).sum(1) for each in (cell.of, cell.by))
        return {m.name: float(a / b) for m, a, b in zip(self.metrics, of, by, strict=True) if b}


class _BlockSums:
    """The sums of a block, by window and code and group."""

    def __init__(self, metrics: Sequence[OnlineMetric], columns: Mapping[str, Array], group: Array) -> None:
        self._group = group
        self._sums: list[tuple[Array, Array | None, Array | None] | None] = []
        for each in metrics:
            by = np.asarray(each.by(columns), dtype=bool)
            if not by.any():
                self._sums.append(None)
                continue
            of = np.asarray(each.of(columns))
            kept = np.flatnonzero(by)
            weights = None if of.dtype == bool else of[kept].astype(np.float64)
            yes = np.flatnonzero(of & by) if weights is None else kept
            self._sums.append((yes, weights, None if len(kept) == len(by) else kept))
        self._bins = {}
        for name in COLUMNS:
            kept = np.flatnonzero(~np.isnan(columns[name]))
            if len(kept):
                logs = np.log(np.maximum(columns[name][kept], SMALLEST) / SMALLEST) / WIDTH
                self._bins[name] = kept, np.minimum(logs.astype(np.int64), BINS - 1)

    def cells(self, window: Array, codes: Array, size: int) -> Iterator[tuple[tuple[int, int], SumCell]]:
        """The sums of each window and code of which there are events."""
        if size == 0:
            return
        dense = np.where(codes >= 0, window * size + codes, -1)
        sizes = np.bincount(dense[dense >= 0] if (codes < 0).any() else dense)
        present = np.flatnonzero(sizes)
        if not len(present):
            return
        if (
            codes < 0
        ).any():  # events without this field are counted into a cell of their own, which is left out
            number = np.full(len(sizes) + 1, -1)
            number[present] = np.arange(len(present))
            place = np.where(dense >= 0, number[dense], len(present))
        else:
            number = np.zeros(len(sizes), dtype=np.int64)
            number[present] = np.arange(len(present))
            place = number[dense]
        cells = len(present)
        index = place * GROUPS + self._group
        shape = (cells + 1) * GROUPS
        everything: Array | None = None
        of, by = (np.zeros((len(self._sums), cells, GROUPS)) for _ in range(2))
        for m, sums in enumerate(self._sums):
            if sums is None:
                continue
            yes, weights, kept = sums
            of[m] = np.bincount(index[yes], weights, shape)[: cells * GROUPS].reshape(cells, GROUPS)
            if kept is None:
                everything = np.bincount(index, minlength=shape) if everything is None else everything
                counts = everything
            else:
                counts = np.bincount(index[kept], minlength=shape)
            by[m] = counts[: cells * GROUPS].reshape(cells, GROUPS)
        histograms = {}
        for name, (kept, bins) in self._bins.items():
            at = (place[kept] * FEWER_GROUPS + self._group[kept] % FEWER_GROUPS) * BINS + bins
            counts = np.bincount(at, minlength=(cells + 1) * FEWER_GROUPS * BINS)
            histograms[name] = counts[: cells * FEWER_GROUPS * BINS].reshape(cells, FEWER_GROUPS, BINS)
        for i, each in enumerate(present.tolist()):
            drawn = {name: h[i].astype(np.uint32) for name, h in histograms.items() if h[i].any()}
            yield divmod(each, size), SumCell(of[:, i], by[:, i], drawn, int(sizes[each]))


# --- from sums to estimates ---------------------------------------------------------------------------------------


def ratios(of: Array, by: Array, level: float = 0.95) -> tuple[list[float], ...]:
    """For rows of sums by group: the number, about how many users, the ratio, its interval, its standard error.

    >>> n, users, value, low, high, error = ratios(np.array([[1.0, 0, 1, 1]]), np.array([[2.0, 1, 1, 2]]))
    >>> n, value, round(low[0], 2), round(high[0], 2)
    ([6.0], [0.5], 0.15, 0.85)
    """
    n, total = by.sum(1), of.sum(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = total / n
        off = of - value[:, None] * by
        groups = (by > 0).sum(1)
        users = _users(groups, by.shape[1])
        error = np.sqrt(groups / (groups - 1) * (off**2).sum(1)) / n
        effective_users = n**2 / (by**2).sum(1) * users / np.maximum(groups, 1)
        t = np.array(
            [
                _t(each - 1, level) if m > 1 else math.nan
                for each, m in zip(effective_users, groups, strict=True)
            ]
        )
        spread = value * (1 - value)
        effective = np.where(error > 0, spread / error**2, users)
        whole = np.all(
            (of == np.floor(of)), axis=1
        )  # counts of yes and no: nothing is surer than independent events
        effective = np.where(whole, np.minimum(effective, n), effective)
        low, high = wilson(value, effective, t)
    return tuple(each.tolist() for each in (n, users, value, low, high, error))


def wilson(value: Array, n: Array, t: Array) -> tuple[Array, Array]:
    """Wilson's score interval of a share among an effective number of events."""
    scale = 1 + t**2 / n
    centre = (value + t**2 / (2 * n)) / scale
    half = t / scale * np.sqrt(np.maximum(value * (1 - value) / n + t**2 / (4 * n**2), 0))
    return np.minimum(np.maximum(centre - half, 0), value), np.maximum(np.minimum(centre + half, 1), value)


def _users(groups: Array, of: int) -> Array:
    """About how many users fall into so many groups (linear counting); where all are hit, at least so many."""
    share = np.minimum(groups / of, 1 - 0.5 / of)
    return np.maximum(np.round(-of * np.log1p(-share)), groups)


@lru_cache(maxsize=10_000)
def _t_of(df: float, level: float) -> float:
    return t_quantile((1 + level) / 2, df)


def _t(df: float, level: float) -> float:
    """Student's quantile; degrees of freedom are rounded, so that few are worked out."""
    df = max(df, 1.0)
    return _t_of(round(df, 1) if df < 20 else float(round(df)) if df < 100 else round(df, -1), level)


def percentile(
    counts: Array, share: float, level: float = 0.95
) -> tuple[int, int, float, float, float, float]:
    """The number of values, about how many users, the percentile with its interval and standard error."""
    by = counts.sum(1).astype(np.float64)
    n, reached = float(by.sum()), np.cumsum(counts.sum(0))
    value = _at(reached, share)
    at = int(np.searchsorted(reached, share * n, side="left"))
    of = counts[:, : at + 1].sum(1).astype(np.float64)
    below = of.sum() / n
    groups = int((by > 0).sum())
    users = int(_users(np.array([groups]), len(by))[0])
    if groups < 2:
        return int(n), users, value, math.nan, math.nan, math.nan
    error = math.sqrt(groups / (groups - 1) * float(((of - below * by) ** 2).sum())) / n
    t = np.array([_t(n**2 / float((by**2).sum()) - 1, level)])
    # Where the histogram cannot say how users differ (all lie in one bin), each group counts once.
    effective = np.array([min(below * (1 - below) / error**2, n) if error > 0 else float(groups)])
    low, high = wilson(np.array([share]), effective, t)
    ends = _at(reached, float(low[0])), _at(reached, float(high[0]))
    return int(n), users, value, *ends, (ends[1] - ends[0]) / 2 / float(t[0])


def _at(reached: Array, share: float) -> float:
    """The value below which a share of a histogram lies, along the logarithm within its bin."""
    want = share * float(reached[-1])
    at = min(int(np.searchsorted(reached, want, side="left")), len(reached) - 1)
    before = float(reached[at - 1]) if at else 0.0
    inside = (want - before) / max(float(reached[at]) - before, 1.0)
    return SMALLEST * math.exp(WIDTH * (at + min(max(inside, 0.0), 1.0))) if at else 0.0
