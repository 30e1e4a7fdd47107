"""Samples: what is judged, read from files, frames, rows, results of other libraries, and spans."""

from __future__ import annotations

import dataclasses
import json
import re
from array import array
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass, replace
from itertools import chain
from string import digits as DIGITS
from typing import Any

import rankproof.judging.samples.sample as sample_values
from rankproof.document.terminal import for_face
from rankproof.errors import DataError, UsageError, nearest, shorten
from rankproof.io.read import Row, rows_of
from rankproof.judging.samples.fields import NAMES, fields_in, is_absent, others_in
from rankproof.judging.samples.sample import Citation, Context, Nugget, Sample

__all__ = ["Citation", "Context", "Nugget", "Sample", "read_samples", "sample_of"]

# Spans of production traces as rows: each trace is one sample.
#
# Read are OpenTelemetry's GenAI spans and OpenInference spans, as plain dicts, as exported OTLP JSON, and as rows of
# a frame whose columns are named `attributes.*`.

QUERY = ("gen_ai.retrieval.query.text", "input.value")
ANSWER = ("output.value",)
PARENTS = ("parent_id", "parentSpanId", "parent_span_id")
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
    columns = (str(name) for name, each in value.items() if not is_absent(each))
    described = value.get("attributes") or any(name.startswith("attributes.") for name in columns)
    return "resourceSpans" in value or (bool(described) and _trace(value) is not None)


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
            "Next: correct this row, or export the traces again."
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
    return {key: value for key, value in columns.items() if not is_absent(value)}


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
    outermost = [
        each for span, each in zip(spans, attributes, strict=True) if not any(span.get(name) for name in PARENTS)
    ]
    query = _first([retrieval, *outermost], QUERY)
    answer = _first(outermost, ANSWER) or next((text for each in attributes if (text := _said(each))), None)
    documents = _documents(retrieval)
    if documents is not None:
        row["contexts"] = documents
    return row | {key: value for key, value in (("query", query), ("answer", answer)) if value}


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
            [each.get("content") for each in parts if isinstance(each, Mapping)]
            if isinstance(parts, list | tuple)
            else []
        )
        found += [each for each in known if isinstance(each, str)]
    return found


def _parsed(value: Any) -> Any:
    """An attribute that holds JSON as text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return None


def _documents(attributes: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The documents of a retrieval span, best first as they stand; None if the span is none."""
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


def read_samples(source: Any) -> Iterator[Sample]:
    """The samples of a path, a data frame, or an iterable of rows, `Sample`s or objects.

    A row without an id is called by its number. Two samples of one id are an error that names both places.

    >>> [sample.query for sample in read_samples([{"question": "why?"}, {"user_input": "how?"}])]
    ['why?', 'how?']
    """
    seen = Places()
    rows = rows_of(_opened(source), "samples")
    first = next(rows, None)
    if first is None:
        raise DataError("samples: empty, there are no samples. Next: check how they were made.")
    rows = chain([first], rows)
    if are_spans(first.value):
        rows = rows_of_spans(rows)  # gathered into one row a trace
    for number, (where, value) in enumerate(rows, 1):
        sample = value if isinstance(value, Sample) else sample_of(value, where, str(number))
        if (before := seen.take(sample.id, where)) is not None:
            raise DataError(
                f"{where}: sample {shorten(sample.id)} was given before ({before}). "
                "Next: give each sample an id of its own."
            )
        yield sample


OF_OBJECTS = ("inputs", "outputs", "reference_outputs", "messages", "expected_output", "context")
"""Parts of rows that are objects."""


class Places:
    """Where each sample was read, in few bytes: numbers at the end apart from the words before them."""

    def __init__(self) -> None:
        self._words: dict[str, str] = {}
        self._seen: dict[str, str] = {}
        self._numbers = array("q")

    def take(self, sample: str, where: str) -> str | None:
        """Take one sample; if it was given before, the place of that.

        >>> places = Places()
        >>> places.take("a", "x.jsonl, line 7"), places.take("a", "x.jsonl, line 9")
        (None, 'x.jsonl, line 7')
        """
        if sample in self._seen:
            number = self._numbers[list(self._seen).index(sample)]
            return f"{self._seen[sample]}{number if number >= 0 else ''}"
        words = where.rstrip(DIGITS)
        self._seen[sample] = self._words.setdefault(words, words)
        self._numbers.append(int(where[len(words) :] or -1))
        return None


def _opened(source: Any) -> Any:
    """The rows behind a dataset of another library that holds its samples in a list."""
    held = [getattr(source, name, None) for name in ("samples", "test_cases", "goldens", "examples")]
    lists = [each for each in held if isinstance(each, list)]
    if lists:
        return next((each for each in lists if each), lists[0])
    if isinstance(source, Mapping) and source and all(hasattr(each, "column_names") for each in source.values()):
        if len(source) > 1:  # a DatasetDict of Hugging Face
            splits = ", ".join(map(repr, source))
            raise UsageError(
                f"samples: got {len(source)} splits ({splits}), expected one. Next: give one, like "
                f"dataset[{next(iter(source))!r}]."
            )
        return next(iter(source.values()))
    return source


def sample_of(row: Any, where: str = "sample", number: str = "1") -> Sample:
    """One sample from a row: a mapping or an object with fields under any name that is known.

    >>> sample = sample_of({"user_input": "why?", "retrieved_contexts": ["since"], "retrieved_context_ids": [7]})
    >>> sample.query, sample.contexts
    ('why?', (Context(id='7', text='since'),))
    """
    plain = sample_values.trec_row(_as_mapping(row, where))
    found = fields_in(plain, where)
    if not set(found) - {"id", "prompt_k"}:
        raise _nothing_known(row, where)
    return _cited(replace(_made(found, where, number), others=others_in(plain)))


def _as_mapping(row: Any, where: str) -> Mapping[str, Any]:
    if isinstance(row, Mapping):
        return row
    if hasattr(row, "model_dump"):
        return dict(row.model_dump())
    if is_dataclass(row) and not isinstance(row, type):
        return {each.name: getattr(row, each.name) for each in dataclasses.fields(row)}
    known = [name for names in NAMES.values() for name in names]
    found = {name: getattr(row, name) for name in (*known, *OF_OBJECTS) if hasattr(row, name)}
    if isinstance(row, str | int | float | list | tuple) or not found:
        raise DataError(
            f"{where}: got {shorten(row)} ({type(row).__name__}), expected a row with fields like "
            "query, contexts, reference, answer. Next: correct this row."
        )
    return found


def _nothing_known(row: Any, where: str) -> DataError:
    given = _as_mapping(row, where)
    names = list(given)
    known = [name for names in NAMES.values() for name in names]
    for name, rows in given.items():
        if isinstance(rows, list) and rows and isinstance(rows[0], Mapping) and fields_in(rows[0], where):
            file = where.rpartition(", ")[0]
            step = for_face(
                f"give that list, as row[{name!r}].", f"write it alone, like jq -c '.{name}[]' {file} > samples.jsonl."
            )
            return DataError(f"{where}: the rows stand one level deeper, in the list {name!r}. Next: {step}")
    guess = next((hint for name in names if (hint := nearest(str(name), known))), "")
    return DataError(
        f"{where}: none of the fields {shorten(names)} is known, expected some of query, contexts, reference, "
        f"answer.{guess} Next: rename them."
    )


def _made(found: Mapping[str, Any], where: str, number: str) -> Sample:
    def text(field: str) -> str | None:
        return sample_values.text_from(found[field], field, where) if field in found else None

    return Sample(
        id=sample_values.identifier(found["id"], where) if "id" in found else number,
        query=text("query"),
        contexts=sample_values.contexts(found["contexts"], found.get("context_ids"), "contexts", where)
        if "contexts" in found
        else None,
        reference=text("reference"),
        answer=text("answer"),
        reference_contexts=sample_values.expected_contexts(
            found.get("reference_contexts"), found.get("reference_context_ids"), where
        )
        if {"reference_contexts", "reference_context_ids"} & set(found)
        else None,
        citations=sample_values.citations(found["citations"], where) if "citations" in found else None,
        nuggets=sample_values.nuggets(found["nuggets"], where) if "nuggets" in found else None,
        prompt_k=sample_values.count(found["prompt_k"], "prompt_k", where) if "prompt_k" in found else None,
        where=where,
    )


def _cited(sample: Sample) -> Sample:
    """With the marks like [1] in its answer as citations, if none were given."""
    from rankproof.judging.samples.sample import marks_in

    if sample.citations is not None or sample.answer is None or not sample.contexts:
        return sample
    plain, found = marks_in(sample.answer, sample.contexts)
    return replace(sample, answer=plain, citations=found) if found else sample
