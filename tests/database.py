"""A SQLite file as it is on disk, for tests that look into it or damage it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path


@contextmanager
def database(path: Path | str) -> Iterator[sqlite3.Connection]:
    """A connection that commits and is closed at the end; `with` on a connection alone leaves it open."""
    with closing(sqlite3.connect(path)) as connection, connection:
        yield connection


class InMemory(sqlite3.Connection):
    """A database in memory that is closed once nobody holds it: `in_memory()`."""

    def __del__(self) -> None:
        self.close()


def in_memory() -> sqlite3.Connection:
    return sqlite3.connect(":memory:", factory=InMemory)
