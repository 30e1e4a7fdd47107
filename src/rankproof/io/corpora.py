"""Corpora and questions from any source: dicts, records, data frames, files, folders."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankproof.core.corpus import Corpus, Document
from rankproof.document.numbers import count
from rankproof.errors import DataError, UsageError, not_known, shorten, warn_caller
from rankproof.io.column_roles import list_in_words
from rankproof.io.files import STDIN, archive_of, folders, is_zip, matching_files, read_bytes, text_of
from rankproof.io.inputs import named_columns
from rankproof.io.read import (
    DOCUMENT_ID,
    DOCUMENT_TEXT,
    METADATA,
    QUESTION_ID,
    QUESTION_TEXT,
    TITLE,
    Row,
    checked_id,
    field_of,
    id_of,
    record_of,
    records,
    rows_in,
    text_in,
)
from rankproof.io.values import unfit

DEFAULT = "test"
"""The split that is meant where none is named."""
BEIR_CORPUS = "corpus.jsonl*"
BEIR_QUESTIONS = "queries.jsonl*"
JUDGMENTS = "qrels/*.tsv*"


def folder_at(path: Path) -> Path | None:
    """The folder that a path names, or the one in the ZIP archive that it names; None if it is neither.

    >>> folder_at(Path("run.txt")) is None
    True
    """
    if path.is_dir():
        return path
    try:
        if not is_zip(path):
            return path if archive_of(path) and is_beir(path) else None
        found = [folder for folder in folders(path) if is_beir(folder)]
    except DataError:
        if path.suffix.lower() == ".zip":
            raise
        return None  # the reader of the file says what it is
    if len(found) > 1 and len(found[0].parts) == len(found[1].parts):
        names = list_in_words([each.relative_to(path).as_posix() for each in found])
        raise UsageError(f"{path}: there are several BEIR folders in it, {names}. Next: name one, like {found[0]}.")
    return found[0] if found else None


def is_beir(folder: Path) -> bool:
    """Whether a folder has the files of BEIR."""
    return any(matching_files(folder, each) for each in (BEIR_CORPUS, BEIR_QUESTIONS, JUDGMENTS))


def split_of(path: Path) -> tuple[Path, str | None]:
    """A folder and the split named behind `#`, as in `scifact#train`."""
    folder, mark, split = str(path).rpartition("#")
    return (Path(folder), split) if mark and not path.exists() and folder_at(Path(folder)) else (path, None)


def judgments_file(folder: Path, split: str | None = None) -> Path:
    """The file with the judgments of a split of a BEIR folder."""
    splits = _splits(folder)
    listed = list_in_words(list(splits))
    if split is not None and split not in splits:
        raise not_known(f"{folder}: no split {split!r}, only {listed}", split, splits, "name one of them")
    if split is None and len(splits) > 1 and DEFAULT not in splits:
        raise UsageError(f"{folder}: several splits, {listed}. Next: name one, like {folder}#{next(iter(splits))}.")
    return splits[split or (DEFAULT if DEFAULT in splits else next(iter(splits)))]


def choice_note(folder: Path, chosen: Path) -> str:
    """A sentence on the files of the folder that were read."""
    others = [name for name, path in _splits(folder).items() if path != chosen]
    also = f"; there are also {', '.join(others)}, as {folder}#{others[0]}" if others else ""
    return f"{folder}: a BEIR folder, took the judgments of qrels/{chosen.name}{also}"


def _splits(folder: Path) -> dict[str, Path]:
    found = {path.name.partition(".")[0]: path for path in matching_files(folder, JUDGMENTS)}
    if not found:
        raise DataError(
            f"{folder}: a folder without qrels/*.tsv, so not one of BEIR. "
            "Next: give the path of a file, or of a BEIR folder."
        )
    return found


PAGES = (".html", ".htm")
TEXT_FILES = (".txt", ".md", ".markdown", ".rst", *PAGES)
WITHIN_LINES = frozenset(
    {"a", "abbr", "b", "code", "em", "font", "i", "kbd", "mark", "s", "small", "span", "strong", "u"}
)
"""Tags of HTML that end no word."""


def load_corpus(source: Any) -> Corpus:
    """The documents of a `Corpus`, a dict, records, objects, a data frame, a path, or an ir_datasets object.

    A dict is `{id: text}` or `{id: {"text": ..., "title": ..., more}}`. A file is JSON Lines, JSON, CSV, TSV or
    Parquet; a folder one of BEIR, or of files of text (.txt, .md, .html), whose ids are their paths in it: others are
    left out with a warning, and what is hidden without. An id twice, a record without an id or a text, or bytes that
    are no text are errors that say where. Documents without any text stay in, with a warning: nothing can find them.

    >>> load_corpus([{"doc_id": "d1", "title": "Refunds", "contents": "Within 30 days."}])["d1"].whole
    'Refunds\\nWithin 30 days.'
    """
    if isinstance(source, Corpus):
        return source
    placed: dict[str, str] = {}
    if type(source) is dict and all(type(name) is str and name and type(text) is str for name, text in source.items()):
        # Nothing can be wrong with these, and checking each would cost a third of what indexing it does.
        corpus = Corpus(Document(name, text) for name, text in source.items())
    else:
        rows = _placed(source, "the corpus", "docs_iter", _ir_document, _in_folder)
        corpus = Corpus(_each_once(rows, placed))
    if not corpus:
        raise DataError("the corpus is empty, there is no document in it. Next: check how it was made.")
    empty = [each.id for each in corpus.values() if not (each.text.strip() or each.title.strip())]
    if empty:
        warn_caller(
            f"{len(empty)} of {len(corpus)} documents have no text, so nothing can find them; the first is "
            f"{shorten(empty[0])} ({placed.get(empty[0], f'the corpus, {shorten(empty[0])}')})"
        )
    return corpus


def _placed(
    source: Any, what: str, method: str, record: Callable[[Any], Any], in_folder: Callable[[Path], Iterator[Row]]
) -> Iterator[Row]:
    """The records of a source: of an ir_datasets object by this method, of a folder, or what `records` gives."""
    if hasattr(source, method):
        return (Row(f"{what}, item {n}", record(each)) for n, each in enumerate(getattr(source, method)(), 1))
    path = isinstance(source, (str, os.PathLike)) and os.fspath(source) != STDIN
    folder = folder_at(Path(source)) if path else None
    return records(source, what) if folder is None else in_folder(folder)


def _each_once(placed: Iterator[Row], seen: dict[str, str]) -> Iterator[Document]:
    for where, found in placed:
        document = _document(where, found)
        if document.id in seen:
            raise DataError(
                f"{where}: document {shorten(document.id)} was given before ({seen[document.id]}). "
                "Next: give each document an id of its own."
            )
        seen[document.id] = where
        yield document


def _fields(where: str, found: Any, expected: str) -> Mapping[str, Any]:
    """The fields of a record, or of a pair of id and text."""
    if isinstance(found, tuple) and len(found) == 2:
        return {"_id": found[0], "text": found[1]}
    if not isinstance(found, Mapping):
        raise unfit(where, found, expected, 'give {id: text}, or records like {"id": ..., "text": ...}')
    return found


def _document(where: str, found: Any) -> Document:
    found = _fields(where, found, "a document with an id and a text")
    if found.keys() == {"_id", "text"} and isinstance(found["text"], str):
        return Document(checked_id(found["_id"], where), found["text"])  # the same, for many and plain texts
    text_name, text = text_in(found, DOCUMENT_TEXT, where)
    title_name = field_of(found, TITLE)
    title = found[title_name] if title_name else ""
    packed = next((name for name in METADATA if isinstance(found.get(name), Mapping)), None)
    used = {"_id", "id", text_name, title_name, packed, field_of(found, DOCUMENT_ID)}
    # In a frame of pandas the lists of a Parquet file are arrays.
    plain = ((name, each.tolist() if isinstance(each, np.ndarray) else each) for name, each in found.items())
    rest = {name: value for name, value in plain if name not in used}
    metadata = {**(found[packed] if packed else {}), **rest}
    return Document(id_of(found, DOCUMENT_ID, where), text, title if isinstance(title, str) else "", metadata)


def _ir_document(document: Any) -> Mapping[str, Any]:
    """A document of ir_datasets: its fields, and the text that it counts as its own where it says so."""
    record = dict(record_of(document) or {})
    if field_of(record, DOCUMENT_TEXT) is None and hasattr(document, "default_text"):
        record["text"] = document.default_text()
    return record


def _in_folder(folder: Path) -> Iterator[Row]:
    if found := matching_files(folder, BEIR_CORPUS):
        yield from rows_in(found[0])
        return
    names = (path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file())
    shown = [name for name in names if not any(part.startswith(".") for part in name.parts)]
    files = [name for name in shown if name.suffix.lower() in TEXT_FILES]
    others = Counter(name.suffix.lower() or "without an ending" for name in set(shown).difference(files))
    kinds = ", ".join(f"{number:,} {ending}" for ending, number in others.most_common(5)) or "nothing"
    endings, advice = ", ".join(TEXT_FILES), "save PDF, Word and other documents as text"
    if not files:
        raise DataError(
            f"{folder}: a folder without corpus.jsonl and without files that end in {endings} (it has {kinds}). "
            f"Next: name a file, a BEIR folder, or a folder of text files; {advice}."
        )
    if others:
        few = f"{others.total():,} of {count(len(shown), 'file')}"
        warn_caller(f"{folder}: left out {few} ({kinds}); only {endings} are read. Next: {advice} to include them.")
    for name in files:
        where = str(folder / name)
        text = text_of(read_bytes(where), where)
        page = _page(text) if name.suffix.lower() in PAGES else {"text": text}
        yield Row(where, {"_id": name.as_posix(), **page})


def _page(html: str) -> dict[str, str]:
    """The title of a page of HTML, and the text that it shows: no scripts, and lines where blocks end."""
    from html.parser import HTMLParser  # most corpora have no pages

    words: dict[str, list[str]] = {"title": [], "script": [], "style": [], "text": []}

    class Page(HTMLParser):
        at = "text"

        def handle_starttag(self, tag: str, attrs: object, after: str | None = None) -> None:
            if tag in words and self.at in ("text", tag):
                self.at = after or tag
            if tag not in WITHIN_LINES:
                words["text"].append("\n")

        def handle_endtag(self, tag: str) -> None:
            self.handle_starttag(tag, None, "text")

        def handle_data(self, data: str) -> None:
            words[self.at].append(re.sub(r"\s+", " ", data))

    page = Page()
    page.feed(html)
    page.close()
    lines = (line.strip() for line in "".join(words["text"]).splitlines())
    # Pictures have titles too, so that the first one counts.
    return {"title": "".join(words["title"][:1]).strip(), "text": "\n".join(filter(None, lines))}


def load_questions(source: Any, silent: list[str] | None = None) -> dict[str, str]:
    """The text of each question by its id.

    `source` is `{id: text}`, a list of texts (each its own id), pairs, records, a data frame, the path of JSON
    Lines, JSON, CSV, TSV or Parquet, a BEIR folder, or an ir_datasets object. An id with two texts, and a question
    without words, are errors that say where; given the list `silent`, the ids of such questions go into it.

    >>> load_questions(["Can I get a refund?"])
    {'Can I get a refund?': 'Can I get a refund?'}
    >>> load_questions([{"query_id": 7, "query": "Can I get a refund?"}])
    {'7': 'Can I get a refund?'}
    """
    found: dict[str, str] = {}
    seen: dict[str, str] = {}
    # A series, as a column of a frame is, holds the texts alone.
    given = source.to_list() if hasattr(source, "to_list") else source
    for where, item in _placed(given, "the questions", "queries_iter", record_of, beir_questions):
        name, text = _question(where, item)
        if not text.strip():
            if silent is None:
                raise DataError(f"{where}: a question without words. Next: write it, or leave it out.")
            silent.append(name)
            continue
        if found.get(name, text) != text:  # the same text once more is no conflict: labels have it in every row
            raise DataError(
                f"{where}: question {shorten(name)} was given before with another text ({seen[name]}). "
                "Next: keep one of them."
            )
        found[name], seen[name] = text, where
    if not found:
        raise DataError("there are no questions. Next: check how the questions were made.")
    return found


def texts_of_judged(judged: Sequence[str], questions: Mapping[str, str], place: str = "") -> dict[str, str]:
    """The text of each judged question; `place` says in the error for one that has none where it was looked for."""
    missing = [name for name in judged if name not in questions]
    if missing:
        raise DataError(
            f"{place}{len(missing)} judged questions have no text, for example {shorten(missing[0])}. "
            "Next: add them to the queries, or take them out of the judgments."
        )
    return {name: questions[name] for name in judged}


def beir_questions(folder: Path) -> Iterator[Row]:
    """The questions of a BEIR folder."""
    found = matching_files(folder, BEIR_QUESTIONS)
    if not found:
        raise DataError(f"{folder}: a folder without queries.jsonl. Next: name the file with the questions.")
    return rows_in(found[0])


def load_questions_with_words(source: Any) -> dict[str, str]:
    """The same, with a warning of those that have none."""
    silent: list[str] = []
    found = load_questions(source, silent)
    if silent:
        warn_caller(silent_note(silent, len(found) + len(silent)))
    return found


def silent_note(silent: Sequence[str], every: int, lack: str = "text") -> str:
    """How many queries of all have no text, and the first of them."""
    have = "has" if len(silent) == 1 else "have"
    return f"{len(silent):,} of {count(every, 'query')} {have} no {lack}, like {silent[0]!r}."


def _question(where: str, item: Any) -> tuple[str, str]:
    """The id, or the place of a question that has neither id nor words, and the text; what is null has no words."""
    alone = item is None or isinstance(item, str)
    record = _fields(where, (item or None, item) if alone else item, "a question with an id")
    null = field_of(record, QUESTION_TEXT) is None and any(name in record for name in QUESTION_TEXT)
    text = "" if null else text_in(record, QUESTION_TEXT, where)[1]
    if text.strip() or field_of(record, QUESTION_ID) is not None:
        return question_id(record, text, where), text
    return where, text


def question_id(record: Mapping[str, Any], text: str, where: str) -> str:
    """The id of a question; one without an id is known by its words, as a text in a list is."""
    return checked_id(text, where) if field_of(record, QUESTION_ID) is None else id_of(record, QUESTION_ID, where)


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
        source = load_questions(source, silent=[])
    # One by one: a collection may be larger than memory.
    placed = ((id_of(record, IDS, where), record) for where, record in records(source, "texts"))
    found = ((name, _text(record, fields)) for name, record in placed if name in wanted)
    return {name: text for name, text in found if text}


def read_titles(source: Any, wanted: Collection[str]) -> dict[str, str]:
    """The titles of the wanted documents, from anything that `load_corpus` or `read_texts` takes.

    >>> read_titles([{"id": "d1", "title": "Refunds", "text": "Within 30 days."}], {"d1"})
    {'d1': 'Refunds'}
    """
    if source is None or _is_read_by_line(source):
        return read_texts(source, wanted, DOCUMENT_TITLE)
    corpus = load_corpus(source)
    found = ((name, _text(corpus[name].title or corpus[name].text)) for name in wanted if name in corpus)
    return {name: text for name, text in found if text}


def _is_read_by_line(source: Any) -> bool:
    """Lines are read one by one, and need no more than an id and a title."""
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        return not folder_at(path) and WHOLE.isdisjoint(path.suffixes[-2:]) and not named_columns()
    return isinstance(source, Mapping) and not isinstance(source, Corpus)


def _text(record: Any, fields: tuple[str, ...] = ()) -> str:
    """The text of a record as one line."""
    if isinstance(record, Mapping):
        record = next((record[each] for each in fields if record.get(each)), "")
    text = " ".join(str(record).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
