"""The part of a document that answers a question, and the question's words in it."""

from __future__ import annotations

from typing import TypeAlias

from rankproof.document.page import Child, el
from rankproof.text.languages import STOP_WORDS
from rankproof.text.words import Word, last_cut, stem
from rankproof.text.words import words as words_of

Wanted: TypeAlias = frozenset[str]
"""The stems of a question's words."""
SNIPPET, BEFORE = 240, 20
"""The number of characters of a document that are shown, and how many may precede the question's first word."""
LOOKED_AT = 20_000
"""The number of characters that are searched for them."""


def wanted_words(question: str) -> Wanted:
    """The stems of a question's words, without small words if there are others."""
    forms = [word.form for word in words_of(question)]
    return frozenset(map(stem, [form for form in forms if form not in STOP_WORDS] or forms))


def _shared(text: str, wanted: Wanted) -> list[Word]:
    return [word for word in words_of(text) if stem(word.form) in wanted]


def snippet(text: str, wanted: Wanted) -> str:
    """The part of a text that has most of the question's words, from the start of a word to the end of one."""
    flat = " ".join(text[:LOOKED_AT].split())
    if len(flat) <= SNIPPET:
        return flat
    found = [word.start for word in _shared(flat, wanted)]
    best = max(found, default=0, key=lambda at: sum(at <= other < at + SNIPPET - 2 * BEFORE for other in found))
    start = 0 if best <= BEFORE else flat.find(" ", best - BEFORE, best) + 1 or best
    last = last_cut(flat, start + SNIPPET, start)
    space = flat.rfind(" ", start + SNIPPET // 2, last) if last < len(flat) else -1
    end = space if space > 0 else last
    return f"{'... ' if start else ''}{flat[start:end]}{' ...' if end < len(flat) else ''}"


def mark_words(text: str, wanted: Wanted) -> list[Child]:
    """The text with the question's words marked."""
    parts: list[Child] = []
    at = 0
    for word in _shared(text, wanted):
        if word.end > at:  # in scripts without spaces, words overlap
            start = max(at, word.start)
            parts += [text[at:start], el("mark", text[start : word.end])]
            at = word.end
    return [*parts, text[at:]]
