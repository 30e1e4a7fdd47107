"""The words by which questions and documents are compared, in any writing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rankproof.core.text.stopwords import STOP_WORDS
from rankproof.core.text.words import HIRAGANA, words

MEANING = re.compile(rf"(?![{HIRAGANA}])[^\W\d_]")
"""A letter that is more than an ending."""


def forms(text: str) -> list[str]:
    """The words of a text in order, as they are compared.

    >>> forms("Is the Trial free?")
    ['is', 'the', 'trial', 'free']
    """
    return [word.form for word in words(text)]


def telling(text: str) -> list[str]:
    """The words that say what a text is about, each once, in order.

    >>> telling("Is the trial free? The trial of what?")
    ['trial', 'free']
    """
    return list(dict.fromkeys(form for form in forms(text) if form not in STOP_WORDS))


def remembered(text: str) -> dict[str, str]:
    """The telling words that a person would remember, by form, as they are written but for capitals.

    Numbers alone, single letters and the endings of Japanese words are not among them.

    >>> remembered("Die Überweisung von 30 Euro auf Konto B")
    {'uberweisung': 'überweisung', 'euro': 'euro', 'konto': 'konto'}
    """
    found = {word.form: text[word.start : word.end].lower() for word in reversed(words(text))}
    return {form: found[form] for form in telling(text) if len(form) > 1 and MEANING.search(form)}


def longest_run(words: Sequence[str], text: Sequence[str]) -> int:
    """The most words of the first in a row that stand in a row in the second as well.

    >>> longest_run("how long is the free trial".split(), "the free trial is long".split())
    3
    """
    best, row = 0, [0] * (len(text) + 1)
    for word in words:
        new = [0] * (len(text) + 1)
        for place, other in enumerate(text, start=1):
            if word == other:
                new[place] = row[place - 1] + 1
        row, best = new, max(best, *new)
    return best
