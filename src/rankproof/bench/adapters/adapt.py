"""Telling what something is that answers questions, and by a name finding it."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from rankproof.bench.adapters.adapted import Adapted
from rankproof.bench.adapters.answers import IdOf
from rankproof.bench.adapters.callables import of_callable
from rankproof.bench.adapters.command import of_command
from rankproof.bench.adapters.endpoint import of_endpoint
from rankproof.bench.adapters.frameworks import of_framework
from rankproof.bench.adapters.sources import module_digest
from rankproof.bench.retriever import Retriever
from rankproof.errors import UsageError, nearest, shorten

FORMS = "module:function, the path of an endpoint.toml, or a command"


def as_retriever(
    anything: Any, *, batch: bool | None = None, id: IdOf = None, settings: Mapping[str, Any] | None = None
) -> Retriever:
    """A `Retriever` of whatever answers questions; what is one already stays as it is.

    Taken are functions `text -> [id] | [(id, score)] | [documents]` (sync or async; with `batch=True` of a
    list of texts), retrievers of LangChain, LlamaIndex and Haystack, the path of an endpoint's TOML file,
    `module:function`, and commands. `id` says where a document has its id, if not under a usual name;
    `settings` what shapes the answers, so that they can be remembered.

    >>> as_retriever(lambda text: ["d2", "d1"]).search(["why?"], 10)
    [[('d2', 2.0), ('d1', 1.0)]]
    """
    if _is_own(anything):
        return anything  # type: ignore[no-any-return]
    return adapted(anything, batch=batch, id=id, settings=settings)


def adapted(
    anything: Any, *, batch: bool | None = None, id: IdOf = None, settings: Mapping[str, Any] | None = None
) -> Adapted:
    """The same, always with all that a runner needs to ask it."""
    if isinstance(anything, Adapted):
        return anything
    if _is_own(anything):
        own = anything.settings if settings is None else settings
        # One question a call, so that latencies are those of a question; a larger batch is asked for.
        return Adapted(anything.search, own, batch=True, id=id, limits={"batch": 1})
    if isinstance(anything, (str, os.PathLike)):
        return named(os.fspath(anything), batch=batch, id=id, settings=settings)
    found = of_framework(anything, id=id, settings=settings)
    if found is not None:
        return found
    if not callable(anything) or isinstance(anything, type):
        raise _no_retriever(anything)
    return of_callable(anything, batch=batch, id=id, settings=settings)


def _no_retriever(got: Any) -> UsageError:
    own = "as_retriever" if callable(getattr(got, "as_retriever", None)) and not isinstance(got, type) else ""
    advice = f"give its .{own}()" if own else "wrap it in a function that takes a text and returns ids"
    return UsageError(
        f"retriever: got {shorten(got)} ({type(got).__name__}), expected a function of a question, a retriever of "
        f"LangChain, LlamaIndex or Haystack, or the words for one: {FORMS}. Next: {advice}."
    )


def _is_own(anything: Any) -> bool:
    return isinstance(anything, Retriever) and not isinstance(anything, type)


def named(
    words: str, *, batch: bool | None = None, id: IdOf = None, settings: Mapping[str, Any] | None = None
) -> Adapted:
    """The retriever that the words name: `module:function`, an endpoint's TOML file, or a command."""
    if words.lower().endswith(".toml"):
        return of_endpoint(words, id=id, settings=settings)
    module, colon, attribute = words.partition(":")
    if colon and attribute.replace(".", "").isidentifier() and _may_be_module(module):
        found, source = _imported(module, attribute)
        made = adapted(found, batch=batch, id=id, settings=settings)
        return made if made.known else replace(made, settings={**made.settings, "source": source})
    try:
        parts = shlex.split(words)
    except ValueError as error:
        raise UsageError(f"retriever: got {words!r}: {error}. Next: close the quotes.") from error
    if not parts or shutil.which(parts[0]) is None:
        raise UsageError(
            f"retriever: got {words!r}, expected {FORMS}; there is no program {shorten(words)}."
            " Next: check the spelling, or its place in PATH."
        )
    return of_command(parts, id=id, settings=settings)


def _may_be_module(module: str) -> bool:
    return module.endswith(".py") or all(part.isidentifier() for part in module.split("."))


def _imported(module: str, attribute: str) -> tuple[Any, str | None]:
    """The attribute of a module that is found from the working folder too, as `python -m` finds it.

    Beside it the digest of the module's source, so that answers of other code are never taken for its own.
    """
    with _from_here():
        found: Any = _by_path(Path(module)) if module.endswith(".py") else _by_name(module)
    source = module_digest(found)
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise UsageError(
                f"retriever: {module} has no {part!r}.{nearest(part, dir(found))} Next: name what is in it."
            )
        found = getattr(found, part)
    return found, source


def _by_name(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise UsageError(
                f"retriever: {module} needs {error.name!r}, which is not installed. Next: install it."
            ) from error
        raise UsageError(
            f"retriever: there is no module {error.name!r} here. Next: name one that Python can import from this "
            "folder, or a file as path/to/file.py:function."
        ) from error


def _by_path(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise UsageError(f"retriever: there is no file {path}. Next: name the file with the function.")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    spec.loader.exec_module(module)
    return module


@contextmanager
def _from_here() -> Iterator[None]:
    here = os.getcwd()
    sys.path.insert(0, here)
    try:
        yield
    finally:
        sys.path.remove(here)
