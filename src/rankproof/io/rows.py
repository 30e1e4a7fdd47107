"""Rows of any source, with the checks that all sources share: as judgments, as rankings."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankproof.core.conventions import Conventions, RepeatedDocument, drop_repeats, keep_one
from rankproof.core.hits import Array
from rankproof.core.join import SAMPLE, Block, Census, note_ranks
from rankproof.core.judgments import Judgments, judgments_from_rows
from rankproof.core.table import RankingTable, part_of
from rankproof.document.numbers import setting
from rankproof.errors import DataError, UsageError, shorten
from rankproof.io.column_roles import document_fields, guess_sentence, mending_step
from rankproof.io.values import as_numbers, is_id, is_number, match_ids

LISTS = (list, tuple, np.ndarray)
"""Types that hold several documents in one cell of a table."""
FILE = 40
"""Bits of a row's number behind which that of its file stands, where rows of several files were gathered."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Columns by their role (query, doc, grade, score, rank, aspect), and where each row stands."""

    columns: dict[str, Any]
    """A sequence of values for each role; numbers may be an array already."""
    source: str
    line: Sequence[int] | None = None
    """The line of each row; None: rows are counted from 1."""
    notes: tuple[str, ...] = ()
    unit: str = "line"
    """The unit of `line`."""

    def where(self, row: int) -> str:
        """The place of a row, as messages call it."""
        place = f"row {row + 1}" if self.line is None else f"{self.unit} {self.line[row]}"
        return f"{self.source}, {place}"

    def ids(self, role: str) -> tuple[list[str], bool]:
        """The ids of a column as text, and whether they were integers."""
        values: Sequence[Any] = self.columns[role]
        example: dict[bool, int] = {}
        for kind in set(map(type, values)):
            row = next(row for row, value in enumerate(values) if type(value) is kind)
            if not is_id(values[row]):
                raise self._error(row, role, values[row], "expected text")
            example[issubclass(kind, str)] = row
        if len(example) > 1:
            integer, text = example[False], self.where(example[True])
            raise self._error(integer, role, values[integer], f"expected text as in {text}")
        ids = list(map(str, values))
        if "" in ids:
            raise self._error(ids.index(""), role, "", "expected an id")
        try:
            "".join(ids).encode()
        except UnicodeEncodeError:
            row = next(row for row, text in enumerate(ids) if any("\ud800" <= letter <= "\udfff" for letter in text))
            raise self._error(row, role, ids[row], "expected valid Unicode") from None
        return ids, False in example

    def numbers(self, role: str, finite: bool = False) -> Array:
        """The numbers of a column; NaN is refused, and grades must be finite."""
        values = self.columns[role]
        numbers = values if isinstance(values, np.ndarray) else as_numbers(tuple(values))
        if numbers is None:
            row = next(row for row, value in enumerate(values) if not is_number(value))
            raise self._error(row, role, values[row], "expected a number")
        unfit = ~np.isfinite(numbers) if finite else np.isnan(numbers)
        if unfit.any():
            row = int(np.flatnonzero(unfit)[0])
            raise self._error(row, role, float(values[row]), f"expected a {'finite ' if finite else ''}number")
        return numbers.astype(np.float64)

    def _error(self, row: int, role: str, got: object, expected: str) -> DataError:
        kind = "" if isinstance(got, str) else f" ({type(got).__name__})"
        return DataError(
            f"{self.where(row)}: got {shorten(got)}{kind} as the {role}, {expected}. Next: {mending_step(role)}."
        )


def one_a_row(rows: Rows, *, ranked: bool) -> Rows:
    """The rows with each list of documents as so many rows; `ranked`: the best come first.

    >>> one_a_row(Rows({"query": ["q"], "doc": [["a", "b"]]}, "a list"), ranked=True).columns
    {'query': ['q', 'q'], 'doc': ['a', 'b'], 'rank': [1, 2]}
    """
    lists = _lists_in(rows)
    if lists is None:
        return rows
    at = [row for row, docs in enumerate(lists) for _ in docs]
    held = {role: _held(rows, role, lists) for role in ("score", "rank") if role in rows.columns}
    columns = {role: [values[row] for row in at] for role, values in rows.columns.items()}
    columns |= {role: values for role, values in held.items() if values is not None}
    columns["doc"] = [doc for docs in lists for doc in docs]
    if isinstance(columns["doc"][0] if columns["doc"] else None, Mapping):
        columns |= _fields_of(columns["doc"], rows, at)
    if ranked and not {"score", "rank"} & set(columns):
        columns["rank"] = [rank for docs in lists for rank in range(1, len(docs) + 1)]
    line = None if rows.line is None else [rows.line[row] for row in at]
    return replace(rows, columns=columns, line=line)


def _held(rows: Rows, role: str, lists: Sequence[Sequence[Any]]) -> list[Any] | None:
    """The numbers of all documents, if each row has a list of them; None if it has one for all."""
    held = list(map(_list_in, rows.columns[role]))
    if not any(held):
        return None
    for row, (numbers, docs) in enumerate(zip(held, lists, strict=True)):
        if numbers is None or len(numbers) != len(docs):
            got = shorten(rows.columns[role][row]) if numbers is None else f"{len(numbers)} numbers"
            raise DataError(
                f"{rows.where(row)}: got {got} in the {role} column for {len(docs)} documents, expected as many. "
                "Next: correct or drop this row."
            )
    return [number for numbers in held for number in numbers or ()]


def _fields_of(docs: Sequence[Any], rows: Rows, at: Sequence[int]) -> dict[str, list[Any]]:
    """The documents of lists of records, with their scores and ranks."""
    names = list(docs[0])
    fields = document_fields(names)
    unlike = (
        (row, doc) for row, doc in zip(at, docs, strict=True) if not isinstance(doc, Mapping) or list(doc) != names
    )
    odd = next(unlike, None)
    if fields is None or odd:
        row, doc = odd or (0, docs[0])
        raise DataError(
            f"{rows.where(row)}: cannot tell the document and its score in {shorten(doc)}. "
            "Next: name them 'doc_id' and 'score' in each record."
        )
    return {role: [doc[name] for doc in docs] for role, name in fields.items()}


def _lists_in(rows: Rows) -> list[Sequence[Any]] | None:
    """The documents of each row, none where it is empty, if rows hold lists, or the JSON of lists; else None."""
    values = rows.columns["doc"]
    texts = [value for value in values if isinstance(value, str)]
    if not {*LISTS}.intersection(map(type, values)) and not re.search(r"\n(\[|\{\s*['\"])", "\n".join(["", *texts])):
        return None
    found = list(map(_list_in, values))
    odd = next((row for row, each in enumerate(found) if each is None), None)
    if odd is None:
        return [each or () for each in found]
    if not any(each and not is_number(each[0]) for each in found) and not any(map(NO_LIST.fullmatch, texts)):
        return None  # ids in brackets, as [2024]
    raise DataError(
        f"{rows.where(odd)}: got {shorten(values[odd])} as the documents, expected a list of them, in text as JSON. "
        'Next: write it like ["d1", "d2"], as json.dumps does, a document alone too; scores in a column of lists.'
    )


NO_LIST = re.compile(r"""\[\s*'.*'\s*\]|\{\s*['"].*['"]\s*:.*\}""", re.DOTALL)
"""A list as Python shows it, which pandas writes into CSV, or an object, which has no order."""


def _list_in(value: Any) -> Sequence[Any] | None:
    """The list that is meant; None if it is none."""
    if isinstance(value, LISTS):
        return list(value)
    if not isinstance(value, str):
        return () if value is None or (isinstance(value, float) and value != value) else None
    try:
        found = json.loads(value or "[]")
    except ValueError:
        return None
    return found if isinstance(found, list) else None


def judgments_of(rows: Rows) -> Judgments:
    """The judgments in the rows; without a grade column every document named is relevant.

    >>> judgments_of(Rows({"query": ["q"], "doc": ["d"]}, "a list")).notes
    ('a list: no grades, so every document listed counts as relevant (grade 1)',)
    """
    rows, queries, docs, integer_ids = _with_ids(rows, ranked=False)
    notes = list(rows.notes)
    if "grade" in rows.columns:
        grades = rows.numbers("grade", finite=True).tolist()
    else:
        grades = [1.0] * len(docs)
        notes.append(ungraded_note(rows.source))
    aspects = rows.ids("aspect")[0] if "aspect" in rows.columns else None
    if aspects is None and "iteration" in rows.columns:
        # The second column of a TREC file names an aspect if it is not always the same.
        iterations = list(map(str, rows.columns["iteration"]))
        aspects = iterations if len(set(iterations)) > 1 else None
    judgments = judgments_from_rows(queries, docs, grades, aspects, source=rows.source, line=rows.line)
    return replace(judgments, integer_ids=integer_ids, notes=tuple(notes))


def ungraded_note(source: str) -> str:
    """A note on judgments without grades."""
    return f"{source}: no grades, so every document listed counts as relevant (grade 1)"


def _with_ids(rows: Rows, *, ranked: bool) -> tuple[Rows, list[str], list[str], tuple[bool, bool]]:
    """The rows one a document, their queries and documents, and whether these were integers."""
    rows = one_a_row(rows, ranked=ranked)
    if not len(rows.columns["query"]):
        raise DataError(f"{rows.source}: empty, it has no rows. Next: check how it was made.")
    (queries, integer_queries), (docs, integer_docs) = rows.ids("query"), rows.ids("doc")
    return rows, queries, docs, (integer_queries, integer_docs)


BLOCK = 32_768
"""About how many documents are handed to the join at once."""


def ranking_of(rows: Rows) -> RowRankings:
    """The rankings in the rows."""
    rows, queries, docs, integer_ids = _with_ids(rows, ranked=True)
    score, rank = (rows.numbers(role) if role in rows.columns else None for role in ("score", "rank"))
    line = None if rows.line is None else np.asarray(rows.line, dtype=np.intp)
    table = RankingTable(queries, docs, score, rank, line, rows.source)
    return RowRankings(table, integer_ids, (*rows.notes, *order_notes(rows.columns, rows.source)), unit=rows.unit)


def order_notes(roles: Collection[str], source: str) -> list[str]:
    """A note for the audit if the columns with these roles hold no scores."""
    if "score" in roles:
        return []
    taken = "its rank column" if "rank" in roles else "the order of its rows"
    return [f"{source}: no scores, so {taken} is the ranking"]


def column_notes(took: Mapping[str, str], source: str) -> tuple[str, ...]:
    """The notes for the audit on the columns that were taken."""
    return (guess_sentence(took, source), *order_notes(took, source))


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
        documents = 0  # in the batch; counted anew for each ranking, short ones would take the square of their number
        for query, rows in self._rankings(order, judgments, conventions, census):
            batch.append((query, rows))
            documents += len(rows)
            if documents >= BLOCK:
                yield self._block(batch, order, judgments)
                batch, documents = [], 0
        if batch:
            yield self._block(batch, order, judgments)

    def _order(self, ties: str) -> Array:
        """The sort key of each row: its score, its rank, or its place."""
        table = self.rows
        if ties == "rank" and table.rank is None:
            raise UsageError(
                f"{self.source}: {setting('ties', 'rank')} was asked for, but there is no rank column. "
                f"Next: choose another rule, like {setting('ties', 'input')} for the order given."
            )
        if table.rank is not None and (ties == "rank" or table.score is None):
            return np.asarray(1 + table.rank.max(initial=0) - table.rank)
        return np.arange(len(table), 0, -1, dtype=np.float64) if table.score is None else table.score

    def _rankings(
        self, order: Array, judgments: Judgments, conventions: Conventions, census: Census
    ) -> Iterator[tuple[int, list[int]]]:
        """Each judged query with its rows, each document once; repeats in the other queries are no errors."""
        for query, rows in self.rows.by_query().items():
            if query in judgments.index:
                once = self._once_each(query, rows, order, conventions.duplicates)
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
            line, unit = self.rows.line, self.unit
            if line is None:
                line, unit = np.arange(1, len(self.rows) + 1), "row"
            (file, first), (other, again) = (divmod(int(line[row]), 1 << FILE) for row in (error.first, error.again))
            at = f"{unit}s {first} and {again}" if file == other else f"{unit} {first}, {unit} {again} of another file"
            raise DataError(
                f"{self.source}: document {shorten(docs[error.first])} comes twice for query {shorten(query)} ({at}). "
                f"Next: {keep_one(in_files=file != other)}"
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
            here = [each for each in rows if self.rows.doc[each] in judgment]
            ranking += [number] * len(here)
            judged += [judgment[self.rows.doc[each]] for each in here]
            found += here
        return Block(
            query=np.array([query for query, _ in batch], dtype=np.intp),
            start=np.append(0, np.cumsum(lengths, dtype=np.intp)).astype(np.intp),
            score=order[row],
            ranking=np.array(ranking, dtype=np.intp),
            judged=np.array(judged, dtype=np.intp),
            found=order[np.array(found, dtype=np.intp)],
            ids=lambda some: [self.rows.doc[each] for each in row[some]],
        )
