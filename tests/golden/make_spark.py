"""Golden values of Spark's RankingMetrics (MLlib).

    python -m venv env && env/bin/pip install pyspark==4.1.4 pandas pyarrow && env/bin/python make_spark.py

It needs Java 17. Each query gives it the documents in order and the relevant ones (grade >= 1); for the graded nDCG the
grades of these as well. Its methods give means, so every query is given alone, and then all of a case together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyspark
from common import CUTS, cases, ordered, shared_queries, write
from pyspark.mllib.common import JavaModelWrapper, callMLlibFunc
from pyspark.mllib.evaluation import RankingMetrics
from pyspark.sql import SparkSession

Row = tuple[Any, ...]


def row(judged: dict[str, int], run: dict[str, float], *, graded: bool) -> Row:
    # The best first: it takes the order in which they are listed for the ideal one.
    best = sorted(judged, key=lambda doc: -judged[doc])
    relevant = {doc: float(judged[doc]) for doc in best if judged[doc] >= 1}
    found = (ordered(run), list(relevant))
    return (*found, list(relevant.values())) if graded else found


def measures() -> dict[str, tuple[bool, Callable[[Any], float]]]:
    known: dict[str, tuple[bool, Callable[[Any], float]]] = {
        "meanAveragePrecision": (False, lambda m: m.meanAveragePrecision)
    }
    for k in CUTS:
        known[f"precisionAt@{k}"] = (False, lambda m, k=k: m.precisionAt(k))
        known[f"recallAt@{k}"] = (False, lambda m, k=k: m.recallAt(k))
        known[f"meanAveragePrecisionAt@{k}"] = (False, lambda m, k=k: m.meanAveragePrecisionAt(k))
        known[f"ndcgAt@{k}"] = (True, lambda m, k=k: m.ndcgAt(k))
        known[f"ndcgAt@{k}, without grades"] = (False, lambda m, k=k: m.ndcgAt(k))
    return known


def metrics(spark: SparkSession, rows: list[Row]) -> RankingMetrics:
    """RankingMetrics of these rows, from a local table: one job in place of a Python worker for each number."""
    types = "found array<string>, relevant array<string>" + (", grades array<double>" if len(rows[0]) == 3 else "")
    made = RankingMetrics.__new__(RankingMetrics)
    JavaModelWrapper.__init__(made, callMLlibFunc("newRankingMetrics", spark.createDataFrame(pandas(rows), types)._jdf))
    return made


def pandas(rows: list[Row]) -> Any:
    import pandas as pd

    return pd.DataFrame(rows)


def values(spark: SparkSession, rows: dict[bool, list[Row]]) -> dict[str, float]:
    made = {graded: metrics(spark, each) for graded, each in rows.items() if each}
    return {name: value(made[graded]) for name, (graded, value) in measures().items() if graded in made}


def evaluated(spark: SparkSession, case: dict[str, Any]) -> dict[str, Any]:
    whole: dict[bool, list[Row]] = {True: [], False: []}
    found: dict[str, dict[str, float]] = {}
    complete = True
    for query, judged, run in shared_queries(case):
        own = {graded: row(judged, run, graded=graded) for graded in (True, False)}
        for graded, each in own.items():
            if each[1]:  # without a relevant document it cannot tell of what type the others are
                whole[graded].append(each)
        complete &= bool(own[False][1])
        if own[False][1] and own[False][0]:
            for name, value in values(spark, {graded: [each] for graded, each in own.items()}).items():
                found.setdefault(name, {})[query] = value
    return {
        "per_query": found,
        "mean": values(spark, whole) if whole[False] and complete else {},
        "errors": {},
    }


if __name__ == "__main__":
    spark = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("OFF")
    write("spark", version=f"pyspark {pyspark.__version__}",
          made="mllib.evaluation.RankingMetrics on the ordered documents of each query with a relevant document",
          cases={case["name"]: evaluated(spark, case) for case in cases()})  # fmt: skip
