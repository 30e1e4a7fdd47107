"""A Python function as a judge."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from numbers import Real
from time import perf_counter
from types import CodeType
from typing import Any, TypeVar

import numpy as np

from rankproof.errors import UsageError, shorten
from rankproof.judging.verdicts import (
    PLAIN_YES,
    SOFT,
    VALUES,
    WITH_VALUES,
    Account,
    Ask,
    Keep,
    Relation,
    Unmeasured,
    Verdict,
    check_verdict,
)

T = TypeVar("T")
Place = tuple[asyncio.AbstractEventLoop, "asyncio.Task[Any]"]


def run(work: Coroutine[Any, Any, T]) -> T:
    """What the work gives; if a loop runs already, it is done by a loop of its own in another thread."""
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


COULD_NOT_TELL = "the judge could not tell"


def verdict_of(ask: Ask, reply: Any, judge: str) -> Verdict | Unmeasured:
    """The verdict in a reply, or why there is none.

    >>> ask = Ask(Relation.CONTEXT_ANSWERS, "refund?", "Within 30 days.")
    >>> verdict_of(ask, 3, "f").value, verdict_of(ask, True, "f").value, verdict_of(ask, 0.25, "f").probability
    (3, 3, 0.25)
    >>> verdict_of(ask, 7, "f").reason
    'got 7, expected one of 0, 1, 2, 3'
    """
    if isinstance(reply, BaseException):
        from rankproof.net.client import without_keys

        return Unmeasured(ask, f"the judge raised {type(reply).__name__}: {shorten(without_keys(str(reply)))}")
    given = reply if isinstance(reply, Mapping) else {"value": reply}
    if ask.relation == Relation.TEXT_CLAIMS:
        items: Any = given.get("items", given.get("value"))
        listed = isinstance(items, list | tuple) and all(isinstance(each, str) and each.strip() for each in items)
        if not listed:
            return Unmeasured(ask, f"got {shorten(reply if items is None else items)}, expected a list of claims")
        return Verdict(ask, None, judge, items=tuple(dict.fromkeys(items)))
    if given.keys().isdisjoint(("value", "probability")):
        return Unmeasured(ask, f"got {shorten(reply)}, expected a mapping with value or probability")
    value, probability = _plain(given.get("value")), _plain(given.get("probability"))
    if isinstance(value, float) and probability is None:
        value, probability = None, value
    if value is None and probability is None:
        return Unmeasured(ask, COULD_NOT_TELL)
    soft = value is None  # a value that is given counts before one that follows from a probability
    if soft:
        value = isinstance(probability, int | float) and probability >= 0.5
    if isinstance(value, bool):
        value = PLAIN_YES[ask.relation] if value else 0
    quote, origin = given.get("quote") or "", {SOFT: True} if soft else {}
    return check_verdict(Verdict(ask, value, judge, probability, quote, origin=origin))


def _plain(value: Any) -> Any:
    """A number of NumPy as Python's own, and a fraction as a float."""
    found = value.item() if isinstance(value, np.generic) else value
    return found if isinstance(found, int) else float(found) if isinstance(found, Real) else found


AT_ONCE = 32
"""Calls of a function that are under way at the same time."""
SLOW = 0.002
"""Seconds from which on a call is worth a thread: one that is quicker works, and threads would only wait for it."""


@dataclass(frozen=True, slots=True)
class CalledJudge:
    """A function that is asked pair by pair, about several pairs at a time where each takes a while."""

    function: Callable[..., Any]
    name: str
    whole: bool
    """Whether it takes an `Ask`, rather than relation, left and right."""
    relations: tuple[Relation, ...] = WITH_VALUES
    """What it is asked; texts are split into claims by rules unless "C" is among these."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """Its name, and its `version` where it has one, else its code: what is changed is another judge."""
        version = getattr(self.function, "version", None)
        known = {"code": code_of(self.function)} if version is None else {"version": str(version)}
        return {"kind": "function", "name": self.name, **known}

    def judge(self, groups: Iterable[Sequence[Ask]], keep: Keep) -> Account:
        """Ask the function about each pair; what it raises or says wrongly leaves that pair unmeasured."""
        account = Account()
        run(self._groups(groups, keep, account))
        return account

    async def _groups(self, groups: Iterable[Sequence[Ask]], keep: Keep, account: Account) -> None:
        turn = Turns(asyncio.Semaphore(self.at_most), self.at_most > 1)
        try:
            await asyncio.gather(*(self._group(group, keep, account, turn) for group in groups))
        finally:
            turn.threads.shutdown(wait=False, cancel_futures=True)

    async def _group(self, group: Sequence[Ask], keep: Keep, account: Account, turn: Turns) -> None:
        # Gathered with their exceptions: a user's function may raise anything, and costs one pair only.
        found = await asyncio.gather(*(self._answer(ask, turn) for ask in group), return_exceptions=True)
        said = [verdict_of(ask, each, self.name) for ask, each in zip(group, found, strict=True)]
        account.calls += len(group)
        for each in said:
            if isinstance(each, Unmeasured) and each.reason != COULD_NOT_TELL:
                account.note(each.reason)
                account.failed += 1
        keep(said)

    async def _answer(self, ask: Ask, turn: Turns) -> Any:
        async with turn.free:
            found = await turn.call(self.function, (ask,) if self.whole else tuple(ask))
            return await found if inspect.isawaitable(found) else found

    @property
    def at_most(self) -> int:
        """Calls under way at once: as the function's own `concurrency` says, if it has one."""
        told = getattr(self.function, "concurrency", AT_ONCE)
        return told if isinstance(told, int) and told > 0 else AT_ONCE


@dataclass
class Turns:
    """How the function is called: a fast one directly, a blocking one in a thread."""

    free: asyncio.Semaphore
    several: bool
    """Whether several may be called at a time."""
    slow: bool = False
    threads: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(AT_ONCE))

    async def call(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """The result of the function, or its awaitable."""
        if self.slow:
            work, loop = copy_context().run, asyncio.get_running_loop()
            future = loop.run_in_executor(self.threads, lambda: from_thread(work, function, *arguments))
            found: Any = (await asyncio.gather(future, return_exceptions=True))[0]
            if not isinstance(found, BaseException):
                return found
            if "thread" not in str(found):
                raise found
            # What it uses belongs to one thread, as a connection of SQLite does: it is asked there from now on.
            self.slow = self.several = False
        began = perf_counter()
        try:
            return function(*arguments)
        finally:
            self.slow = self.several and perf_counter() - began > SLOW


def from_thread(work: Callable[..., Any], function: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """The result of the function; a StopIteration, which a future cannot hold, becomes another error."""
    try:
        return work(function, *given, **named)
    except StopIteration as error:
        raise RuntimeError("StopIteration") from error


def called_judge(function: Callable[..., Any]) -> CalledJudge:
    """The judge that a function `f(relation, left, right)` or `f(ask)` makes.

    It returns a value of the relation, True or False, a probability (a float from 0 to 1), None if it cannot
    tell, or a mapping with `value` or `probability`, and `quote`; for "C" a list of claims.

    >>> judge, kept = called_judge(lambda relation, left, right: left in right), []
    >>> _ = judge.judge([[Ask(Relation.TEXT_SUPPORTS, "is red", "it is red")]], kept.extend)
    >>> kept[0].value, kept[0].judge
    (1, 'function:<lambda>')
    """
    called = f"function:{getattr(function, '__name__', type(function).__name__)}"
    whole = _takes(function) == 1
    relations = tuple(getattr(function, "relations", WITH_VALUES))
    unknown = set(relations) - set(VALUES)
    if unknown:
        raise UsageError(
            f"judge {called}: relations {sorted(unknown)}, expected some of {', '.join(VALUES)}."
            " Next: choose from these."
        )
    return CalledJudge(function, called, whole, relations)


def parameters_of(function: Any) -> Mapping[str, inspect.Parameter]:
    """The parameters of a function; of one of C, which has no signature to look at, any number."""
    try:
        return inspect.signature(function).parameters
    except (ValueError, TypeError):
        return inspect.signature(lambda *any_number: None).parameters


def places_in(parameters: Mapping[str, inspect.Parameter]) -> list[inspect.Parameter]:
    """The parameters that are given by their places."""
    return [each for each in parameters.values() if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]


def _takes(function: Callable[..., Any]) -> int:
    """How many arguments the function needs: one `Ask`, or relation, left and right."""
    parameters = parameters_of(function)
    plain = places_in(parameters)
    needed = [p for p in plain if p.default is p.empty]
    if len(needed) <= 3 and (len(plain) >= 3 or any(p.kind is p.VAR_POSITIONAL for p in parameters.values())):
        return 3
    if len(needed) == 1:
        return 1
    raise UsageError(
        f"judge: {getattr(function, '__name__', function)!r} takes {len(needed)} arguments, expected f(relation, left, "
        "right) or f(ask). Next: write it with these arguments."
    )


def code_of(function: Callable[..., Any]) -> str:
    """A hash of what a function does, as far as its own code tells; empty if it has none in Python."""
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    return "" if code is None else hashlib.blake2b(_spelled(code).encode(), digest_size=8).hexdigest()


def _spelled(code: CodeType) -> str:
    """The code without its place; nested code is written out as well."""
    return f"{code.co_code.hex()} {code.co_names} {'; '.join(map(_constant, code.co_consts))}"


def _constant(value: Any) -> str:
    """A constant, the same in every process: sets have no order of their own."""
    if isinstance(value, CodeType):
        return _spelled(value)
    return repr(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)
