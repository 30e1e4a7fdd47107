"""Writing files: completely or not at all, and never over an existing file unless asked to.

Every file that rankproof writes for its user goes through here.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO, TypeAlias

from rankproof.document.numbers import for_face
from rankproof.errors import UsageError

Target: TypeAlias = "str | os.PathLike[str]"
STDOUT = "-"
GENERATOR = '<meta name="generator" content="rankproof">'
"""In every page, so that it is recognised as ours and a newer page may replace it."""
HEAD = 4096
"""The first bytes of a file, in which the mark of a page is found."""
last_check: ContextVar[Callable[[], object]] = ContextVar("last check of the inputs", default=lambda: None)
"""Raises an error if the inputs of a result turned out to be wrong; called before it is printed, saved or written."""


def check_free(target: Target, *, force: bool = False) -> None:
    """Refuse a path that cannot be written, or where something would be lost.

    An empty file, a page of ours and anything that is not a regular file (a terminal, a pipe) may be written to.
    """
    if os.fspath(target) == STDOUT:
        return
    where = Path(target)
    if "\0" in os.fspath(where):
        raise UsageError(f"{os.fspath(where)!r}: this is not a file name. Next: name a file to write.")
    try:
        if where.is_dir():
            raise UsageError(f"{where}: this is a folder, expected a file to write. Next: name a file in it.")
        if not where.exists():
            folder = Path(os.path.realpath(where)).parent
            if not folder.is_dir():
                raise FileNotFoundError(errno.ENOENT, f"{os.strerror(errno.ENOENT)} (there is no folder {folder})")
        elif not force and where.is_file() and not _may_go(where):
            raise UsageError(
                f"{where}: this file exists, and was left as it is. Next: name another file, or add "
                f"{for_face('force=True', '--force')} to replace it."
            )
    except OSError as error:
        raise _unwritable(where, error) from error


def _may_go(where: Path) -> bool:
    """Whether nothing is lost with the file: it is empty, or a page made by rankproof."""
    if where.stat().st_size == 0:
        return True
    with where.open("rb") as stream:
        return GENERATOR.encode() in stream.read(HEAD)


def write_file(target: Target, content: str | bytes, *, force: bool = False) -> Path:
    """Write a file completely, or leave the existing one; characters that UTF-8 cannot encode are escaped."""
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    with whole_file(target, force=force) as stream:
        stream.write(data)
    return Path(target)


@contextmanager
def whole_file(target: Target, *, force: bool = False) -> Iterator[BinaryIO]:
    """A file that appears under its name only when it is complete; until then the old one is kept.

    It keeps the permissions of the file it replaces, and symbolic links to it stay valid. `-` is standard output.
    """
    if os.fspath(target) == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    check_free(target, force=force)
    where = Path(target)
    final = Path(os.path.realpath(where))
    try:
        # What /dev/stdout leads to may be a pipe, which has no path of its own.
        with _written(where if where.exists() and not final.exists() else final) as stream:
            yield stream
            last_check.get()()
    except OSError as error:
        raise _unwritable(where, error) from error


@contextmanager
def _written(final: Path) -> Iterator[BinaryIO]:
    old = final.stat() if final.exists() else None
    if old is not None and not stat.S_ISREG(old.st_mode):
        with final.open("wb") as stream:
            yield stream
        return
    if old is not None and not os.access(final, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    part = final.with_name(f".rankproof-{os.urandom(6).hex()}.part")
    try:
        with part.open("xb") as stream:
            yield stream
            stream.flush()
            _sync(stream)
        if old is not None:
            # Give the new file the permissions and the owner of the old one, as far as allowed.
            with suppress(OSError, AttributeError):
                os.chown(part, old.st_uid, old.st_gid)
            with suppress(OSError):
                part.chmod(stat.S_IMODE(old.st_mode))
        part.replace(final)
    finally:
        part.unlink(missing_ok=True)


@contextmanager
def told_if_stopped(kept: Path | None, what: str) -> Iterator[None]:
    """If what is done within is interrupted, the error says in which file that what was paid for is."""
    try:
        yield
    except KeyboardInterrupt as stopped:
        if kept is not None and kept.exists():
            again = for_face("call", "command")
            stopped.add_note(f"the {what} so far are in {kept}, and the same {again} goes on from there")
        raise


def _sync(stream: BinaryIO) -> None:
    """Flush it to the disk: some report only then that they are full, and some do not support it."""
    try:
        os.fsync(stream.fileno())
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS):
            raise


def _unwritable(where: Path, error: OSError) -> UsageError:
    room = error.errno in (errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC))
    other = "name a file that can be written, in a folder that takes new files"
    advice = "make room, or name a file elsewhere" if room else other
    return UsageError(f"{where}: cannot be written: {error.strerror or error}. Next: {advice}.")
