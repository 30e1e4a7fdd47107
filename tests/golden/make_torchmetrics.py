"""Golden values of torchmetrics' retrieval functions.

    python -m venv env && env/bin/pip install torch==2.13.0 torchmetrics && env/bin/python make_torchmetrics.py

Each query gives it the returned documents, their scores and labels; it never hears of judged documents that were not
returned. The labels of its binary measures are `grade >= 1`, those of nDCG the grades. It computes in float32.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import torch
from common import CUTS, cases, message, per_query, write
from torchmetrics.functional import retrieval

BINARY = {
    "average_precision": retrieval.retrieval_average_precision,
    "reciprocal_rank": retrieval.retrieval_reciprocal_rank,
    "precision": retrieval.retrieval_precision,
    "recall": retrieval.retrieval_recall,
    "hit_rate": retrieval.retrieval_hit_rate,
    "fall_out": retrieval.retrieval_fall_out,
}


def tensors(judged: dict[str, int], run: dict[str, float], *, binary: bool) -> tuple[torch.Tensor, torch.Tensor]:
    grades = [judged.get(doc, 0) for doc in run]
    labels = [int(grade >= 1) for grade in grades] if binary else grades
    return torch.tensor(list(run.values())), torch.tensor(labels)


def measures() -> dict[str, Any]:
    known: dict[str, Any] = {"r_precision": lambda j, r: retrieval.retrieval_r_precision(*tensors(j, r, binary=True))}
    for cut in (None, *CUTS):
        at = "" if cut is None else f"@{cut}"
        for name, function in BINARY.items():
            known[name + at] = lambda j, r, f=function, k=cut: f(*tensors(j, r, binary=True), top_k=k)
        known["normalized_dcg" + at] = lambda j, r, k=cut: retrieval.retrieval_normalized_dcg(
            *tensors(j, r, binary=False), top_k=k
        )
        known["precision_adaptive" + at] = lambda j, r, k=cut: retrieval.retrieval_precision(
            *tensors(j, r, binary=True), top_k=k, adaptive_k=True
        )
    return known


def evaluated(case: dict[str, Any]) -> dict[str, Any]:
    values: dict[str, dict[str, float]] = {}
    errors: dict[str, str] = {}
    for name, function in measures().items():
        try:
            values[name] = per_query(case, lambda j, r, f=function: f(j, r).item())
        except Exception as error:  # any failure of a foreign tool is a result here
            errors[name] = message(error)
    mean = {name: sum(each.values()) / len(each) for name, each in values.items()}
    return {"per_query": values, "mean": mean, "errors": errors}


if __name__ == "__main__":
    write("torchmetrics", version=f"torchmetrics {version('torchmetrics')}, torch {torch.__version__}",
          made="functional.retrieval on the returned documents of each query; the mean is the plain one over the queries run",
          cases={case["name"]: evaluated(case) for case in cases()})  # fmt: skip
