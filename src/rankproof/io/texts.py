"""Texts by id: what queries ask and what documents are called, for people who read a report."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from rankproof.core.corpus import Corpus
from rankproof.errors import DataError, UsageError, shorten
from rankproof.io.beir import folder_at
from rankproof.io.corpora import load_corpus
from rankproof.io.files import name_of, opened
from rankproof.io.guess import named_columns
from rankproof.io.questions import load_questions

IDS = ("_id", "id", "query_id", "doc_id", "docno", "qid")
"""The fields in which an id is looked for."""
QUERY_TEXT = ("text", "query", "title")
DOCUMENT_TITLE = ("title", "text")
"""The fields that hold what people call a query, or a document."""
WHOLE = frozenset({".csv", ".json", ".parquet"})
"""Files that are no lines of JSON or of ID<TAB>TEXT."""
LONGEST = 300
"""Characters of a text that are kept."""


def read_texts(source: Any, wanted: Collection[str], fields: tuple[str, ...]) -> dict[str, str]:
    """The texts of the wanted ids: the first of `fields` that a record has.

    `source` is `{id: text}`, `{id: record}`, or the path of lines: JSON records, or ID<TAB>TEXT. Texts of queries
    may be whatever `load_questions` takes.

    >>> read_texts({"q1": "why?", "q2": {"text": "how\\nso?"}, "q3": "who?"}, {"q1", "q2"}, ("text",))
    {'q1': 'why?', 'q2': 'how so?'}
    """
    if source is None:
        return {}
    if fields is QUERY_TEXT and not isinstance(source, Mapping) and not _is_read_by_line(source):
        source = load_questions(source)
    if not isinstance(source, Mapping | str | os.PathLike):
        raise UsageError(
            f"texts: got {shorten(source)}, expected a mapping of ids to texts, or a path. "
            "Next: give one of these."
        )
    pairs = source.items() if isinstance(source, Mapping) else _lines(source)
    found = ((str(name), _text(record, fields)) for name, record in pairs if str(name) in wanted)
    return {name: text for name, text in found if text}


def read_titles(source: Any, wanted: Collection[str]) -> dict[str, str]:
    """What the wanted documents are called: of anything `load_corpus` takes, or of what `read_texts` takes.

    >>> read_titles([{"id": "d1", "title": "Refunds", "text": "Within 30 days."}], {"d1"})
    {'d1': 'Refunds'}
    """
    if source is None or _is_read_by_line(source):
        return read_texts(source, wanted, DOCUMENT_TITLE)
    corpus = load_corpus(source)
    found = {name: corpus[name] for name in wanted if name in corpus}
    return read_texts({name: each.title or each.text for name, each in found.items()}, wanted, DOCUMENT_TITLE)


def _is_read_by_line(source: Any) -> bool:
    """Lines are read one by one, and need no more than an id and a title."""
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        return not folder_at(path) and WHOLE.isdisjoint(path.suffixes[-2:]) and not named_columns()
    return isinstance(source, Mapping) and not isinstance(source, Corpus)


def _text(record: Any, fields: tuple[str, ...]) -> str:
    """The text of a record as one line."""
    if isinstance(record, Mapping):
        record = next((record[each] for each in fields if record.get(each)), "")
    text = " ".join(str(record).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _lines(path: str | os.PathLike[str]) -> Iterator[tuple[str, Any]]:
    """The records of a file one by one: a collection may be larger than memory."""
    with opened(path) as stream:
        for number, line in _decoded(stream, name_of(path)):
            if line.strip():
                read = _json if line.startswith("{") else _tabbed
                yield read(line, f"{name_of(path)}, line {number}")


def _decoded(stream: BinaryIO, name: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(stream, start=1):
        try:
            yield number, line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise DataError(f"{name}, line {number}: not UTF-8. Next: save it as UTF-8.") from error


def _json(line: str, where: str) -> tuple[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise DataError(f"{where}: not JSON: {error}. Next: write one record a line.") from error
    name = next((record[each] for each in IDS if each in record), None)
    if name is None:
        raise DataError(f"{where}: a record without an id, expected one of {', '.join(IDS)}. Next: add one.")
    return str(name), record


def _tabbed(line: str, where: str) -> tuple[str, Any]:
    name, tab, text = line.rstrip("\r\n").partition("\t")
    if not tab:
        raise DataError(
            f"{where}: got {shorten(line.strip())}, expected ID<TAB>TEXT or a JSON record. "
            "Next: mend the line."
        )
    return name, text
