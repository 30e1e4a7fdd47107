"""Samples to judge, read from files, frames, rows, results of other libraries, and spans."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import chain
from typing import Any

import rankproof.judging.samples.sample as sample_values
from rankproof.document.numbers import count
from rankproof.errors import DataError, UsageError, shorten
from rankproof.io.read import Row, rows_of
from rankproof.io.values import list_in_cell
from rankproof.judging.samples.sample import KNOWN, NAMES, Citation, Context, Sample, is_absent, without_arrays
from rankproof.suggestions import nearest

__all__ = ["Citation", "Context", "Sample", "read_samples", "sample_of"]


def read_samples(source: Any) -> Iterator[Sample]:
    """The samples of a path, a data frame, or an iterable of rows, `Sample`s or objects.

    A row without an id is called by its number. Two samples of one id are an error that names both.

    >>> [sample.query for sample in read_samples([{"question": "why?"}, {"user_input": "how?"}])]
    ['why?', 'how?']
    """
    seen: dict[str, int] = {}
    rows = rows_of(_opened(source), "samples", _is_sample)
    first = next(rows, None)
    if first is None:
        raise DataError("samples: empty, there are no samples. Next: check how they were made.")
    rows = chain([first], rows)
    rows = rows_of_spans(rows) if are_spans(first.value) else rows
    for number, (where, value) in enumerate(rows, 1):
        sample = value if isinstance(value, Sample) else sample_of(value, where, str(number))
        if (before := seen.setdefault(sample.id, number)) != number:
            raise DataError(
                f"{where}: sample {shorten(sample.id)} was given before (sample {before} of all). "
                "Next: give each sample an id of its own."
            )
        yield sample


def _opened(source: Any) -> Any:
    """The rows behind a dataset of another library that holds its samples in a list."""
    names = ("samples", "test_cases", "goldens", "examples")
    if lists := [each for name in names if isinstance(each := sample_values.get_from(source, name), list)]:
        return next(filter(None, lists), lists[0])
    if isinstance(source, Mapping) and source and all(hasattr(each, "column_names") for each in source.values()):
        if len(source) > 1:  # a DatasetDict of Hugging Face
            first, splits = next(iter(source)), ", ".join(map(repr, source))
            raise UsageError(
                f"samples: got the splits {splits}, expected one. Next: give one, like dataset[{first!r}]."
            )
        return next(iter(source.values()))
    return source


def _is_sample(whole: dict[str, Any], inside: dict[str, Any]) -> bool:
    """Whether a JSON object is a sample or spans itself, and what is inside its only list no sample."""
    known = fields_in(sample_values.trec_row(whole), "")
    return are_spans(whole) or "query" in known or (bool(known) and "query" not in fields_in(inside, ""))


def sample_of(row: Any, where: str = "sample", number: str = "1") -> Sample:
    """One sample from a row: a mapping or an object with fields under any name that is known.

    >>> sample = sample_of({"user_input": "why?", "retrieved_contexts": ["since"], "retrieved_context_ids": [7]})
    >>> sample.query, sample.contexts
    ('why?', (Context(id='7', text='since'),))
    """
    plain = sample_values.trec_row(without_arrays(dict(_as_mapping(row, where))))
    if plain and all(isinstance(each, Mapping) and "0" in each for each in plain.values()):
        raise DataError(
            f"{where}: got a table by columns, as frame.to_json() writes it, expected rows. "
            "Next: write it by rows, with frame.to_json(FILE, orient='records')."
        )
    found = fields_in(plain, where)
    if not set(found) - {"id", "prompt_k"}:
        guess = next((hint for name in plain if name not in KNOWN and (hint := nearest(str(name), KNOWN))), "")
        raise DataError(
            f"{where}: none of the fields {shorten(list(plain))} holds what is judged, expected some of query, "
            f"contexts, reference, answer.{guess} Next: rename them, or add one."
        )
    sample = replace(_made(found, where, number), others=others_in(plain))
    if sample.citations is not None or sample.answer is None or not sample.contexts:
        return sample
    # Marks like [1] in its answer are citations, if none were given.
    answer, citations = sample_values.marks_in(sample.answer, sample.contexts)
    return replace(sample, answer=answer, citations=citations) if citations else sample


def _as_mapping(row: Any, where: str) -> Mapping[str, Any]:
    if isinstance(row, Mapping):
        return row
    if hasattr(row, "model_dump"):
        return dict(row.model_dump())
    if is_dataclass(row) and not isinstance(row, type):
        return {each.name: getattr(row, each.name) for each in fields(row)}
    found = {name: getattr(row, name) for name in (*KNOWN, *NESTED, EITHER, "messages") if hasattr(row, name)}
    if isinstance(row, str | int | float | list | tuple) or not found:
        raise DataError(
            f"{where}: got {shorten(row)} ({type(row).__name__}), expected a row with fields like "
            "query, contexts, reference, answer. Next: correct this row."
        )
    return found


def _made(found: Mapping[str, Any], where: str, number: str) -> Sample:
    def value(field: str, read: Callable[..., Any], *more: Any) -> Any:
        return read(found[field], *more, where) if field in found else None

    expected = found.get("reference_contexts"), found.get("reference_context_ids")
    return Sample(
        id=sample_values.identifier(found["id"], where) if "id" in found else number,
        query=value("query", sample_values.text_from, "query"),
        contexts=value("contexts", sample_values.contexts, found.get("context_ids"), "contexts"),
        reference=value("reference", sample_values.text_from, "reference"),
        answer=value("answer", sample_values.text_from, "answer"),
        reference_contexts=sample_values.expected_contexts(*expected, where),
        citations=value("citations", sample_values.citations),
        nuggets=value("nuggets", sample_values.nuggets),
        prompt_k=value("prompt_k", sample_values.count, "prompt_k"),
        where=where,
    )


# --- the fields of a row, under any name that is known ------------------------------------------------------

EITHER = "context"
"""DeepEval calls by this name what should have been retrieved, most others what was."""
NESTED = ("inputs", "outputs", "expectations", "input", "output")
"""MLflow, LangSmith and Langfuse keep the fields of a row in these."""
EXPECTED = ("reference_outputs", "expectedOutput", "expected_output")
"""LangSmith and Langfuse keep what should have come in these."""


def fields_in(row: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The fields of a row under our names; those that are None or not there are left out.

    >>> fields_in({"user_input": "why?", "response": None, "score": 3}, "row 1")
    {'query': 'why?'}
    """
    flat = _unnested(row)
    found = {}
    for field, names in NAMES.items():
        given = {name: flat[name] for name in names if name in flat}
        texts = given.get("ground_truths")
        if isinstance(texts, list) and all(isinstance(each, str) for each in texts):
            given["ground_truths"] = "\n".join(texts)  # Ragas's former list of references, as Ragas read them
        if given:
            found[field] = _agreed(given, field, where)
    return found


def others_in(row: Mapping[str, Any]) -> dict[str, str | int | float]:
    """The single values of a row, and of its metadata, that are not a field of a sample.

    >>> others_in({"query": "why?", "kind": "short", "metadata": {"topic": "fees"}, "tags": ["a"]})
    {'topic': 'fees', 'kind': 'short'}
    """
    beside = row.get("metadata")
    flat = {**(beside if isinstance(beside, Mapping) else {}), **_unnested(row)}
    return {
        str(key): value
        for key, value in flat.items()
        if key not in KNOWN and isinstance(value, str | int | float) and not is_absent(value)
    }


def _unnested(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row without what is not there, with the fields that are kept in a part of it."""
    for name in ("inputs", "outputs", "expectations", "reference_outputs", "messages"):
        cell = row.get(name)  # of a table, with JSON
        if isinstance(cell, str) and cell[:1] in ("{", "[") and (found := list_in_cell(cell)):
            row = {**row, name: found}
    known = {*KNOWN, EITHER}
    parts = {name: row[name] for name in NESTED if isinstance(row.get(name), Mapping) and known & row[name].keys()}
    wanted = {name: row[name] for name in EXPECTED if isinstance(row.get(name), Mapping)}
    every = sample_values.talk_in(row["messages"]) if isinstance(row.get("messages"), list | tuple) else {}
    for part in (*parts.values(), *map(_expected, wanted.values())):
        every |= part
    every |= {key: value for key, value in row.items() if key not in parts and key not in wanted}
    flat = {str(key): value for key, value in every.items() if not is_absent(value)}
    for part, field in ("inputs", "query"), ("outputs", "answer"):  # MLflow's may be texts
        if isinstance(flat.get(part), str) and flat[part][:1] != "{" and not {*NAMES[field]} & flat.keys():
            flat[field] = flat.pop(part)
    if EITHER in flat:
        # What it means, the other fields of a row tell, empty ones included.
        others = {*NAMES["contexts"], "retrieval_context", "actual_output", "expected_output"}
        flat["reference_contexts" if others & every.keys() else "contexts"] = flat.pop(EITHER)
    return flat


def _expected(part: Mapping[str, Any]) -> dict[str, Any]:
    names = {
        "reference": (*NAMES["reference"], *NAMES["answer"], "text", "content"),
        "reference_contexts": (*NAMES["reference_contexts"], *NAMES["contexts"], EITHER),
        "nuggets": NAMES["nuggets"],
    }
    values = {field: [part[name] for name in given if not is_absent(part.get(name))] for field, given in names.items()}
    return {field: found[0] for field, found in values.items() if found}


def _agreed(given: Mapping[str, Any], field: str, where: str) -> Any:
    """The one value of a field that may be given under several names."""
    (first, value), *others = given.items()
    for name, other in others:
        if other != value:
            raise DataError(
                f"{where}: {first!r} and {name!r} both give the {field}, and differ: {shorten(value)} and "
                f"{shorten(other)}. Next: keep one of them."
            )
    return value


# --- spans of production traces as rows: each trace is one sample -----------------------------------------
# OpenTelemetry's GenAI spans and OpenInference spans: dicts, OTLP JSON, or rows of a frame with `attributes.*`.

QUERY = ("gen_ai.retrieval.query.text", "input.value")
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
    described = without_arrays(value.get("attributes")) or any(name.startswith("attributes.") for name in columns)
    return "resourceSpans" in value or (bool(described) and _trace(value) is not None)


def rows_of_spans(rows: Iterable[Row]) -> Iterator[Row]:
    """One row a trace that has a retrieval, in the order in which the traces begin."""
    traces: dict[str, tuple[str, list[Mapping[str, Any]]]] = {}
    for where, value in rows:
        for span in _spans(value, where):
            traces.setdefault(str(_trace(span)), (where, []))[1].append(span)
    found = [Row(where, _sample(trace, spans)) for trace, (where, spans) in traces.items()]
    found = [row for row in found if row.value["contexts"] is not None]
    if not found:
        step = f"give spans with {' or '.join(DOCUMENTS)} among their attributes"
        said = f"no span of {count(len(traces), 'trace')} says which documents were found"
        raise DataError(f"samples: {said}. Next: {step}.")
    return iter(found)


def _spans(value: Any, where: str) -> list[Mapping[str, Any]]:
    """The spans in a row, itself or those of an export, each with its attributes by name."""
    spans = [value] if isinstance(value, Mapping) else []
    try:
        if spans and "resourceSpans" in value:
            scopes = (scope for resource in value["resourceSpans"] for scope in resource.get("scopeSpans", ()))
            spans = [span for scope in scopes for span in scope.get("spans", ())]
        return [{**span, "attributes": _attributes(span)} for span in spans]
    except (TypeError, LookupError, AttributeError, ValueError) as error:
        raise DataError(
            f"{where}: got {shorten(value)}, expected spans as OpenTelemetry or OpenInference write them. "
            "Next: correct this row, or export the traces again."
        ) from error


def _trace(span: Mapping[str, Any]) -> Any:
    context = span.get("context")
    inner = context.get("trace_id") if isinstance(context, Mapping) else None
    return next((span[name] for name in _TRACE if span.get(name)), inner)


def _attributes(span: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a span by their full names, whichever way they are kept."""
    given = without_arrays(span.get("attributes"))
    if isinstance(given, list):
        return {each["key"]: _value(each.get("value")) for each in given}
    if isinstance(given, Mapping):
        return _dotted(given)
    columns = ((key, value) for key, value in span.items() if key.startswith("attributes."))
    return {key.removeprefix("attributes."): value for key, value in columns if not is_absent(value)}


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


def _dotted(nested: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Attributes in mappings within mappings, by the names with points that they stand for."""
    found: dict[str, Any] = {}
    for key, value in nested.items():
        name = f"{before}{key}"
        found |= _dotted(value, f"{name}.") if isinstance(value, Mapping) else {name: value}
    return found


def _sample(trace: str, spans: list[Mapping[str, Any]]) -> dict[str, Any]:
    """The row of one trace: what was asked and found by its retrieval, what was answered at its root."""
    attributes: list[dict[str, Any]] = [span["attributes"] for span in spans]
    retrieval = next((each for each in attributes if _documents(each) is not None), {})
    outermost = [span["attributes"] for span in spans if not any(span.get(name) for name in PARENTS)]
    answer = _first(outermost, ("output.value",)) or next((text for each in attributes if (text := _said(each))), None)
    query = _first([retrieval, *outermost], QUERY)
    return {"id": trace, "query": query, "contexts": _documents(retrieval), "answer": answer}


def _first(places: list[dict[str, Any]], names: tuple[str, ...]) -> Any:
    return next((each[name] for each in places for name in names if each.get(name)), None)


def _said(attributes: Mapping[str, Any]) -> str | None:
    """The last words of a model in a span of its own: `content` of a message, or its parts of type text."""
    texts: list[Any] = [value for name, value in attributes.items() if _MESSAGE.match(name)]
    for messages in (_parsed(attributes.get(name)) for name in MESSAGES):
        for message in messages if isinstance(messages, list) else []:
            inner = message.get("message", message) if isinstance(message, Mapping) else {}
            parts = inner.get("parts") or [{"content": inner.get("content", inner.get("message.content"))}]
            if isinstance(parts, list | tuple):
                texts += [each.get("content") for each in parts if isinstance(each, Mapping)]
    return next((each for each in reversed(texts) if isinstance(each, str)), None)


def _parsed(value: Any) -> Any:
    """An attribute that may hold a list or an object as text."""
    return list_in_cell(value) if isinstance(value, str) else without_arrays(value)


def _documents(attributes: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The documents of a retrieval span, best first as they stand; None if the span is none."""
    numbered: dict[int, dict[str, Any]] = {}
    for name, value in attributes.items():
        if found := _NUMBERED.match(name):
            numbered.setdefault(int(found[1]), {})[found[2]] = value
    if numbered:
        return [_document(numbered[place]) for place in sorted(numbered)]
    listed = next((each for name in DOCUMENTS if isinstance(each := _parsed(attributes.get(name)), list)), None)
    return None if listed is None else [_document(each) for each in listed if isinstance(each, Mapping)]


def _document(found: Mapping[str, Any]) -> dict[str, Any]:
    """The id and text of a document; one recorded without its text is marked so."""
    plain = {key.removeprefix("document."): value for key, value in _dotted(found).items()}
    text = plain.get("content", plain.get("text"))
    return {"id": plain.get("id"), "text": "" if text is None else text, "recorded": text is not None}
