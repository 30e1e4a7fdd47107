"""Rows of a file one after the other, so that a file may be larger than memory; each with where it stands."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

from rankproof.errors import DataError, UsageError, shorten
from rankproof.io.files import name_of, opened, text_of
from rankproof.io.frames import MAGIC, is_frame, read_every_column, records_of_frame

BOM = b"\xef\xbb\xbf"


class Row(NamedTuple):
    """What stands somewhere, and where: a mapping from a file or a frame; from a list whatever is in it."""

    where: str
    value: Any


def rows_of(source: Any, what: str) -> Iterator[Row]:
    """The rows of a path (JSON Lines, JSON, CSV, TSV, Parquet), a data frame, or an iterable.

    >>> [(row.where, row.value) for row in rows_of([{"id": "a"}, {"id": "b"}], "samples")]
    [('samples, item 1', {'id': 'a'}), ('samples, item 2', {'id': 'b'})]
    """
    if isinstance(source, str | os.PathLike):
        return _of_file(source)
    if is_frame(source):
        return _of_frame(source, what)
    if isinstance(source, Mapping | bytes) or not isinstance(source, Iterable):
        raise UsageError(
            f"{what}: got {shorten(source)} ({type(source).__name__}), expected a list of rows, a data frame, "
            "or a path. Next: put a single row into a list."
        )
    return (Row(f"{what}, item {number}", each) for number, each in enumerate(source, 1))


def _of_file(path: str | os.PathLike[str]) -> Iterator[Row]:
    name = name_of(path)
    with opened(path) as raw:
        stream = io.BufferedReader(raw)  # type: ignore[type-var]
        head = stream.peek(1 << 12).removeprefix(BOM)
        if head.startswith(MAGIC):
            yield from _of_frame(read_every_column(stream.read(), name), name)
        elif not head.strip():
            raise DataError(f"{name}: empty, there is not one row in it. Next: check how it was made.")
        else:
            yield from _OPENINGS.get(head.lstrip()[:1], _of_table)(stream, name)


def _of_frame(frame: Any, name: str) -> Iterator[Row]:
    return (Row(f"{name}, row {number}", row) for number, row in enumerate(records_of_frame(frame, name), 1))


def _decoded(stream: BinaryIO, name: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(stream, start=1):
        try:
            yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise DataError(f"{name}, line {number}: not UTF-8. Next: save the file as UTF-8.") from error


# --- JSON --------------------------------------------------------------------------------------


def _of_lines(stream: BinaryIO, name: str) -> Iterator[Row]:
    """One JSON object a line; a first line that only begins one is the beginning of a whole JSON text."""
    lines = _decoded(stream, name)
    for number, line in lines:
        if not line.strip():
            continue
        found = _parsed(line)
        if found is BROKEN and number == 1:
            found = _parsed(line + "".join(rest for _, rest in lines))
            if found is not BROKEN:
                yield from _of_object(found, name)
                return
        if found is BROKEN:
            raise _not_json(f"{name}, line {number}", line)
        yield Row(f"{name}, line {number}", found)


BROKEN = object()


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return BROKEN


def _not_json(where: str, text: str) -> DataError:
    try:
        json.loads(text)
        why = "cannot be read"
    except json.JSONDecodeError as error:
        why = f"{error.msg} at character {error.pos + 1}"
    except (ValueError, RecursionError) as error:
        why = str(error)
    return DataError(
        f"{where}: no valid JSON ({why}): {shorten(text.strip())}. Next: correct it, or write the file anew."
    )


def _of_object(whole: Any, name: str) -> Iterator[Row]:
    """The rows in the only list of an object (`{"samples": [...]}`); else the object is the only row."""
    lists = [value for value in whole.values() if isinstance(value, list)]
    nested = len(lists) == 1 and all(isinstance(each, dict) for each in lists[0])
    return _numbered(lists[0] if nested else [whole], name)


def _of_array(stream: BinaryIO, name: str) -> Iterator[Row]:
    text = text_of(stream.read(), name)
    found = _parsed(text)
    if found is BROKEN:
        raise _not_json(name, text)
    return _numbered(found, name)


def _numbered(rows: list[Any], name: str) -> Iterator[Row]:
    return (Row(f"{name}, item {number}", row) for number, row in enumerate(rows, 1))


_OPENINGS = {b"{": _of_lines, b"[": _of_array}


# --- CSV and TSV ---------------------------------------------------------------------------------


def _of_table(stream: BinaryIO, name: str) -> Iterator[Row]:
    """Lines of cells under a header; an empty cell is a value that was not given."""
    lines = (line for _, line in _decoded(stream, name))
    first = next(lines)
    reader = csv.reader(_after(first, lines), delimiter=_delimiter(first), strict=True)
    cells = _cells(reader, name)
    header = next(cells)[1]
    for where, row in cells:
        if len(row) != len(header):
            raise DataError(
                f"{where}: got {len(row)} cells, expected {len(header)} as in the header. "
                "Next: quote cells that hold commas or line ends."
            )
        yield Row(where, {key.strip(): cell or None for key, cell in zip(header, row, strict=True)})


def _delimiter(header: str) -> str:
    """What stands between the names of a header: a tab, or whichever of comma and semicolon parts it more often.

    >>> _delimiter("id;question, as asked;answer"), _delimiter('id,"a;b;c",answer'), _delimiter("id")
    (';', ',', ',')
    """
    if "\t" in header:
        return "\t"
    return max(",;", key=lambda each: len(next(csv.reader([header], delimiter=each), [])))


def _after(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _cells(reader: Any, name: str) -> Iterator[tuple[str, list[str]]]:
    """Each line of cells with the line of the file it begins on; a cell may be as long as it is."""
    limit, before = csv.field_size_limit(sys.maxsize), 0
    try:
        for row in reader:
            where, before = f"{name}, line {before + 1}", reader.line_num
            if row:
                yield where, row
    except csv.Error as error:
        raise DataError(
            f"{name}, line {reader.line_num}: cannot be read as CSV: {error}."
            " Next: mend the quotes of the line."
        ) from error
    finally:
        csv.field_size_limit(limit)
