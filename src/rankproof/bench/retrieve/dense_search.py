"""Dense search, by the vectors nearest to the question's, found exactly; and hybrid search, which fuses rankings."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rankproof.bench.fusion.pool import pool_of
from rankproof.bench.fusion.recipe import Recipe, Weights, fused_scores, recipe
from rankproof.bench.retrieve.embedder import Embed, Embedder, as_embedder, embed_texts, embed_with_cache
from rankproof.bench.retrieve.lsa import lsa
from rankproof.bench.retrieve.nearest_vectors import nearest_among, unit_rows
from rankproof.bench.retrieve.search import (
    DEPTH,
    Allowed,
    Answer,
    Search,
    as_search,
    changed_options,
    shared_corpus,
    with_options,
)
from rankproof.bench.retriever import Found
from rankproof.core.corpus import Corpus
from rankproof.core.hits import Array
from rankproof.core.table import RankingTable
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
        if options != USUAL or batch is not None or cache is not None:
            raise UsageError(
                "dense: got options for an embedder, and no embedder. Next: give one, or use lsa(corpus), which needs "
                "none."
            )
        return lsa(corpus)
    documents, made = load_corpus(corpus), as_embedder(embedder)
    return Search(
        name=with_options(f"dense[{made.name}]", options, USUAL),
        describe=lambda: {"kind": "dense", "embedder": dict(made.settings), **options, "corpus": documents.fingerprint},
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
            given = embed(made.questions, "question", [options["question_prefix"] + questions[n] for n in asked])
            size = rows.shape[1]
            if given.shape[1] != size:
                raise DataError(
                    f"embedder: got vectors of {given.shape[1]} numbers for questions and of {size} for documents, "
                    "expected them to be alike. Next: use one model for both."
                )
            vectors[asked] = scaled(given)
        return vectors

    return nearest_among([names[n] for n in found.tolist()], rows[found], place)


def _embedding(made: Embedder, batch: int | None, cache: str | os.PathLike[str] | None) -> Embedding:
    """How texts are embedded: in batches, remembered in a file if there is one."""
    size = made.batch if batch is None else batch
    check_whole("batch", size)
    if cache is None:
        return lambda embed, what, texts: embed_texts(embed, texts, size)
    if not made.known:
        raise UsageError(
            f"cache: nothing tells {made.name} from other embedders, so its vectors could be taken for theirs. "
            "Next: give named_embedder(function, 'a name that changes with it')."
        )
    return lambda embed, what, texts: embed_with_cache(embed, texts, size, {**made.settings, "text": what}, Path(cache))


def search_of_lists(lists: Mapping[str, Found], corpus: Corpus) -> Search:
    """A search that answers each question, by its text, with the list there is.

    >>> search_of_lists({"fees?": [("d2", 2.0), ("d1", 1.0)]}, Corpus.of({"d1": "Hours.", "d2": "Fees."}))("fees?", 1)
    [('d2', 2.0)]
    """

    def answer(questions: Sequence[str], k: int, allowed: frozenset[str] | None) -> list[Found]:
        known = (lists.get(question, []) for question in questions)
        return [[pair for pair in found if allowed is None or pair[0] in allowed][:k] for found in known]

    return Search("what was found before", dict, answer, corpus)


def blend_lists(lists: Mapping[str, Mapping[str, Found]], made: Recipe) -> dict[str, Found]:
    """Lists of several retrievers as one list a question; a question that one has nothing for is the others'.

    >>> from rankproof.bench.fusion.recipe import recipe
    >>> lists = {"one": {"q": [("a", 2.0), ("b", 1.0)]}, "other": {"q": [("b", 9.0)], "r": [("c", 1.0)]}}
    >>> {q: [doc for doc, _ in found] for q, found in blend_lists(lists, recipe(["one", "other"], "rrf")).items()}
    {'q': ['b', 'a'], 'r': ['c']}
    """
    tables = {
        name: RankingTable(
            query=[query for query, found in each.items() for _ in found],
            doc=[doc for found in each.values() for doc, _ in found],
            score=np.array([score for found in each.values() for _, score in found], dtype=np.float64),
            source="a search",
        )
        for name, each in lists.items()
    }
    pool = pool_of(tables)
    return {query: list(docs.items()) for query, docs in pool.order_documents(fused_scores(made, pool)).items()}


METHOD = "rrf"


def hybrid(
    retrievers: Mapping[str, Any] | Sequence[Any],
    method: str = METHOD,
    *,
    weights: Weights | None = None,
    normalise: str | None = None,
    depth: int = DEPTH,
    **parameters: Any,
) -> Search:
    """One retriever of several, their rankings fused; `a + b` is `hybrid([a, b])`.

    `retrievers` is a list or `{name: retriever}`. `method`, `weights`, `normalise` and `parameters` are those of
    `rankproof.fuse`. Each retriever gives its `depth` best documents, or as many as are asked for in the end.

    >>> from rankproof.bench.retrieve import keyword, lsa
    >>> pages = {"d1": "Refunds within 30 days.", "d2": "Opening hours."}
    >>> hybrid([keyword(pages), lsa(pages)], "weighted-sum", weights=[1, 2])
    hybrid([keyword, lsa], 'weighted-sum', weights=[1.0, 2.0])
    """
    named = _named(retrievers)
    made = recipe(list(named), method, normalise, weights, parameters)
    if made.method.learn is not None:
        raise UsageError(
            f"{made.method.name} learns from judged queries, which a retriever has not. Next: choose another method; "
            "settings found with 'tune' are good here."
        )
    check_whole("depth", depth)
    searches = tuple(named.values())
    plain = made.method.name == METHOD and depth == DEPTH and weights is None and not parameters
    return Search(
        name=(
            " + ".join(f"({each})" if each.reranked else repr(each) for each in searches)
            if plain
            else _name(searches, made, depth)
        ),
        describe=lambda: {
            "kind": "hybrid",
            "retrievers": {name: dict(each.settings) for name, each in named.items()},
            "method": made.method.name,
            **_plain(made),
            "depth": depth,
        },
        answer=_fused_answer(named, made, depth),
        corpus=shared_corpus(searches),
        parts=searches if plain else (),
    )


def _fused_answer(named: Mapping[str, Search], made: Recipe, depth: int) -> Answer:
    def answer(questions: Sequence[str], k: int, allowed: Allowed) -> list[Found]:
        found = {name: each.search(questions, max(k, depth), allowed) for name, each in named.items()}
        blended = blend_lists({name: dict(zip(questions, each, strict=True)) for name, each in found.items()}, made)
        return [blended.get(question, [])[:k] for question in questions]

    return answer


def _named(retrievers: Mapping[str, Any] | Sequence[Any]) -> dict[str, Search]:
    if isinstance(retrievers, Mapping):
        named = {str(name): as_search(each) for name, each in retrievers.items()}
    else:
        every = [as_search(each) for each in retrievers]
        named = dict(zip(_names(every), every, strict=True))
    if len(named) < 2:
        raise UsageError(f"hybrid: got {len(named)} retrievers, expected at least two. Next: give another retriever.")
    return named


def _names(searches: Sequence[Search]) -> list[str]:
    """The names under which they print, with a number if a name stands twice."""
    printed = [repr(each) for each in searches]
    return [
        name if printed.count(name) == 1 else f"{name} {printed[: n + 1].count(name)}" for n, name in enumerate(printed)
    ]


def _name(searches: Sequence[Search], made: Recipe, depth: int) -> str:
    options = {**_plain(made), "depth": depth}
    usual = {name: each.default for name, each in made.method.parameters.items()}
    said = changed_options(options, {**usual, "depth": DEPTH, "normalise": "min-max"})
    listed = f"[{', '.join(map(repr, searches))}]"
    return f"hybrid({', '.join([listed, repr(made.method.name), *said])})"


def _plain(made: Recipe) -> dict[str, Any]:
    """The settings, as JSON has them."""
    return {name: list(v) if isinstance(v, tuple) else v for name, v in made.settings.items()}
