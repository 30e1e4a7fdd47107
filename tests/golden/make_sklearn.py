"""Golden values of scikit-learn's ranking scores.

    python -m venv env && env/bin/pip install scikit-learn && env/bin/python make_sklearn.py

Each query gives it the returned documents, their scores and grades (unjudged: 0). Average precision takes `grade >= 1`.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from common import CUTS, cases, message, per_query, write
from sklearn.metrics import average_precision_score, dcg_score, label_ranking_average_precision_score, ndcg_score


def rows(
    judged: dict[str, int], run: dict[str, float], *, binary: bool = False
) -> tuple[list[list[int]], list[list[float]]]:
    grades = [judged.get(doc, 0) for doc in run]
    return [[int(grade >= 1) for grade in grades] if binary else grades], [list(run.values())]


def average_precision(judged: dict[str, int], run: dict[str, float]) -> float:
    truth, scores = rows(judged, run, binary=True)
    return average_precision_score(truth[0], scores[0])


def measures() -> dict[str, Any]:
    known: dict[str, Any] = {
        "average_precision_score": average_precision,
        "label_ranking_average_precision_score": lambda j, r: label_ranking_average_precision_score(
            *rows(j, r, binary=True)
        ),
    }
    for cut in (None, *CUTS):
        at = "" if cut is None else f"@{cut}"
        for name, function in {"ndcg_score": ndcg_score, "dcg_score": dcg_score}.items():
            known[name + at] = lambda j, r, f=function, k=cut: f(*rows(j, r), k=k)
            known[f"{name}, ignore_ties{at}"] = lambda j, r, f=function, k=cut: f(*rows(j, r), k=k, ignore_ties=True)
    return known


def evaluated(case: dict[str, Any]) -> dict[str, Any]:
    values: dict[str, dict[str, float]] = {}
    errors: dict[str, str] = {}
    for name, function in measures().items():
        try:
            values[name] = per_query(case, function)
        except Exception as error:  # any failure of a foreign tool is a result here
            errors[name] = message(error)
    mean = {name: sum(each.values()) / len(each) for name, each in values.items()}
    return {"per_query": values, "mean": mean, "errors": errors}


if __name__ == "__main__":
    write("sklearn", version=f"scikit-learn {version('scikit-learn')}",
          made="each query on its own, over its returned documents; the mean is the plain one over the queries run",
          cases={case["name"]: evaluated(case) for case in cases()})  # fmt: skip
