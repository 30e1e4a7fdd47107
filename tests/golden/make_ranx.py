"""Golden values of ranx. The first run compiles for about a minute.

python -m venv env && env/bin/pip install ranx && env/bin/python make_ranx.py
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from common import CUTS, attempt, cases, message, write
from ranx import Qrels, Run, evaluate

CUT = [
    "hits",
    "hit_rate",
    "precision",
    "recall",
    "f1",
    "mrr",
    "map",
    "dcg",
    "dcg_burges",
    "ndcg",
    "ndcg_burges",
]
WHOLE = [*CUT, "r-precision", "bpref", "rbp.50", "rbp.95"]
LEVELS = ["ndcg@5-l2", "map-l2", "precision@5-l2", "recall@5-l2", "mrr-l2"]
MEASURES = [*WHOLE, *(f"{name}@{cut}" for name in CUT for cut in CUTS), *LEVELS]


def evaluated(case: dict[str, Any], run: Run) -> dict[str, Any]:
    qrels = Qrels(case["judgments"])
    run = run.make_comparable(qrels)
    values: dict[str, dict[str, float]] = {}
    mean: dict[str, float] = {}
    errors: dict[str, str] = {}
    for name in MEASURES:
        try:
            mean[name] = evaluate(qrels, run, name)
            values[name] = dict(run.scores[name])
        except Exception as error:  # any failure of a foreign tool is a result here
            errors[name] = message(error)
    return {"per_query": values, "mean": mean, "errors": errors}


if __name__ == "__main__":
    write("ranx", version=f"ranx {version('ranx')}", made="Qrels and Run of dicts, make_comparable=True",
          cases={case["name"]: attempt(lambda case=case: evaluated(case, Run(case["run"]))) for case in cases()})  # fmt: skip
