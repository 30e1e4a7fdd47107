"""Seeded judgments and rankings of any size, as dicts and as files in the temporary folder."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

Judgments = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]

FOLDER = Path(tempfile.gettempdir()) / "rankproof-benchmarks"
CORPUS = 8_841_823
"""As many documents as the passages of MS MARCO."""


def make(queries: int, length: int, judged: int, seed: int = 1) -> tuple[Judgments, Run]:
    """Rankings of `length` documents; about half of the `judged` documents of each query are among them."""
    rnd = random.Random(seed)
    judgments: Judgments = {}
    run: Run = {}
    for number in range(queries):
        query = str(1_000_000 + number)
        docs = list(dict.fromkeys(str(rnd.randrange(CORPUS)) for _ in range(length + length // 50 + 2)))[
            :length
        ]
        scores = sorted({round(rnd.random() * 30, 6) for _ in range(length + length // 50 + 2)}, reverse=True)
        run[query] = dict(zip(docs, scores, strict=False))
        found = rnd.sample(docs, max(1, judged // 2))
        others = [str(rnd.randrange(CORPUS)) for _ in range(judged - judged // 2)]
        judgments[query] = {doc: rnd.choice([0, 1, 1, 2, 3]) for doc in (found + others)[:judged]}
    return judgments, run


def trec_files(queries: int, length: int, judged: int, seed: int = 1) -> tuple[Path, Path]:
    """The same as TREC files (qrels, run), written once."""
    FOLDER.mkdir(exist_ok=True)
    stem = f"{queries}x{length}-{judged}-{seed}"
    qrels, run = FOLDER / f"{stem}.qrels", FOLDER / f"{stem}.run"
    if not (qrels.exists() and run.exists()):
        judgments, rankings = make(queries, length, judged, seed)
        _write_qrels(qrels, judgments)
        _write_run(run, rankings)
    return qrels, run


def _write_qrels(path: Path, judgments: Judgments) -> None:
    with path.open("w") as file:
        for query, grades in judgments.items():
            file.writelines(f"{query} 0 {doc} {grade}\n" for doc, grade in grades.items())


def _write_run(path: Path, rankings: Run) -> None:
    with path.open("w") as file:
        for query, scores in rankings.items():
            ranked = enumerate(scores.items(), 1)
            file.writelines(f"{query} Q0 {doc} {rank} {score:.6f} bm25\n" for rank, (doc, score) in ranked)
