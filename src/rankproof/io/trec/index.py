"""The judged documents as a table of numbers in which the documents of a run are found quickly."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import cast

import numpy as np

from rankproof.core.hits import Array
from rankproof.core.judgments import Judgments
from rankproof.io.trec.chunks import PAD, Chunk, chunk_of
from rankproof.io.trec.words import SPREAD, are_equal, hashes

ROOM = 64
"""How many times larger than the number of judgments the table of what may be judged is."""
BITS = (10, 23)
"""The least and the most bits that number a place in that table."""


@dataclass(frozen=True, eq=False, slots=True)
class Index:
    """The judgments by a key of query and document; keys are only a hint, equality decides."""

    queries: dict[bytes, int]
    """Which query of the judgments an id is."""
    text: Chunk
    """The judged document ids, one after the other."""
    begin: Array
    length: Array
    query: Array
    """The query of each judged document."""
    salt: np.uint64
    keys: Array
    """The keys of the judgments, ascending; no two are equal."""
    judged: Array
    """The judgment of each key."""
    maybe: Array
    """Whether any judgment's key has these first bits: small enough to stay in the processor's cache."""
    shift: np.uint64

    def find(
        self, keys: Array, query: Array, chunk: Chunk, begin: Array, length: Array
    ) -> tuple[Array, Array]:
        """Which documents of a run are judged, and which judgment each is."""
        rows = np.flatnonzero(self.maybe[keys >> self.shift])
        at = np.minimum(np.searchsorted(self.keys, keys[rows]), max(len(self.keys) - 1, 0))
        known = self.keys[at] == keys[rows]
        rows, judged = rows[known], self.judged[at[known]]
        same = (self.length[judged] == length[rows]) & (self.query[judged] == query[rows])
        rows, judged = rows[same], judged[same]
        equal = are_equal(chunk, begin[rows], self.text, self.begin[judged], length[rows])
        return rows[equal], judged[equal]


def salts(query: Array, seed: np.uint64) -> Array:
    """What tells the same document apart in different queries."""
    return (query.astype(np.uint64) + seed) * SPREAD


def index_of(judgments: Judgments) -> Index:
    """The judgments' index, made at the first use."""
    if "trec" not in judgments.prepared:
        judgments.prepared["trec"] = _make(judgments)
    return cast(Index, judgments.prepared["trec"])


def _make(judgments: Judgments) -> Index:
    docs = [doc.encode("utf-8", "surrogatepass") for doc in judgments.docs]
    length = np.fromiter(map(len, docs), dtype=np.intp, count=len(docs))
    begin = PAD + np.cumsum(length) - length
    text = chunk_of(b"".join(docs))
    salt, keys = _different_keys(text, begin, length, judgments.query)
    order = np.argsort(keys)
    bits = int(np.clip(np.ceil(np.log2(ROOM * len(docs) + 1)), *BITS))
    shift = np.uint64(64 - bits)
    maybe = np.zeros(1 << bits, dtype=bool)
    maybe[keys >> shift] = True
    queries = {query.encode("utf-8", "surrogatepass"): i for i, query in enumerate(judgments.queries)}
    return Index(queries, text, begin, length, judgments.query, salt, keys[order], order, maybe, shift)


def _different_keys(text: Chunk, begin: Array, length: Array, query: Array) -> tuple[np.uint64, Array]:
    """Keys of which no two are equal, and the seed that gives them: nearly always the first one."""
    for seed in count(1):
        keys = hashes(text, begin, length, salts(query, np.uint64(seed)))
        if len(np.unique(keys)) == len(keys):
            break
    return np.uint64(seed), keys
