"""Records (of questions, of documents) from whatever they are kept in, each with the words that say where it is."""

from __future__ import annotations

import csv
import io
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from rankproof.errors import DataError, UsageError, shorten
from rankproof.io.files import STDIN, check_path, name_of, read_bytes, text_of
from rankproof.io.frames import MAGIC, is_frame, read_every_column, records_of_frame
from rankproof.io.ids import is_id
from rankproof.io.roles import NAMES, named_columns, named_for, plain

DOCUMENT_ID = ("_id", "id", *NAMES["doc"][0], "id_", "node_id", "key")
QUESTION_ID = ("_id", "id", *NAMES["query"][0])
"""The names of an id, the surest first."""
DOCUMENT_TEXT = ("text", "page_content", "contents", "content", "body", "passage", "document", "abstract")
QUESTION_TEXT = ("text", "query", "question", "user_input", "title", "input")
"""The names of a text, the surest first."""
TITLE = ("title", "headline", "name")
METADATA = ("metadata", "meta")
_ROLES = {
    DOCUMENT_ID: ("doc",),
    DOCUMENT_TEXT: ("text",),
    TITLE: ("title",),
    QUESTION_ID: ("query",),
    QUESTION_TEXT: ("question", "text"),
}
"""What these are called where a caller says which column is what."""
_KNOWN = dict.fromkeys((*DOCUMENT_ID, *DOCUMENT_TEXT, *TITLE, *METADATA, "score"))
_ABSENT = object()


def record_of(item: Any) -> Mapping[str, Any] | None:
    """What is known of a document or question, by name: a mapping, a named tuple, or an object with such names.

    >>> from collections import namedtuple
    >>> record_of(namedtuple("Doc", "doc_id text")("d1", "Within 30 days."))
    {'doc_id': 'd1', 'text': 'Within 30 days.'}
    >>> record_of("d1") is None
    True
    """
    if isinstance(item, Mapping):
        return item
    if isinstance(item, (str, bytes)) or (isinstance(item, Sequence) and not hasattr(item, "_asdict")):
        return None
    if hasattr(item, "_asdict"):
        return dict(item._asdict())
    found = {name: getattr(item, name, _ABSENT) for name in _KNOWN}
    return {name: value for name, value in found.items() if value is not _ABSENT} or None


def field_of(record: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """The name that the record has for something: the first of `names` it has, whatever the case and signs.

    A column that the caller named for it goes before all.

    >>> field_of({"Doc-ID": "d1", "text": "..."}, DOCUMENT_ID)
    'Doc-ID'
    """
    for role in _ROLES.get(tuple(names), ()):
        if named := named_for(role, record):
            return named
    exact = next((name for name in names if record.get(name) is not None), None)
    if exact is not None:
        return exact
    here = {plain(str(name)): name for name in reversed(list(record)) if record[name] is not None}
    return next((here[plain(name)] for name in names if plain(name) in here), None)


def id_of(record: Mapping[str, Any], names: Sequence[str], where: str) -> str:
    """The id of a record as text, or an error that says where it is missing."""
    name = field_of(record, names)
    if name is None:
        raise DataError(
            f"{where}: a record without an id ({shorten(list(record))}), expected one of "
            f"{', '.join(names[:4])}. Next: give each record an id."
        )
    return checked_id(record[name], where)


def checked_id(value: Any, where: str) -> str:
    """An id as text; whole numbers in decimal."""
    if not is_id(value) or value == "":
        raise DataError(
            f"{where}: got {shorten(value)} as an id, expected text. Next: give it an id that is text."
        )
    return str(value)


def text_in(record: Mapping[str, Any], names: Sequence[str], where: str) -> tuple[str, str]:
    """The name of the field that holds the text, and the text."""
    name = field_of(record, names)
    if name is None:
        raise DataError(
            f"{where}: a record without a text ({shorten(list(record))}), expected one of "
            f"{', '.join(names[:4])}. Next: put the text under 'text'."
        )
    if not isinstance(record[name], str):
        raise DataError(
            f"{where}: got {shorten(record[name])} as {name!r}, expected a text. Next: correct this record."
        )
    return name, record[name]


Placed: TypeAlias = tuple[str, Any]
"""Where something is, and what is there: a record, or whatever stood in its place."""

KNOWN = {
    "id",
    "docid",
    "queryid",
    "qid",
    "docno",
    "text",
    "query",
    "question",
    "title",
    "content",
    "contents",
}
"""Names that show that a first line is a header."""
DELIMITERS = ("\t", ",", ";")
BLANKS = " \t\n\r\x0b\x0c"


def records(source: Any, what: str) -> Iterator[Placed]:
    """Every record of a mapping `{id: text or record}`, a file, a data frame, or an iterable.

    >>> list(records({"d1": "Within 30 days."}, "the corpus"))
    [("the corpus, 'd1'", {'_id': 'd1', 'text': 'Within 30 days.'})]
    """
    if isinstance(source, (str, os.PathLike)):
        return records_in(source)
    if isinstance(source, Mapping):
        return _of_mapping(source, what)
    if is_frame(source):
        return ((f"{what}, row {n}", row) for n, row in enumerate(records_of_frame(source, what), 1))
    if isinstance(source, (bytes, bytearray)) or not isinstance(source, Iterable):
        raise DataError(
            f"{what}: got {shorten(source)} ({type(source).__name__}), expected a mapping {{id: text}}, records, a "
            "data frame, or a path."
            " Next: give one of these."
        )
    return ((f"{what}, item {n}", _item(each)) for n, each in enumerate(source, 1))


def records_in(path: str | os.PathLike[str]) -> Iterator[Placed]:
    """Every record of a file: JSON Lines, JSON, CSV, TSV or Parquet, told by its content."""
    name = name_of(path)
    content = read_bytes(path if os.fspath(path) == STDIN else check_path(path))
    if content.startswith(MAGIC):
        rows = records_of_frame(read_every_column(content, name), name)
        return ((f"{name}, row {n}", row) for n, row in enumerate(rows, 1))
    text = text_of(content, name)
    start = text.lstrip()[:1]
    if not start:
        raise DataError(f"{name}: empty, there is not one line in it. Next: check how it was made.")
    return _json(text, name) if start in "{[" else _delimited(text, name)


def _item(item: Any) -> Any:
    found = record_of(item)
    return item if found is None else found


def _of_mapping(source: Mapping[Any, Any], what: str) -> Iterator[Placed]:
    for key, value in source.items():
        inside = record_of(value)
        record = {"_id": key, "text": value} if inside is None else {**inside, "_id": key}
        yield f"{what}, {shorten(key)}", record


# --- JSON --------------------------------------------------------------------------------------


def _json(text: str, name: str) -> Iterator[Placed]:
    first, _, rest = text.lstrip().partition("\n")
    whole = not rest.strip() or not _is_object(first)
    return _whole(text, name) if whole else _json_lines(text, name)


def _is_object(line: str) -> bool:
    """Whether a line is an object for itself, so that the file is one of lines; a broken one may be such too."""
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return line.rstrip().endswith("}")


def _whole(text: str, name: str) -> Iterator[Placed]:
    data = _parsed(text, name, 1)
    if isinstance(data, list):
        return ((f"{name}, item {n}", each) for n, each in enumerate(data, 1))
    if isinstance(data, dict) and KNOWN & set(map(plain, data)):
        return iter([(f"{name}, line 1", data)])
    if not isinstance(data, dict):
        raise DataError(
            f"{name}: got {shorten(data)}, expected a list of records or an object {{id: text}}."
            " Next: give one of these."
        )
    return _of_mapping(data, name)


def _json_lines(text: str, name: str) -> Iterator[Placed]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield f"{name}, line {number}", _parsed(line, name, number)


def _parsed(text: str, name: str, line: int) -> Any:
    try:
        return json.loads(text, object_pairs_hook=lambda pairs: _object(pairs, name, line))
    except json.JSONDecodeError as error:
        found = error.doc[max(error.pos - 20, 0) : error.pos + 20].strip()
        raise DataError(
            f"{name}, line {line + error.lineno - 1}: no valid JSON ({error.msg}) at {shorten(found)}. "
            "Next: write this line anew."
        ) from error
    except RecursionError as error:
        raise DataError(
            f"{name}, line {line}: the JSON is nested too deep. Next: write flat records."
        ) from error


def _object(pairs: list[tuple[str, Any]], name: str, line: int) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for at, key in enumerate(keys) if key in keys[:at])
        where = name if line == 1 else f"{name}, line {line}"
        raise DataError(f"{where}: {shorten(twice)} comes twice in one object. Next: keep one of them.")
    return found


# --- delimited ---------------------------------------------------------------------------------


def _delimited(text: str, name: str) -> Iterator[Placed]:
    first = text.lstrip().partition("\n")[0].rstrip("\r")
    known = KNOWN | named_columns()
    for delimiter in DELIMITERS:
        cells = first.split(delimiter)
        if len(cells) > 1 and known & {plain(cell.strip('"')) for cell in cells}:
            return _table(text, delimiter, name)
    if "\t" not in first:
        raise UsageError(
            f"{name}, line 1: got {shorten(first)}, expected JSON Lines, a header like id,text, or ID<TAB>TEXT. "
            "Next: add a header line."
        )
    return _pairs(text, name)


def _pairs(text: str, name: str) -> Iterator[Placed]:
    """Lines of ID<TAB>TEXT."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        key, tab, value = line.rstrip("\r").partition("\t")
        if not tab:
            raise DataError(
                f"{name}, line {number}: got {shorten(line)}, expected ID<TAB>TEXT. Next: mend the line."
            )
        yield f"{name}, line {number}", {"_id": key.strip(BLANKS), "text": value}


def _table(text: str, delimiter: str, name: str) -> Iterator[Placed]:
    quoting: Literal[0, 3] = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting, strict=True)
    rows = _rows(reader, name)
    header = [cell.strip() for cell in next(rows)]
    before = reader.line_num
    for row in rows:
        where, before = f"{name}, line {before + 1}", reader.line_num
        if len(row) != len(header):
            raise DataError(
                f"{where}: got {len(row)} columns ({shorten(row)}), expected {len(header)} as in the header. "
                "Next: correct or drop this line."
            )
        yield where, dict(zip(header, row, strict=True))


def _rows(reader: Any, name: str) -> Iterator[list[str]]:
    """The rows that are not blank; a text may be as long as it is, whatever Python's limit for a field."""
    limit = csv.field_size_limit(sys.maxsize)
    try:
        yield from (row for row in reader if row)
    except csv.Error as error:
        raise DataError(
            f"{name}, line {reader.line_num}: cannot be read as CSV: {error}."
            " Next: mend the quotes of the line."
        ) from error
    finally:
        csv.field_size_limit(limit)
