"""Rankings that are in memory as dicts, lists and pairs.

Rankings are large, so no Python code runs for each of their documents: whatever is done to every document,
the checks included, is one call over a block of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise, repeat, starmap
from operator import eq, is_, is_not
from typing import Any, NamedTuple

import numpy as np

from rankproof.core.arrays import offsets
from rankproof.core.conventions import KEEP_ONE, Conventions, RepeatedDocument, drop_repeats
from rankproof.core.hits import Array
from rankproof.core.join import Block, Census
from rankproof.core.judgments import Judgments
from rankproof.core.table import RankingTable
from rankproof.errors import DataError, UsageError, shorten
from rankproof.io.judgments import Finder, Ranking, finder
from rankproof.io.values import (
    align_ids,
    are_integers,
    as_given,
    as_numbers,
    check_same_kind,
    is_id,
    is_integer,
    is_number,
    judged_kinds,
    keys_are_integers,
    number_step,
    numbers_in,
)

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
            raise DataError(
                f"{self.source}: got {shorten(self.mapping)} ({type(self.mapping).__name__}), expected a mapping "
                "{query: {doc: score}} or {query: [doc, ...]}. Next: turn it into one."
            )

    def blocks(self, judgments: Judgments, conventions: Conventions, census: Census) -> Iterator[Block]:
        """The rankings of judged queries, some ten thousand documents at a time."""
        if conventions.ties == "rank":
            raise UsageError(
                f"{self.source}: ties='rank' was asked for, but dicts and lists have no rank column. "
                "Next: choose another rule, as ties='input' for the order given, or read a run file."
            )
        judgments = align_ids(judgments, self._kinds(), self.table if self.untyped else None)
        rankings = self._of_judged_queries(judgments, census)
        documents, start = finder(judgments), judgments.start
        for begin in range(0, len(rankings), QUERIES):
            some = rankings[begin : begin + QUERIES]
            present = None  # which of them have a ranking; None: all
            if any(map(is_, some, repeat(ABSENT))):
                present = np.fromiter(map(is_not, some, repeat(ABSENT)), dtype=bool, count=len(some))
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
            judged = set(queries)
            others = [query for query in self.mapping if query not in judged]
            for query in others:  # what is not scored must be a ranking nevertheless
                where = f"{self.source}, query {shorten(query)}"
                docs, scores = columns(self.mapping[query], where)
                are_integers(docs, where)
                _checked_scores(docs, scores, where)
            census.extra += len(others)
            census.extra_examples.extend(map(str, others[: max(0, 5 - len(census.extra_examples))]))
        return rankings

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
        query, length, ranking = np.arange(self.first, self.first + len(self.rankings)), self.length, found.ranking
        if self.present is not None:  # numbers are counted among the queries that have a ranking alone
            query, length = query[self.present], length[self.present]
            ranking = (self.present.cumsum() - 1).take(ranking)
        return Block(query, offsets(length), score, ranking, found.judged, found.score, _names(self.rankings))

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


# --- one ranking ---------------------------------------------------------------------------------------

EXPECTED = "expected {doc: score}, [doc, ...] or [(doc, score), ...]"


def ranking_as_dict(ranking: Any, duplicates: str, where: str) -> tuple[dict[Any, Any], int]:
    """`{doc: score}` in the order given, and how many repeated documents were dropped from it.

    A list of documents is in its own order: its scores count down to 1.

    >>> ranking_as_dict(["b", "a"], "error", "ranking, query 'q1'")
    ({'b': 2, 'a': 1}, 0)
    """
    if isinstance(ranking, Mapping):
        return dict(ranking), 0
    docs, scores = columns(ranking, where)
    if scores is None:
        scores = range(len(docs), 0, -1)
    table = dict(zip(docs, scores, strict=True))
    return (table, 0) if len(table) == len(docs) else _once_each(docs, scores, duplicates, where)


def columns(ranking: Any, where: str) -> tuple[Sequence[Any], Sequence[Any] | None]:
    """The documents of any kind of ranking, and their scores; None for a list that has none."""
    if isinstance(ranking, Mapping):
        return list(ranking), list(ranking.values())
    if getattr(ranking, "ndim", None) == 1 and hasattr(ranking, "tolist"):
        ranking = ranking.tolist()
    if not isinstance(ranking, (list, tuple)):
        raise DataError(f"{where}: got {shorten(ranking)} ({type(ranking).__name__}), {EXPECTED}.{_hint(ranking)}")
    docs: Sequence[Any] = ranking
    scores: Sequence[Any] | None = None
    kinds = set(map(type, docs))
    if kinds and all(issubclass(kind, (tuple, list)) for kind in kinds):
        docs, scores = _unzipped(docs, where)
    _check_ids(docs, where)
    return docs, scores


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
        score.extend(_checked_scores(docs, scores, where))
    return RankingTable(
        query=query,
        doc=doc,
        score=np.array(score, dtype=np.float64) if scored else None,
        source=source,
        empty=tuple(name for name, ranking in zip(queries, rankings, strict=True) if not len(ranking)),
    )


def _checked_scores(docs: Sequence[Any], scores: Sequence[Any] | None, where: str) -> Sequence[Any]:
    if scores is None:
        return range(len(docs), 0, -1)
    numbers = as_numbers(scores)
    if numbers is None or np.isnan(numbers).any():
        for doc, score in zip(docs, scores, strict=True):
            check_score(doc, score, where)
    return scores


def _hint(ranking: Any) -> str:
    if isinstance(ranking, (set, frozenset)):
        return " A set has no order. Next: give a list, best document first."
    if isinstance(ranking, str):
        return " Next: put the document ids into a list."
    if ranking is None:
        return " Next: leave the query out, or give it an empty list."
    return " Next: turn it into one of these."


def _unzipped(pairs: Sequence[Any], where: str) -> tuple[Sequence[Any], Sequence[Any]]:
    if set(map(len, pairs)) != {2}:
        unfit = next(pair for pair in pairs if len(pair) != 2)
        raise DataError(
            f"{where}: got the entry {shorten(unfit)}, expected a pair (doc, score). "
            "Next: give every document its score, or none."
        )
    docs, scores = zip(*pairs, strict=True)
    return docs, scores


def _check_ids(docs: Sequence[Any], where: str) -> None:
    for kind in set(map(type, docs)):
        unfit = next(doc for doc in docs if type(doc) is kind)
        if not is_id(unfit):
            raise DataError(
                f"{where}: got the document id {shorten(unfit)} ({kind.__name__}), expected text. "
                "Next: give every id as text."
            )


def _once_each(docs: Sequence[Any], scores: Sequence[Any], duplicates: str, where: str) -> tuple[dict[Any, Any], int]:
    """Each document once, by the rule for duplicates, at the place of the entry that is kept."""
    for doc, score in zip(docs, scores, strict=True):
        check_score(doc, score, where)
    try:
        rows = drop_repeats(docs, range(len(docs)), duplicates, scores.__getitem__)
    except RepeatedDocument as error:
        raise DataError(f"{where}: document {shorten(docs[error.again])} comes twice. {KEEP_ONE}") from error
    return {docs[row]: scores[row] for row in rows}, len(docs) - len(rows)


def check_score(doc: Any, score: Any, where: str) -> None:
    """A score must be a number; NaN has no place in an order."""
    if not is_number(score) or score != score:
        raise DataError(
            f"{where}, document {shorten(doc)}: got the score {shorten(score)} ({type(score).__name__}), "
            f"expected a number. Next: {number_step(score, 'give the document a score, or drop it')}."
        )
