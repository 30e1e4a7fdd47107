"""The evidence about one query: what was asked, what is relevant, what was returned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from rankproof.core.corpus import Document
from rankproof.core.orders import by_id
from rankproof.text.languages import COMMON, STOP_WORDS, language
from rankproof.text.words import intended_words, stem, words

NEARLY = 0.8
"""Documents that share this much of their word triples count as near-copies."""

SHINGLE = 3
"""Words that are compared together, so that order counts."""

ENOUGH = 300
"""The number of documents that the language of the corpus is detected from."""


def forms(text: str) -> list[str]:
    """The words of a text in a form that unites spellings of the same word."""
    return [word.form for word in words(text)]


class Library:
    """A corpus in the form that the rules need; everything is computed on first use."""

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

    def are_alike(self, one: str, other: str) -> bool:
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


@dataclass(frozen=True)
class Asked:
    """One query with its ranking and judgments, and the texts where they are known."""

    query: str
    returned: Sequence[str]
    """The documents of the ranking, best first."""
    grades: Mapping[str, float]
    k: int
    """The number of documents that the user, or the generator, sees."""
    rel: float = 1
    text: str = ""
    """The question in words; "" where it is not known."""
    library: Library | None = None
    """The corpus; None if none was given."""
    value: float = 0.0
    ceiling: float = 0.0
    titles: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def relevant(self) -> tuple[str, ...]:
        """The relevant documents, the best first; equally good ones by their ids."""
        good = [doc for doc, grade in self.grades.items() if grade >= self.rel]
        return tuple(sorted(good, key=lambda doc: (-self.grades[doc], by_id(doc))))

    @cached_property
    def rank(self) -> dict[str, int]:
        """The rank of each document that was returned."""
        return {doc: place for place, doc in enumerate(self.returned, start=1)}

    @cached_property
    def shown(self) -> Sequence[str]:
        """The first k documents."""
        return self.returned[: self.k]

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """The relevant documents that were not returned at all."""
        return tuple(doc for doc in self.relevant if doc not in self.rank)

    @cached_property
    def below(self) -> tuple[str, ...]:
        """The relevant documents that were returned below the first k, the best placed first."""
        low = [doc for doc in self.relevant if self.rank.get(doc, 0) > self.k]
        return tuple(sorted(low, key=lambda doc: self.rank[doc]))

    @cached_property
    def telling(self) -> tuple[str, ...]:
        """The words of the question that carry meaning, each once."""
        return tuple(word for word in dict.fromkeys(forms(self.text)) if word not in STOP_WORDS)

    @cached_property
    def typos(self) -> dict[str, str]:
        """The words that the corpus does not have, with the words of it that they are a slip away from."""
        library = self.library
        if library is None:
            return {}
        likely = {word for doc in self.readable for word in library.words(doc)}
        unknown = [word for word in self.telling if word not in COMMON and not library.knows(word)]
        found = {word: intended_words(word, library.by_letter, library.counts, likely) for word in unknown}
        return {word: other for word, other in found.items() if other}

    @cached_property
    def gone(self) -> tuple[str, ...]:
        """The relevant documents that the corpus does not hold."""
        if self.library is None:
            return ()
        return tuple(doc for doc in self.relevant if doc not in self.library.documents)

    @cached_property
    def readable(self) -> tuple[str, ...]:
        """The relevant documents whose texts are known."""
        if self.library is None:
            return ()
        return tuple(doc for doc in self.relevant if doc in self.library.documents)
