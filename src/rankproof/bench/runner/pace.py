"""A rate limit that many threads or tasks share."""

from __future__ import annotations

from collections.abc import Callable
from math import floor
from threading import Lock
from time import monotonic

SLACK = 1.02
"""Calls take a little time to arrive, some less than others: so much longer are the pauses between them."""


class Pace:
    """Gives everyone a moment to begin: in no second more than `rate`, and none during a pause.

    >>> moments = iter([0.0, 0.0, 0.5, 0.6])
    >>> pace = Pace(2.0, lambda: next(moments))
    >>> pace.turn(), round(pace.turn(), 2), round(pace.turn(), 2), pace.turn()
    (0.0, 0.51, 0.01, 0.0)
    """

    def __init__(self, rate: float | None, clock: Callable[[], float] = monotonic) -> None:
        # A window of a second that begins with a call may hold as many whole calls as `rate` says, and no part of one.
        self._gap = 0.0 if rate is None else SLACK / (floor(rate) if rate >= 1 else rate)
        self._clock = clock
        self._free = 0.0
        self._lock = Lock()

    def turn(self) -> float:
        """Begin now, which 0 says; else the seconds after which to ask again.

        A moment is taken when it has come: one that was given out before could be used late, and the next in time.
        """
        if not self._gap and not self._free:
            return 0.0
        with self._lock:
            now = self._clock()
            if now < self._free:
                return self._free - now
            self._free = now + self._gap
        return 0.0

    def pause(self, seconds: float) -> None:
        """Let nobody begin for so long: the other side asked for it."""
        with self._lock:
            self._free = max(self._free, self._clock() + seconds)
