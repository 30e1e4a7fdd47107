"""The words of a text, in any writing, as keyword search sees them.

Letters lose their case and their accents. Where a writing puts no spaces between words, single characters
and pairs of neighbours stand in for them, so that any part of a sentence can be found.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from itertools import zip_longest
from operator import add

from rankproof.text.words import HANGUL, UNSPACED

LENGTHS = (3, 4, 5)
"""Characters in a piece of a word, its borders counted."""
LONGEST = 40
"""Characters of a word that are cut into pieces."""

_PLAIN_WORD = re.compile(r"[a-z0-9]+")
_ASCII = bytes(range(128))
"""What is deleted from the bytes of a text to have its other characters, which is faster than any search for them."""
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
"""What has to be folded before an index sees it, which splits and lowers ASCII itself: far less work in most texts."""
FEW = 24
"""Up to this many different characters are replaced one after the other, which is faster than a pass over all."""
MOSTLY = 2
"""If more than one character in so many is beyond ASCII, a text is folded as a whole, not run by run."""
LONG = 16
"""Runs from this many characters on are not cached."""
ALONE = (*((0x0, 0x6FF), (0x10A0, 0x10FF), (0x1E00, 0x2BFF)), *((0x2C60, 0x2DFF), (0xA640, 0xA7FF), (0xFB00, 0xFDFF)))
"""Blocks of characters that nothing beside them changes but marks, which are dropped anyway: those of Latin, Greek,
Cyrillic, Armenian, Georgian, Hebrew and Arabic, of punctuation and symbols."""
_JOINS = re.compile(f"[^{''.join(f'{chr(first)}-{chr(last)}' for first, last in ALONE)}]")
_UNSPACED_RUN = re.compile(f"([{UNSPACED}{HANGUL}]+)")
_SIGNS = (
    *((0x34F, 0x34F), (0x488, 0x489), (0xAFD, 0xAFF), (0xB55, 0xB55), (0xE47, 0xE47), (0xE4C, 0xE4C), (0xE4E, 0xE4E)),
    *((0xECC, 0xECC), (0xF3E, 0xF3F), (0x17B4, 0x17B5), (0x17C9, 0x17D1), (0x17D3, 0x17D3), (0x180B, 0x180D)),
    *((0x180F, 0x180F), (0x1ABE, 0x1ABE), (0x1CE1, 0x1CE1), (0x1CF7, 0x1CF7), (0x20DD, 0x20E0), (0x20E2, 0x20E4)),
    *((0xA670, 0xA672), (0xABEC, 0xABEC), (0xFE00, 0xFE0F), (0x111C9, 0x111C9), (0x111CB, 0x111CC)),
    *((0x11A33, 0x11A33), (0x11A98, 0x11A98), (0x16FE4, 0x16FE4), (0x1BC9D, 0x1BC9D), (0x1CF00, 0x1CF2D)),
    *((0x1CF30, 0x1CF46), (0x1DA00, 0x1DAAF), (0xE0100, 0xE01EF)),
)
"""Marks that Unicode counts among no letters, such as the frame of a keycap: tantivy splits at them."""
_VOICED = "\u3099\u309a"
"""The marks that make another Japanese sound of a letter; all other marks above or below a letter are dropped."""


def words(text: str) -> list[str]:
    """The words of a text in order.

    >>> words("The Café's FH-101")
    ['the', 'cafe', 's', 'fh', '101']
    >>> words("東京へ")
    ['東', '東京', '京', '京へ', 'へ']
    """
    if text.isascii():
        return _PLAIN_WORD.findall(text.lower())
    plain = fold_text(text)
    found = plain.split()
    if not _UNSPACED_RUN.search(plain):
        return found
    # Words as they are, and runs of a writing without spaces as their characters and pairs of these.
    return [word for run in found for part in _UNSPACED_RUN.split(run) if part for word in _pieces(part)]


def prepare_text(text: str, splits: bool = False) -> str:
    """The text such that splitting at all but letters and digits, without regard to case, gives its words.

    An index that itself `splits` at punctuation and spaces of every alphabet, and lowers its letters, is left those:
    they are most of what texts have beyond ASCII.

    >>> prepare_text("As it is."), prepare_text("Ça va?")
    ('As it is.', 'ca va?')
    """
    if text.isascii():
        return text
    beyond = text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass")
    if not splits:
        text, beyond = text.casefold(), beyond.casefold()
    if _JOINS.search(beyond):
        if len(beyond) * MOSTLY > len(text):
            return _folded_run(text)
        return _BEYOND_ASCII.sub(lambda run: _short(run[0]) if len(run[0]) < LONG else _folded_run(run[0]), text)
    changed = set(_changed_alone(splits).findall(beyond))
    if len(changed) > FEW:
        return text.translate(_ALONE)
    for letter in changed:
        text = text.replace(letter, _short(letter))
    return text


@cache
def _changed_alone(splits: bool) -> re.Pattern[str]:
    """The characters beyond ASCII that nothing beside them changes, and that do not stand for themselves.

    An index that `splits` lowers letters too.
    """
    alone = [chr(code) for first, last in ALONE for code in range(max(first, 0x80), last + 1)]
    changed = [c for c in alone if _folded_run(c) != (c.lower() if splits else c)]
    if splits:
        changed = [c for c in changed if unicodedata.category(c)[0] not in "PZ"]
    return re.compile(f"[{''.join(changed)}]")


def _folded_run(run: str) -> str:
    plain = fold_text(run)
    return _UNSPACED_RUN.sub(lambda part: f" {' '.join(_pieces(part[0]))} ", plain)


_short = lru_cache(maxsize=1 << 16)(_folded_run)
"""Letters with accents, quotes and dashes come again and again."""


class _Alone(dict[int, str]):
    """The replacement of each of these; ASCII stays. Looked up once."""

    def __missing__(self, code: int) -> str:
        self[code] = chr(code) if code < 0x80 else _folded_run(chr(code))
        return self[code]


_ALONE = _Alone()


def fold_text(text: str) -> str:
    """The text in one form of its characters, without case and accents, and with blanks for all but words.

    >>> fold_text("Ångström_№1!")
    'angstrom no1 '
    """
    return unicodedata.normalize("NFKC", text).casefold().translate(_FOLDED)


class _Folded(dict[int, str]):
    """The replacement of each character; looked up once."""

    def __missing__(self, code: int) -> str:
        parts = unicodedata.normalize("NFD", chr(code))
        sign = any(first <= code <= last for first, last in _SIGNS)
        kept = "".join(c for c in parts if c in _VOICED or not (sign or unicodedata.combining(c)))
        word = all(c.isalnum() or unicodedata.category(c)[0] == "M" for c in kept)
        self[code] = unicodedata.normalize("NFC", kept) if word else " "
        return self[code]


_FOLDED = _Folded()


def _pieces(part: str) -> list[str]:
    if not _UNSPACED_RUN.match(part):
        return [part]
    return [piece for single, pair in zip_longest(part, map(add, part, part[1:])) for piece in (single, pair) if piece]


def parts_of(word: str) -> list[str]:
    """A word and its pieces.

    >>> parts_of("fee")
    ['=fee', ' fe', 'fee', 'ee ', ' fee', 'fee ', ' fee ']
    """
    padded = f" {word[:LONGEST]} "
    return [f"={word}", *(padded[i : i + n] for n in LENGTHS for i in range(len(padded) - n + 1))]
