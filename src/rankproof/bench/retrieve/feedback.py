"""Query expansion by RM3: words of the documents found first join the question, which is then asked again."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from rankproof.bench.retrieve.checks import changed, check_count, check_number
from rankproof.bench.retrieve.search import Allowed, Search, Terms, Vocabulary
from rankproof.bench.retriever import Found
from rankproof.core.corpus import Corpus
from rankproof.errors import UsageError

COMMON = 0.1
"""A word in more than this share of the documents says nothing about a question."""

SHORTEST, LONGEST = 2, 20
"""Characters of a word that may join."""


@dataclass(frozen=True)
class Feedback:
    """How much is taken from the documents found first."""

    documents: int = 10
    terms: int = 10
    weight: float = 0.5
    """The share of the question itself in what is asked in the end."""


def expand(
    retriever: Search,
    *,
    documents: int = Feedback.documents,
    terms: int = Feedback.terms,
    weight: float = Feedback.weight,
) -> Search:
    """Keyword search with RM3: the question is asked, and asked again with words of what was found.

    The words of the first `documents` weigh as much as they are a part of them, times the part of each document in
    the sum of their scores. The `terms` heaviest join, together 1 - `weight` of all; the question has `weight`.
    Words in more than a tenth of the documents, very short and very long ones do not join.

    Formula: P(w) = weight P(w | question) + (1 - weight) sum over documents d of P(w | d) score(d) / sum of scores.

    Reference: N. Abdul-Jaleel et al.: UMass at TREC 2004: novelty and HARD, TREC 2004.

    >>> from rankproof.bench.retrieve import keyword
    >>> pages = {"d1": "refund payment", "d2": "payment by card", **{f"x{n}": f"other {n}" for n in range(30)}}
    >>> [document for document, score in expand(keyword(pages))("refund")]
    ['d1', 'd2']
    """
    if not isinstance(retriever, Search) or retriever.vocabulary is None or retriever.corpus is None:
        raise UsageError(
            f"expand: got {retriever!r}, expected keyword search, whose questions are words. "
            "Next: expand(keyword(corpus)), and combine that with others."
        )
    check_count("documents", documents)
    check_count("terms", terms)
    check_number("weight", weight, most=1)
    first, vocabulary, corpus = retriever, retriever.vocabulary, retriever.corpus
    made = Feedback(documents, terms, weight)

    def answer(questions: Sequence[str], k: int, allowed: Allowed) -> list[Found]:
        found = first.search(questions, made.documents, allowed)
        asked = [
            expanded(made, question, each, vocabulary, corpus)
            for question, each in zip(questions, found, strict=True)
        ]
        return vocabulary.search(asked, k, allowed)

    return Search(
        name=f"expand({', '.join([repr(first), *changed(asdict(made), asdict(Feedback()))])})",
        describe=lambda: {"kind": "expand", "retriever": dict(first.settings), **asdict(made)},
        answer=answer,
        corpus=corpus,
        vocabulary=vocabulary,
    )


def expanded(
    made: Feedback, question: str, found: Found, vocabulary: Vocabulary, corpus: Corpus
) -> dict[str, float]:
    """The weighted terms that are asked in the end."""
    asked = _shares(Counter(vocabulary.terms(question)))
    joining = _joining(made, found, vocabulary, corpus)
    if not joining:
        return asked
    mixed: defaultdict[str, float] = defaultdict(float)
    for share, terms in ((made.weight, asked), (1 - made.weight, _shares(joining))):
        for term, part in terms.items():
            mixed[term] += share * part
    return dict(mixed)


def _joining(made: Feedback, found: Found, vocabulary: Vocabulary, corpus: Corpus) -> dict[str, float]:
    """The heaviest terms of what was found; of equals the first in the alphabet."""
    scores = _shares(dict(found))
    heavy: defaultdict[str, float] = defaultdict(float)
    for document, score in scores.items():
        for term, part in _shares(_telling(corpus[document].whole, vocabulary, len(corpus))).items():
            heavy[term] += score * part
    return dict(sorted(heavy.items(), key=lambda pair: (-pair[1], pair[0]))[: made.terms])


def _telling(text: str, vocabulary: Vocabulary, size: int) -> Counter[str]:
    """How often each term that may join is in a text."""
    counts = Counter(term for term in vocabulary.terms(text) if SHORTEST <= len(term) <= LONGEST)
    most = max(COMMON * size, 2)
    return Counter({term: n for term, n in counts.items() if vocabulary.frequency(term) <= most})


def _shares(weights: Terms) -> dict[str, float]:
    total = sum(weights.values())
    return {term: weight / total for term, weight in weights.items()} if total else {}
