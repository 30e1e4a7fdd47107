"""Queries spread over workers give the bits of memory: on Sail, which needs no Java, and on real Spark."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import rankproof.spark
from rankproof import evaluate
from rankproof.comparing.alignment import soundness
from rankproof.core.conventions import Conventions
from rankproof.core.mergeable_summaries import merge_parts
from rankproof.core.names import parse_all
from rankproof.errors import DataError, UsageError
from rankproof.io.counted import CountedRankings
from rankproof.scoring.spread import Kernel, SpreadScores, spread_scores
from tests.io.counted.engines import arrow, random_case

MEASURES = "nDCG@10, nDCG(gain='exp'), AP, RR, P@5, R@10, bpref, Judged@10, RBP, ERR@10, Success@5, SetP, RPrec, GMAP"


def judged_table(judged: Any) -> Any:
    rows = [(query, doc, grade) for query, docs in judged.items() for doc, grade in docs.items()]
    query, doc, grade = zip(*rows, strict=True)
    return pa.table(
        {"query_id": query, "doc_id": doc, "grade": grade, "segment": ["ab"[len(each) % 2] for each in query]}
    )


def tagged(judged: Any, rows: Any) -> Any:
    one = (
        judged_table(judged)
        .drop_columns(["segment"])
        .append_column("score", pa.nulls(sum(map(len, judged.values())), pa.float64()))
    )
    other = arrow(rows)
    return pa.concat_tables(
        [one, other.append_column("grade", pa.nulls(len(other), pa.float64())).select(one.column_names)]
    )


def hash_third(query: str) -> bool:
    return zlib.crc32(query.encode()) % 3 > 0


def in_partitions(table: Any, count: int) -> list[Any]:
    place = pa.array([zlib.crc32(query.encode()) % count for query in table.column("query_id").to_pylist()])
    return [table.filter(pa.compute.equal(place, number)) for number in range(count)]


def check_equal(found: SpreadScores, expected: Any, note: object = "") -> None:
    for name in expected:
        assert found[name] == expected[name], (note, name)
        assert found.interval(name) == expected.interval(name), (note, name)
        assert found.ceiling(name) == expected.ceiling(name), (note, name)
        assert found.bounds(name) == expected.bounds(name), (note, name)
        values = expected.values(name)
        for query, value in found.worst(3, name):
            assert values[query] == value


@pytest.mark.first_is_quick
@pytest.mark.parametrize("ties", ["trec", "id", "best"])
@pytest.mark.parametrize("partitions", [1, 3, 20])
def test_the_kernel_gives_the_same_bits_in_any_partitioning(ties: str, partitions: int) -> None:
    judged, rows = random_case(11, queries=60)
    conventions = {"ties": ties, "no_relevant": "skip" if partitions == 1 else "zero"}
    expected = evaluate(judged, arrow(rows), MEASURES, **conventions)
    kernel = Kernel(tuple(parse_all(MEASURES)), Conventions(**conventions), top_grade=2.0)
    found = [kernel(part) for part in in_partitions(tagged(judged, rows), partitions)]
    check_equal(spread_scores([summary for _, summary in found][::-1], kernel), expected, partitions)
    values = {row["query_id"]: row for part, _ in found for row in part.to_pylist() if row["counted"]}
    for name in expected:
        assert {query: row[name] for query, row in values.items()} == expected.values(name), name


def test_drawn_orders_of_equal_scores_are_the_same_in_any_partitioning() -> None:
    judged = {f"q{q}": {f"d{i}": float(i % 3) for i in range(30)} for q in range(9)}
    rows = [(query, f"d{i}", 1.0) for query in judged for i in range(60)]
    expected = evaluate(judged, arrow(rows), "ERR@20", ties="expected")
    assert "seeded orders" in expected.column("ERR@20").note
    kernel = Kernel(tuple(parse_all("ERR@20")), Conventions(ties="expected"), top_grade=2.0)
    parts = [kernel(part)[0] for part in in_partitions(tagged(judged, rows), 4)]
    found = {row["query_id"]: row["ERR@20"] for part in parts for row in part.to_pylist()}
    assert found == expected.values("ERR@20")


def test_a_repeated_task_changes_nothing_and_a_summary_survives_json() -> None:
    judged, rows = random_case(12)
    kernel = Kernel(tuple(parse_all("AP, RR")))
    parts = in_partitions(tagged(judged, rows), 3)
    one, again = ([kernel(part)[1] for part in parts] for _ in range(2))
    assert merge_parts(one).to_dict() == merge_parts(again).to_dict()
    scores = spread_scores(one, kernel)
    back = SpreadScores.from_dict(json.loads(json.dumps(scores.to_dict())))
    assert back.to_dict() == scores.to_dict()
    assert str(back) == str(scores)


@pytest.mark.slow
def test_the_errors_of_memory_are_told_by_sums_in_any_partitioning() -> None:
    """What makes numbers wrong, and how many queries went unanswered, reach whoever sees only summaries."""
    judged, rows = random_case(16, queries=60)
    place = {query: {doc: at for at, doc in enumerate(sorted(docs))} for query, docs in judged.items()}
    turned = [(query, f"d{at}", -float(at)) for query in place for at in range(20)]
    worlds = {
        "as it is": (judged, rows),
        "no common queries": (judged, [(f"x{query}", doc, score) for query, doc, score in rows]),
        "no common documents": (judged, [(query, f"x{doc}", score) for query, doc, score in rows]),
        "one score": (judged, [(query, doc, 1.0) for query, docs in judged.items() for doc in docs]),
        "nothing relevant": ({query: dict.fromkeys(docs, 0.0) for query, docs in judged.items()}, rows),
        "upside down": ({query: {f"d{at}": float(at >= 18) for at in range(20)} for query in place}, turned),
        # One partition alone cannot tell from which grade on a document is relevant.
        "upside down in fractions": (
            {query: {f"d{at}": (at >= 18) / 2 for at in range(20)} for query in place},
            turned,
        ),
        "few in fractions": (
            {query: {f"d{at}": (at >= 18) / (1 + (n % 20 == 0)) for at in range(20)} for n, query in enumerate(place)},
            turned,
        ),
        "all but one in fractions, which is not found": (
            {
                query: {f"d{at}": (at >= 18) / 2 for at in range(20)} | {"none": float(n == 7)}
                for n, query in enumerate(place)
            },
            turned,
        ),
        "a third is missing": (judged, [row for row in rows if hash_third(row[0])]),
    }
    for name, (judgments, ranking) in worlds.items():
        for unjudged in ("nonrelevant", "skip", "relevant"):
            expected = evaluate(judgments, arrow(ranking), "AP, RR, nDCG", unjudged=unjudged)
            errors = {
                each.kind: each.message
                for each in expected.audit
                if each.severity == "error" and each.kind != "affixes-of-ids"  # which needs the ids
            }
            rules = Conventions(unjudged=unjudged)
            kernel = Kernel(tuple(parse_all("AP, RR, nDCG")), rules)
            for partitions in (1, 5):
                parts = in_partitions(tagged(judgments, ranking), partitions)
                scores = spread_scores([kernel(each)[1] for each in parts], kernel)
                found = {each.kind: each.message for each in scores.audit}
                assert found == errors, (name, unjudged, partitions)
                assert all(message in " ".join(str(scores).split()) for message in found.values())
                missing = soundness(expected, parse_all("AP")[0]).unanswered
                assert scores.facts["unanswered"] == missing, (name, unjudged)
                assert scores.extra == expected.census.extra, (name, unjudged)
            assert (name in ("as it is", "a third is missing")) == (not errors) or unjudged != "nonrelevant", name


@pytest.mark.parametrize("queries", [1, 2, 3])
def test_few_queries_have_the_intervals_of_memory(queries: int) -> None:
    judged, rows = random_case(14, queries=12)
    judged = dict(list(judged.items())[-queries:])
    expected = evaluate(judged, arrow(rows), MEASURES)
    kernel = Kernel(tuple(parse_all(MEASURES)), top_grade=float(max(max(docs.values()) for docs in judged.values())))
    found = spread_scores([kernel(part)[1] for part in in_partitions(tagged(judged, rows), 3)], kernel)
    check_equal(found, expected)
    assert "nan" not in found.format().lower()
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert SpreadScores.from_dict(data).to_dict() == data


def test_a_query_in_two_slices_is_refused() -> None:
    table = pa.table(
        {
            "query_id": ["q", "q"],
            "doc_id": ["a", "b"],
            "grade": [1.0, 1.0],
            "score": pa.nulls(2, pa.float64()),
            "slice": ["x", "y"],
        }
    )
    with pytest.raises(DataError, match="expected one a query"):
        Kernel(tuple(parse_all("AP")))(table)


# --- Spark Connect, by Sail --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    pytest.importorskip("grpc_status")
    server = pytest.importorskip("pysail.spark").SparkConnectServer()
    server.start()
    from pyspark.sql import SparkSession

    session = SparkSession.builder.remote(f"sc://127.0.0.1:{server.listening_address[1]}").getOrCreate()
    yield session
    session.stop()
    server.stop()


pytestmark = [pytest.mark.cover, pytest.mark.filterwarnings("ignore")]  # those of packages that pyspark loads


@pytest.fixture(scope="module")
def frames(spark: Any) -> Any:
    judged, rows = random_case(13, queries=40)
    return judged, rows, spark.createDataFrame(judged_table(judged)), spark.createDataFrame(arrow(rows))


@pytest.mark.first_is_quick
@pytest.mark.parametrize("ties", ["trec", "id", "best"])
def test_sail_gives_the_bits_of_memory(frames: Any, ties: str) -> None:
    judged, rows, judgments, run = frames
    expected = evaluate(judged, arrow(rows), MEASURES, ties=ties)
    for partitions in (None, 5):
        found = rankproof.spark.evaluate(judgments, run, MEASURES, by="segment", partitions=partitions, ties=ties)
        check_equal(found, expected, (ties, partitions))
        assert found.extra == expected.census.extra
        assert all(str(part) and not part.wrong for part in found.slices.values())
        values = {row["query_id"]: row.asDict() for row in found.values.collect()}
        for name in expected:
            assert {query: row[name] for query, row in values.items()} == expected.values(name), name
        assert {name: part.means["AP"] for name, part in found.slices.items()} == {
            name: scores["AP"]
            for name, scores in evaluate(
                judged, arrow(rows), "AP", ties=ties, by={query: "ab"[len(query) % 2] for query in judged}
            ).slices.items()
        }


@pytest.mark.slow
def test_queries_with_too_many_rows_are_counted_and_nothing_changes(frames: Any, spark: Any) -> None:
    judged, rows, judgments, run = frames
    expected = evaluate(judged, arrow(rows), MEASURES)
    found = rankproof.spark.evaluate(judgments, run, MEASURES, by="segment", large=15)
    check_equal(found, expected)
    assert "counted by the cluster" in str(found)
    assert found.values.count() == len(judged)
    # Those with many rows in a sample, of which not all have too many.
    more = {"q5": 60_000, "q6": 19_000, "nobody": 50_000}
    many = [*rows, *((query, f"more{i}", i % 97 / 97) for query, count in more.items() for i in range(count))]
    found = rankproof.spark.evaluate(judgments, spark.createDataFrame(arrow(many)), MEASURES, large=30_000)
    check_equal(found, evaluate(judged, arrow(many), MEASURES))
    assert "1 of the queries have more than 30,000 rows" in " ".join(str(found).split())
    assert found.extra == expected.census.extra
    # One that nobody judged is nothing to count.
    rows = [*rows, *(("huge", f"d{i}", 0.5) for i in range(60))]
    found = rankproof.spark.evaluate(judgments, spark.createDataFrame(arrow(rows)), MEASURES, large=59)
    check_equal(found, expected)
    assert "counted by the cluster" not in str(found)


def test_a_frame_of_spark_is_counted_by_evaluate_itself(frames: Any) -> None:
    judged, rows, _, run = frames
    found, expected = evaluate(judged, run, MEASURES), evaluate(judged, arrow(rows), MEASURES)
    assert isinstance(found.ranking, CountedRankings)
    assert found.means == expected.means
    assert found.per_query == expected.per_query


def test_infinite_scores_stand_at_the_ends_and_no_bound_is_guessed(spark: Any) -> None:
    inf, docs = float("inf"), [f"d{i}" for i in range(30)]
    judged = {"low": {"d1": 1.0, "d2": 2.0}, "high": {"d1": 1.0}, "many": dict.fromkeys(docs[::2], 1.0)}
    judged["many"] |= dict.fromkeys(docs[1::4], 0.0)
    rows = [(query, doc, -inf if query == "low" else inf) for query in ("low", "high") for doc in docs[:4]]
    rows += [("low", "e", 0.0), ("high", "f", 1e300), *(("many", doc, 0.5) for doc in docs)]
    measures = "AP, nDCG, infAP"
    expected = evaluate(judged, arrow(rows), measures)
    run = spark.createDataFrame(arrow(rows))
    check_equal(evaluate(judged, run, measures), expected)
    judgments = spark.createDataFrame(judged_table(judged))
    for large in (3, 10_000_000):
        check_equal(rankproof.spark.evaluate(judgments, run, measures, large=large), expected, large)
    assert expected.bounds("infAP") is None
    assert rankproof.spark.evaluate(judgments, run, "infAP").format()


def test_names_of_tables_and_columns_may_be_any(spark: Any) -> None:
    judged, rows = random_case(13, queries=4)
    expected = evaluate(judged, arrow(rows), "AP")
    for name in ("rows", "judged", "rankproof_counting_given_judged"):
        columns = {"query": "q", "doc": "{d}", "score": "a `score`"}
        run = arrow(rows).rename_columns(list(columns.values()))
        spark.createDataFrame(run).createOrReplaceTempView(name)
        found = evaluate(judged, (spark, name), "AP", columns=columns)
        assert isinstance(found.ranking, CountedRankings)
        assert found.per_query == expected.per_query


def test_saved_values_are_compared_later(frames: Any, spark: Any, tmp_path: Path) -> None:
    judged, rows, judgments, run = frames
    other = [(query, doc, -score) for query, doc, score in rows]
    first = rankproof.spark.evaluate(judgments, run, "nDCG@10, AP")
    first.values.write.parquet(str(tmp_path / "values"))
    second = rankproof.spark.evaluate(judgments, spark.createDataFrame(arrow(other)), "nDCG@10, AP")
    found = rankproof.spark.compare(spark.read.parquet(str(tmp_path / "values")), second, margin=0.5)
    expected = rankproof.compare(judged, {"a": arrow(rows), "b": arrow(other)}, "nDCG@10, AP")
    for row in expected.rows:
        one = found[row.measure]
        assert math.isclose(one.difference, row.difference, abs_tol=1e-15)
        assert math.isclose(one.low, row.low, abs_tol=1e-12)
    assert found.verdict("AP") == "equivalent"
    assert "AP" in found.format("markdown")
    lacking = second.values.drop("nDCG@10", "AP")
    for measures, says in ((None, "no measure in both tables"), ("AP", "AP not in both tables")):
        with pytest.raises(UsageError, match=f"values: {says}; they have"):
            rankproof.spark.compare(second, lacking, measures)
    assert found.queries == len(judged)


@pytest.mark.slow
def test_nothing_is_decided_where_memory_decides_nothing(frames: Any, spark: Any, tmp_path: Path) -> None:
    judged, rows, judgments, _ = frames
    systems = {
        "whole": rows,
        "part": [row for row in rows if hash_third(row[0])],
        "other ids": [(query, str(zlib.crc32(doc.encode())), score) for query, doc, score in rows],
        "more ids": [(query, str(zlib.adler32(doc.encode())), score) for query, doc, score in rows],
    }
    scores = {
        name: rankproof.spark.evaluate(judgments, spark.createDataFrame(arrow(each)), "nDCG@10, AP")
        for name, each in systems.items()
    }
    for pair in (("whole", "part"), ("part", "whole"), ("whole", "other ids"), ("more ids", "other ids")):
        given = {name: arrow(systems[name]) for name in pair}
        for allow in ({}, {"allow_missing": 0.9}, {"allow_errors": True}):
            expected = rankproof.compare(judged, given, "nDCG@10, AP", **allow)
            found = rankproof.spark.compare(scores[pair[0]], scores[pair[1]], names=pair, margin=1.0, **allow)
            assert found.doubts == expected.doubts, (pair, allow)
            assert found.unanswered == expected.unanswered, (pair, allow)
            told, same = (
                {each.split(": ", 1)[-1].split(".")[0] for each in one} for one in (found.wrong, expected.wrong)
            )
            assert told == same
            assert all(found.verdict(name) == "undecided" for name in found) or not found.doubts
            for word in [*found.doubts.values(), *told]:
                assert word in " ".join(str(found).split()), (pair, allow)
    # Values that were saved say it too, and tables of an older version say that they do not know.
    saved = tmp_path / "part"
    scores["part"].values.write.parquet(str(saved))
    later = spark.read.parquet(str(saved))
    assert "part answered" in rankproof.spark.compare(scores["whole"], later, names=("whole", "part")).doubts["part"]
    old = rankproof.spark.compare(scores["whole"], later.drop("answered"), names=("whole", "part"))
    assert not old.doubts
    assert "do not say which queries went unanswered" in str(old).replace("\n", " ")
    fewer = rankproof.spark.compare(scores["whole"], later.limit(15), names=("whole", "part"))
    assert "25 of the 40 queries of whole are not among the other's" in str(fewer).replace("\n", " ")
    with pytest.raises(UsageError, match="no column 'counted'"):
        rankproof.spark.compare(later.drop("counted"), later)
    read = SpreadScores.from_dict(scores["part"].to_dict())
    for odd in (read, {"AP": 1.0}):
        with pytest.raises(UsageError, match=r"second: got .* Next: read the values"):
            rankproof.spark.compare(later, odd)
    with pytest.raises(UsageError, match="names: got 'a' twice"):
        rankproof.spark.compare(later, later, names=("a", "a"))
    with pytest.raises(UsageError, match="allow_missing: got 2"):
        rankproof.spark.compare(later, later, allow_missing=2)


def test_clusters_widen_the_interval_and_any_split_gives_the_same(frames: Any, spark: Any) -> None:
    judged, rows, judgments, run = frames
    from pyspark.sql import functions

    users = judgments.withColumn("user", functions.substring("query_id", 2, 1))
    ends = {
        rankproof.spark.evaluate(users, run, "AP", cluster="user", partitions=n).interval_by_cluster("AP")
        for n in (1, 4)
    }
    ((low, high),) = ends
    values = evaluate(judged, arrow(rows), "AP").values("AP")
    mean, sums = sum(values.values()) / len(values), Counter[str]()
    for query, value in values.items():
        sums[query[1]] += value - mean
    half = 1.96 * math.hypot(*sums.values()) / len(values)
    assert (low, high) == pytest.approx((mean - half, mean + half), abs=0.3 * half)
    with pytest.raises(UsageError, match="none were given"):
        rankproof.spark.evaluate(judgments, run, "AP").interval_by_cluster("AP")


def test_what_memory_refuses_is_refused_in_the_same_words(frames: Any, spark: Any) -> None:
    from pyspark.sql import functions

    _, rows, judgments, run = frames

    def frame(rows: Any, **types: Any) -> Any:
        return spark.createDataFrame(arrow(rows, **types))

    with pytest.raises(UsageError, match=r"ties='input' needs the order.*Next: choose"):
        rankproof.spark.evaluate(judgments, run, "AP", ties="input")
    for bad in (float("nan"), None):
        with pytest.raises(DataError, match=r"NaN|nan"):
            rankproof.spark.evaluate(judgments, frame([*rows, ("q5", "new", bad)]), "AP")
    for large in (15, 10_000_000):
        with pytest.raises(DataError, match=r"1 of .* rows have no query id"):
            rankproof.spark.evaluate(judgments, frame([*rows, (None, "new", 0.5)]), "AP", large=large)
        without = judgments.unionByName(judgments.limit(1).withColumn("query_id", functions.lit(None)))
        with pytest.raises(DataError, match=r"got None .* as the query"):
            rankproof.spark.evaluate(without, run, "AP", large=large)
    with pytest.raises(DataError, match="comes twice for query"):
        rankproof.spark.evaluate(judgments, frame([*rows, next(row for row in rows if row[0] == "q5")]), "AP")
    with pytest.raises(DataError, match="got ids that are integers where the judgments have text"):
        rankproof.spark.evaluate(judgments, frame([(1, 2, 0.5)]), "AP")
    for large in (0, -1, 1.5, "many"):
        with pytest.raises(UsageError, match=r"large: got .*expected a whole number of at least 1"):
            rankproof.spark.evaluate(judgments, run, "AP", large=large)
    for empty, message in (
        ((judgments.limit(0), run), "judgments: empty"),
        ((judgments, run.limit(0)), "run: there are no rows"),
    ):
        with pytest.raises(DataError, match=message):
            rankproof.spark.evaluate(*empty, "AP")
    with pytest.raises(UsageError, match=r"no column 'country'; there are query_id"):
        rankproof.spark.evaluate(judgments, run, "AP", by="country")


def test_what_is_no_frame_of_spark_is_refused_by_its_name(frames: Any) -> None:
    import pandas as pd

    judged, rows, judgments, run = frames
    for wrong in (judged, rows, "judgments.tsv", None, pd.DataFrame(rows, columns=["query_id", "doc_id", "score"])):
        for name, given in (("judgments", (wrong, run)), ("run", (judgments, wrong))):
            with pytest.raises(UsageError, match=rf"^{name}: got .*, expected a data frame of Spark. Next: make one"):
                rankproof.spark.evaluate(*given, "AP")
        with pytest.raises(UsageError, match=r"^second: got .*, expected scores of .*Next: read the values"):
            rankproof.spark.compare(judgments, wrong, "AP")


# --- real Spark ------------------------------------------------------------------------------------------

PATIENCE = 1500
"""Seconds that a script may take on the busiest machine; what hangs ends then."""
JAVA = os.environ.get("JAVA_HOME") or "/usr/lib/jvm/java-17-openjdk-amd64"


def alone(script: str, folder: Path) -> Any:
    """What a script beside this one tells in its last line.

    In a process of its own, as classic Spark and Spark Connect do not live in one.
    """
    pytest.importorskip("pyspark")
    if not Path(JAVA, "bin", "java").exists() and shutil.which("java") is None:
        if os.environ.get("RANKPROOF_JAVA") == "required":
            pytest.fail("there is no Java")
        pytest.skip("there is no Java")
    # Tests that ran before in this process may have left what turns every session into one of Spark Connect.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("SPARK_")}
    environment = {
        **inherited,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONWARNINGS": "ignore",
        # Five virtual machines of short life: what it takes to compile well, and to verify Spark's own classes,
        # costs more than it gains.
        "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
        " -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote",
    }
    environment["PYTHONPATH"] = os.pathsep.join(
        [*sys.path[:0], str(Path(__file__).parents[2]), str(Path(rankproof.__file__).parents[1])]
    )
    if Path(JAVA, "bin", "java").exists():
        environment["JAVA_HOME"] = JAVA
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name(script))],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


@pytest.mark.slow
@pytest.mark.timeout(PATIENCE + 60)
def test_two_executors_of_which_one_is_killed_give_the_bits_of_memory(tmp_path: Path) -> None:
    told = alone("cluster.py", tmp_path)
    assert told["different"] == []
    assert told["killed"]
    assert told["repeated"] >= 1  # the task that waited in the executor that was killed
    assert told["queries"] == told["distinct"] == told["expected"]
    assert told["jobs"] == 2  # one counts the rows, one scores them
    assert told["dear"] == []


@pytest.mark.slow
@pytest.mark.timeout(PATIENCE + 60)
def test_the_own_server_of_spark_connect_gives_the_bits_of_memory(tmp_path: Path) -> None:
    pytest.importorskip("grpc_status")
    assert alone("connect.py", tmp_path) == {"different": [], "queries": 40}
