"""Evaluation on Spark, classic or behind Spark Connect (Sail too): the rows stay on the cluster.

    import rankproof.spark

    scores = rankproof.spark.evaluate(judgments_df, run_df, "nDCG@10, R@100", by="segment")
    print(scores)
    scores.values.write.parquet("values/monday")
    print(rankproof.spark.compare(spark.read.parquet("values/sunday"), scores, margin=0.001))

Each partition holds whole queries and is scored by the same code as in memory; what reaches the driver are summaries.
"""

from __future__ import annotations

import gc
import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, Unpack
from zipimport import zipimporter

from rankproof.comparing.conclusions import ALLOWED, both_broken, too_many_missing
from rankproof.comparing.spread_comparison import OWN, SpreadComparison, not_alike, paired_summaries, shared_measures
from rankproof.core.conventions import Conventions, ScoringArguments
from rankproof.core.defaults import DEFAULT_MEASURES
from rankproof.core.join import Census, join
from rankproof.core.measure import Measure
from rankproof.core.mergeable_summaries import SpreadSummary, merge_parts
from rankproof.core.names import parse_each
from rankproof.errors import DataError, UsageError, check_whole, missing_extra, shorten
from rankproof.io.column_roles import JUDGMENTS, RANKING, guess
from rankproof.io.counted import check_ids
from rankproof.io.counted.text import check_counted
from rankproof.io.frames import ranking_from_frame
from rankproof.io.load import Columns, with_columns
from rankproof.io.values import check_same_kind
from rankproof.scoring.evaluate import Measures, apply_profile, check_conventions
from rankproof.scoring.spread import WORST, Kernel, SpreadScores, spread_scores

__all__ = ["compare", "evaluate"]

ROWS = 1_500_000
"""The number of rows of a partition: 1 to 2 CPU seconds and about 300 MB of a task."""
LARGE = 10_000_000
"""A query with more rows fits no partition, so the cluster counts in it instead."""
SAMPLED = 10_000
"""How many rows of such a query are in the sample that finds it; half as many are 50 standard errors below."""


@with_columns
def evaluate(
    judgments: Any,
    run: Any,
    measures: Measures | None = None,
    *,
    by: str | None = None,
    cluster: str | None = None,
    partitions: int | None = None,
    worst: int = WORST,
    large: int = LARGE,
    columns: Columns = None,
    **conventions: Unpack[ScoringArguments],
) -> SpreadScores:
    """Score a ranking against judgments, both data frames of Spark.

    `by` is a column of the judgments whose values are scored separately too, `cluster` one of users or days by which
    resamples are drawn. `partitions` are by default as many as the rows need. Queries with more rows
    than `large` are counted by the cluster, not put into one partition. The other arguments are those of
    `rankproof.evaluate`; the values by query are `scores.values`, a data frame.
    """
    check_conventions(conventions, evaluate)
    for name, frame in (("judgments", judgments), ("run", run)):
        _check_frame(name, frame, "a data frame of Spark", "make one by createDataFrame, or use rankproof.evaluate")
    kernel = _kernel(measures, worst, conventions)
    large = check_whole("large", large, advice="give how many rows of a query a worker can hold")
    (graded, theirs), (ranked, mine, order) = _judged(judgments, by, cluster), _ranked(run, kernel.conventions)
    for what, one, other in zip(("queries", "documents"), mine, theirs, strict=True):
        check_same_kind(one, other, f"run, {what}")
    with _told():
        total, top = _totals(graded, ranked, kernel)
        too_large = _too_large(ranked, large) if total > large else []
    check_ids(total, {}, "run")
    kernel = replace(kernel, top_grade=None if top is None else max(0.0, float(top)))
    partitions = math.ceil(total / ROWS) if partitions is None else partitions
    check_whole("partitions", partitions, advice="leave it out, or give one for each 1.5 million rows")
    functions, small, of_large = _functions(), (graded, ranked), None
    if too_large:
        is_large = functions.coalesce(functions.col("query_id").isin(too_large), functions.lit(False))
        small = tuple(each.filter(~is_large) for each in small)
        of_large = graded.filter(is_large).toArrow()
    # Rows of both; those with a grade are judgments. A missing score must reach the check that refuses it.
    score = functions.coalesce(small[1][order], functions.lit(float("nan"))).alias(order)
    rows = small[0].unionByName(small[1].select("query_id", "doc_id", score), allowMissingColumns=True)
    texts, flags = (f"{name} string" for name in OWN[:3]), (f"{name} boolean" for name in OWN[3:])
    schema = ", ".join([*texts, *flags, *(f"`{each.name}` double" for each in kernel.measures), "summary string"])
    scored = _kept(rows.repartition(partitions, "query_id").mapInArrow(partial(_score, kernel, total), schema))
    with _told():
        told = scored.filter("summary is not null").select("summary").collect()
    parts = [SpreadSummary.from_dict(json.loads(row[0])) for row in told]
    values = scored.filter("summary is null").drop("summary")
    notes: tuple[str, ...] = ()
    if of_large is not None and len(of_large):
        more, summary = _counted(of_large, ranked.filter(is_large), kernel)
        values = values.unionByName(rows.sparkSession.createDataFrame(more, values.schema))
        parts.append(summary)
        notes = (f"{len(more):,} of the queries have more than {large:,} rows each, and were counted by the cluster.",)
    found = spread_scores(parts, kernel, values, notes=notes)
    if of_large is not None:
        found.extra += len(too_large) - len(of_large.column("query_id").unique())
    return found


@with_columns
def compare(
    first: SpreadScores | Any,
    second: SpreadScores | Any,
    measures: Measures | None = None,
    *,
    margin: float | None = None,
    names: tuple[str, str] = ("first", "second"),
    partitions: int | None = None,
    allow_missing: float = ALLOWED,
    allow_errors: bool = False,
    columns: Columns = None,
) -> SpreadComparison:
    """The difference of two systems, query by query, from their scores or data frames of saved values.

    `margin` is the largest difference that does not matter: over 1e8 queries nothing is exactly equal, so it, and not
    a p-value, should decide. As in `rankproof.compare`, nothing is decided if one of them left more than
    `allow_missing` of the judged queries unanswered, or if the audits of both find errors (unless `allow_errors`).
    """
    one_name, other_name = names
    if one_name == other_name:
        raise UsageError(f"names: got {one_name!r} twice. Next: call the two systems differently.")
    too_many_missing({}, allow_missing)  # before any work
    given = dict(zip(names, (first, second), strict=True))
    tables = [each.values if isinstance(each, SpreadScores) else each for each in given.values()]
    for name, table in zip(names, tables, strict=True):
        expected = "scores of rankproof.spark.evaluate with their values, or a data frame of Spark with the values"
        _check_frame(name, table, expected, "read the values that were saved")
    shared = shared_measures(tables, measures)
    kernel = Kernel(tuple(shared), worst=0)
    sizes = [
        each.queries if isinstance(each, SpreadScores) else table.count()
        for each, table in zip(given.values(), tables, strict=True)
    ]
    one, other = (_renamed(table, shared, letter) for table, letter in zip(tables, "ab", strict=True))
    if partitions is not None:
        one, other = (each.repartition(partitions, "query_id") for each in (one, other))
    with _told():
        rows = one.join(other, "query_id").mapInArrow(partial(_pair, kernel), "summary string").collect()
    parts = [json.loads(row[0]) for row in rows]
    one_, other_, differences = (
        merge_parts([SpreadSummary.from_dict(each[at]) for each in parts] or [SpreadSummary({})]) for at in range(3)
    )
    if not differences.queries:
        raise DataError("values: no query has a value in both tables. Next: check that both use the same query ids.")
    means = tuple({name: column.mean for name, column in each.columns.items()} for each in (one_, other_))
    sums = {name: round(each.value) for name, each in differences.sums.items()}
    known = {name: letter for name, letter in zip(names, "ab", strict=True) if not sums[f"unknown {letter}"]}
    wrong = {name: each.wrong if isinstance(each, SpreadScores) else [] for name, each in given.items()}
    lost = {name: (sums[f"missing {letter}"], sums["queries"]) for name, letter in known.items()}
    return SpreadComparison(
        differences,
        {each.name: each for each in shared},
        names,
        margin,
        means,  # type: ignore[arg-type]
        both_broken(wrong, one_name, allow_errors) | too_many_missing(lost, allow_missing),
        wrong,
        tuple(not_alike(given, sizes, sums["queries"], known)),
    )


# --- what the workers do -------------------------------------------------------------------------------


def _score(kernel: Kernel, rows: int, batches: Iterable[Any]) -> Iterator[Any]:
    """The values of one partition of a ranking of so many rows, and their summary in one more row."""
    import pyarrow
    import pyarrow.compute as pc

    _prepare_worker()
    some, nameless = [], 0
    for batch in batches:
        if batch.column("query_id").null_count:  # all of them come to one partition, so they are not kept
            lost = pc.and_(batch.column("query_id").is_null(), batch.column("grade").is_null())
            nameless += lost.true_count
            batch = batch.filter(pc.invert(lost))
        some += [batch] if batch.num_rows else []
    check_ids(rows, {"query": rows - nameless}, "run")
    if not some:
        return
    values, summary = kernel(pyarrow.Table.from_batches(some))
    summaries = pyarrow.table({"summary": [json.dumps(summary.to_dict())]})
    yield from pyarrow.concat_tables([values, summaries], promote_options="default").combine_chunks().to_batches()


def _pair(kernel: Kernel, batches: Iterable[Any]) -> Iterator[Any]:
    """The values of two systems by query: the summary of each, and that of their differences."""
    _prepare_worker()
    yield from paired_summaries(kernel, batches)


def _prepare_worker() -> None:
    """Make what PySpark does between two tasks cheap: .14 s on Python 3.11, what 400,000 rows take in the kernel.

    Before Python 3.12 every finder of a zip file, of which PySpark is one, reads its directory again at each task. And
    after each task all that was ever imported is searched for garbage, which frozen objects are not.
    """
    if getattr(sys.modules["__main__"].__spec__, "name", None) != "pyspark.daemon":
        return  # a process of the user's, as on Sail
    for path, finder in [*sys.path_importer_cache.items()]:
        if isinstance(finder, zipimporter):
            del sys.path_importer_cache[path]
    if not gc.get_freeze_count():
        gc.freeze()


# --- data frames ------------------------------------------------------------------------------------------


def _kernel(measures: Measures | None, worst: int, conventions: Mapping[str, Any]) -> Kernel:
    given = dict(conventions)
    for name, usual in (("damaged", "error"), ("sample", None)):
        if given.pop(name, usual) != usual:
            raise UsageError(
                f"rankproof.spark: {name}= is for rankings that this machine reads. Next: leave it out, and give "
                "a data frame of what is to be scored."
            )
    profile = given.pop("profile", None)
    asked, rules = parse_each(DEFAULT_MEASURES if measures is None else measures), Conventions(**given)
    if profile is not None:
        asked, rules, _ = apply_profile(profile, asked, rules)
    check_counted(rules, "run")
    return Kernel(tuple(asked), rules, worst=check_whole("worst", worst, 0, advice="give how many queries, like 10"))


def _functions() -> Any:
    try:
        from pyspark.sql import functions
    except ImportError:
        raise missing_extra("rankproof.spark", "pyspark", "spark") from None
    return functions


def _check_frame(name: str, given: Any, expected: str, advice: str) -> None:
    if not hasattr(given, "sparkSession"):
        raise UsageError(f"{name}: got {shorten(given)}, expected {expected}. Next: {advice}.")


def _judged(judgments: Any, by: str | None, cluster: str | None) -> tuple[Any, list[bool]]:
    """The judgments as query_id, doc_id, grade, and the columns of slices and clusters; which ids are integers."""
    names = list(judgments.columns)
    roles = {name: column for name, column in (("slice", by), ("cluster", cluster)) if column is not None}
    for column in roles.values():
        if column not in names:
            raise UsageError(
                f"judgments: no column {column!r}; there are {', '.join(names)}. Next: name one that is there."
            )
    took = guess([name for name in names if name not in roles.values()], JUDGMENTS, "judgments")
    functions = _functions()
    grade = judgments[took["grade"]].cast("double") if "grade" in took else functions.lit(1.0)
    chosen = [
        *(judgments[took[role]].cast("string").alias(f"{role}_id") for role in ("query", "doc")),
        # A judgment without a grade must not be mistaken for a row of the ranking.
        functions.coalesce(grade, functions.lit(float("nan"))).alias("grade"),
        *(judgments[column].cast("string").alias(name) for name, column in roles.items()),
    ]
    return judgments.select(*chosen), _are_integers(judgments, took)


def _ranked(run: Any, conventions: Conventions) -> tuple[Any, list[bool], str]:
    """The ranking as query_id, doc_id, and its scores or ranks; which ids are integers; and what orders it."""
    took = guess(list(run.columns), RANKING, "run")
    order = "rank" if conventions.ties == "rank" or "score" not in took else "score"
    if order not in took:
        raise UsageError(
            "run: no column of scores, and none of ranks for ties='rank'; the order of rows is lost on a cluster. "
            "Next: name the column, like columns={'score': NAME}."
        )
    chosen = [run[took[role]].cast("string").alias(f"{role}_id") for role in ("query", "doc")]
    return run.select(*chosen, run[took[order]].cast("double").alias(order)), _are_integers(run, took), order


def _are_integers(frame: Any, took: Mapping[str, str]) -> list[bool]:
    kinds = [frame.schema[took[role]].dataType.typeName() for role in ("query", "doc")]
    return [kind in ("byte", "short", "integer", "long", "bigint", "int") for kind in kinds]


def _totals(graded: Any, ranked: Any, kernel: Kernel) -> tuple[int, float | None]:
    """How many rows the ranking has, and the largest grade if a measure needs it: one job, for which files need only
    say how many rows they have."""
    functions = _functions()
    count, nothing = functions.count(functions.lit(1)), functions.lit(None).cast("double")
    top = functions.max("grade") if any(each.scales_by_judgments for each in kernel.measures) else nothing
    one = graded.agg(functions.lit("judgments"), count, top)
    other = ranked.agg(functions.lit("run"), count, nothing)
    found = {name: numbers for name, *numbers in one.union(other).collect()}
    if not found["judgments"][0]:
        raise DataError("judgments: empty, they have no rows. Next: check which table this is.")
    return found["run"][0], found["judgments"][1]


def _too_large(ranked: Any, large: int) -> list[str]:
    """Queries with more than so many rows; only those with many rows in a sample of all are counted."""
    functions = _functions()
    share = min(1.0, SAMPLED / large)

    def queries_above(most: float, rows: Any) -> list[str]:
        many = rows.groupBy("query_id").count().filter((functions.col("count") > most) & rows["query_id"].isNotNull())
        return [row[0] for row in many.collect()]

    likely = queries_above(share * large / 2, ranked.filter(functions.rand(1) < share))
    return queries_above(large, ranked.filter(ranked["query_id"].isin(likely))) if likely else []


def _kept(scored: Any) -> Any:
    """The frame kept on the cluster, so that its summaries and its values cost one pass."""
    from pyspark.errors import PySparkException

    try:
        return scored.persist()
    except PySparkException:  # some engines behind Spark Connect keep nothing
        return scored


def _counted(table: Any, ranked: Any, kernel: Kernel) -> tuple[Any, SpreadSummary]:
    """Values and summary of queries that no partition could hold: the cluster counts where judged documents stand."""
    judgments, census = kernel.read_judgments(table), Census()
    blocks = ranking_from_frame(ranked, "run").blocks(judgments, kernel.conventions, census)
    hits = join(judgments, blocks, kernel.conventions)
    return kernel.of_hits(judgments, hits, census, kernel.of_queries(table, judgments))


def _renamed(table: Any, measures: list[Measure], letter: str) -> Any:
    """The values of each query and whether it counts and was answered, under names that need no quotes."""
    functions, there = _functions(), list(table.columns)
    absent = [name for name in ("query_id", "counted") if name not in there]
    if absent:
        raise UsageError(
            f"values: no column {absent[0]!r}; there are {', '.join(there)}. Next: give scores of "
            "rankproof.spark.evaluate, or their values as they were saved."
        )

    def column(name: str, kind: str) -> Any:
        return table[name] if name in there else functions.lit(None).cast(kind)

    flags = [column(name, "boolean").alias(f"{name}_{letter}") for name in ("counted", "answered")]
    own = [table[f"`{each.name}`"].alias(f"{letter}{at}") for at, each in enumerate(measures)]
    slices = [column("slice", "string").alias("slice")] if letter == "a" else []
    return table.select("query_id", *slices, *flags, *own)


@contextmanager
def _told() -> Iterator[None]:
    """An error raised by a worker, without the traces of two virtual machines."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        for kind in (DataError, UsageError):
            mark = f"rankproof.errors.{kind.__name__}: "
            if mark in str(error):
                raise kind(str(error).split(mark, 1)[1].split("\n", 1)[0].strip()) from error
        raise
