"""What six core metrics take: calls, characters of the whole requests, wall time; for rankproof, Ragas and DeepEval.

Each tool runs in an environment of its own, against the same scripted server (judges_server.py), on the same samples:

    python -m venv ragas && ragas/bin/pip install ragas "langchain-community<0.4" langchain-openai
    python -m venv deepeval && deepeval/bin/pip install deepeval
    .venv/bin/python benchmarks/judges.py rankproof
    ragas/bin/python benchmarks/judges.py ragas
    deepeval/bin/python benchmarks/judges.py deepeval

Each run prints one line of JSON. `--samples 1000 --wait 0.05` is what the wall times are measured with.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from typing import Any

from judges_server import serving

CHUNKS = 10
SIX = [
    *("context_precision", "context_recall", "context_entity_recall"),
    *("context_relevance", "faithfulness", "answer_relevance"),
]
RAGAS_SIX = [
    *("LLMContextPrecisionWithReference", "LLMContextRecall", "ContextEntityRecall"),
    *("ContextRelevance", "Faithfulness", "ResponseRelevancy"),
]
TEXT = "the backup of every folder is kept for thirty days unless the owner has chosen another plan"


def samples(n: int) -> list[dict[str, Any]]:
    """Questions with ten chunks of about 80 words, no two alike."""
    words = TEXT.split()
    return [
        {
            "user_input": f"How long is the backup of {word(i)} kept?",
            "retrieved_contexts": [
                " ".join(f"{' '.join(words[s:] + words[:s])} by {word(i)} {word(c)}." for s in range(4))
                for c in range(CHUNKS)
            ],
            "response": f"It is kept for thirty days. After that it is deleted. Even {word(i)} is no exception.",
            "reference": f"That of {word(i)} is kept for thirty days. The owner may choose. Paris is in France.",
        }
        for i in range(n)
    ]


def word(number: int) -> str:
    """A word that no language has."""
    parts = ["ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "za"]
    return "".join(parts[int(digit)] for digit in f"{number + 100}")


def rankproof(rows: list[dict[str, Any]], url: str) -> None:
    from rankproof import judge

    judge(rows, SIX, judge="openai:scripted", base_url=url)


def ragas(rows: list[dict[str, Any]], url: str) -> None:
    import ragas.metrics as known
    from langchain_core.embeddings import DeterministicFakeEmbedding
    from langchain_openai import ChatOpenAI
    from ragas import EvaluationDataset, RunConfig, evaluate
    from ragas.embeddings import LangchainEmbeddingsWrapper
    from ragas.llms import LangchainLLMWrapper

    evaluate(
        EvaluationDataset.from_list(rows),
        [getattr(known, name)() for name in RAGAS_SIX],
        llm=LangchainLLMWrapper(ChatOpenAI(model="scripted", base_url=url)),
        embeddings=LangchainEmbeddingsWrapper(DeterministicFakeEmbedding(size=8)),
        run_config=RunConfig(max_workers=64),
        show_progress=False,
    )


def deepeval(rows: list[dict[str, Any]], url: str) -> None:
    from deepeval.metrics import (
        AnswerRelevancyMetric,
        ContextualPrecisionMetric,
        ContextualRecallMetric,
        ContextualRelevancyMetric,
        FaithfulnessMetric,
        HallucinationMetric,
    )
    from deepeval.models import OpenAIModel
    from deepeval.test_case import LLMTestCase

    model = OpenAIModel(model="gpt-4o-mini", base_url=url)
    kinds = [
        ContextualPrecisionMetric,
        ContextualRecallMetric,
        ContextualRelevancyMetric,
        FaithfulnessMetric,
        AnswerRelevancyMetric,
        HallucinationMetric,
    ]
    for row in rows:
        case = LLMTestCase(
            input=row["user_input"],
            actual_output=row["response"],
            expected_output=row["reference"],
            retrieval_context=row["retrieved_contexts"],
            context=row["retrieved_contexts"],
        )
        for kind in kinds:
            kind(model=model).measure(case, _show_indicator=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split(".")[0])
    parser.add_argument("tool", choices=["rankproof", "ragas", "deepeval"])
    parser.add_argument("--samples", type=int, default=1)
    parser.add_argument("--wait", type=float, default=0.0)
    given = parser.parse_args()
    os.environ |= {
        "OPENAI_API_KEY": "none",
        "DEEPEVAL_TELEMETRY_OPT_OUT": "YES",
        "RAGAS_DO_NOT_TRACK": "true",
    }
    rows = samples(given.samples)
    with serving(given.wait) as count:
        began, worked = time.perf_counter(), time.process_time()
        {"rankproof": rankproof, "ragas": ragas, "deepeval": deepeval}[given.tool](rows, count.url)
        took, worked = time.perf_counter() - began, time.process_time() - worked
    per = {"calls": count.calls / given.samples, "characters": count.characters / given.samples}
    times = {"seconds": round(took, 2), "cpu_seconds": round(worked, 2)}
    print(json.dumps({"tool": given.tool, "samples": given.samples, **per, **times}))


if __name__ == "__main__":
    sys.exit(main())
