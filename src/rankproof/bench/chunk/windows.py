"""Windows of one length over a text: side by side, overlapping, or sliding along."""

from __future__ import annotations

from functools import partial

from rankproof.bench.chunk.chunker import Chunker, Piece, plain
from rankproof.bench.chunk.units import UNITS, check_overlap, check_unit, check_whole
from rankproof.core.text.graphemes import last_cut
from rankproof.core.text.pieces import tight
from rankproof.core.text.spans import Span
from rankproof.errors import UsageError


def fixed(size: int = 200, overlap: int = 0, unit: str = "words") -> Chunker:
    """Chunks of `size` words or characters, each but the first repeating the last `overlap` of the one before.

    >>> [chunk.text for chunk in fixed(3, overlap=1)("Refunds are paid within 30 days.")]
    ['Refunds are paid', 'paid within 30', '30 days.']
    """
    check_unit("fixed", unit)
    check_whole("fixed", "size", size, 1)
    check_overlap("fixed", size, overlap)
    cut = partial(_windows, size=size, step=size - overlap, unit=unit)
    return Chunker("fixed", {"size": size, "overlap": overlap, "unit": unit}, cut)


def sliding(size: int = 5, step: int = 2, unit: str = "sentences") -> Chunker:
    """Windows of `size` sentences (words, characters), each beginning `step` after the one before.

    >>> [chunk.text for chunk in sliding(2, step=1)("One. Two. Three.")]
    ['One. Two.', 'Two. Three.']
    """
    check_unit("sliding", unit, ("sentences", "words", "characters"))
    check_whole("sliding", "size", size, 1)
    check_whole("sliding", "step", step, 1)
    if step > size:
        raise UsageError(
            f"sliding: got step={step} for size={size}, so text between windows would be lost. "
            "Next: take a step of at most the size."
        )
    cut = partial(_windows, size=size, step=step, unit=unit)
    return Chunker("sliding", {"size": size, "step": step, "unit": unit}, cut)


def _windows(text: str, size: int, step: int, unit: str) -> list[Piece]:
    if unit == "characters":
        return plain(of_characters(text, Span(0, len(text)), size, step))
    parts = UNITS[unit](text)
    if not parts:
        return []
    # A window begins wherever the one before did not reach the end.
    starts = range(0, max(len(parts) - size + step, 1), step)
    return [Piece(parts[first].start, parts[min(first + size, len(parts)) - 1].end) for first in starts]


def of_characters(text: str, part: Span, size: int, step: int) -> list[Span]:
    """Windows over a part of a text, none of which ends inside a character, nor is blank."""
    found: list[Span] = []
    start = part.start
    while start < part.end:
        end = min(last_cut(text, start + size, start), part.end)
        found.append(tight(text, Span(start, end)))
        if end == part.end:
            break
        start = min(last_cut(text, start + step, start), end)
    return [span for span in dict.fromkeys(found) if span.start < span.end]
