"""Dense search, by the vectors nearest to the question's, found exactly; and embedders, which make vectors of texts.

An embedder is a function, a model or an HTTP endpoint; it gets texts in batches.
"""

from __future__ import annotations

import json
import os
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from importlib import import_module
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

import numpy as np

from rankproof.bench.adapters.adapter import describe, finish
from rankproof.bench.retrieve.lsa import lsa
from rankproof.bench.retrieve.nearest_vectors import nearest_among, unit_rows
from rankproof.bench.retrieve.search import Answer, Search, with_options
from rankproof.core.corpus import Corpus
from rankproof.core.hits import Array
from rankproof.document.model import Displayable
from rankproof.errors import DataError, MissingExtra, UsageError, UserCode, check_one_of, check_whole, reason, shorten
from rankproof.io.corpora import load_corpus
from rankproof.net.client import Client, Request, is_address
from rankproof.net.retries import Failed, Retries
from rankproof.progress import Progress
from rankproof.store.answers import open_answers

Embed: TypeAlias = Callable[[list[str]], Any]


@dataclass(frozen=True, eq=False)
class Embedder(Displayable):
    """Makes vectors of texts."""

    name: str
    settings: Mapping[str, Any]
    """All that shapes its vectors, as plain data."""
    documents: Embed
    """From a list of texts to as many vectors; may be async."""
    questions: Embed
    """The same for questions, if these are embedded in another way."""
    batch: int = 64
    """How many texts are handed over at a time."""
    known: bool = True
    """Whether the settings tell it from every other embedder, so that its vectors may be kept in a file."""


def as_embedder(anything: Any) -> Embedder:
    """An `Embedder` of a function `texts -> vectors`, or of a model with `encode` or LangChain's methods."""
    if isinstance(anything, Embedder):
        return anything
    if hasattr(anything, "embed_documents") and hasattr(anything, "embed_query"):
        return _of_langchain(anything)
    if callable(getattr(anything, "encode", None)) and not isinstance(anything, str):
        return _of_model(anything)
    if callable(anything) and not isinstance(anything, type):
        name = getattr(anything, "__name__", type(anything).__name__)
        return Embedder(name, describe(anything), anything, anything, known=False)
    raise UsageError(
        f"embedder: got {shorten(anything)} ({type(anything).__name__}), expected a function from texts to vectors. "
        "Next: give one, or endpoint(...), sentence_transformers(...), model2vec(...); or use lsa(corpus)."
    )


def named_embedder(function: Embed, name: str, *, batch: int = 64, questions: Embed | None = None) -> Embedder:
    """A function `texts -> vectors` under a name, so that its vectors may be kept in a file.

    Change the name when what the function gives changes.
    """
    return Embedder(name, {"embedder": name}, function, questions or function, batch)


def sentence_transformers(model: str, **options: Any) -> Embedder:
    """A model of sentence-transformers, by its name or path; `options` are those of `SentenceTransformer`."""
    return _of_model(load_model("embedder", "sentence_transformers", "SentenceTransformer", model, options), model)


def model2vec(model: str) -> Embedder:
    """A static model of model2vec, by its name or path."""
    return _of_model(load_model("embedder", "model2vec", "StaticModel.from_pretrained", model, {}), model)


def load_model(what: str, package: str, maker: str, model: str, options: Mapping[str, Any]) -> Any:
    """What a class of a package makes of a model's name; an error says what to do if it is not here."""
    try:
        make = attrgetter(maker)(import_module(package))
    except (ImportError, AttributeError) as error:  # something else may have the name of the package
        name = package.replace("_", "-")
        raise MissingExtra(f"this {what} needs {name}, not installed. Next: pip install {name}") from error
    try:
        return make(model, **options)
    except (OSError, ValueError, RuntimeError, LookupError) as error:
        why = " ".join(reason(error).split())
        raise UsageError(
            f"{what}: the weights of {shorten(model)} cannot be loaded: {type(error).__name__}: {why[:200]}. "
            "Next: check its name; or fetch it where there is a network and give the path of its folder; or use "
            f"{'lsa(corpus)' if what == 'embedder' else 'rerank alone'}, which needs no weights."
        ) from error


def _of_model(model: Any, name: str | None = None) -> Embedder:
    """A model with `encode`; newer ones of sentence-transformers tell questions and documents apart."""
    kind = type(model).__qualname__
    return Embedder(
        name or kind,
        {"model": name or kind, "class": f"{type(model).__module__}.{kind}"},
        getattr(model, "encode_document", model.encode),
        getattr(model, "encode_query", model.encode),
        known=name is not None,
    )


def _of_langchain(model: Any) -> Embedder:
    kind = type(model).__qualname__

    def of_question(text: str) -> Any:
        with UserCode(model.embed_query, "the question", text):
            return model.embed_query(text)

    return Embedder(
        kind,
        {"model": getattr(model, "model", kind), "class": f"{type(model).__module__}.{kind}"},
        model.embed_documents,
        lambda texts: list(map(of_question, texts)),
        known=False,
    )


# --- an endpoint ---------------------------------------------------------------------------------------

OPENAI = "api.openai.com"
FIRST_PAUSE = 0.25
"""Seconds before a failed request is sent again; doubled each time."""


def endpoint(
    base_url: str,
    model: str,
    *,
    key: str | None = None,
    dimensions: int | None = None,
    batch: int = 64,
    timeout: float = 60.0,
    retries: int = 4,
) -> Embedder:
    """An embedder at `base_url`, like http://localhost:11434/v1, that is asked at `/embeddings`.

    `key` is the name of the environment variable with the key: OPENAI_API_KEY for OpenAI itself, none for others.
    `dimensions` asks for shorter vectors where the model can. Failures that may pass (429, 5xx, no connection) are
    asked again `retries` times, later each time.
    """
    if not is_address(base_url):
        raise UsageError(
            f"base_url: got {base_url!r}, expected one like http://localhost:11434/v1. Next: write the whole address."
        )
    url = f"{base_url.rstrip('/')}/embeddings"
    check_whole("batch", batch)
    check_whole("retries", retries, least=0)
    secret = _secret(key or ("OPENAI_API_KEY" if urlsplit(base_url).hostname == OPENAI else None))
    options = {"model": model, **({"dimensions": dimensions} if dimensions else {})}

    def embed(texts: list[str]) -> list[list[float]]:
        body = json.dumps({**options, "input": texts, "encoding_format": "float"}).encode()
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        headers |= {"Authorization": f"Bearer {secret}"} if secret else {}
        request = Request("POST", url, headers, body)
        try:
            with closing(Client(timeout, {secret: "[key]"} if secret else {})) as client:
                answer = client.json(request, Retries(retries + 1, FIRST_PAUSE))
        except Failed as failed:
            times = "once" if failed.attempts == 1 else f"{failed.attempts} times"
            raise DataError(f"{url}: asked {times}, {failed.reason}. Next: check base_url, model and key.") from None
        return _vectors(answer, len(texts), url)

    return Embedder(model, {"endpoint": url, **options}, embed, embed, batch)


def _vectors(answer: Any, count: int, url: str) -> list[list[float]]:
    """The vectors in the order of the texts."""
    rows = answer.get("data") if isinstance(answer, dict) else None
    fits = isinstance(rows, list) and all(isinstance(row, dict) and "embedding" in row for row in rows)
    if not isinstance(rows, list) or not fits:
        raise DataError(
            f'{url}: got {shorten(answer)}, expected {{"data": [{{"index": 0, "embedding": [...]}}]}}. '
            "Next: check that it speaks OpenAI's format for embeddings."
        )
    by_index = {row.get("index", place): row["embedding"] for place, row in enumerate(rows)}
    if len(rows) != count or set(by_index) != set(range(count)):
        raise DataError(
            f"{url}: got {len(rows)} vectors for {count} texts, expected one for each text."
            " Next: check which model answers there."
        )
    return [by_index[place] for place in range(count)]


def _secret(name: str | None) -> str:
    """The key under that name. A wrong name is not repeated in the error, since it may be the key itself."""
    if name is None:
        return ""
    if not name.isidentifier():
        raise UsageError(
            "key: expected the name of an environment variable, like OPENAI_API_KEY, not a key itself."
            " Next: put the key into the environment, and name the variable."
        )
    if not os.environ.get(name):
        shown = name if name.isupper() else "of that name"
        raise UsageError(f"key: the environment has no variable {shown}. Next: set it, or leave out key.")
    return os.environ[name]


# --- texts to vectors ----------------------------------------------------------------------------------


def embed_texts(embed: Embed, texts: Sequence[str], batch: int) -> Array:
    """One row a text, in single precision; each text is handed over once.

    >>> embed_texts(lambda texts: [[len(text), 1] for text in texts], ["a", "bb", "a"], batch=2).tolist()
    [[1.0, 1.0], [2.0, 1.0], [1.0, 1.0]]
    """
    once = list(dict.fromkeys(texts))
    return _rows(dict(chain.from_iterable(_batches(embed, once, batch))), texts)


def embed_with_cache(embed: Embed, texts: Sequence[str], batch: int, settings: Mapping[str, Any], path: Path) -> Array:
    """The same, with the vectors kept in a file under the text and the embedder's settings."""
    said = {text: json.dumps([settings, text], sort_keys=True).encode() for text in dict.fromkeys(texts)}
    keys = {text: f"vector {blake2b(each, digest_size=20).hexdigest()}" for text, each in said.items()}
    with open_answers(path) as kept:
        there = kept.get(keys.values())
        found = {
            text: np.frombuffer(b64decode(there[key]), dtype="<f4").astype(np.float32)
            for text, key in keys.items()
            if key in there
        }
        missing = [text for text in keys if text not in found]
        for made in _batches(embed, missing, batch):
            kept.put((keys[text], b64encode(vector.astype("<f4").tobytes()).decode("ascii")) for text, vector in made)
            found.update(made)
    return _rows(found, texts)


def _batches(embed: Embed, texts: list[str], batch: int) -> Iterator[list[tuple[str, Array]]]:
    with closing(Progress("embedding", len(texts), noun="texts")) as progress:
        for start in range(0, len(texts), batch):
            progress.tell(start, failed=0)
            part = texts[start : start + batch]
            with UserCode(embed, f"{len(part):,} texts, the first", part[0]):
                given = finish(embed(part))
            yield list(zip(part, _checked(given, part), strict=True))


def _rows(vectors: Mapping[str, Array], texts: Sequence[str]) -> Array:
    sizes = sorted({len(vector) for vector in vectors.values()})
    if len(sizes) > 1:
        raise DataError(
            f"embedder: got vectors of {' and of '.join(map(str, sizes))} numbers, expected the same length for all. "
            "Next: check that one model makes them all."
        )
    return np.array([vectors[text] for text in texts], dtype=np.float32).reshape(len(texts), *sizes or [0])


def _checked(given: Any, texts: Sequence[str]) -> Array:
    """The vectors of an embedder, if there is one of finite numbers for each text."""
    try:
        vectors: Array = np.asarray(given, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"embedder: got {shorten(given)}, expected for each text a list of as many numbers. "
            "Next: return one list of numbers per text."
        ) from error
    if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.shape[1]:
        raise DataError(
            f"embedder: got an array of shape {vectors.shape} for {len(texts)} texts, expected one vector for each. "
            "Next: return a list with a list of numbers for each text."
        )
    unfit = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(unfit):
        raise DataError(
            f"embedder: the vector of {shorten(texts[unfit[0]])} has numbers that are NaN or infinite "
            f"({len(unfit)} of {len(texts)} vectors of this batch). Next: check what the model makes of this text."
        )
    return vectors


Similarity = Literal["cosine", "dot"]
USUAL = {"similarity": "cosine", "document_prefix": "", "question_prefix": ""}


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
    check_one_of("similarity", similarity, ("cosine", "dot"))
    if embedder is None:
        if options != USUAL or batch is not None or cache is not None:
            raise UsageError(
                "dense: got options for an embedder, and no embedder. Next: give one, or use lsa(corpus), which needs "
                "none."
            )
        return lsa(corpus)
    documents, made = load_corpus(corpus), as_embedder(embedder)
    size = made.batch if batch is None else batch
    check_whole("batch", size)
    if cache is not None and not made.known:
        raise UsageError(
            f"cache: nothing tells {made.name} from other embedders, so its vectors could be taken for theirs. "
            "Next: give named_embedder(function, 'a name that changes with it')."
        )

    def embed(function: Embed, what: str, texts: Sequence[str]) -> Array:
        if cache is None:
            return embed_texts(function, texts, size)
        return embed_with_cache(function, texts, size, {**made.settings, "text": what}, Path(cache))

    return Search(
        name=with_options(f"dense[{made.name}]", options, USUAL),
        describe=lambda: {"kind": "dense", "embedder": dict(made.settings), **options, "corpus": documents.fingerprint},
        answer=_answer(documents, made, embed, options),
        corpus=documents,
    )


def _answer(corpus: Corpus, made: Embedder, embed: Callable[..., Array], options: dict[str, str]) -> Answer:
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
            if given.shape[1] != rows.shape[1]:
                raise DataError(
                    f"embedder: got vectors of {given.shape[1]} numbers for questions and of {rows.shape[1]} for "
                    "documents, expected them to be alike. Next: use one model for both."
                )
            vectors[asked] = scaled(given)
        return vectors

    return nearest_among([names[n] for n in found.tolist()], rows[found], place)
