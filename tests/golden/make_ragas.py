"""Golden values of the arithmetic that Ragas does on verdicts. No model is asked: the verdicts are given.

python -m venv env && env/bin/pip install ragas "langchain-community<0.4" && env/bin/python make_ragas.py
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from common import verdicts, write
from ragas.metrics._context_entities_recall import ContextEntityRecall
from ragas.metrics._context_precision import (
    LLMContextPrecisionWithReference,
    NonLLMContextPrecisionWithReference,
    Verification,
)
from ragas.metrics._context_recall import ContextRecallClassification, LLMContextRecall

ENTITIES = [
    (["Brazil", "Brasília", "April 21 1960"], ["Brasília", "Brazil"]),
    (["a", "b"], ["a", "b", "c"]),
    (["a"], []),
    (["a", "a", "b"], ["a"]),
    ([], ["a"]),
]


def bare() -> NonLLMContextPrecisionWithReference:
    """The metric without the string comparison that its constructor sets up."""
    return NonLLMContextPrecisionWithReference.__new__(NonLLMContextPrecisionWithReference)


def evaluated(given: list[int]) -> dict[str, Any]:
    chunks = [Verification(reason="", verdict=each) for each in given]
    claims = [ContextRecallClassification(statement="", reason="", attributed=each) for each in given]
    return {
        "verdicts": given,
        "context_precision": LLMContextPrecisionWithReference()._calculate_average_precision(chunks),
        "non_llm_context_precision": bare()._calculate_average_precision(given),
        "context_recall": LLMContextRecall()._compute_score(claims),
    }


def entities(reference: list[str], contexts: list[str]) -> dict[str, Any]:
    score = ContextEntityRecall()._compute_score(reference, contexts)
    return {"reference": reference, "contexts": contexts, "context_entity_recall": score}


if __name__ == "__main__":
    cases = {"".join(map(str, each)) or "none": evaluated(each) for each in verdicts()}
    cases |= {f"entities {number}": entities(*pair) for number, pair in enumerate(ENTITIES)}
    write(
        "ragas",
        version=f"ragas {version('ragas')}",
        made="its score functions driven with given verdicts",
        cases=cases,
    )
