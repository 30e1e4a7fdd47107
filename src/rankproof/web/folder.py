"""The files of a folder for the app: each with its kind, or with its error."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from rankproof.document.display import Displayable
from rankproof.errors import DataError, RankproofError, UsageError
from rankproof.io.files import read_head
from rankproof.io.formats import JSON, PARQUET, TREC_JUDGMENTS, TREC_RANKING, sniff
from rankproof.io.roles import column_of

DEEPEST = 3
"""The depth to which folders inside folders are searched."""
MOST = 5000
"""The largest number of files."""
BEGINNING = b"SQLite format 3\x00"


class FileKind(StrEnum):
    """The kind of a file."""

    JUDGMENTS = "judgments"
    RUN = "run"
    QUERIES = "queries"
    CORPUS = "corpus"
    POOL = "pool"
    LABELS = "labels"
    SAMPLES = "samples"
    HISTORY = "history"
    LEDGER = "ledger"
    ANSWERS = "answers"
    GRID = "grid"
    PROGRESS = "progress of a run"
    PARTIAL = "answers of an unfinished run"
    UNKNOWN = "unknown"
    DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class FoundFile(Displayable):
    """One file of the folder."""

    name: str
    """Its path below the given folder, for display."""
    path: Path
    kind: FileKind
    size: int
    changed: float
    """When it was written last, in seconds since 1970."""
    problem: str = ""
    """Why it cannot be used; empty if it can."""

    @property
    def stamp(self) -> tuple[str, int, float]:
        """A value that changes if the file does."""
        return str(self.path), self.size, self.changed


def find_files(places: Sequence[str | os.PathLike[str]], known: Iterable[FoundFile] = ()) -> list[FoundFile]:
    """Every file in these places, in the order of their names; those that are `known` and unchanged are not read.

    A place is a file or a folder; hidden files, and files in hidden folders, are passed over.
    """
    before = {each.stamp: each for each in known}
    found: list[FoundFile] = []
    for place in places:
        root = Path(place)
        if not root.exists():
            raise UsageError(f"{root}: there is no such file or folder. Next: check the path.")
        for path, name in _paths(root):
            if len(found) >= MOST:
                return found
            try:
                about = path.stat()
            except OSError as error:
                found.append(
                    FoundFile(name, path, FileKind.DAMAGED, 0, 0.0, f"cannot be read: {error.strerror}")
                )
                continue
            old = before.get((str(path), about.st_size, about.st_mtime))
            found.append(old or _look(path, name, about.st_size, about.st_mtime))
    return found


def _paths(root: Path) -> Iterator[tuple[Path, str]]:
    if root.is_file():
        yield root, root.name
        return
    for folder, inside, files in os.walk(root):
        below = Path(folder).relative_to(root)
        inside[:] = sorted(
            each for each in inside if not each.startswith(".") and len(below.parts) + 1 < DEEPEST
        )
        for name in sorted(files):
            path = Path(folder, name)
            if not name.startswith(".") and path.is_file():
                yield path, (below / name).as_posix()


def _look(path: Path, name: str, size: int, changed: float) -> FoundFile:
    """The file with its kind; an unreadable file is not an error."""
    try:
        kind, problem = _kind(path), ""
    except (RankproofError, OSError, ValueError, RecursionError) as error:
        kind, problem = FileKind.DAMAGED, str(error)
    return FoundFile(name, path, kind, size, changed, problem)


def _kind(path: Path) -> FileKind:
    with open(path, "rb") as stream:
        beginning = stream.read(len(BEGINNING))
    if not beginning:
        raise DataError("empty, it has no bytes. Next: check how it was made.")
    if beginning == BEGINNING:
        return _kind_of_database(path)
    if path.name.endswith((".progress.jsonl", ".partial.jsonl")):
        return FileKind.PROGRESS if path.name.endswith(".progress.jsonl") else FileKind.PARTIAL
    if path.suffix.lower() in OTHERS:
        return FileKind.UNKNOWN
    found = sniff(read_head(path), path.name)
    if found == TREC_JUDGMENTS:
        return FileKind.JUDGMENTS
    if found == TREC_RANKING:
        return FileKind.RUN
    if found == PARQUET:
        return _kind_of_parquet(path)
    if found == JSON:
        return _kind_of_json(path)
    return _kind_of_table(path, found.delimiter)


OTHERS = {
    *(".html", ".htm", ".pdf", ".tex", ".md", ".png", ".svg", ".toml", ".yaml", ".yml", ".py", ".log"),
    *(".js", ".css"),
}
"""Endings of files that contain neither judgments nor rankings."""


def _kind_of_database(path: Path) -> FileKind:
    from rankproof.store import HISTORY
    from rankproof.store.answers import APPLICATION
    from rankproof.store.ledger import LEDGER

    kinds = {
        HISTORY.application: FileKind.HISTORY,
        LEDGER.application: FileKind.LEDGER,
        APPLICATION: FileKind.ANSWERS,
    }
    try:
        connection = sqlite3.connect(f"file:{path.absolute().as_posix()}?mode=ro", uri=True)
        try:
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise DataError(f"a damaged database: {error}. Next: take it from a copy.") from error
    return kinds.get(application, FileKind.UNKNOWN)


def _kind_of_parquet(path: Path) -> FileKind:
    try:
        from pyarrow.parquet import read_schema
    except ImportError:
        raise DataError(
            "a Parquet file, which needs pyarrow. Next: pip install 'rankproof[arrow]'."
        ) from None
    return _by_columns(read_schema(path).names)


def _kind_of_table(path: Path, delimiter: str) -> FileKind:
    head = read_head(path).decode("utf-8", "replace").splitlines()
    if not head:
        return FileKind.UNKNOWN
    names = [cell.strip().strip('"') for cell in head[0].split(delimiter)]
    kind = _by_columns(names)
    if kind is FileKind.RUN and (scores := column_of("score", names)):
        place = names.index(scores[0])
        rows = (line.split(delimiter) for line in head[1:GRADES])
        return _by_values([cells[place] for cells in rows if len(cells) == len(names)])
    return kind


GRADES = 200
"""The number of lines by which grades are distinguished from scores."""


def _by_values(cells: Sequence[str]) -> FileKind:
    """A column called score holds grades in some sets: whole numbers, and few different ones."""
    whole = all(cell.strip().strip('"').lstrip("-").isdigit() for cell in cells)
    return FileKind.JUDGMENTS if cells and whole and len(set(cells)) <= HIGHEST else FileKind.RUN


HIGHEST = 6
"""Different grades that judgments have at most, if nothing else tells them from scores."""


def _by_columns(names: Sequence[str]) -> FileKind:
    """Judgments, a run, questions or documents, by the names of the columns."""
    has = {role: bool(column_of(role, names)) for role in ("query", "doc", "grade", "score", "rank")}
    if has["query"] and has["doc"]:
        return FileKind.JUDGMENTS if has["grade"] and not has["rank"] else FileKind.RUN
    return _by_fields(set(names))


def _by_fields(fields: set[str]) -> FileKind:
    """The kind of a record by its fields."""
    if {"rows", "effects", "front", "winner"} <= fields:
        return FileKind.GRID
    if "pool" in fields and "systems" in fields:
        return FileKind.POOL
    if {"query", "document", "who", "what"} <= fields:
        return FileKind.LABELS
    if fields & {"user_input", "retrieved_contexts", "contexts", "answer", "response"}:
        return FileKind.SAMPLES
    if fields & {"text", "query", "question", "title", "body", "contents"}:
        long = fields & {"title", "body", "contents", "url", "metadata"}
        return FileKind.CORPUS if long else FileKind.QUERIES
    return FileKind.UNKNOWN


def _kind_of_json(path: Path) -> FileKind:
    """By the first record of lines, or by the shape of one whole mapping."""
    with open(path, "rb") as stream:
        first = stream.readline(1 << 20)
    try:
        record: Any = json.loads(first)
    except ValueError:
        return _kind_of_whole_json(path)
    if not isinstance(record, dict):
        return FileKind.UNKNOWN
    if _is_nested(record):
        return _kind_of_mapping(record)
    fields = set(map(str, record))
    has = {role: bool(column_of(role, sorted(fields))) for role in ("query", "doc", "grade")}
    if has["query"] and has["doc"] and not fields >= {"who", "what"}:
        return FileKind.JUDGMENTS if has["grade"] else FileKind.RUN
    return _by_fields(fields)


LARGEST = 64 << 20
"""The largest JSON document that is read completely, in bytes."""


def _kind_of_whole_json(path: Path) -> FileKind:
    if path.stat().st_size > LARGEST:
        return FileKind.UNKNOWN
    try:
        record = json.loads(path.read_bytes())
    except ValueError as error:
        raise DataError(f"no JSON: {error}. Next: check how it was made.") from error
    if isinstance(record, list) and record and isinstance(record[0], dict):
        return _by_columns(list(map(str, record[0])))
    if not isinstance(record, dict):
        return FileKind.UNKNOWN
    return _kind_of_mapping(record) if _is_nested(record) else _by_fields(set(record))


def _is_nested(record: dict[str, Any]) -> bool:
    """Whether it is a mapping of queries to documents, not a record."""
    return bool(record) and all(isinstance(each, dict | list) for each in list(record.values())[:20])


def _kind_of_mapping(record: dict[str, Any]) -> FileKind:
    """Judgments have whole grades, and few of them; rankings have scores, or lists."""
    values = list(record.values())[:200]
    if any(isinstance(each, list) for each in values):
        return FileKind.RUN
    grades = [grade for each in values for grade in each.values()]
    whole = all(isinstance(each, int) and not isinstance(each, bool) for each in grades)
    return FileKind.JUDGMENTS if whole and len(set(grades)) <= HIGHEST else FileKind.RUN


def named_by_stem(files: Iterable[FoundFile]) -> dict[str, FoundFile]:
    """The files by their shortest unique names: without folder and ending if that is enough."""
    listed = list(files)
    for names in (
        [each.path.stem for each in listed],
        [each.path.name for each in listed],
        [each.name for each in listed],
    ):
        if len(set(names)) == len(names):
            return dict(zip(names, listed, strict=True))
    return {str(each.path): each for each in listed}
