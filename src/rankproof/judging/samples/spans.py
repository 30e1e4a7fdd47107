"""Spans of production traces as rows: each trace is one sample.

Read are OpenTelemetry's GenAI spans and OpenInference spans, as plain dicts, as exported OTLP JSON, and as rows of
a frame whose columns are named `attributes.*`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rankproof.errors import DataError, shorten
from rankproof.io.streamed import Row
from rankproof.judging.samples.fields import absent

QUERY = ("gen_ai.retrieval.query.text", "input.value")
ANSWER = ("output.value",)
DOCUMENTS = ("gen_ai.retrieval.documents", "retrieval.documents")
"""Where each dialect keeps what was asked, what was answered, and what was found (GenAI's names first)."""
MESSAGES = ("gen_ai.output.messages", "llm.output_messages")
_NUMBERED = re.compile(r"^retrieval\.documents\.(\d+)\.document\.(id|content|score)$")
_MESSAGE = re.compile(r"^llm\.output_messages\.\d+\.message\.content$")
_TRACE = ("trace_id", "traceId", "context.trace_id")


def are_spans(value: Any) -> bool:
    """Whether a row is a span, or an export of spans, rather than a sample."""
    if not isinstance(value, Mapping):
        return False
    return "resourceSpans" in value or (_has_attributes(value) and _trace(value) is not None)


def _has_attributes(span: Mapping[str, Any]) -> bool:
    return bool(span.get("attributes")) or any(
        str(name).startswith("attributes.") and not absent(value) for name, value in span.items()
    )


def rows_of_spans(rows: Iterable[Row]) -> Iterator[Row]:
    """One row a trace that has a retrieval, in the order in which the traces begin."""
    traces: dict[str, list[Mapping[str, Any]]] = {}
    places: dict[str, str] = {}
    for where, value in rows:
        for span in _read(value, where):
            trace = str(_trace(span))
            traces.setdefault(trace, []).append(span)
            places.setdefault(trace, where)
    for trace, spans in traces.items():
        row = _sample(trace, spans)
        if "contexts" in row:
            yield Row(places[trace], row)


def _read(value: Any, where: str) -> list[Mapping[str, Any]]:
    """The spans in a row, each with its attributes by name."""
    try:
        return [{**span, "attributes": _attributes(span)} for span in _spans(value)]
    except (TypeError, LookupError, AttributeError, ValueError) as error:
        raise DataError(
            f"{where}: got {shorten(value)}, expected spans as OpenTelemetry or OpenInference write them. "
            "Next: correct this row, or export the traces anew."
        ) from error


def _spans(value: Any) -> Iterator[Mapping[str, Any]]:
    """The spans in a row: itself, or those of an export."""
    if not isinstance(value, Mapping) or "resourceSpans" not in value:
        yield from [value] if isinstance(value, Mapping) else []
        return
    for resource in value["resourceSpans"]:
        for scope in resource.get("scopeSpans", ()):
            yield from scope.get("spans", ())


def _trace(span: Mapping[str, Any]) -> Any:
    context = span.get("context")
    inner = context.get("trace_id") if isinstance(context, Mapping) else None
    return next((span[name] for name in _TRACE if span.get(name)), inner)


def _attributes(span: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a span by their full names, whichever way they are kept."""
    given = span.get("attributes")
    if isinstance(given, list):
        return {each["key"]: _value(each.get("value")) for each in given}
    if isinstance(given, Mapping):
        return _flat(given)
    columns = {key.removeprefix("attributes."): v for key, v in span.items() if key.startswith("attributes.")}
    return {key: value for key, value in columns.items() if not absent(value)}


def _value(value: Any) -> Any:
    """A value of OTLP JSON: `{"stringValue": ...}`, and lists and mappings of such."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return value
    (kind, inner), *_ = value.items()
    if kind == "arrayValue":
        return [_value(each) for each in inner.get("values", ())]
    if kind == "kvlistValue":
        return {each["key"]: _value(each.get("value")) for each in inner.get("values", ())}
    return inner


def _flat(nested: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Attributes in mappings within mappings, by the names with points that they stand for."""
    found: dict[str, Any] = {}
    for key, value in nested.items():
        name = f"{before}{key}"
        found |= _flat(value, f"{name}.") if isinstance(value, Mapping) else {name: value}
    return found


def _sample(trace: str, spans: list[Mapping[str, Any]]) -> dict[str, Any]:
    """The row of one trace: what was asked and found by its retrieval, what was answered at its root."""
    row: dict[str, Any] = {"id": trace}
    attributes: list[dict[str, Any]] = [span["attributes"] for span in spans]
    retrieval = next((each for each in attributes if _documents(each) is not None), {})
    outermost = [each for span, each in zip(spans, attributes, strict=True) if not _parent(span)]
    query = _first([retrieval, *outermost], QUERY)
    answer = _first(outermost, ANSWER) or next((text for each in attributes if (text := _said(each))), None)
    documents = _documents(retrieval)
    if documents is not None:
        row["contexts"] = documents
    return row | {key: value for key, value in (("query", query), ("answer", answer)) if value}


def _parent(span: Mapping[str, Any]) -> Any:
    return span.get("parent_id") or span.get("parentSpanId") or span.get("parent_span_id")


def _first(places: list[dict[str, Any]], names: tuple[str, ...]) -> Any:
    return next((each[name] for each in places for name in names if each.get(name)), None)


def _said(attributes: Mapping[str, Any]) -> str | None:
    """The last words of a model in a span of its own."""
    texts = [value for name, value in attributes.items() if _MESSAGE.match(name) and isinstance(value, str)]
    for name in MESSAGES:
        texts += _texts(_parsed(attributes.get(name)))
    return texts[-1] if texts else None


def _texts(messages: Any) -> list[str]:
    """The texts in messages: `content`, or the parts of type text."""
    found = []
    for message in messages if isinstance(messages, list) else []:
        inner = message.get("message", message) if isinstance(message, Mapping) else {}
        parts = inner.get("parts") or [{"content": inner.get("content", inner.get("message.content"))}]
        known = (
            [each.get("content") for each in parts if isinstance(each, Mapping)] if _is_list(parts) else []
        )
        found += [each for each in known if isinstance(each, str)]
    return found


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _parsed(value: Any) -> Any:
    """An attribute that holds JSON as text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return None


def _documents(attributes: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The documents of a retrieval span, best first as they stand; None where the span is none."""
    numbered: dict[int, dict[str, Any]] = {}
    for name, value in attributes.items():
        if found := _NUMBERED.match(name):
            numbered.setdefault(int(found[1]), {})[found[2]] = value
    if numbered:
        return [_document(numbered[place]) for place in sorted(numbered)]
    for name in DOCUMENTS:
        listed = _parsed(attributes.get(name))
        if isinstance(listed, list):
            return [_document(each) for each in listed if isinstance(each, Mapping)]
    return None


def _document(found: Mapping[str, Any]) -> dict[str, Any]:
    """The id and text of a document; one recorded without its text is marked so."""
    plain = {key.removeprefix("document."): value for key, value in _flat(found).items()}
    text = plain.get("content", plain.get("text"))
    document = {"text": "", "recorded": False} if text is None else {"text": text}
    return {"id": plain["id"], **document} if plain.get("id") is not None else document
