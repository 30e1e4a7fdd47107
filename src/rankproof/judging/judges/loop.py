"""One synchronous door to asynchronous work: in a script, in a notebook, and inside a loop that runs already."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")
Place = tuple[asyncio.AbstractEventLoop, "asyncio.Task[Any]"]


def run(work: Coroutine[Any, Any, T]) -> T:
    """What the work gives; where a loop runs already, it is done by a loop of its own in another thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    return _elsewhere(work)


def _elsewhere(work: Coroutine[Any, Any, T]) -> T:
    """The work in another thread; an interruption of this one ends it there."""
    began: Future[Place] = Future()

    async def told() -> T:
        task = asyncio.current_task()
        if task is not None:
            began.set_result((asyncio.get_running_loop(), task))
        return await work

    with ThreadPoolExecutor(1) as thread:
        done = thread.submit(asyncio.run, told())
        try:
            return done.result()
        except BaseException:  # Ctrl-C comes to this thread alone, and must end the work in the other
            loop, task = began.result()
            if not loop.is_closed():
                loop.call_soon_threadsafe(task.cancel)
            raise
