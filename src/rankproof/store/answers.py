"""Answers stored at once: of retrievers, in one SQLite file, so that no question is asked twice; of a person who
labels items one after the other (`rankproof label` documents, `calibrate` the pairs of a judge).

And fingerprints: of judgments, of rankings, of the git commit.
"""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from rankproof.core.judgments import Judgments, cached_for_judgments
from rankproof.core.table import RankingTable
from rankproof.errors import UsageError
from rankproof.store import Begin, Schema, open_to_hold, open_to_read

ANSWERS = Schema(
    noun="cache of answers",
    option=("cache=", "--cache"),
    made_by=("benchmark.run(..., cache=FILE)", "rankproof run ... --cache FILE"),
    application=0x524E4B41,  # "RNKA"
    often=True,
    steps=(("CREATE TABLE answers (key TEXT PRIMARY KEY, answer TEXT NOT NULL)",),),
)


class Answers:
    """Answers by their keys; they are on the disk when `put` returns."""

    def __init__(self, begin: Begin) -> None:
        self._begin = begin

    def get(self, keys: Iterable[str]) -> dict[str, str]:
        """The known answers by key."""
        among = "SELECT key, answer FROM answers WHERE key IN (SELECT value FROM json_each(?))"
        with self._begin() as connection:
            return dict(connection.execute(among, (json.dumps(list(keys)),)))

    def put(self, answers: Iterable[tuple[str, str]]) -> None:
        """Keep answers by key: all of them, or none if the process ends meanwhile."""
        with self._begin() as connection:
            connection.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?)", answers)


@contextmanager
def open_answers(path: Path) -> Iterator[Answers]:
    """The file, made if there is none; several runs may use it at once."""
    with open_to_hold(path, schema=ANSWERS) as begin:
        yield Answers(begin)


def remove(path: Path) -> None:
    """Delete the file, with what SQLite keeps beside it; a file of another program is an error, and is kept."""
    if path.is_file():
        with open_to_read(path, schema=ANSWERS):
            pass
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)


_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def git_commit(folder: Path) -> str | None:
    """The commit that is checked out where `folder` is; None if that cannot be told."""
    try:
        where = _git_folder(folder.resolve())
        return None if where is None else _commit_of(where)
    except (OSError, ValueError):  # an unreadable or odd repository must not prevent saving
        return None


def _git_folder(folder: Path) -> Path | None:
    for each in (folder, *folder.parents):
        git = each / ".git"
        if git.is_dir():
            return git
        if git.is_file():  # a worktree or submodule keeps its own elsewhere
            return each / _text(git).removeprefix("gitdir:").strip()
    return None


def _commit_of(git: Path) -> str | None:
    common = git / _text(git / "commondir")  # a worktree names the folder where it shares the branches with others
    head, packed = _text(git / "HEAD"), _text(common / "packed-refs")
    name = head.removeprefix("ref:").strip()
    listed = (line.removesuffix(name).strip() for line in packed.splitlines() if line.endswith(f" {name}"))
    found = (head, _text(git / name), _text(common / name), *listed)
    return next((each for each in found if _HASH.fullmatch(each)), None)


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


@cached_for_judgments
def of_judgments(judgments: Judgments) -> str:
    """The fingerprint of judgments: queries, documents, grades and aspects.

    Aspects count by their judgments; their names and order change no number.
    """
    names = judgments.queries
    return _digest(_judged(judgments, i) for i in sorted(range(len(names)), key=names.__getitem__))


def _judged(judgments: Judgments, query: int) -> list[Any]:
    rows = range(int(judgments.start[query]), int(judgments.start[query + 1]))
    own = slice(rows.start, rows.stop)
    plain = sorted(zip(judgments.doc_ids[own], judgments.grade[own].tolist(), strict=True))
    return [judgments.queries[query], plain, _aspects(judgments, rows)]


def _aspects(judgments: Judgments, rows: range) -> list[Any]:
    facets = judgments.facets
    if facets is None:
        return []
    found: dict[int, list[Any]] = {}
    for row in rows:
        part = slice(int(facets.start[row]), int(facets.start[row + 1]))
        for aspect, grade in zip(facets.aspect[part].tolist(), facets.grade[part].tolist(), strict=True):
            found.setdefault(aspect, []).append((judgments.doc_ids[row], grade))
    return sorted(sorted(each) for each in found.values())


def of_ranking(table: RankingTable, by_rank: bool = False) -> str:
    """The fingerprint of a ranking: every query's documents with their scores, ranks or places."""
    rows = table.by_query()
    column = table.rank if by_rank or table.score is None else table.score
    values = None if column is None else column.tolist()
    return _digest(
        [query, sorted((table.doc[row], at if values is None else values[row]) for at, row in enumerate(rows[query]))]
        for query in sorted(rows)
    )


def _digest(parts: Iterator[list[Any]]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(json.dumps(part).encode("ascii"))
    return digest.hexdigest()


T = TypeVar("T")


@dataclass
class LabellingSession(ABC, Generic[T]):
    """Where a person stands who labels one thing after the other; each decision is kept at once, or taken back."""

    steps: list[tuple[T, int | None]] = field(default_factory=list, init=False)
    """What was decided, in order; None is what was skipped."""
    at_end: ClassVar[str] = "everything is labelled. Next: add something to label."

    @abstractmethod
    def next(self) -> T | None:
        """What is to be labelled now; None at the end."""

    @abstractmethod
    def _check(self, item: T, value: int) -> None:
        """Refuse a value that the thing cannot have."""

    @abstractmethod
    def _keep_step(self, item: T, value: int | None) -> None:
        """Write a decision down; None: it is skipped."""

    @abstractmethod
    def _take_back(self, item: T, value: int | None) -> None:
        """Undo what was written down."""

    def grade(self, value: int | None) -> None:
        """Label what is next; None leaves it open."""
        item = self.next()
        if item is None:
            raise UsageError(self.at_end)
        if value is not None:
            self._check(item, value)
        self._keep_step(item, value)
        self.steps.append((item, value))

    def skip(self) -> None:
        """Leave what is next open: it gets no label from this person."""
        self.grade(None)

    def undo(self) -> T | None:
        """Take the last decision back; what it was about comes next again. None if there is none."""
        if not self.steps:
            return None
        item, value = self.steps.pop()
        self._take_back(item, value)
        return item
