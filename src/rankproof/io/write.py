"""Judgments and rankings written as TREC, CSV, TSV, JSON, JSON Lines or Parquet; and `convert`."""

from __future__ import annotations

import bz2
import gzip
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from rankproof.core.judgments import Judgments
from rankproof.core.table import RankingTable
from rankproof.document.disk import check_free, whole_file
from rankproof.errors import DataError, UsageError, nearest, one_of
from rankproof.io.corpora import folder_at, split_of
from rankproof.io.files import PathLike, check_path, read_head, zstd_open
from rankproof.io.formats import TREC_JUDGMENTS, TREC_RANKING, Format, sniff
from rankproof.io.load import load_judgments, load_ranking
from rankproof.io.pipes import is_pipe, pipes_kept
from rankproof.io.render import Columns, columns_of_judgments, columns_of_ranking, render
from rankproof.io.roles import column_of

SUFFIXES = {
    ".trec": "trec",
    ".txt": "trec",
    ".qrels": "trec",
    ".run": "trec",
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".parquet": "parquet",
}
"""What a file is written as by the end of its name."""

FORMATS = tuple(dict.fromkeys(SUFFIXES.values()))
COMPRESSED = (".gz", ".bz2", ".zst")

NAMED = {".qrels": "judgments", ".run": "ranking"}
"""What a file is to hold by the end of its name."""


@pipes_kept()
def convert(
    source: PathLike,
    target: PathLike,
    *,
    what: str | None = None,
    to: str | None = None,
    force: bool = False,
) -> list[str]:
    """Write the judgments or rankings of one file in another format; what was noticed is returned.

    `what` is "judgments" or "ranking"; it need not be said where the file shows it: TREC, BEIR,
    or rows with a grade or a rank; nor where the name of `target` says it: `.qrels`, `.run`.
    `to` is one of `FORMATS`; it need not be said where the name of `target` ends with it. A file that is there
    is replaced with `force` only.
    """
    check_free(target, force=force)
    what = what or what_is_in(source, target)
    if what not in ("judgments", "ranking"):
        raise one_of("what", what, ("judgments", "ranking"))
    if what == "judgments":
        return write_judgments(load_judgments(source), target, to, force=force)
    return write_ranking(load_ranking(source).table(), target, to, force=force)


def what_is_in(source: PathLike, target: PathLike) -> str:
    """ "judgments" or "ranking", for files that show it, or whose target does."""
    if found := _shown_by(source) or NAMED.get(_suffix(target), ""):
        return found
    raise UsageError(
        f"{os.fspath(source)}: cannot tell whether these are judgments or a ranking. "
        "Next: say which, with --as judgments or --as ranking (in Python what=)."
    )


def _shown_by(source: PathLike) -> str:
    if not is_pipe(source):
        if folder_at(split_of(Path(source))[0]):
            return "judgments"
        check_path(source)
    head = read_head(source)
    kind = sniff(head, os.fspath(source))
    return _shown(kind, head) or ("" if kind.delimiter else _by_reading(source))


def _by_reading(source: PathLike) -> str:
    """What the file can be read as; "" where that is both, or neither."""
    reads: dict[str, Callable[[], object]] = {
        "judgments": lambda: load_judgments(source),
        "ranking": lambda: load_ranking(source).table(),
    }
    fits = [what for what, read in reads.items() if _succeeds(read)]
    return fits[0] if len(fits) == 1 else ""


def _succeeds(read: Callable[[], object]) -> bool:
    try:
        read()
    except DataError:
        return False
    return True


def _shown(kind: Format, head: bytes) -> str:
    """What the number of columns shows, or their names; "" where neither does."""
    if kind in (TREC_JUDGMENTS, TREC_RANKING):
        return "judgments" if kind == TREC_JUDGMENTS else "ranking"
    first = head.decode("utf-8-sig", "replace").lstrip().partition("\n")[0]
    columns = [name.strip() for name in first.split(kind.delimiter)] if kind.delimiter else []
    shown = [what for what, role in (("judgments", "grade"), ("ranking", "rank")) if column_of(role, columns)]
    return shown[0] if len(shown) == 1 else ""


def write_judgments(
    judgments: Judgments, target: PathLike, to: str | None = None, *, force: bool = False
) -> list[str]:
    """Write judgments to a file, or to standard output for "-"; what was noticed is returned.

    A file that is there is replaced with `force` only.
    """
    return _write(columns_of_judgments(judgments), target, to, force)


def write_ranking(
    ranking: RankingTable, target: PathLike, to: str | None = None, *, force: bool = False
) -> list[str]:
    """Write a ranking to a file, or to standard output for "-"; what was noticed is returned.

    A file that is there is replaced with `force` only.
    """
    return _write(columns_of_ranking(ranking), target, to, force)


def format_of(target: PathLike, to: str | None = None) -> str:
    """The format asked for, or that the name ends with.

    >>> format_of("runs/bm25.jsonl.gz"), format_of("-", "csv")
    ('jsonl', 'csv')
    """
    if to is not None:
        if to not in FORMATS:
            raise one_of("format", to, FORMATS)
        return to
    suffix = _suffix(target)
    if suffix not in SUFFIXES:
        raise UsageError(
            f"{os.fspath(target)}: the name does not say which format to write.{nearest(suffix, SUFFIXES)} "
            f"Next: end it with one of {', '.join(SUFFIXES)}, or say to='csv'."
        )
    return SUFFIXES[suffix]


def _suffix(target: PathLike) -> str:
    """The end of the name, that of a compression apart."""
    suffixes = [suffix for suffix in Path(target).suffixes if suffix not in COMPRESSED]
    return suffixes[-1].lower() if suffixes else ""


def _write(columns: Columns, target: PathLike, to: str | None, force: bool) -> list[str]:
    content, notes = render(columns, format_of(target, to))
    with whole_file(target, force=force) as stream, _compressed(target, stream) as packing:
        packing.writelines(content)
    return notes


@contextmanager
def _compressed(target: PathLike, stream: BinaryIO) -> Iterator[BinaryIO]:
    """What packs into the stream as the end of the file's name asks for."""
    suffix = Path(target).suffix.lower()
    if suffix not in COMPRESSED:
        yield stream
        return
    with _compressor(stream, suffix, os.fspath(target)) as packing:
        yield packing


def _compressor(raw: BinaryIO, suffix: str, name: str) -> BinaryIO:
    if suffix == ".gz":
        # Without a time in it, the same content gives the same file.
        return gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0)  # type: ignore[return-value]
    if suffix == ".bz2":
        return bz2.BZ2File(raw, "wb")  # type: ignore[return-value]
    return zstd_open(raw, "wb", f"{name}: writing zstd")
