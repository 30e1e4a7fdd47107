"""Judgments and rankings that are in memory as dicts, lists and pairs; and judged documents, looked up in rankings.

Rankings are large, so no Python code runs for single documents: every step, checks included, is one call over
a block of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice, pairwise, repeat, starmap
from operator import eq, is_, is_not
from typing import Any, NamedTuple
from weakref import WeakSet

import numpy as np

from rankproof.core.arrays import join_parts, offsets
from rankproof.core.conventions import Conventions
from rankproof.core.hits import Array
from rankproof.core.join import Block, Census
from rankproof.core.judgments import Judgments, cached_for_judgments, judgments_from_nested
from rankproof.core.table import RankingTable
from rankproof.document.numbers import setting
from rankproof.errors import DataError, UsageError, shorten
from rankproof.io.values import (
    align_ids,
    are_integers,
    as_given,
    as_numbers,
    check_number,
    check_same_kind,
    checked_scores,
    columns,
    is_id,
    is_integer,
    judged_kinds,
    keys_are_integers,
    pack,
    ranking_as_dict,
    unfit,
)

JUDGED = "{query: {doc: grade}} or {query: {doc, ...}}"
RANKED = "{query: {doc: score}} or {query: [doc, ...]}"
"""The forms of judgments and of rankings, as errors give them."""
BATCH = 512
"""How many queries' judgments are looked at before the next: few enough for the processor's cache."""
BLOCK = 16_384
"""About how many ranked documents are worked on at once: few enough for the processor's cache."""
QUERIES = 1024
"""How many queries' rankings are worked on at once at most."""


class Tables(NamedTuple):
    """The judgments or rankings of some queries, each as `{doc: number}`."""

    source: str
    queries: Sequence[str]
    tables: list[Any]

    def with_places(self) -> Iterator[tuple[str, Any]]:
        """Each table with the words that say in a message where it is."""
        for query, table in zip(self.queries, self.tables, strict=True):
            yield f"{self.source}, query {shorten(query)}", table

    def have_integers(self, judged: bool | None = None) -> bool | None:
        """Whether the ids of documents are integers, None if there are none; they must be of the kind of the judged."""
        where = f"{self.source}, documents"
        try:
            kind = keys_are_integers(self.tables, where)
            check_same_kind(kind, judged, where)
        except DataError:
            for where, table in self.with_places():
                check_same_kind(are_integers(table, where), judged, where)
            raise
        return kind

    def numbers(self, what: str) -> Array:
        """The grades or scores of all documents."""
        numbers = as_numbers(list(chain.from_iterable(map(dict.values, self.tables))))
        if numbers is None or np.count_nonzero(~np.isfinite(numbers) if what == "grade" else numbers != numbers):
            for where, table in self.with_places():
                for doc, value in table.items():
                    check_number(value, what, f"{where}, document {shorten(doc)}")
        return np.zeros(0) if numbers is None else numbers


def judgments_from_mapping(mapping: Mapping[Any, Any], source: str = "judgments") -> Judgments:
    """Judgments from `{query: {doc: grade}}`, `{query: docs}` or `{query: {doc: {aspect: grade}}}`.

    >>> judgments_from_mapping({"q1": {"d1": 2, "d2": 0}, "q2": ["d3"]}).as_dict()
    {'q1': {'d1': 2.0, 'd2': 0.0}, 'q2': {'d3': 1.0}}
    """
    if not isinstance(mapping, Mapping):
        raise unfit(
            source, mapping, f"a mapping {JUDGED}", "give one of these, a path, a data frame or tuples", typed=True
        )
    queries, tables = list(mapping), list(mapping.values())
    integer_queries = bool(are_integers(queries, f"{source}, queries"))
    if integer_queries:
        queries = list(map(str, queries))
    whole = Tables(source, queries, tables)
    repeated = 0
    if not set(map(type, tables)) <= {dict}:
        for i, (where, table) in enumerate(whole.with_places()):
            tables[i] = _as_dict(table, where)
            repeated += len(table) - len(tables[i])
    # Whether the first judged document is judged aspect by aspect; all of them must agree.
    aspects = isinstance(next(chain.from_iterable(map(dict.values, tables)), None), Mapping)
    docs, lengths, grades, kinds = list[Any](), list[Array](), list[Array](), set[bool | None]()
    for i in range(0, len(tables), BATCH):  # all that is done to them while they are in the cache
        some = Tables(source, queries[i : i + BATCH], tables[i : i + BATCH])
        docs.extend(chain.from_iterable(some.tables))
        lengths.append(np.fromiter(map(len, some.tables), dtype=np.intp, count=len(some.tables)))
        kinds.add(some.have_integers())
        if not aspects:
            grades.append(some.numbers("grade"))
    if {True, False} <= kinds:
        are_integers(docs, f"{source}, documents")  # raises, as all of them must agree
    integer_ids = (integer_queries, True in kinds)
    if aspects:
        nested = {
            query: {str(doc): _aspects(each, f"{where}, document {shorten(doc)}") for doc, each in table.items()}
            for query, (where, table) in zip(queries, whole.with_places(), strict=True)
        }
        judgments = judgments_from_nested(nested, True, source=source)
        return replace(judgments, integer_ids=integer_ids, repeated=repeated)
    return Judgments(
        query_ids=tuple(queries),
        doc_ids=list(map(str, docs)) if integer_ids[1] else docs,
        start=offsets(join_parts(lengths)),
        grade=join_parts(grades, np.float64),
        repeated=repeated,
        source=source,
        integer_ids=integer_ids,
    )


def _as_dict(table: Any, where: str) -> dict[Any, Any]:
    if isinstance(table, Mapping):
        return dict(table)
    if not isinstance(table, (list, tuple, set, frozenset)):
        raise unfit(where, table, "{doc: grade} or a set of docs", "turn it into one of these", typed=True)
    # Documents that are relevant, each an id.
    for doc in table:
        if not is_id(doc):
            raise unfit(where, doc, "text", "give {doc: grade}, or a set of ids", role="a document id", typed=True)
    return dict.fromkeys(table, 1)


def _aspects(grades: Any, where: str) -> dict[str, float]:
    if not isinstance(grades, Mapping) or not grades:
        expected = "{aspect: grade} as for the other documents"
        raise unfit(where, grades, expected, "judge every document aspect by aspect, or none")
    are_integers(grades, f"{where}, aspects")
    for aspect, grade in grades.items():
        check_number(grade, "grade", f"{where}, aspect {shorten(aspect)}")
    return {str(aspect): float(grade) for aspect, grade in grades.items()}


Ranking = dict[Any, Any]
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
        judged, number = start[-1] - start[0], np.arange(len(rankings))
        if self.again and judged >= WORTH * len(score):
            some = look_ups(self.judgments)[first : first + len(rankings)]
            places = chain.from_iterable(map(map, some, rankings, repeat(repeat(-1))))
            found = np.fromiter(places, dtype=np.intp, count=len(score))
            row = (found >= 0).nonzero()[0]
            return MappedRows(number.repeat(length).take(row), found.take(row), score.take(row))
        if judged > len(score):
            # Touch every id in the order of the rankings, which is mostly that of memory: look-ups in another order,
            # if there are many, then find them in the processor's cache.
            list(chain.from_iterable(rankings))
        counts = start[1:] - start[:-1]
        wanted = chain.from_iterable(map(repeat, rankings, counts.tolist()))
        listed = pack(list(map(dict.get, wanted, self.docs[start[0] : start[-1]], repeat(np.nan))))
        hit = (listed == listed).nonzero()[0]
        return MappedRows(number.repeat(counts).take(hit), hit + start[0], listed.take(hit))


@cached_for_judgments
def look_ups(judgments: Judgments) -> list[Callable[[Any, int], int]]:
    """For each query what gives a document's place among the judgments, made once for all runs."""
    docs = as_given(judgments.doc_ids, judged_kinds(judgments)[1])
    return [
        dict(zip(docs[begin:end], range(begin, end), strict=True)).get
        for begin, end in pairwise(judgments.start.tolist())
    ]


_met: WeakSet[Judgments] = WeakSet()
"""The judgments that met a run."""


ABSENT: Ranking = {}
"""Stands for the ranking of a judged query that has none."""


@dataclass(frozen=True, eq=False)
class MappingRankings:
    """Rankings as `{query: {doc: score}}`, `{query: [doc, ...]}` or `{query: [(doc, score), ...]}`."""

    mapping: Mapping[Any, Any] = field(repr=False)
    source: str = "ranking"
    untyped: bool = False
    """Whether it is of a file whose keys can be text only."""

    def __post_init__(self) -> None:
        if not isinstance(self.mapping, Mapping):
            raise unfit(self.source, self.mapping, f"a mapping {RANKED}", "turn it into one", typed=True)

    def blocks(self, judgments: Judgments, conventions: Conventions, census: Census) -> Iterator[Block]:
        """The rankings of judged queries, some ten thousand documents at a time."""
        if conventions.ties == "rank":
            raise UsageError(
                f"{self.source}: {setting('ties', 'rank')} was asked for, but dicts and lists have no rank column. "
                f"Next: choose another rule, like {setting('ties', 'input')} for the order given, or a run file."
            )
        judgments = align_ids(judgments, self._kinds(), self.table if self.untyped else None)
        rankings = self._of_judged_queries(judgments, census)
        docs = as_given(judgments.doc_ids, judged_kinds(judgments)[1])
        documents, start = Finder(judgments, docs, again=judgments in _met), judgments.start
        _met.add(judgments)
        for begin in range(0, len(rankings), QUERIES):
            some = rankings[begin : begin + QUERIES]
            present = None  # which of them have a ranking; None: all
            if any(map(is_, some, repeat(ABSENT))):
                present = np.fromiter(map(is_not, some, repeat(ABSENT)), dtype=bool, count=len(some))
            names = judgments.query_ids[begin : begin + QUERIES]
            if not set(map(type, some)) <= {dict}:
                for i, ranking in enumerate(some):
                    if type(ranking) is not dict:
                        where = f"{self.source}, query {shorten(names[i])}"
                        some[i], dropped = ranking_as_dict(ranking, conventions.duplicates, where)
                        census.dropped += dropped
            length = np.fromiter(map(len, some), dtype=np.intp, count=len(some))
            for part in _cut(length, start[begin : begin + QUERIES + 1]):
                tables = Tables(self.source, names[part], some[part])
                here = None if present is None else present[part]
                yield _block(tables, begin + part.start, length[part], here, documents)

    def _kinds(self) -> tuple[bool | None, bool | None]:
        """Whether queries and documents are integers, as far as the first ones tell."""
        query = next(iter(self.mapping), None)
        docs = next((each for each in self.mapping.values() if isinstance(each, (dict, list)) and each), ())
        doc: Any = next(iter(docs), None)
        doc = doc[0] if isinstance(doc, (tuple, list)) and doc else doc
        return (None if query is None else is_integer(query)), (None if doc is None else is_integer(doc))

    def table(self) -> RankingTable:
        """Every document of every ranking as columns."""
        integers = are_integers(self.mapping, f"{self.source}, queries")
        queries = list(map(str, self.mapping)) if integers else list(self.mapping)
        return ranking_table(queries, list(self.mapping.values()), self.source)

    def part(self, rows: int) -> RankingTable:
        """The first documents of queries from all over the mapping."""
        every = list(self.mapping)
        some = every[:: max(1, len(every) // QUERIES)]
        each = max(1, rows // max(1, len(some)))
        rankings = map(self.mapping.__getitem__, some)
        firsts = [list(islice(r, each)) if type(r) is dict else columns(r, self.source)[0][:each] for r in rankings]
        return ranking_table([*map(str, some)], firsts, self.source)

    def _of_judged_queries(self, judgments: Judgments, census: Census) -> list[Any]:
        """What the mapping holds for each judged query, in the order of the judgments."""
        kind = judged_kinds(judgments)[0]
        if kind is False and (
            len(self.mapping) == len(judgments.query_ids) and all(map(eq, self.mapping, judgments.query_ids))
        ):
            return list(self.mapping.values())
        where = f"{self.source}, queries"
        check_same_kind(are_integers(self.mapping, where), kind, where)
        queries = as_given(judgments.query_ids, kind)
        rankings = list(map(self.mapping.get, queries, repeat(ABSENT)))
        extra = len(self.mapping) - sum(map(is_not, rankings, repeat(ABSENT)))
        if extra:
            judged = set(queries)
            others = [query for query in self.mapping if query not in judged]
            for query in others:  # what is not scored must be a ranking nevertheless
                where = f"{self.source}, query {shorten(query)}"
                docs, scores = columns(self.mapping[query], where)
                are_integers(docs, where)
                checked_scores(docs, scores, where)
            census.extra += len(others)
            census.extra_examples.extend(map(str, others[: max(0, 5 - len(census.extra_examples))]))
        return rankings


def _block(tables: Tables, first: int, length: Array, present: Array | None, documents: Finder) -> Block:
    """The rankings of queries that follow each other from `first` on, and the judged documents among theirs.

    `present` tells which of the queries have a ranking; None: all.
    """
    rankings = tables.tables
    tables.have_integers(judged_kinds(documents.judgments)[1])
    score = tables.numbers("score")
    found = documents.find(rankings, first, length, score)
    query, ranking = np.arange(first, first + len(rankings)), found.ranking
    if present is not None:  # numbers are counted among the queries that have a ranking alone
        query, length = query[present], length[present]
        ranking = (present.cumsum() - 1).take(ranking)
    return Block(query, offsets(length), score, ranking, found.judged, found.score, _names(rankings))


def _cut(length: Array, start: Array) -> Iterator[slice]:
    """Stretches of rankings, each with about BLOCK documents or look-ups, or a single larger ranking."""
    total = int(length.sum() + start[-1] - start[0])
    if total <= BLOCK:
        return iter([slice(0, len(length))])
    work = (length + start[1:] - start[:-1]).cumsum()
    cuts = np.searchsorted(work, np.arange(BLOCK, total, BLOCK)) + 1
    return starmap(slice, pairwise(sorted({0, *cuts.tolist(), len(length)})))


def _names(rankings: list[Ranking]) -> Callable[[Array], list[str]]:
    """Gives the document ids of some rows of a block; they are listed when first asked for."""
    listed: list[str] = []

    def names(rows: Array) -> list[str]:
        if not listed:
            listed.extend(map(str, chain.from_iterable(rankings)))
        return list(map(listed.__getitem__, rows.tolist()))

    return names


def ranking_table(queries: Sequence[str], rankings: Sequence[Any], source: str) -> RankingTable:
    """Rankings of any kind as columns; scores count down in a list without, if others have scores."""
    query: list[str] = []
    doc: list[str] = []
    score: list[Any] = []
    scored = False
    for name, ranking in zip(queries, rankings, strict=True):
        where = f"{source}, query {shorten(name)}"
        docs, scores = columns(ranking, where)
        query.extend([name] * len(docs))
        doc.extend(map(str, docs) if are_integers(docs, where) else docs)
        scored |= scores is not None
        score.extend(checked_scores(docs, scores, where))
    return RankingTable(
        query=query,
        doc=doc,
        score=np.array(score, dtype=np.float64) if scored else None,
        source=source,
        empty=tuple(name for name, ranking in zip(queries, rankings, strict=True) if not len(ranking)),
    )
