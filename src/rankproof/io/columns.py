"""Large data frames: the columns' bytes, as Arrow keeps them, go the way of the lines of a TREC run.

This way only knows plain columns and words no errors. Whatever is odd (nulls, NaN, a document twice) is left
to the slow way, which looks at row after row and can say what is wrong where.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rankproof.core.hits import Array
from rankproof.core.join import SAMPLE, Block, Census, Ordered, Rankings, note_ranks
from rankproof.core.judgments import Judgments
from rankproof.core.rules import Conventions
from rankproof.core.table import PLACES, RankingTable
from rankproof.io.ids import align_ids, judged_kinds
from rankproof.io.trec.chunks import PAD, BadLine, Chunk, in_order
from rankproof.io.trec.index import Index, index_of
from rankproof.io.trec.lines import Lines
from rankproof.io.trec.run import NotTogether, collect_rankings
from rankproof.io.trec.scan import Scanned, scan_lines

LARGE = 20_000
"""From this many rows on the fast way is worth its start."""
ROWS = 1 << 15
"""About how many rows are worked on at once."""


class _Odd(Exception):
    """Something the fast way cannot read."""


def rankings_in(
    frame: Any,
    took: Mapping[str, str],
    slow: Callable[[], Rankings],
    source: str,
    notes: tuple[str, ...] = (),
) -> Rankings:
    """The rankings in a narwhals frame whose columns `took` names by role: the fast way where it pays."""
    if len(frame) < LARGE or importlib.util.find_spec("pyarrow") is None:
        return slow()
    import pyarrow

    try:
        columns = frame.select(list(took.values())).to_arrow()
    except (pyarrow.ArrowException, TypeError, ValueError):
        return slow()
    names = {name: role for role, name in took.items()}
    columns = columns.rename_columns([names[name] for name in columns.column_names])
    return ColumnRankings(columns, slow, source, notes)


@dataclass(frozen=True, eq=False)
class ColumnRankings:
    """Rankings in a pyarrow table with the columns `query`, `doc`, and perhaps `score` and `rank`."""

    columns: Any
    slow: Callable[[], Rankings]
    """Makes the same rankings in the way that can word errors."""
    source: str = "ranking"
    notes: tuple[str, ...] = ()
    """What was taken as what, for the audit."""

    def table(self) -> RankingTable:
        """Every row, as it was read."""
        return self.slow().table()

    def part(self, rows: int) -> RankingTable:
        """The rows from a few places of the columns."""
        length, step = max(1, rows // PLACES), self.columns.num_rows / PLACES
        slices = [self.columns.slice(int(place * step), length) for place in range(PLACES)]
        query, doc = (
            [str(each) for piece in slices for each in piece.column(name).to_pylist()]
            for name in ("query", "doc")
        )
        return RankingTable(query, doc, source=self.source)

    def blocks(
        self, judgments: Judgments, conventions: Conventions, census: Census
    ) -> Iterator[Block | Ordered]:
        """The rankings of judged queries, each query once."""
        try:
            found = self._scanned(judgments, conventions, census)
        except (_Odd, BadLine):
            yield from self.slow().blocks(judgments, conventions, census)
            return
        census.notes.extend(self.notes)
        self._note_ranks(conventions.ties, census)
        yield from found

    def _note_ranks(self, ties: str, census: Census) -> None:
        if ties != "rank" and {"score", "rank"} <= set(self.columns.column_names):
            head = self.columns.slice(0, SAMPLE)
            group = head.column("query").combine_chunks().dictionary_encode().indices.to_numpy()
            score, rank = (head.column(name).to_numpy().astype(np.float64) for name in ("score", "rank"))
            note_ranks(group, score, rank, census)

    def _scanned(self, judgments: Judgments, conventions: Conventions, census: Census) -> list[Ordered]:
        integers = [_are_integers(self.columns.column(name).type) for name in ("query", "doc")]
        judgments = align_ids(judgments, (integers[0], integers[1]))
        for name, judged in zip(("query", "doc"), judged_kinds(judgments), strict=True):
            if judged is not None and judged != _are_integers(self.columns.column(name).type):
                raise _Odd
        columns, index = _with_texts(self.columns), index_of(judgments)
        try:
            return collect_rankings(_scan(columns, index, judgments, conventions), index, census)
        except NotTogether:
            return collect_rankings(_scan(_by_query(columns), index, judgments, conventions), index, census)


def _are_integers(kind: Any) -> bool:
    import pyarrow

    return bool(pyarrow.types.is_integer(kind))


def _with_texts(columns: Any) -> Any:
    """The table with the ids as plain text, each column in one piece."""
    import pyarrow

    for number, name in enumerate(columns.column_names):
        if name in ("query", "doc"):
            text = _text(columns.column(name)).cast(pyarrow.large_string())
            columns = columns.set_column(number, name, text)
    return columns.combine_chunks()


def _text(column: Any) -> Any:
    import pyarrow

    kind = column.type.value_type if pyarrow.types.is_dictionary(column.type) else column.type
    tests = ("is_string", "is_large_string", "is_string_view", "is_integer")
    if column.null_count or not any(getattr(pyarrow.types, test)(kind) for test in tests):
        raise _Odd
    return column


def _by_query(columns: Any) -> Any:
    """The table with the rows of each query together, in the order they had."""
    import pyarrow

    codes = columns.column("query").combine_chunks().dictionary_encode().indices
    order = pyarrow.array(np.argsort(codes.to_numpy(), kind="stable"))
    return columns.take(order)


# --- pieces ------------------------------------------------------------------------------------


class _Texts(NamedTuple):
    """A column of text: all bytes, and where each text begins (one more entry than there are texts)."""

    data: Array
    offsets: Array

    def at(self, row: int) -> bytes:
        """The text of a row."""
        return self.data[self.offsets[row] : self.offsets[row + 1]].tobytes()

    def between(self, first: int, last: int) -> Array:
        """The bytes of some rows."""
        return self.data[self.offsets[first] : self.offsets[last]]


def _scan(columns: Any, index: Index, judgments: Judgments, conventions: Conventions) -> Iterator[Scanned]:
    query, doc = _texts(columns.column("query")), _texts(columns.column("doc"))
    order = _order(columns, conventions.ties)

    def work(rows: tuple[int, int]) -> Scanned:
        return scan_lines(_lines(query, doc, *rows), order[slice(*rows)], index, judgments, conventions)

    for _, scanned in in_order(work, _pieces(query)):
        yield scanned


def _pieces(query: _Texts) -> Iterator[tuple[int, int]]:
    """Stretches of rows that end where the query changes."""
    count = len(query.offsets) - 1
    first, size = 0, ROWS
    while first < count:
        last = _cut(query, first, min(first + size, count), count)
        size = ROWS if last > first else 2 * size
        if last > first:
            yield first, last
        first = last


def _cut(query: _Texts, low: int, end: int, count: int) -> int:
    """The last place up to `end` where the query changes, found by halving; `low` where it does not."""
    high, last = end - 1, query.at(end - 1)
    if end == count or query.at(low) == last:
        return count if end == count else low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if query.at(middle) == last else (middle, high)
    return high


def _lines(query: _Texts, doc: _Texts, first: int, last: int) -> Lines:
    """Some rows in the form of the lines of a run: the queries' bytes, then the documents'."""
    queries, docs = query.between(first, last), doc.between(first, last)
    pad = np.zeros(PAD, dtype=np.uint8)
    chunk = Chunk(np.concatenate([pad, queries, docs, pad]), len(queries) + len(docs))
    of_query = query.offsets[first : last + 1] - query.offsets[first] + PAD
    of_doc = doc.offsets[first : last + 1] - doc.offsets[first] + PAD + len(queries)
    begin = np.stack([of_query[:-1], of_query[:-1], of_doc[:-1]])
    return Lines(chunk, begin, np.stack([of_query[1:], of_query[1:], of_doc[1:]]), None)


# --- columns of Arrow --------------------------------------------------------------------------


def _texts(column: Any) -> _Texts:
    whole = column.combine_chunks()
    _, offsets, data = whole.buffers()
    begin = np.frombuffer(offsets, dtype=np.int64)[whole.offset : whole.offset + len(whole) + 1]
    if not (begin[1:] > begin[:-1]).all():
        raise _Odd
    return _Texts(np.frombuffer(data, dtype=np.uint8), begin)


def _order(columns: Any, ties: str) -> Array:
    """What each row is ordered by: its score, its rank, or its place."""
    names = columns.column_names
    if ties == "rank" and "rank" not in names:
        raise _Odd
    if "rank" in names and (ties == "rank" or "score" not in names):
        rank = _numbers(columns.column("rank"))
        turned: Array = 1 + rank.max(initial=0) - rank
        return turned
    if "score" in names:
        return _numbers(columns.column("score"))
    return np.arange(columns.num_rows, 0, -1, dtype=np.float64)


def _numbers(column: Any) -> Array:
    import pyarrow

    kind = column.type
    if column.null_count or not (pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind)):
        raise _Odd
    numbers: Array = column.to_numpy().astype(np.float64)
    if np.isnan(numbers).any():
        raise _Odd
    return numbers
