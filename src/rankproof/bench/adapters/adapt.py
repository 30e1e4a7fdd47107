"""Telling what something is that answers questions, and by a name finding it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rankproof.bench.adapters.adapter import Adapted
from rankproof.bench.adapters.answers import IdOf
from rankproof.bench.adapters.callables import of_callable
from rankproof.bench.adapters.command import of_command
from rankproof.bench.adapters.endpoint import of_endpoint
from rankproof.bench.adapters.frameworks import of_framework
from rankproof.bench.adapters.imports import attribute_of, module_named, place_of
from rankproof.bench.adapters.quoting import words_of
from rankproof.bench.adapters.sources import module_digest
from rankproof.bench.retriever import Retriever
from rankproof.errors import UsageError, shorten

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
    if (place := place_of(words)) is not None:
        module = module_named(place[0], "retriever")
        found = attribute_of(module, place[1], "retriever")
        made = adapted(found, batch=batch, id=id, settings=settings)
        # By the source too, so that answers of other code are never taken for its own.
        source = {"source": module_digest(module)}
        return made if made.known else replace(made, settings={**made.settings, **source})
    try:
        parts = words_of(words)
    except ValueError as error:
        raise UsageError(f"retriever: got {words!r}: {error}. Next: close the quotes.") from error
    if not parts or shutil.which(parts[0]) is None:
        raise UsageError(
            f"retriever: got {words!r}, expected {FORMS}; there is no program {shorten(words)}."
            " Next: check the spelling, or its place in PATH."
        )
    return of_command(parts, id=id, settings=settings)
