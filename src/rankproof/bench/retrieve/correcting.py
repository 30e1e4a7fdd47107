"""Questions changed before they are asked: corrected by the words of the corpus, or rewritten by a function."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rankproof.bench.retrieve.bm25 import keyword
from rankproof.bench.retrieve.checks import check_count
from rankproof.bench.retrieve.feedback import Feedback, expanded
from rankproof.bench.retrieve.search import Allowed, Search, as_search
from rankproof.bench.retriever import Found
from rankproof.core.corpus import Corpus
from rankproof.core.text.slips import meant
from rankproof.core.text.stems import stem
from rankproof.core.text.stopwords import COMMON, STOP_WORDS
from rankproof.core.text.words import words
from rankproof.display import Displayable
from rankproof.errors import UsageError, shorten

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
        self._known: dict[str, list[str]] = {}
        for word in counts:
            self._known.setdefault(word[0], []).append(word)

    def __call__(self, question: str) -> str:
        """The question with its slips mended."""
        return re.sub(r"\w+", self._mended, question)

    def _mended(self, found: re.Match[str]) -> str:
        form = next((each.form for each in words(found[0])), "") if found[0].isalpha() else ""
        if (
            not form
            or form in self._counts
            or form in STOP_WORDS
            or form in COMMON
            or stem(form) in self._stems
        ):
            return found[0]
        return meant(form, self._known, self._counts) or found[0]


def spelling(corpus: Corpus) -> Rewrite:
    """A function that corrects questions by the words of a corpus; these are counted when it is first asked."""
    made: list[Speller] = []

    def rewrite(question: str) -> str:
        if not made:
            counts = Counter(
                form for each in corpus.values() for form in {word.form for word in words(each.whole)}
            )
            made.append(Speller(counts))
        return made[0](question)

    return rewrite


def expansion(corpus: Corpus, terms: int = 5) -> Rewrite:
    """A function that adds the heaviest words of what keyword search finds for a question (RM3) to it."""
    check_count("terms", terms)
    made = Feedback(terms=terms)
    searches: list[Search] = []

    def rewrite(question: str) -> str:
        search = searches[0] if searches else keyword(corpus)
        searches[:] = [search]
        if search.vocabulary is None:
            return question
        found = search.search([question], made.documents)[0]
        asked = set(search.vocabulary.terms(question))
        joined = expanded(made, question, found, search.vocabulary, corpus)
        return " ".join([question, *(term for term in joined if term not in asked)])

    return rewrite


def rewriting(rewrite: Rewrite, retriever: Any) -> Search:
    """A retriever that is asked what `rewrite` makes of each question.

    >>> from rankproof.bench.retrieve import keyword
    >>> pages = {"d1": "refund payment", "d2": "opening hours"}
    >>> rewriting(lambda question: f"{question} refund", keyword(pages))("money back")[0][0]
    'd1'
    """
    if not callable(rewrite):
        raise UsageError(
            f"rewriting: got {shorten(rewrite)}, expected a function of a question. Next: give one."
        )
    search = as_search(retriever)

    def answer(questions: Sequence[str], k: int, allowed: Allowed) -> list[Found]:
        return search.search([rewritten(rewrite, each) for each in questions], k, allowed)

    name = getattr(rewrite, "__qualname__", type(rewrite).__name__)
    return Search(
        name=f"rewriting({name}, {search!r})",
        describe=lambda: {"kind": "rewriting", "by": name, "retriever": dict(search.settings)},
        answer=answer,
        corpus=search.corpus,
    )


def rewritten(rewrite: Rewrite, question: str) -> str:
    """What a function makes of a question, which must be text."""
    found = rewrite(question)
    if not isinstance(found, str) or not found.strip():
        raise UsageError(
            f"rewriting: got {shorten(found)} for the question {shorten(question)}, expected a text. "
            "Next: return the question itself if there is nothing to change."
        )
    return found
