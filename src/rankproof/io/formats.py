"""The kind of a file, detected from its first lines; CSV and TSV, with or without a header."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from math import isnan
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from rankproof.core.hits import Array
from rankproof.document.numbers import for_face
from rankproof.errors import DataError, number_in, shorten
from rankproof.io.column_roles import (
    JUDGMENTS,
    NUMBERS,
    RANKING,
    Wanted,
    column_of,
    guess,
    guess_sentence,
    list_in_words,
    mending_step,
)
from rankproof.io.files import MOST, text_of
from rankproof.io.frames import MAGIC
from rankproof.io.read import BLANKS, DELIMITERS, SEPARATOR, cells
from rankproof.io.rows import Rows

LONG = 1000
"""A line of more characters than this is quoted with its length."""
SAMPLE = 50
"""The number of lines that are used for that."""


class Format(NamedTuple):
    """A file format: "trec judgments", "trec ranking", "delimited", "json" or "parquet"."""

    name: str
    delimiter: str = ""


TREC_JUDGMENTS = Format("trec judgments")
TREC_RANKING = Format("trec ranking")
JSON = Format("json")
PARQUET = Format("parquet")


def sniff(head: bytes, name: str) -> Format:
    """The format of a file that begins with these bytes, after decompression.

    >>> sniff(b"q1 0 d1 2", "x").name, sniff(b"q1 Q0 d1 1 0.5 tag", "x").name, sniff(b"q1,d1,2", "x").name
    ('trec judgments', 'trec ranking', 'delimited')
    """
    if head.startswith(MAGIC):
        return PARQUET
    if b"\0" in head or head.startswith((b"\xff\xfe", b"\xfe\xff")):
        text_of(head, name)
    # The first lines that are neither blank nor comments.
    text = SEPARATOR.sub("", head.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"))
    named = ((line, fields(line)) for line in re.split(r"\r\n|\n|\r", text))
    found = (line for line, cells in named if cells and (not cells[0].startswith("#") or _is_row(line)))
    lines = [line.strip(" ") for line in islice(found, SAMPLE)]
    if not lines:
        raise DataError(f"{name}: empty, it has no lines. Next: check how it was made.")
    if re.match(r'\{\s*("|\}|$)|\[\s*([\[{\]"\d-]|$)', lines[0]) and not _trec(lines):
        return JSON
    for delimiter in DELIMITERS:
        if has_header(_cells(lines[0], delimiter)) and not _trec(lines[:1]):
            return Format("delimited", delimiter)
    return _without_header(lines, name)


def _is_row(line: str) -> bool:
    """Whether a line that begins with `#` is a row, whose query is called so, and no comment."""
    cells = fields(line)
    trec = {4: 3, 6: 4}.get(len(cells))
    if trec is not None and spells_number(cells[trec]):
        return cells[0] != "#"
    return any(len(_cells(line, delimiter)) > 2 for delimiter in DELIMITERS)


def fields(line: str) -> list[str]:
    r"""What stands between blanks, at which alone the readers cut too: other spaces than these belong to an id.

    >>> fields("no\u00a0break\t0  \u3000 1\r")
    ['no\xa0break', '0', '\u3000', '1']
    """
    return _FIELD.findall(line)


_FIELD = re.compile(r"[^ \t\n\r\x0b\x0c]+")


def _without_header(lines: list[str], name: str) -> Format:
    _refuse_five(lines, name)
    trec, delimiter = _trec(lines), _delimiter(lines)
    if trec and delimiter and not all(_cells(line, delimiter) == fields(line) for line in lines):
        # An id with blanks in it makes TSV look like TREC, and mixed separators TREC like TSV.
        named = re.search(r"\.[tc]sv\b", name.lower())
        # The second column is what TREC has there: Q0, or a number.
        second = (fields(line)[1:2] for line in lines)
        iterations = _mostly(each != [] and (each[0] == "Q0" or spells_number(each[0])) for each in second)
        return trec if iterations and not named else Format("delimited", delimiter)
    if trec:
        return trec
    return Format("delimited", delimiter) if delimiter else _by_width(lines, name)


def _trec(lines: list[str]) -> Format | None:
    """TREC by its columns and by the number where one must be."""
    rows = [fields(line) for line in lines]
    if _mostly(len(row) == 4 and spells_number(row[3]) for row in rows):
        return TREC_JUDGMENTS
    if _mostly(len(row) == 6 and spells_number(row[4]) for row in rows):
        return TREC_RANKING
    return None


def _refuse_five(lines: list[str], name: str) -> None:
    """Five columns are preferences, or a ranking that lacks one."""
    rows = [row for row in map(fields, lines) if len(row) == 5]
    if 2 * len(rows) < len(lines):
        return
    # A ranking without its last column has Q0, or ranks, where preferences have a judge and a document.
    scored, ranked = (_mostly(spells_number(row[at]) for row in rows) for at in (4, 3))
    in_order = _mostly(row[3] == str(at) for at, row in enumerate(rows, 1))
    if _mostly(row[1].upper() == "Q0" for row in rows) or (scored and in_order):
        lacks = "the name of the run" if scored else "the rank" if ranked else "a column"
        how = ", like: awk '{print $0, \"run\"}'" if scored else ""
        raise DataError(
            f"{name}: this looks like a ranking of 5 columns, without {lacks}, expected 6: query, Q0, document, rank, "
            f"score, name. Next: add it to each line{how}."
        )
    if scored:
        raise DataError(
            f"{name}: this looks like preference judgments (5 columns), expected judgments (4 columns) or "
            "a ranking (6 columns). Next: use them with `rankproof trec_eval -R prefs`."
        )


def _delimiter(lines: list[str]) -> str:
    """The delimiter that cuts half of the lines or more into the same number of cells."""
    for delimiter in DELIMITERS:
        width, count = Counter(len(_cells(line, delimiter)) for line in lines).most_common(1)[0]
        if width > 1 and 2 * count >= len(lines):
            return delimiter
    return ""


def _by_width(lines: list[str], name: str) -> Format:
    """The last resort: the columns alone, so that the reader can say which line is wrong."""
    rows = [fields(line) for line in lines]
    for width, kind in ((4, TREC_JUDGMENTS), (6, TREC_RANKING)):
        if _mostly(len(row) == width and row[1] in ("0", "Q0") for row in rows):
            return kind
    width, size = len(rows[0]), len(lines[0])
    more = " or more" if size >= MOST else ""  # no more than that of a line is looked at
    long = f" (a line of {size:,} characters{more})" if size > LONG else ""
    raise DataError(
        f"{name}: not a known format: {width} column{'s' * (width > 1)} between blanks, as in "
        f"{shorten(lines[0])}{long}. Next: give TREC judgments (4 columns), a TREC run (6 columns), "
        "CSV or TSV with a header, JSON or Parquet."
    )


def _cells(line: str, delimiter: str) -> list[str]:
    return [cell.strip().strip('"') for cell in line.split(delimiter)]


def _mostly(which: Iterable[bool]) -> bool:
    found = list(which)
    return 2 * sum(found) >= len(found)


def _named(value: str) -> str:
    how = for_face("columns={'query': NAME, 'doc': NAME}", "--columns query=NAME,doc=NAME")
    return f"add a header line, as query_id,doc_id,{value}, or name its columns with {how}."


def read_delimited(text: str, delimiter: str, wanted: Wanted, source: str) -> Rows:
    """The rows of a CSV or TSV text, each column under its role."""
    # Quotes mean nothing in TSV: an id may begin with one.
    rows = list(cells(io.StringIO(SEPARATOR.sub("", text), newline=""), delimiter, source, quoted=delimiter != "\t"))
    if not rows:
        raise DataError(f"{source}: empty, it has no lines. Next: check how it was made.")
    lines, fields = map(list, zip(*rows, strict=True))
    width = len(fields[0])
    if set(map(len, fields)) != {width}:
        line, found = next((line, each) for line, each in zip(lines, fields, strict=True) if len(each) != width)
        raise DataError(
            f"{source}, line {line}: got {len(found)} columns ({shorten(found)}), "
            f"expected {width} as in the first line. Next: correct or drop this line."
        )
    if not has_header(fields[0]):
        places = _places(fields, wanted, source)
        pairs = ", ".join(f"column {place + 1} as {role}" for role, place in places.items())
        return _as_rows(fields, lines, places, source, [f"{source}: no header, took {pairs}"])
    took = guess(fields[0], wanted, source)
    places = {role: fields[0].index(name) for role, name in took.items()}
    return _as_rows(fields[1:], lines[1:], places, source, [guess_sentence(took, source)])


def has_header(fields: Sequence[str]) -> bool:
    """Whether the fields of a first line are names: known ones, and no number among them.

    >>> has_header(["query-id", "corpus-id", "score"]), has_header(["q1", "d1", "2"])
    (True, False)
    """
    known = column_of("query", fields) or column_of("doc", fields)
    return bool(known) and not any(spells_number(field) for field in fields)


def _places(fields: list[list[str]], wanted: Wanted, source: str) -> dict[str, int]:
    """The roles of columns in a file without a header: only unambiguous layouts."""
    value, width = ("grade" if wanted is JUDGMENTS else "score"), len(fields[0])
    second = {line[1] for line in fields if len(line) > 1}
    if width == 3:
        places = {"query": 0, "doc": 1, value: 2}
    elif width == 4 and wanted is JUDGMENTS and second <= {"0", "Q0"}:
        places = {"query": 0, "doc": 2, value: 3}
    elif width == 6 and wanted is RANKING and second <= {"0", "Q0"}:
        places = {"query": 0, "doc": 2, "rank": 3, value: 4}
    else:
        raise DataError(
            f"{source}, line 1: got {width} columns without a known header ({list_in_words(fields[0])}), "
            f"so it cannot be told which is what of {wanted.what}. Next: {_named(value)}"
        )
    place = places[value]
    # A first line with words where the second has a number is a header with unknown names.
    if not spells_number(fields[0][place]) and len(fields) > 1 and spells_number(fields[1][-1]):
        guess(fields[0], wanted, source)
    if wanted is RANKING and width == 3:
        _check_no_ranks(fields, source)
    return places


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
            f"Next: {_named('rank')}"
        )


def _as_rows(fields: list[list[str]], lines: list[int], places: dict[str, int], source: str, notes: list[str]) -> Rows:
    columns: dict[str, Any] = {}
    for role, place in places.items():
        texts = list(map(itemgetter(place), fields))
        if role in NUMBERS:
            columns[role] = parse_numbers(texts, lambda row: f"{source}, line {lines[row]}", role)
            continue
        columns[role] = [text.strip(BLANKS) for text in texts]  # people put blanks behind commas
        if columns[role] != texts:
            notes.append(f"blanks around the ids of the {role} column were taken off")
    return Rows(columns, source, lines, tuple(notes))


def parse_numbers(texts: Sequence[str], where: Callable[[int], str], role: str) -> Array:
    """The numbers that texts spell out; a text that spells none is an error at its place."""
    whole = "".join(texts)
    plain = "_" not in whole and whole.isascii()  # a no-break space may stand beside a number
    try:
        numbers = np.array(list(map(float if plain else number_in, texts)), dtype=np.float64)
    except ValueError:
        numbers = np.array(list(map(number_in, texts)))
    wrong = np.isnan(numbers)
    if not wrong.any():
        return numbers
    row = int(wrong.argmax())
    raise DataError(
        f"{where(row)}: got {shorten(texts[row])} as the {role}, expected a number. Next: "
        + ("drop this row, it is a heading." if column_of(role, [texts[row]]) else f"{mending_step(role)}.")
    )


def spells_number(text: str) -> bool:
    """Whether a text is a number as people write it, or NaN: no digits grouped by underscores.

    >>> spells_number("1e-3"), spells_number("1_000"), spells_number("high")
    (True, False, False)
    """
    return text.strip().lstrip("+-").lower() == "nan" or not isnan(number_in(text))
