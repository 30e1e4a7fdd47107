"""What an id, a text and a title are called, in records and in the objects of other libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankproof.errors import DataError, shorten
from rankproof.io.guess import NAMES, named_for, plain
from rankproof.io.ids import is_id

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
