"""What a ranking in many files costs: CPU microseconds a row and peak memory, each in a process of its own.

    python benchmarks/parts.py FOLDER [MILLIONS ...]

makes, in FOLDER, judgments and rankings of so many million rows (2 and 16 by default): Parquet with a part for each
million, as one row per query with lists, and as TREC text, with five judged documents a query of which three are
found, and ties. Two engines count in the first as well, on one core. The same seed gives the same data. "the same
judgments" are those of the first 20,000 queries: what else the files hold should cost no memory. Of more than 20
million rows only the first form is made.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

DEPTH = 100
FEW = 20_000
"""The queries of the first two million rows."""
MOST = 20
"""Millions of rows up to which every form is made."""
MEASURES = "nDCG@10, AP, RR, R@100, P@10"
RUN = """
import json, os, resource, sys, time
from rankproof import evaluate
judgments, ranking, limit, engine = sys.argv[1:]
if limit != "0":
    os.sched_setaffinity(0, set(list(os.sched_getaffinity(0))[: int(limit)]))
if engine == "duckdb":
    import duckdb
    duckdb.sql(f"SET threads = {limit}; SET enable_progress_bar = false")
    ranking = duckdb.read_parquet(ranking + "/*.parquet")
elif engine == "polars":
    import polars
    ranking = polars.scan_parquet(ranking + "/*.parquet")
began, wall = time.process_time(), time.perf_counter()
scores = evaluate(judgments, ranking, {measures!r})
means = {name: mean.hex() for name, mean in scores.means.items()}
print(json.dumps({
    "cpu": time.process_time() - began, "wall": time.perf_counter() - wall,
    "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, "means": means,
}))
"""


def queries(rng: np.random.Generator, first: int, count: int) -> tuple[pa.Table, pa.Table]:
    """The judgments and the ranking of some queries."""
    names = np.char.add("q", np.arange(first, first + count).astype(str))
    docs = rng.integers(0, 9_000_000, (count, DEPTH)) * DEPTH + np.arange(DEPTH)
    score = np.round(-np.sort(-rng.random((count, DEPTH)), axis=1), 2)
    judged = np.concatenate([docs[:, [0, 7, 40]], docs[:, :2] + 10**9], axis=1)
    ranking = pa.table(
        {
            "query_id": np.repeat(names, DEPTH),
            "doc_id": np.char.add("d", docs.ravel().astype(str)),
            "score": score.ravel(),
        }
    )
    qrels = pa.table(
        {
            "query_id": np.repeat(names, 5),
            "doc_id": np.char.add("d", judged.ravel().astype(str)),
            "relevance": rng.integers(0, 4, count * 5),
        }
    )
    return qrels, ranking


def make(folder: Path, millions: float) -> None:
    """The files of so many rows, where they are not there already."""
    if (folder / "judgments.parquet").exists():
        return
    forms = ("rows", "lists") if millions <= MOST else ("rows",)
    for name in forms:
        (folder / name).mkdir(parents=True, exist_ok=True)
    parts = max(2, round(millions))  # a file costs something whatever it holds
    rng, count = np.random.default_rng(15), int(millions * 1e6 / DEPTH / parts)
    judged = []
    with open(folder / "run.trec", "w") as text:
        for part in range(parts):
            qrels, ranking = queries(rng, part * count, count)
            judged.append(qrels)
            pq.write_table(ranking, folder / "rows" / f"part-{part:05d}.parquet", row_group_size=1 << 18)
            if forms == ("rows",):
                continue
            offsets = np.arange(0, len(ranking) + 1, DEPTH, dtype=np.int32)
            lists = {
                name: pa.ListArray.from_arrays(offsets, ranking[name].combine_chunks()) for name in ("doc_id", "score")
            }
            names = ranking["query_id"].combine_chunks().take(pa.array(offsets[:-1]))
            table = pa.table({"query_id": names, "doc_ids": lists["doc_id"], "scores": lists["score"]})
            pq.write_table(table, folder / "lists" / f"part-{part:05d}.parquet")
            columns = (ranking[name].to_pylist() for name in ("query_id", "doc_id", "score"))
            text.writelines(
                f"{q} Q0 {d} {i % DEPTH + 1} {s:.6f} made\n" for i, (q, d, s) in enumerate(zip(*columns, strict=True))
            )
    whole = pa.concat_tables(judged)
    pq.write_table(whole.slice(0, 5 * FEW), folder / "few.parquet")
    pq.write_table(whole, folder / "judgments.parquet")


def measured(judgments: Path, ranking: Path, cores: int = 0, engine: str = "") -> dict[str, float]:
    """What one evaluation took; with an engine it is the engine that counts."""
    code = RUN.replace("{measures!r}", repr(MEASURES))
    words = [sys.executable, "-c", code, str(judgments), str(ranking), str(cores), engine]
    made = subprocess.run(words, capture_output=True, text=True, check=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
    return json.loads(made.stdout)  # type: ignore[no-any-return]


def table(folder: Path, sizes: list[float]) -> Iterator[str]:
    """A line for each form and size."""
    yield f"{'form':<28}{'M rows':>8}{'CPU us/row':>12}{'wall s':>8}{'peak MB':>9}  means"
    for millions in sizes:
        where = folder / f"{millions:g}"
        make(where, millions)
        first = None
        forms = [
            ("Parquet, the same judgments", "few", "rows", 0, ""),
            ("Parquet, parts", "judgments", "rows", 0, ""),
        ]
        if millions <= MOST:
            forms += [("Parquet, lists", "judgments", "lists", 0, "")]
            forms += [(f"TREC text, {n} core{'s' * (n > 1)}", "judgments", "run.trec", n, "") for n in (1, 2)]
            forms += [(f"counted by {each}", "judgments", "rows", 1, each.lower()) for each in ("Polars", "DuckDB")]
        for form, judged, path, cores, engine in forms:
            runs = [
                measured(where / f"{judged}.parquet", where / path, cores, engine)
                for _ in range(3 if millions <= MOST else 1)
            ]
            found = min(runs, key=lambda run: run["cpu"])
            same = ""
            if judged == "judgments":
                first = first or found["means"]
                same = "the same bits" if found["means"] == first else "OTHER BITS"
            cost = found["cpu"] / millions
            yield f"{form:<28}{millions:>8g}{cost:>12.2f}{found['wall']:>8.2f}{found['peak'] / 1024:>9.0f}  {same}"


if __name__ == "__main__":
    for line in table(Path(sys.argv[1]), [float(each) for each in sys.argv[2:]] or [2, 16]):
        print(line, flush=True)
