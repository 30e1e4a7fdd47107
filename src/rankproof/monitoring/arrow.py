"""Parquet and data frames to blocks, column by column with pyarrow: no Python object per event.

Rows of an unusual shape (clicks by id, results as JSON text) go through mappings, as a line of JSON does, and give
the same rows; rows that no reader can take are rejected with the same reasons.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from rankproof.core.hits import Array
from rankproof.errors import DataError, reason, shorten
from rankproof.monitoring import arrow_columns as columns
from rankproof.monitoring.event_block import NAN, VALUES, EventBlock, UnusualShape, join_blocks
from rankproof.monitoring.event_values import vote
from rankproof.monitoring.events import EARLIEST, SCALES
from rankproof.monitoring.rows import RecordColumns, RowMaker, margins
from rankproof.monitoring.sessions_and_windows import SECOND
from rankproof.text.refusals import refuses

BATCH = 32_768
"""The number of rows of a frame that are read at once."""
FEWEST, MOST, AT_ONCE = 4096, 131_072, 1 << 24
"""Of a file as many rows as have so many bytes in the columns that are needed, but not fewer or more than these:
every batch has a copy of all dictionaries, and all texts of a batch are in memory."""
LARGE = 8_192
"""Rows of a group, on average, from which on groups are read one by one."""
PIECE = 1 << 18
"""Bytes of a column that are read at once."""
SOME = 4096
"""The number of rows that become mappings at once."""
ALONE = {b"results": b"scores alone"}
"""The mark of batches without the ids of results."""


class IdsNeeded(Exception):
    """A click without an id or a rank, in a file of whose results the scores alone were read."""


def batches(path: Path | io.BytesIO, name: str, maker: RowMaker, *, ids: bool = True) -> Iterator[Any]:
    """The batches of a Parquet file with the columns that are needed; without `ids` of results their scores alone."""
    from pyarrow import parquet

    try:
        kind = parquet.read_schema(path)
        found, others = maker.schema.places(kind.names)
        with parquet.ParquetFile(path, pre_buffer=False) as file:
            rows, groups = file.metadata.num_rows, file.metadata.num_row_groups
            apart = rows >= LARGE * groups or groups == 1
            roots = {each.partition(".")[0] for each in (*maker.by, *maker.fields)}
            all_needed = maker.change is not None  # a hook may look at any column
            wanted = [*found.values(), *(each for each in others if all_needed or each in roots)]
            size, beyond = 0, Counter[str]()
            for group in map(file.metadata.row_group, range(groups)):
                for column in map(group.column, range(group.num_columns)):
                    path_in_file = column.path_in_schema
                    if path_in_file.partition(".")[0] in wanted:
                        size += column.total_uncompressed_size
                    if column.physical_type == "BYTE_ARRAY":
                        beyond[path_in_file] += column.total_uncompressed_size - 4 * column.num_values
            # Texts, within lists too, are kept as places in a dictionary if the file has them so: a text takes four
            # bytes at least. Arrow cannot put the dictionaries of lists of several groups together; groups of few rows
            # are not read one by one, so there lists have none.
            repeated = [each for each, over in beyond.items() if over < 0 and (apart or "." not in each)]
            scores = None if ids or all_needed else _scores_only(file, found)
            if scores is not None:
                wanted[wanted.index(found["results"])] = scores
        with parquet.ParquetFile(path, read_dictionary=repeated, pre_buffer=False, buffer_size=PIECE) as file:
            for some in ([each] for each in range(groups)) if apart else [list(range(groups))]:
                for batch in file.iter_batches(
                    min(max(AT_ONCE * rows // max(size, 1), FEWEST), MOST),
                    row_groups=some,
                    columns=list(dict.fromkeys(wanted)),
                    use_threads=False,
                ):
                    yield batch if scores is None else batch.replace_schema_metadata(ALONE)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as bad:
        raise DataError(f"{name}: not valid Parquet ({shorten(reason(bad))}). Next: copy or write it again.") from bad


def _scores_only(file: Any, found: Mapping[str, str]) -> str | None:
    """The path of the scores among the results, if neither ids nor texts of results need to be looked at: clicks have
    ids and ranks (others may be ids of results), and the statistics of the file say that no id is missing."""
    paths = [file.schema.column(at).path for at in range(len(file.schema))]
    results, clicks = (_within(paths, found.get(name)) for name in ("results", "clicks"))
    if not {"id", "score"} <= results.keys() or ("clicks" in found and not {"id", "rank"} <= clicks.keys()):
        return None
    if file.schema.column(results["id"]).physical_type != "BYTE_ARRAY":
        return None
    for group in range(file.num_row_groups):
        ids, scores = (file.metadata.row_group(group).column(results[name]).statistics for name in ("id", "score"))
        if not (ids and scores and ids.has_null_count and ids.null_count <= scores.null_count):
            return None
    return str(paths[results["score"]])


def _within(paths: list[str], column: str | None) -> dict[str, int]:
    """Where the fields of the objects are that a column holds in lists, as in `results.list.element.score`."""
    return {
        path.rpartition(".")[2]: at
        for at, path in enumerate(paths)
        if path.startswith(f"{column}.") and path.removeprefix(f"{column}.").count(".") == 2
    }


def table_of(frame: Any) -> Any | None:
    """The frame as a table of Arrow; None if it cannot be one."""
    import narwhals as nw

    try:
        opened: Any = nw.from_native(frame)
        table: Any = (opened.collect() if isinstance(opened, nw.LazyFrame) else opened).to_arrow()
        for at, each in enumerate(table.schema):
            if isinstance(each.type, pa.BaseExtensionType):  # periods would be whole numbers
                return None
            if str(each.type) == "string_view":  # which few functions of Arrow support yet
                table = table.set_column(at, each.name, table.column(at).cast(pa.large_string()))
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError):
        return None
    return table


class ArrowReader:
    """One batch of Arrow to blocks; `make_row` takes a record by the long way, and counts what it rejects."""

    def __init__(self, maker: RowMaker, reject: Callable[..., object]) -> None:
        self._maker, self._records = maker, RecordColumns(maker, reject)
        self._rows = 0
        self._known: dict[str, tuple[Any, columns.Hashes]] = {}

    def blocks(self, batch: Any, name: str) -> Iterator[EventBlock]:
        """The events of a batch."""
        if not batch.num_rows:
            return
        first, n = self._rows, batch.num_rows
        try:
            if self._maker.change is not None or self._maker.schema.sparse:
                raise UnusualShape
            block, bad = self._columns(batch)
        except (UnusualShape, pa.ArrowException, ValueError, OverflowError):
            block, bad = None, np.arange(n)
        alone = batch.schema.metadata == ALONE
        if alone:
            found, _ = self._maker.schema.places(batch.schema.names)
            needed = [found[name] for name in ("results", "clicks") if name in found]
            for _, record in self._records_of(batch.select(needed), bad):  # before anything of the batch is counted
                self._whole(record)
        self._rows += n  # not before: a batch whose ids are needed is read again
        events = [
            at
            for at, record in self._records_of(batch, bad)
            if self._records.add(name, first + at + 1, self._whole(record) if alone else record)
        ]
        odd = self._records.block()
        if block is None:
            block = odd
        elif len(bad):
            rows = np.delete(np.arange(n), bad)
            whole = join_blocks([block.rows(rows), odd])
            block = whole.rows(np.argsort(np.concatenate([rows, np.array(events, dtype=np.int64)])))
        if len(block):
            yield block

    def _records_of(self, batch: Any, rows: Array) -> Iterator[tuple[int, dict[str, Any]]]:
        """Some rows as mappings, some thousands at a time; dates that Python cannot hold are written out."""
        for start in range(0, len(rows), SOME):
            some = rows[start : start + SOME]
            taken = batch.take(columns.as_places(some))
            try:
                records = taken.to_pylist()
            except (ValueError, OverflowError):
                written = [e.cast(pa.string()) if pa.types.is_temporal(e.type) else e for e in taken.columns]
                records = pa.record_batch(written, taken.schema.names).to_pylist()
            yield from zip(some.tolist(), records, strict=True)

    def _whole(self, record: dict[str, Any]) -> dict[str, Any]:
        """A record of whose results only scores were read: their ranks are the ids unless a click needs those."""
        found, _ = self._maker.schema.places(record)
        hits = [hit for hit in record[found["results"]] or () if hit is not None]
        clicks = record[found["clicks"]] or () if "clicks" in found else ()
        if any(hit["score"] is None for hit in hits) or not all(
            each is not None and each["id"] and each["rank"] for each in clicks
        ):
            raise IdsNeeded
        for rank, hit in enumerate(hits, 1):
            hit["id"] = str(rank)
        return record

    def _columns(self, batch: Any) -> tuple[EventBlock, Array]:
        """All rows as columns, and the rows that must go through mappings."""
        names = batch.schema.names
        found, _ = self._maker.schema.places(names)
        if "ts" not in found:
            raise UnusualShape
        column = {name: columns.decode_dictionary(batch.column(names.index(key))) for name, key in found.items()}
        n = batch.num_rows
        bad = np.zeros(n, dtype=bool)
        time = self._times(column["ts"], bad)
        ids = np.zeros((4, n), dtype=np.uint64)
        sketch = np.zeros((4, n), dtype=np.uint64)
        for at, name in enumerate(("id", "session", "user", "query")):
            if name in column:
                ids[at], more = columns.hash_texts(column[name], self._known, name)
                if name == "user":
                    self._maker.remember(ids[at], lambda row: str(column["user"][row].as_py()))
                sketch = more if name == "query" else sketch
        values = np.full((len(VALUES) + len(self._maker.fields), n), NAN, dtype=np.float32)
        row = dict(zip(VALUES, values, strict=False))
        if "results" in column:
            _results(column["results"], row, alone=batch.schema.metadata == ALONE)
        self._clicks(column, row, bad)
        _answers(column, row)
        if "thumb" in column:
            row["thumb"][:] = columns.parse_numbers(column["thumb"], vote, bad, nothing=0.0)
        if "latency_ms" in column:
            row["latency_ms"][:] = columns.numbers(column["latency_ms"])
            bad |= ~(row["latency_ms"] >= 0) & ~np.isnan(row["latency_ms"]) | np.isinf(row["latency_ms"])
            bad |= np.isnan(row["latency_ms"]) & ~columns.nulls(column["latency_ms"])
        for at, name in enumerate(self._maker.fields):
            if name in names:
                values[len(VALUES) + at] = columns.numbers(columns.decode_dictionary(batch.column(names.index(name))))
        slices = np.full((len(self._maker.by), n), -1, dtype=np.int32)
        for at, name in enumerate(self._maker.by):
            key = found.get(name, name)
            if key in names:
                slices[at] = columns.apply_code(batch.column(names.index(key)), self._maker.codes[at].code)
            elif "." in name:
                raise UnusualShape
        return EventBlock(time, ids, sketch, values, slices), np.flatnonzero(bad)

    def _times(self, column: Any, bad: Array) -> Array:
        """Microseconds since 1970; a time that is none, or out of range, is bad."""
        if columns.is_text(column.type):
            column = columns.parse_times(column)
        kind = column.type
        if pa.types.is_timestamp(kind):
            if kind.tz is None and str(self._maker.schema.timezone) != "UTC":
                import pyarrow.compute as pc

                zone = str(self._maker.schema.timezone)
                # A time that no clock showed, as it was put forward, is refused here and looked at row by row.
                column = pc.assume_timezone(column, zone, ambiguous="earliest", nonexistent="raise")
            whole = column.cast(pa.timestamp("us", column.type.tz), safe=False).cast(pa.int64())
            time = columns.values_of(whole)
            time = np.where(columns.nulls(whole), 0, time) if whole.null_count else time
        elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
            given = np.nan_to_num(columns.numbers(column))
            scale = np.ones(len(given))
            for least, each in reversed(SCALES):
                scale[np.abs(given) >= least] = each
            time = np.round(given / scale * 1e6).astype(np.int64)
        else:
            raise UnusualShape
        latest = min(self._maker.schema.latest, 4e10)
        bad |= (time < EARLIEST * SECOND) | (time > latest * SECOND)
        return time

    def _clicks(self, column: dict[str, Any], row: dict[str, Array], bad: Array) -> None:
        """Clicks with ranks; rows with other clicks go through mappings."""
        if "citations" in column:
            row["citations"][:], cited_from, cited = columns.lists(column["citations"])
            if len(cited) and (not columns.is_text(cited.type) or cited.null_count):
                raise UnusualShape
        if "clicks" not in column:
            return
        lengths, begins, inner = columns.lists(column["clicks"])
        row["clicks"][:] = lengths
        row["first_click"][:] = row["top_click"][:] = 0
        if "citations" in column:
            row["cited_click"][row["citations"] > 0] = 0
        some = np.flatnonzero(lengths > 0)
        if not len(some):
            return
        event = np.repeat(np.arange(len(lengths)), np.diff(begins))
        names = [each.name for each in inner.type] if pa.types.is_struct(inner.type) else []
        ids = inner.field("id") if "id" in names else None
        if inner.null_count or not ("rank" in names or pa.types.is_integer(inner.type)):
            bad[some] = True
            return
        ranks = columns.numbers(inner.field("rank") if names else inner)
        if not (usual := (ranks >= 1) & (ranks == np.floor(ranks))).all():
            bad[event[~usual]] = True
        if not names and "results" in column:  # a number may be the id of a result
            shown = columns.lists(column["results"])[2]
            shown = shown.field("id") if pa.types.is_struct(shown.type) else shown
            numbered, of_results = (columns.hash_texts(each, {}, "ids")[0] for each in (inner, shown))
            bad[event[np.isin(numbered, of_results)]] = True
        if times := next((each for each in ("ts", "time") if each in names), None):
            when = columns.in_order_of_time(inner.field(times))
            ranks = ranks[np.lexsort((when, event))]
        row["first_click"][some] = ranks[begins[:-1][some]]
        row["top_click"][some] = np.minimum.reduceat(ranks, begins[:-1][some])
        if "citations" in column and len(cited):
            if ids is None or ids.null_count:
                bad[some] = True
                return
            clicked, _ = columns.hash_texts(ids, self._known, "clicks")
            quoted, _ = columns.hash_texts(cited, self._known, "citations")
            if not clicked.all():
                bad[event[clicked == 0]] = True  # a result without an id is the document of its rank
            begin, end = cited_from[:-1][event], cited_from[1:][event]
            while len(event):  # few are cited: to compare with each is faster than to sort
                some = np.flatnonzero(begin < end)
                clicked, event, begin, end = (each[some] for each in (clicked, event, begin, end))
                row["cited_click"][event[clicked == quoted[begin]]] = 1
                begin += 1


def _results(column: Any, row: dict[str, Array], *, alone: bool) -> None:
    """How many, and the margin; all have ids but where their scores alone were read."""
    lengths, begins, inner = columns.lists(column)
    row["results"][:] = lengths
    if not len(inner):
        return
    if inner.null_count:
        raise UnusualShape
    if pa.types.is_struct(inner.type):
        names = [each.name for each in inner.type]
        if not alone and ("id" not in names or inner.field("id").null_count):
            raise UnusualShape
        if "score" in names:
            scores = columns.numbers(inner.field("score"))
            with np.errstate(over="ignore", invalid="ignore"):
                finite = np.isfinite(scores.sum()) or np.isfinite(scores).all()
            if not finite:
                raise UnusualShape
            margins(scores, begins, lengths, row["margin"])
    elif not columns.is_text(inner.type):
        raise UnusualShape


def _answers(column: dict[str, Any], row: dict[str, Array]) -> None:
    """Whether there is an answer, and whether it says that it has none: by flag, else by its words."""
    answer = column.get("answer")
    if answer is not None and not pa.types.is_null(answer.type):
        answer = answer if pa.types.is_dictionary(answer.type) else answer.dictionary_encode()
        if not columns.is_text(answer.type.value_type):
            raise UnusualShape
        some = np.where(columns.nulls(answer.dictionary), NAN, columns.has_text(answer.dictionary))
        row["answered"][:] = np.append(some, NAN).take(columns.places(answer))
    flags = column.get("abstained")
    if flags is not None:
        if not (pa.types.is_boolean(flags.type) or pa.types.is_null(flags.type)):
            raise UnusualShape
        row["abstained"][:] = columns.numbers(flags)
    left = np.flatnonzero(np.isnan(row["abstained"]) & ~np.isnan(row["answered"]))
    if answer is not None and len(left):
        at = columns.places(answer)[left]
        texts = answer.dictionary.take(columns.as_places(np.unique(at)))
        refused = np.zeros(len(answer.dictionary), dtype=np.float32)
        refused[np.unique(at)] = [refuses(each) for each in texts.to_pylist()]
        row["abstained"][left] = refused[at]
