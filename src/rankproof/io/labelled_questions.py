"""Labelled questions, with or without a corpus, as one thing: read from whatever holds them, and written.

| source | what it holds |
|---|---|
| BEIR folder | corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv |
| JSON Lines, JSON, a list of records, a frame | a question a row: id, text, `relevant` as a list or `{doc: grade}` |
| CSV, TSV, Parquet | the same, ids separated by blanks or by `;`; or a judged document a row: id, text, doc, grade |
| ir_datasets object | queries_iter, qrels_iter, docs_iter |
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankproof.core.corpus import Corpus
from rankproof.core.judgments import Judgments, TwoGrades, add_judgment
from rankproof.document.disk import check_free, whole_file, write_file
from rankproof.errors import DataError, UsageError, shorten
from rankproof.io.corpora import (
    BEIR_CORPUS,
    beir_questions,
    folder_at,
    load_corpus,
    load_questions,
    question_id,
    split_of,
)
from rankproof.io.files import matching_files
from rankproof.io.load import load_judgments
from rankproof.io.read import QUESTION_ID, QUESTION_TEXT, Row, field_of, id_of, records, text_in
from rankproof.io.roles import column_of, is_of_lists
from rankproof.io.values import is_id

RELEVANT = (
    "relevant",
    "relevant_docs",
    "relevant_doc_ids",
    "qrels",
    "judgments",
    "grades",
    "reference_context_ids",
)
"""Names of the field with the relevant documents of a question."""
JUDGED = "judged"
"""In a question's metadata: somebody has looked, whether or not anything is relevant."""
QUESTIONS_FILE, CORPUS_FILE, JUDGMENTS_FILE = "queries.jsonl", "corpus.jsonl", "qrels/test.tsv"


@dataclass(frozen=True, eq=False, slots=True)
class LabelledQuestions:
    """Questions, what is relevant to them, and the documents if they are given."""

    questions: dict[str, str]
    judgments: Judgments
    corpus: Corpus | None = None


def load_labelled(source: Any) -> LabelledQuestions:
    """Labelled questions from a BEIR folder, a file or frame of records, or an ir_datasets object.

    >>> found = load_labelled([{"id": "q1", "question": "Refund?", "relevant": {"d1": 2}}])
    >>> found.questions, found.judgments.as_dict()
    ({'q1': 'Refund?'}, {'q1': {'d1': 2.0}})
    """
    if hasattr(source, "queries_iter"):
        if not hasattr(source, "qrels_iter"):
            raise DataError("the benchmark: an ir_datasets object without qrels. Next: choose a split that has them.")
        corpus = load_corpus(source) if hasattr(source, "docs_iter") else None
        return LabelledQuestions(load_questions(source), load_judgments(source.qrels_iter()), corpus)
    if isinstance(source, (str, os.PathLike)) and (folder := folder_at(split_of(Path(source))[0])):
        corpus = load_corpus(folder) if matching_files(folder, BEIR_CORPUS) else None
        return LabelledQuestions(load_questions(folder), _with_unanswered(folder, load_judgments(source)), corpus)
    return _of_records(records(source, "the benchmark"))


def _with_unanswered(folder: Path, judgments: Judgments) -> Judgments:
    """The judgments with the questions for which nothing is relevant: a table of judged documents has none of them."""
    marked = [
        id_of(record, QUESTION_ID, where)
        for where, record in records(beir_questions(folder), "the questions")
        if isinstance(record.get("metadata"), Mapping) and record["metadata"].get(JUDGED) is True
    ]
    missing = [name for name in marked if name not in judgments.index]
    return load_judgments({**judgments.as_dict(), **{name: {} for name in missing}}) if missing else judgments


def _of_records(placed: Iterable[Row]) -> LabelledQuestions:
    questions: dict[str, str] = {}
    relevant: dict[str, dict[Any, Any]] = {}
    for where, record in placed:
        if not isinstance(record, Mapping):
            raise DataError(
                f"{where}: got {shorten(record)}, expected a question with its relevant documents."
                " Next: name the fields question and relevant."
            )
        _, text = text_in(record, QUESTION_TEXT, where)
        name = question_id(record, text, where)
        if questions.setdefault(name, text) != text:
            raise DataError(f"{where}: question {shorten(name)} has another text than before. Next: keep one.")
        known = relevant.setdefault(name, {})
        for doc, grade in _relevant(record, where).items():
            try:
                add_judgment(known, doc, grade)
            except TwoGrades as error:
                raise error.of(f"{where}, question {shorten(name)}: document {shorten(doc)}") from error
    if not questions:
        raise DataError("the benchmark: it has no questions. Next: check how it was made.")
    return LabelledQuestions(questions, load_judgments(relevant))


def _relevant(record: Mapping[str, Any], where: str) -> dict[Any, Any]:
    """The judged documents in a record: all of a question, or one."""
    name, names = field_of(record, RELEVANT), list(map(str, record))
    if name is not None and not (isinstance(record[name], (int, float)) and column_of("doc", names)):
        return _listed(record[name], f"{where}, {name}")
    doc, grade = column_of("doc", names), column_of("grade", names)
    if len(doc) != 1:
        raise DataError(
            f"{where}: nothing says which documents are relevant ({shorten(list(record))}). "
            'Next: add "relevant" with a list of ids or {id: grade}, or the columns doc_id and grade.'
        )
    value = record[doc[0]]
    if value is None or (isinstance(value, str) and not value):
        return {}
    json_list = isinstance(value, str) and value[0] in "[{" and is_of_lists(doc[0])
    if json_list or not is_id(value):
        return _listed(value, f"{where}, {doc[0]}")
    return {value: _grade(record[grade[0]], where) if grade else 1}


def _listed(found: Any, where: str) -> dict[Any, Any]:
    if isinstance(found, str):
        if found.lstrip()[:1] in ("[", "{"):
            found = _parsed(found, where)
        else:  # ids separated by `|` or `;` if there are such, else by blanks or commas
            pattern = r"[|;]" if re.search(r"[|;]", found) else r"[,\s]+"
            found = [each.strip() for each in re.split(pattern, found) if each.strip()]
    if isinstance(found, Mapping):
        return {doc: grade for doc, grade in found.items() if grade is not None}
    if not isinstance(found, Iterable) or not all(map(is_id, found := list(found))):
        raise DataError(
            f"{where}: got {shorten(found)}, expected a list of ids, or {{id: grade}}. Next: give one of these."
        )
    return dict.fromkeys(found, 1)


def _parsed(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{where}: got {shorten(text)}, which begins as JSON and is none ({error}). Next: correct the JSON."
        ) from error


def _grade(value: Any, where: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise DataError(
            f"{where}: got {shorten(value)} as a grade, expected a number. Next: give a number, like 1."
        ) from None


# --- writing -----------------------------------------------------------------------------------


def save_labelled(found: LabelledQuestions, target: str | os.PathLike[str], *, force: bool = False) -> None:
    """Write a BEIR folder, or one JSON Lines file where the name ends in .jsonl (without the corpus)."""
    if found.judgments.facets is not None:
        raise UsageError("judgments with aspects have no place in this form. Next: write them apart, as JSON.")
    where = Path(target)
    if where.suffix.lower() == ".jsonl":
        judged = found.judgments.as_dict()
        rows = (
            {"query_id": name, "text": text, "relevant": judged.get(name, {})} for name, text in found.questions.items()
        )
        write_file(where, _lines(rows).encode("utf-8"), force=force)
    else:
        _write_folder(found, where, force)


def _write_folder(found: LabelledQuestions, folder: Path, force: bool) -> None:
    """All files of the folder, none of them before the content of all is known."""
    empty = {name for name, judged in found.judgments.as_dict().items() if not judged}
    questions = (
        {"_id": name, "text": text, **({"metadata": {JUDGED: True}} if name in empty else {})}
        for name, text in found.questions.items()
    )
    content = {QUESTIONS_FILE: _lines(questions), JUDGMENTS_FILE: _judgments(found.judgments)}
    if found.corpus is not None:
        content[CORPUS_FILE] = _lines(
            {"_id": each.id, "title": each.title, "text": each.text}
            | ({"metadata": dict(each.metadata)} if each.metadata else {})
            for each in found.corpus.values()
        )
    try:
        (folder / JUDGMENTS_FILE).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{folder}: cannot be written: {error.strerror or error}. Next: choose another place."
        ) from error
    for name in content:
        check_free(folder / name, force=force)
    with ExitStack() as together:
        for name, text in content.items():
            stream = together.enter_context(whole_file(folder / name, force=force))
            stream.write(text.encode("utf-8"))


def _lines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows)


def _judgments(judgments: Judgments) -> str:
    for name in (*judgments.query_ids, *judgments.doc_ids):
        if name != name.strip() or re.search(r"[\t\r\n]", name):
            raise UsageError(
                f"the id {shorten(name)} cannot be written in a BEIR folder. Next: write a .jsonl file instead."
            )
    rows = [
        f"{query}\t{doc}\t{grade:g}\n" for query, judged in judgments.as_dict().items() for doc, grade in judged.items()
    ]
    return "".join(["query-id\tcorpus-id\tscore\n", *rows])
