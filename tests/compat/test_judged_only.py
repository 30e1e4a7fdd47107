"""Judged documents only: a negative grade is none there, in the program and in the drop-in, as in trec_eval."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from rankproof.compat import pytrec_eval as ours
from rankproof.compat.trec_eval import main

theirs = pytest.importorskip("pytrec_eval")

MEASURES = {"map", "ndcg", "P", "recall", "bpref", "recip_rank", "Rprec", "num_ret", "num_rel_ret", "set_F"}
GRADES = [-3, -2, -1, 0, 0, 1, 2]


def some_data(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    pick = random.Random(seed)
    queries, docs = [f"q{i}" for i in range(3)], [f"d{i}" for i in range(12)]
    judged = {name: {doc: pick.choice(GRADES) for doc in pick.sample(docs, 7)} | {"last": 1} for name in queries}
    ranked = {name: {doc: float(pick.randrange(6)) for doc in pick.sample(docs, 9)} for name in queries}
    return judged, ranked


@pytest.mark.slow
@pytest.mark.parametrize("only", [True, False])
def test_negative_grades_are_what_they_are_in_trec_eval(only, tmp_path: Path, capsys) -> None:
    for seed in range(30):
        judged, ranked = some_data(seed)
        known = theirs.RelevanceEvaluator(judged, MEASURES, judged_docs_only_flag=only).evaluate(ranked)
        found = ours.RelevanceEvaluator(judged, MEASURES, judged_docs_only_flag=only).evaluate(ranked)
        printed = by_program(judged, ranked, tmp_path, capsys, ["-J"] * only)
        for query, values in known.items():
            assert found[query] == pytest.approx(values, abs=1e-12)
            for name, value in values.items():
                assert float(printed[query, name]) == pytest.approx(value, abs=5.1e-5)


def by_program(judged, ranked, folder: Path, capsys, options: list[str]) -> dict[tuple[str, str], str]:
    qrels = [f"{query} 0 {doc} {grade}\n" for query, docs in judged.items() for doc, grade in docs.items()]
    run = [f"{query} Q0 {doc} 1 {score} t\n" for query, docs in ranked.items() for doc, score in docs.items()]
    (folder / "qrels").write_text("".join(qrels))
    (folder / "run").write_text("".join(run))
    files = [str(folder / "qrels"), str(folder / "run")]
    assert main(["--as", "9", "-q", "-n", *options, "-m", "all_trec", *files]) == 0
    rows = (line.split("\t") for line in capsys.readouterr().out.splitlines())
    return {(query, name.strip()): value for name, query, value in rows}
