"""What code a function runs: its own, and that of the functions and classes of its module that it names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from types import CodeType, FunctionType
from typing import Any

Update = Callable[[bytes], None]


def code_digest(function: Callable[..., Any]) -> str | None:
    """The same for the same code, whatever its line numbers; None for what is not written in Python.

    >>> code_digest(lambda text: text) == code_digest(lambda text: [text]), code_digest(len)
    (False, None)
    """
    codes = _reached(_first(function))
    if not codes:
        return None
    digest = blake2b(digest_size=12)
    for each in codes:
        _feed(digest.update, each)
    return digest.hexdigest()


def _first(function: Callable[..., Any]) -> list[FunctionType]:
    """The function itself; of an object that is called, and of a method, what else its class has."""
    inner = inspect.unwrap(getattr(function, "__func__", function))
    if isinstance(inner, FunctionType):
        owner = getattr(function, "__self__", None)
        return [inner, *([] if owner is None else _functions_of(type(owner)))]
    called: Any = type(function).__call__
    return [called, *_functions_of(type(function))] if isinstance(called, FunctionType) else []


def _reached(waiting: list[FunctionType]) -> list[CodeType]:
    """The code of these functions, of those that they name, and of those that these name."""
    found: dict[CodeType, None] = {}
    while waiting:
        one = waiting.pop(0)
        if one.__code__ not in found:
            found[one.__code__] = None
            waiting += _named_in(one)
    return list(found)


def _named_in(function: FunctionType) -> Iterator[FunctionType]:
    """The functions of the same module, and the methods of its classes, that the code names."""
    for name in dict.fromkeys(_names(function.__code__)):
        value = function.__globals__.get(name)
        if not callable(value) or getattr(value, "__module__", None) != function.__module__:
            continue
        if isinstance(value, type):
            yield from _functions_of(value)
        elif isinstance(inner := inspect.unwrap(value), FunctionType):
            yield inner


def _functions_of(kind: type) -> list[FunctionType]:
    members: Mapping[str, Any] = vars(kind)
    return [each for each in members.values() if isinstance(each, FunctionType)]


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _names(each)


def _feed(update: Update, code: CodeType) -> None:
    """The instructions, names and constants, those of functions inside too; no line numbers."""
    update(code.co_code)
    update(_bytes(code.co_names))
    for each in code.co_consts:
        if isinstance(each, CodeType):
            _feed(update, each)
        else:
            update(_bytes(sorted(each, key=repr) if isinstance(each, frozenset) else each))


def _bytes(value: object) -> bytes:
    return repr(value).encode("utf-8", "backslashreplace")
