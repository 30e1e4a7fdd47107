"""Which language a text seems to be in: by its writing, then by its small words."""

from __future__ import annotations

import re
from functools import cache

from rankproof.core.text.scripts import ARABIC, DEVANAGARI, GREEK, HAN, HANGUL, KANA, THAI
from rankproof.core.text.stopwords import BY_LANGUAGE

WRITINGS = {
    "ja": f"[{KANA}]",
    "zh": f"[{HAN}]",
    "ko": f"[{HANGUL}]",
    "ar": f"[{ARABIC}]",
    "hi": f"[{DEVANAGARI}]",
    "th": f"[{THAI}]",
    "el": f"[{GREEK}]",
    "ru": "[\u0400-\u04ff]",
    "he": "[\u05d0-\u05ea]",
    "latin": "[A-Za-z\u00c0-\u024f]",
}
WEIGHTS = {"zh": 3, "ja": 6, "ko": 3}
"""How many letters of other writings one sign is worth; kana in a text of Han show it to be Japanese."""
LOOKED_AT = 600
LATIN = ("en", "de", "fr", "es", "it", "pt", "nl")
LEAST = 2
WORD = re.compile(r"[^\W\d_]+")


def language(text: str) -> str:
    """The code of the language that a text seems to be in; "latin" where its letters are all that can be told.

    >>> [language(t) for t in ("Where is the house?", "Wo ist das Haus?", "家はどこですか", "Brasília")]
    ['en', 'de', 'ja', 'latin']
    """
    sample = text[:LOOKED_AT]
    if sample.isascii():
        return _by_small_words(sample) if any(c.isalpha() for c in sample) else ""
    counts = {code: len(_letters(code).findall(sample)) * WEIGHTS.get(code, 1) for code in WRITINGS}
    writing = max(counts, key=lambda code: counts[code])
    if not counts[writing]:
        return ""
    return _by_small_words(sample) if writing == "latin" else writing


def alike(one: str, other: str) -> bool:
    """Whether two texts may be in one language, as far as can be told.

    >>> alike("en", "latin"), alike("en", "de"), alike("", "ja")
    (True, False, True)
    """
    if one == other or not one or not other:
        return True
    return "latin" in (one, other) and {one, other} <= {"latin", *LATIN}


@cache
def _letters(code: str) -> re.Pattern[str]:
    return re.compile(WRITINGS[code])


@cache
def _small_words() -> dict[str, frozenset[str]]:
    return {code: frozenset(BY_LANGUAGE[code].split()) for code in LATIN}


def _by_small_words(sample: str) -> str:
    words = WORD.findall(sample.lower())
    counts = [(sum(map(known.__contains__, words)), code) for code, known in _small_words().items()]
    (second, _), (most, code) = sorted(counts)[-2:]
    return code if most >= LEAST and most >= 1.5 * second else "latin"
