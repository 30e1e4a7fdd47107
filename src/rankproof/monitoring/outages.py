"""Outages: hours with no or almost no events, a source that went silent, a burst of errors; with start and end.

Events are counted in steps of five minutes. The usual number at a time is that of the days before, by weekday
and hour, with its variation. The period for which "a ten-thousandth of the usual" (for errors:
"many times the usual") explains the counts best is an outage, if it explains them so much better that a log
without outages would show one only 5 times in 100 (a likelihood ratio beyond the number of steps).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from rankproof.core.hits import Array
from rankproof.document.model import Displayable
from rankproof.monitoring.event_block import VALUES, Codes, EventBlock
from rankproof.monitoring.sessions_and_windows import SECOND, Calendar

STEP = 300 * SECOND
OF_DAY = 86_400 * SECOND // STEP
GRAINS = (OF_DAY, OF_DAY // 2, OF_DAY // 4, 36, 24, 12, 6, 4, 3, 2)
"""Steps that a log may write one time for: a day, some hours, an hour, some minutes."""
FEWEST_DAYS = 3
"""Days that a log must span: in a shorter one it is not known what is usual at an hour."""
MOST_COUNTS = 20_000_000
"""Counts that are held, of all sources; about two centuries of one, or three years of sixty. More is not searched."""
ALPHA = 0.05
SILENT = 1e-4
"""The share of what is usual that is left in an outage; with it, up to a tenth of what is usual speaks for one."""
BEFORE = 7
"""Days from which the usual level is taken."""
BURST, OFTEN = 10.0, 0.3
"""In a burst errors are so many times as frequent as before, and so frequent at least."""
AROUND = OF_DAY // 2
"""Steps on each side that show how busy it is around a silence."""
LONGEST = 3
"""Days that a burst lasts at most: what lasts longer is a change."""
ERROR_FIELDS = frozenset({"error", "errors", "failed", "failure", "is_error", "timeout"})
"""Fields (`fields=`) that say whether an event failed, if they are above a half."""


@dataclass(frozen=True)
class Outage(Displayable):
    """A stretch of time in which something failed."""

    kind: str
    """silence (no events, or nearly none), source (one value of a slice is silent), or burst (of errors)."""
    what: str
    """The source as field=value, or the metric of a burst; "" for all events."""
    start: int
    end: int
    """Microseconds since 1970, to five minutes."""
    lasts: bool
    """Whether it goes on at the end of the log."""
    seen: int
    """Events, or errors, in this time."""
    usual: float
    """The usual number for this time."""


class StepCounts:
    """How many events, events of each source, and errors there are in each step of time."""

    def __init__(self, by: Sequence[str], codes: Sequence[Codes], fields: Sequence[str] = ()) -> None:
        self._by, self._codes, self._fields = tuple(by), codes, tuple(fields)
        self._first = self._size = 0
        self._rows: dict[tuple[str, str], Array] = {}
        """Counts from the first step on, of each source."""
        self.vast = False
        """Whether the log spans so long that it is not searched."""

    def add(self, block: EventBlock) -> None:
        """Count these events."""
        step = block.time // STEP
        if not self.vast:
            self._reach(int(step.min()), int(step.max()) + 1)
        if self.vast:
            return
        self._count(("", ""), step)
        for name, code, known in zip(self._by, block.slices, self._codes, strict=True):
            for at in np.flatnonzero(np.bincount(code[code >= 0])).tolist():
                self._count((name, known.names[at]), step[code == at])
        values = dict(zip((*VALUES, *self._fields), block.values, strict=False))
        for name in ("results", "abstained", *(each for each in self._fields if each in ERROR_FIELDS)):
            failed = values[name] == 0 if name == "results" else values[name] > 0.5
            error = {"results": "no_result", "abstained": "dont_know"}.get(name, name)
            self._count(("!", error), step[failed])
            self._count(("?", error), step[~np.isnan(values[name])])

    def _reach(self, first: int, end: int) -> None:
        """Make room for these steps, if there is enough memory."""
        if not self._rows:
            self._first, self._size = first, end - first
        before, after = max(self._first - first, 0), max(end - self._first - self._size, 0)
        if (before + self._size + after) * (len(self._rows) + 1) > MOST_COUNTS:
            self.vast, self._rows = True, {}
        elif before or after:
            after += OF_DAY if after else 0  # a day more, so that a stream does not copy at each block
            self._rows = {key: np.pad(row, (before, after)) for key, row in self._rows.items()}
            self._first, self._size = self._first - before, self._size + before + after

    def _count(self, key: tuple[str, str], step: Array) -> None:
        if len(step):
            first = int(step.min())  # a block is a part of the log: few steps of all
            counts, begin = np.bincount(step - first), first - self._first
            row = self._rows.setdefault(key, np.zeros(self._size, dtype=np.int32))
            row[begin : begin + len(counts)] += counts.astype(np.int32)

    def outages(self, calendar: Calendar) -> list[Outage]:
        """All failures in order of time."""
        whole = self._rows.get(("", ""))
        if self.vast or whole is None:
            return []
        filled = np.flatnonzero(whole)
        begin, end = int(filled[0]), int(filled[-1]) + 1
        if end - begin < FEWEST_DAYS * OF_DAY:
            return []
        grain = _grain(filled - begin)
        end = begin + -(-(end - begin) // grain) * grain
        rows = {key: np.pad(row, (0, max(end - self._size, 0)))[begin:end] for key, row in self._rows.items()}
        if grain > 1:
            rows = {key: np.repeat(row.reshape(-1, grain).mean(axis=1), grain) for key, row in rows.items()}
        self._rows = rows
        self._first += begin
        return sorted(self._found(calendar, end - begin), key=lambda each: (each.start, each.kind, each.what))

    def _found(self, calendar: Calendar, size: int) -> Iterator[Outage]:
        """All of them; a source is silent only while others are not."""
        weekday, hour = calendar.weekday_and_hour((self._first + np.arange(size)) * STEP)
        rows = {key: row.astype(np.float64) for key, row in self._rows.items()}
        errors = [name for mark, name in rows if mark == "!"]
        sources = [key for key in rows if key[0] not in ("", "!", "?")]
        limit = math.log(size * (1 + len(sources) + len(errors)) / ALPHA)
        whole = rows["", ""]
        weeks = size >= 14 * OF_DAY
        usual = _usual(whole, weekday if weeks else None, hour)
        # In a log of less than two weeks it is not known what weekends are like.
        surely = usual if weeks else np.where(weekday >= 5, 0.0, usual)
        evidence = _evidence(whole, surely) / (rough := _roughness(whole, usual))
        for start, stop in _silences(whole, surely, evidence, rough, limit):
            yield self._outage("silence", "", (start, stop), whole, usual)
        for name, value in sources:
            first = int(np.flatnonzero(rows[name, value])[0])
            own, total, calm = rows[name, value][first:], whole[first:], surely[first:]
            share = _before(own, total, 1e-6)
            expected = _before(own, calm) * calm
            # Neither a calm time of all sources nor another one that takes a part of this is a silence.
            beside = own * math.log(SILENT) + (total - own) * np.log((1 - SILENT * share) / (1 - share))
            rough = _roughness(own, expected)
            evidence = np.minimum(beside / _roughness(own, share * total), _evidence(own, expected) / rough)
            row = np.concatenate([np.zeros(first), expected])
            for start, stop in _silences(own, expected, evidence, rough, limit):
                yield self._outage("source", f"{name}={value}", (first + start, first + stop), rows[name, value], row)
        for name in errors:
            bad, among = rows["!", name], rows["?", name]
            share = _before(bad, among, 0.005)
            high = np.minimum(np.maximum(BURST * share, OFTEN), (9 + share) / 10)
            evidence = bad * np.log(high / share) + (among - bad) * np.log((1 - high) / (1 - share))
            for place in stretches(evidence / _roughness(bad, share * among), limit):
                if place[1] - place[0] <= LONGEST * OF_DAY:
                    yield self._outage("burst", name, place, bad, share * among)

    def _outage(self, kind: str, what: str, place: tuple[int, int], counts: Array, usual: Array) -> Outage:
        start, end = ((self._first + each) * STEP for each in place)
        seen, wanted = (float(row[slice(*place)].sum()) for row in (counts, usual))
        return Outage(kind, what, start, end, place[1] >= len(counts), round(seen), wanted)


def _grain(filled: Array) -> int:
    """For how many steps a time may stand, as where events are stamped with their hour: then each was somewhen in it.

    >>> _grain(np.arange(100) * 12), _grain(np.arange(100)), _grain(np.array([0, 1, 12, 40, 60]))
    (12, 1, 1)
    """
    for grain in GRAINS:
        steps = np.bincount(filled // grain)
        if (steps > 1).sum() <= 0.01 * (steps > 0).sum():
            return grain
    return 1


def _evidence(counts: Array, usual: Array) -> Array:
    """The logarithm by which next to nothing explains the counts better than what is usual."""
    return np.asarray(usual * (1 - SILENT) + counts * math.log(SILENT))


def _silences(counts: Array, usual: Array, evidence: Array, rough: float, limit: float) -> Iterator[tuple[int, int]]:
    """Where next to nothing came of what is usual; to the next event where silence has become usual.

    It must be one for how busy things are around it as well: a holiday is calm, and its pauses are long.
    """
    for start, end in stretches(evidence, limit):
        stop = end
        while stop < len(counts) and not evidence[stop] and not counts[stop]:
            stop += 1
        around = np.r_[max(start - AROUND, 0) : start, stop : min(stop + AROUND, len(counts))]
        busy = min(1.0, float(counts[around].sum()) / max(float(usual[around].sum()), 1e-9))
        if float(_evidence(counts[start:end], busy * usual[start:end]).sum()) > limit * rough:
            yield start, stop


def _usual(counts: Array, weekday: Array | None, hour: Array) -> Array:
    """What is usual at each step: the level of the days before, by hour and weekday."""
    season = np.ones(len(counts))
    for labels in (hour, weekday):
        if labels is not None:
            rate = np.bincount(labels, counts) / np.maximum(np.bincount(labels, season), 1e-9)
            season = season * rate[labels]
    season /= max(float(season.mean()), 1e-12)
    return _before(counts, season) * season


def _before(counts: Array, weights: Array, least: float = 0.0) -> Array:
    """Counts by weight in the days before each step; their median, so that an outage does not pass for usual.

    That of the standard library: NumPy's imports masked arrays, and takes long for few values.
    """
    day = np.arange(len(counts)) // OF_DAY
    seen, wanted = np.bincount(day, counts), np.bincount(day, weights)
    known = (wanted > 0.25 * median(wanted.tolist())).tolist()  # a day that has just begun says nothing
    ratio = (seen / np.maximum(wanted, 1e-300)).tolist()
    level, last = np.zeros(len(seen)), 0.0
    for at in range(len(seen)):
        span = range(at - BEFORE, at) if at >= BEFORE else range(min(BEFORE, len(seen)))
        days = [ratio[each] for each in span if known[each]]
        last = median(days) if days else last
        level[at] = last
    return np.asarray(np.clip(level, least, 1 - 1e-6)[day] if least else level[day])


def _roughness(counts: Array, usual: Array) -> float:
    """By how much counts are less steady than those of independent events, within a day.

    What makes a whole day busy or calm makes no silence, so each day is taken at its own level. The median does not
    look at outages; 0.455 is that of a chi-squared with one degree of freedom.
    """
    parts = np.arange(0, len(counts), OF_DAY // 24)
    seen, wanted = np.add.reduceat(counts, parts), np.add.reduceat(usual, parts)
    day = np.arange(len(parts)) // 24
    wanted = wanted * (np.bincount(day, seen) / np.maximum(np.bincount(day, wanted), 1e-9))[day]
    some = wanted > 1
    if some.sum() < 12:
        return 1.0
    return max(1.0, float(median(((seen[some] - wanted[some]) ** 2 / wanted[some]).tolist()) / 0.455))


def stretches(evidence: Array, limit: float) -> list[tuple[int, int]]:
    """The stretches whose evidence adds up beyond a limit, each as long as that makes it most.

    >>> stretches(np.array([-1.0, 2, 3, -1, 2, -9, 1]), 5)
    [(1, 5)]
    """
    found: list[tuple[int, int]] = []
    total = np.cumsum(evidence)
    above = total - np.minimum(np.minimum.accumulate(total), 0)
    # Where so much lies above the least total before it, from that one on to the next as low; hardly anywhere.
    lows = np.flatnonzero(above <= 0)
    for low in sorted(set(np.searchsorted(lows, np.flatnonzero(above > limit)).tolist())):
        first = int(lows[low - 1]) + 1 if low else 0
        found.extend(_stretches_of(evidence[first : lows[low] + 1 if low < len(lows) else None], limit, first))
    return found


def _stretches_of(evidence: Array, limit: float, first: int) -> Iterator[tuple[int, int]]:
    """The same of a part that begins at a place, step by step."""
    total, most, start, stop = 0.0, 0.0, 0, 0
    for at, each in enumerate([*evidence.tolist(), -math.inf], first):
        if total <= 0:
            total, most, start, stop = 0.0, 0.0, at, at
        total += each
        if total > most:
            most, stop = total, at + 1
        if total < most - limit or total <= 0:
            if most > limit:
                yield start, stop
            total = most = 0.0
