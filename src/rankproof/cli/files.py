"""What the arguments of a command name: rankings with the names they are shown by, and groups of queries."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from rankproof.errors import UsageError

STDIN = "-"


def named(paths: Sequence[str], shown_as: str | None = None) -> dict[str, str]:
    """The paths by the names asked for, else by the shortest ones that tell them apart.

    >>> named(["runs/a.run", "runs/b.run"]), named(["x/a.run", "y/a.run"])
    ({'a.run': 'runs/a.run', 'b.run': 'runs/b.run'}, {'x/a.run': 'x/a.run', 'y/a.run': 'y/a.run'})
    """
    paths = [each for path in paths for each in matched(path)]
    twice = [path for i, path in enumerate(paths) if path in paths[:i] and path != STDIN]
    if twice:
        raise UsageError(f"{twice[0]}: given more than once. Next: name each file once.")
    if shown_as is not None:
        return dict(zip(_asked(shown_as, len(paths)), paths, strict=True))
    names = ["standard input" if path == STDIN else PurePath(path).name for path in paths]
    return dict(zip(names if len(set(names)) == len(names) else paths, paths, strict=True))


def matched(path: str) -> list[str]:
    """The files that a pattern like `runs/2026-*.run` stands for, in order; what is no pattern as it is."""
    if path == STDIN or os.path.lexists(path) or not glob.has_magic(path):
        return [path]
    found = sorted(glob.glob(path, recursive=True))
    if not found:
        raise UsageError(f"{path}: no file matches. Next: check the folder, and the pattern.")
    return found


def _asked(shown_as: str, n: int) -> list[str]:
    names = [each.strip() for each in shown_as.split(",")]
    if len(names) != n or len({*names, ""}) <= n:
        raise UsageError(
            f"--names: got {shown_as!r}, expected {n} different names with commas between. Next: name each run."
        )
    return names


def check_one_stdin(*paths: str) -> None:
    """Standard input can be read once."""
    if paths.count(STDIN) > 1:
        raise UsageError(
            "'-' was given more than once, but standard input can be read once only. "
            "Next: put one of them into a file."
        )


def read_groups(by: str, judgments: str | None = None) -> Any:
    """The groups of queries that `--by` names: FILE, FILE:FIELD, or a column of the judgments."""
    from rankproof.api.grouping import groups_of

    return groups_of(by, judgments)
