"""Filters on metadata as levels of a factor: which documents may be found at all."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

from rankproof.bench.adapters.callables import describe
from rankproof.bench.grid.kinds import NONE, GridPart, table_of
from rankproof.bench.grid.source import GridSource
from rankproof.core.corpus import Corpus, Document
from rankproof.errors import DataError, UsageError, nearest, shorten

WHERE = "where"
CONDITIONS = ("from", "to", "not")
"""What a condition can say of a field beside its value."""


def filter_parts(source: GridSource) -> list[GridPart]:
    """The filters that are described: "none", a table of fields and what they must be, or a function.

    >>> [part] = filter_parts(GridSource({"filters": {"recent": {"year": {"from": 2023}}}}))
    >>> passes = predicate(part)
    >>> [passes(Document("d", "", metadata={"year": year})) for year in (2022, 2023, "2024")]
    [False, True, True]
    """
    return [_part(source, name, given) for name, given in table_of(source, "filters").items()]


def _part(source: GridSource, name: str, given: Any) -> GridPart:
    if given == NONE:
        return GridPart(name, NONE, label=name)
    if callable(given):
        return GridPart(name, WHERE, {"given": name, "settings": describe(given)}, given=given, label=name)
    if not isinstance(given, Mapping) or not given:
        raise UsageError(
            f'{source.where("filters", name)}: got {shorten(given)}, expected "none", or a table of fields and what '
            "they must be. Next: write it like  recent = { year = { from = 2023 } }."
        )
    for key, wanted in given.items():
        _check(source.where("filters", name, key), wanted)
    return GridPart(name, WHERE, dict(given), label=name)


def _check(where: str, wanted: Any) -> None:
    """Refuse a condition that is no value, no list of values, and no bounds."""
    for each in _listed(wanted):
        for name in each if isinstance(each, Mapping) else ():
            if name not in CONDITIONS or each is not wanted:
                raise UsageError(
                    f"{where}: got {shorten(each)}, expected a value, a list of values, or a table of from, to, not."
                    f"{nearest(name, CONDITIONS)} Next: write one of these."
                )


def predicate(part: GridPart) -> Callable[[Document], bool]:
    """Whether a document may be found."""
    if part.given is not None:
        return lambda document: bool(part.given(document))
    return lambda document: all(
        _fits(_values(document.metadata.get(name)), wanted) for name, wanted in part.options.items()
    )


def _values(value: Any) -> list[Any]:
    """What a document has in a field: one value, several, or none."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)
    return [] if value is None else [value]


def _fits(values: list[Any], wanted: Any) -> bool:
    if isinstance(wanted, Mapping):
        return all(_holds(condition, values, bound) for condition, bound in wanted.items())
    return any(_alike(value, each) == _plain(each) for value in values for each in _listed(wanted))


def _holds(condition: str, values: list[Any], bound: Any) -> bool:
    """Whether no value is the one excluded; whether one of them is within the bound."""
    if condition == "not":
        return not _fits(values, bound)
    sign = 1 if condition == "from" else -1
    return any(sign * _order(_alike(value, bound), _plain(bound)) >= 0 for value in values)


def _order(value: Any, bound: Any) -> float:
    """Above 0 where a value is beyond a bound, below where it is not; neither where they cannot be compared."""
    try:
        return float((value > bound) - (value < bound))
    except TypeError:
        return math.nan


def _listed(wanted: Any) -> Sequence[Any]:
    return wanted if isinstance(wanted, (list, tuple)) else [wanted]


def _plain(wanted: Any) -> Any:
    """A value as it is compared: dates as text."""
    return wanted.isoformat() if isinstance(wanted, date) else wanted


def _alike(value: Any, wanted: Any) -> Any:
    """A document's value as what is wanted is: files may hold numbers as text, and dates with a time."""
    if isinstance(wanted, date):
        return str(_plain(value))[: len(wanted.isoformat())]
    if isinstance(wanted, bool) and isinstance(value, str):
        return {"true": True, "false": False}.get(value.lower(), value)
    if isinstance(wanted, (int, float)) and isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return value
    return value


def matching_documents(corpus: Corpus, part: GridPart) -> frozenset[str]:
    """The documents that may be found."""
    passes = predicate(part)
    return frozenset(name for name, document in corpus.items() if passes(document))


def check_filters(source: GridSource, parts: Mapping[str, GridPart], corpus: Corpus) -> None:
    """Refuse filters on what no document has, and those that no document passes."""
    for part in parts.values():
        if part.kind == NONE:
            continue
        _check_fields(source, part, corpus)
        if not matching_documents(corpus, part):
            raise DataError(
                f"{source.where('filters', part.label)}: no document passes it. Next: look at what the documents have "
                "in these fields, and how it is written."
            )


def _check_fields(source: GridSource, part: GridPart, corpus: Corpus) -> None:
    known = {key for document in corpus.values() for key in document.metadata}
    for key in part.options if part.given is None else ():
        if key not in known:
            raise DataError(
                f"{source.where('filters', part.label)}: no document has {key!r} in its metadata, expected one of "
                f"{', '.join(sorted(known)) or 'none'}.{nearest(key, known)} Next: name a field that documents have."
            )
