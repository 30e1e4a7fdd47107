"""The git commit of a folder, read from git's own files: nothing is run that could hang or be missing."""

from __future__ import annotations

import re
from pathlib import Path

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
