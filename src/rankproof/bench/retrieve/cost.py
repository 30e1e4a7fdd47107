"""What latent semantic analysis of a corpus takes, estimated before anything is built."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

from rankproof.core.corpus import Document
from rankproof.display import Displayable
from rankproof.errors import UsageError

SAMPLED = 500
"""Documents by which the others are judged."""

PER_CHARACTER = 22
"""Bytes that the counted words of a text take for each of its characters: measured on English pages."""

PER_WORD = 2_600
"""Bytes that a different word takes with its pieces, beside its vector."""

CHARACTERS_A_SECOND = 1_500_000
VECTORS_A_SECOND = 12_000
"""Of words and documents, at 256 dimensions, on one core of a laptop."""

LEARNING, LEARNED = 8.0, 2_000
"""Seconds in which the directions are found, and from how many documents on they take no longer."""

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
    """The estimate, from the sizes of all documents and the words of a few.

    >>> cost_of({"d1": Document("d1", "refund of a payment")}).documents
    1
    """
    number = len(corpus)
    characters = sum(len(each.text) + len(each.title) for each in corpus.values())
    step = max(1, number // SAMPLED)
    some = [each.whole for each in islice(corpus.values(), 0, None, step)]
    tokens = [word for text in some for word in text.lower().split()]
    seen = len(set(tokens))
    # Heaps' law: the vocabulary grows with the square root of the text, or a little faster.
    growth = (characters / max(1, sum(map(len, some)))) ** 0.6
    words = int(seen * max(1.0, growth))
    width = min(256, max(number // 3, 16)) if dimensions is None else dimensions
    vectors = 8.0 * width * (2 * number + 2 * words + 4 * min(words * 8, 2_000_000))
    return Cost(
        documents=number,
        words=words,
        bytes=PER_CHARACTER * characters + PER_WORD * words + vectors,
        seconds=LEARNING * min(1.0, number / LEARNED)
        + characters / CHARACTERS_A_SECOND
        + (number + words) * width / 256 / VECTORS_A_SECOND,
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
