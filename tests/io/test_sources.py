"""Whatever the data are given as, the same Hits come out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from rankproof.core.conventions import CHOICES, Conventions
from rankproof.core.hits import Hits
from rankproof.core.join import Census, join
from rankproof.errors import DataError
from rankproof.io.load import load_judgments, load_ranking
from rankproof.io.write import write_ranking
from rankproof.scoring.evaluate import audit, evaluate
from tests.each import with_each


def hits_of(judgments: Any, ranking: Any, **policies: Any) -> tuple[Hits, Census]:
    conventions, census = Conventions(**policies), Census()
    judgments = load_judgments(judgments)
    return join(judgments, load_ranking(ranking).blocks(judgments, conventions, census), conventions), census


def columns_of(hits: Hits) -> dict[str, Any]:
    names = ("query", "rank", "grade", "doc", "retrieved", "first", "last", "answered")
    return {name: getattr(hits, name).tolist() for name in names}


@pytest.mark.first_is_quick(6)
def test_every_source_gives_the_same_hits(source, judged, ranked, tmp_path: Path):
    hits, census = hits_of(source.judgments(tmp_path), source.ranking(tmp_path))
    expected, _ = hits_of(judged, ranked)
    assert columns_of(hits) == columns_of(expected)
    assert (census.extra, census.extra_examples) == (1, ["nobody_asked"])


@with_each("ties", [rule for rule in CHOICES["ties"] if rule != "rank"])
def test_every_source_gives_the_same_hits_under_every_rule_for_ties(source, judged, ranked, ties, tmp_path: Path):
    if source.name in ("DuckDB", "Polars, lazy") and ties == "input":
        return  # what stays in an engine has no order
    folder = tmp_path / ties
    folder.mkdir()
    hits, _ = hits_of(source.judgments(folder), source.ranking(folder), ties=ties)
    expected, _ = hits_of(judged, ranked, ties=ties)
    assert columns_of(hits) == columns_of(expected)


def test_every_source_gives_the_same_judgments(source, judged, tmp_path: Path):
    judgments = load_judgments(source.judgments(tmp_path))
    assert judgments.as_dict() == judged
    assert judgments.queries == tuple(judged)


def test_every_source_gives_the_whole_ranking_as_a_table(source, ranked, tmp_path: Path):
    table = load_ranking(source.ranking(tmp_path)).table()
    rows = zip(table.query, table.doc, table.score.tolist(), strict=True)
    assert list(rows) == [(query, doc, score) for query, docs in ranked.items() for doc, score in docs.items()]


def test_the_hits_are_those_worked_out_by_hand(judged, ranked):
    hits, _ = hits_of(judged, ranked)
    found = list(zip(hits.query.tolist(), hits.rank.tolist(), hits.grade.tolist(), strict=True))
    # Among the three documents at 3.25 the order is x1, café, cafe + accent: descending in byte order.
    assert found == [
        (0, 1, 0),
        (0, 3, 1),
        (0, 4, 2),
        (0, 5, 3),
        (1, 2, 2),
        (1, 3, 1),
        (1, 4, 1),
        (2, 1, 2),
        (2, 3, -1),
    ]
    assert hits.retrieved.tolist() == [5, 4, 3, 0]
    assert hits.answered.tolist() == [True, True, True, False]


def test_loaded_once_used_again(judged, ranked):
    judgments, ranking = load_judgments(judged), load_ranking(ranked)
    assert load_judgments(judgments) is judgments
    assert load_ranking(ranking) is ranking


def test_rankings_in_their_own_order_have_it_everywhere(tmp_path: Path):
    judged = {"q": {"a": 1, "b": 2}}
    file = tmp_path / "lists.json"
    file.write_text('{"q": ["x", "b", "a"]}')
    lines = tmp_path / "lists.jsonl"
    lines.write_text('{"qid": "q", "retrieved": ["x", "b", "a"]}\n')
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("query_id,doc_id\nq,x\nq,b\nq,a\n")
    ranks = tmp_path / "ranks.csv"
    ranks.write_text("query_id,doc_id,rank\nq,a,3\nq,x,1\nq,b,2\n")
    for ranking in ({"q": ["x", "b", "a"]}, [("q", "x"), ("q", "b"), ("q", "a")], file, lines, pairs, ranks):
        hits, _ = hits_of(judged, ranking)
        assert (hits.rank.tolist(), hits.grade.tolist(), hits.first) == ([2, 3], [2.0, 1.0], None)


def test_documents_without_grades_are_relevant_and_that_is_said(tmp_path: Path):
    file = tmp_path / "relevant.csv"
    file.write_text("query_id,doc_id\nq1,a\nq1,b\nq2,c\n")
    judgments = load_judgments(file)
    assert judgments.as_dict() == {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}
    assert any("counts as relevant (grade 1)" in note for note in judgments.notes)


def test_what_was_taken_as_what_is_said(tmp_path: Path):
    file = tmp_path / "run.csv"
    file.write_text("qid,docno,sim\nq1,a,1\n")
    _, census = hits_of([("q1", "a", 1)], file)
    assert census.notes == [f"{file}: took the column 'qid' as query, 'docno' as doc, 'sim' as score"]
    file.write_text("q1,a,1\n")
    _, census = hits_of([("q1", "a", 1)], file)
    assert census.notes == [f"{file}: no header, took column 1 as query, column 2 as doc, column 3 as score"]


def test_the_rank_column_decides_where_it_is_asked_for(tmp_path: Path):
    file = tmp_path / "run.csv"
    file.write_text("query_id,doc_id,rank,score\nq,a,2,0.9\nq,b,1,0.1\n")
    judged = {"q": {"a": 1, "b": 2}}
    assert hits_of(judged, file)[0].grade.tolist() == [1, 2]
    assert hits_of(judged, file, ties="rank")[0].grade.tolist() == [2, 1]


def test_integer_ids_are_taken_where_both_sides_have_them(tmp_path: Path):
    polars = pytest.importorskip("polars")
    judged = polars.DataFrame({"query_id": [1, 1, 2], "doc_id": [7, 8, 7], "relevance": [1, 0, 2]})
    ranking = [(1, np.int64(8), 0.5), (1, 9, 0.4), (2, 7, 1.0)]
    hits, _ = hits_of(judged, ranking)
    assert (hits.query.tolist(), hits.rank.tolist(), hits.grade.tolist()) == ([0, 1], [1, 1], [0, 2])
    assert load_judgments(judged).queries == ("1", "2")
    file = tmp_path / "run.json"
    file.write_text('[{"query_id": 2, "doc_id": 7, "score": 1}]')
    assert hits_of(judged, file)[0].grade.tolist() == [2]


def test_integers_in_text_files_are_text(tmp_path: Path):
    file = tmp_path / "run.csv"
    file.write_text("query_id,doc_id,score\n7,007,2\n7,7,1\n")
    hits, _ = hits_of({"7": {"7": 1}}, file)
    assert hits.rank.tolist() == [2]


def test_duplicates_follow_the_policy(tmp_path: Path):
    file = tmp_path / "run.csv"
    file.write_text("query_id,doc_id,score\nq,a,1\nq,b,2\nq,a,3\n")
    judged = {"q": {"a": 1, "b": 2}}
    for rule, grades in {"first": [2, 1], "best": [1, 2]}.items():
        hits, census = hits_of(judged, file, duplicates=rule)
        assert (hits.grade.tolist(), hits.retrieved.tolist(), census.dropped) == (grades, [2], 1)


def test_what_comes_twice_for_a_query_nobody_judged_matters_nowhere(tmp_path: Path):
    rows = [("q1", "x", 2.0), ("q1", "d1", 1.0), ("q9", "a", 2.0), ("q9", "a", 1.0)]
    (tmp_path / "a.run").write_text("".join(f"{query} Q0 {doc} 1 {score} t\n" for query, doc, score in rows))
    (tmp_path / "a.csv").write_text("".join(f"{query},{doc},{score}\n" for query, doc, score in rows))
    frame = pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")
    lists = {"q1": ["x", "d1"], "q9": ["a", "a"]}
    for ranking in (rows, lists, frame, frame.lazy(), tmp_path / "a.run", tmp_path / "a.csv"):
        assert evaluate({"q1": {"d1": 1}}, ranking, "RR")["RR"] == 0.5


def test_aspects_come_from_a_column_of_their_name():
    rows = [
        {"query": "q", "doc": "a", "subtopic": "s1", "rel": 1},
        {"query": "q", "doc": "a", "subtopic": "s2", "rel": 2},
    ]
    judgments = load_judgments(rows)
    assert judgments.facets is not None
    assert (judgments.facets.aspect.tolist(), judgments.facets.grade.tolist()) == ([0, 1], [1, 2])
    assert judgments.grade.tolist() == [2]


@pytest.mark.slow
def test_many_rows_come_in_blocks():
    rows = [(f"q{q}", f"d{d}", -float(d)) for q in range(70) for d in range(1000)]
    judged = [(f"q{q}", f"d{q}", 1) for q in range(70)]
    hits, _ = hits_of(judged, rows)
    assert hits.rank.tolist() == [q + 1 for q in range(70)]
    judgments = load_judgments(judged)
    assert len(list(load_ranking(rows).blocks(judgments, Conventions(), Census()))) > 1


def test_a_query_whose_rows_are_apart_is_one_ranking():
    hits, _ = hits_of([("q", "a", 1), ("p", "a", 2)], [("q", "b", 2), ("p", "a", 1), ("q", "a", 3)])
    assert (hits.rank.tolist(), hits.retrieved.tolist()) == ([1, 1], [2, 1])


@pytest.mark.parametrize("library", ["pyarrow", "polars"])
def test_parquet_is_read_and_written_by_either_library(
    library, ranked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip(library)
    monkeypatch.setattr("rankproof.io.frames._library", lambda: library)
    table = load_ranking(ranked).table()
    for name in ("x.parquet", "x.parquet.gz"):
        write_ranking(table, tmp_path / name)
        assert load_ranking(tmp_path / name).table().doc == table.doc
    (tmp_path / "x.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(DataError, match=r"x\.parquet: not valid Parquet"):
        load_ranking(tmp_path / "x.parquet")


def test_parquet_columns_that_are_not_needed_are_not_read(tmp_path: Path):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"qid": ["q"], "docno": ["d"], "text": ["long"], "sim": [1.0], "nested": [[1, 2]]})
    frame.write_parquet(tmp_path / "x.parquet")
    hits, census = hits_of({"q": {"d": 1}}, tmp_path / "x.parquet")
    assert hits.rank.tolist() == [1]
    assert census.notes == [f"{tmp_path / 'x.parquet'}: took the column 'qid' as query, 'docno' as doc, 'sim' as score"]
    frame.select("qid", "docno", "text").write_parquet(tmp_path / "x.parquet")
    with pytest.raises(DataError, match="the columns are 'qid', 'docno', 'text'"):
        load_ranking(tmp_path / "x.parquet")


def test_the_audit_says_what_was_taken_as_what(tmp_path: Path):
    judged, run = tmp_path / "judged.csv", tmp_path / "run.csv"
    judged.write_text("qid,docno,label\nq1,a,1\n")
    run.write_text("q1,a,1\n")
    found = audit(judged, run).of_kind("read-as")
    assert found.message == (
        f"{judged}: took the column 'qid' as query, 'docno' as doc, 'label' as grade; "
        f"{run}: no header, took column 1 as query, column 2 as doc, column 3 as score."
    )
    assert audit({"q1": {"a": 1}}, {"q1": {"a": 1}}).of_kind("read-as") is None


def test_quotes_mean_nothing_in_tsv(tmp_path: Path):
    file = tmp_path / "run.tsv"
    file.write_text('query_id\tdoc_id\tscore\n"a\t"b"\t1\n')
    table = load_ranking(file).table()
    assert (table.query, table.doc) == (['"a'], ['"b"'])


def test_labelled_questions_are_judgments(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_text(
        '{"id": "q1", "text": "Refund?", "relevant": ["d1", "d2"]}\n{"id": "q2", "text": "Fee?", "relevant": {"d3": 2}}\n'
    )
    assert load_judgments(path).as_dict() == {"q1": {"d1": 1, "d2": 1}, "q2": {"d3": 2}}


def test_a_second_heading_is_called_one(tmp_path: Path) -> None:
    path = tmp_path / "judgments.tsv"
    path.write_text("query\tdoc\tgrade\nq1\td1\t1\nquery\tdoc\tgrade\nq2\td2\t1\n")
    with pytest.raises(DataError, match=r"line 3: got 'grade' as the grade.*it is a heading"):
        load_judgments(path)
