"""Golden values of cwl_eval (C/W/L measures) through ir_measures, with the inputs they were made from.

python -m venv env && env/bin/pip install cwl-eval ir_measures && env/bin/python make_cwl_eval.py
"""

from __future__ import annotations

import random
from importlib.metadata import version
from typing import Any

import ir_measures
from common import plain, write

TOP = 3
MEASURES = {
    "RBP(p=0.8)": "RBP(rel=1,p=0.8)",
    "RBP(p=0.95,rel=2)": "RBP(rel=2,p=0.95)",
    "SDCG(top_grade=3)@5": "SDCG(max_rel=3)@5",
    "SDCG(top_grade=3)@20": "SDCG(max_rel=3)@20",
    "BPM(top_grade=3)@10": "BPM(max_rel=3)@10",
    "BPM(T=2,top_grade=3)@5": "BPM(T=2.0,max_rel=3)@5",
    "INST(top_grade=3)": "INST(max_rel=3)",
    "INST(T=3,top_grade=3)": "INST(T=3.0,max_rel=3)",
    "INSQ(top_grade=3)": "INSQ(max_rel=3)",
    "INSQ(T=2,top_grade=3)": "INSQ(T=2.0,max_rel=3)",
    "NERR8(top_grade=3)@10": "NERR8(max_rel=3)@10",
    "NERR9(top_grade=3)@10": "NERR9(max_rel=3)@10",
    "NERR10(top_grade=3)": "NERR10(p=0.9,max_rel=3)",
    "NERR11(top_grade=3)": "NERR11(T=1.0,max_rel=3)",
}
"""Our name of each measure, and that of ir_measures."""


def inputs(seed: int) -> tuple[dict[str, Any], dict[str, dict[str, float]]]:
    rng = random.Random(seed)
    docs = [f"d{i:02}" for i in range(50)]
    grades = (-1, 0, 0, 0, 1, 2, 3)
    judgments = {str(i): {d: rng.choice(grades) for d in rng.sample(docs, 25)} for i in range(12)}
    run = {q: {d: rng.random() for d in rng.sample(docs, rng.randint(1, 40))} for q in judgments}
    return judgments, run


def case(seed: int) -> dict[str, Any]:
    judgments, run = inputs(seed)
    values = {}
    for ours, theirs in MEASURES.items():
        found = ir_measures.cwl_eval.iter_calc([ir_measures.parse_measure(theirs)], judgments, run)
        values[ours] = {each.query_id: float(each.value) for each in found}
    return {"judgments": judgments, "run": run, "per_query": values}


if __name__ == "__main__":
    cases = plain({f"seed {seed}": case(seed) for seed in range(4)})
    write("cwl_eval", version=version("cwl-eval"), cases=cases)
