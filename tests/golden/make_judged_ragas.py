"""Golden values of Ragas' score functions on given verdicts. No model is asked.

python -m venv env && env/bin/pip install ragas "langchain-community<0.4" && env/bin/python make_judged_ragas.py
"""

from __future__ import annotations

import asyncio
import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from common import write
from ragas.metrics._context_precision import LLMContextPrecisionWithReference, Verification
from ragas.metrics._context_recall import ContextRecallClassification, LLMContextRecall
from ragas.metrics._factual_correctness import FactualCorrectness
from ragas.metrics._faithfulness import Faithfulness, NLIStatementOutput, StatementFaithfulnessAnswer
from ragas.metrics._noise_sensitivity import NoiseSensitivity


def evaluated(case: dict[str, Any]) -> dict[str, Any]:
    by_contexts = np.array(case["answer_by_contexts"]) == 1
    held = (np.array(case["reference_by_contexts"]) == 1).any(axis=1)
    right = np.array(case["answer_by_reference"]) == 1
    chunks = [Verification(reason="", verdict=int(grade >= 2)) for grade in case["grades"]]
    claims = [ContextRecallClassification(statement="", reason="", attributed=int(yes)) for yes in held]
    statements = [
        StatementFaithfulnessAnswer(statement="", reason="", verdict=int(yes)) for yes in by_contexts.any(axis=1)
    ]
    tables = {
        "retrieved2ground_truth": np.array(case["reference_by_contexts"]) == 1,
        "retrieved2answer": by_contexts,
        "ground_truth2answer": right,
    }
    return {
        "context_precision": LLMContextPrecisionWithReference()._calculate_average_precision(chunks),
        "context_recall": LLMContextRecall()._compute_score(claims),
        "faithfulness": Faithfulness()._compute_score(NLIStatementOutput(statements=statements)),
        "factual_correctness": factual(right, np.array(case["reference_by_answer"]) == 1),
        "noise_sensitivity": NoiseSensitivity(mode="relevant")._compute_score(tables),
        "noise_sensitivity(of='irrelevant')": NoiseSensitivity(mode="irrelevant")._compute_score(tables),
    }


class Given(FactualCorrectness):
    """Factual correctness whose verdicts are given instead of asked for."""

    async def decompose_and_verify_claims(self, reference: str, response: str, callbacks: Any) -> Any:
        return {"reference": self.right, "response": self.said}[reference]


def factual(right: Any, said: Any) -> float:
    metric = Given(llm=object())
    metric.right, metric.said = right, said

    class Sample:
        reference, response = "reference", "response"

    return float(asyncio.run(metric._single_turn_ascore(Sample(), None)))


if __name__ == "__main__":
    cases = json.loads(Path(__file__).with_name("judged_cases.json").read_text())
    write(
        "judged_ragas",
        version=f"ragas {version('ragas')}",
        made="its score functions driven with given verdicts",
        cases={name: evaluated(case) for name, case in cases.items()},
    )
