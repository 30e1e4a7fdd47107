"""How the time of a log is divided: into sessions of users, and into hours, days, weeks and months of a time zone.

Sessions are made between readers and sums: events in order, each once. Lines with the same event id and no other query
are one event: the first, with the fields that later ones add (a thumb that is logged later). Lines without an id that
are equal in every column, and have a session or a user, are one event too. A session ends after 30 minutes without an
event, and after two hours; without session ids, the events of a user are split in the same way. Events may come in any
order: those of a file are sorted; in a stream they may be late by `lateness`, and lines are merged into one event
until its session is over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise

import numpy as np

from rankproof.core.hits import Array
from rankproof.document.model import Displayable
from rankproof.errors import UsageError, check_one_of, not_known
from rankproof.monitoring.event_block import EVENT, QUERY, SESSION, USER, VALUES, EventBlock, join_blocks, mixed

SECOND = 1_000_000
"""Microseconds."""
IDLE = 1800 * SECOND
"""A session ends after so long without an event."""
LONGEST = 7200 * SECOND
"""Events of a session after this time begin a new one: a program that never stops would keep all windows open."""
SOON = 300 * SECOND
"""A query within this time, in similar words, is the same question again."""
ALIKE = 0.15
"""The share of trigrams that two wordings of one question have in common at least; in simulated sessions 99 of 100
pairs have it, and a third of the pairs with different needs."""
STEADY = 0.9
"""The share of a block that is before the watermark: few clocks that are fast do not move it."""
DAY = 86_400 * SECOND
MOST_WAITING = 3_000_000
"""Events of files that are sorted as a whole, at about 130 bytes each; of longer logs, what is a day old is done."""
LAST = int(np.iinfo(np.int64).max)


@dataclass
class LineCounts(Displayable):
    """Counts of the events that were read."""

    events: int = 0
    duplicates: int = 0
    merged: int = 0
    """Lines that added something to the event of another line with the same id."""
    reused: int = 0
    """Events whose id another one with a different query had before."""
    disordered: int = 0
    """Events before their predecessor in the log."""
    late: int = 0
    """Events of a stream that came after their window was closed."""
    sessions: int = 0
    first: int = LAST
    last: int = 0


class Sessions:
    """Blocks in, blocks of whole sessions out, in order of session and time."""

    def __init__(self, lateness: int | None = None) -> None:
        self.counts = LineCounts()
        self.closed = 0
        """No further event is before this time, except late ones."""
        self._lateness = lateness
        self._waiting: list[EventBlock] = []
        self._left = self._newest = self._watermark = self._looked = 0

    def add(self, block: EventBlock) -> None:
        """Take some more events."""
        if not len(block):
            return
        counts, time = self.counts, block.time
        before = np.concatenate([[self._newest], time[:-1]])
        counts.disordered += int((time < before).sum())
        self._newest = int(time[-1])
        counts.late += int((time < self.closed).sum())
        self._waiting.append(block)
        steady = int(STEADY * (len(time) - 1))
        self._watermark = max(self._watermark, int(np.partition(time, steady)[steady]))

    def ready(self) -> EventBlock | None:
        """The sessions that are over: in a stream, and of a log that is too long to be sorted as a whole."""
        waiting = sum(map(len, self._waiting))
        if self._lateness is None:
            if waiting < MOST_WAITING or waiting < 1.5 * self._left:
                return None
            until = self._watermark - DAY
        elif waiting > 1.5 * self._left or self._watermark > self._looked + IDLE:
            until = self._watermark - self._lateness
        else:
            return None
        self._looked = self._watermark
        block, order, begins = self._sorted()
        starts = np.flatnonzero(begins)
        first, last = block.time[order[starts]], block.time[order[np.append(starts[1:], len(order)) - 1]]
        over_by_now = (last < until - IDLE) | (first < until - LONGEST)
        ended = np.repeat(over_by_now, np.diff(np.append(starts, len(order))))
        over = np.empty(len(block), dtype=bool)
        over[order] = ended
        left = block.rows(np.flatnonzero(~over))
        self._waiting, self._left = [left], len(left)
        self.closed = max(self.closed, min(until, int(left.time.min())) if len(left) else until)
        if not over.any():
            return None
        place = np.cumsum(over) - 1
        done = block.rows(np.flatnonzero(over))
        added = self._done(done, place[order[ended]], begins[ended])
        return replace(done, values=np.vstack([done.values, added]))

    @property
    def reach(self) -> tuple[int, int]:
        """The times of the first and the last event that waits."""
        times = [each.time for each in self._waiting if len(each)]
        return min((int(each.min()) for each in times), default=0), max((int(each.max()) for each in times), default=0)

    def rest(self, turns: int = 1) -> Iterator[EventBlock]:
        """All that is left, in some turns in order of time."""
        if not sum(map(len, self._waiting)):
            return
        block, order, begins = self._sorted()
        added = self._done(block, order, begins)
        ends = np.linspace(0, len(block), turns + 1).astype(np.int64)
        for start, end in pairwise(ends.tolist()):
            if end > start:
                self.closed = max(self.closed, int(block.time[start]))
                part = block.part(start, end)
                yield replace(part, values=np.vstack([part.values, added[:, start:end]]))

    def _sorted(self) -> tuple[EventBlock, Array, Array]:
        """What waits, each event once, in order of time; an order that has the events of each session together, and
        which of them begins one."""
        block = join_blocks(self._waiting)
        in_order = bool((block.time[1:] >= block.time[:-1]).all())
        kept = self._once(block, np.arange(len(block)) if in_order else np.argsort(block.time, kind="stable"))
        if len(kept) < len(block) or not in_order:
            block = block.keep(kept)
        # the events of a session share its id, else that of the user, else nothing
        key, user = block.ids[SESSION], block.ids[USER]
        if not key.all():
            alone = mixed(np.arange(1, len(block) + 1, dtype=np.uint64) ^ block.time.astype(np.uint64))
            key = np.where(key != 0, key, np.where(user != 0, mixed(user), alone))
        order = order_together(key)
        key, time = key.take(order), block.time.take(order)
        begins = np.append(True, (key[1:] != key[:-1]) | (np.diff(time) > IDLE))
        _cut_long(begins, time)
        return block, order, begins

    def _done(self, block: EventBlock, order: Array, begins: Array) -> Array:
        """The values of the sessions of a block, all of them complete."""
        counts, time = self.counts, block.time
        counts.events += len(block)
        counts.sessions += int((begins & _in_session(block)[order]).sum())
        counts.first, counts.last = min(counts.first, int(time[0])), max(counts.last, int(time[-1]))
        return _of_sessions(block, order, begins)

    def _once(self, block: EventBlock, order: Array) -> Array:
        """Which events stay, in order of time: the first of those that are one, which takes what others add."""
        event, query = block.ids[EVENT], block.ids[QUERY]
        key, nameless = event, np.flatnonzero(event == 0)
        if len(nameless):
            key = event.copy()
            some = block.rows(nameless)
            one_each = mixed(nameless.astype(np.uint64) + np.uint64(1))
            key[nameless] = np.where(_in_session(some), _content(some), one_each)
        by_key = order_together(key.take(order))
        by_key = order.take(by_key)
        in_keys = key.take(by_key)
        same = np.flatnonzero(in_keys[1:] == in_keys[:-1]) + 1
        if len(same):
            run = np.cumsum(np.append(True, np.diff(same) > 1)) - 1  # of neighbours whose key is one
            again, first = by_key[same], by_key[same[np.append(True, np.diff(same) > 1)] - 1][run]
            other = (query[again] != 0) & (query[first] != 0) & (query[again] != query[first])
            self.counts.reused += int(other.sum())
            self._merge(block, again[~other], first[~other])
            kept = np.ones(len(key), dtype=bool)
            kept[again[~other]] = False
            order = order[kept[order]]
        return order

    def _merge(self, block: EventBlock, again: Array, first: Array) -> None:
        """Fill what the first line of an event does not know, or has as empty, from its later ones."""
        adds = np.zeros(len(again), dtype=bool)
        for row in block.values:
            fills = (np.isnan(row[first]) | (row[first] == 0)) & ~np.isnan(row[again]) & (row[again] != row[first])
            row[first[fills]] = row[again[fills]]
            adds |= fills
        for row in (*block.ids[1:], *block.slices):
            missing = 0 if row.dtype == np.uint64 else -1
            fills = (row[first] == missing) & (row[again] != missing)
            row[first[fills]] = row[again[fills]]
        self.counts.merged += int(adds.sum())
        self.counts.duplicates += int((~adds).sum())


def _content(block: EventBlock) -> Array:
    """A hash of all that is known of each event."""
    key = mixed(block.time.astype(np.uint64))
    for row in (*block.ids[1:], *block.values.view(np.uint32), *block.slices.view(np.uint32)):
        key = mixed(key ^ row.astype(np.uint64))
    return key


def _in_session(block: EventBlock) -> Array:
    return np.asarray((block.ids[SESSION] != 0) | (block.ids[USER] != 0))


def _cut_long(begins: Array, time: Array) -> None:
    """Begin a new session with the first event that is too long after its first one."""
    starts = np.flatnonzero(begins)
    ends = np.append(starts[1:], len(time))
    long = time[ends - 1] - time[starts] > LONGEST
    for start, end in zip(starts[long].tolist(), ends[long].tolist(), strict=True):
        while time[end - 1] - time[start] > LONGEST:
            start += int(np.searchsorted(time[start:end], time[start] + LONGEST, side="right"))
            begins[start] = True


ABANDONED, REFORMULATED = "abandoned", "reformulated"


def order_together(keys: Array) -> Array:
    """An order that has equal keys together, each in the order they come in.

    The keys are hashes: two stable sorts by 16 bits each, which count instead of comparing, take half as long as
    sorting whole keys. The few that have these 32 bits in common and differ are put apart after.
    """
    parts = np.ascontiguousarray(keys).view(np.uint16).reshape(-1, 4)
    order = np.argsort(parts[:, 2], kind="stable")
    order = order.take(np.argsort(parts[:, 3].take(order), kind="stable"))
    half, found = parts.view(np.uint32)[:, 1].take(order), keys.take(order)
    begins = np.append(True, half[1:] != half[:-1])[: len(keys)]
    differ = np.flatnonzero(~begins[1:] & (found[1:] != found[:-1]))
    if len(differ):
        run = np.cumsum(begins)
        some = np.flatnonzero(np.isin(run, run[differ]))
        order[some] = order[some[np.lexsort((found[some], run[some]))]]
    return np.asarray(order)


def _of_sessions(block: EventBlock, order: Array, begins: Array) -> Array:
    """Two values more of each event: whether the session was abandoned (at its first event), and whether the same
    was asked again in other words. `order` has the events of each session together, `begins` their first ones."""
    clicks, thumb = (block.values[VALUES.index(name)] for name in ("clicks", "thumb"))
    in_session, query = _in_session(block), block.ids[QUERY]
    known, content = ~np.isnan(clicks), (clicks > 0) | (thumb > 0)
    starts, others = np.flatnonzero(begins), np.flatnonzero(~begins)  # most sessions have one event
    first, later = order[starts], order[others]
    known_at, content_at = known[first], content[first]
    session = others - np.arange(1, len(others) + 1)  # the places of their first events among all first ones
    known_at[session[known[later]]] = True
    content_at[session[content[later]]] = True
    added = np.full((2, len(block)), np.nan, dtype=np.float32)
    added[0, first] = np.where(known_at & in_session[first], ~content_at, np.nan)
    added[1, (query != 0) & in_session] = 0
    one, next_one = order[others - 1], later
    follows = (block.time[next_one] - block.time[one] <= SOON) & (query[next_one] != query[one])
    follows &= (query[next_one] != 0) & (query[one] != 0)
    one, next_one = one[follows], next_one[follows]
    a, b = block.sketch[:, one], block.sketch[:, next_one]
    added[1, one[_bits(a & b) >= ALIKE * np.maximum(_bits(a | b), 1)]] = 1
    return added


def _bits(words: Array) -> Array:
    """How many bits are set in each column of words."""
    if not words.shape[1]:
        return np.zeros(0, dtype=np.int64)
    if hasattr(np, "bitwise_count"):  # from NumPy 2.0 on
        return np.asarray(np.bitwise_count(words).sum(axis=0, dtype=np.int64))
    as_bytes = np.ascontiguousarray(words.T).view(np.uint8).reshape(words.shape[1], -1)
    return np.asarray(np.unpackbits(as_bytes, axis=1).sum(1))


WINDOWS = ("hour", "day", "week", "month")
HOUR = 3600 * SECOND
MOST = 100_000
"""The largest number of windows of a log: more is due to a wrong clock."""


def zone_named(name: str) -> tzinfo:
    """The time zone of that name, such as Europe/Berlin."""
    if name == "UTC":
        return UTC
    from zoneinfo import ZoneInfo, available_timezones  # slow to import

    try:
        return ZoneInfo(name)
    except (TypeError, ValueError, OSError, LookupError) as error:  # ZoneInfoNotFoundError is a KeyError
        said = f"timezone: got {name!r}, expected a name like Europe/Berlin or UTC"
        raise not_known(said, name, available_timezones(), "give such a name") from error


class Calendar(Displayable):
    """Where windows begin, and which weekday and hour it is there, for times in microseconds."""

    def __init__(self, zone: tzinfo, window: str = "day") -> None:
        check_one_of("window", window, WINDOWS)
        self.zone, self.window = zone, window
        self._offsets: dict[int, int] = {}
        self._stamps: dict[int, str] = {}

    def _in_one_line(self) -> str:
        return f"<Calendar of one {self.window} each in {self.zone}>"

    def begins(self, first: int, last: int) -> Array:
        """The beginnings of all windows from the one that holds `first` to that after the one that holds `last`."""
        if self.window == "hour":
            offset = int(self._offset(np.array([first]))[0]) % HOUR
            start = (first + offset) // HOUR * HOUR - offset
            found = np.arange(start, last + HOUR + 1, HOUR, dtype=np.int64)
        else:
            days: list[int] = []
            at = self._local(first).date()
            month = self.window == "month"
            at = at.replace(day=1) if month else at - timedelta(days=at.weekday() if self.window == "week" else 0)
            while (not days or days[-1] <= last) and len(days) <= MOST:
                midnight = datetime(at.year, at.month, at.day, tzinfo=self.zone)
                days.append(round(midnight.timestamp()) * SECOND)
                at += timedelta(days=32 if month else 7 if self.window == "week" else 1)
                at = at.replace(day=1) if month else at
            found = np.array(days, dtype=np.int64)
        if len(found) > MOST:
            raise UsageError(
                f"window: the log spans more than {MOST:,} windows of one {self.window}. "
                "Next: give a longer window, or look for wrong times in the log."
            )
        return found

    def windows_between(self, first: int, last: int) -> int:
        """About how many windows lie between two times."""
        return (last - first) // {"hour": HOUR, "day": 24 * HOUR, "week": 168 * HOUR, "month": 720 * HOUR}[self.window]

    def label(self, time: int) -> str:
        """The local time at which a window begins, as text: 2025-03-30 for a day, with the hour for an hour."""
        local = self._local(time)
        return local.isoformat(timespec="minutes") if self.window == "hour" else local.date().isoformat()

    def stamp(self, time: int) -> str:
        """A local time as text; that of a window is asked for once for each metric."""
        if time not in self._stamps:
            self._stamps[time] = self._local(time).isoformat(timespec="seconds")
        return self._stamps[time]

    def weekday_and_hour(self, time: Array) -> tuple[Array, Array]:
        """0 (Monday) to 6, and 0 to 23, by the clock on the wall."""
        local = time + self._offset(time)
        return (local // (24 * HOUR) + 3) % 7, local // HOUR % 24

    def _local(self, time: int) -> datetime:
        return datetime.fromtimestamp(time / SECOND, self.zone)

    def _offset(self, time: Array) -> Array:
        """The offset of the local clock from UTC, looked up once a quarter of an hour."""
        if self.zone is UTC:
            return np.zeros(len(time), dtype=np.int64)
        quarters, place = np.unique(time // (HOUR // 4), return_inverse=True)
        for at in quarters.tolist():
            if at not in self._offsets:
                local = self._local(at * (HOUR // 4))
                self._offsets[at] = round((local.utcoffset() or timedelta()).total_seconds()) * SECOND
        return np.array([self._offsets[at] for at in quarters.tolist()], dtype=np.int64)[place]
