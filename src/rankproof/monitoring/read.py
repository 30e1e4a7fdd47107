"""Logs to blocks or events: files of any kind, frames, mappings, pipes; lines that are no events are counted and shown.

Text is UTF-8. Of an incomplete file (a log that is being written, a truncated archive) the readable part counts.
"""

from __future__ import annotations

import csv
import gc
import glob
import importlib
import importlib.util
import io
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path, PurePath
from time import monotonic
from typing import Any, BinaryIO

from rankproof.errors import DataError, UsageError, reason, shorten
from rankproof.io.files import MOST, check_no_url, name_of, open_file
from rankproof.io.frames import MAGIC, begins_as_parquet, read_every_column, records_of_frame
from rankproof.io.inputs import STDIN
from rankproof.io.read import check_header
from rankproof.io.values import is_frame
from rankproof.monitoring.event_block import EventBlock
from rankproof.monitoring.event_values import Rejected
from rankproof.monitoring.events import Event, EventSchema, Rejects
from rankproof.monitoring.otel_spans import Placed, resolve_spans
from rankproof.monitoring.rows import RecordColumns, RowMaker

PIECE = 1 << 16
"""Bytes that are read at once: as much may be lost where an archive is cut off."""
AT_ONCE = 16_384
"""Events of a block."""
PATIENCE = 0.5
"""Seconds after which the events of a slow pipe are handed on."""
DELIMITERS = (",", "\t", ";")
ENDINGS = {".csv", ".tsv"}
WIDE = re.compile(rb"(\0\0)?\xfe\xff|\xff\xfe|([^\0]\0){4}|(\0[^\0]){4}|([^\0]\0{3}){2}|(\0{3}[^\0]){2}")
"""The beginnings of texts in UTF-16 and UTF-32: a mark, or zeros beside letters that are ASCII in JSON and CSV."""
AROUND = "\ufeff\0 \t\r\n"
"""What may stand around a value: the mark of a file that was put behind another, and the zeros of one cut while it was
written to."""


def records_of(stream: BinaryIO, name: str, rejects: Rejects, schema: EventSchema) -> Iterator[Placed | None]:
    """The records of a file, with their places; None if a pipe has nothing more for now."""
    head = bytes(stream.peek(PIECE))  # type: ignore[attr-defined]
    if head.startswith(MAGIC):
        yield from _rows_of(read_every_column(stream.read(), name), name)
        return
    if WIDE.match(head):
        raise DataError(
            f"{name}: the text is UTF-16 or UTF-32, expected UTF-8. Next: convert it, like iconv -f UTF-16 -t UTF-8."
        )
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    begin, first = text[:1], text.split(b"\n", 1)[0].strip()
    # A list, or one object over several lines, as collectors write it.
    is_one = begin == b"[" or first == b"{" or (begin == b"{" and not first.endswith(b"}") and b"\n" in head)
    if begin not in (b"[", b"{") and is_header(head, name, schema):
        yield from csv_rows(stream, name, rejects)
    else:
        yield from resolve_spans(_whole(stream, name) if is_one else json_lines(stream, name, rejects))


def is_header(head: bytes, name: str, schema: EventSchema) -> bool:
    """Whether a text is a CSV: by the ending of its file, or as its first line names a mapped column or two fields."""
    first = head.decode("utf-8", "replace").lstrip("\ufeff\r\n ").split("\n", 1)[0].strip()
    rows = ([cell.strip().strip('"') for cell in first.split(mark)] for mark in DELIMITERS)
    return not ENDINGS.isdisjoint(PurePath(name.lower()).suffixes) or any(
        sum(2 if cell in schema.mapped else schema.field_of(cell) is not None for cell in row) >= min(2, len(row))
        for row in rows
    )


def _whole(stream: BinaryIO, name: str) -> Iterator[Placed | None]:
    """The records of a text that is one JSON value."""
    try:
        data = json.loads(stream.read().decode("utf-8").strip(AROUND))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{name}: not valid JSON ({error}). Next: write one event per line (JSONL).") from error
    yield from ((name, at, each) for at, each in enumerate(data if isinstance(data, list) else [data], 1))


def json_lines(stream: BinaryIO, name: str, rejects: Rejects) -> Iterator[Placed | None]:
    """Each line that is JSON."""
    decode, number = _decoder(), 0
    for lines in _pieces(stream, name, rejects):
        if lines is None:
            yield None
        for line in lines or ():
            number += 1
            try:
                yield name, number, decode(line)
            except (ValueError, RecursionError):
                if line.strip():
                    yield from _again(line, name, number, rejects)


def _decoder() -> Callable[[bytes], Any]:
    """What reads a line: orjson if it happens to be installed, which is three times faster."""
    if importlib.util.find_spec("orjson") is not None:
        return importlib.import_module("orjson").loads  # type: ignore[no-any-return]
    decode = json.JSONDecoder().decode
    return lambda line: decode(line.decode("utf-8"))


def _again(line: bytes, name: str, at: int, rejects: Rejects) -> Iterator[Placed]:
    """A line that the decoder did not take: numbers that orjson refuses, or a mark around the value."""
    try:
        yield name, at, json.loads(line.decode("utf-8").strip(AROUND))
    except (ValueError, RecursionError) as error:
        rejected = Rejected("not JSON", f"got {shorten(line.decode('utf-8', 'replace').strip())}, expected JSON")
        if isinstance(error, UnicodeDecodeError):
            rejected = Rejected("not UTF-8", f"the bytes {line[:30]!r} are no UTF-8")
        rejects.add(rejected, name, at, line)


def _pieces(stream: BinaryIO, name: str, rejects: Rejects) -> Iterator[list[bytes] | None]:
    """Lines in lists as they come; None after what a pipe had ready."""
    rest, skipped = b"", False
    while True:
        try:
            piece = stream.read1(PIECE)  # type: ignore[attr-defined]
        except (DataError, EOFError, OSError) as error:
            rejects.add(Rejected("damaged file", f"the rest cannot be read: {reason(error)}"), name, None, "")
            piece = b""
        if not piece:
            break
        lines = (rest + piece).split(b"\n")
        if skipped:
            if len(lines) == 1:
                continue
            lines[0], skipped = b"", False  # the end of a line that was rejected, which still counts as one
        rest = lines.pop()
        if len(rest) > MOST:
            rejects.add(Rejected("long line", f"a line of more than {MOST:,} bytes"), name, None, rest[:200])
            rest, skipped = b"", True
        yield lines
        if len(piece) < PIECE:
            yield None
    if rest:
        yield [rest]


def csv_rows(stream: BinaryIO, name: str, rejects: Rejects) -> Iterator[Placed]:
    """Each row of a CSV as a mapping; an empty cell is null."""
    text = io.TextIOWrapper(stream, "utf-8-sig", errors="surrogateescape", newline="")
    try:
        before, first = next((each for each in enumerate(iter(text.readline, ""), start=1) if each[1].strip()), (1, ""))
        mark = max(DELIMITERS, key=first.count)
        csv.field_size_limit(MOST)
        header = check_header(next(csv.reader([first], delimiter=mark)), name)
        reader = csv.reader(text, delimiter=mark)
        while True:
            try:
                cells = next(reader, None)
            except csv.Error as error:
                rejects.add(Rejected("bad CSV", str(error)), name, reader.line_num + before, "")
                continue
            if cells is None:
                return
            at = reader.line_num + before
            if cells and len(cells) != len(header):
                told = f"got {len(cells)} cells, expected {len(header)} as in the header"
                rejects.add(Rejected("bad CSV", told), name, at, cells)
            elif any("\udc80" <= each <= "\udcff" for cell in cells if not cell.isascii() for each in cell):
                rejects.add(Rejected("not UTF-8", f"got {shorten(cells)}"), name, at, cells)
            elif cells:
                yield name, at, {key: cell or None for key, cell in zip(header, cells, strict=True)}
    finally:
        with suppress(ValueError):  # after an error the file may be closed already
            text.detach()


class LogReader:
    """Reads sources of any kind into blocks of one `RowMaker`."""

    def __init__(self, maker: RowMaker, rejects: Rejects) -> None:
        self.maker, self.rejects = maker, rejects
        self.read = 0
        """Records that were events."""

    def blocks(self, source: Any) -> Iterator[EventBlock]:
        """The events of a path, a list of paths, a frame, or mappings."""
        found = list(sources_of(source))
        for each in found:
            is_path = isinstance(each, (str, os.PathLike))
            with _read_on(each, found, self.rejects):
                for block in self._of_path(each) if is_path else self._of_memory(each):
                    self.read += len(block)
                    yield block
        self.maker.schema.check_columns()

    def _of_path(self, path: str | os.PathLike[str]) -> Iterator[EventBlock]:
        name = name_of(path)
        with open_file(path) as stream:
            is_parquet = bytes(stream.peek(4)).startswith(MAGIC)  # type: ignore[attr-defined]
            if is_parquet and importlib.util.find_spec("pyarrow") is not None:
                yield from self._of_parquet(path, stream, name)
            else:
                yield from self._of_records(records_of(stream, name, self.rejects, self.maker.schema))

    def _of_parquet(self, path: str | os.PathLike[str], stream: BinaryIO, name: str) -> Iterator[EventBlock]:
        from rankproof.monitoring.arrow import ArrowReader, IdsNeeded, batches

        in_place = os.path.isfile(path) and begins_as_parquet(Path(path))
        where = Path(path) if in_place else io.BytesIO(stream.read())
        reader, ids, done = ArrowReader(self.maker, self.rejects.add), False, 0
        while True:
            try:
                for batch in islice(batches(where, name, self.maker, ids=ids), done, None):
                    yield from reader.blocks(batch, name)
                    done += 1
            except IdsNeeded:
                ids = True
            else:
                import pyarrow

                pyarrow.default_memory_pool().release_unused()  # to sort the events takes the most memory
                return

    def _of_memory(self, source: Any) -> Iterator[EventBlock]:
        if is_frame(source) and importlib.util.find_spec("pyarrow") is not None:
            from rankproof.monitoring.arrow import BATCH, ArrowReader, table_of

            if (table := table_of(source)) is not None:
                reader = ArrowReader(self.maker, self.rejects.add)
                for batch in table.to_batches(max_chunksize=BATCH):
                    yield from reader.blocks(batch, "frame")
                return
        yield from self._of_records(_records_in(source, self.rejects, self.maker.schema))

    def _of_records(self, records: Iterable[Placed | None]) -> Iterator[EventBlock]:
        """Blocks of records; None says that nothing more is there for now."""
        columns, rest, more = RecordColumns(self.maker, self.rejects.add), iter(records), True
        while more:
            more = self._fill(columns, rest)
            if len(columns):
                yield columns.block()

    def _fill(self, columns: RecordColumns, records: Iterator[Placed | None]) -> bool:
        """Take the records of a block; whether there may be more."""
        told, collects, add = monotonic(), gc.isenabled(), columns.add
        gc.disable()  # records are many objects without circles that die young: to look for circles takes long
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


def read_events(source: Any, schema: EventSchema | None = None, rejects: Rejects | None = None) -> Iterator[Event]:
    """The events of a log one by one, with their texts; rejected lines are counted in `rejects`."""
    schema, rejects = schema or EventSchema(), rejects or Rejects()
    found = list(sources_of(source))
    for each in found:
        with _read_on(each, found, rejects):
            for name, at, record in filter(None, _records_in(each, rejects, schema)):
                try:
                    yield schema.event(record)
                except Rejected as error:
                    rejects.add(error, name, at, record)
    schema.check_columns()


@contextmanager
def _read_on(source: Any, sources: Sequence[Any], rejects: Rejects) -> Iterator[None]:
    """Count a file that cannot be read as one that is damaged, if it is there and there are others to read."""
    try:
        yield
    except DataError as error:
        if len(sources) == 1 or not isinstance(source, (str, os.PathLike)) or not os.path.lexists(source):
            raise
        rejects.add(Rejected("damaged file", str(error)), name_of(source), None, "")


def _records_in(source: Any, rejects: Rejects, schema: EventSchema) -> Iterator[Placed | None]:
    if is_frame(source):
        yield from _rows_of(source, "frame")
    elif isinstance(source, (str, os.PathLike)):
        with open_file(source) as stream:
            yield from records_of(stream, name_of(source), rejects, schema)
    else:
        yield from resolve_spans(("record", at, record) for at, record in enumerate(source, 1))


def _rows_of(frame: Any, name: str) -> Iterator[Placed]:
    return ((name, at, row) for at, row in enumerate(records_of_frame(frame, name), 1))


def sources_of(source: Any) -> Iterator[Any]:
    """The sources one by one: the files that a pattern names or a folder holds, the one last written to last."""
    several = source if isinstance(source, (list, tuple)) else ()
    if isinstance(source, (str, os.PathLike)):
        yield from _files_of(source)
    elif several and all(isinstance(each, (str, os.PathLike)) or is_frame(each) for each in several):
        for each in several:
            yield from sources_of(each)
    elif is_frame(source) or (hasattr(source, "__iter__") and not isinstance(source, Mapping)):
        yield source
    else:
        raise UsageError(
            f"source: got {shorten(source)}, expected a path, a data frame or mappings. Next: give one of them."
        )


def _files_of(source: str | os.PathLike[str]) -> Iterator[str]:
    path = os.fspath(source)
    if path != STDIN and os.path.isdir(path):
        inside = glob.glob(os.path.join(path, "*"))
        found = [each for each in inside if os.path.isfile(each) or not os.path.exists(each)]
    elif glob.has_magic(path) and not os.path.lexists(path):
        found = glob.glob(path, recursive=True)
    else:
        yield path
        return
    if not found:
        check_no_url(path)
        raise UsageError(f"{path}: no file there. Next: check the folder, and the pattern.")
    yield from sorted(found, key=lambda each: (os.path.exists(each) and os.path.getmtime(each), each))
