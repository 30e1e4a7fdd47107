"""The names of the fields of a sample: ours, and those of other tools whose rows are accepted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rankproof.errors import DataError, shorten

ASKS, ANSWERS, FINDS = ("human", "user"), ("ai", "assistant", "AIMessageChunk"), ("tool", "function")
"""The roles of messages in LangGraph, LangChain and the protocols of services."""


def talk_in(messages: Sequence[Any]) -> dict[str, Any]:
    """The fields of a sample in the messages of a talk, as LangGraph keeps them in its state.

    >>> talk_in([("user", "why?"), {"role": "tool", "content": "since"}, {"type": "ai", "content": "so"}])
    {'query': 'why?', 'contexts': ['since'], 'answer': 'so'}
    """
    said = [(*_read(each), each) for each in messages]
    asked = [place for place, (who, text, _) in enumerate(said) if who in ASKS and text]
    if not asked:
        return {}
    last = said[asked[-1] :]
    answers = [text for who, text, _ in last if who in ANSWERS and text]
    found: dict[str, Any] = {"query": last[0][1]}
    if any(who in FINDS for who, _, _ in last):
        found["contexts"] = [part for who, text, each in last if who in FINDS for part in _documents(each, text)]
    if answers:
        found["answer"] = answers[-1]
    return found


def _read(message: Any) -> tuple[str, str]:
    """The role and the text of a message."""
    if isinstance(message, tuple | list) and len(message) == 2:
        return str(message[0]), _text(message[1])
    return str(_get(message, "role") or _get(message, "type") or ""), _text(_get(message, "content"))


def _documents(message: Any, text: str) -> list[Any]:
    """The result of a tool: the documents that it returns beside its text, else the text."""
    held = _get(message, "artifact")
    return list(held) if isinstance(held, list | tuple) and held else [text] if text else []


def _text(content: Any) -> str:
    if isinstance(content, list):
        parts = [each if isinstance(each, str) else _get(each, "text") for each in content]
        return "".join(each for each in parts if isinstance(each, str))
    return content if isinstance(content, str) else ""


def _get(where: Any, name: str) -> Any:
    return where.get(name) if isinstance(where, Mapping) else getattr(where, name, None)


NAMES: dict[str, tuple[str, ...]] = {
    "id": ("id", "query_id", "sample_id", "question_id", "qid", "topic_id", "_id"),
    "query": ("query", "question", "user_input", "input", "request"),
    "contexts": (
        *("contexts", "retrieved_contexts", "retrieval_context", "retrieved_context"),
        *("source_documents", "source_nodes", "documents"),
    ),
    "context_ids": ("context_ids", "retrieved_context_ids"),
    "reference": (
        *("reference", "ground_truth", "expected_output", "expected_response", "gt_answer"),
        *("reference_answer", "expected_answer", "expectedOutput", "reference_outputs", "ground_truths"),
    ),
    "answer": ("answer", "response", "actual_output", "output", "result", "generated_answer", "answer_text"),
    "reference_contexts": ("reference_contexts", "expected_retrieved_context", "ground_truth_contexts"),
    "reference_context_ids": ("reference_context_ids",),
    "citations": ("citations",),
    "nuggets": ("nuggets", "expected_facts"),
    "prompt_k": ("prompt_k",),
}
"""For each field its own name first, then the names that other tools give it."""
KNOWN = frozenset(name for names in NAMES.values() for name in names)

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
    flat = _flat(row)
    found = {}
    for field, names in NAMES.items():
        given = {name: flat[name] for name in names if name in flat}
        texts = _plain(given.get("ground_truths"))
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
    flat = {**(beside if isinstance(beside, Mapping) else {}), **_flat(row)}
    return {
        str(key): value
        for key, value in flat.items()
        if key not in KNOWN and isinstance(value, str | int | float) and not is_absent(value)
    }


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row without what is not there, with the fields that are kept in a part of it."""
    known = KNOWN | {EITHER}
    parts = {name: row[name] for name in NESTED if isinstance(row.get(name), Mapping) and known & row[name].keys()}
    inner = {key: value for part in parts.values() for key, value in part.items()}
    wanted = {name: row[name] for name in EXPECTED if isinstance(row.get(name), Mapping)}
    inner |= {key: value for part in wanted.values() for key, value in _expected(part).items()}
    outer = {key: value for key, value in row.items() if key not in parts and key not in wanted}
    if isinstance(row.get("messages"), list | tuple):
        inner = {**talk_in(row["messages"]), **inner}
    flat = {str(key): value for key, value in {**inner, **outer}.items() if not is_absent(value)}
    if EITHER in flat:
        flat[_meant({**inner, **outer}.keys())] = flat.pop(EITHER)
    return flat


def _expected(part: Mapping[str, Any]) -> dict[str, Any]:
    """The expected values, under our names."""
    names = {
        "reference": (*NAMES["reference"], *NAMES["answer"], "text", "content"),
        "reference_contexts": (*NAMES["reference_contexts"], *NAMES["contexts"], EITHER),
        "nuggets": NAMES["nuggets"],
    }
    found = {
        field: next((part[name] for name in given if not is_absent(part.get(name))), None)
        for field, given in names.items()
    }
    return {field: value for field, value in found.items() if value is not None}


def _meant(names: Iterable[str]) -> str:
    """The meaning of `context` given the other fields of a row, empty ones included."""
    flat = set(names)
    deepeval = {"retrieval_context", "actual_output", "expected_output"} & flat
    taken = set(NAMES["contexts"]) & flat
    return "reference_contexts" if deepeval or taken else "contexts"


def is_absent(value: Any) -> bool:
    """Whether a value is none at all: None, or the NaN that a data frame has for it.

    >>> is_absent(None), is_absent(float("nan")), is_absent(""), is_absent([])
    (True, True, False, False)
    """
    return value is None or (isinstance(value, float) and value != value)


def _agreed(given: Mapping[str, Any], field: str, where: str) -> Any:
    """The one value of a field that may be given under several names."""
    (first, value), *others = given.items()
    for name, other in others:
        if _plain(other) != _plain(value):
            raise DataError(
                f"{where}: {first!r} and {name!r} both give the {field}, and differ: {shorten(value)} and "
                f"{shorten(other)}. Next: keep one of them."
            )
    return value


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value
