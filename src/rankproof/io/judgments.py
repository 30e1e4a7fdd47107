"""Judged spans of documents, and the places of chunks."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rankproof.core.corpus import JudgedSpan, SpanJudgments
from rankproof.errors import DataError, number_in, shorten
from rankproof.io.files import name_of
from rankproof.io.read import Row, checked_id, field_of, records
from rankproof.io.roles import NAMES

QUERY = ("query", *NAMES["query"][0], "question", "_id")
DOCUMENT = ("document", *NAMES["doc"][0], "doc", "corpus_id", "source")
START = ("start", "start_index", "begin", "start_char", "start_offset", "from")
END = ("end", "end_index", "stop", "end_char", "end_offset", "to")
CHUNK = ("id", "_id", "chunk", "chunk_id", "name")
GRADE = ("grade", "relevance", "score", "rel", "label")
"""Names of the fields of a judged span, the surest first."""
EXPECTED = "query, document, start, end and perhaps grade"


def load_spans(source: Any) -> SpanJudgments:
    """The judged spans of each query.

    `source` is `{query: [(document, start, end), ...]}` or `{query: {document: [(start, end), ...]}}`, each
    with a grade at its end if there are grades; rows or records of query, document, start, end and grade; a
    data frame; or the path of JSON Lines, JSON, CSV, TSV (also without header) or Parquet.

    >>> load_spans([{"query": "q1", "document": "d1", "start": 8, "end": 22}]).by_query
    {'q1': (JudgedSpan(document='d1', start=8, end=22, grade=1),)}
    """
    if isinstance(source, SpanJudgments):
        return source
    named = name_of(source) if isinstance(source, (str, os.PathLike)) else "span judgments"
    found: dict[str, list[JudgedSpan]] = {}
    places: dict[tuple[str, JudgedSpan], str] = {}
    for where, query, row in _rows(records(source, named)):
        spans = found.setdefault(query, [])
        if row is not None:
            span = _span(row, where)
            spans.append(span)
            places.setdefault((query, span), where)
    if not found:
        raise DataError(f"{named}: it has no queries. Next: check how it was made.")
    return SpanJudgments({query: tuple(spans) for query, spans in found.items()}, named, places)


def load_places(path: str | os.PathLike[str]) -> dict[str, tuple[str, int, int]]:
    """The places of chunks: from a file with the columns id, document, start and end, or a corpus of chunks."""
    found: dict[str, tuple[str, int, int]] = {}
    for where, item in records(path, name_of(path)):
        if not isinstance(item, Mapping):
            raise DataError(
                f"{where}: got {shorten(item)}, expected id, document, start and end. Next: correct this row."
            )
        told = {**item, **item["metadata"]} if isinstance(item.get("metadata"), Mapping) else item
        name, document, *places = (_part(told, names, where) for names in (CHUNK, DOCUMENT, START, END))
        start, end = (_whole(place, where) for place in places)
        found[checked_id(name, where)] = (checked_id(document, where), start, end)
    return found


def _rows(placed: Iterator[Row]) -> Iterator[tuple[str, str, Any]]:
    """Where each span stands, its query, and its (document, start, end, grade); None for a query without spans."""
    for where, item in placed:
        if isinstance(item, Mapping) and field_of(item, START) is None and "_id" in item:
            yield from _of_query(where, checked_id(item["_id"], where), item)
        elif isinstance(item, Mapping):
            yield where, checked_id(_part(item, QUERY, where), where), _named(item, where)
        elif isinstance(item, Sequence) and not isinstance(item, str) and len(item) in (4, 5):
            yield where, checked_id(item[0], where), item[1:]
        else:
            raise DataError(f"{where}: got {shorten(item)}, expected {EXPECTED}. Next: correct this row.")


def _of_query(where: str, query: str, item: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    """The spans of one query: a list of them, a list for each document, or a line without header."""
    rest = {name: value for name, value in item.items() if name != "_id"}
    listed = rest.pop("text", None) if set(rest) == {"text"} else None
    if isinstance(listed, str):
        yield where, query, listed.rstrip("\r").split("\t")
        return
    if listed is not None and not isinstance(listed, Sequence):
        raise DataError(f"{where}: got {shorten(listed)}, expected {EXPECTED}. Next: correct this row.")
    rows = (
        [_named(each, where) if isinstance(each, Mapping) else each for each in listed]
        if listed is not None
        else list(_by_document(rest, where))
    )
    yield from ((where, query, row) for row in rows or [None])


def _by_document(spans: Mapping[str, Any], where: str) -> Iterator[tuple[Any, ...]]:
    for document, each in spans.items():
        if isinstance(each, str) or not isinstance(each, Sequence):
            raise DataError(
                f"{where}, {shorten(document)}: got {shorten(each)}, expected a list of (start, end). "
                f"Next: write {EXPECTED}."
            )
        yield from ((document, *part) for part in each)


def _named(item: Mapping[str, Any], where: str) -> tuple[Any, ...]:
    grade = field_of(item, GRADE)
    parts = [_part(item, names, where) for names in (DOCUMENT, START, END)]
    return (*parts, 1 if grade is None else item[grade])


def _part(item: Mapping[str, Any], names: Sequence[str], where: str) -> Any:
    name = field_of(item, names)
    if name is None:
        raise DataError(
            f"{where}: no {names[0]} in {shorten(list(item))}, expected {EXPECTED}. Next: name it {names[0]!r}."
        )
    return item[name]


def _span(row: Any, where: str) -> JudgedSpan:
    if isinstance(row, str) or not isinstance(row, Sequence) or len(row) not in (3, 4):
        raise DataError(f"{where}: got {shorten(row)}, expected {EXPECTED}. Next: correct this row.")
    start, end = (_whole(value, where) for value in row[1:3])
    if not 0 <= start < end:
        raise DataError(
            f"{where}: got the span {shorten(start)} to {shorten(end)}, expected a start of at least 0 and an end "
            "after it. Next: count characters from 0; the end is the character after the last."
        )
    value = row[3] if len(row) == 4 else 1
    number = number_in(value)
    if not math.isfinite(number):
        raise DataError(f"{where}: got {shorten(value)} as a grade, expected a number. Next: write 1, or 2.")
    grade = int(number) if number.is_integer() else number
    return JudgedSpan(checked_id(row[0], where), start, end, grade)


def _whole(value: Any, where: str) -> int:
    number = number_in(value)
    if not number.is_integer():
        raise DataError(
            f"{where}: got {shorten(value)} as a place in the text, expected a whole number. "
            "Next: count characters from 0."
        )
    return int(number)
