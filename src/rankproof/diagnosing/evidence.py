"""The evidence of a diagnosis: the ranking, the judgments and the texts, over all queries and query by query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from rankproof.bench.retriever import Found, Retriever
from rankproof.bench.testset.checks import forms, telling_words
from rankproof.comparing.comparison import first_measure, hits_of, relevant_from, sign_of
from rankproof.core.arrays import by_key
from rankproof.core.corpus import Corpus, Document
from rankproof.core.expected_and_extreme_values import by_id
from rankproof.core.hits import ABOVE_ZERO, Array, Hits
from rankproof.core.judgments import Judgments
from rankproof.core.measure import Measure
from rankproof.core.scoring import ceiling
from rankproof.core.table import best_first
from rankproof.diagnosing.holes import Hole, hole
from rankproof.scoring.scores import Scores
from rankproof.text.languages import COMMON, language
from rankproof.text.words import intended_words, stem

MOST_ASKED = 500
"""Queries on which other searches are tried: enough for a narrow interval, few enough to wait for."""
DEPTH = 100
"""The number of documents that a tried search returns, if the ranking is no deeper."""
NEARLY = 0.8
"""Documents that share this much of their word triples count as near-copies."""
SHINGLE = 3
"""Words that are compared together, so that order counts."""
SAMPLED = 300
"""The number of documents that the language of the corpus is detected from."""


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
        return Counter(word for doc in self.documents for word in set(self.words(doc)))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of all words."""
        return frozenset(map(stem, self.counts))

    @cached_property
    def by_letter(self) -> dict[str, list[str]]:
        """The words by their first letter."""
        return by_key((word[0], word) for word in self.counts)

    @cached_property
    def language(self) -> str:
        """The language of the corpus, as a code."""
        return language(" ".join(each.whole for each in islice(self.documents.values(), SAMPLED)))

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

    def groups_of_copies(self, docs: Sequence[str]) -> list[list[str]]:
        """The documents in groups of near-copies; each is compared with the first of a group."""
        groups: list[list[str]] = []
        for doc in docs:
            own = next((group for group in groups if self.are_alike(group[0], doc)), None)
            if own is None:
                groups.append(own := [])
            own.append(doc)
        return groups

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
        """The rank of each document that was returned and is relevant or shown."""
        wanted = {*self.relevant, *self.shown}
        return {doc: place for place, doc in enumerate(self.returned, start=1) if doc in wanted}

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
        return tuple(telling_words(self.text))

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
        known = self.relevant if self.library is None else self.library.documents
        return tuple(doc for doc in self.relevant if doc not in known)

    @cached_property
    def readable(self) -> tuple[str, ...]:
        """The relevant documents whose texts are known."""
        known = () if self.library is None else self.library.documents
        return tuple(doc for doc in self.relevant if doc in known)


@dataclass(frozen=True, eq=False)
class Evidence:
    """A ranking with its scores, and the known texts of questions and documents."""

    scores: Scores
    judgments: Judgments
    k: int
    conventions: Mapping[str, Any]
    """As they were given to `evaluate`."""
    questions: Mapping[str, str] = field(default_factory=dict)
    corpus: Corpus | None = None

    @cached_property
    def rankings(self) -> dict[str, list[str]]:
        """The documents of each query, best first."""
        ranking = self.scores.ranking
        return {} if ranking is None else best_first(ranking.table(), self.scores.conventions)

    @cached_property
    def library(self) -> Library | None:
        """The corpus in the form that the rules need."""
        return None if self.corpus is None else Library(self.corpus)

    @cached_property
    def measure(self) -> Measure:
        """The measure that decides."""
        return self.scores.column(first_measure(self.scores)).measure

    @cached_property
    def hits(self) -> Hits:
        """The judged documents that the ranking found."""
        return hits_of(self.scores)

    @cached_property
    def rel(self) -> float:
        """The lowest relevant grade: 1, or the least above 0 if grades are finer."""
        least = relevant_from(self.scores)
        above = self.judgments.grade[self.judgments.grade > 0]
        return min(1.0, float(above.min(initial=1.0))) if least == ABOVE_ZERO else least

    @cached_property
    def sign(self) -> int:
        """1 if more of the measure is better, else -1."""
        return sign_of(self.scores)

    @cached_property
    def asked(self) -> dict[str, Asked]:
        """The evidence about each query that counts."""
        ceilings = dict(zip(self.scores.queries, ceiling(self.measure, self.hits).tolist(), strict=True))
        titles = {} if self.corpus is None else {each.id: each.title for each in self.corpus.values()}
        return {
            query: Asked(
                query=query,
                returned=self.rankings.get(query, []),
                grades=self.judgments.of(query),
                k=self.k,
                rel=self.rel,
                text=" ".join(self.questions.get(query, "").split()),
                library=self.library,
                value=value,
                ceiling=ceilings[query],
                titles=titles,
            )
            for query, value in self.scores.values(self.measure).items()
        }

    @cached_property
    def found_by_words(self) -> dict[str, list[str]]:
        """The results of keyword search over the corpus for the questions drawn; empty without texts and corpus."""
        if self.corpus is None or not self.questions:
            return {}
        from rankproof.bench.retrieve import keyword

        return self.search(keyword(self.corpus), self.texts)

    @cached_property
    def depth(self) -> int:
        """The length of the longest ranking."""
        return int(self.hits.retrieved.max(initial=0))

    def search(self, retriever: Retriever, asked: Mapping[str, str]) -> dict[str, list[str]]:
        """The documents that another retriever finds for questions."""
        answers = retriever.search(list(asked.values()), max(self.depth, DEPTH))
        return ids_of(dict(zip(asked, answers, strict=True)))

    @cached_property
    def hole(self) -> Hole | None:
        """The documents that should come up and that no question returns, if they share anything."""
        relevant = {doc for each in self.asked.values() for doc in each.relevant}
        first = {doc for found in self.found_by_words.values() for doc in found[: self.k]}
        returned = {doc for found in self.rankings.values() for doc in found}
        return hole(
            [*relevant, *sorted(first - relevant)],
            returned,
            relevant,
            self.corpus or {doc: Document(doc, "") for doc in relevant},
        )

    @cached_property
    def drawn(self) -> Array:
        """The queries on which other searches are tried: all that count, or this many drawn at random."""
        chosen = set(np.random.default_rng(0).permutation(sorted(self.asked))[:MOST_ASKED].tolist())
        return np.array([query in chosen for query in self.asked], dtype=bool)

    @cached_property
    def texts(self) -> dict[str, str]:
        """The questions on which other searches are tried, as far as their texts are known."""
        drawn = (query for query, chosen in zip(self.asked, self.drawn.tolist(), strict=True) if chosen)
        return {query: text for query in drawn if (text := self.questions.get(query))}

    def unjudged_share(self) -> float | None:
        """The share of the first k documents that nobody judged; None if only relevant ones are listed."""
        others = bool((self.judgments.grade < self.rel).any())
        return self.hits.unjudged_share(min(self.k, 1 << 62)) if others else None

    def room(self) -> float:
        """The share of the first k documents that judged ones could make up."""
        sizes = [(min(len(each.returned), self.k), len(each.grades)) for each in self.asked.values()]
        shown = sum(size for size, _ in sizes)
        return sum(map(min, sizes)) / shown if shown else 1.0


def ids_of(lists: Mapping[str, Found]) -> dict[str, list[str]]:
    """The documents of each query without their scores."""
    return {query: [doc for doc, _ in found] for query, found in lists.items()}
