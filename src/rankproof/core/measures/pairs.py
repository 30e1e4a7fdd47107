"""Measures between two rankings of one query: how alike they are, without judgments.

Each takes two sequences of document ids, best first and each id once, and gives one number; k cuts both.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence

from rankproof.core.measure import Cutoff, Persistence
from rankproof.core.names import measure

Ids = Sequence[str]


def places(a: Ids, b: Ids) -> list[int]:
    """The places in `b` of the documents that both have, in the order of `a`."""
    place = {doc: i for i, doc in enumerate(b)}
    return [place[doc] for doc in a if doc in place]


def overlaps(a: Ids, b: Ids) -> list[int]:
    """How many documents the first d of both share, for d from 0 to the length of the longer one."""
    place = {doc: i for i, doc in enumerate(b)}
    counts = [0] * (max(len(a), len(b)) + 1)
    for i, doc in enumerate(a):
        if doc in place:
            counts[max(i, place[doc]) + 1] += 1
    for d in range(1, len(counts)):
        counts[d] += counts[d - 1]
    return counts


def count_smaller(order: Sequence[int]) -> Iterator[int]:
    """For each place how many of the places before it are smaller."""
    before: list[int] = []
    for place in order:
        yield bisect_left(before, place)
        insort(before, place)


@measure("RBO", kind="pair", also=("rank_biased_overlap",))
def rank_biased_overlap(a: Ids, b: Ids, k: Cutoff = None, p: Persistence = 0.9) -> float:
    """How alike two rankings are, the top counting most: the overlap of their tops, weighted by p^depth.

    Formula: (1 - p) sum over depths d of p^(d-1) |shared in both top d| / d, with the agreement at the end extrapolated
        to what was not seen (RBO_EXT).
    Range: 0 to 1.
    Perfect: 1, when the rankings are the same.
    Worst: 0, when they share no document.
    Blind to: relevance; nearly to what comes deeper than 3 / (1 - p).
    Use: to see how much a change moves what users see, also between rankings that share few documents.
    Reference: W. Webber, A. Moffat, J. Zobel: A similarity measure for indefinite rankings, ACM TOIS 2010.

    >>> from rankproof import agreement
    >>> round(agreement({"q": ["a", "b", "c"]}, {"q": ["b", "a", "c"]}, "RBO")["RBO"], 4)
    0.9
    """
    short, long = sorted((a[:k], b[:k]), key=len)
    s, n, shared = len(short), len(long), overlaps(a[:k], b[:k])
    if not s:
        return 0.0
    seen = sum(shared[d] / d * p ** (d - 1) for d in range(1, n + 1))
    unseen = sum(shared[s] * (d - s) / (s * d) * p ** (d - 1) for d in range(s + 1, n + 1))
    return (1 - p) * (seen + unseen) + ((shared[n] - shared[s]) / n + shared[s] / s) * p**n


@measure("Tau", kind="pair", also=("kendall_tau", "KendallTau"), bounds=(-1.0, 1.0))
def kendall_tau(a: Ids, b: Ids, k: Cutoff = None) -> float:
    """Kendall's tau: how many pairs of documents stand in the same order in both, less those that do not.

    Formula: (pairs in the same order - pairs in opposite order) / pairs, over the documents that both rankings have.
    Range: -1 to 1.
    Perfect: 1, when the shared documents come in the same order.
    Worst: -1, when one order is the reverse of the other; 0 means unrelated, or fewer than two are shared.
    Blind to: documents only one of them has, and where in the ranking two documents change places.
    Use: for orders of the same things, such as systems by two measures.
    Reference: M. G. Kendall: A new measure of rank correlation, Biometrika 1938.

    >>> from rankproof import agreement
    >>> round(agreement({"q": ["a", "b", "c"]}, {"q": ["b", "a", "c"]}, "Tau")["Tau"], 4)
    0.3333
    """
    order = places(a[:k], b[:k])
    pairs = len(order) * (len(order) - 1) / 2
    return 2 * sum(count_smaller(order)) / pairs - 1 if pairs else 0.0


@measure("TauAP", kind="pair", also=("tau_ap",), bounds=(-1.0, 1.0))
def tau_ap(a: Ids, b: Ids, k: Cutoff = None) -> float:
    """Kendall's tau with more weight on the top: AP correlation of the first ranking with the second.

    Formula: 2 / (n - 1) times the sum over places i = 2 to n of (documents above i in the first that are also above it
        in the second) / (i - 1), less 1; over the n documents both rankings have.
    Range: -1 to 1; it changes when the rankings change places, the second is the truth.
    Perfect: 1, when the shared documents come in the same order.
    Worst: -1, when one order is the reverse of the other; 0 means unrelated, or fewer than two are shared.
    Blind to: documents only one of them has.
    Use: instead of tau, where an exchange at the top matters more than one at the bottom.
    Reference: E. Yilmaz, J. A. Aslam, S. Robertson: A new rank correlation coefficient for information retrieval, SIGIR
        2008.

    >>> from rankproof import agreement
    >>> agreement({"q": ["a", "b", "c"]}, {"q": ["b", "a", "c"]}, "TauAP")["TauAP"]
    0.0
    """
    order = places(a[:k], b[:k])
    if len(order) < 2:
        return 0.0
    shares = [same / i for i, same in enumerate(count_smaller(order)) if i]
    return 2 * sum(shares) / len(shares) - 1


@measure("Jaccard", kind="pair", also=("jaccard",))
def jaccard(a: Ids, b: Ids, k: Cutoff = None) -> float:
    """The share of the documents in either ranking that are in both.

    Formula: |both| / |either|, of the top k of each.
    Range: 0 to 1.
    Perfect: 1, when both hold the same documents.
    Worst: 0, when they share none.
    Blind to: order, and relevance.
    Use: to see at a glance how much of a result page a change replaces.
    Reference: P. Jaccard: The distribution of the flora in the alpine zone, New Phytologist 1912.

    >>> from rankproof import agreement
    >>> agreement({"q": ["a", "b", "c"]}, {"q": ["b", "a", "d"]}, "Jaccard@3")["Jaccard@3"]
    0.5
    """
    one, other = set(a[:k]), set(b[:k])
    return len(one & other) / len(one | other) if one | other else 0.0


@measure("Overlap", kind="pair", also=("overlap",))
def overlap(a: Ids, b: Ids, k: Cutoff = None) -> float:
    """The share of the longer ranking's documents that the other has too.

    Formula: |both| / max(|first|, |second|), of the top k of each.
    Range: 0 to 1.
    Perfect: 1, when both hold the same documents.
    Worst: 0, when they share none.
    Blind to: order, and relevance.
    Use: as Jaccard, when "7 of 10 are the same" is easier to say.
    Reference: D. Carmel, D. Cohen, R. Fagin and others: Static index pruning, SIGIR 2001.

    >>> from rankproof import agreement
    >>> round(agreement({"q": ["a", "b", "c"]}, {"q": ["b", "a", "d"]}, "Overlap@3")["Overlap@3"], 4)
    0.6667
    """
    one, other = set(a[:k]), set(b[:k])
    return len(one & other) / max(len(one), len(other)) if one or other else 0.0
