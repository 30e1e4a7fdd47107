"""Lists that were found before: as a retriever for what comes after, and several of them as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rankproof.bench.fusion.pool import pool_of
from rankproof.bench.fusion.recipe import Recipe, fused
from rankproof.bench.retrieve.search import Search
from rankproof.bench.retriever import Found
from rankproof.core.corpus import Corpus
from rankproof.core.table import RankingTable


def listed(lists: Mapping[str, Found], corpus: Corpus) -> Search:
    """A search that answers each question, by its text, with the list there is.

    >>> listed({"fees?": [("d2", 2.0), ("d1", 1.0)]}, Corpus.of({"d1": "Hours.", "d2": "Fees."}))("fees?", 1)
    [('d2', 2.0)]
    """

    def answer(questions: Sequence[str], k: int, allowed: frozenset[str] | None) -> list[Found]:
        known = (lists.get(question, []) for question in questions)
        return [[pair for pair in found if allowed is None or pair[0] in allowed][:k] for found in known]

    return Search("what was found before", dict, answer, corpus)


def together(lists: Mapping[str, Mapping[str, Found]], made: Recipe) -> dict[str, Found]:
    """Lists of several retrievers as one list a question; a question that one has nothing for is the others'.

    >>> from rankproof.bench.fusion.recipe import recipe
    >>> lists = {"one": {"q": [("a", 2.0), ("b", 1.0)]}, "other": {"q": [("b", 9.0)], "r": [("c", 1.0)]}}
    >>> {q: [doc for doc, _ in found] for q, found in together(lists, recipe(["one", "other"], "rrf")).items()}
    {'q': ['b', 'a'], 'r': ['c']}
    """
    pool = pool_of({name: _table(each) for name, each in lists.items()})
    return {query: list(docs.items()) for query, docs in pool.ordered(fused(made, pool)).items()}


def _table(lists: Mapping[str, Found]) -> RankingTable:
    """Lists as columns."""
    return RankingTable(
        query=[name for name, found in lists.items() for _ in found],
        doc=[doc for found in lists.values() for doc, _ in found],
        score=np.array([score for found in lists.values() for _, score in found], dtype=np.float64),
        source="a search",
    )
