"""Latent semantic analysis: dense search that needs no model, only the documents themselves.

A word is a vector of itself and of its pieces, so that its forms, its compounds and its misspellings are near it.
A document is the sum of its words, with more weight for rarer ones. Only the directions in which the
documents differ most are kept.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from math import log
from typing import Any, NamedTuple

import numpy as np

from rankproof.bench.retrieve.nearest_vectors import nearest_among, unit_rows
from rankproof.bench.retrieve.search import Search, with_options
from rankproof.core.corpus import Document
from rankproof.core.hits import Array
from rankproof.errors import UsageError, check_whole
from rankproof.io.corpora import load_corpus
from rankproof.text.tokens import LENGTHS, LONGEST, parts_of, words

MORE = 100
"""Directions that are followed beyond those wanted, which makes these surer."""
ROUNDS = 2
"""How often the directions are sent through the matrix and back."""


def strongest(
    times: Callable[[Array], Array], turned_times: Callable[[Array], Array], width: int, number: int
) -> Array:
    """The `number` strongest right singular vectors of a matrix, one column each.

    The matrix is known by its products: `times` with columns of its width, `turned_times` the other way round.

    >>> matrix = np.diag([3.0, 1.0, 2.0])
    >>> abs(strongest(lambda x: matrix @ x, lambda y: matrix.T @ y, 3, 2)).round(6).tolist()
    [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]
    """
    followed = min(number + MORE, width)
    spread = times(np.random.default_rng(0).standard_normal((width, followed)).astype(np.float32))
    for _ in range(ROUNDS):
        spread = times(turned_times(_upright(spread)))
    # Within the directions that are left, the exact decomposition is small.
    return _upright(turned_times(_upright(spread)), least=1e-10)[:, :number]


def _upright(columns: Array, least: float = 1e-13) -> Array:
    """Columns of length 1 at right angles that span the same, the one along which there is most first.

    Left out are directions along which there is less than this share of it, since rounding makes such.
    """
    wide = columns.astype(np.float64)
    squares, own = np.linalg.eigh(wide.T @ wide)
    order = np.argsort(-squares)
    kept = order[squares[order] > squares.max(initial=0.0) * least]
    return np.asarray((wide @ (own[:, kept] / np.sqrt(squares[kept]))).astype(np.float32))


AT_ONCE = 1 << 10
"""Entries that are multiplied at a time: with some hundred directions they stay in the cache."""


@dataclass(frozen=True, eq=False)
class Sparse:
    """The entries of a matrix, row after row."""

    starts: Array
    """Where each row begins among the entries, and where the last one ends."""
    columns: Array
    values: Array
    width: int

    @classmethod
    def of(cls, rows: Sequence[Mapping[int, float]], width: int) -> Sparse:
        """A matrix of rows `{column: value}`."""
        sizes = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
        total = int(sizes.sum())
        return cls(
            np.concatenate([[0], np.cumsum(sizes)]),
            np.fromiter((column for row in rows for column in row), dtype=np.int64, count=total),
            np.fromiter((value for row in rows for value in row.values()), dtype=np.float32, count=total),
            width,
        )

    @property
    def row(self) -> Array:
        """The row of each entry."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def unit(self) -> Sparse:
        """With each row brought to length 1; rows of zeros stay."""
        squares = np.bincount(self.row, weights=self.values.astype(np.float64) ** 2, minlength=len(self.starts) - 1)
        length = np.sqrt(np.where(squares > 0, squares, 1))
        return Sparse(self.starts, self.columns, (self.values / length[self.row]).astype(np.float32), self.width)

    def transpose(self) -> Sparse:
        """Rows as columns."""
        order = np.argsort(self.columns, kind="stable")
        sizes = np.bincount(self.columns, minlength=self.width)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return Sparse(starts, self.row[order], self.values[order], len(self.starts) - 1)

    def times(self, dense: Array) -> Array:
        """The product with a matrix of which all is held.

        >>> Sparse.of([{0: 2.0}, {}, {0: 1.0, 1: 1.0}], 2).times(np.array([[1.0, 0.0], [0.0, 3.0]])).tolist()
        [[2.0, 0.0], [0.0, 0.0], [1.0, 3.0]]
        """
        product = np.zeros((len(self.starts) - 1, dense.shape[1]), dtype=np.float32)
        filled = np.flatnonzero(np.diff(self.starts))
        if not len(filled):
            return product
        cuts = np.flatnonzero(np.diff(self.starts[filled] // AT_ONCE, prepend=-1))
        for first, last in zip(cuts, [*cuts[1:], len(filled)], strict=True):
            rows = filled[first:last]
            begin, end = self.starts[rows[0]], self.starts[rows[-1] + 1]
            parts = dense[self.columns[begin:end]] * self.values[begin:end, None]
            product[rows] = np.add.reduceat(parts, self.starts[rows] - begin, axis=0)
        return product


COUNTED = 20_000_000
"""Characters of which every word is counted: those of larger corpora are taken to bring as many new ones."""
CUT = 10_000
"""Words of which the pieces are counted; others are taken to have as many of their own, which they have not."""
AT_LEAST = 64e6
"""Bytes that any index takes, with the libraries that it loads."""
PER_ENTRY = 420
"""Bytes that a word takes in each document that holds it, while documents are counted and placed."""
PER_PIECE = 170
"""Bytes of a piece in the table of words by pieces; a word has about three for each of its characters."""
PER_FEATURE = 340
"""Bytes of a different piece, beside its vectors."""
PER_DIMENSION = 24
"""Bytes for each dimension of a piece, document or word, with the copies that are held at once."""

MOST = 256
"""Default dimensions: one for three documents, but no more than this."""
FEWEST = 16
"""Dimensions that few documents get nevertheless, if they have them."""
UNKNOWN = 4 * 2**30
"""Memory that is taken to be free if the system does not say."""


class Cost(NamedTuple):
    """What it takes to build the index."""

    words: int
    """Different words, about."""
    bytes: float
    """Of memory."""


def _size(number: float) -> str:
    return f"{number / 2**30:.1f} GiB" if number >= 2**30 else f"{number / 2**20:.0f} MiB"


def cost_of(corpus: Mapping[str, Document], dimensions: int | None = None) -> Cost:
    """The most that it takes, from the words of all documents as the index will see them, in any writing.

    Of a large corpus every so many documents are counted, and the rest taken to bring as many new words; they bring
    fewer.

    >>> cost_of({"d1": Document("d1", "refund of a payment")}).words
    4
    """
    number = len(corpus)
    characters = sum(len(each.text) + len(each.title) for each in corpus.values())
    step = max(1, -(-characters // COUNTED))
    known, entries, counted = set[str](), 0, 0
    for each in islice(corpus.values(), 0, None, step):
        text = each.whole
        here = set(words(text))
        known |= here
        entries += len(here)
        counted += len(text)
    share = max(1.0, characters / max(1, counted))
    different, entries = math.ceil(len(known) * share), math.ceil(entries * share)
    pieces = share * sum(3 * min(len(word), LONGEST) for word in known)
    letters = 1 + len(set().union(*known))
    some = sorted(known)[:: max(1, len(known) // CUT)]
    cut = len({part for word in some for part in parts_of(word)}) * different / max(1, len(some))
    features = min(cut, different + sum(min(pieces / 3, letters**n) for n in LENGTHS))
    vectors = (_dimensions(dimensions, max(1, number)) + MORE) * PER_DIMENSION * (features + number + different)
    return Cost(different, AT_LEAST + PER_ENTRY * entries + PER_PIECE * pieces + PER_FEATURE * features + vectors)


def free_memory() -> float:
    """The bytes that are free, as the system says."""
    with suppress(OSError, KeyError, ValueError), open("/proc/meminfo", encoding="ascii") as told:
        lines = dict(line.split(":", 1) for line in told)
        return 1024.0 * int(lines["MemAvailable"].split()[0])
    with suppress(AttributeError, OSError, ValueError):
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return float(UNKNOWN)


WHOLE = 3.0
"""How much heavier a whole word is than a piece that is as rare."""
LEARNED = 5_000
"""Documents from which the directions are learned, evenly spread if there are more."""
Counts = Mapping[str, int]


def lsa(corpus: Any, *, dimensions: int | None = None, memory: float | None = None) -> Search:
    """Search by latent semantic analysis, the dense retriever if there is no model.

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
        check_whole("dimensions", dimensions)
    cost = cost_of(documents, dimensions)
    most = free_memory() / 2 if memory is None else memory
    if cost.bytes > most:
        raise UsageError(
            f"lsa: {len(documents):,} documents with about {cost.words:,} different words take about "
            f"{_size(cost.bytes)} of memory; got {_size(most)} for it. Next: fewer dimensions=, a smaller corpus, "
            "memory= with the bytes it may take, or a store of vectors by a trained model (dense)."
        )
    names = sorted(documents, reverse=True)
    counts = [Counter(words(documents[name].whole)) for name in names]
    space = _learned(counts, dimensions)
    rows = unit_rows(space.place_texts(counts))
    found = np.flatnonzero(rows.any(axis=1))

    def place(questions: Sequence[str]) -> Array:
        return unit_rows(space.place_texts([Counter(words(each)) for each in questions]))

    return Search(
        name=with_options("lsa", {"dimensions": dimensions}, {"dimensions": None}),
        describe=lambda: {"kind": "lsa", "dimensions": space.axes.shape[1], "corpus": documents.fingerprint},
        answer=nearest_among([names[n] for n in found.tolist()], rows[found], place),
        corpus=documents,
    )


@dataclass(frozen=True, eq=False)
class _Space:
    """The vectors of texts."""

    rarity: Mapping[str, float]
    """The weight of each known word."""
    otherwise: float
    """The same of a word that is in no document."""
    features: Mapping[str, int]
    """The number of each known word and piece."""
    weight: Array
    """The weight of each of these."""
    axes: Array
    """The directions, one column each."""

    def place_texts(self, texts: Sequence[Counts]) -> Array:
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
        parts = [{self.features[part]: 1.0 for part in parts_of(word) if part in self.features} for word in number]
        features = Sparse.of(parts, len(self.features))
        weighted = replace(features, values=self.weight[features.columns].astype(np.float32))
        return Sparse.of(by_word, len(number)), weighted.unit()


def _learned(counts: Sequence[Counts], dimensions: int | None) -> _Space:
    """The space in which documents differ most."""
    learned = counts[:: max(-(-len(counts) // LEARNED), 1)]
    number = len(learned)
    frequency = Counter(word for text in learned for word in text)
    times: Counter[str] = Counter()
    for word, n in frequency.items():
        for part in dict.fromkeys(parts_of(word)):
            times[part] += n
    # How heavy each feature is: the rarer the heavier, and whole words more than pieces.
    weight = [log(1 + number / min(n, number)) * (WHOLE if part[0] == "=" else 1) for part, n in times.items()]
    features = {part: n for n, part in enumerate(times)}
    weights = {word: rarity(n, number) for word, n in frequency.items()}
    flat = _Space(weights, rarity(0, number), features, np.array(weight), np.zeros((len(features), 0)))
    return replace(flat, axes=_axes(*flat.entries(learned), min(_dimensions(dimensions, number), len(features))))


def _dimensions(wanted: int | None, documents: int) -> int:
    return min(min(MOST, max(documents // 3, FEWEST)) if wanted is None else wanted, documents)


def rarity(frequency: int, number: int) -> float:
    """The weight of a word that is in so many of a number of documents, as BM25 has it."""
    return log(1 + (number - frequency + 0.5) / (frequency + 0.5))


def _axes(by_word: Sparse, features: Sparse, dimensions: int) -> Array:
    by_word = by_word.unit()
    words_turned, features_turned = by_word.transpose(), features.transpose()
    return strongest(
        lambda columns: by_word.times(features.times(columns)),
        lambda columns: features_turned.times(words_turned.times(columns)),
        features.width,
        dimensions,
    )
