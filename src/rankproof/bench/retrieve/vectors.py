"""Dense search: the documents whose vectors are nearest to the question's, found exactly."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rankproof.bench.retrieve.embedder import Embed, Embedder, as_embedder, embed_texts, embed_with_cache
from rankproof.bench.retrieve.latent import lsa
from rankproof.bench.retrieve.nearest import nearest_among, unit_rows
from rankproof.bench.retrieve.search import Answer, Search, with_options
from rankproof.core.corpus import Corpus
from rankproof.core.hits import Array
from rankproof.errors import DataError, UsageError, check_whole, one_of
from rankproof.io.corpora import load_corpus

Similarity = Literal["cosine", "dot"]
USUAL = {"similarity": "cosine", "document_prefix": "", "question_prefix": ""}

Embedding = Callable[[Embed, str, Sequence[str]], Array]
"""A function of an embedder, what its texts are, and the texts."""


def dense(
    corpus: Any,
    embedder: Any = None,
    *,
    similarity: Similarity = "cosine",
    document_prefix: str = "",
    question_prefix: str = "",
    batch: int | None = None,
    cache: str | os.PathLike[str] | None = None,
) -> Search:
    """Exact search among the vectors of an embedder; without one, `lsa`, which needs no model.

    `embedder` is a function `texts -> vectors`, sync or async, a model of sentence-transformers, model2vec or
    LangChain, or what `endpoint`, `sentence_transformers`, `model2vec` or `named_embedder` give. `similarity` is
    cosine or dot. The prefixes are put before each text, as models like E5 want it. `batch` texts are
    embedded at a time. `cache` names a file that keeps the vectors.

    Blank texts are not embedded, and nothing finds them.

    >>> letters = lambda texts: [[text.count("a"), text.count("b")] for text in texts]
    >>> [document for document, score in dense({"d1": "aaab", "d2": "abbb"}, letters)("bb")]
    ['d2', 'd1']
    """
    options = {**USUAL, "similarity": similarity}
    options |= {"document_prefix": document_prefix, "question_prefix": question_prefix}
    if similarity not in ("cosine", "dot"):
        raise one_of("similarity", similarity, ("cosine", "dot"))
    if embedder is None:
        return _without_model(corpus, options, batch, cache)
    documents, made = load_corpus(corpus), as_embedder(embedder)
    return Search(
        name=with_options(f"dense[{made.name}]", options, USUAL),
        describe=lambda: {
            "kind": "dense",
            "embedder": dict(made.settings),
            **options,
            "corpus": documents.fingerprint,
        },
        answer=_answer(documents, made, _embedding(made, batch, cache), options),
        corpus=documents,
    )


def _answer(corpus: Corpus, made: Embedder, embed: Embedding, options: dict[str, str]) -> Answer:
    scaled = unit_rows if options["similarity"] == "cosine" else np.asarray
    names = sorted((name for name, each in corpus.items() if each.whole.strip()), reverse=True)
    texts = [options["document_prefix"] + corpus[name].whole for name in names]
    rows = scaled(embed(made.documents, "document", texts))
    found = np.flatnonzero(rows.any(axis=1))

    def place(questions: Sequence[str]) -> Array:
        asked = [n for n, question in enumerate(questions) if question.strip()]
        vectors = np.zeros((len(questions), rows.shape[1]), dtype=np.float32)
        if asked and len(found):
            given = embed(
                made.questions, "question", [options["question_prefix"] + questions[n] for n in asked]
            )
            vectors[asked] = scaled(_as_long(given, rows.shape[1]))
        return vectors

    return nearest_among([names[n] for n in found.tolist()], rows[found], place)


def _embedding(made: Embedder, batch: int | None, cache: str | os.PathLike[str] | None) -> Embedding:
    """How texts are embedded: in batches, remembered in a file where there is one."""
    size = made.batch if batch is None else batch
    check_whole("batch", size)
    if cache is None:
        return lambda embed, what, texts: embed_texts(embed, texts, size)
    if not made.known:
        raise UsageError(
            f"cache: nothing tells {made.name} from other embedders, so its vectors could be taken for theirs. "
            "Next: give named_embedder(function, 'a name that changes with it')."
        )
    return lambda embed, what, texts: embed_with_cache(
        embed, texts, size, {**made.settings, "text": what}, Path(cache)
    )


def _as_long(given: Array, size: int) -> Array:
    if given.shape[1] != size:
        raise DataError(
            f"embedder: got vectors of {given.shape[1]} numbers for questions and of {size} for documents, expected "
            "them to be alike. Next: use one model for both."
        )
    return given


def _without_model(corpus: Any, options: dict[str, str], batch: Any, cache: Any) -> Search:
    if options != USUAL or batch is not None or cache is not None:
        raise UsageError(
            "dense: got options for an embedder, and no embedder. Next: give one, or use lsa(corpus), which needs none."
        )
    return lsa(corpus)
