"""The words of a text, in any writing, as keyword search sees them.

Letters lose their case and their accents. Where a writing puts no spaces between words, single characters
and pairs of neighbours stand in for them, so that any part of a sentence can be found.
"""

from __future__ import annotations

import re
import unicodedata

from rankproof.core.text.scripts import HANGUL, UNSPACED

_PLAIN_WORD = re.compile(r"[a-z0-9]+")
_UNSPACED_RUN = re.compile(f"([{UNSPACED}{HANGUL}]+)")
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
    found = folded(text).split()
    if not _UNSPACED_RUN.search(text):
        return found
    return [word for run in found for word in _spaced(run)]


def prepared(text: str) -> str:
    """The text such that splitting at all but letters and digits, without regard to case, gives its words.

    >>> prepared("As it is."), prepared("Ça va?")
    ('As it is.', 'ca va')
    """
    return text if text.isascii() else " ".join(words(text))


def folded(text: str) -> str:
    """The text in one form of its characters, without case and accents, and with blanks for all but words.

    >>> folded("Ångström_№1!")
    'angstrom no1 '
    """
    return unicodedata.normalize("NFKC", text).casefold().translate(_FOLDED)


class _Folded(dict[int, str]):
    """What stands for each character; looked up once."""

    def __missing__(self, code: int) -> str:
        parts = unicodedata.normalize("NFD", chr(code))
        kept = "".join(c for c in parts if c in _VOICED or not unicodedata.combining(c))
        word = all(c.isalnum() or unicodedata.category(c)[0] == "M" for c in kept)
        self[code] = unicodedata.normalize("NFC", kept) if word else " "
        return self[code]


_FOLDED = _Folded()


def _spaced(run: str) -> list[str]:
    """A word as it is; a run of a writing without spaces as its characters and their pairs."""
    parts = [part for part in _UNSPACED_RUN.split(run) if part]
    return [word for part in parts for word in _pieces(part)]


def _pieces(part: str) -> list[str]:
    if not _UNSPACED_RUN.match(part):
        return [part]
    return [part[i : i + n] for i in range(len(part)) for n in (1, 2) if i + n <= len(part)]
