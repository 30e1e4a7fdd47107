"""Whatever makes vectors of texts, as one kind of value."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from rankproof.bench.adapters.callables import described
from rankproof.display import Displayable
from rankproof.errors import MissingExtra, UsageError, shorten

Embed: TypeAlias = Callable[[list[str]], Any]


@dataclass(frozen=True, eq=False)
class Embedder(Displayable):
    """Makes vectors of texts."""

    name: str
    """What it is called where it prints."""
    settings: Mapping[str, Any]
    """All that shapes its vectors, as plain data."""
    documents: Embed
    """From a list of texts to as many vectors; may be async."""
    questions: Embed
    """The same for questions, where these are embedded in another way."""
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
        return Embedder(name, described(anything), anything, anything, known=False)
    raise UsageError(
        f"embedder: got {shorten(anything)} ({type(anything).__name__}), expected a function from texts to vectors. "
        "Next: give one, or endpoint(...), sentence_transformers(...), model2vec(...); or use lsa(corpus)."
    )


def named_embedder(
    function: Embed, name: str, *, batch: int = 64, questions: Embed | None = None
) -> Embedder:
    """A function `texts -> vectors` under a name that stands for it, so that its vectors may be kept in a file.

    Change the name when what the function gives changes.
    """
    return Embedder(name, {"embedder": name}, function, questions or function, batch)


def sentence_transformers(model: str, **options: Any) -> Embedder:
    """A model of sentence-transformers, by its name or path; `options` are those of `SentenceTransformer`."""
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise _not_installed("sentence-transformers") from error
    with _weights(model):
        made = SentenceTransformer(model, **options)
    return _of_model(made, model)


def model2vec(model: str) -> Embedder:
    """A static model of model2vec, by its name or path."""
    try:
        from model2vec import StaticModel
    except ImportError as error:
        raise _not_installed("model2vec") from error
    with _weights(model):
        made = StaticModel.from_pretrained(model)
    return _of_model(made, model)


@contextmanager
def _weights(model: str) -> Iterator[None]:
    """What to do if the weights of a model are neither here nor to be fetched."""
    try:
        yield
    except (OSError, ValueError, RuntimeError, LookupError) as error:
        why = " ".join(str(error).split())
        raise UsageError(
            f"embedder: the weights of {shorten(model)} cannot be loaded: {type(error).__name__}: {why[:200]}. "
            "Next: check its name; or fetch it where there is a network and give the path of its folder; "
            "or use lsa(corpus), which needs no weights."
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
    return Embedder(
        kind,
        {"model": getattr(model, "model", kind), "class": f"{type(model).__module__}.{kind}"},
        model.embed_documents,
        lambda texts: [model.embed_query(text) for text in texts],
        known=False,
    )


def _not_installed(package: str) -> MissingExtra:
    return MissingExtra(f"this embedder needs {package}, not installed. Next: pip install {package}")
