"""From judgments of spans to judgments of chunks and of documents, and from chunks back to spans."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rankproof.core.judged_spans import JudgedSpan, Place, SpanJudgments, place_of
from rankproof.errors import UsageError


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
    if isinstance(overlap, bool) or not isinstance(overlap, (int, float)) or not 0 < overlap <= 1:
        raise UsageError(f"overlap: got {overlap!r}, expected a share above 0, up to 1. Next: try 0.5.")
    by_document = _by_document(chunks)
    return {query: _graded(judged, by_document, overlap) for query, judged in spans.by_query.items()}


def _by_document(chunks: Iterable[str] | Mapping[str, Any]) -> dict[str, dict[str, Place]]:
    told = chunks if isinstance(chunks, Mapping) else None
    found: dict[str, dict[str, Place]] = {}
    for name in chunks:
        place = place_of(name, told)
        found.setdefault(place.document, {})[name] = place
    return found


def _graded(
    judged: Iterable[JudgedSpan], by_document: Mapping[str, Mapping[str, Place]], overlap: float
) -> dict[str, float]:
    found: dict[str, float] = {}
    for span in judged:
        for name in _holding(span, by_document.get(span.document, {}), overlap):
            found[name] = max(span.grade, found.get(name, span.grade))
    return found


def _holding(span: JudgedSpan, places: Mapping[str, Place], overlap: float) -> list[str]:
    """The chunks that count as holding a span."""
    shared = {name: common for name, place in places.items() if (common := _shared(span, place)) > 0}
    most = max(shared.values(), default=0)
    return [
        name
        for name, common in shared.items()
        if common == most or common >= overlap * min(span.end - span.start, _length(places[name]))
    ]


def _shared(span: JudgedSpan, place: Place) -> int:
    return min(span.end, place.end) - max(span.start, place.start)


def _length(place: Place) -> int:
    return place.end - place.start


def spans_to_documents(spans: SpanJudgments) -> dict[str, dict[str, float]]:
    """Judgments of whole documents: the highest grade of a document's spans.

    >>> spans_to_documents(SpanJudgments({"q": (JudgedSpan("d1", 0, 5, 1), JudgedSpan("d1", 7, 9, 3))}))
    {'q': {'d1': 3}}
    """
    found: dict[str, dict[str, float]] = {query: {} for query in spans.by_query}
    for query, judged in spans.by_query.items():
        for span in judged:
            found[query][span.document] = max(span.grade, found[query].get(span.document, span.grade))
    return found


def chunks_to_spans(judgments: Mapping[str, Any], chunks: Mapping[str, Any] | None = None) -> SpanJudgments:
    """Judgments of chunks as judgments of the characters they hold, for use with chunks cut otherwise.

    >>> chunks_to_spans({"q": {"d1#0-9": 2}}).by_query
    {'q': (JudgedSpan(document='d1', start=0, end=9, grade=2),)}
    """
    return SpanJudgments(
        {query: tuple(_spans(judged, chunks)) for query, judged in judgments.items()}, "chunk judgments"
    )


def _spans(judged: Any, chunks: Mapping[str, Any] | None) -> Iterable[JudgedSpan]:
    graded = judged.items() if isinstance(judged, Mapping) else ((name, 1) for name in judged)
    return (JudgedSpan(*place_of(name, chunks), grade) for name, grade in graded)
