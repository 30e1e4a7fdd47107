"""The base of all connectors: a store as a retriever, and its errors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from rankproof.bench.adapters.answers import arrange
from rankproof.bench.retrieve.embedder import Embedder, embed_texts
from rankproof.bench.retrieve.search import check_questions
from rankproof.bench.retriever import Found
from rankproof.core.corpus import Corpus, Document
from rankproof.errors import DataError, RankproofError, check_whole
from rankproof.io.corpora import load_corpus
from rankproof.net.client import hide_secrets
from rankproof.net.retries import LONGEST, Failed

BATCH = 256
"""How many documents are handed to a store at a time."""


class StoreError(RankproofError, Failed):
    """A store cannot be reached, or refuses; a run counts it as a question without an answer."""

    def __init__(self, reason: str, *, again: bool = False, wait: float = 0.0) -> None:
        Failed.__init__(self, reason, again=again, wait=wait)


@dataclass(eq=False)
class Store:
    """A store as a retriever."""

    settings: Mapping[str, Any]
    """All that is known to shape its answers, without secrets: what is in it only as far as `fill` put it there."""
    ask: Callable[[list[str], int], list[Found]] = field(repr=False)
    put: Callable[[Corpus], None] = field(repr=False)
    shut: Callable[[], None] = field(repr=False, default=lambda: None)

    def search(self, questions: Sequence[str], k: int) -> list[Found]:
        """For each question at most `k` documents, best first."""
        check_questions(questions)
        check_whole("k", k)
        return self.ask(list(questions), int(k)) if questions else []

    def fill(self, corpus: Any) -> Store:
        """Put the documents into the store, which is made where it is missing; those with the same id are replaced."""
        documents = load_corpus(corpus)
        self.put(documents)
        self.settings = {**self.settings, "filled": [*self.settings.get("filled", ()), documents.fingerprint]}
        return self

    def close(self) -> None:
        """Give up the connections that were opened for it; those that were handed over stay open."""
        self.shut()


def best_pairs(pairs: Iterable[tuple[Any, float]], k: int) -> Found:
    """Ids with their scores, best first, each once, at its first place."""
    return arrange([(str(name), float(score)) for name, score in pairs], k).found


Part: TypeAlias = "tuple[list[Document], Any]"
"""Some documents, and a row of numbers for each; None without an embedder."""


def connector(
    settings: Mapping[str, Any],
    embedder: Embedder | None,
    find: Callable[[Any, int], list[Found]],
    fill: Callable[[Iterator[Part]], None],
    *,
    guard: Callable[[], AbstractContextManager[None]] = nullcontext,
    shut: Callable[[], None] = lambda: None,
) -> Store:
    """A store of what one connector says: how to find, given questions or their vectors, and how to fill.

    `guard` makes faults of the store's own kinds a `StoreError`.
    """

    def ask(questions: list[str], k: int) -> list[Found]:
        # Outside the guard: an error of the embedder is not one of the store.
        given = questions if embedder is None else embed_texts(embedder.questions, questions, embedder.batch)
        with guard():
            return find(given, k)

    def put(corpus: Corpus) -> None:
        with guard():
            fill(_parts(corpus, embedder))

    return Store(settings, ask, put, shut)


def _parts(corpus: Corpus, embedder: Embedder | None) -> Iterator[Part]:
    """The documents, some at a time."""
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
            f"{store}: a document without the field {name!r}, only {', '.join(map(repr, record)) or 'none at all'}. "
            "Next: say with id= which field has the id of a document."
        )
    return record[name]


def payload(document: Document) -> dict[str, Any]:
    """The stored fields of a document: its metadata, its id, its title and its text."""
    return {**document.metadata, "id": document.id, "title": document.title, "text": document.text}
