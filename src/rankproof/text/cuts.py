"""Where a text may be cut: between characters as readers see them, between tokens, between sentences."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import pairwise

from rankproof.text.sentences import sentences
from rankproof.text.words import UNSPACED, Span, trim

ZWJ = "\u200d"
JOINS_BACK = frozenset(
    {
        *("\u200c", ZWJ, "\u0e33", "\u0eb3", "\uff9e", "\uff9f"),
        *map(chr, range(0x1F3FB, 0x1F400)),  # skin tones
        *map(chr, range(0xE0020, 0xE0080)),  # the letters of flags of regions
    }
)
"""Characters that belong to the one before, beside combining marks."""
JOINS_ON = frozenset(
    map(
        chr,
        (
            *(*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0xD4E, 0x110BD, 0x110CD),
            *(0x111C2, 0x111C3, 0x1193F, 0x11941, 0x11A3A, *range(0x11A84, 0x11A8A), 0x11D46, 0x11F02),
        ),
    )
)
"""Characters that belong to the one after."""
VIRAMA = 9
"""The combining class of signs that join consonants."""


def can_cut(text: str, at: int) -> bool:
    """Whether a text may be cut before the character at `at`; its two ends always.

    The rules are those of Unicode's grapheme clusters (UAX 29), a little wider: characters that join only in
    some scripts are never cut.

    >>> [at for at in range(6) if can_cut("e\\u0301🇩🇪!", at)]
    [0, 2, 4, 5]
    """
    if not 0 < at < len(text):
        return True
    before, after = text[at - 1], text[at]
    if before < "\u0300" and after < "\u0300":
        return before != "\r" or after != "\n"
    return not (_joined(before, after) or _hangul(before, after) or _halves_a_flag(text, at))


def _joined(before: str, after: str) -> bool:
    if unicodedata.category(after)[0] == "M" or after in JOINS_BACK or before == ZWJ or before in JOINS_ON:
        return True
    if unicodedata.combining(before) == VIRAMA and unicodedata.category(after) == "Lo":
        return True
    return "\ud800" <= before <= "\udbff" and "\udc00" <= after <= "\udfff"


def _hangul(before: str, after: str) -> bool:
    """Whether two letters of Korean are parts of one syllable."""
    if "\u1160" <= after <= "\u11ff" or "\ud7b0" <= after <= "\ud7ff":
        return _leads(before) or "\u1160" <= before <= "\u11ff" or "\uac00" <= before <= "\ud7ff"
    return _leads(before) and (_leads(after) or "\uac00" <= after <= "\ud7a3")


def _leads(letter: str) -> bool:
    return "\u1100" <= letter <= "\u115f" or "\ua960" <= letter <= "\ua97c"


def _halves_a_flag(text: str, at: int) -> bool:
    """Whether the cut is between the two letters of a flag: an odd number of such letters is before it."""
    if not _flag_letter(text[at]):
        return False
    start = at
    while start and _flag_letter(text[start - 1]):
        start -= 1
    return (at - start) % 2 == 1


def _flag_letter(letter: str) -> bool:
    return "\U0001f1e6" <= letter <= "\U0001f1ff"


def last_cut(text: str, at: int, after: int) -> int:
    """The last place up to `at` where the text may be cut, beyond `after`; if there is none, the next place.

    >>> last_cut("cafe\\u0301s", 4, 0), last_cut("e\\u0301\\u0302s", 1, 0)
    (3, 3)
    """
    place = min(at, len(text))
    while place > after and not can_cut(text, place):
        place -= 1
    return place if place > after else next_cut(text, max(at, after + 1))


def next_cut(text: str, at: int) -> int:
    """The first place from `at` on where the text may be cut."""
    while not can_cut(text, at):
        at += 1
    return min(at, len(text))


TOKEN = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")


def tokens(text: str) -> list[Span]:
    """The tokens between white space; in scripts without spaces, each character.

    Every character that is not white space is in exactly one of them.

    >>> [token.of("Fees: 3.50 €, 三元。") for token in tokens("Fees: 3.50 €, 三元。")]
    ['Fees:', '3.50', '€,', '三', '元', '。']
    """
    found = TOKEN.finditer(text)
    if text.isascii():
        return [Span(*match.span()) for match in found]
    return spans_between(text, Span(0, len(text)), (match.start() for match in found))


def whole_sentences(text: str) -> list[Span]:
    """The sentences, with the text between two of them added to the first.

    >>> [part.of("# Fees\\n\\nNone. Really!") for part in whole_sentences("# Fees\\n\\nNone. Really!")]
    ['# Fees', 'None.', 'Really!']
    """
    return spans_between(text, Span(0, len(text)), (span.start for span in sentences(text)))


def spans_between(text: str, part: Span, cuts: Iterable[int]) -> list[Span]:
    """The pieces of a part of a text between cuts, without the white space around them and without blanks.

    A cut inside a character is moved behind it.

    >>> spans_between("one two", Span(0, 7), [4])
    [Span(start=0, end=3), Span(start=4, end=7)]
    """
    inside = {next_cut(text, cut) for cut in cuts if part.start < cut < part.end}
    places = [part.start, *sorted(cut for cut in inside if cut < part.end), part.end]
    pieces = (trim_span(text, Span(*pair)) for pair in pairwise(places))
    return [piece for piece in pieces if piece.start < piece.end]


def trim_span(text: str, part: Span) -> Span:
    """The part without the white space around it, except where a combining mark makes it part of a character.

    >>> trim_span(" \\u0301a ", Span(0, 4))
    Span(start=0, end=3)
    """
    start, end = trim(text, *part)
    if start == end:
        return Span(start, end)
    while start > part.start and not can_cut(text, start):
        start -= 1
    return Span(start, min(next_cut(text, end), part.end))
