"""Cutting documents into chunks, and relating rankings and judgments of chunks, documents and spans."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rankproof.bench.chunk.chunker import Chunk, Chunker, chunked, fixed, recursive, sentences, sliding
from rankproof.bench.chunk.headings import markdown
from rankproof.bench.retrieve.search import Search, as_search, cut_to_allowed
from rankproof.bench.retriever import Found
from rankproof.core.corpus import JudgedSpan, Place, SpanJudgments, place_of
from rankproof.errors import UsageError, check_number, check_one_of, check_whole, explain_calls

__all__ = [
    "Chunk",
    "Chunker",
    "Place",
    "as_documents",
    "chunked",
    "chunks_judged",
    "chunks_to_spans",
    "documents_found",
    "documents_judged",
    "documents_ranked",
    "fixed",
    "markdown",
    "place_of",
    "recursive",
    "sentences",
    "sliding",
    "spans_to_documents",
]

HOW = ("best", "first", "sum")


@explain_calls
def documents_found(found: Iterable[Any], how: str = "best", chunks: Mapping[str, Any] | None = None) -> Found:
    """The documents of the chunks found for one question, each document once, best first.

    `found` is pairs of chunk id and score, best first. A document has the score of its "best" chunk, or the "sum" of
    all; "first" takes the order of first chunks, whatever the scores, and gives scores that fall by one. A chunk that
    comes twice counts once, where it first stands. Documents with equal scores stand in the order of first chunks.

    >>> found = [("d1#0-9", 3.0), ("d2#0-9", 2.0), ("d2#9-20", 1.5)]
    >>> documents_found(found), documents_found(found, "sum")
    ([('d1', 3.0), ('d2', 2.0)], [('d2', 3.5), ('d1', 3.0)])
    """
    check_one_of("how", how, HOW)
    once: dict[str, float] = {}
    for name, score in found:
        once.setdefault(name, float(score))
    scores: dict[str, float] = {}
    for name, score in once.items():
        document = place_of(name, chunks).document
        known = scores.get(document)
        scores[document] = score if known is None else known + score if how == "sum" else max(known, score)
    if how == "first":
        return [(document, float(len(scores) - place)) for place, document in enumerate(scores)]
    return sorted(scores.items(), key=lambda pair: -pair[1])


@explain_calls
def documents_ranked(
    ranking: Mapping[str, Any], how: str = "best", chunks: Mapping[str, Any] | None = None
) -> dict[str, dict[str, float]]:
    """A ranking of chunks, `{query: {chunk: score}}` or `{query: [chunks, best first]}`, as one of documents.

    >>> documents_ranked({"q": ["d1#0-9", "d2#0-9", "d1#9-12"]})
    {'q': {'d1': 3.0, 'd2': 2.0}}
    """
    return {query: dict(documents_found(pairs(found, how), how, chunks)) for query, found in ranking.items()}


def pairs(found: Any, how: str = "best") -> Found:
    """One query's ranking in any of its forms, as pairs of id and score, best first."""
    if isinstance(found, Mapping):
        return sorted(found.items(), key=lambda pair: -pair[1])
    items = list(found)
    if all(isinstance(each, str) for each in items):
        if how == "sum":
            raise UsageError("how='sum': got chunks without scores, expected scores to add. Next: take how='best'.")
        return [(name, float(len(items) - place)) for place, name in enumerate(items)]
    return sorted(((name, float(score)) for name, score in items), key=lambda pair: -pair[1])


@explain_calls
def documents_judged(
    judgments: Mapping[str, Any], chunks: Mapping[str, Any] | None = None
) -> dict[str, dict[str, float]]:
    """Judgments of chunks, `{query: {chunk: grade}}` or `{query: [chunks]}`, as judgments of their documents.

    A document has the highest grade of its chunks.

    >>> documents_judged({"q": {"d1#0-9": 1, "d1#9-12": 3}})
    {'q': {'d1': 3}}
    """
    return {
        query: _highest((place_of(name, chunks).document, grade) for name, grade in _graded(judged))
        for query, judged in judgments.items()
    }


def _graded(judged: Any) -> Iterable[tuple[str, float]]:
    """What is judged with its grades: 1 in a list."""
    return judged.items() if isinstance(judged, Mapping) else ((name, 1) for name in judged)


def _highest(graded: Iterable[tuple[str, float]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, grade in graded:
        found[name] = max(grade, found.get(name, grade))
    return found


def as_documents(
    retriever: Any, how: str = "best", *, deeper: int = 5, chunks: Mapping[str, Any] | None = None
) -> Search:
    """A retriever that searches chunks, in any form that a benchmark takes, as one that answers with their documents.

    It asks for `deeper` times as many chunks as documents are wanted, since several may be of one document.
    """
    check_one_of("how", how, HOW)
    deeper = check_whole("deeper", deeper, advice="give one, like 3")
    of = as_search(retriever)

    def answer(questions: Sequence[str], k: int) -> list[Found]:
        return [documents_found(each, how, chunks)[:k] for each in of.search(questions, k * deeper)]

    def settings() -> dict[str, Any]:
        return {"documents_of": dict(of.settings), "how": how, "deeper": deeper}

    return Search(f"as_documents({of})", settings, cut_to_allowed(answer))


@explain_calls
def chunks_judged(
    spans: SpanJudgments, chunks: Iterable[str] | Mapping[str, Any], overlap: float = 0.5
) -> dict[str, dict[str, float]]:
    """Judgments of the chunks that hold what spans say is relevant.

    A chunk has the grade of a span when they share at least `overlap` of the shorter of the two, counted in
    characters; the chunk that shares most with a span has its grade in any case, so that no span is lost. The
    highest grade counts. `chunks` are ids, a corpus of chunks, or `{id: (document, start, end)}`.

    >>> spans = SpanJudgments({"q": (JudgedSpan("d1", 10, 20, 2),)})
    >>> chunks_judged(spans, ["d1#0-12", "d1#12-30", "d2#0-9"])
    {'q': {'d1#12-30': 2}}
    """
    check_number("overlap", overlap, above=0, most=1, noun="share", advice="try 0.5")
    told = chunks if isinstance(chunks, Mapping) else None
    by_document: dict[str, dict[str, Place]] = {}
    for name in chunks:
        place = place_of(name, told)
        by_document.setdefault(place.document, {})[name] = place
    return {
        query: _highest(
            (name, span.grade)
            for span in judged
            for name in _holding(span, by_document.get(span.document, {}), overlap)
        )
        for query, judged in spans.by_query.items()
    }


def _holding(span: JudgedSpan, places: Mapping[str, Place], overlap: float) -> list[str]:
    """The chunks that count as holding a span."""
    shared = {
        name: common
        for name, place in places.items()
        if (common := min(span.end, place.end) - max(span.start, place.start)) > 0
    }
    most = max(shared.values(), default=0)
    return [
        name
        for name, common in shared.items()
        if common == most or common >= overlap * min(span.end - span.start, places[name].end - places[name].start)
    ]


@explain_calls
def spans_to_documents(spans: SpanJudgments) -> dict[str, dict[str, float]]:
    """Judgments of whole documents: the highest grade of a document's spans.

    >>> spans_to_documents(SpanJudgments({"q": (JudgedSpan("d1", 0, 5, 1), JudgedSpan("d1", 7, 9, 3))}))
    {'q': {'d1': 3}}
    """
    return {query: _highest((each.document, each.grade) for each in judged) for query, judged in spans.by_query.items()}


@explain_calls
def chunks_to_spans(judgments: Mapping[str, Any], chunks: Mapping[str, Any] | None = None) -> SpanJudgments:
    """Judgments of chunks as judgments of the characters they hold, for use with chunks cut otherwise.

    >>> chunks_to_spans({"q": {"d1#0-9": 2}}).by_query
    {'q': (JudgedSpan(document='d1', start=0, end=9, grade=2),)}
    """
    spans = {
        query: tuple(JudgedSpan(*place_of(name, chunks), grade) for name, grade in _graded(judged))
        for query, judged in judgments.items()
    }
    return SpanJudgments(spans, "chunk judgments")
