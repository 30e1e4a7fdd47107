"""CSV and TSV, with or without a header; BEIR's qrels are such a file."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from operator import itemgetter
from typing import Any, Literal

from rankproof.core.hits import Array
from rankproof.errors import DataError, shorten
from rankproof.io.guess import JUDGMENTS, RANKING, Wanted, column_of, guess, listed, said
from rankproof.io.rows import Rows, parse_numbers, spells_number

BLANKS = " \t\n\r\x0b\x0c"
"""What is taken off around ids; other spaces belong to them, as in the other formats."""
NUMBERS = ("grade", "score", "rank")
"""The roles whose fields are numbers."""

NEXT = (
    "Next: add a header line, as query_id,doc_id,{}, or name its columns with --columns query=NAME,doc=NAME."
)


def read_delimited(text: str, delimiter: str, wanted: Wanted, source: str) -> Rows:
    """The rows of a CSV or TSV text, each column under its role."""
    lines, fields = _split(text, delimiter, source)
    if not fields:
        raise DataError(f"{source}: empty, there is not one line in it. Next: check how it was made.")
    _check_width(fields, lines, source)
    if not has_header(fields[0]):
        places = _places(fields, wanted, source)
        return _as_rows(fields, lines, places, source, [_said(places, source)])
    took = guess(fields[0], wanted, source)
    places = {role: fields[0].index(name) for role, name in took.items()}
    return _as_rows(fields[1:], lines[1:], places, source, [said(took, source)])


def has_header(fields: Sequence[str]) -> bool:
    """Whether the fields of a first line are names: known ones, and no number among them.

    >>> has_header(["query-id", "corpus-id", "score"]), has_header(["q1", "d1", "2"])
    (True, False)
    """
    known = column_of("query", fields) or column_of("doc", fields)
    return bool(known) and not any(spells_number(field) for field in fields)


def _split(text: str, delimiter: str, source: str) -> tuple[list[int], list[list[str]]]:
    """The fields of every line that is not blank, and the number of that line."""
    # Quotes mean nothing in TSV: an id may begin with one.
    quoting: Literal[0, 3] = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting, strict=True)
    ends, fields = [], []
    try:
        for each in reader:
            ends.append(reader.line_num)
            fields.append(each)
    except csv.Error as error:
        raise DataError(
            f"{source}, line {reader.line_num}: cannot be read as CSV: {error}. Next: mend the line."
        ) from error
    lines = [end + 1 for end in [0, *ends[:-1]]]
    blank = {row for row, each in enumerate(fields) if len(each) < 2 and not any(map(str.strip, each))}
    if blank:
        lines = [line for row, line in enumerate(lines) if row not in blank]
        fields = [each for row, each in enumerate(fields) if row not in blank]
    return lines, fields


def _places(fields: list[list[str]], wanted: Wanted, source: str) -> dict[str, int]:
    """Which column is what in a file without a header: only layouts that cannot be mistaken."""
    value, width = ("grade" if wanted is JUDGMENTS else "score"), len(fields[0])
    second = {line[1] for line in fields if len(line) > 1}
    if width == 3:
        places = {"query": 0, "doc": 1, value: 2}
    elif width == 4 and wanted is JUDGMENTS and second <= {"0", "Q0"}:
        places = {"query": 0, "doc": 2, value: 3}
    elif width == 6 and wanted is RANKING and second <= {"0", "Q0"}:
        places = {"query": 0, "doc": 2, "rank": 3, value: 4}
    else:
        raise _no_header(fields[0], wanted, source, value)
    _check_first_number(fields, places[value], wanted, source)
    if wanted is RANKING and width == 3:
        _check_no_ranks(fields, source)
    return places


def _no_header(fields: list[str], wanted: Wanted, source: str, value: str) -> DataError:
    return DataError(
        f"{source}, line 1: got {len(fields)} columns without a header that is known ({listed(fields)}), "
        f"so it cannot be told which is what of {wanted.what}. {NEXT.format(value)}"
    )


def _check_first_number(fields: list[list[str]], place: int, wanted: Wanted, source: str) -> None:
    """A first line with words where the second has a number is a header with unknown names."""
    if not spells_number(fields[0][place]) and len(fields) > 1 and spells_number(fields[1][-1]):
        guess(fields[0], wanted, source)


def _check_no_ranks(fields: list[list[str]], source: str) -> None:
    """Values that count 1, 2, 3 in every query may be ranks: read as scores they would turn it around."""
    last: dict[str, int] = {}
    for line in fields:
        last[line[0]] = last.get(line[0], 0) + 1
        if line[-1].strip() != str(last[line[0]]):
            return
    if max(last.values()) > 1:
        raise DataError(
            f"{source}: the third column counts 1, 2, 3 in every query, so it may be a rank or a score. "
            f"{NEXT.format('rank')}"
        )


def _check_width(fields: list[list[str]], lines: list[int], source: str) -> None:
    width = len(fields[0])
    if set(map(len, fields)) == {width}:
        return
    line, found = next((line, each) for line, each in zip(lines, fields, strict=True) if len(each) != width)
    raise DataError(
        f"{source}, line {line}: got {len(found)} columns ({shorten(found)}), "
        f"expected {width} as in the first line. Next: correct or drop this line."
    )


def _as_rows(
    fields: list[list[str]], lines: list[int], places: dict[str, int], source: str, notes: list[str]
) -> Rows:
    columns: dict[str, Any] = {}
    for role, place in places.items():
        texts = list(map(itemgetter(place), fields))
        columns[role] = _numbers(texts, lines, source, role) if role in NUMBERS else _ids(texts, role, notes)
    return Rows(columns, source, lines, tuple(notes))


def _numbers(texts: list[str], lines: list[int], source: str, role: str) -> Array:
    return parse_numbers(texts, lambda row: f"{source}, line {lines[row]}", role)


def _ids(texts: list[str], role: str, notes: list[str]) -> list[str]:
    """The ids without the blanks around them, which people put behind commas."""
    ids = [text.strip(BLANKS) for text in texts]
    if ids != texts:
        notes.append(f"blanks around the ids of the {role} column were taken off")
    return ids


def _said(places: dict[str, int], source: str) -> str:
    pairs = ", ".join(f"column {place + 1} as {role}" for role, place in places.items())
    return f"{source}: no header, took {pairs}"
