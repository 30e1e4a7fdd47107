"""Lists that were found before, as a retriever: what comes after it need not search again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rankproof.bench.retrieve.search import Search
from rankproof.bench.retriever import Found
from rankproof.core.corpus import Corpus


def listed(lists: Mapping[str, Found], corpus: Corpus) -> Search:
    """A search that answers each question, by its text, with the list there is.

    >>> listed({"fees?": [("d2", 2.0), ("d1", 1.0)]}, Corpus.of({"d1": "Hours.", "d2": "Fees."}))("fees?", 1)
    [('d2', 2.0)]
    """

    def answer(questions: Sequence[str], k: int, allowed: frozenset[str] | None) -> list[Found]:
        known = (lists.get(question, []) for question in questions)
        return [[pair for pair in found if allowed is None or pair[0] in allowed][:k] for found in known]

    return Search("what was found before", dict, answer, corpus)
