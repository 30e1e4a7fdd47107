"""What code a function runs: its own, and that of the functions and classes of its module that it names.

The plain values of the module that this code names belong to it, as they would if they stood in their place.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from hashlib import blake2b
from types import CodeType, FunctionType
from typing import Any

from rankproof.bench.adapters.state import PLAIN, names_in, stored_by

Update = Callable[[bytes], None]


def code_digest(function: Callable[..., Any]) -> str | None:
    """The same for the same code, whatever its line numbers; None for what is not written in Python.

    >>> code_digest(lambda text: text) == code_digest(lambda text: [text]), code_digest(len)
    (False, None)
    """
    functions = _reached(_first(function))
    if not functions:
        return None
    digest = blake2b(digest_size=12)
    for each in functions:
        _feed(digest.update, each.__code__)
    digest.update(_bytes(_constants(functions)))
    return digest.hexdigest()


def _constants(functions: list[FunctionType]) -> list[tuple[str, Any]]:
    """The plain values of their module that they name, but for those that one of them sets."""
    set_here = {name for each in functions for name in stored_by(each.__code__, "STORE_GLOBAL")}
    named = {
        (name, repr(each.__globals__[name]))
        for each in functions
        for name in names_in(each.__code__)
        if name in each.__globals__ and _is_constant(each.__globals__[name])
    }
    return sorted(pair for pair in named if pair[0] not in set_here and pair[0][:2] != "__")


def _is_constant(value: object) -> bool:
    return all(map(_is_constant, value)) if isinstance(value, tuple) else isinstance(value, PLAIN)


def _first(function: Callable[..., Any]) -> list[FunctionType]:
    """The function itself; of an object that is called, and of a method, what else its class has."""
    inner = inspect.unwrap(getattr(function, "__func__", function))
    if isinstance(inner, FunctionType):
        owner = getattr(function, "__self__", None)
        return [inner, *([] if owner is None else _functions_of(type(owner)))]
    called: Any = type(function).__call__
    return [called, *_functions_of(type(function))] if isinstance(called, FunctionType) else []


def _reached(waiting: list[FunctionType]) -> list[FunctionType]:
    """These functions, those that they name, and those that these name; each code once."""
    found: dict[CodeType, FunctionType] = {}
    while waiting:
        one = waiting.pop(0)
        if one.__code__ not in found:
            found[one.__code__] = one
            waiting += _named_in(one)
    return list(found.values())


def _named_in(function: FunctionType) -> Iterator[FunctionType]:
    """The functions of the same module, and the methods of its classes, that the code names."""
    for name in dict.fromkeys(names_in(function.__code__)):
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
