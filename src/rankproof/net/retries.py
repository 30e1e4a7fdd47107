"""When to call, when to retry, and how long to wait: pace, Retry-After and the one retry loop.

The loop, `attempts`, only decides, and neither calls nor sleeps: threads, tasks of an event loop and plain calls
drive it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import floor
from random import Random
from threading import Lock
from time import monotonic, sleep
from typing import Protocol, TypeAlias, TypeVar

from rankproof.document.model import Displayable
from rankproof.errors import UserCode

AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504, *range(520, 531)})
"""Statuses after which the same request may succeed."""
TIMED_OUT = frozenset({408, 504, 522, 524})
"""Those of them where somebody waited as long as they would."""
CROWDED = frozenset({429, 503, 529})
"""Statuses for too many requests."""
LONGEST = 200
"""The number of characters of a reason that are kept."""
_CHANCE = Random()  # its own, so that waiting changes nothing for a caller who seeded the random numbers
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class Failed(Exception):
    """No usable answer; `again` says whether a retry may help, `wait` how many seconds to wait first.

    `late` says whether its time ran out: an answer would have taken longer.
    """

    def __init__(self, reason: str, *, again: bool = False, wait: float = 0.0, late: bool = False) -> None:
        # The memory address of an object says nothing, and would make every reason unique.
        self.reason = _ADDRESS.sub("", reason)
        super().__init__(self.reason)
        self.again = again
        self.wait = wait
        self.late = late
        self.attempts = 1
        """The number of attempts, including this one."""


def failure_of(error: BaseException) -> Failed:
    """The exception in one line; a retry may help.

    >>> failure_of(ValueError("no index\\nat all")).reason
    'ValueError: no index at all'
    """
    if isinstance(error, Failed):
        return error
    said = ""
    with suppress(Exception):  # an exception of a user's may not even say what it is
        said = str(error)
    function, mark, _ = next(iter(getattr(error, "__notes__", ())), "").partition(UserCode.FAILED_ON)
    words = " ".join(f"{function + ': ' if mark else ''}{type(error).__name__}: {said}".split()).removesuffix(":")
    # Clients have their own: ReadTimeout, ConnectionTimeout, APITimeoutError.
    late = any("Timeout" in kind.__name__ for kind in type(error).__mro__)
    return Failed(words if len(words) <= LONGEST else f"{words[:LONGEST]}...", again=True, late=late)


def retry_after(headers: Mapping[str, str]) -> float:
    """The seconds that the server asks to wait, given as a number, of milliseconds too, or as a date; 0 if it does not.

    >>> [retry_after({"retry-after": each}) for each in ("1.5", "soon", "Wed, 21 Oct 2015 07:28:00 GMT")]
    [1.5, 0.0, 0.0]
    >>> retry_after({"retry-after-ms": "250", "retry-after": "1"})  # as OpenAI's services say it
    0.25
    """
    given = {name.lower(): value.strip() for name, value in headers.items()}
    for name, second in (("retry-after-ms", 1000), ("retry-after", 1)):
        if re.fullmatch(r"[0-9]{1,12}(\.[0-9]*)?", given.get(name, "")):
            return float(given[name]) / second
    try:
        moment = parsedate_to_datetime(given.get("retry-after", ""))
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0.0
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max((moment - datetime.now(UTC)).total_seconds(), 0.0)


SLACK = 1.02
"""Seconds added to the pauses between calls, as calls arrive after varying delays."""
FIRST = 8
"""The initial number of concurrent calls."""


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

    def __init__(self, rate: float | None = None, clock: Callable[[], float] = monotonic, *, most: int = FIRST) -> None:
        # A window of a second that begins with a call may hold as many whole calls as `rate` allows.
        self._gap = 0.0 if rate is None else SLACK / (floor(rate) if rate >= 1 else rate)
        self._clock = clock
        self._free = self._paused = 0.0
        self._lock = Lock()
        self.most = most
        self.width = min(FIRST, most)
        self._inside = self._good = 0
        self._crowded = False
        self._changed = asyncio.Condition()

    def turn(self) -> float:
        """0 to begin now, else the seconds after which to ask again.

        A slot is taken only when its time has come: one given out in advance could be used late, with the next on time.
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
        """Start no call for this long, as the server asked."""
        with self._lock:
            self._paused = max(self._paused, self._clock() + seconds)

    def pause_left(self) -> float:
        """The seconds that are left of a pause."""
        return max(0.0, self._paused - self._clock()) if self._paused else 0.0

    def open(self) -> None:
        """Begin in a new event loop, with the width reached before."""
        self._inside, self._changed = 0, asyncio.Condition()

    async def __aenter__(self) -> None:
        while True:
            async with self._changed:
                await self._changed.wait_for(lambda: self._inside < self.width)
                if not (wait := self.pause_left()):
                    self._inside += 1
                    return
            await asyncio.sleep(wait)

    async def __aexit__(self, *_: object) -> None:
        async with self._changed:
            self._inside -= 1
            self._changed.notify(max(0, self.width - self._inside))

    def faster(self) -> None:
        """Count a reply in time; a round of them widens the gate."""
        self._good += 1
        if self._good >= self.width and self.width < self.most:
            more = max(1, self.width // 4) if self._crowded else self.width
            self.width, self._good = min(self.width + more, self.most), 0

    def slower(self) -> None:
        """Count a sign of overload."""
        self.width, self._good, self._crowded = max(1, self.width // 2), 0, True


LONGEST_WAIT = 120.0
"""Seconds; a server that asks for a longer wait counts as failed."""
LONGEST_PAUSE = 30.0
"""Seconds up to which pauses double, unless the first is longer."""


@dataclass(frozen=True, slots=True)
class Retries(Displayable):
    """The number of attempts, and the waits between them."""

    tries: float = 1
    pause: float = 0.5

    def allow(self, attempt: int, failure: Failed) -> bool:
        """Whether a failed attempt is followed by another."""
        return failure.again and attempt < self.tries and failure.wait <= LONGEST_WAIT

    def delay(self, attempt: int, failure: Failed) -> float:
        """Seconds before the next attempt: at least what the server asked for, with jitter.

        >>> retries = Retries(4, pause=0.5)
        >>> 1 <= retries.delay(2, Failed("busy")) <= 1.25, retries.delay(2, Failed("busy", wait=7.0))
        (True, 7.0)
        """
        pause = min(self.pause * 2 ** min(attempt - 1, 64), max(self.pause, LONGEST_PAUSE))
        return float(max(failure.wait, pause * _CHANCE.uniform(1, 1.25)))


ONCE = Retries()


class Tried(Protocol):
    """The result of one attempt."""

    @property
    def failure(self) -> Failed | None:
        """Why there is no answer; None if there is one."""


T = TypeVar("T", bound=Tried)
Attempts: TypeAlias = Generator[float | None, T | None, tuple[T, int]]
"""Yields seconds to wait, or None to ask, and is then sent the result; returns the last one and the attempts."""


def attempts(retries: Retries, pace: Pace) -> Attempts[T]:
    """The retry loop: the attempts at one request."""
    number = 0
    while True:
        number += 1
        while wait := pace.turn():
            yield wait
        tried = yield None
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
        yield retries.delay(number, failure)


def settle(course: Attempts[T], ask: Callable[[], T], pause: Callable[[float], object] = sleep) -> T:
    """The result of the last attempt; `pause` waits between attempts."""
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
