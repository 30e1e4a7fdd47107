"""Hours, days, weeks and months in a time zone: a day of 23 or 25 hours is one day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo

import numpy as np

from rankproof.core.hits import Array
from rankproof.document.model import Displayable
from rankproof.errors import UsageError, nearest, one_of
from rankproof.monitoring.sessions import SECOND

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
        raise UsageError(
            f"timezone: got {name!r}, expected a name like Europe/Berlin or UTC."
            f"{nearest(str(name), available_timezones())} Next: give such a name."
        ) from error


class Calendar(Displayable):
    """Where windows begin, and which weekday and hour it is there, for times in microseconds."""

    def __init__(self, zone: tzinfo, window: str = "day") -> None:
        if window not in WINDOWS:
            raise one_of("window", window, WINDOWS)
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
        quarter = time // (HOUR // 4)
        least = int(quarter.min())
        present = (
            np.flatnonzero(np.bincount(quarter - least)) if np.ptp(quarter) < 10_000_000 else np.unique(quarter - least)
        )
        table = np.zeros(int(present[-1]) + 1, dtype=np.int64)
        for each in present.tolist():
            at = each + least
            if at not in self._offsets:
                local = self._local(at * (HOUR // 4))
                self._offsets[at] = round((local.utcoffset() or timedelta()).total_seconds()) * SECOND
            table[each] = self._offsets[at]
        return np.asarray(table[quarter - least])
