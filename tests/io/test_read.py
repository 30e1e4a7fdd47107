"""One reader of rows stands behind corpora, questions, groups, samples and scores of systems."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rankproof.errors import DataError
from rankproof.io.corpora import DOCUMENT_TITLE, load_corpus, load_questions, read_texts
from rankproof.io.groups import load_groups
from rankproof.io.load import load_judgments, read_ordering
from rankproof.io.read import rows_of
from tests.each import with_each

ROWS = [("a1", "först, 1"), ("b 2", 'the "second"'), ("ü3", "third\u2028line")]


def csv_of(names: tuple[str, str], separator: str, end: str) -> str:
    lines = [separator.join(names)]
    lines += [separator.join(f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in row) for row in ROWS]
    return end.join(lines) + end


def json_of(names: tuple[str, str], indent: int | None = None) -> str:
    return json.dumps([dict(zip(names, row, strict=True)) for row in ROWS], ensure_ascii=False, indent=indent)


def lines_of(names: tuple[str, str], end: str = "\n") -> str:
    objects = (json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) for row in ROWS)
    return "".join(f"{each}{end}" for each in objects)


FORMS: dict[str, Callable[[tuple[str, str]], str]] = {
    "csv": lambda names: csv_of(names, ",", "\n"),
    "csv, CRLF": lambda names: csv_of(names, ",", "\r\n"),
    "csv, CR": lambda names: csv_of(names, ",", "\r"),
    "semicolons": lambda names: csv_of(names, ";", "\n"),
    "blank lines": lambda names: "\n \n" + csv_of(names, ",", "\n\n"),
    "json": json_of,
    "pretty json": lambda names: json_of(names, 2),
    "jsonl": lines_of,
    "jsonl, CRLF": lambda names: lines_of(names, "\r\n"),
    "jsonl, blank lines": lambda names: "\n" + lines_of(names, "\n\n"),
}
SAMPLES = ("id", "question")
READERS: dict[str, tuple[tuple[str, str], Callable[[Path], Any]]] = {
    "corpus": (("doc_id", "text"), lambda path: {n: each.text for n, each in load_corpus(path).items()}),
    "questions": (("qid", "question"), load_questions),
    "groups": (("qid", "kind"), load_groups),
    "samples": (SAMPLES, lambda path: {row.value["id"]: row.value["question"] for row in rows_of(path, "s")}),
    "titles": (("_id", "title"), lambda path: read_texts(path, {r[0] for r in ROWS}, DOCUMENT_TITLE)),
}


@with_each("form", FORMS)
@with_each("reader", READERS)
def test_every_consumer_reads_every_form(reader: str, form: str, tmp_path: Path) -> None:
    names, read = READERS[reader]
    content = FORMS[form](names)
    plain, marked, packed = (tmp_path / name for name in ("plain", "marked", "packed"))
    plain.write_bytes(content.encode())
    marked.write_bytes(b"\xef\xbb\xbf" + content.encode())
    packed.write_bytes(gzip.compress(content.encode()))
    wanted = {name: " ".join(text.split()) if reader == "titles" else text for name, text in ROWS}
    for path in (plain, marked, packed):
        assert read(path) == wanted, path.name


BROKEN = {
    "no text": (b'{"id": "a", "text": "x", "question": "x"}\n{"id": "\xff"}\n', "line 2: the bytes"),
    "a NUL": (b'{"id": "a", "text": "x", "question": "x"}\n\n{"id": "\0"}\n', "line 3: a NUL byte"),
    "UTF-16": ("id,text\na,b\n".encode("utf-16"), "UTF-16"),
    "no JSON": (b'{"id": "a", "text": "x", "question": "x"}\n{"id": \n', "line 2: not valid JSON"),
    "half of it": (b'{"id": "a",\n"text": \n', "line 3: not valid JSON"),
    "a field twice": (
        b'{"id": "a", "text": "x", "question": "x"}\n{"id": 1, "id": 2}\n',
        "line 2: 'id' comes twice",
    ),
    "too deep": (b'{"id": "a", "text": "x"}\n{"id":' + b"[" * 200_000 + b"}\n", "line 2: the JSON is nested"),
    "a cell more": (b"id,text\na,b\nc,d,e\n", "line 3: got 3 columns"),
    "a column twice": (b"id,text,x,x\na,b,1,2\n", "the header has 'x' twice, expected once"),
    "an open quote": (b'id,text\na,"b\nc,d\n', "cannot be read as CSV"),
    "nothing": (b"\n \n", "empty"),
}


@with_each("name", BROKEN)
def test_what_cannot_be_read_is_said_alike(name: str, tmp_path: Path) -> None:
    content, message = BROKEN[name]
    path = tmp_path / "rows"
    path.write_bytes(content)
    for read in (load_corpus, load_questions, load_groups, lambda path: list(rows_of(path, "samples"))):
        with pytest.raises(DataError, match=message):
            read(path)


def test_a_cell_may_be_as_long_as_it_is(tmp_path: Path) -> None:
    long = "d" * 200_000
    (tmp_path / "j.csv").write_text(f"query_id,doc_id,grade\nq1,{long},2\n")
    assert load_judgments(tmp_path / "j.csv").as_dict() == {"q1": {long: 2.0}}
    (tmp_path / "c.tsv").write_text(f"d1\t{long}\n")
    assert load_corpus(tmp_path / "c.tsv")["d1"].text == long


ORDERINGS = {
    "lines": "bm25 0.5\ndense\t0.25\nours, v2: .75\n",
    "csv": 'system,mean\nbm25,0.5\ndense,0.25\n"ours, v2:",.75\n',
    "object": '{"bm25": 0.5, "dense": 0.25, "ours, v2:": 0.75}',
    "pretty object": '{\n "bm25": 0.5,\n "dense": 0.25, "ours, v2:": 0.75\n}',
    "jsonl": '{"run": "bm25", "score": 0.5}\n{"run": "dense", "score": 0.25}\n{"run": "ours, v2:", "score": 0.75}\n',
}


@with_each("name", ORDERINGS)
def test_scores_of_systems_in_every_form(name: str, tmp_path: Path) -> None:
    (tmp_path / "scores").write_text(ORDERINGS[name])
    assert read_ordering(tmp_path / "scores") == {"bm25": 0.5, "dense": 0.25, "ours, v2:": 0.75}


@with_each("score", ['"high"', '""', '"nan"', '"inf"', "true", "null", "[1]", "1" + "0" * 400])
def test_a_score_of_a_system_that_is_no_number_is_refused_with_its_place(score: str, tmp_path: Path) -> None:
    rows = ['{"system": "bm25", "score": 0.5}', f'{{"system": "ours", "score": {score}}}']
    (tmp_path / "scores.jsonl").write_text("\n".join(rows))
    with pytest.raises(DataError, match=r"line 2: got .*Next: correct the"):
        read_ordering(tmp_path / "scores.jsonl")


def test_groups_of_odd_names_and_in_parquet(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("query_id,kind\nq1,typo\n#python,plain\n")
    (tmp_path / "b.tsv").write_text("# kinds, by hand\nq1\ttypo\n")
    with pytest.raises(DataError, match="got '# kinds, by hand', expected QUERY<TAB>GROUP"):
        load_groups(tmp_path / "b.tsv")
    (tmp_path / "c.tsv").write_text("#python\tplain\nq1\ttypo\n")
    assert load_groups(tmp_path / "a.csv") == {"q1": "typo", "#python": "plain"}
    assert load_groups(tmp_path / "c.tsv") == {"#python": "plain", "q1": "typo"}
    pyarrow = pytest.importorskip("pyarrow.parquet")
    import pyarrow as arrow

    pyarrow.write_table(arrow.table({"query_id": ["q1"], "kind": ["typo"]}), tmp_path / "d.parquet")
    assert load_groups(tmp_path / "d.parquet") == {"q1": "typo"}
