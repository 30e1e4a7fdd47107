"""A chunker: how a text is cut, as a plain value; two with equal settings cut alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rankproof.core.corpus import Document
from rankproof.core.text.spans import Span
from rankproof.display import Displayable

VERSION = 1
"""Counts up whenever a chunker cuts otherwise than before, so that nothing is taken from a cache by mistake."""


class Piece(NamedTuple):
    """A part of a text, and the headings it stands under."""

    start: int
    end: int
    headings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk(Displayable):
    """A part of a document, where it stands: `document.text[start:end] == text`."""

    document: str
    start: int
    end: int
    text: str
    headings: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The document's id and the place.

        >>> Chunk("d1", 7, 14, "30 days").id
        'd1#7-14'
        """
        return f"{self.document}#{self.start}-{self.end}"


@dataclass(frozen=True)
class Chunker(Displayable):
    """Cuts texts in one way. Made by `fixed`, `sentences`, `recursive`, `markdown` and `sliding`."""

    name: str
    options: Mapping[str, Any]
    cut: Callable[[str], list[Piece]] = field(compare=False, repr=False)

    @property
    def settings(self) -> dict[str, Any]:
        """All that decides how a text is cut, as plain data."""
        return {"chunker": self.name, **self.options, "version": VERSION}

    def __call__(self, document: Document | str) -> list[Chunk]:
        """The chunks of a document, in order; of a text, which then has the empty id."""
        source = Document("", document) if isinstance(document, str) else document
        return [
            Chunk(source.id, start, end, source.text[start:end], headings)
            for start, end, headings in self.cut(source.text)
        ]

    def __str__(self) -> str:
        said = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{self.name}({said})"

    def __hash__(self) -> int:
        return hash(str(self))


def plain(spans: list[Span]) -> list[Piece]:
    """Pieces without headings."""
    return [Piece(*span) for span in spans]
