"""What a row costs on Spark, Java and Python apart: one executor process against two, and few rows against many.

    python benchmarks/spark_rows.py FOLDER [MILLIONS ...]

takes the data of `parts.py` (2 and 16 million rows by default) in FOLDER, and needs Java. CPU seconds are those of the
executor processes, and of Python below them. Each session first runs the smallest data WARM times (Java compiles what
it runs, and never quite ends), then the largest MANY times and the others FEW times, of which the cheapest counts. The
last lines are of the kernel alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import parts
import pyarrow as pa
import pyarrow.parquet as pq

WARM, MANY, FEW = 12, 3, 10
"""How often the smallest size is run before, and how often many rows, and few, are measured."""
RUN = """
import sys
sys.path.insert(0, sys.argv[1])
import spark_rows
spark_rows.measure(int(sys.argv[2]), sys.argv[3:])
"""


def cpu_of_executors() -> tuple[float, float]:
    """CPU seconds of the executors below this process: those of Java, and those of all that they began."""
    parents, own, ended = {}, {}, {}
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = each.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        pid = int(each.parent.name)
        parents[pid] = int(fields[1])
        own[pid], ended[pid] = sum(map(int, fields[11:13])), sum(map(int, fields[13:15]))

    def above(pid: int) -> list[int]:
        return [pid, *above(parents[pid])] if pid in parents else []

    def is_executor(pid: int) -> bool:
        try:
            return "CoarseGrainedExecutorBackend" in Path(f"/proc/{pid}/cmdline").read_text()
        except OSError:
            return False

    below = {pid: line for pid in parents if os.getpid() in (line := above(pid))}
    executors = {pid for pid in below if is_executor(pid)}
    others = [pid for pid, line in below.items() if pid not in executors and executors & set(line)]
    java = sum(own[pid] for pid in executors)
    python = sum(own[pid] + ended[pid] for pid in others) + sum(ended[pid] for pid in executors)
    ticks = os.sysconf("SC_CLK_TCK")
    return java / ticks, python / ticks


def measure(executors: int, folders: list[str]) -> None:
    """Print what one evaluation of each folder costs, with so many executor processes of one core."""
    from pyspark.sql import SparkSession

    import rankproof.spark

    builder = SparkSession.builder.master(f"local-cluster[{executors},1,1024]")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.executor.memory": "1g",
        "spark.sql.shuffle.partitions": "16",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    }.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")

    def once(where: str) -> dict[str, object]:
        before, wall = cpu_of_executors(), time.perf_counter()
        judgments, run = (spark.read.parquet(f"{where}/{name}") for name in ("judgments.parquet", "rows"))
        scores = rankproof.spark.evaluate(judgments, run, parts.MEASURES)
        spark.catalog.clearCache()
        java, python = (now - then for now, then in zip(cpu_of_executors(), before, strict=True))
        means = {name: mean.hex() for name, mean in scores.means.items()}
        return {"java": java, "python": python, "wall": time.perf_counter() - wall, "means": means}

    for _ in range(WARM):
        once(folders[0])
    best = {}
    for where in reversed(folders):  # what many rows warm up further is warm for the few
        runs = [once(where) for _ in range(MANY if where == folders[-1] else FEW)]
        best[where] = min(runs, key=lambda run: run["java"] + run["python"])  # type: ignore[operator]
    for where in folders:
        print(json.dumps(best[where]), flush=True)
    spark.stop()


def kernel_cost(folder: Path, files: int) -> float:
    """Microseconds a row of the kernel alone, over one partition of so many files."""
    from rankproof.core.names import parse_all
    from rankproof.scoring.spread import Kernel

    rows = pa.concat_tables([pq.read_table(each) for each in sorted(folder.glob("rows/*.parquet"))[:files]])
    queries = pa.compute.unique(rows.column("query_id"))
    judged = pq.read_table(folder / "judgments.parquet")
    judged = judged.filter(pa.compute.is_in(judged.column("query_id"), value_set=queries))
    none = pa.nulls(len(judged), pa.float64())
    grade = judged.column("relevance").cast(pa.float64())
    one = pa.table(
        {
            "query_id": judged.column("query_id"),
            "doc_id": judged.column("doc_id"),
            "grade": grade,
            "score": none,
        }
    )
    other = rows.append_column("grade", pa.nulls(len(rows), pa.float64())).select(one.column_names)
    table = pa.concat_tables([one, other])
    kernel = Kernel(tuple(parse_all(parts.MEASURES)), top_grade=3.0)
    best = float("inf")
    for _ in range(3):
        began = time.process_time()
        kernel(table)
        best = min(best, time.process_time() - began)
    return best / len(rows) * 1e6


def main(folder: Path, sizes: list[float]) -> None:
    """Print a line for each size and number of executors."""
    folders = [folder / f"{millions:g}" for millions in sizes]
    for where, millions in zip(folders, sizes, strict=True):
        parts.make(where, millions)
    heads = ("Java us/row", "Python", "both", "ratio", "wall s")
    print(f"{'executors':<10}{'M rows':>8}{''.join(f'{head:>12}' for head in heads)}  means", flush=True)
    first, means = 0.0, {}
    for executors in (1, 2):
        words = [sys.executable, "-W", "ignore", "-c", RUN, str(Path(__file__).parent), str(executors)]
        settings = {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
        done = subprocess.run(
            [*words, *map(str, folders)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            env=os.environ | settings,
        )
        for millions, line in zip(sizes, done.stdout.strip().splitlines()[-len(sizes) :], strict=True):
            found = json.loads(line)
            java, python = found["java"] / millions, found["python"] / millions
            first = first or java + python
            numbers = (java, python, java + python, (java + python) / first, found["wall"])
            same = found["means"] == means.setdefault(millions, found["means"])
            print(
                f"{executors:<10}{millions:>8g}{''.join(f'{each:>12.2f}' for each in numbers)}"
                f"  {'the same bits' if same else 'OTHER BITS'}",
                flush=True,
            )
    for files in (4, 16):
        print(f"the kernel alone, {files} files: {kernel_cost(folders[0], files):.2f} us/row", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), [float(each) for each in sys.argv[2:]] or [2, 16])
