"""The language of a text, and words of each language: stop words, denials, abbreviations, beginnings of sentences,
synonyms, opposites.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import chain

from rankproof.text.words import WRITINGS, fold, pattern_table, read_table, stem, words


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _table(name: str) -> frozenset[str]:
    return frozenset(chain.from_iterable(read_table(name)))


BY_LANGUAGE = {code: frozenset(words) for code, *words in read_table("stop_words")}
"""The stop words of each language."""
DENIALS = _table("denials")
"""Not among them: mai, né and personne, which deny in one language only beside another cue, and elsewhere are the
month of May, born and a person."""
LIMITING = _table("limiting_words")
"""Words that leave little of what a sentence says without them."""
BOUNDING = re.compile(rf"\b(?:{pattern_table('bounding_words')})(?= ?[^\w ]?\d)")


def limits_in(text: str) -> set[str]:
    """Such words in a text, and those that make a number a bound."""
    return {word.form for word in words(text)} & LIMITING | set(BOUNDING.findall(text.lower()))


DENYING = re.compile(rf"(?<!\w)(?:{pattern_table('denying_words')})|[禁閉关闭]|免[费費]|無料|금지")
"""Words that deny by what they mean, and bounds such as a denial of more sets."""


def are_opposed(one: str, other: str) -> bool:
    """Whether one of two texts alone has a word that denies by what it means or begins with, or that makes a bound.

    >>> are_opposed("It is forbidden.", "It is allowed."), are_opposed("It's unsafe.", "It's safe.")
    (True, True)
    """
    if any(set(each.findall(one.lower())) != set(each.findall(other.lower())) for each in (DENYING, BOUNDING)):
        return True
    here, there = ({word.form for word in words(text) if len(word.form) > 3} for text in (one, other))
    return any(a.endswith(b) or b.endswith(a) for a in here - there for b in there - here)


SINGLE_SIGNS = "不没沒未他她它我你您们有也都就而被把"
STOP_WORDS = frozenset(fold(word) for words in (*BY_LANGUAGE.values(), DENIALS, SINGLE_SIGNS) for word in words) - {
    "usa"
}
COMMON = _table("common_words")
"""English words met so often that finding one says little; stems of them are looked up too."""
HIRAGANA = _table("small_hiragana")
"""Pairs of hiragana that endings and small words are made of."""

# Abbreviations whose point does not end a sentence, by what follows them.
BEFORE_MORE, BEFORE_NUMBER, MAY_END = (
    frozenset(word for kind, *words in read_table("abbreviations") for word in words if kind == each)
    for each in ("before-more", "before-number", "may-end")
)
"""Something belonging to them comes next; they stand before a number; they may stand at the end of a sentence too."""
SINGLE = _words("i क है था थे थी हो हूँ की दी ली दो गई गए गया गयी रहा रही ना जा आ ही भी सका")
"""Short words that are no initials."""
ERAS = _words("م هـ ه")
"""Short words that are no initials after a number: years of an era."""
STARTERS = _table("sentence_starters")
"""Words that sentences begin with, and names hardly do."""
ORDINAL_NOUNS = _table("ordinal_nouns")
"""Months and other words that follow an ordinal's point, in languages that write them large."""
LABELS = _words("chapter section part article appendix step kapitel abschnitt teil artikel chapitre capítulo parte")
"""Words that with a number and a point make the head of a part."""
GERMAN = _words("der das und ist ein eine wurde im vom den dem des mit nicht auf für von wird zum zur")
"""Words that show that a text is German."""
SAID = _table("saying_verbs")
"""Verbs that follow a quotation and introduce its speaker."""
WEIGHTS = {"zh": 3, "ja": 6, "ko": 3}
"""The number of letters of other scripts that one character counts as; kana in a text of Han show Japanese."""
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
    counts = {code: len(re.findall(own, sample)) * WEIGHTS.get(code, 1) for code, own in WRITINGS.items()}
    writing = max(counts, key=lambda code: counts[code])
    if not counts[writing]:
        return ""
    return _by_small_words(sample) if writing == "latin" else writing


def are_alike(one: str, other: str) -> bool:
    """Whether two texts may be in one language.

    >>> are_alike("en", "latin"), are_alike("en", "de"), are_alike("", "ja")
    (True, False, True)
    """
    if one == other or not one or not other:
        return True
    return "latin" in (one, other) and {one, other} <= {"latin", *LATIN}


def _by_small_words(sample: str) -> str:
    words = WORD.findall(sample.lower())
    counts = [(sum(map(BY_LANGUAGE[code].__contains__, words)), code) for code in LATIN]
    (second, _), (most, code) = sorted(counts)[-2:]
    return code if most >= LEAST and most >= 1.5 * second else "latin"


NAMES = {code: " ".join(name) for code, *name in read_table("language_names")}
"""The names of languages by their codes; a script that several share has the name of the best known one."""


# --- words that say the same, and words of which only one can hold ----------------------------------

HEDGED = re.compile(rf"(?:{pattern_table('hedges')}) ?$", re.IGNORECASE)
"""Words before a number that is approximate."""
CANCELLING = ("en", "de", "latin")
"""Where two denials make a yes; elsewhere one may be said by several words."""
PRONOUNS = _words("he she it they we you i him her er sie es wir ich il elle он она 他 她 它 彼 彼女 هو هي वह वे")
STATES = frozenset(form for word in ("open", "closed", "offen", "geschlossen") for form in (word, stem(word)))
"""Opposites as states only: what opens at nine closes as well."""


@cache
def synonyms() -> dict[str, tuple[str, ...]]:
    """For a stem those of words that say much the same."""
    found: dict[str, tuple[str, ...]] = {}
    for family in read_table("synonyms"):
        stems = [stem(word) for word in family]
        for each in stems:
            found[each] = (*found.get(each, ()), *(other for other in stems if other != each))
    return found


@cache
def opposites() -> dict[str, set[str]]:
    """For a stem those of words that cannot hold of the same thing."""
    found: dict[str, set[str]] = {}
    for one, other in read_table("opposites"):
        for left, right in ((one, other), (other, one)):
            found.setdefault(stem(fold(left)), set()).add(stem(fold(right)))
    return found
