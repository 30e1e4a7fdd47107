"""The best of many scores."""

from __future__ import annotations

import numpy as np

from rankproof.core.hits import Array


def best(scores: Array, k: int) -> Array:
    """The places of the `k` highest scores, highest first; equal ones in the order in which they stand.

    >>> best(np.array([1.0, 3.0, 2.0, 3.0]), 3).tolist()
    [1, 3, 2]
    """
    if len(scores) > k:
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        places = np.flatnonzero(scores >= least)
    else:
        places = np.arange(len(scores))
    order: Array = places[np.argsort(-scores[places], kind="stable")]
    return order[:k]
