"""Corpora and questions come from anything that holds texts; what is wrong with one is said with its place."""

from __future__ import annotations

import gzip
import json
from collections import namedtuple
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import polars as pl
import pytest

from rankproof import sample
from rankproof.core.corpus import Corpus, Document
from rankproof.errors import DataError, UsageError
from rankproof.io.corpora import load_corpus, load_questions, load_questions_with_words

ROWS = [
    {"_id": "d1", "title": "Refunds", "text": "Within 30 days, always."},
    {"_id": "d2", "title": "", "text": 'Fees: "none",\ttruly'},
]
GenericDoc = namedtuple("GenericDoc", "doc_id text")


class IrDocs:
    def docs_iter(self) -> Any:
        return iter([GenericDoc("d1", "one"), GenericDoc("d2", "two")])

    def queries_iter(self) -> Any:
        return iter([GenericQuery("q1", "why?")])


GenericQuery = namedtuple("GenericQuery", "query_id text")


def lines(*records: Any) -> str:
    return "".join(json.dumps(each) + "\n" for each in records)


def csv_of(rows: list[dict[str, str]]) -> str:
    return pd.DataFrame(rows).to_csv(index=False)


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_every_source_gives_the_same_corpus(tmp_path: Path) -> None:
    beir = tmp_path / "beir"
    beir.mkdir()
    pl.DataFrame(ROWS).write_parquet(tmp_path / "c.parquet")
    sources = [
        Corpus(Document(r["_id"], r["text"], r["title"]) for r in ROWS),
        {r["_id"]: {"title": r["title"], "text": r["text"]} for r in ROWS},
        {r["_id"]: Document(r["_id"], r["text"], r["title"]) for r in ROWS},
        ROWS,
        (row for row in ROWS),
        [SimpleNamespace(id=r["_id"], page_content=r["text"], title=r["title"]) for r in ROWS],
        pl.DataFrame(ROWS),
        pl.LazyFrame(ROWS),
        pd.DataFrame(ROWS),
        tmp_path / "c.parquet",
        written(tmp_path, "c.jsonl", lines(*ROWS)),
        written(tmp_path, "bom.jsonl", b"\xef\xbb\xbf" + lines(*ROWS).encode()),
        written(tmp_path, "c.jsonl.gz", gzip.compress(lines(*ROWS).encode())),
        written(tmp_path, "c.json", json.dumps(ROWS, indent=2)),
        written(tmp_path, "nested.json", json.dumps({r["_id"]: r for r in ROWS}, indent=2)),
        written(tmp_path, "one-line.json", json.dumps({r["_id"]: r for r in ROWS})),
        written(tmp_path, "c.csv", csv_of(ROWS)),
        str(written(beir, "corpus.jsonl", lines(*ROWS)).parent),
    ]
    wanted = Corpus(Document(r["_id"], r["text"], r["title"]) for r in ROWS)
    for source in sources:
        found = load_corpus(source)
        assert [found.fingerprint, *found] == [wanted.fingerprint, *wanted], source


def test_what_else_is_known_of_a_document_is_kept_as_metadata() -> None:
    flat = load_corpus([{"id": "d1", "text": "x", "topic": "money", "metadata": {"year": 2020}}])
    assert flat["d1"].metadata == {"topic": "money", "year": 2020}


def test_a_folder_of_text_files_is_a_corpus_by_path(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    written(tmp_path, "a.txt", "one")
    written(tmp_path / "deep", "b.md", "# Two\ntwo")
    assert {name: each.text for name, each in load_corpus(tmp_path).items()} == {
        "a.txt": "one",
        "deep/b.md": "# Two\ntwo",
    }


def test_files_of_a_folder_that_are_left_out_are_told_and_hidden_ones_are_no_documents(tmp_path: Path) -> None:
    (tmp_path / ".venv").mkdir()
    written(tmp_path / ".venv", "licence.txt", "of somebody else")
    written(tmp_path, ".DS_Store", b"\0")
    with pytest.raises(DataError, match=r"without files that end in \.txt.*it has nothing"):
        load_corpus(tmp_path)
    for name in ("a.pdf", "b.PDF", "c.docx", "LICENSE"):
        written(tmp_path, name, b"%\0")
    with pytest.raises(DataError, match=r"it has 2 \.pdf, .*save PDF, Word and other documents as text"):
        load_corpus(tmp_path)
    written(tmp_path, "d.txt", "one")
    with pytest.warns(UserWarning, match=r"left out 4 of 5 files \(2 \.pdf, .*save PDF, Word and other"):
        assert list(load_corpus(tmp_path)) == ["d.txt"]


def test_a_page_of_html_is_its_title_and_what_it_shows(tmp_path: Path) -> None:
    page = (
        "<!doctype html><html><head><title>Refunds &amp; fees</title><style>p {color: red}</style></head><body>"
        "<script>if (a < b) document.write('<p>no</p>')</script><!-- never --><h1>Refunds</h1><p>Within\n<b>30</b> "
        "days.<br>See <a href='x'>te</a>rms.<svg><title>picture</title></svg></p><ul><li>one<li>two</ul></body></html>"
    )
    written(tmp_path, "page.HTM", page)
    found = load_corpus(tmp_path)["page.HTM"]
    assert (found.title, found.text) == ("Refunds & fees", "Refunds\nWithin 30 days.\nSee terms.\none\ntwo")


def test_ir_datasets_objects_are_read() -> None:
    assert [each.text for each in load_corpus(IrDocs()).values()] == ["one", "two"]
    assert load_questions(IrDocs()) == {"q1": "why?"}


def test_a_huge_document_stays_whole_and_an_empty_one_is_told(tmp_path: Path) -> None:
    huge = "word " * 400_000
    path = written(tmp_path, "huge.csv", f'id,text\nd1,"{huge}"\nd2,\n')
    with pytest.warns(UserWarning, match=r"1 of 2 documents have no text.*'d2' \(.*huge.csv, line 3\)"):
        corpus = load_corpus(path)
    assert corpus["d1"].text == huge


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lines(*ROWS, ROWS[0]), r"line 3: document 'd1' was given before \(.*line 1\)"),
        (lines(ROWS[0], {"text": "no id"}), r"line 2: a record without an id"),
        (lines(ROWS[0], {"_id": "d2", "title": "no text"}), r"line 2: a record without a text"),
        (lines(ROWS[0], {"_id": "d2", "text": 7}), r"line 2: got 7 as 'text', expected a text"),
        (lines(ROWS[0], {"_id": 1.5, "text": "x"}), r"line 2: got 1.5 as an id"),
        (lines(ROWS[0]) + '{"_id": "d2", "te', r"line 2: not valid JSON"),
        (lines(ROWS[0]) + "[1, 2]\n", r"line 2: got \[1, 2\], expected a document"),
        (lines(ROWS[0]).encode() + b'{"_id": "d2", "text": "\xff\xfe\x00"}', r"line 2: a NUL byte"),
        (lines(ROWS[0]).encode() + b'{"_id": "d2", "text": "\xc3"}', r"line 2: .* not valid UTF-8"),
        ('{"d1": "x", "d1": "y"}', r"'d1' comes twice"),
        ("id,text\nd1,x\nd2,y,z\n", r"line 3: got 3 columns"),
        ('id,text\nd1,"two\nlines"\nd1,y\n', r"line 4: document 'd1' was given before \(.*line 2\)"),
        (" \n", r"empty"),
        ("[]", r"the corpus is empty"),
    ],
)
def test_what_is_wrong_with_a_corpus_is_said_with_its_line(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        load_corpus(written(tmp_path, "corpus.txt", content))


def test_what_is_no_corpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="got 7"):
        load_corpus(7)
    with pytest.raises(DataError, match="item 1: got 'only a text', expected a document with an id"):
        load_corpus(["only a text"])
    with pytest.raises(UsageError, match="no such file"):
        load_corpus(tmp_path / "none.jsonl")
    with pytest.raises(DataError, match=r"a folder without corpus.jsonl"):
        load_corpus(tmp_path)


def test_every_source_gives_the_same_questions(tmp_path: Path) -> None:
    wanted = {"q1": "Can I get a refund, please?", "q2": "why\u2028so?"}
    records = [{"query_id": name, "query": text} for name, text in wanted.items()]
    beir = tmp_path / "beir"
    beir.mkdir()
    written(beir, "queries.jsonl", lines(*({"_id": n, "text": t, "metadata": {}} for n, t in wanted.items())))
    sources = [
        wanted,
        list(wanted.items()),
        records,
        pl.DataFrame(records),
        beir,
        written(tmp_path, "q.tsv", "".join(f"{name}\t{text}\n" for name, text in wanted.items())),
        written(tmp_path, "head.tsv", pd.DataFrame(records).to_csv(index=False, sep="\t")),
        written(tmp_path, "q.csv", csv_of(records)),
        written(tmp_path, "q.jsonl", lines(*records)),
        written(tmp_path, "q.json", json.dumps(wanted)),
    ]
    for source in sources:
        assert load_questions(source) == wanted, source


def test_a_question_without_words_may_be_passed_over() -> None:
    silent: list[str] = []
    assert load_questions({"q1": "why?", "q2": " ", "q3": None}, silent) == {"q1": "why?"}
    assert load_questions(["why?", "", None], silent) == {"why?": "why?"}
    assert silent == ["q2", "q3", "the questions, item 2", "the questions, item 3"]
    with pytest.warns(UserWarning, match="1 of 2 queries has no text, like 'q2'"):
        assert load_questions_with_words({"q1": "why?", "q2": " "}) == {"q1": "why?"}


def test_the_questions_of_the_sample_are_read() -> None:
    assert load_questions(sample.folder()) == load_questions(sample.folder() / "queries.jsonl") == sample.queries()
    assert len(load_corpus(sample.folder() / "documents.jsonl")) == len(sample.corpus())


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"q1": " "}, "'q1': a question without words"),
        ([{"_id": "q1", "text": None}], "a question without words"),
        (
            [("q1", "a"), ("q1", "b")],
            r"item 2: question 'q1' was given before with another text \(the questions, item 1\)",
        ),
        ([None], "item 1: a question without words"),
        ([7], "item 1: got 7, expected a question"),
        ({}, "no questions"),
        (b"bytes", "got b'bytes'"),
    ],
)
def test_what_is_wrong_with_questions_is_said(source: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        load_questions(source)


def test_the_same_question_twice_is_one_as_labels_have_it_in_every_row(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("id,question,doc\n4,how to ask,d1\n4,how to ask,d2\n5,why,d1\n")
    assert load_questions(path) == {"4": "how to ask", "5": "why"}
    assert load_questions([("4", "a"), ("4", "a")]) == {"4": "a"}
