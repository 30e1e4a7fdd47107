"""Rankings that are in memory: lists, pairs and rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankproof.core.hits import Array
from rankproof.core.join import SAMPLE, Block, Census, note_ranks
from rankproof.core.judgments import Judgments
from rankproof.core.rules import KEEP_ONE, Conventions, RepeatedDocument, drop_repeats
from rankproof.core.table import RankingTable, part_of
from rankproof.errors import DataError, UsageError, shorten
from rankproof.io.rows import Rows, check_not_empty, one_a_row
from rankproof.io.values import (
    align_ids,
    are_integers,
    as_numbers,
    check_same_kind,
    is_id,
    is_number,
    judged_kinds,
    number_step,
    plain_digits,
)

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
    docs, scores = _entries(ranking, where), None
    kinds = set(map(type, docs))
    if kinds and all(issubclass(kind, (tuple, list)) for kind in kinds):
        docs, scores = _unzipped(docs, where)
    _check_ids(docs, where)
    return docs, scores


def check_ranking(ranking: Any, where: str) -> None:
    """A ranking that is not scored must be one nevertheless: ids of one kind, and scores that are numbers."""
    docs, scores = columns(ranking, where)
    are_integers(docs, where)
    _checked_scores(docs, scores, where)


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


def _entries(ranking: Any, where: str) -> Sequence[Any]:
    if getattr(ranking, "ndim", None) == 1 and hasattr(ranking, "tolist"):
        ranking = ranking.tolist()
    if not isinstance(ranking, (list, tuple)):
        raise DataError(f"{where}: got {shorten(ranking)} ({type(ranking).__name__}), {EXPECTED}.{_hint(ranking)}")
    return ranking


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
        raise _twice(docs[error.again], where) from error
    return {docs[row]: scores[row] for row in rows}, len(docs) - len(rows)


def check_score(doc: Any, score: Any, where: str) -> None:
    """A score must be a number; NaN has no place in an order."""
    if not is_number(score) or score != score:
        raise DataError(
            f"{where}, document {shorten(doc)}: got the score {shorten(score)} ({type(score).__name__}), "
            f"expected a number. Next: {number_step(score, 'give the document a score, or drop it')}."
        )


def _twice(doc: Any, where: str) -> DataError:
    return DataError(f"{where}: document {shorten(doc)} comes twice. {KEEP_ONE}")


BLOCK = 32_768
"""About how many documents are handed to the join at once."""


def ranking_of(rows: Rows) -> RowRankings:
    """The rankings in the rows."""
    rows = one_a_row(rows, ranked=True)
    check_not_empty(rows)
    queries, queries_are_int = rows.ids("query")
    docs, docs_are_int = rows.ids("doc")
    table = RankingTable(
        query=queries,
        doc=docs,
        score=rows.numbers("score") if "score" in rows.columns else None,
        rank=rows.numbers("rank") if "rank" in rows.columns else None,
        line=None if rows.line is None else np.asarray(rows.line, dtype=np.intp),
        source=rows.source,
    )
    return RowRankings(
        table,
        (queries_are_int, docs_are_int),
        (*rows.notes, *said_of_order(rows.columns, rows.source)),
        unit=rows.unit,
    )


def said_of_order(roles: Collection[str], source: str) -> list[str]:
    """A note for the audit if the columns with these roles hold no scores."""
    if "score" in roles:
        return []
    taken = "its rank column" if "rank" in roles else "the order of its rows"
    return [f"{source}: no scores, so {taken} is the ranking"]


@dataclass(frozen=True, eq=False)
class RowRankings:
    """Rankings that are in memory as one table of rows."""

    rows: RankingTable
    integer_ids: tuple[bool, bool] = (False, False)
    """Whether the ids of queries, and of documents, were integers."""
    notes: tuple[str, ...] = ()
    untyped: bool = False
    """Whether they come from a file that does not tell integers from text."""
    unit: str = "line"
    """The unit of the numbers of the rows."""

    @property
    def source(self) -> str:
        """The source of the rankings."""
        return self.rows.source

    def table(self) -> RankingTable:
        """Every row, as it was read."""
        return self.rows

    def part(self, rows: int) -> RankingTable:
        """The rows from a few places of the table."""
        return part_of(self.rows, rows)

    def blocks(self, judgments: Judgments, conventions: Conventions, census: Census) -> Iterator[Block]:
        """The rankings of judged queries, some ten thousand documents at a time."""
        judgments = align_ids(judgments, self.integer_ids, self._digits)
        if len(self.rows):
            queries, docs = judged_kinds(judgments)
            check_same_kind(self.integer_ids[0], queries, f"{self.source}, queries")
            check_same_kind(self.integer_ids[1], docs, f"{self.source}, documents")
        census.notes.extend(self.notes)
        score, rank = self.rows.score, self.rows.rank
        if score is not None and rank is not None and conventions.ties != "rank":
            codes: dict[str, int] = {}
            group = np.array([codes.setdefault(query, len(codes)) for query in self.rows.query[:SAMPLE]])
            note_ranks(group, score[:SAMPLE], rank[:SAMPLE], census)
        order = self._order(conventions.ties)
        batch: list[tuple[int, list[int]]] = []
        for query, rows in self._rankings(order, judgments, conventions, census):
            batch.append((query, rows))
            if sum(len(rows) for _, rows in batch) >= BLOCK:
                yield self._block(batch, order, judgments)
                batch = []
        if batch:
            yield self._block(batch, order, judgments)

    def _digits(self, role: int) -> bool:
        return self.untyped and plain_digits((self.rows.query, self.rows.doc)[role])

    def _order(self, ties: str) -> Array:
        """The sort key of each row: its score, its rank, or its place."""
        table = self.rows
        if ties == "rank" and table.rank is None:
            raise UsageError(
                f"{self.source}: ties='rank' was asked for, but there is no rank column. "
                "Next: choose another rule, as ties='input' for the order given."
            )
        if table.rank is not None and (ties == "rank" or table.score is None):
            turned: Array = 1 + table.rank.max(initial=0) - table.rank
            return turned
        return np.arange(len(table), 0, -1, dtype=np.float64) if table.score is None else table.score

    def _rankings(
        self, order: Array, judgments: Judgments, conventions: Conventions, census: Census
    ) -> Iterator[tuple[int, list[int]]]:
        """Each judged query with its rows, each document once."""
        for query, rows in self.rows.by_query().items():
            once = self._once_each(query, rows, order, conventions.duplicates)
            if query in judgments.index:
                census.dropped += len(rows) - len(once)
                yield judgments.index[query], once
            else:
                census.extra += 1
                if len(census.extra_examples) < 5:
                    census.extra_examples.append(query)

    def _once_each(self, query: str, rows: list[int], order: Array, rule: str) -> list[int]:
        docs = self.rows.doc
        if len({docs[row] for row in rows}) == len(rows):
            return rows
        try:
            return drop_repeats(docs, rows, rule, order.__getitem__)
        except RepeatedDocument as error:
            raise self._twice(query, error.first, error.again) from error

    def _twice(self, query: str, one: int, other: int) -> DataError:
        line, unit = self.rows.line, f"{self.unit}s"
        if line is None:
            line, unit = np.arange(1, len(self.rows) + 1), "rows"
        return DataError(
            f"{self.source}: document {shorten(self.rows.doc[one])} comes twice for query {shorten(query)} "
            f"({unit} {line[one]} and {line[other]}). {KEEP_ONE}"
        )

    def _block(self, batch: list[tuple[int, list[int]]], order: Array, judgments: Judgments) -> Block:
        """Some rankings side by side, and the judged documents among them."""
        lengths = [len(rows) for _, rows in batch]
        row = np.array([row for _, rows in batch for row in rows], dtype=np.intp)
        ranking, judged, found = self._found(batch, judgments)
        return Block(
            query=np.array([query for query, _ in batch], dtype=np.intp),
            start=np.append(0, np.cumsum(lengths, dtype=np.intp)).astype(np.intp),
            score=order[row],
            ranking=np.array(ranking, dtype=np.intp),
            judged=np.array(judged, dtype=np.intp),
            found=order[np.array(found, dtype=np.intp)],
            ids=lambda some: [self.rows.doc[each] for each in row[some]],
        )

    def _found(self, batch: list[tuple[int, list[int]]], judgments: Judgments) -> tuple[list[int], ...]:
        """For each judged document found: its ranking, its judgment, its row."""
        ranking, judged, found = [], [], []
        for number, (query, rows) in enumerate(batch):
            first, end = int(judgments.start[query]), int(judgments.start[query + 1])
            judgment = dict(zip(judgments.doc_ids[first:end], range(first, end), strict=True))
            for row in rows:
                if self.rows.doc[row] in judgment:
                    ranking.append(number)
                    judged.append(judgment[self.rows.doc[row]])
                    found.append(row)
        return ranking, judged, found
