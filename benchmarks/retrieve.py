"""What the embedded retrievers cost beside tantivy, and beside a bare matrix product."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from cases import case
from timing import Pair, processor

CHUNKS = 100_000
SIZE = 384
K = 100


@case
def keyword_search() -> list[Pair]:
    """The sample's documents again and again, with other ids: indexed, and asked its questions."""
    from rankproof import sample
    from rankproof.bench.retrieve import keyword
    from rankproof.io.corpora import load_corpus

    texts = _enlarged()
    corpus = load_corpus(texts)
    ours, by_hand = keyword(corpus), _tantivy(texts)
    questions = list(sample.queries().values())
    what = f"{CHUNKS:,} chunks"
    quoted = {name: text.replace(" the ", " — “the” é ", 1) for name, text in texts.items()}
    return [
        Pair(
            f"keyword: index {what}",
            "tantivy by hand",
            lambda: keyword(corpus),
            lambda: _tantivy(texts),
            1 / 1.2,
            measure=processor,
        ),
        Pair(
            f"keyword: index {what} with quotes and accents",
            "tantivy by hand",
            lambda: keyword(quoted),
            lambda: _tantivy(quoted),
            0.75,  # .78 to .95 were measured
            measure=processor,
        ),
        Pair(
            f"keyword: {len(questions)} questions to {what}",
            "tantivy by hand",
            lambda: ours.search(questions, K),
            lambda: [by_hand(each) for each in questions],
            1 / 1.2,
            times=15,
            measure=processor,
        ),
    ]


@cache
def _enlarged() -> dict[str, str]:
    from rankproof import sample

    pages = [(name, f"{page['title']}\n{page['text']}") for name, page in sample.corpus().items()]
    return {f"{pages[n % len(pages)][0]}-{n // len(pages):04}": pages[n % len(pages)][1] for n in range(CHUNKS)}


def _tantivy(texts: dict[str, str]) -> Callable[[str], list[tuple[str, float]]]:
    """An index as one writes it with tantivy's own documentation, and its search."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    builder.add_text_field("text")
    schema = builder.build()
    index = tantivy.Index(schema)
    writer = index.writer()
    for name, text in texts.items():
        writer.add_document(tantivy.Document(id=name, text=text))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def search(question: str) -> list[tuple[str, float]]:
        terms = re.findall(r"[a-z0-9]+", question.lower())
        asked: list[Any] = [tantivy.Query.term_query(schema, "text", term) for term in terms]
        query = tantivy.Query.boolean_query([(tantivy.Occur.Should, each) for each in asked])
        return [(searcher.doc(where)["id"][0], score) for score, where in searcher.search(query, K).hits]

    return search


@case
def dense_search() -> list[Pair]:
    """Exact search beside the product alone, without sorting out the best of it."""
    return [_dense(1, 1 / 1.3), _dense(32, 1 / 2)]


def _dense(batch: int, promised: float) -> Pair:
    import numpy as np

    from rankproof.bench.retrieve import dense

    vectors = np.random.default_rng(0).standard_normal((CHUNKS + batch, SIZE), dtype=np.float32)
    documents, questions = vectors[:CHUNKS], vectors[CHUNKS:]
    search = dense({f"d{n}": str(n) for n in range(CHUNKS)}, lambda texts: vectors[[int(each) for each in texts]])
    asked = [str(CHUNKS + n) for n in range(batch)]
    return Pair(
        f"dense: {CHUNKS:,} x {SIZE}, top {K}, {batch} at a time",
        "the product alone",
        lambda: search.search(asked, K),
        lambda: questions @ documents.T,
        promised,
        times=25,
    )
