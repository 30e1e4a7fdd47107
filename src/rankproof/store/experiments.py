"""Saved experiments: written and read as a whole, and exported as one JSON file."""

from __future__ import annotations

import gzip
import json
import math
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from rankproof.core.arrays import by_key
from rankproof.core.hits import Array
from rankproof.document.disk import whole_file
from rankproof.document.model import PlainData
from rankproof.document.numbers import for_face
from rankproof.errors import DataError, RankproofError, UsageError, not_known, shorten
from rankproof.store import damage_error


def pack(values: Array) -> bytes:
    """Numbers as little-endian doubles, compressed.

    >>> unpack(pack(np.array([0.1, -0.0, 1e-300]))).tolist()
    [0.1, -0.0, 1e-300]
    """
    return zlib.compress(np.asarray(values, dtype="<f8").tobytes())


def unpack(data: bytes) -> Array:
    """The numbers that `pack` was given."""
    return np.frombuffer(zlib.decompress(data), dtype="<f8").astype(np.float64)


NOT_SHOWN = math.inf
"""The value in the file, whose means are numbers, for a mean over too few samples to be shown."""


@dataclass(frozen=True, slots=True)
class HistoryEntry(PlainData):
    """A line of the history: everything about an experiment except its values."""

    name: str
    saved_at: str
    """The moment in UTC, as ISO 8601."""
    rankproof: str
    """The version that measured."""
    python: str
    commit: str | None
    """The git commit of the folder it was saved from."""
    judgments: str
    """The fingerprint of the judgments."""
    ranking: str
    """The fingerprint of the ranking."""
    means: dict[str, float]
    tags: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, slots=True)
class Values:
    """One measure of an experiment, query by query."""

    values: Array
    counted: Array | None
    """Which queries count; None: all."""
    note: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class Experiment:
    """An experiment as it is saved: its entry, its values, and the facts about them."""

    entry: HistoryEntry
    queries: tuple[str, ...]
    columns: dict[str, Values]
    facts: dict[str, Any]
    """Rows, definitions, conventions, slices and audit, as plain data."""


_FIELDS = "name, saved_at, rankproof, python, git_commit, judgments, ranking"


def insert(connection: sqlite3.Connection, experiment: Experiment) -> None:
    """Add an experiment whose name is free."""
    e = experiment.entry
    row = (e.name, e.saved_at, e.rankproof, e.python, e.commit, e.judgments, e.ranking)
    queries = zlib.compress(json.dumps(list(experiment.queries)).encode("ascii"))
    number = connection.execute(
        f"INSERT INTO experiments ({_FIELDS}, facts, queries) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*row, json.dumps(experiment.facts), queries),
    ).lastrowid
    for place, (measure, column) in enumerate(experiment.columns.items()):
        flags = None if column.counted is None else zlib.compress(np.asarray(column.counted, dtype=np.uint8).tobytes())
        values = (e.means.get(measure, NOT_SHOWN), column.note, pack(column.values), flags)
        connection.execute("INSERT INTO measured VALUES (?, ?, ?, ?, ?, ?, ?)", (number, place, measure, *values))
    connection.executemany("INSERT INTO tags VALUES (?, ?, ?)", [(number, *tag) for tag in e.tags.items()])


def remove(connection: sqlite3.Connection, name: str) -> bool:
    """Delete an experiment; whether there was one."""
    return connection.execute("DELETE FROM experiments WHERE name = ?", (name,)).rowcount > 0


def names(connection: sqlite3.Connection, path: Path) -> list[str]:
    """The names, the oldest first: by when they were saved, as what was taken in from a file may be older."""
    found = [name for (name,) in connection.execute("SELECT name FROM experiments ORDER BY saved_at, id")]
    for each in found:
        if not isinstance(each, str):
            raise _wrong(path, "experiments", "name", each, each, "text")
    return found


def count(connection: sqlite3.Connection) -> int:
    """How many experiments there are."""
    return int(connection.execute("SELECT count(*) FROM experiments").fetchone()[0])


def has_name(connection: sqlite3.Connection, name: str) -> bool:
    """Whether something is saved under the name."""
    return connection.execute("SELECT 1 FROM experiments WHERE name = ?", (name,)).fetchone() is not None


def entries(connection: sqlite3.Connection, path: Path, last: int | None = None) -> list[HistoryEntry]:
    """Every entry, or the last ones, the oldest first."""
    newest = f"SELECT {_FIELDS}, id FROM experiments ORDER BY saved_at DESC, id DESC LIMIT ?"
    rows = connection.execute(newest, (-1 if last is None else last,)).fetchall()[::-1]
    return _entries(connection, path, rows, "experiment >= ?") if rows else []


def entry(connection: sqlite3.Connection, name: str, path: Path) -> HistoryEntry:
    """The entry of that name; no other is read."""
    row = connection.execute(f"SELECT {_FIELDS}, id FROM experiments WHERE name = ?", (name,)).fetchone()
    if row is None:
        raise unknown_error(connection, path, name)
    return _entries(connection, path, [row], "experiment = ?")[0]


Pairs = list[tuple[Any, Any]]


def _entries(connection: sqlite3.Connection, path: Path, rows: Sequence[Any], where: str) -> list[HistoryEntry]:
    """The entries of some rows; `where` holds the number of the first against those of means and tags."""
    found: list[dict[int, Pairs]] = []
    for table, columns, order in (("measured", "measure, mean", "place"), ("tags", "key, value", "key")):
        text = f"SELECT experiment, {columns} FROM {table} WHERE {where} ORDER BY experiment, {order}"
        made = connection.execute(text, (min(row[-1] for row in rows),))
        found.append(by_key((number, (first, second)) for number, first, second in made))
    means, tags = found
    return [_entry(path, row, means.get(row[-1], []), tags.get(row[-1], [])) for row in rows]


def _entry(path: Path, row: Sequence[Any], means: Pairs, tags: Pairs) -> HistoryEntry:
    """The entry of a row, if every field is what it should be."""
    *fields, _ = row
    name = fields[0]
    texts = [("experiments", *each) for each in zip(_FIELDS.split(", "), fields, strict=True)]
    texts += [("measured", "measure", measure) for measure, _ in means]
    for table, column, value in texts:
        if not (isinstance(value, str) or (value is None and column == "git_commit")):
            raise _wrong(path, table, column, name, value, "text")
    for _, mean in means:
        if not isinstance(mean, float):
            raise _wrong(path, "measured", "mean", name, mean, "a number")
    for key, value in tags:
        if not (isinstance(key, str) and isinstance(value, str)):
            raise _wrong(path, "tags", "value", name, value, "text")
    return HistoryEntry(*(*fields, {m: mean for m, mean in means if mean < NOT_SHOWN}, dict(tags)))


def _wrong(path: Path, table: str, column: str, name: Any, value: object, expected: str) -> DataError:
    return damage_error(
        path, f"{table}.{column} of {shorten(str(name))} holds {shorten(value)}, expected {expected}", saved=name
    )


def read(connection: sqlite3.Connection, name: str, path: Path) -> Experiment:
    """The experiment of that name, as it was saved."""
    found = entry(connection, name, path)
    row = connection.execute("SELECT id, facts, queries FROM experiments WHERE name = ?", (name,))
    number, facts, queries = row.fetchone()
    known = _unpacked(path, name, "experiments.facts", facts, json.loads)
    if not isinstance(known, dict):
        raise _wrong(path, "experiments", "facts", name, facts, "a JSON object")
    ids = _unpacked(path, name, "experiments.queries", queries, lambda data: tuple(json.loads(zlib.decompress(data))))
    if not all(isinstance(each, str) for each in ids):
        raise _wrong(path, "experiments", "queries", name, ids, "a list of texts")
    columns = _columns(connection, number, name, path, len(ids))
    return Experiment(found, ids, columns, known)


def _columns(connection: sqlite3.Connection, number: int, name: str, path: Path, queries: int) -> dict[str, Values]:
    rows = connection.execute(
        "SELECT measure, per_query, counted, note FROM measured WHERE experiment = ? ORDER BY place", (number,)
    )
    columns = {}
    for measure, packed, flags, note in rows:
        values = _unpacked(path, name, f"measured.per_query ({measure})", packed, unpack)
        where = f"measured.counted ({measure})"  # a byte for each query
        counted = None if flags is None else _unpacked(path, name, where, flags, zlib.decompress)
        if len(values) != queries or (counted is not None and len(counted) != queries):
            why = f"measured.per_query ({measure}) of {shorten(name)} has {len(values)} values for {queries} queries"
            raise damage_error(path, why, saved=name)
        if not isinstance(note, str):
            raise _wrong(path, "measured", "note", name, note, "text")
        columns[measure] = Values(values, None if counted is None else np.frombuffer(counted, np.uint8) > 0, note)
    return columns


T = TypeVar("T")


def _unpacked(path: Path, name: str, where: str, packed: Any, unpack_it: Callable[[Any], T]) -> T:
    try:
        return unpack_it(packed)
    except (zlib.error, ValueError, TypeError) as error:
        raise damage_error(path, f"the values in {where} of {shorten(name)}: {error}", saved=name) from error


def unknown_error(connection: sqlite3.Connection, path: Path, name: str) -> UsageError:
    """The error for a name under which nothing is saved."""
    # The newest names, as many as can be compared with a misspelled one quickly.
    rows = connection.execute("SELECT name FROM experiments ORDER BY id DESC LIMIT 2000")
    known = [each for (each,) in rows if isinstance(each, str)]
    listing = for_face("History(path).entries()", repr("rankproof history"))
    return not_known(f"{path}: nothing is saved as {shorten(name)}", name, known, f"{listing} lists all names")


def check_name(what: str, name: str) -> str:
    """The name, if a shell, a table and a database can all hold it."""
    if not name.isprintable() or name != name.strip() or name.startswith("-") or not name:
        raise UsageError(
            f"{what}: got {shorten(name)}, expected printable text that neither begins with '-' nor has blanks at its "
            "ends. Next: choose another name."
        )
    return name


def check_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """The tags, if each key and value is usable."""
    return {check_name("tag", str(key)): check_name(f"tag {key}", str(value)) for key, value in tags.items()}


def check_free(connection: sqlite3.Connection, name: str, path: Path, instead: str = "choose another name") -> None:
    """Refuse a name that is used already; `instead` is what to do but replace it."""
    if has_name(connection, name):
        raise UsageError(
            f"{path}: something is saved as {shorten(name)} already, and was kept. "
            f"Next: {instead}, or replace it with {for_face('replace=True', '--replace')}."
        )


def misread_error(path: Path, why: str) -> DataError:
    """The error for a file to import that is not one of ours."""
    return DataError(
        f"{path}: {why}, expected a file written by 'rankproof history export'; nothing was imported."
        " Next: export it again."
    )


HEAD = '{"format": "rankproof history", "version": 1, "experiments": ['
"""The first line of the file."""


def write(target: Path, found: Iterable[Experiment], *, force: bool = False) -> None:
    """Write experiments to a file as they come, each on its line; compressed if its name ends in .gz."""
    with whole_file(target, force=force) as file, ExitStack() as opened:
        stream = opened.enter_context(gzip.GzipFile("", "wb", 6, file, mtime=0)) if target.suffix == ".gz" else file
        stream.write(HEAD.encode())
        for number, each in enumerate(found):
            line = json.dumps(_plain(each), ensure_ascii=False).encode("utf-8", "backslashreplace")
            stream.write((b",\n" if number else b"\n") + line)
        stream.write(b"]}\n")


def read_transfer(source: Path) -> Iterator[Experiment]:
    """The experiments in a file that `write` made, one after the other."""
    try:
        with open(source, "rb") as file:
            packed = file.peek(2).startswith(b"\x1f\x8b")
            lines = gzip.GzipFile(fileobj=file) if packed else file
            for each in _records(source, lines):
                yield _experiment(each)
    except FileNotFoundError:
        raise UsageError(f"{source}: there is no such file. Next: check the path.") from None
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise misread_error(source, f"a broken archive ({error})") from error
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise misread_error(source, f"not valid JSON ({error})") from error
    except RankproofError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise misread_error(
            source, f"an experiment that lacks something or has it in another form ({error})"
        ) from error


def _records(source: Path, lines: gzip.GzipFile | BufferedReader) -> Iterator[Any]:
    """Each record on its line, as `write` puts them."""
    head = lines.readline().decode().rstrip()
    if head != HEAD:
        raise misread_error(source, f"not the first line of an exported history, version 1: {shorten(head)}")
    more = True
    for line in filter(None, map(bytes.strip, lines)):
        if not more:
            raise misread_error(source, "text after the end of the list of experiments")
        more = line.endswith(b",")  # the last record, whose own end is two braces, closes the list
        yield json.loads(line.removesuffix(b",") if more else line.removesuffix(b"]}"))
    if more or not line.endswith(b"]}"):
        raise misread_error(source, "cut off, the list of experiments has no end")


def _plain(experiment: Experiment) -> dict[str, Any]:
    values = {}
    for name, each in experiment.columns.items():
        counted = None if each.counted is None else each.counted.tolist()
        values[name] = {"values": each.values.tolist(), "counted": counted, "note": each.note}
    entry, queries = experiment.entry.to_dict(), list(experiment.queries)
    return {**entry, "facts": experiment.facts, "queries": queries, "values": values}


def _experiment(plain: dict[str, Any]) -> Experiment:
    facts, queries, values = (plain[key] for key in ("facts", "queries", "values"))
    entry = HistoryEntry(**{key: plain[key] for key in HistoryEntry.__dataclass_fields__})
    check_name("name", entry.name)
    check_tags(entry.tags)
    columns = {name: _values(each, len(queries)) for name, each in values.items()}
    if not set(entry.means) <= set(columns):
        raise ValueError("means and values are of different measures")
    return Experiment(entry, tuple(queries), columns, facts)


def _values(plain: dict[str, Any], queries: int) -> Values:
    values = np.array(plain["values"], dtype=np.float64)
    counted = None if plain["counted"] is None else np.array(plain["counted"], dtype=bool)
    if values.shape != (queries,) or (counted is not None and counted.shape != (queries,)):
        raise ValueError(f"not one value for each of the {queries} queries")
    return Values(values, counted, plain["note"])
