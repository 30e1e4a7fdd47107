"""Columns of Arrow as bytes and numbers: plain ones, with one row per document; all others are left to slower readers.

Large tables become judgments here: half a microsecond and some thirty bytes per row, with all checks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankproof.core.hits import Array
from rankproof.core.judgments import Judgments
from rankproof.io.column_roles import document_fields
from rankproof.io.trec import JudgedRows, judgments_of_parts
from rankproof.io.trec.chunks import PAD, Chunk
from rankproof.io.trec.index import Texts, starts_of_runs
from rankproof.io.trec.lines import Lines, joined_fields

PLACE = "place"
"""The column of gathered rows that says where each stood."""
ROWS = 1 << 18
"""About how many rows are processed at once."""
OF_IDS = ("string", "large_string", "string_view", "integer")
"""The types of columns of ids."""


class OddTable(Exception):
    """Something the fast way cannot read."""


@dataclass(frozen=True, eq=False, slots=True)
class TextColumn:
    """A column of text: all bytes, and where each text begins (one more entry than there are texts)."""

    data: Array
    offsets: Array

    def at(self, row: int) -> bytes:
        """The text of a row."""
        return self.data[self.offsets[row] : self.offsets[row + 1]].tobytes()

    def bytes_of(self, first: int, last: int) -> Array:
        """The bytes of some rows."""
        return self.data[self.offsets[first] : self.offsets[last]]


@dataclass(frozen=True, eq=False, slots=True)
class Stretch:
    """Some rows that follow each other."""

    table: Any
    """A pyarrow table with the columns `query`, `doc`, and perhaps `score`, `rank` and `place`."""
    first: int
    """How many rows stand before it."""
    kinds: tuple[bool, bool] | None
    """Whether the ids of queries, and of documents, were integers before they were text; None: the table is odd."""

    @property
    def numbers(self) -> Array:
        """The number of each row in its source, from 1."""
        if PLACE in self.table.column_names:
            return as_numpy(self.table.column(PLACE))
        if "parent" in self.table.column_names:
            return as_numpy(self.table.column("parent")) + 1
        return np.arange(self.first + 1, self.first + self.table.num_rows + 1)

    def rows(self, begin: int, end: int) -> Stretch:
        """Some of the rows."""
        return Stretch(self.table.slice(begin, end - begin), self.first + begin, self.kinds)


def one_piece(tables: list[Any]) -> Any:
    """Tables as one, each column in one piece."""
    import pyarrow

    return pyarrow.concat_tables(tables, promote_options="permissive").combine_chunks()


def as_numpy(column: Any) -> Array:
    """Numbers of Arrow without nulls, not copied where they lie in one piece.

    Arrow's own ways to NumPy and back load pandas wherever it is installed: 60 MB and half a second.
    """
    whole = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    return np.from_dlpack(whole)


def as_arrow(values: Array) -> Any:
    """Numbers of NumPy as Arrow has them."""
    import pyarrow

    kind = pyarrow.from_numpy_dtype(values.dtype)
    return pyarrow.Array.from_buffers(kind, len(values), [None, pyarrow.py_buffer(values)])


def by_role(table: Any, took: Mapping[str, str]) -> Any:
    """The table with its columns under their roles, not under the names that `took` says they have."""
    roles = {name: role for role, name in took.items()}
    return table.rename_columns([roles[name] for name in table.column_names])


def plain_rows(table: Any, first: int) -> Stretch:
    """The table with one document per row and the ids as plain text, each column in one piece."""
    import pyarrow

    if "aspect" in table.column_names:
        raise OddTable
    table = _one_a_row(table, first)
    kinds = []
    for name in ("query", "doc"):
        column = table.column(name)
        kind = column.type.value_type if pyarrow.types.is_dictionary(column.type) else column.type
        if column.null_count or not any(getattr(pyarrow.types, f"is_{each}")(kind) for each in OF_IDS):
            raise OddTable
        kinds.append(bool(pyarrow.types.is_integer(kind)))
        table = table.set_column(table.column_names.index(name), name, column.cast(pyarrow.large_string()))
    if table.num_rows and table.column("doc")[0].as_py().startswith("["):
        raise OddTable  # the JSON of a list
    return Stretch(table.combine_chunks(), first, (kinds[0], kinds[1]))


def _one_a_row(table: Any, first: int) -> Any:
    """The table with a row for each document of the lists in it, and `parent`: the row that each stood in."""
    import pyarrow
    from pyarrow import compute

    kind, doc = pyarrow.types, table.column("doc").combine_chunks()
    if not any(getattr(kind, f"is_{each}")(doc.type) for each in ("list", "large_list", "fixed_size_list")):
        return table
    parent = as_numpy(compute.list_parent_indices(doc))
    inside = compute.list_flatten(doc)
    columns = {"query": table.column("query").combine_chunks().take(as_arrow(parent)), "doc": inside}
    if kind.is_struct(inside.type):
        fields = document_fields([inside.type.field(i).name for i in range(inside.type.num_fields)])
        if fields is None or inside.null_count:
            raise OddTable
        columns |= {role: compute.struct_field(inside, name) for role, name in fields.items()}
    for name in ("score", "rank", "grade", "iteration"):
        if name in table.column_names and name not in columns:
            held = table.column(name).combine_chunks()
            if not (kind.is_list(held.type) or kind.is_large_list(held.type)):
                columns[name] = held.take(as_arrow(parent))
                continue
            if not np.array_equal(parent, as_numpy(compute.list_parent_indices(held))):
                raise OddTable
            columns[name] = compute.list_flatten(held)
    if not {"score", "rank", "grade"} & set(columns):
        starts = np.flatnonzero(np.append(True, parent[1:] != parent[:-1]))[: len(parent)]
        begin = np.repeat(starts, np.diff(np.append(starts, len(parent))))
        columns["rank"] = as_arrow(np.arange(len(parent)) - begin + 1)
    columns["parent"] = as_arrow(parent.astype(np.int64) + first)
    return pyarrow.table(columns)


def texts_of(column: Any) -> TextColumn:
    """A column of text as bytes."""
    whole = column.combine_chunks()
    _, offsets, data = whole.buffers()
    begin = np.frombuffer(offsets, dtype=np.int64)[whole.offset : whole.offset + len(whole) + 1]
    return TextColumn(np.frombuffer(data or b"", dtype=np.uint8), begin)


def _ids_of(table: Any) -> tuple[TextColumn, TextColumn]:
    """The ids of queries and documents as bytes; an empty one is odd."""
    ids = texts_of(table.column("query")), texts_of(table.column("doc"))
    if not all((each.offsets[1:] > each.offsets[:-1]).all() for each in ids):
        raise OddTable
    return ids


def order_of(columns: Any, ties: str) -> Array:
    """The sort key of each row: its score, its rank, or its place."""
    names = columns.column_names
    if ties == "rank" and "rank" not in names:
        raise OddTable
    if "rank" in names and (ties == "rank" or "score" not in names):
        rank = numbers_of(columns.column("rank"))
        return np.asarray(1 + rank.max(initial=0) - rank)
    if "score" in names:
        return numbers_of(columns.column("score"))
    return np.arange(columns.num_rows, 0, -1, dtype=np.float64)


def numbers_of(column: Any) -> Array:
    """A column of numbers; nulls, NaN and other types are odd."""
    import pyarrow

    kind = column.type
    if column.null_count or not (pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind)):
        raise OddTable
    numbers: Array = as_numpy(column).astype(np.float64)
    if np.isnan(numbers).any():
        raise OddTable
    return numbers


def lines_of(table: Any) -> Lines:
    """The rows in the form of the lines of a run: the queries' bytes, then the documents'."""
    query, doc = _ids_of(table)
    queries, docs = query.bytes_of(0, table.num_rows), doc.bytes_of(0, table.num_rows)
    pad = np.zeros(PAD, dtype=np.uint8)
    chunk = Chunk(np.concatenate([pad, queries, docs, pad]), len(queries) + len(docs))
    of_query = query.offsets - query.offsets[0] + PAD
    of_doc = doc.offsets - doc.offsets[0] + PAD + len(queries)
    begin = np.stack([of_query[:-1], of_query[:-1], of_doc[:-1]])
    return Lines(chunk, begin, np.stack([of_query[1:], of_query[1:], of_doc[1:]]), None)


def tables_of(table: Any) -> Iterator[Any]:
    """A table in memory some rows at a time."""
    return (table.slice(at, ROWS) for at in range(0, max(1, table.num_rows), ROWS))


def judgments_in(batches: Iterable[Any], source: str) -> Judgments | None:
    """The judgments in tables whose columns are named by their roles; None if anything is out of the ordinary.

    What is odd, and every mistake, is for the reader that looks at row after row.
    """
    parts: list[JudgedRows] = []
    kinds = []
    try:
        for table in batches:
            plain = plain_rows(table, 0)
            if plain.table.num_rows:
                kinds.append(plain.kinds)
                parts.append(_judged(plain.table))
    except OddTable:
        return None
    if len(set(kinds)) != 1:
        return None
    found = judgments_of_parts(parts, source)
    return None if found is None or kinds[0] is None else replace(found, integer_ids=kinds[0])


def by_query(table: Any) -> Any:
    """The table with the rows of each query together, in the order in which the queries came first."""
    codes = as_numpy(table.column("query").combine_chunks().dictionary_encode().indices)
    return table.take(as_arrow(np.argsort(codes, kind="stable")))


def _judged(table: Any) -> JudgedRows:
    """What some rows hold, if their second column of TREC, if there is one, is always the same."""
    query, doc = _ids_of(table)
    grade = numbers_of(table.column("grade")) if "grade" in table.column_names else np.ones(table.num_rows)
    if not np.isfinite(grade).all():
        raise OddTable
    aspect = b""
    if "iteration" in table.column_names:
        named = table.column("iteration").unique().to_pylist()
        if len(named) > 1:
            raise OddTable
        aspect = str(named[0]).encode()
    queries = Texts.join([query.bytes_of(0, table.num_rows).tobytes()], np.diff(query.offsets))
    starts = starts_of_runs(queries.chunk, queries.begin, queries.length)
    begin, end = queries.start[starts], queries.start[starts + 1]
    return JudgedRows(
        queries=joined_fields(queries.chunk, begin, end),
        query_length=end - begin,
        rows=np.diff(np.append(starts, table.num_rows)),
        docs=doc.bytes_of(0, table.num_rows).tobytes(),
        doc_length=np.diff(doc.offsets).astype(np.int32),
        grade=grade,
        aspect=aspect,
    )
