"""Two executor processes, one of them killed while its tasks run: what comes out is compared with memory.

Run by `test_spark.py` in a process of its own; its last line is what it found. Nothing here depends on how fast the
machine is: all tasks but the first few wait until one executor has been killed, and that is done when a task waits
in each of the two.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from zipimport import zipimporter

import rankproof.spark
from rankproof import evaluate
from tests.io.counted.engines import arrow, random_case
from tests.spark.test_spark import MEASURES, judged_table

PARTITIONS, FIRST = 8, 3
PATIENCE = 600.0
"""Seconds after which a wait is a failure with a name, not a hang."""


def wait_for(condition: Callable[[], Any], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {PATIENCE:.0f} s for {what}")
        time.sleep(0.02)


def own_executor() -> int:
    """The process of the executor above this one."""
    pid = os.getpid()
    while pid > 1 and b"CoarseGrainedExecutorBackend" not in Path(f"/proc/{pid}/cmdline").read_bytes():
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return pid


score = rankproof.spark._score


def score_and_wait(folder: str, kernel: Any, rows: int, batches: Iterable[Any]) -> Iterator[Any]:
    """Score a partition, and leave a file that tells who did: at once for the first few, else after the kill."""
    from pyspark import TaskContext

    context = TaskContext.get()
    assert context is not None
    number, where = context.partitionId(), Path(folder)
    name = f"{own_executor()}-{number}-{context.taskAttemptId()}"
    if number >= FIRST:
        (where / f"waits-{name}").touch()
        wait_for((where / "killed").exists, "the kill")
    yield from score(kernel, rows, batches)
    (where / f"ends-{name}").touch()
    zips = sum(isinstance(each, zipimporter) for each in sys.path_importer_cache.values())
    if zips > 3 or not gc.get_freeze_count():  # those of PySpark's own zip are more than ten
        (where / f"dear-{zips}").touch()  # what PySpark does between two tasks


def told(folder: Path, what: str) -> list[tuple[int, int]]:
    """The executor and the partition of each task that left such a file."""
    names = [each.name.split("-") for each in folder.glob(f"{what}-*")]
    return [(int(executor), int(partition)) for _, executor, partition, _ in names]


def kill_one(folder: Path) -> None:
    """Kill the executor that has done more, as soon as a task waits in each of the two, so that no other can run."""
    wait_for(lambda: len({executor for executor, _ in told(folder, "waits")}) >= 2, "two executors that wait")
    ended = [executor for executor, _ in told(folder, "ends")]
    os.kill(max({executor for executor, _ in told(folder, "waits")}, key=ended.count), signal.SIGKILL)
    (folder / "killed").touch()


def main() -> None:
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.executor.memory": "768m",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.adaptive.enabled": "false",
        # Both executors are there before the first task is given out, however slowly they start.
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": f"{PATIENCE:.0f}s",
        "spark.network.timeout": "1200s",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    judged, rows = random_case(14, queries=200)
    expected = evaluate(judged, arrow(rows), MEASURES)
    judgments, run = spark.createDataFrame(judged_table(judged)), spark.createDataFrame(arrow(rows))
    folder = Path.cwd()
    rankproof.spark._score = partial(score_and_wait, str(folder))  # type: ignore[assignment]
    killer = threading.Thread(target=kill_one, args=(folder,), daemon=True)
    killer.start()
    spark.sparkContext.setJobGroup("evaluate", "all jobs of one evaluation")
    found = rankproof.spark.evaluate(judgments, run, MEASURES, by="segment", partitions=PARTITIONS)
    jobs = spark.sparkContext.statusTracker().getJobIdsForGroup("evaluate")
    killer.join(PATIENCE)
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
    begun = [partition for _, partition in told(folder, "waits")]
    answer = {
        "different": different,
        "killed": (folder / "killed").exists(),
        "repeated": len(begun) - len(set(begun)),
        "executors": len({executor for executor, _ in told(folder, "waits") + told(folder, "ends")}),
        "jobs": len(jobs),
        "dear": [each.name for each in folder.glob("dear-*")],
        "queries": len(queries),
        "distinct": len(set(queries)),
        "expected": len(judged),
    }
    print(json.dumps(answer), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
