"""Putting small parts of a text together, as many as fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankproof.bench.chunk.units import Length
from rankproof.core.text.spans import Span


def packed(parts: Sequence[Span], size: int, length: Length, overlap: int = 0) -> Iterator[Span]:
    """Neighbouring parts together, up to `size`; each chunk repeats the last `overlap` parts where they fit.

    A part that is longer than that stands alone.

    >>> parts = [Span(0, 3), Span(4, 7), Span(8, 11)]
    >>> [tuple(span) for span in packed(parts, 7, lambda start, end: end - start)]
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
