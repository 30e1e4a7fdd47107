"""The values of a sample's fields, checked: texts, lists of contexts, citations, nuggets."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from rankproof.errors import DataError, shorten
from rankproof.judging.samples.messages import talk_in
from rankproof.judging.samples.names import NAMES, absent
from rankproof.judging.samples.sample import Citation, Context, Nugget

TEXTS = (
    "text",
    "page_content",
    "content",
    "contents",
    "body",
    "document",
    "passage",
    "chunk",
    "document.content",
)
"""What the text of a context is called in a mapping or an object."""
SAID = ("content", "response", "text")
"""What the text of an answer is called in an object."""
IDS = ("id", "_id", "doc_id", "docid", "id_", "node_id", "document_id", "chunk_id", "doc_uri", "document.id")
SUPPORTED = {
    **dict.fromkeys(("support", "full_support", "full", "fs", "2"), 1.0),
    **dict.fromkeys(("partial_support", "partial", "ps", "1"), 0.5),
    **dict.fromkeys(("not_support", "no_support", "none", "ns", "0"), 0.0),
}
"""How far a text bears a claim out, in the words of published files."""
MARK = re.compile(r"\[(\d+(?:\s*[,;]\s*\d+)*)\]")
"""Marks like [1] or [2, 3] in an answer."""


def text(value: Any, field: str, where: str) -> str:
    """A text; a list of one text counts as it, as older Ragas rows have it."""
    if isinstance(value, list) and value and isinstance(value[-1], Mapping) and "content" in value[-1]:
        said = talk_in([*value] if field == "query" else [("user", "?"), *value])
        value = said.get("query" if field == "query" else "answer", value)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, Mapping):
        value = next(
            (
                value[name]
                for name in (*NAMES.get(field, ()), "text", "content", "query", "answer")
                if name in value
            ),
            value,
        )
    if not isinstance(value, str | int | float):
        # What a model of LangChain or an engine of LlamaIndex gives back.
        held = (getattr(value, name, None) for name in SAID)
        value = next((each for each in held if isinstance(each, str)), value)
    if not isinstance(value, str):
        raise _unfit(value, field, "a text", where)
    return value


def identifier(value: Any, where: str) -> str:
    """An id as text; whole numbers in decimal."""
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise _unfit(value, "id", "text", where)
    return str(value)


def count(value: Any, field: str, where: str) -> int:
    """A whole number of at least 1."""
    found = int(value) if isinstance(value, str) and value.isdigit() else value
    if isinstance(found, bool) or not isinstance(found, int) or found < 1:
        raise _unfit(value, field, "a whole number of at least 1", where)
    return found


def _unfit(value: Any, field: str, expected: str, where: str) -> DataError:
    return DataError(
        f"{where}: got {shorten(value)} ({type(value).__name__}) as {field!r}, expected {expected}. "
        "Next: correct this row."
    )


def listed(value: Any, field: str, where: str) -> list[Any]:
    """A list; in a cell of a table its text as JSON, or as Python writes it."""
    if isinstance(value, str) and value.lstrip()[:1] == "[":
        value = _spelled(value, field, where)
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise _unfit(value, field, "a list", where)
    return list(value)


def _spelled(value: str, field: str, where: str) -> Any:
    for read in (json.loads, ast.literal_eval):
        try:
            return read(value)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    raise _unfit(value, field, "a list, in a table written as JSON", where)


# --- contexts --------------------------------------------------------------------------------------


def contexts(value: Any, ids: Any, field: str, where: str) -> tuple[Context, ...]:
    """Contexts from texts, mappings or objects; without ids they are numbered by their ranks."""
    items = listed(value, field, where)
    names = [None] * len(items) if ids is None else listed(ids, f"{field} ids", where)
    if len(names) != len(items):
        raise DataError(
            f"{where}: got {len(items)} {field} and {len(names)} ids for them, expected as many. "
            "Next: correct this row."
        )
    return tuple(
        _context(item, name, rank, field, where)
        for rank, (item, name) in enumerate(zip(items, names, strict=True), 1)
    )


def _context(item: Any, name: Any, rank: int, field: str, where: str) -> Context:
    given, words = parts(item)
    if not isinstance(words, str):
        raise DataError(
            f"{where}: got {shorten(item)} as number {rank} of {field!r}, expected a text or "
            '{"id": ..., "text": ...}. Next: correct this row.'
        )
    chosen = name if not absent(name) else given
    recorded = not (isinstance(item, Mapping) and item.get("recorded") is False)
    return Context(str(rank) if absent(chosen) else identifier(chosen, where), words, recorded)


def parts(item: Any) -> tuple[Any, Any]:
    """The id and the text of a context, whatever holds them; None where one is not there."""
    if isinstance(item, str):
        return None, item
    inner = getattr(item, "node", None)  # LlamaIndex: a node with its score
    item = item if inner is None or isinstance(item, Mapping) else inner
    return _one_of(item, IDS), _one_of(item, TEXTS)


def _one_of(item: Any, names: Iterable[str]) -> Any:
    """The first of these keys or attributes that is there; metadata is looked at last."""
    for name in names:
        found = item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)
        if not absent(found) and not callable(found):
            return found
    meta = item.get("metadata") if isinstance(item, Mapping) else getattr(item, "metadata", None)
    return _one_of(meta, names) if isinstance(meta, Mapping) else None


def wanted(value: Any, ids: Any, where: str) -> tuple[Context, ...]:
    """Contexts that should have come: texts, `{id, text}`, or ids alone."""
    if value is None:
        return tuple(
            Context(identifier(each, where), "") for each in listed(ids, "reference_context_ids", where)
        )
    return contexts(value, ids, "reference_contexts", where)


# --- citations and nuggets -------------------------------------------------------------------------


def citations(value: Any, where: str) -> tuple[Citation, ...]:
    """Citations from `{claim, context}`, or pairs of the two."""
    return tuple(_citation(each, where) for each in listed(value, "citations", where))


def _citation(item: Any, where: str) -> Citation:
    if isinstance(item, Mapping):
        claim = next((item[key] for key in ("claim", "span", "text", "sentence") if key in item), None)
        named = next(
            (item[key] for key in ("context", "context_id", "id", "source", "doc_id") if key in item), None
        )
    elif isinstance(item, list | tuple) and len(item) == 2:
        claim, named = item
    else:
        claim = named = None
    if not isinstance(claim, str) or absent(named):
        raise DataError(
            f"{where}: got {shorten(item)} as a citation, expected "
            '{"claim": "the words it is for", "context": "the id of a context"}. Next: correct this row.'
        )
    given = item.get("support") if isinstance(item, Mapping) else None
    return Citation(claim, identifier(named, where), None if absent(given) else _support(given, where))


def of_trec(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """An answer of TREC's RAG track with its sentences as one text, and what each cites by the ids of `references`.

    >>> row = {"references": ["a", "b"], "answer": [{"text": "It is so.", "citations": [1]}, {"text": "Yes."}]}
    >>> of_trec(row)["answer"], of_trec(row)["citations"]
    ('It is so. Yes.', [{'claim': 'It is so.', 'context': 'b', 'support': None}])
    """
    parts, references = row.get("answer"), row.get("references") or []
    if not (isinstance(parts, list) and parts and "references" in row):
        return row
    if not all(isinstance(each, Mapping) and isinstance(each.get("text"), str) for each in parts):
        return row
    cited = [
        {
            "claim": each["text"],
            "context": references[at] if isinstance(at, int) and 0 <= at < len(references) else str(at),
            "support": (each.get("support") or {}).get(str(at))
            if isinstance(each.get("support"), Mapping)
            else None,
        }
        for each in parts
        for at in each.get("citations") or []
    ]
    answer = " ".join(each["text"].strip() for each in parts)
    topic = {"query": row["topic"]} if "query" not in row and isinstance(row.get("topic"), str) else {}
    return {"citations": cited, **row, "answer": answer, **topic}


def nuggets(value: Any, where: str) -> tuple[Nugget, ...]:
    """Nuggets from texts (all vital), or `{text, importance}` with vital or okay."""
    return tuple(_nugget(each, where) for each in listed(value, "nuggets", where))


def _nugget(item: Any, where: str) -> Nugget:
    if isinstance(item, str):
        return Nugget(item)
    words = _one_of(item, ("text", "nugget", "fact", "claim")) if isinstance(item, Mapping) else None
    weight = _one_of(item, ("importance", "vital", "label")) if isinstance(item, Mapping) else None
    known = {None: True, True: True, False: False, "vital": True, "okay": False}
    if not isinstance(words, str) or weight not in known:
        raise DataError(
            f"{where}: got {shorten(item)} as a nugget, expected a text, or "
            '{"text": ..., "importance": "vital" or "okay"}. Next: correct this row.'
        )
    given = _one_of(item, ("assignment", "support"))
    return Nugget(words, known[weight], None if given is None else _support(given, where))


def _support(given: Any, where: str) -> float:
    """A support that was judged before: in words, as TREC's RAG track and AutoNuggetizer write them, or 0, 1, 2."""
    found = SUPPORTED.get(str(given).strip().lower().replace(" ", "_"))
    if found is None:
        raise DataError(
            f"{where}: got {shorten(given)} as a support, expected one of {', '.join(SUPPORTED)}. "
            "Next: correct this row."
        )
    return found
