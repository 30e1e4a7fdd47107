"""Rank once, judge often: a ranking written with the rank of every row, so that later judgments only need a join."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from rankproof.core.arrays import hash_of, runs
from rankproof.core.hits import Array
from rankproof.core.table import Rankings
from rankproof.document.disk import last_check
from rankproof.document.numbers import for_face
from rankproof.errors import DataError, UsageError, missing_extra, shorten
from rankproof.io.columns import ColumnRankings
from rankproof.io.load import warn_of_left_out
from rankproof.io.rows import RowRankings
from rankproof.io.split_rankings import PartRankings
from rankproof.io.trec import TrecRankings
from rankproof.io.trec.chunks import BadLine, Chunk
from rankproof.io.trec.index import are_different, hashes
from rankproof.io.trec.lines import COLUMNS, DOC, QUERY, Lines, split
from rankproof.io.trec.scan import numbers_of
from rankproof.progress import Progress

ROWS = 1 << 20
"""About how many rows a file gets."""


def write_ranked(ranking: Rankings, folder: str | os.PathLike[str], *, force: bool = False) -> int:
    """Write Parquet files with query_id, doc_id, score, rank, first, last and length; how many rows there are.

    `first` and `last` are the ranks a row could have among equal scores (which stand by document id, descending, as in
    `evaluate`), `length` is that of the ranking. The folder appears once all of it is written.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise missing_extra("Parquet", "pyarrow", "arrow") from error
    target = Path(folder)
    if target.exists() and not force and (not target.is_dir() or any(target.iterdir())):
        raise UsageError(
            f"{target}: it is there already. Next: name another folder, or add {for_face('force=True', '--force')}."
        )
    partial, old = (target.with_name(f".{target.name}.{what}") for what in ("partial", "old"))
    shutil.rmtree(partial, ignore_errors=True)
    rows = 0
    progress = Progress(f"ranking {ranking.source}", None, noun="rows")
    try:
        partial.mkdir(parents=True)
        for number, table in enumerate(_files(ranking)):
            pyarrow.parquet.write_table(table, partial / f"part-{number:05d}.parquet")
            rows += table.num_rows
            progress.tell(rows, 0)
        if not rows:
            raise DataError(f"{ranking.source}: empty, it has no rows. Next: check how it was made.")
        last_check.get()()
        if target.exists():
            target.rename(old)  # which is there until the new one is
        partial.rename(target)
    except OSError as error:
        raise DataError(
            f"{target}: cannot be written: {error.strerror or error}. Next: make room, or name another folder."
        ) from error
    finally:
        progress.close()
        warn_of_left_out([ranking])
        shutil.rmtree(partial, ignore_errors=True)
        if target.exists():
            shutil.rmtree(old) if old.is_dir() else old.unlink(missing_ok=True)
        elif old.exists():
            old.rename(target)
    return rows


def _files(ranking: Rankings) -> Iterator[Any]:
    """The tables of the files, each of whole queries."""
    import pyarrow

    batch: list[Any] = []
    seen: list[Array] = []
    for lines, score in _pieces(ranking):
        table, names = _ranked(lines, score, ranking.source)
        seen.append(hash_of(names))
        batch.append(table)
        if sum(each.num_rows for each in batch) >= ROWS:
            yield pyarrow.concat_tables(batch)
            batch = []
    if batch:
        yield pyarrow.concat_tables(batch)
    if seen and not are_different(np.concatenate(seen)):
        raise DataError(
            f"{ranking.source}: some queries stand in several places, and each must be ranked at once. Next: sort or "
            "partition the rows by query."
        )


def _pieces(ranking: Any) -> Iterator[tuple[Lines, Array]]:
    """The rows with their scores, whole queries at a time."""
    sources = ranking.readable() if isinstance(ranking, PartRankings) else [ranking]
    for source in sources:
        opened: Any = getattr(source, "opened", source)
        if not isinstance(opened, TrecRankings | ColumnRankings):
            opened = _as_columns(opened)
        for number, piece in enumerate(opened.pieces(None, None)):
            if not isinstance(piece, Chunk):
                yield opened.lines(piece)
                continue
            try:
                lines = split(piece, COLUMNS)
                yield lines, numbers_of(lines, 0)[0]
            except BadLine as bad:
                raise opened.error(bad, piece, number, [opened]) from bad


def _as_columns(ranking: Any) -> ColumnRankings:
    import pyarrow

    table = ranking.rows_read().rows if hasattr(ranking, "rows_read") else ranking.table()
    columns: dict[str, Any] = {"query": list(table.query), "doc": list(table.doc)}
    columns |= {name: value for name in ("score", "rank") if (value := getattr(table, name)) is not None}
    roles = {name: name for name in columns}
    whole = pyarrow.table(columns)
    return ColumnRankings(lambda: iter([whole]), roles, lambda: RowRankings(table), table.source)


def _ranked(lines: Lines, score: Array, source: str) -> tuple[Any, list[str]]:
    """The rows of some lines, best first, with their ranks; and the queries."""
    import pyarrow

    starts, length = lines.runs(QUERY)
    code = np.repeat(np.arange(len(starts)), length)
    _check_once(lines, code, source)
    order = np.lexsort((-score, code))
    first, last = runs(code[order], score[order])
    docs = lines.fields(slice(None), DOC)
    for low in np.flatnonzero((last - first > 1) & (first == np.arange(len(order)))).tolist():
        tied = slice(low, int(last[low]))
        order[tied] = sorted(order[tied].tolist(), key=lambda row: docs[row].encode(), reverse=True)
    offset = np.repeat(np.cumsum(length) - length, length)
    names = lines.fields(starts, QUERY)
    queries = pyarrow.array(names).take(pyarrow.array(code))
    columns = {
        "query_id": queries,
        "doc_id": pyarrow.array([docs[row] for row in order.tolist()]),
        "score": score[order],
        "rank": np.arange(len(order)) - offset + 1,
        "first": first - offset + 1,
        "last": last - offset,
        "length": np.repeat(length, length),
    }
    return pyarrow.table(columns), names


def _check_once(lines: Lines, code: Array, source: str) -> None:
    begin, length = lines.begin[DOC], lines.end[DOC] - lines.begin[DOC]
    keys = hashes(lines.chunk, begin, length, np.uint64(1), code)
    if are_different(keys):
        return
    seen: set[tuple[int, str]] = set()
    for row, pair in enumerate(zip(code.tolist(), lines.fields(slice(None), DOC), strict=True)):
        if pair in seen:
            query = lines.field(row, QUERY).decode()
            raise DataError(
                f"{source}: document {shorten(pair[1])} comes twice for query {shorten(query)}. Next: keep one of them."
            )
        seen.add(pair)
