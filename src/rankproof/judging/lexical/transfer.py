"""How far off the probabilities of the lexical judge may be on texts of another kind.

The probabilities were fitted on whole collections. On a collection left out, all of them are too high or too low by
about the same number of logits: its shift. Shifts of a new collection follow Student's t with the spread seen among
collections; labels of its own pairs narrow that to what they leave possible (Bayes' rule on a grid).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rankproof.core.hits import Array

SPREAD = {"S": 0.7, "P": 0.7, "R": 0.7, "Q": 0.7, "A": 2.0}
"""The standard deviation of the shifts, in logits, a little more than was seen: .60 of 8 collections with claims, .62
of 4 with questions and chunks. Answers to questions differ more (2 collections); for statements there is one
collection, and the spread of chunks is taken."""
COLLECTIONS = {"S": 8, "P": 8, "R": 4, "Q": 1, "A": 2}
"""So many collections the base was fitted on: with few of them it may be off as well."""
FREEDOM = 10
"""Degrees of freedom: 7 of claims and 3 of chunks, whose spreads are alike (.60 and .62) and taken together."""
GRID = np.linspace(-12.0, 12.0, 2401)
"""Shifts that are looked at."""
SMALLEST = 1e-6
"""A probability nearer to 0 or 1 is taken for this: a shift moves it little, and a label does not rule it out."""


def logit(probability: Array) -> Array:
    """The logarithm of the odds."""
    inside = np.clip(probability, SMALLEST, 1 - SMALLEST)
    odds: Array = np.log(inside / (1 - inside))
    return odds


def shifts(relation: str, places: Array, labels: Sequence[tuple[float, bool]] = ()) -> Array:
    """The shifts that stand at these places (0 to 1) of their distribution, given labelled pairs.

    Each label is the probability that the judge gave, and what a person said.

    >>> wide = shifts("S", np.array([0.025, 0.975]))
    >>> narrow = shifts("S", np.array([0.025, 0.975]), [(0.5, True), (0.5, False)] * 20)
    >>> bool(np.ptp(wide) > 2 * np.ptp(narrow))
    True
    """
    scale = SPREAD[relation] * math.sqrt(1 + 1 / COLLECTIONS[relation])
    likely = -(FREEDOM + 1) / 2 * np.log1p((GRID / scale) ** 2 / FREEDOM)
    for probability, yes in labels:
        shifted = logit(np.array(probability)) + GRID
        likely = likely - np.logaddexp(0.0, -shifted if yes else shifted)
    weights = np.exp(likely - likely.max())
    found: Array = np.interp(places, (np.cumsum(weights) - weights / 2) / weights.sum(), GRID)
    return found
