"""What cannot be trusted is refused, with words that say where it is and what to do."""

from __future__ import annotations

import bz2
import gzip
import json
import re
import sys
import time
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from rankproof.core.conventions import Conventions
from rankproof.core.join import Census, join
from rankproof.errors import DataError, RankproofError, UsageError
from rankproof.io.load import load_judgments, load_ranking

JUDGED = {"q1": {"d1": 1}, "q2": {"d1": 1}}


def evaluated(ranking: Any, **policies: Any) -> Any:
    conventions, judgments = Conventions(**policies), load_judgments(JUDGED)
    return join(judgments, load_ranking(ranking).blocks(judgments, conventions, Census()), conventions)


def refused(load: Any, given: Any, kind: type[RankproofError] = DataError) -> str:
    with pytest.raises(kind) as caught:
        load(given)
    assert type(caught.value) is kind
    return str(caught.value)


RANKING_FILES = {
    "no number": (b"query_id,doc_id,score\nq1,d1,1\nq1,d2,high\n", "line 3: got 'high' as the score, expected a number"),
    "NaN": (b"query_id,doc_id,score\nq1,d1,1\nq1,d2,nan\n", "line 3: got 'nan' as the score, expected a number"),
    "no score": (b"query_id,doc_id,score\nq1,d1,\n", "line 2: got '' as the score, expected a number"),
    "grouped digits": (b"query_id,doc_id,score\nq1,d1,1_000\n", "line 2: got '1_000' as the score, expected a number. Next: correct or drop this row"),
    "rank no number": (b"query_id,doc_id,rank,score\nq1,d1,one,1\n", "line 2: got 'one' as the rank"),
    "missing column": (b"query_id,doc_id,score\nq1,d1,1\nq1,d2\n", "line 3: got 2 columns (['q1', 'd2']), expected 3 as in the first line"),
    "one column too many": (b"q1,d1,1\nq1,d2,2,3\n", "line 2: got 4 columns"),
    "empty fields": (b"query_id,doc_id,score\n,,\n", "line 2: got '' as the score"),
    "no query": (b"query_id,doc_id,score\n,d1,1\n", "line 2: got '' as the query, expected an id"),
    "no document": (b"query_id\tdoc_id\tscore\nq1\t \t1\n", "line 2: got '' as the doc, expected an id"),
    "duplicate": (b"query_id,doc_id,score\nq1,d1,1\n\nq1,d2,2\nq1,d1,3\n", "document 'd1' comes twice for query 'q1' (lines 2 and 5)"),
    "open quote": (b'query_id,doc_id,score\nq1,"d1,1\n', "cannot be read as CSV"),
    "NUL": (b"query_id,doc_id,score\nq1,d1,1\nq1,d\x002,1\n", "line 3: a NUL byte, expected text"),
    "NUL in the end": (b"q1,d1,1\n" * 10_000 + b"\0", "line 10001: a NUL byte"),
    "no UTF-8": (b"query_id,doc_id,score\nq1,d1,1\nq1,caf\xe9,1\n", r"line 3: the bytes b'q1,caf\xe9,1' are not valid UTF-8"),
    "UTF-16": ("query_id,doc_id,score\nq1,d1,1\n".encode("utf-16"), "the text is UTF-16, expected UTF-8"),
    "empty": (b"", "empty"),
    "only blanks": (b" \n\n\t\n", "empty"),
    "only a header": (b"query_id,doc_id,score\n", "empty, it has no rows"),
    "only comments": (b"# nothing\n", "empty"),
    "unknown header": (b"frage,dokument,wert\nq1,d1,1\n", "no column looks like the query of a ranking; the columns are 'frage', 'dokument', 'wert'"),
    "half known header": (b"query_id,url,score\nq1,d1,1\n", "no column looks like the doc of a ranking; the columns are 'query_id', 'url', 'score'"),
    "unknown score": (b"query_id,doc_id,bm25\nq1,d1,1\n", "no column looks like the score of a ranking; the columns are 'query_id', 'doc_id', 'bm25'. Next: rename the one that is to 'score'"),
    "two queries": (b"query_id,topic_id,doc_id,score\nq1,t1,d1,1\n", "cannot tell which column is the query: 'query_id', 'topic_id'"),
    "the same column twice": (b"query_id,doc_id,score,score\nq1,d1,1,2\n", "cannot tell which column is the score: 'score', 'score'"),
    "two columns, no header": (b"q1,d1\nq1,d2\n", "line 1: got 2 columns without a known header"),
    "four columns, no header": (b"q1,d1,1,0.5\nq1,d2,2,0.25\n", "so it cannot be told which is what of a ranking. Next: add a header line"),
    "ranks or scores": (b"q1\td1\t1\nq1\td2\t2\nq2\td1\t1\n", "the third column counts 1, 2, 3 in every query, so it may be a rank or a score"),
    "distances": (b"query_id,doc_id,_distance\nq1,d1,1\n", "'_distance' looks like a distance, which is less for what is better, expected a score"),
    "judgments in CSV": (b"query_id,doc_id,relevance\nq1,d1,1\n", "this looks like judgments (it has a column 'relevance' and no score), expected a ranking"),
    "judgments in TREC": (b"q1 0 d1 1\nq2 0 d1 0\n", "this looks like judgments (4 columns), expected a ranking (6 columns)"),
    "three columns of TREC": (b"q1 d1 1\nq2 d1 0\n", "not a known format: 3 columns between blanks, as in 'q1 d1 1'"),
    "preferences": (b"q1 0  0\td1 1\nq1 0 0 d2 0\n", "this looks like preference judgments (5 columns)"),
    "prose": (b"Once upon a time\n", "not a known format: 4 columns between blanks, as in 'Once upon a time'"),
    "binary": (bytes(range(1, 256)), "are not valid UTF-8"),
    "JSON cut off": (b'{"q1": {"d1": 1', "line 1: not valid JSON"),
    "JSON, line of the error": (b'{"q1":\n {"d1": 1,\n  "d2": }}', "line 3: not valid JSON"),
    "JSON of another kind": (b'["q1", "d1"]', "row 1: got 'q1', expected a tuple (query, doc, score) or (query, doc)"),
    "JSON, empty": (b"{}", "empty, it has no queries"),
    "JSON, empty list": (b"[]", "empty, it has no rows"),
    "JSON, document twice": (b'{"q1": {"d1": 1, "d1": 2}}', "'d1' comes twice in one object, {'d1': 2}"),
    "JSON, document twice in a list": (b'{"q1": ["d1", "d1"]}', "document 'd1' comes twice"),
    "JSON, query twice": (b'{"q1": {"d1": 1}, "q1": {"d1": 2}}', "'q1' comes twice in one object, {'q1': {'d1': 2}}"),
    "JSON, NaN": (b'{"q1": {"d1": NaN}}', "query 'q1', document 'd1': got nan (float) as the score, expected a number"),
    "JSON, text for a number": (b'{"q1": {"d1": "1"}}', "query 'q1', document 'd1': got '1' (str) as the score, expected a number"),
    "JSON, null": (b'{"q1": {"d1": null}}', "got None (NoneType) as the score, expected a number"),
    "JSON, truth": (b'{"q1": {"d1": true}}', "got True (bool) as the score, expected a number"),
    "JSON, a huge number": (b'{"q1": {"d1": 1' + b"0" * 400 + b"}}", "expected a number"),
    "JSON, digits without end": (b'{"q1": {"d1": 1' + b"0" * 5000 + b"}}", "cannot be read as JSON"),
    "JSON, too deep": (b'{"q1": ' + b"[" * 100_000, "nested too deep"),
    "JSON, half a character": (b'[{"query_id": "q1", "doc_id": "\\ud800", "score": 1}]', "row 1: got '\\ud800' as the doc, expected valid Unicode"),
    "JSON rows, missing field": (b'[{"query_id": "q1", "doc_id": "d1", "score": 1}, {"query_id": "q1", "doc_id": "d2"}]', "row 2: got {'query_id': 'q1', 'doc_id': 'd2'}, which has no 'score' as the first one has"),
    "JSON rows, null as id": (b'[{"query_id": "q1", "doc_id": null, "score": 1}]', "row 1: got None (NoneType) as the doc, expected text"),
    "JSON rows, two kinds of ids": (b'[{"query_id": "q1", "doc_id": "d1", "score": 1}, {"query_id": "q1", "doc_id": 2, "score": 1}]', "row 2: got 2 (int) as the doc, expected text as in"),
    "JSONL, broken line": (b'{"query_id": "q1", "doc_id": "d1", "score": 1}\n{"query_id": "q1", "doc\n', "line 2: not valid JSON"),
    "JSONL, text for a number": (b'{"query_id": "q1", "doc_id": "d1", "score": 1}\n\n{"query_id": "q1", "doc_id": "d2", "score": "1"}\n', "line 3: got '1' as the score, expected a number"),
    "JSONL, duplicate": (b'{"qid": "q1", "docid": "d1", "score": 1}\n{"qid": "q1", "docid": "d1", "score": 2}\n', "document 'd1' comes twice for query 'q1' (lines 1 and 2)"),
    "JSONL, field twice": (b'{"qid": "q1", "qid": "q2", "docid": "d1", "score": 1}\n{"qid": "q1", "docid": "d1", "score": 2}\n', "'qid' comes twice in one object"),
    "JSONL, query twice": (b'{"qid": "q1", "results": ["d1"]}\n{"qid": "q1", "results": ["d2"]}\n', "line 2: query 'q1' was given before"),
    "JSONL, no list": (b'{"qid": "q1", "results": ["d1"]}\n{"qid": "q2"}\n', "line 2: got {'qid': 'q2'}, expected an object with 'qid' and 'results'"),
    "JSONL, two lists": (b'{"qid": "q1", "results": ["d1"], "relevant": ["d1"]}\n{"qid": "q2", "results": []}\n', "cannot tell the query and its documents"),
    "digits of another script": ("query_id,doc_id,score\nq1,d1,1\nq1,d2,٣\n".encode(), "line 3: got '٣' as the score, expected a number"),
    "Parquet cut off": (b"PAR1" + b"abc" * 10, "not valid Parquet"),
}  # fmt: skip

JUDGMENT_FILES = {
    "digits of another script in CSV": ("query_id,doc_id,grade\nq1,d1,１\n".encode(), "line 2: got '１' as the grade, expected a number"),
    "digits of another script in TREC": ("q1 0 d1 １\n".encode(), "line 1: the grade is '１', expected a finite number"),
    "no number": (b"query_id,doc_id,grade\nq1,d1,good\n", "line 2: got 'good' as the grade, expected a number"),
    "infinite": (b"query_id,doc_id,grade\nq1,d1,inf\n", "line 2: got inf (float) as the grade, expected a finite number"),
    "contradiction": (b"query_id,doc_id,grade\nq1,d1,1\nq1,d1,2\n", "document 'd1' of query 'q1' is judged twice with different grades, 1 and 2 (lines 2 and 3)"),
    "contradiction in JSON pairs": (b'{"q1": [["d1", 1], ["d1", 2]]}', "document 'd1' is judged twice with different grades, 1 and 2"),
    "a run in TREC": (b"q1 Q0 d1 1 0.5 tag\n", "this looks like a ranking (6 columns), expected judgments (4 columns)"),
    "a run in CSV": (b"query_id,doc_id,rank,score\nq1,d1,1,0.5\n", "this looks like a ranking (it has a column 'rank' and no grade), expected judgments"),
    "no grade": (b"query_id,doc_id,text\nq1,d1,hello\n", "no column looks like the grade of judgments"),
    "four columns, no header": (b"q1,1,d1,1\n", "cannot be told which is what of judgments"),
    "JSON, infinite": (b'{"q1": {"d1": Infinity}}', "got inf (float) as the grade, expected a finite number"),
    "JSON, truth": (b'[{"query_id": "q1", "doc_id": "d1", "relevant": true}]', "row 1: got True (bool) as the grade, expected a number"),
}  # fmt: skip


@pytest.mark.first_is_quick(6)
@pytest.mark.parametrize("case", RANKING_FILES)
def test_bad_rankings(case: str, tmp_path: Path):
    content, message = RANKING_FILES[case]
    file = tmp_path / "run"
    file.write_bytes(content)
    said = refused(evaluated, file)
    assert said.startswith(str(file))
    assert message in said


@pytest.mark.parametrize("case", JUDGMENT_FILES)
def test_bad_judgments(case: str, tmp_path: Path):
    content, message = JUDGMENT_FILES[case]
    file = tmp_path / "judgments"
    file.write_bytes(content)
    said = refused(load_judgments, file)
    assert said.startswith(str(file))
    assert message in said


# --- archives ----------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.5, 0.9, 0.999])
def test_a_truncated_archive_is_refused(pack, share, tmp_path: Path):
    whole = pack(b"query_id,doc_id,score\n" + b"".join(b"q1,d%d,%d\n" % (i, i * i % 97) for i in range(20_000)))
    file = tmp_path / "run.csv.gz"
    file.write_bytes(whole[: int(len(whole) * share)])
    assert refused(load_ranking, file) == f"{file}: the archive is truncated. Next: copy or download it again."


def test_a_damaged_archive_is_refused(pack, tmp_path: Path):
    whole = bytearray(
        pack(b"query_id,doc_id,score\n" + b"".join(b"q1,d%d,%d\n" % (i, i * i % 97) for i in range(20_000)))
    )
    for at in range(len(whole) // 3, len(whole) // 3 + 40):
        whole[at] ^= 0xA5
    file = tmp_path / "run.csv.gz"
    file.write_bytes(bytes(whole))
    assert "the archive is damaged" in refused(load_ranking, file)


def test_compression_is_told_by_content_not_by_name(tmp_path: Path):
    file = tmp_path / "run.csv.gz"
    file.write_bytes(b"query_id,doc_id,score\nq1,d1,1\n")
    assert load_ranking(file).table().doc == ["d1"]
    file.write_bytes(bz2.compress(gzip.compress(b"x")))
    refused(load_ranking, file)


def test_zstd_without_the_package_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    file = tmp_path / "run.zst"
    file.write_bytes(b"\x28\xb5\x2f\xfd" + b"\0" * 20)
    for name in ("backports.zstd", "compression.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(RankproofError, match=r"pip install 'rankproof\[zstd\]'"):
        load_ranking(file)


# --- paths -------------------------------------------------------------------------------------


def test_a_path_that_is_not_there(tmp_path: Path):
    (tmp_path / "bm25.run").write_text("q1 Q0 d1 1 1 t\n")
    for load in (load_judgments, load_ranking):
        said = refused(load, tmp_path / "bm52.run", UsageError)
        assert said == f"{tmp_path / 'bm52.run'}: no such file. Did you mean 'bm25.run'? Next: check the path."
        said = refused(load, str(tmp_path / "nowhere" / "x"), UsageError)
        nowhere = tmp_path / "nowhere"
        assert said == f"{nowhere / 'x'}: no such file, and there is no folder {nowhere}. Next: check the path."


@pytest.mark.parametrize("path", ["", "a\0b", "x" * 5000])
def test_a_path_that_cannot_be(path: str):
    refused(load_judgments, path, UsageError if path else DataError)
    refused(load_ranking, path, UsageError if path else DataError)


def test_a_folder_that_is_not_of_beir(tmp_path: Path):
    assert "a folder without qrels/*.tsv, so not one of BEIR" in refused(load_judgments, tmp_path)
    assert "no file in the folder" in refused(load_ranking, tmp_path, UsageError)
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "text": "a"}\n')
    assert "a BEIR folder, expected a ranking" in refused(load_ranking, tmp_path)


def test_the_splits_of_a_beir_folder(tmp_path: Path):
    qrels = tmp_path / "qrels"
    qrels.mkdir()
    for split in ("dev", "train"):
        (qrels / f"{split}.tsv").write_text(f"query-id\tcorpus-id\tscore\nq1\t{split}\t1\n")
    said = refused(load_judgments, tmp_path, UsageError)
    assert said == f"{tmp_path}: several splits, 'dev', 'train'. Next: name one, like {tmp_path}#dev."
    assert load_judgments(f"{tmp_path}#train").docs == ["train"]
    assert load_judgments(qrels / "dev.tsv").docs == ["dev"]
    said = refused(load_judgments, f"{tmp_path}#trian", UsageError)
    assert said == f"{tmp_path}: no split 'trian', only 'dev', 'train'. Did you mean 'train'? Next: name one of them."
    (qrels / "test.tsv.gz").write_bytes(gzip.compress(b"query-id\tcorpus-id\tscore\nq1\ttest\t1\n"))
    judgments = load_judgments(tmp_path)
    assert judgments.docs == ["test"]
    assert f"there are also dev, train, as {tmp_path}#dev" in judgments.notes[-1]


def test_a_single_split_needs_no_name(tmp_path: Path):
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "dev.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ta\t1\n")
    assert load_judgments(tmp_path).docs == ["a"]


# --- standard input ----------------------------------------------------------------------------


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_standard_input(pack, monkeypatch: pytest.MonkeyPatch):
    content = pack(b"query_id,doc_id,score\nq1,d1,0.5\n")
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(content)))
    assert load_ranking("-").table().score.tolist() == [0.5]
    assert "standard input: empty" in refused(load_judgments, "-")


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_trec_from_standard_input(pack, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(pack(b"q1 Q0 d1 1 0.5 t\n"))))
    ranking = load_ranking("-")
    assert evaluated(ranking).rank.tolist() == [1]
    assert ranking.table().doc == ["d1"]
    del ranking
    assert list(tmp_path.iterdir()) == []


def test_errors_of_standard_input_name_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(b"query_id,doc_id,grade\nq1,d1,x\n")))
    assert refused(load_judgments, "-").startswith("standard input, line 2: got 'x' as the grade")


# --- what is in memory -------------------------------------------------------------------------

TUPLES = {
    "empty": ([], "ranking: empty, it has no rows"),
    "one field": ([("q1",)], "ranking, row 1: got ('q1',), expected a tuple (query, doc, score) or (query, doc)"),
    "four fields": ([("q1", "Q0", "d1", 1)], "row 1: got ('q1', 'Q0', 'd1', 1), expected a tuple"),
    "uneven": ([("q1", "d1", 1), ("q1", "d2")], "row 2: got ('q1', 'd2'), expected a tuple (query, doc, score) or (query, doc) with 3 fields as the first one"),
    "words": (["q1", "d1"], "row 1: got 'q1', expected a tuple"),
    "text as score": ([("q1", "d1", "0.5")], "ranking, row 1: got '0.5' as the score, expected a number"),
    "None as score": ([("q1", "d1", 1), ("q1", "d2", None)], "row 2: got None (NoneType) as the score"),
    "NaN": ([("q1", "d1", float("nan"))], "row 1: got nan (float) as the score"),
    "truth as score": ([("q1", "d1", True)], "row 1: got True (bool) as the score"),
    "float as id": ([("q1", 1.0, 1)], "row 1: got 1.0 (float) as the doc, expected text"),
    "truth as id": ([(True, "d1", 1)], "row 1: got True (bool) as the query, expected text"),
    "None as id": ([("q1", "d1", 1), (None, "d1", 1)], "row 2: got None (NoneType) as the query, expected text"),
    "bytes as id": ([("q1", b"d1", 1)], "row 1: got b'd1' (bytes) as the doc, expected text"),
    "two kinds of ids": ([("q1", "d1", 1), ("q1", 2, 1)], "row 2: got 2 (int) as the doc, expected text as in ranking, row 1"),
    "integers against text": ([("q1", 1, 1)], "ranking, documents: got ids that are integers where the judgments have text"),
    "integers against text, queries": ([(1, "d1", 1)], "ranking, queries: got ids that are integers where the judgments have text"),
    "duplicate": ([("q1", "d1", 1), ("q1", "d1", 1)], "document 'd1' comes twice for query 'q1' (rows 1 and 2)"),
    "unknown fields": ([{"frage": "q1", "doc_id": "d1", "score": 1}], "ranking: no column looks like the query of a ranking; the columns are 'frage', 'doc_id', 'score'"),
    "bytes": (b"q1 Q0 d1 1 1 t", "expected a mapping, a path, a data frame or an iterable of tuples"),
    "a number": (7, "ranking: got 7 (int), expected a mapping, a path"),
    "nothing": (None, "ranking: got None (NoneType), expected a mapping, a path"),
}  # fmt: skip


@pytest.mark.parametrize("case", TUPLES)
def test_bad_tuples(case: str):
    given, message = TUPLES[case]
    assert message in refused(evaluated, given)


def test_swapped_objects():
    assert "got judgments (judgments). Next: swap the two arguments" in refused(load_ranking, load_judgments(JUDGED))
    assert "got a ranking (ranking). Next: swap the two arguments" in refused(load_judgments, load_ranking(JUDGED))


def test_a_record_of_many_fields_is_read_in_one_go(tmp_path: Path):
    fields = {"query": "q1", "docs": ["d1"], **{f"f{n}": n for n in range(50_000)}}
    path, began = tmp_path / "wide.json", time.process_time()
    path.write_text(json.dumps([fields]))
    assert load_ranking(path).table().doc == ["d1"]
    assert time.process_time() - began < 6  # a look through all fields for each of them would take four times that


def test_ties_by_rank_need_a_rank_column(tmp_path: Path):
    with pytest.raises(UsageError, match="ties='rank' was asked for, but there is no rank column"):
        evaluated([("q1", "d1", 1)], ties="rank")


FRAMES = {
    "null id": ({"query_id": ["q1", None], "doc_id": ["d1", "d1"], "score": [1.0, 2.0]}, "row 2: got None (NoneType) as the query, expected text"),
    "null score": ({"query_id": ["q1", "q2"], "doc_id": ["d1", "d1"], "score": [1.0, None]}, "row 2: got None (NoneType) as the score, expected a number"),
    "NaN score": ({"query_id": ["q1", "q2"], "doc_id": ["d1", "d1"], "score": [1.0, float("nan")]}, "row 2: got nan (float) as the score, expected a number"),
    "text score": ({"query_id": ["q1"], "doc_id": ["d1"], "score": ["1"]}, "got '1' as the score, expected a number"),
    "float ids": ({"query_id": ["q1"], "doc_id": [1.0], "score": [1.0]}, "row 1: got 1.0 (float) as the doc, expected text"),
    "truth ids": ({"query_id": ["q1"], "doc_id": [True], "score": [1.0]}, "row 1: got True (bool) as the doc, expected text"),
    "integers against text": ({"query_id": ["q1"], "doc_id": [1], "score": [1.0]}, "documents: got ids that are integers where the judgments have text"),
    "duplicate": ({"query_id": ["q1", "q1"], "doc_id": ["d1", "d1"], "score": [1.0, 2.0]}, "document 'd1' comes twice for query 'q1' (rows 1 and 2)"),
    "no rows": ({"query_id": [], "doc_id": [], "score": []}, "empty"),
    "no columns": ({}, "no column looks like the query"),
    "judgments": ({"query_id": ["q1"], "doc_id": ["d1"], "relevance": [1]}, "this looks like judgments"),
    "unsure": ({"qid": ["q1"], "query_id": ["q1"], "doc_id": ["d1"], "score": [1.0]}, "cannot tell which column is the query: 'qid', 'query_id' (of 'qid', 'query_id', 'doc_id', 'score'). Next: keep one of them, or rename it to 'query_id'"),
}  # fmt: skip


@pytest.mark.parametrize("case", FRAMES)
@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_bad_frames(case: str, library: str):
    columns, message = FRAMES[case]
    module = pytest.importorskip(library)
    frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    assert message in refused(evaluated, frame)


def test_missing_values_in_pandas_name_the_row():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"query_id": ["q1", None], "doc_id": [1, None], "score": [1, 2]}, index=[7, 8])
    assert re.search(r"row 2: got (nan|None)", refused(evaluated, frame))  # pandas 3, and before
    frame["query_id"] = ["q1", "q2"]
    assert "row 1: got 1.0 (float) as the doc" in refused(evaluated, frame)


def test_a_column_twice_in_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([["q1", "d1", 1, 2]], columns=["query_id", "doc_id", "score", "score"])
    assert "score" in refused(evaluated, frame)


def test_text_in_arrow_that_is_no_text():
    pyarrow = pytest.importorskip("pyarrow")
    docs = pyarrow.array([b"caf\xe9"]).view(pyarrow.string())
    frame = pyarrow.table({"query_id": ["q1"], "doc_id": docs, "score": [1.0]})
    assert r"ranking: the bytes b'caf\xe9' are not valid UTF-8" in refused(evaluated, frame)


@pytest.mark.parametrize("odd", [{"id": "b"}, "b", None, 7])
@pytest.mark.parametrize("row", [0, 1])
def test_a_record_of_other_fields_among_the_documents_of_a_query(odd: Any, row: int):
    pandas = pytest.importorskip("pandas")
    lists = [[{"doc_id": "d1", "score": 1.0}], [{"doc_id": "d1", "score": 2.0}]]
    lists[row].append(odd)
    said = refused(evaluated, pandas.DataFrame({"query_id": ["q1", "q2"], "results": lists}))
    assert said.startswith(f"ranking, row {row + 1}: cannot tell the document and its score in {odd!r}. Next: ")


def test_a_series_is_no_frame():
    polars = pytest.importorskip("polars")
    refused(load_ranking, polars.Series("x", [1, 2]))
    refused(load_judgments, pytest.importorskip("pandas").Series([1, 2]))


def test_json_is_not_what_it_seems(tmp_path: Path):
    file = tmp_path / "x.json"
    file.write_text(json.dumps({"query_id": "q1", "doc_id": "d1", "score": 1}))
    assert load_ranking(file).table().doc == ["d1"]
    file.write_text(json.dumps({"query": {"doc": 1}}))
    assert load_judgments(file).as_dict() == {"query": {"doc": 1}}


@pytest.mark.parametrize("load", [load_judgments, load_ranking])
def test_a_table_of_excel_is_named(load, tmp_path: Path):
    file = tmp_path / "table.xlsx"
    file.write_bytes(b"PK\x03\x04" + bytes(range(256)) * 4)
    assert refused(load, file).startswith(f"{file}: a ZIP archive or an Excel file, expected text or Parquet")
