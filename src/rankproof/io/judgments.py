"""Judgments with their texts: judged spans, the places of chunks, and labelled questions.

Labelled questions are read from these sources, with or without a corpus, and written:

| source | what it holds |
|---|---|
| BEIR folder | corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv |
| JSON Lines, JSON, records, a frame | one question per row: id, text, `relevant` as a list or `{doc: grade}` |
| CSV, TSV, Parquet | the same, ids separated by blanks or `;`; or one judgment per row: id, text, doc, grade |
| ir_datasets object | queries_iter, qrels_iter, docs_iter |
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rankproof.core.corpus import Corpus, JudgedSpan, SpanJudgments
from rankproof.core.judgments import Judgments, TwoGrades, add_judgment
from rankproof.document.disk import check_free, whole_file, write_file
from rankproof.errors import DataError, UsageError, number_in, shorten
from rankproof.io.column_roles import NAMES, column_of, is_of_lists
from rankproof.io.corpora import (
    BEIR_CORPUS,
    beir_questions,
    folder_at,
    load_corpus,
    load_questions,
    question_id,
    split_of,
)
from rankproof.io.files import matching_files, name_of
from rankproof.io.load import load_judgments
from rankproof.io.read import QUESTION_ID, QUESTION_TEXT, Row, checked_id, field_of, id_of, records, text_in
from rankproof.io.values import is_id, unfit

QUERY = ("query", *NAMES["query"][0], "question", "_id")
DOCUMENT = ("document", *NAMES["doc"][0], "doc", "corpus_id", "source")
START = ("start", "start_index", "begin", "start_char", "start_offset", "from")
END = ("end", "end_index", "stop", "end_char", "end_offset", "to")
CHUNK = ("id", "_id", "chunk", "chunk_id", "name")
GRADE = ("grade", "relevance", "score", "rel", "label")
"""Names of the fields of a judged span, the surest first."""
EXPECTED = "query, document, start, end and perhaps grade"


def load_spans(source: Any) -> SpanJudgments:
    """The judged spans of each query.

    `source` is `{query: [(document, start, end), ...]}`, each with a grade at its end if there are grades; rows or
    records of query, document, start, end and grade; a data frame; or the path of JSON Lines, JSON, CSV, TSV (also
    without header) or Parquet.

    >>> load_spans([{"query": "q1", "document": "d1", "start": 8, "end": 22}]).by_query
    {'q1': (JudgedSpan(document='d1', start=8, end=22, grade=1),)}
    """
    if isinstance(source, SpanJudgments):
        return source
    named = name_of(source) if isinstance(source, (str, os.PathLike)) else "span judgments"
    found: dict[str, list[JudgedSpan]] = {}
    places: dict[tuple[str, JudgedSpan], str] = {}
    for where, query, row in _rows(records(source, named)):
        spans = found.setdefault(query, [])
        if row is not None:
            span = _span(row, where)
            spans.append(span)
            places.setdefault((query, span), where)
    if not found:
        raise DataError(f"{named}: it has no queries. Next: check how it was made.")
    return SpanJudgments({query: tuple(spans) for query, spans in found.items()}, named, places)


def load_places(path: str | os.PathLike[str]) -> dict[str, tuple[str, int, int]]:
    """The places of chunks: from a file with the columns id, document, start and end, or a corpus of chunks."""
    found: dict[str, tuple[str, int, int]] = {}
    for where, item in records(path, name_of(path)):
        if not isinstance(item, Mapping):
            raise unfit(where, item, "id, document, start and end", "correct this row")
        told = {**item, **item["metadata"]} if isinstance(item.get("metadata"), Mapping) else item
        name, document, *places = (_part(told, names, where) for names in (CHUNK, DOCUMENT, START, END))
        start, end = (_whole(place, where) for place in places)
        found[checked_id(name, where)] = (checked_id(document, where), start, end)
    return found


def _rows(placed: Iterator[Row]) -> Iterator[tuple[str, str, Any]]:
    """Where each span stands, its query, and its (document, start, end, grade); None for a query without spans."""
    for where, item in placed:
        if isinstance(item, Mapping) and field_of(item, START) is None and "_id" in item:  # all spans of a query
            query, listed = checked_id(item["_id"], where), item.get("text", item)
            if isinstance(listed, str):  # a line without header
                listed = [listed.rstrip("\r").split("\t")]
            if listed is not None and not isinstance(listed, Sequence):
                step = "correct this row, or give the query a list of its spans, each (document, start, end)"
                raise unfit(where, listed, EXPECTED, step)
            for row in listed or [None]:
                yield where, query, _named(row, where) if isinstance(row, Mapping) else row
        elif isinstance(item, Mapping):
            yield where, checked_id(_part(item, QUERY, where), where), _named(item, where)
        elif isinstance(item, Sequence) and not isinstance(item, str) and len(item) in (4, 5):
            yield where, checked_id(item[0], where), item[1:]
        else:
            raise unfit(where, item, EXPECTED, "correct this row")


def _named(item: Mapping[str, Any], where: str) -> tuple[Any, ...]:
    grade = field_of(item, GRADE)
    parts = [_part(item, names, where) for names in (DOCUMENT, START, END)]
    return (*parts, 1 if grade is None else item[grade])


def _part(item: Mapping[str, Any], names: Sequence[str], where: str) -> Any:
    name = field_of(item, names)
    if name is None:
        raise DataError(
            f"{where}: no {names[0]} in {shorten(list(item))}, expected {EXPECTED}. Next: name it {names[0]!r}."
        )
    return item[name]


def _span(row: Any, where: str) -> JudgedSpan:
    if isinstance(row, str) or not isinstance(row, Sequence) or len(row) not in (3, 4):
        raise unfit(where, row, EXPECTED, "correct this row")
    start, end = (_whole(value, where) for value in row[1:3])
    if not 0 <= start < end:
        raise DataError(
            f"{where}: got the span {shorten(start)} to {shorten(end)}, expected a start of at least 0 and an end "
            "after it. Next: count characters from 0; the end is the character after the last."
        )
    value = row[3] if len(row) == 4 else 1
    number = number_in(value)
    if not math.isfinite(number):
        raise unfit(where, value, "a number", "write 1, or 2", role="a grade")
    grade = int(number) if number.is_integer() else number
    return JudgedSpan(checked_id(row[0], where), start, end, grade)


def _whole(value: Any, where: str) -> int:
    number = number_in(value)
    if not number.is_integer():
        raise unfit(where, value, "a whole number", "count characters from 0", role="a place in the text")
    return int(number)


RELEVANT = ("relevant", "relevant_docs", "relevant_doc_ids", "qrels", "judgments", "grades", "reference_context_ids")
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
        for where, record in beir_questions(folder)
        if isinstance(record.get("metadata"), Mapping) and record["metadata"].get(JUDGED) is True
    ]
    missing = [name for name in marked if name not in judgments.index]
    if not missing:
        return judgments
    facets, none = judgments.facets, np.zeros(len(missing), dtype=np.intp)
    return replace(
        judgments,
        query_ids=(*judgments.query_ids, *missing),
        start=np.append(judgments.start, judgments.start[-1] + none),
        facets=facets and replace(facets, declared=np.append(facets.declared, none)),
    )


def _of_records(placed: Iterable[Row]) -> LabelledQuestions:
    questions: dict[str, str] = {}
    relevant: dict[str, dict[Any, Any]] = {}
    for where, record in placed:
        if not isinstance(record, Mapping):
            raise unfit(
                where, record, "a question with its relevant documents", "name the fields question and relevant"
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
    number = number_in(record[grade[0]]) if grade else 1
    if math.isnan(number):
        raise unfit(where, record[grade[0]], "a number", "give a number, like 1", role="a grade")
    return {value: number}


def _listed(found: Any, where: str) -> dict[Any, Any]:
    if isinstance(found, str):
        if found.lstrip()[:1] in ("[", "{"):
            try:
                found = json.loads(found)
            except (ValueError, RecursionError) as error:
                begins = f"which begins as JSON and is none ({error})"
                raise DataError(f"{where}: got {shorten(found)}, {begins}. Next: correct the JSON.") from error
        else:  # ids separated by `|` or `;` if there are such, else by blanks or commas
            pattern = r"[|;]" if re.search(r"[|;]", found) else r"[,\s]+"
            found = [each.strip() for each in re.split(pattern, found) if each.strip()]
    if isinstance(found, Mapping):
        return {doc: grade for doc, grade in found.items() if grade is not None}
    if not isinstance(found, Iterable) or not all(map(is_id, found := list(found))):
        raise unfit(where, found, "a list of ids, or {id: grade}", "give one of these")
    return dict.fromkeys(found, 1)


def with_grades(judgments: Judgments, grades: Mapping[str, Mapping[str, float | None]]) -> Judgments:
    """The judgments with other grades of some documents; None takes a document's grade away.

    >>> with_grades(load_judgments({"q1": {"d1": 2, "d2": 0}}), {"q1": {"d2": 1, "d1": None}}).as_dict()
    {'q1': {'d2': 1.0}}
    """
    if judgments.facets is not None:
        raise UsageError(
            f"{judgments.source}: its judgments name aspects of the queries, and a grade without an aspect cannot be "
            "added to them. Next: keep such grades in a file of their own."
        )
    table = judgments.as_dict()
    for query, own in grades.items():
        together = {**table.get(query, {}), **own}
        table[query] = {document: grade for document, grade in together.items() if grade is not None}
    return load_judgments(table)


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
