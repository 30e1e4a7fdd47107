"""Chunkers as plain values, lengths of chunks, and a corpus of chunks."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rankproof.core.corpus import Corpus, Document
from rankproof.document.display import Displayable
from rankproof.errors import UsageError, one_of, shorten
from rankproof.text.blocks import Span
from rankproof.text.sentences import tokens, whole_sentences

UNITS: dict[str, Callable[[str], list[Span]]] = {"words": tokens, "sentences": whole_sentences}
"""What a text is counted in, beside characters. A word is what stands between white space; where writing has no
spaces, a character."""

Length = Callable[[int, int], int]
"""How long the text between two places is."""


def length_in(unit: str, text: str) -> Length:
    """How long parts of this text are, in `unit`: characters, or words, also those of which it has a part.

    >>> length_in("words", "one two three")(5, 13)
    2
    """
    if unit == "characters":
        return lambda start, end: end - start
    pieces = UNITS[unit](text)
    starts, ends = [piece.start for piece in pieces], [piece.end for piece in pieces]
    return lambda start, end: bisect_left(starts, end) - bisect_right(ends, start)


def check_unit(chunker: str, unit: str, known: tuple[str, ...] = ("words", "characters")) -> None:
    """Refuse a unit that is none."""
    if unit not in known:
        raise one_of(f"{chunker}: unit", unit, known)


def check_whole(chunker: str, name: str, value: Any, least: int) -> None:
    """Refuse what is no whole number, or too small a one."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise UsageError(
            f"{chunker}: got {name}={value!r}, expected a whole number of at least {least}. "
            f"Next: write it like {chunker}({name}={max(least, 100)})."
        )


def check_overlap(chunker: str, size: int, overlap: int) -> None:
    """Refuse an overlap that would leave nothing new in a chunk."""
    check_whole(chunker, "overlap", overlap, 0)
    if overlap >= size:
        raise UsageError(
            f"{chunker}: got overlap={overlap} for size={size}, expected less than the size. "
            "Next: take a tenth of the size, or 0."
        )


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


def chunked(corpus: Corpus, chunker: Chunker) -> Corpus:
    """The chunks of all documents, each a document with the id `DOCUMENT#START-END` and the document's title.

    Its metadata is that of the document, with `document`, `start`, `end`, and `headings` where there are any.
    A document that has a title and no text is one chunk without text, so that it can still be found.

    >>> from rankproof.bench.chunk import fixed
    >>> chunks = chunked(Corpus.of({"d1": "Refunds within 30 days."}), fixed(2))
    >>> list(chunks), chunks["d1#0-14"].text
    (['d1#0-14', 'd1#15-23'], 'Refunds within')
    """
    if not isinstance(chunker, Chunker):
        raise UsageError(
            f"chunked: got {shorten(chunker)}, expected a chunker. Next: take one like recursive(200)."
        )
    return Corpus(part for document in corpus.values() for part in _parts(document, chunker))


def _parts(document: Document, chunker: Chunker) -> Iterator[Document]:
    chunks = chunker(document)
    if not chunks and document.title.strip():
        chunks = [Chunk(document.id, 0, 0, "")]
    for each in chunks:
        place = {"document": each.document, "start": each.start, "end": each.end}
        headings = {"headings": each.headings} if each.headings else {}
        yield Document(each.id, each.text, document.title, {**document.metadata, **place, **headings})
