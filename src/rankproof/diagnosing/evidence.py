"""Collecting the evidence of a diagnosis: the ranking, the judgments and the texts, query by query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from rankproof.comparing.alignment import ABOVE_ZERO, first_measure, hits_of, relevant_from, sign_of
from rankproof.core.corpus import Corpus, Document
from rankproof.core.hits import Array, Hits
from rankproof.core.judgments import Judgments
from rankproof.core.measure import Measure
from rankproof.core.orders import by_id
from rankproof.core.scoring import ceiling
from rankproof.core.table import best_first
from rankproof.diagnosing.holes import Hole, hole
from rankproof.diagnosing.modes import Served
from rankproof.diagnosing.patterns import FEATURES, Cause, causes
from rankproof.diagnosing.query import Asked, Library
from rankproof.scoring.scores import Scores

MOST_ASKED = 500
"""Queries on which other searches are tried: enough for a narrow interval, few enough to wait for."""

DEPTH = 100
"""Documents that a search tried on the spot returns, where the ranking is no deeper."""

ENOUGH = 1e-9
"""Values nearer to their ceiling than this are as good as it gets."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """A ranking with its scores, and what is known of questions and documents."""

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
        """The corpus as the rules look at it."""
        return None if self.corpus is None else Library(self.corpus)

    @property
    def measure(self) -> Measure:
        """The measure that decides."""
        return self.scores.column(first_measure(self.scores)).measure

    @property
    def hits(self) -> Hits:
        """The judged documents that the ranking found."""
        return hits_of(self.scores)

    @property
    def rel(self) -> float:
        """From which grade on a document is relevant: 1, or the least above 0 where grades are finer."""
        least = relevant_from(self.scores)
        above = self.judgments.grade[self.judgments.grade > 0]
        return min(1.0, float(above.min(initial=1.0))) if least == ABOVE_ZERO else least

    @property
    def sign(self) -> int:
        """1 where more of the measure is better, else -1."""
        return sign_of(self.scores)

    @cached_property
    def asked(self) -> dict[str, Asked]:
        """The evidence about each query that counts."""
        return {each.query: each for each in self._asked()}

    def _asked(self) -> Iterator[Asked]:
        values = self.scores.values(self.measure)
        ceilings = dict(zip(self.scores.queries, ceiling(self.measure, self.hits).tolist(), strict=True))
        titles = {} if self.corpus is None else {each.id: each.title for each in self.corpus.values()}
        for query, value in values.items():
            yield Asked(
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

    @cached_property
    def causes(self) -> dict[str, tuple[Cause, ...]]:
        """What the rules say of each query, however it was served."""
        return {query: causes(each) for query, each in self.asked.items()}

    @cached_property
    def served(self) -> dict[str, Served]:
        """Each query with the causes of what it lost; one that lost nothing has none."""
        return {
            query: Served(
                query, each.text, each.value, each.ceiling, self.causes[query] if self._lost(each) else ()
            )
            for query, each in self.asked.items()
        }

    @cached_property
    def found_by_words(self) -> dict[str, list[str]]:
        """What keyword search over the corpus finds for the questions drawn; nothing without both."""
        if self.corpus is None or not self.questions:
            return {}
        from rankproof.bench.retrieve import keyword

        drawn = (query for query, chosen in zip(self.asked, self.drawn.tolist(), strict=True) if chosen)
        texts = {query: text for query in drawn if (text := self.questions.get(query))}
        depth = max(int(self.hits.retrieved.max(initial=0)), DEPTH)
        answers = keyword(self.corpus).search(list(texts.values()), depth)
        return {query: [doc for doc, _ in found] for query, found in zip(texts, answers, strict=True)}

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

    def _lost(self, asked: Asked) -> bool:
        return self.sign * (asked.ceiling - asked.value) > ENOUGH or not asked.relevant

    def worst(self, n: int) -> tuple[Served, ...]:
        """The queries with the worst values; among equals those that lost most first, then by their ids."""
        bad = [each for each in self.served.values() if each.causes]
        lost = {each.query: self.sign * (each.ceiling - each.value) for each in bad}

        def place(each: Served) -> tuple[float, float, tuple[int, str]]:
            return self.sign * each.value, -lost[each.query], by_id(each.query)

        return tuple(sorted(bad, key=place)[:n])

    def kinds(self) -> dict[str, list[str]]:
        """Which queries are of each kind, of those that have something to find."""
        found: dict[str, list[str]] = {}
        for query, asked in self.asked.items():
            for each in self.causes[query] if asked.relevant else ():
                if each.kind in FEATURES:
                    found.setdefault(FEATURES[each.kind], []).append(query)
        return found

    def answerable(self) -> dict[str, float]:
        """The value of each query that has something to find."""
        return {query: each.value for query, each in self.asked.items() if each.relevant}

    @cached_property
    def drawn(self) -> Array:
        """Which of the queries that count other searches are tried on: all, or so many drawn at random."""
        names = list(self.asked)
        if len(names) <= MOST_ASKED:
            return np.ones(len(names), dtype=bool)
        chosen = set(np.random.default_rng(0).permutation(sorted(names))[:MOST_ASKED].tolist())
        return np.array([name in chosen for name in names])

    def unjudged(self) -> float | None:
        """The share of the first k documents that nobody judged; None where only relevant ones are listed."""
        shown = np.minimum(self.hits.retrieved, min(self.k, 1 << 62)).sum()
        if not shown or not bool((self.judgments.grade < self.rel).any()):
            return None
        return float(1 - self.hits.top(self.k).count().sum() / shown)
