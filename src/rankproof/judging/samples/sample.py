"""`Sample`: one question with its retrieved contexts, its answer, and the reference answer.

Values are read from any kind of row, under our names and those of other tools whose rows are accepted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pkgutil import get_data
from typing import Any

from rankproof.errors import DataError, shorten
from rankproof.io.values import is_id, list_in_cell
from rankproof.text.sentences import sentences


@dataclass(frozen=True, slots=True)
class Context:
    """A chunk of text that was retrieved, or should have been."""

    id: str
    text: str
    recorded: bool = field(default=True, repr=False)
    """Whether its text is known; one that is known and blank says nothing, of the other nothing can be said."""


@dataclass(frozen=True, slots=True)
class Citation:
    """A citation in the answer: the words it is for, and the context it names."""

    claim: str
    context: str
    """The id of a context; it may be one that was not retrieved."""
    support: float | None = None
    """How far it holds, if that was judged before: 0, .5 in part, 1."""


@dataclass(frozen=True, slots=True)
class Nugget:
    """A fact that a good answer has: vital, or okay to have."""

    text: str
    vital: bool = True
    support: float | None = None
    """How far the answer has it, if that was judged before: 0, .5 in part, 1."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One question and all that is known of it. A field that is None was not given; an empty one is empty."""

    id: str
    query: str | None = None
    contexts: tuple[Context, ...] | None = None
    """The retrieved contexts, best first."""
    reference: str | None = None
    """The answer as it should be."""
    answer: str | None = None
    """The answer of the system."""
    reference_contexts: tuple[Context, ...] | None = None
    """The contexts that should have been retrieved; one known only by id has no text."""
    citations: tuple[Citation, ...] | None = None
    nuggets: tuple[Nugget, ...] | None = None
    prompt_k: int | None = None
    """How many of the contexts the generator was given; None: all."""
    where: str = ""
    """The file and line it was read from, for messages."""
    others: Mapping[str, str | int | float] = field(default_factory=dict, compare=False, repr=False)
    """Its other columns, by which samples may be grouped."""

    def has(self, name: str) -> bool:
        """Whether the field of that name was given."""
        return getattr(self, name) is not None


NAMES: dict[str, list[str]] = json.loads(get_data(__package__, "field_names.json") or b"")
"""For each field its own name first, then the names that other tools give it."""
KNOWN = [name for names in NAMES.values() for name in names]
TEXTS = ("text", "page_content", "content", "contents", "body", "document", "passage", "chunk", "document.content")
"""The names of the text of a context in a mapping or an object."""
IDS = ("id", "_id", "doc_id", "docid", "id_", "node_id", "document_id", "chunk_id", "doc_uri", "document.id")
SUPPORTED = {
    **dict.fromkeys(("support", "full_support", "full", "fs", "2"), 1.0),
    **dict.fromkeys(("partial_support", "partial", "ps", "1"), 0.5),
    **dict.fromkeys(("not_support", "no_support", "none", "ns", "0"), 0.0),
}
"""How far a text supports a claim, in the words of published files."""
MARK = re.compile(r"\[(\d+(?:\s*[,;]\s*\d+)*)\]")
"""Marks like [1] or [2, 3] in an answer."""
ASKS, ANSWERS, FINDS = ("human", "user"), ("ai", "assistant", "AIMessageChunk"), ("tool", "function")
"""The roles of messages in LangGraph, LangChain and the protocols of services."""


def is_absent(value: Any) -> bool:
    """Whether a value is none at all: None, or the NaN that a data frame has for it.

    >>> is_absent(None), is_absent(float("nan")), is_absent(""), is_absent([])
    (True, True, False, False)
    """
    return value is None or (isinstance(value, float) and value != value)


def without_arrays(value: Any) -> Any:
    """The value with lists in place of arrays, as pandas reads them from Parquet."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return {name: without_arrays(each) for name, each in value.items()}
    value = value.tolist() if hasattr(value, "tolist") else value
    return list(map(without_arrays, value)) if isinstance(value, list) else value


def talk_in(messages: Sequence[Any]) -> dict[str, Any]:
    """The fields of a sample in the messages of a talk, as LangGraph keeps them in its state.

    >>> talk_in([("user", "why?"), {"role": "tool", "content": "since"}, {"type": "ai", "content": "so"}])
    {'query': 'why?', 'contexts': ['since'], 'answer': 'so'}
    """
    said = [(*_message(each), get_from(each, "artifact")) for each in messages]
    asked = [place for place, (who, text, _) in enumerate(said) if who in ASKS and text]
    if not asked:
        return {}
    last = said[asked[-1] :]
    answers = [text for who, text, _ in last if who in ANSWERS and text]
    found: dict[str, Any] = {"query": last[0][1]}
    if any(who in FINDS for who, _, _ in last):
        # The result of a tool: the documents that it returns beside its text, else the text.
        results = [(text, documents) for who, text, documents in last if who in FINDS]
        listed = (d if isinstance(d, list | tuple) and d else [text] if text else [] for text, d in results)
        found["contexts"] = list(chain.from_iterable(listed))
    if answers:
        found["answer"] = answers[-1]
    return found


def _message(message: Any) -> tuple[str, str]:
    """The role and the text of a message."""
    pair = isinstance(message, tuple | list) and len(message) == 2
    who, content = (
        message if pair else (get_from(message, "role") or get_from(message, "type"), get_from(message, "content"))
    )
    if isinstance(content, list):
        parts = (each if isinstance(each, str) else get_from(each, "text") for each in content)
        content = "".join(each for each in parts if isinstance(each, str))
    return str(who or ""), content if isinstance(content, str) else ""


def get_from(where: Any, name: str) -> Any:
    """What a mapping holds under a name, or an object as an attribute; None if it is not there."""
    return where.get(name) if isinstance(where, Mapping) else getattr(where, name, None)


def text_from(value: Any, field: str, where: str) -> str:
    """A text; a list of one text counts as it, as older Ragas rows have it."""
    if isinstance(value, list) and value and isinstance(value[-1], Mapping) and "content" in value[-1]:
        said = talk_in([*value] if field == "query" else [("user", "?"), *value])
        value = said.get("query" if field == "query" else "answer", value)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, str):  # a mapping, or what a model of LangChain or an engine of LlamaIndex gives back
        names = (*NAMES[field], "text", "content", "query", "answer", "response")
        value = next((each for name in names if isinstance(each := get_from(value, name), str)), value)
    if not isinstance(value, str):
        several = "join several texts into one if all of them count, else keep the one that does"
        step = several if isinstance(value, list | tuple) and len(value) > 1 else "correct this row"
        raise _unfit(value, field, "a text", where, step)
    return value


def identifier(value: Any, where: str) -> str:
    """An id as text; whole numbers in decimal."""
    if not is_id(value) or value == "":
        raise _unfit(value, "id", "text", where)
    return str(value)


def count(value: Any, field: str, where: str) -> int:
    """A whole number of at least 1."""
    found = int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value
    if isinstance(found, bool) or not isinstance(found, int) or found < 1:
        raise _unfit(value, field, "a whole number of at least 1", where)
    return found


def _unfit(value: Any, field: str, expected: str, where: str, step: str = "correct this row") -> DataError:
    return DataError(
        f"{where}: got {shorten(value)} ({type(value).__name__}) as {field!r}, expected {expected}. Next: {step}."
    )


LISTED = 'write one, like ["a", "b"], which a cell of CSV holds as "[""a"", ""b""]"'


def list_from(value: Any, field: str, where: str) -> list[Any]:
    """A list; in a cell of a table its text as JSON, or as Python or NumPy write it."""
    if isinstance(value, str) and value.lstrip()[:1] == "[":
        value = value if (found := list_in_cell(value)) is None else found
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        raise _unfit(value, field, "a list", where, LISTED)
    return list(value)


def contexts(value: Any, ids: Any, field: str, where: str) -> tuple[Context, ...]:
    """Contexts from texts, mappings or objects; without ids they are numbered by their ranks."""
    items = list_from(value, field, where)
    names = [None] * len(items) if ids is None else list_from(ids, f"{field} ids", where)
    if len(names) != len(items):
        raise DataError(f"{where}: got {len(items)} {field} and {len(names)} ids, expected as many. Next: correct it.")
    return tuple(_context(*each, rank, field, where) for rank, each in enumerate(zip(items, names, strict=True), 1))


def _context(item: Any, name: Any, rank: int, field: str, where: str) -> Context:
    inner = None if isinstance(item, str | Mapping) else getattr(item, "node", None)
    holder = item if inner is None else inner  # LlamaIndex: a node with its score
    given, words = (None, item) if isinstance(item, str) else (_one_of(holder, IDS), _one_of(holder, TEXTS))
    if not isinstance(words, str):
        raise _unfit(item, field, 'a text or {"id": ..., "text": ...}', f"{where}, number {rank}")
    chosen = name if not is_absent(name) else given
    recorded = not (isinstance(item, Mapping) and item.get("recorded") is False)
    return Context(str(rank) if is_absent(chosen) else identifier(chosen, where), words, recorded)


def _one_of(item: Any, names: Iterable[str]) -> Any:
    """The first of these keys or attributes that is there; metadata is looked at last."""
    for name in names:
        found = get_from(item, name)
        if not is_absent(found) and not callable(found):
            return found
    meta = get_from(item, "metadata")
    return _one_of(meta, names) if isinstance(meta, Mapping) else None


def expected_contexts(value: Any, ids: Any, where: str) -> tuple[Context, ...] | None:
    """Contexts that should have come: texts, `{id, text}`, or ids alone; None if neither is given."""
    if value is None and ids is None:
        return None
    if value is None:
        return tuple(Context(identifier(each, where), "") for each in list_from(ids, "reference_context_ids", where))
    return contexts(value, ids, "reference_contexts", where)


def citations(value: Any, where: str) -> tuple[Citation, ...]:
    """Citations from `{claim, context}`, or pairs of the two."""
    return tuple(_citation(each, where) for each in list_from(value, "citations", where))


def _citation(item: Any, where: str) -> Citation:
    claim = named = given = None
    if isinstance(item, Mapping):
        claim = next((item[key] for key in ("claim", "span", "text", "sentence") if key in item), None)
        named = next((item[key] for key in ("context", "context_id", "id", "source", "doc_id") if key in item), None)
        given = item.get("support")
    elif isinstance(item, list | tuple) and len(item) == 2:
        claim, named = item
    if not isinstance(claim, str) or is_absent(named):
        raise _unfit(item, "citation", '{"claim": "the words it is for", "context": "the id of a context"}', where)
    return Citation(claim, identifier(named, where), None if is_absent(given) else _support(given, where))


def trec_row(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """An answer of TREC's RAG track with its sentences as one text, and what each cites by the ids of `references`.

    >>> row = {"references": ["a", "b"], "answer": [{"text": "It is so.", "citations": [1]}, {"text": "Yes."}]}
    >>> trec_row(row)["answer"], trec_row(row)["citations"]
    ('It is so. Yes.', [{'claim': 'It is so.', 'context': 'b', 'support': None}])
    """
    parts, references = row.get("answer"), row.get("references") or []
    if not (isinstance(parts, list) and parts and "references" in row) or not all(
        isinstance(each, Mapping) and isinstance(each.get("text"), str) for each in parts
    ):
        return row
    cited = [
        {
            "claim": each["text"],
            "context": references[at] if isinstance(at, int) and 0 <= at < len(references) else str(at),
            "support": each["support"].get(str(at)) if isinstance(each.get("support"), Mapping) else None,
        }
        for each in parts
        for at in each.get("citations") or []
    ]
    answer = " ".join(each["text"].strip() for each in parts)
    topic = {"query": row["topic"]} if "query" not in row and isinstance(row.get("topic"), str) else {}
    return {"citations": cited, **row, "answer": answer, **topic}


def nuggets(value: Any, where: str) -> tuple[Nugget, ...]:
    """Nuggets from texts (all vital), or `{text, importance}` with vital or okay."""
    return tuple(_nugget(each, where) for each in list_from(value, "nuggets", where))


def _nugget(item: Any, where: str) -> Nugget:
    if isinstance(item, str):
        return Nugget(item)
    words = _one_of(item, ("text", "nugget", "fact", "claim")) if isinstance(item, Mapping) else None
    weight = _one_of(item, ("importance", "vital", "label")) if isinstance(item, Mapping) else None
    known = {None: True, True: True, False: False, "vital": True, "okay": False}
    if not isinstance(words, str) or weight not in known:
        raise _unfit(item, "nugget", 'a text, or {"text": ..., "importance": "vital" or "okay"}', where)
    given = _one_of(item, ("assignment", "support"))
    return Nugget(words, known[weight], None if given is None else _support(given, where))


def _support(given: Any, where: str) -> float:
    """A support that was judged before: in words, as TREC's RAG track and AutoNuggetizer write them, or 0, 1, 2."""
    found = SUPPORTED.get(str(given).strip().lower().replace(" ", "_"))
    if found is None:
        raise _unfit(given, "support", f"one of {', '.join(SUPPORTED)}", where)
    return found


def marks_in(answer: str, contexts: Sequence[Context]) -> tuple[str, tuple[Citation, ...]]:
    """The answer without its marks, and what each mark cites; no mark counts where none names a context.

    >>> marks_in("Paris is the capital [1].", [Context("doc-7", "Paris, the capital.")])
    ('Paris is the capital.', (Citation(claim='Paris is the capital.', context='doc-7', support=None),))
    """
    marked = "".join(map(_inward, answer.splitlines(keepends=True)))
    ids = {str(rank): each.id for rank, each in enumerate(contexts, 1)}
    found = [
        Citation(_without_marks(sentence), ids.get(str(int(number)), number))
        for sentence in (span.of(marked) for span in sentences(marked))
        for mark in MARK.findall(sentence)
        for number in map(str.strip, mark.replace(";", ",").split(","))
    ]
    known = set(ids.values())
    if not any(each.context in known for each in found):
        return answer, ()
    return _without_marks(marked), tuple(dict.fromkeys(found))


def _inward(line: str) -> str:
    """The line with each mark that follows a sentence drawn into it, unless marks lead their sentences.

    >>> _inward("Ana won. [1] Bob lost.[2]"), _inward("[1] Ana won. [2] Bob lost.")
    ('Ana won[1]. Bob lost[2].', '[1] Ana won. [2] Bob lost.')
    """
    if _BEFORE.match(line):
        return line
    return _AFTER_THE_END.sub(lambda found: f"{found['marks'].replace(' ', '')}{found['end']}{found['blank']}", line)


def _without_marks(text: str) -> str:
    """The text without marks, and without the blank before each."""
    return _BEFORE.sub("", text).strip()


_BEFORE = re.compile(r"\s*" + MARK.pattern)
_AFTER_THE_END = re.compile(
    r"(?P<end>[.!?。！？…।][\"'”’»)」』]*)[ \t]*(?P<marks>(?:" + MARK.pattern + r"[ \t]*?)+)\.?(?P<blank>[ \t]*)"
)
