"""The tables of our files, as numbered steps: step n leads from version n - 1 to version n."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Schema:
    """What one kind of file holds, and what messages call it."""

    noun: str
    option: str
    """The option of the command line that names such a file."""
    made_by: str
    """The command that makes one."""
    application: int
    """What SQLite's `application_id` is in it, so that another program's file is never taken for one."""
    steps: tuple[tuple[str, ...], ...]
    often: bool = False
    """Whether it is written many times a second, so that not every time is waited for the disk."""

    @property
    def newest(self) -> int:
        """The version that the last step leads to."""
        return len(self.steps)


MIGRATIONS = (
    (
        """CREATE TABLE experiments (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            saved_at TEXT NOT NULL,
            rankproof TEXT NOT NULL,
            python TEXT NOT NULL,
            git_commit TEXT,
            judgments TEXT NOT NULL,
            ranking TEXT NOT NULL,
            facts TEXT NOT NULL,
            queries BLOB NOT NULL
        )""",
        """CREATE TABLE measured (
            experiment INTEGER NOT NULL REFERENCES experiments(id) ON DELETE CASCADE,
            place INTEGER NOT NULL,
            measure TEXT NOT NULL,
            mean REAL NOT NULL,
            note TEXT NOT NULL,
            per_query BLOB NOT NULL,
            counted BLOB,
            PRIMARY KEY (experiment, place)
        )""",
    ),
    (
        """CREATE TABLE tags (
            experiment INTEGER NOT NULL REFERENCES experiments(id) ON DELETE CASCADE,
            key TEXT NOT NULL,
            value TEXT NOT NULL,
            PRIMARY KEY (experiment, key)
        )""",
    ),
)
HISTORY = Schema(
    noun="history",
    option="--history",
    made_by="rankproof evaluate ... --save NAME",
    application=0x524E4B50,  # "RNKP"
    steps=MIGRATIONS,
)


def version(connection: sqlite3.Connection) -> int:
    """The version of the file; 0 for one that has nothing in it yet."""
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return found


def is_ours(connection: sqlite3.Connection, schema: Schema) -> bool:
    """Whether the file is of this kind, or empty."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return bool(application == schema.application or (application == 0 and tables == 0))


def migrate(connection: sqlite3.Connection, schema: Schema) -> None:
    """Take every step that is still to be taken; call it inside a transaction."""
    for step in schema.steps[version(connection) :]:
        for statement in step:
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {schema.application}")
    connection.execute(f"PRAGMA user_version = {schema.newest}")
