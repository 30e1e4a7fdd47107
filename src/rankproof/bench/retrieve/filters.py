"""Filters: search among the documents alone whose metadata are as asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Any

from rankproof.bench.retrieve.search import Allowed, Search, as_search
from rankproof.bench.retriever import Found
from rankproof.core.corpus import Corpus, Document
from rankproof.errors import UsageError, nearest, shorten
from rankproof.io.corpora import load_corpus

Predicate = Callable[[Document], Any]


def where(retriever: Any, *predicates: Predicate, corpus: Any = None, **values: Any) -> Search:
    """The best of those documents that fit all that is said: not the best of all, cut.

    `values` are metadata by name: a value, a list or set of them, or a function of the value. `predicates` are
    functions of a whole `Document`. `corpus` are the documents, where the retriever does not know them.

    >>> from rankproof.bench.retrieve import keyword
    >>> pages = {"d1": {"text": "fees and fees", "year": 2020}, "d2": {"text": "fees", "year": 2024}}
    >>> recent = where(keyword(pages), year=lambda year: year > 2021)
    >>> [document for document, score in recent("fees")]
    ['d2']
    """
    search = as_search(retriever)
    documents = search.corpus if corpus is None else load_corpus(corpus)
    if documents is None:
        raise UsageError(
            f"where: the documents that {search} searches are not known. Next: where(..., corpus=...) with them."
        )
    fitting = frozenset(_fitting(documents, predicates, values))
    said = [*map(_named, predicates), *(f"{name}={_named(value)}" for name, value in values.items())]

    def answer(questions: Sequence[str], k: int, allowed: Allowed) -> list[Found]:
        both = fitting if allowed is None else fitting & allowed
        return search.search(questions, k, both) if both else [[] for _ in questions]

    return Search(
        name=f"where({', '.join([repr(search), *said])})",
        describe=lambda: {"kind": "where", "retriever": dict(search.settings), "documents": _digest(fitting)},
        answer=answer,
        corpus=documents,
    )


def _fitting(corpus: Corpus, predicates: Sequence[Predicate], values: dict[str, Any]) -> list[str]:
    if not predicates and not values:
        raise UsageError('where: got no condition. Next: say one, like where(retriever, topic="billing").')
    for each in predicates:
        if not callable(each):
            raise UsageError(
                f"where: got {shorten(each)}, expected a function of a document, or a value by its name."
                " Next: give one of these."
            )
    for name in values:
        _check_known(name, corpus)
    return [
        name
        for name, each in corpus.items()
        if all(predicate(each) for predicate in predicates)
        and all(key in each.metadata and _fits(each.metadata[key], value) for key, value in values.items())
    ]


def _fits(value: Any, wanted: Any) -> bool:
    if callable(wanted):
        return bool(wanted(value))
    if isinstance(wanted, (list, tuple, set, frozenset)):
        return value in wanted
    return bool(value == wanted)


def _check_known(name: str, corpus: Corpus) -> None:
    if any(name in each.metadata for each in corpus.values()):
        return
    known = sorted({key for each in corpus.values() for key in each.metadata})
    there = f"there are {', '.join(map(repr, known))}" if known else "there are none at all"
    raise UsageError(
        f"where: no document has {name!r} in its metadata; {there}.{nearest(name, known)}"
        " Next: name a field that documents have."
    )


def _named(condition: Any) -> str:
    return str(getattr(condition, "__name__", None) or shorten(condition))


def _digest(documents: frozenset[str]) -> str:
    digest = blake2b(digest_size=16)
    for each in sorted(documents):
        digest.update(f"{len(each)}:{each}".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
