"""Words of a text with their places, in a form in which spellings of the same word are alike."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from rankproof.core.text.scripts import HAN, KANA, UNSPACED

MARKS = "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf-\u05c7\u200c\u200d"
INDIC = "\u0900-\u0963\u0966-\u096f\u0971-\u0dff"
ARABIC_MARKS = "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed"
LETTER = rf"(?:(?![{UNSPACED}])[^\W_]|[{MARKS}{INDIC}{ARABIC_MARKS}])"
WORD = re.compile(
    rf"(?P<run>[{UNSPACED}]+)"
    r"|(?P<dotted>(?<![\w.])(?:[^\W\d_]\.){2,}(?:[^\W\d_]\b)?)"
    r"|(?P<number>\d+(?:[.,٫٬]\d+)+|(?>\d+)(?![^\W\d_]))"
    rf"|(?P<word>{LETTER}+(?:['’]{LETTER}+)*)"
)
PLAIN_WORD = re.compile(
    r"(?P<run>(?!))|(?P<dotted>(?<![\w.])(?:[A-Za-z]\.){2,}(?:[A-Za-z]\b)?)"
    r"|(?P<number>\d+(?:[.,]\d+)+|(?>\d+)(?![^\W\d_]))|(?P<word>[A-Za-z0-9]+(?:'[A-Za-z0-9]+)*)"
)
"""The same for a text of ASCII characters alone, which is faster."""
HIRAGANA = "\u3041-\u3096"
PIECE = re.compile(rf"[{HIRAGANA}]+|(?:(?![{HIRAGANA}])[{KANA}])+|[{HAN}]+|[^{HAN}{KANA}]+")
PARTICLES = re.compile("[的了是在和与及吗呢吧不没]+")
FOLDED_ARABIC = str.maketrans("أإآٱىةکیؤئ", "اااايهكيوي")
TASHKEEL = re.compile(f"[{ARABIC_MARKS}]")
ELISION = re.compile(r"(?:[cdjlmnst]|qu|dell|nell|sull|all|un|quell)['’](?=\w{2})")
ENDING = re.compile(r"['’](?:s|re|ve|ll|d|m)?$")


class Word(NamedTuple):
    """A word where it stands, with its form: case folded, compatibility forms and accents taken away."""

    start: int
    end: int
    form: str


def words(text: str) -> list[Word]:
    """The words of a text; where writing has no spaces, pairs of neighbouring characters.

    >>> [word.form for word in words("Brasília’s 1,000 U.S. cafés: 東京都へ")]
    ['brasilia', '1,000', 'usa', 'cafes', '東京', '京都', 'へ']
    """
    return list(_words(text))


def has_words(text: str) -> bool:
    """Whether there is a word in a text.

    >>> has_words("— 1 —"), has_words("* * *")
    (True, False)
    """
    return next(_words(text), None) is not None


def _words(text: str) -> Iterator[Word]:
    for found in (PLAIN_WORD if text.isascii() else WORD).finditer(text):
        kind, (start, end) = found.lastgroup, found.span()
        if kind == "run":
            yield from _run(text, start, end)
        elif kind == "dotted":
            yield Word(start, end, acronym(found[0].replace(".", "")))
        else:
            yield tuple.__new__(Word, (start, end, folded(found[0])))  # the fastest way


def _run(text: str, start: int, end: int) -> Iterator[Word]:
    """Pairs of neighbours in a run of writing without spaces; words of katakana stay whole."""
    for piece in PIECE.finditer(text, start, end):
        first = piece.group()[0]
        if "\u30a0" <= first <= "\u30ff":
            yield Word(piece.start(), piece.end(), unicodedata.normalize("NFKC", piece.group()))
            continue
        place = piece.start()
        for gap in [*PARTICLES.finditer(text, place, piece.end()), None]:
            stop = gap.start() if gap else piece.end()
            yield from _pairs(text, place, stop)
            place = gap.end() if gap else stop


def _pairs(text: str, start: int, end: int) -> Iterator[Word]:
    if end - start == 1:
        yield Word(start, end, text[start:end])
    for place in range(start, end - 1):
        yield Word(place, place + 2, text[place : place + 2])


def acronym(letters: str) -> str:
    """The form of capital letters.

    >>> acronym("US"), acronym("NATO")
    ('usa', 'nato')
    """
    form = letters.casefold()
    return "usa" if form == "us" else form


@lru_cache(maxsize=1 << 16)
def folded(word: str) -> str:
    """A word without case, accents, vowel points, and what an apostrophe ties to it.

    >>> folded("L’Été"), folded("Straße"), folded("كِتَابٌ"), folded("US"), folded("don't")
    ('ete', 'strasse', 'كتاب', 'usa', "don't")
    """
    if word == "US":
        return "usa"
    form = word.casefold()
    if form.isascii():
        return _untied(form) if "'" in form else form
    return _untied(_plain(unicodedata.normalize("NFKC", form).replace("’", "'").casefold()))


def _untied(form: str) -> str:
    return ENDING.sub("", ELISION.sub("", form, count=1)) or form


def _plain(form: str) -> str:
    """Without accents where they are optional, and with one form of Arabic letters."""
    if form[0] < "\u0530":
        parts = unicodedata.normalize("NFD", form)
        return "".join(c for c in parts if not unicodedata.combining(c)) or form
    if "\u0600" <= form[0] <= "\u06ff":
        return TASHKEEL.sub("", form).translate(FOLDED_ARABIC) or form
    return form.replace("\u200c", "").replace("\u200d", "").replace("\u0901", "\u0902") or form
