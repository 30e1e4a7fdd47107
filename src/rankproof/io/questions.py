"""Questions from whatever they are kept in: a dict, a list, records, a data frame, a file, a BEIR folder."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rankproof.errors import DataError, shorten
from rankproof.io.beir import BEIR_QUESTIONS, folder_at
from rankproof.io.fields import QUESTION_ID, QUESTION_TEXT, checked_id, field_of, id_of, record_of, text_in
from rankproof.io.files import STDIN
from rankproof.io.records import Placed, records, records_in
from rankproof.io.zips import matching


def load_questions(source: Any) -> dict[str, str]:
    """The text of each question by its id.

    `source` is `{id: text}`, a list of texts (each its own id), pairs, records, a data frame, the path of JSON
    Lines, JSON, CSV, TSV or Parquet, a BEIR folder, or an ir_datasets object. An id twice, and a question
    without words, are errors that say where.

    >>> load_questions(["Can I get a refund?"])
    {'Can I get a refund?': 'Can I get a refund?'}
    >>> load_questions([{"query_id": 7, "query": "Can I get a refund?"}])
    {'7': 'Can I get a refund?'}
    """
    found: dict[str, str] = {}
    seen: dict[str, str] = {}
    for where, item in _placed(source):
        name, text = _question(where, item)
        if name in seen:
            raise DataError(
                f"{where}: question {shorten(name)} was given before ({seen[name]}). Next: keep one of them."
            )
        found[name], seen[name] = text, where
    if not found:
        raise DataError("there is not one question. Next: check how the questions were made.")
    return found


def _placed(source: Any) -> Iterator[Placed]:
    if hasattr(source, "queries_iter"):
        each = enumerate(source.queries_iter(), 1)
        return ((f"the questions, item {number}", record_of(item)) for number, item in each)
    path = isinstance(source, (str, os.PathLike)) and os.fspath(source) != STDIN
    if path and (folder := folder_at(Path(source))):
        return records_in(beir_questions(folder))
    # A series, as a column of a frame is, holds the texts alone.
    return records(source.to_list() if hasattr(source, "to_list") else source, "the questions")


def beir_questions(folder: Path) -> Path:
    """The file with the questions of a BEIR folder."""
    found = matching(folder, BEIR_QUESTIONS)
    if not found:
        raise DataError(f"{folder}: a folder without queries.jsonl. Next: name the file with the questions.")
    return found[0]


def _question(where: str, item: Any) -> tuple[str, str]:
    if isinstance(item, str):
        item = (item, item)
    if isinstance(item, tuple) and len(item) == 2:
        item = {"_id": item[0], "text": item[1]}
    if not isinstance(item, Mapping):
        raise DataError(
            f"{where}: got {shorten(item)}, expected a question with an id. "
            'Next: give {id: text}, or records like {"id": ..., "text": ...}.'
        )
    _, text = text_in(item, QUESTION_TEXT, where)
    if not text.strip():
        raise DataError(f"{where}: a question without words. Next: write it, or leave it out.")
    # A record without an id is known by its words, as a text in a list is.
    return (
        checked_id(text, where) if field_of(item, QUESTION_ID) is None else id_of(item, QUESTION_ID, where)
    ), text
