"""Spans written by the real packages of OpenTelemetry and OpenInference are read back as events."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rankproof.monitoring.events import EventSchema
from rankproof.monitoring.monitor import monitor
from rankproof.monitoring.otel_spans import MOST_OPEN, Traces, spans_of
from rankproof.monitoring.read import read_events

pytestmark = pytest.mark.cover

sdk = pytest.importorskip("opentelemetry.sdk.trace")
semconv = pytest.importorskip("openinference.semconv.trace")
START = 1_740_999_600_000_000_000
"""Noon of 3 March 2025, in nanoseconds."""


def traced(write: Any) -> list[Any]:
    """What the SDK makes of the spans that a function starts."""
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), sdk.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    write(provider.get_tracer("test"))
    return list(exporter.get_finished_spans())


def as_otlp(spans: list[Any]) -> dict[str, Any]:
    """The spans as OTLP JSON: the protobuf of the real exporter, ids in hex as the specification asks."""
    import base64

    from google.protobuf.json_format import MessageToDict
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

    found = MessageToDict(encode_spans(spans))
    for resource in found["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for key in ("traceId", "spanId", "parentSpanId"):
                    if key in span:
                        span[key] = base64.b64decode(span[key]).hex()
    return found


def openinference(tracer: Any) -> None:
    names, doc = semconv.SpanAttributes, semconv.DocumentAttributes
    root = tracer.start_span("ask", start_time=START)
    root.set_attributes(
        {
            names.OPENINFERENCE_SPAN_KIND: "CHAIN",
            names.INPUT_VALUE: "how long is a refund?",
            names.OUTPUT_VALUE: "I don't know the answer to that.",
            names.SESSION_ID: "s1",
            names.USER_ID: "u1",
            "deployment.environment": "prod",
            "annotations.0.annotation.name": "user_feedback",
            "annotations.0.annotation.label": "thumbs_down",
            "annotations.1.annotation.name": "faithfulness",
            "annotations.1.annotation.score": 0.25,
        }
    )
    from opentelemetry.trace import set_span_in_context

    inside = set_span_in_context(root)
    for kind, prefix, ids in (
        ("RETRIEVER", names.RETRIEVAL_DOCUMENTS, ("a", "b", "c")),
        ("RERANKER", semconv.RerankerAttributes.RERANKER_OUTPUT_DOCUMENTS, ("c", "a")),
    ):
        span = tracer.start_span(kind, context=inside, start_time=START + 1_000_000)
        span.set_attribute(names.OPENINFERENCE_SPAN_KIND, kind)
        for at, each in enumerate(ids):
            span.set_attribute(f"{prefix}.{at}.{doc.DOCUMENT_ID}", each)
            span.set_attribute(f"{prefix}.{at}.{doc.DOCUMENT_SCORE}", 1.0 - at / 4)
        span.end(START + 50_000_000)
    root.add_event("click", {"document.id": "a", "rank": 2}, START + 90_000_000)
    root.end(START + 250_000_000)


def genai(tracer: Any) -> None:
    from opentelemetry.trace import set_span_in_context

    root = tracer.start_span("invoke_agent", start_time=START)
    root.set_attributes({"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": "c9", "user.id": "u7"})
    inside = set_span_in_context(root)
    search = tracer.start_span("retrieval", context=inside, start_time=START + 5)
    search.set_attributes(
        {
            "gen_ai.operation.name": "retrieval",
            "gen_ai.retrieval.query.text": "refund deadline",
            "gen_ai.retrieval.documents": json.dumps([{"id": "d1", "score": 0.9}, {"id": "d2", "score": 0.5}]),
        }
    )
    search.end(START + 9)
    chat = tracer.start_span("chat", context=inside, start_time=START + 10)
    said = [{"role": "assistant", "parts": [{"type": "text", "content": "Thirty days."}]}]
    chat.set_attributes({"gen_ai.operation.name": "chat", "gen_ai.output.messages": json.dumps(said)})
    chat.add_event(
        "gen_ai.evaluation.result",
        {"gen_ai.evaluation.name": "relevance", "gen_ai.evaluation.score.value": 0.5},
    )
    chat.end(START + 30)
    root.end(START + 1_000_000_000)


def ways(spans: list[Any], folder: Any) -> list[Any]:
    """Files of these spans: one object, one line for all, a line a span in another order, as the SDK prints them."""
    whole = as_otlp(spans)
    (folder / "pretty.json").write_text(json.dumps(whole, indent=2))
    (folder / "line.jsonl").write_text(json.dumps(whole) + "\n")
    (folder / "apart.jsonl").write_text("".join(json.dumps(as_otlp([span])) + "\n" for span in reversed(spans)))
    (folder / "printed.jsonl").write_text("".join(span.to_json(indent=None) + "\n" for span in spans))
    return sorted(folder.iterdir())


def test_openinference_spans_are_one_event(tmp_path) -> None:
    for path in ways(traced(openinference), tmp_path):
        (event,) = read_events(path)
        assert event.ts == START / 1e9
        assert event.latency_ms == pytest.approx(250)
        assert (event.session, event.user, event.query) == ("s1", "u1", "how long is a refund?")
        assert [(each.id, each.score, each.rank) for each in event.results] == [("c", 1.0, 1), ("a", 0.75, 2)]
        assert [(each.id, each.rank) for each in event.clicks] == [("a", 2)]
        assert event.thumb == -1
        assert event.other["faithfulness"] == 0.25
        found = monitor(path, by=["deployment.environment"], fields=["faithfulness"])
        assert (found["dont_know"], found["ctr"], found["faithfulness"]) == (1, 1, 0.25)
        assert found.estimate("ctr", "deployment.environment", "prod").n == 1
        assert found.rejected == {}


def test_genai_spans_are_one_event(tmp_path) -> None:
    for path in ways(traced(genai), tmp_path):
        (event,) = read_events(path)
        assert (event.session, event.user, event.query) == ("c9", "u7", "refund deadline")
        assert event.answer == "Thirty days."
        assert [(each.id, each.score) for each in event.results] == [("d1", 0.9), ("d2", 0.5)]
        assert event.latency_ms == pytest.approx(1000)
        assert event.other["relevance"] == 0.5


def test_our_own_telemetry_is_read_back(tmp_path) -> None:
    found = monitor([{"ts": START / 1e9 + i, "user": str(i), "clicks": [1] * (i % 2)} for i in range(40)])
    told = json.loads(found.format("otel"))
    spans = list(spans_of(told))
    names = [span.events[0][2]["gen_ai.evaluation.name"] for span in spans]
    assert len(spans) == len(found.estimates) + len(found.windows)
    assert names[: len(found.estimates)] == [each.metric for each in found.estimates]
    scores = [span.events[0][2]["gen_ai.evaluation.score.value"] for span in spans]
    assert scores[0] == found.estimates[0].value


@pytest.mark.slow
def test_traces_do_not_fill_the_memory() -> None:
    traces, made = Traces(), 0
    (span,) = as_otlp(traced(lambda t: t.start_span("a").end()))["resourceSpans"]
    for at in range(MOST_OPEN + 50):
        span["scopeSpans"][0]["spans"][0]["traceId"] = f"{at:032x}"
        made += len(list(traces.add("x", at, {"resourceSpans": [span]})))
    assert made == 50
    assert len(list(traces.oldest())) == MOST_OPEN


def test_spans_without_a_trace_are_rejected_and_counted() -> None:
    record = in_otlp(one_span(), one_span(traceId="", spanId="a1"), one_span(traceId=None, spanId="a2"))
    found = monitor([record])
    assert (found.events, found.rejected) == (1, {"no time": 2})
    assert "no field ts among 'a span without a trace id'" in " ".join(str(found).split())


def test_odd_spans_do_not_end_the_reading() -> None:
    odd = [
        {"resourceSpans": None},
        {"resourceSpans": [{"scopeSpans": [{"spans": [{}]}]}]},
        {
            "resourceSpans": [
                {"scopeSpans": [{"spans": [{"traceId": "a", "startTimeUnixNano": "soon", "attributes": 5}]}]}
            ]
        },
        {"resourceSpans": [{"resource": 7, "scopeSpans": [None, {"spans": [3]}]}]},
        {
            "context": {"trace_id": "b", "span_id": "c"},
            "start_time": "2025-03-03T12:00:00Z",
            "attributes": None,
        },
    ]
    traces = Traces()
    records = [each for record in odd for each in traces.add("x", 1, record)] + list(traces.oldest())
    good = [EventSchema().event(record) for _, _, record in records if record.get("ts")]
    assert [event.id for event in good] == ["b"]


def one_span(**more: Any) -> dict[str, Any]:
    """A search of one second, in OTLP JSON."""
    begin = {"traceId": "5b8aa5a2d2c872e8321cf37308d69df2", "spanId": "051581bf3cb55c13", "name": "search"}
    times = {"startTimeUnixNano": "1741000000000000000", "endTimeUnixNano": "1741000001000000000"}
    query = {"key": "input.value", "value": {"stringValue": "refund?"}}
    return {**begin, **times, **more, "attributes": [query, *more.get("attributes", [])]}


def in_otlp(*spans: dict[str, Any], **resource: Any) -> dict[str, Any]:
    return {"resourceSpans": [{**resource, "scopeSpans": [{"spans": list(spans)}]}]}


@pytest.mark.parametrize(
    "more",
    [
        *({"attributes": [{"key": "n", "value": value}]} for value in (
            {"intValue": "many"}, {"intValue": None}, {"intValue": "1e9"}, {"arrayValue": None}, {"arrayValue": 3},
            {"kvlistValue": None}, {"kvlistValue": {"values": 3}}, None, "plain", {}, {"a": 1, "b": 2},
        )),
        {"startTimeUnixNano": 1741000000000000000, "endTimeUnixNano": 1741000001000000000},
        {"startTimeUnixNano": "1741000000000000000.0", "endTimeUnixNano": 1741000001000000000.0},
        {"startTimeUnixNano": "2025-03-03T11:06:40Z", "endTimeUnixNano": "2025-03-03T11:06:41Z"},
        {"events": None}, {"events": [None, 3]}, {"traceId": "5B8AA5A2D2C872E8321CF37308D69DF2"},
    ],
)  # fmt: skip
def test_one_odd_value_costs_nothing_else_of_a_line(more: dict[str, Any]) -> None:
    other = one_span(traceId="b" * 32)
    for resource in ({}, {"resource": None}, {"resource": []}, {"resource": {"attributes": "none"}}):
        found = monitor([in_otlp(one_span(**more), other, **resource)])
        assert found.events == 2
        assert found.estimate("latency_p50").value == pytest.approx(1000, rel=0.03)


def test_spans_of_one_trace_meet_however_their_ids_are_written_and_wherever_they_stand() -> None:
    child = {"spanId": "ff", "parentSpanId": "051581BF3CB55C13", "startTimeUnixNano": "1740999990000000000"}
    click = {"name": "click", "attributes": [{"key": "rank", "value": {"intValue": "2"}}]}
    vote = {"name": "user_feedback", "attributes": [{"key": "score", "value": {"stringValue": "-1"}}]}
    later = one_span(**child, traceId="5B8AA5A2D2C872E8321CF37308D69DF2", events=[click, vote])
    found = monitor([in_otlp(one_span()), in_otlp(later)])
    assert found.events == 1
    assert found["mrr_first_click"] == 0.5
    assert found["thumbs_up"] == 0
    assert found["latency_p50"] == pytest.approx(1000, rel=0.03)  # the root's: the other clock is ten seconds slow


def test_more_than_one_thumb_is_none() -> None:
    for name, rejected, ratings in (("user_feedback", {"bad thumb": 1}, []), ("rating", {}, [4.0])):
        stars = {"name": name, "attributes": [{"key": "score", "value": {"intValue": "4"}}]}
        found = monitor([in_otlp(one_span()), in_otlp(one_span(traceId="ab" * 16, events=[stars]))], fields=["rating"])
        assert found.rejected == rejected
        assert [each.value for each in found.estimates if each.metric in ("rating", "thumbs_up")] == ratings


@pytest.mark.parametrize("end", [None, "0", "1740999999000000000", "soon"])
def test_a_span_without_an_end_has_no_latency(end: str | None) -> None:
    found = monitor(
        [in_otlp(one_span(endTimeUnixNano=end, attributes=[{"key": "thumb", "value": {"stringValue": "up"}}]))]
    )
    assert [each.metric for each in found.estimates if each.metric.startswith("latency")] == []


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"inputs": {"question": "refund?"}, "tags": []}, {"outputs": {"answer": "I don't know."}, "kwargs": {}}),
        ({"inputs": "refund?", "kwargs": {}}, {"outputs": "I don't know.", "kwargs": {"tags": ["x"]}}),
        ({"args": ["refund?"], "kwargs": {}}, "I don't know."),
        ({"args": [{"top": 3}], "kwargs": {"query": "refund?"}}, {"text": {"parts": []}, "answer": "I don't know."}),
    ],
)
def test_what_chains_and_functions_of_openllmetry_took_and_gave_is_the_query_and_the_answer(asked, told) -> None:
    values = {"traceloop.entity.input": json.dumps(asked), "traceloop.entity.output": json.dumps(told)}
    attributes = [{"key": key, "value": {"stringValue": value}} for key, value in values.items()]
    (event,) = read_events([in_otlp(one_span(attributes=attributes))])
    assert event.query == "refund?"
    assert monitor([in_otlp(one_span(attributes=attributes))])["dont_know"] == 1
