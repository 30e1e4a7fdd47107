"""The judged documents as a table of numbers in which the documents of a run are found quickly."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import cast

import numpy as np

from rankproof.core.hits import Array
from rankproof.core.judgments import Judgments
from rankproof.io.trec.chunks import PAD, Chunk
from rankproof.io.trec.lines import Lines
from rankproof.io.trec.qrels import SPREAD, are_equal, hashes

ROOM = 64
"""How many times larger than the number of judgments the table of what may be judged is."""
BITS = (10, 23)
"""The least and the most bits that number a place in that table."""


@dataclass(frozen=True, eq=False, slots=True)
class Index:
    """The judgments by a key of query and document; keys are only a hint, equality decides."""

    queries: Names
    """The judged queries."""
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


@dataclass(frozen=True, eq=False, slots=True)
class Names:
    """Ids of which no two are equal, and the key of each: a dict of them would take ten times the room."""

    text: Chunk
    begin: Array
    length: Array
    seed: np.uint64
    keys: Array
    """The keys, ascending; no two are equal."""
    order: Array
    """The id of each key."""

    def find(self, chunk: Chunk, begin: Array, length: Array) -> Array:
        """Which of the ids each field is, -1 where it is none."""
        found = np.full(len(begin), -1, dtype=np.intp)
        if not len(self.keys):
            return found
        keys = hashes(chunk, begin, length, self.seed)
        at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        which = self.order[at]
        rows = np.flatnonzero((self.keys[at] == keys) & (self.length[which] == length))
        which = which[rows]
        equal = are_equal(chunk, begin[rows], self.text, self.begin[which], length[rows])
        found[rows[equal]] = which[equal]
        return found


def salts(query: Array, seed: np.uint64) -> Array:
    """What tells the same document apart in different queries."""
    return (query.astype(np.uint64) + seed) * SPREAD


def index_of(judgments: Judgments) -> Index:
    """The judgments' index, made at the first use."""
    if "trec" not in judgments.prepared:
        judgments.prepared["trec"] = _make(judgments)
    return cast(Index, judgments.prepared["trec"])


def _make(judgments: Judgments) -> Index:
    text, begin, length = _joined(judgments.docs)
    query = judgments.query
    salt, keys = _different_keys(text, begin, length, lambda seed: salts(query, seed))
    order = np.argsort(keys)
    bits = int(np.clip(np.ceil(np.log2(ROOM * len(keys) + 1)), *BITS))
    shift = np.uint64(64 - bits)
    maybe = np.zeros(1 << bits, dtype=bool)
    maybe[keys >> shift] = True
    queries = _names(judgments.queries)
    return Index(queries, text, begin, length, query, salt, keys[order], order, maybe, shift)


def _names(ids: Sequence[str]) -> Names:
    text, begin, length = _joined(ids)
    seed, keys = _different_keys(text, begin, length, lambda seed: seed)
    order = np.argsort(keys)
    return Names(text, begin, length, seed, keys[order], order)


def _joined(ids: Sequence[str]) -> tuple[Chunk, Array, Array]:
    """All ids in one text, where each begins in it, and how long it is."""
    text = "".join(ids).encode("utf-8", "surrogatepass")
    if len(text) == sum(map(len, ids)):  # all of one byte a character
        length = np.fromiter(map(len, ids), dtype=np.intp, count=len(ids))
    else:
        coded = (len(each.encode("utf-8", "surrogatepass")) for each in ids)
        length = np.fromiter(coded, dtype=np.intp, count=len(ids))
    return _chunk(text), PAD + np.cumsum(length) - length, length


def _chunk(text: bytes) -> Chunk:
    pad = bytes(PAD)
    return Chunk(np.frombuffer(b"".join([pad, text, pad]), dtype=np.uint8), len(text))


def _different_keys(
    text: Chunk, begin: Array, length: Array, salt: Callable[[np.uint64], Array | np.uint64]
) -> tuple[np.uint64, Array]:
    """Keys of which no two are equal, and the seed that gives them: nearly always the first one."""
    for seed in count(1):
        keys = hashes(text, begin, length, salt(np.uint64(seed)))
        if len(np.unique(keys)) == len(keys):
            break
    return np.uint64(seed), keys


COLUMNS = 6
"""Query, a word nobody uses, document, rank, score, name of the run."""
QUERY, DOC, RANK, SCORE = 0, 2, 3, 4


@dataclass(frozen=True, eq=False)
class Rows:
    """The lines of judged queries as columns."""

    lines: Lines
    row: Array
    """Which row of `lines` each is."""
    query: Array
    """Which query of the judgments."""
    score: Array
    begin: Array
    """Where each document's id begins."""
    length: Array
    """How long each document's id is."""
    key: Array
    """A number made of query and document."""

    def keep(self, rows: Array) -> Rows:
        """Only some rows."""
        picked = {
            name: getattr(self, name)[rows] for name in ("row", "query", "score", "begin", "length", "key")
        }
        return replace(self, **picked)
