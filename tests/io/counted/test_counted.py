"""Rankings that stay in an engine give the bits that they give in memory, and refuse what memory refuses."""

from __future__ import annotations

import decimal
import random
import re
import sqlite3
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import rankproof
from rankproof import evaluate
from rankproof.cli import run
from rankproof.core.conventions import Conventions
from rankproof.errors import DataError, UsageError
from rankproof.io import counted
from rankproof.io.counted import CountedRankings, counted_rows
from rankproof.io.counted.text import OWN, Counted, counting_text, table_in
from rankproof.io.load import load_counted
from tests.database import in_memory
from tests.io.counted.engines import COLUMNS, ENGINES, arrow, by_text, in_duckdb, in_sqlite, random_case, tables_in

MEASURES = "nDCG@10, nDCG(gain='exp'), AP, RR, P@5, R@10, bpref, Judged@10, RBP, ERR@10, Success@5, SetP, RPrec, GMAP"
INPUT = ("duckdb", "polars", "sqlite", "datafusion")


def check_equal(found, expected, note=""):
    assert list(found) == list(expected)
    for name in expected:
        one, other = found.column(name), expected.column(name)
        assert np.array_equal(one.values, other.values), (note, name)
        assert one.mean == other.mean, (note, name)
        assert found.bounds(name) == expected.bounds(name), (note, name)
        assert found.bounds(name, of="unjudged") == expected.bounds(name, of="unjudged"), (note, name)
        assert found.interval(name) == expected.interval(name), (note, name)
        assert found.ceiling(name) == expected.ceiling(name), (note, name)
        assert found.split(name) == expected.split(name), (note, name)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_gives_the_bits_of_memory(engine):
    for seed, ties in enumerate(("trec", "id", "expected", "best", "worst")):
        judged, rows = random_case(seed)
        expected = evaluate(judged, arrow(rows), MEASURES, ties=ties)
        found = evaluate(judged, ENGINES[engine](rows), MEASURES, ties=ties)
        assert isinstance(found.ranking, CountedRankings)
        check_equal(found, expected, ties)
        assert found.facts == expected.facts
        kinds = [{each.kind for each in scores.audit} for scores in (found, expected)]
        assert kinds[0] ^ kinds[1] <= {"scores-rise"}, "only the order of rows is not seen"
        assert found.census.extra == expected.census.extra == 2


@pytest.mark.first_is_quick
@pytest.mark.parametrize(
    "conventions",
    [
        {"unjudged": "skip"},
        {"unjudged": "relevant"},
        {"missing": "skip", "no_relevant": "skip"},
        {"profile": "trec_eval-9"},
        {"profile": "torchmetrics", "ties": "trec"},
        {"duplicates": "best"},
        {"ties": "rank"},
    ],
    ids=str,
)
def test_every_convention_gives_the_bits_of_memory(conventions):
    judged, rows = random_case(7)
    if "duplicates" in conventions:
        rows += [(query, doc, score + 0.5) for query, doc, score in rows[::3]]
    table = arrow(rows)
    if "ties" in conventions:
        order = random.Random(1).sample(range(1, len(rows) + 1), len(rows))
        table = table.append_column("rank", pa.array(order))
    expected = evaluate(judged, table, "nDCG@10, AP, P@5", **conventions)
    for data in (duckdb.from_arrow(table), pl.from_arrow(table).lazy()):
        found = evaluate(judged, data, "nDCG@10, AP, P@5", **conventions)
        check_equal(found, expected, conventions)
        assert found.census.dropped == expected.census.dropped


@pytest.mark.first_is_quick(2)
@pytest.mark.parametrize("engine", INPUT)
@pytest.mark.parametrize("asked", [{"ties": "input"}, {"duplicates": "first"}, {"ties": "rank"}], ids=str)
def test_what_rows_without_an_order_or_ranks_cannot_give_is_refused_with_the_way_out(engine, asked):
    judged, rows = random_case(1)
    needs = r"(needs the order in which the rows were given|there is no rank column).*Next: .*choose"
    with pytest.raises(UsageError, match=needs):
        evaluate(judged, ENGINES[engine](rows), "AP", **asked)


@pytest.mark.parametrize("engine", INPUT)
def test_no_score_is_no_place_in_an_order(engine):
    judged, rows = {"q": {"a": 1}}, [("q", "a", 1.0), ("q", "b", None), ("q", "c", 0.5)]
    with pytest.raises(DataError, match=r"query 'q'|row 2"):
        evaluate(judged, ENGINES[engine](rows), "RR")
    if engine != "sqlite":  # which stores NaN as NULL
        with pytest.raises(DataError, match=r"query 'q'.*missing or NaN"):
            evaluate(judged, ENGINES[engine]([("q", "a", 1.0), ("q", "b", float("nan"))]), "RR")


@pytest.mark.slow
@pytest.mark.parametrize("engine", INPUT)
@pytest.mark.parametrize("duplicates", ["error", "best"])
def test_infinite_scores_stand_at_the_ends_and_tie(engine, duplicates):
    judged = {"low": {"a": 1, "b": 2}, "high": {"a": 1, "b": 2}, "both": {"a": 1, "b": 2}}
    inf = float("inf")
    rows = [(query, doc, -inf if query == "low" else inf) for query in ("low", "high") for doc in "abcd"]
    rows += [
        ("both", "a", -inf),
        ("both", "b", inf),
        ("both", "c", 1.7976931348623157e308),
        ("low", "e", 0.0),
    ]
    for ties in ("trec", "best", "worst"):
        settings = {"ties": ties, "duplicates": duplicates}
        expected = evaluate(judged, arrow(rows), "RR, AP, nDCG", **settings)
        found = evaluate(judged, ENGINES[engine](rows), "RR, AP, nDCG", **settings)
        check_equal(found, expected, ties)
        tied = found.audit.of_kind("ties")
        assert tied is not None
        assert tied == expected.audit.of_kind("ties")


@pytest.mark.first_is_quick
@pytest.mark.parametrize("engine", INPUT)
def test_duplicates_are_told_with_both_values(engine):
    judged, rows = {"q": {"a": 1}}, [("q", "a", 1.0), ("q", "b", 0.5), ("q", "a", 0.25)]
    with pytest.raises(DataError, match=r"document 'a' comes twice for query 'q', with the scores 0.25 and 1"):
        evaluate(judged, ENGINES[engine](rows), "RR")
    with pytest.raises(DataError, match=r"query 'q': there is 1 row more than documents"):
        evaluate(judged, ENGINES[engine]([*rows[:2], ("q", "b", 0.75)]), "RR")
    assert evaluate(judged, ENGINES[engine](rows), "RR, P@1", duplicates="best")["P@1"] == 1


@pytest.mark.slow
def test_where_not_all_was_looked_at_for_duplicates_it_is_said(monkeypatch):
    monkeypatch.setattr(counted, "ALL", 10)
    monkeypatch.setattr(counted, "PROBED", 3)
    judged, rows = random_case(2)
    for engine in INPUT:
        scores = evaluate(judged, ENGINES[engine](rows), "RR")
        assert "nobody judged in 3 of 23 queries" in scores.audit.format("full").replace("\n           ", " ")


@pytest.mark.parametrize("engine", INPUT)
def test_rows_without_an_id_and_empty_tables_are_refused(engine):
    judged = {"q": {"a": 1}}
    for missing in (None, ""):
        for row in ((missing, "b", 0.5), ("q", missing, 0.5)):
            with pytest.raises(DataError, match=r"have no (query|document) id|got (None|'')"):
                evaluate(judged, ENGINES[engine]([("q", "a", 1.0), row]), "RR")


@pytest.mark.parametrize("engine", ["duckdb", "sqlite", "datafusion"])
@pytest.mark.parametrize("duplicates", ["error", "best"])
def test_a_document_without_id_is_found_by_the_written_text(engine, duplicates):
    judged, judgments = {"q": {"a": 1}}, pa.table({"query_id": ["q"], "doc_id": ["a"]})
    text = counting_text(engine, Counted(), Conventions(duplicates=duplicates))
    for missing in (None, ""):
        _, bring = tables_in(engine, {"run": arrow([("q", "a", 1.0), ("q", missing, 0.5)]), "judgments": judgments})
        with pytest.raises(DataError, match="query 'q': there is 1 row whose document is missing"):
            evaluate(judged, counted_rows(bring(text), "rows"), "RR", duplicates=duplicates)


def test_single_precision_and_decimal_scores_are_compared_as_in_memory():
    judged = {"q": {"a": 1, "b": 1}}
    single = arrow([("q", "a", 0.1), ("q", "b", 0.1), ("q", "c", 0.2)], score=pa.float32())
    expected = evaluate(judged, single, "AP, RR")
    numbers = [decimal.Decimal(each) for each in ("0.3000000000000000000001", "0.3", "9007199254740993.5")]
    exact = arrow([("q", doc, n) for doc, n in zip("abc", numbers, strict=True)], score=pa.decimal128(38, 22))
    as_floats = arrow([("q", doc, float(n)) for doc, n in zip("abc", numbers, strict=True)])
    for make in (duckdb.from_arrow, lambda table: pl.from_arrow(table).lazy()):
        check_equal(evaluate(judged, make(single), "AP, RR"), expected)
        check_equal(evaluate(judged, make(exact), "AP, RR"), evaluate(judged, as_floats, "AP, RR"))
    huge = duckdb.sql(
        "select 'q' as query_id, chr(97 + i::int) as doc_id, (i * 10::hugeint ** 25::hugeint)::hugeint as score from range(3) t(i)"
    )
    assert evaluate(judged, huge, "RR")["RR"] == 0.5


def test_integers_as_ids_meet_integers_alone():
    rows = [(7, 10, 1.0), (7, 9, 1.0), (8, 10, 2.0)]
    table = arrow(rows)
    expected = evaluate({7: {9: 1}, 8: {10: 2}}, table, "RR, AP")
    for data in (duckdb.from_arrow(table), pl.from_arrow(table).lazy(), in_numbers(rows)):
        check_equal(evaluate({7: {9: 1}, 8: {10: 2}}, data, "RR, AP"), expected)
        with pytest.raises(DataError, match="got ids that are integers where the judgments have text"):
            evaluate({"7": {"9": 1}}, data, "RR")


def in_numbers(rows):
    connection = in_memory()
    connection.execute("create table run (query_id integer, doc_id integer, score integer)")
    connection.executemany("insert into run values (?, ?, ?)", rows)
    return connection, "run"


def test_same_ranks_have_no_order():
    table = pa.table({"query_id": ["q", "q"], "doc_id": ["a", "b"], "rank": [1, 1]})
    for data in (duckdb.from_arrow(table), pl.from_arrow(table).lazy()):
        with pytest.raises(DataError, match="two documents stand at the same rank"):
            evaluate({"q": {"a": 1}}, data, "RR", ties="rank")


def test_a_database_in_utf_16_where_bytes_are_in_another_order_gives_the_same():
    rows = [("q", doc, 1.0) for doc in ("\uffee", "\U00010000", "a")]
    connection = in_memory()
    connection.execute("pragma encoding = 'UTF-16le'")
    connection.execute("create table run (query_id text, doc_id text, score real)")
    connection.executemany("insert into run values (?, ?, ?)", rows)
    for doc, rank in (("\uffee", 2), ("\U00010000", 1), ("a", 3)):
        assert evaluate({"q": {doc: 1}}, (connection, "run"), "RR")["RR"] == 1 / rank


def test_engines_are_left_as_they_were():
    judged, rows = random_case(3)
    connection, name = in_sqlite(rows)
    connection.commit()
    evaluate(judged, (connection, name), "RR")
    assert not connection.in_transaction
    assert connection.execute("select count(*) from sqlite_temp_master").fetchone() == (0,)
    relation = in_duckdb(rows)
    evaluate(judged, relation, "RR")
    left = relation.query("own", "select count(*) from duckdb_views() where view_name like 'rankproof%'").fetchall()
    assert left == [(0,)]


def test_names_of_tables_and_columns_may_be_any():
    judged, rows = random_case(4)
    connection = in_memory()
    connection.execute('create table "my run" ("Query ID" text, "select" text, "order" real)')
    connection.executemany('insert into "my run" values (?, ?, ?)', rows)
    columns = {"query": "Query ID", "doc": "select", "score": "order"}
    expected = evaluate(judged, arrow(rows), "AP")
    check_equal(evaluate(judged, (connection, "my run"), "AP", columns=columns), expected)
    relation = duckdb.from_arrow(arrow(rows)).project('query_id as "Query ID", doc_id as "select", score as "order"')
    check_equal(evaluate(judged, relation, "AP", columns=columns), expected)


NAMES = sorted(
    {
        word
        for numbered in (True, False)
        for one, other in re.findall(
            r" as ([a-z_]+)|([a-z_]+) as \(",
            counting_text("duckdb", Counted("run", numbered=numbered), Conventions(duplicates="best")),
        )
        for word in (one or other, "r", "h", "j", "w", "given", "run", "rows")
        if not word.startswith(OWN)
    }
)
"""The names of its own that the query which counts gives to columns, and short ones of tables in it."""


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["duckdb", "sqlite", "datafusion"])
def test_no_name_of_the_query_is_mistaken_for_a_given_one(engine):
    judged, rows = random_case(4, queries=4)
    expected = evaluate(judged, arrow(rows), "AP")
    pairs = list(zip(*((query, doc) for query, docs in judged.items() for doc in docs), strict=True))
    for at, name in enumerate(NAMES):
        duplicates = ("error", "best")[at % 2]
        # Columns are named by three more of its words, one in upper case.
        columns = dict(zip(("query", "doc", "score"), (NAMES * 2)[at : at + 3], strict=True))
        columns["doc"] = columns["doc"].upper()
        run = arrow(rows).rename_columns(list(columns.values()))
        others = NAMES if at % 20 == 0 else []
        session, _ = tables_in(engine, {each: pa.table({"q": [1.5]}) for each in others} | {name: run})
        found = evaluate(judged, (session, name), "AP", columns=columns, duplicates=duplicates)
        assert isinstance(found.ranking, CountedRankings)
        assert found.per_query == expected.per_query, name
        # The text for a warehouse: the ranking is in the table of this name, in another engine the judgments are.
        answers = pa.table(dict(zip((columns["query"], columns["doc"]), pairs, strict=True)))
        ranked, graded = ((name, "other"), ("other", name))[(at + len(engine)) % 2]
        _, bring = tables_in(engine, {ranked: run, graded: answers})
        text = counting_text(engine, Counted(ranked, columns, graded, columns), Conventions(duplicates=duplicates))
        found = evaluate(judged, counted_rows(bring(text), name), "AP", duplicates=duplicates)
        assert found.per_query == expected.per_query, name


def test_explaining_and_comparing_take_the_same_relations():
    judged, rows = random_case(5)
    one, other = duckdb.from_arrow(arrow(rows)), pl.from_arrow(arrow([(q, d, -s) for q, d, s in rows])).lazy()
    expected = rankproof.compare(judged, {"a": arrow(rows), "b": arrow([(q, d, -s) for q, d, s in rows])}, "AP")
    assert rankproof.compare(judged, {"a": one, "b": other}, "AP").to_dict() == expected.to_dict()
    assert str(rankproof.explain(judged, one, "q5", "AP")) == str(rankproof.explain(judged, arrow(rows), "q5", "AP"))


# --- rows that were counted elsewhere ---------------------------------------------------------------


@pytest.mark.slow
def test_rows_counted_elsewhere_give_the_same_table(tmp_path: Path, capsys):
    judged, rows = random_case(6)
    qrels = tmp_path / "judgments.jsonl"
    import json

    qrels.write_text(
        "\n".join(
            json.dumps({"query_id": q, "doc_id": d, "grade": g}) for q, ds in judged.items() for d, g in ds.items()
        )
    )
    for ending in ("parquet", "csv"):
        for ties in ("trec", "id"):
            path = by_text(rows, judged, Conventions(ties=ties), tmp_path / f"{ties}.{ending}")
            expected = evaluate(judged, arrow(rows), MEASURES, ties=ties)
            assert run(["evaluate", str(qrels), "--counted", str(path), "--ties", ties, "-m", "AP", "-f", "csv"]) == 0
            assert repr(expected["AP"]) in capsys.readouterr().out
    path = tmp_path / "trec.parquet"
    check_equal(evaluate(judged, path, MEASURES), evaluate(judged, arrow(rows), MEASURES))
    with pytest.raises(UsageError, match=r"counted under ties=trec.*asked for under ties=id"):
        evaluate(judged, path, "AP", ties="id")
    with pytest.raises(DataError, match="which these judgments do not hold"):
        evaluate({"q9": {"other": 1}}, path, "AP")
    with pytest.raises(UsageError, match="hold judged documents alone"):
        rankproof.explain(judged, path, "q5", "AP")


def test_rows_that_were_counted_in_another_way_are_read(tmp_path: Path, capsys):
    rows, judgments = tmp_path / "rows.csv", tmp_path / "judgments.tsv"
    rows.write_text("query_id,doc_id,place,first_place,last_place,retrieved\nq1,a,2,1,2,\nq1,,,,,3\nq2,,,,,1\n")
    judgments.write_text("q1\ta\t1\nq2\tb\t1\n")
    assert run(["evaluate", str(judgments), "--counted", str(rows), "-m", "RR,SetP", "-f", "csv"]) == 0
    assert "RR,0.25," in capsys.readouterr().out
    rows.write_text(  # as engines write JSON lines, without what is null; and a column of one's own
        '{"query_id": "q1", "doc_id": "a", "place": 2, "first_place": 1, "last_place": 2}\n'
        '{"query_id": "q1", "retrieved": 3, "system": "bm25"}\n{"query_id": "q2", "retrieved": 1}\n'
    )
    assert run(["evaluate", str(judgments), "--counted", str(rows), "-m", "RR,SetP", "-f", "csv"]) == 0
    assert "RR,0.25," in capsys.readouterr().out


def test_counted_rows_that_lack_something_are_refused(tmp_path: Path, capsys):
    judgments, rows = tmp_path / "judgments.tsv", tmp_path / "rows.csv"
    judgments.write_text("q1\ta\t1\n")
    head = "query_id,doc_id,place,first_place,last_place,retrieved\n"
    for text, message in (
        (head, "no counted rows"),
        ("", "rows.csv"),
        ("doc_id,place,first_place,last_place,retrieved\na,1,1,1,3\n", "without the column 'query_id'"),
        (head.replace("_place", "") + "q1,a,1,1,1,3\n", "without the column 'first_place'"),
        (head.replace(",retrieved", "") + "q1,a,1,1,1\n", "without the column 'retrieved'"),
        (head + "q1,a,1,1,1,\n", "no row says how long"),
        (head + "q1,a,two,1,1,\nq1,,,,,3\n", "no number in the column 'place'"),
    ):
        rows.write_text(text)
        assert run(["evaluate", str(judgments), "--counted", str(rows), "-m", "RR"]) == 3, text
        assert message in capsys.readouterr().err
    columns = {name: [] for name in head.strip().split(",")}
    with pytest.raises(DataError, match="no counted rows"):
        counted_rows(columns, "rows")


def test_places_that_no_ranking_has_are_refused():
    judged = {"q": {"a": 1, "b": 1, "c": 1}}

    def score(*places):
        rows = [("q", doc, *each, None) for doc, each in zip("bca", places, strict=False)] + [
            ("q", None, None, None, None, 3)
        ]
        names = ("query_id", "doc_id", "place", "first_place", "last_place", "retrieved")
        return evaluate(judged, counted_rows(dict(zip(names, zip(*rows, strict=True), strict=True)), "rows"), "RR")

    assert score((1, 1, 1), (2, 2, 3))["RR"] == score((1, 1, 1), (2, 2, 3), (3, 2, 3))["RR"] == 1
    wrong = [(5, 2, 5), (0, 0, 0), (1.5, 1, 2), (4, 4, 4), (2, 1, 1), (-1, -1, -1), (None, None, None)]
    for place in [*wrong, (1, 1, 1), (2, 1, 2), (3, 2, 2), (3, 1, 3), (2, 2, 3)]:
        with pytest.raises(DataError, match="does not fit the place before it"):
            score((1, 1, 1), (2, 2, 3), place)


def test_a_result_of_two_runs_of_the_query_is_refused(tmp_path: Path):
    judged, rows = random_case(8)
    table = pa.parquet.read_table(by_text(rows, judged, Conventions(), tmp_path / "rows.parquet"))
    with pytest.raises(DataError, match="was counted twice"):
        evaluate(judged, pa.concat_tables([table, table]), "AP")
    with pytest.raises(DataError, match="no row says how long"):
        evaluate(judged, table.filter(pa.compute.is_valid(table["doc_id"])), "AP")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "collation", "ties", "duplicates"),
    [
        ("double precision", "de-x-icu", "trec", "error"),
        ("real", "C", "trec", "error"),
        ("numeric(12, 3)", "alike", "id", "best"),
        ("integer", "alike", "trec", "error"),
    ],
)
def test_the_text_for_postgresql_gives_the_bits_of_memory(
    postgres_at, kind, collation, ties, duplicates, tmp_path: Path, capsys
):
    psycopg = pytest.importorskip("psycopg")
    judged, rows = random_case(9)
    if kind == "integer":
        rows = [(query, doc, int(min(score, 9) * 3)) for query, doc, score in rows]
    elif kind != "double precision":
        rows = [(query, doc, score if -2 < score < 2 else 7.5) for query, doc, score in rows if score != 5e-324]
    if duplicates == "best":
        rows += [(query, doc, score + 0.25) for query, doc, score in rows[::3]]
    with psycopg.connect(postgres_at, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(
            "create collation if not exists alike (provider=icu, locale='und-u-ks-level2', deterministic=false)"
        )
        columns = f'"Query" text collate "{collation}", doc_id text collate "{collation}"'
        for name, more in (("run", f"score {kind}"), ("judgments", "grade real")):
            cursor.execute(f"drop table if exists {name}; create table {name} ({columns}, {more})")
        cursor.executemany("insert into run values (%s, %s, %s)", rows)
        graded = [(query, doc, grade) for query, docs in judged.items() for doc, grade in docs.items()]
        cursor.executemany("insert into judgments values (%s, %s, %s)", graded)
        rules = ["--ties", ties, "--duplicates", duplicates]
        assert run(["sql", "--dialect", "postgres", "--query", "Query", *rules]) == 0
        with cursor.copy(f"copy ({capsys.readouterr().out}) to stdout with csv header") as copied:
            (tmp_path / "rows.csv").write_bytes(b"".join(copied))
    conventions = {"ties": ties, "duplicates": duplicates}
    expected = evaluate(judged, arrow(rows, score=pa.float32() if kind == "real" else None), MEASURES, **conventions)
    check_equal(evaluate(judged, load_counted(tmp_path / "rows.csv"), MEASURES, **conventions), expected)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite", "postgres", "spark", "bigquery", "snowflake", "trino"])
def test_the_text_is_written_for_every_dialect(dialect, capsys):
    assert run(["sql", "--dialect", dialect, "--run", "lake.run", "--ties", "id"]) == 0
    text = capsys.readouterr().out
    assert "lake" in text
    assert not {"qualify", "filter (", "over ("} & set(text.lower().split("\n"))
    assert text.count("(") == text.count(")")


QUOTED = [
    ("my run.x", "my run", "x"), ('"a.b".run', "a.b", "run"), ('lake."my run"', "lake", "my run"),
    ('we"ird', "main", 'we"ird'),
]  # fmt: skip
"""A table as it is given, and its schema and name."""


@pytest.mark.parametrize(("given", "schema", "name"), QUOTED)
def test_names_of_tables_may_be_quoted(given, schema, name):
    data = sqlite3.connect(":memory:")
    if schema != "main":
        data.execute(f'attach ":memory:" as "{schema}"')
    data.execute(f"""create table "{schema}"."{name.replace('"', '""')}" as select 7 as x""")
    assert data.execute(f"select x from {table_in('sqlite', given)}").fetchall() == [(7,)]


@pytest.mark.parametrize("option", ["--run", "--judgments", "--query", "--score"])
def test_a_name_that_is_empty_is_refused(option, capsys):
    assert run(["sql", "--dialect", "duckdb", option, ""]) == 2
    assert "got '' as the name of a table or column, expected one like lake.run" in capsys.readouterr().err


def test_an_unknown_dialect_and_rules_without_a_sum_are_refused(capsys):
    assert run(["sql", "--dialect", "oracle"]) == 2
    assert run(["sql", "--dialect", "duckdb", "--ties", "input"]) == 2
    assert "Next: choose --ties trec" in capsys.readouterr().err
    assert COLUMNS
