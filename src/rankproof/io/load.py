"""Judgments and rankings from whatever they are given as: dicts, paths, data frames, tuples."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any, BinaryIO, NamedTuple, TypeAlias

from rankproof.core.join import Rankings
from rankproof.core.judgments import Judgments
from rankproof.errors import DataError, UsageError, shorten
from rankproof.io import corpora
from rankproof.io.files import check_path, name_of, opened, read_bytes, read_head, text_of
from rankproof.io.formats import JSON, PARQUET, TREC_JUDGMENTS, TREC_RANKING, Format, read_delimited, sniff
from rankproof.io.frames import (
    MAGIC,
    is_frame,
    judgments_from_frame,
    library_of,
    ranking_from_frame,
    read_every_column,
    read_parquet,
    records_of_frame,
)
from rankproof.io.jsonio import graded, read_json
from rankproof.io.mappings import MappingRankings, judgments_from_mapping
from rankproof.io.pipes import PathLike, Pipe, kept
from rankproof.io.rankings import ranking_of
from rankproof.io.roles import JUDGMENTS, RANKING, Wanted
from rankproof.io.rows import Rows, judgments_of, read_tuples
from rankproof.io.trec import TrecRankings, read_qrels
from rankproof.io.trec.chunks import BadLine, check_lines

Source: TypeAlias = Any
"""A mapping, a path ("-" is standard input), a data frame, tuples, or what was loaded before."""


def load_judgments(data: Source) -> Judgments:
    """Judgments from a mapping, a path, a data frame, or tuples (query, document, grade).

    >>> load_judgments([("q1", "d1", 2), ("q1", "d2", 0)]).as_dict()
    {'q1': {'d1': 2.0, 'd2': 0.0}}
    """
    if isinstance(data, Judgments):
        return data
    if isinstance(data, (str, os.PathLike)):
        return _judgments_at(data)
    if isinstance(data, Mapping):
        return judgments_from_mapping(data)
    if is_frame(data):
        found = judgments_from_frame(data)
        return replace(found, library=library_of(data))
    if hasattr(data, "blocks"):
        raise DataError(f"judgments: got a ranking ({data.source}). Next: swap the two arguments.")
    return judgments_of(read_tuples(_iterable(data, "judgments"), JUDGMENTS, "judgments"))


def load_ranking(data: Source) -> Rankings:
    """Rankings from a mapping, a path, a data frame, or tuples (query, document, score).

    >>> load_ranking([("q1", "d1", 0.5), ("q1", "d2", 0.25)]).table().score
    array([0.5 , 0.25])
    """
    if hasattr(data, "blocks"):
        return data  # type: ignore[no-any-return]
    if isinstance(data, Judgments):
        raise DataError(f"ranking: got judgments ({data.source}). Next: swap the two arguments.")
    if isinstance(data, (str, os.PathLike)):
        return _ranking_at(data)
    if isinstance(data, Mapping):
        return MappingRankings(data)
    if is_frame(data):
        return ranking_from_frame(data)
    return ranking_of(read_tuples(_iterable(data, "ranking"), RANKING, "ranking"))


def _iterable(data: Source, what: str) -> Iterable[Any]:
    if isinstance(data, (bytes, bytearray)) or not isinstance(data, Iterable):
        raise DataError(
            f"{what}: got {shorten(data)} ({type(data).__name__}), expected a mapping, a path, a data frame "
            "or an iterable of tuples. Next: turn it into one of these."
        )
    return data


# --- files -------------------------------------------------------------------------------------


def _judgments_at(path: PathLike) -> Judgments:
    source = _kept(path)
    if isinstance(source, Pipe):
        return _judgments_in(source, name_of(path))
    where, split = corpora.split_of(Path(path))
    folder = corpora.folder_at(check_path(where))
    if folder is None:
        return _judgments_in(where, str(path))
    file = corpora.judgments_file(folder, split)
    judgments = _judgments_in(file, str(file))
    return replace(judgments, notes=(*judgments.notes, corpora.choice_note(folder, file)))


def _ranking_at(path: PathLike) -> Rankings:
    source = _kept(path)
    if isinstance(source, Pipe):
        return _ranking_in(source, name_of(path))
    if corpora.folder_at(check_path(path)):
        what = "a folder" if Path(path).is_dir() else "a BEIR archive"
        raise DataError(f"{path}: {what}, expected a ranking. Next: give the path of a file.")
    return _ranking_in(Path(path), str(path))


def _kept(path: PathLike) -> PathLike:
    """The path, or a pipe read to its end: what writes into several pipes may fill one after the other."""
    source = kept(path)
    return source.keep() if isinstance(source, Pipe) else source


def _judgments_in(path: PathLike, source: str) -> Judgments:
    kind = sniff(read_head(path), source)
    if kind == TREC_RANKING:
        raise _swapped(source, "a ranking (6 columns)", "judgments (4 columns)")
    if kind == TREC_JUDGMENTS:
        return replace(read_qrels(path, source=source), untyped=True)
    if kind == PARQUET:
        return judgments_from_frame(read_parquet(path, JUDGMENTS, source), source)
    found = _content(path, kind, JUDGMENTS, source)
    if isinstance(found, Rows):
        return replace(judgments_of(found), untyped=kind != JSON)
    return replace(judgments_from_mapping(graded(found, source), source), untyped=True)


def _ranking_in(path: PathLike, source: str) -> Rankings:
    kind = sniff(read_head(path), source)
    if kind == TREC_JUDGMENTS:
        raise _swapped(source, "judgments (4 columns)", "a ranking (6 columns)")
    if kind == TREC_RANKING:
        return TrecRankings(path, source=source)
    if kind == PARQUET:
        return ranking_from_frame(read_parquet(path, RANKING, source), source)
    found = _content(path, kind, RANKING, source)
    if isinstance(found, Rows):
        return replace(ranking_of(found), untyped=kind != JSON)
    return MappingRankings(found, source, untyped=True)


def _content(path: PathLike, kind: Format, wanted: Wanted, source: str) -> Rows | dict[str, Any]:
    content = read_bytes(path)
    if kind != JSON:
        try:
            check_lines(content)
        except BadLine as bad:
            raise DataError(
                f"{source}, line {bad.line + 1}: {bad.found}. Next: mend the line or drop it."
            ) from bad
    text = text_of(content, source)
    if kind == JSON:
        return read_json(text, wanted, source)
    return read_delimited(text, kind.delimiter, wanted, source)


def _swapped(source: str, got: str, expected: str) -> DataError:
    return DataError(
        f"{source}: this looks like {got}, expected {expected}. "
        "Next: swap the two arguments, or check which file this is."
    )


def load_rankings(rankings: Any) -> dict[str, Rankings]:
    """The rankings by name; a list is named by its files, or ranking 1, ranking 2, ..."""
    named = dict(rankings.items()) if isinstance(rankings, Mapping) else _named(rankings)
    if not named:
        raise UsageError("rankings: got none, expected two or more. Next: give {name: ranking} or a list.")
    return {str(name): _loaded(str(name), each) for name, each in named.items()}


def _named(rankings: Any) -> dict[str, Any]:
    if isinstance(rankings, (str, os.PathLike)) or not isinstance(rankings, Iterable):
        raise UsageError(
            f"rankings: got {shorten(rankings)}, expected {{name: ranking}} or a list of rankings."
            " Next: give one of these."
        )
    listed = list(rankings)
    names = [
        PurePath(os.fspath(each)).name if isinstance(each, (str, os.PathLike)) else "" for each in listed
    ]
    if "" in names or len(set(names)) < len(names):
        names = [f"ranking {number}" for number in range(1, len(listed) + 1)]
    return dict(zip(names, listed, strict=True))


def _loaded(name: str, ranking: Any) -> Rankings:
    """The ranking; one that is in memory has no other name than the one given here."""
    found = load_ranking(ranking)
    return replace(found, source=f"ranking {name!r}") if isinstance(found, MappingRankings) else found


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
