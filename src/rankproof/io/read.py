"""Rows with their places for error messages: of files, which are streamed, of frames, of data in memory.

All readers of rows use this module: judgments and rankings (which take their cells and JSON as columns), corpora,
questions, groups, spans, samples, labels and scores. It decides nothing about rows that contradict each other.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, BinaryIO, Literal, NamedTuple, TypeAlias

from rankproof.document.numbers import for_face
from rankproof.errors import DataError, UsageError, shorten
from rankproof.io.column_roles import NAMES
from rankproof.io.files import name_of, open_file, text_of
from rankproof.io.frames import MAGIC, read_every_column, records_of_frame
from rankproof.io.inputs import column_named, named_columns, plain_name
from rankproof.io.values import is_frame, is_id, unfit

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
"""The names of these roles in `columns=`."""
_KNOWN = dict.fromkeys((*DOCUMENT_ID, *DOCUMENT_TEXT, *TITLE, *METADATA, "score"))


def record_of(item: Any) -> Mapping[str, Any] | None:
    """The fields of a document or question, by name: from a mapping, a named tuple, or an object with such attributes.

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
    return {name: getattr(item, name) for name in _KNOWN if hasattr(item, name)} or None


def field_of(record: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """The name that the record has for something: the first of `names` it has, whatever the case and signs.

    A column that the caller named for it goes before all.

    >>> field_of({"Doc-ID": "d1", "text": "..."}, DOCUMENT_ID)
    'Doc-ID'
    """
    for role in _ROLES.get(tuple(names), ()):
        if named := column_named(role, record):
            return named[0]
    exact = next((name for name in names if record.get(name) is not None), None)
    if exact is not None:
        return exact
    here = {plain_name(str(name)): name for name in reversed(list(record)) if record[name] is not None}
    return next((here[plain_name(name)] for name in names if plain_name(name) in here), None)


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
        raise unfit(where, value, "text", "give it an id that is text", role="an id")
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
        raise unfit(where, record[name], "a text", "correct this record", role=repr(name))
    return name, record[name]


class Row(NamedTuple):
    """A place, for messages, and the item that stands there: a record, or anything else."""

    where: str
    value: Any


Line: TypeAlias = tuple[int, str]
"""The number of a line, and the line with its end."""
OfLine: TypeAlias = Callable[[str, str], Any]
"""Gives what a line holds, and is told its place."""
OfObject: TypeAlias = Callable[[dict[str, Any], str], Iterator[Row]]
"""Gives the rows of a JSON object in a file with this name."""
KNOWN = frozenset(
    ("id", "docid", "queryid", "qid", "docno", "text", "query", "question", "title", "content", "contents")
)
"""Names that show that a first line is a header."""
DELIMITERS = ("\t", ",", ";")
SEPARATOR = re.compile(r"""\A"?sep=[,;\t]"?(?=\s*([\r\n]|\Z))""", re.IGNORECASE)
"""The first line with which Excel is told the delimiter; it is no header."""
BLANKS = " \t\n\r\x0b\x0c"
"""Characters that are stripped from ids; other spaces belong to them."""


def _is_record(item: dict[str, Any], *_: Any) -> bool:
    return not KNOWN.isdisjoint(map(plain_name, item))


def rows_of(source: Any, what: str, is_row: Callable[[dict[str, Any], Any], bool] = _is_record) -> Iterator[Row]:
    """The rows of a path (JSON Lines, JSON, CSV, TSV, Parquet), a data frame, or an iterable, as they are.

    A JSON file that is one object holds its rows in its only list of objects, unless `is_row` says of the object, and
    of the first in that list, that the object is a row itself.

    >>> [(row.where, row.value) for row in rows_of([{"id": "a"}, {"id": "b"}], "samples")]
    [('samples, item 1', {'id': 'a'}), ('samples, item 2', {'id': 'b'})]
    """
    if isinstance(source, str | os.PathLike):
        return rows_in(source, of_object=partial(_list_inside, is_row), headless=None, empty=None)
    if not isinstance(source, list) and is_frame(source):
        return _of_frame(source, what)
    if isinstance(source, Mapping | bytes) or not isinstance(source, Iterable):
        raise UsageError(
            f"{what}: got {shorten(source)} ({type(source).__name__}), expected a list of rows, a data frame, "
            "or a path. Next: put a single row into a list."
        )
    return _numbered(source, what)


def records(source: Any, what: str) -> Iterator[Row]:
    """Every record of a mapping `{id: text or record}`, a file, a data frame, or an iterable.

    >>> [tuple(row) for row in records({"d1": "Within 30 days."}, "the corpus")]
    [("the corpus, 'd1'", {'_id': 'd1', 'text': 'Within 30 days.'})]
    """
    if isinstance(source, str | os.PathLike):
        return rows_in(source)
    if isinstance(source, Mapping):
        return _of_mapping(source, what)
    if is_frame(source):
        return _of_frame(source, what)
    if isinstance(source, bytes | bytearray) or not isinstance(source, Iterable):
        raise unfit(
            what, source, "a mapping {id: text}, records, a data frame, or a path", "give one of these", typed=True
        )
    return _numbered((record_of(each) or each for each in source), what)


def id_and_text(line: str, where: str) -> dict[str, str]:
    """A line ID<TAB>TEXT as a record."""
    key, tab, text = line.rstrip("\r\n").partition("\t")
    if not tab:
        raise unfit(where, line.strip(), "ID<TAB>TEXT", "correct the line")
    return {"_id": key.strip(BLANKS), "text": text}


def rows_in(
    path: str | os.PathLike[str],
    *,
    of_object: OfObject | None = None,
    headless: OfLine | None = id_and_text,
    header: Collection[str] = KNOWN,
    empty: str | None = "",
) -> Iterator[Row]:
    """The rows of a file, told by its content, one after the other as it is read.

    `of_object` gives the rows of a JSON file that is one object, `headless` that of each line without a first one that
    has a name of `header`; without it a first line is a header always, and quotes have a meaning in TSV too.
    `empty` stands for an empty cell.
    """
    name = name_of(path)
    with open_file(path) as raw:
        stream = io.BufferedReader(raw)  # type: ignore[type-var]
        if stream.peek(len(MAGIC)).startswith(MAGIC):
            yield from _of_frame(read_every_column(stream.read(), name), name)
            return
        lines = text_lines(stream, name)
        number, first = next((line for line in lines if line[1].strip()), (0, ""))
        if not first:
            raise DataError(f"{name}: empty, it has no rows. Next: check how it was made.")
        begin = first.lstrip()[0]
        if begin == "[":
            yield from _numbered(decode_json(first + "".join(line for _, line in lines), name, number), name)
        elif begin == "{":
            yield from _of_json(number, first, lines, name, of_object or _of_records)
        elif delimiter := _delimiter(first, header if headless else None):
            quoted = headless is None or delimiter != "\t"
            yield from _of_table(chain([(number, first)], lines), delimiter, name, quoted, empty)
        elif headless is id_and_text and "\t" not in first:
            raise UsageError(
                f"{name}, line 1: got {shorten(first.strip())}, expected JSON Lines, a header like id,text, or "
                "ID<TAB>TEXT. Next: add a header line; if this is one, name its columns, like "
                + for_face("columns={'query': NAME, 'question': NAME}.", "--columns query=NAME,question=NAME.")
            )
        elif headless is not None:
            for at, line in chain([(number, first)], lines):
                if line.strip():
                    where = f"{name}, line {at}"
                    yield Row(where, headless(line, where))


def text_lines(stream: BinaryIO, name: str) -> Iterator[Line]:
    """The lines of a stream as text, each with its number."""
    for number, line in enumerate(stream, start=1):
        try:
            text = line.decode("utf-8") if number > 1 else SEPARATOR.sub("", line.decode("utf-8-sig"))
        except UnicodeDecodeError:
            text = "\0"
        if "\0" in text:
            text_of(b"\n" * (number - 1) + line, name)  # refuses it in words
        yield number, text


def _of_frame(frame: Any, name: str) -> Iterator[Row]:
    return (Row(f"{name}, row {number}", row) for number, row in enumerate(records_of_frame(frame, name), 1))


def _of_mapping(source: Mapping[Any, Any], what: str) -> Iterator[Row]:
    for key, value in source.items():
        inside = record_of(value)
        record = {"_id": key, "text": value} if inside is None else {**inside, "_id": key}
        yield Row(f"{what}, {shorten(key)}", record)


def _numbered(rows: Iterable[Any], name: str) -> Iterator[Row]:
    return (Row(f"{name}, item {number}", row) for number, row in enumerate(rows, 1))


class _Repeated(ValueError):
    """A repeated field of an object, which JSON allows but is always a mistake."""


def _object(found: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(found)
    if len(record) < len(found):
        keys = [key for key, _ in found]
        twice = next(key for at, key in enumerate(keys) if key in keys[:at])
        raise _Repeated(f"{shorten(twice)} comes twice in one object, {shorten(record)}")
    return record


DECODER = json.JSONDecoder(object_pairs_hook=_object)


def decode_json(text: str, name: str, line: int) -> Any:
    """The content of a JSON text that begins in a line of a file."""
    try:
        return DECODER.decode(text)
    except json.JSONDecodeError as error:
        found = error.doc[max(error.pos - 20, 0) : error.pos + 20].strip()
        raise DataError(
            f"{name}, line {line + error.lineno - 1}: not valid JSON ({error.msg}) at {shorten(found)}. "
            "Next: write it again, or cut the file off where it breaks."
        ) from error
    except _Repeated as error:
        where = name if line == 1 else f"{name}, line {line}"
        raise DataError(f"{where}: {error}. Next: keep one of them.") from error
    except RecursionError as error:
        raise DataError(f"{name}, line {line}: the JSON is nested too deep. Next: write flat records.") from error
    except ValueError as error:
        raise DataError(f"{name}, line {line}: cannot be read as JSON: {error}. Next: correct it there.") from error


def _of_json(number: int, first: str, lines: Iterator[Line], name: str, of_object: OfObject) -> Iterator[Row]:
    """One JSON object a line; a first line that only begins one is the beginning of a whole JSON text."""
    text = first.rstrip()
    if not text.endswith("}"):
        text = first + "".join(line for _, line in lines)
    record = decode_json(text, name, number)
    second = next((line for line in lines if line[1].strip()), None)
    if second is None:
        yield from of_object(record, name)
        return
    yield Row(f"{name}, line {number}", record)
    for number, line in chain([second], lines):
        if line.strip():
            yield Row(f"{name}, line {number}", decode_json(line.rstrip(), name, number))


def _of_records(whole: dict[str, Any], name: str) -> Iterator[Row]:
    """The object as the only record, or as `{id: text or record}`."""
    if _is_record(whole):
        return iter([Row(f"{name}, line 1", whole)])
    return _of_mapping(whole, name)


def _list_inside(is_row: Callable[[dict[str, Any], Any], bool], whole: dict[str, Any], name: str) -> Iterator[Row]:
    """The rows in the only list of objects in an object (`{"samples": [...]}`), or the object as the only row."""
    lists = [each for each in whole.values() if isinstance(each, list) and all(isinstance(row, dict) for row in each)]
    nested = len(lists) == 1 and not is_row(whole, next(iter(lists[0]), {}))
    return _numbered(lists[0], name) if nested else iter([Row(f"{name}, line 1", whole)])


def _delimiter(first: str, header: Collection[str] | None) -> str:
    """What stands between the names of a header: a tab, or whichever of comma and semicolon parts it more often.

    Empty if it has none of the names that a header has; `None`: it is a header in any case.

    >>> _delimiter("id;question, as asked;answer", None), _delimiter('id,"a;b;c",answer', KNOWN)
    (';', ',')
    """
    names = {*(header or ()), *named_columns()}
    parts = {each: first.rstrip("\r\n").split(each) for each in DELIMITERS}
    if header is not None:
        parts = {each: found for each, found in parts.items() if len(found) > 1 and names & set(map(plain_name, found))}
    return max(parts, key=lambda each: ((each == "\t") * len(parts[each]) > 1, len(parts[each])), default="")


def _of_table(lines: Iterator[Line], delimiter: str, name: str, quoted: bool, empty: str | None) -> Iterator[Row]:
    texts = (part for _, line in lines for part in _split_at_returns(line))
    rows = cells(texts, delimiter, name, quoted=quoted)
    header = check_header([cell.strip() for cell in next(rows)[1]], name)
    for number, row in rows:
        if len(row) != len(header):
            how = "quote cells that hold commas or line ends" if quoted else "save it as CSV if cells hold line ends"
            raise DataError(
                f"{name}, line {number}: got {len(row)} columns ({shorten(row)}), expected {len(header)} as in the "
                f"header. Next: {how}, or drop this line."
            )
        values = row if empty == "" else [cell or empty for cell in row]
        yield Row(f"{name}, line {number}", dict(zip(header, values, strict=True)))


def check_header(header: list[str], where: str) -> list[str]:
    """The names of columns, if none is there twice: of two columns one would be passed over."""
    twice = next((column for i, column in enumerate(header) if column and column in header[:i]), None)
    if twice is not None:
        raise DataError(f"{where}: the header has {shorten(twice)} twice, expected once. Next: rename or drop one.")
    return header


def _split_at_returns(line: str) -> Iterable[str]:
    """The line in parts, if carriage returns alone end lines in it, as on old computers."""
    return (line,) if line.find("\r", 0, -2) < 0 else io.StringIO(line, newline="")


def cells(lines: Iterable[str], delimiter: str, name: str, *, quoted: bool = True) -> Iterator[tuple[int, list[str]]]:
    """The cells of each row that is not blank, and the line it begins on; a cell may be as long as it is."""
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    reader = csv.reader(lines, delimiter=delimiter, quoting=quoting, strict=True)
    limit, before = csv.field_size_limit(sys.maxsize), 0
    try:
        for row in reader:
            number, before = before + 1, reader.line_num
            if len(row) > 1 or any(map(str.strip, row)):
                yield number, row
    except csv.Error as error:
        raise DataError(
            f"{name}, line {reader.line_num}: cannot be read as CSV: {error}. Next: correct the quotes of the line."
        ) from error
    finally:
        csv.field_size_limit(limit)
