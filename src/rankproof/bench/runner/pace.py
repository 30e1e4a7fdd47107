"""A rate limit that many threads or tasks share."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from time import monotonic


class Pace:
    """Gives everyone a moment to begin: no more than `rate` a second, and none during a pause.

    >>> moments = iter([0.0, 0.0, 0.0])
    >>> pace = Pace(2.0, lambda: next(moments))
    >>> pace.turn(), pace.turn(), pace.turn()
    (0.0, 0.5, 1.0)
    """

    def __init__(self, rate: float | None, clock: Callable[[], float] = monotonic) -> None:
        self._gap = 0.0 if rate is None else 1 / rate
        self._clock = clock
        self._free = 0.0
        self._lock = Lock()

    def turn(self) -> float:
        """Take the next moment; the seconds until then."""
        if not self._gap and not self._free:
            return 0.0
        with self._lock:
            now = self._clock()
            begin = max(now, self._free)
            self._free = begin + self._gap
        return begin - now

    def pause(self, seconds: float) -> None:
        """Let nobody begin for so long: the other side asked for it."""
        with self._lock:
            self._free = max(self._free, self._clock() + seconds)
