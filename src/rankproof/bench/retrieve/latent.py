"""Latent semantic analysis: dense search that needs no model, only the documents themselves.

A word is a vector of itself and of its pieces, so that its forms, its compounds and its misspellings lie near it.
A document is the sum of its words, the rarer the heavier. What is kept of all that are the directions in which
the documents differ most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Any

import numpy as np

from rankproof.bench.retrieve.axes import strongest
from rankproof.bench.retrieve.checks import check_count, with_options
from rankproof.bench.retrieve.cost import FEWEST, MOST, cost_of, free_memory
from rankproof.bench.retrieve.search import Search
from rankproof.bench.retrieve.space import among, unit
from rankproof.bench.retrieve.sparse import Sparse
from rankproof.bench.retrieve.words import parts_of, words
from rankproof.core.hits import Array
from rankproof.io.corpora import load_corpus

WHOLE = 3.0
"""How much heavier a whole word is than a piece that is as rare."""
LEARNED = 5_000
"""Documents from which the directions are learned, evenly spread where there are more."""
Counts = Mapping[str, int]


def lsa(corpus: Any, *, dimensions: int | None = None, memory: float | None = None) -> Search:
    """Search by latent semantic analysis, the dense retriever where there is no model.

    `dimensions` is the number of directions that are kept: a third of the number of documents, 256 at most, where
    it is not said. The same documents always give the same answers. What it will take is estimated before anything
    is built: more than `memory` bytes (half of what is free, if it is not said) is refused, with what to do instead;
    `cost_of(corpus)` is that estimate.

    >>> search = lsa({"d1": "Refund of a payment", "d2": "Opening hours in winter"})
    >>> search("payed back, refnud?")[0][0]
    'd1'
    """
    documents = load_corpus(corpus)
    if dimensions is not None:
        check_count("dimensions", dimensions)
    cost = cost_of(documents, dimensions)
    cost.check(free_memory() / 2 if memory is None else memory)
    names = sorted(documents, reverse=True)
    counts = [Counter(words(documents[name].whole)) for name in names]
    space = _learned(counts, dimensions)
    rows = unit(space.placed(counts))
    found = np.flatnonzero(rows.any(axis=1))
    return Search(
        name=with_options("lsa", {"dimensions": dimensions}, {"dimensions": None}),
        describe=lambda: {"kind": "lsa", "dimensions": space.axes.shape[1], "corpus": documents.fingerprint},
        answer=among(
            [names[n] for n in found.tolist()],
            rows[found],
            lambda questions: unit(space.placed([Counter(words(each)) for each in questions])),
        ),
        corpus=documents,
    )


@dataclass(frozen=True, eq=False)
class _Space:
    """Where texts lie."""

    rarity: Mapping[str, float]
    """How heavy each known word is."""
    otherwise: float
    """The same of a word that is in no document."""
    features: Mapping[str, int]
    """The number of each known word and piece."""
    weight: Array
    """How heavy each of these is."""
    axes: Array
    """The directions, one column each."""

    def placed(self, texts: Sequence[Counts]) -> Array:
        """One row a text."""
        by_word, features = self.entries(texts)
        return by_word.times(features.times(self.axes))

    def entries(self, texts: Sequence[Counts]) -> tuple[Sparse, Sparse]:
        """Texts by their words, and these words by their features."""
        number = {word: n for n, word in enumerate(dict.fromkeys(word for text in texts for word in text))}
        by_word = [
            {number[w]: (1 + log(times)) * self.rarity.get(w, self.otherwise) for w, times in text.items()}
            for text in texts
        ]
        parts = [
            {self.features[part]: 1.0 for part in parts_of(word) if part in self.features} for word in number
        ]
        features = Sparse.of(parts, len(self.features)).scaled(self.weight).unit()
        return Sparse.of(by_word, len(number)), features


def _learned(counts: Sequence[Counts], dimensions: int | None) -> _Space:
    """The space in which documents differ most."""
    learned = counts[:: max(-(-len(counts) // LEARNED), 1)]
    number = len(learned)
    frequency = Counter(word for text in learned for word in text)
    features, weight = _features(frequency, number)
    rarity = {word: _rarity(n, number) for word, n in frequency.items()}
    flat = _Space(rarity, _rarity(0, number), features, weight, np.zeros((len(features), 0)))
    most = min(MOST, max(number // 3, FEWEST)) if dimensions is None else dimensions
    return replace(flat, axes=_axes(*flat.entries(learned), min(most, number, len(features))))


def _features(frequency: Counts, number: int) -> tuple[dict[str, int], Array]:
    """The features of all words, and how heavy each is: the rarer the heavier, and whole words more than pieces."""
    times: Counter[str] = Counter()
    for word, n in frequency.items():
        for part in dict.fromkeys(parts_of(word)):
            times[part] += n
    weight = [
        log(1 + number / min(n, number)) * (WHOLE if part[0] == "=" else 1) for part, n in times.items()
    ]
    return {part: n for n, part in enumerate(times)}, np.array(weight)


def _rarity(frequency: int, number: int) -> float:
    return log(1 + (number - frequency + 0.5) / (frequency + 0.5))


def _axes(by_word: Sparse, features: Sparse, dimensions: int) -> Array:
    by_word = by_word.unit()
    words_turned, features_turned = by_word.turned(), features.turned()
    return strongest(
        lambda columns: by_word.times(features.times(columns)),
        lambda columns: features_turned.times(words_turned.times(columns)),
        features.width,
        dimensions,
    )
