"""Logs to blocks or events: files of any kind, frames, mappings, pipes; what is no event is counted and shown."""

from __future__ import annotations

import gc
import glob
import importlib
import importlib.util
import io
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO

from rankproof.errors import DataError, UsageError, shorten
from rankproof.io.files import name_of, open_file
from rankproof.io.frames import MAGIC, begins_as_parquet, read_every_column, records_of_frame
from rankproof.io.inputs import STDIN
from rankproof.io.values import is_frame
from rankproof.monitoring.block import EventBlock
from rankproof.monitoring.event_values import Rejected
from rankproof.monitoring.events import Event, EventSchema
from rankproof.monitoring.rows import RecordColumns, RowMaker
from rankproof.monitoring.spans import Placed, resolve_spans
from rankproof.monitoring.text_records import PIECE, Rejects, csv_rows, is_header, json_lines, records_of

AT_ONCE = 16_384
"""Events of a block."""
PATIENCE = 0.5
"""Seconds after which the events of a slow pipe are handed on."""
LOOKED_AT = 20
"""Lines in which the time of the first event of a file is looked for."""


class LogReader:
    """Reads sources of any kind into blocks of one `RowMaker`."""

    def __init__(self, maker: RowMaker, rejects: Rejects) -> None:
        self.maker, self.rejects = maker, rejects
        self.read = 0
        """Records that were events."""

    def blocks(self, source: Any) -> Iterator[EventBlock]:
        """The events of a path, a list of paths, a frame, or mappings."""
        found = list(sources_of(source, self.maker.schema))
        for each in found:
            if is_frame(each):
                yield from self._of_frame(each)
            elif isinstance(each, (str, os.PathLike)):
                try:
                    yield from self._of_path(each)
                except DataError as error:
                    if len(found) == 1 or not os.path.exists(each):
                        raise
                    self.rejects.add(Rejected("damaged file", str(error)), name_of(each), "")
            else:
                yield from self._of_records(_records_in(each, self.rejects))

    def _of_path(self, path: str | os.PathLike[str]) -> Iterator[EventBlock]:
        name = name_of(path)
        with open_file(path) as stream:
            if stream.peek(4)[:4] == MAGIC:  # type: ignore[attr-defined]
                yield from self._of_parquet(path, stream, name)
                return
            yield from self._of_records(records_of(stream, name, self.rejects))

    def _of_parquet(self, path: str | os.PathLike[str], stream: BinaryIO, name: str) -> Iterator[EventBlock]:
        if importlib.util.find_spec("pyarrow") is None:
            yield from self._of_frame(read_every_column(stream.read(), name), name)
            return
        from rankproof.monitoring.arrow import ArrowReader, IdsNeeded, batches

        in_place = os.path.isfile(path) and begins_as_parquet(Path(path))
        where = Path(path) if in_place else io.BytesIO(stream.read())
        reader, ids, done = ArrowReader(self.maker, self._reject), False, 0
        while True:
            try:
                for batch in islice(batches(where, name, self.maker, ids=ids), done, None):
                    yield from self._counted(reader.blocks(batch, name))
                    done += 1
            except IdsNeeded:
                ids = True
            else:
                import pyarrow

                pyarrow.default_memory_pool().release_unused()  # to sort the events takes the most memory
                return

    def _of_frame(self, frame: Any, name: str = "frame") -> Iterator[EventBlock]:
        if importlib.util.find_spec("pyarrow") is not None:
            from rankproof.monitoring.arrow import BATCH, ArrowReader, table_of

            table = table_of(frame)
            if table is not None:
                reader = ArrowReader(self.maker, self._reject)
                for batch in table.to_batches(max_chunksize=BATCH):
                    yield from self._counted(reader.blocks(batch, name))
                return
        yield from self._of_records(_rows_of(frame, name))

    def _counted(self, blocks: Iterator[EventBlock]) -> Iterator[EventBlock]:
        for block in blocks:
            self.read += len(block)
            yield block

    def _of_records(self, records: Iterable[Placed | None]) -> Iterator[EventBlock]:
        """Blocks of records; None says that nothing more is there for now."""
        columns, rest, more = RecordColumns(self.maker, self._reject), iter(records), True
        while more:
            more = self._fill(columns, rest)
            if len(columns):
                self.read += len(columns)
                yield columns.block()

    def _fill(self, columns: RecordColumns, records: Iterator[Placed | None]) -> bool:
        """Take the records of a block; whether there may be more.

        Records of JSON are many objects without circles that die young: looking for circles among them takes long.
        """
        told, collects, add = monotonic(), gc.isenabled(), columns.add
        gc.disable()
        try:
            for record in records:
                if record is not None:
                    if add(*record) and len(columns) >= AT_ONCE:
                        return True
                elif monotonic() > told + PATIENCE:
                    return True
            return False
        finally:
            if collects:
                gc.enable()

    def _reject(self, error: Rejected, name: str, at: int, record: Any) -> None:
        self.rejects.add(error, f"{name}, line {at}", record)


def read_events(source: Any, schema: EventSchema | None = None, rejects: Rejects | None = None) -> Iterator[Event]:
    """The events of a log one by one, with their texts; rejected lines are counted in `rejects`."""
    schema, rejects = schema or EventSchema(), rejects or Rejects()
    for each in sources_of(source):
        for name, at, record in filter(None, _records_in(each, rejects)):
            try:
                yield schema.event(record)
            except Rejected as error:
                rejects.add(error, f"{name}, line {at}", record)


def _records_in(source: Any, rejects: Rejects) -> Iterator[Placed | None]:
    if is_frame(source):
        yield from _rows_of(source, "frame")
    elif not isinstance(source, (str, os.PathLike)):
        yield from resolve_spans(("record", at, record) for at, record in enumerate(source, 1))
    else:
        name = name_of(source)
        with open_file(source) as stream:
            if stream.peek(4)[:4] == MAGIC:  # type: ignore[attr-defined]
                yield from _rows_of(read_every_column(stream.read(), name), name)
            else:
                yield from records_of(stream, name, rejects)


def _rows_of(frame: Any, name: str) -> Iterator[Placed]:
    return ((name, at, row) for at, row in enumerate(records_of_frame(frame, name), 1))


def sources_of(source: Any, schema: EventSchema | None = None) -> Iterator[Any]:
    """The sources one by one: the files that a pattern names or a folder holds, the oldest first."""
    if isinstance(source, (str, os.PathLike)):
        yield from _files_of(source, schema or EventSchema())
    elif is_frame(source) or not isinstance(source, (list, tuple)):
        if isinstance(source, Mapping) or not (is_frame(source) or hasattr(source, "__iter__")):
            raise UsageError(
                f"source: got {shorten(source)}, expected a path, a data frame or mappings. Next: give one of them."
            )
        yield source
    elif source and all(isinstance(each, (str, os.PathLike)) or is_frame(each) for each in source):
        for each in source:
            yield from sources_of(each, schema)
    else:
        yield source


def _files_of(source: str | os.PathLike[str], schema: EventSchema) -> Iterator[str]:
    path = os.fspath(source)
    if path == STDIN:
        yield path
        return
    if os.path.isdir(path):
        found = [each for each in glob.glob(os.path.join(path, "*")) if os.path.isfile(each)]
    elif not os.path.lexists(path) and glob.has_magic(path):
        found = glob.glob(path, recursive=True)
    else:
        yield path
        return
    if not found:
        raise UsageError(f"{path}: no file there. Next: check the folder, and the pattern.")
    if len(found) > 1:
        found.sort(key=lambda each: (_begin_of(each, schema), each))
    yield from found


def _begin_of(path: str, schema: EventSchema) -> float:
    """The time of the first event of a file, where its first lines say so: a copied file is newer than what it holds.
    Else when it was written last."""
    with suppress(DataError, UsageError, OSError, StopIteration), open_file(path) as stream:
        head = bytes(stream.peek(PIECE))  # type: ignore[attr-defined]
        if head[:4] != MAGIC:
            lines = csv_rows if is_header(head) else json_lines
            for each in islice(lines(stream, path, Rejects()), LOOKED_AT):
                record = each[2] if each is not None else None
                if isinstance(record, dict):
                    found, _ = schema.places(record)
                    with suppress(Rejected, KeyError):
                        return schema.time(record[found["ts"]])
    return os.path.getmtime(path)
