"""Connections to a PostgreSQL, kept open between questions."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rankproof.bench.connect.store import faults
from rankproof.errors import missing_extra

ADVICE = "check the address, the user, and the names of the table and its columns."


class Connections:
    """Connections to one database; those that nobody uses at the moment are kept for the next."""

    def __init__(self, where: Any) -> None:
        self.psycopg = _psycopg()
        self._given = where if hasattr(where, "execute") else None
        self._where = "" if self._given is not None else str(where)
        with self.faults():
            told = where.info.get_parameters() if self._given is not None else self._told()
        self.address = {name: str(told[name]) for name in ("host", "port", "dbname") if told.get(name)}
        self._idle: deque[Any] = deque()
        self._end = weakref.finalize(self, _close, self._idle)

    def _told(self) -> dict[str, Any]:
        return dict(self.psycopg.conninfo.conninfo_to_dict(self._where))

    def close(self) -> None:
        """Close the connections that nobody uses."""
        _close(self._idle)

    @contextmanager
    def open(self) -> Iterator[Any]:
        """A connection within one transaction."""
        with self.faults():
            connection = self._given or (
                self._idle.pop() if self._idle else self.psycopg.connect(self._where)
            )
            try:
                with connection.transaction():
                    yield connection
            finally:
                self._keep(connection)

    def _keep(self, connection: Any) -> None:
        if connection is not self._given:
            (connection.close if connection.broken else lambda: self._idle.append(connection))()

    def faults(self) -> Any:
        """What PostgreSQL says, without the password."""
        secrets = [] if self._given is not None else _secrets(self._where)
        return faults("postgres", (self.psycopg.Error,), ADVICE, secrets)


def _psycopg() -> Any:
    try:
        import psycopg
    except ImportError as error:
        raise missing_extra("postgres", "psycopg", "stores") from error
    return psycopg


def _secrets(where: str) -> list[str]:
    """What must not be shown: the password, or where none can be told from the rest, all of it."""
    psycopg = _psycopg()
    try:
        password = psycopg.conninfo.conninfo_to_dict(where).get("password")
    except psycopg.Error:
        return [where]
    return [str(password)] if password else []


def _close(idle: deque[Any]) -> None:
    while idle:
        idle.pop().close()
