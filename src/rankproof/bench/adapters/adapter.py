"""One face for everything that answers questions."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Thread
from typing import Any, TypeAlias

from rankproof.bench.adapters.answers import AnswerReading, IdOf, arrange, read_answer
from rankproof.bench.retriever import Found, unusable_answer
from rankproof.net.retries import Failed

MOST = 100_000
"""So many documents are taken of what comes bit by bit: a generator may have no end."""


async def await_value(value: Any) -> Any:
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
        return _off_loop(lambda: self._runner.run(await_value(value)))

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


def finish(value: Any) -> Any:
    """The value, awaited where it is to be."""
    waiter = Waiter()
    try:
        return waiter(value)
    finally:
        waiter.close()


Answered: TypeAlias = tuple[int, Any, float]
"""The place of a question, its answer (`Failed` where there is none), and the seconds it took.

A place that comes again takes back what came before.
"""


@dataclass(frozen=True, slots=True)
class Flow:
    """How a retriever is asked that gives answers as they come."""

    timeout: float | None = None
    """Seconds without an answer after which a question has failed."""
    turn: Callable[[], float] = lambda: 0.0
    """Hand over a question, which 0 says; else the seconds after which to ask again."""
    over: Callable[[], bool] = lambda: False
    """Whether nobody waits any more."""


@dataclass(frozen=True, eq=False)
class Adapted:
    """How something is asked, and what it is; a `Retriever` for those who need no more."""

    call: Callable[[Any, int], Any]
    """Takes a question (where `batch`, a list of them) and k; gives what was found as it is."""
    settings: Mapping[str, Any]
    batch: bool = False
    awaited: bool = False
    """Whether `call` gives what has to be awaited."""
    id: IdOf = None
    known: bool = True
    """Whether `settings` say all that shapes the answers; they cannot for a bare function."""
    limits: Mapping[str, Any] = field(default_factory=dict)
    """What its owner says about how it is to be asked: concurrency, timeout, retries, rate, batch."""
    allow: Callable[[float | None], None] = lambda seconds: None
    """Is told how many seconds an answer may take."""
    stop: Callable[[], None] = lambda: None
    """Ends what was begun for questions that nobody waits for any more."""

    stream: Callable[[Sequence[str], int, Flow], Iterator[Answered]] | None = None
    """Where several are asked in one call and their answers come one by one: what gives them so."""

    def search(self, questions: Sequence[str], k: int) -> list[Found]:
        """For each question at most `k` documents, one question after the other; failures are raised."""
        asked: list[Any] = [list(questions)] if self.batch else list(questions)
        waiter = Waiter()
        try:
            raw = [waiter(self.call(each, k)) for each in asked if each != []]
        finally:
            self.stop()
            waiter.close()
        every = answers_of(raw[0], len(questions)) if self.batch and raw else raw
        reading = AnswerReading(k, self.id)
        return [arrange(read_answer(each, reading).found, k).found for each in map(_or_raise, every)]


def answers_of(raw: Any, questions: int) -> Sequence[Any]:
    """The answer to each question of a batch, or `Failed` where they are not as many."""
    if isinstance(raw, (str, bytes, Mapping)) or not hasattr(raw, "__iter__"):
        raise unusable_answer(raw, "a list with one answer a question")
    every: Sequence[Any] = raw if isinstance(raw, (list, tuple)) else list(raw)
    if len(every) != questions:
        raise Failed(f"got {len(every)} answers to {questions} questions, expected one a question")
    return every


def _or_raise(outcome: Any) -> Any:
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome
