"""Writings, and where a text may be cut without taking apart what a reader sees as one character."""

from __future__ import annotations

import unicodedata

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f\u3005\u3006"
KANA = "\u3041-\u3096\u309d\u309e\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
HANGUL = "\uac00-\ud7a3\u1100-\u11ff"
CJK = HAN + KANA
"""Writing without spaces between words: Chinese and Japanese."""
THAI = "\u0e01-\u0e3a\u0e40-\u0e4e"
LAO = "\u0e81-\u0ebd\u0ec0-\u0ecd"
KHMER = "\u1780-\u17d3"
BURMESE = "\u1000-\u1049\u1050-\u109f"
UNSPACED = CJK + THAI + LAO + KHMER + BURMESE
DEVANAGARI = "\u0900-\u0963\u0971-\u097f"
ARABIC = "\u0610-\u061a\u0620-\u0669\u066e-\u06d3\u06d5-\u06ff\u0750-\u077f"
GREEK = "\u0370-\u037d\u037f-\u0386\u0388-\u03ff\u1f00-\u1fff"


ZWJ = "\u200d"
JOINS_BACK = frozenset(
    {
        *("\u200c", ZWJ, "\u0e33", "\u0eb3", "\uff9e", "\uff9f"),
        *map(chr, range(0x1F3FB, 0x1F400)),  # skin tones
        *map(chr, range(0xE0020, 0xE0080)),  # the letters of flags of regions
    }
)
"""What belongs to the character before it, beside marks."""
JOINS_ON = frozenset(
    map(
        chr,
        (
            *(*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0xD4E, 0x110BD, 0x110CD),
            *(0x111C2, 0x111C3, 0x1193F, 0x11941, 0x11A3A, *range(0x11A84, 0x11A8A), 0x11D46, 0x11F02),
        ),
    )
)
"""What belongs to the character after it."""
VIRAMA = 9
"""The combining class of signs that join consonants."""


def cuttable(text: str, at: int) -> bool:
    """Whether a text may be cut before the character at `at`; its two ends always.

    The rules are those of Unicode's grapheme clusters (UAX 29), a little wider: what joins nowhere but in
    some writings is never cut.

    >>> [at for at in range(6) if cuttable("e\\u0301🇩🇪!", at)]
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
    """Whether the cut is between the two letters of a flag: an odd number of such letters stands before it."""
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
    while place > after and not cuttable(text, place):
        place -= 1
    return place if place > after else next_cut(text, max(at, after + 1))


def next_cut(text: str, at: int) -> int:
    """The first place from `at` on where the text may be cut."""
    while not cuttable(text, at):
        at += 1
    return min(at, len(text))
