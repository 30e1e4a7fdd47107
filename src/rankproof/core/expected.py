"""Means over every order of equal scores in closed form, for measures that are no plain sum.

Reference: F. McSherry, M. Najork: Computing information retrieval performance measures efficiently in
the presence of tied scores, ECIR 2008.
"""

from __future__ import annotations

import numpy as np

from rankproof.core.hits import Array, Hits, PerQuery, ratio
from rankproof.core.threshold import relevant


def expected_rr(
    h: Hits, k: int | None = None, rel: float = 1, scores: str = "any", threshold: str = "rel"
) -> PerQuery:
    """The mean of 1 / rank of the first relevant document: it stands in the first tie that holds one.

    With r relevant in a tie of s, the first of them is at place i of the tie with probability
    C(s - i, r - 1) / C(s, r).
    """
    first, size, count = _leading_tie(relevant(h.scored(scores), rel, threshold))
    chance, total = ratio(count, size), np.zeros(h.n)
    for i in range(int(size.max(initial=0))):
        rank = first + i
        total += np.where(rank <= (np.inf if k is None else k), ratio(chance, rank), 0.0)
        chance = chance * np.maximum(ratio(size - count - i, size - 1 - i), 0.0)
    return total


def _leading_tie(good: Hits) -> tuple[Array, Array, Array]:
    """For each query the first rank, the size and the number of relevant rows of the tie that leads."""
    lead = good.nth == 1
    first, size = np.zeros(good.n, dtype=np.intp), np.zeros(good.n, dtype=np.intp)
    starts, ends = _span(good)
    first[good.query[lead]] = starts[lead]
    size[good.query[lead]] = (ends - starts + 1)[lead]
    return first, size, np.bincount(good.query[starts == first[good.query]], minlength=good.n)


def expected_ap(
    h: Hits,
    k: int | None = None,
    rel: float = 1,
    denominator: str = "all",
    scores: str = "any",
    threshold: str = "rel",
) -> PerQuery:
    """The mean of average precision: a relevant document at place i of a tie of s with r relevant has
    (i - 1)(r - 1)/(s - 1) of the others before it, in the mean.

    Not for `denominator='found'` with a cut, where the divisor depends on the order.
    """
    good = relevant(h.scored(scores), rel, threshold)
    first, last = _span(good)
    leads = (good.nth == 1) | (np.diff(first, prepend=0) != 0)
    at = np.flatnonzero(leads)
    count = np.diff(np.append(at, len(first)))
    size = (last - first + 1)[at]
    tie = np.repeat(np.arange(len(at)), size)
    place = np.arange(len(tie)) - np.repeat(np.cumsum(size) - size, size)
    rank = first[at][tie] + place
    above = (good.nth[at] - 1)[tie] + ratio(place * (count - 1)[tie], (size - 1)[tie])
    value = (count / size)[tie] * (above + 1) / rank * (rank <= (np.inf if k is None else k))
    total = np.bincount(good.query[at][tie], weights=value, minlength=h.n)
    if denominator == "found":
        return ratio(total, good.count())
    wanted = relevant(h.judged, rel, threshold).count()
    return ratio(total, np.minimum(wanted, k) if denominator == "min" and k is not None else wanted)


def expected_bpref(h: Hits, rel: float = 1) -> PerQuery:
    """The mean of bpref: of the n judged non-relevant documents in its tie, a relevant one has 0 to n above
    it, each number as likely as the others."""
    good, bad = h.relevant(rel), _not_relevant(h, rel)
    pool = h.judged
    wanted, unwanted = h.ideal.relevant(rel).count(), _not_relevant(pool, rel).count()
    before, beside = _above_and_beside(good, bad)
    cap = wanted[good.query]
    free = np.clip(cap - before, 0, beside + 1)
    above = (free * before + free * (free - 1) / 2 + (beside + 1 - free) * cap) / (beside + 1)
    return ratio(good.sum(1 - ratio(above, np.minimum(unwanted[good.query], cap))), wanted)


def _not_relevant(h: Hits, rel: float) -> Hits:
    """The rows judged and found wanting; a negative grade is no such judgment."""
    return h.keep((h.grade >= 0) & (h.grade < rel))


def _above_and_beside(good: Hits, bad: Hits) -> tuple[Array, Array]:
    """For each good row the number of bad rows in earlier ties of its query, and in its own."""
    first, other = _span(good)[0], _span(bad)[0]
    width = int(max(first.max(initial=0), other.max(initial=0))) + 1
    keys = bad.query * width + other
    low = np.searchsorted(keys, good.query * width + first, side="left")
    high = np.searchsorted(keys, good.query * width + first, side="right")
    return low - bad.starts[good.query], high - low


def _span(h: Hits) -> tuple[Array, Array]:
    """The first and last rank each row could have."""
    return (h.rank, h.rank) if h.first is None or h.last is None else (h.first, h.last)
