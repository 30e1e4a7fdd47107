"""Configurations: one level of every factor, and the order in which they are run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

NOT_USED = "-"
"""The level of a factor that a configuration has no use for: no fusion where nothing is fused."""

FACTORS = ("chunker", "retriever", "filter", "fusion", "reranker", "k", "question")


@dataclass(frozen=True, slots=True)
class Configuration:
    """One level of every factor."""

    chunker: str
    retriever: str
    filter: str
    fusion: str
    reranker: str
    k: int
    question: str = NOT_USED
    """What is made of a question before it is asked."""

    def level(self, factor: str) -> str:
        """Its level of a factor, as text."""
        return str(getattr(self, factor))

    def named(self, factors: Sequence[str]) -> str:
        """A name of the levels of these factors.

        >>> Configuration("small", "hybrid", "none", "rrf", "none", 10).named(["chunker", "retriever", "k"])
        'small / hybrid / k=10'
        """
        levels = [(factor, self.level(factor)) for factor in factors]
        said = [f"k={level}" if factor == "k" else level for factor, level in levels if level != NOT_USED]
        return " / ".join(said) or self.retriever


def combinations(
    levels: Mapping[str, Sequence[str]], ks: Sequence[int], chunked: Sequence[str], fused: Sequence[str]
) -> list[Configuration]:
    """Every combination once; retrievers that are not in `chunked` use no chunker, those not in `fused` no fusion.

    >>> levels = {"chunker": ["whole", "small"], "retriever": ["web"], "filter": ["none"], "reranker": ["none"]}
    >>> [each.chunker for each in combinations({**levels, "fusion": []}, [10], chunked=[], fused=[])]
    ['-']
    """
    found: dict[Configuration, None] = {}
    factors = [levels.get(factor) or [NOT_USED] for factor in FACTORS if factor != "k"]
    for chunker, retriever, filter_, fusion, reranker, question in product(*factors):
        own_chunker = chunker if retriever in chunked else NOT_USED
        own_fusion = fusion if retriever in fused else NOT_USED
        own = (own_chunker, retriever, filter_, own_fusion, reranker)
        found |= {Configuration(*own, k, question): None for k in ks}
    return list(found)


def one_at_a_time(every: Sequence[Configuration]) -> list[Configuration]:
    """The first configuration, and for each factor those that differ from it in this one only.

    A factor that the first has no use for is varied on the first configuration that has.

    >>> every = [Configuration(c, r, "none", "-", "none", 10) for c in "ab" for r in "xy"]
    >>> [(each.chunker, each.retriever) for each in one_at_a_time(every)]
    [('a', 'x'), ('b', 'x'), ('a', 'y')]
    """
    kept: dict[Configuration, None] = {}
    for factor in FACTORS:
        base = next((each for each in every if each.level(factor) != NOT_USED), every[0])
        levels: dict[str, Configuration] = {}
        for each in every:
            if _differ_in(factor, each, base):
                levels.setdefault(each.level(factor), each)
        kept |= dict.fromkeys([base, *levels.values()])
    return list(kept)


def _differ_in(factor: str, one: Configuration, other: Configuration) -> bool:
    """Whether all other factors that both have a use for are at the same level."""
    others = ((one.level(each), other.level(each)) for each in FACTORS if each != factor)
    return all(mine == theirs or NOT_USED in (mine, theirs) for mine, theirs in others)


def differing(configurations: Sequence[Configuration]) -> list[str]:
    """The factors with several levels; the retriever always."""
    levels = {factor: {each.level(factor) for each in configurations} - {NOT_USED} for factor in FACTORS}
    return [factor for factor in FACTORS if factor == "retriever" or len(levels[factor]) > 1]


def rungs(configurations: int, queries: int, least: int = 10, keep: int = 3) -> Iterator[tuple[int, int]]:
    """Successive halving: for each round how many configurations are run on how many questions in all.

    Each round keeps one in `keep` and gives it `keep` times the questions, the last one all of them.

    >>> list(rungs(90, 270))
    [(90, 10), (30, 30), (10, 90), (4, 270)]
    """
    left, sizes = configurations, []
    while left > 2 * keep:
        sizes.append(left)
        left = -(-left // keep)
    sizes.append(left)
    for n, size in enumerate(sizes):
        part = queries / keep ** (len(sizes) - 1 - n)
        yield size, queries if n == len(sizes) - 1 else min(queries, max(least, round(part)))
