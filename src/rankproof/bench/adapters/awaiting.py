"""What has to be awaited: coroutines and other awaitables, and what comes bit by bit from an async generator."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Any

MOST = 100_000
"""So many documents are taken of what comes bit by bit: a generator may have no end."""


async def awaited(value: Any) -> Any:
    """What an awaitable gives; of an async iterator all that it gives."""
    found = await value if inspect.isawaitable(value) else value
    if not hasattr(type(found), "__aiter__"):
        return found
    every: list[Any] = []
    async for each in found:
        every.append(each)
        if len(every) == MOST:
            break
    return every


class Waiter:
    """Waits for one after the other in the same event loop, as clients want it that keep connections in theirs.

    >>> async def search(text): return [text]
    >>> waiter = Waiter()
    >>> waiter(search("d1")), waiter(["d2"])
    (['d1'], ['d2'])
    >>> waiter.close()
    """

    def __init__(self) -> None:
        self._runner = asyncio.Runner()  # makes no loop until it is needed

    def __call__(self, value: Any) -> Any:
        """The value, awaited where it is to be."""
        if isinstance(value, list) or not (inspect.isawaitable(value) or hasattr(type(value), "__aiter__")):
            return value
        return _off_loop(lambda: self._runner.run(awaited(value)))

    def close(self) -> None:
        """End the loop, unless something that nobody waits for any more still runs in it."""
        with suppress(RuntimeError):
            _off_loop(self._runner.close)


def _off_loop(do: Callable[[], Any]) -> Any:
    """What a function gives that needs a thread without a running loop, which a notebook's has."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return do()
    kept = _Kept()
    thread = Thread(target=kept.take, args=(do,), daemon=True)
    thread.start()
    thread.join()
    if kept.error is not None:
        raise kept.error
    return kept.value


class _Kept:
    """What a function gave or raised in another thread: either belongs to whoever asked."""

    def __init__(self) -> None:
        self.value: Any = None
        self.error: BaseException | None = None

    def take(self, do: Callable[[], Any]) -> None:
        with self:
            self.value = do()

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        self.error = error
        return True


def finished(value: Any) -> Any:
    """The value, awaited where it is to be."""
    waiter = Waiter()
    try:
        return waiter(value)
    finally:
        waiter.close()
