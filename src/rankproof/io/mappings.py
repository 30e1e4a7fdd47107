"""Judgments and rankings that are in memory as dicts and lists.

Rankings are large, so no Python code runs for each of their documents: whatever is done to every document,
the checks included, is one call over a block of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise, repeat, starmap
from operator import eq, is_, is_not
from typing import Any, NamedTuple
from weakref import WeakSet

import numpy as np

from rankproof.core.arrays import offsets
from rankproof.core.hits import Array
from rankproof.core.join import Block, Census
from rankproof.core.judgments import Judgments, cached_for_judgments
from rankproof.core.rules import Conventions
from rankproof.core.table import RankingTable
from rankproof.errors import DataError, UsageError, shorten
from rankproof.io.judgments import judgments_from_mapping
from rankproof.io.rankings import check_ranking, check_score, columns, ranking_as_dict, ranking_table
from rankproof.io.values import (
    align_ids,
    are_integers,
    as_given,
    check_same_kind,
    is_integer,
    judged_kinds,
    keys_are_integers,
    numbers_in,
    pack,
    plain_digits,
)

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


__all__ = ["MappingRankings", "judgments_from_mapping"]

BLOCK = 16_384
"""About how many documents are worked on at once: few enough for the processor's cache."""
QUERIES = 1024
"""How many queries are worked on at once at most."""

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
            raise _no_mapping(self.source, self.mapping, "{query: {doc: score}} or {query: [doc, ...]}")

    def blocks(self, judgments: Judgments, conventions: Conventions, census: Census) -> Iterator[Block]:
        """The rankings of judged queries, some ten thousand documents at a time."""
        if conventions.ties == "rank":
            raise _no_ranks(self.source)
        judgments = align_ids(judgments, self._kinds(), self._digits)
        rankings = self._of_judged_queries(judgments, census)
        documents, start = finder(judgments), judgments.start
        for begin in range(0, len(rankings), QUERIES):
            some = rankings[begin : begin + QUERIES]
            present = _present(some)
            self._make_dicts(some, judgments.query_ids[begin : begin + QUERIES], conventions, census)
            length = np.fromiter(map(len, some), dtype=np.intp, count=len(some))
            for part in _cut(length, start[begin : begin + QUERIES + 1]):
                first = begin + part.start
                here = None if present is None else present[part]
                yield _Batch(self.source, judgments, first, some[part], here, length[part]).block(documents)

    def _kinds(self) -> tuple[bool | None, bool | None]:
        """Whether queries and documents are integers, as far as the first ones tell."""
        query = next(iter(self.mapping), None)
        docs = next((each for each in self.mapping.values() if isinstance(each, (dict, list)) and each), ())
        doc: Any = next(iter(docs), None)
        doc = doc[0] if isinstance(doc, (tuple, list)) and doc else doc
        return (None if query is None else is_integer(query)), (None if doc is None else is_integer(doc))

    def _digits(self, role: int) -> bool:
        if not self.untyped:
            return False
        table = self.table()
        return plain_digits((table.query, table.doc)[role])

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
        firsts = [columns(self.mapping[query], self.source)[0][:each] for query in some]
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
            self._note_others(set(queries), census)
        return rankings

    def _note_others(self, judged: set[Any], census: Census) -> None:
        """Count the queries that nobody judged, and look whether what they hold is a ranking."""
        others = [query for query in self.mapping if query not in judged]
        for query in others:
            check_ranking(self.mapping[query], f"{self.source}, query {shorten(query)}")
        census.extra += len(others)
        census.extra_examples.extend(map(str, others[: max(0, 5 - len(census.extra_examples))]))

    def _make_dicts(
        self, rankings: list[Any], queries: Sequence[str], conventions: Conventions, census: Census
    ) -> None:
        """Turn, in place, each ranking that is not a plain dict into one."""
        if set(map(type, rankings)) <= {dict}:
            return
        for i, ranking in enumerate(rankings):
            if type(ranking) is not dict:
                where = f"{self.source}, query {shorten(queries[i])}"
                rankings[i], dropped = ranking_as_dict(ranking, conventions.duplicates, where)
                census.dropped += dropped


class _Batch(NamedTuple):
    """The rankings of some queries that follow each other in the judgments."""

    source: str
    judgments: Judgments
    first: int
    rankings: list[Ranking]
    present: Array | None
    """Which of the queries have a ranking; None: all."""
    length: Array

    def block(self, documents: Finder) -> Block:
        """The block of these rankings, with the judged documents among theirs."""
        self._check_ids()
        score = self._scores()
        found = documents.find(self.rankings, self.first, self.length, score)
        query, length, ranking = self._answered(found.ranking)
        return Block(query, offsets(length), score, ranking, found.judged, found.score, _Names(self.rankings))

    def _answered(self, ranking: Array) -> tuple[Array, Array, Array]:
        """The queries that have a ranking, its length, and the rankings' numbers counted among these alone."""
        if self.present is None:
            return np.arange(self.first, self.first + len(self.rankings)), self.length, ranking
        number = self.present.cumsum() - 1
        return self.first + self.present.nonzero()[0], self.length[self.present], number.take(ranking)

    def _check_ids(self) -> None:
        judged = judged_kinds(self.judgments)[1]
        where = f"{self.source}, documents"
        try:
            check_same_kind(keys_are_integers(self.rankings, where), judged, where)
        except DataError:
            for where, ranking in self._named():
                check_same_kind(are_integers(ranking, where), judged, where)
            raise

    def _scores(self) -> Array:
        score = numbers_in(self.rankings)
        if score is None:
            for where, ranking in self._named():
                for doc, value in ranking.items():
                    check_score(doc, value, where)
        return np.zeros(0) if score is None else score

    def _named(self) -> Iterator[tuple[str, Ranking]]:
        """Each ranking with the words that say in a message where it is."""
        for i, ranking in enumerate(self.rankings, self.first):
            yield f"{self.source}, query {shorten(self.judgments.query_ids[i])}", ranking


def _present(rankings: list[Any]) -> Array | None:
    """Which of the judged queries have a ranking; None: all."""
    if not any(map(is_, rankings, repeat(ABSENT))):
        return None
    return np.fromiter(map(is_not, rankings, repeat(ABSENT)), dtype=bool, count=len(rankings))


def _cut(length: Array, start: Array) -> Iterator[slice]:
    """Stretches of rankings, each with about BLOCK documents or look-ups, or a single larger ranking."""
    total = int(length.sum() + start[-1] - start[0])
    if total <= BLOCK:
        return iter([slice(0, len(length))])
    work = (length + start[1:] - start[:-1]).cumsum()
    cuts = np.searchsorted(work, np.arange(BLOCK, total, BLOCK)) + 1
    return starmap(slice, pairwise(sorted({0, *cuts.tolist(), len(length)})))


@dataclass(eq=False, slots=True)
class _Names:
    """Gives the document ids of some rows of a block; they are listed when first asked for."""

    rankings: list[Ranking]
    listed: list[str] | None = None

    def __call__(self, rows: Array) -> list[str]:
        if self.listed is None:
            self.listed = list(map(str, chain.from_iterable(self.rankings)))
        return list(map(self.listed.__getitem__, rows.tolist()))


def _no_mapping(source: str, got: object, expected: str) -> DataError:
    return DataError(
        f"{source}: got {shorten(got)} ({type(got).__name__}), expected a mapping {expected}. Next: turn it into one."
    )


def _no_ranks(source: str) -> UsageError:
    return UsageError(
        f"{source}: ties='rank' was asked for, but dicts and lists have no rank column. "
        "Next: choose another rule, as ties='input' for the order given, or read a run file."
    )
