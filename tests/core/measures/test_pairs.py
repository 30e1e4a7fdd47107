"""Measures between two rankings against plain loops, SciPy, and values worked out by hand."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from rankproof.core.names import REGISTRY, parse
from tests.each import with_each

RBO, TAU, TAU_AP = (REGISTRY[name] for name in ("RBO", "Tau", "TauAP"))
JACCARD, OVERLAP = REGISTRY["Jaccard"], REGISTRY["Overlap"]


def two_rankings(seed: int) -> tuple[list[str], list[str]]:
    rng = random.Random(seed)
    docs = [f"d{i}" for i in range(15)]
    return rng.sample(docs, rng.randint(1, 15)), rng.sample(docs, rng.randint(1, 15))


def agreement_at(depth: int, one: list[str], other: list[str]) -> float:
    """The shared part of both tops, where a ranking that ended goes on as it was."""
    short, long = sorted((one, other), key=len)
    s, n = len(short), len(long)
    shared = len(set(long[:depth]) & set(short[:depth]))
    if depth <= s:
        return shared / depth
    at_the_end = len(set(long[:s]) & set(short)) / s
    if depth <= n:
        return (shared + at_the_end * (depth - s)) / depth
    return (len(set(long) & set(short)) - at_the_end * s) / n + at_the_end


@pytest.mark.slow
@with_each("seed", range(60))
def test_rank_biased_overlap_goes_on_for_ever(seed: int) -> None:
    one, other = two_rankings(seed)
    for p in (0.5, 0.9):
        endless = (1 - p) * sum(p ** (d - 1) * agreement_at(d, one, other) for d in range(1, 800))
        assert RBO(one, other, p=p) == pytest.approx(endless, abs=1e-9)
        assert RBO(one, other, p=p) == pytest.approx(RBO(other, one, p=p), abs=1e-12)


@with_each("seed", range(60))
def test_tau_counts_pairs(seed: int) -> None:
    one, other = two_rankings(seed)
    both = [doc for doc in one if doc in other]
    pairs = list(combinations(both, 2))
    same = sum(other.index(a) < other.index(b) for a, b in pairs)
    assert TAU(one, other) == pytest.approx((2 * same - len(pairs)) / len(pairs) if pairs else 0, abs=1e-12)


@with_each("seed", range(20))
def test_tau_as_scipy(seed: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    rng = random.Random(seed)
    one = [f"d{i}" for i in range(12)]
    other = rng.sample(one, 12)
    theirs = stats.kendalltau([one.index(d) for d in one], [other.index(d) for d in one]).statistic
    assert TAU(one, other) == pytest.approx(theirs, abs=1e-12)


@with_each("seed", range(60))
def test_ap_correlation(seed: int) -> None:
    one, other = two_rankings(seed)
    both = [doc for doc in one if doc in other]
    shares = [sum(other.index(above) < other.index(doc) for above in both[:i]) / i for i, doc in enumerate(both) if i]
    assert TAU_AP(one, other) == pytest.approx(2 * sum(shares) / len(shares) - 1 if shares else 0, abs=1e-12)


def test_an_exchange_at_the_top_weighs_more_for_tau_ap() -> None:
    truth = list("abcdef")
    top, bottom = list("bacdef"), list("abcdfe")
    assert TAU(top, truth) == TAU(bottom, truth)
    assert TAU_AP(top, truth) < TAU_AP(bottom, truth)


@pytest.mark.parametrize(
    ("measure", "one", "other", "known"),
    [
        (JACCARD, "abc", "bad", 0.5),
        (JACCARD @ 1, "abc", "bad", 0.0),
        (JACCARD @ 2, "abc", "bad", 1.0),
        (JACCARD, "", "", 0.0),
        (OVERLAP, "abcd", "ab", 0.5),
        (OVERLAP @ 2, "abcd", "ab", 1.0),
        (TAU, "abcd", "dcba", -1.0),
        (TAU, "abcd", "abdc", 2 / 3),
        (TAU, "abc", "xyz", 0.0),
        (TAU_AP, "dcba", "abcd", -1.0),
        (RBO, "abc", "xyz", 0.0),
        (RBO @ 1, "abc", "axy", 1.0),
    ],
)
def test_by_hand(measure: object, one: str, other: str, known: float) -> None:
    assert parse(str(measure))(list(one), list(other)) == pytest.approx(known)
