"""Methods that read ranks: they need no scores, and rankings on any scale can meet."""

from __future__ import annotations

import numpy as np

from rankproof.bench.fusion.arrays import FromZero, added, candidates, counted, lengths
from rankproof.core.hits import Array
from rankproof.core.parameters import Persistence, Share


def rrf(rank: Array, weights: Array, *, k: FromZero = 60) -> Array:
    """Reciprocal rank fusion: each ranking adds the reciprocal of the rank, put off by a constant.

    Formula: sum over rankings of w / (k + rank).

    Range: 0 to (sum of w) / (k + 1).

    Reference: G. V. Cormack, C. L. A. Clarke, S. Buettcher: Reciprocal rank fusion outperforms Condorcet and
    individual rank learning methods, SIGIR 2009.

    >>> rrf(np.array([[1.0, 2.0], [2.0, np.nan]]), np.ones(2), k=0).tolist()
    [1.5, 0.5]
    """
    return added(weights / (k + rank))


def isr(rank: Array) -> Array:
    """Inverse square rank: the inverse squares of the ranks, times the number of rankings.

    Formula: N * sum over rankings of 1 / rank^2, where N rankings returned the document.

    Range: 0 to (number of rankings)^2.

    Reference: A. Mourão, F. Martins, J. Magalhães: Multimodal medical information retrieval with unsupervised
    rank fusion, Computerized Medical Imaging and Graphics 2015.

    >>> isr(np.array([[1.0, 2.0], [2.0, np.nan]])).tolist()
    [2.5, 0.25]
    """
    return counted(rank) * added(1 / rank**2)


def log_isr(rank: Array) -> Array:
    """Inverse square rank with the logarithm of the number of rankings: what one alone returned gets 0.

    Formula: ln(N) * sum over rankings of 1 / rank^2.

    Range: 0 to S ln(S) for S rankings.

    Reference: A. Mourão, F. Martins, J. Magalhães, 2015, as for isr.

    >>> log_isr(np.array([[1.0, 2.0], [2.0, np.nan]])).round(4).tolist()
    [0.8664, 0.0]
    """
    return np.log(counted(rank)) * added(1 / rank**2)


def logn_isr(rank: Array, *, sigma: Share = 0.01) -> Array:
    """Inverse square rank with a logarithm that leaves a little to what one ranking alone returned.

    Formula: ln(N + sigma) * sum over rankings of 1 / rank^2.

    Range: 0 to S ln(S + sigma) for S rankings.

    Reference: A. Mourão, F. Martins, J. Magalhães, 2015, as for isr.

    >>> logn_isr(np.array([[1.0, 2.0], [2.0, np.nan]]), sigma=1.0).round(4).tolist()
    [1.3733, 0.1733]
    """
    return np.log(counted(rank) + sigma) * added(1 / rank**2)


def rbc(rank: Array, weights: Array, *, phi: Persistence = 0.8) -> Array:
    """Rank-biased centroids: the attention of a reader who goes on to the next document with probability phi.

    Formula: sum over rankings of w (1 - phi) phi^(rank - 1).

    Range: 0 to (sum of w) (1 - phi).

    Reference: P. Bailey, A. Moffat, F. Scholer, P. Thomas: Retrieval consistency in the presence of query
    variations, SIGIR 2017.

    >>> rbc(np.array([[1.0, 2.0], [2.0, np.nan]]), np.ones(2), phi=0.5).tolist()
    [0.75, 0.25]
    """
    return added(weights * (1 - phi) * phi ** (rank - 1))


def borda(rank: Array, query: Array, weights: Array) -> Array:
    """Borda count: of c candidates the first gets c points, the next c - 1, and so on.

    Formula: sum over rankings of w (c - rank + 1), where c documents were returned by any ranking; those that a
    ranking of n did not return share its other points: w (c - n + 1) / 2 each.

    Range: 0 to c times the sum of w.

    Reference: J. A. Aslam, M. Montague: Models for metasearch, SIGIR 2001.

    >>> borda(np.array([[1.0, 2.0], [2.0, 1.0], [np.nan, 3.0]]), np.array([0, 0, 0]), np.ones(2)).tolist()
    [5.0, 5.0, 2.0]
    """
    all_of_it = candidates(query)
    left = (all_of_it - lengths(rank, query) + 1) / 2
    return added(weights * np.where(np.isnan(rank), left, all_of_it - rank + 1))
