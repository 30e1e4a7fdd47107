"""Judgments of parts of documents: which characters hold what a query needs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, NamedTuple

from rankproof.core.corpus import Document
from rankproof.display import Displayable
from rankproof.errors import DataError, shorten

NAME = re.compile(r"(?P<document>.*)#(?P<start>\d{1,18})-(?P<end>\d{1,18})", re.DOTALL)


class Place(NamedTuple):
    """Some characters of a document."""

    document: str
    start: int
    end: int


class JudgedSpan(NamedTuple):
    """The characters of a document from `start` up to `end`, and how relevant they are."""

    document: str
    start: int
    end: int
    grade: float = 1


@dataclass(frozen=True, eq=False)
class SpanJudgments(Displayable):
    """The judged spans of each query; a query without any has none that is relevant."""

    by_query: Mapping[str, tuple[JudgedSpan, ...]]
    source: str = "span judgments"
    places: Mapping[tuple[str, JudgedSpan], str] = field(default_factory=dict)
    """Where each was read, for messages."""

    @property
    def fingerprint(self) -> str:
        """The same for the same judgments in any order."""
        rows = sorted((query, *span) for query, spans in self.by_query.items() for span in spans)
        without = sorted(query for query, spans in self.by_query.items() if not spans)
        return blake2b(repr((rows, without)).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def where(self, query: str, span: JudgedSpan) -> str:
        """The words that say where a span comes from."""
        return self.places.get((query, span), f"{self.source}, query {query!r}")


def place_of(name: str, chunks: Mapping[str, Any] | None = None) -> Place:
    """Where a chunk stands: as `chunks` says, else as its id does.

    `chunks` is a corpus of chunks with `document`, `start` and `end` in their metadata, or a mapping of ids to
    (document, start, end).

    >>> place_of("docs/a.md#10-25")
    Place(document='docs/a.md', start=10, end=25)
    """
    if chunks is not None:
        return _told(name, chunks)
    found = NAME.fullmatch(name)
    if found is None:
        raise DataError(
            f"got {shorten(name)}, expected the id of a chunk like 'DOCUMENT#START-END'. "
            "Next: say where your chunks stand: chunks={id: (document, start, end)}, or a file with these columns."
        )
    return Place(found["document"], int(found["start"]), int(found["end"]))


def _told(name: str, chunks: Mapping[str, Any]) -> Place:
    if name not in chunks:
        raise DataError(
            f"chunk {shorten(name)} is none of the {len(chunks)} in chunks=. "
            "Next: give the chunks that were searched."
        )
    told = chunks[name]
    known = told.metadata if isinstance(told, Document) else told
    try:
        parts = [known[each] for each in Place._fields] if isinstance(known, Mapping) else list(known)
        document, start, end = parts
        return Place(str(document), int(start), int(end))
    except (KeyError, TypeError, ValueError, OverflowError):
        raise DataError(
            f"chunk {shorten(name)}: got {shorten(known)}, expected its document, start and end. "
            "Next: give {id: (document, start, end)}, or the corpus that chunked() made."
        ) from None
