"""Spark's own server of Spark Connect, begun here: what it gives is compared with memory.

Run by `test_spark.py` in a process of its own; its last line is what differs.
"""

from __future__ import annotations

import json

import rankproof.spark
from rankproof import evaluate
from tests.io.counted.engines import arrow, random_case
from tests.spark.test_spark import MEASURES, judged_table


def main() -> None:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.sql.shuffle.partitions", "4").getOrCreate()
    judged, rows = random_case(16, queries=40)
    expected = evaluate(judged, arrow(rows), MEASURES)
    judgments, run = spark.createDataFrame(judged_table(judged)), spark.createDataFrame(arrow(rows))
    found = rankproof.spark.evaluate(judgments, run, MEASURES, by="segment", partitions=3)
    different = [
        name
        for name in expected
        if found[name] != expected[name]
        or found.interval(name) != expected.interval(name)
        or found.ceiling(name) != expected.ceiling(name)
        or found.bounds(name) != expected.bounds(name)
    ]
    table = found.values.toArrow()
    for name in expected:
        values = zip(table.column("query_id").to_pylist(), table.column(name).to_pylist(), strict=True)
        if dict(values) != expected.values(name):
            different.append(f"values of {name}")
    print(json.dumps({"different": different, "queries": table.num_rows}), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
