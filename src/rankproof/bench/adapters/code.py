"""The code that a function runs, its files and its state, to detect whether a search has changed.

The plain values of the module that this code names are part of it, as if they were written in it.
"""

from __future__ import annotations

import ast
import dis
import inspect
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, timedelta
from decimal import Decimal
from hashlib import blake2b
from pathlib import Path, PurePath
from types import CodeType, FunctionType, ModuleType
from typing import Any

INSTALLED = ("site-packages", "dist-packages")
"""Folders whose modules come from somewhere else, and change with their version only."""


def module_digest(module: ModuleType) -> str | None:
    """The same while no line of code of the module, and of what it imports from beside it, changes.

    None if the module has no source file, or is installed.
    """
    path = Path(getattr(module, "__file__", None) or "")
    installed = set(INSTALLED) & set(path.parts) or path.is_relative_to(sysconfig.get_path("stdlib"))
    if path.suffix != ".py" or not path.is_file() or installed:
        return None
    # The folder from which the module is imported under its name.
    above, parents = module.__name__.count(".") + (path.name == "__init__.py"), path.resolve().parents
    return files_digest([path], parents[above] if above < len(parents) else path.parent)


def files_digest(paths: Iterable[Path], root: Path) -> str:
    """The digest of these files of code, and of all that they import from the folder `root`.

    Comments, blank lines and where a file is make no difference.
    """
    digest = blake2b(digest_size=12)
    root, seen = root.resolve(), set[Path]()
    waiting = [path.resolve() for path in paths]
    while waiting:
        path = waiting.pop(0)
        if path not in seen:
            seen.add(path)
            tree = _tree(path)
            digest.update(ast.dump(tree).encode("utf-8", "backslashreplace"))
            waiting += _imports(tree, path, root)
    return digest.hexdigest()


def _tree(path: Path) -> ast.Module:
    """The code of a file; of a file that is not Python its bytes, since something may still import it."""
    content = path.read_bytes()
    try:
        return ast.parse(content)
    except (SyntaxError, ValueError):
        return ast.Module(body=[ast.Expr(ast.Constant(content))], type_ignores=[])


def _imports(tree: ast.Module, path: Path, root: Path) -> Iterator[Path]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from _files([root, path.parent], alias.name.split("."))
        elif isinstance(node, ast.ImportFrom):
            folders = [path.parents[node.level - 1]] if 0 < node.level <= len(path.parents) else []
            parts = node.module.split(".") if node.module else []
            for alias in node.names:
                yield from _files(folders or [root, path.parent], [*parts, alias.name])


def _files(folders: Iterable[Path], parts: list[str]) -> list[Path]:
    """The files that importing this dotted name runs, in the first of the folders that has some."""
    for folder in folders:
        places = [folder.joinpath(*parts[:end]) for end in range(1, len(parts) + 1)]
        either = [(place / "__init__.py", place.with_name(f"{place.name}.py")) for place in places]
        found = [each for pair in either for each in pair if each.is_file()]
        if found:
            return found
    return []


MAKING = ("__init__", "__post_init__", "__new__", "__setattr__", "__setstate__")
"""Methods that make an object; attributes set by others are not settings but traces of work."""
MANY = 50
"""Longer tables and lists do not count as settings."""
PLAIN = (str, bytes, int, float, complex, bool, type(None), date, timedelta, Decimal, PurePath)


def digest_of(value: Any) -> str:
    """A few letters for a plain value: settings are printed and kept, and there may be keys among them."""
    return blake2b(_bytes(value), digest_size=8).hexdigest()


def plain_value(value: Any) -> Any:
    """A plain value unchanged; of anything else only its name, since its value, or its address, may change.

    >>> plain_value(("a", 1)), plain_value(["a log"])
    (('a', 1), 'list')
    """
    if isinstance(value, PLAIN):
        return value
    if isinstance(value, tuple):
        return tuple(map(plain_value, value))
    return getattr(value, "__qualname__", type(value).__qualname__)


def _is_setting(value: Any) -> bool:
    """Whether it is a dict of plain values or a list of numbers; what is empty may be filled later, as a cache is."""
    if type(value) not in (dict, list) or not 0 < len(value) <= MANY:
        return False
    if type(value) is list:
        return all(isinstance(each, (int, float)) for each in value)
    return all(isinstance(each, PLAIN) or (type(each) is dict and _is_setting(each)) for each in value.values())


def state_of(found: Any) -> dict[str, Any]:
    """The attributes of an object, and of its class, that only its making sets.

    >>> class Search:
    ...     depth = 3
    ...     def __init__(self, k1): self.k1, self.calls = k1, 0
    ...     def __call__(self, text): self.calls += 1
    >>> state_of(Search(0.9))
    {'depth': 3, 'k1': 0.9}
    """
    members = [
        member
        for kind in reversed(type(found).__mro__)
        if kind.__module__ != "builtins"
        for member in vars(kind).items()
    ]
    slots = (value for name, value in members if name == "__slots__")
    names = (name for each in slots for name in ((each,) if isinstance(each, str) else each))
    own: Mapping[str, Any] = {
        **{name: value for name, value in members if isinstance(value, PLAIN) and name[:2] != "__"},
        **{name: getattr(found, name) for name in names if name[:2] != "__" and hasattr(found, name)},
        **getattr(found, "__dict__", {}),
    }
    later = {
        stored
        for name, value in members
        if isinstance(value, FunctionType)
        and name not in MAKING
        and not own.keys().isdisjoint(names_in(value.__code__))
        for stored in names_stored(value.__code__, "STORE_ATTR")
    }
    return {
        name: value if _is_setting(value) else plain_value(value) for name, value in own.items() if name not in later
    }


def _with_inner(code: CodeType) -> Iterator[CodeType]:
    """A piece of code, and that of the functions inside."""
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _with_inner(each)


def names_in(code: CodeType) -> Iterator[str]:
    """The names of a piece of code, those of the functions inside too."""
    return (name for each in _with_inner(code) for name in each.co_names)


def names_stored(code: CodeType, operation: str) -> Iterator[str]:
    """The names that a piece of code sets, those of the functions inside too."""
    steps = (step for each in _with_inner(code) for step in dis.get_instructions(each))
    return (step.argval for step in steps if step.opname == operation)


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
    # The plain values of their module that they name, but for those that one of them sets.
    set_here = {name for each in functions for name in names_stored(each.__code__, "STORE_GLOBAL")}
    named = {
        (name, repr(each.__globals__[name]))
        for each in functions
        for name in names_in(each.__code__)
        if name in each.__globals__ and _is_constant(each.__globals__[name])
    }
    digest.update(_bytes(sorted(pair for pair in named if pair[0] not in set_here and pair[0][:2] != "__")))
    return digest.hexdigest()


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


def _feed(update: Callable[[bytes], None], code: CodeType) -> None:
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
