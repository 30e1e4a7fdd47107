"""What latent semantic analysis of a corpus takes, estimated before anything is built."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from rankproof.bench.retrieve.axes import MORE
from rankproof.bench.retrieve.words import LENGTHS, LONGEST, parts_of, words
from rankproof.core.corpus import Document
from rankproof.display import Displayable
from rankproof.errors import UsageError

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
FEATURE_VECTORS, OTHER_VECTORS = 24, 24
"""Bytes for each dimension of a piece and of a document or word, with the copies that are held at once."""

CHARACTERS_A_SECOND = 1_000_000
PRODUCT, UPRIGHT = 10e-9, 1e-9
"""Seconds of an entry in all products with one direction, and of a piece for two directions set upright."""

MOST = 256
"""Dimensions, where nobody says: one for three documents, but no more than this."""
FEWEST = 16
"""Dimensions that few documents get nevertheless, if they have them."""

UNKNOWN = 4 * 2**30
"""What is taken to be free where the system does not say."""


@dataclass(frozen=True, slots=True)
class Cost(Displayable):
    """What it takes to build the index."""

    documents: int
    words: int
    """Different words, about."""
    bytes: float
    seconds: float

    @property
    def said(self) -> str:
        """The estimate in words."""
        time = f"{self.seconds:.1f} seconds" if self.seconds < 120 else f"{self.seconds / 60:.0f} minutes"
        return (
            f"{self.documents:,} documents with about {self.words:,} different words take about "
            f"{_size(self.bytes)} of memory and {time}"
        )

    def check(self, most: float) -> None:
        """Refuse what would take more memory than there is."""
        if self.bytes > most:
            raise UsageError(
                f"lsa: {self.said}; got {_size(most)} for it. Next: fewer dimensions=, a smaller corpus, "
                "memory= with the bytes it may take, or a store of vectors by a trained model (dense)."
            )


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
    width = min(MOST, max(number // 3, FEWEST)) if dimensions is None else dimensions
    width = min(width, max(1, number))
    followed = width + MORE
    vectors = followed * (FEATURE_VECTORS * features + OTHER_VECTORS * (number + different))
    return Cost(
        documents=number,
        words=different,
        bytes=AT_LEAST + PER_ENTRY * entries + PER_PIECE * pieces + PER_FEATURE * features + vectors,
        seconds=characters / CHARACTERS_A_SECOND
        + (pieces + entries) * followed * PRODUCT
        + features * followed**2 * UPRIGHT,
    )


def free_memory() -> float:
    """The bytes that are free, as the system says."""
    try:
        with open("/proc/meminfo", encoding="ascii") as told:
            lines = dict(line.split(":", 1) for line in told)
        return 1024.0 * int(lines["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        pass
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return float(UNKNOWN)
