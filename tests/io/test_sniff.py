"""What a file is, is told by its content; the name only breaks a draw."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rankproof.errors import DataError
from rankproof.io.corpora import load_corpus
from rankproof.io.formats import JSON, PARQUET, TREC_JUDGMENTS, TREC_RANKING, Format, sniff
from rankproof.io.load import load_judgments, load_ranking
from tests.each import with_each

COMMAS, TABS, SEMICOLONS = (Format("delimited", by) for by in ",\t;")

CONTENTS = {
    "q1 0 d1 1": TREC_JUDGMENTS,
    "q1\t0\td1\t1": TREC_JUDGMENTS,
    "# a comment\n\nq1 0 d1 1": TREC_JUDGMENTS,
    "\ufeffq1 0 d1 1\r\nq1 0 d2 0\r\n": TREC_JUDGMENTS,
    "q1 0 d1 1\nq1 0 d2\nq1 0 d3 1": TREC_JUDGMENTS,
    "q1 0 d1 relevant": TREC_JUDGMENTS,
    "[1] 0 d1 1": TREC_JUDGMENTS,
    "q1 Q0 d1 1 0.5 t": TREC_RANKING,
    "q1\tQ0\td1\t1\t 0.5\tt": TREC_RANKING,
    "q1 Q0 d1 1 high t": TREC_RANKING,
    "q1,d1,1": COMMAS,
    "q1, d1, 1": COMMAS,
    "query_id,doc_id,score": COMMAS,
    '"query_id","doc_id","score"': COMMAS,
    "query id;doc id;grade\na b;c;1": SEMICOLONS,
    "sep=;\r\nquery_id;doc_id;score\r\nq1;d1;1": SEMICOLONS,
    "\ufeffsep=,\nquery_id,doc_id,score\nq1,d1,1": COMMAS,
    "q1\td1\t1": TABS,
    "what is rain\td1\t1\nwhy\td2\t0\nhow do birds fly\td2\t0": TABS,
    "query-id\tcorpus-id\tscore\nq 1\td1\t1": TABS,
    '{"q1": {"d1": 1}}': JSON,
    '  {\n"q1": {}}': JSON,
    '[["q1", "d1", 1]]': JSON,
    "[\n 1]": JSON,
    '{"a": 1} \n{"a": 2}': JSON,
    "{}": JSON,
    "PAR1....": PARQUET,
}


@with_each("content", CONTENTS)
@with_each("name", ["x", "x.csv", "x.json"])
def test_the_content_tells(content: str, name: str):
    assert sniff(content.encode(), name) == CONTENTS[content]


@with_each("head", ["query_id,doc_id,score\n", ""])
def test_a_no_break_space_beside_a_number_is_no_part_of_it(tmp_path: Path, head: str):
    path = tmp_path / "table.csv"
    path.write_text(f"{head}q1,d1,0.5\xa0\nq1,d2,1\n", encoding="utf-8")
    assert load_ranking(path).table().score.tolist() == [0.5, 1.0]


def test_the_name_breaks_a_draw():
    content = b"my 1\td1\t1\nmy 2\td2\t0\n"
    assert sniff(content, "x.tsv") == sniff(content, "x.tsv.gz") == TABS
    assert sniff(content, "x.txt") == TREC_JUDGMENTS
    content = b"q1 0 d,1 1\nq1 0 d,2 0\n"
    assert sniff(content, "x.csv") == COMMAS
    assert sniff(content, "x") == TREC_JUDGMENTS


def test_a_line_of_trec_is_no_header():
    assert sniff(b"d, Q0 d1 1 0.5 t\n", "x") == TREC_RANKING


def test_words_are_no_iterations():
    assert sniff(b"my query\td1\t1\nmy other\td2\t0\n", "x.txt") == TABS


def test_the_end_of_a_long_head_is_not_a_line():
    head = b"q1 Q0 document 1 0.5 t\n" * 3000
    assert sniff(head[: 1 << 16], "x") == TREC_RANKING


def test_a_line_that_is_longer_than_what_is_looked_at(tmp_path: Path):
    file = tmp_path / "x"
    file.write_text('{"q1": {' + ", ".join(f'"document {i}": {i}' for i in range(20_000)) + "}}")
    assert len(load_ranking(file).table()) == 20_000
    file.write_text("x" * 100_000)
    with pytest.raises(DataError, match="not a known format: 1 column between blanks"):
        load_judgments(file)


def test_queries_with_blanks_in_tsv(tmp_path: Path):
    file = tmp_path / "judged.tsv"
    file.write_text("my query\td1\t1\nmy other\td2\t0\n")
    assert load_judgments(file).as_dict() == {"my query": {"d1": 1}, "my other": {"d2": 0}}


@pytest.mark.slow
def test_a_long_line_that_is_no_row_is_told_with_its_length() -> None:
    with pytest.raises(DataError, match=r"\(a line of 5,005 characters\)"):
        sniff(b"q1 " + b"d" * 5000 + b" 1\n", "x")
    with pytest.raises(DataError, match=r"\(a line of 16,777,216 characters or more\)"):
        sniff((b"q1 Q0 " + b"d" * (1 << 24))[: 1 << 24], "x")


@with_each("head", ["sep=;\r\n", '"sep=;"\n', "\ufeffSep=;\n"])
def test_the_line_that_tells_excel_the_delimiter_is_no_row(tmp_path: Path, head: str):
    path = tmp_path / "table.csv"
    path.write_text(f"{head}query_id;doc_id;score\nq1;d1;0.5\nq1;d2;high\n", encoding="utf-8")
    with pytest.raises(DataError, match="line 4: got 'high' as the score"):
        load_ranking(path)
    path.write_text(f"{head}q1;d1;0.5\nq1;d2;0.25\n", encoding="utf-8")
    assert list(load_ranking(path).table().doc) == ["d1", "d2"]
    path.write_text(f"{head}id;text\nd1;Within 30 days.\n", encoding="utf-8")
    assert load_corpus(path)["d1"].text == "Within 30 days."


@with_each("name", ["results", "Judgments"])
def test_rows_under_a_name_of_lists_are_rows(tmp_path: Path, name: str):
    path = tmp_path / "rows.json"
    rows = [{"query_id": "q1", "doc_id": "d2", "score": 2}, {"query_id": "q2", "doc_id": "d1", "score": 1}]
    path.write_text(json.dumps({name: rows}), encoding="utf-8")
    assert list(load_ranking(path).table().query) == ["q1", "q2"]
    assert load_judgments(path).as_dict() == {"q1": {"d2": 2.0}, "q2": {"d1": 1.0}}
    assert list(load_ranking({name: rows}).table().query) == ["q1", "q2"]
    assert load_judgments({name: rows}).as_dict() == {"q1": {"d2": 2.0}, "q2": {"d1": 1.0}}
    with pytest.raises(DataError, match=r"got \{1: 2\} \(dict\) as a document id"):
        load_ranking({name: [{1: 2}]}).table()
    path.write_text(json.dumps({name: [{"doc_id": "d2", "score": 2}]}), encoding="utf-8")
    assert list(load_ranking(path).table().query) == [name]
