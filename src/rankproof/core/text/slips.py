"""Which word of a corpus a misspelt one was meant to be."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

SHORTEST = 4
"""Shorter words are near to too many others."""

TWO_SLIPS = 9
"""From this length on a word may have two slips of the pen."""

STRANGE_START = 5
"""From this length on the first letter may be wrong too, where the word was looked for."""


def meant(
    word: str, known: Mapping[str, Sequence[str]], counts: Mapping[str, int], likely: Collection[str] = ()
) -> str:
    """The known word that `word` is a slip of the pen away from; "" where there is none.

    `known` has the words by their first letter, `counts` how frequent each is. Words in `likely` (those of the
    documents that were looked for) come first, and alone may differ in the first letter.

    >>> counts = {"password": 3, "passport": 9, "mouse": 5}
    >>> known = {"p": ["password", "passport"], "m": ["mouse"]}
    >>> meant("passwrod", known, counts), meant("house", known, counts)
    ('password', '')
    >>> meant("house", known, counts, likely={"mouse"})
    'mouse'
    """
    if len(word) < SHORTEST or not word.isalpha():
        return ""
    near = {each: slips(word, each, 2) for each in known.get(word[0], ())}
    if len(word) >= STRANGE_START:
        near |= {each: slips(word, each, 2) for each in likely if each not in near}
    fit = [each for each, off in near.items() if 0 < off <= _most(word, each)]
    return min(fit, key=lambda each: (near[each], each not in likely, -counts.get(each, 0), each), default="")


def _most(word: str, other: str) -> int:
    """How many slips make the one of the other; among short words a letter replaced makes another word."""
    if len(other) < SHORTEST - 1 or (len(word) == len(other) == SHORTEST and sorted(word) != sorted(other)):
        return 0
    return 2 if len(word) >= TWO_SLIPS else 1


def slips(one: str, other: str, most: int) -> int:
    """How many slips apart two words are: a letter left out, put in, replaced, or two swapped.

    More than `most` are not counted on.

    >>> slips("chnage", "change", 2), slips("adress", "address", 2), slips("abc", "xyz", 1)
    (1, 1, 2)
    """
    if abs(len(one) - len(other)) > most:
        return most + 1
    before, last = [0] * (len(other) + 1), list(range(len(other) + 1))
    for i, letter in enumerate(one, start=1):
        row = [i]
        for j, wanted in enumerate(other, start=1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (letter != wanted))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == wanted:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
        before, last = last, row
    return last[-1]
