"""Evaluation on Spark, classic or behind Spark Connect (Sail too): the rows stay on the cluster.

    import rankproof.spark

    scores = rankproof.spark.evaluate(judgments_df, run_df, "nDCG@10, R@100", by="segment")
    print(scores)
    scores.values.write.parquet("values/monday")
    print(rankproof.spark.compare(spark.read.parquet("values/sunday"), scores, margin=0.001))

Each partition holds whole queries and is scored by the same code as in memory; what reaches the driver are summaries.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any, Unpack

from rankproof.comparing.alignment import ALLOWED, both_broken, too_many_missing
from rankproof.comparing.spread_comparison import SpreadComparison
from rankproof.core.arrays import ExactSum
from rankproof.core.defaults import DEFAULT_MEASURES
from rankproof.core.join import Census, join
from rankproof.core.measure import Measure
from rankproof.core.merge import SpreadSummary, merge_parts
from rankproof.core.names import parse_each
from rankproof.core.rules import Conventions, ScoringArguments
from rankproof.errors import DataError, UsageError, check_whole, missing_extra, shorten
from rankproof.io.counted.rankings import check_ids
from rankproof.io.counted.text import check_counted
from rankproof.io.frames import judgments_from_frame, ranking_from_frame
from rankproof.io.roles import JUDGMENTS, RANKING, Columns, guess, with_columns
from rankproof.io.values import check_same_kind
from rankproof.scoring.evaluate import Measures, check_conventions
from rankproof.scoring.spread import WORST, Kernel, SpreadScores, spread_scores, summary_of

__all__ = ["compare", "evaluate"]

ROWS = 1_500_000
"""The number of rows of a partition: 1 to 2 CPU seconds and about 300 MB of a task."""
LARGE = 10_000_000
"""A query with more rows fits no partition, so the cluster counts in it instead."""
OWN = ("query_id", "slice", "cluster", "counted", "answered")
"""Columns of values that are not measures."""


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
    kernel = _kernel(measures, worst, conventions)
    functions = _functions()
    graded, roles = _judged(judgments, by, cluster)
    ranked, order = _ranked(run, kernel.conventions)
    _check_kinds(judgments, run)
    with _told():
        sizes = ranked.groupBy("query_id").count()
        top = graded.agg(functions.max("grade")).collect()[0][0]
        count = functions.col("count")
        beyond = functions.collect_list(functions.when(count > large, functions.col("query_id")))
        nameless = functions.sum(functions.when(functions.col("query_id").isNull(), count))
        totals = sizes.agg(functions.sum(count), functions.count(count), nameless, beyond)
        total, queries, without, too_large = totals.collect()[0]
    if top is None:
        raise DataError("judgments: empty, they have no rows. Next: check which table this is.")
    check_ids(total or 0, {"query": (total or 0) - (without or 0)}, "run")
    kernel = replace(kernel, top_grade=max(0.0, float(top)))
    if partitions is None:
        partitions = max(1, math.ceil((total or 0) / ROWS))
    check_whole("partitions", partitions, advice="leave it out, or give one for each 1.5 million rows")
    small, of_large = (graded, ranked), None
    if too_large:
        is_large = functions.coalesce(functions.col("query_id").isin(too_large), functions.lit(False))
        small = tuple(each.filter(~is_large) for each in small)
        of_large = graded.filter(is_large).toArrow()
    rows = _tagged(*small, order, roles)
    scored = rows.repartition(partitions, "query_id").mapInArrow(_Scored(kernel), _schema(kernel))
    scored = _kept(scored)
    with _told():
        parts = _summaries(scored)
    values = scored.filter("summary is null").drop("summary")
    notes: tuple[str, ...] = ()
    if of_large is not None and len(of_large):
        more, summary = _counted(of_large, ranked.filter(is_large), kernel)
        values = values.unionByName(rows.sparkSession.createDataFrame(more, values.schema))
        parts.append(summary)
        notes = (f"{len(more):,} of the queries have more than {large:,} rows each, and were counted by the cluster.",)
    found = spread_scores(parts, kernel, values, notes=notes)
    found.extra = int(queries or 0) - found.facts["answered"]
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
        if table is None or not hasattr(table, "columns"):
            raise UsageError(
                f"{name}: got {'scores without their values' if table is None else shorten(table)}, expected scores of "
                "rankproof.spark.evaluate or a data frame of their values. Next: read the values that were saved."
            )
    shared = _shared(tables, measures)
    kernel = Kernel(tuple(shared), worst=0)
    sizes = [
        each.queries if isinstance(each, SpreadScores) else table.count()
        for each, table in zip(given.values(), tables, strict=True)
    ]
    one, other = (_renamed(table, shared, letter) for table, letter in zip(tables, "ab", strict=True))
    if partitions is not None:
        one, other = (each.repartition(partitions, "query_id") for each in (one, other))
    from pyspark.sql.types import StringType, StructField, StructType

    schema = StructType([StructField("summary", StringType())])
    with _told():
        rows = one.join(other, "query_id").mapInArrow(_Paired(kernel), schema).collect()
    parts = [json.loads(row[0]) for row in rows]
    one_, other_, differences = (
        merge_parts([SpreadSummary.from_dict(each[at]) for each in parts] or [SpreadSummary({})]) for at in range(3)
    )
    if not differences.queries:
        raise DataError("values: no query has a value in both tables. Next: check that both use the same query ids.")
    means = tuple({name: column.mean for name, column in each.columns.items()} for each in (one_, other_))
    sums = {name: round(each.value) for name, each in differences.sums.items()}
    known = {name: letter for name, letter in zip(names, "ab", strict=True) if not sums[f"unknown {letter}"]}
    audits = {name: each if isinstance(each, SpreadScores) else _SavedValues() for name, each in given.items()}
    lost = {name: (sums[f"missing {letter}"], sums["queries"]) for name, letter in known.items()}
    return SpreadComparison(
        differences,
        {each.name: each for each in shared},
        names,
        margin,
        means,  # type: ignore[arg-type]
        both_broken(audits, one_name, allow_errors) | too_many_missing(lost, allow_missing),
        {name: each.wrong for name, each in audits.items()},
        tuple(_not_alike(given, sizes, sums["queries"], known)),
    )


class _SavedValues:
    """A table of values, which does not say what the audit found."""

    wrong: tuple[str, ...] = ()


def _not_alike(given: Mapping[str, Any], sizes: list[int], common: int, known: Mapping[str, str]) -> Iterator[str]:
    """How the two sides differ beside their values."""
    for name, size in zip(given, sizes, strict=True):
        if size > common:
            yield f"{size - common:,} of the {size:,} queries of {name} are not among the other's, and are left out."
    one, other = (getattr(each, "conventions", None) for each in given.values())
    if one is not None and other is not None:
        for each in fields(Conventions):
            if (mine := getattr(one, each.name)) != (theirs := getattr(other, each.name)):
                yield f"They were not made alike: different conventions ({each.name}={mine} and {theirs})."
    for name in given:
        if name not in known:
            yield f"The values of {name} do not say which queries went unanswered (no column 'answered')."


# --- what the workers do -------------------------------------------------------------------------------


class _Scored:
    """The kernel over one partition: its values, and its summary in one more row."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow

        some = [batch for batch in batches if batch.num_rows]
        if not some:
            return
        values, summary = self.kernel(pyarrow.Table.from_batches(some))
        texts, numbers = pyarrow.string(), pyarrow.float64()
        nothing = {name: pyarrow.nulls(1, pyarrow.bool_()) for name in OWN[3:]} | {
            each.name: pyarrow.nulls(1, numbers) for each in self.kernel.measures
        }
        told = pyarrow.table(
            {name: nothing.get(name, pyarrow.nulls(1, texts)) for name in values.column_names}
            | {"summary": pyarrow.array([json.dumps(summary.to_dict())], texts)}
        )
        values = values.append_column("summary", pyarrow.nulls(values.num_rows, texts))
        yield from pyarrow.concat_tables([values, told]).combine_chunks().to_batches()


class _Paired:
    """The values of two systems by query: the summary of each, and that of their differences."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import numpy as np
        import pyarrow
        import pyarrow.compute as pc

        some = [batch for batch in batches if batch.num_rows]
        if not some:
            return
        table = pyarrow.Table.from_batches(some)
        if len(table.column("query_id").unique()) < len(table):
            raise DataError("values: a query comes twice in one table. Next: save the values of one evaluation alone.")
        sums = {"queries": len(table)}
        for letter in "ab":
            answered = table.column(f"answered_{letter}")
            sums[f"unknown {letter}"] = answered.null_count
            sums[f"missing {letter}"] = len(table) - answered.null_count - (pc.sum(answered).as_py() or 0)
        table = table.filter(pc.and_(table.column("counted_a"), table.column("counted_b")))
        queries, slices = (table.column(name).to_pylist() for name in ("query_id", "slice"))
        values = {
            letter: {
                each.name: table.column(f"{letter}{at}").to_numpy() for at, each in enumerate(self.kernel.measures)
            }
            for letter in "ab"
        }
        values["d"] = {name: values["b"][name] - values["a"][name] for name in values["a"]}
        alone = [None] * len(queries)
        groups = {"slice": slices, "cluster": alone}
        counted = np.ones(len(queries), dtype=np.bool_)
        told = [
            summary_of(queries, each, counted, groups if letter == "d" else {**groups, "slice": alone}, self.kernel)
            for letter, each in values.items()
        ]
        told[2] = replace(told[2], sums={name: ExactSum.of(np.array([float(n)])) for name, n in sums.items()})
        text = json.dumps([each.to_dict() for each in told])
        yield pyarrow.RecordBatch.from_pydict({"summary": pyarrow.array([text], pyarrow.string())})


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
        from rankproof.core.profiles import apply

        asked, rules, _ = apply(profile, asked, rules)
    check_counted(rules, "run")
    return Kernel(tuple(asked), rules, worst=check_whole("worst", worst, 0, advice="give how many queries, like 10"))


def _functions() -> Any:
    try:
        from pyspark.sql import functions
    except ImportError:
        raise missing_extra("rankproof.spark", "pyspark", "spark") from None
    return functions


def _judged(judgments: Any, by: str | None, cluster: str | None) -> tuple[Any, list[str]]:
    """The judgments as query_id, doc_id, grade, and the columns of slices and clusters."""
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
        judgments[took["query"]].cast("string").alias("query_id"),
        judgments[took["doc"]].cast("string").alias("doc_id"),
        # A judgment without a grade must not be mistaken for a row of the ranking.
        functions.coalesce(grade, functions.lit(float("nan"))).alias("grade"),
        *(judgments[column].cast("string").alias(name) for name, column in roles.items()),
    ]
    return judgments.select(*chosen), list(roles)


def _ranked(run: Any, conventions: Conventions) -> tuple[Any, str]:
    """The ranking as query_id, doc_id, and its scores or ranks."""
    took = guess(list(run.columns), RANKING, "run")
    order = "rank" if conventions.ties == "rank" or "score" not in took else "score"
    if order not in took:
        raise UsageError(
            "run: no column of scores, and none of ranks for ties='rank'; the order of rows is lost on a cluster. "
            "Next: name the column, as columns={'score': NAME}."
        )
    kinds = {"query": "query_id", "doc": "doc_id"}
    chosen = [run[took[role]].cast("string").alias(name) for role, name in kinds.items()]
    return run.select(*chosen, run[took[order]].cast("double").alias(order)), order


def _check_kinds(judgments: Any, run: Any) -> None:
    """Integers only match integers, as everywhere."""
    took = guess(list(judgments.columns), JUDGMENTS, "judgments"), guess(list(run.columns), RANKING, "run")
    for role, what in (("query", "queries"), ("doc", "documents")):
        kinds = [
            frame.schema[each[role]].dataType.typeName() for frame, each in zip((judgments, run), took, strict=True)
        ]
        whole = [kind in ("byte", "short", "integer", "long", "bigint", "int") for kind in kinds]
        check_same_kind(whole[1], whole[0], f"run, {what}")


def _tagged(graded: Any, ranked: Any, order: str, roles: list[str]) -> Any:
    """Rows of both; those with a grade are judgments."""
    functions = _functions()
    missing = {name: functions.lit(None).cast("string").alias(name) for name in roles}
    one = graded.withColumn(order, functions.lit(None).cast("double"))
    # A missing score must reach the check that refuses it.
    score = functions.coalesce(ranked[order], functions.lit(float("nan"))).alias(order)
    other = ranked.select(
        "query_id", "doc_id", functions.lit(None).cast("double").alias("grade"), score, *missing.values()
    )
    return one.unionByName(other)


def _schema(kernel: Kernel) -> Any:
    from pyspark.sql.types import BooleanType, DoubleType, StringType, StructField, StructType

    texts = [StructField(name, StringType()) for name in OWN[:3]]
    numbers = [StructField(each.name, DoubleType()) for each in kernel.measures]
    flags = [StructField(name, BooleanType()) for name in OWN[3:]]
    return StructType([*texts, *flags, *numbers, StructField("summary", StringType())])


def _kept(scored: Any) -> Any:
    """The frame kept on the cluster, so that its summaries and its values cost one pass."""
    from pyspark.errors import PySparkException

    try:
        return scored.persist()
    except PySparkException:  # some engines behind Spark Connect keep nothing
        return scored


def _summaries(scored: Any) -> list[SpreadSummary]:
    rows = scored.filter("summary is not null").select("summary").collect()
    return [SpreadSummary.from_dict(json.loads(row[0])) for row in rows]


def _counted(table: Any, ranked: Any, kernel: Kernel) -> tuple[Any, SpreadSummary]:
    """Values and summary of queries that no partition could hold: the cluster counts where judged documents stand."""
    judgments = judgments_from_frame(table.select(["query_id", "doc_id", "grade"]))
    judgments.pool.__dict__["top_grade"] = kernel.top_grade
    census = Census()
    blocks = ranking_from_frame(ranked, "run").blocks(judgments, kernel.conventions, census)
    hits = join(judgments, blocks, kernel.conventions)
    return kernel.of_hits(judgments, hits, census, kernel.of_queries(table, judgments))


def _shared(tables: list[Any], measures: Measures | None) -> list[Measure]:
    """The measures that both tables of values have."""
    names = [[name for name in table.columns if name not in OWN] for table in tables]
    common = [name for name in names[0] if name in names[1]]
    asked = parse_each(common if measures is None else measures)
    lost = [each.name for each in asked if each.name not in common]
    if lost or not asked:
        raise UsageError(
            f"values: {', '.join(lost) or 'no measure'} in both tables; they have {', '.join(names[0])} and "
            f"{', '.join(names[1])}. Next: evaluate both by the same measures."
        )
    odd = [each.name for each in asked if each.spec.average != "mean"]
    if odd:
        raise UsageError(f"{odd[0]}: it is not a mean over the queries, so there are no differences query by query to "
                         "test. Next: name measures that are, like AP for GMAP.")  # fmt: skip
    return asked


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
