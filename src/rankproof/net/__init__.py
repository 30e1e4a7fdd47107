"""When to ask, when to ask again, and how long to wait: pace, Retry-After and the one retry loop.

The loop, `attempts`, decides, and neither asks nor sleeps: threads, tasks of an event loop and plain calls drive it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import floor
from random import uniform
from threading import Lock
from time import monotonic, sleep
from types import TracebackType
from typing import Protocol, TypeAlias, TypeVar

from rankproof.document.display import Displayable
from rankproof.errors import UsageError

AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
"""Statuses after which the same request may succeed."""
CROWDED = frozenset({429, 503, 529})
"""Those that say there are too many requests."""
LONGEST = 200
"""Characters of a reason that are kept."""
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class Failed(Exception):
    """There is no usable answer; `again` says whether asking again may help, `wait` for how long not to."""

    def __init__(self, reason: str, *, again: bool = False, wait: float = 0.0) -> None:
        # Where an object is in memory says nothing, and would make every reason one of its own.
        self.reason = _ADDRESS.sub("", reason)
        super().__init__(self.reason)
        self.again = again
        self.wait = wait
        self.attempts = 1
        """How often was asked, this time included."""
        self.fatal: UsageError | None = None
        """Set where the next questions would meet the same."""


def failure_of(error: BaseException) -> Failed:
    """What was raised, in one line; asking again may help.

    >>> failure_of(ValueError("no index\\nat all")).reason
    'ValueError: no index at all'
    """
    if isinstance(error, Failed):
        return error
    words = " ".join(f"{type(error).__name__}: {error}".split()).removesuffix(":")
    return Failed(words if len(words) <= LONGEST else f"{words[:LONGEST]}...", again=True)


def retry_after(headers: Mapping[str, str]) -> float:
    """Seconds that the other side asks to wait, given as such or as a date; 0 if it says neither.

    >>> [retry_after({"retry-after": each}) for each in ("1.5", "soon", "Wed, 21 Oct 2015 07:28:00 GMT")]
    [1.5, 0.0, 0.0]
    """
    text = next((value for name, value in headers.items() if name.lower() == "retry-after"), "").strip()
    if re.fullmatch(r"[0-9]{1,12}(\.[0-9]*)?", text):
        return float(text)
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0.0
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max((moment - datetime.now(UTC)).total_seconds(), 0.0)


# --- pace and retries ------------------------------------------------------------------------------

SLACK = 1.02
"""Calls take a little time to arrive, some less than others: so much longer are the pauses between them."""
FIRST = 8
"""Calls at once to begin with."""


class Pace(Displayable):
    """When the next call may begin: at most `rate` in any second, at most `width` at once, none during a pause.

    >>> moments = iter([0.0, 0.0, 0.5, 0.6])
    >>> pace = Pace(2.0, lambda: next(moments))
    >>> pace.turn(), round(pace.turn(), 2), round(pace.turn(), 2), pace.turn()
    (0.0, 0.51, 0.01, 0.0)

    As a gate (`async with pace`) for tasks of an event loop, it widens with each round of good replies up to
    `most`, and halves when the service is overloaded.

    >>> pace = Pace(most=64)
    >>> pace.slower(); pace.width
    4
    """

    def __init__(
        self,
        rate: float | None = None,
        clock: Callable[[], float] = monotonic,
        *,
        most: int = FIRST,
        first: int = FIRST,
    ) -> None:
        # A window of a second that begins with a call may hold as many whole calls as `rate` says, and no part of one.
        self._gap = 0.0 if rate is None else SLACK / (floor(rate) if rate >= 1 else rate)
        self._clock = clock
        self._free = self._paused = 0.0
        self._lock = Lock()
        self.most = most
        self.width = min(first, most)
        self._inside = self._good = 0
        self._crowded = False
        self._changed: asyncio.Condition | None = None

    def turn(self) -> float:
        """Begin now, which 0 says; else the seconds after which to ask again.

        A moment is taken when it has come: one that was given out before could be used late, and the next in time.
        """
        if not self._gap:
            return self.pause_left()
        with self._lock:
            now = self._clock()
            begin = max(self._free, self._paused)
            if now < begin:
                return begin - now
            self._free = now + self._gap
        return 0.0

    def pause(self, seconds: float) -> None:
        """Let nobody begin for so long: the other side asked for it."""
        with self._lock:
            self._paused = max(self._paused, self._clock() + seconds)

    def pause_left(self) -> float:
        """The seconds that are left of a pause."""
        return max(0.0, self._paused - self._clock()) if self._paused else 0.0

    def open(self) -> None:
        """Begin in a new event loop, as wide as was good before."""
        self._inside, self._changed = 0, None

    async def __aenter__(self) -> None:
        condition = self._condition()
        while True:
            async with condition:
                await condition.wait_for(lambda: self._inside < self.width)
                if not (wait := self.pause_left()):
                    self._inside += 1
                    return
            await asyncio.sleep(wait)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        condition = self._condition()
        async with condition:
            self._inside -= 1
            condition.notify(max(0, self.width - self._inside))

    def faster(self) -> None:
        """One more reply came in time; a round of them widens the gate."""
        self._good += 1
        if self._good >= self.width and self.width < self.most:
            more = max(1, self.width // 4) if self._crowded else self.width
            self.width, self._good = min(self.width + more, self.most), 0

    def slower(self) -> None:
        """The service had too much to do."""
        self.width, self._good, self._crowded = max(1, self.width // 2), 0, True

    def _condition(self) -> asyncio.Condition:
        if self._changed is None:
            self._changed = asyncio.Condition()
        return self._changed


LONGEST_WAIT = 120.0
"""Seconds; who asks for a longer wait has failed."""
LONGEST_PAUSE = 30.0
"""Seconds up to which pauses double, unless the first is longer."""


@dataclass(frozen=True, slots=True)
class Retries(Displayable):
    """How often something is tried, and how long is waited in between."""

    tries: float = 1
    pause: float = 0.5

    def allow(self, attempt: int, failure: Failed) -> bool:
        """Whether a failed attempt is followed by another."""
        return failure.again and attempt < self.tries and failure.wait <= LONGEST_WAIT

    def delay(self, attempt: int, failure: Failed) -> float:
        """Seconds before the next attempt: what was asked for, or longer; never in step with others.

        >>> retries = Retries(4, pause=0.5)
        >>> 1 <= retries.delay(2, Failed("busy")) <= 1.25, retries.delay(2, Failed("busy", wait=7.0))
        (True, 7.0)
        """
        pause = min(self.pause * 2 ** min(attempt - 1, 64), max(self.pause, LONGEST_PAUSE))
        return float(max(failure.wait, pause * uniform(1, 1.25)))


ONCE = Retries()


class Tried(Protocol):
    """What became of one attempt."""

    @property
    def failure(self) -> Failed | None:
        """Why there is no answer; None if there is one."""


T = TypeVar("T", bound=Tried)
Attempts: TypeAlias = Generator[float | None, T | None, tuple[T, int]]
"""Yields seconds to wait, or None to ask, and is then sent what came of it; gives the last, and how many there were."""


def attempts(retries: Retries, pace: Pace, first: T | None = None) -> Attempts[T]:
    """The retry loop: the attempts at one request, after the `first` if that was made already."""
    number, tried = 0, first
    while True:
        number += 1
        if tried is None:
            while wait := pace.turn():
                yield wait
            while tried is None:
                tried = yield None
        failure = tried.failure
        if failure is None:
            return tried, number
        failure.attempts = number
        if not retries.allow(number, failure):
            return tried, number
        if failure.wait:
            pace.pause(failure.wait)
        tried = None
        yield retries.delay(number, failure)


def settle(course: Attempts[T], ask: Callable[[], T], pause: Callable[[float], object] = sleep) -> T:
    """The last of the attempts; `pause` waits between them."""
    tried: T | None = None
    while True:
        try:
            wait = course.send(tried)
        except StopIteration as end:
            return end.value[0]  # type: ignore[no-any-return]
        tried = ask() if wait is None else None
        if wait is not None:
            pause(wait)


async def settle_in_loop(course: Attempts[T], ask: Callable[[], Awaitable[T]]) -> T:
    """The same in an event loop."""
    tried: T | None = None
    while True:
        try:
            wait = course.send(tried)
        except StopIteration as end:
            return end.value[0]  # type: ignore[no-any-return]
        tried = await (ask() if wait is None else asyncio.sleep(wait))
