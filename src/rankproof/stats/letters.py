"""Letters that say which systems cannot be told apart: two share one if, and only if, no test tells them apart."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping, Sequence

ALPHABET = string.ascii_lowercase + string.ascii_uppercase


def letters(names: Sequence[str], apart: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    """For each name its letters, the first names with the first letters; `apart` are the pairs told apart.

    Each letter is a clique of names of which no two are told apart, grown greedily until every such pair shares one:
    the compact letter display, in steps that do not explode.

    Reference: H.-P. Piepho: An algorithm for a letter-based representation of all-pairwise comparisons,
    J. Computational and Graphical Statistics 2004; J. Gramm et al.: Algorithms for compact letter displays,
    Computational Statistics & Data Analysis 2007.

    >>> letters(["a", "b", "c"], [("a", "c")])
    {'a': ('a',), 'b': ('a', 'b'), 'c': ('b',)}
    """
    told = {frozenset(pair) for pair in apart}
    alike = [
        sum(1 << j for j, other in enumerate(names) if i != j and frozenset((name, other)) not in told)
        for i, name in enumerate(names)
    ]
    cliques: list[int] = []
    covered = [0] * len(names)
    for i in range(len(names)):
        while True:
            open_pairs = alike[i] & ~covered[i] & ~((1 << i) - 1)
            if not open_pairs and (covered[i] or alike[i]):
                break
            clique = _grown(i, open_pairs, alike)
            cliques.append(clique)
            for j in _members(clique):
                covered[j] |= clique
            if not open_pairs:
                break
    return {
        name: tuple(_letter(k) for k, each in enumerate(cliques) if each >> i & 1)
        for i, name in enumerate(names)
    }


def _grown(start: int, open_pairs: int, alike: Sequence[int]) -> int:
    """A clique with the first open pair of a name, then with whoever fits, open pairs first."""
    clique, room = 1 << start, alike[start]
    for wanted in (open_pairs, ~0):
        while room & wanted:
            lowest = (room & wanted) & -(room & wanted)
            clique |= lowest
            room &= alike[lowest.bit_length() - 1]
    return clique


def _members(clique: int) -> list[int]:
    return [i for i in range(clique.bit_length()) if clique >> i & 1]


def _letter(number: int) -> str:
    """a to z, A to Z, then a2 and so on."""
    turn, place = divmod(number, len(ALPHABET))
    return ALPHABET[place] + (str(turn + 1) if turn else "")


def groups(found: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The names under each letter.

    >>> groups({"a": ("a",), "b": ("a", "b")})
    {'a': ['a', 'b'], 'b': ['b']}
    """
    by_letter: dict[str, list[str]] = {}
    for name, own in found.items():
        for letter in own:
            by_letter.setdefault(letter, []).append(name)
    return by_letter
