"""Golden values of the one thing that MLflow's retrieval scorers compute: the share of relevant chunks.

The other scorers are a judge's yes or no on a whole trace, without arithmetic.

python -m venv env && env/bin/pip install mlflow && env/bin/python make_judged_mlflow.py
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import patch

from common import write
from mlflow.entities import Feedback
from mlflow.genai.scorers import RetrievalRelevance, builtin_scorers


def evaluated(case: dict[str, Any]) -> dict[str, float]:
    said = iter([Feedback(name="r", value="yes" if grade >= 2 else "no") for grade in case["grades"]])
    chunks = [{"doc_uri": str(i), "content": f"chunk {i}"} for i in range(len(case["grades"]))]
    scorer = RetrievalRelevance(model="openai:/none")
    with patch.object(builtin_scorers, "_invoke_structured_builtin_judge", lambda *_, **__: next(said)):
        whole, *_ = scorer._compute_span_relevance("span", "question", chunks)
    return {"retrieval_relevance": float(whole.value)}


if __name__ == "__main__":
    cases = json.loads(Path(__file__).with_name("judged_cases.json").read_text())
    write(
        "judged_mlflow",
        version=f"mlflow {version('mlflow')}",
        made="RetrievalRelevance driven with given verdicts",
        cases={name: evaluated(case) for name, case in cases.items()},
    )
