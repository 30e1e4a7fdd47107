"""Golden values of the arithmetic that DeepEval does on verdicts. No model is asked: the verdicts are given.

python -m venv env && env/bin/pip install deepeval && env/bin/python make_deepeval.py
"""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import Any

os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "YES"

from common import verdicts, write
from deepeval.metrics import ContextualPrecisionMetric, ContextualRecallMetric, ContextualRelevancyMetric
from deepeval.metrics.contextual_precision.schema import ContextualPrecisionVerdict
from deepeval.metrics.contextual_recall.schema import ContextualRecallVerdict
from deepeval.metrics.contextual_relevancy.schema import ContextualRelevancyVerdict, ContextualRelevancyVerdicts

WORDS = ("no", "yes")


def bare(kind: type[Any], **state: Any) -> Any:
    """The metric with its verdicts set, made without the model its constructor asks for."""
    metric = kind.__new__(kind)
    metric.strict_mode, metric.threshold = False, 0.5
    vars(metric).update(state)
    return metric


def evaluated(given: list[int]) -> dict[str, Any]:
    said = [WORDS[each] for each in given]
    chunks = [ContextualPrecisionVerdict(verdict=word, reason="") for word in said]
    claims = [ContextualRecallVerdict(verdict=word, reason="") for word in said]
    statements = [ContextualRelevancyVerdict(statement="", verdict=word) for word in said]
    halves = [ContextualRelevancyVerdicts(verdicts=part) for part in (statements[::2], statements[1::2])]
    return {
        "verdicts": given,
        "contextual_precision": bare(ContextualPrecisionMetric, verdicts=chunks)._calculate_score(),
        "contextual_recall": bare(ContextualRecallMetric, verdicts=claims)._calculate_score(),
        "contextual_relevancy": bare(ContextualRelevancyMetric, verdicts_list=halves)._calculate_score(),
    }


if __name__ == "__main__":
    cases = {"".join(map(str, each)) or "none": evaluated(each) for each in verdicts()}
    write(
        "deepeval",
        version=f"deepeval {version('deepeval')}",
        made="its _calculate_score driven with given verdicts",
        cases=cases,
    )
