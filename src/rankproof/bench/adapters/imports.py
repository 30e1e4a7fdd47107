"""Python code of the user's by its name: `module:function` or `file.py:function`, found from the working folder too."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from rankproof.errors import UsageError, nearest, shorten

FILES: dict[Path, ModuleType] = {}
"""The modules that were imported by their files, whose names others may have too."""


def import_named(words: Any, what: str) -> Any:
    """What is named so; a function itself as it is. `what` says in errors what it is wanted for.

    >>> import_named("json:loads", "reader")("[1]")
    [1]
    """
    if callable(words):
        return words
    place = place_of(words) if isinstance(words, str) else None
    if place is None:
        raise UsageError(f"{what}: got {shorten(words)}, expected module:function. Next: write it so.")
    return attribute_of(module_named(place[0], what), place[1], what)


def place_of(words: str) -> tuple[str, str] | None:
    """The module and the attribute that are named; None where the words are of another form."""
    module, colon, attribute = words.rpartition(":")
    if colon and attribute.replace(".", "").isidentifier() and _may_be_module(module):
        return module, attribute
    return None


def _may_be_module(module: str) -> bool:
    return module.endswith(".py") or all(part.isidentifier() for part in module.split("."))


def module_named(module: str, what: str) -> ModuleType:
    """The module, imported from the working folder too, as `python -m` finds it."""
    load: Callable[[str, str], ModuleType] = _by_path if module.endswith(".py") else _by_name
    with _from_here():
        try:
            return load(module, what)
        except UsageError:
            raise
        except (Exception, SystemExit) as error:  # code of the user's may raise anything
            raise UsageError(
                f"{what}: {module} cannot be imported: {type(error).__name__}: {error}. Next: mend it."
            ) from error


def attribute_of(module: ModuleType, attribute: str, what: str) -> Any:
    """The attribute of the module, or of what is in it."""
    found: Any = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise UsageError(
                f"{what}: {module.__name__} has no {part!r}.{nearest(part, dir(found))} Next: name what is in it."
            )
        found = getattr(found, part)
    return found


def _by_name(module: str, what: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise UsageError(
                f"{what}: {module} needs {error.name!r}, which is not installed. Next: install it."
            ) from error
        raise UsageError(
            f"{what}: there is no module {error.name!r} here. Next: name one that Python can import from this "
            "folder, or a file as path/to/file.py:function."
        ) from error


def loaded_module(module: str) -> ModuleType | None:
    """The module of that name, or of that file, as it was imported; None where it was not."""
    return FILES.get(Path(module).resolve()) if module.endswith(".py") else sys.modules.get(module)


def _by_path(file: str, what: str) -> ModuleType:
    path = Path(file)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise UsageError(f"{what}: there is no file {path}. Next: name the file with the function.")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    FILES[path.resolve()] = module
    return module


@contextmanager
def _from_here() -> Iterator[None]:
    here = os.getcwd()
    sys.path.insert(0, here)
    try:
        yield
    finally:
        sys.path.remove(here)
