"""Seeded judgments and rankings of any size: as dicts, and as files in the temporary folder."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import Any

Judgments = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]

FOLDER = Path(tempfile.gettempdir()) / "rankproof-benchmarks"
CORPUS = 8_841_823
"""As many documents as the passages of MS MARCO."""


def make(queries: int, length: int, judged: int, seed: int = 1) -> tuple[Judgments, Run]:
    """Rankings of `length` documents; about half of the `judged` documents of each query are among them."""
    rnd = random.Random(seed)
    spare = length + length // 50 + 2
    judgments: Judgments = {}
    run: Run = {}
    for number in range(queries):
        query = str(1_000_000 + number)
        docs = list(dict.fromkeys(str(rnd.randrange(CORPUS)) for _ in range(spare)))[:length]
        scores = sorted({round(rnd.random() * 30, 6) for _ in range(spare)}, reverse=True)
        run[query] = dict(zip(docs, scores, strict=False))
        found = rnd.sample(docs, min(max(1, judged // 2), length))
        others = [str(rnd.randrange(CORPUS)) for _ in range(judged - len(found))]
        judgments[query] = {doc: rnd.choice([0, 1, 1, 2, 3]) for doc in (found + others)[:judged]}
    return _as_read(judgments), _as_read(run)


def _as_read(table: Any) -> Any:
    """The same as a reader of files leaves it in memory: made in one go, no text or number shared."""
    return json.loads(json.dumps(table))


def trec_files(queries: int, length: int, judged: int, seed: int = 1) -> tuple[Path, Path]:
    """The same as TREC files (qrels, run), written once."""
    stem = _stem(queries, length, judged, seed)
    qrels, run = stem.with_suffix(".qrels"), stem.with_suffix(".run")
    if not (qrels.exists() and run.exists()):
        judgments, rankings = make(queries, length, judged, seed)
        _write_qrels(qrels, judgments)
        _write_run(run, rankings)
    return qrels, run


def parquet_file(queries: int, length: int, judged: int, seed: int = 1) -> Path:
    """The run of `trec_files` as Parquet with the columns query, doc, score."""
    import polars

    path = _stem(queries, length, judged, seed).with_suffix(".parquet")
    if not path.exists():
        _, run = trec_files(queries, length, judged, seed)
        names = ["query", "q0", "doc", "rank", "score", "tag"]
        types = {"query": polars.String, "doc": polars.String}
        frame = polars.read_csv(run, separator=" ", has_header=False, new_columns=names, schema_overrides=types)
        frame.select("query", "doc", "score").write_parquet(path)
    return path


def _stem(queries: int, length: int, judged: int, seed: int) -> Path:
    FOLDER.mkdir(exist_ok=True)
    return FOLDER / f"{queries}x{length}-{judged}-{seed}"


def _write_qrels(path: Path, judgments: Judgments) -> None:
    with path.open("w") as file:
        for query, grades in judgments.items():
            file.writelines(f"{query} 0 {doc} {grade}\n" for doc, grade in grades.items())


def _write_run(path: Path, rankings: Run) -> None:
    with path.open("w") as file:
        for query, scores in rankings.items():
            ranked = enumerate(scores.items(), 1)
            file.writelines(f"{query} Q0 {doc} {rank} {score:.6f} bm25\n" for rank, (doc, score) in ranked)
