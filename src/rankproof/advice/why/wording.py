"""Rules about the words of the question, against those of the documents."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rankproof.advice.why.asked import Asked
from rankproof.advice.why.library import Library, forms
from rankproof.core.text.dates import dates
from rankproof.core.text.languages import alike, language
from rankproof.core.text.scripts import UNSPACED
from rankproof.core.text.stems import stem
from rankproof.errors import shorten

SHORT = 2
"""Questions of so few words leave much open."""

LONG = 20
"""Questions of so many words say much that no document says."""

GAP = 0.5
"""With half of its telling words in none of the relevant documents, a question speaks another language."""

LANGUAGES = {
    "en": "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "it": "Italian",
    "pt": "Portuguese",
    "nl": "Dutch",
    "ja": "Japanese",
    "zh": "Chinese",
    "ko": "Korean",
    "ar": "Arabic",
    "hi": "Hindi",
    "th": "Thai",
    "el": "Greek",
    "ru": "Russian",
    "he": "Hebrew",
    "latin": "Latin letters",
}
"""What the codes of languages stand for; a writing that several share is called by its best known one."""

NUMBER = re.compile(rf"[^\s{UNSPACED}]*\d[^\s{UNSPACED}]*")
"""A word with a digit in it; where writing has no spaces, the digits alone."""
EDGES = ".,;:!?()[]{}'\"“”„‚‘’«»…"


def short(asked: Asked) -> str:
    """A question of very few words."""
    count = len(forms(asked.text))
    return f"only {count} word{'s' if count > 1 else ''}" if 0 < count <= SHORT else ""


def long(asked: Asked) -> str:
    """A question of very many words."""
    count = len(forms(asked.text))
    return f"{count:,} words" if count >= LONG else ""


def number(asked: Asked) -> str:
    """A number, a date or a code, which embeddings blur; and whether what is shown has it."""
    found = _numbered(asked.text)
    if not found:
        return ""
    quoted = _quoted(found)
    if asked.library is None or not asked.shown:
        return quoted
    having = sum(_has(asked.library, doc, found) for doc in asked.shown)
    return f"{quoted}: {having} of the first {len(asked.shown)} documents say it"


def _numbered(text: str) -> list[str]:
    """The dates of a text, and what else has a digit in it, as they are written.

    >>> _numbered("Was error E-404 mended on May 5, 2024?")
    ['E-404', 'May 5, 2024']
    """
    days = {date.start: date.end for date in dates(text)}
    others = {each.start(): each.end() for each in NUMBER.finditer(text)}
    apart = {
        start: end
        for start, end in others.items()
        if not any(start < last and first < end for first, last in days.items())
    }
    return [text[start:end].strip(EDGES) for start, end in sorted({**days, **apart}.items())]


def _has(library: Library, doc: str, found: Sequence[str]) -> bool:
    own = set(library.words(doc))
    return any(set(forms(each)) <= own for each in found)


def typo(asked: Asked) -> str:
    """Words that are misspelt, it seems."""
    if wrong_language(asked):
        return ""
    found = asked.typos.items()
    return "; ".join(f"{word!r} is not in the corpus, {other!r} is" for word, other in found)


def vocabulary_gap(asked: Asked) -> str:
    """Most of the question's telling words stand in none of the relevant documents."""
    if asked.library is None or not asked.readable:
        return ""
    known = {stem(word) for doc in asked.readable for word in asked.library.words(doc)}
    absent = [word for word in asked.telling if stem(word) not in known and word not in asked.typos]
    if not absent or len(absent) < GAP * len(asked.telling):
        return ""
    what = "its relevant document" if len(asked.readable) == 1 else "any of its relevant documents"
    return f"{_quoted(absent)} not in {what}"


def wrong_language(asked: Asked) -> str:
    """The question is in another language than the documents that answer it, or than the corpus."""
    library = asked.library
    if library is None:
        return ""
    own = language(asked.text)
    answers = language(" ".join(library.documents[doc].whole for doc in asked.readable))
    theirs = answers or library.language
    if alike(own, theirs):
        return ""
    whose = "its relevant documents are" if answers else "the corpus is"
    return f"the question is in {LANGUAGES.get(own, own)}, {whose} in {LANGUAGES.get(theirs, theirs)}"


def _quoted(found: Sequence[str]) -> str:
    more = f" and {len(found) - 5} more" if len(found) > 5 else ""
    return ", ".join(shorten(each, 30) for each in found[:5]) + more
