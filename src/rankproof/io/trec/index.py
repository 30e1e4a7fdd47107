"""The judged documents as a table of numbers in which the documents of a run are found quickly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from rankproof.core.hits import Array
from rankproof.core.judgments import Judgments
from rankproof.io.trec.chunks import Chunk
from rankproof.io.trec.lines import Lines
from rankproof.io.trec.qrels import Names, Texts, are_equal, different_keys, salts

ROOM = 64
"""How many times larger than the number of judgments the table of what may be judged is."""
BITS = (10, 23)
"""The least and the most bits that number a place in that table."""


@dataclass(frozen=True, eq=False, slots=True)
class Index:
    """The judgments by a key of query and document; keys are only a hint, equality decides."""

    queries: Names
    """The judged queries."""
    docs: Texts
    """The judged document ids."""
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
        same = (self.docs.length[judged] == length[rows]) & (self.query[judged] == query[rows])
        rows, judged = rows[same], judged[same]
        equal = are_equal(chunk, begin[rows], self.docs.chunk, self.docs.start[judged], length[rows])
        return rows[equal], judged[equal]


def index_of(judgments: Judgments) -> Index:
    """The judgments' index, made at the first use."""
    if "trec" not in judgments.prepared:
        judgments.prepared["trec"] = _make(judgments)
    return cast(Index, judgments.prepared["trec"])


def _make(judgments: Judgments) -> Index:
    docs, query = Texts.of(judgments.docs), judgments.query
    salt, keys = different_keys(docs, lambda seed: salts(query, seed))
    order = np.argsort(keys)
    bits = int(np.clip(np.ceil(np.log2(ROOM * len(keys) + 1)), *BITS))
    shift = np.uint64(64 - bits)
    maybe = np.zeros(1 << bits, dtype=bool)
    maybe[keys >> shift] = True
    return Index(Texts.of(judgments.queries).places, docs, query, salt, keys[order], order, maybe, shift)


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
