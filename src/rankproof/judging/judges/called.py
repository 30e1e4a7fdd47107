"""A Python function as a judge."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

from rankproof.errors import UsageError
from rankproof.judging.judges.loop import run
from rankproof.judging.judges.replies import COULD_NOT_TELL, said_of
from rankproof.judging.verdicts import VALUES, Account, Ask, Keep, Unmeasured

AT_ONCE = 32
"""Calls of an asynchronous function that wait at the same time."""


@dataclass(frozen=True, slots=True)
class CalledJudge:
    """A function that is asked pair by pair; an asynchronous one is asked for a whole sample at once."""

    function: Callable[..., Any]
    name: str
    whole: bool
    """Whether it takes an `Ask`, rather than relation, left and right."""
    relations: tuple[str, ...] = ("R", "S", "Q", "A")
    """What it is asked; texts are split into claims by rules unless "C" is among these."""

    @property
    def identity(self) -> Mapping[str, Any]:
        """Its name, and its `version` where it has one, else its code: what is changed is another judge."""
        version = getattr(self.function, "version", None)
        known = {"code": _code_of(self.function)} if version is None else {"version": str(version)}
        return {"kind": "function", "name": self.name, **known}

    def judge(self, groups: Iterable[Sequence[Ask]], keep: Keep) -> Account:
        """Ask the function about each pair; what it raises or says wrongly leaves that pair unmeasured."""
        account = Account()
        run(self._groups(groups, keep, account))
        return account

    async def _groups(self, groups: Iterable[Sequence[Ask]], keep: Keep, account: Account) -> None:
        turn = asyncio.Semaphore(AT_ONCE)
        await asyncio.gather(*(self._group(group, keep, account, turn) for group in groups))

    async def _group(
        self, group: Sequence[Ask], keep: Keep, account: Account, turn: asyncio.Semaphore
    ) -> None:
        # Gathered with their exceptions: a user's function may raise anything, and costs one pair only.
        found = await asyncio.gather(*(self._answer(ask, turn) for ask in group), return_exceptions=True)
        said = [said_of(ask, each, self.name) for ask, each in zip(group, found, strict=True)]
        account.calls += len(group)
        for each in said:
            if isinstance(each, Unmeasured) and each.reason != COULD_NOT_TELL:
                account.problems[each.reason] = account.problems.get(each.reason, 0) + 1
        keep(said)

    async def _answer(self, ask: Ask, turn: asyncio.Semaphore) -> Any:
        async with turn:
            found = self._call(ask)
            return await found if inspect.isawaitable(found) else found

    def _call(self, ask: Ask) -> Any:
        return self.function(ask) if self.whole else self.function(ask.relation, ask.left, ask.right)


def called_judge(function: Callable[..., Any], name: str | None = None) -> CalledJudge:
    """The judge that a function `f(relation, left, right)` or `f(ask)` makes.

    It returns a value of the relation, True or False, a probability (a float from 0 to 1), None where it cannot
    tell, or a mapping with `value` or `probability`, and `quote`; for "C" a list of claims.

    >>> judge, kept = called_judge(lambda relation, left, right: left in right), []
    >>> _ = judge.judge([[Ask("S", "is red", "it is red")]], kept.extend)
    >>> kept[0].value, kept[0].judge
    (1, 'function:<lambda>')
    """
    called = name or f"function:{getattr(function, '__name__', type(function).__name__)}"
    whole = _takes(function) == 1
    relations = tuple(getattr(function, "relations", ("R", "S", "Q", "A")))
    unknown = set(relations) - set(VALUES)
    if unknown:
        raise UsageError(
            f"judge {called}: relations {sorted(unknown)}, expected some of {', '.join(VALUES)}."
            " Next: name relations that there are."
        )
    return CalledJudge(function, called, whole, relations)


def _takes(function: Callable[..., Any]) -> int:
    """How many arguments the function needs: one `Ask`, or relation, left and right."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):  # a function of C has no signature to look at
        return 3
    plain = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [p for p in plain if p.default is p.empty]
    if len(needed) <= 3 and (len(plain) >= 3 or any(p.kind is p.VAR_POSITIONAL for p in parameters)):
        return 3
    if len(needed) == 1:
        return 1
    raise UsageError(
        f"judge: {getattr(function, '__name__', function)!r} takes {len(needed)} arguments, expected "
        "f(relation, left, right) or f(ask)."
        " Next: write it with these arguments."
    )


def _code_of(function: Callable[..., Any]) -> str:
    """A hash of what a function does, as far as its own code tells; empty where it has none in Python."""
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    return "" if code is None else hashlib.blake2b(_spelled(code).encode(), digest_size=8).hexdigest()


def _spelled(code: CodeType) -> str:
    """The code without the place it stands in; code within it is spelled out as well."""
    return f"{code.co_code.hex()} {code.co_names} {'; '.join(map(_constant, code.co_consts))}"


def _constant(value: Any) -> str:
    """A constant, the same in every process: sets have no order of their own."""
    if isinstance(value, CodeType):
        return _spelled(value)
    return repr(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)
