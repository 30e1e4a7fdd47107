"""In what the length of a chunk is counted, and the checks of such lengths."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Any

from rankproof.core.text.pieces import tokens, whole_sentences
from rankproof.core.text.spans import Span
from rankproof.errors import UsageError, one_of

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
