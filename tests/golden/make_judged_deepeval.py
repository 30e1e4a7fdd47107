"""Golden values of DeepEval's score functions on given verdicts. No model is asked.

python -m venv env && env/bin/pip install deepeval && env/bin/python make_judged_deepeval.py
"""

from __future__ import annotations

import json
import os
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"

from common import write
from deepeval.metrics import (
    AnswerRelevancyMetric,
    ContextualPrecisionMetric,
    ContextualRecallMetric,
    ContextualRelevancyMetric,
    FaithfulnessMetric,
    HallucinationMetric,
)
from make_deepeval import bare


def verdicts(flags: Any) -> list[Any]:
    return [SimpleNamespace(verdict="yes" if yes else "no", reason="", statement="") for yes in flags]


def evaluated(case: dict[str, Any]) -> dict[str, Any]:
    by_contexts = case["answer_by_contexts"]
    held = [1 in row for row in case["reference_by_contexts"]]
    bears = [SimpleNamespace(verdicts=verdicts(row)) for row in case["statements_bear"]]
    agrees = [-1 not in column for column in zip(*by_contexts, strict=True)]

    def score(kind: Any, flags: Any) -> float:
        return bare(kind, verdicts=verdicts(flags), penalize_ambiguous_claims=False)._calculate_score()

    return {
        "contextual_precision": score(ContextualPrecisionMetric, [grade >= 2 for grade in case["grades"]]),
        "contextual_recall": score(ContextualRecallMetric, held),
        "contextual_relevancy": bare(ContextualRelevancyMetric, verdicts_list=bears)._calculate_score(),
        "faithfulness": score(FaithfulnessMetric, [-1 not in row for row in by_contexts]),
        "hallucination": score(HallucinationMetric, agrees),
        "answer_relevancy": score(AnswerRelevancyMetric, case["answer_bears"]),
    }


if __name__ == "__main__":
    cases = json.loads(Path(__file__).with_name("judged_cases.json").read_text())
    write(
        "judged_deepeval",
        version=f"deepeval {version('deepeval')}",
        made="its _calculate_score driven with given verdicts",
        cases={name: evaluated(case) for name, case in cases.items()},
    )
