"""The words of a text, in any writing, as keyword search sees them.

Letters lose their case and their accents. Where a writing puts no spaces between words, single characters
and pairs of neighbours stand in for them, so that any part of a sentence can be found.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache

from rankproof.core.text.scripts import HANGUL, UNSPACED

_PLAIN_WORD = re.compile(r"[a-z0-9]+")
_UNSPACED_RUN = re.compile(f"([{UNSPACED}{HANGUL}]+)")
_VOICED = "\u3099\u309a"
"""The marks that make another Japanese sound of a letter; all other marks are folded away."""


def words(text: str) -> list[str]:
    """The words of a text in order.

    >>> words("The Café's FH-101")
    ['the', 'cafe', 's', 'fh', '101']
    >>> words("東京へ")
    ['東', '東京', '京', '京へ', 'へ']
    """
    if text.isascii():
        return _PLAIN_WORD.findall(text.lower())
    return [word for run in _any_word().findall(folded(text)) for word in _spaced(run)]


def prepared(text: str) -> str:
    """The text such that splitting at all but letters and digits, without regard to case, gives its words.

    >>> prepared("As it is."), prepared("Ça va?")
    ('As it is.', 'ca va')
    """
    return text if text.isascii() else " ".join(words(text))


def folded(text: str) -> str:
    """The text in one form of its characters, without case and accents.

    >>> folded("Ångström_№1")
    'angstrom no1'
    """
    apart = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFC", _accents().sub("", apart)).replace("_", " ")


def _spaced(run: str) -> list[str]:
    """A word as it is; a run of a writing without spaces as its characters and their pairs."""
    parts = [part for part in _UNSPACED_RUN.split(run) if part]
    return [word for part in parts for word in _pieces(part)]


def _pieces(part: str) -> list[str]:
    if not _UNSPACED_RUN.match(part):
        return [part]
    return [part[i : i + n] for i in range(len(part)) for n in (1, 2) if i + n <= len(part)]


@cache
def _accents() -> re.Pattern[str]:
    """Marks that stand above, below or through a letter, like accents, tones and viramas."""
    marks = [c for c in _marks() if unicodedata.combining(c) and c not in _VOICED]
    return re.compile(f"[{''.join(marks)}]+")


@cache
def _any_word() -> re.Pattern[str]:
    """Letters, digits and the marks that are left, which are vowels."""
    vowels = [c for c in _marks() if not unicodedata.combining(c)]
    return re.compile(f"[\\w{_VOICED}{''.join(vowels)}]+")


@cache
def _marks() -> list[str]:
    return [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c)[0] == "M"]
