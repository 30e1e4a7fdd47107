"""Saved experiments: written and read whole."""

from __future__ import annotations

import json
import math
import sqlite3
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rankproof.core.hits import Array
from rankproof.display import Displayable
from rankproof.errors import DataError, UsageError, nearest, shorten
from rankproof.store.database import damaged
from rankproof.store.values import pack, pack_flags, pack_ids, unpack, unpack_flags, unpack_ids

NOT_SHOWN = math.inf
"""Stands in the file, whose means are numbers, for one over too few samples to be shown."""


@dataclass(frozen=True, slots=True)
class Entry(Displayable):
    """A line of the history: everything about an experiment but its values."""

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

    def to_dict(self) -> dict[str, Any]:
        """The entry as plain data."""
        return asdict(self)


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

    entry: Entry
    queries: tuple[str, ...]
    columns: dict[str, Values]
    facts: dict[str, Any]
    """Rows, definitions, conventions, slices and audit, as plain data."""


_FIELDS = "name, saved_at, rankproof, python, git_commit, judgments, ranking"


def insert(connection: sqlite3.Connection, experiment: Experiment) -> None:
    """Add an experiment whose name is free."""
    e = experiment.entry
    row = (e.name, e.saved_at, e.rankproof, e.python, e.commit, e.judgments, e.ranking)
    facts = json.dumps(experiment.facts)
    number = connection.execute(
        f"INSERT INTO experiments ({_FIELDS}, facts, queries) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (*row, facts, pack_ids(experiment.queries)),
    ).lastrowid
    for place, (measure, column) in enumerate(experiment.columns.items()):
        values = (pack(column.values), pack_flags(column.counted))
        connection.execute(
            "INSERT INTO measured VALUES (?, ?, ?, ?, ?, ?, ?)",
            (number, place, measure, e.means.get(measure, NOT_SHOWN), column.note, *values),
        )
    connection.executemany("INSERT INTO tags VALUES (?, ?, ?)", [(number, *tag) for tag in e.tags.items()])


def remove(connection: sqlite3.Connection, name: str) -> bool:
    """Delete an experiment; whether there was one."""
    return connection.execute("DELETE FROM experiments WHERE name = ?", (name,)).rowcount > 0


def names(connection: sqlite3.Connection) -> list[str]:
    """The names, the oldest first."""
    return [name for (name,) in connection.execute("SELECT name FROM experiments ORDER BY id")]


def entries(connection: sqlite3.Connection) -> list[Entry]:
    """Every entry, the oldest first."""
    rows = connection.execute(f"SELECT {_FIELDS}, id FROM experiments ORDER BY id").fetchall()
    means, tags = _means(connection), _tags(connection)
    return [Entry(*(*row, means.get(number, {}), tags.get(number, {}))) for *row, number in rows]


def _means(connection: sqlite3.Connection) -> dict[int, dict[str, float]]:
    found: dict[int, dict[str, float]] = {}
    for number, measure, mean in connection.execute(
        "SELECT experiment, measure, mean FROM measured WHERE mean < ? ORDER BY experiment, place",
        (NOT_SHOWN,),
    ):
        found.setdefault(number, {})[measure] = mean
    return found


def _tags(connection: sqlite3.Connection) -> dict[int, dict[str, str]]:
    found: dict[int, dict[str, str]] = {}
    for number, key, value in connection.execute("SELECT experiment, key, value FROM tags ORDER BY key"):
        found.setdefault(number, {})[key] = value
    return found


def read(connection: sqlite3.Connection, name: str, path: Path) -> Experiment:
    """The experiment of that name, as it was saved."""
    row = connection.execute("SELECT id, facts, queries FROM experiments WHERE name = ?", (name,)).fetchone()
    if row is None:
        raise unknown(path, name, names(connection))
    entry = next(each for each in entries(connection) if each.name == name)
    try:
        facts, queries = json.loads(row[1]), unpack_ids(row[2])
        columns = _columns(connection, row[0])
    except (zlib.error, ValueError) as error:
        raise damaged(path, f"the values of {shorten(name)}: {error}") from error
    if any(len(each.values) != len(queries) for each in columns.values()):
        raise damaged(path, f"the values of {shorten(name)} are not one a query")
    return Experiment(entry, queries, columns, facts)


def _columns(connection: sqlite3.Connection, number: int) -> dict[str, Values]:
    rows = connection.execute(
        "SELECT measure, per_query, counted, note FROM measured WHERE experiment = ? ORDER BY place",
        (number,),
    )
    return {m: Values(unpack(values), unpack_flags(counted), note) for m, values, counted, note in rows}


def unknown(path: Path, name: str, known: list[str]) -> UsageError:
    """The error for a name under which nothing is saved."""
    return UsageError(
        f"{path}: nothing is saved as {shorten(name)}.{nearest(name, known)} "
        "Next: 'rankproof history' lists what is."
    )


def check_name(what: str, name: str) -> str:
    """The name, if a shell, a table and a database can all hold it."""
    usable = name and name.isprintable() and name == name.strip() and not name.startswith("-")
    if not usable:
        raise UsageError(
            f"{what}: got {shorten(name)}, expected printable text that neither begins with '-' nor has blanks "
            "at its ends."
            " Next: choose another name."
        )
    return name


def check_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """The tags, if each key and value is usable."""
    return {check_name("tag", str(key)): check_name(f"tag {key}", str(value)) for key, value in tags.items()}


def taken(path: Path, name: str) -> UsageError:
    """The error for a name that is used already."""
    return UsageError(
        f"{path}: something is saved as {shorten(name)} already, and was kept. "
        "Next: choose another name, or replace it with --replace."
    )


def check_free(connection: sqlite3.Connection, name: str, path: Path) -> None:
    """Refuse a name that is used already."""
    if name in names(connection):
        raise taken(path, name)


def misread(path: Path, why: str) -> DataError:
    """The error for a file to import that is not one of ours."""
    return DataError(
        f"{path}: {why}, expected a file written by 'rankproof history export'; nothing was imported."
        " Next: export it anew."
    )
