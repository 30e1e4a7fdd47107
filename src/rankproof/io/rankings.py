"""Rankings that are in memory as rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from rankproof.core.conventions import KEEP_ONE, Conventions, RepeatedDocument, drop_repeats
from rankproof.core.hits import Array
from rankproof.core.join import SAMPLE, Block, Census, note_ranks
from rankproof.core.judgments import Judgments
from rankproof.core.table import RankingTable, part_of
from rankproof.errors import DataError, UsageError, shorten
from rankproof.io.roles import guess_sentence
from rankproof.io.rows import Rows, check_not_empty, one_a_row
from rankproof.io.values import match_ids

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


def said_of_columns(took: Mapping[str, str], source: str) -> tuple[str, ...]:
    """The notes for the audit on the columns that were taken."""
    return (guess_sentence(took, source), *said_of_order(took, source))


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
        kinds = self.integer_ids if len(self.rows) else (None, None)
        judgments = match_ids(judgments, kinds, self.source, self.table if self.untyped else None)
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
            line, unit = self.rows.line, f"{self.unit}s"
            if line is None:
                line, unit = np.arange(1, len(self.rows) + 1), "rows"
            raise DataError(
                f"{self.source}: document {shorten(docs[error.first])} comes twice for query {shorten(query)} "
                f"({unit} {line[error.first]} and {line[error.again]}). {KEEP_ONE}"
            ) from error

    def _block(self, batch: list[tuple[int, list[int]]], order: Array, judgments: Judgments) -> Block:
        """Some rankings side by side, and the judged documents among them."""
        lengths = [len(rows) for _, rows in batch]
        row = np.array([row for _, rows in batch for row in rows], dtype=np.intp)
        # For each judged document found: its ranking, its judgment, its row.
        ranking, judged, found = [], [], []
        for number, (query, rows) in enumerate(batch):
            first, end = int(judgments.start[query]), int(judgments.start[query + 1])
            judgment = dict(zip(judgments.doc_ids[first:end], range(first, end), strict=True))
            for each in rows:
                if self.rows.doc[each] in judgment:
                    ranking.append(number)
                    judged.append(judgment[self.rows.doc[each]])
                    found.append(each)
        return Block(
            query=np.array([query for query, _ in batch], dtype=np.intp),
            start=np.append(0, np.cumsum(lengths, dtype=np.intp)).astype(np.intp),
            score=order[row],
            ranking=np.array(ranking, dtype=np.intp),
            judged=np.array(judged, dtype=np.intp),
            found=order[np.array(found, dtype=np.intp)],
            ids=lambda some: [self.rows.doc[each] for each in row[some]],
        )
