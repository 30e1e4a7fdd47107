"""Work on pieces in two threads, results in order, few pieces at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

THREADS = 2
AHEAD = 3
"""How many pieces may be read before the oldest is done: what bounds the memory."""


def in_order(work: Callable[[Item], Result], items: Iterator[Item]) -> Iterator[tuple[Item, Result]]:
    """Each item with what `work` makes of it; a single item is not worth a thread.

    >>> list(in_order(len, iter(["a", "bb", "ccc"])))
    [('a', 1), ('bb', 2), ('ccc', 3)]
    """
    first = list(islice(items, 2))
    if len(first) < 2:
        yield from ((item, work(item)) for item in first)
        return
    # Imported here because it costs a start of the program more than a small run.
    from concurrent.futures import Future, ThreadPoolExecutor

    waiting: deque[tuple[Item, Future[Result]]] = deque()
    with ThreadPoolExecutor(THREADS) as pool:
        for item in chain(first, items):
            waiting.append((item, pool.submit(work, item)))
            if len(waiting) > AHEAD:
                oldest, future = waiting.popleft()
                yield oldest, future.result()
        for item, future in waiting:
            yield item, future.result()
