"""What is written can be read again, and says the same."""

from __future__ import annotations

import gzip
import json
import sys
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from rankproof.errors import DataError, MissingExtra, RankproofError, UsageError
from rankproof.io.files import zstd_module
from rankproof.io.load import load_judgments, load_ranking
from rankproof.io.write import COMPRESSED, FORMATS, convert, write_judgments, write_ranking

ENDINGS = [f".{kind}{pack}" for kind in FORMATS for pack in ("", *COMPRESSED)]


def rows_of(ranking: Any) -> list[tuple[str, str, float]]:
    table = load_ranking(ranking).table()
    assert table.score is not None
    return list(zip(table.query, table.doc, table.score.tolist(), strict=True))


def _need_zstd() -> None:
    try:
        zstd_module("writing")
    except MissingExtra as missing:
        pytest.skip(str(missing))


@pytest.fixture
def target(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A file of each kind, compressed in each way."""
    if ".zst" in request.param:
        _need_zstd()
    return tmp_path / f"written{request.param}"


@pytest.mark.parametrize("target", ENDINGS, indirect=True)
def test_judgments_come_back(target: Path, judged):
    assert write_judgments(load_judgments(judged), target) == []
    assert load_judgments(target).as_dict() == judged


@pytest.mark.parametrize("target", ENDINGS, indirect=True)
def test_rankings_come_back(target: Path, ranked):
    assert write_ranking(load_ranking(ranked).table(), target) == []
    assert sorted(rows_of(target)) == sorted(rows_of(ranked))


@pytest.mark.parametrize("target", ENDINGS, indirect=True)
def test_what_is_there_is_replaced_on_request_only(target: Path, judged, ranked):
    target.write_bytes(b"a year of labels")
    for write, what in (
        (write_judgments, load_judgments(judged)),
        (write_ranking, load_ranking(ranked).table()),
    ):
        with pytest.raises(UsageError, match="force=True"):
            write(what, target)
        assert target.read_bytes() == b"a year of labels"
    write_judgments(load_judgments(judged), target, force=True)
    assert load_judgments(target).as_dict() == judged


@pytest.mark.parametrize("target", [f".{kind}" for kind in FORMATS], indirect=True)
def test_every_number_comes_back_to_the_last_bit(target: Path):
    scores = [0.1 + 0.2, 1 / 3, 1e-320, 1.7976931348623157e308, -5.0, 2.0**53, 0.0, 123456789.123456789]
    rows = [("q", f"d{i}", score) for i, score in enumerate(scores)]
    write_ranking(load_ranking(rows).table(), target)
    assert sorted(rows_of(target)) == sorted(rows)


@pytest.mark.parametrize("target", [f".{kind}" for kind in FORMATS], indirect=True)
def test_ranks_are_kept_where_the_format_has_them(target: Path):
    notes = write_ranking(load_ranking([{"qid": "q", "docid": "a", "score": 1.0, "rank": 7}]).table(), target)
    table = load_ranking(target).table()
    if target.suffix == ".json":
        assert notes == ["the rank column has no place in JSON and was left out"]
    else:
        assert (table.rank.tolist(), table.score.tolist()) == ([7], [1])


def test_a_ranking_without_scores_keeps_its_order(tmp_path: Path):
    table = load_ranking([("q", "b"), ("q", "a"), ("q", "c")]).table()
    assert write_ranking(table, tmp_path / "x.trec") == [
        "the ranking has no scores, so scores that count down were written"
    ]
    assert (tmp_path / "x.trec").read_text().splitlines() == [
        "q Q0 b 1 3 rankproof",
        "q Q0 a 2 2 rankproof",
        "q Q0 c 3 1 rankproof",
    ]
    write_ranking(table, tmp_path / "x.json")
    assert json.loads((tmp_path / "x.json").read_text()) == {"q": ["b", "a", "c"]}


def test_a_trec_run_is_written_in_the_order_it_is_judged_in(tmp_path: Path):
    write_ranking(load_ranking({"q": {"a": 1, "c": 2, "b": 2}}).table(), tmp_path / "x.run")
    lines = [line.split()[2:5] for line in (tmp_path / "x.run").read_text().splitlines()]
    assert lines == [["c", "1", "2"], ["b", "2", "2"], ["a", "3", "1"]]


def test_queries_without_documents(tmp_path: Path):
    ranking = {"q1": {"a": 1.0}, "q2": {}}
    assert write_ranking(load_ranking(ranking).table(), tmp_path / "x.json") == []
    assert json.loads((tmp_path / "x.json").read_text()) == ranking
    assert write_ranking(load_ranking(ranking).table(), tmp_path / "x.csv") == [
        "queries without documents have no row in this format: 1"
    ]


@pytest.mark.parametrize("kind", [kind for kind in FORMATS if kind != "trec"])
def test_aspects_come_back(kind: str, tmp_path: Path):
    judged = {"q": {"a": {"s1": 1, "s2": 2}, "b": {"s2": 0}}}
    write_judgments(load_judgments(judged), tmp_path / f"x.{kind}")
    before, after = load_judgments(judged).facets, load_judgments(tmp_path / f"x.{kind}").facets
    assert before is not None
    assert after is not None
    for name in ("start", "aspect", "grade", "declared"):
        assert getattr(after, name).tolist() == getattr(before, name).tolist()


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("trec", "a b"),
        ("trec", "#"),
        ("trec", "a\tb"),
        ("trec", " a"),
        ("trec", "a "),
        ("trec", "a\0b"),
        ("csv", "a\rb"),
        ("csv", "a\0b"),
        ("tsv", "a\0b"),
        ("csv", " a"),
        ("tsv", "a\tb"),
        ("tsv", "a\nb"),
    ],
)
def test_ids_that_could_not_be_read_back_are_refused(kind: str, text: str, tmp_path: Path):
    table = load_ranking({"q": {text: 1.0}}).table()
    with pytest.raises(DataError, match="cannot be written as") as caught:
        write_ranking(table, tmp_path / f"x.{kind}")
    assert repr(text) in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["csv", "json", "jsonl", "parquet"])
@pytest.mark.parametrize("text", ['say "no", please', "a\nb", "a,b", "日本 語", '"', "'"])
def test_strange_ids_come_back(kind: str, text: str, tmp_path: Path):
    write_ranking(load_ranking({text: {text: 1.0}}).table(), tmp_path / f"x.{kind}")
    assert rows_of(tmp_path / f"x.{kind}") == [(text, text, 1.0)]


def test_half_a_character_is_refused(tmp_path: Path):
    with pytest.raises(DataError, match="cannot be written as text"):
        write_ranking(load_ranking({"q": {"\ud800": 1.0}}).table(), tmp_path / "x.json")


def test_json_has_no_infinity(tmp_path: Path):
    table = load_ranking({"q": {"a": float("inf")}}).table()
    for kind in ("json", "jsonl"):
        with pytest.raises(DataError, match="document 'a': JSON has no way to write inf"):
            write_ranking(table, tmp_path / f"x.{kind}")
    write_ranking(table, tmp_path / "x.csv")
    assert rows_of(tmp_path / "x.csv") == [("q", "a", float("inf"))]


def test_json_cannot_say_a_document_twice(tmp_path: Path):
    table = load_ranking([("q", "a", 1), ("q", "a", 1)]).table()
    with pytest.raises(DataError, match="document 'a' comes twice for query 'q', which JSON objects cannot say"):
        write_ranking(table, tmp_path / "x.json")


def test_convert(tmp_path: Path, judged):
    source, target = tmp_path / "a.json", tmp_path / "b.tsv"
    source.write_text(json.dumps(judged))
    assert convert(source, target, what="judgments") == []
    assert load_judgments(target).as_dict() == judged
    with pytest.raises(UsageError, match="this file exists"):
        convert(source, target, what="judgments")
    with pytest.raises(UsageError, match="cannot tell whether these are judgments or a ranking"):
        convert(source, target, force=True)
    with pytest.raises(UsageError, match="what: got 'judgements', expected one of 'judgments', 'ranking'"):
        convert(source, target, what="judgements", force=True)
    assert load_judgments(target).as_dict() == judged


def test_convert_knows_what_trec_files_and_beir_folders_hold(tmp_path: Path):
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ta\t2\n")
    convert(tmp_path, tmp_path / "judged.trec")
    assert (tmp_path / "judged.trec").read_text() == "q1 0 a 2\n"
    convert(tmp_path / "judged.trec", tmp_path / "judged.csv")
    assert (tmp_path / "judged.csv").read_text() == "query_id,doc_id,grade\nq1,a,2\n"
    (tmp_path / "run").write_text("q1 Q0 a 1 0.5 x\n")
    convert(f"{tmp_path / 'run'}", tmp_path / "run.jsonl")
    assert (tmp_path / "run.jsonl").read_text() == '{"query_id": "q1", "doc_id": "a", "score": 0.5, "rank": 1}\n'


def test_convert_knows_what_tables_hold_whose_columns_say_so(tmp_path: Path):
    (tmp_path / "judged.csv").write_text("qid,docno,relevance\nq1,a,2\n")
    convert(tmp_path / "judged.csv", tmp_path / "judged.trec")
    assert (tmp_path / "judged.trec").read_text() == "q1 0 a 2\n"
    (tmp_path / "run.tsv").write_text("qid\tdocno\trank\tscore\nq1\ta\t1\t0.5\n")
    convert(tmp_path / "run.tsv", tmp_path / "run.trec")
    assert (tmp_path / "run.trec").read_text() == "q1 Q0 a 1 0.5 rankproof\n"
    (tmp_path / "either.csv").write_text("qid,docno,score\nq1,a,2\n")
    with pytest.raises(UsageError, match="cannot tell whether these are judgments or a ranking"):
        convert(tmp_path / "either.csv", tmp_path / "x.trec")


@pytest.mark.parametrize("end", [".jsonl", ".parquet"])
def test_convert_knows_what_rows_hold_that_it_wrote(tmp_path: Path, end: str):
    trec = {"run.run": "q1 Q0 a 1 0.5 rankproof\n", "judged.qrels": "q1 0 a 2\n"}
    for name, text in trec.items():
        (tmp_path / name).write_text(text)
        convert(tmp_path / name, tmp_path / f"rows{end}", force=True)
        convert(tmp_path / f"rows{end}", tmp_path / "again.trec", force=True)
        assert (tmp_path / "again.trec").read_text() == text


def test_convert_is_told_by_the_name_of_the_target(tmp_path: Path):
    (tmp_path / "either.json").write_text('{"q1": {"a": 2}}')
    convert(tmp_path / "either.json", tmp_path / "x.qrels")
    convert(tmp_path / "either.json", tmp_path / "x.run.gz")
    assert (tmp_path / "x.qrels").read_text() == "q1 0 a 2\n"
    assert gzip.decompress((tmp_path / "x.run.gz").read_bytes()) == b"q1 Q0 a 1 2 rankproof\n"


def test_the_format_must_be_clear(tmp_path: Path):
    judgments = load_judgments({"q": {"a": 1}})
    with pytest.raises(UsageError, match=r"the name does not say which format to write\. Did you mean '\.json'\?"):
        write_judgments(judgments, tmp_path / "x.jsn")
    with pytest.raises(UsageError, match=r"format: got 'cvs', expected one of .* Did you mean 'csv'"):
        write_judgments(judgments, tmp_path / "x", to="cvs")
    write_judgments(judgments, tmp_path / "x", to="csv")
    assert load_judgments(tmp_path / "x").as_dict() == {"q": {"a": 1}}


def test_standard_output(monkeypatch: pytest.MonkeyPatch):
    out = BytesIO()
    monkeypatch.setattr(sys, "stdout", TextIOWrapper(out))
    write_judgments(load_judgments({"q": {"a": 1}}), "-", to="tsv")
    assert out.getvalue() == b"query_id\tdoc_id\tgrade\nq\ta\t1\n"
    with pytest.raises(UsageError, match="does not say which format"):
        write_judgments(load_judgments({"q": {"a": 1}}), "-")


def test_a_file_that_cannot_be_written(tmp_path: Path):
    with pytest.raises(UsageError, match="cannot be written: No such file or directory"):
        write_judgments(load_judgments({"q": {"a": 1}}), tmp_path / "nowhere" / "x.csv")


def test_a_failure_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    target = tmp_path / "x.json"
    target.write_text("old")
    with pytest.raises(DataError):
        write_ranking(load_ranking({"q": {"a": float("inf")}}).table(), target, force=True)
    for name in ("backports.zstd", "compression.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match="writing zstd"):
        write_judgments(load_judgments({"q": {"a": 1}}), tmp_path / "x.json.zst")
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_the_same_content_gives_the_same_archive(tmp_path: Path):
    for name in ("a.csv.gz", "b.csv.gz"):
        write_judgments(load_judgments({"q": {"a": 1}}), tmp_path / name)
    assert (tmp_path / "a.csv.gz").read_bytes() == (tmp_path / "b.csv.gz").read_bytes()


def test_every_error_is_ours(tmp_path: Path):
    for kind in FORMATS:
        with pytest.raises(RankproofError):
            convert(tmp_path / "absent", tmp_path / f"x.{kind}", what="ranking")


@pytest.mark.parametrize("kind", FORMATS)
def test_aspects_keep_their_names_in_every_format(tmp_path: Path, kind: str):
    text = "q1 4.5 a 2\nq1 .5 b 1\nq2 .5 c 1\nq2 4.5 d 2\n"
    (tmp_path / "rounds.qrels").write_text(text)
    assert convert(tmp_path / "rounds.qrels", tmp_path / f"there.{kind}", to=kind, what="judgments") == []
    assert convert(tmp_path / f"there.{kind}", tmp_path / "back.qrels", what="judgments") == []
    assert (tmp_path / "back.qrels").read_text() == text


def test_an_aspect_of_several_words_has_no_place_in_a_trec_file(tmp_path: Path):
    judgments = load_judgments({"q1": {"a": {"the price": 1}}, "q2": {"b": {"size": 1}}})
    with pytest.raises(DataError, match=r"'the price' cannot be written as TREC.*write JSON"):
        write_judgments(judgments, tmp_path / "x.qrels")
    write_judgments(judgments, tmp_path / "x.json")
    assert load_judgments(tmp_path / "x.json").as_dict() == judgments.as_dict()


@pytest.mark.parametrize("what", [None, "judgments", "ranking"])
@pytest.mark.parametrize(("text", "end"), [("q1 0 a 1\n", ".run"), ("q1 Q0 a 1 0.5 x\n", ".qrels.gz")])
def test_judgments_have_no_name_of_a_ranking_nor_the_other_way_round(
    tmp_path: Path, text: str, end: str, what: str | None
):
    (tmp_path / "source").write_text(text)
    with pytest.raises(RankproofError) as refused:
        convert(tmp_path / "source", tmp_path / f"x{end}", what=what)
    assert what is not None or f"x{end}: the name is one of" in str(refused.value)
    assert not (tmp_path / f"x{end}").exists()
