"""Retrievers of other libraries, known by their methods: nothing of theirs is imported.

| library | method | gives |
|---|---|---|
| LangChain | `.invoke(question)` | documents with `id`, `page_content`, `metadata` |
| LlamaIndex | `.retrieve(question)` | nodes with scores |
| Haystack | `.run(query=question)` | `{"documents": [...]}` |
| Haystack's pipelines | `.run({component: {"query": question}})` | `{component: {"documents": [...]}}` |
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from rankproof.bench.adapters.adapter import Adapted
from rankproof.bench.adapters.answers import IdOf
from rankproof.bench.adapters.callables import is_async, with_k
from rankproof.bench.adapters.failed import Failed
from rankproof.bench.adapters.state import digest_of, state_of
from rankproof.errors import UsageError

Call: TypeAlias = Callable[[Any, int], Any]

QUESTION = ("query", "text", "question")
"""What Haystack's components call it."""


def of_framework(found: Any, *, id: IdOf, settings: Mapping[str, Any] | None) -> Adapted | None:
    """The retriever of another library, if it is one of those that are known."""
    for method, make in _METHODS.items():
        own = getattr(found, method, None)
        if callable(own) and not inspect.isfunction(found) and not isinstance(found, type):
            kind = type(found)
            name = f"{kind.__module__}.{kind.__qualname__}.{method}"
            said = {"kind": name, "made": digest_of(_made_with(found)), **(settings or {})}
            return Adapted(make(own), said, awaited=is_async(own), id=id, known=settings is not None)
    return None


def _made_with(found: Any) -> Any:
    """Its own settings, and where it is a pipeline those of its parts."""
    parts = found.walk() if callable(getattr(found, "walk", None)) else ()
    return [state_of(found), *((name, state_of(part)) for name, part in parts)]


def _run(method: Callable[..., Any]) -> Call:
    """Haystack's components take the number of documents as `top_k`, where they take it."""
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
    """A pipeline as it stands: the question goes wherever one is taken, the documents come from its end."""
    for component, sockets in inputs.items():
        for socket, about in sockets.items():
            if about.get("is_mandatory") and socket not in QUESTION:
                raise UsageError(
                    f"retriever: the pipeline needs {component}.{socket}, and a question is all there is. "
                    "Next: wrap it in a function of a text that gives the rest."
                )
    places = {name: [each for each in QUESTION if each in sockets] for name, sockets in inputs.items()}

    def call(text: str, k: int) -> Any:
        asked = {name: dict.fromkeys(sockets, text) for name, sockets in places.items() if sockets}
        return _documents(method(asked))

    return call


def _documents(outputs: Mapping[str, Mapping[str, Any]]) -> Any:
    found = [each["documents"] for each in outputs.values() if "documents" in each]
    if len(found) != 1:
        ends = ", ".join(f"{name}.{each}" for name, given in outputs.items() for each in given)
        raise Failed(
            f"the pipeline gives {len(found)} lists of documents, expected one (it gives {ends})."
            " Next: give the part of it that ends with its retriever"
        )
    return found[0]


_METHODS: dict[str, Callable[[Callable[..., Any]], Call]] = {
    "invoke": with_k,
    "retrieve": with_k,
    "run": _run,
}
