"""What the inputs of one call share: pipes, each read only once, and the columns named for roles."""

from __future__ import annotations

import io
import os
import stat
import sys
import threading
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import lru_cache
from typing import Any, BinaryIO, TypeAlias

from rankproof.document.disk import last_check
from rankproof.errors import DataError, UsageError, shorten
from rankproof.suggestions import nearest

PathLike: TypeAlias = "str | os.PathLike[str]"

STDIN = "-"

BLOCK = 1 << 16


class Pipe(os.PathLike[str]):
    """The path of a pipe together with what was read from it; the copy on disk goes with the object."""

    def __init__(self, path: PathLike) -> None:
        self._path = os.fspath(path)
        self._raw: BinaryIO | None = None
        self._copy: BinaryIO | None = None
        self._size = 0
        self._reading, self._copying = threading.RLock(), threading.Lock()

    def __fspath__(self) -> str:
        return self._path

    def reader(self) -> BinaryIO:
        """A stream that begins at the first byte, whatever was read before."""
        return io.BufferedReader(_Reader(self), BLOCK)

    def keep(self) -> Pipe:
        """Read all that is left, so that the program that writes into the pipe can go on to the next one."""
        while self._grow(BLOCK):
            pass
        return self

    def keep_aside(self) -> None:
        """The same in a thread, which ends where the pipe or the process does."""

        def keep() -> None:
            with suppress(DataError):  # the reader of the pipe meets the same error, and reports it
                self.keep()

        if self._copy is None:
            threading.Thread(target=keep, name=f"reading {self._path}", daemon=True).start()

    def read_at(self, at: int, room: memoryview) -> int:
        """Put into the room what stands at a place; how much that is."""
        if at >= self._size:
            self._grow(len(room), at)
        with self._copying:
            if self._copy is None or at >= self._size:
                return 0
            self._copy.seek(at)
            return self._copy.readinto(room[: self._size - at])  # type: ignore[attr-defined, no-any-return]

    def _grow(self, size: int, at: int | None = None) -> int:
        """Copy the next bytes of the pipe; how many, 0 at its end, or if another thread has got beyond `at`."""
        with self._reading:
            if at is not None and at < self._size:
                return 0
            if self._copy is None:
                self._begin()
            if self._raw is None or self._copy is None:
                return 0
            try:
                # One read of what is there: a pipe that is still being written may be read line by line.
                block = self._raw.read1(size) if hasattr(self._raw, "read1") else self._raw.read(size)
                with self._copying:
                    self._copy.seek(self._size)
                    self._copy.write(block)
                    self._size += len(block)
            except OSError as error:
                raise DataError(
                    f"{name_of(self._path)}: cannot be read and kept: {error.strerror or error}. "
                    "Next: write it to a file, and give the file."
                ) from error
            if not block:
                if self._path != STDIN:
                    self._raw.close()
                self._raw = None
            return len(block)

    def _begin(self) -> None:
        import tempfile  # what no pipe needs is not loaded

        copy = tempfile.TemporaryFile(prefix="rankproof-")  # noqa: SIM115 (it lives as long as the object)
        weakref.finalize(self, copy.close)
        raw = open_raw(self._path)
        if self._path != STDIN:
            # Without a buffer, whose lock a thread that waits for the writer would hold as the process ends.
            raw = raw.detach()  # type: ignore[attr-defined]
            weakref.finalize(self, raw.close).atexit = False
        self._copy, self._raw = copy, raw


class _Reader(io.RawIOBase):
    """One reader of a pipe, at a place of its own."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self._at = 0

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        got = self._pipe.read_at(self._at, memoryview(room).cast("B"))
        self._at += got
        return got


KEPT: ContextVar[dict[str, Pipe] | None] = ContextVar("pipes that were opened", default=None)


@contextmanager
def pipes_kept() -> Iterator[None]:
    """Within this, and in what it calls, each pipe is opened once, however many readers name it."""
    known = KEPT.get()
    token = KEPT.set({} if known is None else known)
    try:
        yield
    finally:
        KEPT.reset(token)


def keep_pipe(path: PathLike) -> PathLike:
    """The path; in place of a pipe that which keeps its content.

    >>> keep_pipe("run.txt")
    'run.txt'
    """
    if isinstance(path, Pipe) or not is_pipe(path):
        return path
    known = KEPT.get()
    return Pipe(path) if known is None else known.setdefault(os.fspath(path), Pipe(path))


def read_side_by_side(paths: Iterable[object]) -> None:
    """Begin to read all pipes among some paths, if there are several; call it where pipes are kept.

    >>> read_side_by_side(["run.txt", "other.txt", None])
    """
    named = dict.fromkeys(os.fspath(path) for path in paths if isinstance(path, str | os.PathLike))
    pipes = [path for path in named if isinstance(path, str) and is_pipe(path)] if len(named) > 1 else []
    # Standard input last, and by this thread: its buffer must be free when the process ends.
    for path in sorted(pipes, key=STDIN.__eq__) if len(pipes) > 1 else ():
        source = keep_pipe(path)
        if isinstance(source, Pipe) and path == STDIN:
            source.keep()
        elif isinstance(source, Pipe):
            source.keep_aside()


def is_pipe(path: PathLike) -> bool:
    """Whether what the path names can be read only once.

    >>> is_pipe("-"), is_pipe(os.curdir), is_pipe("nowhere")
    (True, False, False)
    """
    if os.fspath(path) == STDIN:
        return True
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)


def open_raw(path: str) -> BinaryIO:
    """The bytes of a file or of standard input as they are."""
    if path == STDIN:
        if sys.stdin is None:
            raise UsageError("standard input is closed. Next: give the path of a file.")
        return sys.stdin.buffer
    try:
        return open(path, "rb")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}. Next: check the file and its rights.") from error


def name_of(path: PathLike) -> str:
    """The path as messages call it."""
    return "standard input" if os.fspath(path) == STDIN else os.fspath(path)


LONGEST = 200
"""Characters of a cell that may be the name of a column."""


@lru_cache(maxsize=1024)
def plain_name(name: str) -> str:
    """A column's name without case, blanks and punctuation.

    >>> plain_name("Query-ID"), plain_name("docNo")
    ('queryid', 'docno')
    """
    if len(name) > LONGEST:
        return name  # a cell of data, of which only the length is known so far
    return "".join(letter for letter in name.casefold() if letter.isalnum())


ROLES = {
    **{role: role for role in ("query", "doc", "score", "rank", "grade", "aspect", "text", "question", "title")},
    "queryid": "query",
    "docid": "doc",
    "document": "doc",
    "relevance": "grade",
}
"""The names of a role in `columns=`."""


class Named:
    """Columns that were named for their roles, and which of them were met."""

    def __init__(self, roles: Mapping[str, str]) -> None:
        self.roles = roles
        self.met: set[str] = set()

    def check(self) -> None:
        """Refuse a name that no file had: it is misspelt, and something else was taken."""
        if lost := [(role, name) for role, name in self.roles.items() if role not in self.met]:
            words = ", ".join(f"{name!r} (for the {role})" for role, name in lost)
            raise UsageError(f"columns: no input has a column {words}. Next: check how it is written.")


_named: ContextVar[Named | None] = ContextVar("columns that were named", default=None)


def column_named(role: str, columns: Collection[str]) -> list[str]:
    """The column that was named for the role, if it is among these; else an empty list."""
    named = _named.get()
    if named is None or named.roles.get(role) not in columns:
        return []
    named.met.add(role)
    return [named.roles[role]]


def roles_named() -> Mapping[str, str]:
    """The column that was named for each role, whether it is here or not."""
    named = _named.get()
    return {} if named is None else named.roles


def named_columns() -> set[str]:
    """The columns that were named, by their plain names."""
    return set(map(plain_name, roles_named().values()))


def columns_of(given: Mapping[str, str] | str | Sequence[str]) -> dict[str, str]:
    """The column of each role, from a mapping or from ROLE=COLUMN,...

    >>> columns_of("query=search_term_id,doc=product_id")
    {'query': 'search_term_id', 'doc': 'product_id'}
    """
    if not isinstance(given, Mapping):
        if not isinstance(given, str | list | tuple) or not all(isinstance(each, str) for each in given):
            raise _no_columns(given)
        texts = [given] if isinstance(given, str) else given
        parts = [part.strip() for text in texts for part in text.split(",") if part.strip()]
        if bare := [part for part in parts if "=" not in part]:
            raise _no_columns(bare[0], nearest(bare[0], ROLES))
        pairs = [part.partition("=") for part in parts]
        given = {role.strip(): name.strip() for role, _, name in pairs}
        if len(given) < len(pairs):
            raise _no_columns(", ".join(parts))
    found: dict[str, str] = {}
    for role, name in given.items():
        known = ROLES.get(plain_name(str(role)))
        if known is None or not name or known in found or not isinstance(name, str):
            raise _no_columns(f"{role}={name or ''}", nearest(str(role), ROLES))
        found[known] = name
    return found


def _no_columns(got: object, hint: str = "") -> UsageError:
    return UsageError(
        f"columns: got {shorten(got, 200)}, expected ROLE=COLUMN, each role once: "
        f"{', '.join(dict.fromkeys(ROLES.values()))}.{hint} Next: write them like query=search_term_id,doc=product_id."
    )


@contextmanager
def columns_named(given: Mapping[str, str] | str | Sequence[str] | None) -> Iterator[None]:
    """While this lasts, columns with these names have these roles, in whatever is read."""
    if not given:
        yield
        return
    named = Named(columns_of(given))
    tokens = _named.set(named), last_check.set(named.check)
    try:
        yield
    finally:
        _named.reset(tokens[0])
        last_check.reset(tokens[1])
    named.check()
