"""Two executor processes, one of them killed while its tasks run: what comes out is compared with memory.

Run by `test_spark.py` in a process of its own; its last line is what it found.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from typing import Any

import rankproof.spark
from rankproof import evaluate
from tests.io.counted.engines import arrow, random_case
from tests.spark.test_spark import MEASURES, judged_table


def executors() -> list[int]:
    """The processes of the executors below this one."""
    rows = subprocess.run(
        ["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True
    ).stdout.splitlines()[1:]
    parents = {int(row.split(None, 2)[0]): (int(row.split(None, 2)[1]), row) for row in rows}

    def is_ours(pid: int) -> bool:
        while pid in parents:
            if pid == os.getpid():
                return True
            pid = parents[pid][0]
        return False

    mark = "CoarseGrainedExecutorBackend"
    return [pid for pid, (_, row) in parents.items() if mark in row and "java" in row and is_ours(pid)]


def main() -> None:
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.executor.memory": "768m",
        "spark.sql.shuffle.partitions": "8",
        "spark.sql.adaptive.enabled": "false",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    judged, rows = random_case(14, queries=400)
    expected = evaluate(judged, arrow(rows), MEASURES)
    judgments, run = spark.createDataFrame(judged_table(judged)), spark.createDataFrame(arrow(rows))
    killed: list[int] = []
    missed: set[str] = set()

    def kill() -> None:
        tracker = spark.sparkContext.statusTracker()
        while not killed:
            try:
                for stage in tracker.getActiveStageIds():
                    info = tracker.getStageInfo(stage)
                    if info is not None and info.numTasks == 24 and info.numCompletedTasks >= 4:
                        os.kill(executors()[0], signal.SIGKILL)
                        killed.append(info.numCompletedTasks)
                        return
            except Exception as error:  # what was asked about may be over, or not begun: ask again
                missed.add(repr(error))
            time.sleep(0.02)

    threading.Thread(target=kill, daemon=True).start()
    found = rankproof.spark.evaluate(judgments, run, MEASURES, by="segment", partitions=24)
    different: list[Any] = [
        name
        for name in expected
        if found[name] != expected[name]
        or found.interval(name) != expected.interval(name)
        or found.ceiling(name) != expected.ceiling(name)
    ]
    table = found.values.toArrow()
    for name in expected:
        mine = dict(zip(table.column("query_id").to_pylist(), table.column(name).to_pylist(), strict=True))
        if mine != expected.values(name):
            different.append(f"values of {name}")
    counted = evaluate(judged, run, MEASURES)
    if counted.means != expected.means or counted.per_query != expected.per_query:
        different.append("counted")
    queries = table.column("query_id").to_pylist()
    answer = {
        "different": different,
        "killed": killed,
        "missed": sorted(missed),
        "queries": len(queries),
        "distinct": len(set(queries)),
        "expected": len(judged),
    }
    print(json.dumps(answer), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
