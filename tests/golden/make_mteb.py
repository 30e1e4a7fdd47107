"""Golden values of MTEB's retrieval scores.

    python -m venv env && env/bin/pip install mteb && env/bin/python make_mteb.py

Its means are rounded by MTEB itself to five decimals (all but MRR).
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from common import CUTS, attempt, cases, write
from mteb._evaluators.retrieval_metrics import calculate_retrieval_scores, mrr


def evaluated(case: dict[str, Any]) -> dict[str, Any]:
    cuts = list(CUTS)
    result = calculate_retrieval_scores(case["run"], case["judgments"], cuts)
    first = mrr(case["judgments"], case["run"], cuts)
    names = sorted({name for values in result.all_scores.values() for name in values})
    values = {name: {query: each[name] for query, each in result.all_scores.items()} for name in names}
    values |= {name: dict(zip(case["run"], each, strict=True)) for name, each in first.items()}
    mean = {**result.ndcg, **result.map, **result.recall, **result.precision, **result.mrr, **result.hit_rate}
    return {"per_query": values, "mean": mean}


if __name__ == "__main__":
    write("mteb", version=f"mteb {version('mteb')}, pytrec_eval-terrier {version('pytrec_eval-terrier')}",
          made="calculate_retrieval_scores with the cut-offs 1, 3, 5, 10, 100",
          cases={case["name"]: attempt(lambda case=case: evaluated(case)) for case in cases()})  # fmt: skip
