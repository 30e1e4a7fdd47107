"""A text in pieces: words and sentences that leave nothing out but white space."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from rankproof.core.text.graphemes import cuttable, next_cut
from rankproof.core.text.scripts import UNSPACED
from rankproof.core.text.sentences import sentences
from rankproof.core.text.spans import Span, trimmed

TOKEN = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")


def tokens(text: str) -> list[Span]:
    """What stands between white space; where writing has no spaces, each character.

    Every character that is not white space is in exactly one of them.

    >>> [token.of("Fees: 3.50 €, 三元。") for token in tokens("Fees: 3.50 €, 三元。")]
    ['Fees:', '3.50', '€,', '三', '元', '。']
    """
    found = TOKEN.finditer(text)
    if text.isascii():
        return [Span(*match.span()) for match in found]
    return between(text, Span(0, len(text)), (match.start() for match in found))


def whole_sentences(text: str) -> list[Span]:
    """The sentences, with whatever stands between two of them put to the first.

    >>> [part.of("# Fees\\n\\nNone. Really!") for part in whole_sentences("# Fees\\n\\nNone. Really!")]
    ['# Fees', 'None.', 'Really!']
    """
    return between(text, Span(0, len(text)), (span.start for span in sentences(text)))


def between(text: str, part: Span, cuts: Iterable[int]) -> list[Span]:
    """The pieces of a part of a text between cuts, without the white space around them and without blanks.

    A cut inside a character is made behind it.

    >>> between("one two", Span(0, 7), [4])
    [Span(start=0, end=3), Span(start=4, end=7)]
    """
    inside = {next_cut(text, cut) for cut in cuts if part.start < cut < part.end}
    places = [part.start, *sorted(cut for cut in inside if cut < part.end), part.end]
    pieces = (tight(text, Span(*pair)) for pair in pairwise(places))
    return [piece for piece in pieces if piece.start < piece.end]


def tight(text: str, part: Span) -> Span:
    """The part without the white space around it, but for what a mark makes part of a character.

    >>> tight(" \\u0301a ", Span(0, 4))
    Span(start=0, end=3)
    """
    start, end = trimmed(text, *part)
    if start == end:
        return Span(start, end)
    while start > part.start and not cuttable(text, start):
        start -= 1
    return Span(start, min(next_cut(text, end), part.end))
