"""What an object was made with, as far as it is plain: two searches of one class with other settings are two."""

from __future__ import annotations

import dis
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from types import CodeType, FunctionType
from typing import Any

MAKING = ("__init__", "__post_init__", "__new__", "__setattr__", "__setstate__")
"""Methods that make an object; what another one sets is no setting but a trace of its work."""
MANY = 50
"""Longer tables and lists are no settings."""
PLAIN = (str, bytes, int, float, complex, bool, type(None))


def digest_of(value: Any) -> str:
    """A few letters for a plain value: settings are printed and kept, and there may be keys among them."""
    return blake2b(repr(value).encode("utf-8", "backslashreplace"), digest_size=8).hexdigest()


def plain(value: Any) -> Any:
    """A plain value as it is; of anything else only what it is called, since it, or its address, may change.

    >>> plain(("a", 1)), plain(["a log"])
    (('a', 1), 'list')
    """
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    return getattr(value, "__qualname__", type(value).__qualname__)


def _setting(value: Any) -> Any:
    """The same, where tables of plain values and lists of numbers are settings too."""
    return value if _is_table(value) or _is_numbers(value) else plain(value)


def _is_table(value: Any) -> bool:
    """Whether it is a dict of plain values; what is empty may be filled by work, as a cache is."""
    return (
        type(value) is dict
        and 0 < len(value) <= MANY
        and all(isinstance(each, PLAIN) or _is_table(each) for each in value.values())
    )


def _is_numbers(value: Any) -> bool:
    return (
        type(value) is list
        and 0 < len(value) <= MANY
        and all(isinstance(each, (int, float)) for each in value)
    )


def state_of(found: Any) -> dict[str, Any]:
    """The attributes of an object, and of its class, that only its making sets.

    >>> class Search:
    ...     depth = 3
    ...     def __init__(self, k1): self.k1, self.calls = k1, 0
    ...     def __call__(self, text): self.calls += 1
    >>> state_of(Search(0.9))
    {'depth': 3, 'k1': 0.9}
    """
    own: Mapping[str, Any] = {
        **_of_classes(type(found)),
        **_of_slots(found),
        **getattr(found, "__dict__", {}),
    }
    later = _set_later(type(found), own)
    return {name: _setting(value) for name, value in own.items() if name not in later}


def _own_classes(kind: type) -> list[type]:
    return [each for each in reversed(kind.__mro__) if each.__module__ != "builtins"]


def _of_classes(kind: type) -> dict[str, Any]:
    return {
        name: value
        for each in _own_classes(kind)
        for name, value in vars(each).items()
        if isinstance(value, PLAIN) and not name.startswith("__")
    }


def _of_slots(found: Any) -> dict[str, Any]:
    slots = (vars(each).get("__slots__", ()) for each in _own_classes(type(found)))
    names = (name for each in slots for name in ((each,) if isinstance(each, str) else each))
    return {name: getattr(found, name) for name in names if name[:2] != "__" and hasattr(found, name)}


def _set_later(kind: type, names: Iterable[str]) -> frozenset[str]:
    asked = frozenset(names)
    functions = (each for one in _own_classes(kind) for each in vars(one).items())
    return frozenset(
        stored
        for name, value in functions
        if isinstance(value, FunctionType)
        and name not in MAKING
        and not asked.isdisjoint(names_in(value.__code__))
        for stored in stored_by(value.__code__, "STORE_ATTR")
    )


def names_in(code: CodeType) -> Iterator[str]:
    """The names of a piece of code, those of the functions inside too."""
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from names_in(each)


def stored_by(code: CodeType, operation: str) -> Iterator[str]:
    """The names that a piece of code sets, those of the functions inside too."""
    yield from (each.argval for each in dis.get_instructions(code) if each.opname == operation)
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from stored_by(each, operation)
