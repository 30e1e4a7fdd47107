"""Files in a ZIP archive: its path is that of the archive and its name in it, as in a.zip/a/corpus.jsonl."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from rankproof.errors import DataError
from rankproof.io.pipes import PathLike

if TYPE_CHECKING:
    from zipfile import ZipFile

ZIP = b"PK\x03\x04"


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


def matching(folder: Path, pattern: str) -> list[Path]:
    """The files whose path in a folder, or in a folder of an archive, is as the pattern says; sorted.

    >>> matching(Path("nowhere"), "qrels/*.tsv")
    []
    """
    inside = (folder, "") if is_zip(folder) else archive_of(folder)
    if inside is None:
        return sorted(folder.glob(pattern))
    archive, begin = inside
    steps = (*Path(begin).parts, *pattern.split("/"))
    parts = {name: Path(name).parts for name in _names(archive)}
    return sorted(
        archive / name
        for name, each in parts.items()
        if len(each) == len(steps) and all(map(fnmatchcase, each, steps))
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
            stream = packed.open(name)
        except KeyError:
            raise DataError(f"{archive}: no file {name!r} in it. Next: look at what it holds.") from None
        except (RuntimeError, NotImplementedError) as error:  # a password, or a compression of other programs
            raise DataError(
                f"{archive}: {name} cannot be unpacked ({error}). Next: unpack it by hand."
            ) from error
        with stream:
            yield stream  # type: ignore[misc]


def packed_size(archive: Path, name: str) -> int:
    """How many bytes of the archive a file takes."""
    with _opened(archive) as packed:
        return packed.getinfo(name).compress_size


def _names(archive: Path) -> list[str]:
    """The files in an archive, without folders and what a Mac adds."""
    with _opened(archive) as packed:
        names = [each.filename for each in packed.infolist() if not each.is_dir()]
    return [
        name for name in names if not name.startswith(("__MACOSX/", "/")) and ".." not in Path(name).parts
    ]


@contextmanager
def _opened(archive: Path) -> Iterator[ZipFile]:
    from zipfile import BadZipFile, ZipFile  # what nobody packed is not loaded

    try:
        with ZipFile(archive) as packed:
            yield packed
    except BadZipFile as error:
        raise DataError(
            f"{archive}: the archive is damaged ({error}). Next: copy or download it again."
        ) from error
