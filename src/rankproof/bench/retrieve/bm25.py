"""Keyword search: BM25 over the words of documents, by tantivy or by SQLite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from importlib.util import find_spec
from typing import Any, Literal, Protocol

from rankproof.bench.retrieve.by_sqlite import SqliteIndex
from rankproof.bench.retrieve.by_tantivy import FIXED, LANGUAGES, TantivyIndex
from rankproof.bench.retrieve.checks import check_number, with_options
from rankproof.bench.retrieve.search import Allowed, Answer, Search, Terms, Vocabulary
from rankproof.bench.retrieve.words import words
from rankproof.bench.retriever import Found
from rankproof.core.corpus import Corpus
from rankproof.errors import UsageError, missing_extra, one_of
from rankproof.io.corpora import load_corpus

Engine = Literal["tantivy", "sqlite"]
ENGINES = ("tantivy", "sqlite")


class Index(Protocol):
    """Documents by their terms."""

    def terms(self, text: str) -> list[str]:
        """The index terms of a text, in order."""

    def frequency(self, term: str) -> int:
        """The number of documents with a term."""

    def search(self, terms: Terms, k: int, allowed: Allowed) -> Found:
        """The `k` best documents for weighted terms."""


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
    check_number("k1", k1)
    check_number("b", b, most=1)
    options: dict[str, Any] = {
        "k1": k1,
        "b": b,
        "language": _language(language),
        "stop_words": _stop_words(stop_words),
    }
    chosen = _engine(engine, options)
    index = _index(chosen, documents, options)
    return Search(
        name=with_options("keyword", options, {**FIXED, "language": None, "stop_words": []}),
        describe=lambda: {
            "kind": "keyword",
            "engine": chosen,
            **options,
            "corpus": documents.fingerprint,
        },
        answer=_answer(index, frozenset(options["stop_words"])),
        corpus=documents,
        vocabulary=Vocabulary(index.terms, index.frequency, _by_terms(index)),
    )


def _answer(index: Index, ignored: frozenset[str]) -> Answer:
    def terms_of(question: str) -> Terms:
        kept = question if not ignored else " ".join(w for w in words(question) if w not in ignored)
        return Counter(index.terms(kept))

    def answer(questions: Sequence[str], k: int, allowed: Allowed) -> list[Found]:
        return [index.search(terms_of(each), k, allowed) for each in questions]

    return answer


def _by_terms(index: Index) -> Any:
    def search(questions: Sequence[Terms], k: int, allowed: Allowed) -> list[Found]:
        return [index.search(each, k, allowed) for each in questions]

    return search


def _index(engine: str, corpus: Corpus, options: dict[str, Any]) -> Index:
    if engine == "tantivy":
        return TantivyIndex(corpus, options["language"])
    return SqliteIndex(corpus, options["k1"], options["b"], stemmed=options["language"] is not None)


# --- what cannot be asked for ---------------------------------------------------------------------


def _engine(engine: str | None, options: dict[str, Any]) -> str:
    """The engine asked for, or else the one that can do it."""
    if engine not in (None, *ENGINES):
        raise one_of("engine", engine, ENGINES)
    fixed = all(options[name] == value for name, value in FIXED.items())
    if engine == "tantivy" and not fixed:
        raise UsageError(
            f"engine: got tantivy with k1={options['k1']}, b={options['b']}, but its own are fixed at k1=1.2, b=0.75. "
            "Next: leave out engine, or k1 and b."
        )
    here = find_spec("tantivy") is not None
    if engine == "tantivy" and not here:
        raise missing_extra("engine='tantivy'", "tantivy", "retrieve")
    chosen = engine or ("tantivy" if here and fixed else "sqlite")
    if chosen == "sqlite" and options["language"] not in (None, "english"):
        raise _unstemmed(options["language"], here)
    return chosen


def _unstemmed(language: str, here: bool) -> Exception:
    if not here:
        return missing_extra(f"language={language!r}", "tantivy", "retrieve")
    return UsageError(
        f"language: got {language!r}, but SQLite, which answers for other k1 and b, knows the forms of English words "
        "only. Next: leave out k1, b and engine."
    )


def _language(language: Any) -> str | None:
    if language is None or language == "none":
        return None
    plain = language.lower() if isinstance(language, str) else language
    if plain not in LANGUAGES:
        raise one_of("language", language, ["none", *LANGUAGES])
    return str(plain)


def _stop_words(given: Collection[str]) -> list[str]:
    """The words as the index sees them."""
    if isinstance(given, str):
        raise UsageError(f"stop_words: got {given!r}, expected a list of words. Next: give a list.")
    return sorted({word for each in given for word in words(each)})
