"""JSON and JSON Lines: nested objects, rows, or one query per line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Any

from rankproof.core.judgments import TwoGrades, add_judgment
from rankproof.errors import DataError, shorten
from rankproof.io.column_roles import (
    JUDGMENTS,
    RANKING,
    Wanted,
    column_of,
    guess,
    guess_sentence,
    list_columns,
    without_expected,
)
from rankproof.io.inputs import column_named, plain_name
from rankproof.io.read import DECODER, decode_json
from rankproof.io.rows import Rows
from rankproof.io.values import unfit

LISTS = {
    plain_name(name)
    for name in (
        "results", "result", "docs", "documents", "doc_ids", "ranking", "ranked", "run", "hits", "retrieved",
        "retrieved_doc_ids", "retrieved_context_ids", "relevant", "relevant_docs", "relevant_doc_ids",
        "reference_context_ids", "judgments", "judgements", "qrels", "grades",
    )
}  # fmt: skip
"""Names of the list of documents if each object holds one query."""
Nested = dict[str, Any]
"""`{query: documents}`, as `judgments_from_mapping` and `MappingRankings` take it."""


def read_json(text: str, wanted: Wanted, source: str) -> Nested | Rows:
    """The content of a JSON or JSONL text: nested judgments or rankings, or rows."""
    if not text.strip():
        raise DataError(f"{source}: empty, there is no JSON in it. Next: check how it was made.")
    line = None
    try:
        data = DECODER.decode(text)
    except (ValueError, RecursionError):
        head = [line for line in text.split("\n", 8)[:8] if line.strip()]
        # The first line is an object or a list of its own, and something follows.
        many = len(head) > 1 and re.match(r"\s*[\[{].*[\]}]\s*$", head[0])
        if many:
            line = [number for number, each in enumerate(text.split("\n"), 1) if each.strip()]
            lines = zip(filter(str.strip, text.split("\n")), line, strict=True)
            data = [decode_json(each, source, number) for each, number in lines]
        else:
            data = decode_json(text, source, 1)  # refuses it in words
    data = rows_inside(data)
    if isinstance(data, dict):
        # An object is a row, or one query with its documents, if its query is no object or list itself.
        query = column_of("query", list(data))
        is_row = bool(query) and not isinstance(data[query[0]], (dict, list))
        if is_row:
            return _objects([data], None, wanted, source)
        if not data:
            raise DataError(f"{source}: empty, it has no queries. Next: check how it was made.")
        return {query: _documents(docs, f"{source}, query {shorten(query)}") for query, docs in data.items()}
    if isinstance(data, list):
        return _objects(data, line, wanted, source)
    rows = 'or rows as {"query_id": ..., "doc_id": ..., "score": ...}'
    raise unfit(source, data, "an object or a list", f"write {{query: {{doc: number}}}}, {{query: [doc, ...]}}, {rows}")


def rows_inside(data: Any) -> Any:
    """The rows in `{"results": rows}`, each of which names its query; anything else as it is.

    >>> rows_inside({"results": [{"query": "q1", "doc": "d1"}]}), rows_inside({"results": ["d1"]})
    ([{'query': 'q1', 'doc': 'd1'}], {'results': ['d1']})
    """
    if isinstance(data, dict) and len(data) == 1 and not LISTS.isdisjoint(map(plain_name, map(str, data))):
        (inside,) = data.values()
        first = inside[0] if isinstance(inside, list) and inside else None
        return inside if isinstance(first, dict) and column_of("query", list(map(str, first))) else data
    return data


def graded_rankings(data: Nested, source: str) -> Nested:
    """Nested judgments with lists of (document, grade) turned into objects."""
    return {query: _graded(docs, f"{source}, query {shorten(query)}") for query, docs in data.items()}


def _graded(docs: Any, where: str) -> Any:
    if not isinstance(docs, list) or not docs or not all(isinstance(pair, (list, tuple)) for pair in docs):
        return docs
    grades: dict[Any, Any] = {}
    for pair in docs:
        if len(pair) != 2 or not isinstance(pair[0], (str, int)):
            raise unfit(where, pair, "a pair [doc, grade]", "correct it")
        try:
            add_judgment(grades, *pair)
        except TwoGrades as error:
            raise error.of(f"{where}: document {shorten(pair[0])}") from error
    return grades


def _objects(data: list[Any], line: Sequence[int] | None, wanted: Wanted, source: str) -> Nested | Rows:
    """A list of rows, or of objects that each hold one query."""
    rows = Rows({}, source, line)
    first = data[0] if data and isinstance(data[0], dict) else {}
    held = [name for name, value in first.items() if isinstance(value, (dict, list))]
    scalars = [name for name, value in first.items() if not isinstance(value, (dict, list))]
    # With the column of one document a row there may be several rows a query.
    several = column_of("doc", scalars if wanted is not RANKING else without_expected(scalars))
    if not several and (lists := list_columns(held, LISTS, wanted)):
        return _by_query(data, scalars, lists, rows, wanted)
    return read_tuples(data, wanted, source, line)


def _scores_beside(item: dict[str, Any], docs: str, wanted: Wanted) -> str | None:
    """The name of the list of scores that stands beside the list of documents."""
    held = [name for name, value in item.items() if isinstance(value, list) and name != docs]
    numbers = column_of("score", held) if wanted is RANKING else column_of("grade", held)
    plain = isinstance(item[docs], list) and not any(isinstance(doc, (dict, list)) for doc in item[docs])
    return numbers[0] if len(numbers) == 1 and plain else None


def _by_query(data: list[Any], scalars: list[str], lists: list[str], rows: Rows, wanted: Wanted) -> Nested:
    """`{query: documents}` from objects that each hold one query."""
    query = column_named("query", scalars) or [name for name in scalars if plain_name(name) == "id"]
    query = query or column_of("query", scalars)
    if len(query) != 1 or len(lists) != 1:
        raise DataError(
            f"{rows.where(0)}: cannot tell the query and its documents in {shorten(list(data[0]))}. "
            'Next: name them "query_id" and "relevant" (in a ranking "results"), and leave other lists out.'
        )
    nested: dict[Any, Any] = {}
    seen: dict[Any, int] = {}
    beside = _scores_beside(data[0], lists[0], wanted)
    for row, item in enumerate(data):
        if not isinstance(item, Mapping) or query[0] not in item or lists[0] not in item:
            expected = f"an object with {query[0]!r} and {lists[0]!r} as the first one"
            raise unfit(rows.where(row), item, expected, "give every line the same fields")
        name, docs = item[query[0]], [] if item[lists[0]] is None else item[lists[0]]
        if not isinstance(name, (str, int)):
            raise unfit(rows.where(row), name, "text", "correct it", role="the query")
        if name in seen:
            raise DataError(
                f"{rows.where(row)}: query {shorten(name)} was given before ({rows.where(seen[name])}). "
                "Next: keep one of them."
            )
        seen[name] = row
        if beside is not None:
            docs = _paired(docs, item.get(beside) if docs else [], beside, rows.where(row))
        nested[name] = _documents(docs, rows.where(row))
    return nested


def _paired(docs: Any, numbers: Any, name: str, where: str) -> list[tuple[Any, Any]]:
    if not isinstance(docs, list) or not isinstance(numbers, list) or len(docs) != len(numbers):
        got = f"{len(numbers):,}" if isinstance(numbers, list) else shorten(numbers)
        count = f"{len(docs):,} documents" if isinstance(docs, list) else shorten(docs)
        raise DataError(f"{where}: got {got} in {name!r} for {count}, expected as many. Next: correct this query.")
    return list(zip(docs, numbers, strict=True))


def _documents(docs: Any, where: str) -> Any:
    """The documents of one query; objects become pairs of id and number."""
    if not isinstance(docs, list) or not docs or not isinstance(docs[0], dict):
        return docs
    names = list(docs[0])
    id_name = column_of("doc", names) or [name for name in names if plain_name(name) == "id"]
    number = column_of("score", names) or column_of("grade", names)
    if len(id_name) != 1 or len(number) > 1:
        raise DataError(
            f"{where}: cannot tell the document and its number in {shorten(docs[0])}. "
            'Next: name them "doc_id" and "score".'
        )
    wanted = [*id_name, *number]
    for doc in docs:
        if not isinstance(doc, dict) or any(name not in doc for name in wanted):
            raise unfit(where, doc, f"an object with {', '.join(wanted)}", "correct the entry, or drop it")
    return [tuple(doc[name] for name in wanted) if number else doc[id_name[0]] for doc in docs]


def read_tuples(items: Iterable[Any], wanted: Wanted, source: str, line: Sequence[int] | None = None) -> Rows:
    """The rows of plain tuples, of named tuples or of dicts, each column under its role.

    >>> from rankproof.io.column_roles import JUDGMENTS
    >>> read_tuples([("q1", "d1", 2), ("q1", "d2", 0)], JUDGMENTS, "judgments").columns
    {'query': ['q1', 'q1'], 'doc': ['d1', 'd2'], 'grade': [2, 0]}
    """
    rows = Rows({}, source, line)
    found = list(items)
    if not found:
        raise DataError(f"{source}: empty, it has no rows. Next: check how it was made.")
    first = found[0]
    if not isinstance(first, Mapping) and not hasattr(first, "_fields"):
        return _unnamed(found, wanted, rows)
    names = [str(name) for name in first] if isinstance(first, Mapping) else list(first._fields)
    took = guess(names, wanted, source)
    columns = {role: _column(found, name, rows) for role, name in took.items()}
    return Rows(columns, source, line, (guess_sentence(took, source),))


def _column(items: list[Any], name: str, rows: Rows) -> list[Any]:
    get = itemgetter(name) if isinstance(items[0], Mapping) else attrgetter(name)
    column: list[Any] = []
    try:
        column.extend(map(get, items))
    except (LookupError, AttributeError, TypeError) as error:
        row = len(column)  # all before it have the field
        raise DataError(
            f"{rows.where(row)}: got {shorten(items[row])}, which has no {name!r} as the first one has. "
            "Next: give every row the same fields."
        ) from error
    return column


def _unnamed(items: list[Any], wanted: Wanted, rows: Rows) -> Rows:
    value = "grade" if wanted is JUDGMENTS else "score"
    width = len(items[0]) if isinstance(items[0], (tuple, list)) else 0
    all_are_tuples = all(issubclass(kind, (tuple, list)) for kind in set(map(type, items)))
    if width not in (2, 3) or not all_are_tuples or set(map(len, items)) != {width}:
        unlike = (row for row, item in enumerate(items) if not (isinstance(item, (tuple, list)) and len(item) == width))
        row, same = next(unlike, 0), f" with {width} fields as the first one" if width in (2, 3) else ""
        expected = f"a tuple (query, doc, {value}) or (query, doc){same}"
        raise unfit(rows.where(row), items[row], expected, "give every row that form, or named tuples")
    roles = ("query", "doc", value)
    columns = {role: list(column) for role, column in zip(roles, zip(*items, strict=True), strict=False)}
    return Rows(columns, rows.source, rows.line)
