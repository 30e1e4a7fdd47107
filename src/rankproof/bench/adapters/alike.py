"""Documents that are all of one make, read by columns: fast retrievers return such thousands of times."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Any, TypeAlias

from rankproof.io.fields import DOCUMENT_ID, METADATA
from rankproof.io.guess import plain

SCORE = ("score", "_score")
"""The names of a score in a mapping; an object has the first."""

Columns: TypeAlias = tuple[list[str], list[Any] | None]
"""Ids, and scores where there are some."""
Getter: TypeAlias = Callable[[str], Callable[[Any], Any]]

_LOOSELY = frozenset(map(plain, DOCUMENT_ID))


def columns_of_alike(items: Sequence[Any], asked: str | None = None) -> Columns | None:
    """Ids and scores of documents of one class and with the same fields; None: they are to be read one by one.

    `asked` is the field that has the id, where it has not one of the usual names.

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
    if found is None and asked is None and not any(map(_is_loosely_an_id, items[0])):
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


def _is_loosely_an_id(name: Any) -> bool:
    return name not in DOCUMENT_ID and plain(str(name)) in _LOOSELY


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
