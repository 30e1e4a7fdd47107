"""A corpus: the documents that retrievers search, by id, in their own order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import Any

from rankproof.display import Displayable
from rankproof.errors import DataError, shorten


@dataclass(frozen=True, slots=True)
class Document(Displayable):
    """One text with its id, its title, and whatever else is known of it."""

    id: str
    text: str
    title: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def whole(self) -> str:
        """Title and text as one, which is what is searched.

        >>> Document("d1", "Within 30 days.", title="Refunds").whole
        'Refunds\\nWithin 30 days.'
        """
        return f"{self.title}\n{self.text}" if self.title else self.text


class Corpus(Displayable, Mapping[str, Document]):
    """Documents by id, each id once.

    >>> corpus = Corpus.of({"d1": "Within 30 days.", "d2": {"title": "Fees", "text": "None.", "topic": "money"}})
    >>> corpus["d2"].title, corpus["d2"].metadata
    ('Fees', {'topic': 'money'})
    """

    def __init__(self, documents: Iterable[Document]) -> None:
        self._by_id: dict[str, Document] = {}
        for document in documents:
            if document.id in self._by_id:
                raise DataError(
                    f"the corpus holds document {document.id!r} twice. Next: give each document an id of its own."
                )
            self._by_id[document.id] = document

    @classmethod
    def of(cls, documents: Mapping[str, str | Mapping[str, Any] | Document]) -> Corpus:
        """A corpus of `{id: text}` or `{id: {"title": ..., "text": ..., more}}`."""
        return cls(_document(str(name), what) for name, what in documents.items())

    def __getitem__(self, name: str) -> Document:
        return self._by_id[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_id)

    def __len__(self) -> int:
        return len(self._by_id)

    @cached_property
    def fingerprint(self) -> str:
        """The same for two corpora with the same documents in the same order, else different."""
        digest = blake2b(digest_size=16)
        for each in self._by_id.values():
            for part in (
                each.id,
                each.title,
                each.text,
                repr(sorted(each.metadata.items(), key=lambda item: str(item[0]))),
            ):
                digest.update(f"{len(part)}:".encode() + part.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()


def _document(name: str, what: str | Mapping[str, Any] | Document) -> Document:
    if isinstance(what, Document):
        return what
    if isinstance(what, str):
        return Document(name, what)
    if not isinstance(what, Mapping) or not isinstance(what.get("text"), str):
        raise DataError(
            f"document {name!r}: got {shorten(what)}, expected a text, or a mapping with the text under 'text'."
            " Next: give one of these."
        )
    rest = {key: value for key, value in what.items() if key not in ("text", "title", "_id", "id")}
    return Document(name, what["text"], str(what.get("title") or ""), rest)
