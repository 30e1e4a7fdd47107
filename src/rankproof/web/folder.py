"""The files of a folder for the app: each with its kind, or with its error."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import Any

from rankproof.core.judgments import Judgments
from rankproof.document.model import Displayable
from rankproof.document.terminal import clean
from rankproof.errors import DataError, RankproofError, UsageError
from rankproof.io.column_roles import EXPECTED, JUDGMENTS, column_of, guess, is_of_lists, without_expected
from rankproof.io.files import read_head
from rankproof.io.formats import JSON, PARQUET, TREC_JUDGMENTS, TREC_RANKING, sniff
from rankproof.io.inputs import plain_name
from rankproof.io.judgments import RELEVANT
from rankproof.io.load import load_ranking
from rankproof.io.read import DOCUMENT_ID, QUESTION_ID, QUESTION_TEXT, field_of, rows_in
from rankproof.io.trec import TrecRankings
from rankproof.monitoring.events import EventSchema

DEEPEST = 3
"""The depth to which folders inside folders are searched."""
MOST = 5000
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
    GRID = "grid"
    PROGRESS = "progress of a run"
    PARTIAL = "answers of an unfinished run"
    LOG = "production log"
    UNCLEAR = "judgments or a ranking"
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

    A place is a file or a folder. Hidden files, files in hidden folders, compiled Python and what SQLite keeps beside
    a database are passed over.
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
                found.append(FoundFile(name, path, FileKind.DAMAGED, 0, 0.0, f"cannot be read: {error.strerror}"))
                continue
            stamp = (about.st_size, about.st_mtime)
            found.append(before.get((str(path), *stamp)) or _look(path, name, *stamp))
    return found


def _paths(root: Path) -> Iterator[tuple[Path, str]]:
    if root.is_file():
        yield root, root.name
        return
    for folder, inside, files in os.walk(root):
        below = Path(folder).relative_to(root)
        inside[:] = sorted(
            each for each in inside if not each.startswith((".", "__")) and len(below.parts) + 1 < DEEPEST
        )
        kept = set(files)
        for name in sorted(kept):
            path = Path(folder, name)
            beside = any(name.removesuffix(end) in kept - {name} for end in COMPANIONS)
            if not name.startswith(".") and not beside and path.is_file():
                yield path, clean((below / name).as_posix())


def encodable(text: str) -> str:
    """A text with what is no character, as in an id in another encoding, written out.

    >>> encodable("bad\\udcff.run")
    'bad\\\\udcff.run'
    """
    return text.encode("utf-8", "backslashreplace").decode()


COMPANIONS = ("-wal", "-shm", "-journal")
"""Endings of files that SQLite keeps beside an open database, whose name stands before them."""


def _look(path: Path, name: str, size: int, changed: float) -> FoundFile:
    """The file with its kind; an unreadable file is not an error."""
    try:
        kind, problem = _kind(path), ""
    except Unclear as error:
        kind, problem = FileKind.UNCLEAR, str(error)
    except (RankproofError, OSError, ValueError, RecursionError) as error:
        why = getattr(error, "strerror", None)
        kind, problem = FileKind.DAMAGED, f"cannot be read: {why}. Next: check its rights." if why else str(error)
    return FoundFile(name, path, kind, size, changed, problem)


class Unclear(DataError):
    """A file whose columns may be taken in more than one way."""


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
    if found in (TREC_JUDGMENTS, TREC_RANKING):
        return FileKind.JUDGMENTS if found == TREC_JUDGMENTS else FileKind.RUN
    if found == PARQUET:
        try:
            from pyarrow.parquet import read_schema
        except ImportError:
            raise DataError("a Parquet file, which needs pyarrow. Next: pip install 'rankproof[arrow]'.") from None
        return _by_columns(read_schema(path).names, path)
    return _kind_of_json(path) if found == JSON else _kind_of_table(path, found.delimiter)


OTHERS = {
    ".html", ".htm", ".pdf", ".tex", ".md", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".toml", ".yaml", ".yml", ".py",
    ".pyc", ".ipynb", ".log", ".js", ".css",
}  # fmt: skip
"""Endings of files that contain neither judgments nor rankings."""


def _kind_of_database(path: Path) -> FileKind:
    from rankproof.store import HISTORY, TIMEOUT, connect
    from rankproof.store.ledger import LEDGER

    kinds = {HISTORY.application: FileKind.HISTORY, LEDGER.application: FileKind.LEDGER}
    try:
        with closing(connect(path, TIMEOUT, "ro")) as connection:
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        raise DataError(f"a damaged database: {error}. Next: take it from a copy.") from error
    return kinds.get(application, FileKind.UNKNOWN)


def _kind_of_table(path: Path, delimiter: str) -> FileKind:
    head = read_head(path).decode("utf-8", "replace").splitlines()
    if not head:
        return FileKind.UNKNOWN
    names = [cell.strip().strip('"') for cell in head[0].split(delimiter)]
    kind = _by_columns(names, path)
    if kind is FileKind.RUN and (scores := column_of("score", names)):
        place = names.index(scores[0])
        rows = (line.split(delimiter) for line in head[1:GRADES])
        cells = [row[place] for row in rows if len(row) == len(names)]
        whole = all(cell.strip().strip('"').lstrip("-").isdigit() for cell in cells)
        if cells and whole and len(set(cells)) <= HIGHEST:  # some sets call a column of grades score
            return FileKind.JUDGMENTS
    return kind


GRADES = 200
"""The number of lines by which grades are distinguished from scores."""


HIGHEST = 6
"""Different grades that judgments have at most, if nothing else tells them from scores."""


def _by_columns(names: Sequence[str], path: Path) -> FileKind:
    """Judgments, a run, a log, questions or documents, by the names of the columns, or of a record's fields."""
    known = EventSchema().places(names)[0].keys()
    has = {role for role in ("query", "doc", "grade", "score", "rank") if column_of(role, names)}
    fields = set(map(plain_name, names))
    measured = has & {"grade", "score", "rank"}
    if {"query", "results"} <= known and known & ACTIONS | fields & TIMES and not has & {"score", "rank"}:
        return FileKind.LOG if fields.isdisjoint(GIVEN) else FileKind.SAMPLES
    if not measured and not set(names).isdisjoint(SAMPLED):
        return FileKind.SAMPLES
    if "query" in has and has & {"doc", "grade"} and not {"who", "what"} <= fields:
        if "doc" not in has:
            return FileKind.JUDGMENTS if fields & set(map(plain_name, RELEVANT)) else _by_fields(set(names))
        if measured:
            return FileKind.JUDGMENTS if "grade" in has and "rank" not in has else FileKind.RUN
        return _without_numbers(names, path)
    return _by_fields(set(names))


GIVEN = {"contexts", "retrievedcontexts"}

SAMPLED = {"user_input", "retrieved_contexts", "contexts", "answer", "response"}
"""Fields of samples to judge; no log has those of the first line."""
ACTIONS = {"ts", "clicks", "thumb", "latency_ms", "session"}

TIMES = {"when", "datetime", "loggedat"}
"""The fields, and the names of times, by which a log is known: a ranking has none of them."""
SAID = tuple(map(plain_name, (*EXPECTED, *RELEVANT, "relevant", "answers", "labels", "judged")))
"""The beginnings of names of files that hold what is relevant."""


def _without_numbers(names: Sequence[str], path: Path) -> FileKind:
    """Queries and documents without grade, score or rank: what they are is said by a name, or by nothing."""
    others = without_expected(names)
    if any(map(is_of_lists, others)):
        return FileKind.RUN
    if len(others) < len(names) or _is_said_relevant(path):
        try:
            guess(names, JUDGMENTS, path.name)
        except DataError as error:
            said = str(error).partition(" Next: ")[0]  # whose advice names an option that the app does not have
            convert = f"rankproof convert {path.name} judgments.tsv --as judgments --columns query=NAME,doc=NAME"
            raise Unclear(f"{said} Next: say which: {convert}") from error
        return FileKind.JUDGMENTS
    raise _unclear(path, f"no column of {', '.join(map(repr, names))} is a grade, a score or a rank, so it")


def _unclear(path: Path, why: str) -> Unclear:
    convert = f"rankproof convert {path.name}"
    return Unclear(
        f"{path.name}: {why} may hold what is relevant or what was found. Next: say which: "
        f"{convert} judgments.tsv --as judgments, or {convert} ranking.run --as ranking"
    )


def _is_said_relevant(path: Path) -> bool:
    return plain_name(path.name.partition(".")[0]).startswith(SAID)


def _by_fields(fields: set[str]) -> FileKind:
    if {"rows", "effects", "front", "winner"} <= fields:
        return FileKind.GRID
    if "pool" in fields and "systems" in fields:
        return FileKind.POOL
    if {"query", "document", "who", "what"} <= fields:
        return FileKind.LABELS
    if fields & SAMPLED:
        return FileKind.SAMPLES
    if fields & {"text", "query", "question", "title", "body", "contents"}:
        long = fields & {"title", "body", "contents", "url", "metadata"}
        return FileKind.CORPUS if long else FileKind.QUERIES
    return FileKind.UNKNOWN


def _kind_of_json(path: Path) -> FileKind:
    """By the first record of lines or of a list, or by the shape of one whole mapping."""
    with open(path, "rb") as stream:
        first = stream.readline(1 << 20)
    try:
        record: Any = json.loads(first)
    except ValueError:
        if path.stat().st_size > LARGEST:
            return FileKind.UNKNOWN
        try:
            record = json.loads(path.read_bytes())
        except ValueError as error:
            raise DataError(f"not valid JSON ({error}). Next: check how it was made.") from error
    if isinstance(record, list) and record:
        record = record[0]
    if not isinstance(record, dict):
        return FileKind.UNKNOWN
    first_values = list(record.values())[:20]
    if first_values and all(isinstance(each, dict | list) for each in first_values):  # queries with their documents
        return _kind_of_mapping(record, path)
    return _by_columns(list(record), path)


LARGEST = 64 << 20
"""The largest JSON document that is read completely, in bytes."""


def _kind_of_mapping(record: dict[str, Any], path: Path) -> FileKind:
    """Judgments have whole grades, and few of them; rankings have scores, or lists if no name says otherwise."""
    values = list(record.values())[:200]
    lists = [each for each in values if isinstance(each, list)]
    if lists and _is_said_relevant(path):
        return FileKind.JUDGMENTS
    if 2 * sum(len(each) < 2 for each in lists) > len(lists):
        raise _unclear(path, "most queries have one document, so it")
    if lists:
        return FileKind.RUN
    grades = [grade for each in values for grade in each.values()]
    whole = all(isinstance(each, int) and not isinstance(each, bool) for each in grades)
    return FileKind.JUDGMENTS if whole and len(set(grades)) <= HIGHEST else FileKind.RUN


def named_by_stem(files: Iterable[FoundFile]) -> dict[str, FoundFile]:
    """The files by their shortest unique names: without folder and ending if that is enough."""
    listed = list(files)
    for name in (attrgetter("path.stem"), attrgetter("path.name"), attrgetter("name")):
        named = {clean(name(each)): each for each in listed}  # as pages show them, and their forms send them back
        if len(named) == len(listed):
            return named
    return {str(each.path): each for each in listed}


def judgments_of_most(
    files: Sequence[FoundFile], judged: Callable[[FoundFile], Judgments], runs: Sequence[FoundFile]
) -> FoundFile:
    """The judgments of most queries of the first ranking that can be read."""
    queries: Collection[str] = ()
    for each in runs:
        with suppress(RankproofError, OSError):
            ranking = load_ranking(each.path)
            queries = ranking.by_query().keys() if isinstance(ranking, TrecRankings) else set(ranking.table().query)
            break

    def used(file: FoundFile) -> int:
        with suppress(RankproofError, OSError):
            return sum(query in queries for query in judged(file).index)
        return -1

    return max(files, key=used)


LOOKED_AT = 1000
"""The number of texts of a file by whose ids it is known whose texts they are."""


def kinds_of_texts(
    files: Sequence[FoundFile], queries: Collection[str], documents: Collection[str]
) -> dict[FoundFile, FileKind]:
    """By the ids that are queries or documents, else by the fields; the file with most such ids first."""
    wanted, found = {FileKind.QUERIES: set(queries), FileKind.CORPUS: set(documents)}, {}
    for file in files:
        shared = dict.fromkeys(wanted, 0)
        with suppress(RankproofError, OSError):
            for _, record in islice(rows_in(file.path), LOOKED_AT):
                if not isinstance(record, Mapping):
                    continue
                named = (field_of(record, names) for names in (QUESTION_ID, DOCUMENT_ID, QUESTION_TEXT))
                own = {str(record[each]) for each in named if each is not None}
                for kind, ids in wanted.items():
                    shared[kind] += not ids.isdisjoint(own)
        most = max(wanted, key=lambda kind: (shared[kind], kind is file.kind))
        found[file] = (shared[most], most)
    if any(n and kind is FileKind.QUERIES for n, kind in found.values()):
        # Texts of which no id is judged are no queries if others are: most documents of a corpus are not judged.
        found = {file: (n, kind if n else FileKind.CORPUS) for file, (n, kind) in found.items()}
    return {file: kind for file, (n, kind) in sorted(found.items(), key=lambda each: -each[1][0])}
