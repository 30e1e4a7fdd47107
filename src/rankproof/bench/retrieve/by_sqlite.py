"""A keyword index by the full-text search of SQLite, scored with any parameters of BM25."""

from __future__ import annotations

import sqlite3
from functools import lru_cache
from math import log1p
from threading import Lock

import numpy as np

from rankproof.bench.retrieve.best import best
from rankproof.bench.retrieve.search import Allowed, Terms
from rankproof.bench.retrieve.words import prepared, words
from rankproof.bench.retriever import Found
from rankproof.core.corpus import Corpus
from rankproof.core.hits import Array
from rankproof.errors import MissingExtra

POSTINGS = 4096
"""Of how many terms the documents are kept at hand."""


class SqliteIndex:
    """Documents by their terms; what has equal scores comes by id, the highest first."""

    def __init__(self, corpus: Corpus, k1: float, b: float, *, stemmed: bool) -> None:
        self._ids = sorted(corpus, reverse=True)
        self._stemmed = stemmed
        self._lock = Lock()
        self._db = _made([prepared(corpus[name].whole) for name in self._ids], stemmed)
        length = _lengths(self._db)
        mean = length.mean() if length.any() else 1.0
        self._norm = k1 * (1 - b + b * length / mean)
        self._k1 = k1
        self._postings = lru_cache(POSTINGS)(self._read)
        self._mask = lru_cache(4)(self._as_mask)

    def terms(self, text: str) -> list[str]:
        """The index terms of a text, in order."""
        return self._stems(prepared(text)) if self._stemmed else words(text)

    def frequency(self, term: str) -> int:
        """The number of documents with a term."""
        return len(self._postings(term)[0])

    def search(self, terms: Terms, k: int, allowed: Allowed) -> Found:
        """The `k` best documents for weighted terms."""
        scores = np.zeros(len(self._ids))
        seen = np.zeros(len(self._ids), dtype=bool)
        for term, weight in terms.items():
            places, share = self._postings(term)
            scores[places] += weight * share
            seen[places] = True
        found = np.flatnonzero(seen if allowed is None else seen & self._mask(allowed))
        top = found[best(scores[found], k)]
        return [
            (self._ids[place], score) for place, score in zip(top.tolist(), scores[top].tolist(), strict=True)
        ]

    def _read(self, term: str) -> tuple[Array, Array]:
        """The documents with a term, and what it adds to the score of each."""
        with self._lock:
            rows = self._db.execute(
                "SELECT doc, count(*) FROM places WHERE term = ? GROUP BY doc", (term,)
            ).fetchall()
        found = np.array(rows, dtype=np.int64).reshape(-1, 2)
        places, times = found[:, 0], found[:, 1].astype(np.float64)
        n = len(places)
        rarity = log1p((len(self._ids) - n + 0.5) / (n + 0.5))
        return places, rarity * times * (self._k1 + 1) / (times + self._norm[places])

    def _as_mask(self, allowed: frozenset[str]) -> Array:
        return np.fromiter((name in allowed for name in self._ids), dtype=bool, count=len(self._ids))

    def _stems(self, text: str) -> list[str]:
        """The words in the form that SQLite gives them, by having it index this one text."""
        with self._lock:
            self._db.execute("INSERT INTO asked(rowid, text) VALUES (0, ?)", (text,))
            rows = self._db.execute("SELECT term FROM asked_places ORDER BY offset").fetchall()
            self._db.execute("INSERT INTO asked(asked) VALUES ('delete-all')")
        return [term for (term,) in rows]


def _made(texts: list[str], stemmed: bool) -> sqlite3.Connection:
    db = sqlite3.connect(":memory:", check_same_thread=False)
    how = "porter ascii" if stemmed else "ascii"
    try:
        for name in ("texts", "asked"):
            db.execute(f"CREATE VIRTUAL TABLE {name} USING fts5(text, content='', tokenize='{how}')")
    except sqlite3.OperationalError as error:
        raise MissingExtra(
            f"keyword search needs tantivy, or an SQLite with FTS5 ({error}). "
            "Next: pip install 'rankproof[retrieve]'"
        ) from error
    db.execute("CREATE VIRTUAL TABLE places USING fts5vocab(texts, instance)")
    db.execute("CREATE VIRTUAL TABLE asked_places USING fts5vocab(asked, instance)")
    with db:
        db.executemany("INSERT INTO texts(rowid, text) VALUES (?, ?)", enumerate(texts))
    return db


def _lengths(db: sqlite3.Connection) -> Array:
    """The number of words of each document."""
    sizes = db.execute("SELECT sz FROM texts_docsize ORDER BY id")
    return np.array([_number(size) for (size,) in sizes], dtype=np.float64)


def _number(size: bytes) -> int:
    """A number as SQLite packs it: seven bits a byte, the highest first.

    >>> _number(bytes([0x81, 0x02]))
    130
    """
    number = 0
    for byte in size:
        number = number << 7 | byte & 0x7F
    return number
