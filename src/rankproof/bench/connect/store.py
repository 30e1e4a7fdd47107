"""The base of all connectors: a store as a retriever, and its errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, TypeAlias

from rankproof.bench.adapters.adapter import OneByOne
from rankproof.bench.retrieve.dense_search import Embedder, embed_texts
from rankproof.bench.retrieve.search import check_questions
from rankproof.bench.retriever import Found, arrange
from rankproof.core.corpus import Corpus, Document
from rankproof.errors import DataError, RankproofError, check_whole, missing_extra
from rankproof.io.corpora import load_corpus
from rankproof.net.client import hide_secrets
from rankproof.net.retries import LONGEST, Failed

BATCH = 256
"""How many documents are handed to a store at a time."""


class StoreError(Failed, RankproofError):
    """A store cannot be reached, or refuses; a run counts it as a question without an answer."""


def store_package(store: str, name: str) -> Any:
    """The package that a store is reached with."""
    try:
        return import_module(name)
    except ImportError as error:
        raise missing_extra(store, name.replace("_", "-"), "stores") from error


Part: TypeAlias = "tuple[list[Document], Any]"
"""Some documents, and a row of numbers for each; None without an embedder."""


@dataclass(eq=False)
class Store(OneByOne):
    """A store as a retriever: call it with a question, or `search` many."""

    settings: Mapping[str, Any]
    """All that is known to shape its answers, without secrets: what is in it only as far as `fill` put it there."""
    embedder: Embedder | None = field(repr=False)
    find: Callable[[Any, int], list[Found]] = field(repr=False)
    """Finds documents, given questions or their vectors."""
    put: Callable[[Iterator[Part]], None] = field(repr=False)
    guard: Callable[[], AbstractContextManager[None]] = field(repr=False, default=nullcontext)
    """Makes faults of the store's own kinds a `StoreError`."""
    close: Callable[[], None] = field(repr=False, default=lambda: None)
    """Gives up the connections that were opened for it; those that were handed over stay open."""

    def search(self, questions: Sequence[str], k: int) -> list[Found]:
        """For each question at most `k` documents, best first."""
        check_questions(questions)
        check_whole("k", k)
        given: Any = list(questions)
        if not given:
            return []
        if self.embedder is not None:  # outside the guard: an error of the embedder is not one of the store
            given = embed_texts(self.embedder.questions, given, self.embedder.batch)
        with self.guard():
            return self.find(given, int(k))

    def fill(self, corpus: Any) -> Store:
        """Put the documents into the store, which is made where it is missing; those with the same id are replaced."""
        documents = load_corpus(corpus)
        with self.guard():
            self.put(_parts(documents, self.embedder))
        self.settings = {**self.settings, "filled": [*self.settings.get("filled", ()), documents.fingerprint]}
        return self


def best_pairs(pairs: Iterable[tuple[Any, float]], k: int) -> Found:
    """Ids with their scores, best first, each once, at its first place."""
    return arrange([(str(name), float(score)) for name, score in pairs], k).found


def _parts(corpus: Corpus, embedder: Embedder | None) -> Iterator[Part]:
    every = list(corpus.values())
    for start in range(0, len(every), BATCH):
        part = every[start : start + BATCH]
        texts = [each.whole for each in part]
        yield part, None if embedder is None else embed_texts(embedder.documents, texts, embedder.batch)


@contextmanager
def faults(
    name: str, kinds: tuple[type[Exception], ...], advice: str, secrets: Iterable[str | None] = ()
) -> Iterator[None]:
    """Within it, errors of these kinds become a `StoreError` that says what was wrong, without secrets."""
    try:
        yield
    except RankproofError:
        raise
    except kinds as error:
        raise StoreError(f"{name}: {error_text(error, secrets)}. Next: {advice}", again=True) from None


def error_text(error: Exception, secrets: Iterable[str | None] = ()) -> str:
    """The message of an error, in one line that is not too long, without secrets."""
    words = " ".join(str(error).split()).rstrip(".!?") or type(error).__name__
    shown = hide_secrets(words, {secret: "***" for secret in secrets if secret})
    return shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}..."


def field_in(record: Mapping[str, Any], name: str, store: str) -> Any:
    """The id of a document, from the field that has it."""
    if record.get(name) is None:
        raise DataError(
            f"{store}: a document without the field {name!r}; it has {', '.join(map(repr, record)) or 'no fields'}. "
            "Next: say with id= which field has the id of a document."
        )
    return record[name]


def payload(document: Document) -> dict[str, Any]:
    """The stored fields of a document: its metadata, its id, its title and its text."""
    return {**document.metadata, "id": document.id, "title": document.title, "text": document.text}
