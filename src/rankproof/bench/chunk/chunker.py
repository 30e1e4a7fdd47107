"""Chunkers as plain values, lengths of chunks, and a corpus of chunks."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Any

from rankproof.core.corpus import Corpus, Document
from rankproof.document.model import Displayable
from rankproof.errors import UsageError, UserCode, check_one_of, check_whole, shorten
from rankproof.io.corpora import load_corpus
from rankproof.text.sentences import sentences as sentence_spans
from rankproof.text.tokens import last_cut, spans_between, tokens, trim_span, whole_sentences
from rankproof.text.words import Span

UNITS: dict[str, Callable[[str], list[Span]]] = {"words": tokens, "sentences": whole_sentences}
"""The unit of length, beside characters. A word is the text between white space; in scripts without
spaces it is a character."""

Length = Callable[[int, int], int]
"""A function for the length of the text between two places."""


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


def check_size(chunker: str, size: int, unit: str, known: tuple[str, ...] = ("words", "characters")) -> None:
    """Refuse an unknown unit, and a size that is none."""
    check_one_of(f"{chunker}: unit", unit, known)
    check_whole(f"{chunker}: size", size)


def check_overlap(chunker: str, size: int, overlap: int) -> None:
    """Refuse an overlap that would leave nothing new in a chunk."""
    check_whole(f"{chunker}: overlap", overlap, 0)
    if overlap >= size:
        raise UsageError(
            f"{chunker}: got overlap={overlap} for size={size}, expected less than the size. "
            "Next: take a tenth of the size, or 0."
        )


VERSION = 1
"""Counts up whenever a chunker cuts otherwise than before, so that nothing is taken from a cache by mistake."""


@dataclass(frozen=True, slots=True)
class Chunk(Displayable):
    """A part of a document with its place: `document.text[start:end] == text`."""

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
    cut: Callable[[str], Sequence[tuple[Any, ...]]] = field(compare=False, repr=False)
    """Gives the start and the end of each part of a text, and the headings above it if there are some."""

    @property
    def settings(self) -> dict[str, Any]:
        """All that decides how a text is cut, as plain data."""
        return {"chunker": self.name, **self.options, "version": VERSION}

    def __call__(self, document: Document | str) -> list[Chunk]:
        """The chunks of a document, in order; of a text, which then has the empty id."""
        source = Document("", document) if isinstance(document, str) else document
        if not isinstance(source, Document):
            raise UsageError(f"{self.name}: got {shorten(source)}, expected a text or a Document. Next: give one.")
        with UserCode(self.cut, "the document", source.id or source.text):
            pieces = self.cut(source.text)
        return [Chunk(source.id, start, end, source.text[start:end], *above) for start, end, *above in pieces]

    def __str__(self) -> str:
        said = ", ".join(f"{name}={value!r}" for name, value in self.options.items())
        return f"{self.name}({said})"

    def __hash__(self) -> int:
        return hash(str(self))


def chunked(corpus: Any, chunker: Chunker) -> Corpus:
    """The chunks of all documents, each a document with the id `DOCUMENT#START-END` and the document's title.

    `corpus` is anything that `load_corpus` takes. The metadata of a chunk is that of its document, with `document`,
    `start`, `end`, and `headings` if there are any.
    A document that has a title and no text is one chunk without text, so that it can still be found.

    >>> chunks = chunked({"d1": "Refunds within 30 days."}, fixed(2))
    >>> list(chunks), chunks["d1#0-14"].text
    (['d1#0-14', 'd1#15-23'], 'Refunds within')
    """
    if not isinstance(chunker, Chunker):
        raise UsageError(f"chunked: got {shorten(chunker)}, expected a chunker. Next: take one like recursive(200).")
    return Corpus(part for document in load_corpus(corpus).values() for part in _parts(document, chunker))


def _parts(document: Document, chunker: Chunker) -> Iterator[Document]:
    chunks = chunker(document)
    if not chunks and document.title.strip():
        chunks = [Chunk(document.id, 0, 0, "")]
    for each in chunks:
        place = {"document": each.document, "start": each.start, "end": each.end}
        headings = {"headings": each.headings} if each.headings else {}
        yield Document(each.id, each.text, document.title, {**document.metadata, **place, **headings})


def pack_parts(parts: Sequence[Span], size: int, length: Length, overlap: int = 0) -> Iterator[Span]:
    """Neighbouring parts joined, up to `size`; each chunk repeats the last `overlap` parts if they fit.

    A longer part is a chunk of its own.

    >>> parts = [Span(0, 3), Span(4, 7), Span(8, 11)]
    >>> [tuple(span) for span in pack_parts(parts, 7, lambda start, end: end - start)]
    [(0, 7), (8, 11)]
    """
    first = 0
    while first < len(parts):
        stop = first + 1
        while stop < len(parts) and length(parts[first].start, parts[stop].end) <= size:
            stop += 1
        yield Span(parts[first].start, parts[stop - 1].end)
        if stop == len(parts):
            return
        first = max(stop - overlap, first + 1)
        while first < stop and length(parts[first].start, parts[stop].end) > size:
            first += 1


PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*|[\f\u2029]|\r\n[^\S\n]*\r\n\s*")
LINE = re.compile(r"\r\n|[\n\r\v\u2028\x85]")
LEVELS: tuple[Callable[[str], list[int]], ...] = (
    lambda text: [found.end() for found in PARAGRAPH.finditer(text)],
    lambda text: [found.end() for found in LINE.finditer(text)],
    lambda text: [span.start for span in sentence_spans(text)],
    lambda text: [span.start for span in tokens(text)],
)
"""Where a text may be cut, the loosest places first."""


def recursive(size: int = 200, overlap: int = 0, unit: str = "words", separators: Sequence[str] = ()) -> Chunker:
    """Chunks of at most `size`, cut between paragraphs; a longer one between its lines, sentences, words.

    Each chunk but the first begins with up to `overlap` of the text before it, which counts in its size.
    `separators` are texts of your own before which is cut first, the foremost first.

    >>> text = "Fees are low. Refunds are free.\\n\\nWrite to us."
    >>> [chunk.text for chunk in recursive(4)(text)]
    ['Fees are low.', 'Refunds are free.', 'Write to us.']
    """
    check_size("recursive", size, unit)
    check_overlap("recursive", size, overlap)
    one = isinstance(separators, str) or not isinstance(separators, Iterable)
    own: tuple[Any, ...] = (separators,) if one else tuple(separators)
    for each in own:
        if not isinstance(each, str) or not each:
            raise UsageError(
                f"recursive: got the separator {shorten(each)}, expected a text. "
                "Next: leave it out; between words it is cut anyway."
            )
    options: dict[str, Any] = {"size": size, "overlap": overlap, "unit": unit, "separators": own}
    return Chunker("recursive", options, partial(_cut, **options))


def _cut(text: str, size: int, overlap: int, unit: str, separators: tuple[str, ...]) -> list[Span]:
    length = length_in(unit, text)
    spans = Places(text, separators).cut(Span(0, len(text)), size - overlap, length)
    starts = [token.start for token in tokens(text)] if overlap else []
    return [*spans[:1], *(_led(span, starts, overlap, size, length) for span in spans[1:])]


def _led(span: Span, starts: list[int], overlap: int, size: int, length: Length) -> Span:
    """The span with up to `overlap` of the text before it, from the beginning of a word, `size` in all."""
    first = bisect_left(starts, span.start)
    while first and length(starts[first - 1], span.start) <= overlap and length(starts[first - 1], span.end) <= size:
        first -= 1
    return Span(min(starts[first], span.start), span.end) if first < len(starts) else span


class Places:
    """The places where one text may be cut, level by level, each computed when first needed."""

    def __init__(self, text: str, separators: tuple[str, ...] = ()) -> None:
        self.text = text
        own = [partial(_before, each) for each in separators]
        self._levels: list[Callable[[str], list[int]]] = [*own, *LEVELS]
        self._found: dict[int, list[int]] = {}

    def cut(self, part: Span, size: int, length: Length, level: int = 0) -> list[Span]:
        """The part in pieces of at most `size`, cut as loosely as can be."""
        whole = trim_span(self.text, part)
        if whole.start == whole.end:
            return []
        if length(*whole) <= size:
            return [whole]
        if level == len(self._levels):
            return of_characters(self.text, whole, size, size)
        if level not in self._found:
            self._found[level] = self._levels[level](self.text)
        places = self._found[level]
        inside = places[bisect_right(places, whole.start) : bisect_left(places, whole.end)]
        pieces = spans_between(self.text, whole, inside)
        # Small neighbours together; what is too long for itself is cut at the next level.
        found: list[Span] = []
        for fits, group in groupby(pieces, lambda piece: length(*piece) <= size):
            if fits:
                found += pack_parts(list(group), size, length)
            else:
                found += [each for piece in group for each in self.cut(piece, size, length, level + 1)]
        return found


def _before(separator: str, text: str) -> list[int]:
    return [found.start() for found in re.finditer(re.escape(separator), text)]


def sentences(size: int = 200, overlap: int = 0, unit: str = "words") -> Chunker:
    """As many whole sentences as fit into `size` words or characters.

    Each chunk repeats the last `overlap` sentences of the one before where they fit. A sentence that is longer
    than `size` is cut between words.

    >>> [chunk.text for chunk in sentences(5)("Fees are low. Yes. Refunds take at most 30 days.")]
    ['Fees are low. Yes.', 'Refunds take at most 30', 'days.']
    """
    check_size("sentences", size, unit)
    check_whole("sentences: overlap", overlap, 0)
    options: dict[str, Any] = {"size": size, "overlap": overlap, "unit": unit}
    return Chunker("sentences", options, partial(_cut_sentences, **options))


def _cut_sentences(text: str, size: int, overlap: int, unit: str) -> list[Span]:
    length, places = length_in(unit, text), Places(text)
    parts = [part for whole in whole_sentences(text) for part in places.cut(whole, size, length)]
    return list(pack_parts(parts, size, length, overlap))


def fixed(size: int = 200, overlap: int = 0, unit: str = "words") -> Chunker:
    """Chunks of `size` words or characters, each but the first repeating the last `overlap` of the one before.

    >>> [chunk.text for chunk in fixed(3, overlap=1)("Refunds are paid within 30 days.")]
    ['Refunds are paid', 'paid within 30', '30 days.']
    """
    check_size("fixed", size, unit)
    check_overlap("fixed", size, overlap)
    cut = partial(_windows, size=size, step=size - overlap, unit=unit)
    return Chunker("fixed", {"size": size, "overlap": overlap, "unit": unit}, cut)


def sliding(size: int = 5, step: int = 2, unit: str = "sentences") -> Chunker:
    """Windows of `size` sentences (words, characters), each beginning `step` after the one before.

    >>> [chunk.text for chunk in sliding(2, step=1)("One. Two. Three.")]
    ['One. Two.', 'Two. Three.']
    """
    check_size("sliding", size, unit, ("sentences", "words", "characters"))
    check_whole("sliding: step", step)
    if step > size:
        raise UsageError(
            f"sliding: got step={step} for size={size}, so text between windows would be lost. "
            "Next: take a step of at most the size."
        )
    options: dict[str, Any] = {"size": size, "step": step, "unit": unit}
    return Chunker("sliding", options, partial(_windows, **options))


def _windows(text: str, size: int, step: int, unit: str) -> list[Span]:
    if unit == "characters":
        return of_characters(text, Span(0, len(text)), size, step)
    parts = UNITS[unit](text)
    if not parts:
        return []
    # A window begins wherever the one before did not reach the end.
    starts = range(0, max(len(parts) - size + step, 1), step)
    return [Span(parts[first].start, parts[min(first + size, len(parts)) - 1].end) for first in starts]


def of_characters(text: str, part: Span, size: int, step: int) -> list[Span]:
    """Windows over a part of a text, none of which ends inside a character, nor is blank."""
    found: list[Span] = []
    start = part.start
    while start < part.end:
        end = min(last_cut(text, start + size, start), part.end)
        found.append(trim_span(text, Span(start, end)))
        if end == part.end:
            break
        start = min(last_cut(text, start + step, start), end)
    return [span for span in dict.fromkeys(found) if span.start < span.end]
