"""Keyword search: BM25 over the words of documents, by tantivy or by SQLite."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Sequence
from functools import lru_cache
from importlib.util import find_spec
from math import log1p
from operator import attrgetter
from threading import Lock
from typing import Any, Literal
from weakref import finalize

import numpy as np

from rankproof.bench.retrieve.nearest_vectors import top_places
from rankproof.bench.retrieve.search import Allowed, Search, Terms, Vocabulary, deepen, with_options
from rankproof.bench.retriever import Found
from rankproof.core.corpus import Corpus
from rankproof.core.hits import Array
from rankproof.errors import MissingExtra, UsageError, check_number, missing_extra, one_of
from rankproof.io.corpora import load_corpus
from rankproof.text.tokens import prepare_text, words

POSTINGS = 4096
"""For how many terms the documents are cached."""


class SqliteIndex:
    """Documents by their terms; equal scores are ordered by id, the highest first."""

    def __init__(self, corpus: Corpus, k1: float, b: float, *, stemmed: bool) -> None:
        self._ids = sorted(corpus, reverse=True)
        self._stemmed = stemmed
        self._lock = Lock()
        self._db = _database("porter ascii" if stemmed else "ascii")
        finalize(self, self._db.close)
        with self._db:
            texts = enumerate(prepare_text(corpus[name].whole) for name in self._ids)
            self._db.executemany("INSERT INTO texts(rowid, text) VALUES (?, ?)", texts)
        sizes = self._db.execute("SELECT sz FROM texts_docsize ORDER BY id")
        length = np.array([_number(size) for (size,) in sizes], dtype=np.float64)
        mean = length.mean() if length.any() else 1.0
        self._norm = k1 * (1 - b + b * length / mean)
        self._k1 = k1
        self._postings = lru_cache(POSTINGS)(self._read)
        self._mask = lru_cache(4)(
            lambda allowed: np.fromiter((name in allowed for name in self._ids), dtype=bool, count=len(self._ids))
        )

    def terms(self, text: str) -> list[str]:
        """The index terms of a text, in order."""
        return self._stems(prepare_text(text)) if self._stemmed else words(text)

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
        top = found[top_places(scores[found], k)]
        return [(self._ids[place], score) for place, score in zip(top.tolist(), scores[top].tolist(), strict=True)]

    def _read(self, term: str) -> tuple[Array, Array]:
        """The documents with a term, and what it adds to the score of each."""
        with self._lock:
            rows = self._db.execute("SELECT doc, count(*) FROM places WHERE term = ? GROUP BY doc", (term,)).fetchall()
        found = np.array(rows, dtype=np.int64).reshape(-1, 2)
        places, times = found[:, 0], found[:, 1].astype(np.float64)
        n = len(places)
        rarity = log1p((len(self._ids) - n + 0.5) / (n + 0.5))
        return places, rarity * times * (self._k1 + 1) / (times + self._norm[places])

    def _stems(self, text: str) -> list[str]:
        """The words in the form that SQLite gives them, by having it index this one text."""
        with self._lock:
            self._db.execute("INSERT INTO asked(rowid, text) VALUES (0, ?)", (text,))
            rows = self._db.execute("SELECT term FROM asked_places ORDER BY offset").fetchall()
            self._db.execute("INSERT INTO asked(asked) VALUES ('delete-all')")
        return [term for (term,) in rows]


def _database(tokenizer: str) -> sqlite3.Connection:
    """One that splits texts into words: those of the documents, and of what is asked."""
    db = sqlite3.connect(":memory:", check_same_thread=False)
    try:
        for name in ("texts", "asked"):
            db.execute(f"CREATE VIRTUAL TABLE {name} USING fts5(text, content='', tokenize='{tokenizer}')")
    except sqlite3.OperationalError as error:
        db.close()
        raise MissingExtra(
            f"keyword search needs tantivy, or an SQLite with FTS5 ({error}). Next: pip install 'rankproof[retrieve]'"
        ) from error
    db.execute("CREATE VIRTUAL TABLE places USING fts5vocab(texts, instance)")
    db.execute("CREATE VIRTUAL TABLE asked_places USING fts5vocab(asked, instance)")
    return db


def _number(size: bytes) -> int:
    """A number as SQLite packs it: seven bits a byte, the highest first.

    >>> _number(bytes([0x81, 0x02]))
    130
    """
    number = 0
    for byte in size:
        number = number << 7 | byte & 0x7F
    return number


FIXED = {"k1": 1.2, "b": 0.75}
"""The parameters that are built into tantivy."""
LANGUAGES = (
    *("arabic", "danish", "dutch", "english", "finnish", "french", "german", "greek", "hungarian", "italian"),
    *("norwegian", "portuguese", "romanian", "russian", "spanish", "swedish", "tamil", "turkish"),
)
"""The languages that it can stem."""

ROOM = 4_000_000_000
"""The most bytes that are held while indexing, so that all of it is one piece, in the order of the documents."""


class TantivyIndex:
    """Documents by their terms; equal scores are ordered by id, the highest first.

    They are put in by id, the highest first, and by one thread, since tantivy breaks ties by the order in which
    documents came.
    """

    def __init__(self, corpus: Corpus, language: str | None) -> None:
        import tantivy

        self._tantivy = tantivy
        documents = sorted(corpus.values(), key=attrgetter("id"), reverse=True)
        self._ids = [each.id for each in documents]
        lower = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).filter(tantivy.Filter.lowercase())
        self._analyzer = (lower.filter(tantivy.Filter.stemmer(language)) if language else lower).build()
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("text", tokenizer_name="words", index_option="freq")
        self._schema = builder.build()
        index = tantivy.Index(self._schema)
        index.register_tokenizer("words", self._analyzer)
        writer = index.writer(ROOM, num_threads=1)
        for each in documents:
            writer.add_document(tantivy.Document(text=prepare_text(each.whole, splits=True)))
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        self._searcher = index.searcher()
        if self._searcher.num_segments > 1:
            raise UsageError(
                f"keyword: the {len(corpus)} documents are more than one piece of index holds. Next: engine='sqlite'."
            )

    def terms(self, text: str) -> list[str]:
        """The index terms of a text, in order."""
        return list(self._analyzer.analyze(prepare_text(text, splits=True)))

    def frequency(self, term: str) -> int:
        """The number of documents with a term."""
        return int(self._searcher.doc_freq("text", term))

    def search(self, terms: Terms, k: int, allowed: Allowed) -> Found:
        """The `k` best documents for weighted terms."""
        clauses = [each for term, weight in terms.items() for each in self._clauses(term, weight)]
        if not clauses or not self._ids:
            return []
        query = self._tantivy.Query.boolean_query(clauses)
        return self._best(query, k) if allowed is None else deepen(lambda n: self._best(query, n), k, allowed)

    def _best(self, query: Any, k: int) -> Found:
        hits = self._searcher.search(query, min(k, len(self._ids)), count=False).hits
        return [(self._ids[address.doc], score) for score, address in hits]

    def _clauses(self, term: str, weight: float) -> list[Any]:
        """The query for a term. It is repeated rather than boosted if that gives the same, which is faster."""
        query, should = self._tantivy.Query.term_query(self._schema, "text", term), self._tantivy.Occur.Should
        if weight == int(weight):
            return [(should, query)] * int(weight)
        return [(should, self._tantivy.Query.boost_query(query, weight))]


Engine = Literal["tantivy", "sqlite"]
ENGINES = ("tantivy", "sqlite")


def keyword(
    corpus: Any,
    *,
    k1: float = FIXED["k1"],
    b: float = FIXED["b"],
    language: str | None = None,
    stop_words: Collection[str] = (),
    engine: Engine | None = None,
) -> Search:
    """Keyword search with BM25.

    `corpus` is anything that `load_corpus` takes. `k1` says how much it counts that a word comes again, `b` how
    much long documents are held back. `language`, like english, brings forms of a word together; without it, or
    with "none", words are taken as they stand. `stop_words` of a question are not looked for. `engine` is tantivy
    where it is installed, else sqlite; the k1 and b of tantivy are fixed, so others are answered by sqlite.

    The formula is, summed over the words of the question, ln(1 + (N - n + 0.5) / (n + 0.5)) f (k1 + 1) /
    (f + k1 (1 - b + b length / mean length)), for a word that is f times in the document and in n of N documents.

    >>> search = keyword({"d1": "Refunds within 30 days.", "d2": "Fees for refunds and plans."}, language="english")
    >>> search, [document for document, score in search('refund AND "plan"')]
    (keyword(language='english'), ['d2', 'd1'])
    """
    documents = load_corpus(corpus)
    check_number("k1", k1, least=0)
    check_number("b", b, least=0, most=1)
    if language == "none":
        language = None
    elif language is not None:
        plain = language.lower() if isinstance(language, str) else language
        if plain not in LANGUAGES:
            raise one_of("language", language, ["none", *LANGUAGES])
        language = str(plain)
    options: dict[str, Any] = {"k1": k1, "b": b, "language": language}
    if isinstance(stop_words, str):
        raise UsageError(f"stop_words: got {stop_words!r}, expected a list of words. Next: give a list.")
    ignored = frozenset(word for each in stop_words for word in words(each))  # as the index sees them
    options["stop_words"] = sorted(ignored)
    chosen = _engine(engine, options)
    index: TantivyIndex | SqliteIndex = (
        TantivyIndex(documents, language)
        if chosen == "tantivy"
        else SqliteIndex(documents, k1, b, stemmed=language is not None)
    )

    def search(questions: Sequence[Terms], k: int, allowed: Allowed) -> list[Found]:
        return [index.search(each, k, allowed) for each in questions]

    def answer(questions: Sequence[str], k: int, allowed: Allowed) -> list[Found]:
        kept = [" ".join(w for w in words(each) if w not in ignored) if ignored else each for each in questions]
        return search([Counter(index.terms(each)) for each in kept], k, allowed)

    return Search(
        name=with_options("keyword", options, {**FIXED, "language": None, "stop_words": []}),
        describe=lambda: {"kind": "keyword", "engine": chosen, **options, "corpus": documents.fingerprint},
        answer=answer,
        corpus=documents,
        vocabulary=Vocabulary(index.terms, index.frequency, search),
    )


def _engine(engine: str | None, options: dict[str, Any]) -> str:
    """The given engine, or else one that supports the settings."""
    if engine not in (None, *ENGINES):
        raise one_of("engine", engine, ENGINES)
    fixed = all(options[name] == value for name, value in FIXED.items())
    if engine == "tantivy" and not fixed:
        raise UsageError(
            f"engine: got tantivy with k1={options['k1']}, b={options['b']}, but its own are fixed at k1=1.2, b=0.75. "
            "Next: leave out engine, or k1 and b."
        )
    here, language = find_spec("tantivy") is not None, options["language"]
    if engine == "tantivy" and not here:
        raise missing_extra("engine='tantivy'", "tantivy", "retrieve")
    chosen = engine or ("tantivy" if here and fixed else "sqlite")
    if chosen == "sqlite" and language not in (None, "english"):
        if not here:
            raise missing_extra(f"language={language!r}", "tantivy", "retrieve")
        raise UsageError(
            f"language: got {language!r}, but SQLite, which answers for other k1 and b, knows the forms of English "
            "words only. Next: leave out k1, b and engine."
        )
    return chosen
