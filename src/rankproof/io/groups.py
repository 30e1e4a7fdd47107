"""Groups of queries: what `by=` may be, and lines of QUERY<TAB>GROUP, a column, the metadata of queries."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime, time
from typing import Any

import numpy as np

from rankproof.core.hits import Array
from rankproof.errors import DataError, UsageError, UserCode, not_known, shorten
from rankproof.io.column_roles import NAMES
from rankproof.io.files import STDIN, name_of, read_head
from rankproof.io.formats import TREC_JUDGMENTS, sniff
from rankproof.io.inputs import is_pipe, plain_name
from rankproof.io.read import METADATA, QUESTION_ID, QUESTION_TEXT, Row, field_of, id_and_text, id_of, records, rows_in
from rankproof.io.values import is_frame, is_id, is_integer, unfit
from rankproof.suggestions import nearest

IDS = tuple(dict.fromkeys((*QUESTION_ID, *(name for tier in NAMES["query"] for name in tier))))
BESIDE = {plain_name(each) for each in (*QUESTION_TEXT, *METADATA, *QUESTION_ID)}
"""Fields of a query that are no group."""


def load_groups(source: Any, field: str | None = None) -> dict[str, str]:
    """`{query: group}` from lines of QUERY<TAB>GROUP, or from records of queries: a file, a data frame, a mapping.

    `field` is the column, or the key of a query's metadata, that holds the group; it may be left out where
    there is one only. Records without a group are left out.

    >>> load_groups([{"_id": "q1", "metadata": {"kind": "typo"}}, {"_id": "q2", "metadata": {}}])
    {'q1': 'typo'}
    """
    if isinstance(source, str | os.PathLike):
        placed = list(rows_in(source, headless=_query_and_group if field is None else id_and_text))
        if placed and isinstance(placed[0].value, tuple):
            return _once((where, *pair) for where, pair in placed)
    else:
        placed = list(records(source, "by"))
    return _grouped(placed, field, _name_of(source))


def _name_of(source: Any) -> str:
    return name_of(source) if isinstance(source, str | os.PathLike) else "by"


def _query_and_group(line: str, where: str) -> tuple[str, str]:
    query, _, group = line.rstrip("\r\n").partition("\t")
    if not query or not group.strip() or "\t" in group:
        raise unfit(where, line.strip(), "QUERY<TAB>GROUP", "correct the line")
    return query, group.strip()


def _once(rows: Iterable[tuple[str, str, str]]) -> dict[str, str]:
    groups: dict[str, str] = {}
    for where, query, group in rows:
        if groups.setdefault(query, group) != group:
            raise DataError(
                f"{where}: query {shorten(query)} is in group {shorten(groups[query])} and in {shorten(group)}, "
                "expected one group per query. Next: keep one of the lines."
            )
    return groups


def _grouped(placed: list[Row], field: str | None, name: str) -> dict[str, str]:
    for where, record in placed:
        if not isinstance(record, Mapping):
            raise unfit(where, record, "a record with a query's id and its group", "name the fields query and group")
    wanted = field or _only_field([record for _, record in placed], name)
    found = _once(
        (where, id_of(record, IDS, where), _label(value, where))
        for where, record in placed
        if not _is_missing(value := _fields(record).get(wanted)) and not (isinstance(value, str) and not value)
    )
    if not found:
        fields = list(dict.fromkeys(key for _, record in placed for key in _fields(record)))
        said = f"{name}: no query has a {wanted!r}; there are {', '.join(fields) or 'no fields'}"
        raise not_known(said, wanted, fields)
    return found


def _is_missing(value: Any) -> bool:
    """Whether it is None or NaN, a missing cell; an array is neither, and no group either."""
    return value is None or (not isinstance(value, np.ndarray) and bool(value != value))


def _label(value: Any, where: str) -> str:
    if isinstance(value, date):  # a time of day is told where there is one
        return (value.date() if isinstance(value, datetime) and value.time() == time() else value).isoformat()
    if not is_id(value) and not isinstance(value, bool | float):
        raise unfit(where, value, "text, a number or a date", "give each query a name of its group", role="a group")
    return str(value).lower() if isinstance(value, bool) else str(value)


def _fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a record and of its metadata; their names as text."""
    inside = (record[key] for key in record if key in METADATA and isinstance(record[key], Mapping))
    return {str(key): value for each in (*inside, record) for key, value in each.items()}


def _only_field(rows: list[Mapping[str, Any]], name: str) -> str:
    """The one field that is neither id nor text."""
    fields = dict.fromkeys(key for record in rows for key in _fields(record))
    named = {field_of(record, IDS) for record in rows}
    left = [key for key in fields if key not in named and plain_name(key) not in BESIDE]
    left = left or [key for key in fields if key not in named and key not in METADATA]
    if len(left) != 1:
        listed = f"several fields, {', '.join(left)}" if left else "no field beside ids and texts"
        raise UsageError(f"{name}: {listed}. Next: name the one with the groups, like {name}:{(left or ['kind'])[0]}.")
    return left[0]


def by_name(text: str) -> tuple[str, str | None] | None:
    """A file and the field in it, from FILE or FILE:FIELD; None if there is no such file."""
    if text == STDIN or os.path.exists(text):
        return text, None
    path, colon, field = text.rpartition(":")
    there = path == STDIN or os.path.exists(path)
    return (path, field) if colon and field and there else None


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
    if isinstance(by, tuple) and len(by) == 2:
        return load_groups(*by)
    if isinstance(by, str | os.PathLike):
        return _named(os.fspath(by), judgments)
    if is_frame(by) or isinstance(by, list):
        return load_groups(by)
    raise UsageError(
        f"by: got {shorten(by)}, expected a mapping of query id to group, a function, a file, a data frame or a column "
        "of the judgments. Next: give one of these."
    )


def _named(by: str, judgments: Any) -> dict[str, str]:
    """The groups that a word names: a file, a field in one, or a column of the judgments."""
    found = by_name(by)
    if found is not None:
        return load_groups(*found)
    there = isinstance(judgments, str | os.PathLike) and (os.path.isfile(judgments) or is_pipe(judgments))
    # The columns of a TREC file have no names.
    has_names = there and sniff(read_head(judgments), os.fspath(judgments)) != TREC_JUDGMENTS
    if has_names or is_frame(judgments) or (isinstance(judgments, list) and judgments):
        try:
            return _grouped(list(records(judgments, "judgments")), by, _name_of(judgments))
        except (UsageError, DataError) as error:
            why = str(error).partition(" Next: ")[0]
            raise type(error)(
                f"by: {shorten(by, 200)} is neither a file nor a usable column of the judgments: {why} "
                "Next: check the spelling, or give a mapping of query id to group."
            ) from error
    raise UsageError(
        f"by: {shorten(by, 200)} is not a file, and these judgments have no columns. Next: name a file of lines "
        "QUERY<TAB>GROUP, or FILE:FIELD of a file of queries."
    )


def group_places(queries: Sequence[str], by: Any) -> dict[str, Array]:
    """For each group that `by` names, where its queries stand; queries without a group are left out."""
    if by is None:
        return {}
    if not callable(by) and not isinstance(by, Mapping):
        raise UsageError(
            f"by: got {by!r}, expected a mapping of query id to group, or a function. Next: give one of these."
        )
    if isinstance(by, Mapping) and any(map(is_integer, by)):
        by = {str(query) if is_integer(query) else query: group for query, group in by.items()}
    look_up = by if callable(by) else by.get
    found: dict[str, list[int]] = {}
    for i, query in enumerate(queries):
        with UserCode(by, "the query", query):
            group = look_up(query)
        if isinstance(group, np.ndarray | list | dict | set):
            raise unfit("by", group, "one group for a query", "give each query a name of its group", role="a group")
        if not _is_missing(group):
            found.setdefault(str(group), []).append(i)
    if not found:
        named = [query for query, group in by.items() if not _is_missing(group)] if isinstance(by, Mapping) else []
        hint = nearest(str(named[0]), queries) if named else ""
        raise (DataError if isinstance(by, Mapping) else UsageError)(
            f"by: gives none of the {len(queries):,} judged queries a group.{hint}"
            " Next: use the ids of the judged queries, and give each the name of its group."
        )
    return {group: np.array(rows) for group, rows in sorted(found.items())}
