"""Changes tried on the spot: what each would have done to every query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rankproof.bench.fusion.recipe import recipe
from rankproof.bench.retrieve.dense_search import blend_lists, search_of_lists
from rankproof.bench.retriever import Found, Retriever
from rankproof.core.corpus import Corpus
from rankproof.core.hits import Array
from rankproof.core.measure import Measure
from rankproof.core.names import parse
from rankproof.core.scoring import split
from rankproof.diagnosing.causes import without_copies
from rankproof.diagnosing.evidence import DEPTH, Evidence
from rankproof.diagnosing.fixes import Trial
from rankproof.diagnosing.modes import Whole, is_high
from rankproof.io.ids import as_text
from rankproof.scoring.evaluate import evaluate

TIMES = 2
"""How many times as many documents, or how many times fewer, are tried."""

MOST_PLACED = 10_000
"""Documents up to which dense search is tried: more take longer than one waits for."""

RERANKED = 50
"""Documents of a ranking that are reranked on the spot."""

COPIES_WITHIN = 20
"""Documents of a ranking that are compared with one another."""

Rankings = Mapping[str, Any]


def trials(evidence: Evidence, whole: Whole) -> Iterator[Trial]:
    """Every change that can be tried with what is at hand."""
    yield from _perfect_order(evidence)
    yield from _more_documents(evidence)
    if not is_high(whole.precision) and is_high(whole.recall):
        yield from _fewer_documents(evidence)
    if evidence.library is not None:
        yield from _without_copies(evidence)
    if evidence.corpus is not None and evidence.questions:
        yield from _other_searches(evidence)


def _perfect_order(evidence: Evidence) -> Iterator[Trial]:
    """What the best order of the same documents would add."""
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
        words = {"k": k, "more": more, "next": k + 1}
        yield _cut(evidence, "larger-k", _at(evidence, "R", k), _at(evidence, "R", more), words)


def _fewer_documents(evidence: Evidence) -> Iterator[Trial]:
    k, fewer = evidence.k, evidence.k // TIMES
    if fewer:
        words = {"k": k, "fewer": fewer}
        yield _cut(evidence, "smaller-k", _at(evidence, "P", k), _at(evidence, "P", fewer), words)


def _cut(evidence: Evidence, kind: str, before: Measure, after: Measure, words: Mapping[str, Any]) -> Trial:
    own = evidence.scores.ranking
    values = _values(evidence, own, before), _values(evidence, own, after)
    return _trial(kind, before, after, *values, words)


def _without_copies(evidence: Evidence) -> Iterator[Trial]:
    """Only the first of each group of near-copies; nothing is tried where there are none."""
    library = evidence.library
    if library is None:
        return
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
        by_meaning = _found(evidence, lsa(corpus), _texts(evidence))
        yield _other(evidence, "dense-instead", {**evidence.rankings, **by_meaning})
        yield _other(evidence, "dense", _fused(evidence, by_meaning))
    yield _other(evidence, "lexical-reranking", _reranked(evidence, corpus), {"depth": RERANKED})


def _reranked(evidence: Evidence, corpus: Corpus) -> Rankings:
    """The ranking with its first documents in the order of the embedded reranker; what has no text comes last."""
    from rankproof.bench.retrieve import rerank

    asked = {query: text for query, text in _texts(evidence).items() if query in evidence.rankings}
    known = {query: [doc for doc in evidence.rankings[query] if doc in corpus] for query in asked}
    first = search_of_lists({asked[query]: _scored(docs) for query, docs in known.items()}, corpus)
    answers = (first >> rerank(depth=RERANKED)).search(list(asked.values()), max(_depth(evidence), RERANKED))
    found = _ids(dict(zip(asked, answers, strict=True)))
    unknown = {query: [doc for doc in evidence.rankings[query] if doc not in corpus] for query in asked}
    return {**evidence.rankings, **{query: [*found[query], *unknown[query]] for query in asked}}


def _scored(docs: Sequence[str]) -> Found:
    """Documents with scores that say their order."""
    return [(doc, float(len(docs) - place)) for place, doc in enumerate(docs)]


def _ids(lists: Mapping[str, Found]) -> dict[str, list[str]]:
    return {query: [doc for doc, _ in found] for query, found in lists.items()}


def _found(evidence: Evidence, retriever: Retriever, asked: Mapping[str, str]) -> dict[str, list[str]]:
    """What another retriever finds for questions."""
    answers = retriever.search(list(asked.values()), max(_depth(evidence), DEPTH))
    return _ids(dict(zip(asked, answers, strict=True)))


def _fused(evidence: Evidence, others: Mapping[str, Sequence[str]]) -> Rankings:
    """The ranking and what another retriever found for the same questions, as one."""
    own = {query: _scored(evidence.rankings.get(query, [])) for query in others}
    found = {query: _scored(docs) for query, docs in others.items()}
    lists = blend_lists({"own": own, "other": found}, recipe(["own", "other"], "rrf"))
    return {**evidence.rankings, **_ids(lists)}


def _filled(evidence: Evidence, others: Mapping[str, Sequence[str]]) -> Rankings:
    """The ranking with the documents that no question returned, each at the place where keyword search has it."""
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
    """Keyword search with questions corrected beside the same search as they were typed."""
    from rankproof.bench.retrieve import Speller, keyword

    if evidence.corpus is None or evidence.library is None:
        return
    texts = _texts(evidence)
    corrected = Speller(evidence.library.counts)
    spelt = {query: corrected(text) for query, text in texts.items()}
    changed = {query: text for query, text in spelt.items() if text != texts[query]}
    if not changed:
        return
    typed = {**evidence.rankings, **evidence.found_by_words}
    after = {**typed, **_found(evidence, keyword(evidence.corpus), changed)}
    measure, drawn = evidence.measure, evidence.drawn
    as_typed, mended = (_values(evidence, each, measure)[drawn] for each in (typed, after))
    yield _trial("spelling", measure, measure, as_typed, mended, {"changed": len(changed)})


def _other(evidence: Evidence, kind: str, ranking: Rankings, words: Mapping[str, Any] | None = None) -> Trial:
    """The deciding measure on another ranking of the same queries."""
    measure, drawn = evidence.measure, evidence.drawn
    before = evidence.scores.column(measure).counting[drawn]
    return _trial(kind, measure, measure, before, _values(evidence, ranking, measure)[drawn], words or {})


def _texts(evidence: Evidence) -> dict[str, str]:
    """The questions that other searches are tried on, as far as their texts are known."""
    drawn = (query for query, chosen in zip(evidence.asked, evidence.drawn.tolist(), strict=True) if chosen)
    return {query: text for query in drawn if (text := evidence.questions.get(query))}


def _values(evidence: Evidence, ranking: Any, measure: Measure) -> Array:
    """The values of the queries that count, in the order of the judgments."""
    found = evaluate(as_text(evidence.judgments), ranking, measure, **evidence.conventions)
    counted = evidence.scores.column(evidence.measure).counted
    values = found.column(measure).values
    return values if counted is None else values[counted]


def _at(evidence: Evidence, name: str, k: int) -> Measure:
    measure: Measure = parse(name) @ k
    return measure if evidence.rel == 1 else measure.with_params({"rel": evidence.rel})


def _depth(evidence: Evidence) -> int:
    return int(evidence.hits.retrieved.max(initial=0))


def _trial(
    kind: str,
    measure: Measure,
    after_measure: Measure,
    before: Array,
    after: Array,
    words: Mapping[str, Any],
) -> Trial:
    return Trial(kind, measure.name, after_measure.name, before, after, measure.spec.higher, words)
