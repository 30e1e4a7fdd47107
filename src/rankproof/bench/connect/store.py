"""What all connectors share: a store as a retriever, and what its faults are called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from rankproof.bench.adapters.answers import arranged
from rankproof.bench.retrieve.search import check_count, check_questions
from rankproof.bench.retriever import Found
from rankproof.core.corpus import Corpus, Document
from rankproof.errors import DataError, RankproofError
from rankproof.io.corpora import load_corpus
from rankproof.net.retries import LONGEST, Failed
from rankproof.net.secrets import hidden

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
        check_count("k", k)
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


def best(pairs: Iterable[tuple[Any, float]], k: int) -> Found:
    """Ids with their scores, best first, each once: where it first stands."""
    return arranged([(str(name), float(score)) for name, score in pairs], k).found


def batches(corpus: Corpus) -> Iterator[list[Document]]:
    """The documents, some at a time."""
    documents = list(corpus.values())
    return (documents[start : start + BATCH] for start in range(0, len(documents), BATCH))


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
        raise StoreError(f"{name}: {said(error, secrets)}. Next: {advice}", again=True) from None


def said(error: Exception, secrets: Iterable[str | None] = ()) -> str:
    """What an error says, in one line that is not too long, without secrets."""
    words = " ".join(str(error).split()).rstrip(".!?") or type(error).__name__
    shown = hidden(words, {secret: "***" for secret in secrets if secret})
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
    """What is stored of a document: its metadata, its id, its title and its text."""
    return {**document.metadata, "id": document.id, "title": document.title, "text": document.text}
