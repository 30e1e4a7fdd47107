"""The evidence about one query: what was asked, what is relevant, what was returned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from rankproof.advice.why.library import Library, forms
from rankproof.core.text.slips import meant
from rankproof.core.text.stopwords import COMMON, STOP_WORDS


@dataclass(frozen=True)
class Asked:
    """One query with its ranking and judgments, and the texts where they are known."""

    query: str
    returned: Sequence[str]
    """The documents of the ranking, best first."""
    grades: Mapping[str, float]
    k: int
    """How many documents the user, or the generator, gets to see."""
    rel: float = 1
    text: str = ""
    """The question in words; "" where it is not known."""
    library: Library | None = None
    """What is known of the corpus; None where there is none to look at."""
    value: float = 0.0
    ceiling: float = 0.0
    titles: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def relevant(self) -> tuple[str, ...]:
        """The relevant documents, the best first."""
        good = [doc for doc, grade in self.grades.items() if grade >= self.rel]
        return tuple(sorted(good, key=lambda doc: -self.grades[doc]))

    @cached_property
    def rank(self) -> dict[str, int]:
        """Where each document stands that was returned."""
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
        found = {word: meant(word, library.by_letter, library.counts, likely) for word in unknown}
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
