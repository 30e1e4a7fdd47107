"""The source of a grid's description, and the searches and rerankers it names."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankproof.bench.adapters import import_named
from rankproof.core.corpus import Corpus
from rankproof.errors import DataError, UsageError, nearest, shorten
from rankproof.io.files import read_bytes, text_of

TABLE = re.compile(r"\s*\[+\s*([^\]]+?)\s*\]+")


@dataclass(frozen=True, slots=True)
class GridSource:
    """The description of a grid, which knows the lines of its keys."""

    data: Mapping[str, Any]
    name: str = "grid"
    text: str = ""
    folder: Path = Path()
    """The folder that relative paths start from."""

    def where(self, *keys: str) -> str:
        """The place of a key, with its line if there is one.

        >>> GridSource({}, "bench.toml", "k = 5\\n[chunkers]\\nsmall = 1\\n").where("chunkers", "small")
        'bench.toml, line 3, chunkers.small'
        """
        line = line_of(self.text, keys)
        return f"{self.name}{f', line {line}' if line else ''}, {'.'.join(map(str, keys))}"

    def path(self, given: str) -> str:
        """A path in the description, which is relative to its folder, as a path from the working folder."""
        return given if os.path.isabs(given) else str(self.folder / given)

    def check_keys(self, known: Iterable[str], *keys: str) -> None:
        """Refuse an unknown key in the table at `keys`."""
        table: Any = self.data
        for key in keys:
            table = table[key]
        expected = list(known)
        for key in table:
            if key not in expected:
                raise UsageError(
                    f"{self.where(*keys, key)}: unknown key {key!r}, expected one of "
                    f"{', '.join(expected)}.{nearest(key, expected)} Next: leave it out, or write one of these."
                )


def source_of(given: Any) -> GridSource:
    """The grid in a TOML file or a mapping.

    >>> source_of({"k": 5}).data
    {'k': 5}
    """
    if isinstance(given, Mapping):
        return GridSource(given)
    if not isinstance(given, (str, os.PathLike)):
        raise UsageError(
            f"grid: got {shorten(given)}, expected the path of a TOML file, or a mapping. Next: give one of these."
        )
    name = os.fspath(given)
    text = text_of(read_bytes(name), name)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{name}: not TOML: {error}. Next: correct that line.") from error
    return GridSource(data, name, text, Path(name).parent)


def line_of(text: str, keys: Iterable[str]) -> int | None:
    """The line on which a key is set; if that is not known, the line of its table.

    >>> line_of("a = 1\\n[b]\\nc = 2\\n[b.d]\\ne = 3\\n", ("b", "d", "e"))
    5
    """
    path, table, best = list(keys), [], None
    depth = 0
    for number, line in enumerate(text.splitlines(), start=1):
        header = TABLE.match(line)
        own = line.split("#")[0].partition("=")
        if header:
            table = _names(header[1])
            full = table
        else:
            full = [*table, *_names(own[0])] if own[1] else []
        if full and full == path[: len(full)] and len(full) > depth:
            best, depth = number, len(full)
    return best


def _names(dotted: str) -> list[str]:
    return [each.strip().strip("\"'") for each in dotted.split(".")]


ENDPOINT = "{ base_url = ..., model = ... }"
EMBEDDERS = f"sentence-transformers:MODEL, model2vec:MODEL, module:function, or {ENDPOINT}"


def searches() -> dict[str, Callable[..., Any]]:
    """The retrievers that are built from a corpus, by kind."""
    from rankproof.bench.retrieve import keyword, lsa

    return {"keyword": keyword, "expanded": expanded_search, "lsa": lsa, "dense": dense_search}


def expanded_search(
    corpus: Corpus,
    *,
    documents: int | None = None,
    terms: int | None = None,
    weight: float | None = None,
    language: str | None = None,
) -> Any:
    """Keyword search whose questions are expanded by words of the first results (RM3)."""
    from rankproof.bench.retrieve import expand, keyword

    given = {"documents": documents, "terms": terms, "weight": weight}
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    return expand(keyword(corpus, language=language), **options)


def dense_search(
    corpus: Corpus,
    *,
    embedder: Any,
    similarity: str = "cosine",
    document_prefix: str = "",
    question_prefix: str = "",
    cache: str | None = None,
) -> Any:
    """Exact dense search with the embedder that is named."""
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


def filter_retriever(retriever: Any, corpus: Corpus, names: frozenset[str]) -> Any:
    """The retriever over these documents only: their best, not what is left of the best of all."""
    from rankproof.bench.retrieve import where

    return where(retriever, lambda document: document.id in names, corpus=corpus)


NOTHING = Corpus([])
"""Stands for a corpus where a search is only to be checked, and building it would ask a model."""


def embedder_of(words: Any) -> Any:
    """The embedder of that name."""
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
    return model2vec(rest) if kind == "model2vec" else import_named(words, "embedder")
