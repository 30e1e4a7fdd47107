"""Fingerprints of judgments, rankings and code: the same input has the same one."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rankproof.core.judgments import Judgments
from rankproof.core.table import RankingTable

_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def git_commit(folder: Path) -> str | None:
    """The commit that is checked out where `folder` is; None where that cannot be told."""
    try:
        where = _git_folder(folder.resolve())
        return None if where is None else _commit_of(where)
    except (OSError, ValueError):  # an unreadable or odd repository is no reason not to save
        return None


def _git_folder(folder: Path) -> Path | None:
    for each in (folder, *folder.parents):
        git = each / ".git"
        if git.is_dir():
            return git
        if git.is_file():  # a worktree or submodule keeps its own elsewhere
            return each / git.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
    return None


def _commit_of(git: Path) -> str | None:
    head = _line(git / "HEAD")
    if not head.startswith("ref:"):
        return head if _HASH.fullmatch(head) else None
    name, common = head.removeprefix("ref:").strip(), _common(git)
    for folder in (git, common):
        found = _line(folder / name)
        if _HASH.fullmatch(found):
            return found
    return _packed(common, name)


def _common(git: Path) -> Path:
    """Where the branches are: a worktree names the folder it shares with others."""
    shared = _line(git / "commondir")
    return git / shared if shared else git


def _packed(git: Path, name: str) -> str | None:
    packed = git / "packed-refs"
    for line in packed.read_text(encoding="utf-8").splitlines() if packed.is_file() else []:
        commit, _, ref = line.partition(" ")
        if ref == name and _HASH.fullmatch(commit):
            return commit
    return None


def _line(path: Path) -> str:
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def of_judgments(judgments: Judgments) -> str:
    """The fingerprint of which documents were judged for which queries, how, and under which aspects.

    Aspects count by what is in them; their names and order move no number.
    """
    return _digest(_judged(judgments, i) for i in _sorted(judgments.queries))


def _sorted(queries: tuple[str, ...]) -> list[int]:
    return sorted(range(len(queries)), key=queries.__getitem__)


def _judged(judgments: Judgments, query: int) -> list[Any]:
    rows = range(int(judgments.start[query]), int(judgments.start[query + 1]))
    docs = [judgments.docs[row] for row in rows]
    plain = sorted(zip(docs, judgments.grade[rows.start : rows.stop].tolist(), strict=True))
    return [judgments.queries[query], plain, _aspects(judgments, rows)]


def _aspects(judgments: Judgments, rows: range) -> list[Any]:
    facets = judgments.facets
    if facets is None:
        return []
    found: dict[int, list[Any]] = {}
    for row in rows:
        part = slice(int(facets.start[row]), int(facets.start[row + 1]))
        for aspect, grade in zip(facets.aspect[part].tolist(), facets.grade[part].tolist(), strict=True):
            found.setdefault(aspect, []).append((judgments.docs[row], grade))
    return sorted(sorted(each) for each in found.values())


def of_ranking(table: RankingTable, by_rank: bool = False) -> str:
    """The fingerprint of every query's documents with what orders them: scores, or ranks, or their places."""
    rows = table.by_query()
    order = _ordering(table, by_rank)
    return _digest(
        [query, sorted((table.doc[row], order(place, row)) for place, row in enumerate(rows[query]))]
        for query in sorted(rows)
    )


def _ordering(table: RankingTable, by_rank: bool) -> Any:
    column = table.rank if by_rank or table.score is None else table.score
    if column is None:
        return lambda place, row: place
    values = column.tolist()
    return lambda place, row: values[row]


def _digest(parts: Iterator[list[Any]]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(json.dumps(part).encode("ascii"))
    return digest.hexdigest()
