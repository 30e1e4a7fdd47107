"""Cutting where a text is loosest: between paragraphs, else lines, else sentences, else words."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import groupby
from typing import Any

from rankproof.bench.chunk.chunker import Chunker, Piece, plain
from rankproof.bench.chunk.packing import packed
from rankproof.bench.chunk.units import Length, check_overlap, check_unit, check_whole, length_in
from rankproof.bench.chunk.windows import of_characters
from rankproof.core.text.pieces import between, tight, tokens
from rankproof.core.text.sentences import sentences as sentence_spans
from rankproof.core.text.spans import Span
from rankproof.errors import UsageError, shorten

PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*|[\f\u2029]|\r\n[^\S\n]*\r\n\s*")
LINE = re.compile(r"\r\n|[\n\r\v\u2028\x85]")
LEVELS: tuple[Callable[[str], list[int]], ...] = (
    lambda text: [found.end() for found in PARAGRAPH.finditer(text)],
    lambda text: [found.end() for found in LINE.finditer(text)],
    lambda text: [span.start for span in sentence_spans(text)],
    lambda text: [span.start for span in tokens(text)],
)
"""Where a text may be cut, the loosest places first."""


def recursive(
    size: int = 200, overlap: int = 0, unit: str = "words", separators: Sequence[str] = ()
) -> Chunker:
    """Chunks of at most `size`, cut between paragraphs; a longer one between its lines, sentences, words.

    Each chunk but the first begins with up to `overlap` of what stands before it, which counts in its size.
    `separators` are texts of your own before which is cut first, the foremost first.

    >>> text = "Fees are low. Refunds are free.\\n\\nWrite to us."
    >>> [chunk.text for chunk in recursive(4)(text)]
    ['Fees are low.', 'Refunds are free.', 'Write to us.']
    """
    check_unit("recursive", unit)
    check_whole("recursive", "size", size, 1)
    check_overlap("recursive", size, overlap)
    own = _checked(separators)
    cut = partial(_cut, size=size, overlap=overlap, unit=unit, separators=own)
    options = {"size": size, "overlap": overlap, "unit": unit, "separators": own}
    return Chunker("recursive", options, cut)


def _checked(separators: Sequence[str]) -> tuple[str, ...]:
    one = isinstance(separators, str) or not isinstance(separators, Iterable)
    given: list[Any] = [separators] if one else list(separators)
    for each in given:
        if not isinstance(each, str) or not each:
            raise UsageError(
                f"recursive: got the separator {shorten(each)}, expected a text. "
                "Next: leave it out; between words it is cut anyway."
            )
    return tuple(given)


def _cut(text: str, size: int, overlap: int, unit: str, separators: tuple[str, ...]) -> list[Piece]:
    length = length_in(unit, text)
    spans = Places(text, separators).cut(Span(0, len(text)), size - overlap, length)
    if not overlap:
        return plain(spans)
    starts = [token.start for token in tokens(text)]
    return plain(
        [spans[0], *(_led(span, starts, overlap, size, length) for span in spans[1:])] if spans else []
    )


def _led(span: Span, starts: list[int], overlap: int, size: int, length: Length) -> Span:
    """The span with up to `overlap` of what stands before it, from the beginning of a word, `size` in all."""
    first = bisect_left(starts, span.start)
    while first and length(starts[first - 1], span.start) <= overlap:
        if length(starts[first - 1], span.end) > size:
            break
        first -= 1
    return Span(min(starts[first], span.start), span.end) if first < len(starts) else span


class Places:
    """Where one text may be cut, level by level, each found when it is first needed."""

    def __init__(self, text: str, separators: tuple[str, ...] = ()) -> None:
        self.text = text
        own = [partial(_before, each) for each in separators]
        self._levels: list[Callable[[str], list[int]]] = [*own, *LEVELS]
        self._found: dict[int, list[int]] = {}

    def cut(self, part: Span, size: int, length: Length, level: int = 0) -> list[Span]:
        """The part in pieces of at most `size`, cut as loosely as can be."""
        whole = tight(self.text, part)
        if whole.start == whole.end:
            return []
        if length(*whole) <= size:
            return [whole]
        if level == len(self._levels):
            return of_characters(self.text, whole, size, size)
        pieces = between(self.text, whole, self._inside(whole, level))
        return self._packed(pieces, size, length, level)

    def _packed(self, pieces: list[Span], size: int, length: Length, level: int) -> list[Span]:
        """Small neighbours together; what is too long for itself is cut at the next level."""
        found: list[Span] = []
        for fits, group in groupby(pieces, lambda piece: length(*piece) <= size):
            if fits:
                found += packed(list(group), size, length)
            else:
                found += [each for piece in group for each in self.cut(piece, size, length, level + 1)]
        return found

    def _inside(self, part: Span, level: int) -> list[int]:
        if level not in self._found:
            self._found[level] = self._levels[level](self.text)
        places = self._found[level]
        return places[bisect_right(places, part.start) : bisect_left(places, part.end)]


def _before(separator: str, text: str) -> list[int]:
    return [found.start() for found in re.finditer(re.escape(separator), text)]
