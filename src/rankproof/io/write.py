"""Judgments and rankings written as TREC, CSV, TSV, JSON, JSON Lines or Parquet; and `convert`."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from rankproof.core.arrays import by_key
from rankproof.core.judgments import Judgments
from rankproof.core.table import RankingTable
from rankproof.document.disk import check_free, last_check, whole_file
from rankproof.document.numbers import for_face, setting
from rankproof.errors import DataError, UsageError, check_one_of, not_known, shorten
from rankproof.io.column_roles import column_of
from rankproof.io.corpora import folder_at, split_of
from rankproof.io.files import PathLike, check_path, read_head, zstd_module
from rankproof.io.formats import TREC_JUDGMENTS, TREC_RANKING, fields, sniff
from rankproof.io.frames import write_parquet
from rankproof.io.inputs import is_pipe, pipes_kept
from rankproof.io.load import load_judgments, load_ranking

TEXT = ("query_id", "doc_id", "aspect")
"""The columns that hold no numbers."""


@dataclass(frozen=True, eq=False)
class Columns:
    """The rows to write: `number` is the grade or the score."""

    value: str
    """The name of the numbers: grade or score."""
    query: Sequence[str]
    doc: Sequence[str]
    number: Sequence[float] | None = None
    rank: Sequence[float] | None = None
    aspect: Sequence[str] | None = None
    empty: tuple[str, ...] = ()
    source: str = ""
    notes: list[str] = field(default_factory=list)

    def by_name(self) -> dict[str, Sequence[Any]]:
        """The columns there are, under the names they are written with."""
        every = {
            "query_id": self.query,
            "doc_id": self.doc,
            "aspect": self.aspect,
            self.value: None if self.number is None else [_whole(number) for number in self.number],
            "rank": None if self.rank is None else [_whole(rank) for rank in self.rank],
        }
        return {name: column for name, column in every.items() if column is not None}


def render(columns: Columns, kind: str) -> Iterable[bytes]:
    """The bytes of a file of that format; ids that it cannot hold are refused, and what is left out is noted."""
    _refuse(columns, "text", lambda text: not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text))
    if columns.empty and kind != "json":
        columns.notes.append(f"queries without documents have no row in this format: {len(columns.empty)}")
    return _FORMS[kind](columns)


def _trec(columns: Columns) -> Iterator[bytes]:
    _refuse(columns, "TREC", lambda text: fields(text) != [text] or "\0" in text or text == "#")
    if columns.value == "score":
        return _trec_run(columns)
    aspects = columns.aspect or ["0"] * len(columns.query)
    rows = zip(columns.query, aspects, columns.doc, columns.number or (), strict=True)
    return (f"{query} {aspect} {doc} {_whole(grade)}\n".encode() for query, aspect, doc, grade in rows)


def _trec_run(columns: Columns) -> Iterator[bytes]:
    numbers, ranks = columns.number, columns.rank
    if numbers is None:
        columns.notes.append("the ranking has no scores, so scores that count down were written")
    for query, rows in by_key((query, row) for row, query in enumerate(columns.query)).items():
        if numbers is not None:
            score = {row: numbers[row] for row in rows}
        else:  # scores that keep the order: the ranks', or that of the rows
            score = {row: float(len(rows) - n) if ranks is None else -ranks[row] for n, row in enumerate(rows)}
        if ranks is None:
            rows = sorted(rows, key=lambda row: (score[row], columns.doc[row]), reverse=True)
        for place, row in enumerate(rows, 1):
            rank = place if ranks is None else _whole(ranks[row])
            yield f"{query} Q0 {columns.doc[row]} {rank} {_whole(score[row])} rankproof\n".encode()


def _refuse(columns: Columns, kind: str, unfit: Callable[[str], bool]) -> None:
    """An error for an id that could not be read back."""
    for text in (*dict.fromkeys(columns.query), *columns.doc, *dict.fromkeys(columns.aspect or ())):
        if unfit(text):
            raise DataError(
                f"{columns.source}: the id {shorten(text)} cannot be written as {kind}. "
                "Next: give it a plainer id, or write JSON, JSON Lines or Parquet, which take every id."
            )


def _delimited(columns: Columns, delimiter: str) -> list[bytes]:
    """CSV, or without any quotes TSV."""
    tsv = delimiter == "\t"
    cuts = "\t\r\n\0" if tsv else "\r\0"
    _refuse(columns, "TSV" if tsv else "CSV", lambda text: text != text.strip() or any(map(text.__contains__, cuts)))
    named = columns.by_name()
    text = io.StringIO(newline="")
    quoting: Any = csv.QUOTE_NONE if tsv else csv.QUOTE_MINIMAL
    quotechar = None if tsv else '"'
    writer = csv.writer(text, delimiter=delimiter, quoting=quoting, quotechar=quotechar, lineterminator="\n")
    writer.writerow(named)
    writer.writerows(zip(*named.values(), strict=True))
    return [text.getvalue().encode()]


def _json(columns: Columns) -> Iterator[bytes]:
    """`{query: {doc: number}}`, with lists if there is no number."""
    _check_finite(columns)
    nested: dict[str, Any] = {query: {} for query in columns.empty}
    for query, rows in by_key((query, row) for row, query in enumerate(columns.query)).items():
        if columns.number is not None:
            nested[query] = _object(columns, query, rows)
        else:  # the documents, best first
            order = rows if columns.rank is None else sorted(rows, key=columns.rank.__getitem__)
            nested[query] = [columns.doc[row] for row in order]
    if columns.number is not None and columns.rank is not None:
        columns.notes.append("the rank column has no place in JSON and was left out")
    yield json.dumps(nested, ensure_ascii=False, indent=1).encode() + b"\n"


def _object(columns: Columns, query: str, rows: list[int]) -> dict[str, Any]:
    numbers = columns.number or ()
    found: dict[str, Any] = {}
    for row in rows:
        doc, number = columns.doc[row], _whole(numbers[row])
        if columns.aspect is not None:
            found.setdefault(doc, {})[columns.aspect[row]] = number
        elif doc in found:
            raise DataError(
                f"{columns.source}: document {shorten(doc)} comes twice for query {shorten(query)}, "
                "which JSON objects cannot say. Next: drop one of them, or write JSON Lines."
            )
        else:
            found[doc] = number
    return found


def _jsonl(columns: Columns) -> Iterator[bytes]:
    _check_finite(columns)
    named = columns.by_name()
    for row in zip(*named.values(), strict=True):
        yield json.dumps(dict(zip(named, row, strict=True)), ensure_ascii=False).encode() + b"\n"


def _check_finite(columns: Columns) -> None:
    for doc, number in zip(columns.doc, columns.number or (), strict=columns.number is not None):
        if math.isinf(number):
            raise DataError(
                f"{columns.source}, document {shorten(doc)}: JSON has no way to write {number}. "
                "Next: write CSV or TREC."
            )


def _parquet(columns: Columns) -> Iterator[bytes]:
    target, named = io.BytesIO(), columns.by_name().items()
    write_parquet({name: list(column if name in TEXT else map(float, column)) for name, column in named}, target)
    yield target.getvalue()


def _whole(number: float) -> int | float:
    """3 for 3.0: whole numbers are written without a point.

    >>> _whole(3.0), _whole(0.5), _whole(1e300)
    (3, 0.5, 1e+300)
    """
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


_FORMS: dict[str, Callable[[Columns], Iterable[bytes]]] = {
    "trec": _trec,
    "csv": partial(_delimited, delimiter=","),
    "tsv": partial(_delimited, delimiter="\t"),
    "json": _json,
    "jsonl": _jsonl,
    "parquet": _parquet,
}
SUFFIXES = {
    **dict.fromkeys((".trec", ".txt", ".qrels", ".run"), "trec"),
    **{f".{kind}": kind for kind in ("csv", "tsv", "json", "jsonl", "parquet")},
}
"""The format of a file by the end of its name."""
FORMATS = tuple(dict.fromkeys(SUFFIXES.values()))
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
NAMED = {".qrels": "judgments", ".run": "ranking"}
"""The content of a file by the end of its name."""
_MANY = {"judgments": "judgments", "ranking": "rankings"}


@pipes_kept()
def convert(
    source: PathLike, target: PathLike, *, what: str | None = None, to: str | None = None, force: bool = False
) -> list[str]:
    """Write the judgments or rankings of one file in another format; what was noticed is returned.

    `what` is "judgments" or "ranking"; it need not be said where the file shows it: TREC, BEIR,
    or rows with a grade or a rank; nor where the name of `target` says it: `.qrels`, `.run`.
    `to` is one of `FORMATS`; it need not be said where the name of `target` ends with it. A file that is there
    is replaced with `force` only.
    """
    check_free(target, force=force)
    what = what or what_is_in(source, target)
    check_one_of("what", what, ("judgments", "ranking"))
    if what == "judgments":
        return write_judgments(load_judgments(source), target, to, force=force)
    return write_ranking(load_ranking(source).table(), target, to, force=force)


def what_is_in(source: PathLike, target: PathLike) -> str:
    """ "judgments" or "ranking", for files that show it, or whose target does."""
    if found := _shown_by(source) or NAMED.get(_suffix(target), ""):
        return found
    raise UsageError(
        f"{os.fspath(source)}: cannot tell whether these are judgments or a ranking. "
        "Next: say which, with " + for_face("what='judgments' or what='ranking'.", "--as judgments or --as ranking.")
    )


def _shown_by(source: PathLike) -> str:
    """What a file shows by its number of columns or their names, else by what it can be read as; "" if neither does."""
    if not is_pipe(source):
        if folder_at(split_of(Path(source))[0]):
            return "judgments"
        check_path(source)
    head = read_head(source)
    kind = sniff(head, os.fspath(source))
    if kind in (TREC_JUDGMENTS, TREC_RANKING):
        return "judgments" if kind == TREC_JUDGMENTS else "ranking"
    first = head.decode("utf-8-sig", "replace").lstrip().partition("\n")[0]
    columns = [name.strip() for name in first.split(kind.delimiter)] if kind.delimiter else []
    shown = [what for what, role in (("judgments", "grade"), ("ranking", "rank")) if column_of(role, columns)]
    if len(shown) == 1 or kind.delimiter:
        return shown[0] if len(shown) == 1 else ""
    return _by_reading(source)


def _by_reading(source: PathLike) -> str:
    """The kind that the file can be read as; "" if both, or neither."""
    reads: dict[str, Callable[[], object]] = {
        "judgments": lambda: load_judgments(source),
        "ranking": lambda: load_ranking(source).table(),
    }
    fits = []
    for what, read in reads.items():
        with suppress(DataError):
            read()
            fits.append(what)
    return fits[0] if len(fits) == 1 else ""


def write_judgments(judgments: Judgments, target: PathLike, to: str | None = None, *, force: bool = False) -> list[str]:
    """Write judgments to a file, or to standard output for "-"; what was noticed is returned.

    A file that is there is replaced with `force` only.
    """
    queries, docs = (np.array(ids, dtype=object) for ids in (judgments.query_ids, judgments.doc_ids))
    empty = tuple(queries[np.diff(judgments.start) == 0])
    facets, row, aspects, grade = judgments.facets, np.arange(len(docs)), None, judgments.grade
    if facets is not None:  # one row an aspect
        row, grade = np.repeat(row, np.diff(facets.start)), facets.grade
        aspects = facets.names if len(facets.names) else [str(aspect + 1) for aspect in facets.aspect.tolist()]
    ids = (queries[judgments.query][row].tolist(), docs[row].tolist())
    columns = Columns("grade", *ids, grade.tolist(), aspect=aspects, empty=empty, source=judgments.source)
    return _write(columns, target, to, force)


def write_ranking(ranking: RankingTable, target: PathLike, to: str | None = None, *, force: bool = False) -> list[str]:
    """Write a ranking to a file, or to standard output for "-"; what was noticed is returned.

    A file that is there is replaced with `force` only.
    """
    score, rank = (None if each is None else each.tolist() for each in (ranking.score, ranking.rank))
    columns = Columns("score", ranking.query, ranking.doc, score, rank, empty=ranking.empty, source=ranking.source)
    return _write(columns, target, to, force)


def format_of(target: PathLike, to: str | None = None) -> str:
    """The given format, or that of the ending of the name.

    >>> format_of("runs/bm25.jsonl.gz"), format_of("-", "csv")
    ('jsonl', 'csv')
    """
    if to is not None:
        check_one_of("format", to, FORMATS)
        return to
    suffix = _suffix(target)
    if suffix not in SUFFIXES:
        said = f"{os.fspath(target)}: the name does not say which format to write"
        raise not_known(said, suffix, SUFFIXES, f"end in one of {', '.join(SUFFIXES)}, or say {setting('to', 'csv')}")
    return SUFFIXES[suffix]


def _suffix(target: PathLike) -> str:
    """The end of the name, that of a compression apart."""
    suffixes = [suffix for suffix in Path(target).suffixes if suffix not in COMPRESSED]
    return suffixes[-1].lower() if suffixes else ""


def _write(columns: Columns, target: PathLike, to: str | None, force: bool) -> list[str]:
    what, called = "ranking" if columns.value == "score" else "judgments", NAMED.get(_suffix(target))
    if called not in (None, what):
        raise UsageError(
            f"{os.fspath(target)}: the name is one of {_MANY[called]}, but {_MANY[what]} would be written. "
            f"Next: end it with {next(end for end, kind in NAMED.items() if kind == what)}."
        )
    last_check.get()()
    content = render(columns, format_of(target, to))
    with whole_file(target, force=force) as stream, _compressed(target, stream) as packing:
        packing.writelines(content)
    return columns.notes


@contextmanager
def _compressed(target: PathLike, stream: BinaryIO) -> Iterator[BinaryIO]:
    """The compressed stream that the end of the file's name asks for."""
    suffix = Path(target).suffix.lower()
    if suffix not in COMPRESSED:
        yield stream
        return
    opened: Any
    if suffix == ".zst":
        opened = zstd_module(f"{os.fspath(target)}: writing zstd").open(stream, "wb")
    elif suffix in (".bz2", ".xz"):
        opened = (bz2 if suffix == ".bz2" else lzma).open(stream, "wb")
    else:  # without a time in it, the same content gives the same file
        opened = gzip.GzipFile(filename="", fileobj=stream, mode="wb", mtime=0)
    with opened as packing:
        yield packing
