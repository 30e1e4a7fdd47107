"""What the arguments of a command name: rankings with the names they are shown by, and groups of queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from rankproof.errors import DataError, UsageError, shorten

STDIN = "-"


def named(paths: Sequence[str]) -> dict[str, str]:
    """The paths by the shortest names that tell them apart.

    >>> named(["runs/a.run", "runs/b.run"]), named(["x/a.run", "y/a.run"])
    ({'a.run': 'runs/a.run', 'b.run': 'runs/b.run'}, {'x/a.run': 'x/a.run', 'y/a.run': 'y/a.run'})
    """
    unique = list(dict.fromkeys(paths))
    names = ["standard input" if path == STDIN else PurePath(path).name for path in unique]
    return dict(zip(names if len(set(names)) == len(names) else unique, unique, strict=True))


def check_one_stdin(*paths: str) -> None:
    """Standard input can be read once."""
    if paths.count(STDIN) > 1:
        raise UsageError("'-' was given more than once, but standard input can be read once only.")


def read_groups(path: str) -> dict[str, str]:
    """`{query: group}` from a file of lines QUERY<TAB>GROUP; blank lines and # comments are left out."""
    from rankproof.io.files import read_bytes, text_of

    groups: dict[str, str] = {}
    for number, query, group in _pairs(text_of(read_bytes(path), path), path):
        if groups.setdefault(query, group) != group:
            raise DataError(
                f"{path}, line {number}: query {shorten(query)} is in group {shorten(groups[query])} and in "
                f"{shorten(group)}, expected one group a query."
            )
    return groups


def _pairs(text: str, path: str) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        query, tab, group = line.partition("\t")
        if not tab or not query or not group.strip() or "\t" in group:
            raise DataError(f"{path}, line {number}: got {shorten(line)}, expected QUERY<TAB>GROUP.")
        yield number, query, group.strip()
