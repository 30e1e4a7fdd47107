"""The reranker that is embedded: which words of the question a text has, how rare they are, how close together.

Reference: S. Buettcher, C. L. A. Clarke, B. Lushman: Term proximity scoring for ad-hoc retrieval on very large text
collections, SIGIR 2006.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import log

from rankproof.bench.retrieve.words import words
from rankproof.core.corpus import Corpus
from rankproof.core.text.stems import stem

K1, B = 1.2, 0.75


@dataclass(frozen=True)
class Rarity:
    """How rare words are among some texts."""

    texts: int
    frequency: Mapping[str, int]
    length: float
    """The mean number of words."""

    def of(self, word: str) -> float:
        """The weight of a word, the rarer the larger."""
        n = self.frequency.get(word, 0)
        return log(1 + (self.texts - n + 0.5) / (n + 0.5))


def proximity(corpus: Corpus) -> Callable[[str, list[str]], list[float]]:
    """A scorer for `rerank` that takes the rarity of words from the corpus.

    >>> scorer = proximity(Corpus.of({"d1": "annual plans: refund", "d2": "a plan", "d3": "annual", "d4": "none"}))
    >>> close, far = scorer("annual plan", ["the annual plans have a fee", "plans with a fee are annual"])
    >>> close > far
    True
    """
    # Counted when first needed: a composition that is only described must cost nothing.
    known = lru_cache(maxsize=1)(lambda: _rarity([each.whole for each in corpus.values()]))

    def score(question: str, texts: list[str]) -> list[float]:
        wanted = frozenset(stems(question))
        return [_score(wanted, stems(text), known()) for text in texts]

    return score


def stems(text: str) -> list[str]:
    """The words of a text without their endings.

    >>> stems("Two plans")
    ['two', 'plan']
    """
    return [_stem(word) for word in words(text)]


_stem = lru_cache(maxsize=1 << 16)(stem)


def _rarity(texts: Sequence[str]) -> Rarity:
    found = [stems(text) for text in texts]
    frequency = Counter(word for each in found for word in set(each))
    return Rarity(len(found), frequency, sum(map(len, found)) / max(len(found), 1))


def _score(wanted: frozenset[str], text: Sequence[str], rarity: Rarity) -> float:
    """BM25, and the same again with closeness for the number of times."""
    places = [(place, word) for place, word in enumerate(text) if word in wanted]
    norm = K1 * (1 - B + B * len(text) / (rarity.length or 1))
    times = Counter(word for _, word in places)
    close: defaultdict[str, float] = defaultdict(float)
    for word, weight in _closeness(places, rarity):
        close[word] += weight
    alone = sum(rarity.of(word) * n * (K1 + 1) / (n + norm) for word, n in times.items())
    return alone + sum(min(1, rarity.of(word)) * n * (K1 + 1) / (n + norm) for word, n in close.items())


def _closeness(places: Sequence[tuple[int, str]], rarity: Rarity) -> Iterator[tuple[str, float]]:
    """For each two neighbours among the words that are wanted: how rare the other is, by how near it stands."""
    for (before, first), (after, second) in pairwise(places):
        if first != second:
            yield first, rarity.of(second) / (after - before) ** 2
            yield second, rarity.of(first) / (after - before) ** 2
