"""Judgments of spans, read from all that they are kept in; what is wrong is said with its line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from rankproof.core.corpus import JudgedSpan
from rankproof.errors import DataError
from rankproof.io.judgments import load_spans

ROWS = [("q1", "d1", 8, 22, 2), ("q1", "d2", 0, 5, 1), ("q2", "d1", 3, 4, 1)]
EXPECTED = {
    "q1": (JudgedSpan("d1", 8, 22, 2), JudgedSpan("d2", 0, 5, 1)),
    "q2": (JudgedSpan("d1", 3, 4, 1),),
}
NAMES = ("query", "document", "start", "end", "grade")
RECORDS = [dict(zip(NAMES, row, strict=True)) for row in ROWS]
HEADED = "query_id\tdoc_id\tstart\tend\tgrade\n"
TSV = "".join("\t".join(map(str, row)) + "\n" for row in ROWS)


@pytest.mark.parametrize(
    "source",
    [
        ROWS,
        RECORDS,
        [{"query_id": q, "corpus_id": d, "start_index": s, "end_index": e, "relevance": g} for q, d, s, e, g in ROWS],
        {"q1": [("d1", 8, 22, 2), ("d2", 0, 5)], "q2": [["d1", 3, 4]]},
        {"q1": [{"document": "d1", "start": 8, "end": 22, "grade": 2}, ("d2", 0, 5)], "q2": [("d1", 3, 4)]},
        pd.DataFrame(RECORDS),
        pl.DataFrame(RECORDS),
    ],
    ids=["rows", "records", "other names", "lists", "mixed", "pandas", "polars"],
)
def test_values(source: Any) -> None:
    assert load_spans(source).by_query == EXPECTED
    assert load_spans(load_spans(source)).fingerprint == load_spans(ROWS).fingerprint


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("spans.jsonl", "\n".join(map(json.dumps, RECORDS))),
        ("spans.json", json.dumps(RECORDS)),
        ("spans.json", json.dumps({"q1": [["d1", 8, 22, 2], ["d2", 0, 5]], "q2": [["d1", 3, 4]]})),
        ("spans.tsv", HEADED + TSV),
        ("spans.tsv", TSV),
        ("spans.tsv", TSV.replace("\n", "\r\n")),
        ("spans.csv", (HEADED + TSV).replace("\t", ",")),
    ],
)
def test_files(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_bytes(content.encode())
    assert load_spans(path).by_query == EXPECTED
    assert load_spans(str(path)).source == str(path)


def test_parquet(tmp_path: Path) -> None:
    pl.DataFrame(RECORDS).write_parquet(tmp_path / "spans.parquet")
    assert load_spans(tmp_path / "spans.parquet").by_query == EXPECTED


def test_a_query_without_spans_stays() -> None:
    found = load_spans({"q1": [("d1", 0, 4)], "q2": [], "q3": None}).by_query
    assert found["q2"] == found["q3"] == ()


def test_the_fingerprint_is_that_of_the_judgments_in_any_order() -> None:
    one = load_spans(ROWS).fingerprint
    assert load_spans(ROWS[::-1]).fingerprint == one
    assert load_spans([*ROWS[:2], ("q2", "d1", 3, 5, 1)]).fingerprint != one
    assert load_spans([*ROWS[:2], ("q2", "d1", 3, 4, 2)]).fingerprint != one


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q1\td1\t5\t5\t1", "got the span 5 to 5, expected a start of at least 0 and an end after it"),
        ("q1\td1\t-1\t5\t1", "got the span -1 to 5"),
        ("q1\td1\tx\t5\t1", "got 'x' as a place in the text, expected a whole number"),
        ("q1\td1\t1.5\t5\t1", "got '1.5' as a place"),
        ("q1\td1\t1\t5\tgood", "got 'good' as a grade, expected a number"),
        ("q1\td1\t1\t5\tnan", "got 'nan' as a grade"),
        ("q1\t\t1\t5\t1", "as an id, expected text"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "spans.tsv"
    path.write_text(HEADED + TSV + line + "\n")
    with pytest.raises(DataError, match=r"spans\.tsv, line 5: .*Next: ") as caught:
        load_spans(path)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([("q1", "d1", 1)], r"item 1: got .*expected query, document, start, end"),
        ([("q1", "d1", True, 5)], "got True as a place"),
        ([("q1", "d1", 1, 5, True)], "got True as a grade"),
        ([("q1", 1.5, 1, 5)], "as an id"),
        ({"q1": [("d1", 1)]}, "'q1': got .*expected query, document, start, end"),
        ({"q1": {"d1": [(1, 5)]}}, r"'q1': got {'d1': .*list of its spans, each \(document, start, end\)"),
        ([{"query": "q1", "start": 1, "end": 5}], "no document in"),
        ([{"query": "q1", "document": "d", "start": 1}], "no end in"),
        ([], "it has no queries"),
        ({}, "it has no queries"),
        (["q1"], "item 1: got 'q1'"),
    ],
)
def test_what_cannot_be_read_is_said(source: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        load_spans(source)
