"""Retrievers of other libraries, known by their methods: nothing of theirs is imported.

| library | method | gives |
|---|---|---|
| LangChain | `.invoke(question)` | documents with `id`, `page_content`, `metadata` |
| LlamaIndex | `.retrieve(question)` | nodes with scores |
| Haystack | `.run(query=question)` | `{"documents": [...]}` |
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from rankproof.bench.adapters.adapted import Adapted
from rankproof.bench.adapters.answers import IdOf
from rankproof.bench.adapters.callables import is_async


def of_framework(found: Any, *, id: IdOf, settings: Mapping[str, Any] | None) -> Adapted | None:
    """The retriever of another library, if it is one of those that are known."""
    for method, make in _METHODS.items():
        own = getattr(found, method, None)
        if callable(own) and not inspect.isfunction(found) and not isinstance(found, type):
            kind = type(found)
            said = {"kind": f"{kind.__module__}.{kind.__qualname__}.{method}", **(settings or {})}
            return Adapted(make(own), said, awaited=is_async(own), id=id, known=settings is not None)
    return None


def _invoke(method: Callable[..., Any]) -> Callable[[Any, int], Any]:
    return lambda text, k: method(text)


def _run(method: Callable[..., Any]) -> Callable[[Any, int], Any]:
    """Haystack's components take the number of documents as `top_k`, where they take it."""
    if "top_k" in inspect.signature(method).parameters:
        return lambda text, k: method(query=text, top_k=k)
    return lambda text, k: method(query=text)


_METHODS: dict[str, Callable[[Callable[..., Any]], Callable[[Any, int], Any]]] = {
    "invoke": _invoke,
    "retrieve": _invoke,
    "run": _run,
}
