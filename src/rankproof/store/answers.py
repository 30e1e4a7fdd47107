"""What retrievers answered, in one SQLite file, so that no question need be asked twice."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from rankproof.errors import DataError, UsageError

APPLICATION = 0x524E4B41
"""What SQLite's `application_id` is in our files ("RNKA"), so that another program's is never taken for one."""
VERSION = 1
TIMEOUT = 10.0
"""Seconds to wait for another run that is writing."""
AT_ONCE = 500
"""How many answers are looked up in one statement."""


class Answers:
    """Answers by their keys; what was put in is on the disk when `put` returns."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def get(self, keys: Iterable[str]) -> dict[str, str]:
        """The answers there are, by key."""
        wanted = list(keys)
        found: dict[str, str] = {}
        with _speaking(self._path):
            for start in range(0, len(wanted), AT_ONCE):
                some = wanted[start : start + AT_ONCE]
                places = ", ".join("?" * len(some))
                found.update(
                    self._connection.execute(f"SELECT key, answer FROM answers WHERE key IN ({places})", some)
                )
        return found

    def put(self, answers: Iterable[tuple[str, str]]) -> None:
        """Keep answers by key: all of these, or none where the process ends meanwhile."""
        with _speaking(self._path), self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?)", answers)


@contextmanager
def opened(path: Path) -> Iterator[Answers]:
    """The file, made where there is none; several runs may use it at once."""
    with _speaking(path), closing(sqlite3.connect(path, timeout=TIMEOUT)) as connection:
        _check(connection, path)
        with suppress(sqlite3.OperationalError):  # another run is just doing the same
            connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("PRAGMA synchronous = NORMAL")
        with connection:
            # Said in words, as Python would begin it after the table only: others must never see half of this.
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL)"
            )
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
        yield Answers(connection, path)


def remove(path: Path) -> None:
    """Delete the file, with what SQLite keeps beside it; one that is none of ours is an error, and stays."""
    if path.is_file():
        with _speaking(path), closing(sqlite3.connect(path, timeout=TIMEOUT)) as connection:
            _check(connection, path)
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)


def _check(connection: sqlite3.Connection, path: Path) -> None:
    with connection:  # at one moment: another run may be making the file right now
        connection.execute("BEGIN")
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION and (application or tables):
        raise DataError(
            f"{path}: a database of another kind, expected answers kept by rankproof; it was left as it is. "
            "Next: name another file."
        )
    if version > VERSION:
        raise DataError(
            f"{path}: answers of version {version}, and this rankproof reads up to version {VERSION}. "
            "Next: pip install --upgrade rankproof."
        )


@contextmanager
def _speaking(path: Path) -> Iterator[None]:
    """What SQLite says is wrong with the file, in our words."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise UsageError(
            f"{path}: answers cannot be kept here ({error}). Next: name a file that can be written."
        ) from error
    except sqlite3.DatabaseError as error:
        raise DataError(
            f"{path}: no answers kept by rankproof, or damaged ones ({error}); it was left as it is. "
            "Next: name another file, or delete it."
        ) from error
