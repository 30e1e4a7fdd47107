"""Methods that use ranks, for rankings on any scale; some learn how far to trust each rank.

Each method that learns has a function that learns from judged queries, and one that applies the result.
"""

from __future__ import annotations

from bisect import insort
from functools import cmp_to_key
from typing import Literal

import numpy as np

from rankproof.bench.fusion.pool import (
    FromZero,
    WholeFromZero,
    candidates,
    column_means,
    lengths,
    look_up,
    query_starts,
    row_counts,
    row_sums,
    share,
    times_at,
)
from rankproof.core.hits import Array
from rankproof.core.measure import Count, Persistence, Share

AT_ONCE = 1 << 21
"""Pairs of documents compared at a time."""
DUST = 1e-9
"""Share of all the weight: a smaller majority is due to rounding."""


def condorcet(rank: Array, query: Array, weights: Array) -> Array:
    """Condorcet: a document is above another if the rankings that say so outweigh those that say the opposite.

    Formula: c - p for the document at place p = 0, 1, ... of c candidates, in an order where each document beats the
        next or is equal to it. A ranking that returned one of two documents puts it above the other; one that returned
        neither says nothing. Where majorities run in a circle, who wins most often begins; then the tie rule decides.
    Range: 1 to c.
    Reference: M. Montague, J. A. Aslam: Condorcet fusion for improved retrieval, CIKM 2002.

    >>> ranks = np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 1.0], [3.0, 3.0, 2.0]])
    >>> condorcet(ranks, np.array([0, 0, 0]), np.ones(3)).tolist()
    [2.0, 3.0, 1.0]
    """
    places = np.where(np.isnan(rank), np.inf, rank)
    begins = query_starts(query)
    points = np.zeros(len(rank))
    for begin, end in zip(begins, np.append(begins[1:], len(rank)), strict=True):
        order = _order(places[begin:end], weights)
        points[begin + np.array(order)] = np.arange(len(order), 0, -1)
    return points


def _order(places: Array, weights: Array) -> list[int]:
    """The documents of one query, the winner first.

    They are sorted by their wins first, which is the right order already where majorities make no circle. Where they
    do, `sorted` promises nothing; a document put in by bisection was compared with both of its neighbours.
    """
    wins = _wins(places, weights)
    by_wins = np.argsort(-wins, kind="stable").tolist()
    rows, shares = places.tolist(), weights.tolist()
    least = DUST * float(weights.sum())

    def after(one: int, other: int) -> int:
        # The weight of the rankings that put one above the other, less that of those that do the opposite.
        pairs = zip(rows[one], rows[other], shares, strict=True)
        margin = sum(((mine < theirs) - (mine > theirs)) * weight for mine, theirs, weight in pairs)
        if abs(margin) <= least:
            return int(wins[other] - wins[one]) or one - other
        return -1 if margin > 0 else 1

    order = list[int]()
    for each in by_wins:
        if order and after(each, order[-1]) < 0:
            insort(order, each, hi=len(order) - 1, key=cmp_to_key(after))
        else:
            order.append(each)
    return order


def _wins(places: Array, weights: Array) -> Array:
    """How many others each document beats, less how many beat it."""
    least = DUST * float(weights.sum())
    step = max(1, AT_ONCE // len(places))
    parts = []
    for first in range(0, len(places), step):
        own = places[first : first + step]
        margin = np.zeros((len(own), len(places)))
        for mine, theirs, weight in zip(own.T, places.T, weights, strict=True):
            margin += weight * (mine[:, None] < theirs) - weight * (mine[:, None] > theirs)
        parts.append((margin > least).sum(axis=1) - (margin < -least).sum(axis=1))
    return np.concatenate(parts)


def rrf(rank: Array, weights: Array, *, k: FromZero = 60) -> Array:
    """Reciprocal rank fusion: each ranking adds the reciprocal of the rank, put off by a constant.

    Formula: sum over rankings of w / (k + rank).
    Range: 0 to (sum of w) / (k + 1).
    Reference: G. V. Cormack, C. L. A. Clarke, S. Buettcher: Reciprocal rank fusion outperforms Condorcet and individual
        rank learning methods, SIGIR 2009.

    >>> rrf(np.array([[1.0, 2.0], [2.0, np.nan]]), np.ones(2), k=0).tolist()
    [1.5, 0.5]
    """
    return row_sums(weights / (k + rank))


def isr(rank: Array) -> Array:
    """Inverse square rank: the inverse squares of the ranks, times the number of rankings.

    Formula: N * sum over rankings of 1 / rank^2, where N rankings returned the document.
    Range: 0 to (number of rankings)^2.
    Reference: A. Mourão, F. Martins, J. Magalhães: Multimodal medical information retrieval with unsupervised rank
        fusion, Computerized Medical Imaging and Graphics 2015.

    >>> isr(np.array([[1.0, 2.0], [2.0, np.nan]])).tolist()
    [2.5, 0.25]
    """
    return row_counts(rank) * row_sums(1 / rank**2)


def log_isr(rank: Array) -> Array:
    """Inverse square rank with the logarithm of the number of rankings: what one alone returned gets 0.

    Formula: ln(N) * sum over rankings of 1 / rank^2.
    Range: 0 to S ln(S) for S rankings.
    Reference: A. Mourão, F. Martins, J. Magalhães, 2015, as for isr.

    >>> log_isr(np.array([[1.0, 2.0], [2.0, np.nan]])).round(4).tolist()
    [0.8664, 0.0]
    """
    return np.log(row_counts(rank)) * row_sums(1 / rank**2)


def logn_isr(rank: Array, *, sigma: Share = 0.01) -> Array:
    """Inverse square rank with a logarithm that leaves a little to what one ranking alone returned.

    Formula: ln(N + sigma) * sum over rankings of 1 / rank^2.
    Range: 0 to S ln(S + sigma) for S rankings.
    Reference: A. Mourão, F. Martins, J. Magalhães, 2015, as for isr.

    >>> logn_isr(np.array([[1.0, 2.0], [2.0, np.nan]]), sigma=1.0).round(4).tolist()
    [1.3733, 0.1733]
    """
    return np.log(row_counts(rank) + sigma) * row_sums(1 / rank**2)


def rbc(rank: Array, weights: Array, *, phi: Persistence = 0.8) -> Array:
    """Rank-biased centroids: the attention of a reader who goes on to the next document with probability phi.

    Formula: sum over rankings of w (1 - phi) phi^(rank - 1).
    Range: 0 to (sum of w) (1 - phi).
    Reference: P. Bailey, A. Moffat, F. Scholer, P. Thomas: Retrieval consistency in the presence of query variations,
        SIGIR 2017.

    >>> rbc(np.array([[1.0, 2.0], [2.0, np.nan]]), np.ones(2), phi=0.5).tolist()
    [0.75, 0.25]
    """
    return row_sums(weights * (1 - phi) * phi ** (rank - 1))


def borda(rank: Array, query: Array, weights: Array) -> Array:
    """Borda count: of c candidates the first gets c points, the next c - 1, and so on.

    Formula: sum over rankings of w (c - rank + 1), where c documents were returned by any ranking; those that a ranking
        of n did not return share its other points: w (c - n + 1) / 2 each.
    Range: 0 to c times the sum of w.
    Reference: J. A. Aslam, M. Montague: Models for metasearch, SIGIR 2001.

    >>> borda(np.array([[1.0, 2.0], [2.0, 1.0], [np.nan, 3.0]]), np.array([0, 0, 0]), np.ones(2)).tolist()
    [5.0, 5.0, 2.0]
    """
    all_of_it = candidates(query)
    left = (all_of_it - lengths(rank, query) + 1) / 2
    return row_sums(weights * np.where(np.isnan(rank), left, all_of_it - rank + 1))


def depth_of(rank: Array) -> int:
    """The length of the longest list."""
    return int(np.nanmax(rank, initial=1))


def precision_between(bounds: list[int], rank: Array, query: Array, relevant: Array) -> Array:
    """The mean over queries of the precision between each bound and the next; one row a rank."""
    sizes = np.diff(bounds)
    hits = np.add.reduceat(times_at(rank[relevant], bounds[-1]), bounds[:-1], axis=0)
    precision = hits / (sizes[:, None] * len(np.unique(query)))
    return np.repeat(precision, sizes, axis=0)


def segment_of(rank: Array, query: Array, segments: int) -> tuple[Array, Array]:
    """The segment (from 1) of each document, with the same number of segments in every list, and its size."""
    length = lengths(rank, query)
    size = np.maximum(np.ceil(length / segments), 1)
    segment = np.floor((rank - 1) / size) + 1
    return segment, np.minimum(size, length - (segment - 1) * size)


BAYES_BOUNDS = [0, 5, 10, 15, 20, 30, 100, 200, 500, 1000]
"""The cut-offs at which TREC's evaluations report precision."""
UNSEEN = 0.001
"""The chance of relevance used for a precision of 0, and for documents a ranking did not return."""


def learn_bayes(rank: Array, query: Array, relevant: Array) -> Array:
    """The log odds of relevance at each rank: of the precision between cut-offs, averaged over queries."""
    chance = precision_between(BAYES_BOUNDS, rank, query, relevant)
    chance = np.where(chance == 0, UNSEEN, chance)
    against = np.where(chance == 1, UNSEEN, 1 - chance)
    return np.log(chance / against)


def bayes(rank: Array, learned: Array) -> Array:
    """BayesFuse: the log odds of relevance given all ranks, as if the rankings were independent.

    Formula: sum over all rankings of ln(p / (1 - p)), where p is the precision on training queries between the cut-offs
        (0, 5, 10, 15, 20, 30, 100, 200, 500, 1000) around the rank; .001 stands for a precision of 0, for documents not
        returned, and for ranks beyond 1000.
    Range: -6.91 to 6.91 times the number of rankings.
    Reference: J. A. Aslam, M. Montague: Models for metasearch, SIGIR 2001.

    >>> bayes(np.array([[1.0, np.nan], [np.nan, 1.0]]), np.array([[1.0, -1.0]])).round(2).tolist()
    [-5.91, -7.91]
    """
    none = float(np.log(UNSEEN / (1 - UNSEEN)))
    odds = look_up(learned, rank, beyond=none)
    return row_sums(np.where(np.isnan(rank), none, odds))


def learn_map(rank: Array, query: Array, relevant: Array, judged: Array) -> Array:
    """The mean average precision of each ranking; `judged` is the number of relevant documents of each query."""
    precision = []
    for own in rank.T:
        hit = np.flatnonzero(relevant & ~np.isnan(own))
        hit = hit[np.lexsort((own[hit], query[hit]))]
        asked = query[hit]
        nth = np.arange(1, len(hit) + 1) - np.searchsorted(asked, asked)
        total = np.bincount(asked, weights=nth / own[hit], minlength=len(judged))
        precision.append(share(total, judged, 0.0))
    return column_means(np.array(precision).T)


def mapfuse(rank: Array, learned: Array) -> Array:
    """MAPFuse: each ranking adds its mean average precision on training queries, divided by the rank.

    Formula: sum over rankings of MAP / rank.
    Range: 0 to the number of rankings.
    Reference: D. Lillis, L. Zhang, F. Toolan, R. W. Collier, D. Leonard, J. Dunnion: Estimating probabilities for
        effective data fusion, SIGIR 2010.

    >>> mapfuse(np.array([[1.0, 2.0], [2.0, np.nan]]), np.array([0.5, 0.25])).tolist()
    [0.625, 0.25]
    """
    return row_sums(learned / rank)


def learn_pos(rank: Array, relevant: Array) -> Array:
    """The share of relevant documents at each rank, among the training queries with a list that long."""
    deepest = depth_of(rank)
    return share(times_at(rank[relevant], deepest), times_at(rank, deepest), 0.0)


def posfuse(rank: Array, learned: Array) -> Array:
    """PosFuse: each ranking adds the chance of relevance at the rank, as seen on training queries.

    Formula: sum over rankings of P(rank), the share of training queries with a relevant document at that rank among
        those whose list reaches it.
    Range: 0 to the number of rankings.
    Reference: D. Lillis et al.: Estimating probabilities for effective data fusion, SIGIR 2010.

    >>> posfuse(np.array([[1.0, 2.0], [2.0, np.nan]]), np.array([[0.5, 0.75], [0.25, 0.5]])).tolist()
    [1.0, 0.25]
    """
    return row_sums(look_up(learned, rank))


def learn_prob(rank: Array, query: Array, relevant: Array, *, segments: Count = 25) -> Array:
    """The mean over queries of the precision in each segment of a list; one row a segment."""
    segment, size = segment_of(rank, query, segments)
    queries, number = np.unique(query, return_inverse=True)
    columns = []
    for own, each in zip(segment.T, size.T, strict=True):
        found = relevant & ~np.isnan(own)
        cell = number[found] * segments + own[found].astype(np.intp) - 1
        # all documents of a cell have the same size, so the division comes last and once
        hits = np.bincount(cell, minlength=len(queries) * segments)
        sizes = np.ones(len(hits))
        sizes[cell] = each[found]
        columns.append(column_means((hits / sizes).reshape(-1, segments)))
    return np.array(columns).T


def probfuse(rank: Array, query: Array, learned: Array, *, segments: Count = 25) -> Array:
    """ProbFuse: lists are cut into equally many segments; each adds its chance of relevance, divided by its number.

    Formula: sum over rankings of P(k) / k for a document in segment k of x, P(k) the mean share of relevant documents
        in segment k of the training queries. A list of n documents has segments of ceil(n / x).
    Range: 0 to the number of rankings.
    Reference: D. Lillis, F. Toolan, R. W. Collier, J. Dunnion: ProbFuse: a probabilistic approach to data fusion, SIGIR
        2006.

    >>> probfuse(np.array([[1.0], [2.0]]), np.array([0, 0]), np.array([[0.5], [0.25]]), segments=2).tolist()
    [0.5, 0.125]
    """
    segment, _ = segment_of(rank, query, segments)
    return row_sums(look_up(learned, segment) / segment)


Sizes = Literal["published", "ranx"]


def learn_seg(rank: Array, query: Array, relevant: Array, *, sizes: Sizes = "published") -> Array:
    """The precision in each segment, averaged over queries; one row a rank."""
    return precision_between(segment_bounds(depth_of(rank), sizes), rank, query, relevant)


def segment_bounds(depth: int, sizes: Sizes) -> list[int]:
    """Where segments end whose sizes grow: 5, 15, 35, ...; `ranx` takes these sizes for the bounds themselves.

    >>> segment_bounds(100, "published"), segment_bounds(40, "ranx")
    ([0, 5, 20, 55, 130], [0, 5, 15, 35, 75])
    """
    bounds, size = [0], 5
    while bounds[-1] < depth:
        bounds.append(size if sizes == "ranx" else bounds[-1] + size)
        size = 2 * size + 5
    return bounds


def segfuse(rank: Array, score: Array, learned: Array, *, sizes: Sizes = "published") -> Array:
    """SegFuse: each ranking adds the chance of relevance in the segment, raised by the score.

    Formula: sum over rankings of P(k) (1 + s) for a document in segment k, whose size is 10 * 2^(k - 1) - 5; P(k) is
        the mean precision of that segment on training queries, s the score brought to 0 to 1. `sizes='ranx'` has
        segments that end at ranks 5, 15, 35, 75, ...
    Range: 0 to twice the number of rankings.
    Reference: M. Shokouhi: Segmentation of search engine results for effective data-fusion, ECIR 2007.

    >>> segfuse(np.array([[1.0], [2.0]]), np.array([[1.0], [0.5]]), np.array([[0.5], [0.5]])).tolist()
    [1.0, 0.75]
    """
    return row_sums(look_up(learned, rank) * (1 + score))


def slidefuse(rank: Array, query: Array, learned: Array, *, window: WholeFromZero = 5) -> Array:
    """SlideFuse: PosFuse with the chance of relevance averaged over the ranks around.

    Formula: sum over rankings of the mean of P(i) over the ranks i from rank - w to rank + w that the list has.
    Range: 0 to the number of rankings.
    Reference: D. Lillis, F. Toolan, R. W. Collier, J. Dunnion: Extending probabilistic data fusion using sliding
        windows, ECIR 2008.

    >>> chances = np.array([[0.5], [0.25], [0.0]])
    >>> slidefuse(np.array([[1.0], [2.0], [3.0]]), np.zeros(3, dtype=int), chances, window=1).tolist()
    [0.375, 0.25, 0.125]
    """
    first = np.maximum(rank - window, 1)
    last = np.minimum(rank + window, lengths(rank, query))
    sums = np.vstack([np.zeros(learned.shape[1]), np.cumsum(learned, axis=0)])
    deepest = float(len(learned))
    upto = look_up(sums, np.minimum(last, deepest) + 1)
    before = look_up(sums, np.minimum(first - 1, deepest) + 1)
    return row_sums((upto - before) / (last - first + 1))
