"""Judgments: grades of documents by query, or preferences between documents."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, wraps
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from rankproof.core.arrays import narrow, offsets, run_rows
from rankproof.core.hits import QUERIES, Array, Facets, Hits, PackedHits
from rankproof.document.model import Displayable
from rankproof.errors import DataError, NotThere, UsageError, check_whole, is_number, shorten

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Judgments(Displayable):
    """A flat table of judged documents, query after query.

    Made by `rankproof.io`, which has checked ids and grades; code behind it trusts them.
    """

    query_ids: Sequence[str]
    """The query ids, in the order they were given; of a large file they are kept as bytes."""
    doc_ids: Sequence[str]
    """The judged document ids, those of the first query first; a document once a query."""
    start: Array
    """Where each query's documents begin; one more entry than there are queries."""
    grade: Array
    """The grade of each judged document; with aspects, its highest over them."""
    facets: Facets | None = None
    """The same judgments aspect by aspect, if the input names aspects."""
    repeated: int = 0
    """How many judgments were given twice with the same grade, and kept once."""
    source: str = "judgments"
    """The source of the judgments, for messages."""
    integer_ids: tuple[bool, bool] = (False, False)
    """Whether the ids of queries, and of documents, were integers."""
    untyped: bool = False
    """Whether they come from a file that does not tell integers from text."""
    machine: str = ""
    """How a judge that is no person marked them, as "machine:NAME"; empty if people judged."""
    library: str = ""
    """The library of the data frame that they came in; empty for other inputs."""
    notes: tuple[str, ...] = ()
    """Guesses of the reader."""
    sampled_from: Sequence[str] = ()
    """All judged queries, if these are a sample of them."""

    @cached_property
    def queries(self) -> tuple[str, ...]:
        """The query ids, in the order they were given."""
        return tuple(self.query_ids)

    @cached_property
    def docs(self) -> list[str]:
        """The judged document ids, those of the first query first."""
        return self.doc_ids if isinstance(self.doc_ids, list) else list(self.doc_ids)

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Where each query stands in `queries`; ids that are kept as bytes know it themselves."""
        places: Mapping[str, int] | None = getattr(self.query_ids, "places", None)
        if places is not None:
            return places
        return {query: i for i, query in enumerate(self.query_ids)}

    @cached_property
    def query(self) -> Array:
        """The query (as an index) of each judged document."""
        number = np.arange(len(self.query_ids))
        return (narrow(number) if len(number) > QUERIES else number).repeat(self.start[1:] - self.start[:-1])

    @cached_property
    def pool(self) -> Hits:
        """All judged documents as Hits, from which every ideal ranking is made."""
        length, query, rows = self.start[1:] - self.start[:-1], self.query, len(self.doc_ids)
        if len(length) > QUERIES:
            places, numbers = partial(_numbers_in_runs, self.start, query), partial(_numbers, rows)
            packed: Any = PackedHits  # whose columns may be functions
            many: Hits = packed(query, places, self.grade, numbers, len(length), length, facets=self.facets)
            many.__dict__["starts"] = self.start
            return many
        doc = np.arange(rows)
        place = doc + 1 - self.start.take(query)
        pool = Hits(query, place, self.grade, doc, len(length), length, facets=self.facets)
        pool.__dict__.update(starts=self.start, nth=place)
        return pool

    def __contains__(self, query: object) -> bool:
        """Whether anything is judged for the query."""
        return isinstance(query, str) and query in self.index

    def of(self, query: str) -> dict[str, float]:
        """The judged documents of one query with their grades."""
        if query not in self:
            raise NotThere(f"query {shorten(query)} is not judged in {self.source}. Next: name one of query_ids.")
        i = self.index[query]
        rows = slice(int(self.start[i]), int(self.start[i + 1]))
        return dict(zip(self.doc_ids[rows], self.grade[rows].tolist(), strict=True))

    def as_dict(self) -> dict[str, dict[str, float]]:
        """All judgments as `{query: {document: grade}}`."""
        return {query: self.of(query) for query in self.query_ids}


def _numbers(count: int, rows: slice) -> Array:
    """Some of the numbers from 0 on."""
    return np.arange(*rows.indices(count))


def _numbers_in_runs(start: Array, run: Array, rows: slice) -> Array:
    """The same, from 1 on in each run; `run` is the one that each row belongs to."""
    return _numbers(len(run), rows) + 1 - start.take(run[rows])


def select_queries(judgments: Judgments, queries: Array) -> Judgments:
    """The judgments of some queries, in the order in which these are named.

    >>> judged = judgments_from_rows(["a", "b", "b"], ["x", "y", "z"], [1, 0, 2])
    >>> select_queries(judged, np.array([1])).as_dict()
    {'b': {'y': 0.0, 'z': 2.0}}
    """
    counts = np.diff(judgments.start)[queries]
    rows = run_rows(judgments.start[queries], counts)
    facets = judgments.facets
    if facets is not None:
        held = np.diff(facets.start)[rows]
        at = run_rows(facets.start[rows], held)
        names = [facets.names[each] for each in at.tolist()] if len(facets.names) else ()
        facets = Facets(offsets(held), facets.aspect[at], facets.grade[at], facets.declared[queries], names)
    return replace(
        judgments,
        query_ids=tuple(judgments.query_ids[at] for at in queries.tolist()),
        doc_ids=[judgments.doc_ids[row] for row in rows.tolist()],
        start=offsets(counts),
        grade=judgments.grade[rows],
        facets=facets,
    )


def cached_for_judgments(make: Callable[[Judgments], T]) -> Callable[[Judgments], T]:
    """The function, whose result for some judgments is kept for as long as these judgments are there."""
    known: WeakKeyDictionary[Judgments, T] = WeakKeyDictionary()

    @wraps(make)
    def found(judgments: Judgments) -> T:
        if judgments not in known:
            known[judgments] = make(judgments)
        return known[judgments]

    return found


class TwoGrades(Exception):
    """A document has two different grades; the reader, which knows which document and where, says so."""

    def __init__(self, first: object, again: object) -> None:
        super().__init__(first, again)
        self.first, self.again = first, again

    def of(self, document: str, where: str = "") -> DataError:
        """The error, with the name of the document, and where both stand."""
        one, other = (f"{each:g}" if is_number(each) else shorten(each) for each in (self.first, self.again))
        return DataError(
            f"{document} is judged twice with different grades, {one} and {other}{where}. "
            "Next: keep the judgment that is right."
        )


def add_judgment(grades: dict[Any, Any], key: Any, grade: Any) -> bool:
    """Whether the judgment is a new one. A document that is judged twice with the same grade counts once.

    >>> grades = {"d1": 2}
    >>> add_judgment(grades, "d2", 1), add_judgment(grades, "d1", 2), grades
    (True, False, {'d1': 2, 'd2': 1})
    """
    if key in grades:
        if grades[key] != grade:
            raise TwoGrades(grades[key], grade)
        return False
    grades[key] = grade
    return True


def judgments_from_rows(
    queries: Iterable[str],
    docs: Iterable[str],
    grades: Iterable[float],
    aspects: Iterable[str] | None = None,
    *,
    source: str = "judgments",
    line: Sequence[int] | None = None,
) -> Judgments:
    """Judgments from parallel columns in any order."""
    has_aspects = aspects is not None
    if aspects is None:
        queries, docs, grades = list(queries), list(docs), np.fromiter(grades, dtype=np.float64)
        if plain := _each_once(queries, docs, grades, source):
            return plain
        grades, aspects = grades.tolist(), [""] * len(queries)
    table: dict[str, dict[str, dict[str, float]]] = {}
    seen: dict[tuple[str, str, str], int] = {}
    repeated = 0
    for number, (query, doc, grade, aspect) in enumerate(zip(queries, docs, grades, aspects, strict=True)):
        first = seen.setdefault((query, doc, aspect), number)
        try:
            repeated += not add_judgment(table.setdefault(query, {}).setdefault(doc, {}), aspect, grade)
        except TwoGrades as error:
            lines = f" (lines {line[first]} and {line[number]})" if line else ""
            raise error.of(f"{source}: document {shorten(doc)} of query {shorten(query)}", lines) from error
    return judgments_from_nested(table, has_aspects, source=source, repeated=repeated)


def _each_once(queries: list[str], docs: list[str], grade: Array, source: str) -> Judgments | None:
    """The judgments where no document comes twice for a query, without a table of each query; else None."""
    known: dict[str, int] = {}
    code = np.fromiter((known.setdefault(name, len(known)) for name in queries), np.intp, len(queries))
    if (code[1:] < code[:-1]).any():
        order = code.argsort(kind="stable")
        code, grade, docs = code[order], grade[order], [docs[row] for row in order.tolist()]
    start = np.searchsorted(code, np.arange(len(known) + 1))
    for i in np.flatnonzero(start[1:] - start[:-1] > 1).tolist():
        begin, end = int(start[i]), int(start[i + 1])
        if len(set(docs[begin:end])) < end - begin:
            return None
    return Judgments(tuple(known), docs, start, grade, source=source)


def judgments_from_nested(
    table: Mapping[str, Mapping[str, Mapping[str, float]]], has_aspects: bool, *, source: str, repeated: int = 0
) -> Judgments:
    """Judgments from `{query: {document: {aspect: grade}}}`; one aspect `""` if there are none."""
    if has_aspects:  # in one order, as of equally good documents an ideal order takes the last
        table = {query: {doc: dict(sorted(docs[doc].items())) for doc in sorted(docs)} for query, docs in table.items()}
    counts = [len(docs) for docs in table.values()]
    rows = [grades for docs in table.values() for grades in docs.values()]
    return Judgments(
        query_ids=tuple(table),
        doc_ids=[doc for docs in table.values() for doc in docs],
        start=offsets(np.array(counts, dtype=np.intp)),
        grade=np.array([max(grades.values()) for grades in rows], dtype=np.float64),
        facets=_facets(table) if has_aspects else None,
        repeated=repeated,
        source=source,
    )


def _facets(table: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Facets:
    """The aspects of each query numbered in the order they appear; grade 0 declares an aspect too."""
    start, aspect, grade, declared, names = [0], [], [], [], []
    for docs in table.values():
        number: dict[str, int] = {}
        for grades in docs.values():
            for name, value in grades.items():
                aspect.append(number.setdefault(name, len(number)))
                grade.append(value)
                names.append(name)
            start.append(len(aspect))
        declared.append(len(number))
    return Facets(
        start=np.array(start, dtype=np.intp),
        aspect=np.array(aspect, dtype=np.intp),
        grade=np.array(grade, dtype=np.float64),
        declared=np.array(declared, dtype=np.intp),
        names=names,
    )


class Order(NamedTuple):
    """One partial order of a judge: documents (numbers) and the level each was given."""

    document: Array
    level: Array


class Group(NamedTuple):
    """What one judge prefers: `prefers[i, j]` says that document i should stand before j."""

    prefers: Array
    level: Array
    """The level of each document; NaN for one the judge said nothing about."""
    total: bool = True
    """Whether the judge gave one order of all documents, rather than several partial ones."""


class Preferences(NamedTuple):
    """The preferences of all judges of a query over its judged documents.

    Documents are numbered by rank; the first `retrieved` of them were retrieved, the others not.
    """

    groups: Sequence[Group]
    retrieved: int


def group(orders: Sequence[Order], documents: int) -> Group:
    """One judge's preferences among `documents` documents, with what follows from them.

    >>> first, second = np.array([0, 1]), np.array([1, 2])
    >>> levels = np.array([2, 1])
    >>> bool(group([Order(first, levels), Order(second, levels)], 3).prefers[0, 2])
    True
    """
    prefers = np.zeros((documents, documents), dtype=bool)
    level = np.full(documents, np.nan)
    for order in orders:
        known = level[order.document]
        if bool((((known > 0) & (order.level == 0)) | ((known == 0) & (order.level > 0))).any()):
            raise DataError(
                "preferences: one judge calls a document not relevant (level 0) in one place and relevant in "
                "another. Next: give it level 0 in all of the judge's groups, or in none."
            )
        level[order.document] = order.level
        prefers[np.ix_(order.document, order.document)] |= order.level[:, None] > order.level[None, :]
    if len(orders) > 1:
        _add_transitive(prefers)
    return Group(prefers, level, total=len(orders) == 1)


def by_levels(*judges: Sequence[float | None], retrieved: int | None = None) -> Preferences:
    """Preferences of judges who gave levels to documents in rank order; None for one not looked at.

    >>> by_levels([1, 0], retrieved=1).groups[0].prefers.tolist()
    [[False, True], [False, False]]
    """
    for levels in judges or (None,):
        if (
            isinstance(levels, str)
            or not isinstance(levels, Sequence)
            or len(levels) != len(judges[0])
            or not all(each is None or _is_level(each) for each in levels)
        ):
            raise UsageError(
                f"by_levels: got {shorten(levels)}, expected for each judge a list of as many finite numbers, None for "
                "a document not looked at. Next: give one list for each judge."
            )
    size = len(judges[0])
    if retrieved is not None:
        check_whole("retrieved", retrieved, 0, size, advice="say how many of the documents were retrieved")
    groups = []
    for levels in judges:
        given = np.array([np.nan if level is None else level for level in levels], dtype=np.float64)
        seen = np.flatnonzero(~np.isnan(given))
        groups.append(group([Order(seen, given[seen])], size))
    return Preferences(groups, size if retrieved is None else retrieved)


def _is_level(value: object) -> bool:
    try:
        return is_number(value) and math.isfinite(value)  # type: ignore[arg-type]
    except OverflowError:  # a whole number beyond any float
        return False


def _add_transitive(prefers: Array) -> None:
    """If i before j and j before k, then i before k (Warshall's algorithm)."""
    for j in np.flatnonzero(prefers.any(axis=0) & prefers.any(axis=1)):
        prefers |= prefers[:, j, None] & prefers[None, j, :]
    if bool(prefers.diagonal().any()):
        raise DataError(
            "preferences: one judge prefers a document to itself, going round in a circle. "
            "Next: put contradicting preferences into different judgment groups."
        )
