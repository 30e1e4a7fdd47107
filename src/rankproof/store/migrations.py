"""The tables of a history, as numbered steps: step n leads from version n - 1 to version n."""

from __future__ import annotations

import sqlite3

APPLICATION = 0x524E4B50
"""What SQLite's `application_id` is in our files ("RNKP"), so that another program's is never taken for one."""

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
NEWEST = len(MIGRATIONS)


def version(connection: sqlite3.Connection) -> int:
    """The version of the file; 0 for one that has nothing in it yet."""
    found: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return found


def is_ours(connection: sqlite3.Connection) -> bool:
    """Whether the file is a history, or empty."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return bool(application == APPLICATION or (application == 0 and tables == 0))


def migrate(connection: sqlite3.Connection) -> None:
    """Take every step that is still to be taken; call it inside a transaction."""
    for step in MIGRATIONS[version(connection) :]:
        for statement in step:
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION}")
    connection.execute(f"PRAGMA user_version = {NEWEST}")
