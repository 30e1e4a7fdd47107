"""Sums by window, slice and group of users: all that is kept of events, and the data of estimates.

Every user (session, if no user is known) belongs to one of `GROUPS` groups, by hash. A share or mean is a ratio of
two sums, and the sums by group say how far it could be off: what users send is alike, so events do not count as
independent, users do. From the linearised variance comes the effective number of events (Korn and Graubard), and from
that Wilson's interval with Student's t, whose degrees of freedom are the effective number of users less one.
Percentiles are read from histograms with bins 5 % wide, their intervals are those of the share below (Woodruff), from
the smallest value of the bin of one end to the greatest of the other.

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
from rankproof.monitoring.block import EVENT, SESSION, USER, VALUES, Codes, EventBlock, mixed
from rankproof.monitoring.metrics import COLUMNS, PERCENTILES, OnlineMetric, Sum
from rankproof.monitoring.sessions import ABANDONED, REFORMULATED
from rankproof.monitoring.windows import Calendar
from rankproof.stats.distributions import t_quantile

GROUPS, FEWER_GROUPS = 256, 32
"""Groups of users for shares and means, and for histograms, which are large."""
WIDTH = 0.05
"""The width of a bin of a histogram, by logarithms: a percentile is off by half of it at most."""
SMALLEST, BINS = 1e-6, 645
"""Where the bins begin; what is smaller is in the first one, and they end at 1e8."""
SAMPLES, FINER, FULL = 6, 3, 0.9
"""Users are counted by the groups that they hit (linear counting): all users, one in 8, one in 64, and so on. The first
of these samples counts that hits no more than this share of the groups: it is off by a tenth, two times in three."""
CELLS = 64
"""Cells whose estimates are worked out at once."""


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
    """The number of events with the fields that the metric needs: its denominator."""
    users: int
    """About how many users (sessions where no users are known) they come from."""
    value: float
    low: float
    high: float
    error: float
    """The standard error, by user."""


@dataclass
class Histogram:
    """Counts by group of users (rows) and bin; most bins are empty, so `first` is the first of those that are kept."""

    first: int
    counts: Array

    @property
    def end(self) -> int:
        """The bin after the last."""
        return self.first + int(self.counts.shape[1])

    def take(self, other: Histogram) -> None:
        """Add what another one has."""
        first, end = min(self.first, other.first), max(self.end, other.end)
        if (first, end) != (self.first, self.end):
            self.counts = np.pad(self.counts, ((0, 0), (self.first - first, end - self.end)))
            self.first = first
        self.counts[:, other.first - first : other.end - first] += other.counts


@dataclass
class SumCell:
    """The sums of one slice in one window."""

    of: Array
    by: Array
    hit: Array
    """The groups that users of each metric and column of `COLUMNS` hit, in each sample, as bits."""
    histograms: dict[str, Histogram] = field(default_factory=dict)
    events: int = 0

    def take(self, other: SumCell) -> None:
        """Add what another cell has."""
        self.of += other.of
        self.by += other.by
        self.hit |= other.hit
        self.events += other.events
        for name, each in other.histograms.items():
            if name in self.histograms:
                self.histograms[name].take(each)
            else:
                self.histograms[name] = Histogram(each.first, each.counts.copy())


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
        self._ranges: dict[int | None, Array] = {None: _no_ranges()}
        """For each open window, and under None all that are closed, the smallest and the greatest value in each bin."""
        self._names = (*VALUES, *fields, ABANDONED, REFORMULATED)
        self._fields = fields
        self._unbounded: set[tuple[int | None, str]] = set()
        """The open windows (None: those that are closed) and fields that have numbers below 0 or above 1."""

    def add(self, block: EventBlock) -> None:
        """Count these events."""
        columns = dict(zip(self._names, block.values, strict=True))
        cluster = block.ids[USER if self._cluster == "user" else SESSION]
        for other in (SESSION, EVENT):
            if not cluster.all():
                cluster = np.where(cluster != 0, cluster, block.ids[other])
        alone = cluster == 0
        if alone.any():
            own = np.arange(1, len(block) + 1, dtype=np.uint64) ^ block.time.astype(np.uint64)
            cluster = np.where(alone, own, cluster)
        drawn = mixed(mixed(cluster))
        begins = self.calendar.begins(int(block.time.min()), int(block.time.max()))
        if (block.time[1:] >= block.time[:-1]).all():
            ends = np.searchsorted(block.time, begins[1:])
            window = np.repeat(np.arange(len(ends)), np.diff(ends, prepend=0))
        else:
            window = np.searchsorted(begins, block.time, side="right") - 1
        counted = _BlockSums(self.metrics, columns, drawn)
        self._add_ranges(counted, columns, window, begins)
        for at, cell in counted.cells(window):
            _put(self._place(int(begins[at]), int(begins[at + 1])), ("", ""), cell)
        for name, codes, known in zip(self._by, block.slices, self._codes, strict=True):
            size = len(known.names)
            for place, cell in counted.cells(np.where(codes >= 0, window * size + codes, -1)):
                at, code = divmod(place, size)
                _put(self._place(int(begins[at]), int(begins[at + 1])), (name, known.names[code]), cell)
        for name, codes in zip(("weekday", "hour"), self.calendar.weekday_and_hour(block.time), strict=True):
            for code, cell in counted.cells(codes):
                _put(self.profile, (name, str(code)), cell)

    def _add_ranges(self, counted: _BlockSums, columns: Mapping[str, Array], window: Array, begins: Array) -> None:
        """Note the smallest and the greatest value in each bin of each window, and fields beyond 0 to 1; closed windows
        count together."""
        present = np.flatnonzero(np.bincount(window))
        starts = [int(begins[at]) if begins[at + 1] > self._closed else None for at in present]
        ranges = np.array([self._ranges[start] if start in self._ranges else _no_ranges() for start in starts])
        number = np.zeros(len(begins), dtype=np.int64)
        number[present] = np.arange(len(present))
        for column, name in enumerate(COLUMNS):
            if name not in counted.bins:
                continue
            kept, bins = counted.bins[name][:2]
            values, place = columns[name][kept], number[window[kept]] * BINS + bins
            for end, better in enumerate((np.less, np.greater)):
                known = ranges[:, column, end].ravel()
                new = np.flatnonzero(better(values, known[place]))
                while len(new):  # of several for one bin any is taken, and those are left that are beyond it
                    known[place[new]] = values[new]
                    new = new[better(values[new], known[place[new]])]
                ranges[:, column, end] = known.reshape(-1, BINS)
        for name in self._fields:
            outside = number[window[(columns[name] < 0) | (columns[name] > 1)]]
            self._unbounded |= {(starts[at], name) for at in np.unique(outside)}
        for start, each in zip(starts, ranges, strict=True):
            self._ranges[start] = _wider(self._ranges.get(start, each), each)

    def _place(self, start: int, end: int) -> dict[Key, SumCell]:
        """The cells of a window; those of a window that is closed count in the total only."""
        if end <= self._closed:
            return self.total
        self._ends[start] = end
        return self._open.setdefault(start, {})

    def close(self, until: int) -> None:
        """Make estimates of the windows that end before a time."""
        closing: list[tuple[Key, SumCell, int, int]] = []
        for start in sorted(each for each in self._open if self._ends[each] <= until):
            end = self._ends.pop(start)
            for key, cell in self._open.pop(start).items():
                closing.append((key, cell, start, end))
                if key not in self.total:
                    self.total[key] = SumCell(np.zeros_like(cell.of), np.zeros_like(cell.by), np.zeros_like(cell.hit))
                self.total[key].take(cell)
        self.windows.extend(self._estimates(closing))
        for start in {start for *_, start, _ in closing}:
            self._ranges[None] = _wider(self._ranges[None], self._ranges.pop(start))
            self._unbounded |= {(None, name) for name in self._fields if (start, name) in self._unbounded}
        self._closed = max(self._closed, until)

    def estimates(self, cells: Mapping[Key, SumCell]) -> Iterator[OnlineEstimate]:
        """Every metric of these cells for which there is an event."""
        return self._estimates([(key, cell, None, None) for key, cell in cells.items()])

    def _estimates(self, cells: Sequence[tuple[Key, SumCell, int | None, int | None]]) -> Iterator[OnlineEstimate]:
        """The same for many cells, some at a time."""
        for begin in range(0, len(cells), CELLS):
            some = cells[begin : begin + CELLS]
            of, by = (np.concatenate([getattr(cell, name) for _, cell, *_ in some]) for name in ("of", "by"))
            counted = number_of_users(np.array([cell.hit for _, cell, *_ in some]))
            of_metrics = counted[:, : len(self.metrics)].ravel()
            bounded = np.array([(start, m.name) not in self._unbounded for *_, start, _ in some for m in self.metrics])
            shares: list[Drawn] = list(zip(*ratios(of, by, of_metrics, bounded, self._level), strict=True))
            drawn: list[list[tuple[str, Drawn]]] = [[] for _ in some]
            for column, name in enumerate(COLUMNS, len(self.metrics)):
                having = [at for at, (_, cell, *_) in enumerate(some) if name in cell.histograms]
                if having:
                    kept = [some[at][1].histograms[name] for at in having]
                    first, last = max(min(each.first for each in kept) - 1, 0), max(each.end for each in kept)
                    counts = np.zeros((len(kept), FEWER_GROUPS, last - first), dtype=np.uint32)
                    for row, histogram in zip(counts, kept, strict=True):
                        row[:, histogram.first - first : histogram.end - first] = histogram.counts
                    wanted = [each for each in PERCENTILES if each.column == name]
                    columns_at = column - len(self.metrics)
                    ranges = np.array([self._ranges[some[at][2]][columns_at, :, first:last] for at in having])
                    of_column = counted[having, column]
                    found = percentiles(counts, [each.share for each in wanted], ranges, of_column, self._level, first)
                    for metric, of_cells in zip(wanted, found, strict=True):
                        for at, values in zip(having, of_cells, strict=True):
                            drawn[at].append((metric.name, values))
            for at, (key, _, start, end) in enumerate(some):
                of_cell = shares[at * len(self.metrics) : (at + 1) * len(self.metrics)]
                named = zip((metric.name for metric in self.metrics), of_cell, strict=True)
                for name, (n, users, value, low, high, error) in (*named, *drawn[at]):
                    if n:
                        yield OnlineEstimate(name, *key, start, end, int(n), int(users), value, low, high, error)

    def without(self, cluster: int) -> dict[str, float]:
        """Each share and mean of all events without the group of one user."""
        group = int((mixed(mixed(np.array([cluster], dtype=np.uint64))) >> np.uint64(32))[0]) % GROUPS
        cell = self.total[("", "")]
        of, by = (np.delete(each, group, axis=1).sum(1) for each in (cell.of, cell.by))
        return {m.name: float(a / b) for m, a, b in zip(self.metrics, of, by, strict=True) if b}


def _no_ranges() -> Array:
    """By column and bin no smallest and no greatest value."""
    return np.array([[math.inf], [-math.inf]]).repeat(BINS, axis=1)[None].repeat(len(COLUMNS), axis=0)


def _wider(one: Array, other: Array) -> Array:
    """The smallest and the greatest values of both."""
    return np.stack([np.minimum(one[:, 0], other[:, 0]), np.maximum(one[:, 1], other[:, 1])], axis=1)


def _put(cells: dict[Key, SumCell], key: Key, cell: SumCell) -> None:
    if key in cells:
        cells[key].take(cell)
    else:
        cells[key] = cell


class _BlockSums:
    """The sums of a block, by cell and group."""

    def __init__(self, metrics: Sequence[OnlineMetric], columns: Mapping[str, Array], drawn: Array) -> None:
        group = self._group = (drawn >> np.uint64(32)).astype(np.int64) % GROUPS
        self._some: list[Array] = []
        """Sets of events that are counted, as flags: many metrics have one in common."""
        self._many: list[int] = []
        """How many events each set has: only those with as many can be the same."""
        self._sums: list[tuple[int | None, Array | None, int] | None] = []
        denominators: dict[Sum, tuple[Array, int | None]] = {}  # several metrics have one in common
        for each in metrics:
            if each.by not in denominators:
                events = np.asarray(each.by(columns), dtype=bool)
                denominators[each.by] = events, self._place_of(events) if events.any() else None
            by, among = denominators[each.by]
            if among is None:
                self._sums.append(None)
                continue
            of = np.asarray(each.of(columns))
            if of.dtype == bool:
                self._sums.append((self._place_of(of & by), None, among))
            else:
                self._sums.append((None, np.where(by, of, 0.0), among))
        self._users = [-1 if sums is None else sums[2] for sums in self._sums]
        for name in COLUMNS:
            having = ~np.isnan(columns[name])
            self._users.append(self._place_of(having) if having.any() else -1)
        # Several counts share the 53 bits that a float has, so that events are counted for all of them at once.
        self._bits = len(group).bit_length()
        size = 53 // self._bits
        self._packed = [
            sum(flags * 2.0 ** (self._bits * at) for at, flags in enumerate(self._some[first : first + size]))
            for first in range(0, len(self._some), size)
        ]
        self._sets = list(dict.fromkeys(each for each in self._users if each >= 0))
        """The sets whose users are counted, and for each sample of the users the events of each."""
        self._samples: list[list[Array]] = []
        for sample in range(1, SAMPLES):
            rows = np.flatnonzero(drawn >> np.uint64(64 - FINER * sample) == 0)
            self._samples.append([rows[self._some[each][rows]] for each in self._sets])
        self.bins: dict[str, tuple[Array, Array, int, int, Array]] = {}
        """Of each column the rows that have it, their bins, and the first bin, how many, and places by group."""
        for name in COLUMNS:
            kept = np.flatnonzero(~np.isnan(columns[name]))
            if len(kept):
                logs = np.log(np.maximum(columns[name][kept], SMALLEST) / SMALLEST) / WIDTH
                bins = np.minimum(logs, BINS - 1).astype(np.int64)
                first = int(bins.min())
                size = int(bins.max()) + 1 - first
                self.bins[name] = kept, bins, first, size, bins - first + group[kept] % FEWER_GROUPS * size

    def _place_of(self, events: Array) -> int:
        """The place of a set of events."""
        many = int(np.count_nonzero(events))
        for at, each in enumerate(self._some):
            if self._many[at] == many and np.array_equal(each, events):
                return at
        self._some.append(events)
        self._many.append(many)
        return len(self._some) - 1

    def cells(self, places: Array) -> Iterator[tuple[int, SumCell]]:
        """The sums of each place at which there are events; those at -1 are left out."""
        sizes = np.bincount(places + 1)
        present = np.flatnonzero(sizes[1:])
        cells = len(present)
        if not cells:
            return
        number = np.full(len(sizes), cells)  # events that are left out are counted in a separate cell
        number[present + 1] = np.arange(cells)
        place = number.take(places + 1)
        index = place * GROUPS + self._group
        shape = (cells + 1) * GROUPS
        counts = self._counts(index, shape)
        flags = np.zeros((SAMPLES, len(self._sets) + 1, shape), dtype=bool)  # the last set is that of no event
        for at, events in enumerate(self._sets):
            flags[0, at] = counts[events] > 0
            for sample, of_sets in enumerate(self._samples, 1):
                flags[sample, at, index[of_sets[at]]] = True
        bits = np.packbits(flags[:, :, : cells * GROUPS].reshape(SAMPLES, -1, cells, GROUPS), axis=3)
        hit = bits[:, [self._sets.index(each) if each >= 0 else -1 for each in self._users]].transpose(2, 1, 0, 3)
        of, by = (np.zeros((cells, len(self._sums), GROUPS)) for _ in range(2))
        for m, sums in enumerate(self._sums):
            if sums is not None:
                yes, weights, among = sums
                found = counts[yes] if yes is not None else np.bincount(index, weights, shape)
                of[:, m] = found[: cells * GROUPS].reshape(cells, GROUPS)
                by[:, m] = counts[among][: cells * GROUPS].reshape(cells, GROUPS)
        drawn: list[dict[str, Histogram]] = [{} for _ in range(cells)]
        for name, (kept, _, first, size, bins) in self.bins.items():
            size *= FEWER_GROUPS
            filled = np.bincount(place[kept] * size + bins, minlength=(cells + 1) * size)[: cells * size]
            rows = filled.astype(np.uint32).reshape(cells, FEWER_GROUPS, -1)
            for i in np.flatnonzero(rows.any(axis=(1, 2))).tolist():
                drawn[i][name] = Histogram(first, rows[i])
        for i, each in enumerate(present.tolist()):
            yield each, SumCell(of[i], by[i], hit[i], drawn[i], int(sizes[each + 1]))

    def _counts(self, index: Array, shape: int) -> list[Array]:
        """How many events of each set there are in each cell and group."""
        packed = (np.bincount(index, each, shape).astype(np.int64) for each in self._packed)
        shifts = range(0, 53 - self._bits + 1, self._bits)
        return [each >> shift & (1 << self._bits) - 1 for each in packed for shift in shifts]


# --- from sums to estimates ---------------------------------------------------------------------------------------


def ratios(
    of: Array, by: Array, users: Array, bounded: Array | bool = True, level: float = 0.95
) -> tuple[list[float], ...]:
    """For rows of sums by group, and how many users there are: number, users, ratio, interval and standard error.

    Values are from 0 to 1 where they are `bounded`; else the interval is Student's.

    >>> sums = np.array([[1.0, 0, 1, 1]]), np.array([[2.0, 1, 1, 2]])
    >>> n, users, value, low, high, error = ratios(*sums, np.array([8.0]))
    >>> n, value, round(low[0], 2), round(high[0], 2)
    ([6.0], [0.5], 0.15, 0.85)
    """
    n, total = by.sum(1), of.sum(1)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = total / n
        off = of - value[:, None] * by
        groups = (by > 0).sum(1)
        error = np.sqrt(groups / (groups - 1) * (off**2).sum(1)) / n
        effective_users = n**2 / (by**2).sum(1) * users / np.maximum(groups, 1)
        t = np.where(groups > 1, _t(effective_users - 1, level), math.nan)
        spread = value * (1 - value)
        effective = np.where(error > 0, spread / error**2, users)
        whole = np.all((of == np.floor(of)), axis=1)  # counts of yes and no: nothing is surer than independent events
        effective = np.where(whole, np.minimum(effective, n), effective)
        low, high = wilson(value, effective, t)
        low, high = np.where(bounded, low, value - t * error), np.where(bounded, high, value + t * error)
    return tuple(each.tolist() for each in (n, users, value, low, high, error))


def wilson(value: Array, n: Array, t: Array) -> tuple[Array, Array]:
    """Wilson's score interval of a share among an effective number of events."""
    scale = 1 + t**2 / n
    centre = (value + t**2 / (2 * n)) / scale
    half = t / scale * np.sqrt(np.maximum(value * (1 - value) / n + t**2 / (4 * n**2), 0))
    return np.minimum(np.maximum(centre - half, 0), value), np.maximum(np.minimum(centre + half, 1), value)


def number_of_users(hit: Array) -> Array:
    """About how many users hit these groups, by sample; the samples are the last axis but one, the bits the last."""
    groups = np.unpackbits(hit, axis=-1).sum(-1, dtype=np.int64)
    fits = groups <= FULL * GROUPS
    fits[..., -1] = True  # full from 20 million users on: at least so many are told
    sample = np.argmax(fits, axis=-1)
    counted = np.take_along_axis(groups, sample[..., None], -1)[..., 0]
    users = -GROUPS * np.log1p(-np.minimum(counted / GROUPS, 1 - 0.5 / GROUPS)) * 2.0 ** (FINER * sample)
    return np.asarray(np.maximum(np.round(users), groups[..., 0]))


@lru_cache(maxsize=10_000)
def _t_of(df: float, level: float) -> float:
    return t_quantile((1 + level) / 2, df)


def _t(df: Array, level: float) -> Array:
    """Student's quantiles; degrees of freedom are rounded, so that few are worked out."""
    df = np.maximum(np.nan_to_num(df, nan=1.0), 1.0)
    rounded = np.where(df < 20, np.round(df, 1), np.where(df < 100, np.round(df), np.round(df, -1)))
    different, place = np.unique(rounded, return_inverse=True)
    return np.array([_t_of(float(each), level) for each in different])[place]


Drawn = tuple[float, float, float, float, float, float]
"""The number of values, about how many users, a percentile with its interval and standard error."""


def percentiles(
    counts: Array, shares: Sequence[float], ranges: Array, users: Array, level: float = 0.95, first_bin: int = 0
) -> Iterator[list[Drawn]]:
    """For each share the percentile of each cell; `counts` are by cell, group of users and bin from `first` on.

    `ranges` are the smallest and the greatest value that an event of the window has in each bin, by cell.
    """
    filled = np.flatnonzero(counts.any(axis=(0, 1)))
    begin = max(int(filled[0]) - 1, 0)  # most bins are empty: those around are left out, but for one before
    some = slice(begin, int(filled[-1]) + 1)
    counts, smallest, greatest = counts[:, :, some], ranges[:, 0, some], ranges[:, 1, some]
    cell = np.arange(len(counts))
    begin += first_bin
    up_to = np.cumsum(counts, axis=2, dtype=np.uint32)
    by = up_to[:, :, -1].astype(np.float64)
    n, groups = by.sum(1), (by > 0).sum(1)
    reached = np.cumsum(counts.sum(1), axis=1, dtype=np.float64)

    def spread(at: Array) -> tuple[Array, Array]:
        """The share that lies in bins up to these, and its standard error."""
        of = np.take_along_axis(up_to, np.maximum(at, 0)[:, None, None], axis=2)[:, :, 0] * (at >= 0)[:, None]
        below = of.sum(1) / n
        return below, np.sqrt(groups / (groups - 1) * ((of - below[:, None] * by) ** 2).sum(1)) / n

    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(groups > 1, _t(n**2 / (by**2).sum(1) - 1, level), math.nan)
        for share in shares:
            at = _bin(reached, share * n)
            # What lies below the end of its bin says how users differ, or below its begin if that is nearer.
            (below, error), (less, other) = spread(at), spread(at - 1)
            nearer = (other > 0) & ((error == 0) | (share - less < below - share))
            below, error = np.where(nearer, less, below), np.where(nearer, other, error)
            # Where the histogram cannot say it (all lie in one bin), each user counts once.
            effective = np.minimum(np.where(error > 0, below * (1 - below) / error**2, users), n)
            low, high = _order_shares(share, effective, t)
            value, first, last = (_value_at(reached, want * n, begin) for want in (share, low, high))
            off = np.where(high > 1, value - first, (last - first) / 2) / t
            value = np.clip(value, smallest[cell, at], greatest[cell, at])
            first = np.where(low > 0, smallest[cell, _bin(reached, np.minimum(low, 1.0) * n)], 0.0)
            # If even the greatest value may lie below the percentile, its upper end is not known.
            last = np.where(high > 1, math.inf, greatest[cell, _bin(reached, np.minimum(high, 1.0) * n)])
            first, last = np.minimum(first, value), np.maximum(last, value)
            first, last = (np.where(np.isnan(t), math.nan, each) for each in (first, last))
            yield list(zip(*(each.tolist() for each in (n, users, value, first, last, off)), strict=True))


def _order_shares(share: float, n: Array, t: Array) -> tuple[Array, Array]:
    """The shares of a sample between whose values a percentile lies: how many values of `n` lie below it is binomial,
    whose quantiles are taken with its skewness (Cornish and Fisher) and a correction for continuity."""
    middle = n * share + (1 - 2 * share) * (t**2 - 1) / 6 + 0.5
    half = t * np.sqrt(n * share * (1 - share))
    return np.maximum(middle - half, 0) / n, (middle + half) / n


def _bin(reached: Array, want: Array) -> Array:
    """The bin of each row in which so many values are reached."""
    return np.asarray(np.minimum((reached < want[:, None]).sum(1), reached.shape[1] - 1))


def _value_at(reached: Array, want: Array, begin: int) -> Array:
    """The value that so many of a histogram do not exceed, along the logarithm within its bin; `begin` is the first."""
    rows, at = np.arange(len(want)), _bin(reached, want)
    before = np.where(at > 0, reached[rows, at - 1], 0.0)
    inside = np.clip((want - before) / np.maximum(reached[rows, at] - before, 1.0), 0.0, 1.0)
    value = np.where(at > 0, SMALLEST * np.exp(WIDTH * (at + begin + inside)), 0.0)
    return np.where(np.isnan(want), math.nan, value)
