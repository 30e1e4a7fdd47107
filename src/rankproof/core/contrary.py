"""Rank columns beside scores: whether both say the same order."""

from __future__ import annotations

import numpy as np

from rankproof.core.hits import Array
from rankproof.core.join import Census

SAMPLE = 1000
"""So many rows say whether ranks and scores agree, at next to no cost."""


def contrary(group: Array, score: Array, rank: Array) -> Array:
    """The groups whose ranks put a row above one with a higher score.

    >>> contrary(np.array([0, 0, 1, 1]), np.array([2.0, 1.0, 1.0, 2.0]), np.array([1, 2, 1, 2]))
    array([1])
    """
    order = np.lexsort((-score, rank, group))
    rises = (score[order][1:] > score[order][:-1]) & (np.diff(group[order]) == 0)
    return np.unique(group[order][1:][rises])


def note_ranks(group: Array, score: Array, rank: Array, census: Census) -> None:
    """Count how many of these rankings have ranks, and how many have them against their scores."""
    if not np.isnan(rank).any():
        census.ranks = len(np.unique(group))
        census.ranks_contrary = len(contrary(group, score, rank))
