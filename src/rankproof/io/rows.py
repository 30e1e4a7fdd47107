"""Rows that were read from somewhere, with the checks that every such source shares; and as judgments."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np

from rankproof.core.hits import Array
from rankproof.core.judgments import Judgments, judgments_from_rows
from rankproof.document.terminal import for_face
from rankproof.errors import DataError, number_in, shorten
from rankproof.io.roles import JUDGMENTS, Wanted, column_of, guess, guess_sentence
from rankproof.io.values import as_numbers, is_id, is_number

LISTS = (list, tuple, np.ndarray)
"""Types that hold several documents in one cell of a table."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Columns by their role (query, doc, grade, score, rank, aspect), and where each row stands."""

    columns: dict[str, Any]
    """A sequence of values for each role; numbers may be an array already."""
    source: str
    line: Sequence[int] | None = None
    """The line of each row; None: rows are counted from 1."""
    notes: tuple[str, ...] = ()
    unit: str = "line"
    """The unit of `line`."""
    names: Mapping[str, str] = field(default_factory=dict)
    """The name of the column of each role, as far as they are known."""

    def where(self, row: int) -> str:
        """The place of a row, as messages call it."""
        place = f"row {row + 1}" if self.line is None else f"{self.unit} {self.line[row]}"
        return f"{self.source}, {place}"

    def ids(self, role: str) -> tuple[list[str], bool]:
        """The ids of a column as text, and whether they were integers."""
        values: Sequence[Any] = self.columns[role]
        example: dict[bool, int] = {}
        for kind in set(map(type, values)):
            row = next(row for row, value in enumerate(values) if type(value) is kind)
            if not is_id(values[row]):
                raise self._error(row, role, values[row], "expected text")
            example[issubclass(kind, str)] = row
        if len(example) > 1:
            integer, text = example[False], self.where(example[True])
            raise self._error(integer, role, values[integer], f"expected text as in {text}")
        ids = list(map(str, values))
        if "" in ids:
            raise self._error(ids.index(""), role, "", "expected an id")
        try:
            "".join(ids).encode()
        except UnicodeEncodeError:
            row = next(row for row, text in enumerate(ids) if any("\ud800" <= letter <= "\udfff" for letter in text))
            raise self._error(row, role, ids[row], "expected valid Unicode") from None
        return ids, False in example

    def numbers(self, role: str, finite: bool = False) -> Array:
        """The numbers of a column; NaN is refused, and grades must be finite."""
        values = self.columns[role]
        numbers = values if isinstance(values, np.ndarray) else as_numbers(tuple(values))
        if numbers is None:
            row = next(row for row, value in enumerate(values) if not is_number(value))
            raise self._error(row, role, values[row], "expected a number")
        unfit = ~np.isfinite(numbers) if finite else np.isnan(numbers)
        if unfit.any():
            row = int(np.flatnonzero(unfit)[0])
            got = float(values[row])
            raise self._error(row, role, got, f"expected a {'finite ' if finite else ''}number")
        return numbers.astype(np.float64)

    def _error(self, row: int, role: str, got: object, expected: str) -> DataError:
        kind = "" if isinstance(got, str) else f" ({type(got).__name__})"
        step = mending_step(self.columns[role], role, self.names.get(role, ""), self.source)
        return DataError(f"{self.where(row)}: got {shorten(got)}{kind} as the {role}, {expected}. Next: {step}.")


TRUTHS = ("true", "false")
DECIMAL_COMMA = re.compile(r"-?[0-9]+,[0-9]+")


def mending_step(values: Sequence[Any], role: str, name: str, source: str) -> str:
    """How to mend a column if all of its values are of one wrong kind; else what to do with a row.

    >>> mending_step([True, False], "grade", "label", "judgments")
    "turn the whole column into 0 and 1, like frame['label'].astype(int)"
    >>> mending_step(["high", "1"], "grade", "label", "judgments")
    'correct or drop this row'
    """
    given = [each for each in values if each is not None]
    field, column = f'("{name}": *)', name if name.isidentifier() else f'\\"{name}\\"'
    cell, texts = column, any(isinstance(each, str) for each in given)
    if role not in ("grade", "score", "rank"):
        if not all(isinstance(each, float) for each in given) or not any(each.is_integer() for each in given):
            return "correct or drop this row"
        kind, series, one, cast = "whole numbers", ".astype('Int64')", "int(value)", "bigint"
        edit = rf's/("{name}": *-?[0-9]+)\.0/\1/'
    elif given and all(isinstance(each, bool | np.bool_ | str) and str(each).lower() in TRUTHS for each in given):
        kind, series, one, cast = "0 and 1", ".astype(int)", "int(value)", "int"
        edit = rf"s/{field}true/\11/; s/{field}false/\10/"
        if texts:
            series, one = f".astype(str).str.lower().eq('true'){series}", "int(value.lower() == 'true')"
            cast = "boolean::int"
            edit = "; ".join(
                f's/"?\\b{word}\\b"?/{int(word.lower() == "true")}/' for word in sorted(set(map(str, given)))
            )
    elif texts and not any(isnan(number_in(each.replace(",", ".") if _has_comma(each) else each)) for each in given):
        kind, series, one, cast = "numbers", ".astype(float)", "float(value)", "double"
        edit = rf's/{field}"([^"]*)"/\1\2/'
        if any(map(_has_comma, given)):
            kind, cell = "numbers with points", f"replace({cell}, ',', '.')"
            series, one = f".astype(str).str.replace(',', '.'){series}", "float(value.replace(',', '.'))"
            edit += rf"; s/({field}-?[0-9]+),([0-9])/\1.\3/"
            if "json" not in os.path.splitext(source)[1]:
                edit = r's/"(-?[0-9]+),([0-9]+)"/\1.\2/g; /[;\t]/s/([0-9]),([0-9])/\1.\2/g'
    else:
        return "correct or drop this row"
    table = f"select * replace ({cell}::{cast} as {column}) from '{source}'"
    shell = f"sed -E '{edit}' {shlex.quote(source)} > mended{os.path.splitext(source)[1]}"
    if source.endswith(".parquet"):
        shell = f"duckdb -c \"copy ({table}) to 'mended.parquet'\""
    how = for_face(f"frame[{name!r}]{series}" if name else f"{one} in each row", shell)
    return f"turn the whole column into {kind}, like {how}"


def _has_comma(value: Any) -> bool:
    return isinstance(value, str) and bool(DECIMAL_COMMA.fullmatch(value))


def parse_numbers(texts: Sequence[str], where: Callable[[int], str], role: str, name: str, source: str) -> Array:
    """The numbers that texts spell out; a text that spells none is an error at its place."""
    try:
        numbers = np.array(list(map(float, texts)), dtype=np.float64)
        if "_" not in "".join(texts) and not np.isnan(numbers).any():
            return numbers
    except ValueError:
        pass
    row = next(row for row, text in enumerate(texts) if not spells_number(text) or float(text) != float(text))
    raise DataError(
        f"{where(row)}: got {shorten(texts[row])} as the {role}, expected a number. "
        + (
            "Next: drop this row, it is a heading."
            if column_of(role, [texts[row]])
            else f"Next: {mending_step(texts, role, name, source)}."
        )
    )


def spells_number(text: str) -> bool:
    """Whether a text is a number as people write it: no digits grouped by underscores.

    >>> spells_number("1e-3"), spells_number("1_000"), spells_number("high")
    (True, False, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def one_a_row(rows: Rows, *, ranked: bool) -> Rows:
    """The rows with each list of documents as so many rows; `ranked`: the best come first.

    >>> one_a_row(Rows({"query": ["q"], "doc": [["a", "b"]]}, "a list"), ranked=True).columns
    {'query': ['q', 'q'], 'doc': ['a', 'b'], 'rank': [1, 2]}
    """
    lists = _lists_in(rows)
    if lists is None:
        return rows
    at = [row for row, docs in enumerate(lists) for _ in docs]
    held = {role: _held(rows, role, lists) for role in ("score", "rank") if role in rows.columns}
    columns = {role: [values[row] for row in at] for role, values in rows.columns.items()}
    columns |= {role: values for role, values in held.items() if values is not None}
    columns["doc"] = [doc for docs in lists for doc in docs]
    if isinstance(columns["doc"][0] if columns["doc"] else None, Mapping):
        columns |= _fields_of(columns["doc"], rows, at)
    if ranked and not {"score", "rank"} & set(columns):
        columns["rank"] = [rank for docs in lists for rank in range(1, len(docs) + 1)]
    line = None if rows.line is None else [rows.line[row] for row in at]
    return replace(rows, columns=columns, line=line)


def _held(rows: Rows, role: str, lists: Sequence[Sequence[Any]]) -> list[Any] | None:
    """The numbers of all documents, if each row has a list of them; None if it has one for all."""
    values = rows.columns[role]
    if not any(isinstance(value, LISTS) for value in values):
        return None
    for row, (value, docs) in enumerate(zip(values, lists, strict=True)):
        count = 0 if value is None else len(value) if isinstance(value, LISTS) else -1
        if count != len(docs):
            got = f"{count} numbers" if count >= 0 else shorten(value)
            raise DataError(
                f"{rows.where(row)}: got {got} in the {role} column for {len(docs)} documents, expected as many. "
                "Next: correct or drop this row."
            )
    return [number for value in values if value is not None for number in value]


def _fields_of(docs: Sequence[Any], rows: Rows, at: Sequence[int]) -> dict[str, list[Any]]:
    """The documents of lists of records, with their scores and ranks."""
    names = list(docs[0])
    held = {role: column_of(role, names) for role in ("doc", "score", "rank")}
    held["doc"] = held["doc"] or [name for name in names if name == "id"]
    row = next(
        (row for row, doc in zip(at, docs, strict=True) if not isinstance(doc, Mapping) or list(doc) != names),
        0,
    )
    if len(held["doc"]) != 1 or any(len(each) > 1 for each in held.values()) or row:
        raise DataError(
            f"{rows.where(row)}: cannot tell the document and its score in {shorten(docs[0])}. "
            "Next: name them 'doc_id' and 'score' in each record."
        )
    return {role: [doc[each[0]] for doc in docs] for role, each in held.items() if each}


def _lists_in(rows: Rows) -> list[Sequence[Any]] | None:
    """The documents of each row, where rows hold lists of them, or the JSON of lists; else None."""
    values = rows.columns["doc"]
    if not len(values) or not (isinstance(values[0], LISTS) or str(values[0]).startswith("[")):
        return None
    found = [each for value in values if (each := _list_in(value)) is not None]
    return found if len(found) == len(values) else None


def _list_in(value: Any) -> Sequence[Any] | None:
    if isinstance(value, LISTS):
        return list(value)
    if value is None:
        return ()
    try:
        found = json.loads(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return found if isinstance(found, list) else None


def judgments_of(rows: Rows) -> Judgments:
    """The judgments in the rows; without a grade column every document named is relevant.

    >>> judgments_of(Rows({"query": ["q"], "doc": ["d"]}, "a list")).notes
    ('a list: no grades, so every document listed counts as relevant (grade 1)',)
    """
    rows = one_a_row(rows, ranked=False)
    check_not_empty(rows)
    queries, queries_are_int = rows.ids("query")
    docs, docs_are_int = rows.ids("doc")
    notes = list(rows.notes)
    if "grade" in rows.columns:
        grades = rows.numbers("grade", finite=True).tolist()
    else:
        grades = [1.0] * len(docs)
        notes.append(ungraded_note(rows.source))
    aspects = rows.ids("aspect")[0] if "aspect" in rows.columns else None
    if aspects is None and "iteration" in rows.columns:
        # The second column of a TREC file names an aspect if it is not always the same.
        iterations = list(map(str, rows.columns["iteration"]))
        aspects = iterations if len(set(iterations)) > 1 else None
    judgments = judgments_from_rows(queries, docs, grades, aspects, source=rows.source, line=rows.line)
    return replace(judgments, integer_ids=(queries_are_int, docs_are_int), notes=tuple(notes))


def ungraded_note(source: str) -> str:
    """A note on judgments without grades."""
    return f"{source}: no grades, so every document listed counts as relevant (grade 1)"


def check_not_empty(rows: Rows) -> None:
    """Judgments or rankings without a row are a mistake on the way here."""
    if not len(rows.columns["query"]):
        raise DataError(f"{rows.source}: empty, it has no rows. Next: check how it was made.")


def read_tuples(items: Iterable[Any], wanted: Wanted, source: str, line: Sequence[int] | None = None) -> Rows:
    """The rows of plain tuples, of named tuples or of dicts, each column under its role.

    >>> from rankproof.io.roles import JUDGMENTS
    >>> read_tuples([("q1", "d1", 2), ("q1", "d2", 0)], JUDGMENTS, "judgments").columns
    {'query': ['q1', 'q1'], 'doc': ['d1', 'd2'], 'grade': [2, 0]}
    """
    rows = Rows({}, source, line)
    found = list(items)
    if not found:
        raise DataError(f"{source}: empty, it has no rows. Next: check how it was made.")
    names = _names(found[0])
    if names is None:
        return _unnamed(found, wanted, rows)
    took = guess(names, wanted, source)
    columns = {role: _column(found, name, rows) for role, name in took.items()}
    return Rows(columns, source, line, (guess_sentence(took, source),), names=took)


def _names(item: Any) -> list[str] | None:
    """The names of the fields of an item; None if they have none."""
    if isinstance(item, Mapping):
        return [str(name) for name in item]
    return list(item._fields) if hasattr(item, "_fields") else None


def _column(items: list[Any], name: str, rows: Rows) -> list[Any]:
    """A field of every item."""
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
        raise DataError(
            f"{rows.where(row)}: got {shorten(items[row])}, expected a tuple (query, doc, {value}) or (query, doc)"
            f"{same}. Next: give every row that form, or named tuples."
        )
    roles = ("query", "doc", value)
    columns = {role: list(column) for role, column in zip(roles, zip(*items, strict=True), strict=False)}
    return Rows(columns, rows.source, rows.line)
