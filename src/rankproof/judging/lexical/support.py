"""From two texts to a probability: how much of one is found in the other, weighted, through a logistic curve."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

from rankproof.judging.lexical.cover import Cover, cover
from rankproof.judging.lexical.profile import Profile, profile


@dataclass(frozen=True, slots=True)
class Weights:
    """What each share counts. They were fitted on labelled pairs, which the page about this judge names."""

    reach: float
    best: float
    pairs: float
    words: float
    speaker: float
    base: float


SUPPORT = Weights(reach=5.1, best=0.0, pairs=1.4, words=1.6, speaker=-2.2, base=-5.9)
"""A claim and a text."""
ANSWERS = Weights(reach=2.3, best=1.8, pairs=0.0, words=0.8, speaker=0.0, base=-2.6)
"""A question and a chunk."""
BEARS = Weights(reach=1.8, best=1.8, pairs=0.0, words=1.2, speaker=0.0, base=-2.3)
"""A question and a statement."""
ADDRESSES = Weights(reach=4.3, best=4.0, pairs=0.5, words=1.6, speaker=0.0, base=-2.3)
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
        + (weights.pairs and weights.pairs * _pairs(sought, text, found.reach))
        + weights.words * _words(sought, text)
        + weights.speaker * (not sought.speakers <= text.speakers)
    )
    return Evidence(found, 1.0 / (1.0 + exp(-score)))


def lexical_support(claim: str, text: str) -> float:
    """The probability that a text supports a claim, from the words, numbers and order that they share.

    It is given for every pair, those too on which the judge keeps silent.

    >>> text = "Refunds are granted within 30 days of purchase."
    >>> high, low = lexical_support("Refunds are granted within 30 days.", text), lexical_support("Lions sleep.", text)
    >>> high > 0.8, low < 0.05
    (True, True)
    """
    return weigh(profile(claim), profile(text), SUPPORT).probability


def _pairs(sought: Profile, text: Profile, alone: float) -> float:
    """The share of neighbouring terms that stand near each other in the text too; `alone` for a single term."""
    if not sought.pairs:
        return alone
    known = text.vocabulary
    there = [pair for pair in sought.pairs if pair[0] in known and pair[1] in known]
    # Where no two are in the text at all, it need not be told which terms of it are neighbours.
    return sum(map(text.neighbours.__contains__, there)) / len(sought.pairs) if there else 0.0


def _words(sought: Profile, text: Profile) -> float:
    """The share of all words, small ones too, that are in the text."""
    if not sought.forms:
        return 0.0
    return sum(map(text.vocabulary.__contains__, sought.forms)) / len(sought.forms)
