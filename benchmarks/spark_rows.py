"""What a row costs on Spark, as ratios: one executor process against two, and few rows against many.

    python benchmarks/spark_rows.py FOLDER [MILLIONS ...]

takes the data of `parts.py` (2 and 16 million rows by default) in FOLDER, and needs Java. CPU seconds are those of the
executor processes and of Python below them, after one run that warms them up. The last lines are of the kernel alone.
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

RUN = """
import json, os, sys
sys.path.insert(0, sys.argv[4])
import spark_rows
spark_rows.measure(sys.argv[1], int(sys.argv[2]), sys.argv[3])
"""


def cpu_of_executors() -> float:
    """CPU seconds of the executors below this process, and of all that they began."""
    rows = {}
    for each in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = each.read_text().rpartition(")")[2].split()
            rows[int(each.parent.name)] = (int(fields[1]), sum(map(int, fields[11:15])))
        except OSError:
            continue

    def line(pid: int) -> str:
        try:
            return Path(f"/proc/{pid}/cmdline").read_text()
        except OSError:
            return ""

    def below(pid: int, mark: str) -> bool:
        while pid in rows:
            if mark in line(pid):
                return True
            pid = rows[pid][0]
        return False

    ours = [pid for pid in rows if below(pid, "CoarseGrainedExecutorBackend") and _is_ours(pid, rows)]
    return sum(rows[pid][1] for pid in ours) / os.sysconf("SC_CLK_TCK")


def _is_ours(pid: int, rows: dict[int, tuple[int, int]]) -> bool:
    while pid in rows:
        if pid == os.getpid():
            return True
        pid = rows[pid][0]
    return False


def measure(folder: str, executors: int, warm: str) -> None:
    """Print what one evaluation costs, with so many executor processes of one core."""
    from pyspark.sql import SparkSession

    import rankproof.spark

    builder = SparkSession.builder.master(f"local-cluster[{executors},1,1024]")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.executor.memory": "1g",
        "spark.sql.shuffle.partitions": "16",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    }.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")

    def once(where: str) -> dict[str, str]:
        judgments, run = (spark.read.parquet(f"{where}/{name}") for name in ("judgments.parquet", "rows"))
        scores = rankproof.spark.evaluate(judgments, run, parts.MEASURES)
        return {name: mean.hex() for name, mean in scores.means.items()}

    once(warm)
    before, wall = cpu_of_executors(), time.perf_counter()
    means = once(folder)
    cpu = cpu_of_executors() - before
    print(json.dumps({"cpu": cpu, "wall": time.perf_counter() - wall, "means": means}), flush=True)
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
    few = folder / f"{sizes[0]:g}"
    print(f"{'executors':<12}{'M rows':>8}{'CPU us/row':>12}{'wall s':>8}{'ratio':>8}  means", flush=True)
    first: dict[str, float] = {}
    means: dict[float, object] = {}
    here = str(Path(__file__).parent)
    for millions in sizes:
        where = folder / f"{millions:g}"
        parts.make(where, millions)
        for executors in (1, 2):
            words = [sys.executable, "-W", "ignore", "-c", RUN, str(where), str(executors), str(few), here]
            settings = {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
            done = subprocess.run(
                words, capture_output=True, text=True, check=True, env=os.environ | settings
            )
            found = json.loads(done.stdout.strip().splitlines()[-1])
            cost = found["cpu"] / millions
            ratio = cost / first.setdefault("cost", cost)
            same = (
                "the same bits" if found["means"] == means.setdefault(millions, found["means"]) else "OTHER"
            )
            print(
                f"{executors:<12}{millions:>8g}{cost:>12.2f}{found['wall']:>8.1f}{ratio:>8.2f}  {same}",
                flush=True,
            )
    for files in (4, 16):
        print(f"the kernel alone, {files} files: {kernel_cost(few, files):.2f} us/row", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), [float(each) for each in sys.argv[2:]] or [2, 16])
