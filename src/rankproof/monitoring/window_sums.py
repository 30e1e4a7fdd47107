"""Sums by window, slice and group of users: all data kept of events, from which estimates follow; and heavy users.

Every user (session, if no user is known) belongs to one of `GROUPS` groups, by hash. Memory does not grow with events
or users, only with open windows and slices.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankproof.core.hits import Array
from rankproof.document.model import Displayable
from rankproof.monitoring.event_block import EVENT, SESSION, USER, VALUES, Codes, EventBlock, mixed
from rankproof.monitoring.online_metrics import (
    BINS,
    COLUMNS,
    FEWER_GROUPS,
    FINER,
    GROUPS,
    PERCENTILES,
    SAMPLES,
    SMALLEST,
    WIDTH,
    Drawn,
    OnlineEstimate,
    OnlineMetric,
    Sum,
    number_of_users,
    percentiles,
    ratios,
)
from rankproof.monitoring.rows import RowMaker
from rankproof.monitoring.sessions_and_windows import ABANDONED, REFORMULATED, Calendar

CELLS = 64
"""Cells whose estimates are worked out at once."""
HEAVY, TIMES = 0.05, 5.0
"""A user is named who sends this share of all events, and so many times as much as the mean user."""
FOLLOWED = 1000
"""The number of users whose events are counted individually."""
BUCKETS = 1 << 16
"""Parts that users fall into by their hashes before they are counted."""


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
        """Add what another cell has, which must not be used any more."""
        self.of += other.of
        self.by += other.by
        self.hit |= other.hit
        self.events += other.events
        for name, each in other.histograms.items():
            _put(self.histograms, name, each)


Key = tuple[str, str]
"""A slice and its value."""


class Sums:
    """Blocks of whole sessions in, estimates out."""

    def __init__(
        self, metrics: Sequence[OnlineMetric], by: Sequence[str], codes: Sequence[Codes], calendar: Calendar,
        fields: Sequence[str] = (), level: float = 0.95, cluster: str = "user",
    ) -> None:  # fmt: skip
        self.metrics, self.by, self._codes, self.calendar = tuple(metrics), tuple(by), codes, calendar
        self.level, self.cluster = level, cluster
        self._open: dict[int, dict[Key, SumCell]] = {}
        self._ends: dict[int, int] = {}
        self.total: dict[Key, SumCell] = {}
        self.profile: dict[Key, SumCell] = {}
        self.windows: list[OnlineEstimate] = []
        self._closed = 0
        none_yet = np.array([[math.inf], [-math.inf]]).repeat(BINS, axis=1)[None].repeat(len(COLUMNS), axis=0)
        self._ranges: defaultdict[int | None, Array] = defaultdict(lambda: none_yet)
        """For each open window, and under None all that are closed, the smallest and the greatest value in each bin."""
        self._names = (*VALUES, *fields, ABANDONED, REFORMULATED)
        self._fields = fields
        self._unbounded: set[tuple[int | None, str]] = set()
        """The open windows (None: those that are closed) and fields that have numbers below 0 or above 1."""

    def add(self, block: EventBlock) -> None:
        """Count these events."""
        columns = dict(zip(self._names, block.values, strict=True))
        cluster = block.ids[USER if self.cluster == "user" else SESSION]
        for other in (SESSION, EVENT):
            if not cluster.all():
                cluster = np.where(cluster != 0, cluster, block.ids[other])
        alone = cluster == 0
        if alone.any():
            own = np.arange(1, len(block) + 1, dtype=np.uint64) ^ block.time.astype(np.uint64)
            cluster = np.where(alone, own, cluster)
        drawn = mixed(mixed(cluster))
        begins = self.calendar.begins(int(block.time.min()), int(block.time.max()))
        window = np.searchsorted(begins, block.time, side="right") - 1
        counted = _BlockSums(self.metrics, columns, drawn)
        self._add_ranges(counted, columns, window, begins)
        for at, cell in counted.cells(window):
            _put(self._place(int(begins[at]), int(begins[at + 1])), ("", ""), cell)
        for name, codes, known in zip(self.by, block.slices, self._codes, strict=True):
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
        ranges = np.stack([self._ranges[start] for start in starts], axis=2)
        number = np.zeros(len(begins), dtype=np.int64)
        number[present] = np.arange(len(present))
        for column, name in enumerate(COLUMNS):
            if name in counted.bins:
                kept, bins = counted.bins[name][:2]
                values, place = columns[name][kept].astype(np.float64), number[window[kept]] * BINS + bins
                np.minimum.at(ranges[column, 0].reshape(-1), place, values)
                np.maximum.at(ranges[column, 1].reshape(-1), place, values)
        for name in self._fields:
            outside = number[window[(columns[name] < 0) | (columns[name] > 1)]]
            self._unbounded |= {(starts[at], name) for at in np.unique(outside)}
        for at, start in enumerate(starts):
            self._ranges[start] = _wider(self._ranges[start], ranges[:, :, at])

    def _place(self, start: int, end: int) -> dict[Key, SumCell]:
        """The cells of a window; those of a window that is closed count in the total only."""
        if end <= self._closed:
            return self.total
        self._ends[start] = end
        return self._open.setdefault(start, {})

    def close(self, until: int) -> list[OnlineEstimate]:
        """Make estimates of the windows that end before a time, and return them."""
        closing: list[tuple[Key, SumCell, int, int]] = []
        for start in sorted(each for each in self._open if self._ends[each] <= until):
            end = self._ends.pop(start)
            closing.extend((key, cell, start, end) for key, cell in self._open.pop(start).items())
        closed = list(self._estimates(closing))
        self.windows.extend(closed)
        for key, cell, *_ in closing:
            _put(self.total, key, cell)
        for start in {start for *_, start, _ in closing}:
            self._ranges[None] = _wider(self._ranges[None], self._ranges.pop(start))
            self._unbounded |= {(None, name) for name in self._fields if (start, name) in self._unbounded}
        self._closed = max(self._closed, until)
        return closed

    def estimates(self, cells: Mapping[Key, SumCell]) -> list[OnlineEstimate]:
        """Every metric of these cells for which there is an event."""
        return list(self._estimates([(key, cell, None, None) for key, cell in cells.items()]))

    def _estimates(self, cells: Sequence[tuple[Key, SumCell, int | None, int | None]]) -> Iterator[OnlineEstimate]:
        """The same for many cells, some at a time."""
        for begin in range(0, len(cells), CELLS):
            some = cells[begin : begin + CELLS]
            of, by = (np.concatenate([getattr(cell, name) for _, cell, *_ in some]) for name in ("of", "by"))
            counted = number_of_users(np.array([cell.hit for _, cell, *_ in some]))
            of_metrics = counted[:, : len(self.metrics)].ravel()
            bounded = np.array([(start, m.name) not in self._unbounded for *_, start, _ in some for m in self.metrics])
            shares: list[Drawn] = list(zip(*ratios(of, by, of_metrics, bounded, self.level), strict=True))
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
                    found = percentiles(counts, [each.share for each in wanted], ranges, of_column, self.level, first)
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


def _wider(one: Array, other: Array) -> Array:
    """The smallest and the greatest values of both."""
    return np.stack([np.minimum(one[:, 0], other[:, 0]), np.maximum(one[:, 1], other[:, 1])], axis=1)


def _put(cells: dict[Any, Any], key: Any, cell: Any) -> None:
    """Keep a cell or histogram under its key, together with the one that is there."""
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
        self.bins: dict[str, tuple[Array, Array, int, int, Array]] = {}
        """Of each column the rows that have it, their bins, and the first bin, how many, and places by group."""
        for name in COLUMNS:
            having = ~np.isnan(columns[name])
            kept = np.flatnonzero(having)
            self._users.append(self._place_of(having) if len(kept) else -1)
            if len(kept):
                logs = np.log(np.maximum(columns[name][kept], SMALLEST) / SMALLEST) / WIDTH
                bins = np.minimum(logs, BINS - 1).astype(np.int64)
                first = int(bins.min())
                size = int(bins.max()) + 1 - first
                self.bins[name] = kept, bins, first, size, bins - first + group[kept] % FEWER_GROUPS * size
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

    def _place_of(self, events: Array) -> int:
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
        packed = (np.bincount(index, each, shape).astype(np.int64) for each in self._packed)
        shifts = range(0, 53 - self._bits + 1, self._bits)
        counts = [each >> shift & (1 << self._bits) - 1 for each in packed for shift in shifts]  # of each set
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


@dataclass(frozen=True)
class HeavyUser(Displayable):
    """A user whose events are so many that the metrics mostly describe this user."""

    user: str
    events: int
    share: float
    without: dict[str, float]
    """Each share and mean without this user."""


class Senders:
    """How many events the users who send most of a log have sent."""

    def __init__(self) -> None:
        self._users: Counter[int] = Counter()

    def add(self, ids: Array) -> None:
        """Count the users of some events."""
        bucket = (ids & np.uint64(BUCKETS - 1)).astype(np.int64)
        # Whoever sends much is in a bucket with much in it: to count the others of a long block takes long.
        often = (np.bincount(bucket, minlength=BUCKETS) * FOLLOWED > len(ids))[bucket]
        users, counts = np.unique(ids[often], return_counts=True)
        if len(users) > FOLLOWED:
            most = np.argpartition(counts, -FOLLOWED)[-FOLLOWED:]
            users, counts = users[most], counts[most]
        self._users.update(dict(zip(users.tolist(), counts.tolist(), strict=True)))
        if len(self._users) > 10 * FOLLOWED:
            self._users = Counter(dict(self._users.most_common(FOLLOWED)))

    def heavy(self, sums: Sums, maker: RowMaker, events: int) -> list[HeavyUser]:
        """Users who send so many of these events that the metrics mostly describe them."""
        del self._users[0]
        users = max(int((sums.total[("", "")].by.sum(0) > 0).sum()), 1)
        least = max(HEAVY, TIMES / users) * events
        return [
            HeavyUser(maker.name_of(user), sent, sent / events, sums.without(user))
            for user, sent in self._users.most_common(3)
            if sent >= least
        ]
