"""Opening a path: plain, gz, bz2, xz or zst (detected by content, not by name), a pipe or standard input."""

from __future__ import annotations

import bz2
import glob
import gzip
import importlib
import io
import lzma
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, BinaryIO

from rankproof.document.numbers import for_face
from rankproof.errors import DataError, UsageError, missing_extra, not_known, reason
from rankproof.io.inputs import KEPT, Pipe, keep_pipe, open_raw
from rankproof.io.inputs import STDIN as STDIN
from rankproof.io.inputs import PathLike as PathLike
from rankproof.io.inputs import name_of as name_of
from rankproof.progress import under_way

if TYPE_CHECKING:
    from zipfile import ZipFile


HEAD = 1 << 16
"""How much of a file is read to detect its kind."""
MOST = 1 << 24
"""How much of a first line is used for that."""
UNPACKED = 1 << 26
RATIO = 200
"""Bytes that are unpacked in any case; beyond them, the largest ratio of unpacked to packed size of a text."""
ZIP = b"PK\x03\x04"


@contextmanager
def open_file(path: PathLike) -> Iterator[BinaryIO]:
    """The content of a file or of standard input, decompressed; a broken archive is a DataError."""
    with _raw(path) as raw:
        try:
            yield _plain(raw, name_of(path))
        except _damages() as error:
            raise _broken(path, error) from error


def read_bytes(path: PathLike) -> bytes:
    """The whole content, decompressed."""
    with open_file(path) as stream:
        return stream.read()


def read_head(path: PathLike) -> bytes:
    """The first bytes of a file, decompressed: HEAD of them, or more, to the end of its first line."""
    with open_file(path) as stream:
        parts = [stream.read(HEAD)]
        while parts[-1] and b"\n" not in parts[-1] and sum(map(len, parts)) < MOST:
            parts.append(stream.read(HEAD))
        return b"".join(parts)


def text_of(content: bytes, name: str) -> str:
    """The content as text: UTF-8, with or without a byte order mark, and no NUL in it."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(f"{name}: the text is UTF-16, expected UTF-8. Next: save it as UTF-8.")
    if (at := content.find(b"\0")) >= 0:
        raise DataError(f"{name}, line {_line(content, at)}: a NUL byte, expected text. Next: write the file again.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        start = error.start + (3 if content.startswith(b"\xef\xbb\xbf") else 0)
        begin = content.rfind(b"\n", 0, start) + 1
        found = content[max(begin, start - 20) : start + 10].split(b"\n")[0]
        where = f"{name}, line {_line(content, start)}"
        raise DataError(f"{where}: the bytes {found!r} are not valid UTF-8. Next: save the file as UTF-8.") from error


def toml_of(text: str, name: str) -> dict[str, Any]:
    """The tables of a TOML text."""
    import tomllib  # slow to import, and few commands read TOML

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{name}: not valid TOML: {error}. Next: correct that line.") from error


def check_no_url(path: PathLike) -> None:
    """Refuse a URL, of which a path would lose a slash: files are read from a disk or a pipe."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+:/", str(path)) and not os.path.exists(path):
        url = re.sub(":/+", "://", str(path), count=1)
        raise UsageError(
            f"{url}: looks like a URL, expected a file: nothing is read from the network. Next: download it, and give "
            f"the file{for_face('', ', or a pipe: curl -L URL | rankproof ... -')}."
        )


def check_path(path: PathLike) -> Path:
    """The path, if something is there; else an error with the nearest name in that folder."""
    check_no_url(path)
    where = Path(path)
    try:
        if where.exists() or archive_of(where):
            return where
        folder = where.parent
        names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else None
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{os.fspath(path)!r}: not a path that can be read: {reason(error)}. Next: check it."
        ) from error
    if where.is_symlink():
        there = os.readlink(where)
        raise DataError(f"{where}: cannot be opened: a link to {there}, which is not there. Next: check or drop it.")
    if names is None:
        raise UsageError(f"{where}: no such file, and there is no folder {folder}. Next: check the path.")
    raise not_known(f"{where}: no such file", where.name, names, "check the path")


@contextmanager
def _raw(path: PathLike) -> Iterator[BinaryIO]:
    """The bytes as they are; standard input is left open."""
    # Where pipes are not kept, nobody can ask for the content again.
    source = path if KEPT.get() is None else keep_pipe(path)
    if isinstance(source, Pipe):
        with source.reader() as stream:
            yield stream
        return
    if os.fspath(path) == STDIN:
        yield open_raw(STDIN)
        return
    if found := archive_of(path):
        with open_member(*found) as stream:
            yield stream
        return
    where = check_path(path)
    if where.is_dir():
        raise DataError(f"{where}: a folder, expected a file. Next: give the path of a file in it.")
    with (
        open_raw(str(where)) as stream,
        under_way(f"reading {where}", lambda: os.lseek(stream.fileno(), 0, os.SEEK_CUR) / where.stat().st_size),
    ):
        yield stream


def _plain(raw: BinaryIO, name: str) -> BinaryIO:
    """The stream behind the compression, whichever the first bytes show."""
    buffered = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(raw)  # type: ignore[type-var]
    head = buffered.peek(10)[:10]
    for start, make in _DECOMPRESSORS.items():
        if start.match(head):
            packed = _Counted(buffered)
            return io.BufferedReader(_Guarded(make(io.BufferedReader(packed), name), packed, name))
    if head.startswith(ZIP):
        raise DataError(
            f"{name}: a ZIP archive or an Excel file, expected text or Parquet, plain or as gz, bz2, xz or zst. "
            "Next: unpack it, or save the table as CSV."
        )
    return buffered


class _Counted(io.RawIOBase):
    """A stream that knows how much of it was read."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, room: Any) -> int:
        got: int = self._stream.readinto(room)  # type: ignore[attr-defined]
        self.count += got
        return got


class _Guarded(_Counted):
    """The unpacked bytes of an archive, refused if they are far more than any text packs into that size."""

    def __init__(self, stream: BinaryIO, packed: _Counted | int, name: str) -> None:
        super().__init__(stream)
        self._packed, self._name = packed, name

    def readinto(self, room: Any) -> int:
        got = super().readinto(room)
        packed = self._packed if isinstance(self._packed, int) else self._packed.count
        if self.count > max(UNPACKED, RATIO * packed):
            raise DataError(
                f"{self._name}: the archive unpacks to more than {RATIO} times its size, expected text. "
                "Next: unpack it by hand, and look at what it holds."
            )
        return got


def zstd_module(what: str) -> ModuleType:
    """The standard library's zstd where it has one (3.14 and newer), else the same module for older ones."""
    name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise missing_extra(what, "backports.zstd", "zstd") from error


_DECOMPRESSORS: dict[re.Pattern[bytes], Callable[[BinaryIO, str], Any]] = {
    re.compile(rb"\x1f\x8b\x08"): lambda stream, name: gzip.GzipFile(fileobj=stream, mode="rb"),
    re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)"): lambda stream, name: bz2.BZ2File(stream, "rb"),
    re.compile(rb"\xfd7zXZ\x00"): lambda stream, name: lzma.LZMAFile(stream, "rb"),  # noqa: SIM115
    re.compile(rb"\x28\xb5\x2f\xfd"): lambda stream, name: zstd_module(f"{name}: reading zstd").open(stream, "rb"),
}
"""What unpacks a file that begins so."""


def _damages() -> tuple[type[Exception], ...]:
    """The errors of the decompressors; that of zstd exists only once it was imported."""
    zstd = sys.modules.get("compression.zstd") or sys.modules.get("backports.zstd")
    return (EOFError, OSError, zlib.error, lzma.LZMAError, *((zstd.ZstdError,) if zstd else ()))


def _broken(path: PathLike, error: Exception) -> DataError:
    if isinstance(error, OSError) and error.errno is not None:
        return DataError(f"{name_of(path)}: cannot be read: {error.strerror}. Next: check the file and its rights.")
    short = isinstance(error, EOFError)
    what = "the archive is truncated" if short else f"the archive is damaged ({error})"
    return DataError(f"{name_of(path)}: {what}. Next: copy or download it again.")


def _line(content: bytes, at: int) -> int:
    return content.count(b"\n", 0, at) + 1


def is_pattern(path: PathLike) -> bool:
    """Whether a path stands for files, like `runs/*.parquet`, and for none of that very name.

    >>> is_pattern("runs/*.parquet"), is_pattern("run.txt")
    (True, False)
    """
    name = os.fspath(path)
    return isinstance(name, str) and glob.has_magic(name) and not os.path.lexists(name)


def are_paths(data: Any) -> bool:
    """Whether a list is one of paths, of which at least one is there."""
    if not isinstance(data, list | tuple) or not data:
        return False
    if not all(isinstance(each, str | os.PathLike) for each in data):
        return False
    return any(isinstance(each, os.PathLike) or os.path.lexists(each) or is_pattern(each) for each in data)


def is_zip(path: PathLike) -> bool:
    """Whether a file begins as ZIP archives do; a pipe is not looked into."""
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as stream:
            return stream.read(len(ZIP)) == ZIP
    except (OSError, ValueError):
        return False


def archive_of(path: PathLike) -> tuple[Path, str] | None:
    """The archive and the name of a file in it, if that is what a path means."""
    where = Path(path)
    for above in where.parents:
        if is_zip(above):
            return above, where.relative_to(above).as_posix()
        if os.path.lexists(above):
            return None
    return None


def matching_files(folder: Path, pattern: str) -> list[Path]:
    """The files whose path in a folder, or in a folder of an archive, is as the pattern says; sorted.

    >>> matching_files(Path("nowhere"), "qrels/*.tsv")
    []
    """
    inside = (folder, "") if is_zip(folder) else archive_of(folder)
    if inside is None:
        return sorted(folder.glob(pattern))
    archive, begin = inside
    steps = (*Path(begin).parts, *pattern.split("/"))
    parts = {name: Path(name).parts for name in _names(archive)}
    return sorted(
        archive / name for name, each in parts.items() if len(each) == len(steps) and all(map(fnmatchcase, each, steps))
    )


def folders(archive: Path) -> list[Path]:
    """The archive itself and the folders in it, the outer ones first."""
    found = {Path(above) for name in _names(archive) for above in Path(name).parents}
    return [archive / each for each in sorted(found, key=lambda each: (len(each.parts), each))]


@contextmanager
def open_member(archive: Path, name: str) -> Iterator[BinaryIO]:
    """The content of one file of an archive, unpacked as it is read."""
    with _opened(archive) as packed:
        try:
            stream, size = packed.open(name), packed.getinfo(name).compress_size
        except KeyError:
            raise DataError(f"{archive}: no file {name!r} in it. Next: look at what it holds.") from None
        except (RuntimeError, NotImplementedError) as error:  # a password, or a compression of other programs
            raise DataError(f"{archive}: {name} cannot be unpacked ({error}). Next: unpack it by hand.") from error
        with stream:
            yield io.BufferedReader(_Guarded(stream, size, str(archive / name)))  # type: ignore[arg-type]


def _names(archive: Path) -> list[str]:
    """The files in an archive, without folders and what a Mac adds."""
    with _opened(archive) as packed:
        names = [each.filename for each in packed.infolist() if not each.is_dir()]
    return [name for name in names if not name.startswith(("__MACOSX/", "/")) and ".." not in Path(name).parts]


@contextmanager
def _opened(archive: Path) -> Iterator[ZipFile]:
    from zipfile import BadZipFile, ZipFile  # imported only for archives

    try:
        with ZipFile(archive) as packed:
            yield packed
    except BadZipFile as error:
        raise DataError(f"{archive}: the archive is damaged ({error}). Next: copy or download it again.") from error
