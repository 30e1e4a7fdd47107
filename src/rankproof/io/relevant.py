"""Judgments that are in memory: grades by document, sets of relevant documents, grades by aspect."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np

from rankproof.core.arrays import offsets, whole
from rankproof.core.hits import Array
from rankproof.core.judgments import Judgments, judgments_from_nested
from rankproof.errors import DataError, shorten
from rankproof.io.ids import are_integers, is_id, keys_are_integers
from rankproof.io.numbers import is_number, numbers_in

BATCH = 512
"""How many queries are looked at before the next: few enough for the processor's cache."""


def judgments_from_mapping(mapping: Mapping[Any, Any], source: str = "judgments") -> Judgments:
    """Judgments from `{query: {doc: grade}}`, `{query: docs}` or `{query: {doc: {aspect: grade}}}`.

    >>> judgments_from_mapping({"q1": {"d1": 2, "d2": 0}, "q2": ["d3"]}).as_dict()
    {'q1': {'d1': 2.0, 'd2': 0.0}, 'q2': {'d3': 1.0}}
    """
    if not isinstance(mapping, Mapping):
        raise _no_mapping(mapping, source)
    queries = list(mapping)
    queries_are_integers = are_integers(queries, f"{source}, queries")
    if queries_are_integers:
        queries = list(map(str, queries))
    tables = _Tables(source, queries, list(mapping.values()))
    repeated = tables.make_dicts()
    docs: list[Any] = []
    aspects = tables.have_aspects()
    parts = tables.parts(docs, graded=not aspects)
    docs_are_integers = tables.are_integers(docs, parts)
    kinds: dict[str, object] = {"integer_ids": (bool(queries_are_integers), bool(docs_are_integers))}
    if aspects:
        judgments = judgments_from_nested(tables.nested(), True, source=source)
        return replace(judgments, prepared=kinds, repeated=repeated)
    return Judgments(
        queries=tuple(queries),
        docs=list(map(str, docs)) if docs_are_integers else docs,
        start=offsets(whole([part.length for part in parts])),
        grade=whole([part.grade for part in parts], np.float64),
        repeated=repeated,
        source=source,
        prepared=kinds,
    )


@dataclass(frozen=True, eq=False, slots=True)
class _Part:
    """The judgments of some queries that follow each other."""

    length: Array
    """How many documents each query has."""
    integers: bool | None
    """Whether the ids of the documents are integers; None where there are none."""
    grade: Array
    """The grade of each document; empty where they are judged aspect by aspect."""


@dataclass(frozen=True, eq=False, slots=True)
class _Tables:
    """The judgments of each query, as they were given until `make_dicts` has made them alike."""

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
            parts.append(self._part(tables, graded))
        return parts

    def _part(self, tables: list[dict[Any, Any]], graded: bool) -> _Part:
        return _Part(
            length=np.fromiter(map(len, tables), dtype=np.intp, count=len(tables)),
            integers=self._are_integers(tables),
            grade=self._grades(tables) if graded else np.zeros(0),
        )

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

    def are_integers(self, docs: list[Any], parts: list[_Part]) -> bool:
        """Whether the ids of the documents are integers; all of them must agree."""
        kinds = {part.integers for part in parts}
        if {True, False} <= kinds:
            are_integers(docs, f"{self.source}, documents")
        return True in kinds

    def have_aspects(self) -> bool:
        """Whether the first judged document is judged aspect by aspect; all of them must agree."""
        return isinstance(next(chain.from_iterable(map(dict.values, self.tables)), None), Mapping)

    def nested(self) -> dict[str, dict[str, dict[str, float]]]:
        """The judgments of `{doc: {aspect: grade}}` tables."""
        return {
            query: {
                str(doc): _aspects(grades, f"{where}, document {shorten(doc)}")
                for doc, grades in table.items()
            }
            for query, (where, table) in zip(self.queries, self._named(), strict=True)
        }

    def _named(self) -> Iterator[tuple[str, Any]]:
        """Each table with the words that say in a message where it is."""
        for query, table in zip(self.queries, self.tables, strict=True):
            yield f"{self.source}, query {shorten(query)}", table


def _no_mapping(got: object, source: str) -> DataError:
    return DataError(
        f"{source}: got {shorten(got)} ({type(got).__name__}), expected a mapping "
        "{query: {doc: grade}} or {query: {doc, ...}}. Next: give one of these, a path, a data frame or tuples."
    )


def _as_dict(table: Any, where: str) -> dict[Any, Any]:
    if isinstance(table, Mapping):
        return dict(table)
    if not isinstance(table, (list, tuple, set, frozenset)):
        raise DataError(
            f"{where}: got {shorten(table)} ({type(table).__name__}), "
            "expected {doc: grade} or a set of docs. Next: turn it into one of these."
        )
    return dict.fromkeys(_relevant(table, where), 1)


def _relevant(docs: Collection[Any], where: str) -> Collection[Any]:
    """Documents that are relevant, each an id."""
    for doc in docs:
        if not is_id(doc):
            raise DataError(
                f"{where}: got {shorten(doc)} ({type(doc).__name__}) as a document id, expected text. "
                "Next: give {doc: grade}, or a set of ids."
            )
    return docs


def _check_grade(grade: Any, where: str) -> None:
    if not is_number(grade) or not np.isfinite(float(grade)):
        raise DataError(
            f"{where}: got the grade {shorten(grade)} ({type(grade).__name__}), expected a finite number. "
            "Next: correct the judgment or drop it."
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
