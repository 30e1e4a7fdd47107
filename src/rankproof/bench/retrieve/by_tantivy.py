"""A keyword index by tantivy."""

from __future__ import annotations

from typing import Any

from rankproof.bench.retrieve.search import Allowed, Terms, deepened
from rankproof.bench.retrieve.words import prepared
from rankproof.bench.retriever import Found
from rankproof.core.corpus import Corpus
from rankproof.errors import UsageError

FIXED = {"k1": 1.2, "b": 0.75}
"""The parameters that are built into tantivy."""

LANGUAGES = (
    *("arabic", "danish", "dutch", "english", "finnish", "french", "german", "greek", "hungarian", "italian"),
    *("norwegian", "portuguese", "romanian", "russian", "spanish", "swedish", "tamil", "turkish"),
)
"""Whose words it can bring to one form."""

ROOM = 4_000_000_000
"""The most bytes that are held while indexing, so that all of it is one piece, in the order of the documents."""


class TantivyIndex:
    """Documents by their terms; what has equal scores comes by id, the highest first.

    They are put in by id, the highest first, and by one thread, since tantivy breaks ties by the order in which
    documents came.
    """

    def __init__(self, corpus: Corpus, language: str | None) -> None:
        import tantivy

        self._tantivy = tantivy
        self._ids = sorted(corpus, reverse=True)
        self._analyzer = _analyzer(language)
        self._schema = _schema()
        index = tantivy.Index(self._schema)
        index.register_tokenizer("words", self._analyzer)
        _fill(index, (corpus[name].whole for name in self._ids))
        self._searcher = index.searcher()
        if self._searcher.num_segments > 1:
            raise UsageError(
                f"keyword: the {len(corpus)} documents are more than one piece of index holds. Next: engine='sqlite'."
            )

    def terms(self, text: str) -> list[str]:
        """The index terms of a text, in order."""
        found: list[str] = self._analyzer.analyze(prepared(text))
        return found

    def frequency(self, term: str) -> int:
        """The number of documents with a term."""
        return int(self._searcher.doc_freq("text", term))

    def search(self, terms: Terms, k: int, allowed: Allowed) -> Found:
        """The `k` best documents for weighted terms."""
        clauses = [each for term, weight in terms.items() for each in self._clauses(term, weight)]
        if not clauses or not self._ids:
            return []
        query = self._tantivy.Query.boolean_query(clauses)
        if allowed is None:
            return self._best(query, k)
        return deepened(lambda n: self._best(query, n), k, allowed)

    def _best(self, query: Any, k: int) -> Found:
        hits = self._searcher.search(query, min(k, len(self._ids)), count=False).hits
        return [(self._ids[address.doc], score) for score, address in hits]

    def _clauses(self, term: str, weight: float) -> list[Any]:
        """What finds a term. It is repeated rather than boosted where that is the same, which is faster."""
        query = self._tantivy.Query.term_query(self._schema, "text", term)
        if weight == int(weight):
            return [(self._tantivy.Occur.Should, query)] * int(weight)
        return [(self._tantivy.Occur.Should, self._tantivy.Query.boost_query(query, weight))]


def _analyzer(language: str | None) -> Any:
    import tantivy

    lower = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).filter(tantivy.Filter.lowercase())
    return (lower.filter(tantivy.Filter.stemmer(language)) if language else lower).build()


def _schema() -> Any:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name="words", index_option="freq")
    return builder.build()


def _fill(index: Any, texts: Any) -> None:
    import tantivy

    writer = index.writer(ROOM, num_threads=1)
    for text in texts:
        writer.add_document(tantivy.Document(text=prepared(text)))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
