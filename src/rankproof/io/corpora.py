"""A corpus from whatever it is kept in: a dict, records, a data frame, a file, a folder, an ir_datasets object."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rankproof.core.corpus import Corpus, Document
from rankproof.errors import DataError, shorten
from rankproof.io.beir import BEIR_CORPUS, folder_at
from rankproof.io.fields import (
    DOCUMENT_ID,
    DOCUMENT_TEXT,
    METADATA,
    TITLE,
    checked_id,
    field_of,
    id_of,
    record_of,
    text_in,
)
from rankproof.io.files import STDIN, read_bytes, text_of
from rankproof.io.records import Placed, records, records_in
from rankproof.io.zips import matching

TEXT_FILES = (".txt", ".md", ".markdown", ".rst")


def load_corpus(source: Any) -> Corpus:
    """The documents of a `Corpus`, a dict, records, objects, a data frame, a path, or an ir_datasets object.

    A dict is `{id: text}` or `{id: {"text": ..., "title": ..., more}}`. A file is JSON Lines, JSON, CSV, TSV or
    Parquet; a folder one of BEIR, or of text files (.txt, .md), whose ids are their paths in it. An id twice,
    a record without an id or a text, or bytes that are no text are errors that say where. Documents without
    any text stay in, with a warning: nothing can find them.

    >>> load_corpus([{"doc_id": "d1", "title": "Refunds", "contents": "Within 30 days."}])["d1"].whole
    'Refunds\\nWithin 30 days.'
    """
    if isinstance(source, Corpus):
        return source
    placed: dict[str, str] = {}
    if type(source) is dict and all(
        type(name) is str and name and type(text) is str for name, text in source.items()
    ):
        # Nothing can be wrong with these, and checking each would cost a third of what indexing it does.
        corpus = Corpus(Document(name, text) for name, text in source.items())
    else:
        corpus = Corpus(_each_once(_placed(source), placed))
    if not corpus:
        raise DataError("the corpus is empty, there is no document in it. Next: check how it was made.")
    _warn_of_empty(corpus, placed)
    return corpus


def _placed(source: Any) -> Iterator[Placed]:
    if hasattr(source, "docs_iter"):
        return ((f"the corpus, item {n}", _ir_document(each)) for n, each in enumerate(source.docs_iter(), 1))
    path = isinstance(source, (str, os.PathLike)) and os.fspath(source) != STDIN
    if path and (folder := folder_at(Path(source))):
        return _in_folder(folder)
    return records(source, "the corpus")


def _each_once(placed: Iterator[Placed], seen: dict[str, str]) -> Iterator[Document]:
    for where, found in placed:
        document = _document(where, found)
        if document.id in seen:
            raise DataError(
                f"{where}: document {shorten(document.id)} was given before ({seen[document.id]}). "
                "Next: give each document an id of its own."
            )
        seen[document.id] = where
        yield document


def _document(where: str, found: Any) -> Document:
    if isinstance(found, tuple) and len(found) == 2:
        found = {"_id": found[0], "text": found[1]}
    if not isinstance(found, Mapping):
        raise DataError(
            f"{where}: got {shorten(found)}, expected a document with an id and a text. "
            'Next: give {id: text}, or records like {"id": ..., "text": ...}.'
        )
    if found.keys() == {"_id", "text"} and isinstance(found["text"], str):
        return Document(checked_id(found["_id"], where), found["text"])  # the same, for many and plain texts
    return _of_record(found, where)


def _of_record(record: Mapping[str, Any], where: str) -> Document:
    text_name, text = text_in(record, DOCUMENT_TEXT, where)
    title_name = field_of(record, TITLE)
    title = record[title_name] if title_name else ""
    packed = next((name for name in METADATA if isinstance(record.get(name), Mapping)), None)
    used = {"_id", "id", text_name, title_name, packed, field_of(record, DOCUMENT_ID)}
    rest = {name: value for name, value in record.items() if name not in used}
    metadata = {**(record[packed] if packed else {}), **rest}
    return Document(
        id_of(record, DOCUMENT_ID, where), text, title if isinstance(title, str) else "", metadata
    )


def _ir_document(document: Any) -> Mapping[str, Any]:
    """A document of ir_datasets: its fields, and the text that it counts as its own where it says so."""
    record = dict(record_of(document) or {})
    if field_of(record, DOCUMENT_TEXT) is None and hasattr(document, "default_text"):
        record["text"] = document.default_text()
    return record


def _in_folder(folder: Path) -> Iterator[Placed]:
    if found := matching(folder, BEIR_CORPUS):
        return records_in(found[0])
    files = [
        path for path in sorted(folder.rglob("*")) if path.suffix.lower() in TEXT_FILES and path.is_file()
    ]
    if not files:
        raise DataError(
            f"{folder}: a folder without corpus.jsonl and without files that end in {', '.join(TEXT_FILES)}. "
            "Next: name a file, a BEIR folder, or a folder of text files."
        )
    return (_text_file(path, folder) for path in files)


def _text_file(path: Path, folder: Path) -> Placed:
    name = path.relative_to(folder).as_posix()
    return str(path), {"_id": name, "text": text_of(read_bytes(path), str(path))}


def _warn_of_empty(corpus: Corpus, placed: Mapping[str, str]) -> None:
    empty = [each.id for each in corpus.values() if not each.whole.strip()]
    if empty:
        warnings.warn(
            f"{len(empty)} of {len(corpus)} documents have no text, so nothing can find them; the first is "
            f"{shorten(empty[0])} ({placed.get(empty[0], f'the corpus, {shorten(empty[0])}')})",
            stacklevel=3,
        )
