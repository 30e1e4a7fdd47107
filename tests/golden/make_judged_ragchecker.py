"""Golden values of RAGChecker's computations on given verdicts. No model is asked.

python -m venv env && env/bin/pip install --no-deps ragchecker && env/bin/pip install numpy dataclasses_json
env/bin/python make_judged_ragchecker.py
"""

from __future__ import annotations

import json
import sys
import types
from importlib.metadata import version
from pathlib import Path
from typing import Any

from common import write

# The package imports models on its first line; its arithmetic needs none of them.
package = types.ModuleType("ragchecker")
package.__path__ = [str(Path(path) / "ragchecker") for path in sys.path if (Path(path) / "ragchecker").is_dir()]
sys.modules["ragchecker"] = package

from ragchecker.computation import METRIC_FUNC_MAP  # noqa: E402
from ragchecker.container import RAGResult  # noqa: E402

NAMES = (
    *("precision", "recall", "f1", "claim_recall", "context_precision", "context_utilization"),
    *("noise_sensitivity_in_relevant", "noise_sensitivity_in_irrelevant", "hallucination"),
    *("self_knowledge", "faithfulness"),
)
OURS = {
    "noise_sensitivity_in_relevant": "noise_sensitivity",
    "noise_sensitivity_in_irrelevant": "noise_sensitivity(of='irrelevant')",
}
WORDS = {1: "Entailment", 0: "Neutral", -1: "Contradiction"}


def words(table: Any) -> Any:
    return [words(row) for row in table] if isinstance(table, list) else WORDS[table]


def evaluated(case: dict[str, Any]) -> dict[str, Any]:
    result = RAGResult(query_id="q", query="", gt_answer="", response="", retrieved_context=[])
    result.answer2response = words(case["answer_by_reference"])
    result.response2answer = words(case["reference_by_answer"])
    result.retrieved2response = words(case["answer_by_contexts"])
    result.retrieved2answer = words(case["reference_by_contexts"])
    for name in NAMES:
        METRIC_FUNC_MAP[name](result)
    return {OURS.get(name, name): float(result.metrics[name]) for name in NAMES}


if __name__ == "__main__":
    cases = json.loads(Path(__file__).with_name("judged_cases.json").read_text())
    write(
        "judged_ragchecker",
        version=f"ragchecker {version('ragchecker')}",
        made="its computations driven with given verdicts",
        cases={name: evaluated(case) for name, case in cases.items()},
    )
