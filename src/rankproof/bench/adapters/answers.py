"""Reading the result of a retriever: ids with their scores, and notes on odd ones.

Taken are lists of ids, of (id, score), of documents as mappings or objects, of (document, score), arrays and
generators of these, and `{id: score}`. What cannot be trusted (None, a text, NaN scores, a document without an
id) is a failure; what can be put right (more than asked for, documents twice) is put right and counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, TypeAlias
from uuid import UUID

from rankproof.bench.retriever import SCORE, Found, columns_of_alike, fields_of, missing_id, unusable_answer
from rankproof.document.display import Displayable
from rankproof.io.frames import records_of_frame
from rankproof.io.read import DOCUMENT_ID, DOCUMENT_TEXT, METADATA, field_of, record_of
from rankproof.io.values import is_frame, is_integer
from rankproof.net import Failed

IdOf: TypeAlias = "str | Callable[[Any], Any] | None"
"""The name of the field with the id, or what gives the id of a document; None: the usual names."""

LISTS = (
    *("documents", "results", "hits", "matches", "points", "nodes", "context", "source_documents"),
    *("source_nodes", "data"),
)
"""Under which names an answer that is a mapping has its documents."""


@dataclass(frozen=True, slots=True)
class AnswerReading:
    """How answers are read."""

    k: int
    id: IdOf = None
    id_of_text: Callable[[str], str | None] = lambda text: None
    """Gives the id of the only document with a text, for documents that have no id."""
    integers: bool | None = None
    """Whether judged documents have integers as ids; None: not known."""


@dataclass(frozen=True, slots=True)
class Answer(Displayable):
    """The documents found for one question, best first, each once."""

    found: Found
    cut: int = 0
    """The number of documents beyond k."""
    repeated: int = 0
    """The number of repeated documents."""
    rising: bool = False
    """Whether the scores rise down the list, as distances do: what that means shows in the other answers."""


def read_answer(raw: Any, reading: AnswerReading) -> Answer:
    """The answer in what a retriever returned, or `Failed`.

    >>> read_answer([("d1", 0.5), ("d2", 0.75), ("d1", 0.25)], AnswerReading(k=10))
    Answer(found=[('d2', 0.75), ('d1', 0.5)], cut=0, repeated=1, rising=False)
    """
    if type(raw) is list and _is_plain(raw, reading):
        return Answer(raw[: reading.k], cut=max(len(raw) - reading.k, 0))
    ids, scores = _columns(_listed(raw), reading)
    if scores is None:
        return _arranged(ids, list(map(float, range(len(ids), 0, -1))), reading.k)
    numbers = _numbers(ids, scores)
    if len(numbers) > 1 and numbers[0] < numbers[-1] and numbers == sorted(numbers):
        return Answer(list(zip(ids, numbers, strict=True)), rising=True)
    return _arranged(ids, numbers, reading.k)


def _is_plain(items: list[Any], reading: AnswerReading) -> bool:
    """Whether these are pairs of text and number, in order, each document once: then nothing is to be done.

    It is told without a look at each, since this is what fast retrievers return thousands of times.
    """
    if reading.integers or set(map(type, items)) != {tuple}:
        return False
    try:
        once = dict(items)
    except (ValueError, TypeError):  # not all of them pairs
        return False
    scores = list(once.values())
    return (
        len(once) == len(items)
        and set(map(type, once)) == {str}
        and set(map(type, scores)) == {float}
        and "" not in once
        and not math.isnan(sum(scores))
        and scores == sorted(scores, reverse=True)
    )


def arrange(found: Found, k: int) -> Answer:
    """The best `k`, the highest score first; of equal scores, and of a document twice, the first in the list."""
    return _arranged([name for name, _ in found], [score for _, score in found], k)


def _arranged(ids: Sequence[str], scores: Sequence[float], k: int) -> Answer:
    if scores != sorted(scores, reverse=True):
        order = sorted(range(len(ids)), key=scores.__getitem__, reverse=True)
        ids, scores = [ids[place] for place in order], [scores[place] for place in order]
    once = dict(zip(ids, scores, strict=True))
    if len(once) < len(ids):
        once = dict(zip(reversed(ids), reversed(scores), strict=True))
        once = {name: once[name] for name in dict.fromkeys(ids)}
    return Answer(list(once.items())[:k], max(len(once) - k, 0), len(ids) - len(once))


def settle_order(answer: Answer, k: int, distances: bool) -> Answer:
    """A rising answer once it is known whether its scores are distances: those are turned around."""
    if not answer.rising:
        return answer
    found = [(name, -score) for name, score in answer.found] if distances else answer.found
    return replace(arrange(found, k), rising=distances)


def _listed(raw: Any) -> Sequence[Any]:
    if isinstance(raw, list):
        return raw
    if raw is None or isinstance(raw, (str, bytes, bytearray)):
        raise unusable_answer(raw, "a list of documents")
    if isinstance(raw, Mapping):
        return _of_mapping(raw)
    if isinstance(raw, (set, frozenset)):
        raise unusable_answer(raw, "a list of documents, best first: a set has no order")
    if is_frame(raw):
        if not hasattr(raw, "to_list"):
            return list(records_of_frame(raw, "the answer"))
        # A series of ids; or of scores, if its index has the ids.
        values, index = raw.to_list(), getattr(raw, "index", ())
        named = len(index) > 0 and set(map(type, index)) == {str} and all(map(_is_number, values))
        return _of_mapping(dict(zip(index, values, strict=True))) if named else _listed(values)
    if hasattr(raw, "tolist"):
        return _listed(raw.tolist())
    inside = next((each for name in LISTS if isinstance(each := getattr(raw, name, None), (list, tuple))), raw)
    if not isinstance(inside, Iterable):
        raise unusable_answer(raw, "a list of documents")
    return list(inside)


def _of_mapping(raw: Mapping[Any, Any]) -> Sequence[Any]:
    """`{id: score}`, or a mapping that has the documents under one of the usual names."""
    for name in LISTS:
        if isinstance(raw.get(name), (list, tuple, Mapping)):
            return _listed(raw[name])
    if all(map(_is_number, raw.values())):
        return sorted(raw.items(), key=itemgetter(1), reverse=True)
    raise unusable_answer(raw, f"{{id: score}}, or a list of documents under {', '.join(LISTS[:6])}")


def _columns(items: Sequence[Any], reading: AnswerReading) -> tuple[list[str], Sequence[Any] | None]:
    """Ids and scores; the usual forms without a look at each document."""
    kinds = set(map(type, items))
    if kinds <= {str} and not reading.integers:
        return _texts(items), None
    if kinds == {tuple} and set(map(len, items)) == {2}:
        first, scores = zip(*items, strict=True)
        return _ids(first, reading), _unless_missing(scores)
    if (alike := _alike(items, reading)) is not None:
        return alike
    pairs = [_pair(each, reading) for each in items]
    return [name for name, _ in pairs], _unless_missing([score for _, score in pairs])


def _ids(items: Sequence[Any], reading: AnswerReading) -> list[str]:
    if set(map(type, items)) == {str} and not reading.integers:
        return _texts(items)
    alike = _alike(items, reading)
    return [_id(each, reading) for each in items] if alike is None else alike[0]


def _alike(items: Sequence[Any], reading: AnswerReading) -> tuple[list[str], Sequence[Any] | None] | None:
    if callable(reading.id) or reading.integers or len(set(map(type, items))) != 1:
        return None
    found = columns_of_alike(items, reading.id)
    return found and (found[0], found[1] and _unless_missing(found[1]))


def _unless_missing(scores: Sequence[Any]) -> Sequence[Any] | None:
    """The scores; None if some are missing, so that the order of the list is all there is."""
    return None if type(None) in set(map(type, scores)) else scores


def _texts(ids: Sequence[str]) -> list[str]:
    if "" in ids:
        raise Failed(f"document {ids.index('') + 1} of {len(ids)} has an empty id")
    return list(ids)


def _pair(item: Any, reading: AnswerReading) -> tuple[str, Any]:
    if isinstance(item, (tuple, list)) and len(item) == 2 and not hasattr(item, "_asdict"):
        return _id(item[0], reading), item[1]
    if isinstance(item, Mapping):
        return _id(item, reading), next((item[name] for name in SCORE if name in item), None)
    return _id(item, reading), getattr(item, "score", None)


def _id(item: Any, reading: AnswerReading) -> str:
    if isinstance(item, str) and item:
        return _text(str(item), reading)
    if is_integer(item):
        return _integer(item, reading)
    if isinstance(item, UUID):
        return str(item)
    inner = getattr(item, "node", None)  # LlamaIndex wraps a node and its score in one
    return _id_of(item if inner is None else inner, reading)


def _text(item: str, reading: AnswerReading) -> str:
    if reading.integers:
        raise Failed(f"got the text {item!r} as an id where the judgments have integers, expected integers")
    return item


def _integer(item: Any, reading: AnswerReading) -> str:
    if reading.integers is False:
        raise Failed(f"got the integer {item} as an id where the judgments have text, expected text")
    return str(int(item))


def _id_of(item: Any, reading: AnswerReading) -> str:
    """The id of a document: where it was said to be, else under the usual names, else by its text."""
    if callable(reading.id):
        found = reading.id(item)
    else:
        record = record_of(item) or {}
        if not record and not fields_of(item):
            raise unusable_answer(item, "an id, a pair (id, score), or a document with an id")
        found = record.get(reading.id) if reading.id else _usual(record, reading)
        if reading.id and found is None:
            found = getattr(item, reading.id, None) or _of_metadata(record, (reading.id,))
    if isinstance(found, (str, UUID)) and str(found):
        return _text(str(found), reading)
    if is_integer(found):
        return _integer(found, reading)
    raise missing_id(item, reading.id)


def _usual(record: Mapping[str, Any], reading: AnswerReading) -> Any:
    """The id under a usual name, else that of the one document of the corpus with this very text."""
    name = field_of(record, DOCUMENT_ID)
    found = _of_metadata(record, DOCUMENT_ID) if name is None else record[name]
    if name is not None or found is not None:
        return found
    text = field_of(record, DOCUMENT_TEXT)
    return reading.id_of_text(record[text]) if text and isinstance(record[text], str) else None


def _of_metadata(record: Mapping[str, Any], names: Sequence[str]) -> Any:
    for place in METADATA:
        inside = record.get(place)
        if isinstance(inside, Mapping) and (name := field_of(inside, names)):
            return inside[name]
    return None


def _numbers(ids: Sequence[str], scores: Sequence[Any]) -> list[float]:
    if set(map(type, scores)) != {float}:
        for name, score in zip(ids, scores, strict=True):
            if not _is_number(score):
                raise Failed(f"document {name!r}: got {score!r} as a score, expected a number")
        scores = list(map(float, scores))
    if any(map(math.isnan, scores)):
        at = next(place for place, score in enumerate(scores) if score != score)
        raise Failed(f"document {ids[at]!r}: got NaN as a score, expected a number")
    return list(scores)


def _is_number(value: Any) -> bool:
    return type(value) is float or (hasattr(type(value), "__float__") and not isinstance(value, (bool, str)))
