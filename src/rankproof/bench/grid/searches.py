"""The searches and rerankers of a grid, made of plain options: models and functions are named by words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rankproof.bench.adapters.imports import imported
from rankproof.core.corpus import Corpus
from rankproof.errors import UsageError, shorten

ENDPOINT = "{ base_url = ..., model = ... }"
EMBEDDERS = f"sentence-transformers:MODEL, model2vec:MODEL, module:function, or {ENDPOINT}"


def searches() -> dict[str, Callable[..., Any]]:
    """The retrievers that are built of a corpus, by kind."""
    from rankproof.bench.retrieve import keyword, lsa

    return {"keyword": keyword, "expanded": expanded, "lsa": lsa, "dense": dense}


def expanded(
    corpus: Corpus,
    *,
    documents: int | None = None,
    terms: int | None = None,
    weight: float | None = None,
    language: str | None = None,
) -> Any:
    """Keyword search whose questions are widened by words of what was found first (RM3)."""
    from rankproof.bench.retrieve import expand, keyword

    given = {"documents": documents, "terms": terms, "weight": weight}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    return expand(keyword(corpus, language=language), **options)


def dense(
    corpus: Corpus,
    *,
    embedder: Any,
    similarity: str = "cosine",
    document_prefix: str = "",
    question_prefix: str = "",
    cache: str | None = None,
) -> Any:
    """Exact search among the vectors of an embedder that is named by words."""
    from rankproof.bench import retrieve

    made = embedder_of(embedder)
    if corpus is NOTHING:
        return None  # an embedder that can be made is all that is to be seen before the run
    return retrieve.dense(
        corpus,
        made,
        similarity=similarity,  # type: ignore[arg-type]
        document_prefix=document_prefix,
        question_prefix=question_prefix,
        cache=cache,
    )


def filtered(retriever: Any, corpus: Corpus, names: frozenset[str]) -> Any:
    """The retriever, finding the best of these documents alone: not the best of all, cut."""
    from rankproof.bench.retrieve import where

    return where(retriever, lambda document: document.id in names, corpus=corpus)


NOTHING = Corpus([])
"""Stands for a corpus where a search is only to be checked, and building it would ask a model."""


def embedder_of(words: Any) -> Any:
    """The embedder that the words name."""
    from rankproof.bench.retrieve import endpoint, model2vec, sentence_transformers

    if isinstance(words, Mapping):
        try:
            return endpoint(**words)
        except TypeError as error:
            raise UsageError(f"embedder: {error}. Next: write it like {ENDPOINT}.") from error
    if callable(words):
        return words
    if not isinstance(words, str):
        raise UsageError(f"embedder: got {shorten(words)}, expected {EMBEDDERS}. Next: choose one of these.")
    kind, _, rest = words.partition(":")
    if not rest:
        raise UsageError(f"embedder: got {shorten(words)}, expected {EMBEDDERS}. Next: choose one of these.")
    if kind == "sentence-transformers":
        return sentence_transformers(rest)
    return model2vec(rest) if kind == "model2vec" else imported(words, "embedder")
