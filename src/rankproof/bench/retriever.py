"""The interface of every retriever: questions in, documents out, best first for each; and how answers are read.

An answer is a list of ids, of (id, score), of documents as mappings or objects, or of (document, score), an array or
generator of these, or `{id: score}`. An invalid answer (None, a text, NaN scores, a document without an
id) is a failure; a repairable one (more than k documents, documents twice) is repaired and counted.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from operator import attrgetter, itemgetter
from typing import Any, Protocol, TypeAlias, runtime_checkable
from uuid import UUID

from rankproof.document.model import Displayable
from rankproof.document.numbers import setting
from rankproof.errors import shorten
from rankproof.io.frames import records_of_frame
from rankproof.io.inputs import plain_name
from rankproof.io.read import DOCUMENT_ID, DOCUMENT_TEXT, METADATA, field_of, record_of
from rankproof.io.values import is_frame, is_integer
from rankproof.net.retries import Failed
from rankproof.suggestions import nearest

Found: TypeAlias = list[tuple[str, float]]
"""The documents found for one question: ids with their scores, best first, each id once."""


@runtime_checkable
class Retriever(Protocol):
    """Answers questions in batches, and says what it is."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """All that shapes its answers, as plain data: two retrievers with equal settings give equal answers."""

    def search(self, questions: Sequence[str], k: int) -> list[Found]:
        """For each question at most `k` documents."""


def unusable_answer(got: object, expected: str) -> Failed:
    """The failure for an answer of a form that cannot be read."""
    return Failed(f"got {shorten(got)} ({type(got).__name__}), expected {expected}")


Columns: TypeAlias = tuple[list[str], Sequence[Any] | None]
"""Ids, and scores if there are some."""
IdOf: TypeAlias = str | Callable[[Any], Any] | None
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
    rising: bool = False
    """Whether the scores rise down the list, as distances do: what that means shows in the other answers."""


def read_answer(raw: Any, reading: AnswerReading) -> Answer:
    """The answer in what a retriever returned, or `Failed`.

    >>> read_answer([("d1", 0.5), ("d2", 0.75), ("d1", 0.25)], AnswerReading(k=10))
    Answer(found=[('d2', 0.75), ('d1', 0.5)], cut=0, repeated=1, rising=False)
    """
    if type(raw) is list and _is_plain(raw, reading):
        return Answer(raw[: reading.k], cut=max(len(raw) - reading.k, 0))
    if isinstance(raw, BaseException):  # in the place of an answer to one question of several
        raise raw
    ids, scores = _columns(_listed(raw), reading)
    if scores is None or type(None) in set(map(type, scores)):  # the order of the list is all there is
        scores = range(len(ids), 0, -1)
    numbers = _numbers(ids, scores)
    found = list(zip(ids, numbers, strict=True))
    if len(numbers) > 1 and numbers[0] < numbers[-1] and numbers == sorted(numbers):
        return Answer(found, rising=True)
    return arrange(found, reading.k)


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
    once: dict[str, float] = {}
    for name, score in sorted(found, key=itemgetter(1), reverse=True):
        once.setdefault(name, score)
    return Answer(list(once.items())[:k], max(len(once) - k, 0), len(found) - len(once))


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
    ids = raw.get("ids")
    if isinstance(ids, list) and len(ids) == 1 and isinstance(ids[0], list):
        return ids[0]  # Chroma has a list for each question, the smallest distance first
    for name in LISTS:
        if isinstance(raw.get(name), (list, tuple, Mapping)):
            return _listed(raw[name])
    if all(map(_is_number, raw.values())):
        return sorted(raw.items(), key=itemgetter(1), reverse=True)
    raise unusable_answer(raw, f"{{id: score}}, or a list of documents under {', '.join(LISTS[:6])}")


def _columns(items: Sequence[Any], reading: AnswerReading) -> Columns:
    """Ids and scores; the usual forms without a look at each document."""
    kinds = set(map(type, items))
    pairs = bool(kinds) and kinds <= {tuple, list} and set(map(len, items)) == {2}
    if not pairs and not kinds.isdisjoint((tuple, list)) and not callable(reading.id):
        scored = [type(each) in (tuple, list) and len(each) == 2 for each in items]
        odd = scored.index(not scored[0]) if len(set(scored)) == 2 else 0
        what = f"{'a' if scored[odd] else 'no'} pair with a score{', unlike the first' if odd else ''}"
        raise Failed(
            f"item {odd + 1} of {len(items)}, {shorten(items[odd])}, is {what}. "
            "Next: return a pair (document, score) for each document, or documents alone, best first"
        )
    documents, given = zip(*items, strict=True) if pairs else (items, None)
    ids, scores = _alike(documents, reading) or one_by_one(documents, reading)
    return ids, scores if given is None else given


def one_by_one(items: Sequence[Any], reading: AnswerReading) -> Columns:
    """Ids and scores of documents of any kind."""

    def under(name: str) -> list[Any]:
        return [each.get(name) if isinstance(each, Mapping) else getattr(each, name, None) for each in items]

    return [_id(each, reading) for each in items], _scores(under)


def _alike(items: Sequence[Any], reading: AnswerReading) -> Columns | None:
    """Ids and scores of what is all text, or documents of one class; None: they are to be read one by one."""
    kinds = set(map(type, items))
    if kinds <= {str} and not reading.integers:
        if "" in items:
            raise Failed(f"document {items.index('') + 1} of {len(items)} has an empty id")
        return list(items), None
    if callable(reading.id) or reading.integers or len(kinds) != 1:
        return None
    return columns_of_alike(items, reading.id)


def _scores(under: Callable[[str], Sequence[Any]]) -> Sequence[Any] | None:
    """What is under the first name of a score; under those that may be older than the order only if it is that."""
    for name in (*SCORE, *LIKENESS):
        scores = under(name)
        falls = all(map(_is_number, scores)) and all(one >= other for one, other in pairwise(scores))
        if any(each is not None for each in scores) and (name in SCORE or falls):
            return scores
    return None


def _id(item: Any, reading: AnswerReading) -> str:
    plain = _plain_id(item, reading)
    if plain is not None:
        return plain
    inner = getattr(item, "node", None)  # LlamaIndex wraps a node and its score in one
    return _id_of(item if inner is None else inner, reading)


def _plain_id(found: Any, reading: AnswerReading) -> str | None:
    """The id if it is a text, an integer, as those of the judgments must be, or a UUID; else None."""
    found = str(found) if isinstance(found, UUID) else found
    if isinstance(found, str) and found:
        if reading.integers:
            raise Failed(f"got the text {str(found)!r} as an id where the judgments have integers, expected integers")
        return str(found)
    if is_integer(found):
        if reading.integers is False:
            raise Failed(f"got the integer {found} as an id where the judgments have text, expected text")
        return str(int(found))
    return None


def _id_of(item: Any, reading: AnswerReading) -> str:
    """The id of a document: where it was said to be, else under the usual names, else by its text."""
    if callable(reading.id):
        found = reading.id(item)
    else:
        record = record_of(item) or {}
        if not record and not fields_of(item):
            raise unusable_answer(item, "an id, a pair (id, score), or a document with an id")
        found = record.get(reading.id) if reading.id else _named(record, DOCUMENT_ID)
        if found is None and reading.id:
            found = getattr(item, reading.id, None) or _named(record, (reading.id,))
        elif found is None and (text := field_of(record, DOCUMENT_TEXT)) and isinstance(record[text], str):
            found = reading.id_of_text(record[text])
    plain = _plain_id(found, reading)
    if plain is None:
        raise missing_id(item, reading.id)
    return plain


def _named(record: Mapping[str, Any], names: Sequence[str]) -> Any:
    """What a document, else its metadata, has under the first of the names."""
    for place in (record, *map(record.get, METADATA)):
        if isinstance(place, Mapping) and (name := field_of(place, names)):
            return place[name]
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


# --- documents of one class, by columns ---------------------------------------------------------------

SCORE = ("score", "_score")
LIKENESS = ("relevance_score", "relevance", "similarity", "@search.reranker_score", "@search.score")
"""Other names of a score, which a list that was reranked may still have from the search before."""
Getter: TypeAlias = Callable[[str], Callable[[Any], Any]]
_LOOSELY = frozenset(map(plain_name, DOCUMENT_ID))


def columns_of_alike(items: Sequence[Any], asked: str | None = None) -> Columns | None:
    """Ids and scores of documents of one class and with the same fields; None: they are to be read one by one.

    `asked` is the field that has the id, if it has not one of the usual names.

    >>> columns_of_alike([{"id": "d2", "score": 0.9}, {"id": "d1", "score": 0.1}])
    (['d2', 'd1'], [0.9, 0.1])
    >>> columns_of_alike([{"id": "d2"}, {"_id": "d1"}]) is None
    True
    """
    first = items[0]
    if type(first) is dict:
        return _by_columns(items, asked, itemgetter, first.__contains__) if _same_fields(items) else None
    if isinstance(first, (Sequence, Mapping)) or not hasattr(first, "__dict__") or hasattr(first, "_asdict"):
        return None
    if getattr(first, "node", None) is not None or not _same_fields(list(map(vars, items))):
        return None
    try:
        return _by_columns(items, asked, attrgetter, partial(hasattr, first))
    except AttributeError:  # one of them lacks what another has
        return None


def _by_columns(items: Sequence[Any], asked: str | None, getter: Getter, has: Callable[[str], bool]) -> Columns | None:
    wanted = DOCUMENT_ID if asked is None else (asked,)
    ids = _first_column(items, filter(has, wanted), getter)
    # A key that is spelled like one of the usual names goes before metadata.
    if ids is None and not (
        getter is itemgetter
        and asked is None
        and any(name not in DOCUMENT_ID and plain_name(str(name)) in _LOOSELY for name in items[0])
    ):
        inside = _first_column(items, filter(has, METADATA), getter)
        if inside is not None and set(map(type, inside)) == {dict} and _same_fields(inside):
            ids = _first_column(inside, filter(inside[0].__contains__, wanted), itemgetter)
    if not ids or set(map(type, ids)) != {str} or "" in ids:
        return None
    return ids, _scores(lambda name: list(map(getter(name), items)) if has(name) else ())


def _first_column(items: Sequence[Any], names: Iterable[str], getter: Getter) -> list[Any] | None:
    """The first column of these names in which there is something."""
    columns = (list(map(getter(name), items)) for name in names)
    return next((each for each in columns if set(map(type, each)) != {type(None)}), None)


def _same_fields(records: Sequence[dict[str, Any]]) -> bool:
    return all(map(records[0].keys().__eq__, map(dict.keys, records)))


NO_ID = (*DOCUMENT_TEXT, *METADATA, *SCORE, *LIKENESS)
"""Fields that are something else, whatever is in them."""


def fields_of(item: Any) -> list[str]:
    """The names under which a document has something: keys, or attributes, slots and properties of an object.

    Those in its metadata, where ids are looked for too, are among them.

    >>> fields_of({"path": "a", "metadata": {"row": 1}}), fields_of(7)
    (['path', 'metadata', 'row'], [])
    """
    if isinstance(item, Mapping):
        own, names = item, list(map(str, item))
    elif type(item).__module__ == "builtins":
        return []
    else:
        own = getattr(item, "__dict__", {})
        members = inspect.getmembers_static(type(item), inspect.isdatadescriptor)
        names = [name for name in (*own, *(name for name, _ in members)) if not name.startswith("_")]
    inside: Any = next((own[place] for place in METADATA if isinstance(own.get(place), Mapping)), {})
    return list(dict.fromkeys([*names, *map(str, inside)]))


def missing_id(item: Any, asked: object) -> Failed:
    """The failure for a document whose id is not where it was looked for."""
    fields = fields_of(item)
    what, near = "a document without an id", ""
    if isinstance(asked, str):
        what, near = f"a document without {asked!r}", nearest(asked, fields)
    listed = ", ".join(fields[:12]) + ", ..." * (len(fields) > 12) or "no fields"
    own = item if isinstance(item, Mapping) else getattr(item, "__dict__", {})
    able = [
        name
        for name in fields
        if name not in NO_ID and name != asked and isinstance(each := own.get(name, "?"), (str, int))
        if not isinstance(each, bool) and each != ""
    ]
    advice = "give the documents ids"
    if able and not callable(asked):
        close = nearest(asked, able) if isinstance(asked, str) else ""
        name = next((each for each in able if repr(each) in close), able[0])
        advice += f", or name the field with it: {setting('id', name)}"
    return Failed(f"{what} (it has {listed}).{near} Next: {advice}")
