"""Pipes: those that are read, and what is written into files, pipes or standard output."""

from __future__ import annotations

import io
import os
import stat
import sys
import threading
import weakref
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any, BinaryIO, TypeAlias

from rankproof.errors import DataError, UsageError

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
        if self._copy is None:
            threading.Thread(target=self._kept_aside, name=f"reading {self._path}", daemon=True).start()

    def _kept_aside(self) -> None:
        with suppress(DataError):  # the reader of the pipe meets the same error, and reports it
            self.keep()

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
            return 0 if at is not None and at < self._size else self._copy_next(size)

    def _copy_next(self, size: int) -> int:
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
                f"{_name(self._path)}: cannot be read and kept: {error.strerror or error}. "
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


_KEPT: ContextVar[dict[str, Pipe] | None] = ContextVar("pipes that were opened", default=None)


@contextmanager
def pipes_kept() -> Iterator[None]:
    """Within this, and in what it calls, each pipe is opened once, however many readers name it."""
    if _KEPT.get() is not None:
        yield
        return
    token = _KEPT.set({})
    try:
        yield
    finally:
        _KEPT.reset(token)


def keep_pipe(path: PathLike) -> PathLike:
    """The path; in place of a pipe that which keeps its content.

    >>> keep_pipe("run.txt")
    'run.txt'
    """
    if isinstance(path, Pipe) or not is_pipe(path):
        return path
    known = _KEPT.get()
    return Pipe(path) if known is None else known.setdefault(os.fspath(path), Pipe(path))


def keep_pipe_here(path: PathLike) -> PathLike:
    """The same where pipes are kept; elsewhere the path, as nobody can ask for its content again."""
    return path if _KEPT.get() is None else keep_pipe(path)


def read_side_by_side(paths: Iterable[object]) -> None:
    """Begin to read all pipes among some paths, if there are several; call it where pipes are kept.

    >>> read_side_by_side(["run.txt", "other.txt", None])
    """
    named = dict.fromkeys(os.fspath(path) for path in paths if isinstance(path, str | os.PathLike))
    pipes = [path for path in named if isinstance(path, str) and is_pipe(path)] if len(named) > 1 else []
    for path in pipes if len(pipes) > 1 else ():
        source = keep_pipe(path)
        if isinstance(source, Pipe) and path != STDIN:
            source.keep_aside()
    if len(pipes) > 1 and STDIN in pipes:  # last, and by this thread: its buffer must be free when the process ends
        source = keep_pipe(STDIN)
        if isinstance(source, Pipe):
            source.keep()


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


def _name(path: str) -> str:
    return "standard input" if path == STDIN else path
