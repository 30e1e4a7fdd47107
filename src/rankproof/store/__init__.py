"""Opening a database of rankproof: for reading without leaving a trace, for writing one at a time."""

from __future__ import annotations

import os
import shlex
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from rankproof.document.numbers import for_face
from rankproof.errors import DataError, RankproofError, UsageError


@dataclass(frozen=True, slots=True)
class Schema:
    """A kind of file: its tables, and its name in messages."""

    noun: str
    option: tuple[str, str]
    """What names such a file, in Python and in the shell."""
    made_by: tuple[str, str]
    """What makes one, in both."""
    application: int
    """SQLite's `application_id` in it, so that another program's file is never mistaken for one."""
    steps: tuple[tuple[str, ...], ...]
    often: bool = False
    """Whether it is written many times a second, so that not every write waits for the disk."""

    @property
    def newest(self) -> int:
        """The version that the last step leads to."""
        return len(self.steps)


def read_steps(name: str) -> tuple[tuple[str, ...], ...]:
    """The statements of each migration in a file beside this module, where an empty line is between two migrations."""
    text = files(__name__).joinpath(f"{name}.sql").read_text(encoding="utf-8")
    return tuple(tuple(each.strip() for each in step.split(";")[:-1]) for step in text.split("\n\n"))


HISTORY = Schema(
    noun="history",
    option=("History(path)", "--history"),
    made_by=("History(path).save(scores, name)", "rankproof evaluate ... --save NAME"),
    application=0x524E4B50,  # "RNKP"
    steps=read_steps("history"),
)


def version(connection: sqlite3.Connection) -> int:
    """The version of the file; 0 for an empty one."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def is_ours(connection: sqlite3.Connection, schema: Schema) -> bool:
    """Whether the file is of this kind, or empty."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return bool(application == schema.application or (application == 0 and tables == 0))


def migrate(connection: sqlite3.Connection, schema: Schema) -> None:
    """Run every migration that is still missing; call it inside a transaction."""
    for step in schema.steps[version(connection) :]:
        for statement in step:
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {schema.application}")
    connection.execute(f"PRAGMA user_version = {schema.newest}")


TIMEOUT = 10.0
"""Seconds to wait for another program that is writing."""
NOT_WRITABLE = {getattr(sqlite3, f"SQLITE_{name}") for name in ("CANTOPEN", "READONLY", "PERM", "FULL", "IOERR")}
"""The errors of a place where nothing can be written: rights, or a full or broken disk."""


@contextmanager
def open_to_read(path: Path, timeout: float = TIMEOUT, schema: Schema = HISTORY) -> Iterator[sqlite3.Connection]:
    """The file for reading; one of an older version is brought up to date in memory only."""
    if not path.is_file():
        got = f"a folder, expected a {schema.noun}" if path.is_dir() else f"there is no {schema.noun}"
        raise UsageError(
            f"{path}: {got}. Next: make one with '{for_face(*schema.made_by)}', or "
            f"name the file with {for_face(*schema.option)}."
        )
    with _speaking(path, timeout, schema), closing(connect(path, timeout, "rw")) as connection:
        _check(path, connection, schema)
        if version(connection) == schema.newest:
            yield connection
            return
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as copy:
            connection.backup(copy)
            migrate(copy, schema)
            yield copy


@contextmanager
def open_to_write(path: Path, timeout: float = TIMEOUT, schema: Schema = HISTORY) -> Iterator[sqlite3.Connection]:
    """The file inside one transaction: everything written in it is kept, or nothing."""
    with open_to_hold(path, timeout, schema) as begin, begin() as connection:
        yield connection


Begin = Callable[[], AbstractContextManager[sqlite3.Connection]]
"""Begins a transaction, which lasts as long as its block."""


@contextmanager
def open_to_hold(path: Path, timeout: float = TIMEOUT, schema: Schema = HISTORY) -> Iterator[Begin]:
    """The file, open for any number of transactions in any thread, one at a time: closing it takes longest."""
    with _speaking(path, timeout, schema), closing(connect(path, timeout, "rwc")) as connection:
        _check(path, connection, schema)
        # Let readers and a writer work at once; another writer that sets this at the same moment does it for us.
        with suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("PRAGMA foreign_keys = ON")
        if schema.often:  # a crash of the program loses nothing; one of the machine the last moments at most
            connection.execute("PRAGMA synchronous = NORMAL")

        @contextmanager
        def begin() -> Iterator[sqlite3.Connection]:
            with _speaking(path, timeout, schema), connection:  # whatever interrupts it, it is rolled back
                connection.execute("BEGIN IMMEDIATE")
                if version(connection) < schema.newest:
                    migrate(connection, schema)
                yield connection

        yield begin


def connect(path: Path, timeout: float, mode: str) -> sqlite3.Connection:
    """A connection; SQLite needs to write beside what it reads, unless told that nobody else will."""
    still = mode != "rwc" and not os.access(path.parent, os.W_OK) and not path.with_name(path.name + "-wal").exists()
    query = "mode=ro&immutable=1" if still else f"mode={mode}"
    address = f"{path.absolute().as_uri()}?{query}"
    return sqlite3.connect(address, timeout=timeout, isolation_level=None, check_same_thread=False, uri=True)


def _check(path: Path, connection: sqlite3.Connection, schema: Schema) -> None:
    connection.execute("BEGIN")  # all at one moment: another program may be making the file right now
    try:
        ours, found = is_ours(connection, schema), version(connection)
    finally:
        connection.execute("COMMIT")
    if not ours:
        raise DataError(
            f"{path}: a database of another kind, expected a {schema.noun} of rankproof; it was left as it is. "
            f"Next: name another file with {for_face(*schema.option)}."
        )
    if found > schema.newest:
        raise DataError(
            f"{path}: a {schema.noun} of version {found}, and this rankproof reads up to version {schema.newest}; "
            "it was left as it is. Next: pip install --upgrade rankproof."
        )


@contextmanager
def _speaking(path: Path, timeout: float, schema: Schema) -> Iterator[None]:
    """An error of SQLite as our own, with the next step."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise _in_words(path, timeout, error, schema) from error


def _in_words(path: Path, timeout: float, error: sqlite3.DatabaseError, schema: Schema) -> RankproofError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return DataError(
            f"{path}: locked by another program for more than {timeout:g} seconds; nothing was written. "
            "Next: try again when it is done."
        )
    if code in (0, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):  # 0: invalid text
        return damage_error(path, str(error), schema)
    if code in NOT_WRITABLE:
        return UsageError(
            f"{path}: cannot be written ({error}). Next: name a file that can be written, with "
            f"{for_face(*schema.option)}."
        )
    return DataError(f"{path}: {error}; nothing was written. Next: look at the disk and at the file.")


def damage_error(path: Path, why: str, schema: Schema = HISTORY, saved: str | None = None) -> DataError:
    """The error for a damaged file, or for one damaged entry in it."""
    rest = (
        f"Next: name another file with {for_face(*schema.option)}, or put a copy in its place."
        if saved is None
        else for_face(
            f"Next: save it again with replace=True, or take it out with History.remove({saved!r}).",
            f"Next: save it again with --replace, or take it out with 'rankproof rm {shlex.quote(str(saved))}'.",
        )
    )
    return DataError(f"{path}: no {schema.noun}, or a damaged one ({why}); it was left as it is. {rest}")
