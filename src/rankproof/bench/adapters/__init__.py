"""Everything that answers questions as a `Retriever`: functions, other libraries' retrievers, endpoints, commands."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from rankproof.bench.adapters.adapter import Adapted, is_async, of_callable, with_k
from rankproof.bench.adapters.code import digest_of, module_digest, state_of
from rankproof.bench.adapters.command import of_command, words_of
from rankproof.bench.adapters.endpoint import of_endpoint
from rankproof.bench.retriever import IdOf, Retriever
from rankproof.errors import UsageError, not_known, shorten
from rankproof.net.retries import Failed

__all__ = ["Adapted", "Failed", "adapt", "retriever_named"]

Call: TypeAlias = Callable[[Any, int], Any]

QUESTION = ("query", "text", "question")
"""Its name in Haystack's components."""


def of_framework(found: Any, *, id: IdOf, settings: Mapping[str, Any] | None) -> Adapted | None:
    """The retriever of another library, if it is one of those that are known."""
    for method, make in _METHODS.items():
        own = getattr(found, method, None)
        if callable(own) and not inspect.isfunction(found) and not isinstance(found, type):
            name = f"{type(found).__module__}.{type(found).__qualname__}.{method}"
            # Its own settings, and where it is a pipeline those of its parts.
            parts = found.walk() if callable(getattr(found, "walk", None)) else ()
            made = [state_of(found), *((name, state_of(part)) for name, part in parts)]
            said = {"kind": name, "made": digest_of(made), **(settings or {})}
            return Adapted(make(own), said, awaited=is_async(own), id=id, known=settings is not None)
    return None


def _run(method: Callable[..., Any]) -> Call:
    """Haystack's components take the number of documents as `top_k`, if they take it."""
    inputs = getattr(getattr(method, "__self__", None), "inputs", None)
    if callable(inputs):
        return _pipeline(method, inputs())
    taken = inspect.signature(method).parameters
    name = next((each for each in QUESTION if each in taken), None)
    if name is None and not any(each.kind is each.VAR_KEYWORD for each in taken.values()):
        raise UsageError(
            f"retriever: {method.__qualname__} takes no query but {', '.join(taken)}. "
            "Next: give a pipeline that begins with text, or a function of a text."
        )
    asked = name or QUESTION[0]
    if "top_k" in taken:
        return lambda text, k: method(**{asked: text, "top_k": k})
    return lambda text, k: method(**{asked: text})


def _pipeline(method: Callable[..., Any], inputs: Mapping[str, Mapping[str, Any]]) -> Call:
    """An unchanged pipeline: the question goes to every input that takes one, the documents come from its end."""
    for component, sockets in inputs.items():
        for socket, about in sockets.items():
            if about.get("is_mandatory") and socket not in QUESTION:
                raise UsageError(
                    f"retriever: the pipeline needs {component}.{socket}, but only a question is given. "
                    "Next: wrap it in a function of a text that gives the rest."
                )
    places = {name: [each for each in QUESTION if each in sockets] for name, sockets in inputs.items()}

    def call(text: str, k: int) -> Any:
        outputs = method({name: dict.fromkeys(sockets, text) for name, sockets in places.items() if sockets})
        found = [each["documents"] for each in outputs.values() if "documents" in each]
        if len(found) != 1:
            ends = ", ".join(f"{name}.{each}" for name, given in outputs.items() for each in given)
            raise Failed(
                f"the pipeline gives {len(found)} lists of documents, expected one (it gives {ends})."
                " Next: give the part of it that ends with its retriever"
            )
        return found[0]

    return call


_METHODS: dict[str, Callable[[Callable[..., Any]], Call]] = {"invoke": with_k, "retrieve": with_k, "run": _run}


FORMS = "module:function, the path of an endpoint.toml, or a command"


def adapt(
    anything: Any, *, batch: bool | None = None, id: IdOf = None, settings: Mapping[str, Any] | None = None
) -> Adapted:
    """Anything that answers questions, with all that a runner needs to ask it.

    Taken are functions `text -> [id] | [(id, score)] | [documents]` (sync or async; with `batch=True` of a
    list of texts), retrievers of LangChain, LlamaIndex and Haystack, the path of an endpoint's TOML file,
    `module:function`, and commands. `id` says where a document has its id, if not under a usual name;
    `settings` what shapes the answers, so that they can be remembered.

    >>> adapt(lambda text: ["d2", "d1"]).search(["why?"], 10)
    [[('d2', 2.0), ('d1', 1.0)]]
    """
    for name, got, fits, expected in (
        ("id", id, callable(id) or (isinstance(id, str) and id), "the name of a field, or a function of a document"),
        ("settings", settings, isinstance(settings, Mapping), "a mapping, like {'model': 'v2'}"),
        ("batch", batch, isinstance(batch, bool), "True or False"),
    ):
        if got is not None and not fits:
            raise UsageError(f"{name}: got {shorten(got)}, expected {expected}. Next: give one, or leave it out.")
    if isinstance(anything, Adapted):
        return anything
    is_own = not isinstance(anything, type) and isinstance(anything, Retriever)
    # What is called with a question may have a search, and settings, of another kind.
    if is_own and (not callable(anything) or isinstance(anything.settings, Mapping)):
        own = anything.settings if settings is None else settings
        # One question a call, so that latencies are those of a question; a larger batch is asked for.
        return Adapted(anything.search, own, batch=True, id=id, limits={"batch": 1})
    if isinstance(anything, (str, os.PathLike)):
        return retriever_named(os.fspath(anything), batch=batch, id=id, settings=settings)
    found = of_framework(anything, id=id, settings=settings)
    if found is not None:
        return found
    if not callable(anything) or isinstance(anything, type):
        own = callable(getattr(anything, "as_retriever", None)) and not isinstance(anything, type)
        advice = "give its .as_retriever()" if own else "wrap it in a function that takes a text and returns ids"
        raise UsageError(
            f"retriever: got {shorten(anything)} ({type(anything).__name__}), expected a function of a question, a "
            f"retriever of LangChain, LlamaIndex or Haystack, or the words for one: {FORMS}. Next: {advice}."
        )
    return of_callable(anything, batch=batch, id=id, settings=settings)


def retriever_named(
    words: str, *, batch: bool | None = None, id: IdOf = None, settings: Mapping[str, Any] | None = None
) -> Adapted:
    """The retriever that the words name: `module:function`, an endpoint's TOML file, or a command."""
    if words.lower().endswith(".toml"):
        return of_endpoint(words, id=id, settings=settings)
    if (place := place_of(words)) is not None:
        module = module_named(place[0], "retriever")
        found = attribute_of(module, place[1], "retriever")
        made = adapt(found, batch=batch, id=id, settings=settings)
        # By the source too, so that answers of other code are never taken for its own.
        source = {"source": module_digest(module)}
        return made if made.known else replace(made, settings={**made.settings, **source})
    try:
        parts = words_of(words)
    except ValueError as error:
        raise UsageError(f"retriever: got {words!r}: {error}. Next: close the quotes.") from error
    if not parts or shutil.which(parts[0]) is None:
        advice = "write an endpoint.toml with its url" if "://" in words else "check the spelling, or its place in PATH"
        raise UsageError(
            f"retriever: got {words!r}, expected {FORMS}; there is no program {shorten(words)}. Next: {advice}."
        )
    return of_command(parts, id=id, settings=settings)


# --- Python code of the user's by its name: `module:function` or `file.py:function` ----------------------


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
    """The module and the attribute that are named; None if the words are of another form."""
    module, colon, attribute = words.rpartition(":")
    is_module = module.endswith(".py") or all(part.isidentifier() for part in module.split("."))
    return (module, attribute) if colon and attribute.replace(".", "").isidentifier() and is_module else None


def module_named(module: str, what: str) -> ModuleType:
    """The module, imported from the working folder too, as `python -m` finds it."""
    load: Callable[[str, str], ModuleType] = _by_path if module.endswith(".py") else _by_name
    here = os.getcwd()
    sys.path.insert(0, here)
    try:
        return load(module, what)
    except UsageError:
        raise
    except (Exception, SystemExit) as error:  # code of the user's may raise anything
        raise UsageError(
            f"{what}: {module} cannot be imported: {type(error).__name__}: {error}. Next: correct it."
        ) from error
    finally:
        sys.path.remove(here)


def attribute_of(module: ModuleType, attribute: str, what: str) -> Any:
    """The attribute of the module, or of what is in it."""
    found: Any = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise not_known(f"{what}: {module.__name__} has no {part!r}", part, dir(found), "name what is in it")
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
    """The module of that name, or of that file, as it was imported; None if it was not."""
    return FILES.get(Path(module).resolve()) if module.endswith(".py") else sys.modules.get(module)


def _by_path(file: str, what: str) -> ModuleType:
    path = Path(file)
    if path.resolve() in FILES:
        return FILES[path.resolve()]
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise UsageError(f"{what}: there is no file {path}. Next: name a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)
    try:
        spec.loader.exec_module(module)
    except BaseException:  # whatever ended it, a module that ran only in part must not stay
        if sys.modules[path.stem] is module:
            del sys.modules[path.stem]
        raise
    FILES[path.resolve()] = module
    return module
