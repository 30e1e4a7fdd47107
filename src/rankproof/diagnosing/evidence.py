"""The evidence of a diagnosis: the ranking, the judgments and the texts, query by query, and the effects of changes.

A change is tried right away, on every query, or on `MOST_ASKED` of them if it must search again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from rankproof.bench.fusion import recipe
from rankproof.bench.retrieve.search import blend_lists, search_of_lists
from rankproof.bench.retriever import Found, Retriever
from rankproof.comparing.comparison import first_measure, hits_of, relevant_from, sign_of
from rankproof.core.corpus import Corpus, Document
from rankproof.core.hits import ABOVE_ZERO, Array, Hits
from rankproof.core.judgments import Judgments
from rankproof.core.measure import Measure
from rankproof.core.names import parse
from rankproof.core.orders import by_id
from rankproof.core.scoring import ceiling, split
from rankproof.core.table import best_first
from rankproof.diagnosing.bands import is_high
from rankproof.diagnosing.causes import Asked, Library, without_copies
from rankproof.diagnosing.fixes import Trial
from rankproof.diagnosing.holes import Hole, hole
from rankproof.diagnosing.modes import Served, Whole
from rankproof.diagnosing.patterns import FEATURES, Cause, causes
from rankproof.io.values import as_text
from rankproof.progress import Progress
from rankproof.scoring.evaluate import evaluate
from rankproof.scoring.scores import Scores

MOST_ASKED = 500
"""Queries on which other searches are tried: enough for a narrow interval, few enough to wait for."""

DEPTH = 100
"""The number of documents that a tried search returns, if the ranking is no deeper."""

ENOUGH = 1e-9
"""Values nearer to their ceiling than this count as perfect."""


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
    def causes(self) -> dict[str, tuple[Cause, ...]]:
        """The causes that apply to each query, however well it was served."""
        found: dict[str, tuple[Cause, ...]] = {}
        with closing(Progress("diagnosing", len(self.asked), noun="queries")) as progress:
            for query, each in self.asked.items():
                progress.tell(len(found), 0)
                found[query] = causes(each)
        return found

    @cached_property
    def served(self) -> dict[str, Served]:
        """Each query with the causes of what it lost; one that lost nothing has none."""
        found = {}
        for query, each in self.asked.items():
            lost = self.sign * (each.ceiling - each.value) > ENOUGH or not each.relevant
            found[query] = Served(query, each.text, each.value, each.ceiling, self.causes[query] if lost else ())
        return found

    @cached_property
    def found_by_words(self) -> dict[str, list[str]]:
        """The results of keyword search over the corpus for the questions drawn; empty without texts and corpus."""
        if self.corpus is None or not self.questions:
            return {}
        from rankproof.bench.retrieve import keyword

        return _found(self, keyword(self.corpus), self.texts)

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

    def worst(self, n: int) -> tuple[Served, ...]:
        """The queries with the worst values; among equals those that lost most first, then by their ids."""

        def place(each: Served) -> tuple[float, float, tuple[int, str]]:
            return self.sign * each.value, -self.sign * (each.ceiling - each.value), by_id(each.query)

        return tuple(sorted((each for each in self.served.values() if each.causes), key=place)[:n])

    def kinds(self) -> dict[str, list[str]]:
        """The queries of each kind, among those with a relevant document."""
        found: dict[str, list[str]] = {}
        for query, asked in self.asked.items():
            for each in self.causes[query] if asked.relevant else ():
                if each.kind in FEATURES:
                    found.setdefault(FEATURES[each.kind], []).append(query)
        return found

    def answerable(self) -> dict[str, float]:
        """The value of each query with a relevant document."""
        return {query: each.value for query, each in self.asked.items() if each.relevant}

    @cached_property
    def drawn(self) -> Array:
        """The queries on which other searches are tried: all that count, or this many drawn at random."""
        names = list(self.asked)
        if len(names) <= MOST_ASKED:
            return np.ones(len(names), dtype=bool)
        chosen = set(np.random.default_rng(0).permutation(sorted(names))[:MOST_ASKED].tolist())
        return np.array([name in chosen for name in names])

    @cached_property
    def texts(self) -> dict[str, str]:
        """The questions on which other searches are tried, as far as their texts are known."""
        drawn = (query for query, chosen in zip(self.asked, self.drawn.tolist(), strict=True) if chosen)
        return {query: text for query in drawn if (text := self.questions.get(query))}

    def unjudged(self) -> float | None:
        """The share of the first k documents that nobody judged; None if only relevant ones are listed."""
        shown = np.minimum(self.hits.retrieved, min(self.k, 1 << 62)).sum()
        if not shown or not bool((self.judgments.grade < self.rel).any()):
            return None
        return float(1 - self.hits.top(self.k).count().sum() / shown)

    def room(self) -> float:
        """The share of the first k documents that judged ones could make up."""
        sizes = [(min(len(each.returned), self.k), len(each.grades)) for each in self.asked.values()]
        shown = sum(size for size, _ in sizes)
        return sum(map(min, sizes)) / shown if shown else 1.0


TIMES = 2
"""The factors by which more, or fewer, documents are tried."""

MOST_PLACED = 10_000
"""Dense search is tried up to this number of documents: with more it takes too long."""

RERANKED = 50
"""The number of documents of a ranking that are reranked."""

COPIES_WITHIN = 20
"""The number of documents of a ranking that are compared with each other."""

Rankings = Mapping[str, Any]


def trials(evidence: Evidence, whole: Whole) -> Iterator[Trial]:
    """Every change that can be tried with the given data."""
    yield from _perfect_order(evidence)
    yield from _more_documents(evidence)
    if not is_high(whole.precision) and is_high(whole.recall):
        yield from _fewer_documents(evidence)
    if evidence.library is not None:
        yield from _without_copies(evidence, evidence.library)
    if evidence.corpus is not None and evidence.questions:
        yield from _other_searches(evidence)


def _perfect_order(evidence: Evidence) -> Iterator[Trial]:
    """The gain of the best order of the same documents."""
    scores, measure = evidence.scores, evidence.measure
    parts = split(measure, evidence.hits) if scores.split(measure) is not None else None
    if parts is None:
        return
    column = scores.column(measure)
    added = parts.ranked_too_low if column.counted is None else parts.ranked_too_low[column.counted]
    after = column.counting + evidence.sign * added
    yield _trial("reranking", measure, measure, column.counting, after, {"depth": _depth(evidence)})


def _more_documents(evidence: Evidence) -> Iterator[Trial]:
    k, more = evidence.k, min(TIMES * evidence.k, _depth(evidence))
    if more > k:
        yield _cut(evidence, "larger-k", "R", more, {"k": k, "more": more, "next": k + 1})


def _fewer_documents(evidence: Evidence) -> Iterator[Trial]:
    k, fewer = evidence.k, evidence.k // TIMES
    if fewer:
        yield _cut(evidence, "smaller-k", "P", fewer, {"k": k, "fewer": fewer})


def _cut(evidence: Evidence, kind: str, name: str, at: int, words: Mapping[str, Any]) -> Trial:
    """A measure of the ranking at k, and at another cut."""
    cuts = [parse(name) @ each for each in (evidence.k, at)]
    before, after = cuts if evidence.rel == 1 else [each.with_params({"rel": evidence.rel}) for each in cuts]
    own = evidence.scores.ranking
    return _trial(kind, before, after, _values(evidence, own, before), _values(evidence, own, after), words)


def _without_copies(evidence: Evidence, library: Library) -> Iterator[Trial]:
    """Only the first of each group of near-copies; nothing is tried if there are none."""
    cleaned = {
        query: [*without_copies(docs[:COPIES_WITHIN], library), *docs[COPIES_WITHIN:]]
        for query, docs in evidence.rankings.items()
    }
    if any(len(cleaned[query]) < len(docs) for query, docs in evidence.rankings.items()):
        yield _other(evidence, "copies", cleaned)


def _other_searches(evidence: Evidence) -> Iterator[Trial]:
    """Searches over the corpus fused with the ranking, and the ranking reordered by words."""
    corpus = evidence.corpus
    if corpus is None:
        return
    from rankproof.bench.retrieve import lsa

    by_words = evidence.found_by_words
    if evidence.hole is not None:
        yield _other(evidence, "hole", _filled(evidence, by_words), {"lost": evidence.hole.lost})
    yield _other(evidence, "keyword-instead", {**evidence.rankings, **by_words})
    yield _other(evidence, "keyword", _fused(evidence, by_words))
    yield from _corrected(evidence)
    if len(corpus) <= MOST_PLACED:
        by_meaning = _found(evidence, lsa(corpus), evidence.texts)
        yield _other(evidence, "dense-instead", {**evidence.rankings, **by_meaning})
        yield _other(evidence, "dense", _fused(evidence, by_meaning))
    yield _other(evidence, "lexical-reranking", _reranked(evidence, corpus), {"depth": RERANKED})


def _reranked(evidence: Evidence, corpus: Corpus) -> Rankings:
    """The ranking with its first documents in the order of the embedded reranker; those without a text come last."""
    from rankproof.bench.retrieve import rerank

    asked = {query: text for query, text in evidence.texts.items() if query in evidence.rankings}
    known = {query: [doc for doc in evidence.rankings[query] if doc in corpus] for query in asked}
    first = search_of_lists({asked[query]: _scored(docs) for query, docs in known.items()}, corpus)
    answers = (first >> rerank(depth=RERANKED)).search(list(asked.values()), max(_depth(evidence), RERANKED))
    found = _ids(dict(zip(asked, answers, strict=True)))
    unknown = {query: [doc for doc in evidence.rankings[query] if doc not in corpus] for query in asked}
    return {**evidence.rankings, **{query: [*found[query], *unknown[query]] for query in asked}}


def _scored(docs: Sequence[str]) -> Found:
    """Documents with scores that give their order."""
    return [(doc, float(len(docs) - place)) for place, doc in enumerate(docs)]


def _ids(lists: Mapping[str, Found]) -> dict[str, list[str]]:
    return {query: [doc for doc, _ in found] for query, found in lists.items()}


def _found(evidence: Evidence, retriever: Retriever, asked: Mapping[str, str]) -> dict[str, list[str]]:
    """The documents that another retriever finds for questions."""
    answers = retriever.search(list(asked.values()), max(_depth(evidence), DEPTH))
    return _ids(dict(zip(asked, answers, strict=True)))


def _fused(evidence: Evidence, others: Mapping[str, Sequence[str]]) -> Rankings:
    """The ranking fused with the results of another retriever for the same questions."""
    own = {query: _scored(evidence.rankings.get(query, [])) for query in others}
    found = {query: _scored(docs) for query, docs in others.items()}
    lists = blend_lists({"own": own, "other": found}, recipe(["own", "other"], "rrf"))
    return {**evidence.rankings, **_ids(lists)}


def _filled(evidence: Evidence, others: Mapping[str, Sequence[str]]) -> Rankings:
    """The ranking with the documents that no question returned, each at its place in keyword search."""
    lost = set() if evidence.hole is None else set(evidence.hole.documents)
    filled = {}
    for query, found in others.items():
        docs = list(evidence.rankings.get(query, []))
        for place, doc in enumerate(found):
            if doc in lost:
                docs.insert(place, doc)
        filled[query] = docs
    return {**evidence.rankings, **filled}


def _corrected(evidence: Evidence) -> Iterator[Trial]:
    """Keyword search with corrected questions, and the same search as they were typed."""
    from rankproof.bench.retrieve import Speller, keyword

    if evidence.corpus is None or evidence.library is None:
        return
    texts = evidence.texts
    corrected = Speller(evidence.library.counts)
    spelt = {query: corrected(text) for query, text in texts.items()}
    changed = {query: text for query, text in spelt.items() if text != texts[query]}
    if not changed:
        return
    typed = {**evidence.rankings, **evidence.found_by_words}
    after = {**typed, **_found(evidence, keyword(evidence.corpus), changed)}
    measure, drawn = evidence.measure, evidence.drawn
    as_typed, respelled = (_values(evidence, each, measure)[drawn] for each in (typed, after))
    yield _trial("spelling", measure, measure, as_typed, respelled, {"changed": len(changed)})


def _other(evidence: Evidence, kind: str, ranking: Rankings, words: Mapping[str, Any] | None = None) -> Trial:
    """The deciding measure on another ranking of the same queries."""
    measure, drawn = evidence.measure, evidence.drawn
    before = evidence.scores.column(measure).counting[drawn]
    return _trial(kind, measure, measure, before, _values(evidence, ranking, measure)[drawn], words or {})


def _values(evidence: Evidence, ranking: Any, measure: Measure) -> Array:
    """The values of the queries that count, in the order of the judgments."""
    # The rankings made here have ids of text; that which was given has its own.
    judged = evidence.judgments if ranking is evidence.scores.ranking else as_text(evidence.judgments)
    found = evaluate(judged, ranking, measure, **evidence.conventions)
    counted = evidence.scores.column(evidence.measure).counted
    values = found.column(measure).values
    return values if counted is None else values[counted]


def _depth(evidence: Evidence) -> int:
    return int(evidence.hits.retrieved.max(initial=0))


def _trial(
    kind: str, measure: Measure, after_measure: Measure, before: Array, after: Array, words: Mapping[str, Any]
) -> Trial:
    return Trial(kind, measure.name, after_measure.name, before, after, measure.spec.higher, words)
