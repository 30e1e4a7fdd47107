"""From two texts to a probability: how much of one is found in the other, weighted, through a logistic curve."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rankproof.judging.lexical.cover import Cover, cover
from rankproof.judging.lexical.profile import Profile, profile


@dataclass(frozen=True, slots=True)
class Weights:
    """What each share counts. They were fitted on labelled pairs, which the page about this judge names."""

    reach: float
    best: float
    runs: float
    words: float
    base: float


SUPPORT = Weights(reach=2.1, best=0.0, runs=1.4, words=3.6, base=-5.6)
"""A claim and a text. The shares count 3 to 2 to 5 everywhere; the base and the common slope were fitted."""
ANSWERS = Weights(reach=2.3, best=1.8, runs=0.0, words=0.8, base=-2.6)
"""A question and a chunk."""
BEARS = Weights(reach=1.8, best=1.8, runs=0.0, words=1.2, base=-2.3)
"""A question and a statement."""
ADDRESSES = Weights(reach=4.5, best=4.0, runs=0.0, words=1.8, base=-2.3)
"""A question and an answer."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What of one text is found in another, and what that makes likely."""

    cover: Cover
    probability: float


def weigh(sought: Profile, text: Profile, weights: Weights) -> Evidence:
    """Look for one text in another."""
    found = cover(sought, text)
    score = (
        weights.base
        + weights.reach * found.reach
        + weights.best * found.best
        + (weights.runs and weights.runs * _runs(sought, text))
        + weights.words * _words(sought, text)
    )
    return Evidence(found, 1.0 / (1.0 + math.exp(-score)))


def lexical_support(claim: str, text: str) -> float:
    """The probability that a text supports a claim, from the words, numbers and order that they share.

    It is given for every pair, those too on which the judge keeps silent.

    >>> text = "Refunds are granted within 30 days of purchase."
    >>> high, low = lexical_support("Refunds are granted within 30 days.", text), lexical_support("Lions sleep.", text)
    >>> high > 0.7, low < 0.05
    (True, True)
    """
    return weigh(profile(claim), profile(text), SUPPORT).probability


def _runs(sought: Profile, text: Profile) -> float:
    """How long the runs of words are that the text repeats: 1 for one run of all words, little for scattered ones.

    Formula: the root of the sum of squared lengths of the longest runs, taken one after the other, by all words.

    Reference: M. Grusky, M. Naaman, Y. Artzi: Newsroom, NAACL 2018, whose density is the same without the root.
    """
    words, theirs = sought.forms, text.forms
    squares = at = 0
    while at < len(words):
        longest = int(words[at] in text.vocabulary)
        for start in text.followed.get(words[at : at + 2], ()):
            size = 2
            while words[at + size : at + size + 1] == theirs[start + size : start + size + 1] != ():
                size += 1
            longest = max(longest, size)
        squares += longest**2
        at += longest or 1
    return math.sqrt(squares) / len(words) if words else 0.0


def _words(sought: Profile, text: Profile) -> float:
    """The share of all words, small ones too, that are in the text."""
    if not sought.forms:
        return 0.0
    return sum(map(text.vocabulary.__contains__, sought.forms)) / len(sought.forms)
