"""The interface of every retriever: questions in, for each the documents found, best first.

Below: what its answers hold, as columns, and questions that failed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Any, Protocol, TypeAlias, runtime_checkable

from rankproof.errors import UsageError, nearest, shorten
from rankproof.io.inputs import plain_name
from rankproof.io.read import DOCUMENT_ID, DOCUMENT_TEXT, METADATA
from rankproof.net import Failed, failure_of

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


class Unaskable(UsageError):
    """A retriever that cannot be called as given: no question would be answered."""


def as_failure(error: BaseException) -> Failed:
    """The error of a retriever, in one line; a retry may help."""
    if not isinstance(error, Unaskable):
        return failure_of(error)
    failed = Failed(str(error))
    failed.fatal = error
    return failed


def unusable_answer(got: object, expected: str) -> Failed:
    """The failure for an answer of a form that cannot be read."""
    return Failed(f"got {shorten(got)} ({type(got).__name__}), expected {expected}")


SHOWN = 12
"""Fields that are named."""
NO_ID = (*DOCUMENT_TEXT, *METADATA, "score", "_score")
"""Fields that are something else, whatever is in them."""


def fields_of(item: Any) -> list[str]:
    """The names under which a document has something: keys, or attributes, slots and properties of an object.

    >>> class Page:
    ...     __slots__ = ("path",)
    ...     @property
    ...     def body(self): return ""
    >>> fields_of(Page()), fields_of({"path": "a", "metadata": {"row": 1}}), fields_of(7)
    (['path', 'body'], ['path', 'metadata', 'row'], [])
    """
    if isinstance(item, Mapping):
        return [*map(str, item), *_inside(item)]
    if type(item).__module__ == "builtins":
        return []
    names = [name for name in _attributes(item) if not name.startswith("_")]
    return list(dict.fromkeys([*names, *_inside(getattr(item, "__dict__", {}))]))


def _inside(record: Mapping[str, Any]) -> list[str]:
    """The names in its metadata, where ids are looked for too."""
    found: Any = next((record[place] for place in METADATA if isinstance(record.get(place), Mapping)), {})
    return list(map(str, found))


def _attributes(item: Any) -> Iterator[str]:
    yield from getattr(item, "__dict__", ())
    kinds = [kind for kind in type(item).__mro__ if kind.__module__ != "builtins"]
    for kind in kinds:
        slots = vars(kind).get("__slots__", ())
        yield from (slots,) if isinstance(slots, str) else slots
    for kind in kinds:
        yield from [name for name, value in vars(kind).items() if isinstance(value, property)]


def missing_id(item: Any, asked: object) -> Failed:
    """The failure for a document whose id is not where it was looked for."""
    fields = fields_of(item)
    what = "a document without an id" if not isinstance(asked, str) else f"a document without {asked!r}"
    near = nearest(asked, fields) if isinstance(asked, str) else ""
    listed = ", ".join(fields[:SHOWN]) + ", ..." * (len(fields) > SHOWN) or "no fields"
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
        advice += f', or name the field with it: id="{name}", in the shell --id {name}'
    return Failed(f"{what} (it has {listed}).{near} Next: {advice}")


SCORE = ("score", "_score")
"""The names of a score in a mapping; an object has the first."""

Columns: TypeAlias = tuple[list[str], list[Any] | None]
"""Ids, and scores if there are some."""
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
    try:
        if type(items[0]) is dict:
            return _of_dicts(items, asked)
        if isinstance(items[0], (Sequence, Mapping)) or not hasattr(items[0], "__dict__"):
            return None
        return _of_objects(items, asked)
    except AttributeError:  # one of them lacks what another has
        return None


def _of_dicts(items: Sequence[dict[str, Any]], asked: str | None) -> Columns | None:
    if not _alike(items):
        return None
    names = _names(asked, items[0].__contains__)
    found = _first(items, names, itemgetter)
    if (
        found is None
        and asked is None
        and not any(name not in DOCUMENT_ID and plain_name(str(name)) in _LOOSELY for name in items[0])
    ):
        found = _in_metadata(items, asked, items[0].__contains__, itemgetter)
    score = next((list(map(itemgetter(name), items)) for name in SCORE if name in items[0]), None)
    return _texts(found, score)


def _of_objects(items: Sequence[Any], asked: str | None) -> Columns | None:
    first = items[0]
    if hasattr(first, "_asdict") or not _alike(list(map(vars, items))):
        return None
    score = list(map(attrgetter("score"), items)) if hasattr(first, "score") else None
    if getattr(first, "node", None) is not None:  # LlamaIndex wraps a node and its score in one
        nodes = list(map(attrgetter("node"), items))
        inner = columns_of_alike(nodes, asked) if len(set(map(type, nodes))) == 1 else None
        return inner and (inner[0], score)

    def has(name: str) -> bool:
        return hasattr(first, name)

    found = _first(items, _names(asked, has), attrgetter)
    return _texts(_in_metadata(items, asked, has, attrgetter) if found is None else found, score)


def _names(asked: str | None, has: Callable[[str], bool]) -> Iterable[str]:
    return filter(has, DOCUMENT_ID if asked is None else (asked,))


def _first(items: Sequence[Any], names: Iterable[str], getter: Getter) -> list[Any] | None:
    """The first column of these names in which there is something."""
    columns = (list(map(getter(name), items)) for name in names)
    return next((each for each in columns if set(map(type, each)) != {type(None)}), None)


def _in_metadata(
    items: Sequence[Any], asked: str | None, has: Callable[[str], bool], getter: Getter
) -> list[Any] | None:
    inside = _first(items, filter(has, METADATA), getter)
    if inside is None or set(map(type, inside)) != {dict} or not _alike(inside):
        return None
    return _first(inside, _names(asked, inside[0].__contains__), itemgetter)


def _alike(records: Sequence[dict[str, Any]]) -> bool:
    """Whether all have the same fields."""
    return all(map(records[0].keys().__eq__, map(dict.keys, records)))


def _texts(ids: list[Any] | None, scores: list[Any] | None) -> Columns | None:
    return (ids, scores) if ids and set(map(type, ids)) == {str} and "" not in ids else None
