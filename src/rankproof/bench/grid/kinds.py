"""The kinds of parts that each factor of a grid knows: what a kind takes, and how it is made."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from rankproof.bench.adapters import adapt, import_named, loaded_module
from rankproof.bench.adapters.code import module_digest
from rankproof.bench.chunk import fixed, markdown, recursive, sentences, sliding
from rankproof.bench.fusion import Recipe, recipe
from rankproof.bench.grid.source import CALL, HYBRID, NONE, GridPart, GridSource
from rankproof.bench.retrieve import (
    cross_encoder,
    dense,
    endpoint,
    expand,
    expansion,
    keyword,
    lsa,
    model2vec,
    rerank,
    sentence_transformers,
    spelling,
)
from rankproof.core.corpus import Corpus
from rankproof.errors import RankproofError, UsageError, nearest, one_of, shorten

ENDPOINT = "{ base_url = ..., model = ... }"
EMBEDDERS = f"sentence-transformers:MODEL, model2vec:MODEL, module:function, or {ENDPOINT}"


def expanded_search(
    corpus: Corpus,
    *,
    documents: int | None = None,
    terms: int | None = None,
    weight: float | None = None,
    language: str | None = None,
) -> Any:
    """Keyword search whose questions are expanded by words of the first results (RM3)."""
    given = {"documents": documents, "terms": terms, "weight": weight}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    return expand(keyword(corpus, language=language), **options)


def dense_search(
    corpus: Corpus,
    *,
    embedder: Any,
    similarity: Any = "cosine",
    document_prefix: str = "",
    question_prefix: str = "",
    cache: str | None = None,
) -> Any:
    """Exact dense search with the embedder that is named."""
    return dense(
        corpus,
        embedder_of(embedder),
        similarity=similarity,
        document_prefix=document_prefix,
        question_prefix=question_prefix,
        cache=cache,
    )


def embedder_of(words: Any) -> Any:
    """The embedder of that name."""
    if isinstance(words, Mapping):
        try:
            return endpoint(**words)
        except TypeError as error:
            raise UsageError(f"embedder: {error}. Next: write it like {ENDPOINT}.") from error
    if callable(words):
        return words
    kind, _, rest = words.partition(":") if isinstance(words, str) else ("", "", "")
    if not rest:
        raise UsageError(f"embedder: got {shorten(words)}, expected {EMBEDDERS}. Next: choose one of these.")
    makers = {"sentence-transformers": sentence_transformers, "model2vec": model2vec}
    return makers[kind](rest) if kind in makers else import_named(words, "embedder")


def function_of(part: GridPart) -> Callable[..., Any]:
    """The given function, or the one named as `module:function`, which may be in the working folder."""
    found: Callable[..., Any] = import_named(part.options["call"], "call") if part.given is None else part.given
    return found


Maker = Callable[[GridPart, Any], Any]
"""Makes what a part stands for, of documents."""


@dataclass(frozen=True)
class PartKind:
    """One kind of part."""

    make: Maker = lambda part, corpus: None
    takes: Callable[..., Any] | None = None
    """The function whose parameters are the options of the kind."""
    needs: tuple[str, ...] = ()
    """Options that it needs beside these."""
    more: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Options that it may have, each with the words that it can be, the usual one first; none: anything."""
    check: Maker | None = None
    """What is tried before the run in place of making it."""


def _chunker(cut: Callable[..., Any]) -> PartKind:
    def make(part: GridPart, corpus: Any) -> Any:
        return cut(**{name: value for name, value in part.options.items() if name != "map"})

    return PartKind(make, cut, more={"map": ("best", "first", "sum")})  # how a document is scored by its chunks


def _of_corpus(made: Callable[..., Any], check: Maker | None = None) -> PartKind:
    return PartKind(lambda part, corpus: made(corpus, **part.options), made, check=check)


def _reranker(make: Callable[[GridPart], Any], *needs: str) -> PartKind:
    def make_deep(part: GridPart, corpus: Any) -> Any:
        return make(part)(depth=part.options.get("depth"))

    return PartKind(make_deep, needs=needs, more={"depth": ()})


OF_CORPUS = ("spelling", "expansion")
"""Kinds of rewriters that read the documents."""

KINDS: Mapping[str, Mapping[str, PartKind]] = {
    "chunkers": {
        NONE: PartKind(),
        **{cut.__name__: _chunker(cut) for cut in (fixed, sentences, recursive, markdown, sliding)},
    },
    "retrievers": {
        "keyword": _of_corpus(keyword),
        "expanded": _of_corpus(expanded_search),
        "lsa": _of_corpus(lsa),
        # An embedder that can be made is all that is to be seen before the run.
        "dense": _of_corpus(dense_search, lambda part, corpus: embedder_of(part.options["embedder"])),
        HYBRID: PartKind(more={"of": ()}),
        "built": PartKind(
            lambda part, corpus: function_of(part)(corpus),
            needs=("call",),
            check=lambda part, corpus: function_of(part),
        ),
        CALL: PartKind(
            lambda part, corpus: part.options["call"] if part.given is None else part.given,
            needs=("call",),
            more={"id": ()},
            check=lambda part, corpus: adapt(part.options["call"]),
        ),
    },
    "rerankers": {
        NONE: PartKind(),
        "lexical": _reranker(lambda part: rerank),
        "cross-encoder": _reranker(lambda part: cross_encoder(part.options["model"]), "model"),
        CALL: _reranker(lambda part: rerank(function_of(part), name=part.name), "call"),
    },
    "rewriters": {
        NONE: PartKind(),
        "spelling": _of_corpus(spelling),
        "expansion": _of_corpus(expansion),
        CALL: PartKind(lambda part, corpus: function_of(part), needs=("call",)),
    },
}
"""The kinds of each factor; filters and fusions have their own."""

TINY = Corpus.of({"a": "one two three", "b": "two three four", "c": "three four five"})
"""A tiny corpus on which retrievers are built to check their options before anything runs."""


def make(factor: str, part: GridPart, corpus: Corpus | None = None) -> Any:
    """What a part stands for; None where it stands for nothing. A given object is made like one that is called."""
    kind = KINDS[factor].get(CALL if part.given is not None else part.kind)
    return part.given if kind is None else kind.make(part, corpus)


def check_part(source: GridSource, factor: str, part: GridPart) -> None:
    """Refuse a part of an unknown kind, with options that its kind has not, and one that cannot be made."""
    if part.given is not None:
        return
    if part.kind not in KINDS[factor]:
        raise one_of(source.where(factor, part.label or part.name, "kind"), part.kind, KINDS[factor])
    kind = KINDS[factor][part.kind]
    _check_options(source, factor, part, kind)
    try_making(source, factor, part, lambda: (kind.check or kind.make)(part, TINY))


def _check_options(source: GridSource, factor: str, part: GridPart, kind: PartKind) -> None:
    """Refuse unknown options, missing ones that the kind needs, and words that an option cannot be."""
    parameters = inspect.signature(kind.takes).parameters if kind.takes else {}
    named = {name: each for name, each in parameters.items() if name != "corpus"}
    known = [*kind.needs, *named, *kind.more]
    for name in part.options:
        if name not in known:
            raise UsageError(
                f"{source.where(factor, part.label, name)}: {part.kind} has no option {name!r}, expected "
                f"{', '.join(known) or 'none'}.{nearest(name, known)} Next: leave it out, or name one of these."
            )
    for name in (*kind.needs, *(name for name, each in named.items() if each.default is each.empty)):
        if name not in part.options:
            raise UsageError(f"{source.where(factor, part.label)}: {part.kind} needs {name!r}. Next: add it.")
    for name, words in kind.more.items():
        if words and part.options.get(name, words[0]) not in words:
            raise one_of(source.where(factor, part.label, name), part.options[name], words)


def try_making(source: GridSource, factor: str, part: GridPart, making: Callable[[], Any]) -> None:
    """Try it before the run; an error names the part's place in the description."""
    try:
        making()
    except RankproofError as error:
        raise type(error)(f"{source.where(factor, part.label or part.name)}: {error}") from error


def check_fusion(source: GridSource, part: GridPart, hybrids: Sequence[GridPart]) -> None:
    """Refuse a fusion that `fuse` does not know, or not with these options, or not for one of the hybrids."""
    weights = part.options.get("weights")
    # Names for what is combined, if no hybrid says them.
    several = weights if isinstance(weights, (Mapping, list, tuple)) else ("", "")
    some = weights if isinstance(weights, Mapping) else [f"r{n}" for n in range(len(several))]
    for names in [each.of for each in hybrids] or [tuple(some)]:
        try_making(source, "fusion", part, partial(fusion, part, names))


def fusion(part: GridPart, names: Sequence[str]) -> Recipe:
    """The recipe that combines rankings of these names."""
    options = dict(part.options)
    normalise, weights = options.pop("normalise", None), options.pop("weights", None)
    made = recipe(names, part.kind, normalise, weights, options)
    if made.method.learn is not None:
        raise UsageError(
            f"{part.kind} learns from judged queries, which a grid keeps for choosing. Next: 'rankproof fuse --tune'."
        )
    return made


def with_source(part: GridPart) -> GridPart:
    """The part with a digest of its code, so that answers of changed code are not reused."""
    words = str(part.options.get("call", part.options.get("embedder", "")))
    module = loaded_module(words.rpartition(":")[0])
    if module is not None:
        return replace(part, source=module_digest(module))
    return replace(part, source=adapt(words).settings.get("source")) if part.kind == CALL else part
