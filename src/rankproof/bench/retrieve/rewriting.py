"""Questions changed before the search: words added (RM3), spelling corrected."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache

from rankproof.bench.retrieve.bm25 import keyword
from rankproof.bench.retrieve.search import Allowed, Search, Terms, Vocabulary, changed_options
from rankproof.bench.retriever import Found
from rankproof.core.arrays import by_key
from rankproof.core.corpus import Corpus
from rankproof.document.model import Displayable
from rankproof.errors import UsageError, UserCode, check_number, check_whole, shorten
from rankproof.text.languages import COMMON, STOP_WORDS
from rankproof.text.words import intended_words, stem, words

COMMON_SHARE = 0.1
"""A word in more than this share of the documents says nothing about a question."""

SHORTEST, LONGEST = 2, 20
"""Characters of a word that may join."""


@dataclass(frozen=True)
class Feedback:
    """How much is taken from the documents found first."""

    documents: int = 10
    terms: int = 10
    weight: float = 0.5
    """The share of the question itself in the expanded query."""


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
    check_whole("documents", documents)
    check_whole("terms", terms)
    check_number("weight", weight, least=0, most=1)
    first, vocabulary, corpus = retriever, retriever.vocabulary, retriever.corpus
    made = Feedback(documents, terms, weight)

    def answer(questions: Sequence[str], k: int, allowed: Allowed) -> list[Found]:
        found = first.search(questions, made.documents, allowed)
        asked = [
            expanded_terms(made, question, each, vocabulary, corpus)
            for question, each in zip(questions, found, strict=True)
        ]
        return vocabulary.search(asked, k, allowed)

    return Search(
        name=f"expand({', '.join([repr(first), *changed_options(asdict(made), asdict(Feedback()))])})",
        describe=lambda: {"kind": "expand", "retriever": dict(first.settings), **asdict(made)},
        answer=answer,
        corpus=corpus,
        vocabulary=vocabulary,
    )


def expanded_terms(
    made: Feedback, question: str, found: Found, vocabulary: Vocabulary, corpus: Corpus
) -> dict[str, float]:
    """The weighted terms that are asked in the end: those of the question, and the heaviest of what was found.

    Of equally heavy ones the first in the alphabet join.
    """
    most = max(COMMON_SHARE * len(corpus), 2)
    heavy: defaultdict[str, float] = defaultdict(float)
    for document, score in _shares(dict(found)).items():
        terms = vocabulary.terms(corpus[document].whole)
        counts = Counter(term for term in terms if SHORTEST <= len(term) <= LONGEST)
        may_join = {term: n for term, n in counts.items() if vocabulary.frequency(term) <= most}
        for term, part in _shares(may_join).items():
            heavy[term] += score * part
    joining = dict(sorted(heavy.items(), key=lambda pair: (-pair[1], pair[0]))[: made.terms])
    asked = _shares(Counter(vocabulary.terms(question)))
    if not joining:
        return asked
    mixed: defaultdict[str, float] = defaultdict(float)
    for share, shares in ((made.weight, asked), (1 - made.weight, _shares(joining))):
        for term, part in shares.items():
            mixed[term] += share * part
    return dict(mixed)


def _shares(weights: Terms) -> dict[str, float]:
    total = sum(weights.values())
    return {term: weight / total for term, weight in weights.items()} if total else {}


Rewrite = Callable[[str], str]
"""A question in, the one that is asked instead out."""


class Speller(Displayable):
    """Corrects questions: a word that the corpus lacks becomes the word of it that it is a slip away from.

    >>> Speller({"change": 3, "password": 9})("How do I chnage my pasword?")
    'How do I change my password?'
    """

    def __init__(self, counts: Mapping[str, int]) -> None:
        self._counts = counts
        self._stems = {stem(word) for word in counts}
        self._known = by_key((word[0], word) for word in counts)

    def __call__(self, question: str) -> str:
        """The question with its typing errors corrected."""
        return re.sub(r"\w+", self._mended, question)

    def _mended(self, found: re.Match[str]) -> str:
        form = next((each.form for each in words(found[0])), "") if found[0].isalpha() else ""
        if not form or form in self._counts or form in STOP_WORDS or form in COMMON or stem(form) in self._stems:
            return found[0]
        return intended_words(form, self._known, self._counts) or found[0]


def spelling(corpus: Corpus) -> Rewrite:
    """A function that corrects questions by the words of a corpus; these are counted when it is first asked."""
    speller = cache(
        lambda: Speller(Counter(form for each in corpus.values() for form in {w.form for w in words(each.whole)}))
    )
    return lambda question: speller()(question)


def expansion(corpus: Corpus, terms: int = 5) -> Rewrite:
    """A function that adds the heaviest words of what keyword search finds for a question (RM3) to it."""
    check_whole("terms", terms)
    made = Feedback(terms=terms)
    search = cache(lambda: keyword(corpus))  # made when it is first asked

    def rewrite(question: str) -> str:
        vocabulary = search().vocabulary
        if vocabulary is None:
            return question
        found = search().search([question], made.documents)[0]
        asked = set(vocabulary.terms(question))
        joined = expanded_terms(made, question, found, vocabulary, corpus)
        return " ".join([question, *(term for term in joined if term not in asked)])

    return rewrite


def rewrite_question(rewrite: Rewrite, question: str) -> str:
    """The question as a function rewrites it, which must be text."""
    with UserCode(rewrite, "the question", question):
        found = rewrite(question)
    if not isinstance(found, str) or not found.strip():
        raise UsageError(
            f"rewriting: got {shorten(found)} for the question {shorten(question)}, expected a text. "
            "Next: return the question itself if there is nothing to change."
        )
    return found
