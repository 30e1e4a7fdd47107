"""Iterables of tuples and of records: (query, doc, grade), (query, doc, score), ir_datasets' named ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Any

from rankproof.errors import DataError, shorten
from rankproof.io.guess import JUDGMENTS, Wanted, guess, said
from rankproof.io.rows import Rows


def read_tuples(items: Iterable[Any], wanted: Wanted, source: str, line: Sequence[int] | None = None) -> Rows:
    """The rows of plain tuples, of named tuples or of dicts, each column under its role.

    >>> from rankproof.io.guess import JUDGMENTS
    >>> read_tuples([("q1", "d1", 2), ("q1", "d2", 0)], JUDGMENTS, "judgments").columns
    {'query': ['q1', 'q1'], 'doc': ['d1', 'd2'], 'grade': [2, 0]}
    """
    rows = Rows({}, source, line)
    found = list(items)
    if not found:
        raise DataError(f"{source}: empty, there is not one row in it. Next: check how it was made.")
    names = _names(found[0])
    if names is None:
        return _unnamed(found, wanted, rows)
    took = guess(names, wanted, source)
    columns = {role: _column(found, name, rows) for role, name in took.items()}
    return Rows(columns, source, line, (said(took, source),))


def _names(item: Any) -> list[str] | None:
    """What the fields of an item are called; None: they have no names."""
    if isinstance(item, Mapping):
        return [str(name) for name in item]
    return list(item._fields) if hasattr(item, "_fields") else None


def _column(items: list[Any], name: str, rows: Rows) -> list[Any]:
    """A field of every item."""
    get = itemgetter(name) if isinstance(items[0], Mapping) else attrgetter(name)
    try:
        return list(map(get, items))
    except (LookupError, AttributeError, TypeError) as error:
        row = next(row for row, item in enumerate(items) if not _has(get, item))
        raise DataError(
            f"{rows.where(row)}: got {shorten(items[row])}, which has no {name!r} as the first one has. "
            "Next: give every row the same fields."
        ) from error


def _has(get: Callable[[Any], Any], item: Any) -> bool:
    try:
        get(item)
    except (LookupError, AttributeError, TypeError):
        return False
    return True


def _unnamed(items: list[Any], wanted: Wanted, rows: Rows) -> Rows:
    value = "grade" if wanted is JUDGMENTS else "score"
    width = len(items[0]) if isinstance(items[0], (tuple, list)) else 0
    all_are_tuples = all(issubclass(kind, (tuple, list)) for kind in set(map(type, items)))
    if width not in (2, 3) or not all_are_tuples or set(map(len, items)) != {width}:
        row = next((row for row, item in enumerate(items) if not _is_tuple(item, width)), 0)
        raise _unfit(items[row], rows.where(row), value, width)
    roles = ("query", "doc", value)
    columns = {role: list(column) for role, column in zip(roles, zip(*items, strict=True), strict=False)}
    return Rows(columns, rows.source, rows.line)


def _is_tuple(item: Any, width: int) -> bool:
    return isinstance(item, (tuple, list)) and len(item) == width


def _unfit(item: Any, where: str, value: str, width: int) -> DataError:
    same = f" with {width} fields as the first one" if width in (2, 3) else ""
    return DataError(
        f"{where}: got {shorten(item)}, expected a tuple (query, doc, {value}) or (query, doc){same}. "
        "Next: give every row that form, or named tuples."
    )
