"""What is known of a corpus: its words, its language, and which of its documents are nearly the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from itertools import islice

from rankproof.core.corpus import Document
from rankproof.core.text.languages import language
from rankproof.core.text.stems import stem
from rankproof.core.text.words import words

NEARLY = 0.8
"""Documents that share this much of their word triples say the same."""

SHINGLE = 3
"""Words that are compared together, so that order counts."""

ENOUGH = 300
"""Documents that are looked at to tell the corpus's language."""


def forms(text: str) -> list[str]:
    """The words of a text in the form in which spellings of the same word are alike."""
    return [word.form for word in words(text)]


class Library:
    """A corpus as the rules look at it; everything is worked out when it is first asked for."""

    def __init__(self, documents: Mapping[str, Document]) -> None:
        self.documents = documents
        self._words: dict[str, list[str]] = {}
        self._shingles: dict[str, frozenset[int]] = {}

    def words(self, doc: str) -> list[str]:
        """The words of a document, title first; none for one that the corpus does not hold."""
        if doc not in self._words:
            self._words[doc] = forms(self.documents[doc].whole) if doc in self.documents else []
        return self._words[doc]

    @cached_property
    def counts(self) -> Counter[str]:
        """How many documents each word is in."""
        found: Counter[str] = Counter()
        for doc in self.documents:
            found.update(set(self.words(doc)))
        return found

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of all words."""
        return frozenset(map(stem, self.counts))

    @cached_property
    def by_letter(self) -> dict[str, list[str]]:
        """The words by their first letter."""
        found: dict[str, list[str]] = {}
        for word in self.counts:
            found.setdefault(word[0], []).append(word)
        return found

    @cached_property
    def language(self) -> str:
        """The language of the corpus, as a code."""
        return language(" ".join(each.whole for each in islice(self.documents.values(), ENOUGH)))

    def knows(self, word: str) -> bool:
        """Whether the corpus has the word, in whatever form."""
        return word in self.counts or stem(word) in self.stems

    def alike(self, one: str, other: str) -> bool:
        """Whether two documents are nearly the same."""
        first, second = self._shingled(one), self._shingled(other)
        small, large = sorted((len(first), len(second)))
        if not small or small < NEARLY * large:
            return False
        shared = len(first & second)
        return shared >= NEARLY * (small + large - shared)

    def _shingled(self, doc: str) -> frozenset[int]:
        if doc not in self._shingles:
            own = self.words(doc)
            runs = [own[i : i + SHINGLE] for i in range(max(1, len(own) - SHINGLE + 1))] if own else []
            self._shingles[doc] = frozenset(hash(tuple(run)) for run in runs)
        return self._shingles[doc]
