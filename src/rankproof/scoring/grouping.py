"""What `by=` may be: a mapping, a function, a file, a data frame, a column of the judgments."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rankproof.core.hits import Array
from rankproof.core.judgments import Judgments
from rankproof.errors import DataError, UsageError, nearest, shorten

Grouping = Mapping[str, str] | Callable[[str], str] | str | os.PathLike[str] | tuple[Any, str] | Any
"""`{query: group}`, a function of the query's id, FILE or FILE:FIELD, a data frame of queries, `(source, field)`,
or the name of a column of the judgments."""


def groups_of(by: Grouping | None, judgments: Any = None) -> Mapping[str, str] | Callable[[str], str] | None:
    """The groups as a mapping or a function; files, frames and columns are read.

    >>> groups_of(([{"_id": "q1", "kind": "typo", "topic": "billing"}], "topic"))
    {'q1': 'billing'}
    """
    if by is None or callable(by) or isinstance(by, Mapping):
        return by
    from rankproof.io.frames import is_frame
    from rankproof.io.groups import load_groups

    if isinstance(by, tuple) and len(by) == 2:
        return load_groups(*by)
    if isinstance(by, str | os.PathLike):
        return _named(os.fspath(by), judgments)
    if is_frame(by) or isinstance(by, list):
        return load_groups(by)
    raise UsageError(
        f"by: got {shorten(by)}, expected a mapping of query id to group, a function, a file, a data frame or a "
        "column of the judgments."
        " Next: give one of these."
    )


def _named(by: str, judgments: Any) -> dict[str, str]:
    """The groups that a word names: a file, a field in one, or a column of the judgments."""
    from rankproof.io.frames import is_frame
    from rankproof.io.groups import by_name, groups_in_judgments, load_groups

    found = by_name(by)
    if found is not None:
        return load_groups(*found)
    if is_frame(judgments) or _is_file(judgments) or (isinstance(judgments, list) and judgments):
        try:
            return groups_in_judgments(judgments, by)
        except (DataError, UsageError) as error:
            raise UsageError(
                f"by: {by!r} is no file and no column of the judgments: {str(error).partition(' Next: ')[0]}"
                " Next: check the spelling, or give a mapping of query id to group."
            ) from error
    raise UsageError(
        f"by: {by!r} is no file, and these judgments have no columns. Next: name a file of lines QUERY<TAB>GROUP, "
        "or FILE:FIELD of a file of queries."
    )


def _is_file(judgments: Any) -> bool:
    if isinstance(judgments, Judgments) or not isinstance(judgments, str | os.PathLike):
        return False
    from rankproof.io.pipes import is_pipe

    return os.path.isfile(judgments) or is_pipe(judgments)


def group_places(queries: Sequence[str], by: Any) -> dict[str, Array]:
    """For each group that `by` names, where its queries stand; queries without a group are left out."""
    if by is None:
        return {}
    if not callable(by) and not isinstance(by, Mapping):
        raise UsageError(
            f"by: got {by!r}, expected a mapping of query id to group, or a function. "
            "Next: give one of these."
        )
    look_up = by if callable(by) else by.get
    found: dict[str, list[int]] = {}
    for i, query in enumerate(queries):
        group = look_up(query)
        if group is not None:
            found.setdefault(str(group), []).append(i)
    if not found:
        example = next(iter(by), "") if isinstance(by, Mapping) else ""
        raise (DataError if isinstance(by, Mapping) else UsageError)(
            f"by: names none of the {len(queries)} judged queries.{nearest(str(example), queries)}"
            " Next: use the ids of the judged queries."
        )
    return {group: np.array(rows) for group, rows in sorted(found.items())}
