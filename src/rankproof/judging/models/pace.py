"""How many calls are under way at once: more while all goes well, half as many when the service says slow down.

Until it says so for the first time the number doubles by the round, then it grows by a quarter.
"""

from __future__ import annotations

import asyncio
from types import TracebackType

from rankproof.display import Displayable

FIRST = 8
"""Calls at once to begin with."""


class Pace(Displayable):
    """A gate that widens with each round of good replies, and halves when the service is overloaded.

    >>> pace = Pace(most=64)
    >>> pace.slower(); pace.width
    4
    """

    def __init__(self, most: int, first: int = FIRST) -> None:
        self.most = most
        self.width = min(first, most)
        self._inside = 0
        self._good = 0
        self._crowded = False
        self._changed: asyncio.Condition | None = None

    def open(self) -> None:
        """Begin in a new event loop, as wide as was good before."""
        self._inside, self._changed = 0, None

    async def __aenter__(self) -> None:
        condition = self._condition()
        async with condition:
            await condition.wait_for(lambda: self._inside < self.width)
            self._inside += 1

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
