"""Spans of OpenTelemetry as events: all spans of one trace are one event, with the attributes of several dialects.

Read without any SDK: OTLP JSON (`resourceSpans`, and `resourceLogs` with evaluation results), and the JSON of a span
as the Python SDK prints it. Attributes are looked up in `SOURCES`, a table that says the version of each dialect. The
query and the answer are those of the root span, or else of the retrieval and the last model call; results are those
of the last reranker, or else of the last retriever.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple

from rankproof.monitoring.event_values import DOWN, UP, of_digits, text_said


class TraceSpan(NamedTuple):
    """One span, whichever way it was written."""

    trace: str
    id: str
    parent: str | None
    start: float
    end: float
    attributes: dict[str, Any]
    events: list[tuple[str, float, dict[str, Any]]]


def is_span(record: Any) -> bool:
    """Whether a record contains spans (or log records of evaluations) and is not an event itself."""
    if not isinstance(record, dict):
        return False
    if "resourceSpans" in record or "resource_spans" in record or "resourceLogs" in record:
        return True
    context = record.get("context")
    return isinstance(context, dict) and "trace_id" in context and "span_id" in context and "start_time" in record


def spans_of(record: Mapping[str, Any]) -> Iterator[TraceSpan]:
    """The spans that a record holds; other entries are left out."""
    if "context" in record:
        yield _printed(record)
    for resource in _items(record, "resourceSpans", "resource_spans"):
        whole = resource.get("resource")
        common = _attributes(whole.get("attributes")) if isinstance(whole, Mapping) else {}
        for scope in _items(resource, "scopeSpans", "scope_spans", "instrumentationLibrarySpans"):
            for each in _items(scope, "spans"):
                yield TraceSpan(
                    _id(_get(each, "traceId", "trace_id", default="")),
                    _id(_get(each, "spanId", "span_id", default="")),
                    _id(_get(each, "parentSpanId", "parent_span_id", default="")) or None,
                    _nanoseconds(_get(each, "startTimeUnixNano", "start_time_unix_nano")),
                    _nanoseconds(_get(each, "endTimeUnixNano", "end_time_unix_nano")),
                    {**common, **_attributes(each.get("attributes"))},
                    [_event(event, str(event.get("name"))) for event in _items(each, "events")],
                )
    for resource in _items(record, "resourceLogs", "resource_logs"):
        for scope in _items(resource, "scopeLogs", "scope_logs"):
            for each in _items(scope, "logRecords", "log_records"):
                event = _event(each, str(_get(each, "eventName", "event_name", default="")))
                trace = _id(_get(each, "traceId", "trace_id", default=""))
                yield TraceSpan(trace, "", "log", event[1], event[1], {}, [event])


def _printed(record: Mapping[str, Any]) -> TraceSpan:
    """A span as the Python SDK prints it."""
    context, resource = record["context"], record.get("resource") or {}
    return TraceSpan(
        _id(context["trace_id"]),
        _id(context["span_id"]),
        _id(record.get("parent_id") or "") or None,
        _iso(record.get("start_time")),
        _iso(record.get("end_time")),
        {**(resource.get("attributes") or {}), **(record.get("attributes") or {})},
        [
            (str(each.get("name")), _iso(each.get("timestamp")), dict(each.get("attributes") or {}))
            for each in record.get("events") or ()
            if isinstance(each, Mapping)
        ],
    )


def _get(record: Mapping[str, Any], *names: str, default: Any = None) -> Any:
    return next((record[name] for name in names if record.get(name) is not None), default)


def _items(record: Mapping[str, Any], *names: str) -> list[Mapping[str, Any]]:
    found = _get(record, *names, default=[])
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []


def _id(value: Any) -> str:
    """An id; those in hexadecimal are the same in capitals and behind 0x."""
    text = str(value)
    found = re.fullmatch("(0x)?([0-9a-fA-F]+)", text)
    return found[2].lower() if found else text


def _nanoseconds(value: Any) -> float:
    """Seconds of nanoseconds, which some write with a fraction, or as a time; 0 if nobody knows."""
    with suppress(TypeError, ValueError, OverflowError):
        return int(value) / 1e9
    try:
        found = float(value) / 1e9
    except (TypeError, ValueError):
        return _iso(value)
    return found if math.isfinite(found) else 0.0


def _iso(value: Any) -> float:
    try:
        return datetime.fromisoformat(str(value)).timestamp()
    except ValueError:
        return 0.0


def _event(record: Mapping[str, Any], name: str) -> tuple[str, float, dict[str, Any]]:
    time = _nanoseconds(_get(record, "timeUnixNano", "time_unix_nano"))
    return name, time, _attributes(record.get("attributes"))


def _attributes(listed: Any) -> dict[str, Any]:
    """Attributes as a mapping: OTLP writes a list of keys and typed values."""
    if isinstance(listed, Mapping):
        return dict(listed)
    return {
        each["key"]: _typed(each.get("value"))
        for each in (listed if isinstance(listed, list) else ())
        if isinstance(each, Mapping) and isinstance(each.get("key"), str)
    }


def _typed(value: Any) -> Any:
    """A value of OTLP, like {"intValue": "3"}."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return value
    ((kind, inner),) = value.items()
    kind = kind.replace("_v", "V")
    if kind == "intValue":
        with suppress(TypeError, ValueError, OverflowError):
            return int(inner)
        return None  # one value that is none must not cost the others of a line
    listed = inner.get("values") if isinstance(inner, Mapping) else None
    if kind == "arrayValue":
        return [_typed(each) for each in listed] if isinstance(listed, list) else []
    return _attributes(listed) if kind == "kvlistValue" else inner


Placed = tuple[str, int, Any]
"""The name of a source, the number of a line or row in it, and its record."""


SOURCES: dict[str, tuple[str, ...]] = {
    "query": (
        "gen_ai.retrieval.query.text", "gen_ai.input.messages", "gen_ai.prompt", "input.value",
        "traceloop.entity.input", "gen_ai.prompt.0.content",
    ),
    "answer": (
        "gen_ai.output.messages", "gen_ai.completion", "output.value",
        "traceloop.entity.output", "gen_ai.completion.0.content",
    ),
    "session": ("gen_ai.conversation.id", "session.id", "traceloop.association.properties.session_id"),
    "user": ("user.id", "enduser.id", "enduser.pseudo.id", "traceloop.association.properties.user_id"),
    "model": ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name"),
    "documents": ("gen_ai.retrieval.documents", "reranker.output_documents", "retrieval.documents"),
}  # fmt: skip
"""The attributes that hold each field of an event, the best first: those of OpenTelemetry GenAI (semantic conventions
1.38 of 2025-10, in development), then of OpenInference (openinference-semantic-conventions 0.1) and of OpenLLMetry
(traceloop-sdk 0.40). Documents are a list or JSON, or the name begins those of numbered ones: `name.<i>.document.id`.
"""
KINDS = ("openinference.span.kind", "gen_ai.operation.name", "traceloop.span.kind")
MODEL_CALLS = {"llm", "chat", "text_completion", "generate_content"}
FEEDBACK = re.compile(r"thumb|feedback|rating|vote|user[_ .-]?score", re.IGNORECASE)
"""Names of annotations that are a vote of the user."""
EVALUATION = "gen_ai.evaluation."
MOST_OPEN = 10_000
"""Traces whose spans are waited for; when there are more, the oldest is an event."""


class Traces:
    """Spans in, one record for each trace out."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[str, int, list[TraceSpan]]] = {}

    def add(self, name: str, at: int, record: dict[str, Any]) -> Iterator[Placed]:
        """Add the spans of a record, which comes back if it is not OTLP; the oldest traces if too many are open."""
        spans: list[TraceSpan] = []
        try:
            spans.extend(spans_of(record))
        except (TypeError, ValueError, AttributeError, KeyError):
            yield name, at, record
        else:  # an exporter that had nothing to send writes an empty list
            if not spans and any(record.values()):
                yield name, at, record
        for span in spans:
            if span.trace:
                self._open.setdefault(span.trace, (name, at, []))[2].append(span)
            else:  # nobody can say which event it belongs to: a record without a time is rejected
                yield name, at, {"a span without a trace id": span.id}
        yield from self.oldest(MOST_OPEN)

    def oldest(self, kept: int = 0) -> Iterator[Placed]:
        """The events of the oldest traces, until so many are left."""
        while len(self._open) > kept:
            trace = next(iter(self._open))
            name, at, spans = self._open.pop(trace)
            yield name, at, record_of(trace, spans)


def record_of(trace: str, spans: list[TraceSpan]) -> dict[str, Any]:
    """The event of one trace, as a record of our own schema."""
    ids = {span.id for span in spans}
    timed = sorted((span for span in spans if span.parent != "log"), key=lambda span: (span.start, -span.end))
    roots = [span for span in timed if span.parent not in ids] or timed[:1]
    first = min((span.start for span in spans if span.start), default=0.0)
    found: dict[str, Any] = {"ts": first, "id": trace}
    if timed:
        # Clocks of machines differ, so one root says how long it took; spans without an end say nothing.
        some = roots if len(roots) == 1 and roots[0].end > roots[0].start > 0 else timed
        start, end = min(span.start for span in some), max(span.end for span in some)
        found["latency_ms"] = (end - start) * 1000 if end >= start > 0 else None
    for key, each in (pair for span in timed for pair in span.attributes.items()):
        if isinstance(each, (int, float)) or (isinstance(each, str) and len(each) < 200):
            found.setdefault(key, each)
    in_turn = [*roots, *(span for span in timed if span not in roots)]
    calls = [span for span in reversed(timed) if _kind(span) in MODEL_CALLS]
    found["session"] = _first(in_turn, "session")
    found["user"] = _first(in_turn, "user")
    found["model"] = _first(calls or in_turn, "model")
    query, answer = _first(in_turn, "query"), _first([*roots, *calls, *in_turn], "answer")
    if query is not None:
        found["query"] = text_said(query, "user")
    if answer is not None and (text := text_said(answer, "assistant")) is not None:
        found["answer"] = text
    documents = [each for each in map(_documents, reversed(timed)) if each is not None]
    ranked = [each for each in documents if each[0].startswith("reranker")] or documents
    if ranked:
        found["results"] = ranked[0][1]
    _add_events(found, spans)
    return {key: each for key, each in found.items() if each is not None}


def _kind(span: TraceSpan) -> str:
    return str(next((span.attributes[key] for key in KINDS if key in span.attributes), "")).lower()


def _first(spans: Iterable[TraceSpan], field: str) -> Any:
    """The first value of a field, span by span, each in every dialect."""
    values = (span.attributes.get(key) for span in spans for key in SOURCES[field])
    return next((each for each in values if each not in (None, "")), None)


def _documents(span: TraceSpan) -> tuple[str, list[dict[str, Any]]] | None:
    """The documents of a span, and under which attribute; a retriever without any found nothing."""
    attributes = span.attributes
    for key in SOURCES["documents"]:
        if key in attributes:
            return key, _listed(attributes[key])
        if numbered := _numbered(attributes, key):
            return key, numbered
    return ("retrieval.documents", []) if _kind(span) in ("retriever", "retrieval") else None


def _listed(value: Any) -> list[dict[str, Any]]:
    """Documents of a list, or of a list written as JSON."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return []
    found = []
    for each in value if isinstance(value, list) else ():
        each = each.get("document", each) if isinstance(each, Mapping) else {"id": each}
        if (doc := _get(each, "id", "document.id")) is not None:
            content = _get(each, "content", "document.content", "text")
            found.append({"id": doc, "score": _get(each, "score", "document.score"), "text": content})
    return found


def _numbered(attributes: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """Documents under `prefix.<i>.document.id` and `.score`, in the order of their numbers."""
    pattern = re.compile(re.escape(prefix) + r"\.(\d+)\.document\.(id|score|content)")
    found: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        if key.startswith(prefix) and (match := pattern.fullmatch(key)):
            found.setdefault(int(match[1]), {})[match[2]] = value
    return [
        {"id": str(doc)[:200], "score": each.get("score"), "text": each.get("content")}
        for _, each in sorted(found.items())
        if (doc := each.get("id", each.get("content"))) is not None
    ]


def _add_events(found: dict[str, Any], spans: Iterable[TraceSpan]) -> None:
    """Votes, clicks and scores that were added to the trace as annotations, span events or log records."""
    clicks = []
    for span in spans:
        get = span.attributes.get
        numbers = {key.split(".")[1] for key in span.attributes if re.match(r"annotations\.[^.]*\.[^.]*\.", key)}
        for begin in (f"annotations.{at}.annotation." for at in sorted(numbers)):
            _add_score(found, str(get(f"{begin}name", "")), get(f"{begin}score"), get(f"{begin}label"))
        for name, time, attributes in span.events:
            if name == f"{EVALUATION}result":
                score, label = (attributes.get(f"{EVALUATION}score.{each}") for each in ("value", "label"))
                _add_score(found, str(attributes.get(f"{EVALUATION}name", "")), score, label)
            elif name.rsplit(".", 1)[-1] == "click":
                doc = _get(attributes, "document.id", "id", "doc_id")
                clicks.append({"id": doc, "rank": _get(attributes, "rank", "document.rank"), "ts": time})
            elif FEEDBACK.search(name):
                _add_score(found, name, _get(attributes, "score", "value", "thumb"), attributes.get("label"))
    if clicks:
        found["clicks"] = [{key: each for key, each in click.items() if each is not None} for click in clicks]


def _add_score(found: dict[str, Any], name: str, score: Any, label: Any) -> None:
    """A vote, if the name says that users give it; any other score, and a rating in stars, is a field of its name."""
    is_vote, word, score = FEEDBACK.search(name), str(label).strip().lower(), of_digits(score)
    if is_vote and word in UP | DOWN:
        found["thumb"] = word
    elif is_vote and "rating" not in name.lower():
        if isinstance(score, (int, float)):
            found["thumb"] = ("up" if score > 0 else "down") if abs(score) <= 1 else score
    elif name and (value := score if isinstance(score, (int, float)) else label) is not None:
        found.setdefault(name, value)


def resolve_spans(records: Iterable[Placed | None]) -> Iterator[Placed | None]:
    """The records; traces of OpenTelemetry are put together first, each as one event."""
    traces = Traces()
    for each in records:
        if each is not None and is_span(each[2]):
            yield from traces.add(*each)
        else:
            yield each
    yield from traces.oldest()
