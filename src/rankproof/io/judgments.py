"""Judgments that are in memory: of documents, of aspects, of spans; and those of documents looked up."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise, repeat
from typing import Any, NamedTuple
from weakref import WeakSet

import numpy as np

from rankproof.core.arrays import join_parts, offsets
from rankproof.core.corpus import JudgedSpan, SpanJudgments
from rankproof.core.hits import Array
from rankproof.core.judgments import Judgments, cached_for_judgments, judgments_from_nested
from rankproof.errors import DataError, number_in, shorten
from rankproof.io.files import name_of
from rankproof.io.read import Row, checked_id, field_of, records
from rankproof.io.roles import NAMES
from rankproof.io.values import (
    are_integers,
    as_given,
    is_id,
    is_number,
    judged_kinds,
    keys_are_integers,
    number_step,
    numbers_in,
    pack,
)

BATCH = 512
"""How many queries are looked at before the next: few enough for the processor's cache."""


def judgments_from_mapping(mapping: Mapping[Any, Any], source: str = "judgments") -> Judgments:
    """Judgments from `{query: {doc: grade}}`, `{query: docs}` or `{query: {doc: {aspect: grade}}}`.

    >>> judgments_from_mapping({"q1": {"d1": 2, "d2": 0}, "q2": ["d3"]}).as_dict()
    {'q1': {'d1': 2.0, 'd2': 0.0}, 'q2': {'d3': 1.0}}
    """
    if not isinstance(mapping, Mapping):
        raise DataError(
            f"{source}: got {shorten(mapping)} ({type(mapping).__name__}), expected a mapping "
            "{query: {doc: grade}} or {query: {doc, ...}}. Next: give one of these, a path, a data frame or tuples."
        )
    queries = list(mapping)
    queries_are_integers = are_integers(queries, f"{source}, queries")
    if queries_are_integers:
        queries = list(map(str, queries))
    tables = _Tables(source, queries, list(mapping.values()))
    repeated = tables.make_dicts()
    docs: list[Any] = []
    # Whether the first judged document is judged aspect by aspect; all of them must agree.
    aspects = isinstance(next(chain.from_iterable(map(dict.values, tables.tables)), None), Mapping)
    parts = tables.parts(docs, graded=not aspects)
    known = {part.integers for part in parts}
    if {True, False} <= known:
        are_integers(docs, f"{source}, documents")  # raises, as all of them must agree
    kinds = (bool(queries_are_integers), True in known)
    if aspects:
        judgments = judgments_from_nested(tables.nested(), True, source=source)
        return replace(judgments, integer_ids=kinds, repeated=repeated)
    return Judgments(
        query_ids=tuple(queries),
        doc_ids=list(map(str, docs)) if kinds[1] else docs,
        start=offsets(join_parts([part.length for part in parts])),
        grade=join_parts([part.grade for part in parts], np.float64),
        repeated=repeated,
        source=source,
        integer_ids=kinds,
    )


class _Part(NamedTuple):
    """The judgments of some queries that follow each other."""

    length: Array
    """How many documents each query has."""
    integers: bool | None
    """Whether the ids of the documents are integers; None if there are none."""
    grade: Array
    """The grade of each document; empty if they are judged aspect by aspect."""


class _Tables(NamedTuple):
    """The judgments of each query, as they were given, until `make_dicts` has brought them into one form."""

    source: str
    queries: list[str]
    tables: list[Any]

    def make_dicts(self) -> int:
        """Turn each table into `{doc: grade}` in place; how many documents were repeated in lists."""
        repeated = 0
        if not set(map(type, self.tables)) <= {dict}:
            for i, (where, table) in enumerate(self._named()):
                self.tables[i] = _as_dict(table, where)
                repeated += len(table) - len(self.tables[i])
        return repeated

    def parts(self, docs: list[Any], *, graded: bool) -> list[_Part]:
        """The judgments of BATCH queries at a time, all that is done to them while they are in the cache.

        Their documents are added to `docs`.
        """
        parts = []
        for i in range(0, len(self.tables), BATCH):
            tables = self.tables[i : i + BATCH]
            docs.extend(chain.from_iterable(tables))
            length = np.fromiter(map(len, tables), dtype=np.intp, count=len(tables))
            integers = self._are_integers(tables)
            parts.append(_Part(length, integers, self._grades(tables) if graded else np.zeros(0)))
        return parts

    def _are_integers(self, tables: list[dict[Any, Any]]) -> bool | None:
        try:
            return keys_are_integers(tables, f"{self.source}, documents")
        except DataError:
            for where, table in self._named():
                are_integers(table, where)
            raise

    def _grades(self, tables: list[dict[Any, Any]]) -> Array:
        grades = numbers_in(tables)
        if grades is None or np.count_nonzero(np.isfinite(grades)) < len(grades):
            for where, table in self._named():
                for doc, grade in table.items():
                    _check_grade(grade, f"{where}, document {shorten(doc)}")
        return np.zeros(0) if grades is None else grades

    def nested(self) -> dict[str, dict[str, dict[str, float]]]:
        """The judgments of `{doc: {aspect: grade}}` tables."""
        return {
            query: {str(doc): _aspects(grades, f"{where}, document {shorten(doc)}") for doc, grades in table.items()}
            for query, (where, table) in zip(self.queries, self._named(), strict=True)
        }

    def _named(self) -> Iterator[tuple[str, Any]]:
        """Each table with the words that say in a message where it is."""
        for query, table in zip(self.queries, self.tables, strict=True):
            yield f"{self.source}, query {shorten(query)}", table


def _as_dict(table: Any, where: str) -> dict[Any, Any]:
    if isinstance(table, Mapping):
        return dict(table)
    if not isinstance(table, (list, tuple, set, frozenset)):
        raise DataError(
            f"{where}: got {shorten(table)} ({type(table).__name__}), "
            "expected {doc: grade} or a set of docs. Next: turn it into one of these."
        )
    # Documents that are relevant, each an id.
    for doc in table:
        if not is_id(doc):
            raise DataError(
                f"{where}: got {shorten(doc)} ({type(doc).__name__}) as a document id, expected text. "
                "Next: give {doc: grade}, or a set of ids."
            )
    return dict.fromkeys(table, 1)


def _check_grade(grade: Any, where: str) -> None:
    if not is_number(grade) or not np.isfinite(float(grade)):
        raise DataError(
            f"{where}: got the grade {shorten(grade)} ({type(grade).__name__}), expected a finite number. "
            f"Next: {number_step(grade, 'correct the judgment or drop it')}."
        )


def _aspects(grades: Any, where: str) -> dict[str, float]:
    if not isinstance(grades, Mapping) or not grades:
        raise DataError(
            f"{where}: got {shorten(grades)}, expected {{aspect: grade}} as for the other documents. "
            "Next: judge every document aspect by aspect, or none."
        )
    are_integers(grades, f"{where}, aspects")
    for aspect, grade in grades.items():
        _check_grade(grade, f"{where}, aspect {shorten(aspect)}")
    return {str(aspect): float(grade) for aspect, grade in grades.items()}


QUERY = ("query", *NAMES["query"][0], "question", "_id")
DOCUMENT = ("document", *NAMES["doc"][0], "doc", "corpus_id", "source")
START = ("start", "start_index", "begin", "start_char", "start_offset", "from")
END = ("end", "end_index", "stop", "end_char", "end_offset", "to")
CHUNK = ("id", "_id", "chunk", "chunk_id", "name")
GRADE = ("grade", "relevance", "score", "rel", "label")
"""Names of the fields of a judged span, the surest first."""
EXPECTED = "query, document, start, end and perhaps grade"


Ranking = dict[Any, Any]
LookUp = Callable[[Any, int], int]
"""The place of a document among the judgments of one query; the second argument if it is not judged."""

WORTH = 2
"""From this ratio of judged to ranked documents on, look up each ranked document."""


class MappedRows(NamedTuple):
    """Judged documents among some rankings."""

    ranking: Array
    judged: Array
    score: Array


class Finder(NamedTuple):
    """Looks for the documents of some judgments in one run after the other."""

    judgments: Judgments
    docs: Sequence[Any]
    """The judged documents as the user wrote them."""
    again: bool
    """Whether these judgments met a run before: then more will come, and what helps them is worth making."""

    def find(self, rankings: list[Ranking], first: int, length: Array, score: Array) -> MappedRows:
        """The judged documents among the rankings of some queries, from the query `first` on."""
        start = self.judgments.start[first : first + len(rankings) + 1]
        judged = start[-1] - start[0]
        if self.again and judged >= WORTH * len(score):
            some = look_ups(self.judgments)[first : first + len(rankings)]
            return _listed_among_judged(rankings, length, score, some)
        if judged > len(score):
            # Touch every id in the order of the rankings, which is mostly that of memory: look-ups in another order,
            # if there are many, then find them in the processor's cache.
            list(chain.from_iterable(rankings))
        return _judged_among_listed(rankings, start, self.docs)


@cached_for_judgments
def look_ups(judgments: Judgments) -> list[LookUp]:
    """The look-up of each query, made once for all runs."""
    docs = as_given(judgments.doc_ids, judged_kinds(judgments)[1])
    return [
        dict(zip(docs[begin:end], range(begin, end), strict=True)).get
        for begin, end in pairwise(judgments.start.tolist())
    ]


_met: WeakSet[Judgments] = WeakSet()
"""The judgments that met a run."""


def finder(judgments: Judgments) -> Finder:
    """What finds the judged documents of one more run."""
    again = judgments in _met
    _met.add(judgments)
    return Finder(judgments, as_given(judgments.doc_ids, judged_kinds(judgments)[1]), again)


def _judged_among_listed(rankings: list[Ranking], start: Array, docs: Sequence[Any]) -> MappedRows:
    counts = start[1:] - start[:-1]
    wanted = chain.from_iterable(map(repeat, rankings, counts.tolist()))
    score = pack(list(map(dict.get, wanted, docs[start[0] : start[-1]], repeat(np.nan))))
    hit = (score == score).nonzero()[0]
    return MappedRows(np.arange(len(rankings)).repeat(counts).take(hit), hit + start[0], score.take(hit))


def _listed_among_judged(rankings: list[Ranking], length: Array, score: Array, look_ups: list[LookUp]) -> MappedRows:
    found = chain.from_iterable(map(map, look_ups, rankings, repeat(repeat(-1))))
    judged = np.fromiter(found, dtype=np.intp, count=len(score))
    row = (judged >= 0).nonzero()[0]
    return MappedRows(np.arange(len(rankings)).repeat(length).take(row), judged.take(row), score.take(row))


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
