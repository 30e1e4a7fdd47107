"""Chunks of whole sentences."""

from __future__ import annotations

from functools import partial

from rankproof.bench.chunk.chunker import Chunker, Piece, plain
from rankproof.bench.chunk.packing import packed
from rankproof.bench.chunk.separators import Places
from rankproof.bench.chunk.units import check_unit, check_whole, length_in
from rankproof.core.text.pieces import whole_sentences


def sentences(size: int = 200, overlap: int = 0, unit: str = "words") -> Chunker:
    """As many whole sentences as fit into `size` words or characters.

    Each chunk repeats the last `overlap` sentences of the one before where they fit. A sentence that is longer
    than `size` is cut between words.

    >>> [chunk.text for chunk in sentences(5)("Fees are low. Yes. Refunds take at most 30 days.")]
    ['Fees are low. Yes.', 'Refunds take at most 30', 'days.']
    """
    check_unit("sentences", unit)
    check_whole("sentences", "size", size, 1)
    check_whole("sentences", "overlap", overlap, 0)
    cut = partial(_cut, size=size, overlap=overlap, unit=unit)
    return Chunker("sentences", {"size": size, "overlap": overlap, "unit": unit}, cut)


def _cut(text: str, size: int, overlap: int, unit: str) -> list[Piece]:
    length, places = length_in(unit, text), Places(text)
    parts = [part for whole in whole_sentences(text) for part in places.cut(whole, size, length)]
    return plain(list(packed(parts, size, length, overlap)))
